"""Words with weights: the one picture this whole debate is about, as HTML for the screen.

A figure is a grid of label | words | agreement. Every word is its own box, in the order of the text, repeated words and
punctuation included; every strip of a figure gives a word the same width, so the strips wrap alike and the eye can go
down a column. A row is scaled by its own largest |weight| unless `shared`, and the legend says which. An undefined
weight is hatched and shown as a dash, never as zero. Everything a user wrote passes `html.escape`.
"""

import math
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from html import escape

import pandas as pd

from dashboard.theme import DIVERGING, SEQUENTIAL, Mode, Side, css_gradient, css_pair, diverging, ramp, text_on

HATCHED = "undefined"
Weight = float | None


@dataclass(frozen=True)
class Tau:
    """An agreement beside a strip: value and interval in -1..1, None where undefined; `text` stands below (p, n, why)."""

    value: float | None
    low: float | None = None
    high: float | None = None
    text: str = ""


@dataclass(frozen=True)
class Row:
    """One strip: its name, one weight a word (None: undefined), and what stands beside it (`tau`, else `note`).

    The words at `masked` are struck out in this strip alone.
    """

    label: str
    weights: Sequence[Weight]
    sublabel: str = ""
    signed: bool = False
    side: Side | None = None
    tau: Tau | None = None
    note: str = ""
    decimals: int = 2
    masked: Collection[int] = ()


@dataclass(frozen=True)
class Marks:
    """Positions of words in a state that every strip shows."""

    selected: Collection[int] = field(default_factory=frozenset)
    forbidden: Collection[int] = field(default_factory=frozenset)
    masked: Collection[int] = field(default_factory=frozenset)
    special: Collection[int] = field(default_factory=frozenset)

    def states(self, position: int) -> list[str]:
        """The names of the states of a word."""
        return [name for name in ("selected", "forbidden", "masked", "special") if position in getattr(self, name)]

    def of(self, row: "Row", position: int) -> list[str]:
        """The same for a word in one strip, which may strike out words of its own."""
        states = self.states(position)
        return [*states, "masked"] if position in row.masked and "masked" not in states else states


@dataclass(frozen=True)
class Legend:
    """The two ends of a scale in words, such as "0" and "largest in the row"."""

    low: str
    high: str
    signed: bool = False


def number(value: float | None, decimals: int = 2, sign: bool = False) -> str:
    """`value` with a true minus and never a negative zero; a dash where undefined."""
    if value is None or not math.isfinite(value):
        return "–"
    text = f"{abs(value):.{decimals}f}"
    zero = not text.strip("0.")
    return text if zero else f"{'−' if value < 0 else '+' if sign else ''}{text}"


def fine(value: float) -> str:
    """A contribution with its sign, to as many decimals as it needs."""
    return number(value, 3 if abs(value) >= 0.0005 or value == 0 else 5, sign=True)


def defined(weights: Sequence[Weight]) -> list[float]:
    """The weights that are numbers."""
    return [w for w in weights if w is not None and math.isfinite(w)]


def scaled(row: Row, largest: float | None = None, special: Collection[int] = ()) -> list[Weight]:
    """Weights as shares of the largest |weight| (of the row's words that are not `special` unless given): 0..1, or -1..1 where
    signed."""
    own = [w for place, w in enumerate(row.weights) if place not in special]
    top = largest or max((abs(w) for w in defined(own)), default=0.0) or 1.0
    shares = [None if w is None or not math.isfinite(w) else w / top for w in row.weights]
    return [s if s is None or row.signed else abs(s) for s in shares]


def largest_of(rows: Sequence[Row]) -> float | None:
    """The largest |weight| of all rows: the scale that strips share."""
    return max((abs(w) for row in rows for w in defined(row.weights)), default=None)


def fill(share: float, signed: bool, mode: Mode) -> str:
    """The colour of a scaled weight."""
    return diverging(share, mode) if signed else ramp(share, mode)


def readable(word: str) -> str:
    """The word as it can be shown: controls become a white square, and nothing stays empty."""
    shown = "".join("□" if unicodedata.category(c) in ("Cc", "Cs") else c for c in word)
    return shown if shown.strip() else "\u00a0"


def nth(words: Sequence[str], place: int) -> str:
    """The word at a place as it can be shown; of several alike, which of them it is, since a list has no columns to tell."""
    alike = [i for i, word in enumerate(words) if word == words[place]]
    return readable(words[place]) + (f" ({alike.index(place) + 1})" if len(alike) > 1 else "")


def right_to_left(words: Sequence[str]) -> bool:
    """Whether most letters are of a script written from the right."""
    kinds = [unicodedata.bidirectional(c) for word in words for c in word]
    return kinds.count("R") + kinds.count("AL") > kinds.count("L")


def word_html(word: str, weight: Weight, share: Weight, row: Row, states: Sequence[str], shown: str | None) -> str:
    """One box; `shown` is the number below it, None to leave the line out."""
    style = ""
    if share is not None and "special" not in states and "masked" not in states:
        light, dark = fill(share, row.signed, "light"), fill(share, row.signed, "dark")
        style = f' style="background:{css_pair(light, dark)};color:{css_pair(text_on(light), text_on(dark))}"'
    names = " ".join(["cell", *states, *([HATCHED] if share is None and "masked" not in states else [])])
    text = escape(readable(word))
    title = f"{text}  {number(weight, max(row.decimals, 3), row.signed)}"
    below = "" if shown is None else f'<span class="figure">{shown}</span>'
    return f'<span class="word"><bdi class="{names}" title="{title}"{style}>{text}</bdi>{below}</span>'


def spoken(row: Row, words: Sequence[str], undefined: str) -> str:
    """The strip as a list to listen to: every word with its number."""
    numbers = (number(w, row.decimals, row.signed) if w is not None else undefined for w in row.weights)
    pairs = ", ".join(f"{readable(word)} {n}" for word, n in zip(words, numbers, strict=True))
    return f"{row.label}: {pairs}"


def strip_html(
    row: Row, words: Sequence[str], marks: Marks, largest: float | None, numbers: bool, language: str, undefined: str
) -> str:
    """The words of one row as a wrapping line of boxes with a spoken description."""
    shares = scaled(row, largest, marks.special)
    cells = "".join(
        word_html(word, weight, share, row, marks.of(row, i), number(weight, row.decimals, row.signed) if numbers else None)
        for i, (word, weight, share) in enumerate(zip(words, row.weights, shares, strict=True))
    )
    direction = ' dir="rtl"' if right_to_left(words) else ""
    spoken_list = escape(spoken(row, words, undefined))
    return (
        f'<div class="strip" role="img" aria-label="{spoken_list}" lang="{escape(language)}" translate="no"{direction}>'
        f"{cells}</div>"
    )


def strips_html(
    rows: Sequence[Row],
    words: Sequence[str],
    *,
    language: str = "en",
    numbers: bool = False,
    shared: bool = False,
    marks: Marks | None = None,
    undefined: str = "–",
) -> str:
    """The figure: a grid of label | words | agreement, one line a row. `language` is that of the words.

    Raises ValueError where a row does not have one weight a word.
    """
    for row in rows:
        if len(row.weights) != len(words):
            raise ValueError(f"{row.label!r} has {len(row.weights)} weights for {len(words)} words; give one a word.")
    largest = largest_of(rows) if shared else None
    beside, bare = any(row.tau or row.note for row in rows), not any(row.label or row.sublabel for row in rows)
    digits = max((len(number(w, r.decimals, r.signed)) for r in rows for w in r.weights), default=0)
    lines = []
    for row in rows:
        strip = strip_html(row, words, marks or Marks(), largest, numbers, language, undefined)
        side = f" {row.side}" if row.side else ""
        sub = f"<span>{escape(row.sublabel)}</span>" if row.sublabel else ""
        name = "" if bare else f'<div class="name{side}"><b>{escape(row.label)}</b>{sub}</div>'
        lines.append(name + strip)
        if beside:
            note = f'<div class="note">{escape(row.note)}</div>' if row.note else '<div class="note"></div>'
            lines.append(tau_html(row.tau) if row.tau else note)
    names = " ".join(["strips", *["beside"] * beside, *["bare"] * bare, *["numbers"] * numbers])
    return f'<div class="{names}" style="--digits:{max(2.9, 0.52 * digits):.2f}em">{"".join(lines)}</div>'


def legend_html(legends: Sequence[Legend], undefined: str = "") -> str:
    """The scales of a figure, to stand above it; `undefined` names the hatched box where there is one."""
    parts = []
    for legend in legends:
        gradient = css_gradient(DIVERGING if legend.signed else SEQUENTIAL)
        parts.append(
            f'<span class="scale">{escape(legend.low)}<i class="gradient" style="background:{gradient}"></i>'
            f"{escape(legend.high)}</span>"
        )
    if undefined:
        parts.append(f'<span class="scale"><i class="cell {HATCHED}"></i>{escape(undefined)}</span>')
    return f'<div class="legend">{"".join(parts)}</div>'


def percent(value: float, low: float = -1.0, high: float = 1.0) -> str:
    """Where `value` lies between `low` and `high`, as a CSS length."""
    return f"{100 * (min(max(value, low), high) - low) / (high - low):.1f}%"


def tau_html(tau: Tau) -> str:
    """An agreement: value, interval, and both on a line from -1 to 1 with a tick at 0."""
    muted, marks = "", '<i class="tick"></i>'
    if tau.low is not None and tau.high is not None:
        muted = f"<span>{number(tau.low)} – {number(tau.high)}</span>"
        width = f"{50 * (min(tau.high, 1) - max(tau.low, -1)):.1f}%"
        marks += f'<i class="interval" style="left:{percent(tau.low)};width:{width}"></i>'
    if tau.value is not None:
        marks += f'<i class="dot" style="left:{percent(tau.value)}"></i>'
    text = f"<p>{escape(tau.text)}</p>" if tau.text else ""
    axis = f'<div class="axis" aria-hidden="true">{marks}</div>'
    return f'<div class="tau"><b>{number(tau.value)}</b> {muted}{axis}{text}</div>'


def prediction_html(label: str, name: str, prob: float, rest: str = "") -> str:
    """A prediction as words and an ink bar; `rest` names the other labels in a tooltip."""
    return (
        f'<div class="prediction" title="{escape(rest)}"><span>{escape(label)}</span> '
        f'<b>{escape(name)} {number(prob)}</b> <i class="bar" aria-hidden="true">'
        f'<i style="width:{percent(prob, 0.0)}"></i></i></div>'
    )


def lede_html(text: str) -> str:
    """The one sentence under the title."""
    return f'<p class="lede">{escape(text)}</p>'


def kicker_html(side: Side | None, text: str) -> str:
    """Side and paper above the title, with the side's shape: square for the charge, circle for the defence."""
    return f'<div class="kicker {side or "neutral"}"><i aria-hidden="true"></i>{escape(text)}</div>'


def argument_html(side: Side | None, heading: str, text: str) -> str:
    """One box of the argument: a border and a heading in the side's colour, then at most 160 characters."""
    return f'<div class="argument {side or "neutral"}"><b>{escape(heading)}</b><p>{escape(text)}</p></div>'


def veil_html(sentence: str, height: str = "8rem") -> str:
    """What hides a result until a prediction is made, in its exact place and height."""
    return f'<div class="veil" style="min-height:{escape(height)}"><span>{escape(sentence)}</span></div>'


def big_number_html(label: str, value: str, side: Side | None = None) -> str:
    """One number that matters, under its name; at most two a page."""
    return f'<div class="big {side or "neutral"}"><span>{escape(label)}</span><b>{escape(value)}</b></div>'


def pairs_html(title: str, pairs: Sequence[tuple[str, str, float]], decimals: int = 2) -> str:
    """The strongest pairs of a matrix as a short table: reading it without hovering."""
    lines = "".join(
        f"<tr><td><bdi>{escape(readable(a))}</bdi> → <bdi>{escape(readable(b))}</bdi></td><td>{number(v, decimals)}</td></tr>"
        for a, b, v in pairs
    )
    return f'<table class="pairs" translate="no"><caption>{escape(title)}</caption><tbody>{lines}</tbody></table>'


def table(rows: Sequence[Row], words: Sequence[str], *, position: str = "position", word: str = "word") -> pd.DataFrame:
    """The figure as numbers: one line a word, one column a strip; undefined stays empty."""
    columns = {row.label: pd.array([None if w is None else float(w) for w in row.weights], "Float64") for row in rows}
    return pd.DataFrame({position: range(1, len(words) + 1), word: [readable(w) for w in words], **columns})
