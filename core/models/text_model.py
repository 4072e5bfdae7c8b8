"""What all readers of text share: a card, a vocabulary, examples to tensors, copies of themselves.

What they do with the tensors is their own: `classifier` has one attention over the words, `self_attention` several heads in
which every word attends to every word, `transformer` layers of them.
"""

import dataclasses
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self, TypeVar

import torch
from torch import Tensor, nn

from core.device import StateCache
from core.interventions import keep
from core.models import vocabulary as vocab
from core.models.vocabulary import Vocabulary
from core.types import Batch, Card, Example, Intervention, Readout, Run, Task


class TextModel(nn.Module, ABC):
    """An `AttentionModel` that knows its card, its vocabulary and how to read examples. Read-only outside training."""

    n_layers = 1
    tokens_at_once = sys.maxsize  # how many tokens a batch may have whose gradient is asked, for what it keeps of each

    def __init__(self, card: Card, vocabulary: Vocabulary, cache: StateCache | None = None) -> None:
        super().__init__()
        self.card, self.vocabulary, self.cache = card, vocabulary, cache

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

    def precise(self) -> Self:
        """A frozen twin in double precision; on the CPU where the device has none (MPS)."""
        device = torch.device("cpu") if self.device.type == "mps" else self.device
        twin = self.copied(dtype=torch.float64, device=device).requires_grad_(False)
        twin.cache = self.cache
        return twin

    def cut(self, example: Example) -> Example:
        """The example as far as the model reads it."""
        return cut(example, self.card.task, self.card.max_tokens)

    @abstractmethod
    def copied(self, *, dtype: torch.dtype | None = None, device: torch.device | None = None) -> Self:
        """A model of its own with these weights, for training; it shares no cache, as its weights will differ."""

    @abstractmethod
    def encode(self, examples: Sequence[Example]) -> Batch:
        """The examples, as far as they are read, as one padded batch."""

    @abstractmethod
    def embed(self, batch: Batch) -> Tensor:
        """Input vectors "batch token dim"."""

    @abstractmethod
    def embed_query(self, batch: Batch) -> Tensor:
        """Input vectors of the query, "batch query_token dim"."""

    @abstractmethod
    def run(
        self,
        batch: Batch,
        *,
        embedding: Tensor | None = None,
        intervene: Intervention = keep,
        states: Tensor | None = None,
        query_embedding: Tensor | None = None,
    ) -> Run:
        """One forward pass; `embedding` and `query_embedding` replace the input vectors, `states` what comes of them."""

    @abstractmethod
    def readout(self, batch: Batch) -> Readout:
        """Logits "batch label" with an intervention at one layer; what is before it is computed once."""

    @abstractmethod
    def reader(self, batch: Batch) -> Tensor:
        """The share that each query of the last layer has in what the answer is read from, "batch query"."""

    def unchanged(self, batch: Batch) -> Run:
        """A run in which nothing is changed, without a graph; not to be written into."""
        with torch.no_grad():
            return self.run(batch)

    def without(self, one: Batch, words: Sequence[int]) -> Tensor:
        """Logits "deletion label" of the only example of a batch without one of its `words` (as `batch.word` numbers them);
        what is left is read anew, without a graph."""
        with torch.no_grad():
            return self.run(self.encode([deleted(one.examples[0], word) for word in words])).logits


class MultiHead(TextModel):
    """One in whose heads every token attends to every token. What a head reads enters the state through a map of its own."""

    @property
    def head_size(self) -> int:
        """How many numbers a head's value has."""
        return self.card.hidden_dim // self.card.heads

    @abstractmethod
    def output_map(self, layer: int) -> Tensor:
        """What carries each head's values into the state, "head dim state"."""

    @abstractmethod
    def attended(self, batch: Batch) -> Tensor:
        """The tokens that may be attended, "batch token"."""

    @abstractmethod
    def pieces(self, batch: Batch) -> list[list[str]]:
        """What is written at the tokens that may be attended, for each example."""


class WordModel(TextModel):
    """One of our own: a vector for each word of its vocabulary, and one attention over the words. Its weights are all here."""

    def __init__(self, card: Card, vocabulary: Vocabulary, cache: StateCache | None = None) -> None:
        super().__init__(card, vocabulary, cache)
        self.embedding = nn.Embedding(vocabulary.size, card.embedding_dim)

    def copied(self, *, dtype: torch.dtype | None = None, device: torch.device | None = None) -> Self:
        """A model of its own with these weights, for training; it shares no cache, as its weights will differ."""
        with torch.device("meta"):
            twin = type(self)(self.card, self.vocabulary)
        weights = {name: value.detach().to(device, dtype, copy=True) for name, value in self.state_dict().items()}
        twin.load_state_dict(weights, assign=True)
        return twin.requires_grad_()

    def encode(self, examples: Sequence[Example]) -> Batch:
        """The examples as one padded batch, each text cut to the card's `max_tokens` words."""
        kept = tuple(self.cut(e) for e in examples)
        text, word = _padded([vocab.ids(self.vocabulary, e.text) for e in kept])
        query, _ = _padded([vocab.ids(self.vocabulary, e.query) for e in kept])
        move = self.device
        return Batch(
            examples=kept,
            ids=text.to(move),
            present=(text != vocab.PAD).to(move),
            mask=(word >= 0).to(move),
            word=word.to(move),
            segment=torch.zeros_like(text).to(move),
            query_ids=query.to(move),
            query_present=(query != vocab.PAD).to(move),
            allowed=allowed(kept, len(self.card.task.labels)).to(move),
        )

    def embed(self, batch: Batch) -> Tensor:
        """Input vectors "batch token dim"."""
        return self.embedding(batch.ids)

    def embed_query(self, batch: Batch) -> Tensor:
        """Input vectors of the query, "batch query_token dim"."""
        return self.embedding(batch.query_ids)


def deleted(example: Example, word: int) -> Example:
    """The example without a word; the words of the query are numbered on after those of the text."""
    n = len(example.text)
    text = example.text[:word] + example.text[word + 1 :]
    query = example.query if word < n else example.query[: word - n] + example.query[word - n + 1 :]
    return dataclasses.replace(example, text=text, query=query, evidence=())


def allowed(examples: Sequence[Example], labels: int) -> Tensor:
    """The labels that each example may be answered with, "batch label"."""
    may = torch.ones(len(examples), labels, dtype=torch.bool)
    for row, example in zip(may, examples, strict=True):
        if example.candidates:
            row[:] = torch.zeros(labels, dtype=torch.bool).index_fill(0, torch.tensor(example.candidates), True)
    return may


Model = TypeVar("Model", bound=TextModel)
Words = TypeVar("Words", bound=WordModel)


def cut(example: Example, task: Task, limit: int) -> Example:
    """The example with at most `limit` words: the first of a text, the last of a story (where its answer lies)."""
    n = len(example.text)
    start = max(0, n - limit) if task.kind == "qa" else 0
    if n <= limit and len(example.query) <= limit:
        return example
    evidence = tuple(e - start for e in example.evidence if start <= e < start + limit)
    text, query = example.text[start : start + limit], example.query[:limit]
    return dataclasses.replace(example, text=text, query=query, evidence=evidence)


def fresh(kind: type[Words], card: Card, vocabulary: Vocabulary, seed: int, embedding_std: float = 1.0) -> Words:
    """A model of a kind with fresh weights that depend on the seed alone (Glorot for matrices, zero for biases)."""
    with torch.device("meta"):
        model = kind(card, vocabulary)
    model.to_empty(device="cpu")
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in model.named_parameters():
        _initialize(name, parameter, generator, embedding_std)
    return model


@torch.no_grad()
def _initialize(name: str, parameter: Tensor, generator: torch.Generator, embedding_std: float) -> None:
    if name == "embedding.weight":
        nn.init.normal_(parameter, std=embedding_std, generator=generator)
        parameter[vocab.PAD] = 0
    elif name == "score.sharpness":
        nn.init.constant_(parameter, 4.0)
    elif name == "query":
        nn.init.normal_(parameter, std=parameter.numel() ** -0.5, generator=generator)
    elif parameter.dim() == 1:
        nn.init.zeros_(parameter)
    elif "lstm" in name:
        bound = (parameter.shape[0] // 4) ** -0.5
        nn.init.uniform_(parameter, -bound, bound, generator=generator)
    else:
        nn.init.xavier_uniform_(parameter, generator=generator)


def _padded(rows: Sequence[tuple[list[int], list[int]]]) -> tuple[Tensor, Tensor]:
    """Ids with start and end, and word indices, as two padded tensors "batch token"; no tokens at all if every row is
    empty."""
    width = max((len(ids) for ids, _ in rows), default=0)
    length = width + 2 if width else 0
    ids = torch.full((len(rows), length), vocab.PAD)
    word = torch.full((len(rows), length), -1)
    for i, (row, words) in enumerate(rows):
        if length:
            ids[i, : len(row) + 2] = torch.tensor([vocab.START, *row, vocab.END])
            word[i, 1 : len(row) + 1] = torch.tensor(words)
    return ids, word
