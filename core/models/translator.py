"""From a text to another one: a bidirectional GRU reads, a decoder with attention writes (Bahdanau, Cho and Bengio 2015).

    h_j = [→h_j ; ←h_j]    the annotation of word j knows the whole sentence, most of all the neighborhood of j

The same model reads sentences word by word and dates letter by letter; its card says which. Committed translators lie beside
the classifiers, as a card (`translator.json`), the two vocabularies and a safetensors file whose checksums must agree.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load as load_tensors
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from core.interventions import keep
from core.models import checkpoints
from core.models import vocabulary as vocab
from core.models.checkpoints import CHECKPOINTS, VOCABULARIES, WEIGHTS, folder
from core.models.decoder import ATTENTIONS, NEVER, Decoded, Decoder, Drop, Source, fresh, same
from core.models.vocabulary import END, PAD, Vocabulary
from core.types import Intervention

CARD = "translator.json"


@dataclass(frozen=True)
class TranslatorCard:
    """What a committed translator is. `unit` is what it reads and writes, "word" or "letter"; its vocabularies are files."""

    name: str
    unit: str
    languages: tuple[str, str]
    attention: str
    reach: float
    embedding_dim: int
    hidden_dim: int
    max_tokens: int
    max_output: int
    seed: int
    vocabularies: tuple[str, str]
    vocabulary_sha256: tuple[str, str]
    weights_sha256: str
    terms: str
    parameters: int
    test: Mapping[str, Any]
    training: Mapping[str, Any]


class Translator(nn.Module):
    """Reads with a bidirectional GRU, writes with a `Decoder`; it holds no state of any run."""

    def __init__(self, card: TranslatorCard, reads: Vocabulary, writes: Vocabulary) -> None:
        super().__init__()
        self.card, self.reads, self.writes = card, reads, writes
        dim = card.hidden_dim
        self.embedding = nn.Embedding(reads.size, card.embedding_dim)
        self.gru = nn.GRU(card.embedding_dim, dim // 2, batch_first=True, bidirectional=True)
        sizes = {"embedding_dim": card.embedding_dim, "hidden_dim": dim, "input_dim": dim}
        self.decoder = Decoder(writes.size, attention=card.attention, reach=card.reach, **sizes)

    def encode(self, texts: Sequence[Sequence[str]]) -> Tensor:
        """The ids of texts, "batch input", cut to the card's `max_tokens` and padded."""
        return padded([vocab.ids(self.reads, text[: self.card.max_tokens])[0] for text in texts])

    def targets(self, texts: Sequence[Sequence[str]]) -> Tensor:
        """The ids of what is to be written, "batch output", with the end, padded."""
        return padded([[*vocab.ids(self.writes, text[: self.card.max_output - 1])[0], END] for text in texts])

    def source(self, ids: Tensor, drop: Drop = same) -> Source:
        """What the encoder makes of texts: annotations "batch input dim", and as its last state both ends, "batch dim"."""
        mask = ids != PAD
        packed = pack_padded_sequence(
            drop(self.embedding(ids)), mask.sum(-1).cpu(), batch_first=True, enforce_sorted=False
        )
        states, last = self.gru(packed)
        annotations = pad_packed_sequence(states, batch_first=True, total_length=ids.shape[1])[0]
        return self.decoder.source(drop(annotations), mask, last.transpose(0, 1).flatten(1))

    def forced(self, ids: Tensor, targets: Tensor, *, intervene: Intervention = keep, drop: Drop = same) -> Decoded:
        """The run that is told the right outputs."""
        return self.decoder.forced(self.source(ids, drop), targets, intervene=intervene, drop=drop)

    @torch.no_grad()
    def written(self, ids: Tensor, *, intervene: Intervention = keep, never: tuple[int, ...] = NEVER) -> Decoded:
        """The run that writes by itself, the likeliest word each time."""
        return self.decoder.greedy(self.source(ids), self.card.max_output, intervene=intervene, never=never)

    def words(self, ids: Sequence[int]) -> tuple[str, ...]:
        """What was written, without the end and padding."""
        return tuple(str(self.writes.tokenizer.id_to_token(i)) for i in ids if i not in (PAD, END))


def padded(rows: Sequence[Sequence[int]]) -> Tensor:
    """Rows of ids as one tensor, padding behind."""
    return nn.utils.rnn.pad_sequence([torch.tensor(row, dtype=torch.long) for row in rows], True, PAD)


def build(card: TranslatorCard, reads: Vocabulary, writes: Vocabulary) -> Translator:
    """A translator with fresh weights that depend on the card's seed alone."""
    return fresh(lambda: Translator(card, reads, writes), card.seed)


def cards(root: Path = CHECKPOINTS) -> dict[str, TranslatorCard]:
    """The card of every committed translator, by name; one that cannot be read is left out, and `load` says why."""
    return checkpoints.read_cards(root, CARD, card_from_json)


def load(name: str, *, root: Path = CHECKPOINTS, vocabularies: Path = VOCABULARIES) -> Translator:
    """The translator of that name. Refuses an unknown name, and files that are missing, damaged or not the card's."""
    card = checkpoints.pick(name, cards(root), root, CARD, "translator")
    read, written = (vocabularies / f"{file}.json" for file in card.vocabularies)
    weights = folder(name, root) / WEIGHTS
    for file, wanted in zip((read, written, weights), (*card.vocabulary_sha256, card.weights_sha256), strict=True):
        checkpoints.check(name, [file], wanted)
    with checkpoints.fitting(name):
        with torch.device("meta"):
            model = Translator(card, vocab.load(read), vocab.load(written))
        tensors = load_tensors(weights.read_bytes())
        model.load_state_dict({key: value.float() for key, value in tensors.items()}, assign=True)
    return model.requires_grad_(False)


def save(model: Translator, card: TranslatorCard, root: Path = CHECKPOINTS) -> TranslatorCard:
    """Writes the weights in half precision and the card, and returns the card with the checksum of the weights."""
    file = checkpoints.write_weights(card.name, model.state_dict(), root)
    card = dataclasses.replace(card, weights_sha256=checkpoints.digest([file]))
    write_card(card, root)
    return card


def write_card(card: TranslatorCard, root: Path = CHECKPOINTS) -> None:
    """Writes a card beside its weights."""
    checkpoints.write_card(card, root, CARD)


def card_from_json(content: dict[str, Any]) -> TranslatorCard:
    """The card that a file holds. Raises `ValueError`, `TypeError` or `KeyError` where no translator can be built from it."""
    tuples = {key: tuple(content[key]) for key in ("languages", "vocabularies", "vocabulary_sha256")}
    card = TranslatorCard(**{**content, **tuples})
    if card.attention not in ATTENTIONS:
        raise ValueError(f"{card.attention!r} is none of {', '.join(ATTENTIONS)}")
    for size in (card.embedding_dim, card.hidden_dim, card.max_tokens, card.max_output):
        if not isinstance(size, int) or size < 1:
            raise ValueError(f"{size!r} is no size")
    if not len(card.vocabularies) == len(card.vocabulary_sha256) == 2:
        raise ValueError(f"{card.vocabularies!r} are not two vocabularies")
    return card
