"""Several models on the same sentences: where each looks, what each answers, and how far both are from the first one's."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.agreement import jsd, tvd
from core.models.classifier import Classifier
from core.models.contributions import contributions
from core.types import Batch


@dataclass(frozen=True)
class Comparison:
    """In double precision; the first model is the one that the others are held against."""

    attention: Tensor  # "model batch word", rows sum to one
    prob: Tensor  # "model batch label"
    jsd: Tensor  # "model batch", attention to the first model's, in nats, at most ln 2
    tvd: Tensor  # "model batch", prediction to the first model's, in [0, 1]


def compared(models: Sequence[Classifier], batch: Batch, *, guides: Sequence[Classifier | None] = ()) -> Comparison:
    """What models that share a vocabulary make of the same batch; one that has a guide reads with the guide's attention."""
    found = [contributions(model, batch) for model in models]
    own = [words.attention for words in found]
    set_to = [own[i] if guide is None else contributions(guide, batch).attention for i, guide in enumerate(guides)] or own
    attention = torch.stack(set_to)
    prob = torch.stack([words.prob(weights) for words, weights in zip(found, set_to, strict=True)])
    return Comparison(attention, prob, jsd(attention, attention[:1]), tvd(prob, prob[:1]))
