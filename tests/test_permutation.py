"""Shuffled attention by law: what may not move, what must be kept, and that only seed and length decide."""

import numpy as np
import pytest
import torch

from core.agreement import tvd
from core.debate.permutation import orders, permutations
from core.interventions import replace
from core.models import vocabulary as vocab
from core.models.classifier import Classifier, build
from core.models.contributions import contributions
from core.types import Refusal
from tests.small import example, examples, small_card, small_model

KINDS = ("classification", "qa", "nli")


@pytest.fixture(scope="module")
def model() -> Classifier:
    return small_model().precise()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("normalizer", ["softmax", "sparsemax"])
def test_each_shuffle_is_a_run_of_the_model(kind, normalizer):
    model = small_model(normalizer=normalizer, kind=kind).precise()
    batch = model.encode(examples(kind))
    found = permutations(model, batch, n=7, seed=4)
    words = contributions(model, batch)
    order = orders(words, 7, 4)
    for draw in range(7):
        shuffled = words.to_tokens(words.attention.gather(-1, order[:, draw]))
        run = model.run(batch, intervene=replace({0: shuffled[:, None, None]}))
        prob = torch.softmax(run.logits, dim=-1)
        torch.testing.assert_close(found.prob[:, draw], prob, rtol=0, atol=1e-12)
    before = torch.softmax(model.run(batch).logits, dim=-1)
    torch.testing.assert_close(found.original, before, rtol=0, atol=1e-12)
    torch.testing.assert_close(found.tvd, tvd(found.prob, before[:, None]), rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.median_tvd, np.median(found.tvd, axis=-1))
    assert found.tvd.isfinite().all() and found.prob.isfinite().all()


def test_every_order_is_a_permutation_of_the_words_and_padding_stays(model):
    batch = model.encode(examples())
    order = orders(contributions(model, batch), 13, 0)
    assert order.shape == (3, 13, 11)
    for row, n in enumerate((5, 2, 11)):
        assert (order[row, :, :n].sort(-1).values == torch.arange(n)).all()
        assert (order[row, :, n:] == torch.arange(n, 11)).all()


def test_orders_are_drawn_evenly(model):
    batch = model.encode([example("film is good")])
    order = orders(contributions(model, batch), 6000, 1)[0]
    counts = torch.tensor([6000 // 6] * 6)
    _, seen = order.unique(dim=0, return_counts=True)
    assert len(seen) == 6
    assert ((seen - counts).abs() < 5 * (1000 * 5 / 6) ** 0.5).all()


def test_uniform_attention_cannot_be_shuffled(model):
    flat = Classifier.precise(model)
    with torch.no_grad():
        flat.score.vector.weight.zero_()
    found = permutations(flat, flat.encode(examples()))
    assert found.tvd.max() < 1e-15
    torch.testing.assert_close(found.max_attention, torch.tensor([1 / 5, 1 / 2, 1 / 11], dtype=torch.float64))


def test_one_word_has_nothing_to_shuffle(model):
    found = permutations(model, model.encode([example("film"), *examples()]), n=9)
    assert (found.tvd[0] == 0).all()
    assert found.median_tvd[0] == 0
    assert found.max_attention[0] == 1
    assert (found.tvd[1:].max(-1).values > 0).all()


def test_an_example_gives_the_same_alone_and_in_a_batch(model):
    together = permutations(model, model.encode(examples()), seed=8)
    for row, one in enumerate(examples()):
        alone = permutations(model, model.encode([one]), seed=8)
        torch.testing.assert_close(alone.tvd[0], together.tvd[row], rtol=0, atol=1e-12)
        torch.testing.assert_close(alone.max_attention[0], together.max_attention[row], rtol=0, atol=1e-12)


def test_the_seed_decides(model):
    batch = model.encode(examples())
    first, again, other = (permutations(model, batch, seed=seed) for seed in (2, 2, 3))
    assert torch.equal(first.tvd, again.tvd)
    assert not torch.equal(first.tvd, other.tvd)
    assert (first.seed, other.seed) == (2, 3)


def test_the_global_generator_is_left_alone(model):
    before = torch.get_rng_state()
    permutations(model, model.encode(examples()))
    assert torch.equal(before, torch.get_rng_state())


def test_pieces_of_a_word_stay_together():
    texts = [["filmgood", "goodfilm", "badfilm", "film", "bad", "good"]] * 3
    pieces = vocab.build_pieces(texts, limit=24)
    model = build(small_card(), pieces, 1).precise()
    batch = model.encode([example("goodfilm badfilm good"), example("film bad")])
    assert batch.mask.sum() > 5, "no word was cut into pieces"
    words = contributions(model, batch)
    torch.testing.assert_close(words.attention.sum(-1), torch.ones(2, dtype=torch.float64))
    torch.testing.assert_close(words.to_tokens(words.attention), model.run(batch).attention[:, 0, 0, 0])
    found = permutations(model, batch, n=5)
    assert found.max_attention[0] == words.attention[0].max()


@pytest.mark.parametrize(
    ("n", "seed", "code"), [(0, 0, "n_out_of_range"), (10_001, 0, "n_out_of_range"), (5, -1, "seed_out_of_range")]
)
def test_what_is_out_of_range_is_refused(model, n, seed, code):
    with pytest.raises(Refusal) as refusal:
        permutations(model, model.encode(examples()), n=n, seed=seed)
    assert refusal.value.code == code


def test_a_blank_text_is_refused(model):
    with pytest.raises(Refusal) as refusal:
        permutations(model, model.encode([example(""), example("film")]))
    assert refusal.value.code == "blank_text"
