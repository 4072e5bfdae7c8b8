"""Does a word need where the model looks? Captions of scenes whose truth is known, with attention and picture changed.

Xu et al. (2015, §5.4) show where attention lies while a word is said and take it for what the word is said of. Here the named
object is known, so two things can be asked apart: does attention lie on it (`shares`), and does the word change when attention
is kept off it, spread out, shuffled, or when the object itself is painted over (`tried`)? The first is a picture, the second
the question of this debate.

A change of attention at one word leaves all others as they were. Annotations stay as they are, so what a cell knows of its
neighbours stays too; only painting over takes away the cause.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.interventions import erase, keep, permute, uniform
from core.models.captioner import Captioner
from core.models.decoder import Source
from core.models.vocabulary import START
from core.scenes import COLORS, GRID, KOREAN, SHAPES, Scene, Thing, caption, draw
from core.types import Intervention

CELLS = GRID * GRID
CHANGES = ("uniform", "shuffled", "kept_off", "painted_over")  # of one word: three of attention, one of the picture
NAMES = {"color": {*COLORS, *(KOREAN[c] for c in COLORS)}, "shape": {*SHAPES, *(KOREAN[s] for s in SHAPES)}}


@dataclass(frozen=True)
class Looked:
    """A caption as the model writes it. `things` are the places in the scene of the objects that its words name, -1 where none
    (a relation, "a") or no object fits; attention has a last row for the end of the caption."""

    words: tuple[str, ...]
    things: tuple[int, ...]
    right: tuple[str, ...]  # the caption that fits
    prob: tuple[float, ...]  # of each written word
    attention: Tensor  # "output cell"

    @property
    def exact(self) -> bool:
        """Whether it is the caption that fits."""
        return self.words == self.right


@dataclass(frozen=True)
class Tried:
    """One word under one change: its probability before and after, and what would be said instead."""

    change: str
    before: float
    after: float
    says: str


def looked(model: Captioner, scene: Scene, intervene: Intervention = keep) -> Looked:
    """What the model writes of a scene by itself, its attention changed at every word."""
    run = model.written([draw(scene)], intervene=intervene)
    words = model.words(run.ids[0].tolist())
    prob = run.logits[0].softmax(-1).gather(-1, run.ids[0][:, None])[: len(words), 0]
    right = caption(scene, model.language)
    things = right.things if words == right.words else matched(words, scene)
    return Looked(words, things, right.words, tuple(prob.tolist()), run.attention[0])


def matched(words: Sequence[str], scene: Scene) -> tuple[int, ...]:
    """For each word of any caption the place of the object that it and its neighbour name by colour and shape, else -1."""
    found, left = [-1] * len(words), list(range(len(scene)))
    for at in range(len(words) - 1):
        pair = words[at : at + 2]
        place = next((i for i in left if tuple(pair) in _kinds(scene[i])), None)
        if place is not None:
            found[at] = found[at + 1] = place
            left.remove(place)
    return tuple(found)


def shares(attention: Tensor, scene: Scene) -> Tensor:
    """How much of each row lies on each object, and last on no object: "output object+1"; `attention` is "output cell"."""
    on = torch.stack([attention[:, list(thing.cells)].sum(-1) for thing in scene], -1)
    return torch.cat([on, attention.sum(-1, keepdim=True) - on.sum(-1, keepdim=True)], -1)


def tried(model: Captioner, scene: Scene, words: Sequence[str], at: int, thing: int, seed: int = 0) -> list[Tried]:
    """Each of `CHANGES` at the word `at` of a caption, whose object stands at place `thing` in the scene; the words before are
    told as they stand.

    uniform: every cell 1/64; shuffled: the same weights on other cells; kept_off: no weight on the object's cells, the rest
    scaled up; painted_over: attention is the model's own, over the picture without the object.
    """
    source = model.source([draw(scene)])
    without = model.source([draw([other for place, other in enumerate(scene) if place != thing])])
    cells = torch.zeros(1, CELLS, dtype=torch.bool)
    cells[0, list(scene[thing].cells)] = True
    order = torch.randperm(CELLS, generator=torch.Generator().manual_seed(seed))[None]
    ways: Mapping[str, tuple[Source, Intervention]] = {
        "uniform": (source, uniform(source.mask)),
        "shuffled": (source, permute(order)),
        "kept_off": (source, erase(cells)),
        "painted_over": (without, keep),
    }
    ids = model.targets([words])[0]
    state, previous = _told(model, source, ids[:at])
    before = _next(model, source, state, previous, keep)
    found = []
    for change in CHANGES:
        read, intervene = ways[change]
        begin = _told(model, read, ids[:at]) if read is without else (state, previous)
        after = _next(model, read, *begin, intervene)
        said = model.words([int(after.argmax())])
        word = int(ids[at])
        found.append(Tried(change, float(before[word]), float(after[word]), said[0] if said else ""))
    return found


@torch.no_grad()
def _told(model: Captioner, source: Source, ids: Tensor) -> tuple[Tensor, Tensor]:
    """State and embedding of the last output after the model was told `ids`, "1 dim"."""
    decoder = model.decoder
    state, before = decoder.start(source), [START, *ids.tolist()]
    for token in before[:-1]:
        state = decoder.step(source, state, decoder.embedding(torch.tensor([token]))).state
    return state, decoder.embedding(torch.tensor(before[-1:]))


@torch.no_grad()
def _next(model: Captioner, source: Source, state: Tensor, previous: Tensor, intervene: Intervention) -> Tensor:
    """Probabilities of the next output, "token"."""
    step = model.decoder.step(source, state, previous, intervene=intervene)
    return model.decoder.logits(step.state, step.context, previous)[0].softmax(-1)


def _kinds(thing: Thing) -> tuple[tuple[str, str], tuple[str, str]]:
    return (thing.color, thing.shape), (KOREAN[thing.color], KOREAN[thing.shape])
