"""Dates: every spelling is read back by hand, days of the test are in no spelling of the training, and doubts are said."""

import datetime

import pytest

from core import dates
from core.types import Pair

DAY = datetime.date(1998, 3, 3)


def test_spellings_by_hand() -> None:
    english = {spell(DAY) for spell in dates.ENGLISH}
    assert {"3 March 1998", "3rd of March 1998", "March 3, 1998", "Tuesday, 3 March 1998", "the third of March 1998"} <= english
    korean = {spell(DAY) for spell in dates.KOREAN}
    assert {"1998년 3월 3일", "1998년 3월 3일 화요일", "1998. 3. 3.", "1998. 3. 3.(화)", "1998년 삼월 3일"} <= korean
    assert {"3 March '98", "'98. 3. 3.", "98년 3월 3일"} <= {spell(DAY) for spell in dates.SHORT}


@pytest.mark.parametrize(
    ("day", "written"), [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (13, "13th"), (22, "22nd")]
)
def test_english_ordinals(day: int, written: str) -> None:
    assert dates.ENGLISH[1](datetime.date(2000, 1, day)) == f"{written} of January 2000"


def test_no_spelling_means_two_days_of_one_year() -> None:
    """All days of a year in all spellings: what is written alike is the same day."""
    days = [datetime.date(2003, 1, 1) + datetime.timedelta(n) for n in range(365)]
    meant: dict[str, datetime.date] = {}
    for day in days:
        for spell in (*dates.ENGLISH, *dates.KOREAN, *dates.SHORT):
            assert meant.setdefault(spell(day), day) == day


@pytest.fixture(scope="module")
def parts() -> dict[str, list[Pair]]:
    return {split: dates.pairs(split) for split in dates.SIZES}


def test_the_days_of_the_test_were_never_seen(parts: dict[str, list[Pair]]) -> None:
    days = {split: {pair.target for pair in made} for split, made in parts.items()}
    assert not days["train"] & days["test"] and not days["train"] & days["validation"]
    assert {split: len(made) for split, made in parts.items()} == dates.SIZES
    assert dates.pairs("validation") == parts["validation"]
    assert {len(pair.target) for pair in parts["test"]} == {10}


@pytest.mark.parametrize(
    ("text", "written", "codes"),
    [
        ("3 March 1998", "1998-03-03", []),
        ("hello", "1998-03-03", ["no_digits"]),
        ("3/4/1998", "1998-04-03", ["two_days"]),
        ("1998/3/4", "1998-03-04", []),
        ("31 February 1998", "1998-02-31", ["no_date"]),
        ("?", "19", ["no_digits", "no_date"]),
    ],
)
def test_doubts_are_said(text: str, written: str, codes: list[str]) -> None:
    assert [note.code for note in dates.notes(text, written)] == codes
