"""Other attention with the same prediction: what the page asks of `core`, and how the answers are put into words."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from core import agreement
from core.debate.adversary import Adversary, Constrained, Spotlight, adversary, constrained, spotlight_data
from core.explanation import Explanation
from core.models.classifier import Classifier
from core.reading import Reading
from core.types import Card
from dashboard import texts, tokens
from dashboard.resources import Choice
from dashboard.texts import Texts

LOOSE = 0.05  # the epsilon at which the published figures were selected
NOTHING = 1e-6  # a distance that is none
UNSEEN = 0.005  # a weight that is written 0.00


@dataclass(frozen=True)
class Case:
    """One text on the page: what the model says of it, its decoder's numbers, how far a prediction may move, how to look."""

    choice: Choice
    found: Explanation
    light: Spotlight
    epsilon: float
    method: str

    @property
    def about(self) -> str:
        """What a story, a guess or a reveal belongs to."""
        return "|".join((self.choice.model, self.choice.text, self.choice.query))


def light(model: Classifier, reading: Reading) -> Spotlight:
    """The numbers that predict under any attention."""
    return spotlight_data(model, model.encode([reading.example]))[0]


def opposite(model: Classifier, reading: Reading, epsilon: float, method: str, k: int = 1, seed: int = 0) -> Adversary:
    """Attentions far from the model's own whose prediction stays within epsilon."""
    return adversary(model, model.encode([reading.example]), epsilon=epsilon, method=method, k=k, seed=seed)[0]


def limited(model: Classifier, reading: Reading, epsilon: float, ceiling: float, floor: float) -> Constrained:
    """The farthest attention that is also no more peaked than asked: no weight above `ceiling`, entropy from `floor` on."""
    return constrained(model, model.encode([reading.example]), epsilon=epsilon, ceiling=ceiling, floor=floor)[0]


def named(card: Card | None, name: str) -> str:
    """The key of a method's or a series' words: where more than two labels may be answered, the exact method only brackets."""
    several = card is not None and len(card.task.labels) > 2
    return {"exact": "bracket", "default": "bracket_default"}.get(name, name) if several else name


def entropy(weights: Sequence[float]) -> float:
    """Entropy of an attention in nats: 0 on one word, ln n when even."""
    return float(agreement.entropy(torch.tensor(weights, dtype=torch.float64)))


def most_likely(prediction: Sequence[float], labels: Sequence[str]) -> tuple[str, float]:
    """The likeliest label and its probability."""
    best = max(range(len(labels)), key=lambda i: prediction[i])
    return labels[best], prediction[best]


def carried(t: Texts, weights: Sequence[float], words: Sequence[str]) -> str:
    """Which words carry an attention: the one, the two, or how many."""
    order = sorted((i for i, weight in enumerate(weights) if weight >= UNSEEN), key=lambda i: -weights[i])
    named = {f"word_{n}": texts.plain(words[i]) for n, i in enumerate(order[:2], 1)}
    named |= {f"weight_{n}": tokens.number(weights[i]) for n, i in enumerate(order[:2], 1)}
    key = "one" if len(order) == 1 else "two" if len(order) == 2 else "many"
    return t(f"reading.{key}", n=len(order), **named)


def reached(t: Texts, case: Case, other: Adversary, exact: Adversary, seed: int) -> str:
    """How good the adversary shown is: the optimum, a bracket, or a search that may have missed something."""
    jsd, bound = tokens.number(other.jsd[0], 3), tokens.number(other.upper_bound, 3)
    values = {"jsd": jsd, "bound": bound, "epsilon": f"{case.epsilon:g}"}
    if other.method == "search":
        missed = tokens.number(exact.jsd[0] - other.jsd[0], 3)
        said = "reading.search" if exact.exact else "reading.search_found"
        return t(said, **values, exact=tokens.number(exact.jsd[0], 3), missed=missed, seed=seed)
    if other.jsd[0] < NOTHING:
        return t("reading.nothing" if other.exact else "reading.nothing_found", **values)
    gap = tokens.number(other.upper_bound - other.jsd[0], 3)
    return t("reading.optimum" if other.exact else "reading.bracket", **values, gap=gap)


def promise(t: Texts, found: Constrained) -> str:
    """What is known of an adversary under limits: the optimum, a bracket, or that nothing meets the limits."""
    values = {"epsilon": f"{found.epsilon:g}", "ceiling": tokens.number(found.ceiling), "floor": tokens.number(found.floor)}
    if found.attention is None:
        return t("limits.nothing" if found.exact else "limits.nothing_found", **values)
    values |= {"jsd": tokens.number(found.jsd, 3), "bound": tokens.number(found.upper_bound, 3)}
    return t("limits.optimum" if found.exact else "limits.bound", **values)
