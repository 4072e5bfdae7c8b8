"""What triggers do to accuracy, per gold class, beside random words at the same places. Hao et al. 2021, Use Case 3.

Triggers come from training examples and are ranked there; the test split only measures them. A row is a trigger on the test
examples of one gold label. Random words are drawn anew for each test example.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch

from core import data
from core.attattr.attribution import NODES
from core.attattr.triggers import (
    LEAST,
    NEAR,
    RATIO,
    Place,
    Trigger,
    alike,
    collect,
    drawn,
    frequencies,
    inserted,
    predictions,
    ranked,
)
from core.experiments.cases import Row
from core.models.transformer import Transformer
from core.types import Example

SAMPLE = 500  # training examples that triggers are taken from, as in the authors' code
MOST = {"mnli": 1200}  # test examples, where the whole split would take more than a quarter of an hour on one core
WORDS_AT_ONCE = 512  # of training examples in a batch
WORD_SEED, DRAW_SEED = 0, 1
DRAWS = 5  # of random words that the table keeps, to be tried on a sentence
SETTINGS: Row = {
    "nodes": NODES,
    "training_examples": SAMPLE,
    "target": "predicted label",
    "second_pair_from_ratio": RATIO,
    "least_score": LEAST,
    "near": NEAR,
    "word_seed": WORD_SEED,
    "draw_seed": DRAW_SEED,
}


def triggers(model: Transformer, examples: Sequence[Example]) -> list[Row]:
    """One row per label, its best three triggers, and gold label: the trigger (words, places, attribution, head, a few draws of
    random words), how many of how many training examples gave one for that label, and on `n` test examples how many answers are
    right without it, with it, and with random words instead, and how many are the trigger's label with it."""
    source = model.card.task.name
    train = data.load(source, "train")
    sample = data.load(source, "train", limit=SAMPLE)
    found = extract(model, sample)
    counts = frequencies(train)
    before = predictions(model, examples).argmax(-1)
    rows: list[Row] = []
    for label in range(len(model.card.task.labels)):
        given = sum(one.label == label and one.score >= LEAST for one in found)
        for rank, one in enumerate(ranked(found, label), 1):
            with_it = predictions(model, [inserted(e, one.places) for e in examples]).argmax(-1)
            by_chance = predictions(model, with_random(one, examples, counts)).argmax(-1)
            said = {"rank": rank, **written(one), "draws": draws(one, counts), "given": given, "of": len(sample)}
            rows += [said | row for row in effects(examples, label, before, with_it, by_chance)]
    return rows


def extract(model: Transformer, sample: Sequence[Example]) -> list[Trigger]:
    """The trigger of each example that has one; texts of like length are read together."""
    order = sorted(sample, key=lambda e: len(e.text) + len(e.query))
    found: list[Trigger] = []
    while order:
        longest = len(order[-1].text) + len(order[-1].query)
        size = max(1, WORDS_AT_ONCE // longest)
        order, part = order[:-size], order[-size:]
        found += collect(model, model.encode(part))
    return found


def with_random(one: Trigger, examples: Sequence[Example], counts: Counter[str]) -> list[Example]:
    """The examples with random words of like frequency where the trigger's would stand, others in each."""
    generator = torch.Generator().manual_seed(WORD_SEED)
    words = alike(one.places, counts)
    return [inserted(example, drawn(one.places, words, generator)) for example in examples]


def draws(one: Trigger, counts: Counter[str]) -> str:
    """A few draws of random words for a trigger, a line each."""
    generator = torch.Generator().manual_seed(DRAW_SEED)
    words = alike(one.places, counts)
    return "\n".join(" ".join(place.word for place in drawn(one.places, words, generator)) for _ in range(DRAWS))


def effects(
    examples: Sequence[Example], label: int, before: torch.Tensor, with_it: torch.Tensor, by_chance: torch.Tensor
) -> list[Row]:
    """Counts for each gold label that there is."""
    rows = []
    gold = torch.tensor([e.label for e in examples])
    for own in sorted(set(gold.tolist())):
        part = gold == own
        right = {"before": before, "after": with_it, "random": by_chance}
        counted = {name: int((found[part] == own).sum()) for name, found in right.items()}
        rows.append({"gold": own, "n": int(part.sum()), **counted, "pulled": int((with_it[part] == label).sum())})
    return rows


def written(one: Trigger) -> Row:
    """A trigger as it stands in a table."""
    return {
        "label": one.label,
        "words": " ".join(one.words),
        "places": " ".join(f"{place.segment}@{place.share:.6f}" for place in one.places),
        "score": one.score,
        "layer": one.layer + 1,
        "head": one.head + 1,
    }


def read(row: Mapping[str, Any]) -> Trigger:
    """A trigger from a row of a table."""
    parts = [place.split("@") for place in str(row["places"]).split()]
    places = tuple(
        Place(word, int(segment), float(share)) for word, (segment, share) in zip(str(row["words"]).split(), parts, strict=True)
    )
    return Trigger(int(row["label"]), places, float(row["score"]), int(row["layer"]) - 1, int(row["head"]) - 1)


def read_draws(row: Mapping[str, Any]) -> list[tuple[Place, ...]]:
    """The draws of random words in a row of a table, at the trigger's places."""
    own = read(row).places
    lines = (line.split() for line in str(row["draws"]).split("\n"))
    return [tuple(replace(place, word=word) for place, word in zip(own, line, strict=True)) for line in lines]
