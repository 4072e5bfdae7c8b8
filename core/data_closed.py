"""Data sets of Jain and Wallace (2019) that nobody may pass on, for readers who hold them.

MIMIC-III is given to people with a signed agreement, tweets may only be passed on as ids, and the CNN questions are
rebuilt from web pages. Nothing here was run on the originals: the readers follow their documented formats and are tested on
small files made for the tests. Where the authors split at random, a split here is a hash of the patient or the user, so that
nobody is in two splits: eight tenths train, one tenth each validation and test.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

from core.text import digest, words
from core.types import Example, Refusal, Task

_CNN_ENTITIES = tuple(f"@entity{i}" for i in range(600))

TASKS = (
    Task("diabetes", "classification", ("no diabetes", "diabetes")),
    Task("anemia", "classification", ("chronic", "acute")),
    Task("adr", "classification", ("no reaction", "reaction")),
    Task("cnn", "qa", _CNN_ENTITIES),
)
TERMS = {
    "diabetes": "MIMIC-III discharge summaries (Johnson et al. 2016), only under PhysioNet's data use agreement; not shipped.",
    "anemia": "MIMIC-III discharge summaries (Johnson et al. 2016), only under PhysioNet's data use agreement; not shipped.",
    "adr": "Tweets on adverse drug reactions (Nikfarjam et al. 2015), published as ids only; not shipped.",
    "cnn": "CNN questions (Hermann et al. 2015), to be rebuilt from the web pages, whose text is CNN's; not shipped.",
}


def diabetes(root: Path, split: str) -> list[Example]:
    """Discharge summaries of a split; positive: the admission has ICD-9 250.00. All admissions, not the authors' subset.

    Reads `root`/mimic/NOTEEVENTS.csv and DIAGNOSES_ICD.csv. Source: Jain and Wallace (2019), section 3.
    """
    return _summaries(root / "mimic", split, lambda codes: int("25000" in codes), "diabetes")


def anemia(root: Path, split: str) -> list[Example]:
    """Discharge summaries of a split with ICD-9 285.1 (acute, positive) or 285.2 (chronic), those with both left out.

    Reads `root`/mimic/NOTEEVENTS.csv and DIAGNOSES_ICD.csv. Source: Jain and Wallace (2019), section 3.
    """
    return _summaries(root / "mimic", split, _kind_of_anemia, "anemia")


def _kind_of_anemia(codes: Collection[str]) -> int | None:
    acute, chronic = "2851" in codes, any(code.startswith("2852") for code in codes)
    return None if acute == chronic else int(acute)


def _summaries(folder: Path, split: str, label_of: Callable[[Collection[str]], int | None], name: str) -> list[Example]:
    """One example an admission: its discharge summaries in order, without the marks of what was blacked out."""
    import pandas as pd

    labels: dict[str, int] = {}
    columns = ["SUBJECT_ID", "HADM_ID", "ICD9_CODE"]
    diagnoses = pd.read_csv(_existing(folder / "DIAGNOSES_ICD.csv", name), usecols=columns, dtype=str).fillna("")
    for (patient, admission), rows in diagnoses.groupby(["SUBJECT_ID", "HADM_ID"]):
        label = label_of(set(rows["ICD9_CODE"]))
        if label is not None and _split(str(patient)) == split:
            labels[str(admission)] = label
    texts = _notes(_existing(folder / "NOTEEVENTS.csv", name), labels)
    return [Example(f"{name}-{i}", words(text), label=labels[i]) for i, text in texts.items() if words(text)]


def _notes(path: Path, admissions: Collection[str]) -> dict[str, str]:
    import pandas as pd

    texts: defaultdict[str, str] = defaultdict(str)
    # The file has four gigabytes; only the notes that are asked for stay in memory.
    with pd.read_csv(path, usecols=["HADM_ID", "CATEGORY", "TEXT"], dtype=str, chunksize=10_000) as chunks:
        for chunk in chunks:
            kept = chunk[(chunk["CATEGORY"] == "Discharge summary") & chunk["HADM_ID"].isin(list(admissions))]
            for admission, text in zip(kept["HADM_ID"], kept["TEXT"].fillna(""), strict=True):
                texts[admission] += re.sub(r"\[\*\*.*?\*\*\]", " ", text) + "\n"
    return texts


def adr(root: Path, split: str) -> list[Example]:
    """Tweets of a split from `root`/adr/tweets.tsv: id, user, text, label (1: mentions an adverse reaction), no header.

    Raises `Refusal` for a line that has another form.
    """
    path = _existing(root / "adr" / "tweets.tsv", "adr")
    examples = []
    with path.open(encoding="utf-8", newline="") as lines:
        for number, fields in enumerate(csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE), 1):
            if len(fields) != 4 or fields[3] not in ("0", "1"):
                sentence = f"Line {number} of {path} is not id, user, text and label (0 or 1) with tabs between."
                raise Refusal("bad_line", sentence, line=number, path=str(path))
            if _split(fields[1]) == split and words(fields[2]):
                examples.append(Example(f"adr-{fields[0]}", words(fields[2]), label=int(fields[3])))
    return examples


def cnn(root: Path, split: str) -> list[Example]:
    """CNN questions of a split from `root`/cnn/questions/{training,validation,test}/*.question.

    A file holds, with empty lines between, address, passage, question with @placeholder, answer, and one entity a line;
    it is split into words already. Source: Hermann et al. (2015). Raises `Refusal` for a file that has another form.
    """
    folder = _existing(root / "cnn" / "questions" / {"train": "training"}.get(split, split), "cnn")
    return [_cnn_question(path) for path in sorted(folder.glob("*.question"))]


def _cnn_question(path: Path) -> Example:
    parts = path.read_text(encoding="utf-8").strip().split("\n\n")
    if len(parts) < 4 or parts[3].strip() not in _CNN_ENTITIES:
        sentence = f"{path} is not a question file: address, passage, question, answer and entities, with empty lines between."
        raise Refusal("bad_question", sentence, path=str(path))
    text, query = tuple(parts[1].split()), tuple(parts[2].split())
    present = set(text)
    candidates = tuple(i for i, entity in enumerate(_CNN_ENTITIES) if entity in present)
    return Example(f"cnn-{path.stem}", text, query, _CNN_ENTITIES.index(parts[3].strip()), candidates)


def _split(key: str) -> str:
    return {0: "test", 1: "validation"}.get(digest(key) % 10, "train")


def _existing(path: Path, name: str) -> Path:
    if path.exists():
        return path
    sentence = f"{path} does not exist; {name} can only be read where you have it. {TERMS[name]}"
    raise Refusal("closed_data", sentence, given=name, path=str(path))


READERS: Mapping[str, Callable[[Path, str], list[Example]]] = {
    "diabetes": diabetes,
    "anemia": anemia,
    "adr": adr,
    "cnn": cnn,
}
