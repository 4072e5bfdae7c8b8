"""Attribution and its rivals from outside: the verbs, the rules of the integral, and the table over a data set."""

import json

import numpy as np
import pytest
import torch

from core import data, importance
from core.__main__ import main
from core.attattr import rivals
from core.attattr.attribution import RULES, attribution
from core.debate import rationales as debate
from core.experiments import EXPERIMENTS, shown
from core.experiments import attribution as experiment
from core.models import registry
from core.types import Example, Refusal
from tests.small import example
from tests.small_transformers import HEADS, LAYERS, small_transformer

MODEL, PAIRS, OTHER = "sst2/minilm", "mnli/minilm", "sst2/bilstm-additive"
REVIEW = "A quiet , unpretentiously good film that nobody saw ."
trained = pytest.mark.skipif(not {MODEL, PAIRS} <= set(registry.cards()), reason="no trained models: make models")


@pytest.fixture
def ask(capsys):
    """What a call prints, parsed."""

    def asked(*arguments: str) -> dict:
        status = main(arguments)
        out, err = capsys.readouterr()
        assert status == 0, err
        assert out.count("\n") == 1
        return json.loads(out)

    return asked


@trained
def test_attribute_adds_up_in_every_layer(ask):
    found = ask("attribute", "--model", MODEL, "--text", REVIEW)
    n = len(found["tokens"])
    assert found["tokens"][0] == "[CLS]" and found["tokens"][-1] == "[SEP]" and "##" in "".join(found["tokens"])
    assert (found["layers"], found["heads"], found["nodes"], found["rule"]) == (6, 12, 8, "gauss")
    assert np.array(found["total"]).shape == (n, n) and np.array(found["head_importance"]).shape == (6, 12)
    assert max(found["completeness_error"]) < 1e-3
    assert np.array(found["total"]).sum() == pytest.approx(sum(found["difference"]), abs=6e-3)
    assert found["target"] == max(found["prediction"], key=found["prediction"].__getitem__)


@trained
def test_the_two_classes_of_a_prediction_have_opposite_attributions(ask):
    one, other = (ask("attribute", "--model", MODEL, "--text", "bad film", "--target", t) for t in ("negative", "positive"))
    np.testing.assert_allclose(one["total"], -np.array(other["total"]), atol=1e-12)


@trained
def test_a_coarse_rule_misses_more(ask):
    """With few steps the sums of the paper and of its code are further from the law than eight Gauss nodes are."""
    errors = {
        rule: max(ask("attribute", "--model", MODEL, "--text", REVIEW, "--rule", rule)["completeness_error"]) for rule in RULES
    }
    assert errors["gauss"] < errors["right"] and errors["gauss"] < errors["left"]
    finer = ask("attribute", "--model", MODEL, "--text", REVIEW, "--rule", "right", "--nodes", "64")["completeness_error"]
    assert max(finer) < errors["right"]


@trained
def test_rollout_has_rows_that_sum_to_one(ask):
    found = ask("rollout", "--model", PAIRS, "--text", "Two dogs run .", "--query", "Animals move .")
    weights = np.array(found["weights"])
    assert weights.shape == (len(found["tokens"]),) * 2 and weights.min() >= 0
    np.testing.assert_allclose(weights.sum(-1), 1)
    assert sum(found["prediction"].values()) == pytest.approx(1)


@trained
@pytest.mark.parametrize("text", ["good", "🙂🙂", "فيلم جميل", "<b>good</b>", "조용한 영화", "a" * 3000])
def test_any_text_is_answered(ask, text):
    found = ask("attribute", "--model", MODEL, "--text", text, "--nodes", "2")
    assert len(found["total"]) == len(found["tokens"]) >= 3
    assert len(ask("rollout", "--model", MODEL, "--text", text)["weights"]) == len(found["tokens"])


@trained
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("attribute", "--model", OTHER, "--text", REVIEW), "minilm"),
        (("rollout", "--model", OTHER, "--text", REVIEW), "minilm"),
        (("attribute", "--model", MODEL, "--text", " "), "blank"),
        (("attribute", "--model", MODEL, "--text", REVIEW, "--nodes", "0"), "between 1 and 64"),
        (("attribute", "--model", MODEL, "--text", REVIEW, "--nodes", "65"), "between 1 and 64"),
        (("attribute", "--model", MODEL, "--text", REVIEW, "--nodes", "many"), "--nodes"),
        (("attribute", "--model", MODEL, "--text", REVIEW, "--rule", "middle"), "gauss, right, left"),
        (("attribute", "--model", MODEL, "--text", REVIEW, "--target", "fine"), "negative, positive"),
        (("attribute", "--model", PAIRS, "--text", REVIEW), "hypothesis"),
        (("rollout", "--model", MODEL, "--text", REVIEW, "--query", "why ?"), "no query"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_line(capsys, arguments, says):
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and says in err


def test_the_rules_of_the_integral_by_hand():
    """∫ x² dx = 1/3: two Gauss nodes are exact, four steps give 15/32 at the right ends and 7/32 at the left ones."""
    sums = {
        rule: float((lambda x, w: (w * x**2).sum())(*RULES[rule](n))) for rule, n in (("gauss", 2), ("right", 4), ("left", 4))
    }
    assert sums == pytest.approx({"gauss": 1 / 3, "right": 15 / 32, "left": 7 / 32})


def test_the_sums_converge_to_each_other():
    model = small_transformer().precise()
    batch = model.encode([example("the films is quietly good")])
    fine = {rule: attribution(model, batch, nodes=64, rule=rule).attribution for rule in RULES}
    coarse = {rule: attribution(model, batch, nodes=4, rule=rule).attribution for rule in RULES}
    for a, b in (("gauss", "right"), ("gauss", "left"), ("left", "right")):
        assert (fine[a] - fine[b]).abs().max() < (coarse[a] - coarse[b]).abs().max()
    torch.testing.assert_close((fine["left"] + fine["right"]) / 2, fine["gauss"], atol=2e-3, rtol=0)


def test_a_table_has_every_method_for_every_example():
    model, asked = small_transformer("nli"), [example("the film is good", "nobody saw films", 1), example("bad", "good", 0)]
    rows = experiment.compared(model, asked)
    assert len(rows) == 2 and [row["n_rated"] for row in rows] == [7, 2]
    assert sum(name.endswith(":comprehensiveness") for name in rows[0]) == len(rivals.RIVALS) + 1
    assert sum("~" in name for name in rows[0]) == 9 * 8 // 2
    assert sum(name.startswith("tau ") for name in rows[0]) == LAYERS * HEADS
    for layer in range(LAYERS):
        assert 0 < rows[0][f"layer{layer}:special"] < 1 and 0 < rows[0][f"layer{layer}:special_attribution"] < 1
        assert rows[0][f"layer{layer}:error"] < 0.2


def test_a_table_says_what_the_parts_say():
    """Each figure of a row against the functions that the pages use."""
    model = small_transformer()
    one = example("the films is quietly good", label=1)
    (row,), batch = experiment.compared(model, [one]), model.encode([one])
    target = model.run(batch).logits.argmax(-1)
    found = attribution(model, batch, target=target)
    assert row["layer1:error"] == pytest.approx(float(found.error[0, 1]), abs=1e-6)
    special = ~batch.mask[0]
    assert row["layer2:special"] == pytest.approx(float(found.attention[0, 2, :, :, special].sum(-1).mean()), abs=1e-6)
    scores = rivals.compare(model, batch, target)
    effects = debate.faithfulness(model, one, {"norms": scores["norms"].words[0]})["norms"]
    assert row["norms:comprehensiveness"] == pytest.approx(effects.comprehensiveness, abs=1e-6)
    assert row["norms:sufficiency"] == pytest.approx(effects.sufficiency, abs=1e-6)


def test_deleting_what_matters_is_measured_on_both_texts():
    model = small_transformer("nli").precise()
    pair = example("the film is good", "nobody saw films")
    prob = importance.probabilities(model.run(model.encode([pair])).logits)[0]
    target = int(prob.argmax())
    (effect,) = debate.effects(model, pair, [{1, 4, 5}])
    for left, measured in (
        (Example("x", ("the", "is", "good"), ("films",)), effect.comprehensiveness),
        (Example("x", ("film",), ("nobody", "saw")), effect.sufficiency),
    ):
        rest = importance.probabilities(model.run(model.encode([left])).logits)[0]
        assert measured == pytest.approx(float(prob[target] - rest[target]), abs=1e-9)
    with pytest.raises(Refusal, match="words 0 to 6"):
        debate.effects(model, pair, [{7}])


def test_one_word_has_no_ranking():
    (row,) = experiment.compared(small_transformer(), [example("bad", label=0)])
    assert row["attention~rollout:tau"] is None and row["attention:comprehensiveness"] is None


def test_agreement_of_methods_by_hand():
    scores = {name: [0.1, 0.2, 0.3] for name in rivals.RIVALS} | {"norms": [0.3, -0.2, 0.1], "leave_one_out": []}
    found = experiment.agreements(scores)
    assert found["attention~rollout:tau"] == 1 and found["attention~norms:tau"] == -1
    assert found["attention~leave_one_out:tau"] is None


def test_sentences_whole_and_pairs_in_part(monkeypatch):
    asked = []
    monkeypatch.setattr(data, "load", lambda source, split, limit: asked.append((source, limit)) or [])
    for source, limit in (("sst2", None), ("mnli", None), ("rte", 7), ("sst2", 5)):
        experiment.examples(source, "test", limit)
    assert asked == [("sst2", None), ("mnli", 300), ("rte", 7), ("sst2", 5)]


def test_the_table_is_registered_and_shown():
    assert EXPERIMENTS["attribution"].rows is experiment.compared and not EXPERIMENTS["attribution"].precise
    names = [model for name, model in shown() if name == "attribution"]
    assert set(names) == {name for name in registry.cards() if name.endswith("/minilm")}
