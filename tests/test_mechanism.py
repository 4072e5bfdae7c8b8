"""Attention in small numbers, worked by hand: every score, each step, two heads, and the reason for √d."""

import math

import pytest
import torch

from core.mechanism import Head, attend, by_dimension, scored, self_attention, small
from core.models.scores import SCORES
from core.types import Refusal

STATES = torch.tensor([[1.0, 2.0], [0.0, -1.0], [3.0, 0.0]], dtype=torch.float64)
QUERY = torch.tensor([2.0, 1.0], dtype=torch.float64)
BY_HAND = {
    # W = 1, U = −1/2, v = (1, 3): tanh(h₁ − 1) + 3 tanh(h₂ − 1/2)
    "additive": [3 * math.tanh(1.5), math.tanh(-1) + 3 * math.tanh(-1.5), math.tanh(2) + 3 * math.tanh(-0.5)],
    "dot": [1 * 2 + 2 * 1, 0 * 2 - 1 * 1, 3 * 2 + 0 * 1],
    "scaled-dot": [4 / math.sqrt(2), -1 / math.sqrt(2), 6 / math.sqrt(2)],
    "general": [1 * 1 + 2 * 2, 0 * 1 - 1 * 2, 3 * 1 + 0 * 2],  # W swaps the query to (1, 2)
    "cosine": [4 * 4 / 5, 4 * -1 / math.sqrt(5), 4 * 6 / (3 * math.sqrt(5))],  # |q| = √5, |h₁| = √5
    "location": [0.8, 0.4, 0.2],
}


@pytest.mark.parametrize("name", SCORES)
def test_each_score_is_its_formula(name: str) -> None:
    found = scored(name, STATES, QUERY, small(name, len(STATES)))
    torch.testing.assert_close(found, torch.tensor(BY_HAND[name], dtype=torch.float64))


def test_location_sees_the_place_and_no_other_score_does() -> None:
    """With the words in another order, a score goes with its word, or it stays where it is."""
    for name in SCORES:
        parameters = small(name, len(STATES))
        before, after = scored(name, STATES, QUERY, parameters), scored(name, STATES.flip(0), QUERY, parameters)
        torch.testing.assert_close(after, before if name == "location" else before.flip(0))


def test_with_one_query_dot_scaled_dot_and_general_are_one_family() -> None:
    """Each is a dot product with a query of its own: W q, or q / √m. So a learned query can make any of the others."""
    dot = {"general": torch.tensor([1.0, 2.0], dtype=torch.float64), "scaled-dot": QUERY / math.sqrt(2)}
    for name, query in dot.items():
        found = scored(name, STATES, QUERY, small(name, 3))
        torch.testing.assert_close(found, scored("dot", STATES, query, {}))


def test_a_score_draws_nothing_from_the_global_generator() -> None:
    before = torch.random.get_rng_state()
    scored("additive", STATES, QUERY, small("additive", 3))
    assert torch.equal(torch.random.get_rng_state(), before)


def test_the_steps_from_scores_to_the_context() -> None:
    """Scores ln 1, ln 3, ln 4: weights 1/8, 3/8, 4/8; values (8, 0), (0, 8), (2, 2): context (1 + 1, 3 + 1)."""
    scores = torch.tensor([[0.0, math.log(3), math.log(4)]], dtype=torch.float64)
    value = torch.tensor([[8.0, 0], [0, 8], [2, 2]], dtype=torch.float64)
    steps = attend(scores, value)
    torch.testing.assert_close(steps.weights, torch.tensor([[1 / 8, 3 / 8, 4 / 8]], dtype=torch.float64))
    torch.testing.assert_close(steps.parts[0], torch.tensor([[1.0, 0], [0, 3], [1, 1]], dtype=torch.float64))
    torch.testing.assert_close(steps.context, torch.tensor([[2.0, 4.0]], dtype=torch.float64))


@pytest.mark.parametrize(("temperature", "expected"), [(0.5, [1 / 10, 9 / 10]), (1.0, [1 / 4, 3 / 4]), (1e9, [1 / 2, 1 / 2])])
def test_temperature_divides_the_scores(temperature: float, expected: list[float]) -> None:
    """Scores 0 and ln 3: at T = 1/2 they count double, 1 : 9; at a great T nothing is told apart."""
    steps = attend(torch.tensor([[0.0, math.log(3)]], dtype=torch.float64), torch.eye(2).double(), temperature=temperature)
    torch.testing.assert_close(steps.weights, torch.tensor([expected], dtype=torch.float64))


@pytest.mark.parametrize("temperature", [0.0, -1.0, math.nan])
def test_a_temperature_that_is_none_is_refused(temperature: float) -> None:
    with pytest.raises(Refusal, match="above 0"):
        attend(torch.zeros(1, 2), torch.zeros(2, 1), temperature=temperature)


def test_weights_that_cancel_leave_the_small_one_to_decide() -> None:
    """Nine tenths of the weight lie on +1 and −1; the context is what the last word says."""
    scores = torch.tensor([[9.0, 9.0, 2.0]], dtype=torch.float64).log()
    steps = attend(scores, torch.tensor([[1.0], [-1.0], [4.0]], dtype=torch.float64))
    torch.testing.assert_close(steps.context, torch.tensor([[0.4]], dtype=torch.float64))


def test_two_heads_by_hand() -> None:
    """Words (1, 0) and (0, 1). The first head asks each for itself, times ln 9; the second looks at both alike."""
    states, one = torch.eye(2, dtype=torch.float64), torch.eye(2, dtype=torch.float64)
    alike = Head(torch.zeros(2, 2, dtype=torch.float64), one, one)
    own = Head(math.sqrt(2) * math.log(9) * one, one, 10 * one)
    steps = self_attention(states, [own, alike])
    assert steps.weights.shape == (2, 2, 2)
    torch.testing.assert_close(steps.weights[0], torch.tensor([[0.9, 0.1], [0.1, 0.9]], dtype=torch.float64))
    torch.testing.assert_close(steps.weights[1], torch.full((2, 2), 0.5, dtype=torch.float64))
    torch.testing.assert_close(steps.context[0], torch.tensor([[9.0, 1.0], [1.0, 9.0]], dtype=torch.float64))


def test_words_in_another_order_give_the_same_weights_in_that_order() -> None:
    """Without positions self-attention knows a set of words and no order."""
    generator = torch.Generator().manual_seed(2)
    states = torch.randn(4, 3, generator=generator, dtype=torch.float64)
    heads = [Head(*torch.randn(3, 3, 2, generator=generator, dtype=torch.float64)) for _ in range(2)]
    before, after = self_attention(states, heads), self_attention(states.flip(0), heads)
    torch.testing.assert_close(after.weights, before.weights.flip(-1, -2))
    torch.testing.assert_close(after.context, before.context.flip(-2))


def test_the_variance_of_a_dot_product_is_its_dimension() -> None:
    found = by_dimension((1, 4, 64), words=10, n=800, seed=3)
    assert [(row.dimension, row.scaled) for row in found] == [(d, s) for d in (1, 4, 64) for s in (True, False)]
    for row in found:
        expected = 1.0 if row.scaled else row.dimension
        assert row.variance.n == 800 and row.variance.low is not None and row.variance.high is not None
        assert row.variance.mean == pytest.approx(expected, rel=0.15)
        assert 0 <= row.entropy.mean <= math.log(10) and 0.1 <= row.largest.mean <= 1  # type: ignore[operator]
    scaled, plain = found[-2:]
    assert scaled.entropy.mean > 1.5 and plain.entropy.mean < 0.5  # type: ignore[operator]


def test_the_seed_alone_decides() -> None:
    assert by_dimension((2, 8), words=5, n=40, seed=7) == by_dimension((2, 8), words=5, n=40, seed=7)
    assert by_dimension((2, 8), words=5, n=40, seed=7) != by_dimension((2, 8), words=5, n=40, seed=8)
