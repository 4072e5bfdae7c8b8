"""How far shuffled attention moves the prediction, per sentence. Jain & Wallace 2019, Algorithm 2."""

from collections.abc import Sequence

from core.debate.permutation import permutations
from core.experiments.cases import Row, cases
from core.models.classifier import Classifier
from core.types import Example

SHUFFLES, SHUFFLE_SEED = 100, 0  # as many as in the paper
QUANTILES = {"q05_tvd": 0.05, "q25_tvd": 0.25, "median_tvd": 0.5, "q75_tvd": 0.75, "q95_tvd": 0.95}
SETTINGS: Row = {"shuffles": SHUFFLES, "shuffle_seed": SHUFFLE_SEED}


def permutation(model: Classifier, examples: Sequence[Example]) -> list[Row]:
    """One row per example: length, prediction, largest weight, and quantiles and mean of the total variation distance over 100
    shuffles of its attention; `flipped` is the share of shuffles that change the predicted label.

    Jain & Wallace 2019, Algorithm 2.
    """
    batch = model.encode(examples)
    found = permutations(model, batch, n=SHUFFLES, seed=SHUFFLE_SEED)
    target = found.original.argmax(-1)
    flipped = (found.prob.argmax(-1) != target[:, None]).double().mean(-1)
    quantiles = {name: found.tvd.quantile(share, dim=-1) for name, share in QUANTILES.items()}
    return [
        {
            **case,
            **{name: float(values[i]) for name, values in quantiles.items()},
            "mean_tvd": float(found.tvd[i].mean()),
            "flipped": float(flipped[i]),
        }
        for i, case in enumerate(cases(batch, found.original, found.max_attention.tolist()))
    ]
