"""The headless face: one JSON object on standard output, or one line on standard error and status 2."""

import io
import json
import math
import subprocess
import sys

import pytest
from safetensors.torch import load_file

from core.__main__ import main
from core.agreement import kendall
from core.models import perceivers, registry, translator
from tests.conftest import ROOT

MODEL = "sst2/bilstm-additive"
REVIEW = "A quiet , good film that nobody saw , and not a dull minute in it ."
STORY = "Mary moved to the bathroom . John went to the hallway . Mary travelled to the office ."


@pytest.fixture
def ask(capsys, monkeypatch):
    """What a call prints, parsed."""

    def asked(*arguments: str, stdin: bytes = b"") -> dict:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = main(arguments)
        out, err = capsys.readouterr()
        assert status == 0, err
        assert out.count("\n") == 1
        answer = json.loads(out)
        assert "model" in answer and all(isinstance(note, str) for note in answer["notes"])
        return answer

    return asked


@pytest.fixture
def refused(capsys, monkeypatch):
    """The one line that a refused call prints."""

    def refusal(*arguments: str, stdin: bytes = b"") -> str:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        assert main(arguments) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert err.count("\n") == 1 and err.strip()
        return err.strip()

    return refusal


def explain(ask, text: str, *more: str, model: str = MODEL, stdin: bytes = b"") -> dict:
    return ask("explain", "--model", model, "--text", text, *more, stdin=stdin)


def test_models_lists_every_card(ask):
    listed = {m["name"]: m for m in ask("models")["models"]}
    assert set(listed) == {*registry.cards(), *translator.cards(), *perceivers.cards()}
    card = listed[MODEL]
    assert card["task"] == "sst2" and card["kind"] == "classification" and card["labels"] == ["negative", "positive"]
    assert card["test"]["accuracy"] >= 0.82 and card["test"]["n"] == 1821 and card["test"]["split"] == "test"
    assert {"encoder", "score", "layers", "heads", "language", "parameters", "max_tokens", "terms"} <= set(card)


def test_explain_says_everything_per_word(ask):
    found = explain(ask, REVIEW)
    n = len(REVIEW.split())
    assert found["tokens"] == REVIEW.split() and found["cut"] == 0
    assert list(found["scores"]) == ["attention", "gradient", "input_x_gradient", "integrated_gradients", "leave_one_out"]
    assert all(len(values) == n for values in found["scores"].values())
    assert sum(found["scores"]["attention"]) == pytest.approx(1)
    assert sum(found["prediction"].values()) == pytest.approx(1) and set(found["prediction"]) == {"negative", "positive"}
    assert found["prediction"][found["target"]] == max(found["prediction"].values())
    assert len(found["agreement"]) == 10 and "attention~gradient" in found["agreement"]


def test_agreement_is_that_of_the_scores_shown(ask):
    found = explain(ask, REVIEW)
    for name, said in found["agreement"].items():
        a, b = ([abs(x) for x in found["scores"][m]] for m in name.split("~"))
        tie = tuple(1e-7 if m == "leave_one_out" else 0.0 for m in name.split("~"))
        assert said["kendall_tau"] == pytest.approx(kendall(a, b, tie=tie).kendall_tau)
        assert said["n"] == len(a) and 0 <= said["p_value"] <= 1 and said["top_k"]["k"] == 3


def test_leave_one_out_is_a_second_call_without_the_word(ask):
    words = REVIEW.split()
    whole = explain(ask, REVIEW)
    without = explain(ask, " ".join(words[:3] + words[4:]))
    lost = whole["prediction"]["positive"] - without["prediction"]["positive"]
    assert whole["scores"]["leave_one_out"][3] == pytest.approx(abs(lost), abs=1e-9)


def test_a_target_turns_the_signs_around(ask):
    one, other = (explain(ask, REVIEW, "--target", t, "--measures", "integrated_gradients") for t in ("negative", "positive"))
    assert one["target"] == "negative" and other["target"] == "positive"
    pairs = zip(one["scores"]["integrated_gradients"], other["scores"]["integrated_gradients"], strict=True)
    assert all(a == pytest.approx(-b, abs=1e-9) for a, b in pairs)


def test_measures_come_in_their_fixed_order(ask):
    found = explain(ask, REVIEW, "--measures", "leave_one_out,attention")
    assert list(found["scores"]) == ["attention", "leave_one_out"]
    assert list(found["agreement"]) == ["attention~leave_one_out"]


def test_standard_input_is_read(ask):
    assert explain(ask, "-", stdin=b"a good film")["tokens"] == ["a", "good", "film"]


def test_one_word_is_answered_with_undefined_agreement(ask):
    found = explain(ask, "good")
    assert found["scores"]["attention"] == pytest.approx([1.0])
    assert found["scores"]["leave_one_out"] == [None]
    assert found["agreement"]["attention~gradient"]["kendall_tau"] is None
    assert any("One word" in note for note in found["notes"])


@pytest.mark.parametrize(
    "text",
    [
        "qzxv wvqx zzkq",
        "🙂🙂 👩‍👩‍👧‍👦 🇰🇷",
        "فيلم جميل جدا",
        "조용하지만 마음을 무너뜨리는 영화",
        "<script>alert(1)</script> <b>good</b>",
        "bad\x00good\x07film",
        "!!!",
        "good " * 50,
        "a" * 5000,
        "\ud83d good film",
    ],
)
def test_any_script_markup_or_emoji_is_answered(ask, text):
    found = explain(ask, text)
    assert found["tokens"]
    numbers = [x for values in found["scores"].values() for x in values if x is not None]
    assert all(math.isfinite(x) for x in numbers)


def test_text_that_is_too_long_is_cut_and_says_so(ask):
    found = explain(ask, "good film and bad film " * 1000, "--measures", "attention")
    assert len(found["tokens"]) == 512 and found["cut"] == 5000 - 512
    assert any("5000" in note and "512" in note for note in found["notes"])


def test_a_query_that_is_too_long_is_cut_and_says_so(ask):
    notes = ask("explain", "--model", "snli/bilstm-additive", "--text", "Two dogs run.", "--query", "dogs " * 600)["notes"]
    assert any("hypothesis has 600 words" in note and "88 were cut" in note for note in notes)


def test_unknown_words_are_named(ask):
    assert any("qzxv" in note for note in explain(ask, "a qzxv film")["notes"])


def test_unknown_punctuation_is_told_apart_from_unknown_words(ask):
    """Phrases of the treebank end without a full stop, so a learner who writes one has done nothing strange."""
    notes = explain(ask, "A good film.", "--measures", "attention")["notes"]
    assert len(notes) == 1 and "punctuation" in notes[0] and notes[0].endswith(": .")
    notes = explain(ask, "A good qzxv film.", "--measures", "attention")["notes"]
    assert len(notes) == 2 and "1 of the 5 words" in notes[0] and notes[0].endswith(": qzxv")


@pytest.mark.parametrize(
    "arguments, says",
    [
        (("explain", "--model", MODEL, "--text", ""), "blank"),
        (("explain", "--model", MODEL, "--text", " \n\t\x00"), "blank"),
        (("explain", "--model", "sst2/nothing", "--text", "x"), "sst2/bilstm-additive"),
        (("explain", "--model", MODEL, "--text", "x", "--query", "y"), "no query"),
        (("explain", "--model", MODEL, "--text", "x", "--target", "happy"), "negative, positive"),
        (("explain", "--model", MODEL, "--text", "x", "--measures", "attention,lime"), "integrated_gradients"),
        (("explain", "--model", MODEL, "--text", "x", "--measures", ","), "attention"),
        (("explain", "--model", MODEL), "--text"),
        (("explain", "--model", MODEL, "--text", "x", "--frobnicate"), "frobnicate"),
        (("explain", "--model", "x" * 5000, "--text", "x"), "sst2/bilstm-additive"),
        (("sing",), "explain"),
        ((), "VERB"),
        (("train", "sst2/gru-additive"), "bilstm"),
        (("train", "sst2/bilstm-additive:seed=²"), "seed=N"),
        (("train", "sst2/bilstm-additive:seed=99999999999999999999"), "seed=N"),
        (("train",), "--all"),
        (("experiment", "agreement", "--model", MODEL, "--data", "sst2", "--limit", "0"), "at least 1"),
        (("experiment", "agreement", "--model", MODEL, "--data", "sst2", "--workers", "0"), "at least 1"),
        (("experiment", "nothing", "--model", MODEL, "--data", "sst2"), "agreement"),
        (("data", "nothing"), "sst2"),
        (("tensors", "--model", MODEL, "--text", "x", "--out", "/nowhere/at/all.safetensors"), "cannot be written"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_line(refused, arguments, says):
    assert says in refused(*arguments)


def test_blank_standard_input_is_refused(refused):
    assert "blank" in refused("explain", "--model", MODEL, "--text", "-", stdin=b" \n")


def test_tensors_hold_what_the_logits_are_made_of(ask, tmp_path):
    out = tmp_path / "t.safetensors"
    answer = ask("tensors", "--model", MODEL, "--text", REVIEW, "--out", str(out))
    held = load_file(out)
    n = len(REVIEW.split())
    assert held["attention"].shape == (n,) and held["states"].shape == (n, 128) and answer["tokens"] == REVIEW.split()
    logits = held["decoder.weight"] @ (held["attention"] @ held["states"]) + held["decoder.bias"]
    assert logits.tolist() == pytest.approx(held["logits"].tolist(), abs=1e-5)
    shown = explain(ask, REVIEW, "--measures", "attention")["scores"]["attention"]
    assert held["attention"].tolist() == pytest.approx(shown, abs=1e-6)


def test_as_a_command():
    """A process of its own: nothing but the object on standard output, status 2 for a refusal."""
    command = [sys.executable, "-m", "core", "explain", "--model", MODEL, "--text"]
    good, bad = (subprocess.run([*command, t], cwd=ROOT, capture_output=True, text=True) for t in (REVIEW, ""))
    assert good.returncode == 0 and json.loads(good.stdout)["model"] == MODEL
    assert bad.returncode == 2 and bad.stdout == "" and "Traceback" not in bad.stderr and bad.stderr.count("\n") == 1


WARNED = """
import logging, sys
from core import __main__
from core.types import Refusal
from core.verbs.common import Verb

def answer(args):
    logging.getLogger("core.models.registry").warning("Left out a card that cannot be read.")
    if sys.argv[1] == "refuse":
        raise Refusal("no", "There is no such thing.")
    return {}

__main__.VERBS["models"] = Verb(answer)
sys.exit(__main__.main(["models"]))
"""


@pytest.mark.parametrize(
    ("what", "status", "error"),
    [("refuse", 2, "There is no such thing.\n"), ("answer", 0, "Left out a card that cannot be read.\n")],
)
def test_warnings_are_said_with_an_answer_and_a_refusal_stays_one_line(what, status, error):
    """As with a card on disk that is broken: in a process of its own, where standard error is what a caller sees."""
    done = subprocess.run([sys.executable, "-c", WARNED, what], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (status, error)
    assert done.stdout == ("{}\n" if status == 0 else "")


@pytest.mark.parametrize("model", ["babi1/bilstm-additive", "babi1/average-additive"])
def test_a_story_answers_a_question_with_one_of_its_entities(ask, model):
    found = explain(ask, STORY, "--query", "Where is Mary ?", model=model)
    assert set(found["prediction"]) == {"mary", "john", "bathroom", "hallway", "office"}
    if model == "babi1/bilstm-additive":
        assert found["target"] == "office"


def test_questions_without_a_story_or_an_answer_in_it_are_refused(refused):
    model = ("explain", "--model", "babi1/bilstm-additive", "--text")
    assert "question" in refused(*model, STORY)
    assert "question" in refused(*model, STORY, "--query", " ")
    assert "kitchen" in refused(*model, "It rained .", "--query", "Where is Mary ?")
    assert "john, mary, bathroom" in refused(*model, STORY, "--query", "Where is Mary ?", "--target", "milk")


def test_a_premise_needs_a_hypothesis(ask, refused):
    model = "snli/bilstm-additive"
    assert "hypothesis" in refused("explain", "--model", model, "--text", "A man sleeps .")
    found = explain(ask, "A man sleeps .", "--query", "Nobody is awake .", model=model)
    assert set(found["prediction"]) == {"entailment", "neutral", "contradiction"}


def test_korean_pieces_are_merged_to_words(ask):
    found = explain(ask, "조용하지만 마음을 무너뜨리는 영화 , 정말 좋았다 .", model="nsmc/bilstm-additive")
    assert found["tokens"] == ["조용하지만", "마음을", "무너뜨리는", "영화", ",", "정말", "좋았다", "."]
    assert all(len(v) == 8 for v in found["scores"].values())
    assert sum(found["scores"]["attention"]) == pytest.approx(1)
