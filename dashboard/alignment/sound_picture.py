"""The picture of a sound and of who listened when: a spectrogram, and under it a row of attention for each written letter.

Time is cut into columns, so that the picture stays below 2,000 marks, which is what Streamlit draws for screen readers too.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from core.models.listener import STEP
from core.sounds import BANDS, HOP, RATE, WINDOW
from dashboard.axes import finished, tips
from dashboard.theme import Look, ramp

COLUMNS, ROWS = 56, 24  # cells of the picture, across and down: with eight letters still below 2,000
GAP, TALL = 2, 2  # rows between spectrogram and letters, and of a letter
UNIT = 9.5  # pixels of a row


@dataclass(frozen=True)
class Heard:
    """What the model writes of a sound: attention over annotations of 20 ms, how much of it lies within the typed letter of the
    same place (None beyond the last), the spectrogram, where the letters sound, and the sound itself as a file."""

    typed: str
    written: str
    prob: tuple[float, ...]
    attention: np.ndarray  # "letter annotation"
    share: tuple[float | None, ...]
    spectrogram: np.ndarray  # "frame band"
    spans: tuple[tuple[float, float], ...]  # seconds, of the letters typed
    seconds: float
    wav: bytes


def binned(values: np.ndarray, seconds: float, step: int) -> np.ndarray:
    """Rows of values at every `step` samples as COLUMNS columns of equal time: the mean of what falls into each, or of what is
    nearest where nothing does. "row moment" to "row column"."""
    at = np.arange(values.shape[1]) * step / RATE
    columns = np.minimum((at / seconds * COLUMNS).astype(int), COLUMNS - 1)
    middles = (np.arange(COLUMNS) + 0.5) * seconds / COLUMNS
    nearest = np.abs(middles[:, None] - at).argmin(1)
    found = [values[:, columns == i].mean(1) if (columns == i).any() else values[:, nearest[i]] for i in range(COLUMNS)]
    return np.stack(found, 1)


def picture(found: Heard, words: Mapping[str, str], alt_text: str, look: Look) -> Any:
    """The spectrogram on top, loud is strong, the letters that sound above it; below, a row for each written letter with its
    attention, and in a frame where the letter of that place sounds."""
    p, end = look.palette, ROWS + GAP + TALL * max(len(found.written), 1)
    loud = binned(found.spectrogram.T.reshape(ROWS, BANDS // ROWS, -1).mean(1), found.seconds, HOP)
    loud = ((loud - loud.min()) / max(float(np.ptp(loud)), 1e-9)) ** 2  # so that noise stays pale
    power = cells(loud[::-1], found.seconds, lambda row: (row, row + 1))
    parts = binned(found.attention, found.seconds, STEP) if found.written else np.zeros((0, COLUMNS))
    weights = cells(parts, found.seconds, lambda row: (ROWS + GAP + TALL * row, ROWS + GAP + TALL * (row + 1)))
    tops = parts.max(1) if len(parts) else np.zeros(0)
    shares = weights["value"] / np.maximum(tops, 1e-9)[weights["row"].astype(int)]
    weights["fill"] = [ramp(float(share), look.mode) for share in shares]
    y = alt.Y("y0:Q", title=words["frequency"], scale=alt.Scale(domain=[end, -TALL], nice=False, zero=False), axis=axis(found))
    x = alt.X("x0:Q", title=words["seconds"], scale=alt.Scale(domain=[0, found.seconds], nice=False, zero=False))
    place: dict[str, Any] = {"x": x, "y": y, "x2": "x1:Q", "y2": "y1:Q"}
    bare: dict[str, Any] = {"strokeWidth": 0}
    hover = tips(("x0:Q", words["seconds"], ".2f"), ("value:Q", words["power"], ".2f"))
    weight = tips(("letter:N", " ", None), ("x0:Q", words["seconds"], ".2f"), ("value:Q", words["weight"], ".3f"))
    dark = alt.Opacity("value:Q", scale=None)
    layers = [alt.Chart(power).mark_rect(color=p.ink, **bare).encode(opacity=dark, tooltip=hover, **place)]
    if len(parts):
        weights["letter"] = [found.written[int(row)] for row in weights["row"]]
        layers.append(alt.Chart(weights).mark_rect(**bare).encode(fill=alt.Fill("fill:N", scale=None), tooltip=weight, **place))
    middles = [(start + end) / 2 for start, end in found.spans]
    letters = pd.DataFrame({"x0": middles, "y0": -TALL / 2, "letter": list(found.typed)})
    named = alt.Chart(letters).mark_text(fontWeight=600, color=p.ink).encode(x=x, y=y, text=alt.Text("letter:N"))
    layers += [named, *(outline(spans_of(found), place, p.page if size else p.ink, look, size) for size in (1, 0))]
    return finished(layers, look, height=UNIT * (end + TALL) + (0 if look.export else 50), alt_text=alt_text)


def cells(values: np.ndarray, seconds: float, rows: Callable[[int], tuple[int, int]]) -> pd.DataFrame:
    """x0, x1 (seconds), y0, y1, row, value of every cell; `rows` gives the two ends of a row."""
    width = seconds / values.shape[1] if values.size else 0.0
    return pd.DataFrame(
        [
            {"x0": i * width, "x1": (i + 1) * width, "y0": rows(row)[0], "y1": rows(row)[1], "row": row, "value": float(value)}
            for row, line in enumerate(values)
            for i, value in enumerate(line)
        ],
        columns=["x0", "x1", "y0", "y1", "row", "value"],
    )


def spans_of(found: Heard) -> pd.DataFrame:
    """The frames in which each typed letter sounds, in the row of the letter that was written in its place."""
    rows = list(enumerate(found.spans))[: len(found.written)]
    return pd.DataFrame(
        [
            {"x0": a, "x1": b, "y0": ROWS + GAP + TALL * i + 0.15, "y1": ROWS + GAP + TALL * (i + 1) - 0.15}
            for i, (a, b) in rows
        ],
        columns=["x0", "x1", "y0", "y1"],
    )


def outline(frame: pd.DataFrame, place: dict[str, Any], color: str, look: Look, size: int) -> Any:
    """Frames, thick in the page's colour and thin in ink upon it."""
    mark = alt.Chart(frame).mark_rect(filled=False, stroke=color, strokeWidth=look.px(4.5 if size else 1.5), cornerRadius=2)
    return mark.encode(**place)


def axis(found: Heard) -> alt.Axis:
    """Frequencies beside the spectrogram, and the letters that were written beside their rows."""
    top = BANDS * RATE / WINDOW / 1000
    labels = {round(ROWS * (1 - kilo / top)): f"{kilo} kHz" for kilo in range(int(top) + 1)}
    labels |= {ROWS + GAP + TALL * i + TALL // 2: letter for i, letter in enumerate(found.written)}
    names = [labels.get(place, "") for place in range(max(labels) + 1)]
    label = f"{json.dumps(names)}[datum.value]"
    return alt.Axis(values=sorted(labels), labelExpr=label, grid=False, domain=False, labelOverlap=False)
