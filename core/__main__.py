"""The headless face: `python -m core VERB …` prints one JSON object on standard output and nothing else there.

Progress and warnings go to standard error. What cannot be answered is refused there in one line, with exit status 2.
"""

import argparse
import json
import logging
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import platformdirs
import torch
from safetensors.torch import save

from core import data, device, experiments, recipes
from core.debate.adversary import METHODS, Adversary, adversary
from core.debate.permutation import permutations
from core.explanation import MEASURES, Explanation, explain
from core.models import registry
from core.models.classifier import Classifier
from core.reading import Reading, read
from core.training import Progress
from core.types import Card, Refusal

Answer = dict[str, Any]


class Parser(argparse.ArgumentParser):
    """Refuses in one line instead of printing its usage."""

    def error(self, message: str) -> NoReturn:
        raise Refusal("arguments", f"{self.prog}: {message}. `{self.prog} --help` lists what is allowed.")


def models(args: argparse.Namespace) -> Answer:
    """Every committed model with its test figures."""
    return {"model": None, "models": [_summary(card) for card in registry.cards().values()], "notes": []}


def explain_verb(args: argparse.Namespace) -> Answer:
    """Attention, gradient, integrated gradients and leave-one-out per word, and how far they agree."""
    model, reading = _model_and_reading(args)
    measures = None if args.measures is None else [m.strip() for m in args.measures.split(",") if m.strip()]
    return _explanation(explain(model, reading, target=args.target, measures=measures))


def adversary_verb(args: argparse.Namespace) -> Answer:
    """Other attention for one input, as far from the model's own as it can be, with nearly the same prediction."""
    model, reading = _model_and_reading(args)
    if args.epsilon is not None and not 0 < args.epsilon <= 1:
        sentence = f"--epsilon is {args.epsilon}; above 0 and at most 1 is allowed."
        raise Refusal("epsilon_out_of_range", sentence, given=args.epsilon)
    batch = model.encode([reading.example])
    found = adversary(model, batch, epsilon=args.epsilon, method=args.method, k=args.k, seed=_seed(args.seed))[0]
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
        "notes": [*_notes(reading), *_promise(found)],
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


def _seed(seed: int) -> int:
    if not 0 <= seed < 2**31:
        raise Refusal("seed_out_of_range", f"--seed is {seed}; 0 to {2**31 - 1} is allowed.", given=seed)
    return seed


def permute(args: argparse.Namespace) -> Answer:
    """How far the prediction moves when the attention weights are shuffled over the words."""
    model, reading = _model_and_reading(args)
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
        "notes": _notes(reading),
    }


def tensors(args: argparse.Namespace) -> Answer:
    """Attention, states, decoder and logits of one input as a safetensors file (words only)."""
    model, reading = _model_and_reading(args)
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
        "notes": _notes(reading),
    }


def train(args: argparse.Namespace) -> Answer:
    """Trains models as their recipes say; goes on where an earlier call was stopped."""
    names = list(recipes.SHIPPED) if args.all else args.names
    if not names:
        raise Refusal("no_name", "No model was named; name one or more, or give --all.")
    for name in names:
        recipes.parse(name)
    if args.fetch:
        for source in dict.fromkeys(recipes.parse(name).data for name in names):
            data.fetch(source, data.data_root())
    written = []
    for name in names:
        checkpoint = Path(platformdirs.user_data_dir("is-attention-explanation")) / "training" / name.replace(":", "@")
        card = recipes.train(name, progress=_report(name), checkpoint=checkpoint)
        if card is not None:
            written.append(_summary(card) | {"written": str(registry.folder(name))})
    return {"model": names[0] if len(names) == 1 else None, "trained": written, "notes": []}


def experiment(args: argparse.Namespace) -> Answer:
    """Runs an experiment over a data set; goes on where an earlier call was stopped."""
    if args.limit is not None and args.limit < 1:
        raise Refusal("out_of_range", f"--limit is {args.limit}; at least 1 is allowed.", given=args.limit)

    def told(done: int, total: int) -> None:
        print(f"{args.model}: {done} of {total} examples", file=sys.stderr, flush=True)

    path = experiments.run(
        args.name,
        args.model,
        dataset=args.data,
        split=args.split,
        limit=args.limit,
        workers=args.workers,
        progress=told,
    )
    return {"model": args.model, **experiments.describe(path), "notes": []}


def data_verb(args: argparse.Namespace) -> Answer:
    """What a data set holds; with --fetch it is loaded from the hub first."""
    notes = []
    if args.fetch:
        notes = [f"Written: {path}." for path in data.fetch(args.name, data.data_root())]
    splits = {split: data.describe(args.name, split) for split in data.SPLITS}
    return {"model": None, "data": args.name, "terms": data.TERMS[args.name], "splits": splits, "notes": notes}


def _model_and_reading(args: argparse.Namespace) -> tuple[Classifier, Reading]:
    model = registry.load(args.model, device=device.best_device())
    return model, read(model, _standard_input() if args.text == "-" else args.text, args.query)


def _standard_input() -> str:
    if sys.stdin is None:  # closed by the caller
        return ""
    return sys.stdin.buffer.read().decode("utf-8", errors="replace")


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


def _summary(card: Card) -> Answer:
    fields = ("name", "encoder", "score", "normalizer", "layers", "heads", "parameters", "max_tokens", "seed", "terms")
    return {
        **{name: getattr(card, name) for name in fields},
        "task": card.task.name,
        "kind": card.task.kind,
        "labels": list(card.task.labels),
        "language": card.task.language,
        "test": dict(card.test),
        "training": dict(card.training),
    }


def _notes(reading: Reading) -> list[str]:
    return [note.sentence for note in reading.notes]


def _report(name: str) -> Callable[[Progress], None]:
    def told(now: Progress) -> None:
        if len(now.history) == now.epoch:
            last = now.history[-1]
            line = f"loss {last.loss:.3f}, validation accuracy {last.validation_accuracy:.3f}"
            print(f"{name}: epoch {now.epoch} of {now.epochs}, {line}", file=sys.stderr, flush=True)

    return told


def parser() -> Parser:
    """The verbs and what each takes."""
    top = Parser(prog="python -m core", description=__doc__.splitlines()[0] if __doc__ else None)
    verbs = top.add_subparsers(dest="verb", required=True, metavar="VERB", parser_class=Parser)

    def verb(name: str, function: Callable[[argparse.Namespace], Answer]) -> argparse.ArgumentParser:
        added = verbs.add_parser(name, help=function.__doc__, description=function.__doc__)
        added.set_defaults(function=function)
        return added

    def on_text(name: str, function: Callable[[argparse.Namespace], Answer]) -> argparse.ArgumentParser:
        added = verb(name, function)
        added.add_argument("--model", required=True, help="a name from `models`")
        added.add_argument("--text", required=True, help="sentence, story or premise; - reads standard input")
        added.add_argument("--query", help="question or hypothesis")
        return added

    verb("models", models)
    explains = on_text("explain", explain_verb)
    explains.add_argument("--target", help="a label; the predicted one by default")
    explains.add_argument("--measures", help=f"some of {','.join(MEASURES)}")
    adversaries = on_text("adversary", adversary_verb)
    adversaries.add_argument("--epsilon", type=float, help="how far the prediction may move (TVD); 0.01, QA and NLI 0.05")
    adversaries.add_argument("--method", default="exact", help=" or ".join(METHODS))
    adversaries.add_argument("--k", type=int, default=1, help="how many, 1 to 20")
    adversaries.add_argument("--seed", type=int, default=0, help="where the search starts")
    permutes = on_text("permute", permute)
    permutes.add_argument("--n", type=int, default=100, help="how many shuffles; 100 by default")
    permutes.add_argument("--seed", type=int, default=0, help="of the shuffles; 0 by default")
    on_text("tensors", tensors).add_argument("--out", required=True, help="the safetensors file to write")
    trains = verb("train", train)
    trains.add_argument("names", nargs="*", metavar="CARD")
    trains.add_argument("--all", action="store_true", help="every shipped model")
    trains.add_argument("--fetch", action="store_true", help="load the data sets from the hub first")
    runs = verb("experiment", experiment)
    runs.add_argument("name", metavar="NAME", help=", ".join(experiments.EXPERIMENTS))
    runs.add_argument("--model", required=True)
    runs.add_argument("--data", required=True)
    runs.add_argument("--split", default="test")
    runs.add_argument("--limit", type=int)
    runs.add_argument("--workers", type=int, default=1)
    shows = verb("data", data_verb)
    shows.add_argument("name", metavar="NAME", help=", ".join(data.TASKS))
    shows.add_argument("--fetch", action="store_true", help="load it from the hub first")
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0 with one JSON object printed, or 2 with one line on standard error."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="%(message)s")
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    try:
        args = parser().parse_args(arguments)
        device.set_threads()
        answer = args.function(args)
    except Refusal as refusal:
        print(" ".join(str(refusal).split()), file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{error.filename or 'A file'!s} cannot be read or written: {error.strerror or error}.", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("Stopped; what was finished is kept, and the same command goes on from there.", file=sys.stderr)
        return 130
    try:
        print(json.dumps(answer, ensure_ascii=False, allow_nan=False), flush=True)
    except BrokenPipeError:  # whoever reads has enough, as `head` does; Python must not write the rest when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


if __name__ == "__main__":
    sys.exit(main())
