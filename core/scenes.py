"""Pictures whose truth is known: coloured shapes that the project draws, and the one caption that fits each.

Xu et al. (2015, §5.4) look at attention over photographs and judge by eye whether it lies on what the word names. Here the
picture is drawn, so the cells of the named object are known, and the judgement is a number.

A picture is 64 × 64 pixels, seen as 8 × 8 cells. An object is a shape in a colour at one of 7 × 7 places and fills exactly
2 × 2 cells; objects may touch and not overlap. The caption tells the objects from left to right (in one column from the top
down), each with its relation to the next: "left of" where it is at least as far to the left as it is above or below, else
"above" or "below". The Korean caption says the same from the other end, as the language does.

Nothing is seen twice: an object of one kind at one place (30 × 49 of them) belongs by its hash to training, validation or test.
A scene of test holds at least one object that training never had in that place; one of `new-kinds` holds a colour on a shape
that training never showed together at all.
"""

import json
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, pairwise, product
from math import cos, pi, sin
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from core.text import digest
from core.types import Refusal

Language = Literal["en", "ko"]
Split = Literal["train", "validation", "test", "new-kinds"]
Point = tuple[float, float]

CELL, GRID = 8, 8  # pixels of a cell; cells of a picture, across and down
SIZE, PLACES, MOST = CELL * GRID, GRID - 1, 3  # pixels of a picture; places across and down; objects of a scene
RADIUS = 7.2 / 8  # of a shape, in cells
LONGEST = 80  # letters of what was given that a refusal repeats
COLORS = {
    "red": (0.80, 0.16, 0.20),
    "blue": (0.13, 0.35, 0.78),
    "green": (0.16, 0.55, 0.24),
    "yellow": (0.93, 0.75, 0.10),
    "purple": (0.50, 0.24, 0.65),
    "black": (0.13, 0.14, 0.17),
}
PAPER = (0.95, 0.95, 0.93)


def _polygon(corners: int, inner: float = 1.0, turn: float = 0.0) -> tuple[Point, ...]:
    """Corners on the unit circle from the top, with those between them drawn in to `inner` where it is below 1."""
    steps = corners if inner == 1 else 2 * corners
    radii = [inner if inner < 1 and step % 2 else 1.0 for step in range(steps)]
    angles = [2 * pi * (step / steps + turn) for step in range(steps)]
    return tuple((r * sin(a), -r * cos(a)) for r, a in zip(radii, angles, strict=True))


_ARM = 0.36
OUTLINES: dict[str, tuple[Point, ...]] = {  # within -1 … 1, y downwards
    "circle": _polygon(48),
    "square": tuple((0.86 * x, 0.86 * y) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))),
    "triangle": ((0.0, -0.95), (1.0, 0.8), (-1.0, 0.8)),
    "star": _polygon(5, inner=0.42),
    "cross": tuple(
        (float(x), float(y))
        for x, y in (
            *((-_ARM, -1), (_ARM, -1), (_ARM, -_ARM), (1, -_ARM), (1, _ARM), (_ARM, _ARM)),
            *((_ARM, 1), (-_ARM, 1), (-_ARM, _ARM), (-1, _ARM), (-1, -_ARM), (-_ARM, -_ARM)),
        )
    ),
}
SHAPES = tuple(OUTLINES)
NEW_KINDS = (("red", "star"), ("blue", "triangle"), ("green", "circle"), ("purple", "square"))  # never trained on

KOREAN = {
    **{"red": "빨간", "blue": "파란", "green": "초록", "yellow": "노란", "purple": "보라", "black": "검은"},
    **{"circle": "원", "square": "사각형", "triangle": "삼각형", "star": "별", "cross": "십자"},
    **{"left": "왼쪽의", "above": "위의", "below": "아래의"},
}
RELATIONS: dict[str, tuple[str, ...]] = {"left": ("left", "of"), "above": ("above",), "below": ("below",)}
WORDS: dict[Language, tuple[str, ...]] = {
    "en": ("a", *COLORS, *SHAPES, *(word for words in RELATIONS.values() for word in words)),
    "ko": tuple(KOREAN.values()),
}


@dataclass(frozen=True)
class Thing:
    """An object of a scene: its shape and colour, and its place, columns and rows counted from 1 at the top left."""

    shape: str
    color: str
    column: int
    row: int

    @property
    def cells(self) -> tuple[int, ...]:
        """The four cells that it fills, counted row by row."""
        return tuple(GRID * row + column for row in (self.row - 1, self.row) for column in (self.column - 1, self.column))


Scene = tuple[Thing, ...]


@dataclass(frozen=True)
class Caption:
    """The words of a caption, and for each the place in the scene of the object that it names (-1: none, a relation)."""

    words: tuple[str, ...]
    things: tuple[int, ...]


def checked(things: Sequence[Thing]) -> Scene:
    """The scene, its objects from left to right. Refuses what cannot be drawn: unknown shapes and colours, places outside,
    none or too many, objects that overlap."""
    if not 1 <= len(things) <= MOST:
        sentence = f"The scene has {len(things)} objects; 1 to {MOST} are allowed."
        raise Refusal("scene_count", sentence, given=len(things), allowed=MOST)
    for thing in things:
        _check(thing)
    for one, other in combinations(things, 2):
        if abs(one.column - other.column) < 2 and abs(one.row - other.row) < 2:
            sentence = f"{_named(one)} and {_named(other)} overlap; they need two columns or two rows between them."
            raise Refusal("scene_overlap", sentence, one=_named(one), other=_named(other), pair=(one, other))
    return tuple(sorted(things, key=lambda thing: (thing.column, thing.row)))


def _check(thing: Thing) -> None:
    for what, given, allowed in (("shape", thing.shape, SHAPES), ("color", thing.color, tuple(COLORS))):
        if given not in allowed:
            sentence = f"{_short(given)} is no {what}; there are {', '.join(allowed)}."
            raise Refusal(f"scene_{what}", sentence, given=given[:LONGEST], allowed=allowed)
    for what, place in (("column", thing.column), ("row", thing.row)):
        if not 1 <= place <= PLACES:
            sentence = f"The {what} of {thing.color} {thing.shape} is {_short(place)}; 1 to {PLACES} is allowed."
            raise Refusal("scene_place", sentence, given=_short(place), allowed=PLACES)


def _named(thing: Thing) -> str:
    return f"{thing.color} {thing.shape} ({thing.column}, {thing.row})"


def from_json(text: str) -> Scene:
    """The scene that a text of JSON describes: {"objects": [{"shape", "color", "column", "row"}]}. Refuses all else."""
    form = '{"objects": [{"shape": "circle", "color": "red", "column": 2, "row": 3}]}'
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        reason = _short(error)
        raise Refusal("scene_json", f"The scene is no JSON ({reason}); allowed is {form}.", given=reason) from error
    objects = content.get("objects") if isinstance(content, dict) else None
    if not isinstance(objects, list):
        raise Refusal("scene_form", f"The scene has no list of objects; allowed is {form}.", given=text[:LONGEST])
    return checked([_thing(given, form) for given in objects])


def _thing(given: Any, form: str) -> Thing:
    keys: dict[str, type] = {"shape": str, "color": str, "column": int, "row": int}
    if not isinstance(given, dict) or set(given) != set(keys):
        raise Refusal("scene_form", f"An object is {_short(given)}; allowed is {form}.", given=_short(given))
    for key, kind in keys.items():
        if type(given[key]) is not kind:
            name = "text" if kind is str else "a whole number"
            sentence = f"The {key} of an object is {_short(given[key])}; it must be {name}."
            raise Refusal("scene_form", sentence, given=_short(given[key]))
    return Thing(**given)


def _short(given: object) -> str:
    """A value as it can stand in a sentence."""
    text = str(given) if isinstance(given, Exception) else repr(given)
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def relation(one: Thing, other: Thing) -> str:
    """How an object lies to one that is not left of it: "left", "above" or "below"."""
    across, down = other.column - one.column, other.row - one.row
    return "left" if across >= abs(down) else "above" if down > 0 else "below"


def caption(scene: Scene, language: Language = "en") -> Caption:
    """The caption of a checked scene.

    Korean says it from the other end: what comes first in English ("a red circle left of …") stands last.
    """
    named: list[tuple[tuple[str, ...], int]] = []
    between = [relation(one, other) for one, other in pairwise(scene)]
    if language == "en":
        for place, thing in enumerate(scene):
            named.append((("a", thing.color, thing.shape), place))
            named += [(RELATIONS[name], -1) for name in between[place : place + 1]]
    else:
        for place in reversed(range(len(scene))):
            named += [((KOREAN[name],), -1) for name in between[place : place + 1]]
            named.append(((KOREAN[scene[place].color], KOREAN[scene[place].shape]), place))
    pairs = [(word, place) for words, place in named for word in words]
    return Caption(tuple(word for word, _ in pairs), tuple(place for _, place in pairs))


@cache
def _stencil(shape: str, fine: int = 8) -> np.ndarray:
    """How much of each pixel of an object's square the shape covers, "pixel pixel", by fine × fine points in each."""
    side = 2 * CELL
    at = (np.arange(side * fine) + 0.5) / (CELL * fine) - 1
    x, y = np.meshgrid(at / RADIUS, at / RADIUS)
    inside = np.zeros_like(x, dtype=bool)
    corners = OUTLINES[shape]
    for (x0, y0), (x1, y1) in zip(corners, (*corners[1:], corners[0]), strict=True):
        if y0 != y1:  # even-odd rule: each edge that a ray to the right crosses turns inside out
            inside ^= ((y0 > y) != (y1 > y)) & (x < (x1 - x0) * (y - y0) / (y1 - y0) + x0)
    return inside.reshape(side, fine, side, fine).mean((1, 3))


def draw(scene: Sequence[Thing]) -> Tensor:
    """The picture, "channel row column", red, green and blue from 0 to 1, with smooth edges."""
    picture = np.empty((SIZE, SIZE, 3), dtype=np.float32)
    picture[:] = PAPER
    for thing in scene:
        top, left = CELL * (thing.row - 1), CELL * (thing.column - 1)
        patch = picture[top : top + 2 * CELL, left : left + 2 * CELL]
        patch += _stencil(thing.shape)[..., None] * (np.array(COLORS[thing.color]) - patch)
    return torch.from_numpy(picture.transpose(2, 0, 1).copy())


def share(weights: Tensor, thing: Thing) -> Tensor:
    """How much of the attention lies on an object's four cells; `weights` is "... cell"."""
    return weights[..., list(thing.cells)].sum(-1)


def part(thing: Thing) -> Split:
    """Where an object of its kind at its place belongs: a tenth to test, a tenth to validation, else to training."""
    if (thing.color, thing.shape) in NEW_KINDS:
        return "new-kinds"
    number = digest(f"{thing.color} {thing.shape} {thing.column} {thing.row}") % 10
    return "test" if number == 0 else "validation" if number == 1 else "train"


def split(scene: Scene) -> Split:
    """Where a scene belongs: to the strictest part that one of its objects belongs to."""
    order: tuple[Split, ...] = ("train", "validation", "test", "new-kinds")
    return max((part(thing) for thing in scene), key=order.index)


def scenes(which: Split, n: int, seed: int = 0) -> list[Scene]:
    """`n` different scenes of a split, drawn at random: one in ten with one object, the others with two or three."""
    rng = random.Random(f"{which} {seed}")
    found: dict[Scene, None] = {}
    for scene in _drawn(rng):
        if split(scene) == which:
            found[scene] = None
        if len(found) == n:
            break
    return list(found)


def _drawn(rng: random.Random) -> Iterator[Scene]:
    kinds = list(product(SHAPES, COLORS, range(1, PLACES + 1), range(1, PLACES + 1)))
    while True:
        count = rng.choices((1, 2, 3), (1, 4, 5))[0]
        try:
            yield checked([Thing(*rng.choice(kinds)) for _ in range(count)])
        except Refusal:  # they overlap
            continue
