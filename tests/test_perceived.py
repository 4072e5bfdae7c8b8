"""Tables over scenes and sounds: made by small models, with provenance, read back, and refused where they do not fit."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from core import experiments
from core.debate.looking import CHANGES
from core.experiments import looking, perceived
from core.models import perceivers
from core.types import Refusal
from tests.test_perceivers import NAMES, perceiver

DATA = {"scene": "scenes", "sound": "sounds"}
TABLES = {"scene": "looking", "sound": "listening"}


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with small models, which are loaded instead of the committed ones."""
    for sense in NAMES:
        model = perceiver(sense)
        perceivers.save(model, model.card, tmp_path)
    load = perceivers.load
    monkeypatch.setattr(perceivers, "load", lambda name, sense: load(name, sense, tmp_path))
    return tmp_path


@pytest.mark.parametrize("sense", NAMES)
def test_a_table_says_where_its_figures_come_from(made: Path, sense: str) -> None:
    name, model = TABLES[sense], NAMES[sense]
    path = experiments.run(name, model, dataset=DATA[sense], limit=2, root=made)
    frame = experiments.results(name, model, made)
    splits = perceived.EXPERIMENTS[name].splits
    assert set(frame["split"]) == set(splits)
    assert len(frame) == 2 * len(splits) * (5 if sense == "sound" else 1)
    provenance = json.loads(pq.read_schema(path).metadata[b"provenance"])
    assert provenance["model"] == model and provenance["n"] == 2 and provenance["seed"] == 1
    assert provenance["command"].endswith("--limit 2") and provenance["weights_sha256"]
    assert experiments.describe(path)["means"].keys() >= {"exact"}


def test_shares_of_attention_sum_to_one_and_every_change_has_a_column(made: Path) -> None:
    experiments.run("looking", "scenes/soft", dataset="scenes", split="test", limit=3, root=made)
    frame = experiments.results("looking", "scenes/soft", made)
    assert set(frame["split"]) == {"test"} and set(looking.COLUMNS) <= set(frame)
    assert (frame[["own", "others", "blank"]].sum(axis=1) - 1).abs().max() < 1e-5
    assert all(frame[f"changed:{change}"].between(0, 1).all() for change in CHANGES)


@pytest.mark.parametrize(
    ("name", "model", "settings", "code"),
    [
        ("looking", "sounds/gru-additive", {"dataset": "sounds"}, "unknown_model"),
        ("looking", "scenes/soft", {"dataset": "sst2"}, "other_task"),
        ("looking", "scenes/soft", {"dataset": "scenes", "split": "train"}, "unknown_split"),
        ("seeing", "scenes/soft", {"dataset": "scenes"}, "unknown_experiment"),
    ],
)
def test_what_does_not_fit_is_refused(made: Path, name: str, model: str, settings: dict[str, str], code: str) -> None:
    with pytest.raises(Refusal) as refused:
        experiments.run(name, model, root=made, **settings)
    assert refused.value.code == code
