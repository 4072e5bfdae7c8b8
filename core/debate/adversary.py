"""How different could attention have looked, with the same prediction? The exact answer, and the published search.

Jain & Wallace 2019 (§4.2.2, Eq. 1, Algorithm 3): if attention explained a prediction, other attention should give another
prediction. They look for weights far from the model's own (Jensen-Shannon divergence) whose output stays within ε (total
variation), by gradient descent with a penalty. Where it falls short, nobody knows whether such weights do not exist.

Here the question is answered instead of searched. With a decoder linear in the context and two labels, TVD ≤ ε is an
interval for the logit z = Σ α_w s_w, s_w the logit of all weight on word w. The allowed attentions are a simplex cut by two
half-spaces; JSD(·, α̂) is convex, so its maximum is at an extreme point, and these have one word (inside the interval) or two
(an edge of the simplex where z meets a bound): O(W²) numbers in all. With more labels the allowed set is not convex, and there
is a bracket. Below: the best allowed point of any edge (along an edge a convex function is largest at the first or the last
allowed point). Above: the least of what each pair of labels alone would allow (TVD ≤ ε bounds their log-odds, which are linear
again) and of all weight on the least attended word. Where both meet, the optimum is proven.

Words are written words (`core.models.contributions`). Wiegreffe & Pinter 2019 answer that no trained module would produce such
weights, sentence by sentence; the exact optimum makes their point and the original one sharper at once.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log

import torch
from torch import Tensor
from torch.special import xlogy

from core.agreement import jsd, tvd
from core.models.classifier import Classifier
from core.models.contributions import Contributions, by_length, contributions, log_odds_interval
from core.types import Batch, Kind, Refusal

EPSILON: dict[Kind, float] = {"classification": 0.01, "qa": 0.05, "nli": 0.05}
MOST = 20  # adversaries of one text
CELLS = 2**19  # pairs of words held at once
SLACK = 1e-11  # of a logit, against rounding
PROVEN = 1e-9  # a smaller gap in JSD is rounding
SCAN, HALVINGS = 33, 50  # points of an edge looked at, then bisection between two of them


@dataclass(frozen=True)
class Adversary:
    """Other attention for one text with nearly the same prediction, by falling JSD; all per word, JSD in nats.

    The first is the optimum where `exact`, else the best found; those after it are chosen greedily and promise nothing.
    """

    original: tuple[float, ...]
    attention: tuple[tuple[float, ...], ...]  # "k word"
    jsd: tuple[float, ...]
    tvd: tuple[float, ...]
    prediction: tuple[tuple[float, ...], ...]  # "k label", zero for labels that may not be answered
    upper_bound: float  # no allowed attention has a larger JSD
    exact: bool
    epsilon: float
    method: str


@dataclass(frozen=True)
class Spotlight:
    """All that a browser needs to predict under any attention: softmax over `labels` of bias + Σ_w α_w effect[w]."""

    labels: tuple[str, ...]  # those that may be answered
    effect: tuple[tuple[float, ...], ...]  # "word label"
    bias: tuple[float, ...]  # "label"
    original: tuple[float, ...]  # "word"


def adversary(
    model: Classifier,
    batch: Batch,
    *,
    epsilon: float | None = None,
    method: str = "exact",
    k: int = 1,
    seed: int = 0,
) -> list[Adversary]:
    """For each example the attention with the largest JSD to the model's own among those with TVD(prediction) ≤ ε.

    `epsilon` is 0.01 for classification and 0.05 for QA and NLI by default. Further adversaries (`k`) maximize JSD to the
    original plus the mean JSD to those chosen before. Double precision throughout.

    Refuses an ε outside [0, 1], k outside 1..20, and unknown methods.
    """
    epsilon = EPSILON[model.card.task.kind] if epsilon is None else epsilon
    _check(epsilon, method, k)
    words = contributions(model, batch)
    return METHODS[method](words, epsilon, k, seed)


def spotlight_data(model: Classifier, batch: Batch) -> list[Spotlight]:
    """For each example the linear decoder as plain, finite numbers; labels that may not be answered are left out."""
    words = contributions(model, batch)
    found = []
    for row, example in enumerate(batch.examples):
        n, allowed = len(example.text), words.bias[row].isfinite()
        found.append(
            Spotlight(
                labels=tuple(name for name, may in zip(model.card.task.labels, allowed.tolist(), strict=True) if may),
                effect=_plain(words.effect[row, :n, allowed]),
                bias=tuple(words.bias[row, allowed].tolist()),
                original=tuple(words.attention[row, :n].tolist()),
            )
        )
    return found


def _check(epsilon: float, method: str, k: int) -> None:
    if not 0 <= epsilon <= 1:
        raise Refusal("epsilon_out_of_range", f"Epsilon is {epsilon}; it must be between 0 and 1.", given=epsilon)
    if method not in METHODS:
        allowed = ", ".join(METHODS)
        raise Refusal(
            "unknown_method", f"There is no method {method!r}; there are {allowed}.", given=method, allowed=allowed
        )
    if not 1 <= k <= MOST:
        raise Refusal("k_out_of_range", f"k is {k}; it must be between 1 and {MOST}.", k=k, n=MOST)


# The exact optimum


@dataclass(frozen=True)
class _Points:
    """Attentions with `weight` on the first word of a pair and the rest on the second; a word paired with itself has all."""

    first: Tensor  # "pair"
    second: Tensor  # "pair"
    weight: Tensor  # "batch side pair"
    allowed: Tensor  # "batch side pair"


def exact(words: Contributions, epsilon: float, k: int, seed: int = 0) -> list[Adversary]:
    """The optimum by enumeration where two labels may be answered, else the bracket; `seed` is not used."""
    found: dict[int, Adversary] = {}
    binary = words.bias.isfinite().sum(-1) <= 2
    for group, candidates in ((binary, _two_labels), (~binary, _several_labels)):
        picked = group.nonzero().squeeze(-1)
        if not len(picked):
            continue
        for rows, part in by_length(words.rows(picked), CELLS):
            points = candidates(part, epsilon)
            attention = _greedy(part, points, k)
            bound = jsd(attention[:, 0], part.attention) if candidates is _two_labels else upper_bound(part, epsilon)
            found |= zip(picked[rows].tolist(), records(part, attention, bound, epsilon, "exact"), strict=True)
    return [found[row] for row in range(len(found))]


def upper_bound(words: Contributions, epsilon: float) -> Tensor:
    """A JSD, "batch", that no attention within ε exceeds: the least over the pairs of labels, each looked at alone."""
    least = words.attention.masked_fill(~words.mask, torch.inf).min(-1).values
    bound = log(2) / 2 + _gain(torch.ones_like(least), least)
    allowed = words.bias.isfinite()
    for first, second in combinations(range(allowed.shape[-1]), 2):
        one, other = (torch.full(allowed.shape[:1], label, device=allowed.device) for label in (first, second))
        value, _ = _best(words, _crossings(words, one, other, epsilon), [])
        bound = torch.where(allowed[:, first] & allowed[:, second], torch.minimum(bound, value), bound)
    return bound


def _two_labels(words: Contributions, epsilon: float) -> _Points:
    """The extreme points for texts with one or two possible answers."""
    allowed = words.bias.isfinite().long()
    last = allowed.shape[-1] - 1 - allowed.flip(-1).argmax(-1)
    return _crossings(words, allowed.argmax(-1), last, epsilon)


def _crossings(words: Contributions, label: Tensor, other: Tensor, epsilon: float) -> _Points:
    """Extreme points of the attentions whose log-odds of two labels stay as near as TVD ≤ ε makes them."""
    prob = words.prob(words.attention)
    bounds = log_odds_interval(_pick(prob, label), _pick(prob, other), epsilon)
    alone = words.effect + words.bias[:, None]  # "batch word label", the logits of all weight on one word
    row = torch.arange(len(label), device=label.device)
    scores = alone[row, :, label] - alone[row, :, other]
    first, second = torch.triu_indices(scores.shape[1], scores.shape[1], device=scores.device)
    a, b = scores[:, None, first], scores[:, None, second]
    weight = (torch.stack(bounds, dim=1)[..., None] - b) / (a - b)
    inside = (scores >= bounds[0][:, None] - SLACK) & (scores <= bounds[1][:, None] + SLACK)
    one_word = first == second
    weight = torch.where(one_word, 1.0, weight)
    allowed = torch.where(one_word, inside[:, None, first], (weight >= 0) & (weight <= 1))
    exist = words.mask[:, None, first] & words.mask[:, None, second]
    return _Points(first, second, weight, allowed & exist)


def _several_labels(words: Contributions, epsilon: float) -> _Points:
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
    return _Points(first, second, torch.stack(sides, dim=1), ok.any(-1)[:, None].expand(-1, 2, -1))


def _bisect(near: Callable[[Tensor], Tensor], inside: Tensor, outside: Tensor) -> Tensor:
    """The last point from inside to outside that is near."""
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        ok = near(middle)
        inside, outside = torch.where(ok, middle, inside), torch.where(ok, outside, middle)
    return inside


def _greedy(words: Contributions, points: _Points, k: int) -> Tensor:
    """Attention "batch k word": the best point, then points far from the original and from those chosen."""
    chosen: list[Tensor] = []
    for _ in range(k):
        chosen.append(_best(words, points, chosen)[1])
    return torch.stack(chosen, dim=1)


def _best(words: Contributions, points: _Points, chosen: Sequence[Tensor]) -> tuple[Tensor, Tensor]:
    """The largest JSD to the original plus mean JSD to those chosen, "batch", and where it is, "batch word"."""
    value = _divergence(points, words.attention)
    for other in chosen:
        value = value + _divergence(points, other) / len(chosen)
    value, at = value.masked_fill(~points.allowed, -torch.inf).flatten(1).max(-1)
    pair = at % len(points.first)
    weight = points.weight.flatten(1).gather(1, at[:, None])
    attention = torch.zeros_like(words.attention)
    attention.scatter_add_(1, points.first[pair][:, None], weight)
    attention.scatter_add_(1, points.second[pair][:, None], 1 - weight)
    none = value == -torch.inf
    return value.masked_fill(none, 0.0), torch.where(none[:, None], words.attention, attention)


def _divergence(points: _Points, other: Tensor) -> Tensor:
    """JSD of each point to a distribution "batch word", from the two words where they differ from ½ ln 2 Σ other."""
    rest = other.sum(-1)[:, None, None] * (log(2) / 2)
    return (
        rest
        + _gain(points.weight, other[:, None, points.first])
        + _gain(1 - points.weight, other[:, None, points.second])
    )


def _gain(weight: Tensor, other: Tensor) -> Tensor:
    """What a word of this weight adds to the JSD beyond a word of weight zero; 0 log 0 = 0."""
    both = weight + other
    return (xlogy(weight, weight) + xlogy(other, other) - xlogy(both, both) + log(2) * weight) / 2


# Records


def records(words: Contributions, attention: Tensor, bound: Tensor, epsilon: float, method: str) -> list[Adversary]:
    """One record per example of attention "batch k word", by falling JSD."""
    far = jsd(attention, words.attention[:, None])
    order = far.argsort(dim=-1, descending=True, stable=True)
    far, attention = far.gather(1, order), attention.gather(1, order[..., None].expand_as(attention))
    prediction = words.prob(attention)
    moved = tvd(prediction, words.prob(words.attention)[:, None])
    bound = torch.maximum(bound, far[:, 0])
    found = []
    for row, n in enumerate(words.mask.sum(-1).tolist()):
        found.append(
            Adversary(
                original=tuple(words.attention[row, :n].tolist()),
                attention=_plain(attention[row, :, :n]),
                jsd=tuple(far[row].tolist()),
                tvd=tuple(moved[row].tolist()),
                prediction=_plain(prediction[row]),
                upper_bound=float(bound[row]),
                exact=method == "exact" and bool(bound[row] - far[row, 0] <= PROVEN),
                epsilon=epsilon,
                method=method,
            )
        )
    return found


def _pick(values: Tensor, label: Tensor) -> Tensor:
    return values.gather(-1, label[:, None]).squeeze(-1)


def _plain(values: Tensor) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in values.tolist())


METHODS: dict[str, Callable[[Contributions, float, int, int], list[Adversary]]] = {"exact": exact}
