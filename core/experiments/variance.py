"""How far the attention of other seeds is from the base's, per sentence. Wiegreffe & Pinter 2019, section 3.3."""

from collections.abc import Sequence

from core.debate.adversary import adversary
from core.debate.variance import apart, variance
from core.experiments.cases import Row, cases
from core.experiments.variants import obtain
from core.models.classifier import Classifier
from core.types import Example

SEEDS = range(1, 8)  # eight trainings with the base; the paper has eight besides its base
EPSILON = 0.01  # of the adversary beside them
SETTINGS: Row = {"seeds": list(SEEDS), "epsilon": EPSILON}


def seed_variance(model: Classifier, examples: Sequence[Example]) -> list[Row]:
    """One row per example: length, prediction, largest weight; JSD of each other seed's attention and TVD of its prediction
    to this model's, the median JSD, and the JSD that the exact adversary reaches."""
    batch = model.encode(examples)
    found = variance(model, [obtain(f"{model.card.name}:seed={seed}") for seed in SEEDS], batch)
    reached = adversary(model, batch, epsilon=EPSILON)
    middle, rows = apart(found), cases(batch, found.prob[0], found.attention[0].amax(-1).tolist())
    for i, row in enumerate(rows):
        for number, seed in enumerate(SEEDS, 1):
            row |= {f"seed_{seed}:jsd": float(found.jsd[number, i]), f"seed_{seed}:tvd": float(found.tvd[number, i])}
        row |= {"median_jsd": float(middle[i]), "adversary_jsd": reached[i].jsd[0]}
    return rows
