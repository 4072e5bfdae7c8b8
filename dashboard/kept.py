"""Charts of pruning: a map of heads with the masked ones crossed out, and curves over the share of heads that are masked.

Like `charts`, these know no page and no language. The curve of the chosen ranking is ink, with thick rules for its intervals;
the others are muted, told apart by their dashes, which stay with a ranking whichever is chosen.
"""

from collections.abc import Mapping
from typing import Any

import altair as alt
import pandas as pd

from dashboard.axes import OVERVIEW, above, finished, tips, upward, value_axis
from dashboard.charts import PUBLISHED
from dashboard.theme import SCREEN, Look

DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [1, 4])
TICKS = [0, 20, 40, 60, 80, 100]


def head_map(frame: pd.DataFrame, *, x: str, y: str, value: str, alt_text: str, cell: float = 30, look: Look = SCREEN) -> Any:
    """Heads (layer, head, importance, masked) as cells, the first layer at the bottom, signed where any is below zero."""
    p = look.palette
    signed, top = bool((frame["importance"] < 0).any()), float(frame["importance"].abs().max()) or 1.0
    scale = alt.Scale(domain=[-top if signed else 0, top], range=list(p.div if signed else p.seq), clamp=True)
    small: dict[str, Any] = {"labelAngle": 0, "domain": False, "ticks": False, "grid": False}
    wide = alt.X("head:O", title=x, axis=alt.Axis(**small))
    tall = alt.Y("layer:O", title=y, sort="descending", axis=alt.Axis(**small))
    hover = tips(("layer:O", y, None), ("head:O", x, None), ("importance:Q", value, ".4f"))
    base = alt.Chart(frame).encode(x=wide, y=tall, tooltip=hover)
    shown = alt.condition("datum.masked", alt.value(0.25), alt.value(1))
    cells = base.mark_rect(stroke=p.page, strokeWidth=1).encode(
        color=alt.Color("importance:Q", legend=None, scale=scale), opacity=shown
    )
    gone = base.transform_filter("datum.masked").mark_text(text="×", color=p.muted, fontSize=look.px(17))
    rows, columns = frame["layer"].nunique(), frame["head"].nunique()
    edge = 0 if look.export else 62
    return finished([cells, gone], look, alt_text=alt_text, height=cell * rows + edge, width=cell * columns)


def curves(
    frame: pd.DataFrame,
    names: Mapping[str, str],
    chosen: str,
    *,
    x: str,
    y: str,
    alt_text: str,
    at: int | None = None,
    level: float | None = None,
    published: tuple[float, float, str] | None = None,
    height: float = OVERVIEW,
    look: Look = SCREEN,
) -> Any:
    """Lines (series, x, mean[, low, high]) from all heads on the left to none on the right; `names` are the series in words.

    `at` marks a share of heads, `level` a height, `published` a point (x, y, name) of a paper.
    """
    p, shown = look.palette, frame.assign(name=[names[series] for series in frame["series"]])
    order = [names[series] for series in names]
    key = above(order, look, symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=look.px(2), symbolSize=look.area(550))
    inks = [p.ink if series == chosen else p.muted for series in names]
    color = alt.Color("name:N", title=None, legend=key, scale=alt.Scale(domain=order, range=inks))
    dash = alt.StrokeDash(
        "name:N", title=None, legend=key, scale=alt.Scale(domain=order, range=[DASHES[i % 5] for i in range(len(order))])
    )
    wide = alt.X(
        "x:Q",
        title=x,
        scale=alt.Scale(domain=[0, 100], nice=False),
        axis=value_axis(values=TICKS, grid=False, labelOverlap=False),
    )
    tall = upward("mean", y, (0.0, 1.0))
    hover = tips(("name:N", " ", None), ("x:Q", x, "d"), ("mean:Q", y, ".3f"))
    known = tips(("low:Q", "2.5 %", ".3f"), ("high:Q", "97.5 %", ".3f"), ("n:Q", "n", ",")) if "low" in frame else []
    hover += known + (tips(("said:N", "→", None)) if "said" in frame else [])
    layers: list[Any] = [*_rules(at, level, wide, tall, look)]
    for mine in (False, True):
        base = alt.Chart(shown[(shown["series"] == chosen) == mine]).encode(x=wide, y=tall)
        layers.append(base.mark_line(strokeWidth=look.px(2.25 if mine else 1.25)).encode(color=color, strokeDash=dash))
        if mine and "low" in frame:
            layers.append(
                base.mark_rule(color=p.ink, strokeWidth=look.px(3)).encode(y=upward("low", y, (0.0, 1.0)), y2=alt.Y2("high:Q"))
            )
        dot = base.mark_point(size=look.area(60 if mine else 14), filled=True, opacity=1, color=p.ink if mine else p.muted)
        layers.append(dot.encode(tooltip=hover))
    layers += _published(published, wide, tall, look)
    return finished(layers, look, height=height, alt_text=alt_text, legend=True)


def _rules(at: int | None, level: float | None, wide: alt.X, tall: alt.Y, look: Look) -> list[Any]:
    """A place on the horizontal axis, and a height."""
    p, layers = look.palette, []
    if level is not None:
        base = alt.Chart(pd.DataFrame({"mean": [level]}))
        layers.append(base.mark_rule(color=p.muted, strokeWidth=look.px(1), strokeDash=[2, 2]).encode(y=tall))
    if at is not None:
        base = alt.Chart(pd.DataFrame({"x": [at]}))
        layers.append(base.mark_rule(color=p.ink, strokeWidth=look.px(1.5)).encode(x=wide))
    return layers


def _published(given: tuple[float, float, str] | None, wide: alt.X, tall: alt.Y, look: Look) -> list[Any]:
    """A tick for a figure of a paper, with its name above."""
    if given is None:
        return []
    base = alt.Chart(pd.DataFrame({"x": [given[0]], "mean": [given[1]], "name": [given[2]]})).encode(x=wide, y=tall)
    place: dict[str, Any] = {"align": "right", "dx": -look.px(8), "baseline": "bottom"}
    p = look.palette
    return [
        base.mark_point(shape=PUBLISHED, angle=90, size=look.area(120), filled=True, color=p.ink, opacity=1).encode(
            tooltip=tips(("name:N", " ", None), ("mean:Q", " ", ".2f"))
        ),
        base.mark_text(stroke=p.page, strokeWidth=look.px(4), strokeJoin="round", **place).encode(text=alt.Text("name:N")),
        base.mark_text(color=p.ink, **place).encode(text=alt.Text("name:N")),
    ]
