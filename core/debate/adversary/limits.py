"""The adversary with less freedom: no word above a ceiling, entropy above a floor.

The unlimited optimum puts everything on one or two words, which no trained module would do; that is half of what Wiegreffe &
Pinter 2019 object to. With limits it has to look like attention. Where two labels may be answered, a ceiling leaves a polytope
and the optimum is proven; a floor leaves a bracket. For several labels the prediction is bounded from both sides: by the
log-odds of every pair of labels that any attention within ε keeps, and from inside by log-odds that all move by at most
4 artanh ε, which keeps the prediction within ε (TVD ≤ tanh(d/4), d the largest change of any pair). Between the two, climbs
from random starts look for an allowed attention where none is known yet, and for a farther one; they prove nothing.
"""

from dataclasses import dataclass, replace
from itertools import combinations
from math import atanh, inf, log

import numpy as np
import torch

from core.agreement import tvd
from core.debate.adversary.ascent import ascents, keeps
from core.debate.adversary.ceiling import branch
from core.debate.adversary.extremes import checked_epsilon
from core.debate.adversary.floor import climb, most_even
from core.debate.adversary.optimum import optimum
from core.debate.adversary.room import Array, Room, entropy, scaled, toward
from core.models.classifier import Classifier
from core.models.contributions import Contributions, contributions, slab
from core.types import Batch, Refusal

PROVEN = 1e-6  # a smaller gap in JSD counts as none
ROUNDING = 1e-10  # of a TVD


@dataclass(frozen=True)
class Constrained:
    """The best attention found under the limits, per word, and what cannot be exceeded; JSD and entropy in nats.

    `exact` is a proof: that this is the optimum, or, where all else is None, that no attention meets the limits.
    """

    original: tuple[float, ...]
    attention: tuple[float, ...] | None
    jsd: float | None
    tvd: float | None
    prediction: tuple[float, ...] | None
    entropy: float | None
    upper_bound: float | None
    exact: bool
    epsilon: float
    ceiling: float
    floor: float


def constrained(
    model: Classifier, batch: Batch, *, epsilon: float | None = None, ceiling: float = 1.0, floor: float = 0.0
) -> list[Constrained]:
    """For each example the attention with the largest JSD to the model's own with TVD ≤ ε, no weight above `ceiling`, and an
    entropy of at least `floor` nats.

    Refuses an ε outside [0, 1], a ceiling outside [1/words, 1] and a floor outside [0, ln words].
    """
    epsilon = checked_epsilon(model.card.task.kind, epsilon)
    for example in batch.examples:
        _check(len(example.text), ceiling, floor)
    words = contributions(model, batch)
    rows = (words.rows(torch.tensor([row])) for row in range(len(batch.examples)))
    return [_one(row, epsilon, min(ceiling, 1.0), max(floor, 0.0)) for row in rows]


def _check(words: int, ceiling: float, floor: float) -> None:
    if not 1 / max(words, 1) - 1e-9 <= ceiling <= 1:
        sentence = f"The ceiling is {ceiling}; with {words} words it must be between {1 / max(words, 1):.4f} and 1."
        raise Refusal("ceiling_out_of_range", sentence, given=ceiling, words=words)
    if not 0 <= floor <= log(max(words, 1)) + 1e-9:
        sentence = f"The floor is {floor} nats; with {words} words it must be between 0 and {log(max(words, 1)):.4f}."
        raise Refusal("floor_out_of_range", sentence, given=floor, words=words)


def _one(words: Contributions, epsilon: float, ceiling: float, floor: float) -> Constrained:
    outer, inner = _rooms(words, epsilon, ceiling, floor)
    original = tuple(outer.original.tolist())
    base, empty = _start(words, outer, inner, epsilon)
    if base is None:
        return Constrained(original, None, None, None, None, None, None, empty, epsilon, ceiling, floor)
    best, bound = _best(words, outer, inner, base, epsilon)
    attention = torch.from_numpy(best)[None]
    prediction = words.prob(attention)
    jsd = outer.divergence(best)
    return Constrained(
        original=original,
        attention=tuple(best.tolist()),
        jsd=jsd,
        tvd=float(tvd(prediction, words.prob(words.attention))),
        prediction=tuple(prediction[0].tolist()),
        entropy=entropy(best),
        upper_bound=bound,
        exact=bound - jsd <= PROVEN,
        epsilon=epsilon,
        ceiling=ceiling,
        floor=floor,
    )


def _best(words: Contributions, outer: Room, inner: Room, base: Array, epsilon: float) -> tuple[Array, float]:
    """The farthest allowed attention found from `base`, which is allowed, and what cannot be exceeded."""
    if _several(words) and outer.ceiling >= 1 and outer.floor <= 0:  # no limit: the adversary itself
        attention, reach = optimum(words, epsilon, 1)
        best = attention[0, 0].cpu().numpy()
        return best, max(float(reach), outer.divergence(best))
    solve = climb if outer.floor > 0 else branch
    best, bound = solve(outer, base)
    if _several(words) and bound - outer.divergence(best) > PROVEN:
        farther = _climbed(words, outer, epsilon, best, base)
        if inner.allows(base):
            farther.append(solve(inner, base)[0])
        best = max(best, *farther, key=outer.divergence)
    return best, bound


def _start(words: Contributions, outer: Room, inner: Room, epsilon: float) -> tuple[Array | None, bool]:
    """An allowed attention to start from, or None and whether it is proven that there is none."""
    even, empty = most_even(outer)
    base = next(filter(outer.allows, (even, most_even(inner)[0], outer.original)), None)
    if base is None and not empty and _several(words):
        base = next(filter(outer.allows, _climbed(words, outer, epsilon, even)), None)
    return base, empty


def _several(words: Contributions) -> bool:
    """Whether more than two labels may be answered."""
    return int(words.bias.isfinite().sum()) > 2


def _climbed(words: Contributions, room: Room, epsilon: float, first: Array, base: Array | None = None) -> list[Array]:
    """Where climbs end, pulled toward even weights until ceiling and floor are kept, then, where an allowed `base` is known,
    toward it until the prediction is."""
    limits = replace(room, near=lambda weights: True)
    even = np.full_like(room.original, 1 / len(room.original))

    def pulled(end: Array) -> Array:
        kept = toward(limits, even, end)
        return kept if base is None else toward(room, base, kept)

    return ascents(words, room, epsilon, first, pulled)


def _rooms(words: Contributions, epsilon: float, ceiling: float, floor: float) -> tuple[Room, Room]:
    """One text's room with sides that every allowed prediction keeps, and with sides that keep every prediction allowed."""
    allowed = words.bias[0].isfinite()
    original = words.attention[0].cpu().numpy()
    sides, outer, inner = [], [], []
    for pair in combinations(allowed.nonzero().flatten().tolist(), 2):
        label, other = (torch.tensor([one], device=words.bias.device) for one in pair)
        scores, low, high = slab(words, label, other, epsilon)
        own = float((scores * words.attention).sum())
        reach = 4 * atanh(epsilon) if epsilon < 1 else inf
        side = scores[0].cpu().numpy()
        sides += [side, -side]
        outer += [float(high), -float(low)]
        inner += [own + reach, reach - own]
    stacked, near = np.array(sides).reshape(-1, len(original)), keeps(words, epsilon + ROUNDING)
    first, second = (Room(original, *scaled(stacked, np.array(limits)), ceiling, floor, near) for limits in (outer, inner))
    return first, second
