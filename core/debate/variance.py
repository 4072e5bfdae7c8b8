"""How much does attention differ between trainings of the same model? Wiegreffe & Pinter 2019, section 3.3.

A model that is trained again from another seed is another model with other attention, though nobody attacked it. How far an
adversary gets is only remarkable against this: where seeds alone differ as much, attention was not stable to begin with; where
an adversary goes much further than any seed, it found what training does not.
"""

from collections.abc import Sequence

from torch import Tensor

from core.models.classifier import Classifier
from core.models.comparison import Comparison, compared
from core.types import Batch


def variance(base: Classifier, others: Sequence[Classifier], batch: Batch) -> Comparison:
    """The base and its other seeds on the same sentences, the base first. Wiegreffe & Pinter 2019, §3.3."""
    return compared([base, *others], batch)


def apart(found: Comparison) -> Tensor:
    """The median over the other seeds of the JSD to the base's attention, "batch", in nats."""
    return found.jsd[1:].quantile(0.5, dim=0)
