"""Do the words that a score puts first convince people, and does the prediction need them? Two families of numbers.

People who label a text can also mark why: the words of a review that speak for its label, the sentences of a story from
which the answer follows. Against such a rationale any score of words can be held. **Plausible** is a score that finds the
marked words: average precision and token F1, and the share of the score's mass that lies on them. **Faithful** is one whose
words the model used, which nobody's marks can tell; ERASER (DeYoung et al. 2020) asks the model, with the words r that a
score puts first:

    comprehensiveness = p(ŷ|x) − p(ŷ|x∖r)    high: without them the prediction falls
    sufficiency       = p(ŷ|x) − p(ŷ|r)      low: they alone carry it

ŷ is the label predicted for the whole text; r takes 1, 5, 10, 20 and 50 % of the words, and the five differences are
averaged (AOPC). The released code takes their plain mean, and so do we; the paper's formula divides by one more than there
are thresholds, which makes every value 5/6 of ours and changes no order (`aopc`).

Words are deleted, the text closes up, and the model reads it anew, attention included. Such texts are unlike those of
training, so that a fall may come from their strangeness; and that a score agrees with people says nothing of the model
(Jacovi & Goldberg 2020). The released code reports the area under a precision-recall curve whose points are joined by
straight lines, and average precision beside it; ours is the latter, which promises nothing between two points.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
import torch

from core.importance import TOKENS_AT_ONCE, probabilities
from core.models.text_model import TextModel
from core.models.transformer import Transformer
from core.text import digest
from core.types import Example, Refusal

THRESHOLDS = (0.01, 0.05, 0.1, 0.2, 0.5)  # shares of the words, those of ERASER
SEEDS = 2**31
LIKE = 16  # texts of like length


@dataclass(frozen=True)
class Plausibility:
    """How well a score per word finds the words that a person marked, each in [0, 1]; None is undefined.

    By chance `auprc` and `f1` come to about the share of words that are marked.
    """

    auprc: float | None
    f1: float | None  # of the `k` highest words
    k: int
    mass: float | None  # share of the summed |score| that lies on marked words


@dataclass(frozen=True)
class Effect:
    """What a set of words does to the probability of the predicted label, in [-1, 1]; None where no word would be left."""

    comprehensiveness: float | None  # p(ŷ|x) − p(ŷ|x∖r)
    sufficiency: float | None  # p(ŷ|x) − p(ŷ|r)


@dataclass(frozen=True)
class Faithfulness:
    """The effects of the highest words of a score, one for each threshold, and how many words each takes."""

    sizes: tuple[int, ...]
    effects: tuple[Effect, ...]

    @property
    def comprehensiveness(self) -> float | None:
        """The plain mean over the thresholds; None where one is undefined."""
        return aopc([effect.comprehensiveness for effect in self.effects])

    @property
    def sufficiency(self) -> float | None:
        """The plain mean over the thresholds; None where one is undefined."""
        return aopc([effect.sufficiency for effect in self.effects])


def plausibility(scores: Sequence[float], marked: Collection[int], k: int | None = None) -> Plausibility:
    """Average precision, token F1 and mass of one score per word against the positions of the marked words.

    `k` is the number of marked words by default; F1 then equals precision and recall. Higher is more important; `mass` takes
    magnitudes. Refuses positions outside the text and k outside 1..n.
    """
    truth = _truth(len(scores), marked)
    k = k or max(1, int(truth.sum()))
    return Plausibility(average_precision(scores, marked), token_f1(scores, marked, k), k, mass(scores, marked))


def average_precision(scores: Sequence[float], marked: Collection[int]) -> float | None:
    """Σ_i (R_i − R_{i−1}) P_i over the distinct scores from the highest, equals taken together; in [0, 1].

    None where no word is marked, or every word, since all rankings then come to the same. As `average_precision` in ERASER's
    released code, which leaves such documents out too.
    """
    truth, values = _truth(len(scores), marked), np.asarray(scores, dtype=np.float64)
    if not truth.any() or truth.all():
        return None
    order = np.argsort(-values, kind="stable")
    last = np.append(np.diff(values[order]) != 0, True)  # the end of each group of equals
    found, taken = truth[order].cumsum()[last], np.arange(1, len(values) + 1)[last]
    return float((np.diff(found, prepend=0) * found / taken).sum() / truth.sum())


def token_f1(scores: Sequence[float], marked: Collection[int], k: int) -> float | None:
    """2 |top k ∩ marked| / (k + |marked|), equal scores in the order of the text; None where no word is marked."""
    truth = _truth(len(scores), marked)
    if not 1 <= k <= len(scores):
        raise Refusal("k_out_of_range", f"k is {k}; it must be between 1 and the number of words, {len(scores)}.", k=k)
    hits = int(truth[highest(scores)[:k]].sum())
    return 2 * hits / (k + int(truth.sum())) if truth.any() else None


def mass(scores: Sequence[float], marked: Collection[int]) -> float | None:
    """Σ_marked |score| / Σ |score|; for attention, the weight on the marked words. None where no word is marked or all scores
    are zero."""
    truth, values = _truth(len(scores), marked), np.abs(np.asarray(scores, dtype=np.float64))
    return float(values[truth].sum() / values.sum()) if truth.any() and values.sum() > 0 else None


def highest(scores: Sequence[float]) -> list[int]:
    """Positions from the highest score to the lowest, equals by position."""
    return np.argsort(-np.asarray(scores, dtype=np.float64), kind="stable").tolist()


def chance(words: Sequence[str], seed: int) -> tuple[float, ...]:
    """A random score in [0, 1) for each word: what any measure must beat. The same for the same text and seed everywhere.

    Refuses seeds outside 0..2³¹−1.
    """
    if not 0 <= seed < SEEDS:
        raise Refusal("seed_out_of_range", f"The seed is {seed}; 0 to {SEEDS - 1} is allowed.", given=seed, most=SEEDS - 1)
    return tuple(np.random.default_rng((seed, digest(" ".join(words)))).random(len(words)).tolist())


def size(words: int, threshold: float) -> int:
    """How many of a text's words a threshold takes: its share rounded up, but never all of them."""
    return min(max(1, ceil(threshold * words - 1e-9)), max(words - 1, 0))


def aopc(values: Sequence[float | None], *, as_printed: bool = False) -> float | None:
    """The mean over the thresholds; `as_printed` divides by |B| + 1, as the paper's formula does. None where one is undefined.

    DeYoung et al. 2020, §4.2; the plain mean is that of the released code.
    """
    defined = [value for value in values if value is not None]
    return sum(defined) / (len(defined) + as_printed) if defined and len(defined) == len(values) else None


def faithfulness(
    model: TextModel, example: Example, scores: Mapping[str, Sequence[float]], *, thresholds: Sequence[float] = THRESHOLDS
) -> dict[str, Faithfulness]:
    """For each score per word, the effects of its highest words at each threshold, for the label that `model` predicts.

    A text of one word cannot be parted: everything is undefined. DeYoung et al. 2020, §4.2; run this in double precision.
    """
    n = rated(model, example)
    sizes = tuple(size(n, share) for share in thresholds)
    if n < 2:
        return dict.fromkeys(scores, Faithfulness(sizes, (Effect(None, None),) * len(sizes)))
    sets = [highest(values)[:k] for values in scores.values() for k in sizes]
    found = iter(effects(model, example, sets))
    return {name: Faithfulness(sizes, tuple(next(found) for _ in sizes)) for name in scores}


def rated(model: TextModel, example: Example) -> int:
    """How many words a score rates: those of the text, and behind them those of a query that is read in the same row."""
    return len(example.text) + (len(example.query) if isinstance(model, Transformer) else 0)


def effects(model: TextModel, example: Example, sets: Sequence[Collection[int]]) -> list[Effect]:
    """What each set of words (positions) does to the probability of the label that the model predicts for the whole text.

    Taking nothing away changes nothing, and so does keeping everything; where no word is left there is no text to predict.
    The example must fit the model. Refuses positions outside the text.
    """
    masks = [_truth(rated(model, example), one) for one in sets]
    parts = [part for mask in masks for part in (~mask, mask)]
    distinct = {part.tobytes(): part for part in parts if part.any()}
    whole, *rest = _prob(model, [example, *(_only(example, part) for part in distinct.values())])
    target = int(whole.argmax())
    known = dict(zip(distinct, (float(whole[target] - prob[target]) for prob in rest), strict=True))
    changes = iter(known.get(part.tobytes()) for part in parts)
    return [Effect(next(changes), next(changes)) for _ in masks]


def _only(example: Example, part: np.ndarray) -> Example:
    n = len(example.text)
    text = tuple(word for word, stays in zip(example.text, part[:n], strict=True) if stays)
    query = (
        tuple(word for word, stays in zip(example.query, part[n:], strict=True) if stays) if len(part) > n else example.query
    )
    return replace(example, text=text, query=query, evidence=())


def _prob(model: TextModel, examples: Sequence[Example]) -> list[torch.Tensor]:
    """The probabilities of the labels of each example, in order; texts of like length are read together."""
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].text) + len(examples[i].query))
    at_once = max(1, TOKENS_AT_ONCE // (2 + len(examples[order[-1]].text)))
    if isinstance(model, Transformer):  # which pays for padding
        at_once = min(at_once, LIKE)
    found: dict[int, torch.Tensor] = {}
    with torch.no_grad():
        for start in range(0, len(order), at_once):
            rows = order[start : start + at_once]
            prob = probabilities(model.run(model.encode([examples[i] for i in rows])).logits).cpu()
            found |= dict(zip(rows, prob, strict=True))
    return [found[i] for i in range(len(examples))]


def _truth(words: int, marked: Collection[int]) -> np.ndarray:
    """Which words are marked, as booleans."""
    truth = np.zeros(words, dtype=bool)
    for position in marked:
        if not 0 <= position < words:
            sentence = f"Word {position} is marked; the text has words 0 to {words - 1}."
            raise Refusal("no_such_word", sentence, given=position, n=words)
        truth[position] = True
    return truth
