"""Importance against finite differences, captum, deletion by hand, and the laws that integrated gradients promise."""

import pytest
import torch
from captum.attr import InputXGradient, IntegratedGradients

from core import importance
from core.importance import probabilities
from core.interventions import detach, keep, replace
from core.models.encoders import ENCODERS
from core.models.text_model import TextModel
from core.types import Example
from tests.small import example, examples, small_model

KINDS = ["classification", "qa", "nli"]


@pytest.fixture(params=[(e, k) for e in ENCODERS for k in KINDS], ids="-".join)
def case(request):
    encoder, kind = request.param
    return small_model(encoder, kind=kind).precise(), examples(kind)


def targets(model, batch):
    return model.run(batch).logits.argmax(-1)


def test_gradient_is_the_finite_difference_of_scaling_a_word(case):
    """Σ_d e_td ∂p/∂e_td is the slope of p when word t's embedding is stretched."""
    model, given = case
    batch = model.encode(given)
    target = targets(model, batch)
    fixed = replace({0: model.run(batch).attention[:, 0]})
    for intervene, during in ((detach, fixed), (keep, keep)):
        found = importance.gradient(model, batch, target=target, intervene=intervene)
        for t in (1, 2):
            step = torch.zeros(batch.ids.shape[1], dtype=torch.float64)
            step[t] = 1e-5
            up, down = (
                probabilities(
                    model.run(batch, embedding=model.embed(batch) * (1 + s * step)[None, :, None], intervene=during).logits
                )
                for s in (1, -1)
            )
            slope = (up - down).gather(-1, target[:, None]).squeeze(-1) / 2e-5
            torch.testing.assert_close(found[:, t], slope, atol=1e-8, rtol=1e-5)


def test_gradient_is_captums_input_x_gradient(case):
    model, given = case
    batch = model.encode(given)
    target = targets(model, batch)
    for intervene in (detach, keep):
        captum = InputXGradient(lambda e, way=intervene: probabilities(model.run(batch, embedding=e, intervene=way).logits))
        expected = captum.attribute(model.embed(batch).requires_grad_(), target=target).sum(-1)
        torch.testing.assert_close(importance.gradient(model, batch, target=target, intervene=intervene), expected)


def test_cutting_the_graph_matters_where_attention_depends_on_the_word(case):
    model, given = case
    batch = model.encode(given)
    target = targets(model, batch)
    cut, uncut = (importance.gradient(model, batch, target=target, intervene=v) for v in (detach, keep))
    assert (cut - uncut).abs().max() > 1e-6


def test_integrated_gradients_are_complete(case):
    model, given = case
    batch = model.encode(given)
    target = targets(model, batch)
    # The ReLU of the CNN makes kinks on the path, so that many nodes are needed.
    found = importance.integrated_gradients(model, batch, target=target, nodes=300)
    none = model.embed(batch) * ~batch.mask[..., None]
    start, end = (
        probabilities(model.run(batch, embedding=e).logits).gather(-1, target[:, None]).squeeze(-1)
        for e in (none, model.embed(batch))
    )
    torch.testing.assert_close(found.sum(-1), end - start, atol=5e-4, rtol=0)
    assert found[~batch.mask].abs().max() == 0


def test_integrated_gradients_are_captums(case):
    model, given = case
    batch = model.encode(given[:1])
    target = targets(model, batch)

    def prob(embedding):
        copies = importance.repeat(batch, len(embedding))
        return probabilities(model.run(copies, embedding=embedding).logits)

    embedding = model.embed(batch)
    captum = IntegratedGradients(prob).attribute(
        embedding, baselines=embedding * ~batch.mask[..., None], target=int(target), n_steps=50, method="gausslegendre"
    )
    found = importance.integrated_gradients(model, batch, target=target, nodes=50)
    torch.testing.assert_close(found, captum.sum(-1), atol=1e-9, rtol=1e-6)


def test_integrated_gradients_do_not_depend_on_how_the_path_is_cut(case, monkeypatch):
    model, given = case
    batch = model.encode(given)
    target = targets(model, batch)
    whole = importance.integrated_gradients(model, batch, target=target)
    monkeypatch.setattr(importance, "TOKENS_AT_ONCE", 100)
    torch.testing.assert_close(importance.integrated_gradients(model, batch, target=target), whole)


def test_leave_one_out_is_deleting_the_word_by_hand(case, monkeypatch):
    model, given = case
    batch = model.encode(given)
    target = targets(model, batch)
    monkeypatch.setattr(importance, "TOKENS_AT_ONCE", 40)  # several batches of deletions
    distance, change = importance.leave_one_out(model, batch, target=target)
    for i, one in enumerate(given):
        whole = probabilities(model.run(model.encode([one])).logits)[0]
        assert len(distance[i]) == len(one.text)
        for t in range(len(one.text)):
            shorter = Example("shorter", one.text[:t] + one.text[t + 1 :], one.query, candidates=one.candidates)
            left = probabilities(model.run(model.encode([shorter])).logits)[0]
            assert distance[i][t] == pytest.approx(float((whole - left).abs().sum() / 2), abs=1e-12)
            assert change[i][t] == pytest.approx(float(whole[target[i]] - left[target[i]]), abs=1e-12)


def test_the_short_way_to_leave_a_word_out_is_the_long_one(case):
    """What a classifier computes anew is what any model would read."""
    model, given = case
    for one in given:
        batch = model.encode([one])
        places = range(len(one.text))
        torch.testing.assert_close(model.without(batch, places), TextModel.without(model, batch, places), atol=1e-10, rtol=0)


def test_one_word_has_nothing_to_leave_out():
    model = small_model().precise()
    batch = model.encode([example("good"), example("good film")])
    distance, change = importance.leave_one_out(model, batch, target=targets(model, batch))
    assert distance[0] == change[0] == []
    assert len(distance[1]) == 2


def test_pieces_are_summed_to_words_and_specials_left_out():
    model = small_model()
    batch = model.encode(examples())
    values = torch.arange(batch.ids.numel(), dtype=torch.float32).view_as(batch.ids)
    merged = importance.to_words(batch, values)
    assert [len(row) for row in merged] == [5, 2, 11]
    assert merged[1] == [14.0, 15.0]  # the second row starts at 13, with the start symbol


def test_mixing_is_diagonal_for_average_and_banded_for_cnn():
    text = example("the film is a quiet good bad long short story that nobody saw")
    average, cnn, bilstm = (
        importance.mixing(m := small_model(e).precise(), m.encode([text])) for e in ("average", "cnn", "bilstm")
    )
    n = len(text.text)
    assert average == [[float(i == j) for j in range(n)] for i in range(n)]
    assert all((cnn[i][j] > 0) == (abs(i - j) <= 3) for i in range(n) for j in range(n))
    assert min(min(row) for row in bilstm) > 0
    for table in (average, cnn, bilstm):
        assert [sum(row) for row in table] == pytest.approx([1] * n)


def test_mixing_by_hand_against_the_jacobian():
    model = small_model("bilstm").precise()
    batch = model.encode([example("a quiet good film")])
    jacobian = torch.autograd.functional.jacobian(lambda e: model.states(batch, e), model.embed(batch))[0, :, :, 0]
    norms = jacobian.square().sum((1, 3)).sqrt()[1:-1, 1:-1]
    expected = norms / norms.sum(-1, keepdim=True)
    torch.testing.assert_close(torch.tensor(importance.mixing(model, batch), dtype=torch.float64), expected)
