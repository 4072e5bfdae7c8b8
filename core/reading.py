"""From what a person typed to what a model can read, with everything said that they should know.

Blank text, a missing or unwanted query and a story without an answer are refused; text that is too long is cut,
unknown words and single words are answered with a note.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from core.models import batches
from core.models import vocabulary as vocab
from core.models.text_model import TextModel
from core.text import is_mark, words
from core.types import Card, Example, Note, Refusal

MOST_NAMED, LONGEST_NAMED = 8, 24  # words that a note names, and their letters
ROLES = {
    "classification": ("text", "query"),
    "qa": ("story", "question"),
    "nli": ("premise", "hypothesis"),
    "paraphrase": ("first sentence", "second sentence"),
}


@dataclass(frozen=True)
class Reading:
    """An example made of typed text, how many words were cut off, and what to tell the reader."""

    example: Example
    cut: int
    notes: tuple[Note, ...]


def read(model: TextModel, text: str, query: str | None = None) -> Reading:
    """The example that the model sees. Refuses what cannot be read, with what was given and what is allowed."""
    card = model.card
    all_words, asked = words(text), words(query or "")
    _check(card, text, all_words, query, asked)
    example = model.cut(Example("typed", all_words, asked))
    example = replace(example, candidates=_candidates(card, example.text))
    return Reading(example, len(all_words) - len(example.text), _notes(model, example, len(all_words), len(asked)))


def target_id(card: Card, target: str | None, predicted: int, candidates: Sequence[int] = ()) -> int:
    """The label to explain: the one named, or the predicted one. Refuses what is no label, or none of the `candidates`."""
    if target is None:
        return predicted
    labels = [card.task.labels[i] for i in candidates] or card.task.labels
    if target not in labels:
        allowed = ", ".join(labels)
        if target in card.task.labels:
            sentence = f"The story does not name {target!r}, so it cannot be the answer; it names {allowed}."
            raise Refusal("no_candidate", sentence, given=target, allowed=allowed)
        raise Refusal("unknown_label", f"{card.name} has no label {target!r}; it has {allowed}.", given=target, allowed=allowed)
    return card.task.labels.index(target)


def _check(card: Card, text: str, all_words: tuple[str, ...], query: str | None, asked: tuple[str, ...]) -> None:
    what, asks = ROLES[card.task.kind]
    if not all_words:
        raise Refusal("blank_text", f"The {what} is blank; at least one word is needed.", given=text)
    if card.task.kind == "classification" and query is not None and asked:
        raise Refusal("unexpected_query", f"{card.name} reads one text and takes no query; {query!r} was given.", given=query)
    if card.task.kind != "classification" and not asked:
        raise Refusal("missing_query", f"{card.name} needs a {asks} beside the {what}; none was given.", given=query or "")


def _candidates(card: Card, kept: tuple[str, ...]) -> tuple[int, ...]:
    if card.task.kind != "qa":
        return ()
    lowered = {word.lower() for word in kept}
    found = tuple(i for i, label in enumerate(card.task.labels) if label in lowered)
    if not found:
        allowed = ", ".join(card.task.labels)
        raise Refusal(
            "no_candidates",
            f"The story names nothing that could be the answer; {card.name} knows {allowed}.",
            allowed=allowed,
        )
    return found


def _notes(model: TextModel, example: Example, given: int, asked: int) -> tuple[Note, ...]:
    n, (text, query) = len(example.text), ROLES[model.card.task.kind]
    words = batches.words(model.encode([example]))[0]
    end = "first" if model.card.task.kind == "qa" else "last"
    notes = [*_cut(f"cut_{end}", text, given, n, end), *_cut("cut_query", query, asked, len(example.query), "last")]
    if len(words) == 1:
        notes.append(Note("one_word", "One word: nothing can be ranked, and nothing is left without it."))
    for part, tokens in (("text", example.text), ("query", example.query)):
        strange = [w for w, missing in zip(tokens, vocab.unknown(model.vocabulary, tokens), strict=True) if missing]
        if strange:
            notes += _unknown(part, strange, len(tokens))
    return tuple(notes)


def _cut(code: str, part: str, given: int, kept: int, end: str) -> list[Note]:
    if given == kept:
        return []
    sentence = f"The {part} has {given} words; the {end} {given - kept} were cut, {kept} are read."
    return [Note(code, sentence, {"given": given, "cut": given - kept, "limit": kept})]


def _unknown(part: str, strange: list[str], n: int) -> list[Note]:
    """One note where nothing is known; else words and marks apart, since some training texts have no full stop."""
    if len(strange) == n:
        sentence = f"The model knows no word of the {part} ({n}); its answer rests on their number and order alone."
        return [Note("all_unknown" if part == "text" else "all_unknown_query", sentence, {"n": n, "part": part})]
    notes = []
    marks = [word for word in strange if is_mark(word)]
    named = [word for word in strange if not is_mark(word)]
    if named:
        values = {"count": len(named), "n": n, "words": _listed(named, ", "), "part": part}
        sentence = f"The model does not know {len(named)} of the {n} words of the {part}: {values['words']}"
        notes.append(Note("unknown_words", sentence, values))
    if marks:
        values = {"count": len(marks), "n": n, "words": _listed(marks, " "), "part": part}
        sentence = f"The {part} has punctuation that the training texts lack, read as an unknown word: {values['words']}"
        notes.append(Note("unknown_marks", sentence, values))
    return notes


def _listed(words: list[str], between: str) -> str:
    """The first few different words, long ones cut."""
    different = [word if len(word) <= LONGEST_NAMED else word[: LONGEST_NAMED - 1] + "…" for word in dict.fromkeys(words)]
    return between.join([*different[:MOST_NAMED], *["…"] * (len(different) > MOST_NAMED)])
