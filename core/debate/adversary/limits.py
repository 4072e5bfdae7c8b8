"""The adversary with less freedom: no word above a ceiling, entropy above a floor.

The unlimited optimum puts everything on one or two words, which no trained module would do; that is half of what Wiegreffe &
Pinter 2019 object to. With limits it has to look like attention. Where two labels may be answered, a ceiling leaves a polytope
and the optimum is proven; a floor leaves a bracket. For several labels the prediction is bounded from both sides: by the
log-odds of every pair of labels that any attention within ε keeps, and from inside by log-odds that all move by at most
4 artanh ε, which keeps the prediction within ε (TVD ≤ tanh(d/4), d the largest change of any pair).
"""

from dataclasses import dataclass
from itertools import combinations
from math import atanh, inf, log

import numpy as np
import torch
from scipy.special import softmax

from core.agreement import tvd
from core.debate.adversary.ceiling import branch
from core.debate.adversary.extremes import checked_epsilon
from core.debate.adversary.floor import climb, most_even
from core.debate.adversary.room import Array, Room, entropy, scaled
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
    base, empty = _start(outer, inner)
    if base is None:
        return Constrained(original, None, None, None, None, None, None, empty, epsilon, ceiling, floor)
    solve = climb if floor > 0 else branch
    best, bound = solve(outer, base)
    if len(outer.sides) > 2 and inner.allows(base):
        best = max(best, solve(inner, base)[0], key=outer.divergence)
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


def _start(outer: Room, inner: Room) -> tuple[Array | None, bool]:
    """An allowed attention to start from, or None and whether it is proven that there is none."""
    even, empty = most_even(outer)
    for base in (even, most_even(inner)[0], outer.original):
        if outer.allows(base):
            return base, False
    return None, empty


def _rooms(words: Contributions, epsilon: float, ceiling: float, floor: float) -> tuple[Room, Room]:
    """One text's room with sides that every allowed prediction keeps, and with sides that keep every prediction allowed."""
    allowed = words.bias[0].isfinite()
    original, effect, bias = (
        x.cpu().numpy() for x in (words.attention[0], words.effect[0][:, allowed], words.bias[0][allowed])
    )
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
    prediction = softmax(original @ effect + bias)

    def near(weights: Array) -> bool:
        return bool(np.abs(softmax(weights @ effect + bias) - prediction).sum() / 2 <= epsilon + ROUNDING)

    stacked = np.array(sides).reshape(-1, len(original))
    first, second = (Room(original, *scaled(stacked, np.array(limits)), ceiling, floor, near) for limits in (outer, inner))
    return first, second
