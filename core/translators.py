"""What each translator is trained on and how: `python -m core train dates/gru-additive multi30k/gru-additive`.

A name explains itself: `data/gru-ATTENTION`, then `:epochs=N` for a training that is shorter than the recipe's, `:seed=N` for
another start. Settings and the epoch were chosen on validation; the test split is read once, for the card.
"""

import dataclasses
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from core import pairs
from core.models import registry, translator
from core.models import vocabulary as vocab
from core.models.decoder import ATTENTIONS
from core.models.translator import Translator, TranslatorCard
from core.models.vocabulary import Vocabulary
from core.translating import Epoch, Fitted, Score, bleu, exact, fit, loss_of, write
from core.types import Pair, Refusal

SHIPPED = ("dates/gru-additive", "multi30k/gru-additive")
FLOORS = {"dates/gru-additive": 0.98, "multi30k/gru-additive": 20.0}


@dataclass(frozen=True)
class Recipe:
    """How the translators of a data set are trained. `limits` are the largest vocabularies, of what is read and written."""

    unit: str
    languages: tuple[str, str]
    score: Score
    measure: str  # what the score is called on a card
    epochs: int
    limits: tuple[int, int]
    embedding_dim: int
    hidden_dim: int
    max_tokens: int
    max_output: int
    reach: float
    rate: float = 1e-3
    batch_size: int = 64
    dropout: float = 0.3
    smoothing: float = 0.1


RECIPES: dict[str, Recipe] = {
    "dates": Recipe(
        unit="letter",
        languages=("en, ko", "ISO 8601"),
        score=exact,
        measure="exact",
        epochs=10,
        limits=(200, 20),
        embedding_dim=32,
        hidden_dim=64,
        max_tokens=48,
        max_output=11,
        reach=3,
        rate=3e-3,
        dropout=0.05,
        smoothing=0.0,
    ),
    "multi30k": Recipe(
        unit="word",
        languages=("en", "de"),
        score=bleu,
        measure="bleu",
        epochs=10,
        limits=(5000, 6000),
        embedding_dim=128,
        hidden_dim=256,
        max_tokens=60,
        max_output=50,
        reach=5,
    ),
}


@dataclass(frozen=True)
class Name:
    """A translator's name, taken apart."""

    data: str
    attention: str
    epochs: int
    seed: int


def parse(name: str) -> Name:
    """The parts of a name; refuses one that no translator can be trained for, with what is allowed."""
    found = re.fullmatch(r"(\w+)/gru-(\w+)(?::epochs=([1-9]\d{0,2}))?(?::seed=(\d{1,9}))?", name)
    if not found or found[1] not in RECIPES or found[2] not in ATTENTIONS:
        kinds = f"DATA in {', '.join(RECIPES)}; ATTENTION in {', '.join(ATTENTIONS)}"
        allowed = f"DATA/gru-ATTENTION with {kinds}; then :epochs=N and :seed=N"
        sentence = f"{name!r} names no translator that can be trained; allowed is {allowed}."
        raise Refusal("untrainable", sentence, given=name, allowed=allowed)
    return Name(found[1], found[2], int(found[3] or RECIPES[found[1]].epochs), int(found[4] or 0))


def is_translator(name: str) -> bool:
    """Whether a name is that of a data set of pairs, whatever stands behind it."""
    return name.partition("/")[0] in RECIPES


def train(
    name: str,
    *,
    progress: Callable[[Sequence[Epoch]], bool | None] | None = None,
    checkpoint: Path | None = None,
    checkpoints: Path = registry.CHECKPOINTS,
    vocabularies: Path = registry.VOCABULARIES,
    root: Path | None = None,
) -> TranslatorCard | None:
    """Trains and saves a translator, measures it as read back, and returns its card; None where `progress` stopped it."""
    parts = parse(name)
    recipe = RECIPES[parts.data]
    examples, validation, test = (pairs.load(parts.data, split, root) for split in pairs.SPLITS)
    reads, writes = vocabularies_of(parts.data, examples, vocabularies)
    fitted = fit(
        untrained(name, reads, writes),
        examples,
        validation,
        score=recipe.score,
        epochs=parts.epochs,
        rate=recipe.rate,
        batch_size=recipe.batch_size,
        dropout=recipe.dropout,
        smoothing=recipe.smoothing,
        seed=parts.seed,
        progress=progress,
        checkpoint=checkpoint,
    )
    if fitted.stopped:
        return None
    card = _trained(fitted, recipe, len(examples), len(validation))
    translator.save(fitted.model, card, checkpoints)
    model = translator.load(name, root=checkpoints, vocabularies=vocabularies)
    figures = {recipe.measure: recipe.score(write(model, test), test), "loss": loss_of(model, test), "n": len(test)}
    floor = {"floor": FLOORS[name]} if name in FLOORS else {}
    card = dataclasses.replace(model.card, test=figures | {"split": "test"} | floor)
    translator.write_card(card, checkpoints)
    if checkpoint is not None:
        shutil.rmtree(checkpoint, ignore_errors=True)
    return card


def untrained(name: str, reads: Vocabulary, writes: Vocabulary) -> Translator:
    """The translator of that name as its training begins."""
    parts = parse(name)
    return translator.build(_draft(name, parts, RECIPES[parts.data], reads, writes), reads, writes)


def vocabularies_of(name: str, train: Sequence[Pair], folder: Path) -> tuple[Vocabulary, Vocabulary]:
    """What the translators of a data set read and write, built from the training pairs the first time."""
    found, sides = [], ([pair.text for pair in train], [pair.target for pair in train])
    for file, limit, texts in zip(_files(name), RECIPES[name].limits, sides, strict=True):
        path = folder / f"{file}.json"
        if not path.exists():
            vocab.save(vocab.build_symbols(texts, limit=limit), path)
        found.append(vocab.load(path))
    return found[0], found[1]


def _files(name: str) -> tuple[str, str]:
    return f"{name}_read", f"{name}_written"


def _draft(name: str, parts: Name, recipe: Recipe, reads: Vocabulary, writes: Vocabulary) -> TranslatorCard:
    return TranslatorCard(
        name=name,
        unit=recipe.unit,
        languages=recipe.languages,
        attention=parts.attention,
        reach=recipe.reach,
        embedding_dim=recipe.embedding_dim,
        hidden_dim=recipe.hidden_dim,
        max_tokens=recipe.max_tokens,
        max_output=recipe.max_output,
        seed=parts.seed,
        vocabularies=_files(parts.data),
        vocabulary_sha256=(reads.sha256, writes.sha256),
        weights_sha256="",
        terms=pairs.TERMS[parts.data],
        parameters=0,
        test={},
        training={},
    )


def _trained(fitted: Fitted[Translator], recipe: Recipe, n: int, validated: int) -> TranslatorCard:
    best: Epoch = fitted.history[fitted.best]
    training = {
        "n": n,
        "epochs": len(fitted.history),
        "best_epoch": fitted.best + 1,
        "selected_on": f"validation {recipe.measure}, n = {validated}",
        f"validation_{recipe.measure}": best.validation_score,
        "validation_loss": best.validation_loss,
        "rate": recipe.rate,
        "dropout": recipe.dropout,
        "smoothing": recipe.smoothing,
    }
    parameters = sum(p.numel() for p in fitted.model.parameters())
    return dataclasses.replace(fitted.model.card, training=training, parameters=parameters)
