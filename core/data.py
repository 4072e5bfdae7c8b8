"""A data set by name, as examples.

Three origins, one record: parquet files in a folder (`ATTENTION_DATA`, else `data/`), with the column names that the public
hub uses; the generator of bAbI stories; and the sentences that were written for this project and come with it
(`samples`). The sets are those of Jain and Wallace (2019, section 3) as far as they can be had, those of Pruthi et al.
(2020) and ERASER (DeYoung et al. 2020), with a Korean set beside them; `data_closed` reads those that are not open.

Where a set has no validation split, every tenth training text, chosen by the hash of the text, is held out: models are
selected on it, never on the test split. Depart from Jain and Wallace: their length filters are not applied, since they drop
test items (SST: sentences of five words or fewer); AG News is read as distributed, where they read descriptions only (the
sample in the folder has descriptions alone in train, titles before them in test).
"""

import html
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core import babi, data_closed
from core.hub import HUB, fetch
from core.text import digest, words
from core.types import Example, Refusal, Task

__all__ = [
    "HUB",
    "SPLITS",
    "TASKS",
    "TERMS",
    "Sample",
    "data_root",
    "describe",
    "fetch",
    "load",
    "sample_texts",
    "samples",
    "splits",
]

SPLITS = ("train", "validation", "test")
_SENTIMENT = ("negative", "positive")
_INFERENCE = ("entailment", "neutral", "contradiction")

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task("sst2", "classification", _SENTIMENT),
        Task("imdb", "classification", _SENTIMENT),
        Task("ag_news", "classification", ("World", "Business")),
        Task("newsgroups_sports", "classification", ("baseball", "hockey")),
        Task("nsmc", "classification", _SENTIMENT, "ko"),
        Task("snli", "nli", _INFERENCE),
        Task("mnli", "nli", _INFERENCE),
        Task("rte", "nli", ("entailment", "not entailment")),
        Task("mrpc", "paraphrase", ("different", "equivalent")),
        Task("sst2_phrases", "classification", _SENTIMENT),
        Task("babi1", "qa", babi.ENTITIES),
        Task("babi2", "qa", babi.ENTITIES),
        Task("babi3", "qa", babi.ENTITIES),
        Task("pronoun", "classification", ("male", "female")),
        Task("sst_wiki", "classification", _SENTIMENT),
        Task("movie_rationales", "classification", _SENTIMENT),
        *data_closed.TASKS,
    )
}

_BABI_TERMS = (
    "bAbI (Weston et al. 2015), CC BY 3.0: the published test questions; training stories come from this project's generator."
)
TERMS: dict[str, str] = {
    "sst2": "Stanford Sentiment Treebank (Socher et al. 2013), binary, standard split; no licence stated.",
    "imdb": "Large Movie Review Dataset (Maas et al. 2011), a sample of 5,000 reviews split by hash; no licence stated.",
    "ag_news": "AG's corpus of news articles (Zhang et al. 2015), World and Business of a sample of train and of the "
    "official test; for non-commercial use.",
    "newsgroups_sports": "20 Newsgroups, rec.sport.baseball and rec.sport.hockey, split by date; no licence stated.",
    "nsmc": "Naver sentiment movie corpus, samples of the official train split; CC0.",
    "snli": "Stanford Natural Language Inference (Bowman et al. 2015), its development pairs as train; CC BY-SA 4.0.",
    "mnli": "MultiNLI (Williams et al. 2018), matched development pairs split by the premise's hash; terms of the OANC.",
    "rte": "Recognizing Textual Entailment as in GLUE (Wang et al. 2019), its validation pairs as test; no licence stated.",
    "mrpc": "Microsoft Research Paraphrase Corpus (Dolan & Brockett 2005); for research use.",
    "sst2_phrases": "Phrases of the Stanford Sentiment Treebank's training sentences, as in GLUE; no licence stated.",
    "babi1": _BABI_TERMS,
    "babi2": _BABI_TERMS,
    "babi3": _BABI_TERMS,
    "pronoun": "Pruthi et al. (2020), biographies with the pronouns marked as impermissible; no licence stated.",
    "sst_wiki": "Pruthi et al. (2020), a sentence of SST followed by an unrelated one; no licence stated.",
    "movie_rationales": "ERASER movie reviews with rationales (DeYoung et al. 2020; Zaidan et al. 2007); texts CC BY 4.0.",
    **data_closed.TERMS,
}


def _unescape(text: str) -> str:
    """AG News as it is distributed: entities that lost their ampersand, escaped line breaks, a few tags."""
    whole = re.sub(r" ?#(?=(?:39|146|8217);)", "&#", text)
    whole = re.sub(r"(?<![&\w])(?=(?:#\d{2,4}|quot|amp|lt|gt|nbsp);)", "&", whole)
    return _without_tags(html.unescape(html.unescape(whole)).replace("\\", " "))


def _without_tags(text: str) -> str:
    return re.sub(r"</?[a-zA-Z][^<>]{0,300}>", " ", text)


@dataclass(frozen=True)
class _Columns:
    """How a parquet file is read: its columns, what its classes are called here (None dropped), what is cleaned away."""

    text: str
    query: str | None = None
    evidence: str | None = None
    classes: Mapping[int, int] | None = None
    clean: Callable[[str], str] = str
    test: str = "test"  # the file whose labels are known and that nothing is trained or chosen on; "" where there is none


_COLUMNS = {
    "sst2": _Columns("sentence"),
    "imdb": _Columns("text", clean=_without_tags),
    "ag_news": _Columns("text", classes={0: 0, 2: 1}, clean=_unescape),
    "newsgroups_sports": _Columns("text"),
    "nsmc": _Columns("document"),
    "snli": _Columns("premise", query="hypothesis"),
    "mnli": _Columns("premise", query="hypothesis"),
    "rte": _Columns("sentence1", query="sentence2", test="validation"),
    "mrpc": _Columns("sentence1", query="sentence2"),
    "sst2_phrases": _Columns("sentence", test=""),
    "pronoun": _Columns("tokens", evidence="impermissible"),
    "sst_wiki": _Columns("tokens", evidence="impermissible"),
    "movie_rationales": _Columns("tokens", evidence="rationale"),
}


def data_root() -> Path:
    """The folder of data sets: `ATTENTION_DATA` where it is set, else the repository's `data/`."""
    given = os.environ.get("ATTENTION_DATA")
    return Path(given) if given else Path(__file__).resolve().parents[1] / "data"


def load(name: str, split: str, *, root: Path | None = None, limit: int | None = None) -> list[Example]:
    """The examples of a split, in the order of the file, those without a word or a label left out.

    `limit` takes that many of them, always the same ones, spread over the whole split. bAbI is generated for training and
    validation (`limit` stories' questions, 3,000 and 1,000 where none is given) and read from the published files for test.
    `evidence` is what the set marks: rationales, impermissible words, supporting facts.
    Raises `Refusal` for an unknown name or split, and where the files are missing or hold something else.
    """
    _check(name, split)
    if limit is not None and limit < 1:
        raise Refusal("out_of_range", f"The limit is {limit}; at least 1 is allowed.", given=limit)
    folder = data_root() if root is None else root
    try:
        return _read(name, split, folder, limit)
    except Refusal:
        raise
    except (OSError, ValueError, LookupError) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
        sentence = f"The files of {name} under {folder} cannot be read as this data set ({reason}); fetch or copy them again."
        raise Refusal("unreadable_data", sentence, given=name, reason=reason) from error


def _read(name: str, split: str, folder: Path, limit: int | None) -> list[Example]:
    if name.startswith("babi"):
        return _babi(name, split, folder, limit)
    if name in data_closed.READERS:
        return _sampled(data_closed.READERS[name](folder, split), limit)
    return _sampled(_rows(name, split, folder), limit)


def splits(name: str) -> tuple[str, ...]:
    """The splits of a data set; one that is only trained on has no test. Refuses an unknown name."""
    _check(name)
    return SPLITS[:2] if name in _COLUMNS and not _COLUMNS[name].test else SPLITS


def _check(name: str, split: str = "train") -> None:
    if name not in TASKS:
        raise Refusal("unknown_data", f"There is no data set {name!r}; there are {', '.join(TASKS)}.", given=name)
    if split != "train" and split not in (known := splits(name)):
        raise Refusal("unknown_split", f"{name} has no split {split!r}; there are {', '.join(known)}.", given=split)


def _babi(name: str, split: str, folder: Path, limit: int | None) -> list[Example]:
    task = int(name[-1])
    if split != "test":
        size, seed = (3000, 0) if split == "train" else (1000, 1)
        return babi.stories(task, size if limit is None else limit, seed)
    path = folder / "babi" / babi.TEST_FILES[task]
    if not path.is_file():
        raise _missing(name, path, folder)
    return _sampled(babi.read(path, task), limit)


def _rows(name: str, split: str, folder: Path) -> list[Example]:
    test = _COLUMNS[name].test
    path = folder / name / f"{test if split == 'test' else split}.parquet"
    cut = split != "test" and (test == "validation" or not (folder / name / "validation.parquet").is_file())
    if cut:
        path = path.with_name("train.parquet")
    if not path.is_file():
        raise _missing(name, path, folder)
    import pandas as pd

    rows: list[dict[str, Any]] = pd.read_parquet(path).to_dict("records")  # type: ignore[assignment]
    kept = (r for r in rows if not cut or _held_out(str(r[_COLUMNS[name].text])) == (split == "validation"))
    examples = (_example(name, f"{name}-{split}-{i}", row) for i, row in enumerate(kept))
    return [e for e in examples if e.text and e.label is not None]


def _missing(name: str, path: Path, folder: Path) -> Refusal:
    way = f"`python -m core data {name} --fetch` gets it from the hub, or set" if name in HUB else "Set"
    sentence = f"{path} does not exist, so {name} cannot be read from {folder}. {way} ATTENTION_DATA to the folder that has it."
    return Refusal("missing_data", sentence, given=name, path=str(path))


def _held_out(text: str) -> bool:
    return digest(text.strip()) % 10 == 0


def _sampled(examples: list[Example], limit: int | None) -> list[Example]:
    if limit is None or limit >= len(examples):
        return examples
    chosen = sorted(range(len(examples)), key=lambda i: digest(examples[i].id))[:limit]
    return [examples[i] for i in sorted(chosen)]


def _example(name: str, identity: str, row: Mapping[str, object]) -> Example:
    columns, size = _COLUMNS[name], len(TASKS[name].labels)
    text, query = row[columns.text], row[columns.query] if columns.query else ""
    label = int(str(row["label"]))
    known = columns.classes or {i: i for i in range(size)}
    return Example(
        identity,
        words(columns.clean(text)) if isinstance(text, str) else tuple(str(t) for t in _sequence(text)),
        words(columns.clean(str(query))),
        known.get(label),
        evidence=tuple(i for i, mark in enumerate(_sequence(row[columns.evidence])) if mark) if columns.evidence else (),
    )


def _sequence(column: object) -> Iterable[object]:
    if column is None or isinstance(column, float):  # how parquet and pandas hand over an empty cell
        return ()
    assert isinstance(column, Iterable)
    return column


def describe(name: str, split: str, *, root: Path | None = None) -> dict[str, object]:
    """Plain figures of a split: n, n per label, mean and greatest number of words, share of words that are evidence."""
    examples = load(name, split, root=root)
    counts = Counter(e.label for e in examples)
    lengths, queries = [len(e.text) for e in examples], [len(e.query) for e in examples]
    marked = sum(len(e.evidence) for e in examples)
    return {
        "n": len(examples),
        "labels": {label: counts[i] for i, label in enumerate(TASKS[name].labels)},
        "mean_words": _mean(lengths),
        "max_words": max(lengths, default=0),
        "mean_query_words": _mean(queries) if any(queries) else None,
        "evidence_share": marked / sum(lengths) if marked else None,
    }


def _mean(numbers: Sequence[int]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None


@dataclass(frozen=True)
class Sample:
    """A text written for this project, as a person types it. `kind` says what it shows ("plain" where nothing special)."""

    id: str
    text: str
    query: str
    label: str
    kind: str


_SAMPLES = {
    "sst2": "reviews",
    "sst2_phrases": "reviews",
    "imdb": "reviews",
    "ag_news": "headlines",
    "newsgroups_sports": "sports",
    "nsmc": "reviews_ko",
    "snli": "pairs",
    "mnli": "pairs",
    "rte": "inferences",
    "mrpc": "paraphrases",
    "pronoun": "biographies",
    "sst_wiki": "review_pairs",
    "movie_rationales": "reviews",
    "babi1": "stories",
    "babi2": "stories",
    "babi3": "stories",
}


def sample_texts(name: str) -> list[Sample]:
    """The texts written for the task of a data set; none where there are none."""
    _check(name)
    if name not in _SAMPLES:
        return []
    path = Path(__file__).resolve().parents[1] / "assets" / "samples" / f"{_SAMPLES[name]}.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    return [
        Sample(row["id"], row["text"], row.get("query", ""), row["label"], row.get("kind", "plain"))
        for row in rows
        if not name.startswith("babi") or row["task"] == int(name[-1])
    ]


def samples(name: str) -> list[Example]:
    """`sample_texts` as examples, with the candidates that a question about a story has."""
    labels = TASKS[name].labels if name in TASKS else ()
    return [
        Example(
            sample.id,
            text := words(sample.text),
            words(sample.query),
            labels.index(sample.label),
            babi.candidates(text) if name.startswith("babi") else (),
        )
        for sample in sample_texts(name)
    ]
