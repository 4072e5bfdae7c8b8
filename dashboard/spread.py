"""How results spread: single outcomes as a cloud around where they came from, and groups of them as violins.

Like `charts`, these know no page and no language: tidy frames, words and a `Look` in, a chart out. Lanes are numbers on a
vertical axis that carries their names, and chance plays no part: points are set apart by the golden ratio, so that a figure
looks the same every time.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from dashboard.axes import FILE_WIDTH, Domain, above, across, finished, tips, value_axis, wide
from dashboard.theme import SCREEN, Look

GOLDEN = (5**0.5 - 1) / 2
UNIT: Domain = (0.0, 1.0)
THICK = 0.6  # of a lane, for the points of a cloud
HALF = 0.46  # of a row, for the half of a violin
GAP = 0.45  # rows between two bins of violins
COUNTS = 66  # pixels to the right of violins, for how many each stands for
STEPS = {0.25: 0.05, 0.5: 0.1}  # between labels of an axis that ends there; a quarter elsewhere
ROWS = {1: 44, 2: 32}  # pixels of a row where a bin has so many
NARROW = 26  # and where it has more


@dataclass(frozen=True)
class Lane:
    """One quantity of a cloud: its column, its name, the value to mark, and what is written at the mark."""

    field: str
    name: str
    mark: float
    label: str


@dataclass(frozen=True)
class Case:
    """A single case among violins: its value, its bin, its group, and what is written at it."""

    value: float
    bin: int
    group: str
    label: str


@dataclass(frozen=True)
class Groups:
    """Values between 0 and 1 by bin (0, 1, …) and group, as violins need them; small groups are kept one by one."""

    bins: Sequence[str]  # names of the bins
    groups: Sequence[str]  # names of the groups
    shapes: pd.DataFrame  # bin, group, x, density (1 at the peak)
    marks: pd.DataFrame  # bin, group, n, median, low, high
    singles: pd.DataFrame  # bin, group, x

    @property
    def largest(self) -> float:
        """The largest value that is shown."""
        return max([*self.shapes["x"], *self.singles["x"]], default=0.0)


def apart(count: int) -> np.ndarray:
    """`count` places between 0 and 1, evenly spread however many there are."""
    return (np.arange(1, count + 1) * GOLDEN) % 1


def lane_axis(places: Sequence[float], names: Sequence[str], look: Look) -> alt.Axis:
    """A vertical axis with a name at each of the places, none dropped."""
    at = [round(place, 6) for place in places]
    label = f"{json.dumps(list(names))}[indexof({json.dumps(at)}, datum.value)]"
    ink: dict[str, Any] = {"labelColor": look.palette.ink, "labelLimit": look.px(170), "labelPadding": look.px(12)}
    return alt.Axis(values=at, labelExpr=label, labelOverlap=False, grid=False, domain=False, **ink)


def cloud(
    frame: pd.DataFrame,
    lanes: Sequence[Lane],
    *,
    x: str,
    key: str,
    alt_text: str,
    selected: int | None = None,
    height: float = 180,
    width: float = FILE_WIDTH,
    look: Look = SCREEN,
) -> Any:
    """Every row of `frame` as a point between 0 and 1, in one lane for each quantity, with the lane's mark as a rule.

    `key` is the column that names a row in tooltips; the row `selected` is ringed in every lane.
    """
    p = look.palette
    places = [len(lanes) - 0.5 - i for i in range(len(lanes))]
    scale = alt.Scale(domain=[0, len(lanes)], nice=False)
    tall = alt.Y("y:Q", scale=scale, axis=lane_axis([y - 0.1 for y in places], [lane.name for lane in lanes], look), title=None)
    hover = tips((f"{key}:Q", key, "d"), *((f"{lane.field}:Q", lane.name, ".3f") for lane in lanes))
    layers: list[Any] = []
    for place, lane in zip(places, lanes, strict=True):
        low = place - 0.1 - THICK / 2
        data = frame.assign(y=low + THICK * (0.1 + 0.8 * apart(len(frame))))
        place_of: dict[str, Any] = {"x": across(lane.field, x, UNIT), "y": tall, "tooltip": hover}
        dots = alt.Chart(data).mark_point(size=look.area(45), filled=True, opacity=0.55, color=p.charge)
        layers += [dots.encode(**place_of), *marked(lane.mark, low, low + THICK, lane.label, UNIT, look, width)]
        if selected is not None:
            ring = alt.Chart(data.iloc[[selected]]).mark_point(size=look.area(85), filled=True, opacity=1, color=p.charge)
            layers.append(ring.encode(stroke=alt.StrokeValue(p.ink), strokeWidth=alt.StrokeWidthValue(look.px(2)), **place_of))
    return finished(layers, look, height=height, alt_text=alt_text, width=width)


def marked(at: float, foot: float, head: float, label: str, domain: Domain, look: Look, width: float = FILE_WIDTH) -> list[Any]:
    """A value marked in a lane from `foot` to `head`: an ink rule with a halo, its label on the head, where there is room."""
    p = look.palette
    needed = 12 + look.base * sum(1.0 if wide(c) else 0.52 for c in label)
    share = (at - domain[0]) / (domain[1] - domain[0])
    whole = str(look.px(width)) if look.export else "width"  # which a chart within another one does not know
    data = alt.Chart(pd.DataFrame({"at": [at], "foot": [foot], "head": [head], "label": [label]}))
    rule = data.encode(x=alt.X("at:Q"), y=alt.Y("foot:Q"), y2=alt.Y2("head:Q"))
    text = data.encode(x=alt.X("at:Q"), y=alt.Y("head:Q"), text=alt.Text("label:N"))
    style: dict[str, Any] = {
        "align": alt.ExprRef(f"{share:.4f} * {whole} + {needed:.0f} > {whole} ? 'right' : 'left'"),
        "baseline": "bottom",
        "dy": -look.px(2),
        "fontWeight": 600,
    }
    return [
        rule.mark_rule(color=p.page, strokeWidth=look.px(6)),
        rule.mark_rule(color=p.ink, strokeWidth=look.px(2.5)),
        text.mark_text(stroke=p.page, strokeWidth=look.px(4), strokeJoin="round", **style),
        text.mark_text(**style),
    ]


def violins(
    data: Groups, *, x: str, y: str, alt_text: str, end: float = 1.0, case: Case | None = None, look: Look = SCREEN
) -> Any:
    """A violin with median and quartiles for each bin and group, the groups of a bin below each other, from 0 to `end`."""
    count = len(data.groups)
    step, within = count + GAP, {name: i + 0.5 for i, name in enumerate(data.groups)}
    centers = [i * step + count / 2 for i in range(len(data.bins))]
    scale = alt.Scale(domain=[len(data.bins) * step - GAP / 2, -GAP], nice=False, zero=False)
    rows: dict[str, Any] = {"scale": scale, "axis": lane_axis(centers, data.bins, look), "title": y}

    def placed(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.assign(row=frame["bin"].astype(float) * step + frame["group"].map(within).astype(float))

    layers = outlines(
        placed(data.shapes), placed(data.singles), data.groups, partial(roomy, x=x, end=end, look=look), rows, look
    )
    layers += quartiles(placed(data.marks), partial(roomy, x=x, end=end, look=look), x, rows, look)
    if case is not None:
        row = case.bin * step + within[case.group]
        layers += marked(case.value, row + HALF, row - HALF, case.label, (0.0, end), look)
    height = ROWS.get(count, NARROW) * (len(data.bins) * step + GAP / 2) + 60
    return finished(layers, look, height=height, alt_text=alt_text, legend=count > 1)


def roomy(field: str, *, x: str, end: float, look: Look) -> alt.X:
    """A horizontal axis from 0 to `end` that leaves room to its right, the same in pixels however wide the chart is."""
    step = STEPS.get(end, 0.25)
    last = alt.ExprRef(f"{end!r} * width / max(width - {look.px(COUNTS)}, 1)")
    ticks = [round(i * step, 2) for i in range(round(end / step) + 1)]
    return alt.X(f"{field}:Q", title=x, axis=value_axis(values=ticks), scale=alt.Scale(domainMin=0, domainMax=last, nice=False))


def outlines(
    shapes: pd.DataFrame,
    singles: pd.DataFrame,
    groups: Sequence[str],
    along: Callable[[str], alt.X],
    rows: dict[str, Any],
    look: Look,
) -> list[Any]:
    """The violins and the single points; groups are told apart by their filling: muted, none, ink."""
    p, names = look.palette, list(groups)
    key = above(names, look, symbolType="square", symbolOpacity=1, symbolStrokeWidth=look.px(1.5)) if len(names) > 1 else None
    fills, edges = ([p.muted, p.page, p.ink][: len(names)], [p.muted, p.ink, p.ink][: len(names)])
    fill = alt.Fill("group:N", title=None, legend=key, scale=alt.Scale(domain=names, range=fills))
    stroke = alt.Stroke("group:N", title=None, legend=key, scale=alt.Scale(domain=names, range=edges))
    half = HALF * shapes["density"]
    areas = alt.Chart(shapes.assign(low=shapes["row"] - half, high=shapes["row"] + half))
    # where no text stands alone, an empty layer would be a picture without a name to a screen reader
    dots = alt.Chart(singles).mark_point(aria=False, filled=True, size=look.area(28), strokeWidth=look.px(1.25), opacity=1)
    place: dict[str, Any] = {"x": along("x"), "fill": fill, "stroke": stroke}
    return [
        areas.mark_area(strokeWidth=look.px(1.25)).encode(
            y=alt.Y("low:Q", **rows), y2=alt.Y2("high:Q"), detail=alt.Detail(["bin:O", "group:N"]), **place
        ),
        dots.encode(y=alt.Y("row:Q", **rows), **place),
    ]


def quartiles(marks: pd.DataFrame, along: Callable[[str], alt.X], x: str, rows: dict[str, Any], look: Look) -> list[Any]:
    """Median and quartiles on each violin, and how many it stands for, to its right."""
    p = look.palette
    said = alt.Chart(marks.assign(count=[f"n = {n:,}" for n in marks["n"]]))
    text = said.encode(x=alt.XValue("width"), y=alt.Y("row:Q", **rows), text=alt.Text("count:N"))
    hover = tips(("group:N", " ", None), ("median:Q", x, ".3f"), ("n:Q", "n", ","))
    hover += tips(("low:Q", "25 %", ".3f"), ("high:Q", "75 %", ".3f"))
    base = alt.Chart(marks[marks["n"] > 0]).encode(y=alt.Y("row:Q", **rows), tooltip=hover)
    span = base.encode(x=along("low"), x2=alt.X2("high:Q"))
    dot = base.mark_point(color=p.ink, stroke=p.page, strokeWidth=look.px(1.5), size=look.area(80), opacity=1)
    return [
        text.mark_text(align="right", color=p.muted),
        span.mark_rule(color=p.page, strokeWidth=look.px(6)),
        span.mark_rule(color=p.ink, strokeWidth=look.px(3)),
        dot.encode(x=along("median")),
    ]


def stacked(parts: Sequence[Any]) -> Any:
    """Charts of a file one below the other, as one chart with the theme of the first and what all of them say."""
    said = ". ".join(str(part.description) for part in parts)
    config, bare = parts[0].config, [part.copy(deep=False) for part in parts]
    for part in bare:
        part.config = part.description = alt.Undefined
    # Shared scales would take a chart's legend to the top of all.
    own: dict[str, Any] = dict.fromkeys(("color", "strokeDash", "shape"), "independent")
    return alt.vconcat(*bare, config=config, description=said).resolve_scale(**own)
