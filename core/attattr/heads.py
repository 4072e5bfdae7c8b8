"""Which heads matter, and which can go? Hao et al. 2021, Use Case 1, and four other ways to rank heads.

A head that nothing depends on can be removed, so a ranking of heads is judged by what the model still answers once the heads at
its end are gone. The paper ranks by the largest attribution that any weight of a head has,

    I_h = E_x[ max_ij Attr_h(A)_ij ],

with its sign and for the gold label, over examples that the model was neither trained, selected nor tested on. Beside it:

taylor      E_x|∂L/∂ξ_h|, L the loss and ξ_h a factor on the head, each layer divided by its L2 norm (Michel et al. 2019)
accuracy    how much accuracy falls when the head alone is masked; the many ties by how far the gold label's probability falls
attention   the mean of the head's largest weight: a sharp head need not be a useful one
random      an order from a seed

A masked head has all its weights set to zero, and rows are not divided by what is left: it then says nothing, as if its part of
the output map were cut out. Its bias stays. Otherwise than the authors' code, which measures accuracy on examples that include
those it ranked heads on, we keep the two apart; and where it differentiates outputs for Taylor, we differentiate the loss.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from core import importance
from core.attattr.attribution import NODES, attribution
from core.models.batches import repeat
from core.models.transformer import Transformer
from core.types import Batch, Intervention, Refusal, Weights

CRITERIA = ("attribution", "taylor", "accuracy", "attention", "random")
CHANCE = "random"
STEPS = tuple(range(100, -1, -10))  # shares of the heads that are kept, in percent


@dataclass(frozen=True)
class HeadScores:
    """What each example says of each head, "batch layer head"."""

    attribution: Tensor  # the largest attribution of its weights, for the gold label's probability
    taylor: Tensor  # |∂ loss / ∂ factor|
    attention: Tensor  # its largest weight
    accuracy: Tensor  # 1 where only masking it makes the answer wrong, -1 where only that makes it right, else 0
    prob: Tensor  # by how much the gold label's probability falls when it is masked


def mask(kept: Tensor) -> Intervention:
    """The weights of heads times `kept` ("layer head", or "batch layer head"): 0 masks a head, 1 leaves it, rows not
    renormalised."""

    def masked(layer: int, weights: Weights) -> Weights:
        return weights * kept[..., layer, :, None, None].to(weights)

    return masked


def head_scores(model: Transformer, batch: Batch, *, nodes: int = NODES) -> HeadScores:
    """Every head of the model under every criterion but chance, for the gold labels. Refuses examples without one."""
    gold = _gold(batch)
    found = attribution(model, batch, target=gold, nodes=nodes)
    accuracy, prob = without_each(model, batch, gold)
    return HeadScores(
        attribution=_largest(batch, found.attribution),
        taylor=_taylor(model, batch, gold),
        attention=_largest(batch, found.attention),
        accuracy=accuracy,
        prob=prob,
    )


def _largest(batch: Batch, matrix: Tensor) -> Tensor:
    """The largest entry of each head between tokens that exist, "batch layer head"."""
    there = (batch.present[:, :, None] & batch.present[:, None, :])[:, None, None]
    return matrix.masked_fill(~there, -torch.inf).flatten(-2).max(-1).values


def _gold(batch: Batch) -> Tensor:
    for example in batch.examples:
        if example.label is None:
            raise Refusal("no_label", f"Example {example.id} has no label; ranking heads needs one.", given=example.id)
    return torch.tensor([e.label for e in batch.examples], device=batch.ids.device)


def _taylor(model: Transformer, batch: Batch, gold: Tensor) -> Tensor:
    shape = (len(batch.examples), model.n_layers, model.card.heads)
    factor = torch.ones(shape, device=batch.ids.device, dtype=next(model.parameters()).dtype, requires_grad=True)
    run = model.run(batch, intervene=mask(factor))
    (slope,) = torch.autograd.grad(torch.nn.functional.cross_entropy(run.logits, gold, reduction="sum"), factor)
    return slope.abs()


@torch.no_grad()
def without_each(model: Transformer, batch: Batch, target: Tensor) -> tuple[Tensor, Tensor]:
    """What masking each head alone costs, "batch layer head": in right answers where `target` ("batch") is right, and in its
    probability. The heads of a layer are masked side by side, in one run of the layers from it on."""
    run, heads = model.run(batch), model.card.heads
    before, prob = run.logits.argmax(-1) == target, importance.target_prob(run.logits, target)
    copies, wanted = repeat(batch, heads), target.repeat(heads)
    answers, lost = [], []
    for layer in range(model.n_layers):
        kept = torch.ones(heads, model.n_layers, heads, device=batch.ids.device)
        kept[:, layer] -= torch.eye(heads, device=kept.device)
        one_gone = mask(kept.repeat_interleave(len(target), 0))
        after = model.run(copies, states=run.states[:, layer].repeat(heads, 1, 1), start=layer, intervene=one_gone).logits
        still, left = after.argmax(-1) == wanted, importance.target_prob(after, wanted)
        answers.append(before.long()[:, None] - still.long().unflatten(0, (heads, -1)).T)
        lost.append(prob[:, None] - left.unflatten(0, (heads, -1)).T)
    return torch.stack(answers, 1), torch.stack(lost, 1)


def importances(scores: HeadScores) -> dict[str, Tensor]:
    """What each criterion makes of the examples, "layer head": their means, Taylor's divided by each layer's L2 norm."""
    found = {name: getattr(scores, name).double().mean(0) for name in CRITERIA if name != CHANCE}
    norm = found["taylor"].norm(dim=-1, keepdim=True)
    found["taylor"] = found["taylor"] / norm.clamp(min=torch.finfo(norm.dtype).tiny)
    return found


def random_importance(layers: int, heads: int, seed: int) -> Tensor:
    """An importance by chance, "layer head"; the same on every device."""
    return torch.rand(layers, heads, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def ranking(scores: HeadScores, criterion: str, *, seed: int = 0) -> list[int]:
    """Heads from the most to the least important, as layer · heads + head; equals by the fall of p under `accuracy`, then by
    position. `seed` is that of chance.

    Refuses an unknown criterion.
    """
    if criterion not in CRITERIA:
        allowed = ", ".join(CRITERIA)
        raise Refusal("unknown_criterion", f"There is no criterion {criterion!r}; there are {allowed}.", given=criterion)
    if criterion == CHANCE:
        layers, heads = scores.prob.shape[1:]
        return ordered(random_importance(layers, heads, seed))
    return ordered(importances(scores)[criterion], scores.prob.double().mean(0) if criterion == "accuracy" else None)


def ordered(importance_of: Tensor, then: Tensor | None = None) -> list[int]:
    """Positions in "layer head", flattened, from the largest importance down; equals by `then`, else by position."""
    first = importance_of.flatten().tolist()
    second = [0.0] * len(first) if then is None else then.flatten().tolist()
    return sorted(range(len(first)), key=lambda i: (-first[i], -second[i], i))


def kept(order: list[int], percent: int, layers: int, heads: int) -> Tensor:
    """Which heads are left, "layer head" of 0 and 1, if the last of an order go until `percent` of all are kept (rounded)."""
    left = torch.zeros(layers * heads)
    left[order[: round(percent / 100 * layers * heads)]] = 1
    return left.unflatten(0, (layers, heads))


def lowest_masked(left: Tensor) -> int:
    """The lowest layer in which a head is masked ("... layer head"): below it a run is as it was. The number of layers where
    none is."""
    touched = (left == 0).any(-1).flatten(0, -2).any(0) if left.dim() > 2 else (left == 0).any(-1)
    layers = touched.nonzero().flatten().tolist()
    return layers[0] if layers else left.shape[-2]
