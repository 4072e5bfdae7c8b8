"""What the tree page shows, as plain values: words and pieces of one text, cuts, sentences, and a test set by hand."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
import torch

from core.attattr.attribution import attribution
from core.attattr.tree import Edge, Tree, tree
from core.reading import Reading
from dashboard import branches, grown, resources, texts
from dashboard.axes import to_spec
from tests.small import example
from tests.small_transformers import LAYERS, small_transformer

TEXT = "the films is unsly good"  # nine pieces with the special ones
LANGUAGES = ("en", "ko")
MODEL = "sst2/minilm"


@pytest.fixture(scope="module")
def model():
    return small_transformer()


@pytest.fixture(scope="module")
def found(model) -> grown.Seen:
    return grown.seen(model, Reading(example(TEXT), 0, ()), target=None)


def test_words_and_pieces_hold_the_same_attribution(model, found: grown.Seen) -> None:
    words, pieces = found.levels["words"], found.levels["pieces"]
    assert words.names == ("[CLS]", *TEXT.split(), "[SEP]") and words.special == {0, 6}
    assert "##s" in pieces.names and pieces.special == {0, len(pieces.names) - 1}
    np.testing.assert_allclose(words.attribution.sum((1, 2)), pieces.attribution.sum((1, 2)), atol=1e-6)
    np.testing.assert_allclose(words.weights.sum(-1), 1, atol=1e-5)
    assert words.attribution.shape == (LAYERS, 7, 7)
    assert found.prob == max(found.prediction.values())
    assert found.error == pytest.approx(float(attribution(model, model.encode([example(TEXT)])).error.max()))


def test_a_named_label_is_explained(model, found: grown.Seen) -> None:
    other = min(found.prediction, key=lambda name: found.prediction[name])
    assert grown.seen(model, Reading(example(TEXT), 0, ()), target=other).prob == pytest.approx(found.prediction[other])


@pytest.mark.parametrize("units", grown.UNITS)
def test_cuts_are_asked_of_the_model(model, found: grown.Seen, units: str) -> None:
    reading, level = Reading(example(TEXT), 0, ()), found.levels[units]
    made = tree(level.attribution, tau=0.1)
    assert made.edges
    arms = grown.arms(level, made, seed=3)
    sets = ((), *(cut for draws in arms.values() for cut in draws))
    none, *probs = grown.without(model, reading, target=found.target, units=units, cuts=sets)
    assert none == pytest.approx(found.prob, abs=1e-6)
    table = grown.effects(arms, probs, found.prob)
    assert table["group"].tolist() == ["none", *grown.ARMS] and table["draws"].tolist() == [1, 1, grown.DRAWS, 1, 1]
    assert table["mean"].iloc[1] == pytest.approx(probs[0]) and probs[0] != pytest.approx(none, abs=1e-6)
    assert (table["low"] <= table["mean"] + 1e-9).all() and (table["mean"] <= table["high"] + 1e-9).all()


def test_random_edges_follow_the_seed(found: grown.Seen) -> None:
    level = found.levels["pieces"]
    made = tree(level.attribution, tau=0.1)
    assert grown.arms(level, made, 1) == grown.arms(level, made, 1) != grown.arms(level, made, 2)


HAND = Tree(2, (Edge(1, 2, 1, 0.3), Edge(3, 2, 1, 0.1), Edge(4, 1, 0, 0.2)))
NAMES = ("[CLS]", "good", "good", "<b>", "film", "[SEP]")
LEVEL = grown.Level(NAMES, frozenset({0, 5}), np.zeros((3, 6, 6)), np.zeros((3, 6, 6)))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_tree_is_told(lang: str) -> None:
    t = texts.page("tree", lang)
    said = grown.reading_of(t, LEVEL, HAND, 3)
    assert "good" in said and "3" in said and "+0.300" in said
    assert grown.named(t, LEVEL, HAND.edges[2]) == "1: film → good (1)"
    for why in ("one_layer", "nothing"):
        assert grown.reading_of(t, LEVEL, Tree(None, (), why), 3) == t(f"why.{why}")
    assert "good" in grown.reading_of(t, LEVEL, Tree(1, (), "below"), 3)


def test_edges_are_told_apart_by_position() -> None:
    assert grown.ids(HAND.edges) == ["1:1-2", "1:3-2", "0:4-1"]
    assert grown.places(HAND.edges) == ((1, 2, 1), (1, 2, 3), (0, 1, 4))


def test_edges_are_drawn_in_the_column_of_their_layer() -> None:
    data = branches.edges(HAND, NAMES, range(6), cut={1})
    assert data["layer"].tolist() == [2, 2, 1] and data["cut"].tolist() == [False, True, False]
    assert data[["x", "y", "x2", "y2"]].values.tolist() == [[1, 1, 2, 2], [1, 3, 2, 2], [0, 4, 1, 1]]
    stems = branches.stems(HAND, range(6), 3)
    assert dict(zip(stems["y"], stems["x2"], strict=True)) == {1: 1, 3: 1, 4: 0, 2: 2}


def test_a_long_text_is_drawn_in_part() -> None:
    assert branches.shown(HAND, 6, most=6) == [0, 1, 2, 3, 4, 5]
    rows = branches.shown(HAND, 7, most=6)
    assert rows == [0, 1, 2, 3, 4]
    assert branches.edges(HAND, (*NAMES, "x"), rows)["y"].tolist() == [1, 3, 4]


def test_the_drawing_keeps_repeated_words_apart() -> None:
    text = {"x": "layer", "weight": "attribution", "words": ("is read", "reads"), "alt_text": "A tree."}
    spec = to_spec(branches.branches(HAND, NAMES, 3, special={0, 5}, cut={0}, **text))
    assert spec["description"] == "A tree."
    axes = [layer["encoding"]["y"]["axis"] for layer in spec["layer"] if "axis" in layer["encoding"].get("y", {})]
    assert axes and axes[0]["values"] == list(range(6)) and axes[0]["labelExpr"].count("good") == 2
    widths = [layer for layer in spec["layer"] if "size" in layer["encoding"]]
    assert widths[0]["encoding"]["size"]["scale"]["domain"] == [0, 0.3]


@pytest.fixture
def run_over_four(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Four sentences, one of which has no tree."""
    columns: dict[str, list[float]] = {}
    for tau in grown.TAUS:
        columns[f"{tau}:edges"] = [3, 0, 1, 2]
        for i, arm in enumerate(grown.ARMS):
            columns[f"{tau}:{arm}_fall"] = [0.3 - 0.1 * i, np.nan, 0.1, 0.2]
            columns[f"{tau}:{arm}_flipped"] = [float(i == 0), np.nan, 0.0, 0.0]
    monkeypatch.setattr(resources, "results", lambda name, model: pd.DataFrame(columns))
    yield


def test_a_test_set_leaves_out_sentences_without_a_tree(run_over_four: None) -> None:
    table = grown.by_tau(MODEL)
    assert len(table) == len(grown.TAUS) * len(grown.ARMS) and set(table["n"]) == {3}
    first = table[table["group"] == str(grown.TAUS[0])].set_index("series")["mean"]
    assert first["tree"] == pytest.approx(0.2) and first["random"] == pytest.approx(0.5 / 3)
    sizes = grown.flips(MODEL)
    assert sizes["edges"].tolist() == [1.5] * 3 and sizes["none"].tolist() == [0.25] * 3 and set(sizes["n"]) == {3}
    assert sizes["tree"].tolist() == pytest.approx([1 / 3] * 3) and sizes["weight"].tolist() == [0] * 3


def test_attributions_are_kept_as_they_were(found: grown.Seen) -> None:
    """What is cached is shared: plain arrays, no tensor."""
    assert all(isinstance(level.attribution, np.ndarray) for level in found.levels.values())
    assert not any(isinstance(value, torch.Tensor) for value in vars(found).values())
