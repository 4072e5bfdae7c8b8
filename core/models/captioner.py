"""A picture in, a sentence out, and where the model looked at each word (Xu et al. 2015, *Show, Attend and Tell*).

    annotations   a_i = CNN(picture)_i + position_i     one for each of 8 × 8 cells, as the paper has 14 × 14
    decoder       the GRU of `core.models.decoder` with additive scores over the cells, started from the mean annotation
    loss          Σ_t −log p(word_t) + λ Σ_i (1 − Σ_t α_ti)²

The second term of the loss is the paper's *doubly stochastic* attention (§4.2.1): over a caption each cell should be looked at
about once in all. λ is 0 in `scenes/soft`, 1 in `scenes/soft:doubly=1`.

An annotation is not its cell. Three convolutions let it see `RECEPTIVE` × `RECEPTIVE` pixels around its cell, so that
neighbors know of each other; nothing normalizes over the picture, so that nothing farther away can reach it. Depart from the
paper: a small CNN of our own, trained with the rest, instead of a frozen VGG; a GRU instead of an LSTM; no gate β, no hard
attention.
"""

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from core.models.decoder import Source
from core.models.perceiver import Perceiver, PerceiverCard
from core.scenes import GRID, Language

CHANNELS = (3, 24, 48, 64)
KERNELS, STRIDES, PADDINGS = (4, 3, 3), (4, 2, 1), (0, 1, 1)


def receptive() -> int:
    """How many pixels across an annotation sees: r ← r + (kernel − 1) · (product of the strides before)."""
    seen, step = 1, 1
    for kernel, stride in zip(KERNELS, STRIDES, strict=True):
        seen, step = seen + (kernel - 1) * step, step * stride
    return seen


RECEPTIVE = receptive()


class Captioner(Perceiver):
    """A CNN over cells and a decoder that looks at them."""

    def __init__(self, card: PerceiverCard) -> None:
        super().__init__(card, CHANNELS[-1])
        sizes = zip(CHANNELS[:-1], CHANNELS[1:], KERNELS, STRIDES, PADDINGS, strict=True)
        self.layers = nn.ModuleList(nn.Conv2d(*size) for size in sizes)
        self.position = nn.Embedding(GRID * GRID, CHANNELS[-1])

    @property
    def language(self) -> Language:
        """The language of its captions."""
        return "ko" if self.card.language == "ko" else "en"

    def annotations(self, pictures: Tensor) -> Tensor:
        """What the CNN says of each cell, "batch cell dim", row by row; `pictures` are "batch channel row column"."""
        seen = pictures - 0.5
        for layer in self.layers:
            seen = torch.relu(layer(seen))
        return seen.flatten(2).transpose(1, 2) + self.position.weight

    def source(self, signals: Sequence[Tensor]) -> Source:
        """What the decoder looks at; its summary is the mean annotation (Xu et al. 2015, §3.1.2)."""
        annotations = self.annotations(torch.stack(list(signals)))
        mask = torch.ones(annotations.shape[:2], dtype=torch.bool, device=annotations.device)
        return self.decoder.source(annotations, mask, annotations.mean(1))


def doubly_stochastic(attention: Tensor, spoken: Tensor) -> Tensor:
    """Σ_i (1 − Σ_t α_ti)², mean over the batch; `attention` is "batch output cell", `spoken` marks outputs, "batch output".

    Xu et al. 2015, §4.2.1, with τ = 1. The weights of T outputs sum to T and not to the number L of cells, so the term
    cannot be zero: it is least, (L − T)² / L, where every cell gets T / L.
    """
    total = (attention * spoken[..., None]).sum(1)
    return ((1 - total) ** 2).sum(-1).mean()
