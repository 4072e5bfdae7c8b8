"""The verb on one text that holds scores of words against marked words and against the model: `rationales`."""

import argparse

from core.debate.rationales import THRESHOLDS, Effect, Faithfulness, chance, effects, faithfulness, plausibility
from core.explanation import explain
from core.types import Refusal
from core.verbs.common import Answer, checked_seed, model_and_reading, notes, on_text

ASKED = ("attention", "gradient", "leave_one_out", "integrated_gradients")


def _rationales(args: argparse.Namespace) -> Answer:
    """How well scores of words find the words that you mark, and how far the prediction needs the words they put first."""
    model, reading = model_and_reading(args)
    precise, words = model.precise(), reading.example.text
    marked = _positions(args.marked)
    found = explain(model, reading, measures=ASKED)
    scores = {name: found.signed.get(name, values) for name, values in found.scores.items()}
    scores |= {"random": chance(words, checked_seed(args.seed))}
    defined = {name: [v for v in values if v is not None] for name, values in scores.items() if None not in values}
    faithful = faithfulness(precise, reading.example, defined)
    own = effects(precise, reading.example, [marked])[0]
    return {
        "model": args.model,
        "tokens": list(words),
        "cut": reading.cut,
        "target": found.target,
        "marked": marked,
        "own": _effect(own),
        "thresholds": list(THRESHOLDS),
        "seed": args.seed,
        "measures": {name: _judged(values, marked, faithful[name]) for name, values in defined.items()},
        "undefined": [name for name in scores if name not in defined],
        "notes": notes(reading),
    }


def _judged(scores: list[float], marked: list[int], faithful: Faithfulness) -> Answer:
    plausible = plausibility(scores, marked)
    return {
        "scores": scores,
        "auprc": plausible.auprc,
        "f1": plausible.f1,
        "k": plausible.k,
        "mass": plausible.mass,
        "comprehensiveness": faithful.comprehensiveness,
        "sufficiency": faithful.sufficiency,
        "at_thresholds": [
            {"words": size, **_effect(effect)} for size, effect in zip(faithful.sizes, faithful.effects, strict=True)
        ],
    }


def _effect(effect: Effect) -> Answer:
    return {"comprehensiveness": effect.comprehensiveness, "sufficiency": effect.sufficiency}


def _positions(given: str) -> list[int]:
    """Positions from "0,3,4"; none from an empty list. Refuses anything else."""
    parts = [part.strip() for part in given.split(",") if part.strip()]
    if not all(part.isascii() and part.isdigit() and len(part) < 7 for part in parts):
        sentence = f"--marked is {given!r}; positions of words from 0 are allowed, with commas between them, such as 0,3,4."
        raise Refusal("not_positions", sentence, given=given)
    return sorted({int(part) for part in parts})


RATIONALES = on_text(
    _rationales,
    ("--marked", {"default": "", "help": "positions of the words that are the reason, from 0, such as 0,3,4; none by default"}),
    ("--seed", {"type": int, "default": 0, "help": "of the random scores; 0 by default"}),
)
