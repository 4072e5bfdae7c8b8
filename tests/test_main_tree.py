"""`python -m core tree`: the attribution tree of a text."""

import pytest

from core.__main__ import main
from core.models import registry

MODEL, PAIRS, OTHER = "sst2/minilm", "mnli/minilm", "sst2/bilstm-additive"
REVIEW = "A quiet , unhurried film that nobody saw , and not a dull minute in it ."
pytestmark = pytest.mark.skipif(not {MODEL, PAIRS} <= set(registry.cards()), reason="no trained models: make models")


@pytest.fixture
def grown(answer):
    """What a call prints, parsed."""
    return lambda text, *more, model=MODEL, stdin=b"": answer("tree", "--model", model, "--text", text, *more, stdin=stdin)


def test_a_tree_of_pieces(grown):
    found = grown(REVIEW)
    assert found["tokens"][0] == "[CLS]" and found["tokens"][-1] == "[SEP]" and "un" in found["tokens"]
    assert found["target"] == max(found["prediction"], key=found["prediction"].get)
    assert found["prob"] == pytest.approx(found["prediction"][found["target"]])
    assert found["edges"] and 0 < found["root"] < len(found["tokens"]) and 0 <= found["prob_without"] <= 1
    joined = {found["root"]: 5}
    for edge in found["edges"]:
        assert edge["layer"] < joined[edge["to"]] and edge["from"] not in joined and edge["weight"] > 0
        joined[edge["from"]] = edge["layer"]
    assert len(found["completeness_error"]) == 6 and max(found["completeness_error"]) < 1e-3


def test_thresholds_and_target_are_used(grown):
    free, strict = grown(REVIEW, "--tau", "0.1"), grown(REVIEW, "--tau", "0.9")
    assert len(free["edges"]) > len(strict["edges"]) and free["root"] == strict["root"]
    none = grown(REVIEW, "--lambda", "1")
    assert none["edges"] == [] and any("no edge" in note for note in none["notes"])
    assert none["prob_without"] == pytest.approx(none["prob"])
    other = min(free["prediction"], key=free["prediction"].get)
    assert grown(REVIEW, "--target", other)["target"] == other


@pytest.mark.parametrize("text", ["good", "🙂🙂 good", "فيلم جميل", "<b>good</b>", "good " * 200])
def test_short_long_and_strange_texts_are_answered(grown, text):
    found = grown(text)
    assert len(found["tokens"]) <= 128 and (found["cut"] > 0) == (len(text) > 900)


def test_a_pair_and_standard_input_are_read(grown):
    found = grown("-", "--query", "Somebody sleeps .", model=PAIRS, stdin=b"A man plays the guitar .")
    assert found["tokens"].count("[SEP]") == 2 and set(found["prediction"]) == {"entailment", "neutral", "contradiction"}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--model", OTHER, "--text", REVIEW), "minilm"),
        (("--model", MODEL, "--text", "  "), "blank"),
        (("--model", MODEL, "--text", REVIEW, "--query", "why ?"), "no query"),
        (("--model", PAIRS, "--text", REVIEW), "hypothesis"),
        (("--model", MODEL, "--text", REVIEW, "--target", "angry"), "positive"),
        (("--model", MODEL, "--text", REVIEW, "--tau", "2"), "between 0 and 1"),
        (("--model", MODEL, "--text", REVIEW, "--lambda", "nan"), "between 0 and 1"),
        (("--model", MODEL, "--text", REVIEW, "--tau", "much"), "--tau"),
        (("--model", MODEL), "--text"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_line(capsys, arguments, says):
    assert main(("tree", *arguments)) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and says in err
