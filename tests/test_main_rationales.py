"""`python -m core rationales`: scores of words held against marked ones, and against the model."""

import pytest

from core.__main__ import main
from core.models import registry

MODEL, STORIES = "sst2/bilstm-additive", "babi1/bilstm-additive"
REVIEW = "This is no masterpiece; it is barely a film."
STORY = "Mary moved to the bathroom . John went to the hallway ."
pytestmark = pytest.mark.skipif(MODEL not in registry.cards(), reason="no trained models: make models")


@pytest.fixture
def judged(answer):
    """What a call prints, parsed."""
    return lambda *arguments, model=MODEL, stdin=b"": answer("rationales", "--model", model, *arguments, stdin=stdin)


def test_every_measure_is_judged(judged):
    found = judged("--text", REVIEW, "--marked", "7, 2,3,3")
    assert found["marked"] == [2, 3, 7] and found["target"] == "negative" and found["undefined"] == []
    assert set(found["measures"]) == {"attention", "gradient", "leave_one_out", "integrated_gradients", "random"}
    assert found["thresholds"] == [0.01, 0.05, 0.1, 0.2, 0.5]
    for one in found["measures"].values():
        assert len(one["scores"]) == len(found["tokens"]) == 11 and one["k"] == 3
        assert 0 <= one["auprc"] <= 1 and 0 <= one["f1"] <= 1 and 0 <= one["mass"] <= 1
        parts = [at["comprehensiveness"] for at in one["at_thresholds"]]
        assert one["comprehensiveness"] == pytest.approx(sum(parts) / 5)
        assert [at["words"] for at in one["at_thresholds"]] == [1, 1, 2, 3, 6]
    loo = found["measures"]["leave_one_out"]
    assert loo["at_thresholds"][0]["comprehensiveness"] == pytest.approx(max(loo["scores"]))
    assert -1 <= found["own"]["comprehensiveness"] <= 1


def test_without_marks_agreement_is_null(judged):
    found = judged("--text", REVIEW)
    assert found["marked"] == [] and found["own"]["sufficiency"] is None
    one = found["measures"]["attention"]
    assert one["auprc"] is one["f1"] is one["mass"] is None and one["comprehensiveness"] is not None


def test_one_word_is_null_where_it_is_undefined(judged):
    found = judged("--text", "Wonderful", "--marked", "0")
    assert found["undefined"] == ["leave_one_out"]
    one = found["measures"]["attention"]
    assert one["comprehensiveness"] is one["sufficiency"] is one["auprc"] is None and one["f1"] == 1


def test_the_seed_decides_the_random_scores(judged):
    first, second = (judged("--text", REVIEW, "--seed", seed)["measures"] for seed in ("1", "2"))
    assert first["random"]["scores"] != second["random"]["scores"] and first["attention"] == second["attention"]


def test_a_story_and_its_question_from_standard_input(judged):
    if STORIES not in registry.cards():
        pytest.skip("no trained model: make models")
    found = judged("--text", "-", "--query", "Where is Mary ?", "--marked", "0,1,2,3,4,5", model=STORIES, stdin=STORY.encode())
    assert found["target"] in ("bathroom", "hallway", "mary", "john") and len(found["tokens"]) == 12


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--text", REVIEW, "--marked", "11"), "words 0 to 10"),
        (("--text", REVIEW, "--marked=-1"), "positions of words"),
        (("--text", REVIEW, "--marked", "barely"), "positions of words"),
        (("--text", REVIEW, "--seed", "-1"), "--seed is -1"),
        (("--text", " "), "blank"),
        ((), "--text"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_line(capsys, arguments, says):
    assert main(("rationales", "--model", MODEL, *arguments)) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and says in err
