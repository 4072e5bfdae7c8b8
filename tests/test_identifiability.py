"""What a head's output can see of its attention: an example by hand, and laws on small models whose heads have size 2."""

import dataclasses
import math

import pytest
import torch

from core.debate.identifiability import MappedModel, direction, effective, kept, seen, size, walk
from core.interventions import keep, replace
from core.models.self_attention import NAME, SelfAttention
from core.models.text_model import fresh
from tests.small import WORDS, example, examples, small_card, small_model, small_vocabulary

HEADS, HEAD_SIZE = 3, 2
PRECISE = {"atol": 1e-10, "rtol": 0}
WORD = 4


def model_of(seed: int = 3, heads: int = HEADS) -> SelfAttention:
    """A random model in double precision whose values have a bias."""
    card = dataclasses.replace(small_card("bilstm", "scaled-dot"), encoder=NAME, hidden_dim=HEADS * HEAD_SIZE, heads=heads)
    model = fresh(SelfAttention, card, small_vocabulary(), seed, 0.8)
    with torch.no_grad():
        model.value.bias.normal_(generator=torch.Generator().manual_seed(seed))
    return model.requires_grad_(False).precise()


def text(n: int) -> str:
    return " ".join(WORDS[i % len(WORDS)] for i in range(n))


def found_of(n: int, seed: int = 3):
    model = model_of(seed)
    return effective(model, model.encode([example(text(n))]))[0]


def test_three_words_of_which_the_third_is_half_of_each_other() -> None:
    """T = [1 0; 0 1; ½ ½]: adding ½ to the first two weights and taking 1 from the third changes nothing."""
    mapped = torch.tensor([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]], dtype=torch.float64)
    basis, rank = seen(mapped)
    assert rank == 2 and size(kept(mapped)) == 2  # (1, 1, 1) = T (1, 1): sums of rows are seen already
    projection = torch.tensor([[5.0, -1.0, 2.0], [-1.0, 5.0, 2.0], [2.0, 2.0, 2.0]], dtype=torch.float64) / 6
    torch.testing.assert_close(basis @ basis.T, projection, **PRECISE)
    change = direction(mapped, 2)
    assert change is not None
    torch.testing.assert_close(change, torch.tensor([-1.0, -1.0, 2.0], dtype=torch.float64) / math.sqrt(6), **PRECISE)
    attention = torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.6, 0.3]], dtype=torch.float64)
    ahead = torch.tensor([[0.25, 0.0, 0.75], [0.0, 0.5, 0.5]], dtype=torch.float64)
    back = torch.tensor([[0.625, 0.375, 0.0], [0.25, 0.75, 0.0]], dtype=torch.float64)
    torch.testing.assert_close(walk(attention, change, 1.0), ahead, **PRECISE)
    torch.testing.assert_close(walk(attention, change, -1.0), back, **PRECISE)
    torch.testing.assert_close(walk(attention, change, 0.5), (attention + ahead) / 2, **PRECISE)
    torch.testing.assert_close(ahead @ mapped, attention @ mapped, **PRECISE)


def test_what_is_unseen_need_not_be_another_attention() -> None:
    """T = [1 0; 0 1; 1 1]: (1, 1, -1) is unseen, but changes the sum of a row, so that no other attention gives the output."""
    mapped = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], dtype=torch.float64)
    basis, rank = seen(mapped)
    assert rank == 2 and size(kept(mapped)) == 3
    assert all(direction(mapped, word) is None for word in range(3))
    even = torch.full((1, 3), 1 / 3, dtype=torch.float64)
    torch.testing.assert_close(even @ basis @ basis.T, torch.tensor([[2.0, 2.0, 4.0]], dtype=torch.float64) / 9, **PRECISE)


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 11])
def test_rank_is_bounded_by_words_and_head_size(n: int, seed: int) -> None:
    found = found_of(n, seed)
    assert found.attention.shape == found.effective.shape == (1, HEADS, n, n)
    assert (found.rank == min(n, HEAD_SIZE)).all()
    assert (found.free == n - min(n, HEAD_SIZE + 1)).all()


@pytest.mark.parametrize("n", [1, 2, 3, 4, 11])
def test_effective_attention_has_the_same_output_and_is_the_smallest(n: int) -> None:
    found = found_of(n)
    output = found.attention @ found.mapped
    torch.testing.assert_close(found.effective @ found.mapped, output, **PRECISE)
    hidden = found.attention - found.effective
    torch.testing.assert_close((hidden * found.effective).sum((-1, -2)), torch.zeros(1, HEADS, dtype=torch.float64), **PRECISE)
    share = hidden.square().sum((-1, -2)) / found.attention.square().sum((-1, -2))
    torch.testing.assert_close(found.invisible, share, **PRECISE)
    assert ((found.invisible >= 0) & (found.invisible < 1)).all()
    oracle = output @ torch.linalg.pinv(found.mapped)  # the least-norm solution of X T = A T
    torch.testing.assert_close(found.effective, oracle, atol=1e-9, rtol=0)


@pytest.mark.parametrize("n", [1, 2])
def test_at_full_rank_nothing_is_hidden(n: int) -> None:
    found = found_of(n)
    assert torch.equal(found.effective, found.attention)
    assert (found.invisible == 0).all()
    assert all(direction(found.mapped[0, head], word) is None for head in range(HEADS) for word in range(n))


def test_beyond_full_rank_something_is() -> None:
    assert (found_of(3).invisible > 1e-4).all()


@pytest.mark.parametrize(("precise", "allowed"), [(True, 1e-10), (False, 1e-5)])
def test_the_model_predicts_the_same_under_effective_attention(precise: bool, allowed: float) -> None:
    model = model_of()
    model = model if precise else model.copied(dtype=torch.float32).requires_grad_(False)
    batch = model.encode([example(text(11))])
    run = model.run(batch)
    used = torch.zeros_like(run.attention[:, 0])
    used[:, :, 1:-1, 1:-1] = effective(model, batch)[0].effective
    other = model.run(batch, intervene=replace({0: used}))
    assert (run.attention[0, 0, :, 1:-1, 1:-1] - used[0, :, 1:-1, 1:-1]).abs().max() > 0.01
    torch.testing.assert_close(other.logits, run.logits, atol=allowed, rtol=0)


@pytest.mark.parametrize("step", [-1.0, -0.3, 0.0, 0.7, 1.0])
@pytest.mark.parametrize("head", range(HEADS))
def test_a_walk_stays_an_attention_and_leaves_the_prediction(head: int, step: float) -> None:
    model = model_of()
    batch = model.encode([example(text(11))])
    found, run = effective(model, batch)[0], model.run(batch)
    own, change = found.attention[0, head], direction(found.mapped[0, head], WORD)
    assert change is not None and change.norm() == pytest.approx(1) and change[WORD] > 0
    moved = walk(own, change, step)
    assert (moved >= 0).all()
    torch.testing.assert_close(moved.sum(-1), torch.ones(11, dtype=torch.float64), **PRECISE)
    torch.testing.assert_close(moved @ found.mapped[0, head], own @ found.mapped[0, head], **PRECISE)
    assert torch.equal(moved, own) == (step == 0)
    assert (moved[:, WORD] >= own[:, WORD]).all() if step >= 0 else (moved[:, WORD] < own[:, WORD]).all()
    if abs(step) == 1:
        assert (moved.min(-1).values < 1e-15).all(), "each row ends where a weight is zero"
    used = run.attention[:, 0].clone()
    used[0, head, 1:-1, 1:-1] = moved
    torch.testing.assert_close(model.run(batch, intervene=replace({0: used})).logits, run.logits, **PRECISE)


def test_padding_changes_nothing() -> None:
    model = model_of()
    together = effective(model, model.encode(examples()))
    for one, alone in zip(together, (effective(model, model.encode([e]))[0] for e in examples()), strict=True):
        assert one.attention.shape == alone.attention.shape
        torch.testing.assert_close(one.effective, alone.effective, **PRECISE)
        assert torch.equal(one.rank, alone.rank) and torch.equal(one.free, alone.free)


def test_the_bias_of_the_values_counts() -> None:
    """With two heads' worth of values equal but for the bias, T has a row that the bias alone makes."""
    model = model_of()
    batch = model.encode([example(text(3))])
    with_bias = effective(model, batch)[0]
    bare = model.copied(dtype=torch.float64).requires_grad_(False)
    bare.value.weight.zero_()  # every word has the same value: the bias
    torch.testing.assert_close(effective(bare, batch)[0].rank, torch.ones(1, HEADS, dtype=torch.int64))
    bare.value.bias.zero_()
    assert (effective(bare, batch)[0].rank == 0).all()
    assert (with_bias.rank == HEAD_SIZE).all()


def test_who_says_how_values_enter_the_state_can_be_asked() -> None:
    assert isinstance(model_of(), MappedModel)
    assert not isinstance(small_model(), MappedModel)


def test_attention_runs_over_words_and_each_run_is_a_record() -> None:
    model = model_of()
    batch = model.encode(examples())
    run = model.run(batch)
    assert run.attention.shape[:3] == (3, 1, HEADS) and run.value.shape == (3, 1, HEADS, batch.ids.shape[1], HEAD_SIZE)
    torch.testing.assert_close(run.attention.sum(-1), torch.ones_like(run.attention[..., 0]))
    assert (run.attention[:, 0].amax((1, 2))[~batch.mask] == 0).all()
    torch.testing.assert_close(model.readout(batch)(0, keep), run.logits, **PRECISE)
    with pytest.raises(ValueError, match="one attention layer"):
        model.readout(batch)(1, keep)
    alone = torch.cat([model.run(model.encode([e])).logits for e in examples()])
    torch.testing.assert_close(alone, run.logits, **PRECISE)


def test_words_know_their_places() -> None:
    model = model_of()
    one, other = (model.run(model.encode([example(t)])).logits for t in ("the film is good", "good is the film"))
    assert (one - other).abs().max() > 1e-4


def test_an_intervention_is_used_and_shown() -> None:
    model = model_of()
    batch = model.encode([example(text(5))])
    even = torch.full((1, HEADS, 7, 7), 0.2, dtype=torch.float64).masked_fill(~batch.mask[:, None, None], 0.0)
    run = model.run(batch, intervene=replace({0: even}))
    assert torch.equal(run.attention[:, 0], even)
    assert (run.logits - model.run(batch).logits).abs().max() > 1e-6
