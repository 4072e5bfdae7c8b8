"""What the rationales page shows: codes of marks by law, one text under every measure, and test sets summed up by hand."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.debate.rationales import chance, faithfulness, plausibility
from core.models.classifier import Classifier
from core.reading import Reading
from core.types import Refusal
from dashboard import codes, link, plausible, resources, texts
from dashboard.plausible import MEASURES, Judged
from tests.small import example, examples, small_model

NAN = float("nan")
ONE, OTHER = "movie_rationales/bilstm-additive", "babi1/average-additive"


def judged(model: Classifier, reading: Reading, seed: int) -> Judged:
    return plausible.with_chance(plausible.judged(model, reading), plausible.drawn(model, reading, seed=seed))


def found(row: int = 2, kind: str = "classification") -> Judged:
    return judged(small_model(kind=kind), Reading(examples(kind)[row], 0, ()), seed=3)  # type: ignore[arg-type]


@given(st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=30), st.data())
def test_marks_come_back_from_their_code(words: list[str], data: st.DataObject) -> None:
    marked = data.draw(st.sets(st.integers(0, len(words) - 1)))
    code = codes.written(words, marked)
    assert code in codes.MARKED
    assert codes.read(words, code) == tuple(sorted(marked))


def test_a_code_is_about_one_text_and_its_words() -> None:
    code = codes.written(["a", "good", "film"], [1, 2])
    assert codes.read(["a", "bad", "film"], code) is None
    assert codes.read(["a", "good", "film"], code.replace(".2", ".3")) is None
    assert codes.read(["a", "good", "film"], "") is None
    assert codes.read(["a", "good", "film"], codes.written(["a", "good", "film"], [])) == ()


STRANGE = ("x", "9c41.", "9c41.-1", "9C41.3", "9c41.٣", "9c41.3\n", "9c41" + ".1" * 601, "9c41.99999", None)


@pytest.mark.parametrize("code", STRANGE)
def test_what_is_no_code_is_not_allowed(code: str | None) -> None:
    assert code not in codes.MARKED


def test_the_link_takes_a_code_and_names_what_is_none() -> None:
    keys = {"rationales_marked": codes.MARKED}
    settings = {"locale": "en", "cards": {}, "samples": lambda name: (), "own_keys": keys}
    good, notes = link.read({"rationales_marked": "9c41.3.8"}, **settings)  # type: ignore[arg-type]
    assert good.keys == {"rationales_marked": "9c41.3.8"} and [n.code for n in notes if "marked" in n.sentence] == []
    bad, notes = link.read({"rationales_marked": "<b>"}, **settings)  # type: ignore[arg-type]
    assert bad.keys == {"rationales_marked": ""}
    assert any(note.values.get("given") == "<b>" and note.values["allowed"] == ("9c41.3.8",) for note in notes)


@pytest.mark.parametrize("kind", ["classification", "qa", "nli"])
def test_a_text_is_judged_by_every_measure(kind: str) -> None:
    one, model = found(kind=kind), small_model(kind=kind).precise()  # type: ignore[arg-type]
    assert set(one.scores) == set(one.faithful) == set(MEASURES) and one.signed == {"leave_one_out", "integrated_gradients"}
    assert one.scores["random"] == chance(one.words, 3)
    assert sum(x for x in one.scores["attention"] if x is not None) == pytest.approx(1)
    own = faithfulness(model, examples(kind)[2], {"a": [x or 0.0 for x in one.scores["attention"]]})["a"]  # type: ignore[arg-type]
    assert one.faithful["attention"] == own
    assert one.predicted == max(one.prediction, key=lambda name: one.prediction[name])


def test_the_table_holds_the_metrics_of_core() -> None:
    one, marked = found(), (0, 4)
    table = plausible.table(one, marked, "plain").set_index("measure")
    assert list(table.index) == list(MEASURES)
    for name in MEASURES:
        agreed = plausibility([x or 0.0 for x in one.scores[name]], marked)
        assert (table.loc[name, "auprc"], table.loc[name, "f1"]) == (agreed.auprc, agreed.f1)
        assert table.loc[name, "comprehensiveness"] == one.faithful[name].comprehensiveness
    sixth = plausible.table(one, marked, "printed").set_index("measure")
    np.testing.assert_allclose(sixth["sufficiency"], table["sufficiency"] * 5 / 6)
    assert (sixth["auprc"] == table["auprc"]).all()


def test_without_marks_only_the_model_is_asked() -> None:
    table = plausible.table(found(), (), "plain")
    assert table[["auprc", "f1"]].isna().all(axis=None) and table["comprehensiveness"].notna().all()
    assert plausible.best(table, "auprc") == [] and len(plausible.best(table, "comprehensiveness")) >= 1


def test_the_best_leaves_chance_aside_and_names_equals() -> None:
    table = pd.DataFrame({"measure": ["attention", "gradient", "leave_one_out", "random"], "auprc": [0.5, 0.5, NAN, 0.9]})
    assert plausible.best(table, "auprc") == ["attention", "gradient"]


def test_thresholds_are_told_one_by_one() -> None:
    one = found()
    told = plausible.by_threshold(one)
    assert len(told) == 25 and told["words"].tolist()[:5] == [1, 1, 2, 3, 6]
    means = told.groupby("measure")["comprehensiveness"].mean()
    assert means["attention"] == pytest.approx(one.faithful["attention"].comprehensiveness)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_strips_show_marks_and_agreement(lang: str) -> None:
    one, t = found(), texts.page("rationales", lang)
    you, *rows = plausible.rows(t, one, (0, 4))
    assert list(you.weights) == [1.0, 0, 0, 0, 1.0] + [0.0] * 6
    assert [row.signed for row in rows] == [False, False, True, True, False]
    agreed = plausibility([x or 0.0 for x in one.scores["attention"]], (0, 4))
    assert f"{agreed.auprc:.2f}" in rows[0].note and f"{agreed.f1:.2f}" in rows[0].note
    assert [row.note for row in plausible.rows(t, one, ())] == [""] * 5


def test_one_word_is_undefined_and_not_zero() -> None:
    one = judged(small_model(), Reading(example("film"), 0, ()), seed=0)
    assert one.scores["leave_one_out"] == (None,) and "leave_one_out" not in one.faithful
    table = plausible.table(one, (0,), "plain")
    assert table[["auprc", "comprehensiveness", "sufficiency"]].isna().all(axis=None)
    assert plausible.best(table, "comprehensiveness") == []


def frame() -> pd.DataFrame:
    """Four documents; the third has no marks, in the last the random scores win."""
    columns: dict[str, list[float]] = {"predicted": [0, 1, 1, 0], "label": [0, 1, 0, 0], "kept": [1, 0.5, 0, 0.5]}
    columns |= {"marked": [0.2, 0.4, 0.0, 0.2]}
    columns |= {"people:comprehensiveness": [0.1, 0.3, NAN, 0.2], "people:sufficiency": [0.0] * 4}
    auprc = {"attention": [0.9, 0.2, NAN, 0.4], "gradient": [0.5, 0.2, NAN, 0.3], "random": [0.1, 0.1, NAN, 0.9]}
    needed = {"attention": [0.2, 0.1, 0.3, 0.0], "gradient": [0.1, 0.4, 0.1, 0.5], "random": [0.0, 0.0, 0.0, 0.9]}
    for name in MEASURES:
        columns |= {f"{name}:auprc": auprc.get(name, [0.0, 0.0, NAN, 0.0]), f"{name}:f1": [0.5, 0.5, NAN, 0.5]}
        columns |= {f"{name}:comprehensiveness": needed.get(name, [0.0] * 4), f"{name}:sufficiency": [0.1] * 4}
        columns |= {f"{name}:mass": [0.6, 0.2, NAN, 0.4]}
    made = pd.DataFrame(columns)
    made.attrs["provenance"] = {"data": "movie_rationales", "split": "test", "n": 4, "command": "python -m core experiment"}
    return made


@pytest.fixture
def run_over_four(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def results(name: str, model: str) -> pd.DataFrame:
        if model not in (ONE, OTHER):
            raise Refusal("no_results", "not run", name=name, model=model)
        return frame()

    monkeypatch.setattr(resources, "results", results)
    yield


def test_families_by_hand(run_over_four: None) -> None:
    plain = plausible.families(ONE, "plausible", "plain").set_index(["group", "series"])
    assert plain.loc[("attention", "auprc"), ["mean", "n", "undefined"]].tolist() == [pytest.approx(0.5), 3, 1]
    faithful = plausible.families(ONE, "faithful", "printed").set_index(["group", "series"])
    assert faithful.loc[("gradient", "comprehensiveness"), "mean"] == pytest.approx(0.275 * 5 / 6)
    assert faithful.loc[("gradient", "sufficiency"), ["mean", "n"]].tolist() == [pytest.approx(0.1 * 5 / 6), 4]
    assert plausible.families(ONE, "plausible", "printed").equals(plausible.families(ONE, "plausible", "plain"))
    assert plausible.people(ONE, "comprehensiveness") == pytest.approx(0.2)


def test_what_the_sign_is_worth(run_over_four: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert plausible.unsigned(ONE, "plain") == {}
    more = {f"|{name}|:comprehensiveness": [0.1, 0.2, 0.3, 0.4] for name in ("leave_one_out", "integrated_gradients")}
    monkeypatch.setattr(resources, "results", lambda name, model: frame().assign(**more))
    assert plausible.unsigned(ONE, "plain") == {"leave_one_out": "0.25", "integrated_gradients": "0.25"}
    assert plausible.unsigned(ONE, "printed")["leave_one_out"] == "0.21"


def test_how_often_the_same_measure_wins(run_over_four: None) -> None:
    """First: attention twice. Second: both tie on AUPRC, gradient is needed. Fourth: attention, then gradient; chance aside."""
    same, dealt = plausible.winners(ONE).to_dict("records")
    assert (same["mean"], same["n"]) == (pytest.approx(2 / 3), 3)
    assert 0.3 < dealt["mean"] < 0.9 and dealt["n"] == 3


def test_stories_stand_beside_their_share(run_over_four: None) -> None:
    told = plausible.stories().set_index(["group", "series"])
    assert list(told.index) == [("babi1/average", "attention"), ("babi1/average", "share")]
    assert told["mean"].tolist() == pytest.approx([0.4, 0.2]) and told["accuracy"].tolist() == [0.75, 0.75]


def test_no_stories_is_an_empty_table(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str, model: str) -> pd.DataFrame:
        raise Refusal("no_results", "not run", name=name, model=model)

    monkeypatch.setattr(resources, "results", none)
    assert plausible.stories().empty


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_provenance_says_what_was_read_and_marked(run_over_four: None, lang: str) -> None:
    said = plausible.provenance(ONE, texts.page("rationales", lang))
    assert (said["kept"], said["marked"], said["accuracy"], said["n"]) == ("50", "20", "75", "4")
