"""`python -m core erase`: one object of plain values, and one line where something cannot be answered."""

import json

import numpy as np
import pytest

from core.__main__ import main
from core.debate.erasure import ORDERS
from core.models import registry

MODEL, STORIES = "sst2/average-additive", "babi1/bilstm-additive"
REVIEW = "a slow start but the ending is wonderful and the music is lovely"
STORY = "Mary moved to the bathroom . John went to the hallway ."
pytestmark = pytest.mark.skipif(MODEL not in registry.cards(), reason="no trained model: make models")


@pytest.fixture
def erase(answer):
    """What a call prints, parsed."""
    return lambda *arguments, model=MODEL, stdin=b"": answer("erase", "--model", model, *arguments, stdin=stdin)


@pytest.mark.parametrize("order", ORDERS)
def test_the_object_is_complete(erase, order):
    found = erase("--text", REVIEW, "--order", order)
    words = REVIEW.split()
    assert found["model"] == MODEL and found["tokens"] == words and found["ordered_by"] == order and found["cut"] == 0
    assert sorted(found["order"]) == list(range(len(words)))
    assert len(found["prob"]) == len(words) + 1 and all(0 <= p <= 1 for p in found["prob"])
    share = found["flips_at"]
    if share is None:
        assert min(found["prob"]) >= 0.5
    else:
        step = round(share * len(words))
        assert share == pytest.approx(step / len(words))
        assert found["prob"][step] < 0.5 <= min(found["prob"][:step])


def test_attention_is_the_default_and_orders_by_attention(erase, capsys):
    found = erase("--text", REVIEW)
    assert found["ordered_by"] == "attention"
    ranked = np.array(found["scores"])[found["order"]]
    assert (np.diff(ranked) <= 0).all() and ranked.sum() == pytest.approx(1)
    main(("explain", "--model", MODEL, "--text", REVIEW, "--measures", "attention"))
    assert found["scores"] == pytest.approx(json.loads(capsys.readouterr().out)["scores"]["attention"], abs=1e-6)


def test_random_orders_depend_on_the_seed(erase):
    first, again, other = (erase("--text", REVIEW, "--order", "random", "--seed", seed) for seed in ("3", "3", "4"))
    assert first == again and first["order"] != other["order"]
    assert len(first["shuffles"]) == 5 and first["shuffles"][0]["order"] == first["order"]


def test_standard_input_is_read(erase):
    assert erase("--text", "-", stdin=b"a good film")["tokens"] == ["a", "good", "film"]


def test_one_word_is_left_out_and_says_so(erase):
    found = erase("--text", "good")
    assert found["order"] == [0] and len(found["prob"]) == 2 and found["flips_at"] is None
    assert any("flips_at is undefined" in note for note in found["notes"])


@pytest.mark.skipif(STORIES not in registry.cards(), reason="no trained model: make models")
def test_a_story_loses_its_answer(erase):
    found = erase("--text", STORY, "--query", "Where is Mary ?", "--order", "attention_gradient", model=STORIES)
    assert found["target"] == "bathroom" and found["tokens"] == STORY.split()
    assert found["prob"][0] > 0.9


@pytest.mark.parametrize("text", ["qzxv wvqx zzkq", "🙂🙂 good", "فيلم جميل جدا", "<b>good</b>", "bad\x00film"])
def test_any_script_markup_or_emoji_is_answered(erase, text):
    found = erase("--text", text)
    assert np.isfinite(found["prob"]).all()


def test_text_that_is_too_long_is_cut_and_says_so(erase):
    found = erase("--text", "good film and bad film " * 200)
    assert len(found["tokens"]) == 512 and len(found["prob"]) == 513 and found["cut"] == 1000 - 512


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--text", REVIEW, "--order", "alphabet"), "attention, gradient, attention_gradient, random"),
        (("--text", REVIEW, "--order", "random", "--seed", "-1"), "0 to 2147483647"),
        (("--text", REVIEW, "--seed", "x"), "--seed"),
        (("--text", " "), "blank"),
        (("--text", REVIEW, "--query", "why?"), "no query"),
        ((), "--text"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_line(capsys, arguments, says):
    assert main(("erase", "--model", MODEL, *arguments)) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and says in err


def test_an_unknown_model_is_refused(capsys):
    assert main(("erase", "--model", "sst2/nothing", "--text", "x")) == 2
    assert MODEL in capsys.readouterr()[1]
