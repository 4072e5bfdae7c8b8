"""Points on the edges of the simplex: those where two labels' odds have moved as far as they may, and the best of any points.

The essay of this folder derives them. A point is a pair of words of one text (a word paired with itself is all weight on it),
and on each pair there are at most two, where the prediction has moved as far as it may.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log

import torch
from torch import Tensor
from torch.special import xlogy

from core.agreement import jsd
from core.models.contributions import Contributions, slab
from core.types import Kind, Refusal

EPSILON: dict[Kind, float] = {"classification": 0.01, "qa": 0.05, "nli": 0.05}
SLACK = 1e-11  # of a logit, against rounding


@dataclass(frozen=True)
class Points:
    """Attentions of the texts of a batch, with `weight` on the first word of a pair and the rest on the second."""

    row: Tensor  # "point", the text
    first: Tensor  # "point"
    second: Tensor  # "point"
    weight: Tensor  # "point"


def checked_epsilon(kind: Kind, epsilon: float | None) -> float:
    """The given ε, or the papers' for the kind of task. Refuses one outside [0, 1]."""
    epsilon = EPSILON[kind] if epsilon is None else epsilon
    if not 0 <= epsilon <= 1:
        raise Refusal("epsilon_out_of_range", f"Epsilon is {epsilon}; it must be between 0 and 1.", given=epsilon)
    return epsilon


def upper_bound(words: Contributions, epsilon: float) -> Tensor:
    """A JSD, "batch", that no attention within ε exceeds: the least over the pairs of labels, each looked at alone."""
    least = words.attention.masked_fill(~words.mask, torch.inf).min(-1).values
    bound = log(2) / 2 + _gain(torch.ones_like(least), least)
    allowed = words.bias.isfinite()
    for pair in combinations(range(allowed.shape[-1]), 2):
        label, other = (torch.full(allowed.shape[:1], one, device=allowed.device) for one in pair)
        value, _ = _best(words, _crossings(words, label, other, epsilon), [])
        bound = torch.where(allowed[:, pair].all(-1), torch.minimum(bound, value), bound)
    return bound


def two_labels(words: Contributions, epsilon: float) -> Points:
    """The extreme points for texts with one or two possible answers."""
    allowed = words.bias.isfinite().long()
    last = allowed.shape[-1] - 1 - allowed.flip(-1).argmax(-1)
    return _crossings(words, allowed.argmax(-1), last, epsilon)


def _crossings(words: Contributions, label: Tensor, other: Tensor, epsilon: float) -> Points:
    """Extreme points of the attentions whose log-odds of two labels stay as near as TVD ≤ ε makes them."""
    scores, low, high = slab(words, label, other, epsilon)
    inside = (scores >= low[:, None] - SLACK) & (scores <= high[:, None] + SLACK) & words.mask
    text, word = inside.nonzero(as_tuple=True)
    bounds = torch.stack([low, high], dim=1)
    beyond = scores[:, None] >= bounds[..., None]  # "batch side word"
    one, two = torch.triu_indices(scores.shape[1], scores.shape[1], offset=1, device=scores.device)
    meets = (beyond[..., one] ^ beyond[..., two]) & (words.mask[:, None, one] & words.mask[:, None, two])
    row, side, pair = meets.nonzero(as_tuple=True)
    first, second = one[pair], two[pair]
    weight = (bounds[row, side] - scores[row, second]) / (scores[row, first] - scores[row, second])
    return Points(
        row=torch.cat([text, row]),
        first=torch.cat([word, first]),
        second=torch.cat([word, second]),
        weight=torch.cat([torch.ones_like(text, dtype=weight.dtype), weight]),
    )


def greedy(words: Contributions, points: Points, k: int, others: Tensor | None = None) -> Tensor:
    """Attention "batch k word": the best of the points and of `others` ("batch candidate word", allowed as well), then one far
    from the original and from those chosen, and so on."""
    chosen: list[Tensor] = []
    for _ in range(k):
        value, attention = _best(words, points, chosen)
        if others is not None:
            far = jsd(others, words.attention[:, None])
            for other in chosen:
                far = far + jsd(others, other[:, None]) / len(chosen)
            most, at = far.max(-1)
            attention = torch.where((most > value)[:, None], others[torch.arange(len(at)), at], attention)
        chosen.append(attention)
    return torch.stack(chosen, dim=1)


def _best(words: Contributions, points: Points, chosen: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """The largest JSD to the original plus mean JSD to those chosen, "batch", and where it is, "batch word"."""
    value = _divergence(points, words.attention)
    for other in chosen:
        value = value + _divergence(points, other) / len(chosen)
    size = len(words.attention)
    best = value.new_full((size,), -torch.inf).scatter_reduce(0, points.row, value, "amax")
    found = best > -torch.inf  # rounding may leave nothing, as with ε = 0: the original itself is always allowed
    at = (value == best[points.row]).nonzero().squeeze(-1).flip(0)  # the first of equals is written last
    pick = points.row.new_zeros(size).scatter(0, points.row[at], at)[found]
    attention = words.attention.masked_fill(found[:, None], 0.0)
    rows = found.nonzero().squeeze(-1)
    attention.index_put_((rows, points.first[pick]), points.weight[pick], accumulate=True)
    attention.index_put_((rows, points.second[pick]), 1 - points.weight[pick], accumulate=True)
    return best.masked_fill(~found, 0.0), attention


def _divergence(points: Points, other: Tensor) -> Tensor:
    """JSD of each point to a distribution "batch word", from the two words where they differ from ½ ln 2 Σ other."""
    rest = other.sum(-1)[points.row] * (log(2) / 2)
    one, two = other[points.row, points.first], other[points.row, points.second]
    return rest + _gain(points.weight, one) + _gain(1 - points.weight, two)


def _gain(weight: Tensor, other: Tensor) -> Tensor:
    """What a word of this weight adds to the JSD beyond a word of weight zero; 0 log 0 = 0."""
    both = weight + other
    return (xlogy(weight, weight) + xlogy(other, other) - xlogy(both, both) + log(2) * weight) / 2
