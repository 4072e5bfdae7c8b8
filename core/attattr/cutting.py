"""Does the tree matter? Its edges are cut and the prediction is asked again (after Hao et al. 2021, Use Case 2).

To cut an edge is to set its weight to zero in its layer, in all heads, without renormalizing: the end of the path along which
attribution was integrated. If the tree tells how the answer was put together, the label's probability should fall further than
when as many other edges are cut. Others are drawn by chance, or have the largest attention weights, or the largest attributions
wherever they stand; each time as many in each layer as the tree has there, between different tokens and not read by [CLS].
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import torch
from torch import Tensor

from core import importance
from core.attattr.tree import CLS, Edge
from core.models.batches import repeat
from core.models.transformer import Transformer
from core.types import Batch, Intervention

Pick = Callable[[int, np.ndarray, int], Iterable[int]]  # layer, its edges as query × tokens + key, how many -> which of them


def marks(edges: Sequence[Edge], place: Tensor, layers: int) -> Tensor:
    """Where the weights of edges are, "layer query key", True where they stand; `place` ("token") says at which position of the
    tree a token is, such as that of its word."""
    found = torch.zeros(layers, len(place), len(place), dtype=torch.bool, device=place.device)
    for edge in edges:
        found[edge.layer] |= (place == edge.reader)[:, None] & (place == edge.source)
    return found


def cut(marked: Tensor) -> Intervention:
    """Weights that are marked ("batch layer query key") set to zero in every head, rows not renormalized."""
    return lambda layer, weights: weights.masked_fill(marked[:, layer, None], 0.0)


def probs_without(model: Transformer, batch: Batch, marked: Tensor) -> Tensor:
    """Probabilities "cut label" of one text with each of several cuts, marked as "cut layer query key"."""
    with torch.no_grad():
        run = model.run(repeat(batch, len(marked)), intervene=cut(marked))
    return importance.probabilities(run.logits)


def largest(edges: Sequence[Edge], scores: np.ndarray) -> list[Edge]:
    """As many edges in each layer as the given ones have there, those with the largest `scores` ("layer query key")."""
    return _likewise(edges, scores, lambda layer, pool, n: pool[np.argsort(-scores[layer].flat[pool], kind="stable")[:n]])


def random_others(edges: Sequence[Edge], scores: np.ndarray, generator: np.random.Generator) -> list[Edge]:
    """As many edges in each layer as the given ones have there, drawn from all others; fewer where there are no more."""
    own = {(edge.layer, edge.reader * scores.shape[-1] + edge.source) for edge in edges}

    def drawn(layer: int, pool: np.ndarray, n: int) -> Iterable[int]:
        others = [place for place in pool.tolist() if (layer, place) not in own]
        return generator.choice(others, min(n, len(others)), replace=False).tolist() if others else []

    return _likewise(edges, scores, drawn)


def _likewise(edges: Sequence[Edge], scores: np.ndarray, pick: Pick) -> list[Edge]:
    size = scores.shape[-1]
    free = ~np.eye(size, dtype=bool)
    free[CLS] = False
    pool, found = np.flatnonzero(free), []
    for layer, n in sorted(Counter(edge.layer for edge in edges).items(), reverse=True):
        for place in pick(layer, pool, n):
            reader, source = divmod(int(place), size)
            found.append(Edge(source, reader, layer, float(scores[layer, reader, source])))
    return found
