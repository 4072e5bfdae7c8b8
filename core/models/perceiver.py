"""What models share that write what they see or hear: a card, an encoder from signals to annotations, and the decoder.

`captioner` sees pictures and writes words, `listener` hears sounds and writes letters. What they can write is a short list and
stands on the card, so they need no vocabulary file.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import torch
from torch import Tensor, nn

from core.interventions import keep
from core.models.decoder import Decoded, Decoder, Drop, Source, same
from core.models.vocabulary import END, PAD, SPECIALS
from core.types import Intervention


@dataclass(frozen=True)
class PerceiverCard:
    """What a committed perceiver is: its `sense` ("scene" or "sound"), the `words` that it writes, how many at most."""

    name: str
    sense: str
    language: str
    words: tuple[str, ...]
    embedding_dim: int
    hidden_dim: int
    max_output: int
    parameters: int
    seed: int
    weights_sha256: str
    terms: str
    test: Mapping[str, Any]
    training: Mapping[str, Any]


class Perceiver(nn.Module, ABC):
    """Signals to annotations, annotations to words. Read-only outside training; it holds no state of any run."""

    decoder: Decoder

    def __init__(self, card: PerceiverCard, input_dim: int) -> None:
        super().__init__()
        self.card = card
        tokens = len(SPECIALS) + len(card.words)
        self.decoder = Decoder(tokens, embedding_dim=card.embedding_dim, hidden_dim=card.hidden_dim, input_dim=input_dim)

    @abstractmethod
    def source(self, signals: Sequence[Tensor]) -> Source:
        """What the decoder looks at, for pictures or spectrograms."""

    def targets(self, texts: Sequence[Sequence[str]]) -> Tensor:
        """The ids of what is to be written, "batch output", with the end, padded."""
        index = {word: len(SPECIALS) + i for i, word in enumerate(self.card.words)}
        rows = [torch.tensor([*(index[word] for word in text), END]) for text in texts]
        return nn.utils.rnn.pad_sequence(rows, True, PAD)

    def forced(
        self, signals: Sequence[Tensor], targets: Tensor, *, intervene: Intervention = keep, drop: Drop = same
    ) -> Decoded:
        """The run that is told the right words."""
        return self.decoder.forced(self.source(signals), targets, intervene=intervene, drop=drop)

    def written(self, signals: Sequence[Tensor], *, intervene: Intervention = keep) -> Decoded:
        """The run that writes by itself, the likeliest word each time."""
        return self.decoder.greedy(self.source(signals), self.card.max_output, intervene=intervene)

    def words(self, ids: Sequence[int]) -> tuple[str, ...]:
        """What was written, without the end and padding; what is no word, in brackets."""
        known = (*SPECIALS, *self.card.words)
        return tuple(known[i] for i in ids if i not in (PAD, END))

    def copied(self) -> Self:
        """A perceiver of its own with these weights."""
        with torch.device("meta"):
            twin = type(self)(self.card)  # type: ignore[call-arg]
        twin.load_state_dict({k: v.detach().clone() for k, v in self.state_dict().items()}, assign=True)
        return twin.requires_grad_()
