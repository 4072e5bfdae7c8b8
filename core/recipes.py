"""What each committed model is trained on and how: `python -m core train NAME`, `make models`.

Settings were chosen on validation, once per data set, and are the same for its models; the test split is read once,
for the card.
"""

import dataclasses
import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from core import data
from core.interventions import scale
from core.models import registry, self_attention, wordpieces
from core.models import vocabulary as vocab
from core.models.encoders import ENCODERS
from core.models.scores import NORMALIZERS, SCORES
from core.models.text_model import TextModel, cut, fresh
from core.models.vocabulary import Vocabulary
from core.reading import ROLES
from core.training import Fitted, Progress, evaluate, fit
from core.types import Card, Example, Refusal, Task


@dataclass(frozen=True)
class Recipe:
    """How a data set's models are trained."""

    epochs: int
    dropout: float = 0.3
    rate: float = 1e-3
    batch_size: int = 32
    embedding_dim: int = 100
    hidden_dim: int = 64
    words: int = 8000  # the largest vocabulary
    subwords: bool = False
    minilm: bool = True  # whether embeddings start from word pieces of MiniLM, else from a normal distribution
    embedding_std: float = 0.25  # of the start values
    max_words: int = 512  # texts are cut there
    stories: int | None = None  # how many training stories are generated, where they are
    short_words: int = 0  # a first round on texts of at most so many words, in which the long ones are learned faster
    short_epochs: int = 0


STORIES = Recipe(
    epochs=10, dropout=0.0, rate=3e-3, minilm=False, embedding_std=1.0, embedding_dim=50, hidden_dim=32, stories=3000
)

RECIPES: dict[str, Recipe] = {
    "sst2": Recipe(epochs=6),
    "ag_news": Recipe(epochs=5),
    "newsgroups_sports": Recipe(epochs=10, rate=2e-3),
    "imdb": Recipe(epochs=6, max_words=400),
    "nsmc": Recipe(epochs=6, subwords=True, minilm=False),
    "babi1": STORIES,
    "babi2": dataclasses.replace(STORIES, stories=10_000),
    "babi3": dataclasses.replace(STORIES, stories=12_000, epochs=6, short_words=120, short_epochs=6),
    "snli": Recipe(epochs=7, dropout=0.4, embedding_std=0.4),
    "pronoun": Recipe(epochs=4),
}

FLOORS: dict[str, float] = {
    **{f"sst2/{e}-{s}": 0.80 for e in ENCODERS for s in ("additive", "scaled-dot")},
    "sst2/bilstm-additive": 0.82,
    f"sst2/{self_attention.NAME}": 0.80,
    **{f"ag_news/{e}-additive": 0.92 for e in ENCODERS},
    **{f"newsgroups_sports/{e}-additive": 0.89 for e in ("bilstm", "average")},
    **{f"imdb/{e}-additive": 0.85 for e in ("bilstm", "average")},
    "nsmc/bilstm-additive": 0.82,
    "babi1/bilstm-additive": 0.95,
    "babi2/bilstm-additive": 0.45,
    "babi3/bilstm-additive": 0.40,
    "snli/bilstm-additive": 0.60,
    "pronoun/bilstm-additive": 0.98,
}

SHIPPED: tuple[str, ...] = (
    *FLOORS,
    *(f"babi{n}/average-additive" for n in (1, 2, 3)),
    *(f"snli/{e}-additive" for e in ("cnn", "average")),
    "imdb/cnn-additive",
    "nsmc/average-additive",
    *(f"sst2/bilstm-{s}" for s in ("dot", "general", "cosine", "location")),
    "sst2/bilstm-additive:sparsemax",
)


@dataclass(frozen=True)
class Name:
    """A model's name, taken apart."""

    data: str
    encoder: str
    score: str
    normalizer: str
    seed: int


def parse(name: str) -> Name:
    """The parts of `data/encoder-score[:sparsemax][:seed=N]`; refuses anything else with what is allowed."""
    base, *variants = name.split(":")
    source, _, kind = base.partition("/")
    encoder, _, score = kind.partition("-") if kind != self_attention.NAME else (kind, "", "scaled-dot")
    normalizer, seed, good = "softmax", 0, source in RECIPES and encoder in ENCODERS and score in SCORES
    good = good or (encoder == self_attention.NAME and source in RECIPES and data.TASKS[source].kind == "classification")
    for variant in variants:
        if variant in NORMALIZERS:
            normalizer = variant
        elif given := re.fullmatch("seed=([0-9]{1,9})", variant):
            seed = int(given[1])
        else:
            good = False
    if not good:
        kinds = f"DATA in {', '.join(RECIPES)}; ENCODER in {', '.join(ENCODERS)}; SCORE in {', '.join(SCORES)}"
        more = ":sparsemax or :seed=N, N below a billion"
        allowed = f"DATA/ENCODER-SCORE with {kinds}; DATA/{self_attention.NAME} for data without a query; then {more}"
        sentence = f"{name!r} names no model that can be trained; allowed is {allowed}."
        raise Refusal("untrainable", sentence, given=name, allowed=allowed)
    return Name(source, encoder, score, normalizer, seed)


def train(
    name: str,
    *,
    progress: Callable[[Progress], bool | None] | None = None,
    checkpoint: Path | None = None,
    checkpoints: Path = registry.CHECKPOINTS,
    vocabularies: Path = registry.VOCABULARIES,
    root: Path | None = None,
) -> Card | None:
    """Trains and saves a model, measures it as read back, and returns its card; None where `progress` stopped it."""
    parts, recipe = parse(name), RECIPES[parse(name).data]
    examples, validation, test = (_load(parts.data, split, recipe, root) for split in data.SPLITS)
    words = _vocabulary(parts.data, recipe, examples, vocabularies)
    fitted = _fitted(_fresh(name, parts, recipe, words), recipe, parts.seed, examples, validation, progress, checkpoint)
    if fitted.stopped:
        return None
    training = _training(parts.data, recipe, len(examples), len(validation), fitted)
    parameters = sum(p.numel() for p in fitted.model.parameters())
    registry.save(fitted.model, dataclasses.replace(fitted.model.card, training=training, parameters=parameters), checkpoints)
    card = _measured(name, checkpoints, vocabularies, examples, test)
    registry.write_card(card, checkpoints)
    if checkpoint is not None:
        shutil.rmtree(checkpoint, ignore_errors=True)
    return card


def _fresh(name: str, parts: Name, recipe: Recipe, words: Vocabulary) -> TextModel:
    """The model before training."""
    card = _draft(name, parts, recipe, words)
    model = fresh(registry.KINDS[parts.encoder], card, words, parts.seed, recipe.embedding_std)
    if recipe.minilm:
        with torch.no_grad():
            model.embedding.weight.copy_(wordpieces.vectors(words, recipe.embedding_dim, recipe.embedding_std))
    return model


def _fitted(
    model: TextModel,
    recipe: Recipe,
    seed: int,
    train: Sequence[Example],
    validation: Sequence[Example],
    progress: Callable[[Progress], bool | None] | None,
    checkpoint: Path | None,
) -> Fitted:
    """Trained as the recipe says, on short texts first where it says so."""
    fit_on = partial(fit, rate=recipe.rate, seed=seed, batch_size=recipe.batch_size, dropout=recipe.dropout, progress=progress)
    if recipe.short_words:
        short, checked = ([e for e in part if len(e.text) <= recipe.short_words] for part in (train, validation))
        first = fit_on(
            model, short, checked, epochs=recipe.short_epochs, checkpoint=checkpoint / "short" if checkpoint else None
        )
        if first.stopped:
            return first
        model = first.model
    return fit_on(model, train, validation, epochs=recipe.epochs, checkpoint=checkpoint)


def _training(source: str, recipe: Recipe, n: int, validated: int, fitted: Fitted) -> dict[str, Any]:
    """What a card says of the training."""
    first = f"{recipe.short_epochs} epochs on texts of at most {recipe.short_words} words" if recipe.short_words else None
    return {
        "data": source,
        "n": n,
        "epochs": recipe.epochs,
        "best_epoch": fitted.best + 1,
        "selected_on": f"validation accuracy, n = {validated}",
        "validation_accuracy": fitted.history[fitted.best].validation_accuracy,
        "rate": recipe.rate,
        "dropout": recipe.dropout,
        "start": "MiniLM word pieces" if recipe.minilm else "random",
        "first_round": first,
    }


def _load(name: str, split: str, recipe: Recipe, root: Path | None) -> list[Example]:
    limit = recipe.stories if split == "train" else None
    return [cut(e, data.TASKS[name], recipe.max_words) for e in data.load(name, split, root=root, limit=limit)]


def _measured(name: str, checkpoints: Path, vocabularies: Path, train: Sequence[Example], test: Sequence[Example]) -> Card:
    """The card of a saved model with its figures on the test split."""
    model = registry.load(name, root=checkpoints, vocabularies=vocabularies)
    found = evaluate(model, test)
    figures = {"accuracy": found["accuracy"], "f1": found["f1"], "n": found["n"], "split": "test"}
    if model.card.task.kind == "classification":
        pieces = model.vocabulary if RECIPES[parse(name).data].subwords else None
        figures["naive_bayes_accuracy"] = naive_bayes(train, test, pieces)
    else:
        silent = evaluate(model, test, intervene=lambda batch: scale(0.0))
        figures[f"accuracy_blank_{ROLES[model.card.task.kind][0]}"] = silent["accuracy"]
    if name in FLOORS:
        figures["floor"] = FLOORS[name]
    return dataclasses.replace(registry.cards(checkpoints)[name], test=figures)


def _draft(name: str, parts: Name, recipe: Recipe, words: Vocabulary) -> Card:
    task: Task = data.TASKS[parts.data]
    return Card(
        name=name,
        task=task,
        encoder=parts.encoder,
        score=parts.score,
        normalizer=parts.normalizer,
        embedding_dim=recipe.embedding_dim,
        hidden_dim=recipe.hidden_dim,
        layers=TextModel.n_layers,
        heads=self_attention.HEADS if parts.encoder == self_attention.NAME else 1,
        parameters=0,
        max_tokens=recipe.max_words,
        seed=parts.seed,
        vocabulary=parts.data,
        vocabulary_sha256=words.sha256,
        weights_sha256="",
        terms=data.TERMS[parts.data],
        test={},
        training={},
    )


def _vocabulary(name: str, recipe: Recipe, train: Sequence[Example], folder: Path) -> Vocabulary:
    """The vocabulary that the models of a data set share, built from the training texts the first time."""
    path = folder / f"{name}.json"
    if not path.exists():
        texts = [part for example in train for part in (example.text, example.query) if part]
        make = vocab.build_pieces if recipe.subwords else vocab.build_words
        vocab.save(make(texts, limit=recipe.words), path)
    return vocab.load(path)


def naive_bayes(train: Sequence[Example], test: Sequence[Example], pieces: Vocabulary | None = None) -> float:
    """Test accuracy of naive Bayes over words, or over the pieces that a vocabulary cuts them into: what is possible without
    any order."""
    # Imported here because only training needs it, and it takes longer to load than an explanation to compute.
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    def units(example: Example) -> Sequence[object]:
        return vocab.ids(pieces, example.text)[0] if pieces else [word.lower() for word in example.text]

    counter = CountVectorizer(analyzer=units)
    bayes = MultinomialNB().fit(counter.fit_transform(train), [e.label for e in train])
    return float(bayes.score(counter.transform(test), [e.label for e in test]))
