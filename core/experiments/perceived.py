"""Experiments on what the project draws and synthesizes: a table for each model, over examples that nobody trained on."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from core import scenes, sounds
from core.experiments import listening, looking
from core.experiments.cases import Row
from core.experiments.tables import keep, path_of
from core.models import perceivers
from core.perceiving import TESTED
from core.types import Refusal

N = 500  # examples of each split
PART = 50  # examples between two reports


@dataclass(frozen=True)
class Experiment:
    """How the rows of a table are made, of which sense, over how many examples of which splits."""

    rows: Callable[[Any, Sequence[Any]], list[Row]]
    settings: Row
    sense: str
    drawn: Callable[[Any, int, int], Sequence[Any]]
    splits: tuple[str, ...]
    n: int = N


EXPERIMENTS = {
    "looking": Experiment(looking.looking, looking.SETTINGS, "scene", scenes.scenes, ("test", "new-kinds")),
    "listening": Experiment(listening.listening, listening.SETTINGS, "sound", sounds.strings, ("test",), 200),
}


def shown() -> list[tuple[str, str]]:
    """The tables that the pages show: experiment and model."""
    kinds = {kind.sense: name for name, kind in EXPERIMENTS.items()}
    return [(kinds[card.sense], card.name) for card in perceivers.cards().values()]


def run(
    name: str,
    model_name: str,
    *,
    dataset: str,
    split: str | None = None,
    limit: int | None = None,
    root: Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Runs an experiment over its splits, or one of them, and returns the path of its table, whose column `split` names them.
    Refuses a model of another sense, and data and splits that are not the experiment's."""
    kind, own = EXPERIMENTS[name], model_name.partition("/")[0]
    if dataset != own:
        raise Refusal("other_task", f"{model_name} is tested on {own}; {dataset!r} was given.", model=model_name, given=dataset)
    if split is not None and split not in kind.splits:
        allowed = ", ".join(kind.splits)
        raise Refusal("unknown_split", f"{name} has no split {split!r}; there are {allowed}.", given=split)
    splits = (split,) if split else kind.splits
    model, n = perceivers.load(model_name, kind.sense), min(limit or kind.n, kind.n)
    started, rows = time.time(), []
    for which in splits:
        examples = kind.drawn(which, n, TESTED)
        for start in range(0, n, PART):
            rows += [{"split": which, **row} for row in kind.rows(model, examples[start : start + PART])]
            if progress:
                progress(min(start + PART, n), n)
    card = model.card
    provenance = {
        "experiment": name,
        "model": card.name,
        "weights_sha256": card.weights_sha256,
        "seed": card.seed,
        **kind.settings,
        "data": dataset,
        "split": ", ".join(splits),
        "n": n,
        "data_seed": TESTED,
        "command": f"python -m core experiment {name} --model {card.name} --data {dataset}"
        + (f" --split {split}" if split else "")
        + (f" --limit {limit}" if limit else ""),
        "seconds": round(time.time() - started, 1),
        "date": time.strftime("%Y-%m-%d"),
    }
    path = path_of(name, model_name, root)
    keep(pd.DataFrame(rows), path, provenance)
    return path
