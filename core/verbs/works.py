"""Verbs on models and data sets: `models`, `train`, `experiment` and `data`."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import platformdirs

from core import data, experiments, finetuning, perceiving, recipes, translators
from core.experiments import alignment
from core.models import perceivers, registry, translator
from core.models.perceiver import PerceiverCard
from core.models.translator import TranslatorCard
from core.training import Progress
from core.translating import Epoch
from core.types import Card, Refusal
from core.verbs.common import Answer, Verb


def _models(args: argparse.Namespace) -> Answer:
    """Every committed model with its test figures."""
    found = [_summary(card) for card in registry.cards().values()]
    found += [_translator(card) for card in translator.cards().values()]
    return {"model": None, "models": found + [_perceiver(card) for card in perceivers.cards().values()], "notes": []}


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


def _translator(card: TranslatorCard) -> Answer:
    """The summary of a translator, which has no labels."""
    read, written = card.languages
    return {
        "name": card.name,
        "task": card.name.partition("/")[0],
        "kind": "translation",
        "encoder": "gru",
        "score": card.attention,
        "layers": 1,
        "heads": 1,
        "labels": [],
        "language": f"{read} to {written}",
        "parameters": card.parameters,
        "max_tokens": card.max_tokens,
        "seed": card.seed,
        "terms": card.terms,
        "test": dict(card.test),
        "training": dict(card.training),
    }


def _perceiver(card: PerceiverCard) -> Answer:
    """The summary of what writes words of a scene or letters of a sound, which has no labels either."""
    fields = ("name", "language", "parameters", "seed", "terms")
    return {
        **{name: getattr(card, name) for name in fields},
        **{"task": card.name.partition("/")[0], "kind": "caption" if card.sense == "scene" else "transcription"},
        **{"encoder": "cnn" if card.sense == "scene" else "bigru", "score": "additive", "layers": 1, "heads": 1, "labels": []},
        "max_tokens": card.max_output,
        "test": dict(card.test),
        "training": dict(card.training),
    }


def _train(args: argparse.Namespace) -> Answer:
    """Trains models as their recipes say; goes on where an earlier call was stopped."""
    names = [*recipes.SHIPPED, *finetuning.RECIPES, *translators.SHIPPED, *perceiving.RECIPES] if args.all else args.names
    if not names:
        raise Refusal("no_name", "No model was named; name one or more, or give --all.")
    needed = dict.fromkeys(source for name in names for source in _sources(name))
    if args.fetch:
        for source in needed:
            data.fetch(source, data.data_root())
    written = []
    for name in names:
        checkpoint = Path(platformdirs.user_data_dir("is-attention-explanation")) / "training" / name.replace(":", "@")
        if translators.is_translator(name):
            translated = translators.train(name, progress=_written(name), checkpoint=checkpoint)
            written += [_translator(translated) | {"written": str(registry.folder(name))}] if translated else []
            continue
        if name in perceiving.RECIPES:
            perceived = perceiving.train(name, progress=_report(name), checkpoint=checkpoint)
            written += [_perceiver(perceived) | {"written": str(registry.folder(name))}] if perceived else []
            continue
        train = finetuning.train if finetuning.is_adapter(name) else recipes.train
        card = train(name, progress=_report(name), checkpoint=checkpoint)
        if card is not None:
            written.append(_summary(card) | {"written": str(registry.folder(name))})
    return {"model": names[0] if len(names) == 1 else None, "trained": written, "notes": []}


def _sources(name: str) -> tuple[str, ...]:
    """The data sets that a model needs from the hub. Refuses a name without a recipe."""
    if translators.is_translator(name):
        translators.parse(name)
        return ()
    if name in perceiving.RECIPES:
        return ()
    return finetuning.sources(name) if finetuning.is_adapter(name) else (recipes.parse(name).data,)


def _report(name: str) -> Callable[[Progress], None]:
    def told(now: Progress) -> None:
        if len(now.history) == now.epoch:
            last = now.history[-1]
            line = f"loss {last.loss:.3f}, validation accuracy {last.validation_accuracy:.3f}"
            print(f"{name}: epoch {now.epoch} of {now.epochs}, {line}", file=sys.stderr, flush=True)

    return told


def _written(name: str) -> Callable[[Sequence[Epoch]], None]:
    def told(history: Sequence[Epoch]) -> None:
        line = f"loss {history[-1].loss:.3f}, validation score {history[-1].validation_score:.3f}"
        print(f"{name}: epoch {len(history)}, {line}", file=sys.stderr, flush=True)

    return told


def _experiment(args: argparse.Namespace) -> Answer:
    """Runs an experiment over a data set; goes on where an earlier call was stopped."""
    if args.limit is not None and args.limit < 1:
        raise Refusal("out_of_range", f"--limit is {args.limit}; at least 1 is allowed.", given=args.limit)
    if args.all:
        wanted = [(name, model, model.partition("/")[0]) for name, model in experiments.shown()]
    elif None in (args.name, args.model, args.data):
        raise Refusal("arguments", "An experiment needs its NAME, --model and --data; or --all for every table that is shown.")
    else:
        wanted = [(args.name, args.model, args.data)]
    written = [_table(name, model, source, args) for name, model, source in wanted]
    return {"model": args.model, **({"tables": written} if args.all else written[0]), "notes": []}


def _table(name: str, model: str, source: str, args: argparse.Namespace) -> Answer:
    def told(done: int, total: int) -> None:
        print(f"{name} {model}: {done} of {total} rows", file=sys.stderr, flush=True)

    settings = {"split": args.split, "limit": args.limit, "workers": args.workers}
    return experiments.describe(experiments.run(name, model, dataset=source, progress=told, **settings))


def _data(args: argparse.Namespace) -> Answer:
    """What a data set holds; with --fetch it is loaded from the hub first."""
    notes = []
    if args.fetch:
        notes = [f"Written: {path}." for path in data.fetch(args.name, data.data_root())]
    splits = {split: data.describe(args.name, split) for split in data.splits(args.name)}
    return {"model": None, "data": args.name, "terms": data.TERMS[args.name], "splits": splits, "notes": notes}


def _train_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="CARD")
    parser.add_argument("--all", action="store_true", help="every shipped model")
    parser.add_argument("--fetch", action="store_true", help="load the data sets from the hub first")


def _experiment_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", nargs="?", metavar="NAME", help=", ".join([*experiments.EXPERIMENTS, *alignment.TABLES]))
    parser.add_argument("--all", action="store_true", help="every table that the pages show")
    parser.add_argument("--model")
    parser.add_argument("--data")
    parser.add_argument("--split", help="test, or the one that the experiment is made on")
    parser.add_argument("--limit", type=int)
    parser.add_argument("--workers", type=int, default=1)


def _data_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help=", ".join(data.TASKS))
    parser.add_argument("--fetch", action="store_true", help="load it from the hub first")


MODELS = Verb(_models)
TRAIN = Verb(_train, _train_arguments)
EXPERIMENT = Verb(_experiment, _experiment_arguments)
DATA = Verb(_data, _data_arguments)
