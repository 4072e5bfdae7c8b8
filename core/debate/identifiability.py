"""Is a head's attention the only one that gives its output? Beyond a certain length it is not, whatever was learned.

Brunner et al. 2020: a head writes A T into the state, where T = (x W_V + b_V) H has one row per token, H being the head's part
of the output projection. If rows of T depend on each other, some changes of A cannot be seen in A T: all whose rows lie in the
left null space of T. T has at most as many independent rows as a value has numbers (the head size), so in a longer text there
always are such changes, and the attention that is drawn as a picture is one of many with the same output. What is left when all
that the output cannot see is taken away is the *effective attention* A⊥ = A U Uᵀ, U being the left singular vectors of T that
count: of all matrices with the output A T the smallest, though its rows need not sum to one and may be negative.

Other *attentions* with the same output must also keep their rows' sums and stay above zero. They lie along the left null space
of [T, 1], which has a dimension less, from the learned attention to where a first weight reaches zero.

The bias of the values adds the same row to each token, and is part of T here. A Transformer attends to its special tokens too:
they are tokens of A and T like the others. All is done in double precision: in a lower one
rounding looks like rank. This concerns which attention gives an output, not whether attention explains a prediction.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from core.interventions import keep
from core.types import AttentionModel, Batch

EPSILON = torch.finfo(torch.float64).eps


@runtime_checkable
class MappedModel(AttentionModel, Protocol):
    """An attention model that also says how each head's values enter the state."""

    def output_map(self, layer: int) -> Tensor:
        """H of each head, "head dim state"."""
        ...

    def attended(self, batch: Batch) -> Tensor:
        """The tokens that may be attended, "batch token"."""
        ...


@dataclass(frozen=True)
class Effective:
    """What the output sees of one text's attention over the tokens that may be attended (in a Transformer the special ones
    too); CPU tensors in double precision."""

    attention: Tensor  # "layer head query key", the model's own
    effective: Tensor  # "layer head query key", A⊥
    mapped: Tensor  # "layer head key state", T
    rank: Tensor  # "layer head", independent rows of T
    free: Tensor  # "layer head", directions in which attention may change unseen: tokens − rank of [T, 1]
    invisible: Tensor  # "layer head", ‖A − A⊥‖² / ‖A‖² in [0, 1]


@torch.no_grad()
def effective(model: MappedModel, batch: Batch) -> list[Effective]:
    """Each text's attention and what its output can see of it (Brunner et al. 2020, §3).

    The squared norms of the two parts, A⊥ and A − A⊥, add up to that of A, so `invisible` is a share.
    """
    run = model.run(batch, intervene=keep)
    maps = torch.stack([model.output_map(layer) for layer in range(model.n_layers)]).double().cpu()
    rows = zip(run.attention.double().cpu(), run.value.double().cpu(), model.attended(batch).cpu(), strict=True)
    return [_parted(attention[:, :, there][..., there], values[:, :, there] @ maps) for attention, values, there in rows]


def _parted(attention: Tensor, mapped: Tensor) -> Effective:
    basis, rank = seen(mapped)
    visible = attention @ basis @ basis.mT
    whole, hidden = attention.square().sum((-1, -2)), (attention - visible).square().sum((-1, -2))
    full = rank == mapped.shape[-2]  # then nothing is hidden, and rounding must not say otherwise
    return Effective(
        attention=attention,
        effective=torch.where(full[..., None, None], attention, visible),
        mapped=mapped,
        rank=rank,
        free=mapped.shape[-2] - size(kept(mapped)),
        invisible=torch.where(full, 0.0, hidden / whole),
    )


def seen(mapped: Tensor) -> tuple[Tensor, Tensor]:
    """An orthonormal basis of what T's rows can tell apart, "… key vector" with zeros for vectors that do not count, and T's
    rank "…". `mapped` is T, "… key state".

    A singular value counts above max(tokens, dimensions) · ε · the largest one.
    """
    vectors, values, _ = torch.linalg.svd(mapped, full_matrices=False)
    counts = values > max(mapped.shape[-2:]) * EPSILON * values[..., :1]
    return vectors * counts[..., None, :], counts.sum(-1)


def kept(mapped: Tensor) -> Tensor:
    """The same for what a change of attention must leave alone: T and the rows' sums, so a basis of [T, 1]."""
    basis, _ = seen(mapped)
    tokens = mapped.shape[-2]
    rest = torch.full((*mapped.shape[:-1], 1), tokens**-0.5, dtype=mapped.dtype)
    for _ in range(2):  # a second time, or the rounding of the first would be taken for a direction
        rest = rest - basis @ (basis.mT @ rest)
    length = rest.norm(dim=-2, keepdim=True)
    counts = length > max(mapped.shape[-2:]) * EPSILON
    return torch.cat([basis, torch.where(counts, rest / length, 0.0)], dim=-1)


def size(basis: Tensor) -> Tensor:
    """How many vectors of a basis count, "…"."""
    return (basis.abs().amax(-2) > 0).sum(-1)


def direction(mapped: Tensor, word: int) -> Tensor | None:
    """The change of attention, "key", that goes towards a word without being seen: the part of the word's axis in the left null
    space of [T, 1], of length one. None where there is none, as always where [T, 1] has full row rank.

    `mapped` is one head's T, "key state". The same change is unseen in every row of the head's attention.
    """
    basis = kept(mapped)
    if int(size(basis)) == len(mapped):
        return None
    change = torch.zeros(len(mapped), dtype=mapped.dtype)
    change[word] = 1.0
    for _ in range(2):
        change = change - basis @ (basis.mT @ change)
    return change / change.norm() if change.norm() > EPSILON**0.5 else None


def walk(attention: Tensor, change: Tensor, step: float) -> Tensor:
    """Attention "query key" moved along `change` ("key"), each row a share `step` in -1..1 of the way to where its first weight
    reaches zero: 1 ahead, -1 back. Rows sum to what they summed to, and no weight is negative."""
    toward = change if step >= 0 else -change
    losing = toward < 0
    room = torch.where(losing, attention / torch.where(losing, -toward, 1.0), torch.inf).amin(-1, keepdim=True)
    return (attention + abs(step) * room * toward).clamp(min=0.0)
