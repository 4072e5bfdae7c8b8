"""Can what attribution finds be turned against the model? Triggers from attribution, Hao et al. 2021, Use Case 3.

If attribution tells what a model decides by, then what it points at in one text should move the decision on another. From each
training example the head with the largest attribution is taken, and of it the two best pairs of tokens. Their words are a
trigger for the label that was predicted there; put into other texts, at the same relative position in the same segment, they
should pull the model towards that label. Triggers are ranked by attribution on training examples, never by what they do:
choosing them by the measured drop would show how good a search is, not how good attribution is. Random words of like frequency
at the same places say how much of a drop any inserted words would cause.

As in the authors' code: the first pair always, the second only if it has at least 0.2 of the first one's attribution; special
tokens are dropped from the pairs; triggers are sorted by the sum of both attributions and kept from 0.02. Otherwise:
Gauss–Legendre nodes instead of a left sum; a piece stands for its whole word, in lower case, as the model reads it; relative
positions are counted without [CLS] (the code counts it where it reads and not where it inserts, one place off); the same words
are ranked once, where they have most.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from core import importance
from core.attattr.attribution import NODES, attribution
from core.models.transformer import Transformer
from core.types import Batch, Example

RATIO, LEAST = 0.2, 0.02
PAIRS = 2  # of tokens, in a trigger
TOP = 3  # triggers for each label
NEAR = 50  # words of like frequency that a random one is drawn from


@dataclass(frozen=True)
class Place:
    """Where a word goes: into the text (segment 0) or the query (1), `share` of the way from its start to its end."""

    word: str
    segment: int
    share: float  # 0 to 1


@dataclass(frozen=True)
class Trigger:
    """Words that speak for a label, in the order of the text they come from, and the attribution of their pairs."""

    label: int
    places: tuple[Place, ...]
    score: float
    layer: int
    head: int

    @property
    def words(self) -> tuple[str, ...]:
        """The words alone."""
        return tuple(place.word for place in self.places)


def pairs(matrix: Tensor) -> list[tuple[int, int, float]]:
    """The best two pairs of tokens in "query key" as (query, key, attribution), the second only if it has enough beside the
    first; none if nothing is positive."""
    values, index = matrix.flatten().topk(min(PAIRS, matrix.numel()))
    width, first = matrix.shape[1], float(values[0])
    found = [(int(i) // width, int(i) % width, float(v)) for v, i in zip(values, index, strict=True)]
    return [pair for pair in found if pair[2] > 0 and pair[2] >= RATIO * first]


def trigger(matrix: Tensor, word: Sequence[int], example: Example, label: int) -> Trigger | None:
    """The trigger in the attribution of one example, "layer head query key", whose tokens belong to `word` (-1: special).

    None where nothing is positive, or where the pairs hold special tokens alone.
    """
    layer, head = divmod(int(matrix.flatten(2).amax(-1).argmax()), matrix.shape[1])
    chosen = matrix[layer, head]
    found = pairs(chosen)
    words = sorted({word[token] for query, key, _ in found for token in (query, key)} - {-1})
    if not words:
        return None
    best = chosen.flatten().topk(min(PAIRS, chosen.numel())).values
    places = tuple(_place(example, number) for number in words)
    return Trigger(label, places, float(best.clamp(min=0).sum()), layer, head)


def _place(example: Example, word: int) -> Place:
    """Where a word stands, the query's words numbered on behind the text's."""
    n = len(example.text)
    segment = int(word >= n)
    part, at = (example.query, word - n) if segment else (example.text, word)
    return Place(part[at].lower(), segment, at / len(part))


def collect(model: Transformer, batch: Batch, *, nodes: int = NODES) -> list[Trigger]:
    """The triggers of a batch, each for the label that the model predicts there."""
    found = attribution(model, batch, nodes=nodes)
    with torch.no_grad():
        labels = model.run(batch).logits.argmax(-1).tolist()
    made = []
    for matrix, here, word, example, label in zip(
        found.attribution, batch.present, batch.word, batch.examples, labels, strict=True
    ):
        n = int(here.sum())
        made.append(trigger(matrix[:, :, :n, :n], word[:n].tolist(), example, label))
    return [one for one in made if one is not None]


def ranked(found: Iterable[Trigger], label: int, top: int = TOP) -> list[Trigger]:
    """The best triggers for a label by attribution, those below 0.02 left out, the same words once."""
    best: dict[frozenset[str], Trigger] = {}
    for one in sorted(found, key=lambda one: -one.score):
        if one.label == label and one.score >= LEAST:
            best.setdefault(frozenset(one.words), one)
    return list(best.values())[:top]


def inserted(example: Example, places: Sequence[Place]) -> Example:
    """The example with the words put in: each at its share of the way through its segment as it was, in their order."""
    text, query = (_with(part, [p for p in places if p.segment == i]) for i, part in enumerate((example.text, example.query)))
    return replace(example, text=text, query=query, evidence=())


def _with(words: Sequence[str], places: Sequence[Place]) -> tuple[str, ...]:
    made = list(words)
    for done, place in enumerate(sorted(places, key=lambda place: place.share)):
        made.insert(round(place.share * len(words)) + done, place.word)
    return tuple(made)


def positions(example: Example, places: Sequence[Place]) -> tuple[set[int], set[int]]:
    """Where the words stand once they are `inserted`, in the text and in the query."""
    found: tuple[set[int], set[int]] = (set(), set())
    for segment, part in enumerate((example.text, example.query)):
        own = sorted(place.share for place in places if place.segment == segment)
        found[segment].update(round(share * len(part)) + done for done, share in enumerate(own))
    return found


def frequencies(examples: Iterable[Example]) -> Counter[str]:
    """How often each word stands in the examples, in lower case."""
    return Counter(word.lower() for example in examples for word in (*example.text, *example.query))


def alike(places: Sequence[Place], counts: Counter[str], near: int = NEAR) -> list[list[str]]:
    """For each place the `near` words of the most like frequency, none of them one of the places' own."""
    own = {place.word for place in places}
    order = [word for word, _ in counts.most_common() if word not in own]
    found = []
    for place in places:
        rank = sum(counts[word] > counts[place.word] for word in order)
        start = min(max(0, rank - near // 2), max(0, len(order) - near))
        found.append(order[start : start + near])
    return found


def drawn(places: Sequence[Place], words: Sequence[Sequence[str]], generator: torch.Generator) -> tuple[Place, ...]:
    """The same places, each with one of its words by chance."""
    return tuple(
        replace(place, word=own[int(torch.randint(len(own), (), generator=generator))])
        for place, own in zip(places, words, strict=True)
    )


@torch.no_grad()
def predictions(model: Transformer, examples: Sequence[Example], size: int = 32) -> Tensor:
    """The probability of each label, "example label", texts of like length read together."""
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].text) + len(examples[i].query))
    found = torch.zeros(len(examples), len(model.card.task.labels))
    for start in range(0, len(order), size):
        rows = order[start : start + size]
        found[rows] = importance.probabilities(model.run(model.encode([examples[i] for i in rows])).logits).float().cpu()
    return found
