"""Checkpoints: a card beside its weights, in a folder of its own, checked before anything is made of them.

What is missing, altered or unreadable is refused, with what to do about it. Which cards there are, and what is built from them,
the kinds of models say themselves (`registry`, `translator`, `perceivers`).
"""

import dataclasses
import hashlib
import json
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol, TypeVar

from safetensors.torch import save as save_tensors
from torch import Tensor

from core.types import Refusal

ASSETS = Path(__file__).resolve().parents[2] / "assets"
CHECKPOINTS, VOCABULARIES = ASSETS / "checkpoints", ASSETS / "vocabularies"
WEIGHTS = "model.safetensors"
log = logging.getLogger(__name__)


class Named(Protocol):
    """A card: at least a name."""

    @property
    def name(self) -> str: ...


AnyCard = TypeVar("AnyCard", bound=Named)


def folder(name: str, root: Path = CHECKPOINTS) -> Path:
    """Where the files of a model are."""
    return root / name.replace(":", "@")


def read_cards(root: Path, file: str, parse: Callable[[Any], AnyCard]) -> dict[str, AnyCard]:
    """The card of every model that has a readable one in a `file` of that name, by name; an unreadable one is left out and
    logged."""
    found = {}
    for path in sorted(root.glob(f"**/{file}")):
        try:
            card = parse(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, KeyError) as error:
            log.warning("Left out %s: %s", path, error)
            continue
        found[card.name] = card
    return found


def pick(
    name: str,
    cards: Mapping[str, AnyCard],
    root: Path,
    file: str,
    kind: str = "model",
    suits: Callable[[AnyCard], bool] = lambda card: True,
) -> AnyCard:
    """The card of that name. Refuses one that lies there and cannot be read, an unknown name, and one that does not suit."""
    if name in cards and suits(cards[name]):
        return cards[name]
    if name not in cards and folder(name, root) / file in root.glob(f"**/{file}"):
        raise damaged("unreadable_card", name, f"its {file} cannot be read")
    allowed = ", ".join(other for other, card in cards.items() if suits(card)) or "none"
    raise Refusal("unknown_model", f"There is no {kind} {name!r}; there are {allowed}.", given=name, allowed=allowed)


def check(name: str, files: Sequence[Path], wanted: str) -> None:
    """Refuses files that are missing, or whose checksum is not the one that the card of `name` states."""
    if missing := next((file for file in files if not file.is_file()), None):
        raise damaged("missing_file", name, f"{missing.name} is missing", file=missing.name)
    if digest(files) != wanted:
        what = f"{files[0].name} was altered: its checksum is not the card's"
        raise damaged("altered_file", name, what, file=files[0].name)


@contextmanager
def fitting(name: str) -> Iterator[None]:
    """Refuses weights that do not fit the model that is built for them inside."""
    try:
        yield
    except Refusal:
        raise
    except (RuntimeError, ValueError, KeyError) as error:
        raise damaged("unfitting_weights", name, "its weights do not fit its card") from error


def digest(files: Sequence[Path]) -> str:
    """The sha256 of the files' content, one behind the other."""
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()


def write_weights(name: str, tensors: Mapping[str, Tensor], root: Path) -> Path:
    """Writes weights in half precision, and returns their file."""
    path = folder(name, root) / WEIGHTS
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(save_tensors({k: v.detach().half().cpu().contiguous() for k, v in tensors.items()}))
    return path


def write_card(card: Any, root: Path, file: str) -> None:
    """Writes a card beside its weights."""
    text = json.dumps(dataclasses.asdict(card), ensure_ascii=False, indent=1)
    (folder(card.name, root) / file).write_text(text + "\n", encoding="utf-8")


def damaged(code: str, name: str, what: str, **values: object) -> Refusal:
    """The refusal of a checkpoint that cannot be used."""
    remedy = f"Fetch the repository's file again or retrain it with `python -m core train {name}`."
    return Refusal(code, f"The checkpoint of {name!r} cannot be used: {what}. {remedy}", given=name, **values)
