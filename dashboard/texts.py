"""The words of the pages: one TOML file per page and language, beside `common.toml`, looked up by key.

A page never holds a sentence. It asks `t = texts.page("agreement", "ko")` and says `t("noise.short")`; a key that the page
does not have is looked up in `common.toml`. Values are filled in by name. Numbers reach a sentence as strings (`tokens.number`,
`count`, `p_value`), so that a minus is a minus, an undefined value is said to be undefined, and -0.00 is 0.00. Korean sentences
never put a particle directly behind a value, because its form depends on what the value ends in.
"""

import math
import string
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1] / "assets" / "texts"
MARKDOWN = frozenset("\\`*_{}[]()<>#+-.!|~$:&@^=")


@dataclass(frozen=True)
class Texts:
    """The words of one page in one language; called with a key and the values of its sentence."""

    lang: str
    words: Mapping[str, str]

    def __call__(self, key: str, /, **values: object) -> str:
        return self.words[key].format_map(values) if values else self.words[key]

    def has(self, key: str) -> bool:
        return key in self.words

    def label(self, name: str) -> str:
        """A label's name in the language; names that are data (entities of a story) stay as they are."""
        return self.words.get(f"label.{name}", name)


@cache
def page(name: str, lang: str) -> Texts:
    """The words of a page, with the common ones behind them."""
    return Texts(lang, {**catalogue("common", lang), **catalogue(name, lang)})


def catalogue(name: str, lang: str) -> dict[str, str]:
    """One file's words, keyed by their path through its tables ("frame.title")."""
    return dict(_flat("", tomllib.loads((ROOT / lang / f"{name}.toml").read_text("utf-8"))))


def placeholders(sentence: str) -> list[str]:
    """The names of the values that a sentence wants, sorted."""
    return sorted(name for _, name, _, _ in string.Formatter().parse(sentence) if name is not None)


def p_value(value: float | None) -> str:
    """A p-value as it is written in a sentence: "p = 0.013", "p < 0.001"."""
    return "p –" if value is None or not math.isfinite(value) else "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def count(value: int) -> str:
    """A count with commas between thousands."""
    return f"{value:,}"


def plain(value: object, longest: int = 80) -> str:
    """A value that a reader typed, safe inside Markdown: one line, no control characters, no markup, cut with an ellipsis."""
    line = " ".join("".join(c if c.isprintable() else " " for c in str(value)).split())
    cut = line[: longest - 1] + "…" if len(line) > longest else line
    return "".join(f"\\{c}" if c in MARKDOWN else c for c in cut)


def _flat(prefix: str, table: Mapping[str, object]) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for key, value in table.items():
        rows += _flat(f"{prefix}{key}.", value) if isinstance(value, Mapping) else [(f"{prefix}{key}", str(value).strip())]
    return rows
