"""What each committed model is trained on and how: `python -m core train NAME`, `make models`.

Settings were chosen on validation, once per data set, and are the same for its models; the test split is read once,
for the card.
"""

import dataclasses
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from core import data, variants
from core.interventions import scale
from core.models import registry, self_attention, wordpieces
from core.models import vocabulary as vocab
from core.models.encoders import ENCODERS
from core.models.text_model import TextModel, WordModel, cut, fresh
from core.models.vocabulary import Vocabulary
from core.reading import ROLES
from core.training import Fitted, Progress, evaluate, fit
from core.types import Card, Example, Task
from core.variants import Name, Obtain, Variant


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
    "sst_wiki": Recipe(epochs=6),
    "movie_rationales": Recipe(epochs=4, rate=2e-3, batch_size=16),
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
    "movie_rationales/bilstm-additive": 0.80,
    "movie_rationales/average-additive": 0.78,
}

SHIPPED: tuple[str, ...] = (
    *FLOORS,
    *(f"babi{n}/average-additive" for n in (1, 2, 3)),
    *(f"snli/{e}-additive" for e in ("cnn", "average")),
    "imdb/cnn-additive",
    "nsmc/average-additive",
    *(f"sst2/bilstm-{s}" for s in ("dot", "general", "cosine", "location")),
    "sst2/bilstm-additive:sparsemax",
    *(f"sst2/bilstm-additive:seed={n}" for n in range(1, 8)),
    "imdb/bilstm-additive:words=200",
    *(f"{name}:uniform" for name in ("sst2/bilstm-additive", "sst2/average-additive", "imdb/bilstm-additive:words=200")),
    *(f"sst2/bilstm-additive:adversary={s}" for s in ("0.001", "0.0022", "0.0046", "0.01", "0.022", "0.046")),
    *(f"imdb/bilstm-additive:words=200:adversary={s}" for s in ("0.001", "0.0046", "0.022")),
    *(f"sst2/average-additive:guide={guide}" for guide in ("base", "adversary")),
    *(f"{name}/bilstm-additive:uniform" for name in ("ag_news", "newsgroups_sports")),
    *(f"{name}/average-additive" for name in ("pronoun", "sst_wiki")),
    "sst_wiki/bilstm-additive",
    *(f"{d}/{e}-additive:deceptive={s}" for d in ("pronoun", "sst_wiki") for e in ("average", "bilstm") for s in ("0.1", "1")),
)


def parse(name: str) -> Name:
    """The parts of a name over the data sets that have a recipe; refuses anything else with what is allowed."""
    return variants.parse(name, tuple(RECIPES))


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
    parts = parse(name)
    recipe = _recipe(parts)
    examples, validation, test = (_load(parts, split, recipe, root) for split in data.SPLITS)
    words = _vocabulary(parts.data, recipe, examples, vocabularies)
    obtained = partial(obtain, checkpoints=checkpoints, vocabularies=vocabularies)
    wanted = variants.variant(parts, obtained)
    model = _fresh(_draft(name, parts, recipe, words), recipe, words, wanted, obtained)
    fitted = _fitted(model, recipe, wanted, examples, validation, progress, checkpoint)
    if fitted.stopped:
        return None
    training = _training(parts.data, recipe, wanted, len(examples), len(validation), fitted)
    own = sum(p.numel() for key, p in fitted.model.named_parameters() if key not in wanted.frozen)
    card = dataclasses.replace(fitted.model.card, training=training, parameters=own, embedding=wanted.shares)
    registry.save(fitted.model, card, checkpoints)
    card = _measured(name, checkpoints, vocabularies, wanted, examples, test)
    registry.write_card(card, checkpoints)
    if checkpoint is not None:
        shutil.rmtree(checkpoint, ignore_errors=True)
    return card


def obtain(name: str, checkpoints: Path = registry.CHECKPOINTS, vocabularies: Path = registry.VOCABULARIES) -> TextModel:
    """The model from the folder of checkpoints, else the committed one; refuses a name that is in neither."""
    here = name in registry.cards(checkpoints)
    return registry.load(name, root=checkpoints if here else registry.CHECKPOINTS, vocabularies=vocabularies)


def _recipe(parts: Name) -> Recipe:
    recipe = RECIPES[parts.data]
    return recipe if parts.words is None else dataclasses.replace(recipe, max_words=parts.words)


def _fresh(card: Card, recipe: Recipe, words: Vocabulary, wanted: Variant, obtained: Obtain) -> WordModel:
    """The model before training."""
    model: WordModel = fresh(registry.WORD_MODELS[card.encoder], card, words, card.seed + wanted.seed, recipe.embedding_std)
    with torch.no_grad():
        if wanted.shares:
            model.embedding.weight.copy_(_lender(obtained(wanted.shares)).embedding.weight)
        elif recipe.minilm:
            model.embedding.weight.copy_(wordpieces.vectors(words, recipe.embedding_dim, recipe.embedding_std))
    return model


def _lender(model: TextModel) -> WordModel:
    assert isinstance(model, WordModel)
    return model


def _fitted(
    model: WordModel,
    recipe: Recipe,
    wanted: Variant,
    train: Sequence[Example],
    validation: Sequence[Example],
    progress: Callable[[Progress], bool | None] | None,
    checkpoint: Path | None,
) -> Fitted:
    """Trained as the recipe and the variant say, on short texts first where the recipe says so."""
    fit_on = partial(
        fit,
        loss=wanted.loss,
        intervene=wanted.intervene,
        select=wanted.select,
        frozen=wanted.frozen,
        patience=wanted.patience,
        rate=recipe.rate,
        seed=model.card.seed + wanted.seed,
        batch_size=recipe.batch_size,
        dropout=recipe.dropout if wanted.dropout is None else wanted.dropout,
        progress=progress,
    )
    if recipe.short_words:
        short, checked = ([e for e in part if len(e.text) <= recipe.short_words] for part in (train, validation))
        first = fit_on(
            model, short, checked, epochs=recipe.short_epochs, checkpoint=checkpoint / "short" if checkpoint else None
        )
        if first.stopped:
            return first
        model = first.model
    return fit_on(model, train, validation, epochs=wanted.epochs or recipe.epochs, checkpoint=checkpoint)


def _training(source: str, recipe: Recipe, wanted: Variant, n: int, validated: int, fitted: Fitted) -> dict[str, Any]:
    """What a card says of the training."""
    first = f"{recipe.short_epochs} epochs on texts of at most {recipe.short_words} words" if recipe.short_words else None
    return {
        "data": source,
        "n": n,
        "epochs": wanted.epochs or recipe.epochs,
        "best_epoch": fitted.best + 1,
        "selected_on": f"validation {wanted.select}, n = {validated}",
        "validation_accuracy": fitted.history[fitted.best].validation_accuracy,
        "rate": recipe.rate,
        "dropout": recipe.dropout if wanted.dropout is None else wanted.dropout,
        "start": f"input vectors of {wanted.shares}, kept" if wanted.shares else _start(recipe),
        "first_round": first,
        **({"variant": wanted.says} if wanted.says else {}),
    }


def _start(recipe: Recipe) -> str:
    return "MiniLM word pieces" if recipe.minilm else "random"


def _load(parts: Name, split: str, recipe: Recipe, root: Path | None) -> list[Example]:
    limit = recipe.stories if split == "train" else None
    examples = [cut(e, data.TASKS[parts.data], recipe.max_words) for e in data.load(parts.data, split, root=root, limit=limit)]
    return [variants.without_marked(e) for e in examples] if parts.variant == "anonymised" else examples


def _measured(
    name: str, checkpoints: Path, vocabularies: Path, wanted: Variant, train: Sequence[Example], test: Sequence[Example]
) -> Card:
    """The card of a saved model with its figures on the test split."""
    model = registry.load(name, root=checkpoints, vocabularies=vocabularies)
    found = evaluate(model, test, intervene=wanted.intervene)
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
        layers=WordModel.n_layers,
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
