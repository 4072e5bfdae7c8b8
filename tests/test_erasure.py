"""Erased attention by law, against runs of the model itself, and on an example worked by hand."""

import math

import pytest
import torch

from core.agreement import jsd
from core.debate.erasure import ORDERS, SHUFFLES, after, gradient, removals, scores, single_weights
from core.experiments.erasure import erasure, middle
from core.interventions import erase, replace
from core.models import vocabulary as vocab
from core.models.classifier import Classifier, build
from core.models.contributions import Contributions, contributions
from core.types import Refusal
from tests.small import example, examples, small_card, small_model

KINDS = ("classification", "qa", "nli")
NAN = float("nan")


def taken(model: Classifier, texts=None, kind="classification") -> Contributions:
    return contributions(model, model.encode(texts or examples(kind)))


def by_hand(attention: list[float], effect: list[list[float]], bias: list[float]) -> Contributions:
    """Words whose parts in the logits are given."""
    n = len(attention)
    return Contributions(
        attention=torch.tensor([attention], dtype=torch.float64),
        effect=torch.tensor([effect], dtype=torch.float64),
        bias=torch.tensor([bias], dtype=torch.float64),
        mask=torch.ones(1, n, dtype=torch.bool),
        share=torch.ones(1, n, dtype=torch.float64),
        word=torch.arange(n)[None],
    )


# Log-odds of the first label with all weight on one word: 4, -1, 2; the bias gives -0.5.
HAND = ([0.5, 0.3, 0.2], [[4.0, 0.0], [-1.0, 0.0], [2.0, 0.0]], [0.0, 0.5])


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def test_an_example_worked_by_hand():
    words = by_hand(*HAND)
    odds = [0.5 * 4 - 0.3 + 0.2 * 2 - 0.5, (-0.3 + 0.4) / 0.5 - 0.5, 2 - 0.5, -0.5]  # attention takes word 0, 1, 2
    found = removals(words, "attention")
    assert found.order.tolist() == [[[0, 1, 2]]]
    assert found.prob[0, 0, :, 0].tolist() == pytest.approx([logistic(x) for x in odds], abs=1e-15)
    assert found.flips_at.tolist() == [[pytest.approx(1 / 3)]]
    p = logistic(odds[0])
    slopes = [p * (1 - p) * v for v in (4, -1, 2)]
    assert gradient(words)[0].tolist() == pytest.approx(slopes)
    assert removals(words, "gradient").order.tolist() == [[[0, 2, 1]]]
    assert removals(words, "attention_gradient").order.tolist() == [[[0, 2, 1]]]


def test_the_gradient_keeps_its_sign():
    """What speaks against the decision goes last, however steep it is."""
    words = by_hand([0.4, 0.3, 0.3], [[3.0, 0.0], [-2.5, 0.0], [0.1, 0.0]], [0.0, 0.0])
    assert removals(words, "gradient").order.tolist() == [[[0, 2, 1]]]
    assert removals(words, "attention_gradient").order.tolist() == [[[0, 2, 1]]]
    lower = by_hand([0.4, 0.3, 0.3], [[0.0, 3.0], [0.0, -2.5], [0.0, 0.1]], [0.0, 0.0])  # the same for the other label
    assert removals(lower, "gradient").order.tolist() == [[[0, 2, 1]]]


@pytest.mark.parametrize("kind", KINDS)
def test_the_gradient_is_that_of_autograd(kind):
    words = taken(small_model(kind=kind).precise(), kind=kind)
    free = words.attention.clone().requires_grad_()
    most = words.prob(free).max(-1).values.sum()
    expected = torch.autograd.grad(most, free)[0]
    torch.testing.assert_close(gradient(words) * words.mask, expected * words.mask, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("normalizer", ["softmax", "sparsemax"])
@pytest.mark.parametrize("order", ORDERS)
def test_every_step_is_a_run_of_the_model_with_weights_erased(kind, normalizer, order):
    model = small_model(normalizer=normalizer, kind=kind).precise()
    batch = model.encode([*examples(kind)])
    found = removals(contributions(model, batch), order, seed=2)
    for row, one in enumerate(batch.examples):
        n = len(one.text)
        for draw in range(found.order.shape[1]):
            assert sorted(found.order[row, draw, :n].tolist()) == list(range(n))
            for step in range(n + 1):
                gone = torch.zeros_like(batch.mask)
                for word in found.order[row, draw, :step].tolist():
                    gone |= batch.word == word
                prob = torch.softmax(model.run(batch, intervene=erase(gone)).logits, dim=-1)[row]
                torch.testing.assert_close(found.prob[row, draw, step], prob, rtol=0, atol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
def test_the_share_is_that_of_a_loop(order):
    model = small_model(seed=5).precise()
    words = taken(model)
    found = removals(words, order, seed=1)
    for row, n in enumerate(words.lengths.tolist()):
        for draw in range(found.order.shape[1]):
            decisions = found.prob[row, draw].argmax(-1).tolist()
            first = next((step for step in range(n + 1) if decisions[step] != decisions[0]), None)
            share = found.flips_at[row, draw].item()
            assert math.isnan(share) if first is None else share == pytest.approx(first / n)


def test_erasing_all_but_one_leaves_one():
    model = small_model().precise()
    batch = model.encode(examples())
    words = contributions(model, batch)
    for row, n in enumerate(words.lengths.tolist()):
        for kept in range(n):
            erased = torch.ones_like(words.mask)
            erased[row, kept] = False
            alone = torch.zeros_like(words.attention)
            alone[row, kept] = 1
            tokens = words.to_tokens(alone)[:, None, None]
            prob = torch.softmax(model.run(batch, intervene=replace({0: tokens})).logits, dim=-1)[row]
            torch.testing.assert_close(after(words, erased[:, None])[row, 0], prob, rtol=0, atol=1e-12)


@pytest.mark.parametrize("order", ORDERS)
def test_no_step_differs_from_the_first_without_a_word_gone_and_the_last_is_the_bias(order):
    words = taken(small_model().precise())
    found = removals(words, order)
    torch.testing.assert_close(found.prob[:, :, 0], words.prob(words.attention)[:, None].expand_as(found.prob[:, :, 0]))
    bias = torch.softmax(words.bias, -1)[:, None].expand_as(found.prob[:, :, -1])
    torch.testing.assert_close(found.prob[:, :, -1], bias)
    assert found.prob.isfinite().all()


def test_weights_that_are_zero_leave_nothing_before_the_words_end():
    """Sparse attention: with its few words gone the model reads a zero vector, whatever else is still there."""
    words = by_hand([0.75, 0.25, 0.0, 0.0], [[3.0, 0.0], [1.0, 0.0], [9.0, 0.0], [-9.0, 0.0]], [0.0, 1.0])
    found = removals(words, "attention")
    assert found.order.tolist() == [[[0, 1, 2, 3]]]
    assert found.prob[0, 0, 2:, 0].tolist() == pytest.approx([logistic(-1)] * 3)
    assert found.flips_at.item() == 0.5


def test_a_decision_that_the_bias_shares_may_never_flip():
    words = by_hand([0.6, 0.4], [[1.0, 0.0], [2.0, 0.0]], [0.5, 0.0])
    assert all(removals(words, order).flips_at.isnan().all() for order in ORDERS)


def test_one_word_is_left_out():
    model = small_model().precise()
    words = taken(model, [example("film"), *examples()])
    for order in ORDERS:
        found = removals(words, order)
        assert found.flips_at[0].isnan().all() and found.order[0, 0, 0] == 0
        torch.testing.assert_close(found.prob[0, 0, 1], torch.softmax(words.bias[0], -1))
    single = single_weights(words)
    assert single.top[0] == single.other[0] == 0


def test_each_weight_alone_is_a_run_of_the_model():
    model = small_model().precise()
    batch = model.encode(examples())
    words = contributions(model, batch)
    single = single_weights(words)
    before = torch.softmax(model.run(batch).logits, dim=-1)
    for row, n in enumerate(words.lengths.tolist()):
        for word in range(n):
            prob = torch.softmax(model.run(batch, intervene=erase(batch.word == word)).logits, dim=-1)
            torch.testing.assert_close(single.jsd[row, word], jsd(before[row], prob[row]), rtol=0, atol=1e-12)
            assert single.flips[row, word] == (prob[row].argmax() != before[row].argmax())
    assert (single.jsd[~words.mask] == 0).all() and not single.flips[~words.mask].any()


def test_the_other_word_is_any_but_the_largest():
    model = small_model().precise()
    words = taken(model, [example("a quiet good film that nobody saw")])
    drawn = [single_weights(words, seed=seed).other.item() for seed in range(600)]
    top = words.attention.argmax().item()
    assert top not in drawn and set(drawn) == set(range(7)) - {top}
    assert all(60 < drawn.count(word) < 140 for word in set(drawn))


def test_both_weights_that_are_compared_are_given():
    single = single_weights(taken(small_model().precise()))
    top, other = single.of(single.attention)
    assert torch.equal(top, single.attention.max(-1).values)
    assert torch.equal(other, single.attention[torch.arange(3), single.other]) and (top >= other).all()


@pytest.mark.parametrize("order", ORDERS)
def test_a_text_gives_the_same_alone_and_in_a_batch(order):
    model = small_model().precise()
    together = removals(taken(model), order, seed=8)
    for row, one in enumerate(examples()):
        alone, n = removals(taken(model, [one]), order, seed=8), len(one.text)
        assert torch.equal(alone.order[0], together.order[row, :, :n])
        torch.testing.assert_close(alone.prob[0], together.prob[row, :, : n + 1], rtol=0, atol=1e-12)
        torch.testing.assert_close(alone.flips_at[0], together.flips_at[row], equal_nan=True)


def test_the_seed_decides_and_the_global_generator_is_left_alone():
    words = taken(small_model().precise())
    before = torch.get_rng_state()
    first, again, other = (removals(words, "random", seed=seed).order for seed in (2, 2, 3))
    assert first.shape[1] == SHUFFLES
    assert torch.equal(first, again) and not torch.equal(first, other)
    assert torch.equal(before, torch.get_rng_state())


def test_the_pieces_of_a_word_go_together():
    texts = [["filmgood", "goodfilm", "badfilm", "film", "bad", "good"]] * 3
    model = build(small_card(), vocab.build_pieces(texts, limit=24), 1).precise()
    batch = model.encode([example("goodfilm badfilm good")])
    assert batch.mask.sum() > 3, "no word was cut into pieces"
    words = contributions(model, batch)
    found = removals(words)
    first = found.order[0, 0, 0]
    prob = torch.softmax(model.run(batch, intervene=erase(batch.word == first)).logits, dim=-1)
    torch.testing.assert_close(found.prob[0, 0, 1], prob[0], rtol=0, atol=1e-12)


def test_scores_are_what_the_orders_descend():
    words = taken(small_model().precise())
    for order in ("attention", "gradient", "attention_gradient"):
        ranked = scores(words, order).gather(1, removals(words, order).order[:, 0])
        for row, n in enumerate(words.lengths.tolist()):
            assert (ranked[row, : n - 1] >= ranked[row, 1:n]).all()


@pytest.mark.parametrize(("order", "seed", "code"), [("length", 0, "unknown_order"), ("random", -1, "seed_out_of_range")])
def test_what_is_out_of_range_is_refused(order, seed, code):
    words = by_hand(*HAND)
    with pytest.raises(Refusal) as refusal:
        removals(words, order, seed=seed)
    assert refusal.value.code == code


def test_the_median_of_draws_counts_never_as_more_than_all():
    shares = torch.tensor([[0.2, NAN, 0.4, NAN, 0.6], [NAN, NAN, NAN, 0.1, 0.2], [0.5] * 5], dtype=torch.float64)
    found = middle(shares)
    assert found[[0, 2]].tolist() == [0.6, 0.5] and found[1].isnan()


def test_rows_of_the_experiment_say_what_the_functions_say():
    model = small_model().precise()
    texts = [example("film", label=1), *examples()]
    rows = erasure(model, texts)
    words = contributions(model, model.encode(texts))
    single = single_weights(words)
    assert [row["n_words"] for row in rows] == [1, 5, 2, 11]
    measured = [name for name in rows[0] if name.startswith(("delta", "top", "other")) or name.endswith("fraction")]
    assert len(measured) == 10 and all(math.isnan(rows[0][name]) for name in measured)
    for i, row in enumerate(rows[1:], 1):
        top, other = single.top[i], single.other[i]
        assert row["delta_attention"] == pytest.approx(float(words.attention[i, top] - words.attention[i, other]))
        assert row["delta_jsd"] == pytest.approx(float(single.jsd[i, top] - single.jsd[i, other]))
        assert row["top_flipped"] == float(single.flips[i, top]) and row["other_flipped"] == float(single.flips[i, other])
        share = float(removals(words, "gradient").flips_at[i, 0])
        assert row["gradient_fraction"] == pytest.approx(share, nan_ok=True)
