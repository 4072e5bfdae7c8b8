"""One text under many shuffles of its attention, and whole test sets of them: what the permutation page shows, as plain values.

`core` shuffles and measures; here the answers are kept for one text, put into words, and the table of a test set is parted by
how peaked its attention is, as the paper parts it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pandas as pd

from core.agreement import bootstrap_mean
from core.debate.permutation import orders, permutations
from core.models.classifier import Classifier
from core.models.contributions import contributions
from core.reading import Reading
from core.types import Note, Refusal
from dashboard import evidence, frames, resources, spread, tokens
from dashboard.explained import UNBROKEN
from dashboard.texts import Texts

SHUFFLES = 100  # as many as in the paper
EDGES = (0.0, 0.25, 0.5, 0.75, 1.0)  # bins of the largest weight, those of the paper
SERIES = {"median_tvd": "median", "q95_tvd": "far"}  # of a text's shuffles
NORMALIZERS = {"softmax": evidence.SEEDED, "sparsemax": f"{evidence.SEEDED}:sparsemax"}
FAINT = 0.004  # density, of its peak, below which a shape ends
FEW = 10  # sentences of which a density says nothing: they are drawn one by one
SEVERAL = 3  # labels that can be told apart in one figure


@dataclass(frozen=True)
class Shuffled:
    """A text, its prediction, and the predictions under shuffles of its attention; `labels` are those that may be answered."""

    model: str
    words: tuple[str, ...]
    labels: tuple[str, ...]
    attention: np.ndarray  # "word"
    shuffles: np.ndarray  # "shuffle word"
    original: np.ndarray  # "label"
    prob: np.ndarray  # "shuffle label"
    tvd: np.ndarray  # "shuffle"
    notes: tuple[Note, ...]

    @property
    def predicted(self) -> str:
        """The likeliest label as it is."""
        return self.labels[int(self.original.argmax())]

    @property
    def median(self) -> float:
        """The median total variation distance of a shuffle."""
        return float(np.median(self.tvd))

    @property
    def flipped(self) -> int:
        """How many shuffles change the predicted label."""
        return int((self.prob.argmax(-1) != self.original.argmax()).sum())

    def shown(self, which: str) -> int:
        """The shuffle nearest the median, or the one that moves the prediction most ("extreme")."""
        return int(self.tvd.argmax() if which == "extreme" else np.abs(self.tvd - self.median).argmin())


def shuffled(model: Classifier, reading: Reading, *, seed: int, n: int = SHUFFLES) -> Shuffled:
    """A text under `n` shuffles, in double precision."""
    precise = model.precise()
    batch = precise.encode([reading.example])
    found, words = permutations(precise, batch, n=n, seed=seed), contributions(precise, batch)
    attention, allowed = words.attention[0].cpu(), batch.allowed[0].cpu()
    return Shuffled(
        model=model.card.name,
        words=reading.example.text,
        labels=tuple(name for name, may in zip(model.card.task.labels, allowed.tolist(), strict=True) if may),
        attention=attention.numpy(),
        shuffles=attention[orders(words, n, seed)[0].cpu()].numpy(),
        original=found.original[0, allowed].numpy(),
        prob=found.prob[0][:, allowed].numpy(),
        tvd=found.tvd[0].numpy(),
        notes=reading.notes,
    )


def rows(t: Texts, found: Shuffled, target: str, which: str) -> list[tokens.Row]:
    """The attention as it was learned and one shuffle of it, each with what it predicts."""
    at, draw, label = found.labels.index(target), found.shown(which), t.label(target)

    def said(p: float, rest: str) -> str:
        parts = (t("strips.p", label=label, p=tokens.number(p)), rest)
        return ", ".join(part.replace(" ", UNBROKEN) for part in parts)

    as_is = said(found.original[at], t("strips.weight", largest=tokens.number(found.attention.max())))
    moved = said(found.prob[draw, at], t("strips.moved", tvd=tokens.number(found.tvd[draw], 3)))
    name = t("strips.shuffle", number=draw + 1)
    return [
        tokens.Row(t("measure.attention"), found.attention.tolist(), t("strips.learned"), note=as_is),
        tokens.Row(name, found.shuffles[draw].tolist(), t(f"strips.{which}"), side="charge", note=moved),
    ]


def cloud(found: Shuffled, target: str) -> pd.DataFrame:
    """shuffle, p (of the target), tvd: one row a shuffle."""
    at = found.labels.index(target)
    return pd.DataFrame({"shuffle": np.arange(1, len(found.tvd) + 1), "p": found.prob[:, at], "tvd": found.tvd})


def reading(t: Texts, found: Shuffled) -> str:
    """What the shuffles of one text come to, in a sentence or two."""
    if len(found.words) == 1:
        return t("reading.one")
    values = {"median": tokens.number(found.median, 3), "most": tokens.number(found.tvd.max(), 3)}
    return t("reading.text", flipped=found.flipped, n=len(found.tvd), **values)


def binned(model_name: str) -> pd.DataFrame:
    """A test set's table with the `bin` of its largest weight, 0 to 3, and the `group` of its predicted label.

    All are one group ("") where there are too many labels to tell apart.
    """
    table, labels = resources.results("permutation", model_name), resources.cards()[model_name].task.labels
    names = dict(enumerate(labels)) if len(labels) <= SEVERAL else dict.fromkeys(range(len(labels)), "")
    inner = np.asarray(EDGES[1:-1], dtype=np.float32)
    return table.assign(bin=np.searchsorted(inner, table["max_attention"], side="right"), group=table["predicted"].map(names))


def groups(model_name: str) -> list[str]:
    """The groups of a test set, in the order of the labels."""
    there = set(binned(model_name)["group"])
    return [name for name in (*resources.cards()[model_name].task.labels, "") if name in there]


def medians(t: Texts, model_name: str) -> spread.Groups:
    """The per-sentence medians of a whole test set by bin and predicted label, in the reader's words."""
    there = set(binned(model_name)["group"])
    names = {
        name: t.label(name) or t("violins.all") for name in (*resources.cards()[model_name].task.labels, "") if name in there
    }
    parts = [resources.table(part, model_name) for part in (shapes, summary, singles)]
    named = [part.assign(group=part["group"].map(names)) for part in parts]
    return spread.Groups(bin_names(), list(names.values()), *named)


def summary(model_name: str) -> pd.DataFrame:
    """bin, group, n, median, low, high (quartiles) of the per-sentence medians; missing where a bin has no sentence."""
    parts = binned(model_name).astype({"median_tvd": float}).groupby(["bin", "group"])["median_tvd"].describe()
    every = pd.MultiIndex.from_product([range(len(EDGES) - 1), groups(model_name)], names=["bin", "group"])
    named = parts.rename(columns={"count": "n", "25%": "low", "50%": "median", "75%": "high"}).reindex(every)
    return named[["n", "median", "low", "high"]].fillna({"n": 0}).astype({"n": int}).reset_index()


def shapes(model_name: str) -> pd.DataFrame:
    """bin, group, x, density: how the per-sentence medians of each group of at least FEW sentences are spread over 0 to 1."""
    made = {
        key: frames.density(values).query("density > @FAINT")
        for key, values in binned(model_name).groupby(["bin", "group"])["median_tvd"]
        if len(values) >= FEW
    }
    if not made:
        return pd.DataFrame({"bin": [], "group": [], "x": [], "density": []})
    return pd.concat(made, names=["bin", "group"]).reset_index(["bin", "group"]).reset_index(drop=True)


def singles(model_name: str) -> pd.DataFrame:
    """bin, group, x: the medians of groups that are too small for a shape."""
    table = binned(model_name)
    few = table.groupby(["bin", "group"])["group"].transform("size") < FEW
    return table.loc[few, ["bin", "group", "median_tvd"]].rename(columns={"median_tvd": "x"}).astype({"x": float})


def case(t: Texts, found: Shuffled, names: Sequence[str]) -> spread.Case:
    """A text among the medians of its test set."""
    group = next((name for name in names if name == t.label(found.predicted)), names[0])
    this = t("violins.this", median=tokens.number(found.median, 3))
    return spread.Case(found.median, bin_of(found.attention.max()), group, this)


def encoders(model_name: str) -> pd.DataFrame:
    """`compared` for the three encoders of the same data and score."""
    return compared({encoder: evidence.with_encoder(model_name, encoder) for encoder in evidence.ENCODERS})


def tasks(model_name: str) -> pd.DataFrame:
    """`compared` for every data set that the same encoder and score was trained on: single texts first, then pairs."""
    same = model_name.split(":")[0].split("/", 1)[1]
    cards = [card for card in resources.cards().values() if card.name.split("/", 1)[1] == same]
    models = {card.task.name: card.name for card in sorted(cards, key=lambda card: (card.task.kind, card.task.name))}
    return compared(models).query("series == 'median'").reset_index(drop=True)


def compared(models: Mapping[str, str]) -> pd.DataFrame:
    """Means over test sets of each text's median and of its 95 % quantile, for the models that were run.

    group, series, mean, low, high, n, flipped (share of shuffles that change the label).
    """
    made = []
    for group, name in models.items():
        try:
            table = resources.results("permutation", name)
        except Refusal:
            continue
        shared = {"group": group, "flipped": float(table["flipped"].mean())}
        made += [{**shared, "series": series, **interval(table[column])} for column, series in SERIES.items()]
    return pd.DataFrame(made, columns=["group", "series", "mean", "low", "high", "n", "flipped"])


def normalizers() -> pd.DataFrame:
    """The mean of the medians by bin of the largest weight, softmax beside sparsemax.

    group (bin), series, mean, low, high, n; the mean of a bin without a sentence is missing.
    """
    tables = {normalizer: binned(name) for normalizer, name in NORMALIZERS.items()}
    made = [
        {"group": place, "series": normalizer, **interval(table.loc[table["bin"] == place, "median_tvd"])}
        for place in range(len(EDGES) - 1)
        for normalizer, table in tables.items()
    ]
    return pd.DataFrame(made).astype(dict.fromkeys(("mean", "low", "high"), float))


def half_on_one(table: pd.DataFrame) -> Mapping[str, float]:
    """The share of sentences in which one word holds half of the weight or more, by series of `normalizers`."""
    peaked = table[table["group"] >= bin_of(0.5)].groupby("series")["n"].sum()
    return {str(name): float(share) for name, share in (peaked / table.groupby("series")["n"].sum()).items()}


def interval(values: pd.Series) -> Mapping[str, float | int | None]:
    """Mean with its 95 % bootstrap interval over sentences."""
    found = bootstrap_mean(values.to_numpy(dtype=float))
    return {"mean": found.mean, "low": found.low, "high": found.high, "n": found.n}


def end(largest: float) -> float:
    """Where an axis of medians ends: at the first edge of a bin that lies beyond all that is shown."""
    return next(edge for edge in EDGES[1:] if largest <= edge)


def bin_names() -> Sequence[str]:
    """The bins as they are written on an axis."""
    return [f"{low:g}–{high:g}" for low, high in pairwise(EDGES)]


def bin_of(largest: float) -> int:
    """The bin of a largest weight."""
    return int(np.searchsorted(EDGES[1:-1], largest, side="right"))
