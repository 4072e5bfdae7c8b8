"""Results as tidy frames, one row a mark, for `charts`. Words are addressed by position, never by their letters."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd
from scipy.ndimage import gaussian_filter1d

Weight = float | None


def scores(words: Sequence[str], measures: Mapping[str, Sequence[Weight]]) -> pd.DataFrame:
    """position, word, series, value: one row a word and measure; undefined values are left out."""
    rows = [
        {"position": i, "word": word, "series": name, "value": float(value)}
        for name, values in measures.items()
        for i, (word, value) in enumerate(zip(words, values, strict=True))
        if value is not None and np.isfinite(value)
    ]
    return pd.DataFrame(rows, columns=["position", "word", "series", "value"])


def binned(values: Sequence[float], *, bins: int = 20, domain: tuple[float, float] = (-1.0, 1.0)) -> pd.DataFrame:
    """low, high, count, share (of the defined values): a histogram over `domain`; what lies outside is left out."""
    finite = np.asarray([v for v in values if v is not None and np.isfinite(v)], dtype=float)
    count, edges = np.histogram(finite, bins=bins, range=domain)
    edges = np.round(edges, 6)
    return pd.DataFrame({"low": edges[:-1], "high": edges[1:], "count": count, "share": count / max(finite.size, 1)})


def binned_by(groups: Mapping[str, Sequence[float]], **settings: object) -> pd.DataFrame:
    """`binned` for each group, with its name in `series`."""
    frames = [binned(values, **settings).assign(series=name) for name, values in groups.items()]  # type: ignore[arg-type]
    return pd.concat(frames, ignore_index=True)


def density(values: Iterable[float], *, bins: int = 200, smooth: float = 0.012) -> pd.DataFrame:
    """x, density (1 at its peak): a histogram over 0 to 1, smoothed by a Gaussian of width `smooth` that the ends reflect.

    Nothing leaks below 0 or above 1, and equal values have a shape too.
    """
    count, edges = np.histogram(np.asarray(list(values), dtype=float), bins=bins, range=(0.0, 1.0))
    spread = gaussian_filter1d(count.astype(float), smooth * bins, mode="reflect")
    return pd.DataFrame({"x": (edges[:-1] + edges[1:]) / 2, "density": spread / spread.max()})


def mean_interval(values: Sequence[float], *, draws: int = 1000, seed: int = 0) -> tuple[float | None, ...]:
    """Mean and 95 % percentile bootstrap interval over `values`; None where nothing is defined."""
    finite = np.asarray([v for v in values if v is not None and np.isfinite(v)], dtype=float)
    if finite.size == 0:
        return None, None, None
    picks = np.random.default_rng(seed).integers(finite.size, size=(draws, finite.size))
    low, high = np.quantile(finite[picks].mean(axis=1), [0.025, 0.975])
    return float(finite.mean()), float(low), float(high)


def by_length(lengths: Sequence[int], values: Sequence[float], *, groups: int = 8, seed: int = 0) -> pd.DataFrame:
    """length, mean, low, high, n: means over groups of sentences of like length, with 95 % bootstrap intervals."""
    frame = pd.DataFrame({"length": lengths, "value": values}).dropna()
    if frame.empty:
        return pd.DataFrame(columns=["length", "mean", "low", "high", "n"])
    frame["group"] = pd.qcut(frame["length"], groups, duplicates="drop", labels=False).fillna(0)
    rows = []
    for _, part in frame.groupby("group"):
        mean, low, high = mean_interval(list(part["value"]), seed=seed)
        rows.append({"length": part["length"].mean(), "mean": mean, "low": low, "high": high, "n": len(part)})
    return pd.DataFrame(rows)


def thinned(frame: pd.DataFrame, limit: int = 1500, seed: int = 0) -> pd.DataFrame:
    """At most `limit` rows, drawn without replacement, in their old order; say so where it is shown."""
    return frame if len(frame) <= limit else frame.sample(limit, random_state=seed).sort_index()


def matrix(weights: np.ndarray, rows: Sequence[str], columns: Sequence[str]) -> pd.DataFrame:
    """query, key, weight, query_word, key_word: one row a cell of "query key"."""
    query, key = np.meshgrid(np.arange(len(rows)), np.arange(len(columns)), indexing="ij")
    values = np.asarray(weights, dtype=float)
    if values.shape != (len(rows), len(columns)):
        raise ValueError(f"The matrix is {values.shape}, the words are {(len(rows), len(columns))}; they must be equal.")
    return pd.DataFrame(
        {
            "query": query.ravel(),
            "key": key.ravel(),
            "weight": values.ravel(),
            "query_word": np.asarray(rows, dtype=object)[query.ravel()],
            "key_word": np.asarray(columns, dtype=object)[key.ravel()],
        }
    )


def strongest_pairs(frame: pd.DataFrame, k: int = 7) -> list[tuple[str, str, float]]:
    """The k largest cells of a `matrix` frame as (query word, key word, weight)."""
    top = frame.nlargest(k, "weight")
    return [(str(q), str(w), float(v)) for q, w, v in zip(top["query_word"], top["key_word"], top["weight"], strict=True)]


def mirrored(words: Sequence[str], left: Sequence[float], right: Sequence[float], k: int = 12) -> pd.DataFrame:
    """position, word, left, right of the k words that matter most on either side, in the order of the text."""
    frame = pd.DataFrame({"position": range(len(words)), "word": list(words), "left": left, "right": right})
    most = frame[["left", "right"]].abs().max(axis=1).nlargest(k).index
    return frame.loc[sorted(most)].reset_index(drop=True)
