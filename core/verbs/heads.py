"""Verbs on models in whose heads every word attends to every word: `effective`."""

import argparse

from core.debate.identifiability import effective
from core.importance import probabilities
from core.models.text_model import MultiHead
from core.verbs.common import Answer, notes, of_kind, on_text


def _effective(args: argparse.Namespace) -> Answer:
    """The part of each head's attention that its output can see, and how much it cannot."""
    loaded, reading = of_kind(args, MultiHead)
    model = loaded.precise()
    batch = model.encode([reading.example])
    found = effective(model, batch)[0]
    prob = probabilities(model.run(batch).logits)[0]
    return {
        "model": args.model,
        "tokens": model.pieces(batch)[0],
        "cut": reading.cut,
        "prediction": dict(zip(model.card.task.labels, prob.tolist(), strict=True)),
        "head_size": model.head_size,
        "attention": found.attention.tolist(),
        "weights": found.effective.tolist(),
        "rank": found.rank.tolist(),
        "free": found.free.tolist(),
        "invisible": found.invisible.tolist(),
        "notes": notes(reading),
    }


EFFECTIVE = on_text(_effective)
