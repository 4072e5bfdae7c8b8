"""Agreement by law (symmetry, bounds, monotone maps), by oracle (scipy, brute force) and by hand."""

from itertools import combinations, permutations
from math import atanh, sqrt, tanh

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.random import default_rng
from scipy.stats import kendalltau

from core.agreement import bootstrap_mean, by_importance, kendall, noise_in_tau, top_k
from core.types import Refusal

PAIRS = st.integers(3, 13).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(-4, 4), min_size=n, max_size=n) for _ in range(2)])
)

# Kendall


@given(PAIRS)
def test_tau_equals_scipy(pair: tuple[list[int], list[int]]) -> None:
    a, b = pair
    found = kendall(a, b)
    if len(set(a)) == 1 or len(set(b)) == 1:
        assert (found.kendall_tau, found.p_value, found.low, found.high) == (None, None, None, None)
    else:
        expected = kendalltau(a, b, method="asymptotic")
        assert found.kendall_tau == pytest.approx(expected.statistic)
        assert found.p_value == pytest.approx(expected.pvalue)
    assert found.n == len(a)


@given(PAIRS)
def test_tau_is_symmetric_bounded_odd_and_blind_to_monotone_maps(pair: tuple[list[int], list[int]]) -> None:
    a, b = (np.array(side) for side in pair)
    tau = kendall(a, b).kendall_tau
    assert kendall(b, a).kendall_tau == (None if tau is None else pytest.approx(tau))
    assert kendall(np.exp(a), b**3).kendall_tau == (None if tau is None else pytest.approx(tau))
    if tau is not None:
        assert -1 <= tau <= 1
        assert kendall(-a, b).kendall_tau == pytest.approx(-tau)


def test_tau_by_hand() -> None:
    # six pairs: five agree, (3, 4) against (4, 3) does not
    found = kendall([0.1, 0.2, 0.3, 0.4], [1, 2, 4, 3])
    assert found.kendall_tau == pytest.approx((5 - 1) / 6)
    # a ties one pair of three: (2 - 0) / sqrt(2 * 3)
    assert kendall([1, 1, 2], [1, 2, 3]).kendall_tau == pytest.approx(2 / sqrt(6))


def test_interval_by_hand() -> None:
    a, b = [1, 2, 3, 4, 5, 6, 7], [2, 1, 3, 5, 4, 7, 6]
    found = kendall(a, b)
    assert found.kendall_tau == pytest.approx((18 - 3) / 21)
    reach = 1.959964 * sqrt(0.437 / 3)
    assert (found.low, found.high) == pytest.approx((tanh(atanh(15 / 21) - reach), tanh(atanh(15 / 21) + reach)), abs=1e-6)


def test_interval_needs_five_words_and_no_perfect_order() -> None:
    assert kendall([1, 2, 3, 4], [1, 2, 4, 3]).low is None
    assert kendall([1, 2, 3, 4, 5], [1, 2, 3, 5, 4]).low is not None
    perfect = kendall(range(9), range(9))
    assert (perfect.kendall_tau, perfect.low, perfect.high) == (pytest.approx(1), None, None)


def test_interval_covers_the_true_tau_of_normal_scores() -> None:
    rho, n, generator = 0.5, 25, default_rng(3)
    true = 2 / np.pi * np.arcsin(rho)
    covered = 0
    for _ in range(600):
        a = generator.standard_normal(n)
        found = kendall(a, rho * a + sqrt(1 - rho**2) * generator.standard_normal(n))
        covered += found.low <= true <= found.high
    assert 0.92 < covered / 600 < 0.98


@pytest.mark.parametrize(("a", "b"), [([], []), ([1], [2]), ([1, 1, 1], [1, 2, 3]), ([1, 2, 3], [0, 0, 0])])
def test_undefined_is_none(a: list[float], b: list[float]) -> None:
    found = kendall(a, b)
    assert (found.kendall_tau, found.p_value, found.n, found.low, found.high) == (None, None, len(a), None, None)
    assert (top_k(a, b).overlap, top_k(a, b).tau) == (None, None)


def test_two_words_have_an_order_but_no_p() -> None:
    assert (kendall([1, 2], [5, 9]).kendall_tau, kendall([1, 2], [5, 9]).p_value) == (1.0, None)
    assert kendall([1, 2], [9, 5]).kendall_tau == -1.0


def test_values_closer_than_the_tie_are_equal_and_chain() -> None:
    b = [1, 2, 3, 4]
    noisy = [0.0, 9e-8, -5e-8, 0.3]
    assert kendall(noisy, b).kendall_tau != kendall([0, 0, 0, 1], b).kendall_tau
    assert kendall(noisy, b, tie=1e-7) == kendall([0, 0, 0, 1], b)
    assert kendall([0, 0.9, 1.8, 3], b, tie=1.0) == kendall([0, 0, 0, 1], b)  # 0 and 1.8 are joined by 0.9
    assert kendall([0, 1.0, 2.0, 3.0], b, tie=1.0) == kendall(b, b)  # exactly the tie apart is apart
    assert kendall(noisy, [1e-9, 2e-9, 3e-9, 4e-9], tie=(1e-7, 0.0)) == kendall([0, 0, 0, 1], b)


def test_tensors_with_gradients_are_read() -> None:
    a = torch.tensor([0.1, 0.7, 0.2], requires_grad=True)
    assert kendall(a, torch.tensor([1, 3, 2])).kendall_tau == pytest.approx(1)


@pytest.mark.parametrize(
    ("a", "b", "code"),
    [([1, 2], [1, 2, 3], "unequal_lengths"), ([[1, 2]], [[1, 2]], "not_one_axis"), ([1, np.nan], [1, 2], "not_finite")],
)
def test_what_cannot_be_compared_is_refused(a: list[float], b: list[float], code: str) -> None:
    for measure in (kendall, top_k, noise_in_tau):
        with pytest.raises(Refusal) as refused:
            measure(a, b)
        assert refused.value.code == code


# Top k


def test_top_k_by_hand() -> None:
    # tops of three: words 0 1 2 against 0 3 1. Pairs: 01 agree, 02 agree, 12 agree (2 is outside the second list),
    # 03 agree, 13 opposite, 23 opposite: K = 2 of 3 * 8 / 2 = 12
    found = top_k([9, 8, 7, 1, 0], [9, 5, 0, 7, 1], k=3)
    assert (found.k, found.overlap, found.tau) == (3, pytest.approx(2 / 3), pytest.approx(1 - 2 * 2 / 12))


def test_top_k_same_list_disjoint_lists_and_reversed() -> None:
    a = [7, 6, 5, 4, 3, 2]
    assert (top_k(a, a, k=3).overlap, top_k(a, a, k=3).tau) == (1, 1)
    assert (top_k(a, a[::-1], k=3).overlap, top_k(a, a[::-1], k=3).tau) == (0, -1)
    # same three words reversed: K = 3 of 12
    assert top_k(a, [5, 6, 7, 1, 1, 1], k=3).tau == pytest.approx(0.5)


@pytest.mark.parametrize(("n", "k"), [(2, 1), (7, 1), (8, 2), (20, 4), (33, 7)])
def test_top_k_is_a_fifth_by_default(n: int, k: int) -> None:
    assert top_k(range(n), range(n)).k == k


def test_equal_values_at_the_cut_are_taken_by_position() -> None:
    assert top_k([1, 0, 0, 0], [1, 5, 0, 0], k=2).overlap == 1
    assert top_k([1, 0, 0, 0], [1, 0, 0, 5], k=2).overlap == pytest.approx(0.5)
    assert top_k([1, 0, 3e-9, 0], [1, 5, 0, 0], k=2).overlap == pytest.approx(0.5)
    assert top_k([1, 0, 3e-9, 0], [1, 5, 0, 0], k=2, tie=1e-7).overlap == 1


@pytest.mark.parametrize("k", [0, -1, 4])
def test_k_must_be_a_number_of_words(k: int) -> None:
    with pytest.raises(Refusal, match=f"k is {k}.*3"):
        top_k([1, 2, 3], [1, 2, 3], k=k)


def mean_distance_of_completions(first: tuple[int, ...], second: tuple[int, ...]) -> float:
    """Kendall's distance averaged over every way to rank, below each list, the words that only the other has."""
    words = sorted(set(first) | set(second))

    def completions(top: tuple[int, ...]) -> list[dict[int, int]]:
        rest = [word for word in words if word not in top]
        return [{word: place for place, word in enumerate(top + tail)} for tail in permutations(rest)]

    costs = [
        sum((x[i] - x[j]) * (y[i] - y[j]) < 0 for i, j in combinations(words, 2))
        for x in completions(first)
        for y in completions(second)
    ]
    return sum(costs) / len(costs)


@given(st.integers(1, 4), st.permutations(range(7)), st.permutations(range(7)))
@settings(max_examples=60, deadline=None)
def test_top_k_distance_is_the_mean_over_completions(k: int, a: list[int], b: list[int]) -> None:
    # Fagin et al. 2003: with penalty 1/2 the distance equals this average
    first, second = (tuple(sorted(range(7), key=lambda word: -side[word])[:k]) for side in (a, b))
    expected = 1 - 2 * mean_distance_of_completions(first, second) / (k * (3 * k - 1) / 2)
    found = top_k(a, b, k=k)
    assert found.tau == pytest.approx(expected)
    assert -1 <= found.tau <= 1
    assert top_k(b, a, k=k) == found


# Noise in tau


def test_words_are_added_from_the_most_important_down() -> None:
    attention, importance = [0.1, 0.4, 0.3, 0.2], [-0.1, 2.0, -3.0, 0.5]
    found = noise_in_tau(attention, importance)
    assert by_importance(importance) == [2, 1, 3, 0]
    assert [one.n for one in found] == [2, 3, 4]
    assert found[0] == kendall([0.3, 0.4], [-3.0, 2.0])
    assert found[-1] == kendall(attention, importance)


def test_order_of_the_words_plants_no_correlation() -> None:
    generator = default_rng(5)
    runs = [noise_in_tau(generator.random(21), generator.random(21)) for _ in range(150)]
    for m in (5, 10, 20):
        taus = [run[m - 2].kendall_tau for run in runs]
        assert abs(np.mean(taus)) < 4 * np.std(taus) / sqrt(150)


def test_noise_below_the_important_words_lowers_tau() -> None:
    generator = default_rng(7)
    importance = np.concatenate([np.arange(20, 10, -1), np.full(10, 1e-3) * generator.random(10)])
    attention = np.concatenate([np.arange(20, 10, -1), generator.random(10)])
    found = noise_in_tau(attention, importance)
    assert found[8].kendall_tau == pytest.approx(1)
    assert found[-1].kendall_tau < 0.95


# Bootstrap


def test_bootstrap_leaves_out_the_undefined_and_repeats() -> None:
    values = [0.1, None, 0.5, 0.3, float("nan"), 0.9]
    found = bootstrap_mean(values, seed=4)
    assert (found.mean, found.n, found.seed) == (pytest.approx(0.45), 4, 4)
    assert 0.1 <= found.low < found.mean < found.high <= 0.9
    assert bootstrap_mean(values, seed=4) == found
    assert bootstrap_mean(values, seed=5) != found


def test_bootstrap_interval_is_near_the_normal_one() -> None:
    values = default_rng(0).normal(0.3, 0.2, size=401)
    found = bootstrap_mean(values)
    half = 1.96 * values.std(ddof=1) / sqrt(401)
    assert (found.low, found.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.15 * half)


def test_bootstrap_of_few() -> None:
    assert (bootstrap_mean([None]).mean, bootstrap_mean([None]).n) == (None, 0)
    one = bootstrap_mean([0.4, None])
    assert (one.mean, one.low, one.high, one.n) == (0.4, None, None, 1)
    with pytest.raises(Refusal):
        bootstrap_mean([1.0, float("inf")])
