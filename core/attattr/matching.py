"""Do a head's weights match what they contribute? (Hao et al. 2021, §3 and Use Case 1.)

Whoever reads a map of attention takes a dark cell for an important one. That is a claim about order: the larger a weight, the
larger the size of its attribution. `agreement` is Kendall's tau-b of the two over the cells of one head, special tokens
included; whether a weight raises or lowers the probability is left aside, since a map of weights does not say it either. `idle`
names the cells that refute the claim: weights among the largest of the head that contribute less than most.
"""

import torch
from torch import Tensor

from core.agreement import Correlation, kendall

LARGE, LITTLE = 0.05, 0.5  # the largest twentieth of the weights, and the lower half of the contributions


def agreement(attention: Tensor, attribution: Tensor) -> Correlation:
    """Tau-b of weight and |attribution| over the cells of a head, both "query key"; undefined where either is constant."""
    return kendall(attention.flatten(), attribution.abs().flatten())


def agreements(attention: Tensor, attribution: Tensor) -> list[list[float | None]]:
    """The same for every head, [layer][head], from two tensors "layer head query key" of one text without padding."""
    pairs = zip(attention, attribution, strict=True)
    return [[agreement(*cells).kendall_tau for cells in zip(*layer, strict=True)] for layer in pairs]


def idle(attention: Tensor, attribution: Tensor, keys: Tensor, *, large: float = LARGE, little: float = LITTLE) -> Tensor:
    """Cells "cell 2" (query, key) whose weight is large and whose |attribution| is little, the largest weight first.

    Among the cells of the `keys` ("key", True where it may be named) the weight is one of the largest share `large`, at least
    one; and |attribution| is zero, or below that of the share 1 − `little` of these cells.
    """
    weights, sizes = attention[:, keys].flatten(), attribution[:, keys].abs().flatten()
    if not len(weights):
        return torch.empty(0, 2, dtype=torch.long)
    order = weights.argsort(descending=True, stable=True)[: max(1, round(large * len(weights)))]
    found = order[(sizes[order] < sizes.quantile(little)) | (sizes[order] == 0)]
    named = keys.nonzero()[:, 0]
    return torch.stack([found // len(named), named[found % len(named)]], 1)
