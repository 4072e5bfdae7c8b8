"""Tables beside the papers: worked by hand on a few sentences, and on the figures that the repository holds."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core.explanation import Explanation, Pair, pair
from core.recipes import RECIPES
from core.types import Card, Refusal, Task
from dashboard import evidence, explained, resources, texts

NAN = float("nan")
MODEL = "sst2/bilstm-additive"


def card(name: str, kind: str, labels: tuple[str, ...], seed: int = 0) -> Card:
    task = Task(name.split("/")[0], kind, labels)  # type: ignore[arg-type]
    counts = {"embedding_dim": 3, "hidden_dim": 5, "layers": 1, "heads": 1, "parameters": 7, "max_tokens": 11, "seed": seed}
    hashes = {"vocabulary": "v", "vocabulary_sha256": "", "weights_sha256": ""}
    made = {"encoder": "bilstm", "score": "additive", "normalizer": "softmax", "terms": "", "test": {}, "training": {}}
    return Card(name=name, task=task, **counts, **hashes, **made)


CARDS = {
    MODEL: card(MODEL, "classification", ("negative", "positive")),
    "sst2/average-additive": card("sst2/average-additive", "classification", ("negative", "positive")),
    "snli/bilstm-additive": card("snli/bilstm-additive", "nli", ("entailment", "neutral", "contradiction")),
    "babi1/bilstm-additive": card("babi1/bilstm-additive", "qa", ("garden", "kitchen", "office")),
}
FRAME = pd.DataFrame(
    {
        "predicted": [0, 0, 0, 1, 1],
        "attention~gradient:tau": [0.1, 0.5, NAN, 0.2, 0.8],
        "attention~gradient:p": [0.30, 0.01, NAN, 0.2, 0.05],
        "attention~leave_one_out:tau": [0.0, 0.2, 0.4, 0.6, 0.8],
        "attention~leave_one_out:p": [0.9, 0.9, 0.9, 0.9, 0.001],
        "gradient~leave_one_out:tau": [0.3, 0.4, 0.5, 0.6, 1.0],
    }
)


@pytest.fixture(autouse=True)
def five_sentences(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every model but one was run over the same five sentences."""

    def results(name: str, model: str) -> pd.DataFrame:
        if model == "sst2/average-additive":
            raise Refusal("no_results", "not run", name=name, model=model)
        frame = FRAME.copy()
        frame.attrs["provenance"] = {"seed": int(model.partition(":seed=")[2] or 0)}
        return frame

    monkeypatch.setattr(resources, "results", results)
    monkeypatch.setattr(resources, "cards", lambda: CARDS)
    yield


def test_means_and_shares_are_those_of_the_paper() -> None:
    rows = evidence.comparison(MODEL).set_index(["measure", "group"])
    negative = rows.loc[("gradient", "negative")]
    assert (negative["n"], negative["undefined"]) == (3, 1)
    assert negative["mean"] == pytest.approx(0.3)
    assert negative["std"] == pytest.approx(0.2)  # population: sqrt((0.2² + 0.2²) / 2)
    assert negative["share"] == pytest.approx(1 / 3)  # the undefined one counts as not significant
    assert rows.loc[("gradient", "positive"), "share"] == pytest.approx(0.5)  # p = 0.05 is significant
    assert rows.loc[("leave_one_out", ""), "mean"] == pytest.approx(0.4)


def test_published_cells_stand_beside_their_class() -> None:
    rows = evidence.comparison(MODEL).set_index(["measure", "group"])
    assert rows.loc[("gradient", "negative"), "paper_mean"] == pytest.approx(0.39544)
    assert rows.loc[("gradient", "positive"), "paper_std"] == pytest.approx(0.19178)
    assert rows.loc[("leave_one_out", "positive"), "paper_share"] == pytest.approx(0.47)
    assert pd.isna(rows.loc[("gradient", ""), "paper_mean"])


@pytest.mark.parametrize(
    ("dataset", "model", "measure", "group", "mean", "table"),
    [
        ("snli", "bilstm-additive", "gradient", "predicted contradiction", 0.42, "Table 2"),
        ("babi1", "bilstm-additive", "leave_one_out", "all", 0.23, "Table 2"),
        ("sst2", "cnn-additive", "gradient", "predicted 1", 0.50, "camera-ready tau"),
        ("sst2", "bilstm-scaled-dot", "leave_one_out", "predicted 0", -0.09, "camera-ready tau"),
    ],
)
def test_a_published_cell_is_found(dataset: str, model: str, measure: str, group: str, mean: float, table: str) -> None:
    found = evidence.published(dataset, model, measure, group)
    assert found is not None
    assert round(found.mean, 2) == pytest.approx(mean)
    assert found.table == table


@pytest.mark.parametrize(("dataset", "model"), [("nsmc", "bilstm-additive"), ("sst2", "bilstm-cosine")])
def test_what_the_paper_did_not_report_is_none(dataset: str, model: str) -> None:
    assert evidence.published(dataset, model, "gradient", "all") is None
    assert evidence.figure_value("Fig. 3", "nsmc") is None


def test_only_what_was_read_first_hand_is_shown() -> None:
    assert set(resources.published()["evidence"]) == {"first-hand"}
    assert set(resources.published()["verified"]) == {"yes"}


def test_groups_follow_the_task() -> None:
    assert evidence.groups(CARDS["babi1/bilstm-additive"]) == [("", None, "all")]
    assert evidence.groups(CARDS["snli/bilstm-additive"])[1] == ("neutral", 1, "predicted neutral")
    assert evidence.groups(CARDS[MODEL])[1] == ("positive", 1, "predicted 1")


def test_differences_are_means_over_sentences() -> None:
    rows = evidence.differences(MODEL).set_index("group")
    assert rows.loc["gradient", "mean"] == pytest.approx(np.mean([0.2, -0.1, 0.4, 0.2]))
    assert rows.loc["gradient", "n"] == 4
    assert rows.loc["leave_one_out", "mean"] == pytest.approx(np.mean([0.3, 0.2, 0.1, 0.0, 0.2]))
    assert rows.loc["gradient", "published"] == pytest.approx(0.305)  # Figure 3, whose caption names the other one
    assert rows.loc["leave_one_out", "published"] == pytest.approx(0.365)
    assert (rows["low"] <= rows["mean"]).all() and (rows["mean"] <= rows["high"]).all()


def test_encoders_that_were_not_run_are_left_out() -> None:
    assert set(evidence.encoders(MODEL)["group"]) == {"bilstm"}  # Average has no results, the CNN no card


def test_the_papers_mean_over_classes_is_weighted_by_our_counts() -> None:
    rows = evidence.encoders(MODEL).set_index(["group", "series"])
    assert rows.loc[("bilstm", "gradient"), "published"] == pytest.approx(0.6 * 0.39544 + 0.4 * 0.38490)


def test_only_tables_that_are_planned_and_not_made_are_called_unmeasured(monkeypatch: pytest.MonkeyPatch) -> None:
    """One model was run, one is planned, one is never to be run."""
    planned = [("agreement", MODEL), ("agreement", "sst2/average-additive")]
    monkeypatch.setattr(evidence.experiments, "shown", lambda: planned)
    monkeypatch.setattr(evidence, "ran", lambda experiment, name: name == MODEL)
    named = {"BiLSTM": MODEL, "Average": "sst2/average-additive", "films": "movie_rationales/average-additive"}
    for lang, said in (("en", " Not yet measured: Average."), ("ko", " 아직 재지 않음: Average.")):
        assert evidence.unmeasured(texts.page("home", lang), "agreement", named) == said
    assert evidence.unmeasured(texts.page("home", "en"), "agreement", {"BiLSTM": MODEL}) == ""


def test_a_table_was_run_where_it_can_be_read_and_has_rows() -> None:
    assert evidence.ran("agreement", MODEL) and not evidence.ran("agreement", "sst2/average-additive")


def test_seeds_stand_in_the_order_of_their_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [MODEL, f"{MODEL}:seed=11", f"{MODEL}:seed=2", f"{MODEL}:sparsemax", "sst2/cnn-additive"]
    monkeypatch.setattr(evidence.experiments, "done", lambda name: names)
    assert list(dict.fromkeys(evidence.seeds()["group"])) == ["0", "2", "11"]


def test_two_labels_make_two_groups_and_more_make_one() -> None:
    assert [(name, mask.tolist()) for name, mask in evidence.by_label(FRAME, MODEL)] == [
        ("negative", [True, True, True, False, False]),
        ("positive", [False, False, False, True, True]),
    ]
    assert [name for name, _ in evidence.by_label(FRAME, "snli/bilstm-additive")] == [""]


def test_another_encoder_of_the_same_data_and_score() -> None:
    assert evidence.with_encoder("sst2/bilstm-scaled-dot:seed=3", "cnn") == "sst2/cnn-scaled-dot"


def explanation(attention: tuple[float, ...], others: tuple[float | None, ...]) -> Explanation:
    scores = {"attention": attention, "gradient": others, "integrated_gradients": others, "leave_one_out": others}
    names = list(scores)
    pairs: dict[str, Pair] = {f"{a}~{b}": pair(scores[a], scores[b]) for i, a in enumerate(names) for b in names[i + 1 :]}
    words = tuple("abcdefg"[: len(attention)])
    return Explanation(MODEL, words, (), 0, {"negative": 0.4, "positive": 0.6}, "positive", scores, {}, pairs, ())


def test_noise_adds_words_one_by_one() -> None:
    found = explanation((0.4, 0.3, 0.2, 0.1), (0.9, 0.5, 0.1, 0.2))
    rows = evidence.noise(found, {"gradient": "Gradient"})
    assert rows["x"].tolist() == [2, 3, 4]
    assert rows["mean"].tolist() == pytest.approx([1.0, 1.0, 2 / 3])  # the least important two words are swapped
    assert set(rows["series"]) == {"Gradient"}


def test_an_undefined_measure_has_no_noise() -> None:
    assert evidence.noise(explanation((1.0,), (None,)), {"leave_one_out": "x"}).empty


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_printed_rows_read_as_the_paper_prints_them(lang: str) -> None:
    printed = evidence.printed(evidence.comparison(MODEL), texts.page("agreement", lang))
    assert printed.iloc[0, 2:].tolist() == ["0.30\u00a0±\u00a00.20, 33\u00a0%", "0.40\u00a0±\u00a00.21, 59\u00a0%"]
    assert printed.iloc[2, 3] == "–"


def test_a_cell_that_is_not_printed_bears_a_dagger() -> None:
    """Average: gradients stand in Table 2, leave-one-out only in the authors' files."""
    table = evidence.comparison(MODEL)
    table["paper_table"] = ["Table 2", "Table 2", None, "camera-ready tau", "camera-ready tau", None]
    assert evidence.in_files(table).tolist() == [False, False, False, True, True, False]
    cells = evidence.printed(table, texts.page("agreement", "en"))["Published"]
    assert [cell.endswith("†") for cell in cells] == [False, False, False, True, True, False]


@pytest.mark.parametrize(("n", "split"), [(1500, "a fixed sample of test"), (780, "test")])
def test_a_part_of_a_split_is_called_one(n: int, split: str) -> None:
    frame = pd.DataFrame()
    frame.attrs["provenance"] = {"data": "imdb", "split": "test", "n": n, "command": "… --split test --limit 1500"}
    said = evidence.provenance(frame, texts.page("agreement", "en"))
    assert (said["split"], said["n"]) == (split, f"{n:,}")
    assert said["data"].startswith("IMDB (a sample")


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_every_data_set_that_models_are_trained_on_has_its_words(lang: str) -> None:
    assert [name for name in RECIPES if not texts.page("agreement", lang).has(f"data.{name}")] == []


def test_every_pair_is_in_the_table() -> None:
    table = evidence.pairs(explanation((0.5, 0.3, 0.2), (0.1, 0.2, 0.3)), texts.page("agreement", "en"))
    assert len(table) == 6
    assert table.iloc[0]["τ-b"] == -1.0


@pytest.mark.parametrize(("largest", "decimals"), [(0.9, 2), (0.098, 3), (0.0021, 4), (0.00002, 6), (0.0, 2), (12.0, 2)])
def test_small_scores_get_more_decimals(largest: float, decimals: int) -> None:
    assert explained.digits([0.0, None, -largest]) == decimals


def test_strips_say_undefined_where_there_is_no_tau() -> None:
    t = texts.page("agreement", "en")
    rows = explained.strip_rows(t, explanation((1.0,), (None,)), numbers=False)
    assert [row.tau.text for row in rows if row.tau] == ["undefined"] * 3
    assert "undefined" in explained.comparison(t, explanation((1.0,), (None,)))
    assert explained.reading(t, 1) == ""


def test_the_bound_of_chance_is_the_asymptotic_one() -> None:
    from scipy.stats import kendalltau

    n = 20
    order = np.arange(n)
    swapped = order.copy()
    taus = []
    generator = np.random.default_rng(1)
    for _ in range(400):
        generator.shuffle(swapped)
        found = kendalltau(order, swapped, method="asymptotic")
        taus.append((abs(found.statistic), found.pvalue))
    bound = float(explained.reading(texts.page("agreement", "en"), n).split("about ")[1].split(" ")[0])
    assert max(tau for tau, p in taus if p > 0.05) <= bound + 0.02
    assert min(tau for tau, p in taus if p <= 0.05) >= bound - 0.02


def test_published_table_is_shipped() -> None:
    assert Path(resources.PUBLISHED).exists()
