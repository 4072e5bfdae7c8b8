"""Numbers that a reader edits: what is kept, what is said, and that the link carries them there and back."""

import math

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as some

from core.types import Refusal
from dashboard.mechanism import numbers
from dashboard.mechanism.numbers import Table, cleaned, code_of, codes, edited, frame_of, table_of, vector_codes

TABLE = Table(("slow", "film"), ((0.25, -1.0, 0.0), (2.0, 0.0, 4.5)))
COLUMNS = ("a", "b", "c")


def frame() -> pd.DataFrame:
    return frame_of(TABLE, COLUMNS)


def notes(found: pd.DataFrame) -> list[str]:
    return [note.code for note in cleaned(found)[1]]


def test_a_table_survives_its_code() -> None:
    assert code_of(TABLE) == "slow,0.25,-1,0;film,2,0,4.5"
    assert table_of(code_of(TABLE)) == TABLE
    assert code_of(TABLE) in codes(3) and code_of(TABLE) not in codes(2)


@given(
    some.lists(
        some.tuples(some.text(max_size=30), *[some.floats(allow_nan=True, allow_infinity=True) | some.none()] * 2),
        min_size=1,
        max_size=9,
    )
)
def test_whatever_is_typed_becomes_a_code_or_a_refusal(rows: list[tuple[str, float, float]]) -> None:
    typed = pd.DataFrame(rows, columns=[numbers.WORD, "a", "b"], dtype=object)
    try:
        table, _ = cleaned(typed)
    except Refusal as refusal:
        assert refusal.code == "no_rows"
        return
    assert code_of(table) in codes(2)
    assert table_of(code_of(table)) == table


@pytest.mark.parametrize(
    "code",
    ["", "slow,1,2", "a b,-0.5,5;c,0,0", "단어,1,-5.00", "1,1,1;" * 5 + "1,1,1"],
)
def test_codes_that_are_tables(code: str) -> None:
    assert code in codes(2)


@pytest.mark.parametrize(
    "code",
    ["slow,1", "slow,1,2,3", "slow,x,2", "slow,6,2", "slow,1e3,2", "slow,5.01,2", ",1,2", "a" * 13 + ",1,2",
     "1,1,1;" * 6 + "1,1,1", "slow,nan,2", "slow,inf,2", "slow,0.123,2", "slow,1,2;"],
)  # fmt: skip
def test_codes_that_are_none(code: str) -> None:
    assert code not in codes(2)


def test_a_vector_has_a_code_too() -> None:
    assert "0,2" in vector_codes(2) and "-1.5,0.25" in vector_codes(2)
    assert "1" not in vector_codes(2) and "1,2,3" not in vector_codes(2) and "a,2" not in vector_codes(2)


def test_changes_of_the_editor_are_applied() -> None:
    changes = {
        "edited_rows": {0: {"b": 3.0}, "1": {numbers.WORD: "movie"}},
        "added_rows": [{numbers.WORD: "new", "a": 1.0, "b": 1.0, "c": 1.0}, {numbers.WORD: "half", "a": 2.0}],
        "deleted_rows": [],
    }
    table, told = cleaned(edited(frame(), changes))
    assert table == Table(("slow", "movie", "new"), ((0.25, 3.0, 0.0), (2.0, 0.0, 4.5), (1.0, 1.0, 1.0)))
    assert [note.code for note in told] == ["missing_number"]
    assert cleaned(edited(frame(), {"deleted_rows": [0]}))[0].words == ("film",)
    assert cleaned(edited(frame(), {}))[0] == TABLE


def test_an_empty_row_and_a_missing_number_are_said_and_left_out() -> None:
    typed = pd.concat([frame(), pd.DataFrame([["", None, None, None], ["gap", 1.0, None, 2.0]], columns=frame().columns)])
    assert cleaned(typed)[0] == TABLE
    assert notes(typed) == ["empty_row", "missing_number"]


@pytest.mark.parametrize("value", ["three", "", None, math.nan])
def test_what_is_no_number_is_missing(value: object) -> None:
    typed = frame().astype(object)
    typed.loc[0, "a"] = value
    assert cleaned(typed)[0].words == ("film",)
    assert notes(typed) == ["missing_number"]


@pytest.mark.parametrize("value", [1e300, -7.0, math.inf, 5.004])
def test_huge_numbers_are_brought_back(value: float) -> None:
    typed = frame()
    typed.loc[0, "a"] = value
    assert cleaned(typed)[0].rows[0][0] == math.copysign(numbers.LARGEST, value)
    assert notes(typed) == ["too_large"]


def test_rows_beyond_the_last_are_said() -> None:
    typed = pd.concat([frame()] * 4, ignore_index=True)
    assert len(cleaned(typed)[0].words) == numbers.MOST
    assert notes(typed) == ["too_many_rows"]


def test_a_table_without_a_usable_row_is_refused() -> None:
    with pytest.raises(Refusal) as refused:
        cleaned(pd.DataFrame([["", None], ["word", "x"]], columns=[numbers.WORD, "a"]))
    assert refused.value.code == "no_rows"


@pytest.mark.parametrize(
    ("word", "kept"),
    [
        ("a;b,c", "a b c"),
        ("", "1"),
        (None, "1"),
        ("   ", "1"),
        ("x" * 40, "x" * 12),
        ("two\nlines", "twolines"),
        ("<b>", "<b>"),
    ],
)
def test_a_word_can_stand_in_a_code(word: object, kept: str) -> None:
    assert numbers.word_of(word, 1) == kept
