"""Verbs on one text that look at a model as it is: `explain` and `tensors`."""

import argparse
from pathlib import Path

import torch
from safetensors.torch import save
from torch import Tensor

from core.explanation import MEASURES, Explanation, explain
from core.models import registry
from core.models.classifier import Classifier
from core.models.text_model import MultiHead, TextModel
from core.types import Batch, Refusal
from core.verbs.common import Answer, notes, of_kind, on_text


def _explain(args: argparse.Namespace) -> Answer:
    """Attention, gradient, integrated gradients and leave-one-out per word, and how far they agree."""
    model, reading = of_kind(args, TextModel)
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
    """A safetensors file of one input: attention and logits, with states and decoder (one attention), or values (several)."""
    model, reading = of_kind(args, TextModel)
    batch = model.encode([reading.example])
    tokens, content = _of_heads(model, batch) if isinstance(model, MultiHead) else _of_words(model, batch)
    out = Path(args.out)
    try:
        out.write_bytes(save({k: v.detach().cpu().contiguous().clone() for k, v in content.items()}))
    except OSError as error:
        raise Refusal("cannot_write", f"{args.out!r} cannot be written: {error.strerror}.", given=args.out) from error
    shapes = {name: list(value.shape) for name, value in content.items()}
    return {"model": args.model, "tokens": tokens, "written": str(out), "tensors": shapes, "notes": notes(reading)}


def _of_words(model: TextModel, batch: Batch) -> tuple[list[str], dict[str, Tensor]]:
    """The words of a model with one attention, and what its logits are made of: decoder.weight (attention · states) +
    decoder.bias."""
    classifier = registry.needed(model, Classifier)
    with torch.no_grad():
        run = classifier.run(batch)
        bias = classifier.bias(batch, classifier.query_vector(batch))[0]
    words = batch.mask[0]
    return list(batch.examples[0].text), {
        "attention": run.attention[0, 0, 0, 0, words],
        "states": run.states[0, 0, words],
        "decoder.weight": classifier.decoder.weight,
        "decoder.bias": bias,
        "logits": run.logits[0],
    }


def _of_heads(model: MultiHead, batch: Batch) -> tuple[list[str], dict[str, Tensor]]:
    """The tokens that attend, attention "layer head query key" and values "layer head key dim" over them, and logits."""
    run, there = model.unchanged(batch), model.attended(batch)[0]
    attention, value = run.attention[0][:, :, there][..., there], run.value[0][:, :, there]
    return model.pieces(batch)[0], {"attention": attention, "value": value, "logits": run.logits[0]}


EXPLAIN = on_text(
    _explain,
    ("--target", {"help": "a label; the predicted one by default"}),
    ("--measures", {"help": f"some of {','.join(MEASURES)}"}),
)
TENSORS = on_text(_tensors, ("--out", {"required": True, "help": "the safetensors file to write"}))
