"""Every encoder × score × normalizer × kind of task obeys the same laws."""

import threading
from itertools import product

import pytest
import torch

from core.device import StateCache
from core.importance import probabilities
from core.interventions import detach, erase, keep, only_layer, permute, replace, scale, uniform
from core.models.classifier import Classifier, build
from core.models.encoders import ENCODERS
from core.models.scores import NORMALIZERS, SCORES, softmax, sparsemax
from core.types import AttentionModel, Example
from tests.small import example, examples, small_card, small_model, small_vocabulary

ALL = [
    *product(ENCODERS, SCORES, NORMALIZERS, ["classification"]),
    *product(ENCODERS, ["additive", "scaled-dot"], ["softmax"], ["qa", "nli"]),
]


@pytest.fixture(params=ALL, ids="-".join)
def case(request):
    """A model and examples of its kind."""
    return small_model(*request.param), examples(request.param[3])


def test_is_an_attention_model(case):
    assert isinstance(case[0], AttentionModel)


def test_rows_sum_to_one_over_the_words_and_nothing_lies_elsewhere(case):
    model, given = case
    batch = model.encode(given)
    weights = model.run(batch).attention[:, 0, 0, 0]
    assert weights.shape == (3, 13)  # eleven words, start and end
    torch.testing.assert_close(weights.sum(-1), torch.ones(3))
    assert weights[~batch.mask].abs().max() == 0
    assert batch.mask.sum(-1).tolist() == [5, 2, 11]


def test_padding_and_batching_change_nothing(case):
    model, given = case
    batch = model.encode(given)
    together = model.run(batch)
    for i, one in enumerate(given):
        alone = model.run(model.encode([one]))
        torch.testing.assert_close(together.logits[i], alone.logits[0], atol=1e-5, rtol=1e-5)
        n = len(one.text) + 2
        torch.testing.assert_close(together.attention[i, ..., :n], alone.attention[0], atol=1e-5, rtol=1e-5)


def test_replacing_weights_by_themselves_changes_nothing(case):
    model, given = case
    batch = model.encode(given)
    run = model.run(batch)
    again = model.run(batch, intervene=replace({0: run.attention[:, 0]}))
    assert torch.equal(run.logits, again.logits)


@pytest.mark.parametrize("name", ["keep", "uniform", "erase", "scale", "permute"])
def test_readout_is_run(case, name):
    model, given = case
    batch = model.encode(given)
    positions = torch.zeros_like(batch.mask).index_fill(1, torch.tensor([1]), True)
    order = torch.arange(batch.mask.shape[1]).flip(0).expand_as(batch.ids)
    verbs = {
        "keep": keep,
        "uniform": uniform(batch.mask),
        "erase": erase(positions),
        "scale": scale(0.5),
        "permute": permute(order),
    }
    read, intervene = model.readout(batch), verbs[name]
    torch.testing.assert_close(read(0, intervene), model.run(batch, intervene=intervene).logits)
    torch.testing.assert_close(read(0, keep), model.run(batch).logits)


def test_the_decoder_is_linear_in_the_context(case):
    model, given = case
    batch = model.encode(given)
    run = model.run(batch)
    bias = model.bias(batch, model.query_vector(batch))
    torch.testing.assert_close(
        run.logits,
        torch.einsum("bk,bkd,ld->bl", run.attention[:, 0, 0, 0], run.states[:, 0], model.decoder.weight) + bias,
    )


def test_states_computed_before_are_used(case):
    model, given = case
    batch = model.encode(given)
    assert torch.equal(model.run(batch, states=model.states(batch)).logits, model.run(batch).logits)


def test_only_allowed_answers_have_probability():
    model = small_model(kind="qa")
    given = examples("qa")
    prob = probabilities(model.run(model.encode(given)).logits)
    for row, one in zip(prob, given, strict=True):
        assert {i for i, p in enumerate(row.tolist()) if p > 0} == set(one.candidates)
    torch.testing.assert_close(prob.sum(-1), torch.ones(3))


def test_text_beyond_the_limit_is_cut_to_the_first_words():
    model = small_model()
    long = Example("long", ("good", "bad") * 400)
    assert len(model.encode([long]).examples[0].text) == 512
    assert torch.equal(
        model.run(model.encode([long])).logits, model.run(model.encode([Example("cut", long.text[:512])])).logits
    )


def test_an_average_state_sees_its_own_word_only_and_a_bilstm_state_all():
    one, other = example("a quiet good film that"), example("a quiet bad film that")
    for encoder, others_move in (("average", False), ("cnn", True), ("bilstm", True)):
        model = small_model(encoder)
        first, second = (model.states(model.encode([e]))[0] for e in (one, other))
        moved = (first - second).abs().amax(-1) > 1e-9
        assert bool(moved[3])
        assert bool(moved[2]) == others_move


def test_a_location_score_sees_where_and_not_what():
    model = small_model(score="location")
    first, second = (model.run(model.encode([example(t)])).attention for t in ("a quiet film", "bad long story"))
    assert torch.equal(first, second)


def test_weights_depend_on_the_seed_alone_and_leave_the_global_generator_alone():
    before = torch.random.get_rng_state()
    first, again, other = (build(small_card(), small_vocabulary(), seed).state_dict() for seed in (1, 1, 2))
    assert all(torch.equal(first[k], again[k]) for k in first)
    assert not torch.equal(first["embedding.weight"], other["embedding.weight"])
    assert torch.equal(before, torch.random.get_rng_state())


def test_interventions_by_hand():
    weights = torch.tensor([[[[0.5, 0.25, 0.25]]]])
    marked = torch.tensor([[True, False, False]])
    assert erase(marked)(0, weights).flatten().tolist() == [0, 0.5, 0.5]
    assert erase(torch.ones(1, 3, dtype=torch.bool))(0, weights).flatten().tolist() == [0, 0, 0]
    assert uniform(torch.tensor([[True, True, False]]))(0, weights).flatten().tolist() == [0.5, 0.5, 0]
    assert permute(torch.tensor([[1, 0, 2]]))(0, weights).flatten().tolist() == [0.25, 0.5, 0.25]
    assert scale(2.0)(0, weights).flatten().tolist() == [1, 0.5, 0.5]
    assert only_layer(1, scale(2.0))(0, weights) is weights
    assert replace({1: weights})(0, weights) is weights
    tracked = weights.clone().requires_grad_()
    assert keep(0, tracked).requires_grad and not detach(0, tracked).requires_grad


def test_scores_by_hand():
    states, query = torch.tensor([[[3.0, 4.0], [0.0, 2.0]]]), torch.tensor([[1.0, 2.0]])
    built = {name: make(2) for name, make in SCORES.items()}
    assert built["dot"](states, query).tolist() == [[11, 4]]
    torch.testing.assert_close(built["scaled-dot"](states, query), torch.tensor([[11, 4]]) / 2**0.5)
    cosine = built["cosine"](states, query) / built["cosine"].sharpness
    torch.testing.assert_close(cosine, torch.tensor([[11 / (5 * 5**0.5), 4 / (2 * 5**0.5)]]))
    built["general"].load_state_dict({"bilinear.weight": torch.tensor([[0.0, 1.0], [1.0, 0.0]])})
    assert built["general"](states, query).tolist() == [[3 * 2 + 4 * 1, 2 * 1]]
    built["additive"].load_state_dict(
        {
            "state.weight": torch.tensor([[1.0, 0.0]]),
            "state.bias": torch.tensor([0.5]),
            "query.weight": torch.tensor([[0.0, 1.0]]),
            "vector.weight": torch.tensor([[2.0]]),
        }
    )
    torch.testing.assert_close(built["additive"](states, query), 2 * torch.tanh(torch.tensor([[5.5, 2.5]])))


def test_sparsemax_by_hand_and_as_a_projection():
    mask = torch.tensor([[True, True, True, False]])
    torch.testing.assert_close(sparsemax(torch.tensor([[1.0, 0.8, -1.0, 9.0]]), mask), torch.tensor([[0.6, 0.4, 0.0, 0.0]]))
    torch.testing.assert_close(sparsemax(torch.tensor([[5.0, 1.0, 0.0, 9.0]]), mask), torch.tensor([[1.0, 0.0, 0.0, 0.0]]))
    scores = torch.randn(50, 6, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    chosen = sparsemax(scores, torch.ones(50, 6, dtype=torch.bool))
    everywhere = torch.ones(50, 6, dtype=torch.bool)
    for seed in range(200):
        drawn = torch.randn(50, 6, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        other = softmax(3 * drawn, everywhere)
        assert ((chosen - scores).square().sum(-1) <= (other - scores).square().sum(-1) + 1e-12).all()


def test_sparsemax_has_the_gradient_of_finite_differences():
    scores = torch.tensor([[0.9, 0.3, 0.2, -2.0]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: sparsemax(s, torch.ones(1, 4, dtype=torch.bool)), scores)


def test_nothing_to_attend_gives_no_weight_and_no_nan():
    mask = torch.zeros(1, 3, dtype=torch.bool)
    for normalize in NORMALIZERS.values():
        assert normalize(torch.randn(1, 3), mask).tolist() == [[0, 0, 0]]


def test_threads_with_conflicting_interventions_equal_one_thread_bit_for_bit():
    model = small_model()
    batch = model.encode(examples())
    verbs = [keep, uniform(batch.mask), scale(0.5), erase(batch.word == 0)]
    alone = [model.run(batch, intervene=v).logits for v in verbs]
    wrong: list[int] = []

    def work(i: int) -> None:
        for round_ in range(10):
            k = (i + round_) % len(verbs)
            if not torch.equal(model.run(batch, intervene=verbs[k]).logits, alone[k]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert not torch.equal(alone[0], alone[1])


def test_states_are_kept_once_per_text_and_precision_and_shared_by_twins():
    cache = StateCache(10**6)
    model = small_model()
    kept = Classifier(model.card, model.vocabulary, cache)
    kept.load_state_dict(model.state_dict())
    batch = kept.encode(examples())
    first, again = kept.remembered(batch), kept.remembered(batch)
    assert torch.equal(first, model.states(batch)) and first.data_ptr() == again.data_ptr() and not first.requires_grad
    assert (cache.stats().hits, cache.stats().misses) == (1, 1)
    kept.precise().remembered(batch)
    kept.precise().remembered(batch)
    assert (cache.stats().hits, cache.stats().misses) == (2, 2)
    torch.testing.assert_close(kept.readout(batch)(0, keep), model.run(batch).logits)
    assert cache.stats().hits == 3
    assert kept.copied().cache is None


@pytest.mark.parametrize("encoder", ENCODERS)
def test_states_without_some_tokens_are_those_of_the_shorter_text(encoder):
    """Words of one, two and three pieces, in any order, some beginning or ending at one token."""
    model = small_model(encoder).precise()
    batch = model.encode([example("the film is a quiet good story")])
    spans = [(4, 6), (1, 2), (7, 8), (1, 4), (3, 4)]
    left = torch.ones(len(spans), 9, dtype=torch.bool)
    for row, (start, end) in zip(left, spans, strict=True):
        row[start:end] = False
    states = model.encoder.without(model.embed(batch)[0], left)
    assert states.shape[:2] == (5, 8)
    for row, (start, end) in enumerate(spans):
        embedding = torch.cat([model.embed(batch)[:, :start], model.embed(batch)[:, end:]], dim=1)
        alone = model.encoder(embedding, torch.ones(1, embedding.shape[1], dtype=torch.bool))
        torch.testing.assert_close(states[row, : 9 - (end - start)], alone[0], atol=1e-12, rtol=1e-12)
