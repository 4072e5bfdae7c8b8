"""How far attention agrees with the other voices, per sentence. Jain & Wallace 2019, Algorithm 1."""

from collections.abc import Sequence

import torch

from core import importance
from core.experiments.cases import Row, cases
from core.explanation import TIES, measured, pair
from core.models.classifier import Classifier
from core.types import Example

IG_NODES = 8  # rank the words of SST as 100 do: tau 1.000 over 60 sentences
PAIRS = (
    ("attention", "gradient"),
    ("attention", "leave_one_out"),
    ("attention", "integrated_gradients"),
    ("gradient", "leave_one_out"),
)
SETTINGS: Row = {"integrated_gradients_nodes": IG_NODES}


def agreement(model: Classifier, examples: Sequence[Example], *, nodes: int = IG_NODES) -> list[Row]:
    """One row per example: lengths, prediction, and for each pair of measures tau-b, its p, top-k overlap and top-k
    tau.

    In double precision, for the predicted class, LOO ties below 1e-7 tied. Jain & Wallace 2019, Algorithm 1.
    """
    batch = model.encode(examples)
    with torch.no_grad():
        prob = importance.probabilities(model.run(batch).logits)
    scores, _ = measured(model, batch, prob.argmax(-1), sorted({m for both in PAIRS for m in both}), nodes=nodes)
    rows = cases(batch, prob, [max(weights) for weights in scores["attention"]])
    for i, (row, example) in enumerate(zip(rows, batch.examples, strict=True)):
        for a, b in PAIRS:
            both = (scores[a][i], scores[b][i])
            short = any(len(values) != len(example.text) for values in both)
            first, second = ([None], [None]) if short else both
            found = pair(first, second, TIES.get(a, 0.0), TIES.get(b, 0.0))
            row |= {f"{a}~{b}:tau": found.kendall.kendall_tau, f"{a}~{b}:p": found.kendall.p_value}
            row |= {f"{a}~{b}:overlap": found.top_k.overlap, f"{a}~{b}:top_k_tau": found.top_k.tau}
    return rows
