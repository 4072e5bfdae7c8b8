"""Can a model be trained to hide what it uses? Pruthi et al. 2020.

Some words are impermissible: a pronoun in a biography that a model should not judge by. One wants to know from its attention
whether it does. A penalty on the attention that these words get,

    R = −λ log(1 − Σ_{t impermissible} α_t),

drives that mass to nothing while the model goes on using the words, through the states of their neighbors or through large
states of small weight. Leave-one-out shows it. Departure: 1 − mass is kept above 1e-6 inside the logarithm, where the paper's
code has none and returns infinity at mass one.
"""

from collections.abc import Sequence

from torch import Tensor

from core.models.classifier import marked
from core.training import cross_entropy
from core.types import Batch, Loss, Run

PRONOUNS = ("he", "him", "his", "himself", "she", "her", "hers", "herself")  # those that the biographies mark, and "hers"
ENDS = (".", "!", "?", "...")  # what ends a sentence
SMALLEST = 1e-6  # of what is left for the permitted words, inside the logarithm


def hide(strength: float) -> Loss:
    """Cross-entropy plus the penalty R, λ = `strength`, on the words that the examples mark; averaged over sentences.

    A sentence without a marked word has no penalty. Pruthi et al. 2020, §3.
    """

    def loss(run: Run, batch: Batch) -> Tensor:
        return cross_entropy(run, batch) + strength * penalty(mass(run, batch)).mean()

    return loss


def penalty(mass: Tensor) -> Tensor:
    """−log(1 − mass), elementwise; finite also at mass one."""
    return -(1 - mass).clamp(min=SMALLEST).log()


def mass(run: Run, batch: Batch) -> Tensor:
    """The attention on the marked words, "batch", in [0, 1]; zero where none is marked."""
    return (run.attention[:, 0, 0, 0] * marked(batch)).sum(-1)


def impermissible(data: str, words: Sequence[str]) -> tuple[int, ...]:
    """The positions that a text of that data set would mark, as far as a rule can tell: in biographies the words in PRONOUNS,
    in reviews with an unrelated sentence behind them the first sentence; none elsewhere."""
    if data == "pronoun":
        return tuple(i for i, word in enumerate(words) if word.lower() in PRONOUNS)
    if data == "sst_wiki":
        end = next((i for i, word in enumerate(words) if word in ENDS), len(words) - 1)
        return tuple(range(end + 1))
    return ()
