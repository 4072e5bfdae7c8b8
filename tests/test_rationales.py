"""Plausible and faithful, as numbers: by hand, against scikit-learn, and by law on small models."""

import dataclasses
import warnings
from math import ceil

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from core import importance
from core.debate import rationales
from core.debate.rationales import THRESHOLDS, Effect, aopc, chance, effects, faithfulness, highest, plausibility, size
from core.experiments import rationales as experiment
from core.models.classifier import Classifier
from core.types import Example, Refusal
from tests.small import example, examples, small_model


def prob(model: Classifier, text: Example) -> np.ndarray:
    return importance.probabilities(model.run(model.encode([text])).logits)[0].numpy()


def test_plausibility_by_hand() -> None:
    """Marked words stand at ranks 1, 3 and 5 of five: precision 1, 2/3 and 3/5 there."""
    found = plausibility([0.9, 0.1, 0.5, 0.2, 0.3], {0, 1, 4})
    assert found.auprc == pytest.approx((1 + 2 / 3 + 3 / 5) / 3)
    assert found.k == 3 and found.f1 == pytest.approx(2 / 3)
    assert found.mass == pytest.approx(1.3 / 2.0)
    two = plausibility([0.9, 0.1, 0.5, 0.2, 0.3], {0, 1, 4}, k=2)
    assert two.f1 == pytest.approx(2 * 1 / (2 + 3)) and two.auprc == found.auprc


def test_equal_scores_are_taken_together() -> None:
    """One of two words is marked and both score the same: precision 1/2 whichever of them it is."""
    assert plausibility([3.0, 3.0], [0]).auprc == plausibility([3.0, 3.0], [1]).auprc == 0.5
    assert plausibility([0.0] * 7, [2, 6]).auprc == pytest.approx(2 / 7)


def test_mass_takes_magnitudes_and_rankings_take_signs() -> None:
    found = plausibility([-3.0, 1.0], [0])
    assert found.mass == 0.75 and found.auprc == 0.5 and found.f1 == 0


@pytest.mark.parametrize("marked", [(), range(3)])
def test_nothing_and_everything_marked_have_no_ranking(marked: range) -> None:
    found = plausibility([0.2, 0.5, 0.3], marked)
    assert found.auprc is None
    assert (found.f1, found.mass) == ((1.0, pytest.approx(1.0)) if marked else (None, None))


def test_scores_of_zero_have_no_mass() -> None:
    assert plausibility([0.0, 0.0, 0.0], [1]).mass is None


@given(st.lists(st.tuples(st.integers(-4, 4), st.booleans()), min_size=1, max_size=40))
def test_average_precision_is_that_of_scikit_learn(rows: list[tuple[int, bool]]) -> None:
    scores, truth = [row[0] / 4 for row in rows], [row[1] for row in rows]
    found = rationales.average_precision(scores, [i for i, true in enumerate(truth) if true])
    if not any(truth) or all(truth):
        assert found is None
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert found == pytest.approx(average_precision_score(truth, scores))


def test_chance_finds_as_many_as_there_are() -> None:
    """Over many texts the random score's AUPRC and F1 come to the share of marked words."""
    marked = set(range(0, 100, 3))
    found = [plausibility(chance([f"w{i}-{text}" for i in range(100)], seed=3), marked) for text in range(300)]
    assert np.mean([one.f1 for one in found if one.f1 is not None]) == pytest.approx(0.34, abs=0.01)
    assert np.mean([one.auprc for one in found if one.auprc is not None]) == pytest.approx(0.34, abs=0.03)
    assert np.mean([one.mass for one in found if one.mass is not None]) == pytest.approx(0.34, abs=0.01)


def test_chance_is_the_same_for_the_same_text_and_seed() -> None:
    words = ("a", "quiet", "film")
    assert chance(words, 7) == chance(words, 7) != chance(words, 8)
    assert chance(words, 7) != chance(("a", "good", "film"), 7)
    assert all(0 <= value < 1 for value in chance(words, 7))
    for seed in (-1, 2**31):
        with pytest.raises(Refusal, match="seed"):
            chance(words, seed)


def test_positions_and_k_outside_the_text_are_refused() -> None:
    for position in (-1, 3):
        with pytest.raises(Refusal, match="words 0 to 2"):
            plausibility([1.0, 2.0, 3.0], [position])
    with pytest.raises(Refusal, match="between 1 and"):
        plausibility([1.0, 2.0, 3.0], [1], k=4)


def test_equals_are_ranked_by_position() -> None:
    assert highest([0.5, 1.0, 0.5, 1.0]) == [1, 3, 0, 2]


def test_a_threshold_takes_its_share_rounded_up_and_never_all() -> None:
    assert [size(20, share) for share in THRESHOLDS] == [1, 1, 2, 4, 10]
    assert [size(300, share) for share in THRESHOLDS] == [3, 15, 30, 60, 150]
    assert [size(2, share) for share in THRESHOLDS] == [1] * 5 and size(1, 0.5) == 0
    assert all(size(n, share) == max(1, ceil(round(share * n, 9))) for n in range(2, 600) for share in THRESHOLDS)


def test_the_average_is_plain_and_as_printed_five_sixths_of_it() -> None:
    values = [0.1, 0.2, 0.3, 0.4, 0.5]
    assert aopc(values) == pytest.approx(0.3)
    assert aopc(values, as_printed=True) == pytest.approx(1.5 / 6)
    assert aopc([0.1, None]) is None and aopc([]) is None


@pytest.mark.parametrize("encoder", ["bilstm", "cnn", "average"])
@pytest.mark.parametrize("kind", ["classification", "qa", "nli"])
def test_effects_are_what_the_model_says_of_the_shortened_text(encoder: str, kind: str) -> None:
    model = small_model(encoder, kind=kind).precise()  # type: ignore[arg-type]
    text = examples(kind)[2]  # type: ignore[arg-type]
    marked = [1, 4, 7]
    (found,) = effects(model, text, [marked])
    before = prob(model, text)
    rest = dataclasses.replace(text, text=tuple(w for i, w in enumerate(text.text) if i not in marked))
    only = dataclasses.replace(text, text=tuple(text.text[i] for i in marked))
    label = before.argmax()
    assert found.comprehensiveness == pytest.approx(before[label] - prob(model, rest)[label], abs=1e-12)
    assert found.sufficiency == pytest.approx(before[label] - prob(model, only)[label], abs=1e-12)


def test_removing_nothing_changes_nothing_and_removing_everything_leaves_no_text() -> None:
    model, text = small_model().precise(), examples()[0]
    nothing, everything = effects(model, text, [[], range(5)])
    assert (nothing.comprehensiveness, nothing.sufficiency) == (pytest.approx(0, abs=1e-12), None)
    assert (everything.comprehensiveness, everything.sufficiency) == (None, pytest.approx(0, abs=1e-12))


def test_the_effects_of_a_set_are_those_of_its_complement_exchanged() -> None:
    model, text = small_model().precise(), examples()[2]
    one, other = effects(model, text, [[0, 3, 9], [1, 2, 4, 5, 6, 7, 8, 10]])
    assert (one.comprehensiveness, one.sufficiency) == (other.sufficiency, other.comprehensiveness)


def test_faithfulness_takes_the_highest_words_of_each_threshold() -> None:
    model, text = small_model().precise(), examples()[2]
    scores = list(chance(text.text, 5))
    found = faithfulness(model, text, {"some": scores, "none": [-x for x in scores]})
    assert found["some"].sizes == (1, 1, 2, 3, 6)
    sets = [highest(scores)[:k] for k in found["some"].sizes]
    assert list(found["some"].effects) == effects(model, text, sets)
    values = [effect.comprehensiveness for effect in found["some"].effects]
    assert found["some"].comprehensiveness == pytest.approx(sum(v for v in values if v is not None) / 5)
    assert found["some"] != found["none"]


def test_long_texts_are_read_in_parts_and_come_out_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    model, text = small_model().precise(), examples()[2]
    sets = [[0], [1, 2], [3, 4, 5], [6, 7, 8, 9, 10]]
    together = effects(model, text, sets)
    monkeypatch.setattr(rationales, "TOKENS_AT_ONCE", 14)
    for one, other in zip(together, effects(model, text, sets), strict=True):
        assert dataclasses.astuple(one) == pytest.approx(dataclasses.astuple(other), abs=1e-12)


def test_one_word_cannot_be_parted() -> None:
    found = faithfulness(small_model().precise(), example("film"), {"attention": [1.0]})["attention"]
    assert found.sizes == (0,) * 5 and found.comprehensiveness is None and found.sufficiency is None


def test_only_the_labels_that_may_be_answered_are_asked() -> None:
    model, text = small_model(kind="qa").precise(), examples("qa")[0]  # candidates are the first two of three labels
    (found,) = effects(model, text, [[0]])
    assert found.comprehensiveness is not None and abs(found.comprehensiveness) < 1
    unbound = effects(model, dataclasses.replace(text, candidates=()), [[0]])[0]
    assert unbound.comprehensiveness != found.comprehensiveness


def rows(**changes: object) -> list[dict[str, object]]:
    marked = [dataclasses.replace(e, evidence=(0, 1), **changes) for e in examples()]  # type: ignore[arg-type]
    return experiment.rationales(small_model().precise(), marked)


def test_the_rows_of_the_experiment_are_the_functions_of_this_module() -> None:
    model, found = small_model().precise(), rows()
    text = dataclasses.replace(examples()[2], evidence=(0, 1))
    row = found[2]
    attention = importance.to_words(batch := model.encode([text]), importance.attention(model, batch))[0]
    assert row["attention:auprc"] == pytest.approx(plausibility(attention, [0, 1]).auprc)
    assert row["attention:mass"] == pytest.approx(attention[0] + attention[1])
    assert row["attention:comprehensiveness"] == pytest.approx(faithfulness(model, text, {"": attention})[""].comprehensiveness)
    assert row["random:auprc"] == plausibility(chance(text.text, 0), [0, 1]).auprc
    people = effects(model, text, [[0, 1]])[0]
    assert Effect(row["people:comprehensiveness"], row["people:sufficiency"]) == people  # type: ignore[arg-type]
    assert (row["marked"], row["kept"], row["n_words"]) == (2 / 11, 1.0, 11)
    assert row["attention:sufficiency@0.5"] is not None


def test_signs_count_where_a_measure_has_them() -> None:
    model, text = small_model().precise(), dataclasses.replace(examples()[2], evidence=(3, 4))
    row = experiment.rationales(model, [text])[0]
    with torch.no_grad():
        target = model.run(batch := model.encode([text])).logits.argmax(-1)
    _, change = importance.leave_one_out(model, batch, target=target)
    assert row["leave_one_out:auprc"] == pytest.approx(plausibility(change[0], [3, 4]).auprc)


def test_signed_measures_are_given_by_magnitude_too() -> None:
    model, text = small_model().precise(), dataclasses.replace(examples()[2], evidence=(3, 4))
    row = experiment.rationales(model, [text])[0]
    with torch.no_grad():
        target = model.run(batch := model.encode([text])).logits.argmax(-1)
    moved, _ = importance.leave_one_out(model, batch, target=target)
    assert row["|leave_one_out|:auprc"] == pytest.approx(plausibility(moved[0], [3, 4]).auprc)
    own = faithfulness(model, text, {"": moved[0]})[""]
    assert row["|leave_one_out|:comprehensiveness"] == pytest.approx(own.comprehensiveness)
    assert "|attention|:auprc" not in row and row["input_x_gradient:auprc"] is not None


def test_a_document_without_marks_has_no_plausibility_and_keeps_its_faithfulness() -> None:
    row = experiment.rationales(small_model().precise(), examples()[2:])[0]
    assert row["attention:auprc"] is None and row["people:comprehensiveness"] is None and row["marked"] == 0
    assert row["attention:comprehensiveness"] is not None


def test_a_single_word_is_a_row_too() -> None:
    row = experiment.rationales(small_model().precise(), [dataclasses.replace(example("film"), evidence=(0,))])[0]
    assert "leave_one_out:auprc" not in row and row["attention:comprehensiveness"] is None


def test_what_a_cut_leaves_of_the_marks_is_told() -> None:
    model = small_model()
    model.card = dataclasses.replace(model.card, max_tokens=5)
    long = dataclasses.replace(examples()[2], evidence=(1, 4, 5, 9))
    row = experiment.rationales(model.precise(), [long])[0]
    assert (row["n_words"], row["kept"], row["marked"]) == (5, 0.5, 2 / 5)
