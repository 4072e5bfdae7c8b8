"""What the pruning page shows: a sentence by law, test sets and rankings by hand."""

import numpy as np
import pandas as pd
import pytest

from core.attattr.heads import CRITERIA, STEPS, kept, mask
from core.importance import probabilities
from core.reading import Reading
from dashboard import pruned, resources, texts
from dashboard.pruned import Pruned
from tests.made_tables import made_tables as made_tables
from tests.made_tables import ranked
from tests.small import examples
from tests.tiny_bert import HEADS, LAYERS, tiny_bert

MODEL = tiny_bert()
ORDERS = (("attribution", (0, 3, 1, 5, 4, 2)), ("random", (5, 4, 3, 2, 1, 0)))


def found() -> Pruned:
    return pruned.pruned(MODEL, Reading(examples()[0], 0, ()), orders=ORDERS)


def by_hand(label: list[int]) -> Pruned:
    return Pruned(("no", "yes"), {"no": 0.8, "yes": 0.2}, {"attribution": np.zeros(11)}, {"attribution": np.array(label)}, ())


def test_a_sentence_is_run_with_the_heads_that_are_kept() -> None:
    one, batch = found(), MODEL.encode(examples()[:1])
    plain = probabilities(MODEL.run(batch).logits)[0]
    assert list(one.prediction.values()) == pytest.approx(plain.tolist(), abs=1e-5)
    for name, order in ORDERS:
        for step, prob, label in zip(STEPS, one.prob[name], one.label[name], strict=True):
            left = kept(list(order), step, LAYERS, HEADS)
            expected = probabilities(MODEL.run(batch, intervene=mask(left)).logits)[0]
            assert prob == pytest.approx(float(expected[one.predicted]), abs=1e-5)
            assert label == int(expected.argmax())
    assert one.prob["attribution"][-1] == pytest.approx(one.prob["random"][-1], abs=1e-6)  # without heads no order matters


@pytest.mark.parametrize(
    ("label", "at"),
    [
        ([0] * 11, None),
        ([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0], 30),
        ([0] * 4 + [1] * 7, 40),
        ([0] * 10 + [1], 100),
    ],
)
def test_when_the_prediction_first_changes(label: list[int], at: int | None) -> None:
    assert by_hand(label).flips_at("attribution") == at
    said = pruned.measured(texts.page("pruning", "en"), by_hand(label), "attribution")
    assert (str(at) in said) if at else "never" in said


def test_the_map_crosses_out_the_last_of_the_order() -> None:
    table = pruned.marked(np.arange(6.0).reshape(3, 2), [5, 4, 3, 2, 1, 0], 50)
    assert table["masked"].tolist() == [True] * 3 + [False] * 3
    assert table[["layer", "head"]].to_numpy().tolist() == [[1, 1], [1, 2], [2, 1], [2, 2], [3, 1], [3, 2]]


@pytest.mark.usefixtures("made_tables")
def test_curves_count_right_answers() -> None:
    table = pruned.curves("sst2/minilm")
    assert len(table) == len(CRITERIA) * len(STEPS) and set(table["n"]) == {30}
    assert [pruned.accuracy(table, "taylor", x) for x in (0, 60, 70, 90, 100)] == pytest.approx(
        [0.9, 0.9, 22 / 30, 17 / 30, 0.5]
    )
    first = table[(table["series"] == "taylor") & (table["x"] == 0)].iloc[0]
    assert (first["low"], first["high"]) == pytest.approx((0.7438, 0.9654), abs=1e-4)  # Wilson, 27 of 30
    assert pruned.spare(table, "taylor") == 60 and pruned.spare(table, "random") == 60
    assert pruned.accuracy(table, "random", 0) == pruned.accuracy(table, "taylor", 0)


@pytest.mark.usefixtures("made_tables")
def test_orders_and_importances_come_from_the_table() -> None:
    ranked = pruned.rankings("sst2/minilm")
    orders = dict(pruned.orders("sst2/minilm", ranked, 3))
    values = pruned.importance("sst2/minilm", "attribution", 3)
    assert list(orders) == list(CRITERIA) and all(sorted(order) == list(range(72)) for order in orders.values())
    assert list(np.argsort(-values.ravel(), kind="stable")) == list(orders["attribution"])
    assert orders["random"] != dict(pruned.orders("sst2/minilm", ranked, 4))["random"]
    assert [name for name, _ in pruned.orders("sst2/minilm", {}, 3)] == ["random"]
    assert set(pruned.heads("sst2/minilm")) == {"layer", "head", "attribution", "taylor", "accuracy", "attention"}


def test_equal_rankings_agree_and_halves_of_equal_examples_too(monkeypatch: pytest.MonkeyPatch) -> None:
    same = ranked("sst2/minilm", layers=2, heads=3)
    same = pd.concat([same.iloc[[0]]] * 8, ignore_index=True)
    mirrored = same.assign(**{name: -same[name] for name in same if str(name).endswith(":attribution")})
    tables = {name: same.assign(sister=0) for name in ("sst2/minilm", "sst2/minilm:seed=1")}
    tables["rte/minilm"] = mirrored.assign(sister=0)
    monkeypatch.setattr(pruned, "ranked_models", lambda: list(tables))
    monkeypatch.setattr(resources, "results", lambda name, model: tables[model])
    table = pruned.correlations("attribution").set_index(["one", "other"])
    assert table.loc[("sst2", "sst2"), ["mean", "low", "high"]].tolist() == pytest.approx([1, 1, 1])
    assert table.loc[("sst2", "rte"), "mean"] == pytest.approx(-1) == table.loc[("sst2", "rte"), "spearman"]
    assert set(table["n"]) == {6} and table.loc[("sst2", "sst2:seed=1"), "mean"] == pytest.approx(1)
    assert pruned.pair(texts.page("pruning", "en"), "sst2", "sst2:seed=1") == "SST ~ SST, seed 1"


def test_noise_shows_between_halves() -> None:
    from core.experiments.head_importance import scores_of

    row = pruned.halves("sst2", scores_of(ranked("sst2/minilm")), "attribution")
    assert 0.5 < row["low"] <= row["mean"] <= row["high"] < 1  # type: ignore[operator]


@pytest.mark.usefixtures("made_tables")
def test_the_sister_set_is_a_set_of_its_own() -> None:
    assert pruned.scores("mnli/minilm").prob.shape == pruned.scores("mnli/minilm", sister=True).prob.shape == (15, 6, 12)


def test_published_figures_are_those_of_the_file() -> None:
    assert pruned.published_accuracy("mnli/minilm") == 0.6 and pruned.published_accuracy("sst2/minilm") is None
    assert pruned.published("Michel et al. 2019", "sst2/minilm", "heads prunable") == 60
    assert pruned.published_note(texts.page("pruning", "en"), "rte/minilm") == ""
