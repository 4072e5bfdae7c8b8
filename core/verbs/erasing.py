"""The verb on one text that takes attention away from its words one by one: `erase`."""

import argparse

from core.debate.erasure import ORDERS, Removals, removals, scores
from core.models.contributions import contributions
from core.verbs.common import Answer, checked_seed, model_and_reading, notes, on_text


def _erase(args: argparse.Namespace) -> Answer:
    """How the predicted label's probability falls as words lose their attention one by one, and when the label flips."""
    model, reading = model_and_reading(args)
    words = contributions(model, model.encode([reading.example]))
    found = removals(words, args.order, seed=checked_seed(args.seed))
    predicted = int(found.prob[0, 0, 0].argmax())
    draws = [_draw(found, draw, predicted) for draw in range(found.order.shape[1])]
    chance = args.order == "random"
    ranked_by = {"scores": scores(words, args.order)[0].tolist()} if not chance else {"seed": args.seed, "shuffles": draws}
    return {
        "model": args.model,
        "tokens": list(reading.example.text),
        "cut": reading.cut,
        "ordered_by": args.order,
        **draws[0],
        "target": model.card.task.labels[predicted],
        **ranked_by,
        "notes": [*notes(reading), *_meaning(draws[0])],
    }


def _draw(found: Removals, draw: int, predicted: int) -> Answer:
    """One order of the text: positions, the predicted label's probability with 0, 1, ... words gone, and where it flips."""
    share = float(found.flips_at[0, draw])
    return {
        "order": found.order[0, draw].tolist(),
        "prob": found.prob[0, draw, :, predicted].tolist(),
        "flips_at": None if share != share else share,
    }


def _meaning(draw: Answer) -> list[str]:
    """What must be known of where the label flips."""
    if len(draw["order"]) == 1:
        return ["A text of one word is left out: flips_at is undefined."]
    if draw["flips_at"] is None:
        return ["The label never flips, not even when no word is left and the model reads a zero vector."]
    return ["The label flips only when no word is left and the model reads a zero vector."] * (draw["flips_at"] == 1)


ERASE = on_text(
    _erase,
    ("--order", {"default": "attention", "help": " or ".join(ORDERS)}),
    ("--seed", {"type": int, "default": 0, "help": "of the random orders; 0 by default"}),
)
