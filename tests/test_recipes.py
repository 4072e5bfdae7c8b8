"""Recipes: names taken apart, a small model trained and saved with figures that hold, and the bar that naive Bayes sets."""

from pathlib import Path

import pandas as pd
import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordPiece

from core import data, recipes
from core.models import registry
from core.models import vocabulary as vocab
from core.recipes import Name
from core.training import evaluate
from core.types import Refusal
from tests.small import example

MODEL = "sst2/average-additive:seed=3"
SMALL = recipes.Recipe(epochs=3, rate=0.05, batch_size=8, minilm=False, embedding_dim=5, hidden_dim=3)


@pytest.fixture
def reviews(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with reviews whose label is one word, and a recipe small enough for them."""
    for split, n in (("train", 60), ("validation", 20), ("test", 30)):
        rows = [(f"the film {i % 7} is {('bad', 'good')[i % 2]}", i % 2) for i in range(n)]
        (tmp_path / "sst2").mkdir(exist_ok=True)
        pd.DataFrame(rows, columns=["sentence", "label"]).to_parquet(tmp_path / "sst2" / f"{split}.parquet")
    monkeypatch.setitem(recipes.RECIPES, "sst2", SMALL)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("sst2/bilstm-additive", Name("sst2", "bilstm", "additive", "softmax", 0)),
        ("babi2/average-scaled-dot:seed=12", Name("babi2", "average", "scaled-dot", "softmax", 12)),
        ("sst2/cnn-cosine:sparsemax:seed=1", Name("sst2", "cnn", "cosine", "sparsemax", 1)),
    ],
)
def test_a_name_explains_itself(name: str, parts: Name) -> None:
    assert recipes.parse(name) == parts


@pytest.mark.parametrize(
    "name", ["", "sst2", "sst2/bilstm", "sst3/bilstm-additive", "sst2/bilstm-additive:seed=x", "sst2/gru-dot"]
)
def test_other_names_are_refused(name: str) -> None:
    with pytest.raises(Refusal, match="allowed is DATA/ENCODER-SCORE"):
        recipes.parse(name)


def test_every_shipped_name_can_be_trained() -> None:
    assert len(set(recipes.SHIPPED)) == len(recipes.SHIPPED)
    assert {recipes.parse(name).data for name in recipes.SHIPPED} == set(recipes.RECIPES)


def test_a_card_says_what_the_saved_model_does(reviews: Path) -> None:
    card = recipes.train(MODEL, checkpoints=reviews, vocabularies=reviews, root=reviews)
    assert card is not None and card == registry.cards(reviews)[MODEL]
    found = evaluate(registry.load(MODEL, root=reviews, vocabularies=reviews), data.load("sst2", "test", root=reviews))
    assert card.test == {**{k: found[k] for k in ("accuracy", "f1", "n")}, "split": "test", "naive_bayes_accuracy": 1.0}
    assert card.training["selected_on"] == "validation accuracy, n = 20" and card.training["n"] == 60
    assert card.seed == 3 and card.parameters == sum(
        p.numel() for p in registry.load(MODEL, root=reviews, vocabularies=reviews).parameters()
    )


def test_a_stopped_training_writes_no_model(reviews: Path) -> None:
    stop = recipes.train(MODEL, progress=lambda now: now.epoch < 2, checkpoints=reviews, vocabularies=reviews, root=reviews)
    assert stop is None and registry.cards(reviews) == {}


def test_naive_bayes_counts_words_or_the_pieces_of_words() -> None:
    """A word that was never seen says nothing to one who counts words; its ending does to one who counts pieces."""
    seen = [example("walked talked", label=0), example("walking talking", label=1)]
    test = [example("baked", label=0), example("baking", label=1)]
    table = {piece: i for i, piece in enumerate((*vocab.SPECIALS, "walk", "talk", "bak", "##ed", "##ing"))}
    pieces = vocab.Vocabulary(Tokenizer(WordPiece(table, unk_token="[UNK]")), sha256="")
    assert recipes.naive_bayes(seen, test) == 0.5
    assert recipes.naive_bayes(seen, test, pieces) == 1.0
