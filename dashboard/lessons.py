"""The lessons: a line for each page, in the order in which they are told."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from core.attattr.rivals import RIVALS
from core.models.classifier import Classifier
from core.models.text_model import MultiHead, TextModel
from core.models.transformer import Transformer
from dashboard.alignment.keys import KEYS as ALIGNMENT
from dashboard.captioning.keys import KEYS as CAPTIONING
from dashboard.codes import MARKED
from dashboard.mechanism.keys import KEYS as MECHANISM

SECTIONS = ("foundations", "charge", "defence", "witnesses", "transformer", "verdict")


@dataclass(frozen=True)
class Page:
    """A lesson: its file, its section, its own keys in the link with their codes, the default first, and the kind of model that
    it can show.

    A lesson about trainings of a model offers those that were also trained as each of its `variants` (":seed=" for any seed).
    """

    file: str
    section: str = ""
    keys: Mapping[str, Sequence[str]] = field(default_factory=dict)
    kind: type[TextModel] | None = Classifier  # of model that it can show; None: of any
    variants: Sequence[str] = ()


PAGES: dict[str, Page] = {
    "": Page("home.py", kind=None),
    "mechanism": Page("mechanism.py", "foundations", MECHANISM, kind=None),
    "alignment": Page("alignment.py", "foundations", ALIGNMENT, kind=None),
    "captioning": Page("captioning.py", "foundations", CAPTIONING, kind=None),
    "agreement": Page(
        "agreement.py",
        "charge",
        {"graph": ("cut", "uncut"), "pair": ("gradient", "leave_one_out", "integrated_gradients")},
    ),
    "permutation": Page("permutation.py", "charge", {"shown": ("median", "extreme")}),
    "adversary": Page(
        "adversary.py",
        "charge",
        {
            "epsilon": ("0.01", "0.05", "0.1"),
            "method": ("exact", "search"),
            "series": ("search", "exact", "default"),
            "ceiling": ("own", "half", "quarter", "none"),
            "floor": ("none", "own", "half"),
            "count": ("3", "5", "10"),
        },
    ),
    "necessity": Page("necessity.py", "defence", variants=(":uniform",)),
    "variance": Page("variance.py", "defence", {"epsilon": ("0.01", "0.05", "0.1")}, variants=(":seed=",)),
    "guide": Page(
        "guide.py",
        "defence",
        {"guide": ("base", "adversary", "uniform", "own")},
        variants=(":uniform", ":guide=base", ":guide=adversary"),
    ),
    "trained-adversary": Page(
        "trained_adversary.py",
        "defence",
        {"lambda": ("0.01", "0.001", "0.0022", "0.0046", "0.022", "0.046")},
        variants=(":adversary=", ":uniform"),
    ),
    "identifiability": Page(
        "identifiability.py",
        "witnesses",
        {
            "layer": tuple(map(str, range(1, 49))),
            "head": tuple(map(str, range(1, 33))),
            "word": ("most", *map(str, range(1, 513))),
            "step": tuple(map(str, (0, *(step for step in range(-100, 101, 5) if step)))),
        },
        kind=MultiHead,
    ),
    "rationales": Page(
        "rationales.py",
        "witnesses",
        {"marked": MARKED, "average": ("plain", "printed"), "encoder": ("average", "bilstm")},
    ),
    "deception": Page(
        "deception.py",
        "witnesses",
        {"marked": MARKED},
        variants=(":deceptive=0.1", ":deceptive=1"),
    ),
    "erasure": Page("erasure.py", "witnesses", {"struck": ("flip", *map(str, range(513)))}),
    "heads": Page(
        "heads.py",
        "transformer",
        {
            "layer": ("strongest", *map(str, range(1, 49))),
            "head": ("strongest", *map(str, range(1, 65))),
            "units": ("words", "pieces"),
            "measure": ("sum", "largest", "masked"),
        },
        kind=Transformer,
    ),
    "attribution": Page(
        "attribution.py",
        "transformer",
        {
            "method": ("attribution", *(name for name in RIVALS if name != "attribution")),
            "units": ("words", "pieces"),
            "layer": ("total", *map(str, range(1, 49))),
            "rule": ("gauss", "right", "left"),
            "nodes": ("8", *(str(n) for n in range(1, 65) if n != 8)),
        },
        kind=Transformer,
    ),
    "pruning": Page(
        "pruning.py",
        "transformer",
        {
            "criterion": ("attribution", "taylor", "accuracy", "attention", "random"),
            "masked": tuple(map(str, range(0, 101, 10))),
        },
        kind=Transformer,
    ),
    "tree": Page(
        "tree.py",
        "transformer",
        {
            "tau": ("0.4", *(f"{step / 20:g}" for step in range(20) if step != 8)),
            "lambda": ("0", "0.001", "0.002", "0.005", "0.01", "0.02", "0.05", "0.1"),
            "units": ("words", "pieces"),
            "cut": MARKED,
        },
        kind=Transformer,
    ),
    "triggers": Page(
        "triggers.py",
        "transformer",
        {"trigger": ("against", *map(str, range(1, 10))), "words": ("all", "0", "1", "2", "3", "4")},
        kind=Transformer,
    ),
}


def own_key(page: str, name: str) -> str:
    """How a page's own key is written in the link."""
    return f"{page.replace('-', '_')}_{name}"


def own_keys() -> dict[str, Sequence[str]]:
    """The own keys of all pages with their codes."""
    return {own_key(path, name): codes for path, page in PAGES.items() for name, codes in page.keys.items()}
