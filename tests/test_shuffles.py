"""What the permutation page shows: shuffles of one text by law, and test sets parted by hand."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from core import experiments
from core.reading import Reading
from core.types import Refusal
from dashboard import resources, shuffles, texts
from dashboard.shuffles import Shuffled, shuffled
from tests.small import example, examples, small_card, small_model

NAN = float("nan")
TWO, THREE, MANY = "sst2/bilstm-additive", "snli/bilstm-additive", "babi1/bilstm-additive"
SPARSE, MISSING = f"{TWO}:sparsemax", "sst2/cnn-additive"
FRAME = pd.DataFrame(
    {
        "predicted": [0] * 11 + [1, 1, 0],
        "max_attention": [0.2499] * 11 + [0.25, 0.75, 1.0],
        "median_tvd": [0.01 * i for i in range(11)] + [0.3, 0.4, 0.0],
        "q95_tvd": [0.02 * i for i in range(11)] + [0.5, 0.6, 0.0],
        "flipped": [0.0] * 12 + [0.7, 0.0],
    }
).astype("float32")


def card(name: str, kind: str = "classification"):
    from dataclasses import replace

    made = small_card(kind=kind, normalizer="sparsemax" if "sparsemax" in name else "softmax")  # type: ignore[arg-type]
    labels = made.task.labels if kind != "qa" else ("kitchen", "garden", "mary", "office")
    return replace(made, name=name, task=replace(made.task, name=name.split("/")[0], labels=labels))


@pytest.fixture
def run_over_fourteen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All models but one were run over the same fourteen sentences."""
    cards = {name: card(name) for name in (TWO, MISSING, SPARSE)} | {THREE: card(THREE, "nli"), MANY: card(MANY, "qa")}

    def results(name: str, model: str) -> pd.DataFrame:
        if model not in cards or model == MISSING:
            raise Refusal("no_results", "not run", name=name, model=model)
        return FRAME

    monkeypatch.setattr(resources, "results", results)
    monkeypatch.setattr(resources, "cards", lambda: cards)
    monkeypatch.setattr(resources, "table", lambda function, *names: function(*names))
    yield


def found(kind: str = "classification", row: int = 2, n: int = 25, seed: int = 3) -> Shuffled:
    return shuffled(small_model(kind=kind), Reading(examples(kind)[row], 0, ()), seed=seed, n=n)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["classification", "qa", "nli"])
def test_shuffles_are_the_same_weights_on_other_words(kind: str) -> None:
    one = found(kind)
    assert one.shuffles.shape == (25, 11) and one.attention.sum() == pytest.approx(1)
    np.testing.assert_array_equal(np.sort(one.shuffles, axis=1), np.sort(one.attention)[None].repeat(25, 0))
    assert one.prob.shape == (25, len(one.labels)) and one.original.shape == (len(one.labels),)
    np.testing.assert_allclose(one.prob.sum(-1), 1)
    np.testing.assert_allclose(one.tvd, np.abs(one.prob - one.original).sum(-1) / 2, atol=1e-12)


def test_each_shuffle_shown_gives_the_prediction_shown() -> None:
    from core.models.contributions import contributions

    one, model = found(), small_model().precise()
    words = contributions(model, model.encode([examples()[2]]))
    import torch

    prob = words.prob(torch.from_numpy(one.shuffles)[None])[0]
    np.testing.assert_allclose(prob, one.prob, atol=1e-12)


def test_only_labels_that_may_be_answered_are_kept() -> None:
    assert found("qa").labels == ("garden", "mary")
    assert found("qa").predicted in found("qa").labels


def test_the_shuffle_shown_is_nearest_the_median_or_farthest() -> None:
    one = found()
    assert abs(one.tvd[one.shown("median")] - np.median(one.tvd)) == np.abs(one.tvd - np.median(one.tvd)).min()
    assert one.tvd[one.shown("extreme")] == one.tvd.max()
    assert one.flipped == sum(row.argmax() != one.original.argmax() for row in one.prob)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_rows_say_what_they_predict(lang: str) -> None:
    one, t = found(), texts.page("permutation", lang)
    learned, other = shuffles.rows(t, one, "positive", "extreme")
    draw = one.shown("extreme")
    assert list(learned.weights) == one.attention.tolist() and list(other.weights) == one.shuffles[draw].tolist()
    assert f"{one.original[1]:.2f}" in learned.note and f"{one.attention.max():.2f}" in learned.note
    assert f"{one.prob[draw, 1]:.2f}" in other.note and f"{one.tvd[draw]:.3f}" in other.note
    assert str(draw + 1) in other.label and other.side == "charge" and learned.side is None


def test_a_cloud_has_a_row_for_every_shuffle() -> None:
    one = found()
    cloud = shuffles.cloud(one, "negative")
    assert cloud["shuffle"].tolist() == list(range(1, 26))
    np.testing.assert_array_equal(cloud["p"], one.prob[:, 0])


def test_one_word_is_said_to_have_one_order() -> None:
    one = shuffled(small_model(), Reading(example("film"), 0, ()), seed=0)
    assert one.tvd.tolist() == [0.0] * 100 and one.median == 0
    assert shuffles.reading(texts.page("permutation", "en"), one).startswith("One word")


def test_bins_are_those_of_the_paper(run_over_fourteen: None) -> None:
    assert shuffles.binned(TWO)["bin"].tolist() == [0] * 11 + [1, 3, 3]
    assert [shuffles.bin_of(w) for w in (0.0, 0.2499, 0.25, 0.5, 0.7499, 0.75, 1.0)] == [0, 0, 1, 2, 2, 3, 3]
    assert shuffles.bin_names() == ["0–0.25", "0.25–0.5", "0.5–0.75", "0.75–1"]
    assert [shuffles.end(x) for x in (0.0, 0.25, 0.26, 0.51, 0.76, 1.0)] == [0.25, 0.25, 0.5, 0.75, 1.0, 1.0]


def test_groups_are_labels_unless_there_are_too_many(run_over_fourteen: None) -> None:
    assert shuffles.groups(TWO) == ["negative", "positive"]
    assert shuffles.groups(THREE) == ["entailment", "neutral"]  # contradiction was never predicted
    assert shuffles.groups(MANY) == [""]


def test_a_summary_by_hand(run_over_fourteen: None) -> None:
    rows = shuffles.summary(TWO).set_index(["bin", "group"])
    assert rows["n"].tolist() == [11, 0, 0, 1, 0, 0, 1, 1]
    first = rows.loc[(0, "negative")]
    assert (first["median"], first["low"], first["high"]) == pytest.approx((0.05, 0.025, 0.075), abs=1e-6)
    assert rows.loc[(1, "positive"), "median"] == pytest.approx(0.3)
    assert rows.loc[(2, "negative")].isna().tolist() == [False, True, True, True]


def test_small_groups_are_shown_one_by_one(run_over_fourteen: None) -> None:
    shapes, singles = shuffles.shapes(TWO), shuffles.singles(TWO)
    assert set(zip(shapes["bin"], shapes["group"], strict=True)) == {(0, "negative")}
    assert shapes["density"].max() == 1 and shapes["density"].min() > shuffles.FAINT
    assert sorted(zip(singles["bin"], singles["group"], singles["x"].round(6), strict=True)) == [
        (1, "positive", 0.3),
        (3, "negative", 0.0),
        (3, "positive", 0.4),
    ]


def test_without_a_large_group_there_is_no_shape(run_over_fourteen: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shuffles, "FEW", 12)
    shapes = shuffles.shapes(TWO)
    assert shapes.empty and list(shapes) == ["bin", "group", "x", "density"]
    data = shuffles.medians(texts.page("permutation", "ko"), TWO)
    assert data.largest == pytest.approx(0.4) and list(data.groups) == ["부정", "긍정"]


def test_a_text_among_many_labels_stands_in_the_group_of_all(run_over_fourteen: None) -> None:
    t = texts.page("permutation", "en")
    one = found("qa")
    assert shuffles.case(t, one, shuffles.medians(t, MANY).groups).group == "all"
    two = found()
    case = shuffles.case(t, two, shuffles.medians(t, TWO).groups)
    assert case.group == two.predicted and case.value == two.median


def test_models_are_compared_where_they_were_run(run_over_fourteen: None) -> None:
    encoders, tasks = shuffles.encoders(TWO), shuffles.tasks(SPARSE)
    assert set(encoders["group"]) == {"bilstm"}
    assert list(tasks["group"]) == ["sst2", "snli", "babi1"] and set(tasks["series"]) == {"median"}
    median = encoders.set_index("series").loc["median"]
    assert median["mean"] == pytest.approx(FRAME["median_tvd"].mean(), abs=1e-6) and median["n"] == 14
    assert median["low"] < median["mean"] < median["high"]
    assert median["flipped"] == pytest.approx(0.05)


def test_softmax_and_sparsemax_by_bin(run_over_fourteen: None) -> None:
    table = shuffles.normalizers()
    assert table["group"].tolist() == [0, 0, 1, 1, 2, 2, 3, 3] and table["series"].tolist() == ["softmax", "sparsemax"] * 4
    assert table["n"].tolist() == [11, 11, 1, 1, 0, 0, 2, 2]
    assert table["mean"].isna().tolist() == [False] * 4 + [True] * 2 + [False] * 2
    assert shuffles.half_on_one(table) == pytest.approx({"softmax": 2 / 14, "sparsemax": 2 / 14})


TABLES = sorted(p for p in (experiments.RESULTS / "permutation").rglob("*.parquet") if p.parent.suffix != ".parts")


@pytest.mark.parametrize("path", TABLES, ids=lambda path: "/".join(path.parts[-2:]))
def test_every_committed_test_set_can_be_shown(path) -> None:
    name = "/".join(path.with_suffix("").parts[-2:]).replace("@", ":")
    table, marks = experiments.results("permutation", name), shuffles.summary(name)
    assert marks["n"].sum() == len(table)
    by_hand = table[table["max_attention"] < 0.25]
    if shuffles.groups(name) == [""] and len(by_hand):
        assert marks.loc[0, "median"] == pytest.approx(by_hand["median_tvd"].median(), abs=1e-6)
    shown = len(shuffles.singles(name)) + marks.loc[marks["n"] >= shuffles.FEW, "n"].sum()
    assert shown == len(table)


def test_every_key_that_the_words_ask_for_is_there() -> None:
    from tests.test_texts import ROOT, asked

    words = texts.page("permutation", "en")
    assert sorted(key for key in asked(ROOT / "dashboard" / "shuffles.py") if not words.has(key)) == []
