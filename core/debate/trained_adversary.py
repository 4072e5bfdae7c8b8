"""Can a *model* be trained whose attention differs and whose predictions do not? Wiegreffe & Pinter 2019, section 4.

Jain & Wallace move the weights of one sentence at a time, with as many degrees of freedom as it has words, and nothing makes
those weights come from a model. Here one model must produce them for every sentence: a copy, started afresh, that is rewarded
for predicting what the base model predicts and for attending elsewhere,

    L = TVD(p_a, p_b) − λ KL(α_a ‖ α_b),    averaged over sentences.

No gold label enters. Where TVD rises slowly with the distance of attention, attention could be had otherwise; where it rises
fast, the learned weights were needed. Departures: TVD is the full one, half the L1 distance over both classes, where the
paper's code halves the difference of one sigmoid, so their λ is 2λ here; padding, where both are zero,
adds nothing, where their code takes log 0. The adversary starts from other weights, since at the base both gradients vanish.
"""

import torch
from torch import Tensor

from core.agreement import jsd, kl, tvd
from core.models.classifier import Classifier
from core.types import Batch, Loss, Run

SMALLEST = torch.finfo(torch.float32).tiny  # a weight of the base that underflowed would make the divergence infinite


def imitate(base: Classifier, strength: float) -> Loss:
    """The loss L of a run against the base model's on the same batch, with λ = `strength`; Wiegreffe & Pinter 2019, §4."""

    def loss(run: Run, batch: Batch) -> Tensor:
        with torch.no_grad():
            states = base.remembered(batch)
            aim = base.run(batch, states=states)
        apart = tvd(torch.softmax(run.logits, -1), torch.softmax(aim.logits, -1))
        return (apart - strength * kl(weights(run), weights(aim).clamp(min=SMALLEST))).mean()

    return loss


def weights(run: Run) -> Tensor:
    """Attention of a model with one layer, head and query, "batch token"."""
    return run.attention[:, 0, 0, 0]


@torch.no_grad()
def distances(model: Classifier, base: Classifier, batch: Batch) -> tuple[Tensor, Tensor]:
    """How far the predictions (TVD, in [0, 1]) and the attention (JSD, in nats, at most ln 2) of two models are apart,
    "batch" each."""
    one, other = model.run(batch), base.run(batch, states=base.remembered(batch))
    return tvd(torch.softmax(one.logits, -1), torch.softmax(other.logits, -1)), jsd(weights(one), weights(other))
