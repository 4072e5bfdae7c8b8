"""Do attention weights say what they contribute? Self-attention attribution (Hao et al. 2021, §3).

A large weight may carry little: what a head reads there may be close to zero, or cancel. The claim is that a weight's share in
the answer is its integrated gradient on the way from no attention to all of it:

    Attr_h(A) = A_h ⊙ ∫₀¹ ∂F(αA)/∂A_h dα

F is the probability of a label, A all the heads of one layer, scaled together and not renormalised; the layers above are
computed anew, those below once. In each layer the attributions sum to F(A) − F(0), which is the check: `error`. Over layers
there is no such law: each layer tells the whole story again, and their total is a sum of stories.

The integral is taken at Gauss–Legendre nodes; eight of them are closer than the sum of 20 steps at the right ends which the
paper prints, or the one at the left ends which its code computes. Both are kept (`RULES`), so that one sees what it costs.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core import importance
from core.interventions import replace
from core.models.batches import repeat
from core.models.transformer import Transformer
from core.types import Batch, Refusal

NODES, MOST_NODES = 8, 64
CELLS = 2**23  # numbers of attention held at once

Rule = Callable[[int], tuple[np.ndarray, np.ndarray]]  # number of nodes -> points in [0, 1] and weights that sum to one


def _gauss(nodes: int) -> tuple[np.ndarray, np.ndarray]:
    points, weights = np.polynomial.legendre.leggauss(nodes)
    return (points + 1) / 2, weights / 2


RULES: dict[str, Rule] = {
    "gauss": _gauss,
    "right": lambda nodes: (np.arange(1, nodes + 1) / nodes, np.full(nodes, 1 / nodes)),
    "left": lambda nodes: (np.arange(nodes) / nodes, np.full(nodes, 1 / nodes)),
}


@dataclass(frozen=True)
class Attribution:
    """What each attention weight contributed to the probability of a label, and how far each layer is from adding up."""

    attribution: Tensor  # "batch layer head query key", in probability
    attention: Tensor  # "batch layer head query key"
    difference: Tensor  # "batch layer": F(A) − F(that layer's A set to zero)
    prob: Tensor  # "batch": F(A)

    @property
    def error(self) -> Tensor:
        """How far the attributions of each layer are from their sum, "batch layer"."""
        return (self.attribution.sum((2, 3, 4)) - self.difference).abs()


def attribution(
    model: Transformer, batch: Batch, *, target: Tensor | None = None, nodes: int = NODES, rule: str = "gauss"
) -> Attribution:
    """Attr of every head of every layer for the probability of `target` ("batch", the predicted label by default).

    In the precision of the model. Refuses a number of nodes outside 1 to 64 and an unknown rule. Hao et al. 2021, §3, Eq. 1.
    """
    if not 1 <= nodes <= MOST_NODES:
        raise Refusal("out_of_range", f"The number of nodes is {nodes}; it must be between 1 and {MOST_NODES}.", given=nodes)
    if rule not in RULES:
        raise Refusal("unknown_rule", f"There is no rule {rule!r}; there are {', '.join(RULES)}.", given=rule)
    with torch.no_grad():
        run = model.run(batch)
    prob = importance.probabilities(run.logits)
    target = prob.argmax(-1) if target is None else target
    points, weights = RULES[rule](nodes)
    found, without = [], []
    for layer in range(model.n_layers):
        own, states = run.attention[:, layer], run.states[:, layer]
        slope = torch.zeros_like(own)
        at_once = max(1, CELLS // max(1, own.numel() * (model.n_layers - layer)))
        for start in range(0, nodes, at_once):
            alpha = torch.tensor(points[start : start + at_once]).to(own)
            weight = torch.tensor(weights[start : start + at_once]).to(own)
            slope += torch.einsum("n,nbhqk->bhqk", weight, _slopes(model, batch, layer, states, own, alpha, target))
        found.append(own * slope)
        without.append(_silent(model, batch, layer, states, own, target))
    full = prob.gather(-1, target[:, None]).squeeze(-1)
    return Attribution(torch.stack(found, 1), run.attention, full[:, None] - torch.stack(without, 1), full)


def _slopes(model: Transformer, batch: Batch, layer: int, states: Tensor, own: Tensor, alpha: Tensor, target: Tensor) -> Tensor:
    """∂F(αA)/∂A of a layer at each α, "node batch head query key", in one run of the layers from it on."""
    scaled = (alpha[:, None, None, None, None] * own).flatten(0, 1).requires_grad_()
    copies = repeat(batch, len(alpha))
    run = model.run(copies, states=states.repeat(len(alpha), 1, 1), intervene=replace({layer: scaled}), start=layer)
    prob = importance.target_prob(run.logits, target.repeat(len(alpha)))
    (slope,) = torch.autograd.grad(prob.sum(), scaled)
    return slope.unflatten(0, (len(alpha), -1))


@torch.no_grad()
def _silent(model: Transformer, batch: Batch, layer: int, states: Tensor, own: Tensor, target: Tensor) -> Tensor:
    """F with a layer's attention set to zero, "batch"."""
    run = model.run(batch, states=states, intervene=replace({layer: torch.zeros_like(own)}), start=layer)
    return importance.target_prob(run.logits, target)
