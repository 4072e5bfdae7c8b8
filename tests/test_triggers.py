"""Triggers from attributions made by hand, their insertion, and random words of like frequency."""

from collections import Counter

import pytest
import torch

from core.attattr.triggers import (
    Place,
    Trigger,
    alike,
    collect,
    drawn,
    frequencies,
    inserted,
    pairs,
    positions,
    predictions,
    ranked,
    trigger,
)
from core.importance import probabilities
from core.types import Example
from tests.small import example, examples
from tests.tiny_bert import tiny_bert

PAIR = Example("pair", ("A", "quiet", "Film"), ("nobody", "saw"), 1)
WORD = [-1, 0, 1, 1, 2, -1, 3, 4, -1]  # [CLS] a qui ##et film [SEP] nobody saw [SEP]
TEXT = Example("text", tuple("abcdefghij"))


def matrix(*cells: tuple[int, int, int, int, float]) -> torch.Tensor:
    """Two layers of three heads over nine tokens, zero but for (layer, head, query, key)."""
    made = torch.zeros(2, 3, 9, 9)
    for layer, head, query, key, value in cells:
        made[layer, head, query, key] = value
    return made


def test_the_second_pair_needs_a_fifth_of_the_first() -> None:
    assert pairs(torch.tensor([[0.0, 0.5], [0.1, -0.9]])) == [(0, 1, 0.5), (1, 0, pytest.approx(0.1))]
    assert pairs(torch.tensor([[0.0, 0.5], [0.09, -0.9]])) == [(0, 1, 0.5)]
    assert pairs(torch.tensor([[0.0, -0.5], [-0.1, -0.9]])) == []
    assert pairs(torch.tensor([[0.3]])) == [(0, 0, pytest.approx(0.3))]


def test_a_trigger_by_hand() -> None:
    """The head with the greatest attribution gives its two best pairs; other heads' second best count for nothing."""
    made = matrix((1, 2, 3, 6, 0.4), (1, 2, 6, 4, 0.1), (1, 2, 7, 7, 0.05), (0, 1, 7, 7, 0.39))
    found = trigger(made, WORD, PAIR, 2)
    assert found == Trigger(
        2,
        (Place("quiet", 0, 1 / 3), Place("film", 0, 2 / 3), Place("nobody", 1, 0.0)),
        pytest.approx(0.5),
        layer=1,
        head=2,
    )
    assert found.words == ("quiet", "film", "nobody")


def test_special_tokens_are_dropped_from_the_pairs() -> None:
    found = trigger(matrix((0, 0, 0, 7, 0.3), (0, 0, 8, 5, 0.2)), WORD, PAIR, 0)
    assert found is not None and found.places == (Place("saw", 1, 0.5),)
    assert trigger(matrix((0, 0, 0, 5, 0.3)), WORD, PAIR, 0) is None
    assert trigger(-matrix((0, 0, 1, 2, 0.3)), WORD, PAIR, 0) is None


def one(label: int, score: float, *words: str) -> Trigger:
    return Trigger(label, tuple(Place(word, 0, 0.0) for word in words), score, 0, 0)


def test_ranked_by_attribution_each_set_of_words_once() -> None:
    found = [one(0, 0.02, "a"), one(0, 0.3, "b", "c"), one(0, 0.5, "c", "b"), one(1, 0.9, "d"), one(0, 0.019, "e")]
    assert [(t.words, t.score) for t in ranked(found, 0)] == [(("c", "b"), 0.5), (("a",), 0.02)]
    assert [t.words for t in ranked(found, 1)] == [("d",)] and ranked(found, 2) == []
    assert len(ranked([one(0, 0.1 + i, f"w{i}") for i in range(9)], 0)) == 3


def test_words_are_inserted_at_the_same_share_of_the_way() -> None:
    places = (Place("y", 0, 0.75), Place("x", 0, 0.2), Place("q", 1, 0.5))
    new = inserted(PAIR, places)
    assert new.text == ("A", "x", "quiet", "y", "Film")  # before the words at 0.2 · 3 and 0.75 · 3, rounded
    assert new.query == ("nobody", "q", "saw") and new.label == PAIR.label
    assert inserted(TEXT, (Place("x", 0, 0.0),)).text[0] == "x"
    assert inserted(TEXT, (Place("x", 0, 0.3), Place("y", 0, 0.3))).text[3:5] == ("x", "y")
    assert inserted(TEXT, (Place("x", 0, 0.9),)).text[9:] == ("x", "j")


def test_a_word_put_back_where_it_was_stands_where_it_stood() -> None:
    for at, word in enumerate(TEXT.text):
        without = Example("w", TEXT.text[:at] + TEXT.text[at + 1 :])
        new = inserted(without, (Place(word, 0, at / len(TEXT.text)),))
        assert new.text.index(word) in (at - 1, at)  # a text that is one word shorter rounds by at most one place


def test_positions_are_those_of_the_inserted_words() -> None:
    places = (Place("y", 0, 0.75), Place("x", 0, 0.2), Place("q", 1, 0.5))
    new, (text, query) = inserted(PAIR, places), positions(PAIR, places)
    assert {new.text[i] for i in text} == {"x", "y"} and {new.query[i] for i in query} == {"q"}


def test_frequencies_are_of_lower_case_words_of_both_parts() -> None:
    assert frequencies([PAIR, PAIR])["film"] == 2 and frequencies([PAIR])["saw"] == 1


def test_random_words_are_as_frequent_and_never_the_triggers_own() -> None:
    counts = Counter({f"w{i}": 1000 - i for i in range(200)})
    places = (Place("w100", 0, 0.5), Place("w101", 1, 0.1), Place("unheard", 0, 0.2))
    found = alike(places, counts, near=10)
    assert [len(words) for words in found] == [10, 10, 10]
    assert {int(word[1:]) for word in found[0]} == set(range(95, 107)) - {100, 101}
    assert found[2] == [f"w{i}" for i in range(190, 200)]
    generator = torch.Generator().manual_seed(1)
    many = [drawn(places, found, generator) for _ in range(300)]
    assert {place.word for row in many for place in row[:1]} == set(found[0])
    assert all((p.segment, p.share) == (q.segment, q.share) for row in many for p, q in zip(row, places, strict=True))


@pytest.mark.parametrize("kind", ["classification", "nli"])
def test_a_batch_gives_what_its_examples_give_alone(kind: str) -> None:
    model = tiny_bert(kind=kind).precise()  # type: ignore[arg-type]
    together = collect(model, model.encode(examples(kind)))  # type: ignore[arg-type]
    alone = [t for e in examples(kind) for t in collect(model, model.encode([e]))]  # type: ignore[arg-type]
    assert [t.places for t in together] == [t.places for t in alone] and len(together) > 0
    assert [t.score for t in together] == pytest.approx([t.score for t in alone])
    segments = {place.segment for t in together for place in t.places}
    assert segments <= ({0} if kind == "classification" else {0, 1})


def test_predictions_come_in_the_order_of_the_examples() -> None:
    model = tiny_bert()
    given = [*examples(), example("good")]
    found = predictions(model, given, size=2)
    for row, e in zip(found, given, strict=True):
        assert torch.allclose(row, probabilities(model.run(model.encode([e])).logits)[0], atol=1e-5)
