"""The committed models: a card and a safetensors file in a folder, read back only when their checksums agree.

A model's name is a path that explains itself, `data/encoder-score`, with variants behind a colon; on disk the colon
is written @. Weights are kept in half precision; every figure on a card was measured on the model as it is read back.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load as load_tensors

from core.device import StateCache
from core.models import checkpoints, minilm, wordpieces
from core.models import vocabulary as vocab
from core.models.checkpoints import CHECKPOINTS, VOCABULARIES, WEIGHTS, folder
from core.models.classifier import Classifier
from core.models.encoders import ENCODERS
from core.models.scores import NORMALIZERS, SCORES
from core.models.self_attention import NAME as SELF_ATTENTION
from core.models.self_attention import SelfAttention
from core.models.text_model import Model, TextModel, WordModel
from core.models.transformer import FAMILIES, Transformer
from core.types import Card, Refusal, Task

CARD, EMBEDDING = "card.json", "embedding.weight"
WORD_MODELS: dict[str, type[WordModel]] = {**dict.fromkeys(ENCODERS, Classifier), SELF_ATTENTION: SelfAttention}
TRANSFORMERS = (minilm.NAME, *FAMILIES)  # the one that is committed, and those that a reader may bring
KINDS: dict[str, type[TextModel]] = {**WORD_MODELS, **dict.fromkeys(TRANSFORMERS, Transformer)}  # by encoder


def cards(root: Path = CHECKPOINTS) -> dict[str, Card]:
    """The card of every model that has a readable one, by name; an unreadable card is left out and logged."""
    return checkpoints.read_cards(root, CARD, card_from_json)


def load(
    name: str,
    device: torch.device | str = "cpu",
    *,
    cache: StateCache | None = None,
    root: Path = CHECKPOINTS,
    vocabularies: Path = VOCABULARIES,
) -> TextModel:
    """The model of that name. Refuses an unknown name, and files that are missing, damaged or not the card's."""
    card = checkpoints.pick(name, cards(root), root, CARD)
    adapter = card.encoder == minilm.NAME
    words = wordpieces.folder() / "tokenizer.json" if adapter else vocabularies / f"{card.vocabulary}.json"
    files = _files(card, root)
    checkpoints.check(name, [words], card.vocabulary_sha256)
    checkpoints.check(name, files, card.weights_sha256)
    with checkpoints.fitting(name):
        model = minilm.load(card, folder(name, root), cache) if adapter else _of_words(card, words, files, cache)
    return model.to(device).requires_grad_(False)


def _of_words(card: Card, words: Path, files: Sequence[Path], cache: StateCache | None) -> WordModel:
    """One of our own models from its files."""
    with torch.device("meta"):
        model = WORD_MODELS[card.encoder](card, vocab.load(words), cache)
    tensors = load_tensors(files[0].read_bytes())
    for lender in files[1:]:
        tensors[EMBEDDING] = load_tensors(lender.read_bytes())[EMBEDDING]
    model.load_state_dict({key: value.float() for key, value in tensors.items()}, assign=True)
    return model


def suits(card: Card, kind: type[TextModel]) -> bool:
    """Whether a card is that of a model of a kind."""
    return issubclass(KINDS[card.encoder], kind)


def needed(model: TextModel, kind: type[Model]) -> Model:
    """The model, for what can be asked of one kind only. Refuses another kind, and names those that are there."""
    if isinstance(model, kind):
        return model
    given, wanted = model.card, ", ".join(name for name, suited in KINDS.items() if issubclass(suited, kind))
    sentence = f"This cannot be asked of {given.name}, whose encoder is {given.encoder}; allowed are models with {wanted}."
    raise Refusal("unsuited_model", sentence, given=given.name, allowed=wanted)


def _files(card: Card, root: Path) -> list[Path]:
    """The files of a model's weights: its own, and where it shares input vectors, those of their owner, which may be a
    committed model."""
    path = folder(card.name, root)
    if card.encoder == minilm.NAME:
        return [path / minilm.WEIGHTS, path / minilm.CONFIG]
    own = path / WEIGHTS
    if not card.embedding:
        return [own]
    lender = folder(card.embedding, root) / WEIGHTS
    return [own, lender if lender.is_file() else folder(card.embedding) / WEIGHTS]


def save(model: WordModel, card: Card, root: Path = CHECKPOINTS) -> Card:
    """Writes the weights in half precision and the card, and returns the card with the checksum of the weights."""
    own = {k: v for k, v in model.state_dict().items() if not (card.embedding and k == EMBEDDING)}
    checkpoints.write_weights(card.name, own, root)
    card = dataclasses.replace(card, weights_sha256=checkpoints.digest(_files(card, root)))
    write_card(card, root)
    return card


def write_card(card: Card, root: Path = CHECKPOINTS) -> None:
    """Writes a card beside its weights."""
    checkpoints.write_card(card, root, CARD)


def card_from_json(content: dict[str, Any]) -> Card:
    """The card that a card.json holds. Raises `ValueError`, `TypeError` or `KeyError` where no model can be built from it."""
    task = content["task"]
    card = Card(**{**content, "task": Task(**{**task, "labels": tuple(task["labels"])})})
    for value, known in ((card.encoder, KINDS), (card.score, SCORES), (card.normalizer, NORMALIZERS)):
        if value not in known:
            raise ValueError(f"{value!r} is none of {', '.join(known)}")
    for size in (card.embedding_dim, card.hidden_dim, card.max_tokens, card.heads):
        if not isinstance(size, int) or size < 1:
            raise ValueError(f"{size!r} is no size")
    return card
