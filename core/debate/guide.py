"""Does attention that one model learned help another one? The guided model of Wiegreffe & Pinter 2019, section 3.4.

Were the weights of an LSTM only an artefact of its own states, they would be worth nothing to a model that has no such states.
So a token-wise network (`average`: each state knows its own word alone) is trained with its weights set from outside: equal
for every word, as the LSTM had them, as an adversary had them. If it does better with the LSTM's weights than with equal ones
or its own, the weights carry something about the words. What this does not show is that the LSTM used them so.
"""

from collections.abc import Sequence

import torch

from core.interventions import replace
from core.models.classifier import Classifier
from core.models.comparison import Comparison, compared
from core.training import Intervene
from core.types import Batch, Intervention


def follow(guide: Classifier) -> Intervene:
    """For a batch, the intervention that sets its attention to the guide's own, "batch head query key".

    Both models must share a vocabulary, so that their tokens are the same. Wiegreffe & Pinter 2019, §3.4.
    """

    def intervene(batch: Batch) -> Intervention:
        with torch.no_grad():
            states = guide.remembered(batch)
            return replace({0: guide.attend(batch, states, guide.query_vector(batch))})

    return intervene


def guide(learners: Sequence[Classifier], guides: Sequence[Classifier | None], batch: Batch) -> Comparison:
    """The learners on the same sentences, each under the attention that it was trained with: its guide's, or its own where
    the guide is None. Wiegreffe & Pinter 2019, §3.4."""
    return compared(learners, batch, guides=guides)
