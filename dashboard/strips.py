"""The same words with weights as a chart, for files and slides: boxes, gaps and colours are those of `tokens`.

A chart cannot wrap text, so `layout` does it: words are measured with the shipped font and set into lines with the
padding, gap and line height of the screen, in em. Only the line breaks differ from the screen.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from dashboard.drawing import Rect, Shape, Text, bar, drawn, hatching, shortened, text_width, wrapped
from dashboard.theme import DIVERGING, PRINT, SEQUENTIAL, Look, interpolate, side_color, text_on
from dashboard.tokens import Legend, Marks, Row, Tau, Weight, fill, largest_of, number, readable, right_to_left, scaled, spoken

PART = "{first}–{last} / {n}"
PAD_X, PAD_Y, GAP, LINE, LONGEST = 0.42, 0.22, 0.18, 1.3, 14.0  # em of the words
PAGE_WIDTH, SLIDE_WIDTH = 880, 1120  # pixels
PAGE_LINES, SLIDE_LINES = 32, 16  # lines of words in all strips together: about a sheet of paper, and what a slide can show


@dataclass(frozen=True)
class Box:
    """A word's place in pixels, and the word as far as it fits."""

    x: float
    y: float
    width: float
    height: float
    text: str


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
        shapes.append(replace(rect, fill=shade))
        color = text_on(shade)
    if "selected" in states or "forbidden" in states:
        ring = replace(rect, x=rect.x - 2, y=rect.y - 2, x2=rect.x2 + 2, y2=rect.y2 + 2, stroke=p.ink)
        shapes.append(replace(ring, dashed="selected" not in states))
    shapes.append(Text(center, middle, box.text, text_size, color, align="center"))
    if "masked" in states:
        half = box.width / 2 - PAD_X * size
        shapes.append(bar(center - half, center + half, middle, 1, p.muted))
    return shapes


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


def strips_chart(
    rows: Sequence[Row],
    words: Sequence[str],
    *,
    legends: Sequence[Legend],
    undefined: str = "",
    numbers: bool = False,
    shared: bool = False,
    marks: Marks | None = None,
    part: str = PART,
    width: float | None = None,
    look: Look = PRINT,
) -> Any:
    """The figure of `tokens.strips_html` as a chart of `width` pixels, unless given what a page or a slide has: labels above
    their strips, legend at the foot.

    Of a text too long for that, the lines are drawn on which the first strip has most, scaled as in the whole text; `part`
    says which words those are, with {first}, {last} and {n}.
    """
    width = width or (SLIDE_WIDTH if look.base >= 20 else PAGE_WIDTH)
    small, size = float(look.base), look.base * 1.3 if look.base < 20 else float(look.base)
    beside = 10.5 * small if any(row.tau or row.note for row in rows) else 0.0
    digits = max((len(number(w, r.decimals, r.signed)) for r in rows for w in r.weights), default=0)
    least, below = (0.5 * digits + 2 * PAD_X, 1.2) if numbers else (0.0, 0.0)
    boxes = layout(words, width=width - beside - 2 * small * bool(beside), size=size, least=least, below=below)
    first, last = window(boxes, rows[0].weights, (SLIDE_LINES if look.base >= 20 else PAGE_LINES) // len(rows))
    boxes = [replace(box, y=box.y - boxes[first].y) for box in boxes[first:last]]
    depth = max((box.y + box.height for box in boxes), default=0.0) + below * size
    largest = largest_of(rows) if shared else None
    sub_x = max((text_width(row.label, 1.15 * small, 600) for row in rows), default=0.0) + 1.2 * small
    shapes: list[Shape] = []
    y = 0.0
    parts = [replace(row, weights=row.weights[first:last]) for row in rows]
    for row, cut in zip(rows, parts, strict=True):
        if row.label or row.sublabel:
            color = side_color(row.side, look.palette) if row.side else look.palette.ink
            shapes.append(Text(0, y + 0.8 * size, row.label, 1.15 * small, color, 600))
            shapes.append(Text(sub_x, y + 0.8 * size, row.sublabel, small, look.palette.muted))
            y += 1.6 * size
        placed = [replace(box, y=box.y + y) for box in boxes]
        states = [(marks or Marks()).of(row, i) for i in range(first, last)]
        shapes += row_shapes(
            cut, placed, scaled(row, largest, (marks or Marks()).special)[first:last], states, numbers, size, look
        )
        shapes += beside_shapes(row, width - beside, y + max(depth, 3 * small) / 2, beside, look)
        y += depth + 0.9 * size
    y = max(y, max((lowest(shape) for shape in shapes), default=0.0) + 0.4 * small)
    shapes += legend_shapes(legends, undefined, y + 0.5 * small, small, look)
    said = [spoken(row, words[first:last], undefined or "–") for row in parts]
    if last - first < len(words):
        which = part.format(first=first + 1, last=last, n=len(words))
        y += 1.7 * small
        shapes.append(Text(0, y + 0.5 * small, which, small, look.palette.muted))
        said.append(which)
    return drawn(shapes, width, y + 1.2 * small, look, ". ".join(said))


def window(boxes: Sequence[Box], weights: Sequence[Weight], lines: int) -> tuple[int, int]:
    """The words on the `lines` (one at least) next to each other that have the largest sum of |weight|: the first one's
    position and that behind the last."""
    starts = [i for i, box in enumerate(boxes) if i == 0 or box.y != boxes[i - 1].y] + [len(boxes)]
    lines = max(1, lines)
    if len(starts) - 1 <= lines:
        return 0, len(boxes)
    spans = [(starts[k], starts[k + lines]) for k in range(len(starts) - lines)]
    return max(spans, key=lambda span: sum(abs(w or 0.0) for w in weights[span[0] : span[1]]))


def lowest(shape: Shape) -> float:
    """Where a shape ends, in pixels from the top."""
    return shape.y + 0.6 * shape.size if isinstance(shape, Text) else shape.y2


def row_shapes(
    row: Row,
    boxes: Sequence[Box],
    shares: Sequence[float | None],
    states: Sequence[Sequence[str]],
    numbers: bool,
    size: float,
    look: Look,
) -> list[Shape]:
    """The words of one row, each with its number under it where wanted."""
    shapes: list[Shape] = []
    for i, (box, share) in enumerate(zip(boxes, shares, strict=True)):
        shapes += word_shapes(box, row, share, states[i], size, look)
        if numbers:
            text, under = number(row.weights[i], row.decimals, row.signed), box.y + box.height + 0.6 * size
            shapes.append(Text(box.x + box.width / 2, under, text, 0.76 * size, look.palette.muted, align="center"))
    return shapes


def beside_shapes(row: Row, x: float, middle: float, width: float, look: Look) -> list[Shape]:
    """What stands beside a strip: its agreement, else its note."""
    small = float(look.base)
    if row.tau:
        return tau_shapes(row.tau, x, middle - 0.3 * small, width, small, look)
    lines = wrapped(row.note, width, small) if row.note else []
    first = middle - (len(lines) - 1) / 2 * 1.35 * small
    return [Text(x, first + k * 1.35 * small, line, small, look.palette.muted) for k, line in enumerate(lines)]
