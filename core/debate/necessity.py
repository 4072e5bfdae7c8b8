"""Is attention needed at all? Wiegreffe & Pinter 2019, section 3.2.

If a model does as well with every word weighted equally, its task needs no attention, and the weights it learns there can
explain nothing and be replaced without loss: an adversary's success on such a task says little. So the same model is trained
with attention frozen to uniform (the normalizer `uniform`), and only where that costs accuracy is the debate about
something. On AG News and 20 Newsgroups it cost the authors nothing, and they dropped both.
"""

from dataclasses import dataclass

import torch

from core.agreement import jsd, tvd
from core.models.classifier import Classifier
from core.models.contributions import contributions
from core.types import Batch


@dataclass(frozen=True)
class Beside:
    """The same sentences under models that share their tokens, the first one the model that others are held against."""

    attention: torch.Tensor  # "model batch word", rows sum to one
    prob: torch.Tensor  # "model batch label"
    jsd: torch.Tensor  # "model batch", attention against the first model's, in nats
    tvd: torch.Tensor  # "model batch", prediction against the first model's


def beside(models: list[Classifier], batch: Batch) -> Beside:
    """What several models make of the same batch, in double precision."""
    found = [contributions(model, batch) for model in models]
    attention = torch.stack([words.attention for words in found])
    prob = torch.stack([words.prob(words.attention) for words in found])
    return Beside(attention, prob, jsd(attention, attention[:1]), tvd(prob, prob[:1]))
