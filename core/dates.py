"""Dates as people write them in English and Korean, and as ISO 8601 writes them: a task whose right alignment anyone can see.

Spellings that mean two days are left out or given one meaning: 3/4/1998 is the 3rd of April in London and the 4th of March in
New York, and is never generated; with dots the year tells the order, 4. 3. 1998 starts with the day and 1998. 3. 4. with the
year; a year of two digits lies between 1930 and 2029. Which days are for training, validation and test is decided by the hash
of the day, so that a tested day was never seen in any spelling.
"""

import datetime
import random
from collections.abc import Callable

from core.text import digest
from core.types import Note, Pair

FIRST, LAST = datetime.date(1900, 1, 1), datetime.date(2099, 12, 31)
CENTURY = (1930, 2029)  # the years that may be written with two digits
SIZES = {"train": 24_000, "validation": 1_000, "test": 2_000}
MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
KOREAN_DAYS = "월화수목금토일"
KOREAN_MONTHS = ("일월", "이월", "삼월", "사월", "오월", "유월", "칠월", "팔월", "구월", "시월", "십일월", "십이월")
ORDINALS = (
    *("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh", "twelfth"),
    *("thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth"),
    *(f"twenty-{x}" for x in ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")),
    *("thirtieth", "thirty-first"),
)
Day = datetime.date


def _ordinal(day: int) -> str:
    """1st, 2nd, 3rd, 4th, … 11th, 12th, 13th, … 21st."""
    return f"{day}{'th' if 10 < day < 14 else {1: 'st', 2: 'nd', 3: 'rd'}.get(day % 10, 'th')}"


def _month(d: Day) -> str:
    return MONTHS[d.month - 1]


ENGLISH: tuple[Callable[[Day], str], ...] = (
    lambda d: f"{d.day} {_month(d)} {d.year}",
    lambda d: f"{_ordinal(d.day)} of {_month(d)} {d.year}",
    lambda d: f"the {_ordinal(d.day)} of {_month(d)}, {d.year}",
    lambda d: f"{_month(d)} {d.day}, {d.year}",
    lambda d: f"{_month(d)} {_ordinal(d.day)}, {d.year}",
    lambda d: f"{_month(d)[:3]} {d.day}, {d.year}",
    lambda d: f"{d.day} {_month(d)[:3]} {d.year}",
    lambda d: f"{d.day}-{_month(d)[:3]}-{d.year}",
    lambda d: f"{DAYS[d.weekday()]}, {d.day} {_month(d)} {d.year}",
    lambda d: f"{DAYS[d.weekday()]}, {_month(d)} {_ordinal(d.day)}, {d.year}",
    lambda d: f"the {ORDINALS[d.day - 1]} of {_month(d)} {d.year}",
    lambda d: f"{_month(d)} the {ORDINALS[d.day - 1]}, {d.year}",
    lambda d: f"{d.day}. {d.month}. {d.year}",
    lambda d: f"{d.day:02}.{d.month:02}.{d.year}",
)
KOREAN: tuple[Callable[[Day], str], ...] = (
    lambda d: f"{d.year}년 {d.month}월 {d.day}일",
    lambda d: f"{d.year}년 {d.month}월 {d.day}일 {KOREAN_DAYS[d.weekday()]}요일",
    lambda d: f"{d.year}년{d.month}월{d.day}일",
    lambda d: f"{d.year}. {d.month}. {d.day}.",
    lambda d: f"{d.year}. {d.month}. {d.day}.({KOREAN_DAYS[d.weekday()]})",
    lambda d: f"{d.year}.{d.month:02}.{d.day:02}",
    lambda d: f"{d.year}/{d.month}/{d.day}",
    lambda d: f"{d.year}-{d.month:02}-{d.day:02}",
    lambda d: f"서기 {d.year}년 {d.month}월 {d.day}일",
    lambda d: f"{d.year}년 {KOREAN_MONTHS[d.month - 1]} {d.day}일",
)
SHORT: tuple[Callable[[Day], str], ...] = (  # with two digits of the year, in either language
    lambda d: f"{d.day} {_month(d)} '{d.year % 100:02}",
    lambda d: f"{_month(d)[:3]} {d.day}, '{d.year % 100:02}",
    lambda d: f"'{d.year % 100:02}. {d.month}. {d.day}.",
    lambda d: f"'{d.year % 100:02}년 {d.month}월 {d.day}일",
    lambda d: f"{d.year % 100:02}년 {d.month}월 {d.day}일",
)
CASES: tuple[Callable[[str], str], ...] = (str, str, str.lower, str.upper)


def pairs(split: str) -> list[Pair]:
    """Spellings of days with their ISO form, letter by letter, always the same ones: 24,000 for training, 1,000 for validation,
    2,000 for test, half of them English and half Korean."""
    chance = random.Random(split)
    made: list[Pair] = []
    while len(made) < SIZES[split]:
        day = FIRST + datetime.timedelta(chance.randrange((LAST - FIRST).days + 1))
        short = CENTURY[0] <= day.year <= CENTURY[1] and chance.random() < 0.25
        spelling = chance.choice(SHORT if short else chance.choice((ENGLISH, KOREAN)))
        case = chance.choice(CASES)
        if split_of(day) == split:
            made.append(Pair(f"dates-{split}-{len(made)}", tuple(case(spelling(day))), tuple(day.isoformat())))
    return made


def split_of(day: Day) -> str:
    """Where a day belongs, in all its spellings: of ten days eight for training."""
    return {8: "validation", 9: "test"}.get(digest(day.isoformat()) % 10, "train")


def notes(text: str, written: str) -> tuple[Note, ...]:
    """What to know about an answer: it is no date, the text can be read as two days, or there is nothing in it to read."""
    found = []
    if not any(letter.isdigit() for letter in text):
        found.append(Note("no_digits", "There is no digit in the text; the model writes a date whatever it is given."))
    elif _slashed(text):
        sentence = "With slashes and the year last, day and month can be either; such dates were not learned."
        found.append(Note("two_days", sentence))
    try:
        Day.fromisoformat(written)
    except ValueError:
        found.append(Note("no_date", f"What was written is no day of the calendar: {written}", {"written": written}))
    return tuple(found)


def _slashed(text: str) -> bool:
    parts = text.strip().split("/")
    return len(parts) == 3 and len(parts[0].strip()) <= 2
