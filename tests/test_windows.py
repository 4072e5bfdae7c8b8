"""Luong's windows against numbers worked by hand: what is seen, what the Gaussian takes, and that nothing is renormalized."""

import math

import pytest
import torch

from core.models.windows import gaussian, monotonic, predicted, predictive, window


def rows(*values: float) -> torch.Tensor:
    return torch.tensor([values], dtype=torch.float64)


def seen(*places: bool) -> torch.Tensor:
    return torch.tensor([places])


ALL = seen(True, True, True, True, True)


def at(place: float) -> torch.Tensor:
    return torch.tensor([place], dtype=torch.float64)


@pytest.mark.parametrize(
    ("center", "reach", "expected"),
    [
        (3.0, 1, [False, True, True, True, False]),
        (1.0, 1, [True, True, False, False, False]),  # cut at the beginning of the text
        (4.6, 2, [False, False, True, True, True]),  # |3 − 4.6| = 1.6, |2 − 4.6| = 2.6
        (9.0, 2, [False] * 5),
        (3.0, 10, [True] * 5),
    ],
)
def test_the_window_is_what_lies_within_reach(center: float, reach: int, expected: list[bool]) -> None:
    assert window(at(center), ALL, reach).tolist() == [expected]


def test_monotonic_weights_are_a_softmax_over_the_window() -> None:
    """Scores 0, ln 2, ln 3, 0, 5 around p = 2 with D = 1: 1 : 2 : 3, and the fifth word's 5 is not seen."""
    weights = monotonic(rows(0, math.log(2), math.log(3), 0, 5), at(2), ALL, 1)
    torch.testing.assert_close(weights, rows(1 / 6, 2 / 6, 3 / 6, 0, 0))


def test_the_gaussian_has_half_the_reach_as_its_width() -> None:
    """D = 2, σ = 1: exp(−1/2) one word away, exp(−2) two words away."""
    expected = rows(math.exp(-2), math.exp(-0.5), 1, math.exp(-0.5), math.exp(-2))
    torch.testing.assert_close(gaussian(at(3), ALL, 2), expected)


def test_predictive_weights_are_not_renormalized() -> None:
    """Equal scores around p = 3, D = 2: each of the five has 1/5 before the Gaussian, and the sum falls below one."""
    weights = predictive(rows(7, 7, 7, 7, 7), at(3), ALL, 2)
    torch.testing.assert_close(weights, rows(math.exp(-2), math.exp(-0.5), 1, math.exp(-0.5), math.exp(-2)) / 5)
    assert float(weights.sum()) == pytest.approx((1 + 2 * math.exp(-0.5) + 2 * math.exp(-2)) / 5)


def test_a_place_between_two_words_favors_neither() -> None:
    """p = 2.5, D = 1, σ = 1/2: words 2 and 3 are half a word away, exp(−1/2), each with half of the softmax."""
    weights = predictive(rows(1, 1, 1, 1, 1), at(2.5), ALL, 1)
    torch.testing.assert_close(weights, rows(0, math.exp(-0.5) / 2, math.exp(-0.5) / 2, 0, 0))


def test_the_predicted_place_stays_within_the_text() -> None:
    """σ(0) = 1/2, σ(ln 3) = 3/4; masked tokens do not count as words."""
    mask = seen(False, True, True, True, True)
    assert predicted(at(0.0), mask).item() == pytest.approx(2.0)
    assert predicted(at(math.log(3)), mask).item() == pytest.approx(3.0)
    assert predicted(at(-700.0), mask).item() >= 0 and predicted(at(700.0), mask).item() <= 4


def test_places_are_counted_over_the_words_that_may_be_attended() -> None:
    """A start token before the words and padding behind them take no place and get no weight."""
    mask = seen(False, True, True, True, False)
    weights = monotonic(rows(50, 0, 0, math.log(3), 50), at(2), mask, 1)
    torch.testing.assert_close(weights, rows(0, 1 / 5, 1 / 5, 3 / 5, 0))


def test_a_window_beyond_the_text_is_empty_and_not_undefined() -> None:
    assert predictive(rows(1, 2, 3, 4, 5), at(20), ALL, 2).tolist() == [[0.0] * 5]


def test_each_text_of_a_batch_has_its_own_center() -> None:
    scores = torch.zeros(2, 4, dtype=torch.float64)
    mask = torch.tensor([[True] * 4, [True, True, False, False]])
    weights = monotonic(scores, torch.tensor([4.0, 1.0], dtype=torch.float64), mask, 1)
    torch.testing.assert_close(weights, torch.tensor([[0, 0, 0.5, 0.5], [0.5, 0.5, 0, 0]], dtype=torch.float64))
