"""Shares of a whole as boxes, where some cases have none: quartiles in lanes that bear their names, group under group.

Like `charts`, these know no page and no language: tidy frames, words and a `Look` in, a chart out. What never happens lies
beyond all shares, at a place of its own on the axis, so that a median of cases that mostly never happen is said to be "never"
and is not taken from the others. A missing number is such a case.
"""

import json
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from dashboard.axes import above, finished, tips
from dashboard.charts import SHAPES, names_of
from dashboard.spread import lane_axis
from dashboard.theme import SCREEN, Look

NEVER, LAST = 1.18, 1.3  # where never stands, and where the axis ends
TICKS = (0, 0.25, 0.5, 0.75, 1, NEVER)
LANE, GAP, HEADING = 19, 0.5, 1.0  # pixels of a lane; lanes between two groups and for a group's name
HALF = 0.3  # of a lane, for the half of a box
QUANTILES = ("low", "first", "median", "third", "high")


def boxes(
    frame: pd.DataFrame, *, x: str, never: str, alt_text: str, marks: pd.DataFrame | None = None, look: Look = SCREEN
) -> Any:
    """Boxes of (group, series, low, first, median, third, high, n): quartiles with the median, and a rule from low to high.

    `marks` (group, series, x, kind) are further points in the lanes, told apart by their shapes.
    """
    p, rows = look.palette, lanes(frame)
    placed = frame.merge(rows, on=["group", "series"]).fillna(dict.fromkeys(QUANTILES, NEVER))
    placed = placed.assign(foot=placed["lane"] - HALF, head=placed["lane"] + HALF)
    hover = tips(("group:N", " ", None), ("series:N", "  ", None), ("said:N", x, None), ("n:Q", "n", ","))
    said = [" – ".join(written(row[name], never) for name in ("first", "median", "third")) for row in placed.to_dict("records")]
    base = alt.Chart(placed.assign(said=said)).encode(tooltip=hover)
    tall, box = down("lane", rows, look), down("foot", rows, look)
    layers = [
        base.mark_rule(color=p.muted, strokeWidth=look.px(1.5)).encode(x=along("low", x, never), x2=alt.X2("high:Q"), y=tall),
        base.mark_rect(fill=p.muted, fillOpacity=0.35, stroke=p.muted, strokeWidth=look.px(1)).encode(
            x=along("first", x, never), x2=alt.X2("third:Q"), y=box, y2=alt.Y2("head:Q")
        ),
        base.mark_rule(color=p.ink, strokeWidth=look.px(3)).encode(x=along("median", x, never), y=box, y2=alt.Y2("head:Q")),
        *headings(rows, look),
    ]
    if marks is not None and len(marks):
        layers.append(points(marks, rows, x, never, look))
    return finished(layers, look, height=height_of(rows), alt_text=alt_text, legend=marks is not None and len(marks) > 0)


def dots(frame: pd.DataFrame, *, x: str, never: str, alt_text: str, look: Look = SCREEN) -> Any:
    """Single numbers of (group, series, x, kind) in lanes, their kinds told apart by shape."""
    rows = lanes(frame)
    layers = [points(frame, rows, x, never, look), *headings(rows, look)]
    return finished(layers, look, height=height_of(rows), alt_text=alt_text, legend=True)


def lanes(frame: pd.DataFrame) -> pd.DataFrame:
    """group, series, lane (its middle, counted downward), top (of its group): in order of appearance."""
    rows, y = [], 0.0
    for group in names_of(frame, "group"):
        series = names_of(frame[frame["group"] == group], "series")
        rows += [{"group": group, "series": name, "lane": y + HEADING + i + 0.5, "top": y} for i, name in enumerate(series)]
        y += HEADING + len(series) + GAP
    return pd.DataFrame(rows)


def height_of(rows: pd.DataFrame) -> float:
    """Pixels of a chart with these lanes, axis included."""
    return LANE * (float(rows["lane"].max()) + 0.5) + 52


def down(field: str, rows: pd.DataFrame, look: Look) -> alt.Y:
    """A vertical axis that bears the names of the lanes."""
    scale = alt.Scale(domain=[float(rows["lane"].max()) + 0.5, 0], nice=False, zero=False)
    return alt.Y(f"{field}:Q", scale=scale, axis=lane_axis(rows["lane"].tolist(), rows["series"].tolist(), look), title=None)


def along(field: str, x: str, never: str) -> alt.X:
    """A horizontal axis of shares, with a place for what never happens."""
    label = f"datum.value > 1 ? {json.dumps(never)} : format(datum.value, '~g')"
    axis = alt.Axis(values=list(TICKS), labelExpr=label, labelOverlap=False, grid=True)
    return alt.X(f"{field}:Q", title=x, axis=axis, scale=alt.Scale(domain=[0, LAST], nice=False))


def headings(rows: pd.DataFrame, look: Look) -> list[Any]:
    """The name of each group over its lanes."""
    named = rows.drop_duplicates("group").assign(at=lambda frame: frame["top"] + HEADING * 0.55)
    text = alt.Chart(named).encode(x=alt.XValue(look.px(2)), y=down("at", rows, look), text=alt.Text("group:N"))
    style: dict[str, Any] = {"align": "left", "baseline": "middle", "fontWeight": 600}
    return [
        text.mark_text(stroke=look.palette.page, strokeWidth=look.px(4), strokeJoin="round", **style),
        text.mark_text(color=look.palette.ink, **style),
    ]


def points(marks: pd.DataFrame, rows: pd.DataFrame, x: str, never: str, look: Look) -> Any:
    """Points in the lanes, ringed by the page so that they show on a box."""
    kinds = names_of(marks, "kind")
    placed = marks.merge(rows, on=["group", "series"]).assign(said=lambda f: [written(v, never) for v in f["x"]])
    hover = tips(("group:N", " ", None), ("series:N", "  ", None), ("kind:N", "   ", None), ("said:N", x, None))
    shapes = alt.Scale(domain=kinds, range=[SHAPES[(i + 1) % 4] for i in range(len(kinds))])
    key = above(
        kinds, look, labels=names_of(rows, "series"), symbolFillColor=look.palette.ink, symbolStrokeColor=look.palette.page
    )
    return (
        alt.Chart(placed.fillna({"x": NEVER}))
        .mark_point(size=look.area(80), filled=True, opacity=1, fill=look.palette.ink, stroke=look.palette.page)
        .encode(
            x=along("x", x, never),
            y=down("lane", rows, look),
            shape=alt.Shape("kind:N", title=None, legend=key, scale=shapes),
            strokeWidth=alt.value(look.px(1)),
            tooltip=hover,
        )
    )


def written(value: float, never: str) -> str:
    """A share in words."""
    return never if np.isnan(value) or value > 1 else f"{value:.2f}"


def quantiles(values: Sequence[float], at: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95)) -> dict[str, float]:
    """low, first, median, third, high of shares; a missing one is larger than all, and so is a quantile that falls on one."""
    shares = np.nan_to_num(np.asarray(values, dtype=float), nan=np.inf)
    found = np.quantile(shares, list(at), method="inverted_cdf") if len(shares) else np.full(len(at), np.inf)
    return dict(zip(QUANTILES, np.where(np.isinf(found), np.nan, found).tolist(), strict=True))
