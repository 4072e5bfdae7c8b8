"""Whether a word needs where the model looks: shares worked by hand, words matched to objects, changes by hand."""

import pytest
import torch

from core.debate.looking import CELLS, CHANGES, looked, matched, shares, tried
from core.interventions import uniform
from core.models.captioner import Captioner
from core.scenes import Thing, checked, draw
from tests.test_perceivers import perceiver

SCENE = checked([Thing("circle", "red", 1, 4), Thing("square", "blue", 4, 3), Thing("star", "green", 5, 7)])


@pytest.fixture(scope="module")
def model() -> Captioner:
    made = perceiver("scene")
    assert isinstance(made, Captioner)
    return made


def test_shares_by_hand() -> None:
    attention = torch.zeros(2, CELLS)
    attention[0, list(SCENE[1].cells)] = 0.2
    attention[0, 0] = 0.2
    attention[1] = 1 / CELLS
    expected = torch.tensor([[0, 0.8, 0, 0.2], [1 / 16, 1 / 16, 1 / 16, 13 / 16]])
    torch.testing.assert_close(shares(attention, SCENE), expected)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("a red circle left of a green star", (-1, 0, 0, -1, -1, -1, 2, 2)),
        ("a green star above a green star", (-1, 2, 2, -1, -1, -1, -1)),
        ("초록 별 위의 파란 사각형", (2, 2, -1, 1, 1)),
        ("circle red", (-1, -1)),
        ("", ()),
    ],
)
def test_words_are_matched_to_the_objects_that_they_fit(words: str, expected: tuple[int, ...]) -> None:
    assert matched(words.split(), SCENE) == expected


def test_a_caption_comes_with_a_row_of_attention_for_each_word_and_the_end(model: Captioner) -> None:
    found = looked(model, SCENE)
    assert found.attention.shape[0] in (len(found.words), len(found.words) + 1) and len(found.prob) == len(found.words)
    torch.testing.assert_close(found.attention.sum(-1), torch.ones(len(found.attention)))
    flat = looked(model, SCENE, uniform(torch.ones(1, CELLS, dtype=torch.bool)))
    torch.testing.assert_close(flat.attention, torch.full_like(flat.attention, 1 / CELLS))


def test_a_change_at_one_word_leaves_what_came_before(model: Captioner) -> None:
    """The probability before is that of the run that is told the words; uniform weights put in by hand give the one after."""
    words = ("a", "red", "circle", "left", "of", "a", "blue", "square")
    at = 6
    found = {one.change: one for one in tried(model, SCENE, words, at, 1)}
    assert tuple(found) == CHANGES
    ids = model.targets([words])
    run = model.forced([draw(SCENE)], ids)
    expected = float(run.logits[0, at].softmax(-1)[ids[0, at]])
    assert all(one.before == pytest.approx(expected, abs=1e-5) for one in found.values())
    step = 0

    def flat(layer: int, weights: torch.Tensor) -> torch.Tensor:
        nonlocal step
        step += 1
        return torch.full_like(weights, 1 / CELLS) if step == at + 1 else weights

    changed = model.forced([draw(SCENE)], ids, intervene=flat).logits[0, at].softmax(-1)
    assert found["uniform"].after == pytest.approx(float(changed[ids[0, at]]), abs=1e-5)
    assert found["uniform"].says == (*model.words([int(changed.argmax())]), "")[0]


def test_painting_over_reads_the_picture_without_the_object(model: Captioner) -> None:
    words = ("a", "red", "circle")
    (found,) = [one for one in tried(model, SCENE, words, 1, 0) if one.change == "painted_over"]
    ids = model.targets([words])
    run = model.forced([draw(SCENE[1:])], ids)
    assert found.after == pytest.approx(float(run.logits[0, 1].softmax(-1)[ids[0, 1]]), abs=1e-5)
