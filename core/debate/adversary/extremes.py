"""The best allowed attention by enumeration: extreme points, where two labels may be answered, and a bracket where more may.

The essay of this folder derives it. A point is a pair of words of one text (a word paired with itself is all weight on it), and
on each pair there are at most two, where the prediction has moved as far as it may.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log

import torch
from torch import Tensor
from torch.special import xlogy

from core.agreement import jsd, tvd
from core.models.contributions import Contributions, slab
from core.types import Kind, Refusal

EPSILON: dict[Kind, float] = {"classification": 0.01, "qa": 0.05, "nli": 0.05}
SLACK = 1e-11  # of a logit, against rounding
SCAN, HALVINGS = 33, 50  # points of an edge looked at, then bisection between two of them


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


def optimum(words: Contributions, epsilon: float, k: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Attention "batch k word", the best first, and a bound "batch" on its JSD; they meet where two labels may be answered.

    `seed` is not used: nothing is drawn.
    """
    attention = words.attention[:, None].repeat(1, k, 1)
    bound = torch.zeros_like(attention[:, 0, 0])
    binary = words.bias.isfinite().sum(-1) <= 2
    for group, candidates in ((binary, _two_labels), (~binary, _several_labels)):
        rows = group.nonzero().squeeze(-1)
        if not len(rows):
            continue
        part = words.rows(rows)
        found = _greedy(part, candidates(part, epsilon), k)
        attention[rows, :, : found.shape[-1]] = found
        bound[rows] = jsd(found[:, 0], part.attention) if candidates is _two_labels else upper_bound(part, epsilon)
    return attention, bound


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


def _two_labels(words: Contributions, epsilon: float) -> Points:
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


def _several_labels(words: Contributions, epsilon: float) -> Points:
    """The first and the last point of each edge whose prediction stays within ε, as far as a scan finds them."""
    size = words.mask.shape[1]
    first, second = torch.triu_indices(size, size, device=words.mask.device)
    exist = words.mask[:, first] & words.mask[:, second]
    base, slope = words.effect[:, second] + words.bias[:, None], words.effect[:, first] - words.effect[:, second]
    prediction = words.prob(words.attention)[:, None]

    def near(weight: Tensor) -> Tensor:
        return tvd(torch.softmax(base + weight[..., None] * slope, dim=-1), prediction) <= epsilon

    grid = torch.linspace(0, 1, SCAN, dtype=base.dtype, device=base.device)
    ok = torch.stack([near(point.expand(exist.shape)) for point in grid], dim=-1) & exist[..., None]
    low = ok.long().argmax(-1)
    high = SCAN - 1 - ok.flip(-1).long().argmax(-1)
    sides = [
        _bisect(near, grid[low], grid[(low - 1).clamp(min=0)]),
        _bisect(near, grid[high], grid[(high + 1).clamp(max=SCAN - 1)]),
    ]
    row, pair = ok.any(-1).nonzero(as_tuple=True)
    weight = torch.cat([side[row, pair] for side in sides])
    return Points(row.repeat(2), first[pair].repeat(2), second[pair].repeat(2), weight)


def _bisect(near: Callable[[Tensor], Tensor], inside: Tensor, outside: Tensor) -> Tensor:
    """The last point from inside to outside that is near."""
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        ok = near(middle)
        inside, outside = torch.where(ok, middle, inside), torch.where(ok, outside, middle)
    return inside


def _greedy(words: Contributions, points: Points, k: int) -> Tensor:
    """Attention "batch k word": the best point, then points far from the original and from those chosen."""
    chosen: list[Tensor] = []
    for _ in range(k):
        chosen.append(_best(words, points, chosen)[1])
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
