"""What every chart shares: theme and size, axes of numbers and of words, a legend that leaves room, a marked case.

Words on an axis are positions labelled by `labelExpr`: repeated words stay apart and nothing is sorted by its letters.
"""

import json
import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import Any

import altair as alt
import pandas as pd

from dashboard.theme import Look, altair_theme
from dashboard.tokens import readable

EVIDENCE, OVERVIEW = 200, 260
FILE_WIDTH = 520
Domain = tuple[float, float]
TAU_TICKS = {(0.0, 1.0): [0, 0.25, 0.5, 0.75, 1], (-1.0, 1.0): [-1, -0.5, 0, 0.5, 1]}


class Drawn(alt.LayerChart):
    """Layers that are not held against Vega-Lite's schema each time a page shows them, which takes longer than the rest of
    drawing them: `to_spec` does, and with it every file and every test of a figure."""

    def to_dict(self, validate: bool = False, **settings: Any) -> dict[str, Any]:
        return super().to_dict(validate=validate, **settings)


def finished(
    layers: Sequence[Any], look: Look, *, height: float, alt_text: str, width: float = FILE_WIDTH, legend: bool = False
) -> Any:
    """The layers as one chart with height, alt text and theme; a width of its own only where it goes into a file.

    Heights and widths are given for a base font of 13 px and grow with it. On the screen a height includes axes and
    legend; a `legend` above the axis title is given its room.
    """
    height += 42 if legend and not look.export else 0
    size: dict[str, Any] = {"height": round(look.px(height))} | ({"width": round(look.px(width))} if look.export else {})
    return Drawn(layer=list(layers), description=alt_text, config=config(look), **size)


@cache
def config(look: Look) -> alt.Config:
    """The theme of a look; checked against Vega-Lite's schema once, which takes longer than drawing. Not to be changed."""
    return alt.Config.from_dict(altair_theme(look.mode, look.base, look.export))


def to_spec(chart: Any) -> dict[str, Any]:
    """The Vega-Lite specification, held against its schema, with as many rows as there are."""
    with alt.data_transformers.enable(max_rows=None):
        return dict(chart.to_dict(validate=True))


def tau_domain(lowest: float | None) -> Domain:
    """0 to 1 only where nothing lies below 0, else -1 to 1."""
    return (-1.0, 1.0) if lowest is None or lowest < 0 else (0.0, 1.0)


def value_axis(domain: Domain | None = None, **settings: Any) -> alt.Axis:
    """An axis of numbers: about five labels, as short as they can be; halves or quarters where the domain is tau's."""
    options: dict[str, Any] = {"tickCount": 5, "labelExpr": "format(datum.value, ',~g')", "grid": True}
    ticks = TAU_TICKS.get((float(domain[0]), float(domain[1]))) if domain else None
    return alt.Axis(**(options | ({"values": ticks} if ticks else {}) | settings))


def across(field: str, title: str | None, domain: Domain | None = None, *, zero: bool = False, **settings: Any) -> alt.X:
    """A horizontal axis of numbers that ends where its data or `domain` ends."""
    scale = alt.Scale(domain=list(domain), nice=False) if domain else alt.Scale(nice=False, zero=zero)
    return alt.X(f"{field}:Q", title=title, scale=scale, axis=value_axis(domain, **{"labelFlush": 6} | settings))


def upward(field: str, title: str | None, domain: Domain | None = None, **settings: Any) -> alt.Y:
    """A vertical axis of numbers."""
    scale = alt.Scale(domain=list(domain), nice=False) if domain else alt.Undefined
    return alt.Y(f"{field}:Q", title=title, scale=scale, axis=value_axis(domain, **settings))


def words_expr(words: Sequence[str]) -> str:
    """A Vega expression that turns a position on an axis into its word; JSON quoting keeps any text a string."""
    return f"{json.dumps([readable(word) for word in words])}[datum.value]"


def word_axis(words: Sequence[str], **settings: Any) -> alt.Axis:
    """An axis of words by position: every label, none dropped."""
    options: dict[str, Any] = {
        "labelExpr": words_expr(words),
        "labelOverlap": False,
        "title": None,
        "domain": False,
        "grid": False,
    }
    return alt.Axis(**(options | settings))


def legend(names: Sequence[str], look: Look, *, labels: Sequence[str] = (), **settings: Any) -> alt.Legend:
    """A legend of `names` in one line, in two columns or in one, as there is room for them beside the `labels` of rows.

    The room is reckoned from the width of the whole figure: that of the plot is known only when the legend has its height, and
    a row more would then be cut off.
    """
    beside = max((min(breadth(label, look), look.px(170)) for label in labels), default=look.px(26)) + 16
    entries = [breadth(name, look) + look.px(32) for name in names] or [0.0]
    room = f"(containerSize()[0] || width + {beside:.0f}) - {beside:.0f}"
    columns = f"{room} >= {sum(entries):.0f} ? 0 : {room} >= {2 * max(entries):.0f} ? 2 : 1"
    return alt.Legend(columns=alt.ExprRef(columns), **settings)


def above(names: Sequence[str], look: Look, **settings: Any) -> alt.Legend:
    """A legend that leaves room for the title of the vertical axis, which stands above it."""
    return legend(names, look, offset=look.base + look.px(18), **settings)


def tips(*fields: tuple[str, str, str | None]) -> list[alt.Tooltip]:
    """Tooltip lines from (field with type, title, format)."""
    return [alt.Tooltip(f, title=t, format=how) if how else alt.Tooltip(f, title=t) for f, t, how in fields]


def wide(char: str) -> bool:
    """Whether a character takes about an em, as Hangul does."""
    return unicodedata.east_asian_width(char) in ("W", "F")


def breadth(text: str, look: Look) -> float:
    """About how many pixels a line of text takes."""
    return look.base * sum(1.0 if wide(char) else 0.52 for char in text)


def this_case(at: float, label: str, domain: Domain, look: Look) -> list[Any]:
    """A single case in a distribution: an ink rule with a page-coloured halo, its label on the side that has room."""
    p = look.palette
    share = (at - domain[0]) / (domain[1] - domain[0])
    needed = 16 + breadth(label, look)
    full = f"{share:.4f} * width + {needed:.0f} > width"
    place: dict[str, Any] = {
        "align": alt.ExprRef(f"{full} ? 'right' : 'left'"),
        "dx": alt.ExprRef(f"{full} ? -8 : 8"),
        "dy": 6,
        "fontWeight": 600,
    }
    base = alt.Chart(pd.DataFrame({"at": [at], "label": [label]})).encode(x=alt.X("at:Q"))
    text = base.encode(y=alt.YValue(0), text=alt.Text("label:N"))
    return [
        base.mark_rule(color=p.page, strokeWidth=look.px(6)),
        base.mark_rule(color=p.ink, strokeWidth=look.px(2.5)),
        text.mark_text(stroke=p.page, strokeWidth=look.px(4), strokeJoin="round", **place),
        text.mark_text(**place),
    ]
