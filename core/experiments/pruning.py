"""What a Transformer still answers as its heads are masked from the end of each ranking. Hao et al. 2021, Use Case 1 (pruning).

The rankings are those of the table `head-importance` of the same weights, made on other examples. Chance is an order for each
example of its own, so that its curve is the mean over orders.
"""

from collections.abc import Sequence

import pandas as pd
import torch
from torch import Tensor

from core.attattr.heads import CHANCE, CRITERIA, STEPS, kept, lowest_masked, mask, ordered, random_importance, ranking
from core.experiments import tables
from core.experiments.cases import Row, cases
from core.experiments.head_importance import scores_of
from core.importance import probabilities
from core.models.transformer import Transformer
from core.text import digest
from core.types import Batch, Card, Example, Refusal, Run

ORDER_SEED = 0
MOST = {"mnli": 600, "mrpc": 600}  # examples, where the whole split would take more than a quarter of an hour on one core
SETTINGS: Row = {
    "ranked_on": "head-importance, examples of the model's own data",
    "kept_percent": list(STEPS),
    "mask": "weights times zero, rows not renormalised",
    "order_seed": ORDER_SEED,
}
ALL, NONE = "all:100", "none:0"


def pruning(model: Transformer, examples: Sequence[Example]) -> list[Row]:
    """One row per example: length, prediction, and the label answered with all heads, with none, and for each ranking with
    10 to 90 percent of them. Refuses where heads were not ranked, or not of these weights."""
    orders = rankings(model.card, tables.results("head-importance", model.card.name))
    batch = model.encode(examples)
    with torch.no_grad():
        whole = model.run(batch)
        rows = cases(batch, probabilities(whole.logits).cpu(), whole.attention.amax((1, 2, 3, 4)).tolist())
        found = {ALL: whole.logits.argmax(-1), NONE: _pruned(model, batch, whole, left(model, examples, [], 0))}
        for criterion in CRITERIA:
            for percent in STEPS[1:-1]:
                masks = left(model, examples, orders.get(criterion), percent)
                found[f"{criterion}:{percent}"] = _pruned(model, batch, whole, masks)
    return [row | {name: int(labels[i]) for name, labels in found.items()} for i, row in enumerate(rows)]


def rankings(card: Card, table: pd.DataFrame) -> dict[str, list[int]]:
    """The order of heads under each criterion but chance, from the table `head-importance` of a model. Refuses that of other
    weights."""
    if table.attrs["provenance"]["weights_sha256"] != card.weights_sha256:
        sentence = f"The heads of {card.name} were ranked for other weights; `make results` ranks them again."
        raise Refusal("stale_results", sentence, model=card.name)
    scores = scores_of(table[table["sister"] == 0])
    return {criterion: ranking(scores, criterion) for criterion in CRITERIA if criterion != CHANCE}


def left(model: Transformer, examples: Sequence[Example], order: list[int] | None, percent: int) -> Tensor:
    """Which heads each example keeps, "batch layer head"; without an order, one by chance for each."""
    layers, heads = model.n_layers, model.card.heads
    if order is not None:
        return kept(order, percent, layers, heads).expand(len(examples), -1, -1)
    seeds = [digest(f"{ORDER_SEED} {example.id}") % 2**31 for example in examples]
    return torch.stack([kept(ordered(random_importance(layers, heads, seed)), percent, layers, heads) for seed in seeds])


def _pruned(model: Transformer, batch: Batch, whole: Run, masks: Tensor) -> Tensor:
    """The labels answered; what lies below the first masked head is not run again."""
    start = lowest_masked(masks)
    if start == model.n_layers:
        return whole.logits.argmax(-1)
    states = whole.states[:, start]
    return model.run(batch, states=states, start=start, intervene=mask(masks.to(batch.ids.device))).logits.argmax(-1)
