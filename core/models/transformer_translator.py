"""A translator without recurrence, for comparison: the Transformer of Vaswani et al. (2017), as PyTorch has it.

About as many parameters as the GRU beside it, the same vocabularies, tied output vectors, dropout on embeddings and readouts as
there and none inside the layers. It is compared by what it writes alone: its many heads are the subject of other pages, and the
attention that its runs return is zero.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from core.interventions import keep
from core.models import vocabulary as vocab
from core.models.decoder import NEVER, Decoded, Drop, same
from core.models.translator import padded
from core.models.vocabulary import END, PAD, START, Vocabulary
from core.types import Intervention

LAYERS, HEADS, WIDTH, INNER = 2, 4, 128, 256


class TransformerTranslator(nn.Module):
    """Reads with an encoder and writes with a decoder, each of two layers."""

    def __init__(self, reads: Vocabulary, writes: Vocabulary, max_tokens: int, max_output: int) -> None:
        super().__init__()
        self.reads, self.writes, self.max_tokens, self.max_output = reads, writes, max_tokens, max_output
        self.embedding, self.output_embedding = nn.Embedding(reads.size, WIDTH), nn.Embedding(writes.size, WIDTH)
        sizes: dict[str, Any] = {"dropout": 0.0, "batch_first": True, "norm_first": True}
        inner = nn.TransformerEncoderLayer(WIDTH, HEADS, INNER, **sizes)
        outer = nn.TransformerDecoderLayer(WIDTH, HEADS, INNER, **sizes)
        self.encoder = nn.TransformerEncoder(inner, LAYERS, nn.LayerNorm(WIDTH), enable_nested_tensor=False)
        self.decoder = nn.TransformerDecoder(outer, LAYERS, nn.LayerNorm(WIDTH))
        self.bias = nn.Parameter(torch.empty(writes.size))

    def encode(self, texts: Sequence[Sequence[str]]) -> Tensor:
        """The ids of texts, "batch input"."""
        return padded([vocab.ids(self.reads, text[: self.max_tokens])[0] for text in texts])

    def targets(self, texts: Sequence[Sequence[str]]) -> Tensor:
        """The ids of what is to be written, "batch output", with the end."""
        return padded([[*vocab.ids(self.writes, text[: self.max_output - 1])[0], END] for text in texts])

    def forced(self, ids: Tensor, targets: Tensor, *, intervene: Intervention = keep, drop: Drop = same) -> Decoded:
        """The run that is told the right outputs. There is no attention to change."""
        before = torch.cat([torch.full_like(targets[:, :1], START), targets[:, :-1]], 1)
        logits = self._logits(before, self._memory(ids, drop), ids == PAD, drop)
        return Decoded(targets, logits, logits.new_zeros(*targets.shape, ids.shape[1]))

    @torch.no_grad()
    def written(self, ids: Tensor, *, intervene: Intervention = keep, never: tuple[int, ...] = NEVER) -> Decoded:
        """The run that writes by itself, the likeliest word each time."""
        memory, over = self._memory(ids, same), torch.zeros(len(ids), dtype=torch.bool, device=ids.device)
        made = torch.full_like(ids[:, :1], START)
        logits = self.bias.new_zeros(len(ids), 0, self.writes.size)
        while made.shape[1] <= self.max_output and not bool(over.all()):
            last = self._logits(made, memory, ids == PAD, same)[:, -1:]
            logits = torch.cat([logits, last], 1)
            best = last[:, 0].index_fill(-1, torch.tensor(never, device=ids.device), -torch.inf).argmax(-1)
            best = best.masked_fill(over, PAD)
            made, over = torch.cat([made, best[:, None]], 1), over | (best == END)
        return Decoded(made[:, 1:], logits, logits.new_zeros(*made[:, 1:].shape, ids.shape[1]))

    def words(self, ids: Sequence[int]) -> tuple[str, ...]:
        """What was written, without the end and padding."""
        return tuple(str(self.writes.tokenizer.id_to_token(i)) for i in ids if i not in (PAD, END))

    def _memory(self, ids: Tensor, drop: Drop) -> Tensor:
        return self.encoder(drop(_placed(self.embedding(ids))), src_key_padding_mask=ids == PAD)

    def _logits(self, before: Tensor, memory: Tensor, absent: Tensor, drop: Drop) -> Tensor:
        later = torch.ones(before.shape[1], before.shape[1], dtype=torch.bool, device=before.device).triu(1)
        states = self.decoder(
            drop(_placed(self.output_embedding(before))), memory, tgt_mask=later, memory_key_padding_mask=absent
        )
        return nn.functional.linear(drop(states), self.output_embedding.weight, self.bias)


def _placed(embedding: Tensor) -> Tensor:
    """Embeddings, scaled, with sines and cosines of their places added (Vaswani et al. 2017, §3.5)."""
    place = torch.arange(embedding.shape[1], device=embedding.device)[:, None]
    rate = 10_000 ** (-torch.arange(0, WIDTH, 2, device=embedding.device) / WIDTH)
    return embedding * WIDTH**0.5 + torch.stack([(place * rate).sin(), (place * rate).cos()], -1).flatten(1)
