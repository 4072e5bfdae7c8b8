"""How much attention must be erased before the decision flips, per sentence. Serrano & Smith 2019, §4 and §5."""

from collections.abc import Sequence

from torch import Tensor

from core.debate.erasure import ORDERS, SHUFFLES, removals, single_weights
from core.experiments.cases import Row, cases
from core.models.classifier import Classifier
from core.models.contributions import contributions
from core.types import Example

SEED = 0
SETTINGS: Row = {"shuffles": SHUFFLES, "shuffle_seed": SEED}


def erasure(model: Classifier, examples: Sequence[Example]) -> list[Row]:
    """One row per example: length, prediction, largest weight; the largest weight erased against a random other one (difference
    of the weights, both JSDs and their difference, whether the decision flips); the share of the words to erase in each order.

    A share is missing where the decision never flips; of the random orders it is the median, one that never flips counting as
    more than all words. All is missing for a text of one word.
    """
    batch = model.encode(examples)
    words = contributions(model, batch)
    single = single_weights(words, seed=SEED)
    weights, distances, flips = single.of(single.attention), single.of(single.jsd), single.of(single.flips)
    measured = {
        "delta_attention": weights[0] - weights[1],
        "top_jsd": distances[0],
        "other_jsd": distances[1],
        "delta_jsd": distances[0] - distances[1],
        "top_flipped": flips[0].double(),
        "other_flipped": flips[1].double(),
    }
    alone = words.lengths.cpu() < 2
    columns = {name: values.masked_fill(alone, float("nan")) for name, values in measured.items()}
    columns |= {f"{order}_fraction": middle(removals(words, order, seed=SEED).flips_at) for order in ORDERS}
    prob, largest = words.prob(words.attention).cpu(), single.attention.max(-1).values.tolist()
    return [
        {**case, **{name: float(values[i]) for name, values in columns.items()}}
        for i, case in enumerate(cases(batch, prob, largest))
    ]


def middle(flips_at: Tensor) -> Tensor:
    """The median over the draws of "batch draw", "batch"; a missing share counts as more than all words."""
    found = flips_at.nan_to_num(nan=float("inf")).median(-1).values
    return found.masked_fill(found.isinf(), float("nan"))
