"""What the page keeps in the link besides language, mode and text: its keys with their codes, the default first."""

from collections.abc import Mapping, Sequence

from dashboard.mechanism.numbers import MOST, codes, vector_codes

TEMPERATURES = ("1", "0.25", "0.5", "2", "5")
DIMENSIONS = (2, 4, 8, 16, 32, 64, 128, 256, 512)
REACHES = ("2", "1", "3", "4", "5", "10")
SIGNALS = ("3", *(f"{quarter / 4:g}" for quarter in range(-16, 17) if quarter != 12))
LAST_STEP = 20  # of the translation, beyond the longest sentence

KEYS: Mapping[str, Sequence[str]] = {
    "chapter": ("steps", "six", "scaling", "windows", "heads", "trained", "picture"),
    "step": ("scores", "softmax", "sum"),
    "temperature": TEMPERATURES,
    "numbers": codes(4),
    "query": vector_codes(2),
    "score": ("additive", "dot", "scaled-dot", "general", "cosine", "location"),
    "dimension": ("64", *(str(dimension) for dimension in DIMENSIONS if dimension != 64)),
    "words": ("10", "4", "50"),
    "reach": REACHES,
    "place": ("", *map(str, range(1, LAST_STEP + 1))),
    "signal": SIGNALS,
    "vectors": codes(3),
    "asks": tuple(map(str, range(1, MOST + 1))),
    "head": ("1", "2"),
    "doubt": ("zero", "cancel"),
}
