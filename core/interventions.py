"""Ways to change attention between its softmax and its use: verbs that return an `Intervention`.

An intervention is a pure function of a layer's number and its weights ("batch head query key"); the model applies it
and records the result, so that what a run returns as attention is what was used. Nothing is left behind on a module.
"""

import torch
from torch import Tensor

from core.types import Intervention, Weights


def keep(layer: int, weights: Weights) -> Weights:
    """The weights as they are."""
    return weights


def detach(layer: int, weights: Weights) -> Weights:
    """The weights cut out of the graph, so that gradients flow through the states only (Jain & Wallace 2019,
    Algorithm 1)."""
    return weights.detach()


def uniform(mask: Tensor) -> Intervention:
    """Equal weight on every attended token. `mask` is "batch key"; rows sum to one (Wiegreffe & Pinter 2019,
    §3.2)."""
    flat = mask.to(torch.float64)
    flat = (flat / flat.sum(-1, keepdim=True).clamp(min=1))[:, None, None, :]
    return lambda layer, weights: flat.to(weights.dtype).expand_as(weights)


def replace(by_layer: dict[int, Tensor]) -> Intervention:
    """The given weights instead of a layer's own; each must broadcast to "batch head query key"."""

    def replaced(layer: int, weights: Weights) -> Weights:
        return by_layer[layer].to(weights.dtype).expand_as(weights) if layer in by_layer else weights

    return replaced


def scale(factor: float | Tensor) -> Intervention:
    """Weights times a factor, rows not renormalised (Hao et al. 2021, §3: the path from no attention to all of
    it)."""
    return lambda layer, weights: weights * factor


def permute(order: Tensor) -> Intervention:
    """The same weights at other keys: key k gets the weight of key `order[..., k]` ("batch key"); rows still sum to
    one.

    Jain & Wallace 2019, Algorithm 2.
    """
    return lambda layer, weights: weights.gather(-1, order[:, None, None, :].expand_as(weights))


def erase(positions: Tensor) -> Intervention:
    """Weights at marked keys ("batch key", True = erased) set to zero, the rest renormalised to sum to one.

    Where nothing remains the row is all zeros: the model then reads a zero vector. Serrano & Smith 2019, §3.
    """

    def erased(layer: int, weights: Weights) -> Weights:
        left = weights.masked_fill(positions[:, None, None, :], 0.0)
        total = left.sum(-1, keepdim=True)
        return torch.where(total > 0, left / total.clamp(min=torch.finfo(left.dtype).tiny), torch.zeros_like(left))

    return erased


def only_layer(chosen: int, intervene: Intervention) -> Intervention:
    """`intervene` at one layer, the other layers as they are."""
    return lambda layer, weights: intervene(layer, weights) if layer == chosen else weights
