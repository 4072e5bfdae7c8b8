"""One prediction and what the measures say about it: Algorithm 1 of Jain & Wallace 2019 on one input.

Rankings are compared by magnitude, as the paper compares them: attention and |gradient × input| have no sign, and a
word that speaks against the prediction mattered too. The signs are kept beside for showing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import torch

from core import importance
from core.agreement import Correlation, TopK, kendall, top_k
from core.interventions import detach, keep
from core.models import batches
from core.models.text_model import TextModel
from core.reading import Reading, target_id
from core.types import Batch, Note, Refusal

MEASURES = ("attention", "gradient", "input_x_gradient", "integrated_gradients", "leave_one_out")
TIES = {"leave_one_out": 1e-7}  # differences below this are rounding, not importance


@dataclass(frozen=True)
class Pair:
    """How far two measures agree on one input."""

    kendall: Correlation
    top_k: TopK


@dataclass(frozen=True)
class Explanation:
    """What each measure says per word; `signed` holds those that know for or against the target (+ raises it).

    `words` are those of the text, and of the query where a model reads both in one row.
    """

    model: str
    words: tuple[str, ...]
    query: tuple[str, ...]
    cut: int
    prediction: dict[str, float]
    target: str
    scores: dict[str, tuple[float | None, ...]]
    signed: dict[str, tuple[float | None, ...]]
    agreement: dict[str, Pair]
    notes: tuple[Note, ...]


def explain(
    model: TextModel,
    reading: Reading,
    *,
    target: str | None = None,
    measures: Sequence[str] | None = None,
    cut_graph: bool = True,
    nodes: int = 50,
) -> Explanation:
    """The explanation of the target's probability (the predicted label's by default), in double precision.

    `cut_graph=False` leaves attention in the graph for `gradient`, a switch that the paper does not have. Refuses
    unknown measures and labels.
    """
    chosen = check_measures(measures)
    precise = model.precise()
    batch = precise.encode([reading.example])
    prob, words = importance.probabilities(precise.unchanged(batch).logits), batches.words(batch)[0]
    label = target_id(model.card, target, int(prob.argmax()), reading.example.candidates)
    scores, signed = measured(precise, batch, torch.tensor([label], device=batch.ids.device), chosen, cut_graph, nodes)
    row = {name: _defined(values[0], len(words)) for name, values in scores.items()}
    return Explanation(
        model=model.card.name,
        words=words,
        query=reading.example.query,
        cut=reading.cut,
        prediction={
            name: p
            for i, (name, p) in enumerate(zip(model.card.task.labels, prob[0].tolist(), strict=True))
            if batch.allowed[0, i]
        },
        target=model.card.task.labels[label],
        scores=row,
        signed={name: _defined(values[0], len(words)) for name, values in signed.items()},
        agreement={f"{a}~{b}": pair(row[a], row[b], TIES.get(a, 0.0), TIES.get(b, 0.0)) for a, b in combinations(chosen, 2)},
        notes=reading.notes,
    )


def check_measures(measures: Sequence[str] | None) -> tuple[str, ...]:
    """The measures in their fixed order; all of them for None. Refuses names that are not measures."""
    if measures is None:
        return MEASURES
    for name in measures:
        if name not in MEASURES:
            allowed = ", ".join(MEASURES)
            raise Refusal("unknown_measure", f"There is no measure {name!r}; there are {allowed}.", given=name, allowed=allowed)
    if not measures:
        raise Refusal("no_measure", f"No measure was named; there are {', '.join(MEASURES)}.", allowed=", ".join(MEASURES))
    return tuple(name for name in MEASURES if name in measures)


Rows = dict[str, list[list[float]]]


def measured(
    model: TextModel,
    batch: Batch,
    target: torch.Tensor,
    measures: Sequence[str],
    cut_graph: bool = True,
    nodes: int = 50,
) -> tuple[Rows, Rows]:
    """Scores and signed scores per measure, example and word; empty lists for what is undefined (leaving out the only
    word)."""
    scores: Rows = {}
    signed: Rows = {}
    if "attention" in measures:
        scores["attention"] = importance.to_words(batch, importance.attention(model, batch))
    if "gradient" in measures:
        slopes = importance.gradient(model, batch, target=target, intervene=detach if cut_graph else keep)
        scores["gradient"] = [[abs(value) for value in row] for row in importance.to_words(batch, slopes)]
    if "input_x_gradient" in measures:
        slopes = importance.gradient(model, batch, target=target, intervene=keep)
        scores["input_x_gradient"] = signed["input_x_gradient"] = importance.to_words(batch, slopes)
    if "integrated_gradients" in measures:
        whole = importance.integrated_gradients(model, batch, target=target, nodes=nodes)
        scores["integrated_gradients"] = signed["integrated_gradients"] = importance.to_words(batch, whole)
    if "leave_one_out" in measures:
        scores["leave_one_out"], signed["leave_one_out"] = importance.leave_one_out(model, batch, target=target)
    return scores, signed


def pair(a: Sequence[float | None], b: Sequence[float | None], tie_a: float = 0.0, tie_b: float = 0.0) -> Pair:
    """Agreement of two scores per word by magnitude; everything undefined where either side is."""
    if None in a or None in b:
        return Pair(Correlation(None, None, len(a), None, None), TopK(max(1, round(len(a) / 5)), None, None))
    first, second = [abs(x) for x in a if x is not None], [abs(x) for x in b if x is not None]
    return Pair(kendall(first, second, tie=(tie_a, tie_b)), top_k(first, second, tie=(tie_a, tie_b)))


def _defined(values: list[float], n: int) -> tuple[float | None, ...]:
    return tuple(values) if len(values) == n else (None,) * n
