"""What is left when an adversary may not put everything on two words: which attentions over one text are allowed.

Allowed are weights w on the simplex with w ≤ c (ceiling), entropy H(w) ≥ h (floor), linear sides A w ≤ b that every allowed
prediction satisfies, and the prediction itself. The JSD to the original is a sum of convex functions, one per word, to be
maximized on a (mostly) convex set: easy to bound, hard to solve. `ceiling` and `floor` each do both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

Array = NDArray[np.float64]
ENOUGH = 1e-8  # a smaller gain in JSD, or gap, is none


@dataclass(frozen=True)
class Room:
    """Which attentions over the words of one text are allowed, and from which one they shall differ."""

    original: Array  # "word"
    sides: Array  # "side word", see `scaled`
    limits: Array  # "side"
    ceiling: float
    floor: float
    near: Callable[[Array], bool]  # whether weights "word" keep the prediction

    def divergence(self, weights: Array) -> float:
        """JSD of weights "word" to the original."""
        return float(part(weights, self.original).sum())

    def allows(self, weights: Array) -> bool:
        """Whether weights "word" satisfy everything."""
        return bool(weights.max() <= self.ceiling + 1e-9 and entropy(weights) >= self.floor and self.near(weights))


def scaled(sides: Array, limits: Array) -> tuple[Array, Array]:
    """Sides and limits on one scale, without those that bind nothing; adding a constant to a side changes nothing."""
    binds = np.isfinite(limits) & (sides.max(-1) > limits)
    sides, limits = sides[binds], limits[binds]
    mean, width = sides.mean(-1, keepdims=True), np.ptp(sides, axis=-1, keepdims=True)
    width = np.where(width > 0, width, 1.0)
    return (sides - mean) / width, (limits - mean[:, 0]) / width[:, 0]


def entropy(weights: Array) -> float:
    """Entropy in nats."""
    return max(0.0, float(-xlogy(weights, weights).sum()))


def toward(room: Room, base: Array, weights: Array) -> Array:
    """The last allowed point on the way from `base`, which is allowed, to `weights`."""
    if room.allows(weights):
        return weights
    inside, outside = 0.0, 1.0
    for _ in range(50):
        middle = (inside + outside) / 2
        inside, outside = (middle, outside) if room.allows(base + middle * (weights - base)) else (inside, middle)
    return base + inside * (weights - base)


def part(weights: Array, original: Array) -> Array:
    """What each word adds to the JSD, "... word"."""
    both = weights + original
    return (xlogy(weights, weights) + xlogy(original, original) - xlogy(both, both) + log(2) * both) / 2
