"""The classifier of the debate: embed, encode, score, normalize, intervene, decode.

    e = E[x]    h = Encoder(e)    α = softmax(score(h, q))    c = Σ αₜ hₜ    logits = W c + b(q)

The decoder is linear in the context c, for question answering and inference too, where the query enters as a bias.
The papers put a tanh there; without it, the effect of any attention on the logits is Σ αₜ W hₜ, which is what makes
the exact adversary and the spotlight in the browser possible. Accuracies stand on the cards. After Jain & Wallace
2019, §2.
"""

import dataclasses
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from core.device import StateCache
from core.interventions import keep
from core.models import vocabulary as vocab
from core.models.encoders import ENCODERS
from core.models.scores import NORMALIZERS, SCORES
from core.models.vocabulary import Vocabulary
from core.types import Batch, Card, Example, Intervention, Readout, Run, Task


class Classifier(nn.Module):
    """An `AttentionModel` with one layer, one head and one query. Read-only outside training.

    It holds no state of any run. Loaded with a `cache`, it keeps there what its encoder made of a text (`remembered`).
    """

    n_layers = 1

    def __init__(self, card: Card, vocabulary: Vocabulary, cache: StateCache | None = None) -> None:
        super().__init__()
        self.card, self.vocabulary, self.cache = card, vocabulary, cache
        self.embedding = nn.Embedding(vocabulary.size, card.embedding_dim)
        self.encoder = ENCODERS[card.encoder](card.embedding_dim, card.hidden_dim)
        dim = self.encoder.state_dim
        self.score = SCORES[card.score](dim)
        self.decoder = nn.Linear(dim, len(card.task.labels))
        if card.task.kind == "classification":
            self.query = nn.Parameter(torch.empty(dim))
        else:
            self.query_encoder = ENCODERS[card.encoder](card.embedding_dim, card.hidden_dim)
            self.query_bias = nn.Sequential(nn.Linear(dim, dim), nn.Tanh(), nn.Linear(dim, len(card.task.labels), bias=False))

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.embedding.weight.device

    def copied(self, *, dtype: torch.dtype | None = None, device: torch.device | None = None) -> "Classifier":
        """A model of its own with these weights, for training; it shares no cache, as its weights will differ."""
        with torch.device("meta"):
            twin = Classifier(self.card, self.vocabulary)
        weights = {name: value.detach().to(device, dtype, copy=True) for name, value in self.state_dict().items()}
        twin.load_state_dict(weights, assign=True)
        return twin.requires_grad_()

    def precise(self) -> "Classifier":
        """A frozen twin in double precision; on the CPU where the device has none (MPS)."""
        device = torch.device("cpu") if self.device.type == "mps" else self.device
        twin = self.copied(dtype=torch.float64, device=device).requires_grad_(False)
        twin.cache = self.cache
        return twin

    def encode(self, examples: Sequence[Example]) -> Batch:
        """The examples as one padded batch, each text cut to the card's `max_tokens` words."""
        labels = len(self.card.task.labels)
        kept = tuple(cut(e, self.card.task, self.card.max_tokens) for e in examples)
        text, word = _padded([vocab.ids(self.vocabulary, e.text) for e in kept])
        query, _ = _padded([vocab.ids(self.vocabulary, e.query) for e in kept])
        allowed = torch.ones(len(kept), labels, dtype=torch.bool)
        for row, example in zip(allowed, kept, strict=True):
            if example.candidates:
                row[:] = torch.zeros(labels, dtype=torch.bool).index_fill(0, torch.tensor(example.candidates), True)
        move = self.device
        return Batch(
            examples=kept,
            ids=text.to(move),
            present=(text != vocab.PAD).to(move),
            mask=(word >= 0).to(move),
            word=word.to(move),
            query_ids=query.to(move),
            query_present=(query != vocab.PAD).to(move),
            allowed=allowed.to(move),
        )

    def embed(self, batch: Batch) -> Tensor:
        """Input vectors "batch token dim"."""
        return self.embedding(batch.ids)

    def embed_query(self, batch: Batch) -> Tensor:
        """Input vectors of the query, "batch query_token dim"."""
        return self.embedding(batch.query_ids)

    def states(self, batch: Batch, embedding: Tensor | None = None) -> Tensor:
        """What the encoder makes of the text, "batch token dim"."""
        return self.encoder(self.embed(batch) if embedding is None else embedding, batch.present)

    def states_without(self, batch: Batch, left: Tensor) -> Tensor:
        """The states of the one text in the batch without the tokens that are not `left` ("deletion token"), closed up,
        "deletion kept_token dim"; without a graph.
        """
        with torch.no_grad():
            return self.encoder.without(self.embed(batch)[0], left)

    def remembered(self, batch: Batch) -> Tensor:
        """The states of a batch without a graph, from the cache where the model has one; not to be written into."""
        if self.cache is None:
            with torch.no_grad():
                return self.states(batch)
        texts = tuple(example.text for example in batch.examples)
        key = (self.card.name, self.card.weights_sha256, str(self.decoder.weight.dtype), texts)
        return self.cache.get(key, lambda: self.states(batch))

    def query_vector(self, batch: Batch, embedding: Tensor | None = None) -> Tensor:
        """What attention looks for, "batch dim": one learned vector, or the mean state of the query.

        `embedding` replaces the input vectors of the query.
        """
        if self.card.task.kind == "classification":
            return self.query.expand(len(batch.examples), -1)
        states = self.query_encoder(self.embed_query(batch) if embedding is None else embedding, batch.query_present)
        weight = batch.query_present[..., None].to(states.dtype)
        return (states * weight).sum(1) / weight.sum(1).clamp(min=1)

    def bias(self, batch: Batch, query: Tensor) -> Tensor:
        """What the logits are without any context, "batch label"; minus infinity where a label may not be
        answered."""
        bias = self.decoder.bias.expand(len(batch.examples), -1)
        if self.card.task.kind != "classification":
            bias = bias + self.query_bias(query)
        return bias.masked_fill(~batch.allowed, -torch.inf)

    def attend(self, batch: Batch, states: Tensor, query: Tensor) -> Tensor:
        """The model's own weights, "batch head query key"."""
        weights = NORMALIZERS[self.card.normalizer](self.score(states, query), batch.mask)
        return weights[:, None, None, :]

    def run(
        self,
        batch: Batch,
        *,
        embedding: Tensor | None = None,
        intervene: Intervention = keep,
        states: Tensor | None = None,
        query_embedding: Tensor | None = None,
    ) -> Run:
        """One forward pass. `states` may bring what the encoder made of this batch before."""
        states = self.states(batch, embedding) if states is None else states
        query = self.query_vector(batch, query_embedding)
        attention = intervene(0, self.attend(batch, states, query))
        logits = self._logits(attention, states, self.bias(batch, query))
        return Run(logits, attention[:, None], states[:, None, None], states[:, None])

    def readout(self, batch: Batch, states: Tensor | None = None) -> Readout:
        """Logits "batch label" under an intervention; encoder, query and the model's own attention are computed
        once."""
        with torch.no_grad():
            states = self.remembered(batch) if states is None else states
            query = self.query_vector(batch)
            attention, bias = self.attend(batch, states, query), self.bias(batch, query)

        def read(layer: int, intervene: Intervention) -> Tensor:
            if layer != 0:
                raise ValueError(f"This model has one attention layer, 0; {layer} was asked for.")
            return self._logits(intervene(0, attention), states, bias)

        return read

    def _logits(self, attention: Tensor, states: Tensor, bias: Tensor) -> Tensor:
        context = torch.einsum("bk,bkd->bd", attention[:, 0, 0], states)
        return nn.functional.linear(context, self.decoder.weight) + bias


def cut(example: Example, task: Task, limit: int) -> Example:
    """The example with at most `limit` words: the first of a text, the last of a story (where its answer lies)."""
    n = len(example.text)
    start = max(0, n - limit) if task.kind == "qa" else 0
    if n <= limit and len(example.query) <= limit:
        return example
    evidence = tuple(e - start for e in example.evidence if start <= e < start + limit)
    text, query = example.text[start : start + limit], example.query[:limit]
    return dataclasses.replace(example, text=text, query=query, evidence=evidence)


def build(card: Card, vocabulary: Vocabulary, seed: int, embedding_std: float = 1.0) -> Classifier:
    """A classifier with fresh weights that depend on the seed alone (Glorot for matrices, zero for biases)."""
    with torch.device("meta"):
        model = Classifier(card, vocabulary)
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
