"""The classifier of the debate: embed, encode, score, normalize, intervene, decode.

    e = E[x]    h = Encoder(e)    α = softmax(score(h, q))    c = Σ αₜ hₜ    logits = W c + b(q)

The decoder is linear in the context c, for question answering and inference too, where the query enters as a bias.
The papers put a tanh there; without it, the effect of any attention on the logits is Σ αₜ W hₜ, which is what makes
the exact adversary and the spotlight in the browser possible. Accuracies stand on the cards. After Jain & Wallace
2019, §2.
"""

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor, nn

from core.device import StateCache
from core.interventions import keep
from core.models.batches import repeat
from core.models.encoders import ENCODERS, kept
from core.models.scores import NORMALIZERS, SCORES
from core.models.text_model import WordModel, fresh
from core.models.vocabulary import Vocabulary
from core.types import Batch, Card, Intervention, Readout, Run


class Classifier(WordModel):
    """An `AttentionModel` with one layer, one head and one query. Read-only outside training.

    It holds no state of any run. Loaded with a `cache`, it keeps there what its encoder made of a text (`remembered`).
    """

    def __init__(self, card: Card, vocabulary: Vocabulary, cache: StateCache | None = None) -> None:
        super().__init__(card, vocabulary, cache)
        self.encoder = ENCODERS[card.encoder](card.embedding_dim, card.hidden_dim)
        dim = self.encoder.state_dim
        self.score = SCORES[card.score](dim)
        self.decoder = nn.Linear(dim, len(card.task.labels))
        if card.task.kind == "classification":
            self.query = nn.Parameter(torch.empty(dim))
        else:
            self.query_encoder = ENCODERS[card.encoder](card.embedding_dim, card.hidden_dim)
            self.query_bias = nn.Sequential(nn.Linear(dim, dim), nn.Tanh(), nn.Linear(dim, len(card.task.labels), bias=False))

    def states(self, batch: Batch, embedding: Tensor | None = None) -> Tensor:
        """What the encoder makes of the text, "batch token dim"."""
        return self.encoder(self.embed(batch) if embedding is None else embedding, batch.present)

    def remembered(self, batch: Batch) -> Tensor:
        """The states of a batch without a graph, from the cache where the model has one; not to be written into."""
        if self.cache is None:
            with torch.no_grad():
                return self.states(batch)
        texts = tuple(example.text for example in batch.examples)
        key = (self.card.name, self.card.weights_sha256, str(self.decoder.weight.dtype), texts)
        return self.cache.get(key, lambda: self.states(batch))

    def unchanged(self, batch: Batch) -> Run:
        """A run in which nothing is changed, without a graph; the states are remembered."""
        with torch.no_grad():
            return self.run(batch, states=self.remembered(batch))

    def reader(self, batch: Batch) -> Tensor:
        """The one query there is, "batch query"."""
        return torch.ones(len(batch.examples), 1, device=batch.ids.device)

    def without(self, one: Batch, words: Sequence[int]) -> Tensor:
        """Logits "deletion label" of the only example of a batch without one of its `words`, without a graph. The encoder
        computes anew only what the deletion changes."""
        left = one.present & (one.word != torch.tensor(words, device=one.word.device)[:, None])
        order, present = kept(left)
        shortened = replace(
            repeat(one, len(words)),
            ids=one.ids[0, order] * present,
            present=present,
            mask=one.mask[0, order] & present,
            word=one.word[0, order].masked_fill(~present, -1),
        )
        with torch.no_grad():
            return self.run(shortened, states=self.encoder.without(self.embed(one)[0], left)).logits

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


def marked(batch: Batch) -> Tensor:
    """The tokens of the words that the examples name as evidence, "batch token"."""
    found = torch.zeros_like(batch.mask)
    for row, example in enumerate(batch.examples):
        if example.evidence:
            found[row] = torch.isin(batch.word[row], torch.tensor(example.evidence, device=batch.word.device))
    return found


def build(card: Card, vocabulary: Vocabulary, seed: int, embedding_std: float = 1.0) -> Classifier:
    """A classifier with fresh weights that depend on the seed alone."""
    return fresh(Classifier, card, vocabulary, seed, embedding_std)
