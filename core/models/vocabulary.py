"""Words or subwords to ids and back, with the word that each id came from.

Both kinds are a `tokenizers` file: English has one id per word (lower case; a word with a digit in it is one symbol,
as in Jain & Wallace's preprocessing), Korean has pieces that are merged to words again wherever they are shown. What
was seen once in training is left out, so that the unknown symbol is trained and a checkpoint stays small.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tokenizers import Regex, Tokenizer, models, normalizers, trainers

PAD, UNKNOWN, START, END = range(4)
SPECIALS = ("[PAD]", "[UNK]", "[BOS]", "[EOS]")
UNKNOWNS = (SPECIALS[UNKNOWN], "<unk>")  # what tokenizers call it
NUMBER = "qqq"


@dataclass(frozen=True)
class Vocabulary:
    """A tokenizer with the checksum of its file."""

    tokenizer: Tokenizer
    sha256: str

    @property
    def size(self) -> int:
        """How many ids there are, special ones included."""
        return self.tokenizer.get_vocab_size()


def ids(vocabulary: Vocabulary, words: Sequence[str]) -> tuple[list[int], list[int]]:
    """The ids of the words, and for each id the index of its word."""
    if not words:
        return [], []
    encoding = vocabulary.tokenizer.encode(list(words), is_pretokenized=True, add_special_tokens=False)
    return encoding.ids, [word if word is not None else -1 for word in encoding.word_ids]


def unknown(vocabulary: Vocabulary, words: Sequence[str]) -> tuple[bool, ...]:
    """For each word, whether the model has never learned any part of it."""
    parts: list[list[int]] = [[] for _ in words]
    for part, word in zip(*ids(vocabulary, words), strict=True):
        parts[word].append(part)
    strange = {vocabulary.tokenizer.token_to_id(name) for name in UNKNOWNS}
    return tuple(strange.issuperset(word) for word in parts)


def build_words(texts: Iterable[Sequence[str]], *, limit: int, min_count: int = 2) -> Vocabulary:
    """A vocabulary with one id per word: the `limit` most frequent of those seen at least `min_count` times."""
    normalizer = normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace(Regex(r"^.*\d.*$"), NUMBER)])
    counts = Counter(normalizer.normalize_str(word) for text in texts for word in text)
    kept = [word for word, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if n >= min_count][:limit]
    table = {word: index for index, word in enumerate((*SPECIALS, *kept))}
    tokenizer = Tokenizer(models.WordLevel(table, unk_token=SPECIALS[UNKNOWN]))
    tokenizer.normalizer = normalizer
    return stamped(tokenizer)


def build_symbols(texts: Iterable[Sequence[str]], *, limit: int, min_count: int = 2) -> Vocabulary:
    """A vocabulary of words or letters as they are written, case and digits kept: the `limit` most frequent of those seen at
    least `min_count` times."""
    counts = Counter(symbol for text in texts for symbol in text)
    kept = [symbol for symbol, n in sorted(counts.items(), key=lambda item: (-item[1], item[0])) if n >= min_count][:limit]
    table = {symbol: index for index, symbol in enumerate((*SPECIALS, *kept))}
    return stamped(Tokenizer(models.WordLevel(table, unk_token=SPECIALS[UNKNOWN])))


def build_pieces(texts: Sequence[Sequence[str]], *, limit: int, min_count: int = 2) -> Vocabulary:
    """A subword vocabulary (WordPiece) of at most `limit` pieces, without those that the training texts use only
    once."""
    draft = Tokenizer(models.WordPiece(unk_token=SPECIALS[UNKNOWN], max_input_chars_per_word=60))
    draft.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Lowercase()])
    trainer = trainers.WordPieceTrainer(
        vocab_size=limit,
        min_frequency=min_count,
        special_tokens=list(SPECIALS),
        limit_alphabet=2000,
        show_progress=False,
    )
    draft.train_from_iterator((word for text in texts for word in text), trainer)
    counts: Counter[str] = Counter()
    for encoding in draft.encode_batch([list(text) for text in texts], is_pretokenized=True, add_special_tokens=False):
        counts.update(encoding.tokens)
    by_id = sorted(draft.get_vocab(), key=draft.get_vocab().__getitem__)
    kept = [piece for piece in by_id if piece not in SPECIALS and counts[piece] >= min_count]
    table = {piece: index for index, piece in enumerate((*SPECIALS, *kept))}
    tokenizer = Tokenizer(models.WordPiece(table, unk_token=SPECIALS[UNKNOWN], max_input_chars_per_word=60))
    tokenizer.normalizer = draft.normalizer
    return stamped(tokenizer)


def save(vocabulary: Vocabulary, path: Path) -> None:
    """Writes the tokenizer file whose checksum the vocabulary carries."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(vocabulary.tokenizer.to_str(), encoding="utf-8")


def load(path: Path) -> Vocabulary:
    """The vocabulary in a file."""
    return stamped(Tokenizer.from_str(path.read_text(encoding="utf-8")))


def stamped(tokenizer: Tokenizer) -> Vocabulary:
    """The vocabulary of a tokenizer."""
    return Vocabulary(tokenizer, hashlib.sha256(tokenizer.to_str().encode("utf-8")).hexdigest())
