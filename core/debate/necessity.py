"""Is attention needed at all? Wiegreffe & Pinter 2019, section 3.2.

If a model does as well with every word weighted equally, its task needs no attention, and the weights it learns there can
explain nothing and be replaced without loss: an adversary's success on such a task says little. So the same model is trained
with attention frozen to uniform (the normalizer `uniform`), and only where that costs accuracy is the debate about
something. On AG News and 20 Newsgroups it cost the authors next to nothing, and they dropped both.
"""

from core.models.classifier import Classifier
from core.models.comparison import Comparison, compared
from core.types import Batch


def necessity(learned: Classifier, frozen: Classifier, batch: Batch) -> Comparison:
    """The same sentences with learned attention and with attention frozen to uniform in training, in this order.

    Wiegreffe & Pinter 2019, §3.2.
    """
    return compared([learned, frozen], batch)
