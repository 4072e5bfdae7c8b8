"""Attention that may look at a part of the text only: the windows of Luong et al. 2015, §3.2.

Global attention scores every word of the source for every word of the target. Local attention looks at the words within
`reach` (their D) of one position p: the *monotonic* kind takes p to be the step of the target itself, the *predictive* kind
lets the model say where, and bends the weights with a Gaussian around that place, so that the place gets a gradient.

The Gaussian comes after the softmax and nothing is divided by the new sum: predictive weights sum to less than one, as in the
paper. Positions are counted from 1 over the tokens that may be attended, so that p = S σ(·) stays within a text of S words.
"""

import torch
from torch import Tensor

from core.models.scores import softmax

REACH = 10  # D of the paper


def window(center: Tensor, mask: Tensor, reach: float = REACH) -> Tensor:
    """The tokens that may be attended, "batch token": those of the mask with |s − p| ≤ D.

    `center` is p, "batch". What lies beyond the ends of the text is left out; a window beyond the text is empty.
    """
    return mask & ((_positions(mask) - center[:, None]).abs() <= reach)


def gaussian(center: Tensor, mask: Tensor, reach: float = REACH) -> Tensor:
    """exp(−(s − p)² / 2σ²) with σ = D / 2, "batch token", 1 at p itself."""
    return torch.exp(-((_positions(mask) - center[:, None]) ** 2) / (2 * (reach / 2) ** 2)).to(center.dtype)


def monotonic(scores: Tensor, center: Tensor, mask: Tensor, reach: float = REACH) -> Tensor:
    """Weights "batch token" that sum to one over the window around p, all zero where it is empty (local-m, p = t)."""
    return softmax(scores, window(center, mask, reach))


def predictive(scores: Tensor, center: Tensor, mask: Tensor, reach: float = REACH) -> Tensor:
    """Weights "batch token": the softmax over the window times the Gaussian; they sum to at most one (local-p)."""
    return monotonic(scores, center, mask, reach) * gaussian(center, mask, reach)


def predicted(signal: Tensor, mask: Tensor) -> Tensor:
    """The center p = S σ(signal), "batch", between 0 and the number S of tokens that may be attended.

    In the paper the signal is v_pᵀ tanh(W_p h_t), of the decoder's state alone.
    """
    return mask.sum(-1).to(signal.dtype) * torch.sigmoid(signal)


def _positions(mask: Tensor) -> Tensor:
    """1, 2, 3, … over the tokens that may be attended, "batch token"."""
    return mask.cumsum(-1)
