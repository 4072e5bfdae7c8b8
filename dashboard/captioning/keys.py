"""What the page keeps in the link besides language and mode: model, scene and word; and how a scene is written there.

A scene is its objects with a point between them, each as colour, shape, column and row: `red-circle-2-4.blue-square-5-3`. The
form holds what can be drawn; objects that overlap are for the page to refuse.
"""

from collections.abc import Mapping, Sequence

from core.scenes import COLORS, MOST, PLACES, SHAPES, Thing
from dashboard.codes import Codes

MODELS = {"soft": "scenes/soft", "doubly": "scenes/soft:doubly=1", "korean": "scenes/soft:language=ko"}
FIRST = "red-circle-2-4.blue-square-5-3.green-star-6-6"
LAST_WORD = 16
_THING = rf"({'|'.join(COLORS)})-({'|'.join(SHAPES)})-[1-{PLACES}]-[1-{PLACES}]"
SCENE = Codes(rf"{_THING}(\.{_THING}){{0,{MOST - 1}}}", FIRST, "yellow-cross-4-4")

KEYS: Mapping[str, Sequence[str]] = {
    "model": tuple(MODELS),
    "scene": SCENE,
    "word": ("2", *(str(place) for place in range(1, LAST_WORD + 1) if place != 2)),
}


def written(things: Sequence[Thing]) -> str:
    """The code of a scene."""
    return ".".join(f"{thing.color}-{thing.shape}-{thing.column}-{thing.row}" for thing in things)


def read(code: str) -> tuple[Thing, ...]:
    """The objects of a code of the form, in its order; they may overlap."""
    parts = (part.split("-") for part in code.split("."))
    return tuple(Thing(shape, color, int(column), int(row)) for color, shape, column, row in parts)
