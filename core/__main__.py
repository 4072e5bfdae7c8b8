"""The headless face: `python -m core VERB …` prints one JSON object on standard output and nothing else there.

Progress and warnings go to standard error. What cannot be answered is refused there in one line, with exit status 2.
"""

import argparse
import json
import logging
import os
import sys
from collections.abc import Sequence
from logging.handlers import MemoryHandler
from typing import NoReturn

from core import device
from core.types import Refusal
from core.verbs import VERBS


class Parser(argparse.ArgumentParser):
    """Refuses in one line instead of printing its usage."""

    def error(self, message: str) -> NoReturn:
        raise Refusal("arguments", f"{self.prog}: {message}. `{self.prog} --help` lists what is allowed.")


def parser() -> Parser:
    """The verbs and what each takes."""
    top = Parser(prog="python -m core", description=__doc__.splitlines()[0] if __doc__ else None)
    added = top.add_subparsers(dest="verb", required=True, metavar="VERB", parser_class=Parser)
    for name, verb in VERBS.items():
        said = verb.answer.__doc__
        verb.arguments(added.add_parser(name, help=said, description=said))
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit status 0 with one JSON object printed, or 2 with one line on standard error."""
    warnings = MemoryHandler(1000, logging.CRITICAL)  # said with an answer; a refusal is one line
    logging.basicConfig(handlers=[warnings], level=logging.WARNING)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
    try:
        args = parser().parse_args(arguments)
        device.set_threads()
        answer = VERBS[args.verb].answer(args)
        warnings.setTarget(logging.StreamHandler(sys.stderr))
        warnings.flush()
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
