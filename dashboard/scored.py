"""How well trainings do, over seeds, beside what was published: one mean with its interval where the paper has one number.

Another seed is another training, so the interval is over seeds: mean ± t · s / √n with Student's t, which few seeds make wide.
Differences of two ways of training carry Welch's interval. Both speak of this data and this recipe; they are the yardstick
that a single number in a table lacks.
"""

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

from core import experiments
from core.types import Refusal
from dashboard import evidence, resources
from dashboard.texts import Texts
from dashboard.tokens import number

PAPER = "Wiegreffe & Pinter 2019"
CORPORA = ("Diabetes", "Anemia", "IMDB", "SST", "AG News", "20News")  # the paper's, in its order
DROPPED = ("AG News", "20News")  # by the authors, as uniform attention does as well
NECESSITY = (
    "sst2/bilstm-additive",
    "imdb/bilstm-additive:words=200",
    "ag_news/bilstm-additive",
    "newsgroups_sports/bilstm-additive",
)
GUIDED = ("sst2/average-additive", "imdb/average-additive:words=200")
GUIDES = ("uniform", "own", "base", "adversary")
ATTENTION = {"learned": "BiLSTM+attention (reproduced)", "uniform": "BiLSTM frozen uniform"}
GUIDED_BY = {
    "uniform": "Uniform",
    "own": "Trained MLP",
    "base": "Base LSTM weights",
    "adversary": "Adversary weights (lambda=0.001)",
}
PUBLISHED = {
    **{name: ("Table 2", model) for name, model in ATTENTION.items()},
    "reported": ("Table 2", "BiLSTM+attention (reported by J&W)"),
    **{f"guide:{name}": ("Table 3", f"guided MLP: {model}") for name, model in GUIDED_BY.items()},
}
COLUMNS = ["group", "series", "mean", "low", "high", "n", "published"]


def over_seeds(values: Sequence[float]) -> dict[str, float | int | None]:
    """mean, low, high, n: the mean with its 95 % interval by Student's t; no interval below two seeds."""
    given = np.asarray(values, dtype=float)
    n = len(given)
    if n < 2:
        return {"mean": float(given[0]) if n else None, "low": None, "high": None, "n": n}
    reach = float(stats.t.ppf(0.975, n - 1) * given.std(ddof=1) / math.sqrt(n))
    return {"mean": float(given.mean()), "low": float(given.mean()) - reach, "high": float(given.mean()) + reach, "n": n}


def gap(first: Sequence[float], second: Sequence[float]) -> dict[str, float | int | None]:
    """mean, low, high, n (the fewer seeds): the first mean minus the second, with Welch's 95 % interval."""
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    found = {"mean": float(a.mean() - b.mean()), "low": None, "high": None, "n": min(len(a), len(b))}
    if min(len(a), len(b)) < 2 or not (a.std() or b.std()):
        return found
    interval = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    return found | {"low": float(interval.low), "high": float(interval.high)}


def published(key: str, corpus: str) -> float | None:
    """The F1 that the paper prints for a way of training (a key of `PUBLISHED`) on a corpus, where it was confirmed."""
    table, model = PUBLISHED[key]
    rows = resources.published()
    chosen = (rows["paper"] == PAPER) & (rows["table"] == table) & (rows["dataset"] == corpus) & (rows["metric"] == "F1")
    found = rows.loc[chosen & (rows["model"] == model), "value"]
    return float(found.iloc[0]) if len(found) else None


def corpus(model_name: str) -> str:
    """What the papers call a model's data."""
    return evidence.PAPERS_NAMES[model_name.split("/")[0]]


def trainings(experiment: str, model_name: str) -> dict[str, list[float]]:
    """The test F1 of every seed, by how attention was come by: learned, uniform, own, base, adversary."""
    table = resources.results(experiment, model_name)
    own = "learned" if experiment == "necessity" else "own"
    named = [
        value if kind == "guide" else "uniform" if normalizer == "uniform" else own
        for kind, value, normalizer in zip(table["kind"], table["value"], table["normalizer"], strict=True)
    ]
    parts = table.assign(series=named).groupby("series")["f1"]
    return {str(name): [float(value) for value in values] for name, values in parts}


def measured(experiment: str, model_names: Sequence[str]) -> list[str]:
    """Those of the models whose trainings were measured; refuses where none was."""
    there = [name for name in model_names if name in experiments.done(experiment)]
    if not there:
        name = model_names[0]
        raise Refusal("no_results", f"{experiment} was not run for {name}.", name=experiment, model=name)
    return there


def necessity() -> pd.DataFrame:
    """group (corpus), series (learned, uniform), mean, low, high, n (seeds), published."""
    rows = [
        {"group": corpus(name), "series": series, **over_seeds(scores), "published": published(series, corpus(name))}
        for name in measured("necessity", NECESSITY)
        for series, scores in sorted(trainings("necessity", name).items())
    ]
    return _frame(rows)


def needed() -> pd.DataFrame:
    """group (corpus), series ("gap"), learned minus uniform: mean, low, high, n (seeds), published."""
    rows = []
    for name in measured("necessity", NECESSITY):
        scores = trainings("necessity", name)
        theirs = _minus(published("learned", corpus(name)), published("uniform", corpus(name)))
        rows.append({"group": corpus(name), "series": "gap", **gap(scores["learned"], scores["uniform"]), "published": theirs})
    return _frame(rows)


def guides(model_name: str) -> pd.DataFrame:
    """group (guide), series ("f1"), mean, low, high, n (seeds), published."""
    scores, where = trainings("guide", model_name), corpus(model_name)
    rows = [
        {"group": name, "series": "f1", **over_seeds(scores[name]), "published": published(f"guide:{name}", where)}
        for name in GUIDES
        if name in scores
    ]
    return _frame(rows)


def helped(model_name: str) -> pd.DataFrame:
    """group ("base-uniform" …), series ("gap"): by how much one guide does better than another, and in the paper."""
    scores, where = trainings("guide", model_name), corpus(model_name)
    rows = []
    for first, second in (("base", "uniform"), ("base", "own"), ("base", "adversary")):
        if {first, second} <= scores.keys():
            theirs = _minus(published(f"guide:{first}", where), published(f"guide:{second}", where))
            found = gap(scores[first], scores[second])
            rows.append({"group": f"{first}-{second}", "series": "gap", **found, "published": theirs})
    return _frame(rows)


def printed(t: Texts) -> pd.DataFrame:
    """The paper's Table 2 as it is read, with what was measured here beside it and the corpora that were dropped marked."""
    here = {(row["group"], row["series"]): row for row in _measured_rows()}
    made = []
    for name in CORPORA:
        mark = "\u2009†" if name in DROPPED else ""
        theirs = {key: published(key, name) for key in ("reported", "learned", "uniform")}
        made.append(
            {
                t("published.corpus"): name + mark,
                **{t(f"published.{key}"): number(value, 2 if key == "reported" else 3) for key, value in theirs.items()},
                **{t(f"published.here_{series}"): with_interval(here.get((name, series))) for series in ("learned", "uniform")},
            }
        )
    return pd.DataFrame(made)


def with_interval(row: dict | None) -> str:
    """A mean and its interval as text; a dash where there is none."""
    if row is None or pd.isna(row["mean"]):
        return "–"
    if pd.isna(row["low"]):
        return number(row["mean"], 3)
    return f"{number(row['mean'], 3)} [{number(row['low'], 3)}, {number(row['high'], 3)}]".replace(" ", "\u00a0")


def floor(table: pd.DataFrame) -> float:
    """Where an axis of F1 begins: at the tenth below everything that is shown."""
    return math.floor(10 * float(np.nanmin(table[["mean", "low", "published"]].to_numpy(dtype=float))) - 0.01) / 10


def around_zero(table: pd.DataFrame) -> tuple[float, float]:
    """An axis of differences that shows zero and everything else."""
    shown = table[["mean", "low", "high", "published"]].to_numpy(dtype=float)
    low, high = min(0.0, float(np.nanmin(shown))), max(0.0, float(np.nanmax(shown)))
    room = 0.1 * (high - low) or 0.01
    return low - room, high + room


def spoken(table: pd.DataFrame) -> str:
    """Means with their intervals as a list to listen to."""
    return ", ".join(f"{row['group']} {row['series']} {with_interval(row)}" for row in table.to_dict("records"))


def provenance(t: Texts, experiment: str, model_name: str) -> dict[str, str]:
    """Data, split and size of the test set, for sentences."""
    where = evidence.provenance(resources.results(experiment, model_name), t)
    return {"data": where["data"], "split": where["split"], "tested": where["n"]}


def noise(model_name: str) -> dict[str, str]:
    """How far two runs of one guide lie apart in 95 of 100 pairs (1.96 √2 s, with s pooled over the paper's first three
    guides), and the paper's three differences between those guides with how many lie within that."""
    scores, where = trainings("guide", model_name), corpus(model_name)
    honest = [name for name in GUIDES if name != "adversary"]
    variances = [float(np.var(scores[name], ddof=1)) for name in honest if len(scores.get(name, ())) > 1]
    reach = stats.norm.ppf(0.975) * math.sqrt(2 * float(np.mean(variances))) if variances else math.nan
    values = [value for name in honest if (value := published(f"guide:{name}", where)) is not None]
    gaps = sorted(abs(first - second) for first, second in combinations(values, 2))
    said = {"reach": number(reach, 3), "least": number(min(gaps), 3), "most": number(max(gaps), 3)}
    return said | {"within": str(sum(gap <= reach for gap in gaps)), "of": str(len(gaps))}


def _measured_rows() -> list[dict]:
    try:
        return necessity().to_dict("records")
    except Refusal:
        return []


def _minus(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first - second


def _frame(rows: Sequence[dict]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=COLUMNS).astype(dict.fromkeys(("mean", "low", "high", "published"), float))
