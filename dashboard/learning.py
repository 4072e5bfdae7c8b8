"""Trainings as they move: what is lowered, and how much attention the deciding word gets, batch by batch.

Like `charts`, this knows no page and no language: a tidy frame, words and a `Look` in, a chart out. The losses of an experiment
differ by orders of magnitude and in sign, so their axis is linear around zero and logarithmic beyond (symlog).
"""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from dashboard.axes import EVIDENCE, above, across, finished, tips, value_axis
from dashboard.charts import DASHES, inks
from dashboard.theme import SCREEN, Look

TICKS = [-10, -1, -0.1, 0, 0.1, 1, 10, 100, 1000]
TOGETHER = 8  # batches that make one point
FIELDS = ("loss", "mass")


def binned(points: Sequence[tuple[str, int, float, float]]) -> pd.DataFrame:
    """series, x, loss, mass: means over TOGETHER batches of a model, `x` the last of them; from (model, batch, loss, mass)."""
    frame = pd.DataFrame(list(points), columns=["series", "x", *FIELDS])
    together = [frame["series"], (frame["x"] - 1) // TOGETHER]
    made = frame.groupby(together, sort=False).agg({"series": "first", "x": "last", "loss": "mean", "mass": "mean"})
    return made.reset_index(drop=True)


def curve(
    frame: pd.DataFrame,
    field: str,
    names: Sequence[str],
    *,
    x: str,
    y: str,
    alt_text: str,
    height: float = EVIDENCE,
    width: float = 520,
    look: Look = SCREEN,
) -> Any:
    """A line through (x, `field`) for each series, all `names` in the legend from the start: "mass" from 0 to 1, "loss"
    symlog."""
    mass = field == "mass"
    scale = alt.Scale(domain=[0, 1], nice=False) if mass else alt.Scale(type="symlog", constant=0.1, nice=False)
    label = "datum.value < 0 ? '−' + format(-datum.value, '~g') : format(datum.value, '~g')"
    axis = value_axis(values=[0, 0.25, 0.5, 0.75, 1]) if mass else value_axis(values=TICKS, labelExpr=label)
    key = above(names, look, symbolType="stroke", symbolOpacity=1, symbolStrokeWidth=look.px(2.5))
    color = alt.Color("series:N", title=None, legend=key, scale=alt.Scale(domain=list(names), range=inks(len(names), look)))
    dashes = alt.Scale(domain=list(names), range=[DASHES[i % 3] for i in range(len(names))])
    hover = tips(("series:N", " ", None), ("x:Q", x, "d"), (f"{field}:Q", y, ".3f"))
    last = float(frame["x"].max()) if len(frame) else 1.0
    lines = alt.Chart(frame).encode(
        x=across("x", x, (0.0, last), grid=False),
        y=alt.Y(f"{field}:Q", title=y, scale=scale, axis=axis),
        color=color,
        strokeDash=alt.StrokeDash("series:N", title=None, legend=key, scale=dashes),
        tooltip=hover,
    )
    return finished([lines.mark_line()], look, height=height, width=width, alt_text=alt_text, legend=True)
