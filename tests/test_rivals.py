"""The rivals against small loops of their own, cases by hand, and the laws that each of them keeps."""

import math

import pytest
import torch
from torch import Tensor

from core import importance
from core.attattr import merging, rivals
from core.attattr.attribution import attribution
from core.attattr.rivals import RIVALS, Scores
from core.interventions import keep, replace
from core.models.transformer import Transformer
from core.types import Batch, Refusal
from tests.small import example
from tests.small_transformers import small_transformer

TEXTS = ("the films is a quietly good story", "bad", "nobody saw that film")
READ = ("attention", "rollout", "norms", "value_zeroing", "gradient_attention", "attribution")


@pytest.fixture(scope="module")
def model() -> Transformer:
    return small_transformer().precise()


@pytest.fixture(scope="module")
def batch(model: Transformer) -> Batch:
    return model.encode([example(text) for text in TEXTS])


@pytest.fixture(scope="module")
def target(model: Transformer, batch: Batch) -> Tensor:
    return model.run(batch).logits.argmax(-1)


def asked(name: str, model: Transformer, batch: Batch, target: Tensor) -> Scores:
    return RIVALS[name].scores(model, batch, target)


def test_rollout_by_hand() -> None:
    """Two layers: half of each state is carried on."""
    layers = torch.tensor([[[[1.0, 0], [0.5, 0.5]], [[0, 1.0], [0, 1.0]]]])
    steps = (layers + torch.eye(2)) / 2
    found = rivals._chain(steps)[0]
    assert found[0].tolist() == [[1, 0], [0.25, 0.75]]
    assert found[1].tolist() == [[0.5 + 0.125, 0.375], [0.25, 0.75]]


def test_rollout_is_the_product_of_half_steps(model: Transformer, batch: Batch, target: Tensor) -> None:
    run, found = model.run(batch), asked("rollout", model, batch, target)
    for row in range(len(TEXTS)):
        n = int(batch.present[row].sum())
        joint = [[float(i == j) for j in range(n)] for i in range(n)]
        for layer in range(3):
            mean = run.attention[row, layer].mean(0)
            joint = [
                [sum((float(mean[i, k]) + (i == k)) / 2 * joint[k][j] for k in range(n)) for j in range(n)] for i in range(n)
            ]
        assert found.matrix is not None and found.tokens is not None
        torch.testing.assert_close(found.matrix[row, :n, :n], torch.tensor(joint, dtype=torch.float64))
        assert found.tokens[row].sum() == pytest.approx(1)


@pytest.mark.parametrize("name", READ)
def test_nothing_lies_on_padding(name: str, model: Transformer, batch: Batch, target: Tensor) -> None:
    found = asked(name, model, batch, target)
    assert found.matrix is not None and found.layers is not None and found.tokens is not None
    gone = ~batch.present
    assert found.tokens[gone].abs().max() == 0
    for matrix in (found.matrix, *found.layers.unbind(1)):
        assert matrix.mT[gone].abs().max() == 0 and matrix[gone].abs().max() == 0


@pytest.mark.parametrize("name", RIVALS)
def test_a_text_alone_is_what_it_is_in_company(name: str, model: Transformer, batch: Batch, target: Tensor) -> None:
    together = asked(name, model, batch, target)
    for row in range(len(TEXTS)):
        alone = asked(name, model, model.encode([batch.examples[row]]), target[row : row + 1])
        assert alone.words[0] == pytest.approx(together.words[row], abs=1e-9)
        assert len(alone.words[0]) == (0 if (name, row) == ("leave_one_out", 1) else len(batch.examples[row].text))


@pytest.mark.parametrize("name", READ)
def test_a_words_score_is_the_sum_over_its_pieces(name: str, model: Transformer, batch: Batch, target: Tensor) -> None:
    found = asked(name, model, batch, target)
    assert found.tokens is not None and found.matrix is not None
    merged = merging.scores_to_words(batch, found.tokens)[0]
    at = merging.words_at(batch)[0]
    assert [float(merged[place]) for place, word in enumerate(at) if word >= 0] == pytest.approx(found.words[0])
    assert len(found.words[0]) == 7 and int(batch.present[0].sum()) > 9
    if RIVALS[name].merged == "attention":
        assert merging.to_words(batch, found.matrix, "attention")[0, 0].tolist() == pytest.approx(merged.tolist())


def test_attention_is_the_first_row_of_the_last_layer(model: Transformer, batch: Batch, target: Tensor) -> None:
    found, run = asked("attention", model, batch, target), model.run(batch)
    assert found.tokens is not None
    torch.testing.assert_close(found.tokens, run.attention[:, -1, :, 0].mean(1))
    assert found.tokens.sum(-1).tolist() == pytest.approx([1, 1, 1])


def test_norms_are_lengths_of_what_is_added_to_the_state(model: Transformer, batch: Batch, target: Tensor) -> None:
    run, found = model.run(batch), asked("norms", model, batch, target)
    assert found.layers is not None
    for layer in range(3):
        attending = model.family.layers(model.body)[layer].attention
        dense, value = attending.output.dense, attending.self.value
        for i, j in ((0, 1), (2, 0), (3, 3)):
            lengths = []
            for head in range(2):
                own = slice(5 * head, 5 * head + 5)
                moved = value.weight[own] @ run.states[0, layer, j] + value.bias[own]
                lengths.append(float((run.attention[0, layer, head, i, j] * (dense.weight[:, own] @ moved)).norm()))
            assert float(found.layers[0, layer, i, j]) == pytest.approx(sum(lengths) / 2)


def test_value_zeroing_against_a_loop(model: Transformer, batch: Batch, target: Tensor) -> None:
    """One text, each layer from its recorded states, each value vector zeroed in turn; the output is the next layer's input."""
    one, run = model.encode([batch.examples[0]]), model.run(model.encode([batch.examples[0]]))
    found = asked("value_zeroing", model, one, target[:1])
    n, joint = one.ids.shape[1], None
    for layer in range(2):
        scores = torch.zeros(n, n, dtype=torch.float64)
        for j in range(n):
            weights = run.attention[:, layer].clone()
            weights[..., j] = 0
            changed = model.run(one, states=run.states[:, layer], start=layer, intervene=replace({layer: weights}))
            for i in range(n):
                a, b = changed.states[0, 1, i], run.states[0, layer + 1, i]
                scores[i, j] = 1 - float(a @ b) / math.sqrt(float(a @ a) * float(b @ b))
        scores /= scores.sum(-1, keepdim=True)
        joint = scores if joint is None else scores @ joint
        assert found.layers is not None
        torch.testing.assert_close(found.layers[0, layer], scores, atol=1e-9, rtol=1e-6)
    assert found.layers is not None and found.matrix is not None
    torch.testing.assert_close(found.matrix[0], found.layers[0, 2] @ joint, atol=1e-9, rtol=1e-6)
    torch.testing.assert_close(found.layers.sum(-1), torch.ones(1, 3, n, dtype=torch.float64))


def test_gradient_attention_against_differences(model: Transformer, batch: Batch, target: Tensor) -> None:
    """A ⊙ ∂z/∂A measured by moving single weights, and R rolled out by a loop."""
    one = model.encode([batch.examples[2]])
    run, found, n, step = model.run(one), asked("gradient_attention", model, one, target[2:]), one.ids.shape[1], 1e-4
    assert found.layers is not None and found.matrix is not None
    for layer, i, j in ((0, 1, 2), (1, 0, 3), (2, 0, 1), (2, 0, 4)):
        positive = []
        for head in range(2):
            moved = torch.zeros_like(run.attention[:, layer])
            moved[0, head, i, j] = step
            sides = [
                model.run(one, intervene=lambda at, own, by=sign * moved, here=layer: own + by if at == here else own).logits
                for sign in (1, -1)
            ]
            slope = float((sides[0] - sides[1])[0, target[2]]) / (2 * step)
            positive.append(max(0.0, slope * float(run.attention[0, layer, head, i, j])))
        assert float(found.layers[0, layer, i, j]) == pytest.approx(sum(positive) / 2, abs=1e-7)
    relevance = torch.eye(n, dtype=torch.float64)
    for layer in range(3):
        relevance = relevance + found.layers[0, layer] @ relevance
    torch.testing.assert_close(found.matrix[0], relevance)


def test_attribution_speaks_through_the_sums_of_its_columns(model: Transformer, batch: Batch, target: Tensor) -> None:
    own, found = attribution(model, batch, target=target), asked("attribution", model, batch, target)
    assert found.tokens is not None and found.layers is not None
    torch.testing.assert_close(found.tokens, own.attribution.sum((1, 2, 3)))
    torch.testing.assert_close(found.layers, own.attribution.sum(2))


def test_integrated_gradients_sum_to_what_the_words_add(model: Transformer, batch: Batch, target: Tensor) -> None:
    embedding = model.embed(batch)
    prob = [
        importance.target_prob(model.run(batch, embedding=vectors).logits, target)
        for vectors in (embedding, embedding * ~batch.mask[..., None])
    ]
    sums = [sum(words) for words in asked("integrated_gradients", model, batch, target).words]
    assert sums == pytest.approx((prob[0] - prob[1]).tolist(), abs=1e-4)


def test_input_x_gradient_is_the_slope_when_a_word_grows(model: Transformer, batch: Batch, target: Tensor) -> None:
    found, step = asked("input_x_gradient", model, batch, target), 1e-5
    for word in range(7):
        grown = model.embed(batch) * torch.where((batch.word == word)[..., None], 1 + step, 1.0)
        sides = [importance.target_prob(model.run(batch, embedding=e).logits, target)[0] for e in (grown, model.embed(batch))]
        assert found.words[0][word] == pytest.approx(float(sides[0] - sides[1]) / step, abs=1e-4)


def test_leave_one_out_reads_texts_without_a_word() -> None:
    model = small_transformer("nli").precise()
    pair = example("the film is good", "nobody saw films")
    batch = model.encode([pair])
    target = model.run(batch).logits.argmax(-1)
    prob = importance.target_prob(model.run(batch).logits, target)
    shorter = {
        1: example("the is good", "nobody saw films"),
        4: example("the film is good", "saw films"),
        6: example("the film is good", "nobody saw"),
    }
    found = RIVALS["leave_one_out"].scores(model, batch, target)
    assert len(found.words[0]) == 7 and found.tokens is None
    for word, rest in shorter.items():
        left = importance.target_prob(model.run(model.encode([rest])).logits, target)
        assert found.words[0][word] == pytest.approx(float(prob - left), abs=1e-9)


@pytest.mark.parametrize("name", RIVALS)
def test_every_method_rates_both_texts_of_a_pair(name: str) -> None:
    model = small_transformer("nli")
    batch = model.encode([example("the film is good", "nobody saw films"), example("bad", "good")])
    found = RIVALS[name].scores(model, batch, torch.tensor([2, 0]))
    assert [len(words) for words in found.words] == [7, 2] and any(found.words[0][4:])
    assert all(math.isfinite(value) for words in found.words for value in words)


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(Refusal, match="no method 'flow'; there are attention, rollout"):
        rivals.rival("flow")
    assert rivals.rival("norms") is RIVALS["norms"]


def test_which_methods_know_for_or_against(model: Transformer, batch: Batch, target: Tensor) -> None:
    for name, rival in RIVALS.items():
        values = [value for words in asked(name, model, batch, target).words for value in words]
        assert (min(values) < 0) == rival.signed, name


def test_the_models_run_is_left_as_it_was(model: Transformer, batch: Batch, target: Tensor) -> None:
    before = model.run(batch).logits
    for name in RIVALS:
        asked(name, model, batch, target)
    assert torch.equal(before, model.run(batch, intervene=keep).logits)
