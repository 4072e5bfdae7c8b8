"""Two numbers of each thing against each other: does what convinces also count?

Like `charts`, this knows no page and no language: a tidy frame, words and a `Look` in, a chart out. Points are outlines of
different shapes, so that two at one place are both seen.
"""

from typing import Any

import altair as alt
import pandas as pd

from dashboard.axes import Domain, above, across, finished, tips, upward
from dashboard.charts import names_of
from dashboard.theme import SCREEN, Look

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")


def plane(
    frame: pd.DataFrame,
    *,
    x: str,
    y: str,
    alt_text: str,
    domain: tuple[Domain, Domain],
    faint: str = "",
    height: float = 290,
    look: Look = SCREEN,
) -> Any:
    """Points of (group, x, y), one shape a group; the group called `faint` is muted, zero is a line where both sides show."""
    p, groups = look.palette, names_of(frame, "group")
    shown = frame.dropna(subset=["x", "y"])
    shades = [p.muted if group == faint else p.ink for group in groups]
    key = above(groups, look, symbolStrokeWidth=look.px(2.2), symbolFillColor="transparent", symbolOpacity=1)
    color = alt.Color("group:N", title=None, legend=key, scale=alt.Scale(domain=groups, range=shades))
    shape = alt.Shape("group:N", title=None, legend=key, scale=alt.Scale(domain=groups, range=list(SHAPES[: len(groups)])))
    hover = tips(("group:N", " ", None), ("x:Q", x, ".3f"), ("y:Q", y, ".3f"))
    place = {"x": across("x", x, domain[0], grid=True), "y": upward("y", y, domain[1])}
    points = alt.Chart(shown).mark_point(size=look.area(170), filled=False, strokeWidth=look.px(2.5), opacity=1)
    layers = [points.encode(color=color, shape=shape, tooltip=hover, **place)]
    if domain[1][0] < 0:
        zero = alt.Chart(pd.DataFrame({"y": [0.0]})).mark_rule(color=p.muted, strokeWidth=look.px(1))
        layers.insert(0, zero.encode(y=upward("y", y, domain[1])))
    return finished(layers, look, height=height, alt_text=alt_text, legend=True)
