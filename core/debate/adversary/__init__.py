"""How different could attention have looked, with the same prediction? The exact answer, and the published search.

Jain & Wallace 2019 (§4.2.2, Eq. 1, Algorithm 3): if attention explained a prediction, other attention should give another
prediction. They look for weights far from the model's own (Jensen-Shannon divergence) whose output stays within ε (total
variation), by gradient descent with a penalty. Where it falls short, nobody knows whether such weights do not exist.

Here the question is answered instead of searched. With a decoder linear in the context and two labels, TVD ≤ ε is an
interval for the logit z = Σ α_w s_w, s_w the logit of all weight on word w. The allowed attentions are a simplex cut by two
half-spaces; JSD(·, α̂) is convex, so its maximum is at an extreme point, and these have one word (inside the interval) or two
(an edge of the simplex where z meets a bound): O(W²) numbers in all. With more labels the allowed set is not convex, and there
is a bracket. Below: the best allowed point of any edge (along an edge a convex function is largest at the first or the last
allowed point), of the search and of climbs. Above: the least of what each pair of labels alone would allow (TVD ≤ ε bounds
their log-odds, which are linear again) and of all weight on the least attended word. Where both meet, the optimum is proven.

The published search is kept beside it, to see what it misses. Words are written words (`core.models.contributions`). Wiegreffe
& Pinter 2019 answer that no trained module would produce such weights, sentence by sentence; the optimum, one or two words that
carry everything, makes both points sharper. `constrained` asks for less: a ceiling on each weight, a floor on entropy.

Read `optimum` (on `extremes`), `descent` (the search), `limits` (ceiling and floor; under it `room`, `ceiling`, `floor`), and
`ascent` (the climbs for several labels).
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from core.agreement import jsd, tvd
from core.debate.adversary.descent import search
from core.debate.adversary.extremes import EPSILON, checked_epsilon
from core.debate.adversary.limits import Constrained, constrained
from core.debate.adversary.optimum import optimum
from core.models.classifier import Classifier
from core.models.contributions import Contributions, by_length, contributions
from core.types import Batch, Refusal

__all__ = ["EPSILON", "METHODS", "Adversary", "Constrained", "Spotlight", "adversary", "constrained", "spotlight_data"]

METHODS: dict[str, Callable[[Contributions, float, int, int], tuple[Tensor, Tensor]]] = {"exact": optimum, "search": search}
MOST = 20  # adversaries of one text
CELLS = 2**19  # pairs of words held at once
PROVEN = 1e-9  # a smaller gap in JSD is rounding


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
    model: Classifier, batch: Batch, *, epsilon: float | None = None, method: str = "exact", k: int = 1, seed: int = 0
) -> list[Adversary]:
    """For each example the attention with the largest JSD to the model's own among those with TVD(prediction) ≤ ε.

    `epsilon` is 0.01 for classification and 0.05 for QA and NLI by default. Further adversaries (`k`) maximize JSD to the
    original plus the mean JSD to those chosen before. `seed` starts the search and, where more than two labels may be answered,
    the climbs of the exact method. Double precision throughout.

    Refuses an ε outside [0, 1], k outside 1..20, and unknown methods.
    """
    epsilon = checked_epsilon(model.card.task.kind, epsilon)
    _check(method, k)
    words = contributions(model, batch)
    attention = words.attention[:, None].repeat(1, k, 1)
    bound = torch.zeros_like(attention[:, 0, 0])
    for rows, part in by_length(words, CELLS, lambda length: length**2):
        found, bound[rows] = METHODS[method](part, epsilon, k, seed)
        attention[rows] = 0.0
        attention[rows, :, : found.shape[-1]] = found
    return _records(words, attention, bound, epsilon, method)


def spotlight_data(model: Classifier, batch: Batch) -> list[Spotlight]:
    """For each example the linear decoder as plain, finite numbers; labels that may not be answered are left out."""
    words = contributions(model, batch)
    found = []
    for row, n in enumerate(words.lengths.tolist()):
        allowed = words.bias[row].isfinite()
        found.append(
            Spotlight(
                labels=tuple(name for name, may in zip(model.card.task.labels, allowed.tolist(), strict=True) if may),
                effect=_plain(words.effect[row, :n, allowed]),
                bias=tuple(words.bias[row, allowed].tolist()),
                original=tuple(words.attention[row, :n].tolist()),
            )
        )
    return found


def _check(method: str, k: int) -> None:
    if method not in METHODS:
        allowed = ", ".join(METHODS)
        raise Refusal("unknown_method", f"There is no method {method!r}; there are {allowed}.", given=method, allowed=allowed)
    if not 1 <= k <= MOST:
        raise Refusal("k_out_of_range", f"k is {k}; it must be between 1 and {MOST}.", k=k, n=MOST)


def _records(words: Contributions, attention: Tensor, bound: Tensor, epsilon: float, method: str) -> list[Adversary]:
    """One record per text of attention "batch k word", by falling JSD."""
    far = jsd(attention, words.attention[:, None])
    far, order = far.sort(dim=-1, descending=True, stable=True)
    attention = attention.gather(1, order[..., None].expand_as(attention))
    prediction = words.prob(attention)
    moved = tvd(prediction, words.prob(words.attention)[:, None])
    bound = torch.maximum(bound, far[:, 0])
    proven = (bound - far[:, 0] <= PROVEN) & (method == "exact")
    return [
        Adversary(
            original=tuple(words.attention[row, :n].tolist()),
            attention=_plain(attention[row, :, :n]),
            jsd=tuple(far[row].tolist()),
            tvd=tuple(moved[row].tolist()),
            prediction=_plain(prediction[row]),
            upper_bound=float(bound[row]),
            exact=bool(proven[row]),
            epsilon=epsilon,
            method=method,
        )
        for row, n in enumerate(words.lengths.tolist())
    ]


def _plain(values: Tensor) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in values.tolist())
