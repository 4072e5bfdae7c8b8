"""Readers of sets that are not open, on small files in their documented forms."""

from pathlib import Path

import pandas as pd
import pytest

from core import data
from core.types import Example, Refusal

Row = tuple[str, str, str]  # patient, admission, code


def write_mimic(root: Path, diagnoses: list[Row], notes: list[Row]) -> None:
    (root / "mimic").mkdir()
    frame = pd.DataFrame(diagnoses, columns=["SUBJECT_ID", "HADM_ID", "ICD9_CODE"])
    frame.assign(ROW_ID=1, SEQ_NUM=1).to_csv(root / "mimic" / "DIAGNOSES_ICD.csv", index=False)
    frame = pd.DataFrame(notes, columns=["HADM_ID", "CATEGORY", "TEXT"])
    frame.assign(ROW_ID=1, SUBJECT_ID=1).to_csv(root / "mimic" / "NOTEEVENTS.csv", index=False)


def every(name: str, root: Path) -> dict[str, Example]:
    return {e.id: e for split in data.SPLITS for e in data.load(name, split, root=root)}


def test_diabetes_is_one_code(tmp_path: Path) -> None:
    diagnoses = [("1", "11", "25000"), ("1", "11", "4019"), ("2", "12", "25001"), ("3", "13", "4019")]
    summary = "Admission Date: [**2101-3-4**]\nSugar, high."
    notes = [("11", "Discharge summary", summary), ("11", "Discharge summary", "Addendum."), ("11", "Nursing", "Slept.")]
    notes += [("12", "Discharge summary", "Well."), ("13", "Nursing", "Slept."), ("99", "Discharge summary", "Nobody.")]
    write_mimic(tmp_path, diagnoses, notes)
    found = every("diabetes", tmp_path)
    assert {i: e.label for i, e in found.items()} == {"diabetes-11": 1, "diabetes-12": 0}
    assert found["diabetes-11"].text == ("Admission", "Date", ":", "Sugar", ",", "high", ".", "Addendum", ".")


def test_anemia_is_acute_against_chronic(tmp_path: Path) -> None:
    diagnoses = [("1", "11", "2851"), ("2", "12", "28521"), ("3", "13", "2851"), ("3", "13", "28529"), ("4", "14", "2859")]
    write_mimic(tmp_path, diagnoses, [(str(a), "Discharge summary", "Pale.") for a in (11, 12, 13, 14)])
    assert {i: e.label for i, e in every("anemia", tmp_path).items()} == {"anemia-11": 1, "anemia-12": 0}


def test_a_patient_is_in_one_split(tmp_path: Path) -> None:
    diagnoses = [(str(i // 5), str(i), "25000") for i in range(500)]
    write_mimic(tmp_path, diagnoses, [(str(i), "Discharge summary", f"Note {i}.") for i in range(500)])
    patients = [{int(e.id.split("-")[1]) // 5 for e in data.load("diabetes", split, root=tmp_path)} for split in data.SPLITS]
    assert sum(map(len, patients)) == len(set().union(*patients)) == 100
    assert all(patients) and len(patients[0]) > 60


def test_tweets(tmp_path: Path) -> None:
    (tmp_path / "adr").mkdir()
    path = tmp_path / "adr" / "tweets.tsv"
    path.write_text('1\tann\tThis "pill kills my head 😵\t1\n2\tbob\tslept well\t0\n', encoding="utf-8")
    found = every("adr", tmp_path)
    assert {i: e.label for i, e in found.items()} == {"adr-1": 1, "adr-2": 0}
    assert found["adr-1"].text[-1] == "😵" and '"' in found["adr-1"].text
    path.write_text("1\tann\tno label\n", encoding="utf-8")
    with pytest.raises(Refusal, match=r"Line 1 of .* is not id, user, text and label"):
        data.load("adr", "train", root=tmp_path)


def test_cnn_questions(tmp_path: Path) -> None:
    folder = tmp_path / "cnn" / "questions" / "training"
    folder.mkdir(parents=True)
    parts = [
        "http://x",
        "@entity3 met @entity17 in @entity2 .",
        "@placeholder met someone",
        "@entity3",
        "@entity3:Ann\n@entity2:Rome",
    ]
    (folder / "a.question").write_text("\n\n".join(parts), encoding="utf-8")
    (only,) = data.load("cnn", "train", root=tmp_path)
    assert only.text == ("@entity3", "met", "@entity17", "in", "@entity2", ".")
    assert only.query[0] == "@placeholder" and only.candidates == (2, 3, 17)
    assert data.TASKS["cnn"].labels[only.label or 0] == "@entity3"
    (folder / "b.question").write_text("http://x\n\nonly a passage", encoding="utf-8")
    with pytest.raises(Refusal, match=r"b\.question is not a question file"):
        data.load("cnn", "train", root=tmp_path)


@pytest.mark.parametrize("name", ["diabetes", "anemia", "adr", "cnn"])
def test_who_has_no_access_is_told_the_terms(name: str, tmp_path: Path) -> None:
    with pytest.raises(Refusal, match=r"does not exist.*not shipped") as refused:
        data.load(name, "test", root=tmp_path)
    assert refused.value.code == "closed_data"
