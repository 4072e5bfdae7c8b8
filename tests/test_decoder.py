"""The decoder with attention: one step function, whatever decodes; weights are values; numbers worked by hand."""

import math

import pytest
import torch

from core.interventions import permute, uniform
from core.models.decoder import ATTENTIONS, Decoder, Source, fresh
from core.models.vocabulary import END, PAD, START

TOKENS, EMBEDDING, DIM, ANNOTATION, INPUTS = 11, 3, 6, 6, 5
MASK = torch.tensor([[True] * 5, [True] * 3 + [False] * 2])


def decoder(attention: str = "additive", seed: int = 1) -> Decoder:
    def build() -> Decoder:
        return Decoder(
            TOKENS, embedding_dim=EMBEDDING, hidden_dim=DIM, input_dim=ANNOTATION, attention=attention, reach=2
        )

    made = fresh(build, seed)
    with torch.no_grad():
        made.embedding.weight *= 20  # so that what is written differs from step to step
    return made.requires_grad_(False)


def source(model: Decoder, seed: int = 2, mask: torch.Tensor = MASK) -> Source:
    generator = torch.Generator().manual_seed(seed)
    annotations = torch.randn(2, INPUTS, ANNOTATION, generator=generator)
    return model.source(annotations[:, : mask.shape[1]], mask, torch.randn(2, ANNOTATION, generator=generator))


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_what_was_written_step_by_step_is_what_forcing_it_gives(attention: str) -> None:
    model = decoder(attention)
    given = source(model)
    written = model.greedy(given, 7)
    forced = model.forced(given, written.ids)
    alive = (written.ids != PAD)[..., None]
    torch.testing.assert_close(forced.logits * alive, written.logits * alive, atol=1e-5, rtol=0)
    torch.testing.assert_close(forced.attention * alive, written.attention, atol=1e-5, rtol=0)


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_weights_are_a_distribution_over_what_is_there(attention: str) -> None:
    model = decoder(attention)
    weights = model.greedy(source(model), 4).attention[:, 0]
    total = {"none": torch.zeros(2), "local": weights.sum(-1).clamp(max=1)}.get(attention, torch.ones(2))
    torch.testing.assert_close(weights.sum(-1), total)
    assert not weights[1, 3:].any()


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_padding_changes_nothing(attention: str) -> None:
    model = decoder(attention)
    wide, narrow = source(model), source(model, mask=MASK[:, :3])
    ids = torch.tensor([[4, 5, END], [7, END, PAD]])
    torch.testing.assert_close(model.forced(wide, ids).logits[1, :2], model.forced(narrow, ids).logits[1, :2])


def test_uniform_weights_put_into_additive_attention_are_those_of_the_uniform_decoder() -> None:
    model, plain = decoder(), decoder("uniform")
    plain.load_state_dict({k: v for k, v in model.state_dict().items() if k in plain.state_dict()})
    ids = torch.tensor([[4, 5, END], [7, 8, END]])
    changed = model.forced(source(model), ids, intervene=uniform(MASK))
    expected = plain.forced(source(plain), ids)
    torch.testing.assert_close(changed.logits, expected.logits)
    torch.testing.assert_close(changed.attention, expected.attention)
    torch.testing.assert_close(changed.attention[1, 0], torch.tensor([1 / 3, 1 / 3, 1 / 3, 0, 0]))


def test_permuted_weights_are_used_and_returned() -> None:
    model, ids = decoder(), torch.tensor([[4, END], [7, END]])
    order = torch.tensor([[1, 2, 3, 4, 0], [2, 0, 1, 3, 4]])
    given = source(model)
    plain, changed = model.forced(given, ids), model.forced(given, ids, intervene=permute(order))
    torch.testing.assert_close(changed.attention[:, 0], plain.attention[:, 0].gather(-1, order))
    assert (changed.logits - plain.logits).abs().max() > 1e-3


def test_without_attention_only_the_last_state_of_the_encoder_is_read() -> None:
    model, ids = decoder("none"), torch.tensor([[4, END], [7, END]])
    one, other = source(model), source(model, seed=9)
    swapped = model.source(other.annotations, MASK, one.summary)
    torch.testing.assert_close(model.forced(swapped, ids).logits, model.forced(one, ids).logits)
    assert (model.forced(other, ids).logits - model.forced(one, ids).logits).abs().max() > 1e-3


@pytest.mark.parametrize(
    ("attention", "expected"),
    [
        ("dot", [1 / 6, 2 / 6, 3 / 6]),  # hᵀ s = 0, ln 2, ln 3
        ("general", [1 / 14, 4 / 14, 9 / 14]),  # W = 2 I doubles them
        ("uniform", [1 / 3] * 3),
    ],
)
def test_scores_by_hand(attention: str, expected: list[float]) -> None:
    model = Decoder(5, embedding_dim=3, hidden_dim=2, input_dim=2, attention=attention).requires_grad_(False)
    if attention == "general":
        model.key.weight.copy_(2 * torch.eye(2))
    annotations = torch.tensor([[[0.0, 7.0], [math.log(2), 7.0], [math.log(3), 7.0]]])
    given = model.source(annotations, torch.ones(1, 3, dtype=torch.bool), torch.zeros(1, 2))
    torch.testing.assert_close(model.weights(given, torch.tensor([[1.0, 0.0]])), torch.tensor([expected]))


def test_additive_scores_by_hand() -> None:
    """v = 1, W = U = 1: tanh(s + h) with s = 1 and h = −1, 0 gives 0 and tanh 1."""
    model = Decoder(5, embedding_dim=3, hidden_dim=2, input_dim=1).requires_grad_(False)
    for linear in (model.key, model.query, model.vector):
        linear.weight.fill_(1.0)
    model.key.bias.zero_()
    given = model.source(torch.tensor([[[-1.0], [0.0]]]), torch.ones(1, 2, dtype=torch.bool), torch.zeros(1, 1))
    share = 1 / (1 + math.exp(math.tanh(1)))
    torch.testing.assert_close(model.weights(given, torch.full((1, 2), 0.5)), torch.tensor([[share, 1 - share]]))


def test_local_attention_without_a_signal_stands_in_the_middle() -> None:
    """A place of S σ(0) = S / 2 = 2 with D = 2, so σ = 1: equal scores of four words become a Gaussian around the second."""
    model = Decoder(5, embedding_dim=3, hidden_dim=2, input_dim=2, attention="local", reach=2).requires_grad_(False)
    model.place_vector.weight.zero_()
    given = model.source(torch.zeros(1, 4, 2), torch.ones(1, 4, dtype=torch.bool), torch.zeros(1, 2))
    expected = torch.tensor([[math.exp(-0.5), 1, math.exp(-0.5), math.exp(-2)]]) / 4
    torch.testing.assert_close(model.weights(given, torch.zeros(1, 2)), expected)


def test_written_rows_end_and_are_padded() -> None:
    """A bias that wants the end at once, and one that never does."""
    model = decoder()
    given = source(model)
    model.bias[END] = 1e6
    assert model.greedy(given, 7).ids.tolist() == [[END], [END]]
    model.bias[END], model.bias[START], model.bias[PAD] = -1e6, 1e6, 1e6
    ids = model.greedy(given, 7).ids
    assert ids.shape == (2, 7)
    assert not torch.isin(ids, torch.tensor([START, PAD, END])).any()


def test_weights_depend_on_the_seed_alone() -> None:
    before = torch.random.get_rng_state()
    one, again, other = decoder(), decoder(), decoder(seed=5)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(torch.equal(a, b) for a, b in zip(one.state_dict().values(), again.state_dict().values(), strict=True))
    assert not torch.equal(one.first.weight, other.first.weight)


def test_what_does_not_fit_is_refused_in_words() -> None:
    with pytest.raises(ValueError, match="no attention 'hard'"):
        Decoder(5, embedding_dim=3, hidden_dim=2, input_dim=2, attention="hard")
    with pytest.raises(ValueError, match="both must be as wide"):
        Decoder(5, embedding_dim=3, hidden_dim=2, input_dim=4, attention="dot")
    with pytest.raises(ValueError, match="at least one"):
        model = decoder()
        model.greedy(source(model), 0)
