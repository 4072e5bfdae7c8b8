"""The best attention whose entropy stays above a floor: tangents from below, the dual from above.

Replace the JSD by its tangent, maximize that under all limits, and again from there (the convex-concave procedure): each round
gains, since the JSD is convex. A linear function under a floor has its maximum at weights min(c, κ exp((f' − μA)/τ)), where
τ, μ minimize a smooth dual. Where the rounds end is a local optimum; the best from several starts is kept.

The last τ and μ price the limits. With these prices the Lagrangian splits into words, one small maximum each, and their sum is
an upper bound. Words whose part is not concave even so leave a gap between the two, the larger the fewer words there are.
"""

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import xlogy

from core.debate.adversary.ceiling import branch, program
from core.debate.adversary.room import ENOUGH, Array, Room, entropy, part, toward

ROUNDS = 60  # tangents from one start
PARTS = (1, 2, 3, 4, 6, 9, 14, 21, 32, 64)  # starts put equal weight on about so many words
ALONE = 8  # and on each of the least attended words
MARGIN = 1e-7  # how far inside the sides the most even weights are looked for
TINY = 1e-300


def spread(scores: Array, ceiling: float) -> Array:
    """The weights under a ceiling that maximize Σ w scores + entropy(w): min(c, κ exp(scores))."""
    order = np.argsort(-scores)
    top = scores[order]
    tail = np.logaddexp.accumulate(top[::-1])[::-1]
    left = np.maximum(1 - np.arange(len(top)) * ceiling, 0.0)  # for a word and all below it, those above being full
    full = int((left * np.exp(top - tail) <= ceiling * (1 + 1e-12)).argmax())
    weights = np.empty_like(top)
    weights[order[:full]] = ceiling
    weights[order[full:]] = left[full] * np.exp(top[full:] - tail[full])
    return weights


def most_even(room: Room) -> tuple[Array, bool]:
    """The weights of largest entropy under the ceiling and the sides, and whether it is proven that nothing is allowed."""
    flat = np.zeros_like(room.original)
    if program(room, flat, np.full_like(flat, room.ceiling)) is None:
        return flat + 1 / len(flat), True
    inner = replace(room, limits=room.limits - MARGIN, floor=0.0)
    for wider in (inner, replace(room, floor=0.0)):
        weights, prices = _gibbs(wider, flat, np.eye(1 + len(room.limits))[0], fixed=True)
        if room.allows(weights):
            return weights, False
    most = entropy(weights) + prices[1:] @ (room.limits - room.sides @ weights)
    return weights, bool(most < room.floor - ENOUGH)


def climb(room: Room, base: Array) -> tuple[Array, float]:
    """The best of several climbs and an upper bound on the JSD of all; `base` is allowed."""
    best, bound = branch(room, base)
    if bound - room.divergence(best) <= ENOUGH:  # the floor takes nothing away
        return best, bound
    ends = [_climb(room, base, start) for start in (best, *_starts(room, base))]
    best, prices = max(ends, key=lambda end: room.divergence(end[0]))
    return best, max(room.divergence(best), min(bound, _least_bound(room, best, prices)))


def _starts(room: Room, base: Array) -> list[Array]:
    """Allowed weights to climb from: about 1, 2, 3 … words share everything, pulled back to what is allowed."""
    found = []
    for parts in PARTS:
        ceiling = min(room.ceiling, 1 / parts)
        relaxed = program(room, np.zeros_like(base), np.full_like(base, ceiling)) if ceiling * len(base) >= 1 else None
        if relaxed is not None:
            found.append(relaxed.weights)
    found += list(np.eye(len(base))[np.argsort(room.original)[:ALONE]])
    # a little of the base, since a weight of zero has no tangent
    return [base] + [toward(room, base, 0.01 * base + 0.99 * toward(room, base, weights)) for weights in found]


def _climb(room: Room, base: Array, weights: Array) -> tuple[Array, Array]:
    """Where the tangents lead from `weights`, and the last prices τ, μ."""
    prices = np.concatenate([[0.1], np.zeros(len(room.limits))])
    for _ in range(ROUNDS):
        slope = np.log(np.maximum(weights, TINY) / np.maximum(weights + room.original, TINY)) / 2
        found, prices = _gibbs(room, slope, prices)
        found = toward(room, base, found)
        if room.divergence(found) <= room.divergence(weights) + ENOUGH:
            break
        weights = found
    return weights, prices


def _gibbs(room: Room, slope: Array, prices: Array, fixed: bool = False) -> tuple[Array, Array]:
    """The weights that maximize Σ w slope under ceiling, floor and sides, and the prices τ, μ of floor and sides.

    `fixed` leaves τ as it is.
    """

    def weights(prices: Array) -> Array:
        return spread((slope - prices[1:] @ room.sides) / prices[0], room.ceiling)

    def dual(prices: Array) -> tuple[float, Array]:
        best = weights(prices)
        left = np.concatenate([[entropy(best) - room.floor], room.limits - room.sides @ best])
        return float(slope @ best + prices @ left), left

    bounds = [(prices[0], prices[0]) if fixed else (1e-5, 1e4), *[(0.0, None)] * len(room.limits)]
    found = minimize(dual, prices, jac=True, bounds=bounds, method="L-BFGS-B", options={"ftol": 1e-15, "gtol": 1e-10})
    return weights(found.x), found.x


def _least_bound(room: Room, weights: Array, prices: Array) -> float:
    """The Lagrangian dual, minimized from the given prices; λ prices the sum of the weights."""
    slope = np.log(np.maximum(weights, TINY) / np.maximum(weights + room.original, TINY)) / 2
    free = (weights > 1e-12) & (weights < room.ceiling - 1e-12)
    level = (slope - prices[1:] @ room.sides - prices[0] * (np.log(np.maximum(weights, TINY)) + 1))[free]
    first = np.concatenate([prices, [np.median(level) if free.any() else 0.0]])
    bounds = [(0.0, None)] * len(prices) + [(None, None)]
    found = minimize(lambda x: _bound(room, x), first, jac=True, bounds=bounds, method="L-BFGS-B")
    return min(_bound(room, first)[0], float(found.fun))


def _bound(room: Room, prices: Array) -> tuple[float, Array]:
    """Σ_w max over [0, c] of f_w(w) − τ w log w − (λ + μA)_w w, plus what the prices allow, and its slope in τ, μ, λ."""
    tau, sides, level = prices[0], prices[1:-1], prices[-1]
    original, cost = room.original, level + sides @ room.sides

    def value(weights: Array) -> Array:
        return part(weights, original) - tau * xlogy(weights, weights) - cost * weights

    turn = np.full_like(original, 0.0) if tau >= 0.5 else np.minimum(room.ceiling, original * (0.5 - tau) / max(tau, 1e-12))
    low, high = turn, np.full_like(original, room.ceiling)
    for _ in range(60):  # from the turn on, the slope falls
        middle = (low + high) / 2
        slope = np.log(2 * middle / np.maximum(middle + original, TINY)) / 2 - tau * (np.log(np.maximum(middle, TINY)) + 1)
        low, high = np.where(slope > cost, middle, low), np.where(slope > cost, high, middle)
    choices = np.stack([np.zeros_like(low), low, high])
    best = np.take_along_axis(choices, value(choices).argmax(0)[None], 0)[0]
    left = np.concatenate([[entropy(best) - room.floor], room.limits - room.sides @ best, [1 - best.sum()]])
    return float(part(best, original).sum() + prices @ left), left
