"""How well does a state match a query? Six answers of the field, and two ways to turn scores into weights.

additive     vᵀ tanh(W h + U q)      Bahdanau et al. 2015
dot          hᵀ q                    Luong et al. 2015
scaled dot   hᵀ q / √m               Vaswani et al. 2017
general      hᵀ W q                  Luong et al. 2015
cosine       β cos(h, q)             Graves et al. 2014; β is learned, since without it a softmax over [-1, 1] is nearly flat
location     (W q) at the position   Luong et al. 2015; sees where a word stands and not what it is

A classifier has one learned query for all inputs (which makes `dot`, `scaled dot` and `general` one family); question
answering and inference have the encoded question or hypothesis.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

POSITIONS = 514  # 512 words, start and end; further positions share the last score


class Additive(nn.Module):
    """Scores "batch token"."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.state, self.query = nn.Linear(dim, dim // 2), nn.Linear(dim, dim // 2, bias=False)
        self.vector = nn.Linear(dim // 2, 1, bias=False)

    def forward(self, states: Tensor, query: Tensor) -> Tensor:
        return self.vector(torch.tanh(self.state(states) + self.query(query)[:, None])).squeeze(-1)


class Dot(nn.Module):
    """Scores "batch token"."""

    def __init__(self, dim: int) -> None:
        super().__init__()

    def forward(self, states: Tensor, query: Tensor) -> Tensor:
        return torch.einsum("btd,bd->bt", states, query)


class ScaledDot(Dot):
    """Scores "batch token"."""

    def forward(self, states: Tensor, query: Tensor) -> Tensor:
        return super().forward(states, query) / states.shape[-1] ** 0.5


class General(Dot):
    """Scores "batch token"."""

    def __init__(self, dim: int) -> None:
        super().__init__(dim)
        self.bilinear = nn.Linear(dim, dim, bias=False)

    def forward(self, states: Tensor, query: Tensor) -> Tensor:
        return super().forward(states, self.bilinear(query))


class Cosine(nn.Module):
    """Scores "batch token"."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.sharpness = nn.Parameter(torch.ones(1))

    def forward(self, states: Tensor, query: Tensor) -> Tensor:
        return self.sharpness * torch.cosine_similarity(states, query[:, None], dim=-1)


class Location(nn.Module):
    """Scores "batch token"."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.positions = nn.Linear(dim, POSITIONS)

    def forward(self, states: Tensor, query: Tensor) -> Tensor:
        position = torch.arange(states.shape[1], device=states.device).clamp(max=POSITIONS - 1)
        return self.positions(query)[:, position]


SCORES: dict[str, Callable[[int], nn.Module]] = {
    "additive": Additive,
    "dot": Dot,
    "scaled-dot": ScaledDot,
    "general": General,
    "cosine": Cosine,
    "location": Location,
}


def softmax(scores: Tensor, mask: Tensor) -> Tensor:
    """Weights "batch token" that sum to one over the mask, zero elsewhere; all zero where nothing may be attended."""
    weights = torch.softmax(scores.masked_fill(~mask, -torch.inf), dim=-1)
    return torch.where(mask.any(-1, keepdim=True), weights, torch.zeros_like(weights))


def sparsemax(scores: Tensor, mask: Tensor) -> Tensor:
    """Weights "batch token": the point of the simplex nearest to the scores, so that low scores get exactly zero.

    w_t = max(s_t − τ, 0), with τ such that the weights sum to one. Martins & Astudillo 2016, §2.
    """
    low = torch.finfo(scores.dtype).min / 4
    ordered = scores.masked_fill(~mask, low).sort(dim=-1, descending=True).values
    rank = torch.arange(1, scores.shape[-1] + 1, device=scores.device, dtype=scores.dtype)
    total = ordered.cumsum(-1)
    support = (1 + rank * ordered > total) & (ordered > low / 2)
    size = support.sum(-1, keepdim=True).clamp(min=1)
    threshold = (total.gather(-1, size - 1) - 1) / size.to(scores.dtype)
    return torch.where(mask, (scores - threshold).clamp(min=0), torch.zeros_like(scores))


def uniform(scores: Tensor, mask: Tensor) -> Tensor:
    """Weights "batch token": the same for every token of the mask, whatever the scores (Wiegreffe & Pinter 2019, §3.2)."""
    flat = mask.to(scores.dtype)
    return flat / flat.sum(-1, keepdim=True).clamp(min=1)


NORMALIZERS: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "softmax": softmax,
    "sparsemax": sparsemax,
    "uniform": uniform,
}
