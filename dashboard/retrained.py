"""One text under several trainings of the same model: what the pages of the defence show of it, as plain values and words.

Attention is no part that is swapped between finished models: each training here has learned to read under its own weights.
`core` compares them; here the answers are kept for one text and put into strips.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from core.debate.adversary import adversary
from core.debate.guide import guide
from core.debate.necessity import necessity
from core.debate.variance import apart, variance
from core.models.classifier import Classifier
from core.models.comparison import Comparison
from core.reading import Reading
from core.types import Note
from dashboard import tokens
from dashboard.explained import UNBROKEN
from dashboard.texts import Texts
from dashboard.theme import Side


@dataclass(frozen=True)
class Retrained:
    """A text and what each training makes of it; distances are those to the first."""

    words: tuple[str, ...]
    labels: tuple[str, ...]
    attention: np.ndarray  # "training word"
    prob: np.ndarray  # "training label"
    jsd: np.ndarray  # "training", in nats
    tvd: np.ndarray  # "training"
    notes: tuple[Note, ...]

    def predicted(self, training: int = 0) -> str:
        """The likeliest label of a training."""
        return self.labels[int(self.prob[training].argmax())]

    def prediction(self, training: int = 0) -> dict[str, float]:
        """The probability of each label."""
        return dict(zip(self.labels, self.prob[training].tolist(), strict=True))


@dataclass(frozen=True)
class Seeds:
    """The base and its other seeds on one text, and the exact adversary of the base beside them."""

    trainings: Retrained
    median_jsd: float
    adversary: tuple[float, ...]  # "word"
    adversary_jsd: float
    adversary_tvd: float
    adversary_prob: tuple[float, ...]  # "label"


def with_uniform(model: Classifier, reading: Reading, *, others: Sequence[Classifier]) -> Retrained:
    """The model whose attention is learned, and the one trained with equal weights."""
    return retrained(model, reading, necessity(model, others[0], model.encode([reading.example])))


def with_seeds(model: Classifier, reading: Reading, *, others: Sequence[Classifier], epsilon: float) -> Seeds:
    """The model, its other seeds, and how far an adversary of the model gets within epsilon."""
    batch = model.encode([reading.example])
    found = variance(model, others, batch)
    reached = adversary(model, batch, epsilon=epsilon)[0]
    farthest = reached.attention[0], reached.jsd[0], reached.tvd[0], reached.prediction[0]
    return Seeds(retrained(model, reading, found), float(apart(found)[0]), *farthest)


def with_guides(model: Classifier, reading: Reading, *, others: Sequence[Classifier]) -> Retrained:
    """A token-wise model under its own weights, equal ones, a base's and an adversary's, each as it was trained.

    `others` are the models trained under the last three, then the base and the adversary that guide.
    """
    uniform, by_base, by_adversary, base, trained_adversary = others
    learners = [model, uniform, by_base, by_adversary]
    found = guide(learners, [None, None, base, trained_adversary], model.encode([reading.example]))
    return retrained(model, reading, found)


def retrained(model: Classifier, reading: Reading, found: Comparison) -> Retrained:
    """A comparison on one text as plain values."""
    return Retrained(
        words=reading.example.text,
        labels=model.card.task.labels,
        attention=found.attention[:, 0].cpu().numpy(),
        prob=found.prob[:, 0].cpu().numpy(),
        jsd=found.jsd[:, 0].cpu().numpy(),
        tvd=found.tvd[:, 0].cpu().numpy(),
        notes=reading.notes,
    )


def answers(found: Retrained, label: str, names: Mapping[str, str]) -> pd.DataFrame:
    """guide, p (of the label), predicted, tvd, jsd: one row a training, in the order of the names."""
    at = found.labels.index(label)
    return pd.DataFrame(
        {
            "guide": list(names.values()),
            "p": found.prob[:, at],
            "predicted": [found.predicted(i) for i in range(len(names))],
            "tvd": found.tvd,
            "jsd": found.jsd,
        }
    )


def width(found: Retrained, label: str) -> float:
    """How far the probabilities of a label lie apart over all trainings."""
    return float(np.ptp(found.prob[:, found.labels.index(label)]))


def row(t: Texts, found: Retrained, training: int, label: str, sublabel: str = "", side: Side | None = None) -> tokens.Row:
    """One training's weights with its prediction, and its distances to the first one."""
    said = [predicted(t, found, training)]
    if training:
        said += apart_by(t, found.tvd[training], found.jsd[training])
    return tokens.Row(label, found.attention[training].tolist(), sublabel, side=side, note=unbroken(said))


def apart_by(t: Texts, tvd: float, jsd: float) -> list[str]:
    """How far prediction and attention are from the first training's."""
    return [t("strips.tvd", tvd=tokens.number(tvd, 3)), t("strips.jsd", jsd=tokens.number(jsd, 3))]


def unbroken(parts: Sequence[str]) -> str:
    """Parts in a line that breaks between them only."""
    return ", ".join(part.replace(" ", UNBROKEN) for part in parts)


def predicted(t: Texts, found: Retrained, training: int) -> str:
    """A training's label and its probability."""
    name = found.predicted(training)
    return f"{t.label(name)} {tokens.number(found.prediction(training)[name])}"


def adversary_row(t: Texts, found: Seeds) -> tokens.Row:
    """The adversary's weights, found for this one text in the finished base."""
    labels = found.trainings.labels
    best = int(np.argmax(found.adversary_prob))
    said = f"{t.label(labels[best])} {tokens.number(found.adversary_prob[best])}"
    note = unbroken([said, *apart_by(t, found.adversary_tvd, found.adversary_jsd)])
    return tokens.Row(t("strips.adversary"), list(found.adversary), t("strips.adversary_sub"), side="charge", note=note)
