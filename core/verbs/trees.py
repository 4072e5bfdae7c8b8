"""The verb on one text that puts a Transformer's attributions together over its layers: `tree`."""

import argparse

import torch

from core.attattr.attribution import attribution
from core.attattr.cutting import marks, probs_without
from core.attattr.tree import TAU, Tree, tree
from core.importance import probabilities
from core.models.transformer import Transformer
from core.reading import target_id
from core.verbs.common import Answer, notes, of_kind, on_text

WHY = {
    "one_layer": "the model has one layer, and [CLS] alone reads in the last one",
    "nothing": "no token got anything positive from another one",
    "below": "no attribution in the layers below the last passes both tau and lambda",
    "elsewhere": "the attributions that pass tau and lambda do not lead to the root",
}


def _tree(args: argparse.Namespace) -> Answer:
    """The attribution tree of a text: which tokens reach the answer through which, layer by layer."""
    model, reading = of_kind(args, Transformer)
    batch = model.encode([reading.example])
    with torch.no_grad():
        prob = probabilities(model.run(batch).logits)[0]
    target = target_id(model.card, args.target, int(prob.argmax()))
    found = attribution(model, batch, target=torch.tensor([target], device=batch.ids.device))
    grown = tree(found.attribution[0].sum(1).cpu(), tau=args.tau, cost=getattr(args, "lambda"))
    marked = marks(grown.edges, torch.arange(batch.ids.shape[1], device=batch.ids.device), model.n_layers)
    return {
        "model": args.model,
        "tokens": model.pieces(batch)[0],
        "cut": reading.cut,
        "prediction": dict(zip(model.card.task.labels, prob.tolist(), strict=True)),
        "target": model.card.task.labels[target],
        "tau": args.tau,
        "lambda": getattr(args, "lambda"),
        "root": grown.root,
        "edges": [{"from": e.source, "to": e.reader, "layer": e.layer, "weight": e.weight} for e in grown.edges],
        "prob": float(prob[target]),
        "prob_without": float(probs_without(model, batch, marked[None])[0, target]),
        "completeness_error": found.error[0].tolist(),
        "notes": [*notes(reading), *_why(grown)],
    }


def _why(grown: Tree) -> list[str]:
    return [f"The tree has no edge: {WHY[grown.why]}."] if grown.why else []


TREE = on_text(
    _tree,
    ("--target", {"help": "a label; the predicted one by default"}),
    ("--tau", {"type": float, "default": TAU, "help": f"edges above this share of their layer's largest; {TAU} by default"}),
    ("--lambda", {"type": float, "default": 0.0, "help": "what an edge costs, in probability; 0 by default"}),
)
