"""Shapes and text in pixels as one chart, and the width of text: what a figure needs that no axis describes.

Text is measured with the shipped font. Glyphs it lacks (emoji, Arabic) are given a plausible width, and whatever font the
machine has draws them.
"""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cache
from itertools import accumulate
from typing import Any, Literal

import altair as alt
import pandas as pd
from fontTools.ttLib import TTFont

from dashboard.axes import finished, wide
from dashboard.theme import FONTS, Look

FILES = {400: "Pretendard-Regular.otf", 600: "Pretendard-SemiBold.otf"}


@dataclass(frozen=True)
class Rect:
    """A rectangle in pixels; a border where `stroke`, dashed where `dashed`."""

    x: float
    y: float
    x2: float
    y2: float
    fill: str | None = None
    radius: float = 0.0
    stroke: str | None = None
    dashed: bool = False


@dataclass(frozen=True)
class Rule:
    """A line in pixels, beneath everything else."""

    x: float
    y: float
    x2: float
    y2: float
    color: str


@dataclass(frozen=True)
class Text:
    """A line of text around (x, y), vertically centred."""

    x: float
    y: float
    text: str
    size: float
    color: str
    weight: int = 400
    align: Literal["left", "center", "right"] = "left"


Shape = Rect | Rule | Text


@cache
def advances(weight: int) -> dict[int, float]:
    """The width in em of every character of the shipped font."""
    font = TTFont(FONTS / FILES[weight], lazy=True)
    widths, em = font["hmtx"].metrics, font["head"].unitsPerEm
    return {code: widths[name][0] / em for code, name in font.getBestCmap().items()}


def char_width(char: str, weight: int = 400) -> float:
    """The width of a character in em; a plausible one where the font lacks it."""
    known = advances(weight).get(ord(char))
    if known is not None:
        return known
    return 0.0 if unicodedata.category(char) in ("Mn", "Me", "Cf") else 1.25 if wide(char) else 0.62


def text_width(text: str, size: float, weight: int = 400) -> float:
    """The width of a line of text in pixels, without kerning."""
    return size * sum(char_width(char, weight) for char in text)


def shortened(text: str, limit: float) -> str:
    """As much of the text as fits into `limit` em, with an ellipsis where something is missing."""
    ends = list(accumulate(char_width(char) for char in text))
    if not ends or ends[-1] <= limit:
        return text
    room = limit - char_width("…")
    return text[: sum(end <= room for end in ends)] + "…"


def wrapped(text: str, width: float, size: float) -> list[str]:
    """Text broken at spaces into lines of at most `width` pixels."""
    lines: list[str] = []
    for word in re.sub(r"(?<=\d) %", "\u00a0%", text).split(" "):
        if lines and text_width(f"{lines[-1]} {word}", size) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def bar(x: float, x2: float, middle: float, thick: float, color: str) -> Rect:
    """A horizontal bar around a height."""
    return Rect(x, middle - thick / 2, x2, middle + thick / 2, color)


def hatching(box: Rect, color: str, step: float = 6.0) -> list[Shape]:
    """Diagonal lines within a box."""
    height, width = box.y2 - box.y, box.x2 - box.x
    lines: list[Shape] = []
    for k in range(1, int((width + height) / step) + 1):
        at = k * step
        start, end = max(0.0, at - height), min(width, at)
        lines.append(Rule(box.x + start, box.y + at - start, box.x + end, box.y + at - end, color))
    return lines


def drawn(shapes: Sequence[Shape], width: float, height: float, look: Look, alt_text: str) -> Any:
    """The shapes as one chart in pixels: rules, then rectangles, then text; those that look alike are one layer."""
    layers: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for shape in shapes:
        match shape:
            case Rect():
                key: tuple[Any, ...] = ("rect", shape.radius, shape.stroke, shape.dashed)
            case Rule():
                key = ("rule", shape.color)
            case Text():
                key = ("text", shape.size, shape.weight, shape.align)
        layers.setdefault(key, []).append(asdict(shape))
    x = {"scale": alt.Scale(domain=[0, width], nice=False, zero=False), "axis": None}
    y = {"scale": alt.Scale(domain=[height, 0], nice=False, zero=False), "axis": None}
    ordered = sorted(layers.items(), key=lambda item: ("rule", "rect", "text").index(item[0][0]))
    charts = [layer(alt.Chart(pd.DataFrame(rows)), key, x, y) for key, rows in ordered]
    scale = look.base / 13
    return finished(charts, look, height=height / scale, width=width / scale, alt_text=alt_text)


def layer(chart: alt.Chart, key: tuple[Any, ...], x: dict[str, Any], y: dict[str, Any]) -> Any:
    """Shapes that look alike."""
    place: dict[str, Any] = {"x": alt.X("x:Q", **x), "y": alt.Y("y:Q", **y)}
    if key[0] == "text":
        mark = chart.mark_text(fontSize=key[1], fontWeight=key[2], align=key[3], baseline="middle")
        return mark.encode(text=alt.Text("text:N"), color=alt.Color("color:N", scale=None), **place)
    place |= {"x2": "x2:Q", "y2": "y2:Q"}
    if key[0] == "rule":
        return chart.mark_rule(color=key[1], strokeWidth=1).encode(**place)
    if key[2]:
        dash = [5, 3] if key[3] else [1, 0]
        outline = chart.mark_rect(filled=False, stroke=key[2], strokeWidth=2, strokeDash=dash, cornerRadius=key[1])
        return outline.encode(**place)
    return chart.mark_rect(cornerRadius=key[1], strokeWidth=0).encode(fill=alt.Fill("fill:N", scale=None), **place)
