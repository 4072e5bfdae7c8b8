"""What captioners say of a scene, as plain values for the page, and the tables over scenes that they never saw."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from scipy.stats import binomtest

from core.debate import looking
from core.debate.looking import CELLS, CHANGES, Tried
from core.interventions import permute, uniform
from core.models.captioner import Captioner
from core.scenes import Scene
from core.types import Refusal
from dashboard import frames, resources
from dashboard.captioning.keys import MODELS

WHERE = ("own_color", "own_shape", "others", "blank")  # where attention lies while an object is named
TEST, NEW = "test", "new-kinds"


@dataclass(frozen=True)
class Told:
    """A caption with its attention. `things` are the places in the scene of the objects that its words name, -1 where none."""

    words: tuple[str, ...]
    things: tuple[int, ...]
    right: tuple[str, ...]
    prob: tuple[float, ...]
    attention: np.ndarray  # "word cell"

    @property
    def exact(self) -> bool:
        """Whether it is the caption that fits."""
        return self.words == self.right

    def share(self, word: int, scene: Scene) -> float:
        """How much of the attention lies on the object that a word names."""
        return float(self.attention[word, list(scene[self.things[word]].cells)].sum())


def told(model: Captioner, scene: Scene) -> Told:
    """What the model says of the scene."""
    found = looking.looked(model, scene)
    return Told(found.words, found.things, found.right, found.prob, found.attention[: len(found.words)].numpy())


def tried(model: Captioner, scene: Scene, words: tuple[str, ...], at: int, thing: int, seed: int) -> tuple[Tried, ...]:
    """One word under each change."""
    return tuple(looking.tried(model, scene, words, at, thing, seed))


def rewritten(model: Captioner, scene: Scene, seed: int) -> dict[str, tuple[str, ...]]:
    """The whole caption with uniform and with shuffled weights at every word."""
    order = torch.randperm(CELLS, generator=torch.Generator().manual_seed(seed))[None]
    ways = {"uniform": uniform(torch.ones(1, CELLS, dtype=torch.bool)), "shuffled": permute(order)}
    return {name: looking.looked(model, scene, way).words for name, way in ways.items()}


def measured(code: str) -> pd.DataFrame:
    """The table of a model over scenes that it never saw. Refuses one that was made with other weights."""
    name = MODELS[code]
    table, card = resources.results("looking", name), resources.perceivers_here().get(name)
    if card is not None and table.attrs["provenance"]["weights_sha256"] != card.weights_sha256:
        sentence = f"The table of looking for {name} was made with other weights; `make results` makes it again."
        raise Refusal("stale_results", sentence, model=name)
    return table


def measured_models() -> list[str]:
    """The models whose table can be shown, by their codes."""
    found = []
    for code in MODELS:
        try:
            measured(code)
        except Refusal:
            continue
        found.append(code)
    return found


def means(codes: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """group (column), series (model), mean, low, high, n: means over test scenes with 95 % bootstrap intervals."""
    rows = []
    for column in columns:
        for code in codes:
            table = measured(code)
            values = table.loc[table["split"] == TEST, column]
            mean, low, high = frames.mean_interval(values.tolist())
            rows.append({"group": column, "series": code, "mean": mean, "low": low, "high": high, "n": len(values)})
    return pd.DataFrame(rows)


def exact(codes: Sequence[str]) -> pd.DataFrame:
    """model, split, exact, low, high (95 %, Wilson), uniform, shuffled (exact with such weights), n."""
    rows = []
    for code in codes:
        for split, part in measured(code).groupby("split", sort=False):
            right, n = int(part["exact"].sum()), len(part)
            interval = binomtest(right, n).proportion_ci(method="wilson")
            rest = {"uniform": float(part["exact_uniform"].mean()), "shuffled": float(part["exact_shuffled"].mean())}
            ends = {"low": float(interval.low), "high": float(interval.high)}
            rows.append({"model": code, "split": str(split), "exact": right / n, **ends, **rest, "n": n})
    return pd.DataFrame(rows)


CHANGED = tuple(f"changed:{change}" for change in CHANGES)
