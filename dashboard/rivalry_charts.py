"""Two charts of the page on attribution: every two methods with their number, and errors by layer on a logarithmic scale."""

from collections.abc import Sequence
from typing import Any

import altair as alt
import pandas as pd

from dashboard.axes import above, finished, tips, word_axis
from dashboard.charts import SHAPES, names_of
from dashboard.theme import SCREEN, Look, diverging, text_on
from dashboard.tokens import number

CELL, LABELS = 34, 118  # pixels of a cell, and of the words beside and above


def squares(frame: pd.DataFrame, names: Sequence[str], *, value: str, alt_text: str, look: Look = SCREEN) -> Any:
    """A square of a `frames.matrix` frame on the scale −1 to 1, each cell with its number; what is undefined has a dash."""
    p = look.palette
    inks = [p.muted if pd.isna(v) else text_on(diverging(float(v), look.mode)) for v in frame["weight"]]
    said = ["" if q == k else number(None if pd.isna(w) else float(w)) for q, k, w in frame[["query", "key", "weight"]].values]
    cells = frame.assign(ink=inks, said=said)
    over = {"orient": "top", "labelAngle": -90, "labelAlign": "left", "labelBaseline": "middle"}
    size = {"labelLimit": look.px(LABELS), "labelFontSize": max(9, look.base - 2), "labelColor": p.ink}
    wide = alt.X("key:O", axis=word_axis(names, title=None, **size, **over))
    tall = alt.Y("query:O", axis=word_axis(names, title=None, **size))
    hover = tips(("query_word:N", " ", None), ("key_word:N", "  ", None), ("weight:Q", value, ".3f"))
    base = alt.Chart(cells).encode(x=wide, y=tall)
    scale = alt.Scale(domain=[-1, 1], range=list(p.div), clamp=True, interpolate="rgb")
    known = base.transform_filter("isValid(datum.weight)")
    colored = known.mark_rect().encode(color=alt.Color("weight:Q", legend=None, scale=scale), tooltip=hover)
    words = base.encode(text=alt.Text("said:N"))  # a layer for each ink: with a scale and without do not mix
    texts = [
        words.transform_filter(f"datum.ink == '{ink}'").mark_text(fontSize=max(9, look.base - 2), color=ink)
        for ink in sorted(set(inks))
    ]
    edge = 0 if look.export else LABELS
    return finished([colored, *texts], look, alt_text=alt_text, height=CELL * len(names) + edge, width=CELL * len(names))


def by_layer(frame: pd.DataFrame, *, x: str, y: str, alt_text: str, look: Look = SCREEN) -> Any:
    """Dots of (layer, rule, error, drawn) joined by rule, on a logarithmic scale."""
    rules = names_of(frame, "rule")
    shades = [look.palette.ink, look.palette.muted, look.palette.muted][: len(rules)]
    settings: dict[str, Any] = {"title": None, "legend": above(rules, look, symbolOpacity=1)}
    color = alt.Color("rule:N", scale=alt.Scale(domain=rules, range=shades), **settings)
    shape = alt.Shape("rule:N", scale=alt.Scale(domain=rules, range=list(SHAPES[: len(rules)])), **settings)
    axis = alt.Axis(tickCount=5, format="~e", grid=True)
    tall = alt.Y("drawn:Q", scale=alt.Scale(type="log"), title=y, axis=axis)
    wide = alt.X("layer:O", title=x, axis=alt.Axis(labelAngle=0))
    hover = tips(("rule:N", " ", None), ("layer:O", x, None), ("error:Q", y, ".2e"))
    base = alt.Chart(frame).encode(x=wide, y=tall, color=color)
    dots = base.mark_point(size=look.area(80), filled=True, opacity=1).encode(shape=shape, tooltip=hover)
    return finished([base.mark_line(strokeWidth=look.px(1.5)), dots], look, height=220, alt_text=alt_text, legend=True)
