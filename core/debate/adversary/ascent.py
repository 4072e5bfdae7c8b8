"""Climbs where several labels leave a thin and bent set: sequential quadratic programming (SLSQP, Kraft 1988).

The total variation distance has corners. But it is Σ max(q − p, 0) over the labels, and with numbers u ≥ max(q − p, 0) beside
the weights, Σ u ≤ ε says the same smoothly. Entropy and JSD are smooth away from zero weights. Where a climb ends is a local
optimum; it proves nothing. A third of the climbs start at random, the others near the farthest end so far (basin hopping, Wales
& Doye 1997), which finds more than as many random starts. In a long text a climb moves the heaviest words of its start and
leaves the others without weight: without limits no more words are needed than there are labels.
"""

from collections.abc import Callable
from math import ceil, exp
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from core.debate.adversary.room import Array, Room, entropy, part
from core.models.contributions import Contributions

CLIMBS, CELLS = 36, 1800  # climbs, and climbs times words that they move: under narrow limits there are fewer
MOVED = 48  # words of a long text that a climb moves, and twice as many as ceiling and floor take
SPREADS, HOP = (1.0, 3.0, 6.0), 4.0  # standard deviations of the scores of random starts, and of a step from the best
SPARED = 0.01  # weight that a step gives to all words together before it moves them
INSIDE = 0.999  # of ε is what climbs aim at, so that most of them end where it is allowed
ROUNDS = 60
TINY = 1e-12


def decoder(words: Contributions) -> tuple[Array, Array]:
    """Effects "word label" and bias "label" of the labels that the first text may be answered with."""
    allowed = words.bias[0].isfinite()
    return words.effect[0][:, allowed].cpu().numpy(), words.bias[0][allowed].cpu().numpy()


def keeps(words: Contributions, epsilon: float) -> Callable[[Array], bool]:
    """Whether weights "word" over the first text keep the prediction: TVD ≤ ε."""
    effect, bias = decoder(words)
    prediction = softmax(words.attention[0].cpu().numpy() @ effect + bias)
    return lambda weights: bool(np.abs(softmax(weights @ effect + bias) - prediction).sum() / 2 <= epsilon)


def ascents(
    words: Contributions, room: Room, epsilon: float, first: Array, pulled: Callable[[Array], Array], seed: int = 0
) -> list[Array]:
    """Where climbs from `first`, from random starts and from near the farthest so far end, each as `pulled` corrects it.

    They aim at TVD ≤ ε, ceiling and floor, and may miss them. `words` is one text.
    """
    effect, bias = decoder(words)
    n = len(room.original)
    size = min(n, MOVED + 2 * ceil(max(1 / room.ceiling, exp(room.floor))))
    count = min(CLIMBS, CELLS // size)
    noise = np.random.default_rng((seed, n)).normal(size=(count, n))
    prediction = softmax(room.original @ effect + bias)

    def climbed(start: Array) -> Array:
        moved, end = np.sort(np.argsort(-start, kind="stable")[:size]), np.zeros(n)
        end[moved] = _ascent(room, room.original[moved], effect[moved], bias, prediction, INSIDE * epsilon, start[moved])
        return pulled(end)

    ends = [climbed(first)]
    for i in range(count):
        if 3 * i < count:
            start = softmax(SPREADS[i % len(SPREADS)] * noise[i])
        else:
            start = softmax(np.log(max(ends, key=room.divergence) + SPARED / n) + HOP * noise[i])
        ends.append(climbed(start))
    return ends


def _ascent(room: Room, original: Array, effect: Array, bias: Array, prediction: Array, epsilon: float, start: Array) -> Array:
    """The end of one climb over some words, which then hold all weight; `both` are their weights and the u of the labels."""
    n, labels = len(start), len(bias)
    start = start / start.sum()

    def near(both: Array) -> tuple[float, Array]:
        some = np.maximum(both[:n], TINY)
        slope = np.append(-np.log(some / (some + original)) / 2, np.zeros(labels))
        return -float(part(np.maximum(both[:n], 0.0), original).sum()), slope

    def left(both: Array) -> Array:
        q = softmax(both[:n] @ effect + bias)
        even = entropy(np.maximum(both[:n], 0.0)) - room.floor
        return np.append(both[n:] - q + prediction, [epsilon - both[n:].sum(), even])

    def slopes(both: Array) -> Array:
        q = softmax(both[:n] @ effect + bias)
        moved = q[:, None] * (effect - (effect @ q)[:, None]).T
        even = -np.log(np.maximum(both[:n], TINY)) - 1
        return np.block([[-moved, np.eye(labels)], [np.zeros(n), -np.ones(labels)], [even, np.zeros(labels)]])

    one = np.append(np.ones(n), np.zeros(labels))
    limits: list[dict[str, Any]] = [
        {"type": "eq", "fun": lambda both: both[:n].sum() - 1, "jac": lambda both: one},
        {"type": "ineq", "fun": left, "jac": slopes},
    ]
    bounds, options = [(0.0, room.ceiling)] * n + [(0.0, 1.0)] * labels, {"maxiter": ROUNDS, "ftol": 1e-9}
    first = np.append(start, np.maximum(softmax(start @ effect + bias) - prediction, 0.0))
    end = minimize(near, first, jac=True, bounds=bounds, constraints=limits, method="SLSQP", options=options).x[:n].clip(0.0)
    return end / end.sum() if np.isfinite(end).all() and end.sum() > 0 else start
