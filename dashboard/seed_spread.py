"""How far attention moves between trainings, over a whole test set, and how far an adversary moves it.

The table of `core.experiments.variance` parted as in Wiegreffe & Pinter (2019, Figure 3): by the largest weight, and by the
predicted label. Other seeds and the adversary stand in one row, since one is only remarkable against the other.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from core.agreement import bootstrap_mean
from dashboard import evidence, frames, resources, shuffles, spread
from dashboard.retrained import Seeds
from dashboard.scored import PAPER
from dashboard.texts import Texts
from dashboard.tokens import number

MODEL = "sst2/bilstm-additive"
SERIES = {"seeds": "median_jsd", "adversary": "adversary_jsd"}
LARGEST = math.log(2)  # no JSD is larger, whatever smoothing says
END = 0.75  # of the axis: the first label beyond it
THEIR_TVD = 2  # the paper's TVD of two classes is half the total variation distance


def seeds(model_name: str) -> list[str]:
    """The further seeds of a model that are committed, in the order of their seeds."""
    cards = resources.cards()
    return sorted((name for name in cards if name.startswith(f"{model_name}:seed=")), key=lambda name: cards[name].seed)


def parted(model_name: str, label: str) -> pd.DataFrame:
    """bin, group (seeds, adversary), x (JSD): two rows for each sentence that was given a label."""
    table = binned(resources.results("variance", model_name))
    part = table[table["predicted"] == resources.cards()[model_name].task.labels.index(label)]
    made = [part[["bin", column]].rename(columns={column: "x"}).assign(group=name) for name, column in SERIES.items()]
    return pd.concat(made, ignore_index=True).astype({"x": float})


def binned(table: pd.DataFrame) -> pd.DataFrame:
    """The table with the `bin` of each sentence's largest weight, 0 to 3."""
    inner = np.asarray(shuffles.EDGES[1:-1], dtype=np.float32)
    return table.assign(bin=np.searchsorted(inner, table["max_attention"], side="right"))


def marks(model_name: str, label: str) -> pd.DataFrame:
    """bin, group, n, median, low, high (quartiles) of the JSD; missing where a bin has no sentence."""
    parts = parted(model_name, label).groupby(["bin", "group"])["x"].describe()
    every = pd.MultiIndex.from_product([range(len(shuffles.EDGES) - 1), SERIES], names=["bin", "group"])
    named = parts.rename(columns={"count": "n", "25%": "low", "50%": "median", "75%": "high"}).reindex(every)
    return named[["n", "median", "low", "high"]].fillna({"n": 0}).astype({"n": int}).reset_index()


def shapes(model_name: str, label: str) -> pd.DataFrame:
    """bin, group, x, density of each group of at least `shuffles.FEW` sentences."""
    made = {
        key: frames.density(values).query("density > @shuffles.FAINT and x <= @LARGEST")
        for key, values in parted(model_name, label).groupby(["bin", "group"])["x"]
        if len(values) >= shuffles.FEW
    }
    if not made:
        return pd.DataFrame({"bin": [], "group": [], "x": [], "density": []})
    return pd.concat(made, names=["bin", "group"]).reset_index(["bin", "group"]).reset_index(drop=True)


def singles(model_name: str, label: str) -> pd.DataFrame:
    """bin, group, x of groups that are too small for a shape."""
    table = parted(model_name, label)
    return table[table.groupby(["bin", "group"])["x"].transform("size") < shuffles.FEW].reset_index(drop=True)


def violins(t: Texts, model_name: str, label: str) -> spread.Groups:
    """What the violins of one predicted label need, in the reader's words."""
    names = {name: t(f"violins.{name}") for name in SERIES}
    parts = [resources.table(part, model_name, label) for part in (shapes, marks, singles)]
    named = [part.assign(group=part["group"].map(names)) for part in parts]
    return spread.Groups(shuffles.bin_names(), list(names.values()), *named)


def case(t: Texts, found: Seeds) -> spread.Case:
    """A text among the other seeds' violins."""
    this = t("violins.this", jsd=number(found.median_jsd, 3))
    place = shuffles.bin_of(found.trainings.attention[0].max())
    return spread.Case(found.median_jsd, place, t("violins.seeds"), this)


def by_seed(model_name: str) -> pd.DataFrame:
    """group (seed, "adversary"), series (jsd, tvd), mean, low, high, n: means over the test set, bootstrap over sentences."""
    table = resources.results("variance", model_name)
    rows = [
        {"group": str(seed), "series": series, **mean(table[f"seed_{seed}:{series}"])}
        for seed in table.attrs["provenance"]["seeds"]
        for series in ("jsd", "tvd")
    ]
    rows.append({"group": "adversary", "series": "jsd", **mean(table["adversary_jsd"])})
    return pd.DataFrame(rows)


def mean(values: pd.Series) -> dict[str, float | int | None]:
    """Mean with its 95 % bootstrap interval over sentences."""
    found = bootstrap_mean(values.to_numpy(dtype=float))
    return {"mean": found.mean, "low": found.low, "high": found.high, "n": found.n}


def read_off(metric: str, model: str = "random seeds", corpus: str = "SST") -> float | None:
    """A point of the paper's Figure 5, read off its image (JSD ±0.01, its TVD ±0.002), where it was confirmed."""
    rows = resources.published()
    chosen = (rows["paper"] == PAPER) & (rows["table"] == "Fig. 5") & (rows["dataset"] == corpus) & (rows["model"] == model)
    found = rows.loc[chosen & (rows["metric"] == metric), "value"]
    return float(found.iloc[0]) if len(found) else None


def printed(t: Texts, model_name: str) -> pd.DataFrame:
    """Means over the test set, from the least to the most of the other seeds, beside the read-offs."""
    table = by_seed(model_name)
    paper = {
        "seeds_jsd": [read_off("JSD to base, lowest"), read_off("JSD to base, highest")],
        "seeds_tvd": [twice(read_off("TVD to base, lowest")), twice(read_off("TVD to base, highest"))],
        "adversary_jsd": [read_off("JSD to base", "J&W per-instance adversary")],
    }
    seeds = table[table["group"] != "adversary"].groupby("series")["mean"]
    here = {f"seeds_{name}": [values.min(), values.max()] for name, values in seeds}
    here["adversary_jsd"] = list(table.loc[table["group"] == "adversary", "mean"])
    corpus = evidence.PAPERS_NAMES[model_name.split("/")[0]]
    rows = [
        {
            t("published.what"): t(f"published.{name}"),
            t("published.ours", corpus=corpus): ranged(here[name]),
            t("published.paper", corpus=corpus): ranged(values),
        }
        for name, values in paper.items()
    ]
    return pd.DataFrame(rows)


def twice(value: float | None) -> float | None:
    """The paper's distance of predictions as a total variation distance."""
    return None if value is None else THEIR_TVD * value


def ranged(values: Sequence[float | None]) -> str:
    """One number or the two ends of a range."""
    return "–".join(number(value, 3) for value in values if value is not None) or "–"
