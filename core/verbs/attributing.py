"""Verbs that ask which tokens of a text a Transformer's answer rests on: `attribute` and `rollout`."""

import argparse

import torch

from core.attattr.attribution import NODES, RULES, attribution
from core.attattr.rivals import rollout
from core.importance import probabilities
from core.models.transformer import Transformer
from core.reading import Reading, target_id
from core.types import Batch
from core.verbs.common import Answer, notes, of_kind, on_text


def _attribute(args: argparse.Namespace) -> Answer:
    """What each attention weight contributes to a label's probability, summed over heads and layers."""
    model, reading, batch, prob = _asked(args)
    target = target_id(model.card, args.target, int(prob.argmax()))
    label = torch.tensor([target], device=batch.ids.device)
    found = attribution(model, batch, target=label, nodes=args.nodes, rule=args.rule)
    own = found.attribution[0]
    return {
        **_about(args, model, reading, batch, prob),
        "target": model.card.task.labels[target],
        "nodes": args.nodes,
        "rule": args.rule,
        "layers": model.n_layers,
        "heads": model.card.heads,
        "total": own.sum((0, 1)).tolist(),
        "head_importance": own.amax((-1, -2)).tolist(),
        "difference": found.difference[0].tolist(),
        "completeness_error": found.error[0].tolist(),
        "notes": notes(reading),
    }


def _rollout(args: argparse.Namespace) -> Answer:
    """Attention followed through the layers, half of each state carried past it."""
    model, reading, batch, prob = _asked(args)
    found = rollout(model, batch, prob.argmax(-1, keepdim=True))
    assert found.matrix is not None
    return {**_about(args, model, reading, batch, prob), "weights": found.matrix[0].tolist(), "notes": notes(reading)}


def _asked(args: argparse.Namespace) -> tuple[Transformer, Reading, Batch, torch.Tensor]:
    """The model in double precision, the text, and the probability of each label."""
    loaded, reading = of_kind(args, Transformer)
    model = loaded.precise()
    batch = model.encode([reading.example])
    return model, reading, batch, probabilities(model.unchanged(batch).logits)[0]


def _about(args: argparse.Namespace, model: Transformer, reading: Reading, batch: Batch, prob: torch.Tensor) -> Answer:
    return {
        "model": args.model,
        "tokens": model.pieces(batch)[0],
        "cut": reading.cut,
        "prediction": dict(zip(model.card.task.labels, prob.tolist(), strict=True)),
    }


ATTRIBUTE = on_text(
    _attribute,
    ("--target", {"help": "a label; the predicted one by default"}),
    ("--nodes", {"type": int, "default": NODES, "help": f"of the integral, 1 to 64; {NODES} by default"}),
    ("--rule", {"default": "gauss", "help": f"how the integral is taken: {', '.join(RULES)}; gauss by default"}),
)
ROLLOUT = on_text(_rollout)
