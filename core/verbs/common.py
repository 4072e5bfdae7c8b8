"""What the verbs share: how a text is read, and how an answer says what to know about it."""

import argparse
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from core import device
from core.models import own, registry
from core.models.classifier import Classifier
from core.models.text_model import Model, TextModel
from core.reading import Reading, read
from core.types import Refusal

Answer = dict[str, Any]


@dataclass(frozen=True)
class Verb:
    """A verb of `python -m core`: what it answers (its docstring is its help), and the arguments that it takes."""

    answer: Callable[[argparse.Namespace], Answer]
    arguments: Callable[[argparse.ArgumentParser], object] = lambda parser: None


def on_text(answer: Callable[[argparse.Namespace], Answer], *more: tuple[str, dict[str, Any]]) -> Verb:
    """A verb that reads one text with one model, with further arguments."""

    def arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--model", required=True, help="a name from `models`, or a folder with a Transformer of your own")
        parser.add_argument("--text", required=True, help="sentence, story or premise; - reads standard input")
        parser.add_argument("--query", help="question or hypothesis")
        for name, settings in more:
            parser.add_argument(name, **settings)

    return Verb(answer, arguments)


def model_and_reading(args: argparse.Namespace) -> tuple[Classifier, Reading]:
    """The named classifier on the best device, and the text as it reads it. Refuses other models and what cannot be read."""
    return of_kind(args, Classifier)


def of_kind(args: argparse.Namespace, kind: type[Model]) -> tuple[Model, Reading]:
    """`model_and_reading` for models of another kind."""
    model = registry.needed(_loaded(args), kind)
    args.model = model.card.name
    return model, read(model, standard_input() if args.text == "-" else args.text, args.query)


def _loaded(args: argparse.Namespace) -> TextModel:
    """The committed model of that name, or the one in a folder, which reads two texts where two are given."""
    if args.model not in registry.cards() and own.is_folder(args.model):
        return own.load(args.model, "paraphrase" if args.query else "classification").to(device.best_device())
    return registry.load(args.model, device=device.best_device())


def standard_input() -> str:
    """What is typed or piped in."""
    if sys.stdin is None:  # closed by the caller
        return ""
    return sys.stdin.buffer.read().decode("utf-8", errors="replace")


def notes(reading: Reading) -> list[str]:
    """What the reader should know about how the text was read."""
    return [note.sentence for note in reading.notes]


def checked_seed(seed: int) -> int:
    """The seed. Refuses what no generator takes."""
    if not 0 <= seed < 2**31:
        raise Refusal("seed_out_of_range", f"--seed is {seed}; 0 to {2**31 - 1} is allowed.", given=seed)
    return seed
