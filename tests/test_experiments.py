"""Experiments over a data set made here with a small model saved here: resumable, with provenance, without a sentence."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
import torch

from core import experiments
from core.debate.permutation import permutations
from core.experiments import variance
from core.models import perceivers, registry, translator
from core.models import vocabulary as vocab
from core.models.classifier import Classifier
from core.types import Refusal
from tests.small import WORDS, example, small_card, small_model, small_vocabulary

MODEL, PART, N = "sst2/bilstm-additive:small", 7, 12
KNOWN = experiments.EXPERIMENTS
NAMES = [name for name, made in KNOWN.items() if made.variants is None and made.kind is Classifier]  # a row a sentence
OVER_VARIANTS = [name for name, made in KNOWN.items() if made.variants is not None]  # a row a training
COMMITTED = sorted(path for path in experiments.RESULTS.rglob("*.parquet") if path.parent.suffix != ".parts")
TABLES = [path for path in COMMITTED if path.relative_to(experiments.RESULTS).parts[0] in KNOWN]
CARRIED = {"index", "n_words", "label", "predicted", "prob", "max_attention"}  # what every table has


def sentences() -> pd.DataFrame:
    """Sentences of 1 to 9 words, unlike each other, with a label each."""
    generator = torch.Generator().manual_seed(5)
    drawn = [torch.randint(len(WORDS), (1 + i % 9,), generator=generator).tolist() for i in range(N)]
    texts = [" ".join(WORDS[j] for j in row) for row in drawn]
    return pd.DataFrame({"sentence": texts, "label": [i % 2 for i in range(N)]})


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the small model, its vocabulary and the sentences are; results go there too."""
    data = tmp_path / "sst2"
    data.mkdir()
    sentences().to_parquet(data / "test.parquet")
    card = replace(small_card(), name=MODEL)
    registry.save(small_model(), card, root=tmp_path)
    vocab.save(small_vocabulary(), tmp_path / "small.json")
    load = registry.load
    monkeypatch.setattr(experiments, "PART", PART)
    monkeypatch.setattr(registry, "load", lambda name: load(name, root=tmp_path, vocabularies=tmp_path))
    monkeypatch.setattr(variance, "obtain", lambda name: small_model(seed=int(name.rpartition("=")[2])).precise())
    monkeypatch.setenv("ATTENTION_DATA", str(tmp_path))
    return tmp_path


def made(name: str, root: Path) -> pd.DataFrame:
    experiments.run(name, MODEL, dataset="sst2", root=root)
    return experiments.results(name, MODEL, root)


@pytest.mark.parametrize("name", NAMES)
def test_a_table_has_a_row_for_every_sentence_and_no_sentence(small: Path, name: str) -> None:
    table = made(name, small / "results")
    given = sentences()
    assert table["index"].tolist() == list(range(N))
    assert table["n_words"].tolist() == [len(text.split()) for text in given["sentence"]]
    assert table["label"].tolist() == given["label"].tolist()
    assert set(table) >= CARRIED
    assert all(pd.api.types.is_numeric_dtype(kind) for kind in table.dtypes)


@pytest.mark.parametrize("name", NAMES)
def test_the_length_of_a_text_that_was_cut_is_what_was_read(small: Path, name: str) -> None:
    long = [example(" ".join(["film", "good", "bad"] * 171)), example("a quiet film")]
    assert [row["n_words"] for row in experiments.EXPERIMENTS[name].rows(small_model().precise(), long)] == [512, 3]


@pytest.mark.parametrize("name", NAMES)
def test_the_provenance_says_what_the_figures_are(small: Path, name: str) -> None:
    said = made(name, small / "results").attrs["provenance"]
    card = registry.load(MODEL).card
    assert said["experiment"] == name and said["model"] == MODEL and said["weights_sha256"] == card.weights_sha256
    assert (said["data"], said["split"], said["n"], said["seed"]) == ("sst2", "test", N, 0)
    assert said["command"] == f"python -m core experiment {name} --model {MODEL} --data sst2 --split test"
    assert said.items() >= experiments.EXPERIMENTS[name].settings.items()
    json.dumps(said, allow_nan=False)


def test_a_permutation_table_names_its_shuffles_and_their_seed(small: Path) -> None:
    said = made("permutation", small / "results").attrs["provenance"]
    assert (said["shuffles"], said["shuffle_seed"]) == (100, 0)


def test_the_exact_adversary_is_never_below_the_search(small: Path) -> None:
    table = made("adversary", small / "results")
    assert (table["jsd_exact_05"] >= table["jsd_search_05"] - 1e-6).all()
    assert (table["jsd_exact_05"] >= table["jsd"] - 1e-6).all()
    assert (table["upper_bound"] >= table["jsd"] - 1e-6).all() and table["exact"].all()
    assert (table["tvd"] <= 0.01 + 1e-6).all()
    assert (table.loc[table["n_words"] == 1, "jsd"] == 0).all() and table["jsd"].max() > 0.3
    said = table.attrs["provenance"]
    assert (said["epsilon"]["classification"], said["epsilon_of_published"], said["search_seed"]) == (0.01, 0.05, 0)


@pytest.mark.parametrize("name", NAMES)
def test_an_interrupted_run_goes_on_and_gives_the_same_table(small: Path, name: str) -> None:
    whole = made(name, small / "whole")
    seen = []

    def stopped(done: int, total: int) -> None:
        seen.append((done, total))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        experiments.run(name, MODEL, dataset="sst2", root=small / "results", progress=stopped)
    with pytest.raises(Refusal):
        experiments.results(name, MODEL, small / "results")
    left = list((small / "results").rglob("*.parquet"))
    assert len(left) == 1 and seen == [(PART, N)]
    before = left[0].stat().st_mtime_ns, left[0].read_bytes()
    went_on: list[int] = []

    def note(done: int, total: int) -> None:
        assert (left[0].stat().st_mtime_ns, left[0].read_bytes()) == before
        went_on.append(done)

    experiments.run(name, MODEL, dataset="sst2", root=small / "results", progress=note)
    assert went_on == [N]
    pd.testing.assert_frame_equal(experiments.results(name, MODEL, small / "results"), whole)
    assert [path.suffix for path in (small / "results" / name / "sst2").iterdir()] == [".parquet"]


def test_parts_of_other_settings_are_not_gone_on_with(small: Path) -> None:
    def stopped(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        experiments.run("permutation", MODEL, dataset="sst2", root=small / "results", limit=9, progress=stopped)
    assert len(made("permutation", small / "results")) == N


def test_a_permutation_row_is_what_the_shuffles_of_its_sentence_say(small: Path) -> None:
    table = made("permutation", small / "results")
    model = registry.load(MODEL).precise()
    for i in (0, 4, N - 1):
        found = permutations(model, model.encode([example(sentences()["sentence"][i])]), n=100, seed=0)
        row, distances = table.loc[i], found.tvd[0].sort().values
        label = int(found.original[0].argmax())
        assert row["predicted"] == label
        assert row["prob"] == pytest.approx(float(found.original[0, label]), abs=1e-6)
        assert row["max_attention"] == pytest.approx(float(found.max_attention[0]), abs=1e-6)
        assert row["median_tvd"] == pytest.approx(float(distances[49:51].mean()), abs=1e-6)
        assert row["mean_tvd"] == pytest.approx(float(distances.mean()), abs=1e-6)
        assert float(distances[4]) - 1e-6 <= row["q05_tvd"] <= float(distances[5]) + 1e-6
        assert float(distances[94]) - 1e-6 <= row["q95_tvd"] <= float(distances[95]) + 1e-6
        assert row["flipped"] == pytest.approx(float((found.prob[0].argmax(-1) != label).double().mean()), abs=1e-6)


def test_one_word_has_nothing_to_shuffle(small: Path) -> None:
    table = made("permutation", small / "results")
    alone = table[table["n_words"] == 1]
    assert len(alone) == 2
    assert (alone[["q05_tvd", "median_tvd", "q95_tvd", "mean_tvd", "flipped"]] == 0).all(axis=None)
    assert (alone["max_attention"] == 1).all()


def test_the_quantiles_of_a_row_are_in_order(small: Path) -> None:
    table = made("permutation", small / "results")
    ordered = table[["q05_tvd", "q25_tvd", "median_tvd", "q75_tvd", "q95_tvd"]].to_numpy()
    assert (ordered[:, 1:] >= ordered[:, :-1]).all() and (ordered >= 0).all() and (ordered <= 1).all()
    assert table["median_tvd"].nunique() > N / 2


def test_what_a_table_holds_is_described_in_plain_values(small: Path) -> None:
    path = experiments.run("permutation", MODEL, dataset="sst2", root=small / "results")
    said = experiments.describe(path)
    table = experiments.results("permutation", MODEL, small / "results")
    assert said["means"]["median_tvd"] == pytest.approx(table["median_tvd"].mean(), abs=1e-6)
    assert "label" not in said["means"] and "index" not in said["means"]
    json.dumps(said, allow_nan=False)


@pytest.mark.parametrize(
    ("name", "settings", "code"),
    [
        ("nothing", {}, "unknown_experiment"),
        ("permutation", {"workers": 0}, "out_of_range"),
        ("permutation", {"dataset": "ag_news"}, "missing_data"),
        ("permutation", {"limit": 0}, "out_of_range"),
    ],
)
def test_what_cannot_be_run_is_refused(small: Path, name: str, settings: dict, code: str) -> None:
    with pytest.raises(Refusal) as refusal:
        experiments.run(name, MODEL, **{"dataset": "sst2", "root": small / "results"} | settings)
    assert refusal.value.code == code


def test_a_data_set_with_other_labels_is_refused(small: Path) -> None:
    news = pd.DataFrame({"text": ["a film", "a story"], "label": [0, 2]})
    (small / "ag_news").mkdir()
    news.to_parquet(small / "ag_news" / "test.parquet")
    with pytest.raises(Refusal) as refusal:
        experiments.run("permutation", MODEL, dataset="ag_news", root=small / "results")
    assert refusal.value.code == "other_task"


@pytest.mark.parametrize("path", sorted({*COMMITTED} - {*TABLES}), ids=lambda path: "/".join(path.parts[-3:]))
def test_committed_tables_of_what_writes_are_of_the_committed_models(path: Path) -> None:
    """Those of translators, captioners and listeners; and two for which models are trained that nobody keeps."""
    name = path.relative_to(experiments.RESULTS).parts[0]
    model = "/".join(path.with_suffix("").relative_to(experiments.RESULTS / name).parts).replace("@", ":")
    said = experiments.results(name, model).attrs["provenance"]
    assert {"n", "command", "data", "split"} <= said.keys()
    cards = translator.cards() | perceivers.cards()
    assert name in {"distance", "translators"} or said["weights_sha256"] == cards[model].weights_sha256


@pytest.mark.parametrize("path", TABLES, ids=lambda path: "/".join(path.parts[-3:]))
def test_committed_tables_are_of_the_committed_models(path: Path) -> None:
    name = path.relative_to(experiments.RESULTS).parts[0]
    model = "/".join(path.with_suffix("").relative_to(experiments.RESULTS / name).parts).replace("@", ":")
    table = experiments.results(name, model)
    said = table.attrs["provenance"]
    cards, over = registry.cards(), KNOWN[name].variants
    assert said["weights_sha256"] == cards[model].weights_sha256 if model in cards else over or ":seed=" in model
    assert said["split"] == KNOWN[name].split
    named = {"variant", "normalizer", "kind", "value"} if over else set()
    named |= {"words", "places", "draws"} if name == "triggers" else set()
    assert all(pd.api.types.is_numeric_dtype(table[column]) for column in set(table) - named)
    if over:
        assert table["variant"].tolist() == over(model) and set(table["n"]) == {said["n"]}
    elif not KNOWN[name].whole:
        assert said["n"] == len(table)


def test_a_table_that_is_none_is_refused(tmp_path: Path) -> None:
    path = experiments.path_of("agreement", MODEL, tmp_path)
    path.parent.mkdir(parents=True)
    with pytest.raises(Refusal, match="was not run"):
        experiments.results("agreement", MODEL, tmp_path)
    sentences().to_parquet(path)  # without a provenance
    for content in (b"no parquet", b"", path.read_bytes()):
        path.write_bytes(content)
        with pytest.raises(Refusal, match="cannot be read"):
            experiments.results("agreement", MODEL, tmp_path)
