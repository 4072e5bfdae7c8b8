"""Two distances against each other: how far attention moved, and how far the prediction did.

Like `charts`, this knows no page and no language. What the defence made is a line of circles in its colour, what the charge
made squares in its own, everything else ink; what was published is a muted outline of the same shape.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt
import pandas as pd

from dashboard.axes import OVERVIEW, across, finished, tips, upward
from dashboard.charts import DASHES, names_of
from dashboard.paths import labels
from dashboard.theme import SCREEN, Look

WIDEST = 0.7  # nats; a Jensen-Shannon divergence is at most ln 2
CLOSE = 0.08  # nats within which points of the line share a name


@dataclass(frozen=True)
class Style:
    """How a group of points is drawn: whose it is, its shape, and whether it was read off a paper."""

    role: Literal["charge", "defence", "ink"] = "ink"
    shape: str = "circle"
    theirs: bool = False


def frontier(
    frame: pd.DataFrame,
    styles: Mapping[str, Style],
    *,
    line: str,
    x: str,
    y: str,
    alt_text: str,
    chosen: str = "",
    height: float = OVERVIEW + 60,
    width: float = 520,
    look: Look = SCREEN,
) -> Any:
    """Points of (group, x, y, name, joined); those of the group `line` that are `joined` are connected in their order and
    named, and the one called `chosen` is ringed."""
    p = look.palette
    groups = [group for group in styles if group in names_of(frame, "group")]
    colors = [p.muted if styles[group].theirs else getattr(p, styles[group].role) for group in groups]
    fills = ["transparent" if styles[group].theirs else color for group, color in zip(groups, colors, strict=True)]
    shapes = [styles[group].shape for group in groups]
    columns = alt.ExprRef("width < 360 ? 1 : width < 560 ? 2 : 3")
    key = alt.Legend(columns=columns, offset=look.base + look.px(18), symbolStrokeWidth=look.px(1.75), symbolOpacity=1)
    top = max(float(frame["y"].max()) * 1.2, 0.01) if len(frame) else 1.0
    wide, tall = across("x", x, (0.0, WIDEST), grid=True), upward("y", y, (0.0, min(top, 1.0)))
    hover = tips(("group:N", " ", None), ("name:N", "  ", None), ("x:Q", x, ".3f"), ("y:Q", y, ".4f"))
    marks = alt.Chart(frame).mark_point(size=look.area(95), strokeWidth=look.px(1.75), opacity=1, filled=False)
    joined = frame[(frame["group"] == line) & frame["joined"]]
    path = alt.Chart(joined.assign(order=range(len(joined)))).mark_line(
        color=p.defence, strokeWidth=look.px(1.5), strokeDash=DASHES[2]
    )
    layers: list[Any] = [path.encode(x=wide, y=tall, order=alt.Order("order:Q"))]
    layers.append(
        marks.encode(
            x=wide,
            y=tall,
            tooltip=hover,
            stroke=alt.Stroke("group:N", title=None, legend=key, scale=alt.Scale(domain=groups, range=colors)),
            fill=alt.Fill("group:N", title=None, legend=key, scale=alt.Scale(domain=groups, range=fills)),
            shape=alt.Shape("group:N", title=None, legend=key, scale=alt.Scale(domain=groups, range=shapes)),
        )
    )
    if len(ring := joined[joined["name"] == chosen]):
        halo = alt.Chart(ring).encode(x=wide, y=tall)
        style: dict[str, Any] = {"size": look.area(230), "filled": False, "opacity": 1, "color": p.ink}
        layers.append(halo.mark_point(strokeWidth=look.px(2.5), **style))
    layers += labels(named(joined), wide, tall, look)
    room = 0 if look.export else 18 * ((len(groups) - 1) // 3)  # for the legend's further lines
    return finished(layers, look, height=height + room, width=width, alt_text=alt_text, legend=True)


def named(joined: pd.DataFrame) -> pd.DataFrame:
    """x, y, label: one name for points of a line that are too close for names of their own, at the highest of them."""
    made: list[dict[str, Any]] = []
    groups = (joined["x"].diff().abs() > CLOSE).cumsum()
    for _, part in joined.groupby(groups):
        first, last = str(part["name"].iloc[0]), str(part["name"].iloc[-1])
        label = first if first == last else f"{first} … {last.split()[-1]}"
        made.append({"x": float(part["x"].mean()), "y": float(part["y"].max()), "label": label})
    return pd.DataFrame(made, columns=["x", "y", "label"])
