"""Tables of heads, pruning and triggers as the experiments would write them, with numbers made up here."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest

from core import experiments
from core.attattr.heads import CRITERIA, STEPS
from core.experiments.head_importance import NAMES, column
from core.models import registry
from core.types import Refusal
from dashboard import resources

N = 30


def provenance(model: str, name: str, split: str = "test", **more: object) -> dict[str, object]:
    cards = registry.cards()
    weights = cards[model].weights_sha256 if model in cards else ""
    command = f"python -m core experiment {name} --model {model}"
    said = {"experiment": name, "model": model, "data": model.split("/")[0], "split": split, "n": N, "command": command}
    return said | {"weights_sha256": weights} | more


def ranked(model: str, layers: int = 6, heads: int = 12, sister: bool = False, seed: int = 0) -> pd.DataFrame:
    """Importances in which a head has the same merit in every example, but for noise."""
    draw = np.random.default_rng(seed)
    merit, rows = draw.normal(size=(layers, heads)), []
    for i in range(N):
        row: dict[str, float] = {"label": i % 2, "sister": int(sister and i >= N // 2)}
        for name in NAMES:
            value = merit + 0.3 * draw.normal(size=merit.shape)
            value = np.sign(np.round(value)) if name == "accuracy" else np.abs(value) if name != "attribution" else value
            row |= {column(a, b, name): float(value[a, b]) for a in range(layers) for b in range(heads)}
        rows.append(row)
    table = pd.DataFrame(rows)
    table.attrs["provenance"] = provenance(model, "head-importance", "validation")
    return table


def pruned(model: str) -> pd.DataFrame:
    """Right answers for 27 of 30, 5 fewer at each of two late steps, the same for all rankings but chance."""
    label = np.arange(N) % 2
    wrong = {step: 3 + 5 * (step <= 30) + 5 * (step <= 10) for step in STEPS}

    def answered(count: int) -> np.ndarray:
        return np.where(np.arange(N) < count, 1 - label, label)

    columns = {"label": label, "predicted": answered(3), "all:100": answered(3), "none:0": answered(15)}
    for name in CRITERIA:
        columns |= {f"{name}:{step}": answered(wrong[step] + 4 * (name == "random")) for step in STEPS[1:-1]}
    table = pd.DataFrame(columns)
    table.attrs["provenance"] = provenance(model, "pruning")
    return table


def triggers(model: str, labels: int = 2) -> pd.DataFrame:
    """Two triggers for each label: of three words and of one, the first taking ten right answers of ten away."""
    rows = []
    for label in range(labels):
        for rank, (words, places, draws) in enumerate(
            [("but bad <b>", "0@0.2 0@0.5 0@0.9", "a of film\nthe in was"), ("dull", "0@0", "film\nwas")], 1
        ):
            said = {"rank": rank, "label": label, "words": words, "places": places, "draws": draws, "score": 0.5 / rank}
            for gold in range(labels):
                lost = 0 if gold == label else 10 // rank
                counts = {"gold": gold, "n": 20, "before": 18, "after": 18 - lost, "random": 17, "pulled": lost}
                rows.append(said | {"layer": 2, "head": 5, "given": 9, "of": 24} | counts)
    table = pd.DataFrame(rows)
    table.attrs["provenance"] = provenance(model, "triggers", training_examples=24)
    return table


MADE = {
    "head-importance": lambda model: ranked(model, sister=model.startswith("mnli")),
    "pruning": pruned,
    "triggers": lambda model: triggers(model, len(registry.cards()[model].task.labels) if model in registry.cards() else 2),
}


@pytest.fixture
def made_tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """These tables in the place of those that were run, for every Transformer that is there."""
    known = experiments.results

    def results(name: str, model: str) -> pd.DataFrame:
        return MADE[name](model) if name in MADE and model.endswith("/minilm") else known(name, model)

    yield from replaced(monkeypatch, results)


@pytest.fixture
def no_tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nothing was run."""

    def results(name: str, model: str) -> pd.DataFrame:
        raise Refusal("no_results", "not run", name=name, model=model)

    yield from replaced(monkeypatch, results)


def replaced(monkeypatch: pytest.MonkeyPatch, results: object) -> Iterator[None]:
    """The dashboard with other results, and without them again."""
    monkeypatch.setattr(experiments, "results", results)
    forget()
    yield
    monkeypatch.undo()
    forget()


def forget() -> None:
    for cached in (resources.results, resources._table):
        cached.clear()  # type: ignore[attr-defined]
