"""What the erasure page shows: one text by law, and test sets summed up by hand."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from core import experiments
from core.debate.erasure import ORDERS
from core.reading import Reading
from core.types import Refusal
from dashboard import boxes, erased, resources, texts
from dashboard.erased import Erased
from tests.small import example, examples, small_card, small_model

NAN = float("nan")
FIRST, SECOND, MISSING, OTHER = "imdb/average-additive", "imdb/bilstm-additive", "imdb/cnn-additive", "snli/bilstm-additive"
FRAME = pd.DataFrame(
    {
        "n_words": [1, 4, 10, 5, 8],
        "delta_attention": [NAN, 0.1, 0.2, 0.3, 0.4],
        "delta_jsd": [NAN, -0.1, 0.2, 0.3, 0.0],
        "top_flipped": [NAN, 0.0, 1.0, 1.0, 0.0],
        "other_flipped": [NAN, 0.0, 0.0, 1.0, 1.0],
        "attention_fraction": [NAN, 0.25, 0.5, NAN, NAN],
        "gradient_fraction": [NAN, 0.25, 0.5, 0.6, NAN],
        "attention_gradient_fraction": [NAN, 0.25, 0.1, 0.2, 0.5],
        "random_fraction": [NAN, NAN, NAN, NAN, 1.0],
    }
).astype({"top_flipped": "float32"})


@pytest.fixture
def run_over_five(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """All models but one were run over the same five texts."""
    cards = {name: named(name) for name in (FIRST, SECOND, MISSING)} | {OTHER: named(OTHER, "nli")}

    def results(name: str, model: str) -> pd.DataFrame:
        if model not in cards or model == MISSING:
            raise Refusal("no_results", "not run", name=name, model=model)
        return FRAME

    monkeypatch.setattr(resources, "results", results)
    monkeypatch.setattr(resources, "cards", lambda: cards)
    monkeypatch.setattr(resources, "table", lambda function, *names: function(*names))
    yield


def named(name: str, kind: str = "classification"):
    made = small_card(kind=kind)  # type: ignore[arg-type]
    return replace(made, name=name, task=replace(made.task, name=name.split("/")[0]))


def found(kind: str = "classification", row: int = 2, seed: int = 3) -> Erased:
    return erased.erased(small_model(kind=kind), Reading(examples(kind)[row], 0, ()), seed=seed)  # type: ignore[arg-type]


def one_word() -> Erased:
    return erased.erased(small_model(), Reading(example("film"), 0, ()), seed=0)


@pytest.mark.parametrize("kind", ["classification", "qa", "nli"])
def test_a_text_under_every_order(kind: str) -> None:
    one = found(kind)
    assert one.attention.sum() == pytest.approx(1) and set(one.paths) == set(ORDERS)
    for order, path in one.paths.items():
        draws = 5 if order == "random" else 1
        assert path.order.shape == (draws, 11) and path.prob.shape == path.label.shape == (draws, 12)
        np.testing.assert_allclose(path.prob[:, 0], one.prediction.max(), atol=1e-12)
        for draw, count in enumerate(path.flips_at):
            changed = np.flatnonzero(path.label[draw] != one.predicted)
            assert count == (int(changed[0]) if len(changed) else None)


def test_only_labels_that_may_be_answered_are_kept() -> None:
    assert found("qa").labels == ("garden", "mary")


def test_words_are_struck_out_until_the_decision_flips_or_as_many_as_asked() -> None:
    one, t = found(), texts.page("erasure", "en")
    for order, row in zip(ORDERS, erased.rows(t, one, None), strict=True):
        path = one.paths[order]
        gone = 11 if path.flips_at[0] is None else path.flips_at[0]
        assert set(row.masked) == set(path.order[0, :gone].tolist())
        assert f"{path.prob[0, gone]:.2f}" in row.note and f"{gone}\u00a0of\u00a011" in row.note
    for count in (0, 4, 11):
        assert [len(row.masked) for row in erased.rows(t, one, count)] == [count] * 4
    assert [row.signed for row in erased.rows(t, one, 1)] == [False, True, True, False]


def test_what_the_link_says_of_the_words_struck_out() -> None:
    assert erased.struck("flip", 5) is None
    assert [erased.struck(code, 5) for code in ("0", "3", "5", "512")] == [0, 3, 5, 5]


@pytest.mark.parametrize(
    ("counts", "needed"), [((2, 4, 3, None, None), 4), ((None, None, 1, None, 2), None), ((7,), 7), ((None,), None)]
)
def test_the_median_order_needs_so_many(counts: tuple[int | None, ...], needed: int | None) -> None:
    path = erased.Path((), np.zeros((len(counts), 9)), np.zeros((1, 1)), np.zeros((1, 1)), counts)
    assert erased.middle(path) == needed


@pytest.mark.parametrize(("lang", "of", "never"), [("en", "3 of 11", "never"), ("ko", "11개 중 3개", "안 바뀜")])
def test_how_many_words_are_needed_is_said(lang: str, of: str, never: str) -> None:
    t = texts.page("erasure", lang)
    assert erased.needed(t, found(), 3) == of and erased.needed(t, found(), None) == never
    assert erased.needed(t, one_word(), None) == t("needed.undefined")


def test_one_word_has_nothing_to_compare() -> None:
    one, t = one_word(), texts.page("erasure", "en")
    assert one.alone and erased.differences(one) is None
    assert all(not row.masked and "undefined" not in row.note for row in erased.rows(t, one, None))
    assert erased.singles(t, one)["label"].tolist() == [""]


def test_paths_have_a_row_for_every_step_and_a_point_at_each_flip() -> None:
    one, t = found(), texts.page("erasure", "en")
    frame = erased.paths(t, one)
    assert len(frame) == 8 * 12 and frame["x"].max() == 1 and frame["y"].between(0, 1).all()
    for order, path in one.paths.items():
        for draw, count in enumerate(path.flips_at, 1):
            part = frame[(frame["series"] == t(f"order.{order}")) & (frame["draw"] == draw)]
            assert part.loc[part["flips"], "gone"].tolist() == ([] if count is None else [count])


def test_the_two_words_that_are_compared_are_named() -> None:
    one, t = found(), texts.page("erasure", "en")
    frame = erased.singles(t, one)
    assert [i for i, label in enumerate(frame["label"]) if label] == sorted((one.top, one.other))
    delta, effect = erased.differences(one) or (NAN, NAN)
    assert delta == pytest.approx(one.attention.max() - one.attention[one.other])
    assert effect == pytest.approx(one.jsd[one.top] - one.jsd[one.other])


def test_pairs_and_flips_by_hand(run_over_five: None) -> None:
    table = erased.pairs(FIRST)
    assert table["kind"].tolist() == ["neither", "top", "both", "other"]
    assert table["x"].tolist() == pytest.approx([0.1, 0.2, 0.3, 0.4])
    shares = erased.flips(FIRST).set_index("encoder")
    assert shares.index.tolist() == ["average", "bilstm"]
    assert shares.loc["average", [*erased.KINDS, "negative"]].tolist() == [0.25] * 5 and shares["n"].tolist() == [4, 4]


def test_boxes_by_hand(run_over_five: None) -> None:
    table = erased.fractions(FIRST).set_index(["group", "series"])
    assert table.index.get_level_values("group").unique().tolist() == ["average", "bilstm"]
    row = table.loc[("average", "attention")]
    assert (row["first"], row["median"], row["never"], row["n"]) == (0.25, 0.5, 0.5, 4) and np.isnan(row["third"])
    assert table.loc[("bilstm", "attention_gradient"), list(boxes.QUANTILES)].tolist() == [0.1, 0.1, 0.2, 0.25, 0.5]
    assert np.isnan(table.loc[("average", "random"), "median"]) and table.loc[("average", "random"), "low"] == 1
    tasks = erased.tasks(SECOND)
    assert tasks["group"].unique().tolist() == ["imdb", "snli"] and set(tasks["series"]) == set(erased.COMPARED)


def test_a_quantile_that_falls_on_never_is_never() -> None:
    assert list(boxes.quantiles([0.2, NAN, 0.4])) == list(boxes.QUANTILES)
    assert boxes.quantiles([0.2, NAN, 0.4])["median"] == 0.4 and np.isnan(boxes.quantiles([0.2, NAN, NAN])["median"])
    assert all(np.isnan(value) for value in boxes.quantiles([]).values())


def test_published_medians_are_those_of_the_flat_networks(run_over_five: None) -> None:
    table = erased.published().set_index(["group", "series", "kind"])["x"]
    assert len(table) == 3 * 4 * 4 and table.between(0, 1).all()
    assert table["bilstm", "attention", "IMDB"] == 0.41 and table["average", "attention_gradient", "Yelp"] == 0.04


def test_this_text_and_the_published_medians_stand_in_their_lanes(run_over_five: None) -> None:
    t, one = texts.page("erasure", "en"), found()
    marks = erased.marks(t, FIRST, one)
    assert set(marks["kind"]) == {t("fractions.this"), t("fractions.published")}
    assert set(marks["group"]) == {"average", "bilstm"}  # the third encoder was not run
    mine = marks[marks["kind"] == t("fractions.this")].set_index("series")
    assert set(mine["group"]) == {"average"}
    count = erased.middle(one.paths["gradient"])
    assert mine.loc["gradient", "x"] == pytest.approx(NAN if count is None else count / 11, nan_ok=True)
    assert erased.marks(t, OTHER, None).empty and erased.marks(t, OTHER, one_word()).empty


TABLES = sorted(p for p in (experiments.RESULTS / "erasure").rglob("*.parquet") if p.parent.suffix != ".parts")


@pytest.mark.parametrize("path", TABLES, ids=lambda path: "/".join(path.parts[-2:]))
def test_every_committed_test_set_holds_what_the_page_says(path) -> None:
    name = "/".join(path.with_suffix("").parts[-2:]).replace("@", ":")
    table = experiments.results("erasure", name)
    assert table.attrs["provenance"]["n"] == len(table)
    shares = table[[f"{order}_fraction" for order in ORDERS]]
    assert shares.min().min() > 0 and shares.max().max() <= 1
    assert table.loc[table["n_words"] == 1, ["delta_jsd", *shares]].isna().all().all()
    many = table[table["n_words"] > 1]
    assert (many["delta_attention"] >= 0).all() and many["delta_jsd"].abs().max() <= np.log(2) + 1e-6
    steps = many["gradient_fraction"] * many["n_words"]
    assert (steps.dropna() - steps.dropna().round()).abs().max() < 1e-3


def test_every_key_that_the_words_ask_for_is_there() -> None:
    from tests.test_texts import ROOT, asked

    words = texts.page("erasure", "en")
    assert sorted(key for key in asked(ROOT / "dashboard" / "erased.py") if not words.has(key)) == []
