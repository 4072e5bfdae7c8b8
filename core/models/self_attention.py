"""One layer of a Transformer, small enough that its heads overlook something on every longer sentence.

    x = E[w] + position    A_h = softmax(Q_h K_hᵀ / √m)    T_h = (x W_h + b_h) O_h
    logits = W mean(norm(x + Σ_h A_h T_h + o)) + c

Every word attends to every word, in several heads. A head's output, A T, is all that the rest of the model ever sees of its
attention A; T has one row per word and, however long the sentence, at most m independent ones, m being the head size (8 here,
64 in BERT). `core.debate.identifiability` asks what follows from that. After Vaswani et al. 2017, §3.2, without their
feed-forward part; the mean runs over the words.
"""

import torch
from torch import Tensor, nn

from core.device import StateCache
from core.interventions import keep
from core.models.scores import NORMALIZERS
from core.models.text_model import MultiHead, WordModel
from core.models.vocabulary import Vocabulary
from core.types import Batch, Card, Intervention, Readout, Run

NAME, HEADS = "self-attention", 8


class SelfAttention(WordModel, MultiHead):
    """An `AttentionModel` with one layer and the card's heads, in which `hidden_dim` numbers are shared out among the heads."""

    def __init__(self, card: Card, vocabulary: Vocabulary, cache: StateCache | None = None) -> None:
        super().__init__(card, vocabulary, cache)
        dim, inner = card.embedding_dim, card.hidden_dim
        self.query, self.key, self.value = (nn.Linear(dim, inner) for _ in range(3))
        self.output = nn.Linear(inner, dim)
        self.decoder = nn.Linear(dim, len(card.task.labels))

    def output_map(self, layer: int) -> Tensor:
        """What carries each head's values into the state, "head dim state": value @ output_map is T."""
        return self.output.weight.T.unflatten(0, (self.card.heads, self.head_size))

    def attended(self, batch: Batch) -> Tensor:
        """The words, "batch token"."""
        return batch.mask

    def pieces(self, batch: Batch) -> list[list[str]]:
        """The word of each attended token, as it was written."""
        rows = zip(batch.examples, batch.word, batch.mask, strict=True)
        return [[example.text[i] for i in word[here].tolist()] for example, word, here in rows]

    def states(self, batch: Batch, embedding: Tensor | None = None) -> Tensor:
        """Input vectors with their positions, "batch token dim"."""
        vectors = self.embed(batch) if embedding is None else embedding
        return vectors + positions(vectors.shape[1], vectors.shape[2]).to(vectors)

    def attend(self, batch: Batch, states: Tensor) -> Tensor:
        """The model's own weights, "batch head query key"; rows sum to one over the words."""
        query, key = self._heads(self.query(states)), self._heads(self.key(states))
        scores = query @ key.transpose(-1, -2) / self.head_size**0.5
        return NORMALIZERS[self.card.normalizer](scores, batch.mask[:, None, None])

    def run(
        self,
        batch: Batch,
        *,
        embedding: Tensor | None = None,
        intervene: Intervention = keep,
        states: Tensor | None = None,
        query_embedding: Tensor | None = None,
    ) -> Run:
        """One forward pass. `states` may bring the input vectors with their positions; there is no query to replace."""
        states = self.states(batch, embedding) if states is None else states
        value = self._heads(self.value(states))
        attention = intervene(0, self.attend(batch, states))
        return Run(self._logits(batch, attention, value, states), attention[:, None], value[:, None], states[:, None])

    def reader(self, batch: Batch) -> Tensor:
        """The words share alike in the mean that is decoded, "batch query"."""
        return batch.mask / batch.mask.sum(-1, keepdim=True).clamp(min=1)

    def readout(self, batch: Batch) -> Readout:
        """Logits "batch label" under an intervention; the values and the model's own attention are computed once."""
        with torch.no_grad():
            states = self.states(batch)
            value, attention = self._heads(self.value(states)), self.attend(batch, states)

        def read(layer: int, intervene: Intervention) -> Tensor:
            if layer != 0:
                raise ValueError(f"This model has one attention layer, 0; {layer} was asked for.")
            return self._logits(batch, intervene(0, attention), value, states)

        return read

    def _heads(self, vectors: Tensor) -> Tensor:
        """Vectors shared out among the heads, "batch head token dim"."""
        return vectors.unflatten(-1, (self.card.heads, self.head_size)).transpose(1, 2)

    def _logits(self, batch: Batch, attention: Tensor, value: Tensor, states: Tensor) -> Tensor:
        seen = (attention @ value).transpose(1, 2).flatten(2)
        after = nn.functional.layer_norm(states + self.output(seen), states.shape[-1:])
        words = batch.mask[..., None].to(after)
        mean = (after * words).sum(1) / words.sum(1).clamp(min=1)
        return self.decoder(mean).masked_fill(~batch.allowed, -torch.inf)


def positions(length: int, dim: int) -> Tensor:
    """Sines and cosines of the position, "token dim", a tenth as large as Vaswani et al. (2017, §3.5) have them, since our
    input vectors are small."""
    rate = 10_000.0 ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)
    angle = torch.arange(length, dtype=torch.float64)[:, None] * rate
    return 0.1 * torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :dim]
