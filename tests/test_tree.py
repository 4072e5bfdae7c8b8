"""Attribution trees on hand-made attributions with a known answer, their laws, and what cutting their edges does to a model."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from core.attattr.cutting import cut, largest, marks, probs_without, random_others
from core.attattr.tree import Edge, Tree, tree
from core.importance import probabilities
from core.types import Refusal
from tests.small import examples
from tests.small_transformers import small_transformer

EXAMPLES = examples()
LAYERS, TOKENS = 4, 6  # [CLS] a b c d [SEP]


def attributions(*given: tuple[int, int, int, float], layers: int = LAYERS, tokens: int = TOKENS) -> np.ndarray:
    """ "layer query key" with (layer, reader, source, value) set."""
    made = np.zeros((layers, tokens, tokens))
    for layer, reader, source, value in given:
        made[layer, reader, source] = value
    return made


def found(made: Tree) -> list[tuple[int, int, int, float]]:
    return [(edge.layer, edge.reader, edge.source, edge.weight) for edge in made.edges]


CHAIN = attributions(
    (3, 0, 2, 0.9),  # [CLS] reads the root in the last layer: no edge, and no part of any maximum
    (2, 2, 1, 0.5),  # b gets a
    (2, 2, 3, 0.4),  # and c
    (2, 4, 5, 0.1),  # below τ
    (1, 1, 4, 0.2),  # a gets d, of which c gets less
    (1, 3, 4, 0.15),
    (1, 2, 1, 0.3),  # a is there already
    (0, 4, 0, 0.02),  # d reads [CLS]
    (0, 5, 4, 0.05),  # nobody reads [SEP]
)


def test_a_tree_by_hand() -> None:
    made = tree(CHAIN)
    assert made.root == 2 and made.why == ""
    assert found(made) == [(2, 2, 1, 0.5), (2, 2, 3, 0.4), (1, 1, 4, 0.2)]
    assert made.nodes == {1, 2, 3, 4}


def test_a_token_goes_on_reading_below_the_layer_in_which_it_joined() -> None:
    made = tree(attributions((2, 1, 2, 0.5), (1, 1, 3, 0.4), (0, 1, 4, 0.3), (0, 2, 5, 0.3)))
    assert found(made) == [(2, 1, 2, 0.5), (1, 1, 3, 0.4), (0, 1, 4, 0.3), (0, 2, 5, 0.3)]


def test_an_edge_does_not_hang_on_another_of_its_layer() -> None:
    made = tree(attributions((2, 3, 2, 0.5), (2, 2, 1, 0.4)))
    assert made.root == 3 and found(made) == [(2, 3, 2, 0.5)]


def test_tau_is_relative_to_its_layer_and_lambda_is_not() -> None:
    assert found(tree(CHAIN, tau=0)) == [*found(tree(CHAIN)), (0, 4, 0, 0.02), (0, 5, 4, 0.05)][:4]
    assert found(tree(CHAIN, tau=0.8)) == [(2, 2, 1, 0.5)]
    assert found(tree(CHAIN, tau=0.79)) == [(2, 2, 1, 0.5), (2, 2, 3, 0.4)]  # 0.2 is two thirds of the next layer's 0.3
    assert found(tree(CHAIN, tau=0.66)) == found(tree(CHAIN))
    assert found(tree(CHAIN, tau=0.3, cost=0.2)) == [(2, 2, 1, 0.5), (2, 2, 3, 0.4)]


def test_the_maximum_leaves_out_what_cls_reads_and_counts_the_diagonal() -> None:
    base = [(2, 1, 2, 0.5), (2, 1, 3, 0.3)]
    assert len(tree(attributions(*base, (2, 0, 4, 9.0))).edges) == 2
    assert len(tree(attributions(*base, (2, 4, 4, 1.0))).edges) == 1


def test_the_root_gets_most_over_all_layers_from_others() -> None:
    """A negative layer takes away from a pair's total; what a token keeps for itself and what [CLS] reads do not count."""
    made = attributions((0, 1, 2, 0.6), (1, 1, 2, -0.5), (0, 3, 4, 0.2), (1, 4, 4, 5.0), (2, 0, 5, 7.0), (1, 5, 1, -1.0))
    assert tree(made).root == 3


def test_cls_is_read_but_does_not_read() -> None:
    made = tree(attributions((2, 1, 0, 0.5), (1, 0, 3, 0.4), (1, 1, 4, 0.4)))
    assert found(made) == [(2, 1, 0, 0.5), (1, 1, 4, 0.4)]


def test_of_two_readers_the_one_that_got_more_has_it() -> None:
    made = tree(attributions((2, 1, 2, 0.5), (1, 1, 3, 0.2), (1, 2, 3, 0.3)))
    assert found(made)[1:] == [(1, 2, 3, 0.3)]


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (attributions((0, 1, 2, 0.5), layers=1), "one_layer"),
        (attributions((2, 0, 2, 0.5), (1, 3, 3, 0.4), (0, 1, 2, -0.3)), "nothing"),
        (attributions(tokens=2), "nothing"),
        (attributions((3, 1, 2, 0.5)), "below"),
        (attributions((2, 1, 2, 0.3), (2, 1, 3, 0.3), (2, 4, 5, 0.4)), "elsewhere"),
    ],
)
def test_a_tree_without_an_edge_says_why(made: np.ndarray, why: str) -> None:
    one = tree(made, tau=0.8)
    assert one.edges == () and one.why == why
    assert (one.root is None) == (why in ("one_layer", "nothing"))


@pytest.mark.parametrize("given", [{"tau": -0.1}, {"tau": 1.1}, {"cost": -1e-9}, {"cost": float("nan")}])
def test_thresholds_out_of_range_are_refused(given: dict[str, float]) -> None:
    with pytest.raises(Refusal, match="between 0 and 1"):
        tree(CHAIN, **given)


anything = arrays(np.float64, (3, 5, 5), elements=st.integers(-4, 9).map(lambda x: x / 10))
shares = st.sampled_from([0.0, 0.2, 0.4, 0.6, 0.9])


@given(anything, shares, shares)
@settings(max_examples=200, deadline=None)
def test_each_token_joins_once_and_below_its_reader(values: np.ndarray, tau: float, cost: float) -> None:
    made = tree(values, tau=tau, cost=cost)
    joined = {made.root: len(values) - 1}
    for edge in made.edges:
        assert edge.source not in joined and edge.layer < joined[edge.reader]
        assert edge.weight == values[edge.layer, edge.reader, edge.source] > max(0, cost)
        assert edge.weight > tau * values[edge.layer, 1:].max()
        joined[edge.source] = edge.layer
    assert all(edge.reader != 0 for edge in made.edges)
    assert (made.why == "") == bool(made.edges)


@given(anything, shares, shares, shares, shares)
@settings(max_examples=200, deadline=None)
def test_larger_thresholds_add_nothing(values: np.ndarray, tau: float, more: float, cost: float, dearer: float) -> None:
    wide = tree(values, tau=min(tau, more), cost=min(cost, dearer))
    narrow = tree(values, tau=max(tau, more), cost=max(cost, dearer))
    assert narrow.root == wide.root and narrow.nodes <= wide.nodes and len(narrow.edges) <= len(wide.edges)


@given(anything, st.permutations(range(1, 5)))
@settings(max_examples=100, deadline=None)
def test_positions_are_names_only(values: np.ndarray, order: list[int]) -> None:
    """Tokens other than [CLS] in another order grow the same tree, where no two weights are equal."""
    distinct = values + np.arange(values.size).reshape(values.shape) * 1e-6
    places = [0, *order]
    moved = tree(distinct[:, places][:, :, places])
    back = {(edge.layer, places[edge.reader], places[edge.source]) for edge in moved.edges}
    assert back == {(edge.layer, edge.reader, edge.source) for edge in tree(distinct).edges}


EDGES = (Edge(3, 1, 2, 0.5), Edge(2, 4, 2, 0.4), Edge(1, 3, 0, 0.1))


def test_others_are_as_many_in_each_layer() -> None:
    scores = np.random.default_rng(3).random((LAYERS, TOKENS, TOKENS))
    for others in (random_others(EDGES, scores, np.random.default_rng(1)), largest(EDGES, scores)):
        assert [edge.layer for edge in others] == [2, 2, 0]
        assert all(edge.reader != edge.source and edge.reader > 0 for edge in others)
        assert all(edge.weight == scores[edge.layer, edge.reader, edge.source] for edge in others)
        assert len({(edge.layer, edge.reader, edge.source) for edge in others}) == 3


def test_random_others_are_none_of_the_trees_and_end_with_the_pool() -> None:
    scores, every = np.ones((2, 3, 3)), {(1, 0), (1, 2), (2, 0), (2, 1)}
    own = [Edge(source, reader, 0, 1.0) for reader, source in sorted(every)[:3]]
    drawn = random_others(own, scores, np.random.default_rng(0))
    assert [(edge.reader, edge.source) for edge in drawn] == [(2, 1)]


def test_the_largest_are_found() -> None:
    scores = attributions((2, 1, 3, 0.1), (2, 0, 4, 9.0), (2, 2, 2, 9.0), (2, 5, 1, 0.3), (2, 3, 0, 0.2))
    assert [(edge.reader, edge.source) for edge in largest(EDGES[:2], scores)] == [(5, 1), (3, 0)]


def test_a_word_is_cut_in_all_its_pieces() -> None:
    place = torch.tensor([0, 1, 1, 2, 3])  # the word at place 1 has two pieces
    marked = marks([Edge(1, 2, 1, 0.5), Edge(3, 1, 0, 0.5)], place, 3)
    expected = torch.zeros(3, 5, 5, dtype=torch.bool)
    expected[1, 3, 1] = expected[1, 3, 2] = expected[0, 1, 4] = expected[0, 2, 4] = True
    assert torch.equal(marked, expected)


def test_cut_weights_are_zero_and_the_rest_as_they_were() -> None:
    model = small_transformer()
    batch = model.encode(EXAMPLES)
    run = model.run(batch)
    place = torch.arange(batch.ids.shape[1])
    marked = marks([Edge(1, 2, 0, 1.0)], place, model.n_layers).expand(len(EXAMPLES), -1, -1, -1)
    after = model.run(batch, intervene=cut(marked))
    assert torch.equal(after.attention[:, 0, :, 2, 1], torch.zeros_like(after.attention[:, 0, :, 2, 1]))
    kept = ~marked[:, 0, None].expand_as(run.attention[:, 0])
    assert torch.equal(after.attention[:, 0][kept], run.attention[:, 0][kept])
    assert not torch.allclose(after.logits, run.logits)


def test_several_cuts_at_once_are_each_on_its_own() -> None:
    model = small_transformer()
    batch = model.encode(EXAMPLES[:1])
    place = torch.arange(batch.ids.shape[1])
    cuts = torch.stack([marks(edges, place, model.n_layers) for edges in ((), EDGES[2:], [Edge(2, 1, 1, 0.1)])])
    prob = probs_without(model, batch, cuts)
    assert prob.shape == (3, 2)
    torch.testing.assert_close(prob[:1], probabilities(model.run(batch).logits))
    for i in range(3):
        torch.testing.assert_close(prob[i : i + 1], probs_without(model, batch, cuts[i : i + 1]))
    assert not torch.allclose(prob[0], prob[2])
