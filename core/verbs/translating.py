"""The verb that writes: `translate`."""

import argparse

from core.models import translator
from core.translation import CHANGES, translate
from core.verbs.common import Answer, Verb, standard_input


def _translate(args: argparse.Namespace) -> Answer:
    """What a translator makes of a text, and where it looked for each word that it wrote."""
    model = translator.load(args.model)
    found = translate(model, standard_input() if args.text == "-" else args.text, at=CHANGES[args.weights])
    return {
        "model": args.model,
        "tokens": list(found.tokens),
        "cut": found.cut,
        "output": list(found.output),
        "text": found.text,
        "attention": found.attention.tolist(),
        "notes": [note.sentence for note in found.notes],
    }


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, help="dates/gru-additive or multi30k/gru-additive")
    parser.add_argument("--text", required=True, help="a date or an English sentence; - reads standard input")
    parser.add_argument("--weights", choices=CHANGES, default="own", help="its own, equal ones, or its own dealt out anew")


TRANSLATE = Verb(_translate, _arguments)
