"""The experiments on heads, pruning and triggers with a tiny model: rows by law, and what they refuse."""

from collections import Counter

import pandas as pd
import pytest
import torch

from core import data
from core.attattr.heads import CRITERIA, STEPS, head_scores, kept, mask, ranking
from core.attattr.triggers import collect, ranked
from core.experiments import head_importance, pruning, tables, triggers
from core.experiments.head_importance import NAMES, scores_of
from core.types import Example, Refusal
from tests.small import examples
from tests.tiny_bert import HEADS, LAYERS, tiny_bert

MODEL = tiny_bert()
GIVEN = [Example(f"sst2-validation-{i}", e.text, e.query, e.label) for i, e in enumerate(examples())]
GIVEN[2] = Example("snli-validation-2", GIVEN[2].text, (), GIVEN[2].label)


def table() -> pd.DataFrame:
    made = pd.DataFrame(head_importance.head_importance(MODEL, GIVEN))
    made.attrs["provenance"] = {"weights_sha256": MODEL.card.weights_sha256}
    return made


def test_a_table_of_heads_is_read_back_as_it_was_measured() -> None:
    made, measured = table(), head_scores(MODEL, MODEL.encode(GIVEN))
    assert made["sister"].tolist() == [0, 0, 1]
    for name in NAMES:
        assert torch.allclose(getattr(scores_of(made), name), getattr(measured, name).double(), atol=1e-6)
    assert all(pd.api.types.is_numeric_dtype(kind) for kind in made.dtypes)


def test_heads_are_ranked_on_the_kept_examples_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        head_importance.finetuning, "for_heads", lambda source: [Example(f"{source}-{i}", ()) for i in range(9)]
    )
    assert [e.id for e in head_importance.examples("mnli", "validation", 2)] == ["mnli-0", "mnli-1", "snli-0", "snli-1"]
    assert len(head_importance.examples("rte", "validation", None)) == 9
    with pytest.raises(Refusal) as refusal:
        head_importance.examples("rte", "test", None)
    assert refusal.value.code == "unknown_split"


def test_pruned_rows_are_runs_with_the_kept_heads(monkeypatch: pytest.MonkeyPatch) -> None:
    made = table()
    monkeypatch.setattr(tables, "results", lambda name, model: made)
    rows = pruning.pruning(MODEL, GIVEN)
    scores, batch = scores_of(made[made["sister"] == 0]), MODEL.encode(GIVEN)
    assert [row[pruning.ALL] for row in rows] == [row["predicted"] for row in rows]
    for criterion in CRITERIA[:-1]:
        for step in STEPS[1:-1]:
            left = kept(ranking(scores, criterion), step, LAYERS, HEADS)
            expected = MODEL.run(batch, intervene=mask(left)).logits.argmax(-1).tolist()
            assert [row[f"{criterion}:{step}"] for row in rows] == expected
    nothing = MODEL.run(batch, intervene=mask(torch.zeros(LAYERS, HEADS))).logits.argmax(-1).tolist()
    assert [row[pruning.NONE] for row in rows] == nothing


def test_chance_has_an_order_for_each_example_and_nested_steps() -> None:
    given = [Example(f"e{i}", ("film",)) for i in range(20)]
    half, third = (pruning.left(MODEL, given, None, step) for step in (50, 30))
    assert set(half.sum((1, 2)).tolist()) == {3.0} and len({tuple(m.flatten().tolist()) for m in half}) > 5
    assert (third <= half).all() and torch.equal(half, pruning.left(MODEL, given, None, 50))


def test_rankings_of_other_weights_are_refused() -> None:
    made = table()
    made.attrs["provenance"] = {"weights_sha256": "other"}
    with pytest.raises(Refusal) as refusal:
        pruning.rankings(MODEL.card, made)
    assert refusal.value.code == "stale_results"


def test_a_row_for_each_trigger_and_gold_label(monkeypatch: pytest.MonkeyPatch) -> None:
    train = [Example(f"t{i}", e.text, (), e.label) for i, e in enumerate(examples() * 4)]
    monkeypatch.setattr(data, "load", lambda name, split, limit=None: train[:limit])
    monkeypatch.setattr(triggers, "SAMPLE", 3)
    found = collect(MODEL, MODEL.encode(train[:3]))
    rows = triggers.triggers(MODEL, GIVEN)
    expected = [one for label in range(2) for one in ranked(found, label)]
    assert len(rows) == 2 * len(expected) > 0
    for one, row in zip(expected, rows[::2], strict=True):
        assert triggers.read(row).words == one.words and row["score"] == pytest.approx(one.score, abs=1e-6)
        assert len(triggers.read_draws(row)) == triggers.DRAWS
        assert {place.word for draw in triggers.read_draws(row) for place in draw}.isdisjoint(one.words)
    assert {row["gold"]: row["n"] for row in rows} == dict(Counter(e.label for e in GIVEN))
    assert all(0 <= row[name] <= row["n"] for row in rows for name in ("before", "after", "random", "pulled"))
