"""Data sets from the Hugging Face hub, fetched only when somebody asks for it by name.

The hub converts every public set to parquet on a branch of its own, one folder per configuration and split; that branch is
read, so that one rule fits all sets (each split is below the size at which it would be cut in parts). The columns are
renamed to those that `core.data` reads. Of GLUE only splits whose labels are public are taken. Where the project's figures
were made with a sample, the hub gives the whole set: figures made with the one are not those of
the other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from core.types import Refusal

_BRANCH = "refs/convert/parquet"


@dataclass(frozen=True)
class Source:
    """Where the hub keeps a set: repository, configuration, its split for each of ours, its column for each of ours.

    `only` are the label texts that are kept, in the order of our label ids (empty: labels as they are).
    """

    repository: str
    configuration: str
    splits: Mapping[str, str]
    columns: Mapping[str, str] = field(default_factory=dict)
    only: tuple[str, ...] = ()


_TWO = {"train": "train", "test": "test"}
_THREE = {"train": "train", "validation": "validation", "test": "test"}

HUB: dict[str, Source] = {
    "sst2": Source("SetFit/sst2", "default", _THREE, {"sentence": "text"}),
    "imdb": Source("stanfordnlp/imdb", "plain_text", _TWO),
    "ag_news": Source("fancyzhx/ag_news", "default", _TWO),
    "newsgroups_sports": Source(
        "SetFit/20_newsgroups", "default", _TWO, {"text": "text"}, ("rec.sport.baseball", "rec.sport.hockey")
    ),
    "snli": Source("stanfordnlp/snli", "plain_text", _TWO),
    "mnli": Source("nyu-mll/glue", "mnli", {"train": "train", "test": "validation_matched"}),
    "rte": Source("nyu-mll/glue", "rte", {"train": "train", "validation": "validation"}),
    "mrpc": Source("nyu-mll/glue", "mrpc", _THREE),
    "sst2_phrases": Source("nyu-mll/glue", "sst2", {"train": "train"}),
    "nsmc": Source("e9t/nsmc", "default", _TWO),
}


def fetch(name: str, root: Path) -> list[Path]:
    """The parquet files written under `root`/`name`, one a split. Needs the network.

    Raises `Refusal` for a set that the hub does not have in this form, and when the hub cannot be reached.
    """
    if name not in HUB:
        sentence = f"{name!r} cannot be fetched from the hub; {', '.join(HUB)} can. Put its files under {root / name}."
        raise Refusal("not_on_hub", sentence, given=name, allowed=", ".join(HUB))
    source = HUB[name]
    # All before the first is written: a folder without its validation file would be cut anew.
    files = {split: _download(source, theirs) for split, theirs in source.splits.items()}
    return [_rewrite(file, source, root / name / f"{split}.parquet") for split, file in files.items()]


def _download(source: Source, split: str) -> str:
    # Imported here, as this is the only place that may open a connection. httpx2 is what huggingface_hub downloads with.
    import httpx2
    import huggingface_hub

    file = f"{source.configuration}/{split}/0000.parquet"
    try:
        return huggingface_hub.hf_hub_download(source.repository, file, repo_type="dataset", revision=_BRANCH)
    except (OSError, httpx2.HTTPError) as error:
        reason = type(error).__name__
        sentence = f"{source.repository} could not be fetched from the hub ({reason}); connect to the network and try again."
        raise Refusal("hub_unreachable", sentence, given=source.repository, reason=reason) from error


def _rewrite(file: str, source: Source, path: Path) -> Path:
    import pandas as pd

    frame = pd.read_parquet(file).rename(columns={theirs: ours for ours, theirs in source.columns.items()})
    if source.only:
        frame = frame[frame["label_text"].isin(source.only)]
        frame = frame.assign(label=frame["label_text"].map(source.only.index))
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.reset_index(drop=True).to_parquet(path)
    return path
