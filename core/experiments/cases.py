"""What every table of an experiment says of each example."""

from collections.abc import Sequence
from typing import Any

from torch import Tensor

from core.types import Batch

Row = dict[str, Any]


def cases(batch: Batch, prob: Tensor, largest: Sequence[float]) -> list[Row]:
    """One row per example: its length as the model read it, label, prediction, largest weight."""
    return [
        {
            "n_words": len(example.text),
            "label": example.label,
            "predicted": int(p.argmax()),
            "prob": float(p.max()),
            "max_attention": weight,
        }
        for example, p, weight in zip(batch.examples, prob, largest, strict=True)
    ]
