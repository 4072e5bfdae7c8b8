"""A small table of numbers that a reader edits: words down the side, a vector each; it travels in the link.

The code of a table is its rows with `;` between them, each a word and its numbers with `,` between them
(`slow,0.2,1;film,2,0`). What cannot be used is said and left out: an empty row, a number that is missing, a row too many.
Numbers beyond LARGEST are brought back to it, so that every step can be written out.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from core.types import Note, Refusal
from dashboard.codes import Codes

LARGEST = 5.0  # of a number, either way
MOST, LONGEST = 6, 12  # rows, and letters of a word
NUMBER = r"-?(?:[0-4](?:\.\d{1,2})?|5(?:\.00?)?)"
WORD = "word"  # the name of the first column


@dataclass(frozen=True)
class Table:
    """Words with a vector each."""

    words: tuple[str, ...]
    rows: tuple[tuple[float, ...], ...]


def codes(columns: int) -> Codes:
    """The codes of tables with so many numbers a row; the default is the page's own example."""
    row = rf"[^;,]{{1,{LONGEST}}}(?:,{NUMBER}){{{columns}}}"
    example = ",".join(["slow", *map(str, range(columns))])
    return Codes(rf"{row}(?:;{row}){{0,{MOST - 1}}}", "", example)


def vector_codes(columns: int) -> Codes:
    """The codes of a single vector without a word."""
    return Codes(rf"{NUMBER}(?:,{NUMBER}){{{columns - 1}}}", "", ",".join(map(str, range(columns))))


def code_of(table: Table) -> str:
    """A table as a code."""
    return ";".join(",".join([word, *map(short, row)]) for word, row in zip(table.words, table.rows, strict=True))


def table_of(code: str) -> Table:
    """The table of a code."""
    rows = [row.split(",") for row in code.split(";")]
    return Table(tuple(row[0] for row in rows), tuple(tuple(map(float, row[1:])) for row in rows))


def short(number: float) -> str:
    """A number with at most two decimals and no zeros behind them."""
    return f"{round(number, 2) + 0.0:g}"


def frame_of(table: Table, columns: Sequence[str]) -> pd.DataFrame:
    """A table as it is edited."""
    frame = pd.DataFrame([list(row) for row in table.rows], columns=list(columns), dtype=float)
    frame.insert(0, WORD, list(table.words))
    return frame


def edited(frame: pd.DataFrame, changes: Mapping[str, Any]) -> pd.DataFrame:
    """A frame with what `st.data_editor` keeps of the reader's changes: cells, rows deleted, rows added."""
    found = frame.copy()
    for row, cells in changes.get("edited_rows", {}).items():
        for column, value in cells.items():
            found.loc[int(row), column] = value
    found = found.drop(index=[row for row in changes.get("deleted_rows", []) if row in found.index])
    added = pd.DataFrame(list(changes.get("added_rows", [])), columns=list(frame.columns))
    return pd.concat([found, added.astype(object)], ignore_index=True) if len(added) else found.reset_index(drop=True)


def cleaned(frame: pd.DataFrame) -> tuple[Table, tuple[Note, ...]]:
    """The rows that can be used, and a note for what was left out or changed. Refuses a table without a usable row."""
    words: list[str] = []
    rows: list[tuple[float, ...]] = []
    notes: dict[str, Note] = {}
    for place, record in enumerate(frame.to_dict("records"), 1):
        given = [number_of(value) for name, value in record.items() if name != WORD]
        word = word_of(record[WORD], place)
        if all(value is None for value in given):
            notes["empty_row"] = Note("empty_row", f"Row {place} has no number; it is left out.", {"row": place})
        elif any(value is None for value in given):
            sentence = f"Row {place} ({word}) lacks a number; it is left out."
            notes["missing_number"] = Note("missing_number", sentence, {"row": place, "word": word})
        elif len(rows) == MOST:
            sentence = f"The table has {len(frame)} rows; the first {MOST} are used."
            notes["too_many_rows"] = Note("too_many_rows", sentence, {"given": len(frame), "allowed": MOST})
        else:
            kept = tuple(min(max(value, -LARGEST), LARGEST) for value in given if value is not None)
            if any(value is not None and abs(value) > LARGEST for value in given):
                sentence = f"Numbers go from {-LARGEST:g} to {LARGEST:g}; what lies beyond is brought back."
                notes["too_large"] = Note("too_large", sentence, {"allowed": f"{LARGEST:g}"})
            words.append(word)
            rows.append(tuple(round(value, 2) for value in kept))
    if not rows:
        raise Refusal("no_rows", "The table has no row with all its numbers; at least one is needed.")
    return Table(tuple(words), tuple(rows)), tuple(notes.values())


def number_of(value: object) -> float | None:
    """A cell as a number; None where it is empty or no number."""
    try:
        number = float(str(value))
    except ValueError:
        return None
    return None if math.isnan(number) else number


def word_of(value: object, place: int) -> str:
    """A cell as a word that a code can hold; its row's number where it is blank."""
    text = "" if value is None or (isinstance(value, float) and math.isnan(value)) else str(value)
    word = re.sub(r"[;,\s]+", " ", "".join(c for c in text if c.isprintable())).strip()[:LONGEST].strip()
    return word or str(place)
