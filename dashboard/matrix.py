"""Matrices: every token against every token, or every head of every layer, as cells of a chart.

Cells are placed by position, never by letters, so that repeated words stay apart. Weights are cividis on paper, signed scores
purple and orange around zero. Special tokens ([CLS], [SEP]) are shown and are grey: their labels, and the cells of what attends
to them, whose darkness follows the same scale; the scale's end is the largest cell of a word, since a head that rests on [SEP]
would leave everything else blank. Streamlit draws more than 2,000 marks on a canvas, which no screen reader enters: a longer
text is shown in `part`, its special tokens and a stretch of words, and the page says so.
"""

from collections.abc import Collection, Sequence
from html import escape
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from dashboard import frames
from dashboard.axes import finished, tips, word_axis
from dashboard.theme import SCREEN, Look
from dashboard.tokens import readable

SHOWN = 40  # words of a matrix; with a few special tokens still below 2,000 cells
SIDE, LARGEST_CELL, SMALLEST_CELL = 460, 34, 15  # pixels of a token matrix, and of its cells
LABELS, ABOVE = 90, 58  # pixels for the words beside a matrix and for those on top of it
NARROW, CUT = 340, 0.66  # pixels of a chart, axes included, that leave little room for words; what of it they then get
SMALLEST, LETTERS = 7, 1.2  # font size of words on top, in pixels and in widths of their columns
GREY = (0.08, 0.8)  # opacity of a special token's cells, from nothing to the end of the scale


def part(weights: np.ndarray, special: Collection[int] = (), most: int = SHOWN) -> tuple[int, ...]:
    """The positions to show of a "query key" matrix: all `special` ones, and the stretch of `most` words that counts most.

    It counts by the sum of |cell| over its columns and rows.
    """
    words = [place for place in range(len(weights)) if place not in special]
    sizes = np.abs(weights)[np.ix_(words, words)]
    totals = np.concatenate([[0.0], np.cumsum(sizes.sum(0) + sizes.sum(1))])
    start = int(np.argmax(totals[most:] - totals[:-most])) if len(words) > most else 0
    return tuple(sorted([*words[start : start + most], *special]))


def cells(
    weights: np.ndarray, words: Sequence[str], special: Collection[int] = (), shown: Collection[int] = ()
) -> pd.DataFrame:
    """query, key, weight, query_word, key_word, special (whether the key is): one row a cell between the `shown` positions, or
    all."""
    frame = frames.matrix(weights, words, words)
    if shown:
        frame = frame[frame["query"].isin(shown) & frame["key"].isin(shown)].reset_index(drop=True)
    return frame.assign(special=frame["key"].isin(tuple(special)))


def top_of(*tables: pd.DataFrame) -> float:
    """The end of the scale that `cells` frames share: the largest |weight| on a word, of any token where there is no word."""
    table = pd.concat(tables)
    size = table["weight"].abs()
    return float(size[~table["special"]].max() if not table["special"].all() else size.max()) or 1.0


def strongest(frame: pd.DataFrame, k: int = 7) -> pd.DataFrame:
    """The k cells with the largest |weight|, largest first."""
    return frame.loc[frame["weight"].abs().sort_values(ascending=False, kind="stable").index[:k]]


def cell_of(count: int) -> int:
    """The height of a token matrix's rows in pixels: small texts have large cells."""
    return max(SMALLEST_CELL, min(LARGEST_CELL, SIDE // max(count, 1)))


def width_of(count: int, look: Look) -> int:
    """The width in pixels of the box in which the cells of a token matrix are square; a phone gives it less."""
    return round(look.px(LABELS + 14 + cell_of(count) * count))


def matrix(
    frame: pd.DataFrame,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    value: str,
    alt_text: str,
    x: str | None = None,
    y: str | None = None,
    special: Collection[int] = (),
    cell: float | None = None,
    turned: bool = True,
    upward: bool = False,
    signed: bool = False,
    largest: float | None = None,
    exponent: float = 1.0,
    decimals: int = 3,
    selected: tuple[int, int] | None = None,
    select: str = "",
    look: Look = SCREEN,
) -> Any:
    """Cells of a `cells` or `frames.matrix` frame. `rows` and `columns` are labels by position, also of positions not shown.

    Labels of columns are `turned` on top; rows begin at the bottom where `upward`. `largest` is the end of the scale,
    whose colours follow the power `exponent` of a cell (below 1: small ones are seen beside a large one; say so).
    `select` names a click selection with fields query and key; `selected` outlines a cell. A file has a legend, a page its own.
    """
    end = largest or float(frame["weight"].abs().max()) or 1.0
    sort: Any = "descending" if upward else "ascending"
    count, across = frame["query"].nunique(), frame["key"].nunique()
    top = _above(columns, x, special, across, look) if turned else word_axis(columns, title=x, labelAngle=0)
    wide = alt.X("key:O", axis=top)
    tall = alt.Y("query:O", sort=sort, axis=_beside(rows, y, special, turned, look))
    hover = tips(("query_word:N", y or "↓", None), ("key_word:N", x or "→", None))
    hover += tips(("weight:Q", value, f"{'+' if signed else ''}.{decimals}f"))
    spoken = frame["query_word"] + " → " + frame["key_word"] + frame["weight"].map(f": {{:.{decimals}f}}".format)
    base = alt.Chart(frame.assign(spoken=spoken)).encode(x=wide, y=tall, tooltip=hover, description=alt.Description("spoken:N"))
    domain, stops = [-end if signed else 0, end], list(look.palette.div if signed else look.palette.seq)
    scale = alt.Scale(type="pow", exponent=exponent, domain=domain, range=stops, clamp=True, interpolate="rgb")
    layers = _filled(base, frame, value, scale, look)
    if select:
        layers[0] = layers[0].add_params(alt.selection_point(name=select, fields=["query", "key"]))
    layers += _outlined(base, selected, look)
    side = cell or cell_of(count)
    edge = 0 if look.export else ABOVE + 14 if turned else 56
    return finished(layers, look, alt_text=alt_text, height=side * count + edge, width=side * across)


def _filled(base: Any, frame: pd.DataFrame, value: str, scale: alt.Scale, look: Look) -> list[Any]:
    """The cells in colour, and those of special tokens in grey."""
    low, end = scale["domain"]
    text = "format(datum.value, '.2~g')"
    place: dict[str, Any] = {"type": "gradient", "orient": "bottom", "offset": 12, "gradientLength": look.px(140)}
    expr = f"(datum.value > 0 ? '+' : '') + {text}" if low < 0 else text
    named = alt.Legend(title=value, labelExpr=expr, tickCount=3, **place)
    color = alt.Color("weight:Q", scale=scale, legend=named if look.export else None)
    if "special" not in frame or not frame["special"].any():
        return [base.mark_rect().encode(color=color)]
    dark = alt.ExprRef(f"{GREY[0]} + {GREY[1] - GREY[0]} * min(1, abs(datum.weight) / {end!r})")
    grey = base.transform_filter("datum.special").mark_rect(color=look.palette.muted).encode(opacity=alt.OpacityValue(dark))
    return [base.transform_filter("!datum.special").mark_rect().encode(color=color), grey]


def _outlined(base: Any, selected: tuple[int, int] | None, look: Look) -> list[Any]:
    """A ring around one cell that is visible on any colour."""
    if selected is None:
        return []
    chosen = base.transform_filter(f"datum.query == {selected[0]:d} && datum.key == {selected[1]:d}")
    rings = ((look.palette.page, look.px(5)), (look.palette.ink, look.px(2.5)))
    return [chosen.mark_rect(filled=False, stroke=color, strokeWidth=width) for color, width in rings]


def _colored(special: Collection[int], look: Look) -> Any:
    """Words in ink, special tokens muted."""
    p, test = look.palette, f"indexof({sorted(special)}, datum.value) >= 0"
    return {"condition": {"test": test, "value": p.muted}, "value": p.ink} if special else p.muted


def _above(words: Sequence[str], title: str | None, special: Collection[int], count: int, look: Look) -> alt.Axis:
    """Labels of columns, upright; on a phone as small as their columns are narrow."""
    size: Any = _small(look)
    if not look.export:
        column = f"(containerSize()[0] - {look.px(LABELS) * CUT:.0f}) / {max(count, 1)}"
        size = alt.ExprRef(f"min({size}, max({SMALLEST}, {LETTERS} * {column}))")
    over = {"orient": "top", "labelAngle": -90, "labelLimit": look.px(ABOVE), "labelAlign": "left", "labelBaseline": "middle"}
    return word_axis(words, title=title, labelFontSize=size, labelColor=_colored(special, look), **over)


def _beside(words: Sequence[str], title: str | None, special: Collection[int], turned: bool, look: Look) -> alt.Axis:
    """Labels of rows; where a phone has no room for long words they are cut sooner."""
    limit: Any = look.px(LABELS)
    if not look.export:
        limit = alt.ExprRef(f"containerSize()[0] < {NARROW} ? {look.px(LABELS) * CUT:.0f} : {look.px(LABELS):.0f}")
    # the title ends where the cells begin: beside narrow columns it would run into the name of the first one
    small = {"labelFontSize": _small(look), "labelColor": _colored(special, look)} if turned else {}
    small |= {"titleAlign": "right", "titleX": -look.px(6)} if turned else {}
    return word_axis(words, title=title, labelLimit=limit, **small)


def _small(look: Look) -> float:
    return max(9, look.base - 2)


def pairs_html(title: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]], empty: str = "") -> str:
    """A short table of cells, for reading without hovering: two tokens and numbers under `columns`, or why it is `empty`."""
    heads = "".join(f"<th>{escape(name)}</th>" for name in ("", *columns)) if rows else ""
    lines = "".join(
        f"<tr><td><bdi>{escape(readable(a))}</bdi> → <bdi>{escape(readable(b))}</bdi></td>"
        + "".join(f"<td>{escape(number)}</td>" for number in numbers)
        + "</tr>"
        for a, b, *numbers in rows
    )
    body = lines or f'<tr><td class="empty">{escape(empty)}</td></tr>'
    head = f"<caption>{escape(title)}</caption><thead><tr>{heads}</tr></thead>"
    return f'<table class="pairs" translate="no">{head}<tbody>{body}</tbody></table>'
