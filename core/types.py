"""The records that travel between modules. Nothing here computes; everything here is frozen.

Every paper in this debate either changes the attention of a running model and watches the prediction, or trains a
model while wanting something of its attention. Hence two function types carry the whole argument: an `Intervention`
(given a layer and its weights, return the weights to use) and a `Loss` (given a run, return a number). All models
give their attention in one shape, `batch layer head query key`; a classifier with a single attention has one layer,
one head and one query.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from torch import Tensor

Kind = Literal["classification", "qa", "nli", "paraphrase"]
Weights = Tensor  # "batch head query key", rows sum to one over the attended keys
Intervention = Callable[[int, Weights], Weights]


class Refusal(ValueError):
    """An input that cannot be worked with. `str()` is one English sentence that says what was given and what is
    allowed.

    `code` and `values` let a page say the same in another language.
    """

    def __init__(self, code: str, sentence: str, **values: object) -> None:
        super().__init__(sentence)
        self.code = code
        self.values = values


@dataclass(frozen=True)
class Note:
    """Something the reader should know about an answer that was given all the same (cut, unknown words, one word)."""

    code: str
    sentence: str
    values: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """What is asked of a model: its kind, the names of its labels in id order, and the language of its text."""

    name: str
    kind: Kind
    labels: tuple[str, ...]
    language: str = "en"


@dataclass(frozen=True)
class Example:
    """One input. `text` is what attention reads (sentence, story, premise), `query` what asks (question, hypothesis).

    `label` is the gold label's id; `candidates` are the ids of the labels that may be answered (empty: all of them);
    `evidence` are the positions in `text` that people or the data name as the reason (empty where unknown).
    """

    id: str
    text: tuple[str, ...]
    query: tuple[str, ...] = ()
    label: int | None = None
    candidates: tuple[int, ...] = ()
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True)
class Pair:
    """A text and what it becomes: a sentence and its translation, a date and its digits.

    `links` are pairs of positions (in `text`, in `target`) that the data hold to belong together (empty where unknown).
    """

    id: str
    text: tuple[str, ...]
    target: tuple[str, ...]
    links: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Batch:
    """Examples as tensors, on one device.

    `present` marks tokens that exist (start and end included), `mask` the pieces of words: those that may be attended, in a
    Transformer besides start and end. `word` is the index of the word that a token belongs to, -1 for start, end and padding.
    `allowed` marks labels that may be answered. Query tensors have no tokens where the task has no query, nor in a Transformer:
    it reads text and query in one row, the words of the query numbered on, and `segment` tells them apart (0, 1).
    """

    examples: tuple[Example, ...]
    ids: Tensor  # "batch token"
    present: Tensor  # "batch token"
    mask: Tensor  # "batch token"
    word: Tensor  # "batch token"
    segment: Tensor  # "batch token"
    query_ids: Tensor  # "batch query_token"
    query_present: Tensor  # "batch query_token"
    allowed: Tensor  # "batch label"


@dataclass(frozen=True)
class Run:
    """What one run of a model shows: attention is an ordinary value, returned by every run."""

    logits: Tensor  # "batch label"
    attention: Tensor  # "batch layer head query key"
    value: Tensor  # "batch layer head key dim"
    states: Tensor  # "batch layer token dim", what each attention layer was given


Loss = Callable[[Run, Batch], Tensor]
Readout = Callable[[int, Intervention], Tensor]


@dataclass(frozen=True)
class Card:
    """What a committed model is: enough to rebuild it, to check its files, and to judge its figures."""

    name: str
    task: Task
    encoder: str
    score: str
    normalizer: str
    embedding_dim: int
    hidden_dim: int
    layers: int
    heads: int
    parameters: int
    max_tokens: int
    seed: int
    vocabulary: str
    vocabulary_sha256: str
    weights_sha256: str
    terms: str
    test: Mapping[str, Any]  # accuracy, f1, n, split, and what a reader must know beside them
    training: Mapping[str, Any]  # data, n, epochs, rate, what was selected on
    embedding: str = ""  # the model whose input vectors it shares; its own where this is empty


@runtime_checkable
class AttentionModel(Protocol):
    """Anything whose attention can be read and replaced."""

    card: Card
    n_layers: int

    def encode(self, examples: Sequence[Example]) -> Batch:
        """Examples as one padded batch."""
        ...

    def embed(self, batch: Batch) -> Tensor:
        """Input vectors, "batch token dim"."""
        ...

    def run(self, batch: Batch, *, embedding: Tensor | None = None, intervene: Intervention) -> Run:
        """One forward pass, with the attention of each layer passed through `intervene`."""
        ...

    def readout(self, batch: Batch) -> Readout:
        """Logits under an intervention, everything before the attention computed once."""
        ...
