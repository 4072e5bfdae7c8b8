"""How far the prediction falls without the edges of the attribution tree, per sentence. Hao et al. 2021, Use Case 2."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor

from core import importance
from core.attattr.attribution import NODES, attribution
from core.attattr.cutting import cut, largest, marks, random_others
from core.attattr.tree import Edge, Tree, tree
from core.experiments.cases import Row, cases
from core.models.transformer import Transformer
from core.types import Batch, Example

TAUS = (0.2, 0.4, 0.6)
DRAWS, SEED = 3, 0
SETTINGS: Row = {"taus": TAUS, "lambda": 0.0, "nodes": NODES, "draws": DRAWS, "draw_seed": SEED, "tokens": "pieces"}

Cuts = list[list[Edge]]  # of each example


def trees(model: Transformer, examples: Sequence[Example]) -> list[Row]:
    """One row per example: length, prediction, largest weight; for each τ the number of edges, how far the predicted label's
    probability falls and whether the decision flips when they are cut, or as many random ones (means over the draws), or those
    with the largest weights, or with the largest attributions. Missing where the tree has no edge.
    """
    batch = model.encode(examples)
    found = attribution(model, batch)
    lengths = batch.present.sum(1).tolist()
    scores = [_own(found.attribution.sum(2), i, n) for i, n in enumerate(lengths)]
    weights = [_own(found.attention.mean(2), i, n) for i, n in enumerate(lengths)]
    with torch.no_grad():
        prob = importance.probabilities(model.run(batch).logits)
    read = found.attention * batch.present[:, None, None, :, None]  # padding attends too
    rows = cases(batch, prob.cpu(), read.amax((1, 2, 3, 4)).tolist())
    for row, error in zip(rows, found.error.amax(1).tolist(), strict=True):
        row["completeness_error"] = error
    for tau in TAUS:
        grown = [tree(own, tau=tau) for own in scores]
        for row, own in zip(rows, grown, strict=True):
            row[f"{tau}:edges"] = len(own.edges)
        for name, cuts in _arms(grown, scores, weights).items():
            for row, own, (fall, flipped) in zip(rows, grown, _effects(model, batch, prob, cuts), strict=True):
                row[f"{tau}:{name}_fall"] = fall if own.edges else None
                row[f"{tau}:{name}_flipped"] = flipped if own.edges else None
    return rows


def _arms(grown: Sequence[Tree], scores: list[np.ndarray], weights: list[np.ndarray]) -> dict[str, list[Cuts]]:
    """What is cut, by name: for each draw the edges of each example."""
    edges = [one.edges for one in grown]

    def likewise(how: Callable[..., list[Edge]], by: list[np.ndarray], *seed: int) -> Cuts:
        fresh = (lambda: [np.random.default_rng(seed)]) if seed else list  # the draw of an example is its own
        return [how(own, values, *fresh()) for own, values in zip(edges, by, strict=True)]

    return {
        "tree": [[list(own) for own in edges]],
        "random": [likewise(random_others, scores, SEED, draw) for draw in range(DRAWS)],
        "weight": [likewise(largest, weights)],
        "attribution": [likewise(largest, scores)],
    }


@torch.no_grad()
def _effects(model: Transformer, batch: Batch, prob: Tensor, draws: list[Cuts]) -> list[tuple[float, float]]:
    """For each example how far the predicted label falls and whether it is replaced, means over the draws."""
    position = torch.arange(batch.ids.shape[1], device=batch.ids.device)
    target, fall, flipped = prob.argmax(-1), torch.zeros(len(prob)), torch.zeros(len(prob))
    for cuts in draws:
        marked = torch.stack([marks(edges, position, model.n_layers) for edges in cuts])
        after = importance.probabilities(model.run(batch, intervene=cut(marked)).logits)
        fall += (prob - after).gather(-1, target[:, None]).squeeze(-1).cpu() / len(draws)
        flipped += (after.argmax(-1) != target).float().cpu() / len(draws)
    return list(zip(fall.tolist(), flipped.tolist(), strict=True))


def _own(matrices: Tensor, i: int, n: int) -> np.ndarray:
    """One example's "layer query key" without padding."""
    return matrices[i, :, :n, :n].cpu().double().numpy()
