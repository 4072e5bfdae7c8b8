"""How far each score of words agrees with people, and how far the prediction needs its words. DeYoung et al. 2020."""

from collections.abc import Sequence

import torch

from core import importance
from core.debate import rationales as debate
from core.experiments.cases import Row, cases
from core.explanation import measured
from core.models.classifier import Classifier
from core.types import Example

IG_NODES = 8  # as in the experiment on agreement
CHANCE_SEED = 0
ASKED = ("attention", "gradient", "input_x_gradient", "leave_one_out", "integrated_gradients")
UNSIGNED = "|{}|"  # a signed measure by magnitude, as attention is
SETTINGS: Row = {
    "integrated_gradients_nodes": IG_NODES,
    "chance_seed": CHANCE_SEED,
    "thresholds": list(debate.THRESHOLDS),
    "aopc": "plain mean over the thresholds",
    "k": "number of marked words",
}


def rationales(model: Classifier, examples: Sequence[Example], *, nodes: int = IG_NODES) -> list[Row]:
    """One row per document: length, prediction, the share of its words that people marked (`marked`), the share of all marked
    words that the model reads (`kept`), what the marked words themselves do (`people:...`), and for each measure AUPRC, F1 at
    the number of marked words, mass, comprehensiveness and sufficiency (AOPC, and `@` each threshold).

    In double precision, for the predicted class. Attention and gradient have no sign; the other measures are given signed, and
    by magnitude between bars, which tells how much of a gap is the sign. DeYoung et al. 2020, §4.
    """
    batch = model.encode(examples)
    with torch.no_grad():
        prob = importance.probabilities(model.run(batch).logits)
    scores, signed = measured(model, batch, prob.argmax(-1), ASKED, nodes=nodes)
    rows = cases(batch, prob, [max(weights) for weights in scores["attention"]])
    for i, (row, example, whole) in enumerate(zip(rows, batch.examples, examples, strict=True)):
        own = {name: signed.get(name, values)[i] for name, values in scores.items()}
        own |= {UNSIGNED.format(name): [abs(value) for value in values[i]] for name, values in signed.items()}
        row |= document(model, example, own) | {"kept": len(example.evidence) / max(1, len(whole.evidence))}
    return rows


def document(model: Classifier, example: Example, scores: dict[str, list[float]]) -> Row:
    """The figures of one document; a measure that has no score there (leaving out the only word) is undefined."""
    n = len(example.text)
    people = debate.effects(model, example, [example.evidence])[0] if example.evidence else debate.Effect(None, None)
    row: Row = {"marked": len(example.evidence) / n}
    row |= {"people:comprehensiveness": people.comprehensiveness, "people:sufficiency": people.sufficiency}
    scores = scores | {"random": list(debate.chance(example.text, CHANCE_SEED))}
    defined = {name: values for name, values in scores.items() if len(values) == n}
    faithful = debate.faithfulness(model, example, defined)
    for name, values in defined.items():
        plausible, effects = debate.plausibility(values, example.evidence), faithful[name].effects
        row |= {f"{name}:auprc": plausible.auprc, f"{name}:f1": plausible.f1, f"{name}:mass": plausible.mass}
        row |= {f"{name}:comprehensiveness": faithful[name].comprehensiveness}
        row |= {f"{name}:sufficiency": faithful[name].sufficiency}
        for share, effect in zip(debate.THRESHOLDS, effects, strict=True):
            row |= {f"{name}:comprehensiveness@{share:g}": effect.comprehensiveness}
            row |= {f"{name}:sufficiency@{share:g}": effect.sufficiency}
    return row
