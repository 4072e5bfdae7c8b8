"""Pictures of small attention: vectors as arrows, weights as bars that end at 1, measurements over the dimension, windows.

Like `dashboard.charts`, these know no page and no language: a tidy frame, words and a `Look` in, a chart out. Ink is the query
or the result, muted are the words; names stand at the arrows, so that no colour is needed.
"""

import json
import math
from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from dashboard.axes import above, across, finished, legend, tips, upward, value_axis, word_axis
from dashboard.charts import DASHES, inks, names_of
from dashboard.theme import SCREEN, Look

PLANE = 320  # pixels of a plane's side
ARROW = ("name", "x0", "y0", "x", "y", "strong")
NEAR = 0.12  # of an axis to 1: where a tick would stand in a number
SHORT = 0.1  # of the picture's extent: an arrow too short for a name of its own


def arrows(vectors: Sequence[tuple[str, tuple[float, float], tuple[float, float], bool]]) -> pd.DataFrame:
    """ARROW: (name, start, end, whether it is drawn in ink) as a frame."""
    return pd.DataFrame([(name, *start, *end, strong) for name, start, end, strong in vectors], columns=list(ARROW))


def chained(parts: Sequence[tuple[str, tuple[float, float]]], name: str) -> pd.DataFrame:
    """ARROW: the parts laid end to end, and in ink their sum under a `name`; a part that is too short bears no name."""
    ends = np.vstack([np.zeros(2), np.cumsum([part for _, part in parts], axis=0)])
    extent = np.ptp(ends, axis=0).max()
    laid = [
        (word if math.hypot(*part) > SHORT * extent else "", (a[0], a[1]), (b[0], b[1]), False)
        for (word, part), a, b in zip(parts, ends[:-1], ends[1:], strict=True)
    ]
    return arrows([*laid, (name, (0.0, 0.0), (ends[-1][0], ends[-1][1]), True)])


def plane(frame: pd.DataFrame, *, x: str, y: str, alt_text: str, chain: bool = False, look: Look = SCREEN) -> Any:
    """Arrows in a plane with the same scale both ways; an arrow without length is a dot. In a `chain` the muted arrows
    are named at their middle, since each begins where another ends.
    """
    p, low, high = look.palette, *ends(frame)
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    axis = value_axis()
    data = frame.assign(
        angle=[turned(row) for row in frame.itertuples()], long=lambda f: f["x"].ne(f["x0"]) | f["y"].ne(f["y0"])
    )
    hover = tips(("name:N", " ", None), ("x:Q", x, ".2f"), ("y:Q", y, ".2f"))
    place: dict[str, Any] = {
        "x": alt.X("x:Q", title=x, scale=scale, axis=axis),
        "y": alt.Y("y:Q", title=y, scale=scale, axis=axis),
    }
    start: dict[str, Any] = {
        "x": alt.X("x0:Q", title=x, scale=scale, axis=axis),
        "y": alt.Y("y0:Q", title=y, scale=scale, axis=axis),
    }
    color = alt.condition("datum.strong", alt.value(p.ink), alt.value(p.muted))
    base = alt.Chart(data)
    head = base.transform_filter("datum.long").mark_point(
        shape="triangle", filled=True, size=look.area(110), opacity=1, aria=False
    )
    dots = base.transform_filter("!datum.long").mark_point(
        shape="circle", filled=True, size=look.area(50), opacity=1, aria=False
    )
    layers = [
        *zero_lines(scale, look),
        base.mark_rule(strokeWidth=look.px(2.5)).encode(x2=alt.X2("x:Q"), y2=alt.Y2("y:Q"), color=color, **start),
        head.encode(angle=alt.Angle("angle:Q", scale=None), color=color, tooltip=hover, **place),
        dots.encode(color=color, tooltip=hover, **place),
        *names(base, chain, scale, color, look),
    ]
    return finished(layers, look, height=PLANE, width=PLANE, alt_text=alt_text)


def ends(frame: pd.DataFrame) -> tuple[float, float]:
    """Where both axes of a plane begin and end: around zero and all arrows, with room for their names."""
    values = frame[["x0", "y0", "x", "y"]].to_numpy(dtype=float)
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    size = (high - low) or 1.0
    return low - (0.12 if low < 0 else 0.05) * size, high + 0.12 * size


def turned(row: Any) -> float:
    """By how many degrees a triangle that points up is turned to point along an arrow."""
    return 90 - math.degrees(math.atan2(row.y - row.y0, row.x - row.x0))


def zero_lines(scale: alt.Scale, look: Look) -> list[Any]:
    """The two axes through zero."""
    zero = pd.DataFrame({"at": [0.0]})
    rule: dict[str, Any] = {"color": look.palette.line, "strokeWidth": look.px(1)}
    across_zero = alt.Chart(zero).mark_rule(**rule).encode(y=alt.Y("at:Q", scale=scale))
    return [across_zero, alt.Chart(zero).mark_rule(**rule).encode(x=alt.X("at:Q", scale=scale))]


def names(base: Any, chain: bool, scale: alt.Scale, color: Any, look: Look) -> list[Any]:
    """The arrows' names above their tips, or above their middle, with a halo."""
    middle = "datum.strong ? 1 : 0.5" if chain else "1"
    at = {f"at_{axis}": f"datum.{axis}0 + ({middle}) * (datum.{axis} - datum.{axis}0)" for axis in "xy"}
    style: dict[str, Any] = {"dy": -look.px(13), "align": "center", "fontWeight": 600}
    place: dict[str, Any] = {"x": alt.X("at_x:Q", scale=scale), "y": alt.Y("at_y:Q", scale=scale)}
    text = base.transform_calculate(**at).encode(text=alt.Text("name:N"), **place)
    halo = text.mark_text(stroke=look.palette.page, strokeWidth=look.px(4), strokeJoin="round", **style)
    return [halo, text.mark_text(**style).encode(color=color)]


def shares(
    frame: pd.DataFrame,
    words: Sequence[str],
    *,
    x: str,
    alt_text: str,
    before: str = "",
    row: float = 28,
    label: float = 96,
    top: float = 1.0,
    look: Look = SCREEN,
) -> Any:
    """Bars of (position, word, value) on an axis from 0 to 1; where `before` names a column, its values are ticks. Words get at
    most `label` pixels; an axis that ends at a `top` above 1 leaves room for the numbers of long bars."""
    p = look.palette
    labels = word_axis(words, labelColor=p.ink, labelLimit=look.px(label))
    tall = alt.Y("position:O", axis=labels, scale=alt.Scale(padding=0.25))
    hover = tips(("word:N", " ", None), ("value:Q", x, ".3f"))
    ends = frame["value"]
    if before:
        ends = ends.mask((frame[before] - ends).between(0, NEAR), frame[before])
    base = alt.Chart(frame.assign(end=ends)).encode(y=tall, tooltip=hover)
    layers = [base.mark_bar(color=p.ink).encode(x=across("value", x, (0.0, top)))]
    number = base.mark_text(align="left", dx=look.px(6), color=p.ink)
    layers.append(number.encode(x=across("end", x, (0.0, top)), text=alt.Text("value:Q", format=".2f")))
    if before:
        for color, thick in ((p.page, 7), (p.muted, 3)):
            tick = base.mark_tick(color=color, thickness=look.px(thick), size=look.px(20))
            layers.append(tick.encode(x=across(before, x, (0.0, top))))
    edge = 0 if look.export else 60
    return finished(layers, look, height=row * len(words) + edge, alt_text=alt_text)


def by_dimension(
    frame: pd.DataFrame, *, x: str, y: str, alt_text: str, log: bool = False, top: float = 1.0, look: Look = SCREEN
) -> Any:
    """Lines with bands from (x, series, mean, low, high) over a dimension that doubles; `log` for an axis of variances."""
    series = names_of(frame, "series")
    key = above(series, look, symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=look.px(2.5))
    color = alt.Color("series:N", title=None, legend=key, scale=alt.Scale(domain=series, range=inks(len(series), look)))
    dashes = alt.Scale(domain=series, range=list(DASHES[: len(series)]))
    scale = alt.Scale(type="log", base=2, nice=False)
    ticks = sorted(set(frame["x"]))
    wide = alt.X("x:Q", title=x, scale=scale, axis=value_axis(values=ticks, grid=False, labelOverlap=True))
    tall = (lambda name: logarithmic(name, y)) if log else (lambda name: upward(name, y, (0.0, top)))
    hover = tips(("series:N", " ", None), ("x:Q", x, "d"), ("mean:Q", y, ".3f"), ("low:Q", "2.5 %", ".3f"))
    hover += tips(("high:Q", "97.5 %", ".3f"))
    base = alt.Chart(frame).encode(x=wide, color=color)
    layers = [
        base.mark_area(opacity=0.16).encode(y=tall("low"), y2=alt.Y2("high:Q")),
        base.mark_line().encode(y=tall("mean"), strokeDash=alt.StrokeDash("series:N", title=None, legend=key, scale=dashes)),
        base.mark_point(size=look.area(40), opacity=1).encode(y=tall("mean"), tooltip=hover),
    ]
    return finished(layers, look, height=260, alt_text=alt_text, legend=True)


def logarithmic(field: str, title: str) -> alt.Y:
    """A vertical axis on which each step doubles."""
    return alt.Y(
        f"{field}:Q", title=title, scale=alt.Scale(type="log", base=2, nice=False, domainMin=0.5), axis=value_axis(tickCount=6)
    )


def windowed(
    frame: pd.DataFrame, curve: pd.DataFrame, words: Sequence[str], *, x: str, names: tuple[str, str, str], alt_text: str,
    look: Look = SCREEN,
) -> Any:  # fmt: skip
    """Weights (position, word, before, after) down the side, before and after the Gaussian, whose `curve` (position, value)
    runs along them; `names` are those of the three in the legend.
    """
    p = look.palette
    rows = alt.Scale(domain=[len(words) + 0.6, 0.4], nice=False, zero=False)
    labels = ["", *list(words)]
    axis = word_axis(labels, values=list(range(1, len(words) + 1)), labelColor=p.ink, labelLimit=look.px(96))
    place: dict[str, Any] = {"y": alt.Y("position:Q", scale=rows, axis=axis)}
    key = legend(names, look, labels=words, title=None, orient="top", symbolOpacity=1)
    color = alt.Color("kind:N", legend=key, scale=alt.Scale(domain=list(names), range=[p.seq[4], p.ink, p.muted]))
    hover = tips(("word:N", " ", None), ("before:Q", names[0], ".3f"), ("after:Q", names[1], ".3f"))
    base = alt.Chart(frame).encode(tooltip=hover, **place)
    line = alt.Chart(curve.assign(kind=names[2])).mark_line(strokeDash=[5, 3], strokeWidth=look.px(2))
    layers = [
        bar(base, "before", names[0], 15, x, color, look),
        bar(base, "after", names[1], 8, x, color, look),
        line.encode(x=across("value", x, (0.0, 1.0)), order=alt.Order("position:Q"), color=color, **place),
    ]
    return finished(layers, look, height=24 * len(words) + 60, alt_text=alt_text, legend=True)


def bar(base: Any, field: str, kind: str, size: float, x: str, color: alt.Color, look: Look) -> Any:
    """Bars from zero on an axis of positions."""
    mark = base.transform_calculate(kind=json.dumps(kind), zero="0").mark_rule(strokeWidth=look.px(size), strokeCap="butt")
    return mark.encode(x=across("zero", x, (0.0, 1.0)), x2=f"{field}:Q", color=color)
