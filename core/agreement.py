"""How far apart are two attentions, two rankings, two predictions?

"Attention agrees with importance" means nothing until the measure of agreement is named, and the papers name
different ones. Here each is written once: **rankings** by Kendall's tau-b (Jain & Wallace 2019, Algorithm 1) and by
the lists of the top k words, which those authors name as future work; **distributions**, attention or prediction, by
the total variation distance, the Jensen-Shannon and the Kullback-Leibler divergence.

Three conventions differ between papers and change the figures. The total variation distance is half the L1 distance
of *full* class distributions (for two classes: the difference of one probability, not half of it). Divergences are in
nats, so that the Jensen-Shannon divergence is at most ln 2; it is not the square root that
`scipy.spatial.distance.jensenshannon` returns. Tau is the one that corrects for ties, since attention and erasure tie
often. What has no ranking (one word, equal values) has no tau: it is `None`, never NaN and never zero.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import atanh, inf, log, sqrt, tanh

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from scipy.stats import kendalltau
from torch import Tensor

from core.types import Refusal

Values = ArrayLike | Tensor  # one number per word
Z_95 = 1.959963984540054  # half width of a 95 % interval, in standard deviations of the normal


@dataclass(frozen=True)
class Correlation:
    """Tau-b of two rankings of `n` words with its asymptotic p and 95 % interval; `None` is undefined."""

    kendall_tau: float | None
    p_value: float | None
    n: int
    low: float | None
    high: float | None


@dataclass(frozen=True)
class TopK:
    """Agreement of the `k` highest words: the shared fraction, and a coefficient in [-1, 1] that heeds order too."""

    k: int
    overlap: float | None
    tau: float | None


@dataclass(frozen=True)
class Mean:
    """Mean of `n` defined values with its 95 % bootstrap interval, drawn from `seed`; `None` is undefined."""

    mean: float | None
    low: float | None
    high: float | None
    n: int
    seed: int


def kendall(a: Values, b: Values, *, tie: float | tuple[float, float] = 0.0) -> Correlation:
    """Kendall's tau-b of two scores per word, its asymptotic p-value and a 95 % interval.

    tau-b = (concordant - discordant) / sqrt(pairs untied in a * pairs untied in b). Neighbors in sorted order less
    than `tie` apart count as equal (one number, or one for each side). All but `n` is None where either side is
    constant. `p_value` also needs three words, and the interval five and |tau| < 1: Fisher's z with variance 0.437 /
    (n - 4), an approximation that was made for normal scores without ties (Fieller, Hartley & Pearson 1957).

    Raises Refusal for unequal lengths, more than one axis, or values that are not finite.
    """
    x, y = _ranked(a, b, tie)
    n = len(x)
    if _constant(x) or _constant(y):
        return Correlation(None, None, n, None, None)
    if n == 2:  # scipy's variance divides by n - 2
        return Correlation(float(np.sign((x[1] - x[0]) * (y[1] - y[0]))), None, n, None, None)
    result = kendalltau(x, y, method="asymptotic")
    tau = float(np.clip(result.statistic, -1.0, 1.0))
    low, high = _interval(tau, n)
    return Correlation(tau, float(result.pvalue), n, low, high)


def top_k(a: Values, b: Values, k: int | None = None, *, tie: float | tuple[float, float] = 0.0) -> TopK:
    """Agreement of the k highest words of `a` with the k highest of `b`.

    By default k is a fifth of the words, rounded, at least one. overlap = |top(a) & top(b)| / k. tau = 1 - 2 K / (k
    (3k - 1) / 2), where K is Kendall's distance for top-k lists with penalty 1/2 (Fagin, Kumar & Sivakumar 2003) and
    k (3k - 1) / 2 its value for lists without a common word: 1 is the same list in the same order, -1 is nothing in
    common (out of reach where 2k > n). Equal values are put in order of position, also at the cut. Both are None
    where either side is constant: it has no top.

    Raises Refusal as `kendall`, and for k outside 1..n.
    """
    x, y = _ranked(a, b, tie)
    n = len(x)
    if k is not None and not 1 <= k <= n:
        raise Refusal("k_out_of_range", f"k is {k}; it must be between 1 and the number of words, {n}.", k=k, n=n)
    k = k or min(n, max(1, round(n / 5)))
    if _constant(x) or _constant(y):
        return TopK(k, None, None)
    first, second = (np.argsort(-ranks, kind="stable")[:k] for ranks in (x, y))
    shared = np.intersect1d(first, second).size
    return TopK(k, shared / k, 1.0 - 4.0 * _fagin(first, second) / (k * (3 * k - 1)))


def noise_in_tau(attention: Values, importance: Values, *, tie: float | tuple[float, float] = 0.0) -> list[Correlation]:
    """Tau over the 2, 3, ... n most important words: `[i].n` is i + 2, and the last is `kendall` of all words.

    Jain & Wallace 2019 warn that words that do not matter are ranked by chance and so put noise into tau: adding them
    one by one shows how much. Words come in the order of `by_importance`, which does not look at attention: words
    chosen for a high *sum* of two unrelated scores would correlate negatively (tau about -0.35 for 10 of 30).
    """
    x, y = _values(attention), _values(importance)
    _check_lengths(x, y)
    order = by_importance(y)
    return [kendall(x[order[:m]], y[order[:m]], tie=tie) for m in range(2, len(x) + 1)]


def by_importance(importance: Values) -> list[int]:
    """Positions of the words from the largest |importance| to the smallest, equals by position."""
    return np.argsort(-np.abs(_values(importance)), kind="stable").tolist()


def tvd(p: Tensor, q: Tensor) -> Tensor:
    """Total variation distance over the last axis, in [0, 1]: half of sum |p - q|."""
    return (p - q).abs().sum(-1) / 2


def kl(p: Tensor, q: Tensor) -> Tensor:
    """Kullback-Leibler divergence KL(p || q) over the last axis, in nats: sum p log(p / q).

    0 log 0 = 0, so positions where both are zero add nothing; infinite where q is zero and p is not. The gradient at
    a zero of either is taken to be zero, which any softmax in front multiplies it by anyway.
    """
    return _relative(p, q).masked_fill((p > 0) & (q <= 0), inf).sum(-1)


def jsd(p: Tensor, q: Tensor) -> Tensor:
    """Jensen-Shannon divergence over the last axis, in nats, in [0, ln 2].

    (KL(p || m) + KL(q || m)) / 2 with m = (p + q) / 2: symmetric, and finite for any two distributions. Its gradient
    is finite too; at a zero, where the true one may be infinite, it is one that a softmax in front removes.
    """
    m = (p + q) / 2
    return ((_relative(p, m) + _relative(q, m)).sum(-1) / 2).clamp(0.0, log(2))


def entropy(p: Tensor) -> Tensor:
    """Entropy over the last axis, in nats, from 0 (all on one of n words) to ln n (uniform): -sum p log p."""
    return _relative(p, torch.ones_like(p)).sum(-1).neg().clamp(min=0.0)


def bootstrap_mean(values: Sequence[float | None] | NDArray[np.floating], *, seed: int = 0, n: int = 2000) -> Mean:
    """Mean over sentences with a 95 % percentile interval from `n` resamples.

    Undefined values (None, NaN) are left out and not counted in the result's `n`. The interval speaks of other
    sentences from the same data, not of other training runs. None below two values.
    """
    defined = np.array([value for value in values if value is not None], dtype=np.float64)
    defined = _values(defined[~np.isnan(defined)])
    size = len(defined)
    if size < 2:
        return Mean(float(defined[0]) if size else None, None, None, size, seed)
    generator = np.random.default_rng(seed)
    means = [defined[generator.integers(size, size=size)].mean() for _ in range(n)]
    low, high = np.quantile(means, (0.025, 0.975))
    return Mean(float(defined.mean()), float(low), float(high), size, seed)


def _values(given: Values) -> NDArray[np.float64]:
    """The given numbers as one float64 axis, or a Refusal."""
    values = np.asarray(given.detach().cpu() if isinstance(given, Tensor) else given, dtype=np.float64)
    if values.ndim != 1:
        raise Refusal("not_one_axis", f"The values have {values.ndim} axes; one number per word is needed.", axes=values.ndim)
    if not np.isfinite(values).all():
        bad = int(np.flatnonzero(~np.isfinite(values))[0])
        raise Refusal("not_finite", f"Value {bad} is {values[bad]}; only finite numbers can be compared.", position=bad)
    return values


def _check_lengths(a: NDArray[np.float64], b: NDArray[np.float64]) -> None:
    if len(a) != len(b):
        sentence = f"One side has {len(a)} values, the other {len(b)}; both need one value per word."
        raise Refusal("unequal_lengths", sentence, first=len(a), second=len(b))


def _ranked(a: Values, b: Values, tie: float | tuple[float, float]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Dense ranks of both sides, with everything checked."""
    x, y = _values(a), _values(b)
    _check_lengths(x, y)
    ties = tie if isinstance(tie, tuple) else (tie, tie)
    return _dense_ranks(x, ties[0]), _dense_ranks(y, ties[1])


def _dense_ranks(values: NDArray[np.float64], tie: float) -> NDArray[np.int64]:
    """Ranks from 0; a new one starts where the gap to the neighbor below is at least `tie` and not zero."""
    order = np.argsort(values, kind="stable")
    gaps = np.diff(values[order])
    ranks = np.zeros(len(values), dtype=np.int64)
    ranks[order[1:]] = np.cumsum((gaps > 0) & (gaps >= tie))
    return ranks


def _constant(ranks: NDArray[np.int64]) -> bool:
    return len(ranks) == 0 or not ranks.any()


def _interval(tau: float, n: int) -> tuple[float | None, float | None]:
    """95 % interval of tau by Fisher's z."""
    if n <= 4 or abs(tau) > 1 - 1e-12:
        return None, None
    reach = Z_95 * sqrt(0.437 / (n - 4))
    return tanh(atanh(tau) - reach), tanh(atanh(tau) + reach)


def _fagin(first: NDArray[np.int64], second: NDArray[np.int64]) -> float:
    """Kendall's distance of two top-k lists with penalty 1/2, over all pairs of words that are in either list.

    A word outside a list comes after all words in it. A pair costs 1 where the lists order it oppositely, and 1/2
    where a list does not order it at all.
    """
    words = np.union1d(first, second)
    places = [np.array([list(top).index(word) if word in top else len(top) for word in words]) for top in (first, second)]
    signs = [np.sign(place[:, None] - place[None, :]) for place in places]
    product = np.triu(signs[0] * signs[1], k=1)
    unordered = np.triu(signs[0] * signs[1] == 0, k=1)
    return float((product < 0).sum() + unordered.sum() / 2)


def _relative(p: Tensor, q: Tensor) -> Tensor:
    """p log(p / q) where both are positive, else zero; a zero never reaches `log`, so gradients are finite."""
    both = (p > 0) & (q > 0)
    # the logarithms are subtracted, not the ratio taken: p / q overflows where q is tiny
    value = p * (torch.where(both, p, 1.0).log() - torch.where(both, q, 1.0).log())
    return torch.where(both, value, 0.0)
