"""Distances of distributions by law (zero, bounds, symmetry), by oracle (scipy, finite differences) and by hand."""

from collections.abc import Callable
from math import log

import numpy as np
import pytest
import torch
from scipy.spatial.distance import jensenshannon
from scipy.stats import entropy as scipy_entropy
from torch import Tensor

from core.agreement import entropy, jsd, kl, tvd

DISTANCES: dict[str, Callable[[Tensor, Tensor], Tensor]] = {"tvd": tvd, "kl": kl, "jsd": jsd}


def distributions(*shape: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    scores = torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return (3 * scores).softmax(-1).to(dtype)


def test_distances_by_hand() -> None:
    p, q = torch.tensor([0.5, 0.5, 0.0]), torch.tensor([0.25, 0.25, 0.5])
    assert tvd(p, q).item() == pytest.approx(0.5)
    assert kl(p, q).item() == pytest.approx(log(2))
    assert kl(q, p).item() == float("inf")
    # m = (3/8, 3/8, 1/4)
    by_hand = (log(4 / 3) + 0.5 * log(2 / 3) + 0.5 * log(2)) / 2
    assert jsd(p, q).item() == pytest.approx(by_hand)
    assert entropy(q).item() == pytest.approx(1.5 * log(2))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_distances_equal_scipy(dtype: torch.dtype) -> None:
    p, q = distributions(3, 5, 7, dtype=dtype), distributions(3, 5, 7, seed=1, dtype=dtype)
    tolerance = 1e-5 if dtype == torch.float32 else 1e-12
    assert jsd(p, q).dtype == dtype
    for found, expected in [
        (kl(p, q), scipy_entropy(p.double(), q.double(), axis=-1)),
        (jsd(p, q), jensenshannon(p.double(), q.double(), axis=-1) ** 2),
        (entropy(p), scipy_entropy(p.double(), axis=-1)),
        (tvd(p, q), np.abs(p.double().numpy() - q.double().numpy()).sum(-1) / 2),
    ]:
        assert found.shape == (3, 5)
        np.testing.assert_allclose(found.numpy(), expected, atol=tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("name", DISTANCES)
def test_distance_is_zero_only_between_equals(name: str, dtype: torch.dtype) -> None:
    p, q = distributions(11, 6, dtype=dtype), distributions(11, 6, seed=2, dtype=dtype)
    assert (DISTANCES[name](p, p) == 0).all()
    assert (DISTANCES[name](p, q) > 1e-3).all()


def test_bounds_and_symmetry() -> None:
    p, q = distributions(500, 4), distributions(500, 4, seed=3)
    for distance, bound in ((jsd, log(2)), (tvd, 1.0)):
        assert torch.allclose(distance(p, q), distance(q, p))
        assert (distance(p, q) <= bound).all()
    assert (jsd(p, q) <= log(2) * tvd(p, q) + 1e-12).all()
    assert (tvd(p, q) <= (kl(p, q) / 2).sqrt() + 1e-12).all()  # Pinsker
    assert (entropy(p) <= log(4)).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_extremes(dtype: torch.dtype) -> None:
    ones = torch.eye(3, dtype=dtype)
    assert jsd(ones[0], ones[1]).item() == pytest.approx(log(2), abs=1e-7)
    assert tvd(ones[0], ones[1]).item() == 1.0
    assert entropy(ones).tolist() == [0, 0, 0]
    tiny = torch.tensor([1.0, torch.finfo(dtype).smallest_normal / 2**20, 0.0], dtype=dtype)  # subnormal
    for distance in DISTANCES.values():
        assert torch.isfinite(distance(tiny, ones[0])) or distance is kl
        assert torch.isfinite(distance(tiny[[1, 0, 2]], tiny))


def test_masked_positions_add_nothing() -> None:
    p, q = distributions(5, 4), distributions(5, 4, seed=4)
    padded = [torch.nn.functional.pad(side, (0, 3)) for side in (p, q)]
    for distance in DISTANCES.values():
        assert torch.equal(distance(*padded), distance(p, q))
    assert torch.equal(entropy(padded[0]), entropy(p))


@pytest.mark.parametrize("name", DISTANCES)
def test_gradients_equal_finite_differences_also_beside_zeros(name: str) -> None:
    p = torch.tensor([0.2, 0.5, 0.3, 0.0, 0.0], dtype=torch.float64)
    q = torch.tensor([0.4, 0.1, 0.2, 0.3, 0.0], dtype=torch.float64)
    inputs = [p.requires_grad_(), q.requires_grad_()]
    gradients = torch.autograd.grad(DISTANCES[name](p, q), inputs)
    assert all(torch.isfinite(gradient).all() for gradient in gradients)
    for side, gradient in enumerate(gradients):
        for position in range(5):
            if inputs[side][position] == 0:
                continue
            step = torch.zeros(5, dtype=torch.float64)
            step[position] = 1e-6
            moved = [[value + sign * step if side == i else value for i, value in enumerate((p, q))] for sign in (1, -1)]
            slope = (DISTANCES[name](*moved[0]) - DISTANCES[name](*moved[1])) / 2e-6
            assert gradient[position].item() == pytest.approx(slope.item(), abs=1e-6)


@pytest.mark.parametrize("name", DISTANCES)
def test_gradients_through_a_masked_softmax(name: str) -> None:
    scores = torch.tensor([[0.3, -1.2, 0.8, -torch.inf], [0.1, 0.0, -800.0, -torch.inf]], dtype=torch.float64)
    other = torch.tensor([[0.2, 0.5, 0.3, 0.0], [0.6, 0.4, 0.0, 0.0]], dtype=torch.float64)
    finite = scores[:, :3].clone().requires_grad_()

    def loss(values: Tensor) -> Tensor:
        filled = torch.nn.functional.pad(values, (0, 1), value=-torch.inf)
        return DISTANCES[name](filled.softmax(-1), other)

    assert torch.autograd.gradcheck(loss, [finite])


def test_gradient_stays_finite_where_the_divergence_does_not() -> None:
    p = torch.tensor([0.5, 0.5], requires_grad=True)
    q = torch.tensor([1.0, 0.0], requires_grad=True)
    value = kl(p, q)
    assert value.item() == float("inf")
    assert all(torch.isfinite(gradient).all() for gradient in torch.autograd.grad(value, [p, q]))


def test_entropy_gradient_is_finite_at_zero() -> None:
    p = torch.tensor([0.25, 0.75, 0.0], dtype=torch.float64, requires_grad=True)
    (gradient,) = torch.autograd.grad(entropy(p), [p])
    assert gradient.tolist() == pytest.approx([-log(0.25) - 1, -log(0.75) - 1, 0.0])
