"""Loading by name: small parquet files written here, the shipped samples, a hub that is played by a function."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import huggingface_hub
import pandas as pd
import pytest

from core import babi, data, data_closed
from core.types import Refusal

OPEN = [name for name in data.TASKS if name not in data_closed.READERS]


def write(path: Path, **columns: Sequence[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(columns).to_parquet(path)
    return path


def test_every_set_has_terms_and_two_labels_or_more() -> None:
    assert data.TASKS.keys() == data.TERMS.keys()
    assert all(len(task.labels) >= 2 and task.name == name for name, task in data.TASKS.items())
    assert data.TASKS["nsmc"].language == "ko"
    assert data.TASKS["babi2"].labels == babi.ENTITIES and len(babi.ENTITIES) == 13


def test_a_set_with_its_own_validation(tmp_path: Path) -> None:
    for split, sentence in (("train", "it 's good"), ("validation", "no fun"), ("test", "a film")):
        write(tmp_path / "sst2" / f"{split}.parquet", sentence=[sentence, "bad"], label=[1, 0])
    first, second = data.load("sst2", "train", root=tmp_path)
    assert (first.text, first.label, first.query, first.evidence) == (("it", "'s", "good"), 1, (), ())
    assert (second.text, second.label) == (("bad",), 0)
    assert data.load("sst2", "validation", root=tmp_path)[0].text == ("no", "fun")
    assert data.load("sst2", "test", root=tmp_path)[0].text == ("a", "film")


def test_validation_is_a_fixed_tenth_of_train(tmp_path: Path) -> None:
    texts = [f"review number {i}" for i in range(2000)]
    labels = [i % 2 for i in range(2000)]
    write(tmp_path / "imdb" / "train.parquet", text=texts, label=labels)
    train, held_out = (data.load("imdb", split, root=tmp_path) for split in ("train", "validation"))
    assert 160 < len(held_out) < 240
    assert sorted(" ".join(e.text) for e in train + held_out) == sorted(texts)
    assert len({e.id for e in train + held_out}) == 2000
    write(tmp_path / "imdb" / "train.parquet", text=texts[::-1], label=labels[::-1])
    assert {e.text for e in data.load("imdb", "validation", root=tmp_path)} == {e.text for e in held_out}


def test_all_pairs_of_a_premise_fall_on_one_side(tmp_path: Path) -> None:
    premises = [f"premise {i // 3}" for i in range(300)]
    hypotheses = [f"hypothesis {i}" for i in range(300)]
    write(tmp_path / "snli" / "train.parquet", premise=premises, hypothesis=hypotheses, label=[0, 1, 2] * 100)
    train, held_out = (data.load("snli", split, root=tmp_path) for split in ("train", "validation"))
    assert held_out and not {e.text for e in train} & {e.text for e in held_out}
    assert held_out[0].query[0] == "hypothesis"


def test_pairs_without_a_gold_label_are_left_out(tmp_path: Path) -> None:
    write(tmp_path / "snli" / "test.parquet", premise=["a b", "c", "d"], hypothesis=["e", "f", "g"], label=[2, -1, 0])
    assert [(e.text, e.label) for e in data.load("snli", "test", root=tmp_path)] == [(("a", "b"), 2), (("d",), 0)]


def test_ag_news_is_world_against_business_without_its_escapes(tmp_path: Path) -> None:
    texts = [
        "Iraq #39;s  &lt;b&gt;vote&lt;/b&gt; was \\$4 \\late",
        "A goal",
        "AT amp;T said quot;no quot; to #36;5",
        "A chip",
        "He &quot;saw&quot; 3 < 4",
    ]
    write(tmp_path / "ag_news" / "test.parquet", text=texts, label=[0, 1, 2, 3, 0])
    world, business, third = data.load("ag_news", "test", root=tmp_path)
    assert (world.label, business.label, third.label) == (0, 1, 0)
    assert world.text == ("Iraq", "'s", "vote", "was", "$", "4", "late")
    assert business.text == ("AT", "&", "T", "said", '"', "no", '"', "to", "$", "5")
    assert third.text == ("He", '"', "saw", '"', "3", "<", "4")


def test_line_breaks_of_reviews_are_spaces(tmp_path: Path) -> None:
    write(tmp_path / "imdb" / "test.parquet", text=["good.<br /><br />Bad <3", "<br />"], label=[1, 0])
    (only,) = data.load("imdb", "test", root=tmp_path)
    assert only.text == ("good", ".", "Bad", "<", "3")


@pytest.mark.parametrize(
    ("name", "column"), [("pronoun", "impermissible"), ("sst_wiki", "impermissible"), ("movie_rationales", "rationale")]
)
def test_marked_tokens_are_evidence(tmp_path: Path, name: str, column: str) -> None:
    tokens: list[object] = [["she", "isn't", "u.s."], ["he"]]
    write(tmp_path / name / "test.parquet", tokens=tokens, **{column: [[1, 0, 1], [0]]}, label=[1, 0])
    first, second = data.load(name, "test", root=tmp_path)
    assert (first.text, first.evidence, first.label) == (("she", "isn't", "u.s."), (0, 2), 1)
    assert (second.text, second.evidence) == (("he",), ())


def test_a_limit_is_a_fixed_sample_of_the_whole_split(tmp_path: Path) -> None:
    write(tmp_path / "nsmc" / "test.parquet", document=[f"영화 {i}" for i in range(500)], label=[0] * 250 + [1] * 250)
    every, some = data.load("nsmc", "test", root=tmp_path), data.load("nsmc", "test", root=tmp_path, limit=51)
    assert len(some) == 51 and {e.label for e in some} == {0, 1}
    assert [e for e in every if e in some] == some
    assert some == data.load("nsmc", "test", root=tmp_path, limit=51)
    assert data.load("nsmc", "test", root=tmp_path, limit=9999) == every


def test_babi_is_generated_for_training_and_read_for_test(tmp_path: Path) -> None:
    train = data.load("babi1", "train", root=tmp_path, limit=31)
    assert train == babi.stories(1, 31, seed=0)
    assert not {e.text for e in train} & {
        e.text for e in data.load("babi1", "validation", root=tmp_path, limit=17) if len(e.text) > 30
    }
    (tmp_path / "babi").mkdir()
    lines = "1 Mary went to the office.\n2 Where is Mary?\toffice\t1\n"
    (tmp_path / "babi" / babi.TEST_FILES[1]).write_text(lines, encoding="utf-8")
    (only,) = data.load("babi1", "test", root=tmp_path)
    assert only.text == ("Mary", "went", "to", "the", "office", ".")
    assert (only.label, only.evidence) == (babi.ENTITIES.index("office"), (0, 1, 2, 3, 4, 5))


def test_refusals_say_what_is_allowed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Refusal, match=r"'sst3'.*sst2, imdb"):
        data.load("sst3", "test")
    with pytest.raises(Refusal, match=r"'dev'.*train, validation, test"):
        data.load("sst2", "dev")
    with pytest.raises(Refusal, match="limit is 0"):
        data.load("babi1", "train", limit=0)
    monkeypatch.setenv("ATTENTION_DATA", str(tmp_path))
    assert data.data_root() == tmp_path
    with pytest.raises(Refusal, match=r"python -m core data sst2 --fetch.*ATTENTION_DATA") as refused:
        data.load("sst2", "test")
    assert refused.value.code == "missing_data" and str(tmp_path) in str(refused.value)
    for name in ("pronoun", "babi1"):
        with pytest.raises(Refusal, match="Set ATTENTION_DATA"):
            data.load(name, "test")
    monkeypatch.delenv("ATTENTION_DATA")
    assert data.data_root() == Path(data.__file__).parents[1] / "data"


def test_files_that_hold_something_else_are_refused(tmp_path: Path) -> None:
    (tmp_path / "sst2").mkdir()
    (tmp_path / "sst2" / "test.parquet").write_text("no parquet")
    write(tmp_path / "imdb" / "test.parquet", sentence=["a b"], label=[1])
    write(tmp_path / "newsgroups_sports" / "test.parquet", text=["a b"], label=["hockey"])
    (tmp_path / "babi").mkdir()
    (tmp_path / "babi" / babi.TEST_FILES[1]).write_text("1 It rained.\n")
    for name in ("sst2", "imdb", "newsgroups_sports", "babi1"):
        with pytest.raises(Refusal, match=f"files of {name}") as refused:
            data.load(name, "test", root=tmp_path)
        assert refused.value.code == "unreadable_data" and "\n" not in str(refused.value)


def test_describing_a_split(tmp_path: Path) -> None:
    write(tmp_path / "snli" / "test.parquet", premise=["a b c", "d"], hypothesis=["e", "f g h"], label=[2, 2])
    assert data.describe("snli", "test", root=tmp_path) == {
        "n": 2,
        "labels": {"entailment": 0, "neutral": 0, "contradiction": 2},
        "mean_words": 2.0,
        "max_words": 3,
        "mean_query_words": 2.0,
        "evidence_share": None,
    }
    write(tmp_path / "pronoun" / "test.parquet", tokens=[["he", "is", "it", "."]], impermissible=[[1, 0, 0, 0]], label=[0])
    assert data.describe("pronoun", "test", root=tmp_path)["evidence_share"] == 0.25
    write(tmp_path / "imdb" / "test.parquet", text=["<br>"], label=[0])
    assert data.describe("imdb", "test", root=tmp_path)["mean_words"] is None


@pytest.mark.parametrize("name", OPEN)
def test_samples(name: str) -> None:
    texts, examples = data.sample_texts(name), data.samples(name)
    assert len(texts) == len(examples) >= 4
    for text, example in zip(texts, examples, strict=True):
        assert text.id == example.id and example.text and example.label is not None
        assert data.TASKS[name].labels[example.label] == text.label
        assert bool(example.query) == (data.TASKS[name].kind != "classification") == bool(text.query)
        if data.TASKS[name].kind == "qa":
            assert example.label in example.candidates


def test_sets_without_samples() -> None:
    assert data.samples("cnn") == [] and data.sample_texts("cnn") == []
    with pytest.raises(Refusal, match="no data set"):
        data.samples("sst3")


def play_hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, columns: Mapping[str, Sequence[object]]) -> list[str]:
    asked: list[str] = []

    def download(repository: str, file: str, *, repo_type: str, revision: str) -> str:
        assert repo_type == "dataset" and revision == "refs/convert/parquet"
        asked.append(f"{repository}/{file}")
        return str(write(tmp_path / "cache" / file, **columns))

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", download)
    return asked


def test_fetching_renames_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = play_hub(monkeypatch, tmp_path, {"text": ["it 's fun"], "label": [1], "label_text": ["positive"]})
    written = data.fetch("sst2", tmp_path / "root")
    assert [path.relative_to(tmp_path / "root" / "sst2").name for path in written] == [f"{s}.parquet" for s in data.SPLITS]
    assert asked[0] == "SetFit/sst2/default/train/0000.parquet"
    assert data.load("sst2", "test", root=tmp_path / "root")[0].text == ("it", "'s", "fun")


def test_of_glue_only_labelled_splits_are_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = {"sentence1": ["A hat.", "A cat."], "sentence2": ["A cap.", "A dog."], "label": [0, 1], "idx": [0, 1]}
    asked = play_hub(monkeypatch, tmp_path, pairs)
    for name in ("rte", "mrpc"):
        data.fetch(name, tmp_path / "root")
    assert asked == [f"nyu-mll/glue/rte/{split}/0000.parquet" for split in ("train", "validation")] + [
        f"nyu-mll/glue/mrpc/{split}/0000.parquet" for split in data.SPLITS
    ]
    assert [(e.query, e.label) for e in data.load("rte", "test", root=tmp_path / "root")] == [
        (("A", "cap", "."), 0),
        (("A", "dog", "."), 1),
    ]
    play_hub(monkeypatch, tmp_path, {"sentence": [f"phrase {i}" for i in range(40)], "label": [0, 1] * 20})
    assert [path.name for path in data.fetch("sst2_phrases", tmp_path / "root")] == ["train.parquet"]


def test_a_set_that_is_only_trained_on_has_no_test(tmp_path: Path) -> None:
    write(tmp_path / "sst2_phrases" / "train.parquet", sentence=[f"phrase {i}" for i in range(90)], label=[0, 1] * 45)
    parts = [data.load("sst2_phrases", split, root=tmp_path) for split in data.splits("sst2_phrases")]
    assert sum(map(len, parts)) == 90 and all(parts)
    with pytest.raises(Refusal, match=r"sst2_phrases has no split 'test'; there are train, validation\."):
        data.load("sst2_phrases", "test", root=tmp_path)
    assert data.splits("sst2") == data.SPLITS


def test_fetching_newsgroups_keeps_two_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    groups = ["rec.sport.hockey", "sci.space", "rec.sport.baseball"]
    play_hub(monkeypatch, tmp_path, {"text": ["puck", "moon", "bat"], "label": [10, 14, 9], "label_text": groups})
    data.fetch("newsgroups_sports", tmp_path / "root")
    assert [(e.text, e.label) for e in data.load("newsgroups_sports", "test", root=tmp_path / "root")] == [
        (("puck",), 1),
        (("bat",), 0),
    ]


def test_fetching_without_a_network_or_a_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(_: str, file: str, **__: object) -> str:
        if "train" in file:
            return str(write(tmp_path.parent / "cache.parquet", text=["a"], label=[0]))
        raise huggingface_hub.errors.LocalEntryNotFoundError("no route\nto the hub")

    monkeypatch.setattr(huggingface_hub, "hf_hub_download", unreachable)
    with pytest.raises(Refusal, match="SetFit/sst2 could not be fetched") as refused:
        data.fetch("sst2", tmp_path)
    assert refused.value.code == "hub_unreachable" and "\n" not in str(refused.value)
    with pytest.raises(Refusal, match=r"'pronoun' cannot be fetched.*sst2"):
        data.fetch("pronoun", tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.data
@pytest.mark.parametrize("name", OPEN)
def test_the_folder_loads(name: str) -> None:
    for split in data.splits(name):
        figures = data.describe(name, split)
        assert isinstance(figures["n"], int) and figures["n"] > 100


@pytest.mark.data
def test_published_sizes() -> None:
    assert [len(data.load("sst2", split)) for split in data.SPLITS] == [6920, 872, 1821]
    assert data.describe("ag_news", "test")["labels"] == {"World": 1900, "Business": 1900}
    assert data.describe("snli", "test")["labels"] == {"entailment": 3368, "neutral": 3219, "contradiction": 3237}
