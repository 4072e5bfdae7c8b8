"""The page's own small numbers in each language, for readers to begin with: words, vectors, scores.

Their sizes are chosen, nothing is trained: each example is made so that one thing is seen. The words are those of the language,
the numbers are the same.
"""

from dataclasses import dataclass

import torch

from core.mechanism import Head
from dashboard.mechanism.numbers import Table

QUERY = (0.0, 2.0)
REVIEW = {"en": ("slow", "but", "lovely", "film"), "ko": ("느린데", "그래도", "예쁜", "영화")}
KEYS_AND_VALUES = ((0.2, 1.0, 0.0, 1.0), (0.0, 0.2, 0.0, 0.0), (0.1, 1.5, 1.0, 0.0), (2.0, 0.0, 0.2, 0.0))

SENTENCE = {"en": ("the", "dog", "saw", "itself"), "ko": ("그", "개가", "보았다", "자신을")}
FEATURES = ((0.0, 0.0, 0.0), (2.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 2.0))  # thing, action, pointer

SOURCE = {
    "en": "the tall boy opens a red umbrella and the small boy closes a blue umbrella",
    "ko": "키가 큰 아이가 빨간 우산을 펴고 키가 작은 아이가 파란 우산을 접는다",
}
SOUGHT = {"en": "umbrella", "ko": "우산을"}  # what the score looks for; it stands in the sentence twice
ALIKE = {"en": ("red", "blue", "opens", "closes"), "ko": ("빨간", "파란", "펴고", "접는다")}  # what it half suits


@dataclass(frozen=True)
class Doubt:
    """Weights and what each word hands over, in which the largest weight is not what decides."""

    words: dict[str, tuple[str, ...]]
    weights: tuple[float, ...]
    values: tuple[float, ...]


DOUBTS = {
    "zero": Doubt(
        {"en": ("this", "film", "is", "boring"), "ko": ("이", "영화는", "정말", "지루하다")},
        (0.05, 0.70, 0.05, 0.20),
        (0.0, 0.1, 0.0, -2.0),
    ),
    "cancel": Doubt(
        {"en": ("brilliant", "but", "awful", "short"), "ko": ("빛나는", "하지만", "끔찍한", "짧은")},
        (0.43, 0.02, 0.43, 0.12),
        (2.0, 0.0, -2.0, -1.5),
    ),
}


def review(lang: str) -> Table:
    """The words of the first chapter, each with a key and a value of two numbers."""
    return Table(REVIEW[lang], KEYS_AND_VALUES)


def sentence(lang: str) -> Table:
    """The words that ask each other, each as three numbers."""
    return Table(SENTENCE[lang], FEATURES)


def source(lang: str) -> tuple[tuple[str, ...], torch.Tensor]:
    """A sentence with a word that stands in it twice, and scores that only see what a word is: "token"."""
    words, sought, alike = SOURCE[lang].split(), SOUGHT[lang], ALIKE[lang]
    scores = [3.0 if word == sought else 1.0 if word in alike else 0.0 for word in words]
    return tuple(words), torch.tensor(scores, dtype=torch.float64)


def heads() -> list[Head]:
    """Two heads over (thing, action, pointer): in the first things and actions ask for each other, in the second pointers ask
    for things and things for pointers. What a head does not ask or offer is zero.
    """
    return [
        head(query=[[0, 1], [1, 0], [0, 0]], key=[[1, 0], [0, 1], [0, 0]], value=[[1, 0], [0, 1], [0, 0]]),
        head(query=[[0, 1], [0, 0], [1, 0]], key=[[1, 0], [0, 0], [0, 1]], value=[[1, 0], [0, 0], [0, 1]]),
    ]


def head(**maps: list[list[int]]) -> Head:
    """A head from its three maps, "dim inner"."""
    return Head(**{name: torch.tensor(rows, dtype=torch.float64) for name, rows in maps.items()})
