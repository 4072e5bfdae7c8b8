"""What the page of heads says is what `core` computes: sums, ranks, shares and lists, on a small model and by hand."""

import numpy as np
import pandas as pd
import pytest
import torch

from core.attattr.attribution import attribution
from core.attattr.heads import mask
from core.reading import read
from core.types import Refusal
from dashboard import contributions, resources, texts
from dashboard.contributions import Cells
from tests.small_transformers import HEADS, LAYERS, small_transformer

TEXT = "a quiet unlong films film"


def cells() -> Cells:
    """One layer of two heads over "[CLS] good film"; the first head looks hard and does nothing."""
    attention = np.array([[[[0.1, 0.0, 0.9], [0.2, 0.7, 0.1], [0.5, 0.3, 0.2]], [[0.4, 0.3, 0.3]] * 3]])
    attribution_ = np.array([[np.zeros((3, 3)), [[0.0, 0.05, -0.4], [0.0, 0.1, 0.0], [0.0, 0.0, 0.0]]]])
    return Cells(("[CLS]", "good", "film"), (0,), attention, attribution_, ((None, 0.25),))


def test_heads_by_hand() -> None:
    found = cells()
    assert contributions.weights_of(found).tolist() == [[0.9, 0.3]]
    assert contributions.contributions_of(found)[0].tolist() == pytest.approx([0, -0.25])
    assert contributions.contributions_of(found, "largest").tolist() == [[0, 0.1]]
    assert contributions.strongest(found) == (0, 0) and contributions.most(found) == (0, 1)
    assert contributions.rank(found, (0, 0)) == 2 and contributions.rank(found, (0, 1)) == 1
    assert contributions.count(found) == 2 and contributions.top(2) == 1 and contributions.top(144) == 14


def test_undefined_agreement_leaves_its_cell_out() -> None:
    frame = contributions.heads(contributions.taus_of(cells()))
    assert frame[["query", "key", "weight"]].to_numpy().tolist() == [[0, 1, 0.25]]
    assert contributions.numbered(frame, "tau").to_dict("records") == [{"layer": 1, "head": 2, "tau": 0.25}]


def test_shares_of_special_tokens_by_hand() -> None:
    first, second = (contributions.shares(cells(), (0, head)) for head in (0, 1))
    assert first == [("[CLS]", pytest.approx(0.8 / 3), None)]
    assert second == [("[CLS]", pytest.approx(0.4), 0.0)]
    t = texts.page("heads", "en")
    assert "27 % of the attention and – % of" in contributions.told_shares(t, cells(), (0, 0))
    assert contributions.percent(0.004) == "< 1" and contributions.percent(0.0) == "0"


def test_lists_name_cells_by_position() -> None:
    assert contributions.loudest(cells(), (0, 0)) == []
    places = contributions.loudest(cells(), (0, 1))
    assert places == [(0, 2), (1, 1), (0, 1)]
    assert contributions.listed(cells(), (0, 1), places)[0] == ("[CLS]", "film", "0.30", "−0.400")
    table = contributions.pair_table(cells(), (0, 1))
    assert len(table) == 9 and table.iloc[2].tolist() == [1, "[CLS]", 3, "film", 0.3, -0.4]


@pytest.mark.parametrize(
    ("codes", "at"),
    [(("strongest", "strongest"), (0, 0)), (("1", "2"), (0, 1)), (("strongest", "2"), (0, 1)), (("2", "1"), None)],
)
def test_codes_name_a_head_that_the_model_has(codes: tuple[str, str], at: tuple[int, int] | None) -> None:
    assert contributions.chosen(codes, cells()) == at


def test_merged_or_not_the_layers_add_up_to_the_same() -> None:
    model = small_transformer()
    reading = read(model, TEXT)
    found = contributions.seen(model, reading)
    own = attribution(model, model.encode([reading.example]))
    assert found.pieces.tokens == ("[CLS]", "a", "quiet", "[UNK]", "film", "##s", "film", "[SEP]")
    assert found.words.tokens == ("[CLS]", "a", "quiet", "unlong", "films", "film", "[SEP]")
    assert found.pieces.special == (0, 7) and found.words.special == (0, 6)
    assert found.words.attention.shape == (LAYERS, HEADS, 7, 7)
    for part in (found.words, found.pieces):
        assert part.attribution.sum((1, 2, 3)) == pytest.approx(own.attribution[0].sum((1, 2, 3)).numpy(), abs=1e-5)
        assert np.allclose(part.attention.sum(-1), 1, atol=1e-5)
    assert found.error == pytest.approx(float(own.error.max()), abs=1e-5)
    kept = torch.ones(LAYERS, HEADS)
    kept[1, 0] = 0
    without = model.run(model.encode([reading.example]), intervene=mask(kept)).logits.softmax(-1)[0]
    lost = found.prob - float(without[model.card.task.labels.index(found.target)])
    assert found.masked.shape == (LAYERS, HEADS) and found.masked[1, 0] == pytest.approx(lost, abs=1e-6)
    assert found.target == found.predicted and found.prob == pytest.approx(found.prediction[found.target], abs=1e-5)


def test_another_label_has_the_opposite_contributions() -> None:
    """Two labels: what one gains the other loses."""
    model = small_transformer()
    reading = read(model, TEXT)
    one, other = (contributions.seen(model, reading, target=label) for label in model.card.task.labels)
    assert np.allclose(one.words.attribution, -other.words.attribution, atol=1e-5)
    assert np.allclose(one.masked, -other.masked, atol=1e-6) and np.abs(one.masked).max() > 0
    assert one.words.tau == other.words.tau and one.prob + other.prob == pytest.approx(1, abs=1e-5)
    with pytest.raises(Refusal):
        contributions.seen(model, reading, target="maybe")


def test_means_over_a_test_set_count_what_is_defined(monkeypatch: pytest.MonkeyPatch) -> None:
    card = small_transformer().card
    names = [contributions.column(layer, head) for layer in range(LAYERS) for head in range(HEADS)]
    table = pd.DataFrame({name: [0.1 * i, 0.2 * i, None] for i, name in enumerate(names)})
    monkeypatch.setattr(resources, "results", lambda name, model: table)
    monkeypatch.setattr(resources, "cards", lambda: {"m": card})
    found = contributions.measured("m")
    assert list(found["n"]) == [2] * 6 and found["mean"].iloc[5] == pytest.approx(0.75)
    assert (found["low"] <= found["mean"]).all() and (found["mean"] <= found["high"]).all()
    assert contributions.grid(found).shape == (LAYERS, HEADS) and contributions.grid(found)[2, 1] == pytest.approx(0.75)
