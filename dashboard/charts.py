"""Tidy frame in, chart out: what all pages share. Nothing here knows a page, a model or a language.

Every chart takes its words (titles, labels, alt text) as arguments and a `Look` (mode, base font size, screen or file).
It carries its whole theme, so that `st.altair_chart(chart, theme=None)` and a file show one specification. Uncertainty
is a thick rule with a dot, never a bar with whiskers; models and encoders are ink and muted, told apart by shape or
dash; the colours of the two sides of the debate stay with what a side claims or made.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from dashboard.axes import (
    EVIDENCE,
    OVERVIEW,
    Domain,
    above,
    across,
    finished,
    legend,
    tau_domain,
    this_case,
    tips,
    upward,
    value_axis,
    word_axis,
)
from dashboard.theme import SCREEN, Look

SHAPES = ("circle", "diamond", "triangle-up", "cross")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 2, 2, 2])
PUBLISHED = "M-0.2,-1.1H0.2V1.1H-0.2Z"  # a tick, as an SVG path of a point


def names_of(frame: pd.DataFrame, field: str) -> list[str]:
    """The values of a column in their order of appearance."""
    return [str(name) for name in dict.fromkeys(frame[field])]


def inks(count: int, look: Look) -> list[str]:
    """Ink and muted in turn, for series that no side of the debate owns."""
    return [look.palette.ink if i % 2 == 0 else look.palette.muted for i in range(count)]


def histogram(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    alt_text: str,
    field: str = "count",
    domain: Domain = (-1.0, 1.0),
    case: float | None = None,
    case_label: str = "",
    height: float = EVIDENCE,
    look: Look = SCREEN,
) -> Any:
    """Bars of a `frames.binned` frame (low, high, count, share), with `case` marked; a second series is an outline."""
    p = look.palette
    wide = across("low", x, domain, grid=False).bin("binned")
    tall = upward(field, y, tickCount=4).stack(None)
    hover = tips(("low:Q", x, ".2f"), ("high:Q", "–", ".2f"), (f"{field}:Q", y, "," if field == "count" else ".3f"))
    if "series" in frame:
        names = names_of(frame, "series")
        shades = alt.Scale(domain=names, range=[p.muted, p.ink])
        color = alt.Color("series:N", title=None, scale=shades, legend=above(names, look, symbolOpacity=1))
        first = alt.Chart(frame[frame["series"] == names[0]]).mark_bar(stroke=p.page, strokeWidth=1, opacity=0.5)
        layers = [first.encode(x=wide, x2=alt.X2("high:Q"), y=tall, color=color, tooltip=hover)]
        for name in names[1:]:
            outline = alt.Chart(stepped(frame[frame["series"] == name], field)).mark_line(interpolate="step-after")
            layers.append(outline.encode(x=across("low", x, domain, grid=False), y=tall, color=color))
    else:
        bars = alt.Chart(frame).mark_bar(color=p.muted, stroke=p.page, strokeWidth=1)
        layers = [bars.encode(x=wide, x2=alt.X2("high:Q"), y=tall, tooltip=hover)]
    if case is not None:
        layers += this_case(case, case_label, domain, look)
    return finished(layers, look, height=height, alt_text=alt_text, legend="series" in frame)


def stepped(frame: pd.DataFrame, field: str) -> pd.DataFrame:
    """The outline of a histogram as steps: its last bin closed at the right edge."""
    last = frame.iloc[[-1]].assign(low=frame["high"].iloc[-1])
    return pd.concat([frame, last], ignore_index=True)[["low", field, "series"]]


def intervals(
    frame: pd.DataFrame,
    *,
    x: str,
    alt_text: str,
    published: str = "",
    domain: Domain | None = None,
    n_label: str = "n",
    look: Look = SCREEN,
) -> Any:
    """Dots with intervals from (group, series, mean, low, high[, n, published]); `published` names the papers' tick."""
    groups, series = names_of(frame, "group"), names_of(frame, "series")
    points = frame.assign(kind=frame["series"])
    ticks = frame.iloc[:0].assign(kind="")
    if published and "published" in frame:
        ticks = frame.dropna(subset=["published"]).assign(kind=published, mean=lambda f: f["published"])
    kinds = [*series, published] if len(ticks) else series
    shapes = [SHAPES[i % 4] for i in range(len(series))] + [PUBLISHED]
    if domain is None:
        lowest = pd.concat([frame["low"], frame["mean"], ticks["mean"]]).min()
        domain = tau_domain(None if pd.isna(lowest) else float(lowest))
    names = legend(kinds, look, labels=groups)
    color = alt.Color("kind:N", title=None, legend=names, scale=alt.Scale(domain=kinds, range=inks(len(kinds), look)))
    shape = alt.Shape("kind:N", title=None, legend=names, scale=alt.Scale(domain=kinds, range=shapes[: len(kinds)]))
    rows = alt.Axis(labelColor=look.palette.ink, labelLimit=look.px(170))
    place: dict[str, Any] = {
        "y": alt.Y("group:N", sort=groups, title=None, scale=alt.Scale(paddingInner=0.25), axis=rows),
        "yOffset": alt.YOffset("series:N", sort=series),
        "color": color,
    }
    hover = tips(("group:N", " ", None), ("kind:N", "  ", None), ("mean:Q", x, ".3f"))
    known = tips(("low:Q", "2.5 %", ".3f"), ("high:Q", "97.5 %", ".3f"))
    known += tips(("n:Q", n_label, ",")) if "n" in frame else []
    dot: dict[str, Any] = {"size": look.area(90), "filled": True, "opacity": 1}
    base = alt.Chart(points).encode(tooltip=hover + known, **place)
    layers = [
        base.mark_rule(strokeWidth=look.px(3)).encode(x=across("low", x, domain), x2=alt.X2("high:Q")),
        base.mark_point(**dot).encode(x=across("mean", x, domain), shape=shape),
    ]
    if len(ticks):
        base = alt.Chart(ticks).encode(tooltip=hover, **place)
        layers.append(base.mark_point(**dot).encode(x=across("mean", x, domain), shape=shape))
    return finished(layers, look, height=110 + 18 * len(groups) * len(series), alt_text=alt_text)


def scatter_by_length(
    frame: pd.DataFrame,
    means: pd.DataFrame,
    *,
    x: str,
    y: str,
    alt_text: str,
    bounds: Sequence[tuple[float, str]] = (),
    case: tuple[float, float] | None = None,
    case_label: str = "",
    height: float = OVERVIEW,
    look: Look = SCREEN,
) -> Any:
    """Points of (length, value) under the means of like length (`frames.by_length`: length, mean, low, high, n).

    `bounds` are lengths with what happens there, each named one line below the one before; `case` is a point of its own.
    """
    p = look.palette
    domain = tau_domain(float(frame["value"].min()) if len(frame) else None)
    hover = tips(("length:Q", x, ",~g"), ("value:Q", y, ".3f"))
    points = alt.Chart(frame).mark_point(size=look.area(18), filled=True, opacity=0.35, color=p.muted)
    layers = [points.encode(x=across("length", x, grid=False), y=upward("value", y, domain), tooltip=hover)]
    base = alt.Chart(means).encode(x=across("length", x, grid=False))
    mean, low = upward("mean", y, domain), upward("low", y, domain)
    hover = tips(("length:Q", x, ",.1f"), ("mean:Q", y, ".3f"), ("low:Q", "2.5 %", ".3f"), ("high:Q", "97.5 %", ".3f"))
    layers += [
        base.mark_line(color=p.page, strokeWidth=look.px(4)).encode(y=mean),
        base.mark_rule(color=p.page, strokeWidth=look.px(6)).encode(y=low, y2=alt.Y2("high:Q")),
        base.mark_line(color=p.ink, strokeWidth=look.px(1.5)).encode(y=mean),
        base.mark_rule(color=p.ink, strokeWidth=look.px(3)).encode(y=low, y2=alt.Y2("high:Q")),
        base.mark_point(color=p.ink, size=look.area(70), opacity=1).encode(y=mean, tooltip=[*hover, *tips(("n:Q", "n", ","))]),
    ]
    layers += bounded(bounds, look)
    if case is not None:
        layers += ringed(case, case_label, "length", "mean", look)
    return finished(layers, look, height=height, alt_text=alt_text)


def bounded(bounds: Sequence[tuple[float, str]], look: Look) -> list[Any]:
    """Dashed upright lines, and right of the last one their names, one below the other."""
    p, last = look.palette, max((at for at, _ in bounds), default=0.0)
    rules = alt.Chart(pd.DataFrame({"length": [at for at, _ in bounds]})).mark_rule(color=p.ink, strokeDash=DASHES[2])
    layers = [rules.encode(x=alt.X("length:Q"), strokeWidth=alt.StrokeWidthValue(look.px(1)))] if bounds else []
    for row, (_, label) in enumerate(bounds):
        named = alt.Chart(pd.DataFrame({"length": [last], "label": [label]}))
        text = named.encode(x=alt.X("length:Q"), y=alt.YValue(0), text=alt.Text("label:N"))
        place: dict[str, Any] = {"align": "left", "dx": look.px(8), "dy": look.px(6 + 17 * row)}
        layers += [
            text.mark_text(stroke=p.page, strokeWidth=look.px(4), strokeJoin="round", **place),
            text.mark_text(color=p.muted, **place),
        ]
    return layers


def ringed(at: tuple[float, float], label: str, x: str, y: str, look: Look) -> list[Any]:
    """A single case among points: a ring with a page-coloured halo and its label above."""
    p = look.palette
    base = alt.Chart(pd.DataFrame({x: [at[0]], y: [at[1]], "label": [label]})).encode(x=alt.X(f"{x}:Q"), y=alt.Y(f"{y}:Q"))
    place: dict[str, Any] = {"dy": -look.px(15), "fontWeight": 600}
    return [
        base.mark_point(color=p.page, size=look.area(130), strokeWidth=look.px(7), filled=False, opacity=1),
        base.mark_point(color=p.ink, size=look.area(130), strokeWidth=look.px(2.5), filled=False, opacity=1),
        base.mark_text(stroke=p.page, strokeWidth=look.px(4), strokeJoin="round", **place).encode(text=alt.Text("label:N")),
        base.mark_text(color=p.ink, **place).encode(text=alt.Text("label:N")),
    ]


def line(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    alt_text: str,
    domain: Domain | None = None,
    height: float = EVIDENCE,
    look: Look = SCREEN,
) -> Any:
    """Line with a band from (x, mean, low, high[, series]), x in whole steps; two series read well: ink and dashed."""
    if domain is None:
        domain = tau_domain(float(frame["low"].min()) if len(frame) else None)
    several = "series" in frame
    data = frame if several else frame.assign(series=y)
    names = names_of(data, "series") if several else [y]
    key = above(names, look, symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=look.px(2.5)) if several else None
    color = alt.Color("series:N", title=None, legend=key, scale=alt.Scale(domain=names, range=inks(len(names), look)))
    dashes = alt.Scale(domain=names, range=[DASHES[i % 4] for i in range(len(names))])
    dash = alt.StrokeDash("series:N", title=None, legend=key, scale=dashes)
    hover = tips(("x:Q", x, "~g"), ("mean:Q", y, ".3f"), ("low:Q", "2.5 %", ".3f"), ("high:Q", "97.5 %", ".3f"))
    hover = (tips(("series:N", " ", None)) if several else []) + hover
    base = alt.Chart(data).encode(x=across("x", x, grid=False, tickMinStep=1), color=color)
    mean = upward("mean", y, domain)
    layers = [
        base.mark_area(opacity=0.16).encode(y=upward("low", y, domain), y2=alt.Y2("high:Q")),
        base.mark_line().encode(y=mean, strokeDash=dash),
        base.mark_point(size=look.area(40), opacity=1).encode(y=mean, tooltip=hover),
    ]
    return finished(layers, look, height=height, alt_text=alt_text, legend=several)


def bars(
    frame: pd.DataFrame,
    words: Sequence[str],
    *,
    x: str,
    alt_text: str,
    signed: bool = False,
    row: float = 25,
    look: Look = SCREEN,
) -> Any:
    """Horizontal bars of (position, word, value), the words down the side in the order of the text."""
    p = look.palette
    labels = word_axis(words, labelColor=p.ink, labelLimit=look.px(96))
    tall = alt.Y("position:O", axis=labels, scale=alt.Scale(padding=0.25))
    hover = tips(("word:N", " ", None), ("value:Q", x, "+.3f" if signed else ".3f"))
    color = alt.condition("datum.value < 0", alt.value(p.lowers), alt.value(p.raises)) if signed else alt.value(p.ink)
    base = alt.Chart(frame).encode(y=tall, x=alt.X("value:Q", title=x, axis=value_axis()), tooltip=hover)
    layers = [base.mark_bar().encode(color=color)]
    if signed:
        zero = alt.Chart(pd.DataFrame({"value": [0]})).encode(x=alt.X("value:Q"))
        layers.append(zero.mark_rule(color=p.muted, strokeWidth=look.px(1)))
    edge = 0 if look.export else 60
    count = max(frame["position"].nunique(), 1)
    return finished(layers, look, height=row * count + edge, alt_text=alt_text)


def mirror(frame: pd.DataFrame, *, left: str, right: str, alt_text: str, row: float = 25, look: Look = SCREEN) -> Any:
    """Two weights of each word back to back (`frames.mirrored`) on one scale: `left` in ink, `right` in charge.

    The words stand in a gutter of half the larger side's length: about 100 px of a 300 px chart.
    """
    p = look.palette
    top = float(frame[["left", "right"]].max().max()) or 1.0
    gutter, ticks = 0.5 * top, round_ticks(top)
    values = sorted({side * (gutter + tick) for tick in ticks for side in (-1, 1)})
    label = f"format(abs(datum.value) - {gutter!r}, '.2~f')"
    axis = alt.Axis(values=values, labelExpr=label, grid=True, domain=False, title=None)
    scale = alt.Scale(domain=[-3 * gutter, 3 * gutter], nice=False)
    ends = {"inner_left": -gutter, "inner_right": gutter}
    data = frame.assign(order=range(len(frame)), left_end=-gutter - frame["left"], right_end=gutter + frame["right"])
    hover = tips(("word:N", " ", None), ("left:Q", left, ".3f"), ("right:Q", right, ".3f"))
    base = alt.Chart(data.assign(**ends)).encode(y=alt.Y("order:O", axis=None, scale=alt.Scale(padding=0.25)), tooltip=hover)
    short = alt.ExprRef(f"min({look.px(96):g}, width / 3 - 8)")
    words = base.mark_text(align="center", limit=short)
    layers = [words.encode(x=alt.datum(0, scale=scale, axis=axis), text=alt.Text("word:N"))]
    for name, text, color in (("left", f"← {left}", p.ink), ("right", f"{right} →", p.charge)):
        start = alt.X(f"inner_{name}:Q", scale=scale, axis=axis)
        layers.append(base.mark_bar(color=color).encode(x=start, x2=f"{name}_end:Q"))
        layers.append(heading(text, name, color, look))
    edge = 20 if look.export else 60
    return finished(layers, look, height=row * max(len(frame), 1) + edge, alt_text=alt_text)


def heading(text: str, side: str, color: str, look: Look) -> Any:
    """What stands over a side of a mirrored chart: by the gutter, or at the edge and smaller where a phone has no room."""
    narrow, left = "width < 420", side == "left"
    place = f"{narrow} ? {'0' if left else 'width'} : width {'/ 3' if left else '* 2 / 3'}"
    outward, inward = ("'left'", "'right'") if left else ("'right'", "'left'")
    at: dict[str, Any] = {"x": alt.XValue(alt.ExprRef(place)), "y": alt.YValue(-look.px(10))}
    return (
        alt.Chart(pd.DataFrame({"text": [text]}))
        .encode(text=alt.Text("text:N"), **at)
        .mark_text(
            align=alt.ExprRef(f"{narrow} ? {outward} : {inward}"),
            fontSize=alt.ExprRef(f"min({look.base}, width / 26)"),
            fontWeight=600,
            color=color,
        )
    )


def round_ticks(top: float) -> list[float]:
    """0 and two equal steps of 1, 2, 2.5 or 5 times a power of ten, the last at most `top`."""
    size = 10.0 ** np.floor(np.log10(top / 2)) if top > 0 else 0.5
    step = max(s * size for s in (1, 2, 2.5, 5) if s * size <= top / 2 * (1 + 1e-9))
    return [0.0, float(step), float(2 * step)]
