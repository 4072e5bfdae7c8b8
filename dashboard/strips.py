"""The same words with weights as a chart, for files and slides: boxes, gaps and colours are those of `tokens`.

A chart cannot wrap text, so `layout` does it: words are measured with the shipped font and set into lines with the
padding, gap and line height of the screen, in em. Only the line breaks differ from the screen. Glyphs the font lacks
(emoji, Arabic) are given a plausible width, and whatever font the machine has draws them.
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
from dashboard.theme import DIVERGING, FONTS, PRINT, SEQUENTIAL, Look, interpolate, side_color, text_on
from dashboard.tokens import Legend, Marks, Row, Tau, fill, largest_of, number, readable, right_to_left, scaled, spoken

PAD_X, PAD_Y, GAP, LINE, LONGEST = 0.42, 0.22, 0.18, 1.3, 14.0  # em of the words
FILES = {400: "Pretendard-Regular.otf", 600: "Pretendard-SemiBold.otf"}


@dataclass(frozen=True)
class Box:
    """A word's place in pixels, and the word as far as it fits."""

    x: float
    y: float
    width: float
    height: float
    text: str


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


def layout(words: Sequence[str], *, width: float, size: float, least: float = 0.0, below: float = 0.0) -> list[Box]:
    """A box for every word, set into lines of `width` pixels in words of `size` pixels.

    `least` is the smallest width of a word and `below` the height of the line of numbers under it, both in em. Text
    written from the right starts at the right.
    """
    boxes, x, y, height = [], 0.0, 0.0, size * (LINE + 2 * PAD_Y)
    for word in words:
        text = shortened(readable(word), LONGEST - 2 * PAD_X)
        wanted = max(text_width(text, size) + 2 * PAD_X * size, least * size)
        if x > 0 and x + wanted > width:
            x, y = 0.0, y + height + (below + GAP) * size
        boxes.append(Box(x, y, min(wanted, width), height, text))
        x += wanted + GAP * size
    if not right_to_left(words):
        return boxes
    return [Box(width - box.x - box.width, box.y, box.width, box.height, box.text) for box in boxes]


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


def word_shapes(box: Box, row: Row, share: float | None, states: Sequence[str], size: float, look: Look) -> list[Shape]:
    """One word: its box, its state, its text."""
    p = look.palette
    rect = Rect(box.x, box.y, box.x + box.width, box.y + box.height, radius=size / 4.5)
    center, middle = box.x + box.width / 2, box.y + box.height / 2
    shapes: list[Shape] = []
    color, text_size = p.ink, size
    if "special" in states:
        color, text_size = p.muted, 0.85 * size
    elif "masked" in states or share is None:
        shapes += hatching(rect, p.line)
        color = p.muted if "masked" in states else p.ink
    else:
        shade = fill(share, row.signed, look.mode)
        shapes.append(Rect(**(asdict(rect) | {"fill": shade})))
        color = text_on(shade)
    if "selected" in states or "forbidden" in states:
        out = {"x": rect.x - 2, "y": rect.y - 2, "x2": rect.x2 + 2, "y2": rect.y2 + 2, "stroke": p.ink}
        shapes.append(Rect(**(asdict(rect) | out | {"dashed": "selected" not in states})))
    shapes.append(Text(center, middle, box.text, text_size, color, align="center"))
    if "masked" in states:
        half = box.width / 2 - PAD_X * size
        shapes.append(bar(center - half, center + half, middle, 1, p.muted))
    return shapes


def moved(box: Box, x: float, y: float) -> Box:
    """The box at another place."""
    return Box(box.x + x, box.y + y, box.width, box.height, box.text)


def tau_shapes(tau: Tau, x: float, y: float, width: float, size: float, look: Look) -> list[Shape]:
    """An agreement as value, interval and both on a line from -1 to 1, its middle at `y`."""
    p = look.palette
    value, line = number(tau.value), y + 0.75 * size
    shapes: list[Shape] = [Text(x, y - 0.2 * size, value, 1.2 * size, p.ink, 600)]
    beside = x + text_width(value, 1.2 * size, 600) + 0.5 * size

    def at(share: float) -> float:
        return x + width * (min(max(share, -1.0), 1.0) + 1) / 2

    shapes.append(bar(x, x + width, line, 1, p.line))
    shapes.append(bar(at(0) - 0.5, at(0) + 0.5, line, 0.7 * size, p.ink))
    if tau.low is not None and tau.high is not None:
        shapes.append(Text(beside, y - 0.15 * size, f"{number(tau.low)} – {number(tau.high)}", size, p.muted))
        shapes.append(bar(at(tau.low), at(tau.high), line, 0.3 * size, p.muted))
    if tau.value is not None:
        dot = 0.36 * size
        shapes.append(Rect(at(tau.value) - dot, line - dot, at(tau.value) + dot, line + dot, p.ink, dot))
    for k, text in enumerate(wrapped(tau.text, width, size)):
        shapes.append(Text(x, line + (1.2 + 1.3 * k) * size, text, size, p.muted))
    return shapes


def legend_shapes(legends: Sequence[Legend], undefined: str, y: float, size: float, look: Look) -> list[Shape]:
    """The scales in one line, and the hatched box where something is undefined."""
    p = look.palette
    shapes: list[Shape] = []
    x, long, half = 0.0, 9 * size, 0.4 * size
    for legend in legends:
        stops = (DIVERGING if legend.signed else SEQUENTIAL)[look.mode]
        shapes.append(Text(x, y, legend.low, size, p.muted))
        x += text_width(legend.low, size) + 0.5 * size
        steps = 60
        for k in range(steps):
            # Each step reaches to the end and the next one covers it: no seams between them.
            shade = interpolate(stops, k / (steps - 1))
            shapes.append(Rect(x + long * k / steps, y - half, x + long, y + half, shade))
        x += long + 0.5 * size
        shapes.append(Text(x, y, legend.high, size, p.muted))
        x += text_width(legend.high, size) + 1.8 * size
    if undefined:
        shapes += hatching(Rect(x, y - half, x + 2 * size, y + half), p.line)
        shapes.append(Text(x + 2.5 * size, y, undefined, size, p.muted))
    return shapes


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
        return mark.encode(text="text:N", color=alt.Color("color:N", scale=None), **place)
    place |= {"x2": "x2:Q", "y2": "y2:Q"}
    if key[0] == "rule":
        return chart.mark_rule(color=key[1], strokeWidth=1).encode(**place)
    if key[2]:
        dash = [5, 3] if key[3] else [1, 0]
        outline = chart.mark_rect(filled=False, stroke=key[2], strokeWidth=2, strokeDash=dash, cornerRadius=key[1])
        return outline.encode(**place)
    return chart.mark_rect(cornerRadius=key[1], strokeWidth=0).encode(fill=alt.Fill("fill:N", scale=None), **place)


def strips_chart(
    rows: Sequence[Row],
    words: Sequence[str],
    *,
    legends: Sequence[Legend],
    undefined: str = "",
    numbers: bool = False,
    shared: bool = False,
    marks: Marks | None = None,
    width: float = 880,
    look: Look = PRINT,
) -> Any:
    """The figure of `tokens.strips_html` as a chart of `width` pixels: labels above their strips, legend at the foot."""
    p, marks = look.palette, marks or Marks()
    small, size = float(look.base), look.base * 1.3 if look.base < 20 else float(look.base)
    beside = 10.5 * small if any(row.tau or row.note for row in rows) else 0.0
    digits = max((len(number(w, r.decimals, r.signed)) for r in rows for w in r.weights), default=0)
    least, below = (0.5 * digits + 2 * PAD_X, 1.2) if numbers else (0.0, 0.0)
    boxes = layout(words, width=width - beside - 2 * small * bool(beside), size=size, least=least, below=below)
    depth = max((box.y + box.height for box in boxes), default=0.0) + below * size
    largest = largest_of(rows) if shared else None
    sub_x = max((text_width(row.label, 1.15 * small, 600) for row in rows), default=0.0) + 1.2 * small
    shapes: list[Shape] = []
    y = 0.0
    for row in rows:
        if row.label or row.sublabel:
            color = side_color(row.side, p) if row.side else p.ink
            shapes.append(Text(0, y + 0.8 * size, row.label, 1.15 * small, color, 600))
            shapes.append(Text(sub_x, y + 0.8 * size, row.sublabel, small, p.muted))
            y += 1.6 * size
        for i, (box, share) in enumerate(zip(boxes, scaled(row, largest), strict=True)):
            place = moved(box, 0, y)
            shapes += word_shapes(place, row, share, marks.states(i), size, look)
            if numbers:
                text = number(row.weights[i], row.decimals, row.signed)
                under = place.y + place.height + 0.6 * size
                shapes.append(Text(place.x + place.width / 2, under, text, 0.76 * size, p.muted, align="center"))
        middle = y + max(depth, 3 * small) / 2
        if row.tau:
            shapes += tau_shapes(row.tau, width - beside, middle - 0.3 * small, beside, small, look)
        elif row.note:
            lines = wrapped(row.note, beside, small)
            shapes += [
                Text(width - beside, middle + (k - (len(lines) - 1) / 2) * 1.35 * small, line, small, p.muted)
                for k, line in enumerate(lines)
            ]
        y += depth + 0.9 * size
    shapes += legend_shapes(legends, undefined, y + 0.5 * small, small, look)
    said = ". ".join(spoken(row, words, undefined or "–") for row in rows)
    return drawn(shapes, width, y + 1.2 * small, look, said)
