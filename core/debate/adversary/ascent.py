"""Climbs under limits where several labels leave a thin and bent set: sequential quadratic programming (SLSQP, Kraft 1988).

The total variation distance has corners, but it is the largest of Σ_S (q − p) over the subsets S of the labels, and these are
smooth. So are entropy and JSD away from zero weights. Where a climb ends is a local optimum; it proves nothing.
"""

from itertools import product

import numpy as np
from scipy.optimize import minimize
from scipy.special import softmax

from core.debate.adversary.room import Array, Room, entropy

STARTS, SPREAD = 40, 3.0  # random starts and the standard deviation of their scores
CELLS = 800  # starts times words: long texts get fewer
ROUNDS = 60
TINY = 1e-12


def ascents(room: Room, effect: Array, bias: Array, epsilon: float, first: Array) -> list[Array]:
    """Where climbs from random starts and from `first` end, under a decoder of "word label" and "label".

    They aim at TVD ≤ ε, ceiling and floor, and may miss them.
    """
    words = len(room.original)
    draw = np.random.default_rng((0, words))
    starts = softmax(SPREAD * draw.normal(size=(min(STARTS, max(4, CELLS // words)), words)), axis=-1)
    return [_ascent(room, effect, bias, epsilon, start) for start in (first, *starts)]


def _ascent(room: Room, effect: Array, bias: Array, epsilon: float, start: Array) -> Array:
    prediction = softmax(room.original @ effect + bias)
    subsets = np.array(list(product((0.0, 1.0), repeat=len(bias))))[1:-1]

    def left(weights: Array) -> Array:
        moved = subsets @ (softmax(weights @ effect + bias) - prediction)
        return np.append(epsilon - moved, entropy(np.maximum(weights, 0.0)) - room.floor)

    def slopes(weights: Array) -> Array:
        q = softmax(weights @ effect + bias)
        moved = subsets @ (q[:, None] * (effect - (effect @ q)[:, None]).T)
        return np.vstack([-moved, -np.log(np.maximum(weights, TINY)) - 1])

    def near(weights: Array) -> tuple[float, Array]:
        some = np.maximum(weights, TINY)
        return -room.divergence(np.maximum(weights, 0.0)), -np.log(some / (some + room.original)) / 2

    limits = [
        {"type": "eq", "fun": lambda weights: weights.sum() - 1, "jac": np.ones_like},
        {"type": "ineq", "fun": left, "jac": slopes},
    ]
    bounds, options = [(0.0, room.ceiling)] * len(start), {"maxiter": ROUNDS, "ftol": 1e-9}
    found = minimize(near, start, jac=True, bounds=bounds, constraints=limits, method="SLSQP", options=options).x.clip(0.0)
    return found / found.sum() if np.isfinite(found).all() and found.sum() > 0 else start
