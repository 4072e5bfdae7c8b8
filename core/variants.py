"""What a variant of a model is trained for: another loss, another attention, other words; and how its name says so.

A name explains itself: `data/encoder-score`, then what differs, each behind a colon: the normalizer (`sparsemax`, `uniform`),
`seed=3`, `words=200` (texts are cut there), and at most one of `adversary=0.02` (attention elsewhere, Wiegreffe & Pinter 2019,
§4), `guide=base` or `guide=adversary` (attention set by another model, §3.4), `deceptive=0.1` (no attention on the marked
words, Pruthi et al. 2020) and `anonymised` (the marked words are not there at all).
"""

import dataclasses
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.data import TASKS
from core.debate.deception import hide
from core.debate.guide import follow
from core.debate.trained_adversary import imitate
from core.models import self_attention
from core.models.classifier import Classifier
from core.models.encoders import ENCODERS
from core.models.registry import EMBEDDING, needed
from core.models.scores import NORMALIZERS, SCORES
from core.models.text_model import TextModel
from core.training import Intervene, Select, as_it_is, cross_entropy
from core.types import Example, Loss, Refusal

Obtain = Callable[[str], TextModel]  # a model by name
UNKNOWN = "\N{WHITE SQUARE}"  # stands for a word that is taken out; in no vocabulary
FRESH = 1001  # added to the seed of an adversary, which must not start where its base did
ADVERSARY_EPOCHS, PATIENCE = 12, 3
CHOSEN = {"sst2": "0.01", "imdb": "0.022"}  # λ of the adversary that guides: the least with a mean JSD above .4 on validation


@dataclass(frozen=True)
class Name:
    """A model's name, taken apart."""

    data: str
    encoder: str
    score: str
    normalizer: str = "softmax"
    seed: int = 0
    words: int | None = None
    variant: str = ""
    value: str = ""

    @property
    def base(self) -> str:
        """The model that a variant is held against: the same one without anything behind a colon but its words."""
        return f"{self.data}/{self.encoder}-{self.score}" + (f":words={self.words}" if self.words is not None else "")

    @property
    def plain(self) -> bool:
        """Whether it is a model as its data set's recipe makes it, not one that is trained only to be held against one."""
        return not (self.seed or self.variant or self.words is not None or self.normalizer == "uniform")

    @property
    def strength(self) -> float:
        """λ, of variants that have one."""
        return float(self.value)


def parse(name: str, known: Sequence[str]) -> Name:
    """The parts of a name over `known` data sets; refuses anything else with what is allowed."""
    base, *behind = name.split(":")
    source, _, kind = base.partition("/")
    encoder, _, score = kind.partition("-") if kind != self_attention.NAME else (kind, "", "scaled-dot")
    found: dict[str, object] = {}
    one_query = encoder in ENCODERS and score in SCORES
    good = source in known and (one_query or (kind == self_attention.NAME and TASKS[source].kind == "classification"))
    for part in behind:
        said = _part(part)
        good = good and bool(said) and not said.keys() & found.keys()
        found |= said
    if not good:
        kinds = f"DATA in {', '.join(known)}; ENCODER in {', '.join(ENCODERS)}; SCORE in {', '.join(SCORES)}"
        allowed = (
            f"DATA/ENCODER-SCORE with {kinds}; DATA/{self_attention.NAME} for data without a query; "
            "then :sparsemax or :uniform, :seed=N, :words=N, and one of :adversary=L, "
            ":deceptive=L, :guide=base, :guide=adversary, :anonymised"
        )
        sentence = f"{name!r} names no model that can be trained; allowed is {allowed}."
        raise Refusal("untrainable", sentence, given=name, allowed=allowed)
    return Name(source, encoder, score, **found)  # type: ignore[arg-type]


def _part(part: str) -> dict[str, object]:
    """What one part behind a colon says; nothing where it says nothing known."""
    key, _, value = part.partition("=")
    if key in ("seed", "words") and re.fullmatch("[0-9]{1,9}", value):
        return {key: int(value)}
    if part in NORMALIZERS and part != "softmax":
        return {"normalizer": part}
    strength = key in ("adversary", "deceptive") and re.fullmatch(r"[0-9]+(\.[0-9]+)?", value)
    if strength or (key == "guide" and value in ("base", "adversary")) or part == "anonymised":
        return {"variant": key, "value": value}
    return {}


@dataclass(frozen=True)
class Variant:
    """How the training of a variant differs from that of its base."""

    loss: Loss = cross_entropy
    intervene: Intervene = as_it_is
    select: Select = "accuracy"
    shares: str = ""  # the model whose input vectors it keeps, frozen
    epochs: int | None = None
    patience: int | None = None
    dropout: float | None = None
    seed: int = 0  # added to the model's own
    says: str = ""  # what a card says of the training

    @property
    def frozen(self) -> Sequence[str]:
        """The parameters that are not trained."""
        return (EMBEDDING,) if self.shares else ()


def variant(name: Name, obtain: Obtain) -> Variant:
    """What the named variant is trained for; `obtain` gives the models that it needs (its base, its guide)."""
    if name.variant == "adversary":
        return Variant(
            imitate(needed(obtain(name.base), Classifier), name.strength),
            select="loss",
            shares=name.base,
            epochs=ADVERSARY_EPOCHS,
            patience=PATIENCE,
            dropout=0.0,
            seed=FRESH,
            says=f"TVD to {name.base} minus {name.value} times KL to its attention; gold labels were not used",
        )
    if name.variant == "deceptive":
        return Variant(
            hide(name.strength),
            select="loss",
            shares=name.base,
            says=f"cross-entropy plus {name.value} times the penalty on attention to the marked words",
        )
    if name.variant == "guide":
        guide = guide_of(name)
        return Variant(intervene=follow(needed(obtain(guide), Classifier)), says=f"attention set to that of {guide}")
    if name.variant == "anonymised":
        return Variant(says="the marked words were taken out")
    return Variant()


def guide_of(name: Name) -> str:
    """The model whose attention a guided model gets."""
    base = dataclasses.replace(name, encoder="bilstm").base
    return base if name.value == "base" else f"{base}:adversary={CHOSEN[name.data]}"


def without_marked(example: Example) -> Example:
    """The example with its marked words replaced by one that no model knows."""
    marked = set(example.evidence)
    return dataclasses.replace(example, text=tuple(UNKNOWN if i in marked else w for i, w in enumerate(example.text)))
