"""Whether weights match contributions: by hand, and against the ranks of scipy."""

import pytest
import torch
from scipy.stats import kendalltau

from core.attattr.matching import agreement, agreements, idle

WEIGHTS = torch.tensor([[0.70, 0.20, 0.10], [0.05, 0.15, 0.80], [0.60, 0.30, 0.10]])
ALL = torch.ones(3, dtype=torch.bool)


def test_equal_order_is_one_whatever_the_sign() -> None:
    signed = WEIGHTS * torch.tensor([1.0, -1, 1])
    assert agreement(WEIGHTS, signed**3).kendall_tau == pytest.approx(1)
    assert agreement(WEIGHTS, 1 - WEIGHTS).kendall_tau == pytest.approx(-1)
    assert agreement(WEIGHTS, torch.full((3, 3), 0.2)).kendall_tau is None


def test_every_head_is_scipys_tau() -> None:
    generator = torch.Generator().manual_seed(3)
    attention, attribution = (torch.rand(2, 3, 5, 5, generator=generator) - 0.3 * i for i in (0, 1))
    found = agreements(attention, attribution)
    assert [len(layer) for layer in found] == [3, 3]
    expected = kendalltau(attention[1, 2].flatten(), attribution[1, 2].abs().flatten()).statistic
    assert found[1][2] == pytest.approx(expected)


def test_idle_weights_by_hand() -> None:
    """Of the three largest weights 0.80, 0.70, 0.60 the first contributes most and the third nothing."""
    attribution = torch.tensor([[0.02, 0.03, 0.04], [0.05, 0.06, -0.90], [0.0, 0.07, 0.08]])
    assert idle(WEIGHTS, attribution, ALL, large=1 / 3).tolist() == [[0, 0], [2, 0]]
    assert idle(WEIGHTS, attribution, ALL, large=1 / 3, little=0.1).tolist() == [[2, 0]]
    assert idle(WEIGHTS, attribution, ALL, large=0.01).tolist() == []  # the largest weight alone, and it contributes


def test_only_the_keys_that_may_be_named_are() -> None:
    attribution = torch.tensor([[0.02, 0.03, 0.04], [0.05, 0.06, -0.90], [0.0, 0.07, 0.08]])
    words = torch.tensor([False, True, True])
    assert idle(WEIGHTS, attribution, words, large=0.5).tolist() == [[0, 1]]
    assert idle(WEIGHTS, attribution, ~ALL).tolist() == []


def test_what_contributes_nothing_is_idle_even_where_most_do_not() -> None:
    """As in a last layer, of which only one row is read."""
    attribution = torch.zeros(3, 3)
    attribution[0] = torch.tensor([0.2, -0.1, 0.3])
    assert idle(WEIGHTS, attribution, ALL, large=1 / 3).tolist() == [[1, 2], [2, 0]]


def test_nothing_is_idle_where_all_contribute_alike() -> None:
    assert idle(WEIGHTS, torch.full((3, 3), 0.1), ALL, large=1.0).tolist() == []
