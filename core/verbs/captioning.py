"""The verb on one picture: `caption`."""

import argparse
from dataclasses import asdict

from core import scenes
from core.debate.looking import looked, shares
from core.models import perceivers
from core.models.captioner import Captioner
from core.scenes import GRID
from core.verbs.common import Answer, Verb, standard_input


def _caption(args: argparse.Namespace) -> Answer:
    """What a model writes of a scene, and over which cells of the picture its attention lies at each word."""
    scene = scenes.from_json(standard_input() if args.scene == "-" else args.scene)
    model = perceivers.load(args.model, "scene")
    assert isinstance(model, Captioner)
    found = looked(model, scene)
    attention = found.attention[: len(found.words)]
    on = shares(attention, scene)
    return {
        "model": args.model,
        "tokens": [f"{column},{row}" for row in range(1, GRID + 1) for column in range(1, GRID + 1)],
        "grid": {"columns": GRID, "rows": GRID},
        "output": list(found.words),
        "text": " ".join(found.words),
        "attention": attention.tolist(),
        "probability": list(found.prob),
        "objects": [asdict(thing) | {"cells": list(thing.cells)} for thing in scene],
        "named": [place if place >= 0 else None for place in found.things],
        "share_on_objects": on[:, :-1].tolist(),
        "caption_that_fits": " ".join(found.right),
        "notes": [] if found.exact else ["This is not the caption that fits the scene."],
    }


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--model", required=True, help="scenes/soft or one of its variants")
    parser.add_argument(
        "--scene", required=True, help='{"objects": [{"shape", "color", "column", "row"}]}; - reads standard input'
    )


CAPTION = Verb(_caption, _arguments)
