"""The committed perceivers: a card and a safetensors file in a folder, read back only when their checksums agree.

They lie beside the classifiers (`core.models.registry`), with the same habits: a variant's colon is written @ on disk, weights
are kept in half precision, and every figure on a card was measured on the model as it is read back.
"""

import dataclasses
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load as load_tensors

from core.models import checkpoints, decoder
from core.models.captioner import Captioner
from core.models.checkpoints import CHECKPOINTS, WEIGHTS, folder
from core.models.listener import Listener
from core.models.perceiver import Perceiver, PerceiverCard

CARD = "perceiver.json"
KINDS: dict[str, type[Perceiver]] = {"scene": Captioner, "sound": Listener}  # by what they perceive


def fresh(card: PerceiverCard) -> Perceiver:
    """A perceiver with fresh weights that depend on the card's seed alone."""
    return decoder.fresh(lambda: _built(card), card.seed)


def cards(root: Path = CHECKPOINTS) -> dict[str, PerceiverCard]:
    """The card of every perceiver that has a readable one, by name; an unreadable card is left out and logged."""
    return checkpoints.read_cards(root, CARD, card_from_json)


def load(name: str, sense: str, root: Path = CHECKPOINTS) -> Perceiver:
    """The perceiver of that name and sense. Refuses other names, and files that are missing, damaged or not the card's."""
    kind = KINDS[sense].__name__.lower()
    card = checkpoints.pick(name, cards(root), root, CARD, kind, suits=lambda card: card.sense == sense)
    file = folder(name, root) / WEIGHTS
    checkpoints.check(name, [file], card.weights_sha256)
    with checkpoints.fitting(name):
        with torch.device("meta"):
            model = _built(card)
        tensors = load_tensors(file.read_bytes())
        model.load_state_dict({key: value.float() for key, value in tensors.items()}, assign=True)
    return model.requires_grad_(False)


def save(model: Perceiver, card: PerceiverCard, root: Path = CHECKPOINTS) -> PerceiverCard:
    """Writes the weights in half precision and the card, and returns the card with the checksum of the weights."""
    file = checkpoints.write_weights(card.name, model.state_dict(), root)
    card = dataclasses.replace(card, weights_sha256=checkpoints.digest([file]))
    write_card(card, root)
    return card


def write_card(card: PerceiverCard, root: Path = CHECKPOINTS) -> None:
    """Writes a card beside its weights."""
    checkpoints.write_card(card, root, CARD)


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
