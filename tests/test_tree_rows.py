"""The table of trees: every sentence on its own, its falls those of its own cuts, nothing where there is no edge."""

import math

import pytest
import torch

from core.attattr.attribution import attribution
from core.attattr.cutting import cut, marks
from core.attattr.tree import tree
from core.experiments import EXPERIMENTS, shown
from core.experiments.tree import TAUS, trees
from core.importance import probabilities
from core.models import registry
from tests.small import examples
from tests.small_transformers import small_transformer

ARMS = ("tree", "random", "weight", "attribution")
EXAMPLES = examples()


@pytest.fixture(scope="module")
def model():
    return small_transformer()


@pytest.fixture(scope="module")
def rows(model):
    return trees(model, EXAMPLES)


def test_a_sentence_is_measured_alike_in_company(model, rows) -> None:
    assert [row["n_words"] for row in rows] == [5, 2, 11]
    for example, row in zip(EXAMPLES, rows, strict=True):
        alone = trees(model, [example])[0]
        assert alone.keys() == row.keys()
        for name, value in alone.items():
            assert row[name] == (None if value is None else pytest.approx(value, abs=2e-5)), name


def test_the_fall_is_that_of_the_trees_own_edges(model, rows) -> None:
    batch = model.encode(EXAMPLES[2:])
    values = attribution(model, batch).attribution[0].sum(1)
    before = probabilities(model.run(batch).logits)[0]
    for tau in TAUS:
        made = tree(values, tau=tau)
        assert rows[2][f"{tau}:edges"] == len(made.edges)
        marked = marks(made.edges, torch.arange(batch.ids.shape[1]), model.n_layers)[None]
        after = probabilities(model.run(batch, intervene=cut(marked)).logits)[0]
        label = before.argmax()
        if made.edges:
            assert rows[2][f"{tau}:tree_fall"] == pytest.approx(float(before[label] - after[label]), abs=2e-5)
            assert rows[2][f"{tau}:tree_flipped"] == float(after.argmax() != label)


def test_a_tree_without_an_edge_has_no_fall(rows) -> None:
    for row in rows:
        for tau in TAUS:
            columns = [f"{tau}:{arm}_{what}" for arm in ARMS for what in ("fall", "flipped")]
            assert {row[name] is None for name in columns} == {row[f"{tau}:edges"] == 0}
            assert all(row[name] is None or math.isfinite(row[name]) for name in columns)


def test_larger_thresholds_leave_fewer_edges(rows) -> None:
    for row in rows:
        sizes = [row[f"{tau}:edges"] for tau in TAUS]
        assert sizes == sorted(sizes, reverse=True)


def test_the_table_is_among_those_that_are_shown() -> None:
    named = [name for name, model in shown() if model == "sst2/minilm"]
    assert "tree" in named or "sst2/minilm" not in registry.cards()
    assert "agreement" not in named and not EXPERIMENTS["tree"].precise
