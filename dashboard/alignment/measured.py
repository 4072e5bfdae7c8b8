"""The tables of translators as plain frames for the page; n, seeds and intervals come with every figure."""

import numpy as np
import pandas as pd
from scipy.stats import t as student

from core.experiments.alignment import EPOCHS, GERMAN, REVIEWS
from core.models.decoder import ATTENTIONS
from dashboard import resources

COPYING = "copying"
WAYS = ("none", "additive")
KINDS = (*ATTENTIONS, "transformer")
CHANGES = ("own", "uniform", "shuffled")
DRAWS = 2000  # of the bootstrap over sentences
SMALLEST = 1e-30  # gradient that single precision still tells from zero
__all__ = ["CHANGES", "COPYING", "EPOCHS", "GERMAN", "KINDS", "REVIEWS", "WAYS", "agreement", "distance", "kept", "kinds"]


def distance(column: str) -> pd.DataFrame:
    """series (way), x (length), mean over seeds, low, high (95 %, Student's t over seeds), n (seeds): one row a length.

    Of gradients the logarithm to base 10, since they fade by powers of ten.
    """
    table = resources.results("distance", COPYING)
    if column.startswith("gradient"):
        table = table.assign(**{column: np.log10(table[column].astype(float).clip(lower=SMALLEST))})
    rows = []
    for way in WAYS:
        for length, some in table[table["attention"] == way].groupby("length"):
            rows.append({"series": way, "x": int(str(length)), **_over_seeds(some[column].to_numpy())})
    frame = pd.DataFrame(rows)
    shares = column in ("exact", "symbols")
    return frame.assign(low=frame["low"].clip(lower=0), high=frame["high"].clip(upper=1)) if shares else frame


def _over_seeds(values: np.ndarray) -> dict[str, float]:
    mean, n = float(values.mean()), len(values)
    half = float(student.ppf(0.975, n - 1) * values.std(ddof=1) / n**0.5) if n > 1 else 0.0
    return {"mean": mean, "low": mean - half, "high": mean + half, "n": n}


def kinds() -> pd.DataFrame:
    """One row for each training of the comparison, as the table has it, best BLEU first."""
    table = resources.results("translators", GERMAN)
    return table.sort_values("bleu", ascending=False, ignore_index=True)


def agreement() -> pd.DataFrame:
    """group (whose links), precision, recall, aer, and mean (recall) with low and high (95 %, bootstrap over sentences)."""
    table = resources.results("alignments", GERMAN)
    rows = [_links(table, "attention", "found", "words"), _links(table, "diagonal", "diagonal", "diagonal_words")]
    return pd.DataFrame(rows)


def _links(table: pd.DataFrame, group: str, found: str, said: str) -> dict[str, object]:
    hits, given, words = (table[name].to_numpy(dtype=float) for name in (found, "links", said))
    drawn = np.random.default_rng(0).integers(0, len(table), (DRAWS, len(table)))
    low, high = np.quantile(hits[drawn].sum(1) / given[drawn].sum(1), (0.025, 0.975))
    recall, precision = hits.sum() / given.sum(), hits.sum() / words.sum()
    error = 1 - 2 * hits.sum() / (words.sum() + given.sum())
    shares = {"mean": recall, "low": float(low), "high": float(high), "n": int(given.sum())}
    return {"group": group, "recall": recall, "precision": precision, "aer": error, **shares}


def kept() -> pd.DataFrame:
    """model, change, value (mean over draws), mean (as a share of its own score), low, high (the outer ends of the draws'
    95 % intervals, as such shares), draws, n_test: one row a model and change."""
    table = resources.results("rewired", GERMAN)
    rows = []
    for model in (GERMAN, REVIEWS):
        own = float(table[(table["model"] == model) & (table["change"] == "own")]["value"].iloc[0])
        for change in CHANGES:
            some = table[(table["model"] == model) & (table["change"] == change)]
            value = float(some["value"].mean())
            ends = {"low": float(some["low"].min()) / own, "high": float(some["high"].max()) / own}
            counted = {"draws": len(some), "n_test": int(some["n_test"].iloc[0])}
            rows.append({"model": model, "change": change, "value": value, "mean": value / own, **ends, **counted})
    return pd.DataFrame(rows)

