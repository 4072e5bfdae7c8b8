"""From a text to another one: a bidirectional GRU reads, a decoder with attention writes (Bahdanau, Cho and Bengio 2015).

    h_j = [→h_j ; ←h_j]    the annotation of word j knows the whole sentence, most of all the neighborhood of j

The same model reads sentences word by word and dates letter by letter; its card says which. Committed translators lie beside
the classifiers, as a card (`translator.json`), the two vocabularies and a safetensors file whose checksums must agree.
"""

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from core.interventions import keep
from core.models import vocabulary as vocab
from core.models.decoder import ATTENTIONS, NEVER, Decoded, Decoder, Drop, Source, fresh, same
from core.models.registry import CHECKPOINTS, VOCABULARIES, WEIGHTS, folder
from core.models.vocabulary import END, PAD, Vocabulary
from core.types import Intervention, Refusal

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
    found = {}
    for path in sorted(root.glob(f"**/{CARD}")):
        card = _card(path)
        if card is not None:
            found[card.name] = card
    return found


def load(name: str, *, root: Path = CHECKPOINTS, vocabularies: Path = VOCABULARIES) -> Translator:
    """The translator of that name. Refuses an unknown name, and files that are missing, damaged or not the card's."""
    path = folder(name, root)
    known = cards(root)
    if name not in known:
        if path / CARD in root.glob(f"**/{CARD}"):
            raise _damaged("unreadable_card", name, f"its {CARD} cannot be read")
        allowed = ", ".join(known)
        raise Refusal("unknown_model", f"There is no translator {name!r}; there are {allowed}.", given=name, allowed=allowed)
    card = known[name]
    files = [*(vocabularies / f"{file}.json" for file in card.vocabularies), path / WEIGHTS]
    for file, wanted in zip(files, (*card.vocabulary_sha256, card.weights_sha256), strict=True):
        if not file.is_file():
            raise _damaged("missing_file", name, f"{file.name} is missing", file=file.name)
        if hashlib.sha256(file.read_bytes()).hexdigest() != wanted:
            raise _damaged("altered_file", name, f"{file.name} was altered: its checksum is not the card's", file=file.name)
    reads, writes = (vocab.load(file) for file in files[:2])
    try:
        with torch.device("meta"):
            model = Translator(card, reads, writes)
        tensors = load_tensors(files[2].read_bytes())
        model.load_state_dict({key: value.float() for key, value in tensors.items()}, assign=True)
    except (RuntimeError, ValueError, KeyError) as error:
        raise _damaged("unfitting_weights", name, "its weights do not fit its card") from error
    return model.requires_grad_(False)


def save(model: Translator, card: TranslatorCard, root: Path = CHECKPOINTS) -> TranslatorCard:
    """Writes the weights in half precision and the card, and returns the card with the checksum of the weights."""
    path = folder(card.name, root)
    path.mkdir(parents=True, exist_ok=True)
    content = save_tensors({k: v.detach().half().cpu().contiguous() for k, v in model.state_dict().items()})
    (path / WEIGHTS).write_bytes(content)
    card = dataclasses.replace(card, weights_sha256=hashlib.sha256(content).hexdigest())
    write_card(card, root)
    return card


def write_card(card: TranslatorCard, root: Path = CHECKPOINTS) -> None:
    """Writes a card beside its weights."""
    text = json.dumps(dataclasses.asdict(card), ensure_ascii=False, indent=1)
    (folder(card.name, root) / CARD).write_text(text + "\n", encoding="utf-8")


def _card(path: Path) -> TranslatorCard | None:
    """The card in a file; None where no translator can be built from it."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        tuples = {key: tuple(content[key]) for key in ("languages", "vocabularies", "vocabulary_sha256")}
        card = TranslatorCard(**{**content, **tuples})
    except (OSError, ValueError, TypeError, KeyError):
        return None
    sizes = (card.embedding_dim, card.hidden_dim, card.max_tokens, card.max_output)
    good = card.attention in ATTENTIONS and all(isinstance(size, int) and size > 0 for size in sizes)
    return card if good and len(card.vocabularies) == len(card.vocabulary_sha256) == 2 else None


def _damaged(code: str, name: str, what: str, **values: object) -> Refusal:
    remedy = f"Fetch the repository's file again or retrain it with `python -m core train {name}`."
    return Refusal(code, f"The checkpoint of {name!r} cannot be used: {what}. {remedy}", given=name, **values)
