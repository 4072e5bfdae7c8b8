"""Verbs on one text that ask what other attention would predict: `permute` and `adversary`."""

import argparse

from core.debate.adversary import METHODS, Adversary, adversary
from core.debate.permutation import permutations
from core.types import Refusal
from core.verbs.common import Answer, checked_seed, model_and_reading, notes, on_text


def _permute(args: argparse.Namespace) -> Answer:
    """How far the prediction moves when the attention weights are shuffled over the words."""
    model, reading = model_and_reading(args)
    precise = model.precise()
    found = permutations(precise, precise.encode([reading.example]), n=args.n, seed=args.seed)
    return {
        "model": args.model,
        "tokens": list(reading.example.text),
        "cut": reading.cut,
        "n": args.n,
        "seed": found.seed,
        "tvd": found.tvd[0].tolist(),
        "median_tvd": float(found.median_tvd[0]),
        "max_attention": float(found.max_attention[0]),
        "notes": notes(reading),
    }


def _adversary(args: argparse.Namespace) -> Answer:
    """Other attention for one input, as far from the model's own as it can be, with nearly the same prediction."""
    model, reading = model_and_reading(args)
    if args.epsilon is not None and not 0 < args.epsilon <= 1:
        sentence = f"--epsilon is {args.epsilon}; above 0 and at most 1 is allowed."
        raise Refusal("epsilon_out_of_range", sentence, given=args.epsilon)
    batch = model.encode([reading.example])
    found = adversary(model, batch, epsilon=args.epsilon, method=args.method, k=args.k, seed=checked_seed(args.seed))[0]
    allowed = batch.allowed[0].tolist()
    names = [(i, name) for i, name in enumerate(model.card.task.labels) if allowed[i]]
    return {
        "model": args.model,
        "tokens": list(reading.example.text),
        "epsilon": found.epsilon,
        "method": found.method,
        "original": list(found.original),
        "attention": [list(weights) for weights in found.attention],
        "jsd": list(found.jsd),
        "tvd": list(found.tvd),
        "prediction": [{name: prob[i] for i, name in names} for prob in found.prediction],
        "upper_bound": found.upper_bound,
        "exact": found.exact,
        "notes": [*notes(reading), *_promise(found)],
    }


def _promise(found: Adversary) -> list[str]:
    """What a reader of an adversary must know about how good it is."""
    if found.attention[0] == found.original and len(found.original) > 1:
        return [f"Nothing else within epsilon = {found.epsilon} was found; the model's own attention is given back."]
    gap = f"no attention within epsilon = {found.epsilon} has a JSD above {found.upper_bound:.3f}"
    if found.method == "search":
        return [f"The published search promises nothing: it found a JSD of {found.jsd[0]:.3f}, and {gap}."]
    later = ["Only the first adversary is the best one; those after it are chosen greedily."] * (len(found.jsd) > 1)
    if found.exact:
        return later
    return [f"With more than two labels the optimum is not proven: {found.jsd[0]:.3f} was found, and {gap}.", *later]


PERMUTE = on_text(
    _permute,
    ("--n", {"type": int, "default": 100, "help": "how many shuffles; 100 by default"}),
    ("--seed", {"type": int, "default": 0, "help": "of the shuffles; 0 by default"}),
)
ADVERSARY = on_text(
    _adversary,
    ("--epsilon", {"type": float, "help": "how far the prediction may move (TVD); 0.01, QA and NLI 0.05"}),
    ("--method", {"default": "exact", "help": " or ".join(METHODS)}),
    ("--k", {"type": int, "default": 1, "help": "how many, 1 to 20"}),
    ("--seed", {"type": int, "default": 0, "help": "where the search starts, and the climbs for several labels; 0 by default"}),
)
