"""The committed perceivers: a card and a safetensors file in a folder, read back only when their checksums agree.

They lie beside the classifiers (`core.models.registry`), with the same habits: a variant's colon is written @ on disk, weights
are kept in half precision, and every figure on a card was measured on the model as it is read back.
"""

import dataclasses
import hashlib
import json
import logging
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors

from core.models import decoder
from core.models.captioner import Captioner
from core.models.listener import Listener
from core.models.perceiver import Perceiver, PerceiverCard
from core.models.registry import CHECKPOINTS, WEIGHTS, folder
from core.types import Refusal

CARD = "perceiver.json"
KINDS: dict[str, type[Perceiver]] = {"scene": Captioner, "sound": Listener}  # by what they perceive
log = logging.getLogger(__name__)


def fresh(card: PerceiverCard) -> Perceiver:
    """A perceiver with fresh weights that depend on the card's seed alone."""
    return decoder.fresh(lambda: _built(card), card.seed)


def cards(root: Path = CHECKPOINTS) -> dict[str, PerceiverCard]:
    """The card of every perceiver that has a readable one, by name; an unreadable card is left out and logged."""
    found = {}
    for path in sorted(root.glob(f"**/{CARD}")):
        try:
            card = card_from_json(json.loads(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError, KeyError) as error:
            log.warning("Left out %s: %s", path, error)
            continue
        found[card.name] = card
    return found


def load(name: str, sense: str, root: Path = CHECKPOINTS) -> Perceiver:
    """The perceiver of that name and sense. Refuses other names, and files that are missing, damaged or not the card's."""
    known = {other: card for other, card in cards(root).items() if card.sense == sense}
    if name not in known:
        if (folder(name, root) / CARD) in root.glob(f"**/{CARD}") and name not in cards(root):
            raise _damaged("unreadable_card", name, f"its {CARD} cannot be read")
        allowed = ", ".join(known) or "none"
        sentence = f"There is no model {name!r} for a {sense}; there are {allowed}."
        raise Refusal("unknown_model", sentence, given=name, allowed=allowed)
    card, file = known[name], folder(name, root) / WEIGHTS
    if not file.is_file():
        raise _damaged("missing_file", name, f"{WEIGHTS} is missing", file=WEIGHTS)
    content = file.read_bytes()
    if hashlib.sha256(content).hexdigest() != card.weights_sha256:
        raise _damaged("altered_file", name, f"{WEIGHTS} was altered: its checksum is not the card's", file=WEIGHTS)
    try:
        with torch.device("meta"):
            model = _built(card)
        model.load_state_dict({key: value.float() for key, value in load_tensors(content).items()}, assign=True)
    except (RuntimeError, ValueError, KeyError) as error:
        raise _damaged("unfitting_weights", name, "its weights do not fit its card") from error
    return model.requires_grad_(False)


def save(model: Perceiver, card: PerceiverCard, root: Path = CHECKPOINTS) -> PerceiverCard:
    """Writes the weights in half precision and the card, and returns the card with the checksum of the weights."""
    path = folder(card.name, root)
    path.mkdir(parents=True, exist_ok=True)
    content = save_tensors({k: v.detach().half().cpu().contiguous() for k, v in model.state_dict().items()})
    (path / WEIGHTS).write_bytes(content)
    card = dataclasses.replace(card, weights_sha256=hashlib.sha256(content).hexdigest())
    write_card(card, root)
    return card


def write_card(card: PerceiverCard, root: Path = CHECKPOINTS) -> None:
    """Writes a card beside its weights."""
    text = json.dumps(dataclasses.asdict(card), ensure_ascii=False, indent=1)
    (folder(card.name, root) / CARD).write_text(text + "\n", encoding="utf-8")


def card_from_json(content: dict[str, Any]) -> PerceiverCard:
    """The card that a file holds. Raises `ValueError`, `TypeError` or `KeyError` where no model can be built from it."""
    card = PerceiverCard(**{**content, "words": tuple(content["words"])})
    if card.sense not in KINDS:
        raise ValueError(f"{card.sense!r} is none of {', '.join(KINDS)}")
    for size in (card.embedding_dim, card.hidden_dim, card.max_output):
        if not isinstance(size, int) or size < 1:
            raise ValueError(f"{size!r} is no size")
    return card


def _built(card: PerceiverCard) -> Perceiver:
    return KINDS[card.sense](card)  # type: ignore[call-arg]


def _damaged(code: str, name: str, what: str, **values: object) -> Refusal:
    remedy = f"Fetch the repository's file again or retrain it with `python -m core train {name}`."
    return Refusal(code, f"The checkpoint of {name!r} cannot be used: {what}. {remedy}", given=name, **values)
