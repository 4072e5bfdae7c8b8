"""Probabilities along orders of erasing, and what single erasures do against the weights that were erased.

Like `charts`, these know no page and no language. Orders are ink and muted, told apart by dash and by the shape of the point at
which the decision changes.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from dashboard.axes import EVIDENCE, OVERVIEW, Domain, above, across, finished, tips, upward, value_axis
from dashboard.charts import DASHES, SHAPES, inks, names_of
from dashboard.theme import SCREEN, Look

UNIT: Domain = (0.0, 1.0)
FADED = 0.5  # opacity of the lines of a series that has several


def paths(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    flip: str,
    alt_text: str,
    half: bool = False,
    at: float | None = None,
    height: float = OVERVIEW,
    width: float = 520,
    look: Look = SCREEN,
) -> Any:
    """A line for each (series, draw) through (x, y), both between 0 and 1, with a point where `flips`.

    `half` marks one half, where the decision changes if there are two labels; `at` marks a place on the horizontal axis.
    """
    p, names = look.palette, names_of(frame, "series")
    key = above(names, look, symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=look.px(2.5))
    color = alt.Color("series:N", title=None, legend=key, scale=alt.Scale(domain=names, range=inks(len(names), look)))
    dashes = alt.Scale(domain=names, range=[DASHES[i % 4] for i in range(len(names))])
    hover = [*tips(("series:N", " ", None), ("gone:Q", x, "d"), ("y:Q", y, ".3f")), alt.Tooltip("said:N", title=flip)]
    several = frame.groupby("series")["draw"].transform("nunique") > 1
    place: dict[str, Any] = {"x": across("x", x, UNIT, grid=False), "y": upward("y", y, UNIT)}
    layers: list[Any] = []
    if half:
        rule = alt.Chart(pd.DataFrame({"y": [0.5]})).mark_rule(color=p.muted, strokeWidth=look.px(1))
        layers.append(rule.encode(y=upward("y", y, UNIT)))
    if at is not None:
        rule = alt.Chart(pd.DataFrame({"x": [at]})).mark_rule(color=p.ink, strokeWidth=look.px(1.5))
        layers.append(rule.encode(x=across("x", x, UNIT, grid=False)))
    for part, opacity in ((frame[several], FADED), (frame[~several], 1.0)):
        lines = alt.Chart(part).mark_line(opacity=opacity, strokeWidth=look.px(1.25 if opacity < 1 else 2))
        dash = alt.StrokeDash("series:N", title=None, legend=key, scale=dashes)
        layers.append(lines.encode(color=color, strokeDash=dash, detail=alt.Detail("draw:N"), order=alt.Order("x:Q"), **place))
    for i, (name, ink) in reversed(list(enumerate(zip(names, inks(len(names), look), strict=True)))):
        ends = alt.Chart(frame[frame["flips"] & (frame["series"] == name)])
        style: dict[str, Any] = {"shape": SHAPES[i % 4], "color": ink, "stroke": p.page, "strokeWidth": look.px(1)}
        layers.append(ends.mark_point(size=look.area(95), filled=True, opacity=1, **style).encode(tooltip=hover, **place))
    return finished(layers, look, height=height, alt_text=alt_text, width=width, legend=True)


def points(
    frame: pd.DataFrame,
    kinds: Sequence[str],
    *,
    x: str,
    y: str,
    alt_text: str,
    zero: bool = False,
    case: tuple[float, float, str] | None = None,
    height: float = EVIDENCE,
    look: Look = SCREEN,
) -> Any:
    """Points (x, y, kind[, label, word]); the first kind is the usual one, faint. `case` is ringed and named."""
    p = look.palette
    colors = [p.muted, *[p.ink] * (len(kinds) - 1)]
    key = above(kinds, look, symbolOpacity=1)
    color = alt.Color("kind:N", title=None, legend=key, scale=alt.Scale(domain=list(kinds), range=colors))
    shapes = alt.Scale(domain=list(kinds), range=[SHAPES[i % 4] for i in range(len(kinds))])
    wide = alt.X("x:Q", title=x, axis=value_axis(grid=False), scale=alt.Scale(domainMin=0))
    tall = alt.Y("y:Q", title=y, axis=value_axis(), scale=alt.Scale(zero=True))
    hover = (tips(("word:N", " ", None)) if "word" in frame else []) + tips(("x:Q", x, ".3f"), ("y:Q", y, ".4f"))
    hover += tips(("kind:N", "  ", None))
    layers: list[Any] = []
    if zero:
        level = alt.Chart(pd.DataFrame({"y": [0]})).mark_rule(color=p.muted, strokeWidth=look.px(1))
        layers.append(level.encode(y=alt.Y("y:Q")))
    few = len(frame) <= 150
    for usual in (True, False):
        part = frame[(frame["kind"] == kinds[0]) == usual]
        size = look.area(60 if few else 18 if usual else 32)
        dots = alt.Chart(part).mark_point(size=size, filled=True, opacity=0.45 if usual and not few else 0.85)
        shape = alt.Shape("kind:N", title=None, legend=key, scale=shapes)
        layers.append(dots.encode(x=wide, y=tall, color=color, shape=shape, tooltip=hover))
    if case is not None:
        named = pd.DataFrame({"x": [case[0]], "y": [case[1]], "label": [case[2]]})
        ring = alt.Chart(named).mark_point(size=look.area(150), filled=False, color=p.ink, opacity=1)
        layers.append(ring.encode(x=wide, y=tall, strokeWidth=alt.StrokeWidthValue(look.px(2.5))))
        layers += labels(named, wide, tall, look)
    if "label" in frame:
        layers += labels(frame[frame["label"] != ""], wide, tall, look)
    return finished(layers, look, height=height, alt_text=alt_text, legend=True)


def labels(frame: pd.DataFrame, wide: alt.X, tall: alt.Y, look: Look) -> list[Any]:
    """Names over points, growing to the side that has room."""
    span = float(frame["x"].max()) if len(frame) else 0.0
    text = alt.Chart(frame).encode(x=wide, y=tall, text=alt.Text("label:N"))
    layers = []
    for left in (True, False):
        far = f"datum.x >= {span / 2!r}"
        side: dict[str, Any] = {"align": "right" if left else "left", "dx": look.px(4 if left else -4), "baseline": "bottom"}
        side |= {"dy": -look.px(7), "fontWeight": 600}
        part = text.transform_filter(far if left else f"!({far})")
        layers += [
            part.mark_text(stroke=look.palette.page, strokeWidth=look.px(4), strokeJoin="round", **side),
            part.mark_text(**side),
        ]
    return layers
