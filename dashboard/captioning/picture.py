"""A scene as a chart, and attention over it: cells that are looked at are lit, the others lie in the dark.

Objects are drawn from the same outlines that the model's picture is made of, so that they stay sharp at any size. The named
object has a ring; a dashed frame shows what the annotation of the most attended cell has seen.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from core.models.captioner import RECEPTIVE
from core.scenes import CELL, COLORS, GRID, OUTLINES, PAPER, RADIUS, Thing
from dashboard.axes import finished, tips
from dashboard.theme import SCREEN, Look

SIDE, SMALL, HEAD = 320, 128, 46  # pixels of a picture, of one among many, and of the words above it
DARK, DEEP = "#12161C", 0.82  # the veil over cells without attention, and how dense it is
RING = "#FFFFFF"
COLUMNS = 5  # pictures in a row of a file


def colored(channels: Sequence[float]) -> str:
    """A colour of a scene as "#RRGGBB"."""
    return "#" + "".join(f"{round(255 * c):02X}" for c in channels)


def path(shape: str) -> str:
    """The outline of a shape as an SVG path within -1 … 1."""
    return "M" + "L".join(f"{x:.3f},{y:.3f}" for x, y in OUTLINES[shape]) + "Z"


def cells(weights: np.ndarray) -> pd.DataFrame:
    """column, row (from 1), weight, veil (how dark), one row a cell."""
    at = np.arange(GRID * GRID)
    veil = DEEP * (1 - weights / max(float(weights.max()), 1e-9))
    return pd.DataFrame({"column": at % GRID + 1, "row": at // GRID + 1, "weight": weights, "veil": veil})


def seen(weights: np.ndarray) -> tuple[float, float, float, float]:
    """The frame in cells (left, top, right, bottom) of what the most attended cell's annotation has seen of the picture."""
    most, half = int(weights.argmax()), RECEPTIVE / CELL / 2
    column, row = most % GRID + 0.5, most // GRID + 0.5
    ends = (column - half, row - half, column + half, row + half)
    return tuple(float(min(max(end, 0.0), GRID)) for end in ends)  # type: ignore[return-value]


def picture(
    scene: Sequence[Thing],
    weights: np.ndarray | None = None,
    named: Thing | None = None,
    *,
    alt_text: str,
    words: Sequence[str] = ("column", "row", "weight"),
    title: str = "",
    subtitle: str = "",
    field: bool = False,
    side: int = SIDE,
    look: Look = SCREEN,
) -> Any:
    """The scene; where `weights` "cell" are given, attention over it, with a ring around the object that is `named` and, if
    asked, the receptive `field`. `words` name column, row and weight in tooltips."""
    layers = [block([(0.0, 0.0, GRID, GRID)], filled=True, color=colored(PAPER), strokeWidth=0), *drawn(scene, side, look)]
    if weights is not None:
        layers.append(shade(cells(weights), words))
    if weights is not None and field:
        layers += outlined(seen(weights), look, [4, 3])
    if named is not None:
        layers += outlined((named.column - 1, named.row - 1, named.column + 1, named.row + 1), look, [1, 0])
    chart = finished(layers, look, height=side, width=side, alt_text=alt_text)
    if not look.export:  # the height of a chart on the screen includes what stands around its picture
        chart.height = room(look, side) + (round(look.px(HEAD)) if title else 0)
    if title:
        chart.title = alt.Title(title, subtitle=subtitle or " ", fontSize=look.base, fontWeight=600, offset=4)
    return chart


def room(look: Look, side: int) -> int:
    """Pixels that a picture needs on the screen, each way: whole ones for every cell, and the chart's padding."""
    return round(look.px(side) / GRID) * GRID + 4


def place(low: str, high: str = "") -> dict[str, Any]:
    """Both axes of a picture, in cells from the top left."""
    x = alt.X(f"x{low}:Q", axis=None, scale=alt.Scale(domain=[0, GRID], nice=False, zero=False))
    y = alt.Y(f"y{low}:Q", axis=None, scale=alt.Scale(domain=[GRID, 0], nice=False, zero=False))
    return {"x": x, "y": y} | ({"x2": f"x{high}:Q", "y2": f"y{high}:Q"} if high else {})


def block(boxes: Sequence[tuple[float, float, float, float]], **mark: Any) -> Any:
    """Rectangles (left, top, right, bottom) in cells."""
    frame = pd.DataFrame(boxes, columns=["x0", "y0", "x1", "y1"])
    return alt.Chart(frame).mark_rect(**mark).encode(**place("0", "1"))


def drawn(scene: Sequence[Thing], side: int, look: Look) -> list[Any]:
    """The objects: a point each, whose shape is its outline. A chart on the screen tells its own size, one in a file has the
    size that it was given."""
    cell = f"min(width, height) / {GRID}" if not look.export else f"{look.px(side) / GRID}"
    size = alt.ExprRef(f"pow({2 * RADIUS} * {cell}, 2)")
    return [
        alt.Chart(pd.DataFrame({"x0": [thing.column], "y0": [thing.row]}))
        .mark_point(shape=path(thing.shape), size=size, filled=True, color=colored(COLORS[thing.color]), opacity=1)
        .encode(**place("0"))
        for thing in scene
    ]


def shade(frame: pd.DataFrame, words: Sequence[str]) -> Any:
    """The veil: a cell is the darker, the less of the attention it has."""
    data = frame.assign(x0=frame["column"] - 1, y0=frame["row"] - 1, x1=frame["column"], y1=frame["row"])
    hover = tips(("column:Q", words[0], "d"), ("row:Q", words[1], "d"), ("weight:Q", words[2], ".3f"))
    opacity = alt.FillOpacity("veil:Q", scale=None, legend=None)
    mark = alt.Chart(data).mark_rect(fill=DARK, stroke=RING, strokeWidth=0.5, strokeOpacity=0.25)
    return mark.encode(fillOpacity=opacity, tooltip=hover, **place("0", "1"))


def outlined(box: tuple[float, float, float, float], look: Look, dash: Sequence[float]) -> list[Any]:
    """A frame in white on black, to be seen on any ground."""
    inset = 0.06
    left, top, right, bottom = (end + sign * inset for end, sign in zip(box, (1, 1, -1, -1), strict=True))
    style: dict[str, Any] = {"filled": False, "cornerRadius": look.px(3)}
    return [
        block([(left, top, right, bottom)], stroke=DARK, strokeWidth=look.px(4), **style),
        block([(left, top, right, bottom)], stroke=RING, strokeWidth=look.px(2), strokeDash=list(dash), **style),
    ]


def together(charts: Sequence[Any], alt_text: str) -> Any:
    """Pictures of a file in rows, as one chart with the theme of the first."""
    config, bare = charts[0].config, [chart.copy(deep=False) for chart in charts]
    for chart in bare:
        chart.config = chart.description = alt.Undefined
    return alt.concat(*bare, columns=COLUMNS, config=config, description=alt_text)
