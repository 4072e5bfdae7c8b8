"""What did the Transformer look at? Nine answers that people give, each a number per token; none of them is the truth.

Four read the forward pass. **Attention** takes the weights as they are; **rollout** follows them through the layers, half of
each state being carried past attention (Abnar & Zuidema 2020); **norms** ask how long the vector is that a weight multiplies,
since a large weight on a short vector moves little (Kobayashi et al. 2020); **value zeroing** takes a token's vector away in
one layer and looks how far the layer's output turns (Mohebbi et al. 2023). Five ask what it meant for one label: **gradient ×
attention** (Chefer et al. 2021), **attribution** (Hao et al. 2021), and on the words instead of the weights **input ×
gradient**, **integrated gradients** and **leave-one-out**.

The answer is read from the first token, as in every family that is supported here. Hence a method that ends in a matrix of
queries and keys speaks through its first row, in the last layer where layers are not combined. Attribution speaks through the
sums of its columns over all layers, since each of its cells is already a share of the answer. A word's score is the sum over
its pieces.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from core import importance
from core.attattr.attribution import Attribution, attribution
from core.attattr.merging import Kind
from core.interventions import keep, scale
from core.models.batches import repeat
from core.models.transformer import Transformer
from core.types import Batch, Refusal

NODES = 20  # of integrated gradients
ROWS = 32  # runs of a text at once


@dataclass(frozen=True)
class Scores:
    """What a method says: per word, and where it has them, per token and as matrices.

    `words` holds one number per word of each example, the query's numbered on, and nothing where a method has no score; special
    tokens have none.
    """

    words: list[list[float]]
    tokens: Tensor | None = None  # "batch token"
    matrix: Tensor | None = None  # "batch query key", what the scores are read from
    layers: Tensor | None = None  # "batch layer query key", what the matrix is made of


@dataclass(frozen=True)
class Rival:
    """A method: its scores for a target, how its matrix is merged to words, and whether it knows for or against."""

    scores: Callable[[Transformer, Batch, Tensor], Scores]
    merged: Kind = "attention"
    signed: bool = False


def attention(model: Transformer, batch: Batch, target: Tensor) -> Scores:
    """The weights: mean over the heads, first row of the last layer. Rows sum to one over all tokens, special ones too."""
    weights = model.unchanged(batch).attention.mean(2)
    return _read(model, batch, weights[:, -1], weights)


def rollout(model: Transformer, batch: Batch, target: Tensor) -> Scores:
    """R_l = ½(Ā_l + I) R_{l−1} with R_0 = I and Ā the mean over the heads; rows sum to one. Abnar & Zuidema 2020, §3."""
    weights = model.unchanged(batch).attention.mean(2)
    layers = _chain((weights + _identity(weights)) / 2)
    return _read(model, batch, layers[:, -1], layers)


def norms(model: Transformer, batch: Batch, target: Tensor) -> Scores:
    """‖α f(x)‖ per head, mean over the heads, f(x) = (x W_V + b_V) W_O; first row of the last layer.

    Kobayashi et al. 2020, §3.
    """
    run = model.unchanged(batch)
    length = [
        torch.einsum("bhkd,hds->bhks", run.value[:, layer], model.output_map(layer)).norm(dim=-1)
        for layer in range(model.n_layers)
    ]
    layers = (run.attention * torch.stack(length, 1)[:, :, :, None]).mean(2)
    return _read(model, batch, layers[:, -1], layers)


@torch.no_grad()
def value_zeroing(model: Transformer, batch: Batch, target: Tensor) -> Scores:
    """C_ij = 1 − cos(x̃_i without the value of j, x̃_i), x̃ what a layer makes of the states it was given; rows divided by their
    sum, then C_L ⋯ C_1. Mohebbi et al. 2023, §3."""
    states = model.unchanged(batch).states
    found = torch.stack([_turned(model, batch, layer, states[:, layer]) for layer in range(model.n_layers)], 1)
    layers = found / found.sum(-1, keepdim=True).clamp(min=torch.finfo(found.dtype).tiny)
    return _read(model, batch, _chain(layers)[:, -1], layers)


def gradient_attention(model: Transformer, batch: Batch, target: Tensor) -> Scores:
    """R ← R + Ā R from R = I, Ā_l = E_h[(∂z/∂A_l ⊙ A_l)⁺], z the target's logit; first row. Chefer et al. 2021 (ICCV), §3.

    A ⊙ ∂z/∂A is the gradient at a factor of one on each weight.
    """
    factor = torch.ones_like(model.unchanged(batch).attention).requires_grad_()
    run = model.run(batch, intervene=lambda layer, weights: weights * factor[:, layer])
    (product,) = torch.autograd.grad(run.logits.gather(-1, target[:, None]).sum(), factor)
    layers = product.clamp(min=0).mean(2)
    return _read(model, batch, _chain(layers + _identity(layers))[:, -1], layers)


def input_x_gradient(model: Transformer, batch: Batch, target: Tensor) -> Scores:
    """Σ_d e_td ∂p/∂e_td at the word embeddings, attention left in the graph, signed."""
    return _of_tokens(batch, importance.gradient(model, batch, target=target, intervene=keep))


def integrated_gradients(model: Transformer, batch: Batch, target: Tensor) -> Scores:
    """Σ_d e_td ∫₀¹ ∂p(αe)/∂e_td dα at the word embeddings, from no words; special tokens stay. Sundararajan et al. 2017, §3."""
    return _of_tokens(batch, importance.integrated_gradients(model, batch, target=target, nodes=NODES))


def leave_one_out(model: Transformer, batch: Batch, target: Tensor) -> Scores:
    """p(x) − p(x without a word): deleted, and the rest read anew. A single word has no score."""
    return Scores(importance.leave_one_out(model, batch, target=target)[1])


def attributed(batch: Batch, found: Attribution) -> Scores:
    """Σ over layers, heads and queries of Attr, signed: what each token gave, being read, to the target's probability."""
    layers = found.attribution.sum(2)
    matrix = layers.sum(1)
    return replace(_of_tokens(batch, matrix.sum(-2)), matrix=matrix, layers=layers)


def total_attribution(model: Transformer, batch: Batch, target: Tensor) -> Scores:
    """`attributed`, with 8 Gauss–Legendre nodes. Hao et al. 2021, §3; the sum over layers is ours and has no law of its own."""
    return attributed(batch, attribution(model, batch, target=target))


RIVALS: dict[str, Rival] = {
    "attention": Rival(attention),
    "rollout": Rival(rollout),
    "norms": Rival(norms),
    "value_zeroing": Rival(value_zeroing),
    "gradient_attention": Rival(gradient_attention),
    "attribution": Rival(total_attribution, "attribution", signed=True),
    "input_x_gradient": Rival(input_x_gradient, signed=True),
    "integrated_gradients": Rival(integrated_gradients, signed=True),
    "leave_one_out": Rival(leave_one_out, signed=True),
}


def compare(model: Transformer, batch: Batch, target: Tensor, *, found: Attribution | None = None) -> dict[str, Scores]:
    """Every method on the same texts and labels; an attribution that is there already is used."""
    made = {name: one.scores for name, one in RIVALS.items()}
    if found is not None:
        made["attribution"] = lambda model, batch, target: attributed(batch, found)
    return {name: scores(model, batch, target) for name, scores in made.items()}


def rival(name: str) -> Rival:
    """The method of that name. Refuses a name that is none."""
    if name not in RIVALS:
        allowed = ", ".join(RIVALS)
        raise Refusal("unknown_method", f"There is no method {name!r}; there are {allowed}.", given=name, allowed=allowed)
    return RIVALS[name]


def _turned(model: Transformer, batch: Batch, layer: int, states: Tensor) -> Tensor:
    """How far a layer's output at each token turns without the value of each other, "batch query key": 1 − cosine.

    A value is taken away by taking its weights away and leaving the others as they are.
    """
    whole, n = model.layer(batch, layer, states), states.shape[1]
    found, at_once = [], max(1, ROWS // len(states))
    for start in range(0, n, at_once):
        gone = torch.arange(start, min(n, start + at_once), device=states.device)
        stays = (torch.arange(n, device=states.device) != gone[:, None]).to(states)  # "gone key"
        factor = stays.repeat_interleave(len(states), 0)[:, None, None]
        copies = repeat(batch, len(gone))
        changed = model.layer(copies, layer, states.repeat(len(gone), 1, 1), scale(factor))
        found.append(1 - torch.cosine_similarity(changed.unflatten(0, (len(gone), -1)), whole, dim=-1))
    return _real(batch, torch.cat(found).permute(1, 2, 0)).clamp(min=0)


def _chain(layers: Tensor) -> Tensor:
    """The products M_l ⋯ M_1 up to each layer, "batch layer query key"."""
    found = [layers[:, 0]]
    for layer in range(1, layers.shape[1]):
        found.append(layers[:, layer] @ found[-1])
    return torch.stack(found, 1)


def _identity(like: Tensor) -> Tensor:
    return torch.eye(like.shape[-1], dtype=like.dtype, device=like.device)


def _real(batch: Batch, matrix: Tensor) -> Tensor:
    """The matrix without what padding reads and gives, "batch ... query key"."""
    there = batch.present.to(matrix)
    pairs = there[:, :, None] * there[:, None, :]
    return matrix * (pairs if matrix.dim() == 3 else pairs[:, None])


def _read(model: Transformer, batch: Batch, matrix: Tensor, layers: Tensor) -> Scores:
    """What a matrix says through the row that the answer is read from."""
    tokens = torch.einsum("bq,bqk->bk", model.reader(batch).to(matrix), matrix)
    return replace(_of_tokens(batch, tokens), matrix=_real(batch, matrix), layers=_real(batch, layers))


def _of_tokens(batch: Batch, tokens: Tensor) -> Scores:
    """Scores per token, and their sums over the pieces of each word; a word without a piece has zero."""
    return Scores(importance.to_words(batch, tokens), tokens * batch.present)
