"""Stories: a world worked by hand, the laws of the generator, and the published files as the oracle of `solve`."""

from collections import Counter
from pathlib import Path

import pytest

from core import babi, data
from core.text import words
from core.types import Example

STORY = """\
1 Mary moved to the garden.
2 Mary picked up the milk there.
3 John went back to the office.
4 Where is Mary?\tgarden\t1
5 Mary travelled to the hallway.
6 Mary journeyed to the kitchen.
7 Where was the milk before the kitchen?\thallway\t2 6 5
8 Mary put down the milk.
9 Mary went to the bedroom.
10 Where is the milk?\tkitchen\t8 6
1 Sandra left the apple there.
2 Sandra went to the bathroom.
3 Where is Sandra?\tbathroom\t2
"""


def facts_of(example: Example) -> list[babi.Fact]:
    sentences = " ".join(example.text).removesuffix(" .").split(" . ")
    return [babi.fact((*sentence.split(), ".")) for sentence in sentences]


def supports_of(example: Example) -> set[int]:
    sentence_of_word = [i for i, fact in enumerate(facts_of(example)) for _ in fact.words]
    return {sentence_of_word[i] for i in example.evidence}


def agrees(example: Example) -> bool:
    """Whether `solve` finds the example's answer and its supporting sentences."""
    solved = babi.solve(facts_of(example), example.query)
    return solved is not None and babi.ENTITIES.index(solved[0]) == example.label and set(solved[1]) == supports_of(example)


@pytest.fixture
def story(tmp_path: Path) -> list[Example]:
    path = tmp_path / "qa.txt"
    path.write_text(STORY, encoding="utf-8")
    return babi.read(path, 3)


def test_reading_a_published_file(story: list[Example]) -> None:
    first, second, third, other = story
    assert first.text == words("Mary moved to the garden. Mary picked up the milk there. John went back to the office.")
    assert first.query == ("Where", "is", "Mary", "?")
    assert [babi.ENTITIES[e.label or 0] for e in story] == ["garden", "hallway", "kitchen", "bathroom"]
    assert first.evidence == (0, 1, 2, 3, 4, 5)
    assert [babi.ENTITIES[i] for i in first.candidates] == ["john", "mary", "garden", "office", "milk"]
    assert [supports_of(e) for e in story] == [{0}, {1, 3, 4}, {5, 4}, {1}]
    assert len(second.text) < len(third.text) and other.text[0] == "Sandra"


def test_solving_by_hand(story: list[Example]) -> None:
    assert all(agrees(example) for example in story)
    facts = facts_of(story[2])
    assert (
        babi.solve(facts, words("Where was the milk before the hallway?")) is None
    )  # the garden was before the milk was taken
    assert babi.solve(facts, words("Where is the apple?")) is None
    assert babi.solve(facts, words("Where is Sandra?")) is None


def test_the_last_visit_counts() -> None:
    told = ["John got the milk.", "John went to the office.", "John went to the garden.", "John went to the kitchen."]
    facts = [babi.fact(words(s)) for s in [*told, "John went to the garden."]]
    assert babi.solve(facts, words("Where was the milk before the garden?")) == ("kitchen", (0, 4, 3))


@pytest.mark.parametrize("task", [1, 2, 3])
def test_generated_stories(task: int) -> None:
    examples = babi.stories(task, 23, seed=5)
    assert len(examples) == 23 and len({e.id for e in examples}) == 23
    assert examples == babi.stories(task, 23, seed=5) and examples != babi.stories(task, 23, seed=6)
    assert examples[:7] == babi.stories(task, 7, seed=5)
    for example in examples:
        assert agrees(example)
        assert len(supports_of(example)) == task
        assert example.label in example.candidates and set(example.evidence) < set(range(len(example.text)))
        assert len(facts_of(example)) % 2 == 0


@pytest.mark.parametrize("task", [1, 2, 3])
def test_the_world_is_lawful(task: int) -> None:
    """Nobody goes where he is, takes what is taken or elsewhere, or drops what he has not."""
    for example in babi.stories(task, 50, seed=2)[4::5]:  # the whole stories
        at: dict[str, str] = {}
        for fact in facts_of(example):
            if fact.kind == "move":
                assert at.get(fact.actor) != fact.thing
                at[fact.actor] = fact.thing
            elif fact.kind == "take":
                assert at.get(fact.thing) not in babi.PEOPLE
                if fact.actor in at and fact.thing in at:
                    assert at[fact.thing] in (at[fact.actor], "unknown")
                at[fact.thing] = fact.actor
            else:
                assert at[fact.thing] == fact.actor
                at[fact.thing] = at.get(fact.actor, "unknown")


def sentence_forms(examples: list[Example]) -> set[str]:
    forms = set()
    for example in examples:
        for fact in facts_of(example):
            hidden = {fact.words[0]: "P", fact.thing: "L" if fact.kind == "move" else "O"}
            forms.add(" ".join(hidden.get(word, word) for word in fact.words))
    return forms


def mean_words(examples: list[Example]) -> float:
    return sum(len(e.text) for e in examples) / len(examples)


@pytest.mark.data
@pytest.mark.parametrize("task", [1, 2, 3])
def test_solve_agrees_with_every_published_answer_and_support(task: int) -> None:
    published = babi.read(data.data_root() / "babi" / babi.TEST_FILES[task], task)
    assert len(published) == 1000
    assert [e.id for e in published if not agrees(e)] == []


@pytest.mark.data
@pytest.mark.parametrize("task", [1, 2, 3])
def test_generated_stories_look_like_the_published(task: int) -> None:
    published = babi.read(data.data_root() / "babi" / babi.TEST_FILES[task], task)
    own = babi.stories(task, 3000, seed=0)
    assert sentence_forms(own) == sentence_forms(published)
    assert mean_words(own) == pytest.approx(mean_words(published), rel=0.08)
    assert Counter(e.label for e in own).keys() == Counter(e.label for e in published).keys()
