"""How do parts combine over layers? The attribution tree (Hao et al. 2021, Use Case 2).

A layer's attributions say which token's reading of which other token carried the answer. The claim is that the strongest of
them, followed down through the layers, show how the answer was put together. Wanted are the edges that maximize

    Σ (a_ij^l − λ)        a_ij^l = Σ_h Attr_h(A^l)_ij, what token i got from token j in layer l

which the paper approaches greedily, and so does this:

1. An edge may be used where i ≠ j, a_ij^l > τ times the layer's largest attribution, and a_ij^l > λ.
2. The root is the token with the largest Σ_j max(0, Σ_l a_ij^l), j ≠ i.
3. From the second to last layer down, each token joins once, by its strongest edge to a token that joined in a layer above. A
   token's place is fixed by the edge with which it joins; it may go on to read others in all layers below.

[CLS] reads in the last layer, where nothing else reaches the answer: it is the end of the flow above the root. Its readings in
other layers count neither for the maximum nor as edges; it may be read, as [SEP] may. The authors' code knows τ alone; λ, the
cost of an edge in probability, is the objective's. Where that code takes the edges of a layer by position, so that one may hang
on another of the same layer, we take the strongest and keep to the order in which a Transformer computes.

Greedy means not optimal: an edge below τ cuts off all that would hang on it. And layers are compared though their attributions
share no sum (`attribution`), each layer telling the whole story again.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from torch import Tensor

from core.types import Refusal

TAU = 0.4
CLS = 0  # its position
WHY = ("one_layer", "nothing", "below", "elsewhere")  # there is no edge: see `Tree.why`


@dataclass(frozen=True)
class Edge:
    """In a layer, the token at position `reader` got `weight` (in probability) from the one at `source`."""

    source: int
    reader: int
    layer: int
    weight: float


@dataclass(frozen=True)
class Tree:
    """A tree over positions: every node but the root is the source of one edge, whose layer is below its reader's own.

    `why` says why there is no edge: the model has one layer only; no token got anything positive from another; no attribution
    passes both τ and λ; some do, elsewhere than below the root. It is "" where there are edges.
    """

    root: int | None  # None where no token got anything positive
    edges: tuple[Edge, ...]  # from the top layer down, by position within a layer
    why: str = ""

    @property
    def nodes(self) -> frozenset[int]:
        """The positions that are part of it."""
        return frozenset(edge.source for edge in self.edges) | ({self.root} if self.root is not None else frozenset())


def tree(attribution: Tensor | np.ndarray, *, tau: float = TAU, cost: float = 0.0) -> Tree:
    """The tree of one text from its attributions "layer query key", heads summed; `cost` is λ.

    Refuses τ or λ outside 0 to 1. With larger τ or λ the nodes are some of those before. Hao et al. 2021, Use Case 2.
    """
    for name, value in (("tau", tau), ("lambda", cost)):
        if not 0 <= value <= 1:
            raise Refusal("out_of_range", f"{name} is {value}; it must be between 0 and 1.", given=value, name=name)
    values = np.asarray(attribution, dtype=np.float64)
    if len(values) < 2:
        return Tree(None, (), "one_layer")
    root = _root(values)
    if root is None:
        return Tree(None, (), "nothing")
    used = _usable(values, tau, cost)
    edges = tuple(_joining(np.where(used, values, -np.inf), root))
    return Tree(root, edges, "" if edges else "elsewhere" if used[:-1].any() else "below")


def _root(values: np.ndarray) -> int | None:
    """The token, [CLS] aside, that got most from others over all layers."""
    total = values.sum(0).clip(min=0)
    np.fill_diagonal(total, 0)
    total[CLS] = 0
    got = total.sum(-1)
    return int(got.argmax()) if got.any() else None


def _usable(values: np.ndarray, tau: float, cost: float) -> np.ndarray:
    """Which edges may be used, "layer query key"."""
    largest = values[:, CLS + 1 :].max((1, 2), keepdims=True, initial=0.0)
    used = (values > tau * largest) & (values > cost)
    used[:, CLS] = False
    used[:, range(values.shape[1]), range(values.shape[1])] = False
    return used


def _joining(open_edges: np.ndarray, root: int) -> Iterator[Edge]:
    """The edges by which tokens join, from the second to last layer down; what may not be used is -inf."""
    joined = [root]
    for layer in range(len(open_edges) - 2, -1, -1):
        above = open_edges[layer, joined]
        new = [j for j in np.flatnonzero(above.max(0) > -np.inf).tolist() if j not in joined]
        for source in new:
            place = int(above[:, source].argmax())
            yield Edge(source, joined[place], layer, float(above[place, source]))
        joined += new
