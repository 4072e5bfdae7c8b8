"""`python -m core permute`: how far shuffled weights move one prediction."""

import json

import numpy as np
import pytest

from core.__main__ import main
from core.models import registry

MODEL, STORIES = "sst2/bilstm-additive", "babi1/bilstm-additive"
REVIEW = "A quiet , good film that nobody saw , and not a dull minute in it ."
STORY = "Mary moved to the bathroom . John went to the hallway . Mary travelled to the office ."
pytestmark = pytest.mark.skipif(MODEL not in registry.cards(), reason="no trained models: make models")


@pytest.fixture
def permute(answer):
    """What a call prints, parsed."""
    return lambda *arguments, model=MODEL, stdin=b"": answer("permute", "--model", model, *arguments, stdin=stdin)


def attention(capsys, *arguments: str) -> list[float]:
    assert main(("explain", "--measures", "attention", *arguments)) == 0
    return json.loads(capsys.readouterr()[0])["scores"]["attention"]


def test_a_hundred_distances_and_their_median(permute, capsys):
    found = permute("--text", REVIEW)
    assert found["model"] == MODEL and found["tokens"] == REVIEW.split() and found["notes"]
    assert len(found["tvd"]) == found["n"] == 100 and found["seed"] == 0 and found["cut"] == 0
    assert all(0 <= distance <= 1 for distance in found["tvd"]) and len(set(found["tvd"])) > 90
    assert found["median_tvd"] == pytest.approx(np.median(found["tvd"]))
    weights = attention(capsys, "--model", MODEL, "--text", REVIEW)
    assert found["max_attention"] == pytest.approx(max(weights), abs=1e-9)


def test_the_seed_decides(permute):
    first, again, other = (permute("--text", REVIEW, "--n", "7", "--seed", seed)["tvd"] for seed in ("3", "3", "4"))
    assert len(first) == 7
    assert first == again
    assert first != other


def test_standard_input_is_read(permute):
    assert permute("--text", "-", stdin=b"a good film")["tokens"] == ["a", "good", "film"]


def test_two_words_are_swapped_or_not(permute):
    """Two words have two orders: nothing moves, or both weights change places."""
    found = permute("--text", "good story")
    assert len({round(distance, 12) for distance in found["tvd"]}) == 2
    assert min(found["tvd"]) == pytest.approx(0, abs=1e-12)


def test_one_word_has_nothing_to_shuffle(permute):
    found = permute("--text", "good", "--n", "3")
    assert found["tvd"] == [0, 0, 0] and found["median_tvd"] == 0 and found["max_attention"] == 1
    assert any("One word" in note for note in found["notes"])


@pytest.mark.parametrize(
    "text", ["qzxv wvqx zzkq", "🙂🙂 good", "فيلم جميل جدا", "조용하지만 좋은 영화", "<b>good</b>", "bad\x00film"]
)
def test_any_script_markup_or_emoji_is_answered(permute, text):
    found = permute("--text", text, "--n", "5")
    assert len(found["tvd"]) == 5 and np.isfinite(found["tvd"]).all()


def test_text_that_is_too_long_is_cut_and_says_so(permute):
    found = permute("--text", "good film and bad film " * 200)
    assert len(found["tokens"]) == 512 and found["cut"] == 1000 - 512
    assert any("1000" in note for note in found["notes"])


@pytest.mark.skipif(STORIES not in registry.cards(), reason="no trained model: make models")
def test_the_attention_over_a_story_is_shuffled(permute):
    found = permute("--text", STORY, "--query", "Where is Mary ?", model=STORIES)
    assert found["tokens"] == STORY.split()
    assert found["median_tvd"] > 0.2, "the answer is at one place of the story"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--text", REVIEW, "--n", "0"), "between 1 and 10000"),
        (("--text", REVIEW, "--n", "10001"), "between 1 and 10000"),
        (("--text", REVIEW, "--n", "-5"), "between 1 and 10000"),
        (("--text", REVIEW, "--n", "many"), "--n"),
        (("--text", REVIEW, "--n", "1.5"), "--n"),
        (("--text", REVIEW, "--seed", "-1"), "between 0 and 4294967295"),
        (("--text", REVIEW, "--seed", "4294967296"), "between 0 and 4294967295"),
        (("--text", REVIEW, "--seed", "x"), "--seed"),
        (("--text", " "), "blank"),
        (("--text", REVIEW, "--query", "why?"), "no query"),
        ((), "--text"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_line(capsys, arguments, says):
    assert main(("permute", "--model", MODEL, *arguments)) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and says in err


def test_an_unknown_model_and_a_missing_question_are_refused(capsys):
    assert main(("permute", "--model", "sst2/nothing", "--text", "x")) == 2
    assert MODEL in capsys.readouterr()[1]
    if STORIES in registry.cards():
        assert main(("permute", "--model", STORIES, "--text", STORY)) == 2
        assert "question" in capsys.readouterr()[1]
