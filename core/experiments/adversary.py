"""How far attention can move while the prediction stays, per sentence. Jain & Wallace 2019, Algorithm 3."""

from collections.abc import Sequence

import torch

from core import importance
from core.debate.adversary import EPSILON, adversary
from core.experiments.cases import Row, cases
from core.models.classifier import Classifier
from core.types import Example

LOOSE, SEARCH_SEED = 0.05, 0  # the epsilon at which the published ε-max JSD were selected, whatever the task
SETTINGS: Row = {"epsilon": EPSILON, "epsilon_of_published": LOOSE, "search_seed": SEARCH_SEED}


def adversaries(model: Classifier, examples: Sequence[Example]) -> list[Row]:
    """One row per example: length, prediction, largest weight; JSD, TVD and bound of the exact adversary at the default
    epsilon; at 0.05 JSD and bound of the exact one, and JSD of the published search.

    Jain & Wallace 2019, Algorithm 3 and Figures 7 and 8.
    """
    batch = model.encode(examples)
    exact = adversary(model, batch)
    loose = exact if exact[0].epsilon == LOOSE else adversary(model, batch, epsilon=LOOSE)
    searched = adversary(model, batch, epsilon=LOOSE, method="search", seed=SEARCH_SEED)
    with torch.no_grad():
        prob = importance.probabilities(model.run(batch).logits)
    return [
        {
            **case,
            "jsd": exact[i].jsd[0],
            "tvd": exact[i].tvd[0],
            "upper_bound": exact[i].upper_bound,
            "exact": exact[i].exact,
            "jsd_exact_05": loose[i].jsd[0],
            "upper_bound_05": loose[i].upper_bound,
            "jsd_search_05": searched[i].jsd[0],
        }
        for i, case in enumerate(cases(batch, prob, [max(found.original) for found in exact]))
    ]
