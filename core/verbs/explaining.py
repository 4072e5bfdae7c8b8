"""Verbs on one text that look at a model as it is: `explain` and `tensors`."""

import argparse
from pathlib import Path

import torch
from safetensors.torch import save

from core.explanation import MEASURES, Explanation, explain
from core.types import Refusal
from core.verbs.common import Answer, model_and_reading, notes, on_text


def _explain(args: argparse.Namespace) -> Answer:
    """Attention, gradient, integrated gradients and leave-one-out per word, and how far they agree."""
    model, reading = model_and_reading(args)
    measures = None if args.measures is None else [m.strip() for m in args.measures.split(",") if m.strip()]
    return _explanation(explain(model, reading, target=args.target, measures=measures))


def _explanation(found: Explanation) -> Answer:
    return {
        "model": found.model,
        "tokens": list(found.words),
        "query": list(found.query),
        "cut": found.cut,
        "prediction": found.prediction,
        "target": found.target,
        "scores": {name: list(values) for name, values in found.scores.items()},
        "signed": {name: list(values) for name, values in found.signed.items()},
        "agreement": {
            name: {
                "kendall_tau": pair.kendall.kendall_tau,
                "p_value": pair.kendall.p_value,
                "n": pair.kendall.n,
                "top_k": {"k": pair.top_k.k, "overlap": pair.top_k.overlap, "tau": pair.top_k.tau},
            }
            for name, pair in found.agreement.items()
        },
        "notes": [note.sentence for note in found.notes],
    }


def _tensors(args: argparse.Namespace) -> Answer:
    """Attention, states, decoder and logits of one input as a safetensors file (words only)."""
    model, reading = model_and_reading(args)
    batch = model.encode([reading.example])
    with torch.no_grad():
        run = model.run(batch)
        bias = model.bias(batch, model.query_vector(batch))[0]
    words = batch.mask[0]
    content = {
        "attention": run.attention[0, 0, 0, 0, words],
        "states": run.states[0, 0, words],
        "decoder.weight": model.decoder.weight,
        "decoder.bias": bias,
        "logits": run.logits[0],
    }
    out = Path(args.out)
    try:
        out.write_bytes(save({k: v.detach().cpu().contiguous().clone() for k, v in content.items()}))
    except OSError as error:
        raise Refusal("cannot_write", f"{args.out!r} cannot be written: {error.strerror}.", given=args.out) from error
    shapes = {name: list(value.shape) for name, value in content.items()}
    return {
        "model": args.model,
        "tokens": list(reading.example.text),
        "written": str(out),
        "tensors": shapes,
        "notes": notes(reading),
    }


EXPLAIN = on_text(
    _explain,
    ("--target", {"help": "a label; the predicted one by default"}),
    ("--measures", {"help": f"some of {','.join(MEASURES)}"}),
)
TENSORS = on_text(_tensors, ("--out", {"required": True, "help": "the safetensors file to write"}))
