"""Data sets from the Hugging Face hub, fetched only when somebody asks for it by name.

The hub converts every public set to parquet on a branch of its own, one folder per configuration and split; that branch is
read, so that one rule fits all sets. The columns are renamed to those that `core.data` reads. Where the folder that comes
with the project's figures is a sample, the hub gives the whole set: figures made with the one are not those of the other.
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
    "nsmc": Source("e9t/nsmc", "default", _TWO),
}


def fetch(name: str, root: Path) -> list[Path]:
    """The parquet files written under `root`/`name`, one a split. Needs the network.

    Raises `Refusal` for a set that the hub does not have in this form, and when the hub cannot be reached.
    """
    if name not in HUB:
        sentence = f"{name!r} cannot be fetched from the hub; {', '.join(HUB)} can. Put its files under {root / name}."
        raise Refusal("not_on_hub", sentence, given=name, allowed=", ".join(HUB))
    source, written = HUB[name], []
    for split, theirs in source.splits.items():
        path = root / name / f"{split}.parquet"
        _rewrite(_download(source, theirs), source, path)
        written.append(path)
    return written


def _download(source: Source, split: str) -> list[str]:
    # Imported here, as this is the only place that may open a connection.
    import huggingface_hub

    try:
        every = huggingface_hub.list_repo_files(source.repository, repo_type="dataset", revision=_BRANCH)
        files = sorted(f for f in every if f.startswith(f"{source.configuration}/{split}/") and f.endswith(".parquet"))
        if not files:
            raise FileNotFoundError(f"{source.configuration}/{split} has no parquet files")
        load = huggingface_hub.hf_hub_download
        return [load(source.repository, f, repo_type="dataset", revision=_BRANCH) for f in files]
    except (OSError, huggingface_hub.errors.HfHubHTTPError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        sentence = f"{source.repository} could not be fetched from the hub ({reason}); connect to the network and try again."
        raise Refusal("hub_unreachable", sentence, given=source.repository, reason=reason) from error


def _rewrite(files: list[str], source: Source, path: Path) -> None:
    import pandas as pd

    frame = pd.concat([pd.read_parquet(file) for file in files], ignore_index=True)
    frame = frame.rename(columns={theirs: ours for ours, theirs in source.columns.items()})
    if source.only:
        frame = frame[frame["label_text"].isin(source.only)]
        frame = frame.assign(label=frame["label_text"].map(source.only.index))
    path.parent.mkdir(parents=True, exist_ok=True)
    frame.reset_index(drop=True).to_parquet(path)
