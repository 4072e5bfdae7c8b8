"""What each example says of each head, for every ranking of heads. Hao et al. 2021, Use Case 1; Michel et al. 2019.

The examples are those that are kept for it, the last 200 of validation. Where a model was trained on a sister set too (SNLI
beside MNLI), the sister's are asked as well, so that one sees whether another sample of the same task finds the same heads.
"""

from collections.abc import Sequence

import pandas as pd
import torch

from core import finetuning
from core.attattr.attribution import NODES
from core.attattr.heads import HeadScores, head_scores
from core.experiments.cases import Row, cases
from core.importance import probabilities
from core.models.transformer import Transformer
from core.types import Example, Refusal

SISTERS = {"mnli": "snli"}  # with the same labels
SPLIT = "validation"
AT_ONCE = 16  # examples in a batch, so that the gradients of long pairs fit in memory
NAMES = ("attribution", "taylor", "attention", "accuracy", "prob")
SETTINGS: Row = {
    "nodes": NODES,
    "examples": f"the last {finetuning.FOR_HEADS} of validation, and of the sister set's where there is one",
    "target": "gold label",
    "taylor": "absolute gradient of the loss by a factor on the head; layers are normalised in the mean",
    "mask": "weights times zero, rows not renormalised",
}


def examples(source: str, split: str, limit: int | None) -> list[Example]:
    """The examples that are kept for ranking heads, those of the sister set behind them; the first `limit` of each."""
    if split != SPLIT:
        raise Refusal("unknown_split", f"Heads are ranked on examples of {SPLIT}; {split!r} was given.", given=split)
    sources = [source, *([SISTERS[source]] if source in SISTERS else [])]
    return [e for each in sources for e in finetuning.for_heads(each)[:limit]]


def head_importance(model: Transformer, examples: Sequence[Example]) -> list[Row]:
    """One row per example: length, prediction, whether it is of the sister set, and for each head its largest attribution and
    weight, the gradient of the loss by a factor on it, and what masking it costs: the answer (`accuracy`) and p (`prob`)."""
    return [row for start in range(0, len(examples), AT_ONCE) for row in _rows(model, examples[start : start + AT_ONCE])]


def _rows(model: Transformer, examples: Sequence[Example]) -> list[Row]:
    batch = model.encode(examples)
    found = head_scores(model, batch)
    with torch.no_grad():
        prob = probabilities(model.run(batch).logits).cpu()
    rows = cases(batch, prob, found.attention.amax((1, 2)).tolist())
    for i, (row, example) in enumerate(zip(rows, examples, strict=True)):
        row["sister"] = int(not example.id.startswith(f"{model.card.task.name}-"))
        for name in NAMES:
            values = getattr(found, name)[i].tolist()
            row |= {column(layer, head, name): v for layer, own in enumerate(values) for head, v in enumerate(own)}
    return rows


def column(layer: int, head: int, name: str) -> str:
    """Where a table holds what is said of a head."""
    return f"layer{layer + 1}_head{head + 1}:{name}"


def scores_of(table: pd.DataFrame) -> HeadScores:
    """A table, or some of its rows, as it was measured, "example layer head"."""
    heads = [name.rpartition(":")[0] for name in table.columns if name.endswith(":prob")]
    layers = len({name.partition("_")[0] for name in heads})

    def read(name: str) -> torch.Tensor:
        values = table[[f"{head}:{name}" for head in heads]].to_numpy(dtype=float, copy=True)
        return torch.from_numpy(values).unflatten(1, (layers, -1))

    return HeadScores(**{name: read(name) for name in NAMES})
