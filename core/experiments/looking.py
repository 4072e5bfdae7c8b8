"""Where captioners look, and whether their words need it: `looking`, a row for each scene.

Attention is read while the caption that fits is told, so that each word has its object, whatever the model would have written.
"""

from collections.abc import Sequence

import torch

from core.debate.looking import CELLS, CHANGES, NAMES, looked, shares, tried
from core.experiments.cases import Row
from core.interventions import permute, uniform
from core.models.captioner import Captioner
from core.scenes import Scene, caption, draw

SHUFFLE_SEED = 0
SETTINGS: Row = {"shuffle_seed": SHUFFLE_SEED, "cells": CELLS, "cells_of_an_object": 4}


@torch.no_grad()
def looking(model: Captioner, scenes: Sequence[Scene]) -> list[Row]:
    """objects; exact (the caption that fits was written), with uniform and with shuffled weights at every word; for the words
    that name an object, the mean share of attention on it (own), on the other objects (others) and on blank cells (blank), the
    own share for colours and shapes apart, and how often the most attended cell is its own (hit); and for each change of one
    word how often another word is said (changed:…) and how much probability it loses (fall:…).
    """
    order = torch.randperm(CELLS, generator=torch.Generator().manual_seed(SHUFFLE_SEED))[None]
    flat = uniform(torch.ones(1, CELLS, dtype=torch.bool))
    rows = []
    for scene in scenes:
        ways = {"exact": looked(model, scene), "exact_uniform": looked(model, scene, flat)}
        ways["exact_shuffled"] = looked(model, scene, permute(order))
        rows.append({"objects": len(scene), **{name: float(way.exact) for name, way in ways.items()}, **_words(model, scene)})
    return rows


def _words(model: Captioner, scene: Scene) -> Row:
    """Means over the words of the right caption that name an object."""
    right = caption(scene, model.language)
    attention = model.forced([draw(scene)], model.targets([right.words])).attention[0]
    on, own_cells = shares(attention, scene), [set(thing.cells) for thing in scene]
    found: dict[str, list[float]] = {}

    def note(name: str, value: float) -> None:
        found.setdefault(name, []).append(value)

    for at, (word, thing) in enumerate(zip(right.words, right.things, strict=True)):
        kind = next((kind for kind, words in NAMES.items() if word in words), None)
        if thing < 0 or kind is None:
            continue
        own, blank = float(on[at, thing]), float(on[at, -1])
        for name, value in (("own", own), ("blank", blank), ("others", 1 - own - blank), (f"own_{kind}", own)):
            note(name, value)
        note("hit", float(int(attention[at].argmax()) in own_cells[thing]))
        for one in tried(model, scene, right.words, at, thing, SHUFFLE_SEED):
            note(f"changed:{one.change}", float(one.says != word))
            note(f"fall:{one.change}", one.before - one.after)
    return {name: sum(values) / len(values) for name, values in found.items()}


COLUMNS = ("own", "others", "blank", "own_color", "own_shape", "hit", *(f"changed:{change}" for change in CHANGES))
