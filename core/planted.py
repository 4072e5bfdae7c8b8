"""Sentences in which a known word decides: the project's own corpus for experiments that are trained while one watches.

Each sentence is a handful of words that say nothing about its class, with one of two deciding words planted among them. So it
is known which word a model must use, and where its attention ought to be if attention were explanation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from core.text import words
from core.types import Example, Refusal, Task

DECIDING = {"en": ("sunny", "rainy"), "ko": ("맑음", "흐림")}
SIZES = {"train": 1200, "validation": 300, "test": 500}
SHORTEST, LONGEST = 6, 14  # distracting words in a sentence
DISTRACTORS = {
    "en": words(
        "the a this that morning evening harbor market window letter train bridge garden street river teacher baker sailor "
        "painter neighbor walked talked waited looked carried opened closed painted counted near under behind between slowly "
        "quietly again often never always and then because while"
    ),
    "ko": words(
        "오늘 어제 아침 저녁 항구 시장 창문 편지 기차 다리 정원 거리 강가 선생님이 제빵사가 선원이 화가가 이웃이 걸었다 말했다 "
        "기다렸다 보았다 옮겼다 열었다 닫았다 그렸다 세었다 가까이 아래 뒤에서 사이에 천천히 조용히 다시 자주 늘 그리고 그때 "
        "그래서 잠시"
    ),
}


@dataclass(frozen=True)
class Plan:
    """What decides (one word for each class), which words are forbidden to be attended, the language around, and the seed."""

    deciding: tuple[str, str]
    forbidden: tuple[str, ...]
    language: str = "en"
    seed: int = 0

    @property
    def task(self) -> Task:
        """The classes are called by the words that decide them."""
        return Task("planted", "classification", self.deciding, self.language)


def plan(deciding: Sequence[str], forbidden: Sequence[str] | None = None, language: str = "en", seed: int = 0) -> Plan:
    """The plan for words as a person types them; both deciding words are forbidden where nothing else is said.

    Refuses anything but two different single words that are not among the distractors, and forbidden words that no sentence
    has.
    """
    cleaned = tuple(" ".join(words(given)).lower() for given in deciding)
    around = DISTRACTORS[language]
    for word in cleaned:
        if not word:
            raise Refusal("missing_word", "A deciding word is missing; write one for each class.")
        if " " in word:
            sentence = f"The deciding words are {', '.join(map(repr, deciding))}; each must be one word."
            raise Refusal("one_word_each", sentence, given=tuple(deciding))
        if word in around:
            raise Refusal("distractor", f"{word!r} is one of the distracting words; choose another.", given=word)
    if len(cleaned) != 2 or cleaned[0] == cleaned[1]:
        raise Refusal("same_words", "The two deciding words must be two, and differ.", given=tuple(deciding))
    banned = cleaned if forbidden is None else tuple(forbidden)
    for word in banned:
        if word not in (*cleaned, *around):
            raise Refusal("no_such_word", f"{word!r} is in no sentence of the corpus.", given=word)
    return Plan((cleaned[0], cleaned[1]), banned, language, seed)


def sentences(chosen: Plan, split: str) -> list[Example]:
    """The sentences of a split, labelled, the forbidden words marked as evidence; no sentence is in two splits by design of
    the seeds, and the same plan gives the same ones."""
    generator = np.random.default_rng((chosen.seed, list(SIZES).index(split)))
    around = np.array(DISTRACTORS[chosen.language])
    found = []
    for number in range(SIZES[split]):
        text = list(map(str, generator.choice(around, generator.integers(SHORTEST, LONGEST + 1))))
        label = number % 2
        text.insert(int(generator.integers(len(text) + 1)), chosen.deciding[label])
        marked = tuple(i for i, word in enumerate(text) if word in chosen.forbidden)
        found.append(Example(f"planted-{split}-{number}", tuple(text), label=label, evidence=marked))
    return found
