"""A text that somebody typed, translated: what was read, what was written, and where each written word looked.

The text is read as the translator's data were written: captions as words of Multi30k, dates letter by letter. Blank text is
refused; what is unknown, cut off or not finished is said in a note.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core import dates, pairs
from core.interventions import keep, uniform
from core.models import vocabulary as vocab
from core.models.decoder import NEVER
from core.models.translator import Translator
from core.models.vocabulary import END, UNKNOWN
from core.types import Intervention, Note, Refusal, Weights

MOST_NAMED = 8  # unknown words that a note lists
At = Callable[[Tensor], Intervention]  # what is done to the attention over texts with this mask, "batch input"


@dataclass(frozen=True)
class Translation:
    """`attention` is "output input": a row for each written token, without the end of the sentence."""

    tokens: tuple[str, ...]
    output: tuple[str, ...]
    text: str
    attention: Tensor
    cut: int
    notes: tuple[Note, ...]


def translate(model: Translator, text: str, *, at: At = lambda mask: keep) -> Translation:
    """What the translator writes for a text, the likeliest word each time (never an unknown one), its attention changed by
    `at`. Refuses a text without a visible sign."""
    given = letters(text) if model.card.unit == "letter" else pairs.captions(text)
    if not given:
        raise Refusal("blank_text", "The text is blank; at least one word is needed.", given=text)
    tokens = given[: model.card.max_tokens]
    ids = model.encode([tokens]).to(next(model.parameters()).device)
    mask = torch.ones_like(ids, dtype=torch.bool)
    run = model.written(ids, intervene=at(mask), never=(*NEVER, UNKNOWN))
    output = model.words(run.ids[0].tolist())
    said = "".join(output) if model.card.unit == "letter" else sentence(output)
    ended = bool((run.ids[0] == END).any())
    attention = run.attention[0, : len(output)].cpu()
    found = _notes(model, text, given, tokens, said, ended)
    return Translation(tokens, output, said, attention, len(given) - len(tokens), found)


def letters(text: str) -> tuple[str, ...]:
    """The letters of a typed text: compatibility forms made plain, invisible signs and double spaces left out."""
    plain = unicodedata.normalize("NFKC", text.translate({0x2019: "'", 0x2018: "'"}))
    seen = "".join(" " if c.isspace() else c for c in plain if c.isspace() or unicodedata.category(c)[0] != "C")
    return tuple(" ".join(seen.split()))


def sentence(words: Sequence[str]) -> str:
    """Words as a written line: no space before a mark that closes."""
    return re.sub(r" ([.,!?;:)])", r"\1", " ".join(words))


def shuffled(seed: int) -> At:
    """The weights of every step dealt out anew over the words that are there; each step and each text its own order."""

    def at(mask: Tensor) -> Intervention:
        generator = torch.Generator().manual_seed(seed)
        absent = ~mask.cpu()

        def shuffle(layer: int, weights: Weights) -> Weights:
            drawn = torch.rand(absent.shape, generator=generator, dtype=torch.float64)
            order = drawn.masked_fill(absent, torch.inf).argsort(-1).to(weights.device)
            return weights.gather(-1, order[:, None, None].expand_as(weights))

        return shuffle

    return at


CHANGES: Mapping[str, At] = {"own": lambda mask: keep, "uniform": uniform, "shuffled": shuffled(0)}


def _notes(
    model: Translator, text: str, given: Sequence[str], tokens: Sequence[str], said: str, ended: bool
) -> tuple[Note, ...]:
    found, letter = [], model.card.unit == "letter"
    if len(given) > len(tokens):
        values: dict[str, object] = {"given": len(given), "limit": len(tokens), "cut": len(given) - len(tokens)}
        unit = "letters" if letter else "words"
        line = f"The text has {len(given)} {unit}; the last {values['cut']} were cut, {len(tokens)} are read."
        found.append(Note("cut_letters" if letter else "cut_last", line, values))
    strange = [w for w, missing in zip(tokens, vocab.unknown(model.reads, tokens), strict=True) if missing]
    if strange:
        listed = (" " if letter else ", ").join(list(dict.fromkeys(strange))[:MOST_NAMED])
        line = f"The model does not know {len(strange)} of the {len(tokens)}: {listed}"
        values = {"count": len(strange), "n": len(tokens), "words": listed}
        whole = len(strange) == len(tokens)
        code = ("all_unknown" if whole else "unknown_words") if not letter else "unknown_letters"
        found.append(Note(code, line, values))
    if not ended:
        limit = model.card.max_output
        found.append(Note("not_ended", f"The model did not end its sentence within {limit} tokens.", {"limit": limit}))
    return (*found, *(dates.notes("".join(tokens), said) if letter else ()))
