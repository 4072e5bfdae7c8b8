"""The verbs on a Transformer: words of text and query in one row, special tokens apart, and what all models share."""

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from core.__main__ import main
from core.models import registry

MODEL, PAIRS, SELF = "sst2/minilm", "mnli/minilm", "sst2/self-attention"
REVIEW = "A quiet , unpretentiously good film that nobody saw"
PREMISE, HYPOTHESIS = "Two dogs run in the snow .", "Animals are outside ."
pytestmark = pytest.mark.skipif(not {MODEL, PAIRS, SELF} <= set(registry.cards()), reason="no trained models: make models")


@pytest.fixture
def ask(answer):
    """What a call prints, parsed."""
    return lambda verb, model, text, *more: answer(verb, "--model", model, "--text", text, *more)


def test_every_word_has_every_score(ask):
    found, n = ask("explain", MODEL, REVIEW), len(REVIEW.split())
    assert found["tokens"] == REVIEW.split() and found["query"] == []
    assert all(len(values) == n for values in found["scores"].values()) and len(found["scores"]) == 5
    attention = found["scores"]["attention"]
    assert min(attention) > 0 and 0.01 < sum(attention) < 0.999  # special tokens take the rest
    assert min(found["scores"]["gradient"]) >= 0 and len(found["agreement"]) == 10
    assert sum(found["prediction"].values()) == pytest.approx(1)


def test_attention_is_the_classification_tokens_in_the_last_layer(ask, tmp_path):
    out = tmp_path / "t.safetensors"
    answer = ask("tensors", MODEL, REVIEW, "--out", str(out))
    held, pieces = load_file(out), answer["tokens"]
    n = len(pieces)
    assert pieces[0] == "[CLS]" and pieces[-1] == "[SEP]" and any(piece.startswith("##") for piece in pieces)
    assert held["attention"].shape == (6, 12, n, n) and held["value"].shape == (6, 12, n, 32) and held["logits"].shape == (2,)
    torch.testing.assert_close(held["attention"].sum(-1), torch.ones(6, 12, n))
    row = held["attention"][-1].mean(0)[0]
    word = np.cumsum([not piece.startswith("##") for piece in pieces]) - 2  # the first word is the second token
    merged = [float(row[word == i].sum()) for i in range(len(REVIEW.split()))]
    explained = ask("explain", MODEL, REVIEW, "--measures", "attention")
    assert explained["scores"]["attention"] == pytest.approx(merged, abs=1e-5)
    logits = held["logits"].softmax(-1).tolist()
    assert list(explained["prediction"].values()) == pytest.approx(logits, abs=1e-5)


def test_both_texts_of_a_pair_are_explained_in_one_row(ask):
    found = ask("explain", PAIRS, PREMISE, "--query", HYPOTHESIS)
    first, second = PREMISE.split(), HYPOTHESIS.split()
    assert found["tokens"] == first + second and found["query"] == second
    assert set(found["prediction"]) == {"entailment", "neutral", "contradiction"}
    left_out = found["signed"]["leave_one_out"]
    for place, text, query in (
        (1, [first[0], *first[2:]], second),
        (len(first) + 2, first, [*second[:2], *second[3:]]),
    ):
        shorter = ask("explain", PAIRS, " ".join(text), "--query", " ".join(query), "--measures", "attention")
        lost = found["prediction"][found["target"]] - shorter["prediction"][found["target"]]
        assert left_out[place] == pytest.approx(lost, abs=1e-9)


def test_one_word_in_each_text_can_still_be_left_out(ask):
    found = ask("explain", PAIRS, "Snow", "--query", "Rain")
    assert found["tokens"] == ["Snow", "Rain"] and None not in found["scores"]["leave_one_out"]
    assert not any("One word" in note for note in found["notes"])
    single = ask("explain", MODEL, "Wonderful")
    assert single["scores"]["leave_one_out"] == [None] and any("One word" in note for note in single["notes"])
    assert 0 < single["scores"]["attention"][0] < 1


def test_integrated_gradients_add_up_to_what_the_words_add(ask):
    """Both classes together gain nothing, and the sum is a difference of two probabilities."""
    found = {
        t: ask("explain", MODEL, REVIEW, "--target", t, "--measures", "integrated_gradients") for t in ("negative", "positive")
    }
    one, other = (np.array(f["scores"]["integrated_gradients"]) for f in found.values())
    np.testing.assert_allclose(one, -other, atol=1e-9)
    assert abs(one.sum()) <= 1


@pytest.mark.parametrize("text", ["🙂🙂", "فيلم جميل", "<b>good</b>", "조용한 영화", "good " * 300, "a" * 3000, "bad\x00good"])
def test_any_script_markup_or_emoji_is_answered(ask, text):
    found = ask("explain", MODEL, text, "--measures", "attention,gradient")
    assert len(found["tokens"]) == len(found["scores"]["attention"]) == len(found["scores"]["gradient"]) >= 1
    if text.startswith("good good"):
        assert found["cut"] == 300 - 126 and any("300 words" in note for note in found["notes"])


def test_heads_of_size_32_hide_nothing_of_32_pieces_and_something_of_more(ask):
    short, long = (
        ask("effective", MODEL, REVIEW),
        ask("effective", MODEL, REVIEW + " , " + REVIEW + " , " + REVIEW + " twice ."),
    )
    assert short["head_size"] == 32 and short["tokens"][0] == "[CLS]" and short["weights"] == short["attention"]
    assert set(map(max, short["invisible"])) == {0}
    n = len(long["tokens"])
    assert n > 34 and np.array(long["rank"]).max() <= 32
    assert np.array(long["free"]).tolist() == (n - 1 - np.array(long["rank"])).tolist()
    attention, weights = np.array(long["attention"]), np.array(long["weights"])
    assert attention.shape == (6, 12, n, n)
    share = ((attention - weights) ** 2).sum((-1, -2)) / (attention**2).sum((-1, -2))
    np.testing.assert_allclose(long["invisible"], share, atol=1e-12)
    assert share.min() > 0


def test_a_model_whose_words_all_attend_is_explained_too(ask):
    found = ask("explain", SELF, REVIEW)
    assert found["tokens"] == REVIEW.split() and sum(found["scores"]["attention"]) == pytest.approx(1)
    assert all(value is not None for values in found["scores"].values() for value in values)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("explain", "--model", PAIRS, "--text", PREMISE), "hypothesis"),
        (("explain", "--model", MODEL, "--text", REVIEW, "--query", "why ?"), "no query"),
        (("explain", "--model", MODEL, "--text", " "), "blank"),
        (("effective", "--model", "sst2/bilstm-additive", "--text", REVIEW), "self-attention, minilm"),
        (("experiment", "agreement", "--model", MODEL, "--data", "sst2"), "minilm"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_line(capsys, arguments, says):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and says in err
