"""The best attention under a ceiling: branch and bound (Falk & Soland 1969).

Replace each word's convex function by its chord over the weights that the word may have; the linear program that remains bounds
the JSD from above, and its solution is an attention. Where chord and function differ most, split that word's weights in two.
When the bound meets the best attention found, that is the optimum, proven; after many splits it stays a bracket.

A second bound prices the sides instead: what is best under the ceiling alone, minus the price, is found by sorting. It counts
the one word that gets what the full words leave, where a chord promises too much.
"""

import heapq
from dataclasses import dataclass
from itertools import count
from math import inf

import numpy as np
from scipy.optimize import linprog, minimize

from core.debate.adversary.room import ENOUGH, Array, Room, part, toward

SPLITS = 200  # of a text's set of attentions; each takes two linear programs
INFEASIBLE = 2  # scipy's status


@dataclass(frozen=True)
class Program:
    """The linear program of the chords, each word's weight being between `low` and `high`."""

    low: Array
    high: Array
    bound: float  # its maximum
    weights: Array  # where that is
    error: Array  # "word", how far the chords are above the functions there
    prices: Array  # "side"


def branch(room: Room, base: Array) -> tuple[Array, float]:
    """The best allowed weights found and an upper bound on the JSD of all; `base` is allowed."""
    best, number = base, count()
    vertex, least = _assigned(room)
    best = max(best, toward(room, base, vertex), key=room.divergence)
    reach = room.divergence(best)
    heap: list[tuple[float, int, Program]] = []
    boxes = [(np.zeros_like(base), np.full_like(base, room.ceiling))]
    bound = inf
    for _ in range(SPLITS):
        for low, high in boxes:
            if (found := program(room, low, high)) is not None:
                heapq.heappush(heap, (-found.bound, next(number), found))
        if not heap:
            break
        widest = heapq.heappop(heap)[-1]
        bound = widest.bound
        best = max(best, toward(room, base, widest.weights), key=room.divergence)
        reach = max(reach, room.divergence(best), room.divergence(widest.weights))
        if min(bound, least) <= reach + ENOUGH:  # no attention that keeps the sides goes further
            break
        boxes = _halves(widest)
    return best, max(room.divergence(best), min(bound, least))


def _halves(parent: Program) -> list[tuple[Array, Array]]:
    """The program's box cut in two where the chords err most, near the weight that it found."""
    word = int(parent.error.argmax())
    margin = 0.02 * (parent.high[word] - parent.low[word])
    at = np.clip(parent.weights[word], parent.low[word] + margin, parent.high[word] - margin)
    here = np.arange(len(parent.low)) == word
    return [(parent.low, np.where(here, at, parent.high)), (np.where(here, at, parent.low), parent.high)]


def _assigned(room: Room) -> tuple[Array, float]:
    """A vertex under the ceiling alone that is best when the sides are priced, and the bound on the JSD that this gives."""
    options = [np.zeros(len(room.limits))]
    relaxed = program(room, np.zeros_like(room.original), np.full_like(room.original, room.ceiling))
    if relaxed is not None and len(room.limits):
        start, bounds = relaxed.prices, [(0.0, None)] * len(room.limits)
        found = minimize(lambda prices: _vertex(room, prices)[1:], start, jac=True, bounds=bounds, method="L-BFGS-B")
        options += [start, found.x]
    vertex, bound, _ = min((_vertex(room, prices) for prices in options), key=lambda option: option[1])
    return vertex, bound


def _vertex(room: Room, prices: Array) -> tuple[Array, float, Array]:
    """Where JSD − prices · sides is largest under the ceiling: words at the ceiling, one with the rest, by sorting."""
    n, c = len(room.original), room.ceiling
    full = min(n, int(1 / c + 1e-9))
    rest = max(0.0, 1 - full * c)
    cost, nothing = prices @ room.sides, part(np.zeros(n), room.original)
    gain, small = (part(np.full(n, w), room.original) - nothing - cost * w for w in (c, rest))
    order = np.argsort(-gain, kind="stable")
    chosen, weights = order[:full], np.zeros(n)
    if full < n:
        instead = np.zeros(n)
        instead[chosen] = gain[order[full]] - gain[chosen]  # the next word fills the place of one that gets the rest
        last = int((small + instead).argmax())
        chosen = np.setdiff1d(order[: full + 1], [last]) if last in chosen else chosen
        weights[last] = rest
    weights[chosen] = c
    left = room.limits - room.sides @ weights
    return weights, room.divergence(weights) + float(prices @ left), left


def program(room: Room, low: Array, high: Array) -> Program | None:
    """The chords' program in a box, None where nothing in it keeps the sides."""
    start, width = part(low, room.original), high - low
    slope = np.where(width > 0, (part(high, room.original) - start) / np.where(width > 0, width, 1.0), 0.0)
    found = linprog(
        -slope,
        A_ub=room.sides,
        b_ub=room.limits,
        A_eq=np.ones((1, len(low))),
        b_eq=[1.0],
        bounds=np.stack([low, high], axis=1),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.status == INFEASIBLE:
        return None
    if found.status != 0:
        raise ArithmeticError(f"The linear program of {len(low)} words was not solved: {found.message}")
    weights = found.x.clip(low, high)
    chord = start + slope * (weights - low)
    error = chord - part(weights, room.original)
    return Program(low, high, float(chord.sum()), weights, error, -found.ineqlin.marginals)
