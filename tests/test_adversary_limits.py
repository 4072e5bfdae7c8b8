"""The adversary under a ceiling and a floor, by oracle (all extreme points, fine grids) and by law (limits, bounds)."""

from functools import cache
from itertools import combinations, product
from math import atanh, exp, inf, log, tanh

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from core import agreement, data, reading
from core.agreement import jsd, tvd
from core.debate.adversary import adversary, constrained
from core.debate.adversary.ceiling import branch
from core.debate.adversary.floor import climb, most_even, spread
from core.debate.adversary.room import Array, Room, entropy, scaled
from core.interventions import replace
from core.models import registry
from core.models.contributions import Contributions, contributions
from core.types import Refusal
from tests.small import example, examples, small_model

SEEDS = st.integers(0, 10_000)
SEVERAL = [f"babi{task}/{encoder}-additive" for task in (1, 2, 3) for encoder in ("average", "bilstm")]
SEVERAL += [f"snli/{encoder}-additive" for encoder in ("average", "bilstm", "cnn")]
FEW = 1  # sample texts of each: the climbs take a second


def a_room(
    seed: int, words: int, ceiling: float = 1.0, floor: float = 0.0, epsilon: float = 0.01
) -> tuple[Room, Array, float, float]:
    """A random room of two labels with the words' log-odds and the interval left to them; some scores are equal."""
    draw = np.random.default_rng(seed)
    original = draw.dirichlet(np.full(words, draw.choice([0.3, 1.0, 5.0])))
    scores = draw.normal(size=words) * draw.choice([0.5, 2.0, 8.0])
    scores = scores.round() if seed % 3 == 0 else scores
    p = 1 / (1 + exp(-float(original @ scores)))
    low = log((p - epsilon) / (1 - p + epsilon)) if p > epsilon else -inf
    high = log((p + epsilon) / (1 - p - epsilon)) if 1 - p > epsilon else inf

    def near(weights: Array) -> bool:
        return abs(1 / (1 + exp(-float(weights @ scores))) - p) <= epsilon + 1e-10

    sides = scaled(np.stack([scores, -scores]), np.array([high, -low]))
    return Room(original, *sides, ceiling, floor, near), scores, low, high


def extreme_points(ceiling: float, scores: Array, low: float, high: float) -> list[Array]:
    """All weights with words at the ceiling and at most two others, these where the log-odds meet a bound."""
    n, found = len(scores), []
    for full in range(int(1 / ceiling + 1e-9) + 1):
        left = 1 - full * ceiling
        for chosen in combinations(range(n), full):
            start = np.isin(np.arange(n), chosen) * ceiling
            others = [word for word in range(n) if word not in chosen]
            if left < 1e-12:
                found.append(start)
            found += [start + left * np.eye(n)[word] for word in others if left <= ceiling]
            for i, j in combinations(others, 2):
                for bound in (low, high):
                    if scores[i] != scores[j] and np.isfinite(bound):
                        part = (bound - start @ scores - left * scores[j]) / (scores[i] - scores[j])
                        if -1e-12 <= part <= ceiling and -1e-12 <= left - part <= ceiling:
                            found.append(start + part * np.eye(n)[i] + (left - part) * np.eye(n)[j])
    return [w for w in found if low - 1e-11 <= w @ scores <= high + 1e-11]


def grid(words: int, steps: int) -> list[Array]:
    counts = [c for c in product(range(steps + 1), repeat=words - 1) if sum(c) <= steps]
    return [np.array([*c, steps - sum(c)]) / steps for c in counts]


# Pieces


@settings(deadline=None)
@given(scores=st.lists(st.floats(-900, 900), min_size=2, max_size=9), part=st.floats(0, 1))
def test_spread_is_a_capped_softmax(scores, part):
    n = len(scores)
    ceiling = 1 / n + part * (1 - 1 / n)
    weights = spread(np.array(scores), ceiling)
    assert weights.sum() == pytest.approx(1)
    assert weights.max() <= ceiling + 1e-9 and weights.min() >= 0
    order = np.argsort(scores)
    assert (np.diff(weights[order]) >= -1e-12).all()
    free = np.flatnonzero((weights < ceiling - 1e-6) & (weights > 1e-12))
    shift = np.array(scores)[free] - np.log(weights[free])
    assert np.ptp(shift) < 1e-6 if len(free) else True


@given(seed=SEEDS, epsilon=st.sampled_from([0.01, 0.05, 0.5]))
def test_log_odds_that_move_little_keep_the_prediction(seed, epsilon):
    draw = np.random.default_rng(seed)
    p = draw.dirichlet(np.full(draw.integers(2, 6), 0.5)) + 1e-12
    moved = np.log(p) + draw.uniform(0, 4 * atanh(epsilon), len(p))
    q = np.exp(moved) / np.exp(moved).sum()
    assert np.abs(p / p.sum() - q).sum() / 2 <= epsilon + 1e-9
    assert tanh(4 * atanh(epsilon) / 4) == pytest.approx(epsilon)


# A ceiling


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, words=st.integers(3, 8), ceiling=st.sampled_from([1.0, 0.6, 0.5, 0.4, 0.35]))
def test_a_ceiling_is_solved_as_by_all_extreme_points(seed, words, ceiling):
    room, scores, low, high = a_room(seed, words, ceiling)
    all_points = extreme_points(ceiling, scores, low, high)
    base, empty = most_even(room)
    assert room.allows(base) == bool(all_points)
    assert empty != room.allows(base)
    if all_points:
        best, bound = branch(room, base)
        truth = max(room.divergence(point) for point in all_points)
        assert room.allows(best)
        assert best.sum() == pytest.approx(1)
        assert room.divergence(best) == pytest.approx(truth, abs=1e-6)
        assert bound == pytest.approx(truth, abs=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_many_words_stay_inside_their_bound(seed):
    room, *_ = a_room(seed, 31, 0.15)
    base, empty = most_even(room)
    assert not empty
    best, bound = branch(room, base)
    assert room.allows(best)
    assert bound - 0.02 <= room.divergence(best) <= bound + 1e-9


# A floor


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("ceiling", [1.0, 0.5])
def test_a_floor_reaches_what_a_fine_grid_finds_and_its_bound_holds(seed, ceiling):
    words = 3 + seed % 2
    room, *_ = a_room(seed, words, ceiling, floor=(0.2 + 0.15 * (seed % 5)) * log(words), epsilon=0.05)
    allowed = [room.divergence(w) for w in grid(words, 80 if words == 3 else 30) if room.allows(w)]
    base, empty = most_even(room)
    if not room.allows(base):
        assert not allowed
        assert empty
        return
    best, bound = climb(room, base)
    assert room.allows(best)
    assert best.sum() == pytest.approx(1)
    assert room.divergence(best) <= bound + 1e-12
    assert max(allowed, default=0) <= bound + 1e-9
    assert room.divergence(best) >= max(allowed, default=0) - 0.002


@pytest.mark.parametrize("seed", range(3))
def test_a_higher_floor_never_helps(seed):
    found = []
    for part in (0.2, 0.5, 0.8):
        room, *_ = a_room(seed, 9, floor=part * log(9), epsilon=0.1)
        base, _ = most_even(room)
        found.append(room.divergence(climb(room, base)[0]) if room.allows(base) else 0.0)
    assert found[0] >= found[1] - 1e-3 and found[1] >= found[2] - 1e-3


# On models


@pytest.mark.parametrize("kind", ["classification", "qa", "nli"])
@pytest.mark.parametrize(("ceiling", "floor"), [(1.0, 0.0), (0.6, 0.0), (1.0, 0.5), (0.7, 0.4)])
def test_a_run_of_the_model_stays_within_epsilon_and_the_limits(kind, ceiling, floor):
    model = small_model(kind=kind).precise()
    batch = model.encode(examples(kind))
    words = contributions(model, batch)
    found = constrained(model, batch, epsilon=0.02, ceiling=ceiling, floor=floor)
    for row, one in enumerate(found):
        assert len(one.original) == len(batch.examples[row].text)
        if one.attention is None:
            assert one.jsd is one.tvd is one.prediction is one.upper_bound is one.entropy is None
            continue
        attention = torch.zeros_like(words.attention)
        attention[row, : len(one.original)] = torch.tensor(one.attention, dtype=torch.float64)
        tokens = words.to_tokens(attention)[:, None, None]
        runs = [model.run(batch), model.run(batch, intervene=replace({0: tokens}))]
        before, after = (torch.softmax(run.logits[row], dim=-1) for run in runs)
        assert float(tvd(before, after)) == pytest.approx(one.tvd, abs=1e-9)
        assert one.tvd <= 0.02 + 1e-9
        assert max(one.attention) <= ceiling + 1e-9
        assert one.entropy == pytest.approx(entropy(np.array(one.attention))) and one.entropy >= floor
        assert sum(one.attention) == pytest.approx(1)
        assert sum(one.prediction) == pytest.approx(1)
        assert one.jsd <= one.upper_bound + 1e-12


@cache
def points_of(words: int) -> torch.Tensor:
    return torch.tensor(np.array(grid(words, {3: 200, 4: 45}[words])))


def farthest_of_grid(words: Contributions, epsilon: float, ceiling: float, floor: float) -> float | None:
    """The largest JSD of a fine grid's allowed points over one text, None where there are none."""
    points = points_of(words.attention.shape[1])
    moved = tvd(words.prob(points[None])[0], words.prob(words.attention))
    kept = (moved <= epsilon) & (points.max(-1).values <= ceiling + 1e-9) & (agreement.entropy(points) >= floor)
    return float(jsd(points[kept], words.attention).max()) if kept.any() else None


@pytest.mark.parametrize(("ceiling", "floor"), [(0.5, 0.0), (1.0, 0.3), (1.0, 0.6), (0.6, 0.5), (1.0, 0.0)])
@pytest.mark.parametrize(("seed", "text"), [(0, "bad long story"), (1, "bad long story"), (0, "a quiet good film")])
@pytest.mark.parametrize("epsilon", [0.01, 0.05])
def test_several_labels_reach_what_a_fine_grid_finds(seed, text, epsilon, ceiling, floor):
    model = small_model(kind="nli", seed=seed)
    batch = model.encode([example(text, "where is mary")])
    (one,) = constrained(model, batch, epsilon=epsilon, ceiling=ceiling, floor=floor)
    truth = farthest_of_grid(contributions(model, batch), epsilon, ceiling, floor)
    assert one.attention is not None or truth is None
    if truth is not None:
        assert one.jsd >= truth - 0.003
        assert one.upper_bound >= truth - 1e-9


@pytest.mark.parametrize("ceiling", [0.4, 0.5])
def test_what_several_labels_allow_far_from_even_weights_is_found(ceiling):
    model = small_model(kind="nli", seed=8)
    with torch.no_grad():
        model.decoder.weight.mul_(3)
        model.score.vector.weight.mul_(10)
    batch = model.encode([example("good bad film", "the story is long")])
    words = contributions(model, batch)
    assert words.attention.max() > ceiling
    (one,) = constrained(model, batch, epsilon=0.05, ceiling=ceiling)
    assert one.attention is not None and max(one.attention) <= ceiling + 1e-9 and one.tvd <= 0.05 + 1e-9
    assert one.jsd >= farthest_of_grid(words, 0.05, ceiling, 0.0) - 0.003
    assert not one.exact or one.upper_bound == pytest.approx(one.jsd, abs=1e-6)


def test_without_limits_it_is_the_exact_adversary():
    model = small_model(seed=5)
    batch = model.encode(examples())
    for free, exact in zip(constrained(model, batch), adversary(model, batch), strict=True):
        assert free.exact
        assert free.jsd == pytest.approx(exact.jsd[0], abs=1e-6)


@pytest.mark.parametrize("name", SEVERAL)
def test_a_ceiling_that_takes_nothing_away_finds_no_more_than_the_adversary(name):
    """Neither is proven where several labels may be answered; climbs of their own have to come as far, and no farther."""
    if name not in registry.cards():
        pytest.skip("no trained model: make models")
    model = registry.load(name).precise()
    samples = [reading.read(model, sample.text, sample.query).example for sample in data.sample_texts(name.split("/")[0])]
    batch = model.encode(samples[:FEW])
    for free, loose, found in zip(
        constrained(model, batch), constrained(model, batch, ceiling=0.999), adversary(model, batch), strict=True
    ):
        assert free.jsd == pytest.approx(found.jsd[0], abs=1e-9)
        assert free.upper_bound == pytest.approx(found.upper_bound, abs=1e-9)
        assert loose.jsd <= found.jsd[0] + 1e-4
        assert found.tvd[0] <= found.epsilon + 1e-9


def test_limits_only_take_away():
    model = small_model(kind="nli")
    batch = model.encode(examples("nli"))
    bounds = [one.upper_bound for one in adversary(model, batch)]
    for ceiling, floor in ((0.6, 0.0), (1.0, 0.5)):
        for one, bound in zip(constrained(model, batch, ceiling=ceiling, floor=floor), bounds, strict=True):
            assert one.jsd is None or one.jsd <= bound + 1e-9


def test_that_nothing_is_allowed_is_proven():
    model = small_model(seed=5)
    with torch.no_grad():
        model.decoder.weight.mul_(30)  # the words disagree wildly, and one of them has the say
        model.score.vector.weight.mul_(30)
    batch = model.encode([example("good bad film")])
    original = contributions(model, batch).attention
    assert original.max() > 0.9
    (one,) = constrained(model, batch, epsilon=0.001, ceiling=1 / 3)
    assert one.attention is None and one.exact


def test_one_word_is_its_own_optimum():
    (one,) = constrained(small_model(), small_model().encode([example("film")]))
    assert one.attention == (1.0,) and one.jsd == pytest.approx(0, abs=1e-12) and one.exact


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        ({"ceiling": 0.3}, "ceiling_out_of_range"),  # the shortest example has two words
        ({"ceiling": 1.2}, "ceiling_out_of_range"),
        ({"ceiling": float("nan")}, "ceiling_out_of_range"),
        ({"floor": -0.1}, "floor_out_of_range"),
        ({"floor": 0.8}, "floor_out_of_range"),
        ({"epsilon": 2.0}, "epsilon_out_of_range"),
    ],
)
def test_limits_that_leave_nothing_are_refused(limits, code):
    model = small_model()
    with pytest.raises(Refusal) as refusal:
        constrained(model, model.encode(examples()), **limits)
    assert refusal.value.code == code
