"""Nine methods on the same predictions: whether they agree, and whether the prediction needs the words that each puts first.

What heads weigh against what they contribute, after Hao et al. 2021, §3, stands beside.
"""

from collections.abc import Sequence
from itertools import combinations

import torch

from core import data, importance
from core.agreement import kendall
from core.attattr import matching, rivals
from core.attattr.attribution import NODES, Attribution, attribution
from core.debate import rationales as debate
from core.experiments.cases import Row, cases
from core.models.transformer import Transformer
from core.types import Batch, Example

PAIRS = tuple(combinations(rivals.RIVALS, 2))
RATED = (*rivals.RIVALS, "random")
TIES = {"leave_one_out": 1e-6}  # in single precision smaller differences are rounding
CHANCE_SEED = 0
PAIRED = 300  # of the pairs of a test split, which take several times as long as a sentence
SETTINGS: Row = {
    "attribution_nodes": NODES,
    "integrated_gradients_nodes": rivals.NODES,
    "chance_seed": CHANCE_SEED,
    "thresholds": list(debate.THRESHOLDS),
    "aopc": "plain mean over the thresholds",
    "precision": "single",
}


def examples(source: str, split: str, limit: int | None) -> list[Example]:
    """A split of sentences whole, 300 of a split of pairs, drawn by their ids; or as many as are asked for."""
    paired = data.TASKS[source].kind != "classification"
    return data.load(source, split, limit=limit or (PAIRED if paired else None))


def compared(model: Transformer, examples: Sequence[Example]) -> list[Row]:
    """One row per example: lengths, prediction, tau-b over the words of each pair of methods by magnitude (`a~b:tau`), and for
    each and for chance comprehensiveness and sufficiency of the words that it puts first. For each layer (counted from 0) what
    special tokens take of the weights and of the attributions, the error of completeness, and tau-b of weight and |attribution|
    over the cells of each head (`tau layer.head`).

    For the predicted label. Methods that know for or against put the words that speak for it first. DeYoung et al. 2020, §4.2.
    """
    return [_row(model, example) for example in examples]


def _row(model: Transformer, example: Example) -> Row:
    batch = model.encode([example])  # alone: its nodes and its words are batches enough, and nothing is padded
    with torch.no_grad():
        prob = importance.probabilities(model.run(batch).logits)
    found = attribution(model, batch, target=prob.argmax(-1))
    scores = rivals.compare(model, batch, prob.argmax(-1), found=found)
    (row,) = cases(batch, prob.cpu(), found.attention.amax((1, 2, 3, 4)).tolist())
    (example,) = batch.examples
    own = {name: one.words[0] for name, one in scores.items()}
    row |= {"n_rated": debate.rated(model, example)}
    return row | agreements(own) | faithful(model, example, own) | _layers(batch, found) | _heads(found)


def agreements(scores: dict[str, list[float]]) -> Row:
    """Tau-b of each pair of methods on one text, by magnitude; None where a side is constant or has no score."""
    made: Row = {}
    for a, b in PAIRS:
        first, second = ([abs(value) for value in scores[name]] for name in (a, b))
        tie = (TIES.get(a, 0.0), TIES.get(b, 0.0))
        made[f"{a}~{b}:tau"] = kendall(first, second, tie=tie).kendall_tau if len(first) == len(second) else None
    return made


def faithful(model: Transformer, example: Example, scores: dict[str, list[float]]) -> Row:
    """Comprehensiveness and sufficiency (AOPC) of each method and of chance on one text; None where nothing can be parted."""
    words = (*example.text, *example.query)
    rated = {**scores, "random": list(debate.chance(words, CHANCE_SEED))}
    effects = debate.faithfulness(model, example, {name: own for name, own in rated.items() if len(own) == len(words)})
    made: Row = {}
    for name in RATED:
        one = effects.get(name)
        made[f"{name}:comprehensiveness"] = one.comprehensiveness if one else None
        made[f"{name}:sufficiency"] = one.sufficiency if one else None
    return made


def _layers(batch: Batch, found: Attribution) -> Row:
    """Error, and the shares of special tokens as keys: mean weight over heads and queries, and part of Σ|Attr|."""
    special, weights, parts = ~batch.mask[0], found.attention[0], found.attribution[0].abs()
    taken = weights[..., special].sum(-1).mean((1, 2)).tolist()
    given = (parts[..., special].sum((1, 2, 3)) / parts.sum((1, 2, 3)).clamp(min=torch.finfo(parts.dtype).tiny)).tolist()
    made: Row = {}
    for layer, error in enumerate(found.error[0].tolist()):
        name = f"layer{layer}"
        made |= {f"{name}:error": error, f"{name}:special": taken[layer], f"{name}:special_attribution": given[layer]}
    return made


def _heads(found: Attribution) -> Row:
    taus = matching.agreements(found.attention[0].cpu(), found.attribution[0].cpu())
    return {f"tau {layer}.{head}": tau for layer, heads in enumerate(taus) for head, tau in enumerate(heads)}
