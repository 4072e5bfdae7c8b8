"""Codes of a link that are too many to be listed, such as the words that a reader marked.

A page's own key names its allowed codes, the default first (`shell.Page`). `Codes` is such a list for which more is allowed
than stands in it: everything of a form.

Marked words travel as positions behind four signs of their text (`9c41.3.8`), so that they are never held against another
text. The four signs alone say that the reader passed.
"""

import re
from collections.abc import Collection, Sequence

from core.text import digest


class Codes(tuple[str, ...]):
    """The default and an example, and all codes of a form."""

    form: re.Pattern[str]

    def __new__(cls, form: str, *examples: str) -> "Codes":
        made = super().__new__(cls, examples)
        made.form = re.compile(form)
        return made

    def __contains__(self, code: object) -> bool:
        return isinstance(code, str) and (code in tuple(self) or self.form.fullmatch(code) is not None)


MARKED = Codes(r"[0-9a-f]{4}(\.[0-9]{1,4}){0,600}", "", "9c41.3.8")


def stamp(words: Sequence[str]) -> str:
    """Four signs that tell a text from nearly all others."""
    return f"{digest(' '.join(words)) % 2**16:04x}"


def written(words: Sequence[str], marked: Collection[int]) -> str:
    """The code of marked words; of none where the reader passed."""
    return ".".join([stamp(words), *map(str, sorted(marked))])


def read(words: Sequence[str], code: str) -> tuple[int, ...] | None:
    """The marked positions in order, none where the reader passed; None where the code is about another text."""
    sign, *places = code.split(".")
    marked = sorted({int(place) for place in places})
    return tuple(marked) if sign == stamp(words) and all(place < len(words) for place in marked) else None
