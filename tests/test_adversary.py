"""The exact adversary by oracle (a fine grid over the simplex), by law (never beyond ε, never below the search) and by hand."""

import dataclasses
from functools import cache
from itertools import pairwise, product
from math import log

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from core.agreement import jsd, tvd
from core.debate.adversary import EPSILON, Adversary, adversary, descent, spotlight_data
from core.debate.adversary.extremes import upper_bound
from core.debate.adversary.optimum import optimum
from core.interventions import replace
from core.models import vocabulary as vocab
from core.models.classifier import Classifier, build
from core.models.contributions import Contributions, contributions, log_odds_interval
from core.types import Batch, Refusal
from tests.small import example, examples, small_card, small_model

KINDS = ("classification", "qa", "nli")
STEPS = {3: 60, 4: 28, 5: 18}


@cache
def simplex(n: int) -> Tensor:
    """Every attention over n words whose weights are multiples of 1 / STEPS[n]."""
    steps = STEPS[n]
    counts = [c for c in product(range(steps + 1), repeat=n - 1) if sum(c) <= steps]
    first = torch.tensor(counts, dtype=torch.float64)
    return torch.cat([first, steps - first.sum(-1, keepdim=True)], dim=-1) / steps


def decoder(attention: list[float], effect: list[list[float]], bias: list[float]) -> Contributions:
    """One text of a linear decoder with given numbers."""
    weights = torch.tensor([attention], dtype=torch.float64)
    n = weights.shape[1]
    return Contributions(
        attention=weights / weights.sum(),
        effect=torch.tensor([effect], dtype=torch.float64),
        bias=torch.tensor([bias], dtype=torch.float64),
        mask=torch.ones(1, n, dtype=torch.bool),
        share=torch.ones(1, n, dtype=torch.float64),
        word=torch.arange(n)[None],
    )


def decoders(labels: int) -> st.SearchStrategy[Contributions]:
    """Decoders of 3 to 5 words whose weights and scores are often equal or zero."""
    score = st.one_of(st.integers(-3, 3).map(float), st.floats(-6, 6, allow_nan=False))
    weight = st.one_of(st.sampled_from([0.0, 0.0, 1.0, 5.0]), st.floats(0, 3))

    def of(n: int) -> st.SearchStrategy[Contributions]:
        weights = st.lists(weight, min_size=n, max_size=n).filter(lambda w: sum(w) > 0.1)
        effect = st.lists(st.lists(score, min_size=labels, max_size=labels), min_size=n, max_size=n)
        return st.builds(decoder, weights, effect, st.lists(score, min_size=labels, max_size=labels))

    return st.sampled_from([3, 4, 5]).flatmap(of)


def brute_force(words: Contributions, epsilon: float) -> float:
    """The largest JSD on the grid within ε."""
    grid = simplex(words.attention.shape[1])
    near = tvd(words.prob(grid[None])[0], words.prob(words.attention)) <= epsilon
    return float(jsd(grid[near], words.attention).max()) if near.any() else 0.0


def moved(words: Contributions, attention: Tensor) -> float:
    return float(tvd(words.prob(attention), words.prob(words.attention)))


def weights(found: list[Adversary], words: Contributions, k: int = 0) -> Tensor:
    """The k-th adversaries as "batch word"."""
    padded = torch.zeros_like(words.attention)
    for row, one in enumerate(found):
        padded[row, : len(one.original)] = torch.tensor(one.attention[k], dtype=torch.float64)
    return padded


def distance_of_runs(model: Classifier, batch: Batch, attention: Tensor) -> Tensor:
    """TVD of the model's prediction to that under attention "batch word", by running it."""
    tokens = contributions(model, batch).to_tokens(attention)[:, None, None]
    runs = [model.run(batch), model.run(batch, intervene=replace({0: tokens}))]
    before, after = (torch.softmax(run.logits, dim=-1) for run in runs)
    return tvd(before, after)


# The optimum against brute force


@settings(max_examples=300, deadline=None)
@given(words=decoders(2), epsilon=st.sampled_from([0.0, 0.003, 0.01, 0.05, 0.3, 1.0]))
def test_two_labels_reach_what_a_fine_grid_finds(words, epsilon):
    attention, bound = optimum(words, epsilon, 1)
    found = jsd(attention[:, 0], words.attention)
    assert moved(words, attention[:, 0]) <= epsilon + 1e-9
    assert float(attention.sum()) == pytest.approx(1) and bool((attention >= 0).all())
    assert int((attention > 0).sum()) <= 2 or torch.equal(attention[:, 0], words.attention)
    assert float(found) >= brute_force(words, epsilon) - 1e-12
    assert float(bound) == pytest.approx(float(found))
    assert float(upper_bound(words, epsilon)) == pytest.approx(float(found), abs=1e-9)


@settings(max_examples=150, deadline=None)
@given(words=decoders(3), epsilon=st.sampled_from([0.01, 0.05, 0.3]))
def test_three_labels_are_bounded(words, epsilon):
    assert brute_force(words, epsilon) <= float(upper_bound(words, epsilon)) + 1e-9


@settings(max_examples=4, deadline=None)
@given(words=decoders(3), epsilon=st.sampled_from([0.01, 0.05, 0.3]))
def test_three_labels_are_bracketed_and_never_below_the_search(words, epsilon):
    attention, bound = optimum(words, epsilon, 1)
    found = float(jsd(attention[:, 0], words.attention))
    assert moved(words, attention[:, 0]) <= epsilon + 1e-9
    assert found >= float(jsd(descent.search(words, epsilon, 1)[0][:, 0], words.attention)) - 1e-12
    assert found <= float(bound) + 1e-9


@settings(max_examples=60, deadline=None)
@given(words=decoders(2), epsilon=st.sampled_from([0.01, 0.05]))
def test_a_third_label_that_may_not_be_answered_changes_nothing(words, epsilon):
    effect = torch.cat([words.effect, words.effect.flip(1)[..., :1]], dim=-1)
    barred = dataclasses.replace(words, effect=effect, bias=torch.cat([words.bias, torch.full((1, 1), -torch.inf)], dim=-1))
    assert torch.equal(optimum(barred, epsilon, 1)[0], optimum(words, epsilon, 1)[0])


@settings(max_examples=60, deadline=None)
@given(words=decoders(2))
def test_more_room_never_hurts(words):
    found = [float(jsd(optimum(words, epsilon, 1)[0][:, 0], words.attention)) for epsilon in (0.0, 0.01, 0.1, 0.5, 1.0)]
    assert all(a <= b + 1e-12 for a, b in pairwise(found))


def test_all_room_gives_the_least_attended_word():
    words = decoder([0.2, 0.5, 0.3], [[0, 1], [2, 0], [0, 5]], [0, 0])
    attention, bound = optimum(words, 1.0, 1)
    assert attention[0, 0].tolist() == [1, 0, 0]
    expected = (log(2 / 1.2) + 0.2 * log(0.4 / 1.2) + 0.8 * log(2)) / 2
    assert float(bound) == pytest.approx(expected)


def test_by_hand_the_logit_meets_its_bound_between_two_words():
    """p = ½ and ε = 0.1 leave |z| ≤ log 1.5; the words' logits are -2, 0, 2, and the middle one has almost all the weight."""
    words = decoder([0.001, 0.998, 0.001], [[0, -2], [0, 0], [0, 2]], [0, 0])
    attention, _ = optimum(words, 0.1, 1)
    high = (2 + log(1.5)) / 4
    assert sorted(attention[0, 0].tolist()) == pytest.approx([0, 1 - high, high])
    assert attention[0, 0, 1] == 0
    assert moved(words, attention[:, 0]) == pytest.approx(0.1)


def test_bounds_vanish_near_certainty():
    prob = torch.tensor([0.995, 0.5, 0.004, 1.0, 0.0], dtype=torch.float64)
    low, high = log_odds_interval(prob, 1 - prob, 0.01)
    assert high.isinf().tolist() == [True, False, False, True, False]
    assert low.isinf().tolist() == [False, False, True, False, True]
    torch.testing.assert_close(torch.sigmoid(low[:2]), prob[:2] - 0.01)
    torch.testing.assert_close(torch.sigmoid(high[1:3]), prob[1:3] + 0.01)


def test_equal_scores_leave_every_attention_free():
    words = decoder([0.6, 0.3, 0.1, 0.0], [[1, 2]] * 4, [0.5, -0.5])
    attention, bound = optimum(words, 0.01, 1)
    assert attention[0, 0].tolist() == [0, 0, 0, 1]
    assert float(bound) == pytest.approx(log(2))


def test_no_room_and_one_way_out_is_the_original():
    words = decoder([0.3, 0.7], [[0, 1], [1, 0]], [0, 0])
    attention, bound = optimum(words, 0.0, 1)
    torch.testing.assert_close(attention[0, 0], words.attention[0])
    assert float(bound) == pytest.approx(0, abs=1e-12)


# On models, by running them


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("encoder", ["bilstm", "average"])
@pytest.mark.parametrize("normalizer", ["softmax", "sparsemax"])
def test_a_run_of_the_model_stays_within_epsilon(kind, encoder, normalizer):
    model = small_model(encoder, normalizer=normalizer, kind=kind).precise()
    batch = model.encode([*examples(kind), example("film", "" if kind == "classification" else "where", candidates=())])
    found = adversary(model, batch, k=3)
    words = contributions(model, batch)
    for k in range(3):
        attention = weights(found, words, k)
        distance = distance_of_runs(model, batch, attention)
        assert (distance <= EPSILON[kind] + 1e-9).all()
        torch.testing.assert_close(
            distance, torch.tensor([one.tvd[k] for one in found], dtype=torch.float64), rtol=0, atol=1e-12
        )
        far = jsd(attention, words.attention)
        torch.testing.assert_close(far, torch.tensor([one.jsd[k] for one in found], dtype=torch.float64), rtol=0, atol=1e-12)
    for one, row in zip(found, batch.allowed, strict=True):
        assert list(one.jsd) == sorted(one.jsd, reverse=True)
        assert one.jsd[0] <= one.upper_bound <= log(2) + 1e-12
        assert all(sum(p) == pytest.approx(1) for p in one.prediction)
        assert all(p[label] == 0 for p in one.prediction for label in (~row).nonzero().flatten().tolist())
        assert one.exact or int(row.sum()) > 2


def test_the_first_of_several_is_the_optimum_alone_and_the_second_is_another():
    model = small_model()
    batch = model.encode(examples())
    one, three = adversary(model, batch), adversary(model, batch, k=3)
    for single, several in zip(one, three, strict=True):
        assert several.attention[0] == single.attention[0]
        assert len(several.attention) == len(several.jsd) == len(several.tvd) == len(several.prediction) == 3
    assert three[2].attention[1] != three[2].attention[0]


def test_one_answer_or_one_word_is_proven():
    model = small_model(kind="qa")
    batch = model.encode([example("mary went to the kitchen", "where", candidates=(1,)), example("film", "where")])
    free, alone = adversary(model, batch)
    assert free.exact and free.tvd == (0.0,)
    assert sorted(free.attention[0]) == [0, 0, 0, 0, 1]
    assert alone.exact and alone.jsd[0] == pytest.approx(0, abs=1e-12) and alone.attention == ((1.0,),)


def test_an_example_gives_the_same_alone_and_in_a_batch():
    for kind in KINDS:
        model = small_model(kind=kind)
        together = adversary(model, model.encode(examples(kind)), k=2)
        for one, row in zip(examples(kind), together, strict=True):
            (alone,) = adversary(model, model.encode([one]), k=2)
            assert alone.jsd == pytest.approx(row.jsd, abs=1e-9)
            assert alone.upper_bound == pytest.approx(row.upper_bound, abs=1e-9)
            assert len(row.original) == len(one.text)


def test_pieces_of_a_word_share_its_weight():
    texts = [["filmgood", "goodfilm", "badfilm", "film", "bad", "good"]] * 3
    model = build(small_card(), vocab.build_pieces(texts, limit=24), 1).precise()
    batch = model.encode([example("goodfilm badfilm good"), example("film bad")])
    found = adversary(model, batch, epsilon=0.002)
    words = contributions(model, batch)
    assert [len(one.original) for one in found] == [3, 2]
    assert (distance_of_runs(model, batch, weights(found, words)) <= 0.002 + 1e-9).all()


def test_four_labels_need_four_words():
    """Two words for each of four labels that are alike: with two words in all the prediction never stays."""
    attention = [0.24] * 4 + [0.01] * 4
    effect = [[4.0 * (label == word % 4) for label in range(4)] for word in range(8)]
    words = decoder(attention, effect, [0.0] * 4)
    found, bound = optimum(words, 0.01, 1)
    assert 0.3 < float(jsd(found[:, 0], words.attention)) <= float(bound)
    assert int((found > 1e-3).sum()) >= 4
    assert moved(words, found[:, 0]) <= 0.01


# The published search


@pytest.fixture(scope="module")
def searched():
    model = small_model(seed=5)
    batch = model.encode(examples())
    return model, batch, adversary(model, batch, method="search", k=2, seed=1)


def test_the_search_stays_within_epsilon_and_never_beats_the_optimum(searched):
    model, batch, found = searched
    for search, exact in zip(found, adversary(model, batch), strict=True):
        assert max(search.tvd) <= 0.01
        assert 0 < search.jsd[0] <= exact.jsd[0] + 1e-12
        assert search.upper_bound == pytest.approx(exact.jsd[0], abs=1e-9)
        assert not search.exact
        assert list(search.jsd) == sorted(search.jsd, reverse=True)


def test_the_search_depends_on_seed_and_text_alone(searched):
    model, batch, found = searched
    again = adversary(model, batch, method="search", k=2, seed=1)
    other = adversary(model, batch, method="search", k=2, seed=2)
    alone = adversary(model, model.encode(examples()[2:]), method="search", k=2, seed=1)
    assert again == found
    assert other[2].attention != found[2].attention
    assert alone[0].jsd == pytest.approx(found[2].jsd, abs=1e-4)


def test_the_search_falls_back_on_the_original():
    model = small_model(seed=5)
    found = adversary(model, model.encode([example("good bad film")]), method="search", epsilon=0.0)[0]
    assert found.attention[0] == pytest.approx(found.original)
    assert found.jsd == (0.0,) and found.tvd == (0.0,)


def test_neither_method_leaves_gradients_or_draws_from_the_global_generator(searched):
    model, batch, _ = searched
    before = torch.get_rng_state()
    adversary(model, batch, method="search")
    assert torch.equal(before, torch.get_rng_state())
    assert all(p.grad is None for p in model.parameters())


# The spotlight


@pytest.mark.parametrize("kind", KINDS)
def test_the_spotlight_predicts_as_the_model_does(kind):
    model = small_model(kind=kind).precise()
    batch = model.encode(examples(kind))
    run = model.run(batch)
    for row, light in enumerate(spotlight_data(model, batch)):
        attention = torch.tensor(light.original, dtype=torch.float64)
        logits = attention @ torch.tensor(light.effect, dtype=torch.float64) + torch.tensor(light.bias, dtype=torch.float64)
        allowed = batch.allowed[row]
        torch.testing.assert_close(logits.softmax(-1), run.logits[row].softmax(-1)[allowed])
        assert logits.isfinite().all()
        assert len(light.labels) == int(allowed.sum()) and set(light.labels) <= set(model.card.task.labels)
        assert len(light.effect) == len(light.original) == len(batch.examples[row].text)


# What is refused


@pytest.mark.parametrize(
    ("given_settings", "code"),
    [
        ({"epsilon": -0.01}, "epsilon_out_of_range"),
        ({"epsilon": 1.5}, "epsilon_out_of_range"),
        ({"epsilon": float("nan")}, "epsilon_out_of_range"),
        ({"method": "guess"}, "unknown_method"),
        ({"k": 0}, "k_out_of_range"),
        ({"k": 21}, "k_out_of_range"),
    ],
)
def test_what_is_out_of_range_is_refused(given_settings, code):
    model = small_model()
    with pytest.raises(Refusal) as refusal:
        adversary(model, model.encode(examples()), **given_settings)
    assert refusal.value.code == code
