"""The adapter against the library's own eager attention, on tiny random models of every family, and the laws it promises.

Wherever the oracle is the library, the model is loaded again and run as anybody would run it: with its own forward pass, eager
attention and `output_attentions`.
"""

import copy
import dataclasses
import itertools
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from transformers import AutoModelForSequenceClassification, BertConfig, DebertaV2Config, MPNetConfig

from core import data
from core.attattr.attribution import RULES, attribution
from core.debate.identifiability import effective
from core.importance import probabilities
from core.interventions import detach, keep, only_layer, replace, scale
from core.models import batches, own, registry
from core.models.text_model import deleted
from core.models.transformer import adapted
from core.types import AttentionModel, Batch, Example, Refusal
from tests import tiny
from tests.small import example

CLOSE = {"atol": 1e-5, "rtol": 0}
PRECISE = {"atol": 1e-10, "rtol": 0}
GIVEN = [
    example("the film is good"),
    example("unkindly nobody saw it , never ending", "the storys"),
    example("bad"),
    example("it is good", "nobody saw the unkind film"),
]


@pytest.fixture(scope="module", params=tiny.CONFIGS)
def made(request, tmp_path_factory):
    """A model, and the library's own in the same folder with eager attention."""
    folder = tiny.save(tmp_path_factory.mktemp("models") / request.param, tiny.CONFIGS[request.param])
    model = own.load(str(folder))
    return model, AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager").eval()


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return own.load(str(tiny.save(tmp_path_factory.mktemp("models") / "bert"))).precise()


def of_library(net, batch: Batch):
    """Logits and weights "batch layer head query key" of the library's own forward pass."""
    more = {} if net.config.model_type in ("distilbert", "roberta") else {"token_type_ids": batch.segment}
    with torch.no_grad():
        found = net(input_ids=batch.ids, attention_mask=batch.present.long(), output_attentions=True, **more)
    return found.logits, torch.stack([layer for each in found.attentions for layer in _tensors(each)], 1)


def _tensors(found) -> tuple[torch.Tensor, ...]:
    return found if isinstance(found, tuple) else (found,)


def test_logits_and_weights_are_the_librarys(made):
    model, net = made
    assert isinstance(model, AttentionModel) and not any(p.requires_grad for p in model.parameters())
    for given in (GIVEN[:1], GIVEN[1:2], GIVEN):  # alone, a pair, padded
        batch = model.encode(given)
        logits, weights = of_library(net, batch)
        run = model.run(batch)
        torch.testing.assert_close(run.logits, logits, **CLOSE)
        torch.testing.assert_close(run.attention, weights, **CLOSE)
        assert run.attention.shape[1:3] == (model.n_layers, model.card.heads)


def test_padding_changes_nothing_and_is_not_attended(made):
    model = made[0].precise()
    batch = model.encode(GIVEN)
    run = model.run(batch)
    for i, one in enumerate(GIVEN):
        alone, n = model.run(model.encode([one])), int(batch.present[i].sum())
        torch.testing.assert_close(run.logits[i], alone.logits[0], **PRECISE)
        torch.testing.assert_close(run.attention[i, :, :, :n, :n], alone.attention[0], **PRECISE)
        assert run.attention[i, :, :, :, n:].abs().max() == 0 if n < batch.ids.shape[1] else True
    torch.testing.assert_close(run.attention.sum(-1), torch.ones_like(run.attention[..., 0]))


def test_weights_replaced_by_themselves_change_nothing(made):
    model = made[0]
    batch = model.encode(GIVEN)
    run = model.run(batch)
    again = model.run(batch, intervene=replace(dict(enumerate(run.attention.unbind(1)))))
    assert torch.equal(again.logits, run.logits) and torch.equal(again.attention, run.attention)
    assert torch.equal(model.run(batch, intervene=detach).logits, run.logits)
    assert torch.equal(model.run(batch, embedding=model.embed(batch)).logits, run.logits)


def test_an_intervention_is_used_and_shown_in_its_layer_alone(made):
    model = made[0]
    batch = model.encode(GIVEN)
    run, last = model.run(batch), model.n_layers - 1
    halved = model.run(batch, intervene=only_layer(last, scale(0.5)))
    torch.testing.assert_close(halved.attention[:, last], run.attention[:, last] / 2, **CLOSE)
    assert torch.equal(halved.attention[:, :last], run.attention[:, :last])
    assert (halved.logits - run.logits).abs().max() > 1e-4


def test_a_run_from_any_layer_is_the_whole_run(made):
    model = made[0].precise()
    batch = model.encode(GIVEN)
    run, read = model.run(batch), model.readout(batch)
    for layer in range(model.n_layers):
        part = model.run(batch, states=run.states[:, layer], start=layer)
        torch.testing.assert_close(part.logits, run.logits, **PRECISE)
        torch.testing.assert_close(part.attention, run.attention[:, layer:], **PRECISE)
        assert torch.equal(read(layer, keep), part.logits)
        silent = only_layer(layer, scale(0.0))
        torch.testing.assert_close(read(layer, silent), model.run(batch, intervene=silent).logits, **PRECISE)
    with pytest.raises(ValueError, match="attention layers 0 to"):
        read(model.n_layers, keep)


def test_what_attention_adds_is_weights_times_values_times_the_output_map(made):
    """Σ_h A_h V_h O_h and the map's bias are what the library's attention block writes before it is normalized."""
    model = made[0].precise()
    batch = model.encode(GIVEN[:1])
    run, seen = model.run(batch), []
    for layer in range(model.n_layers):
        dense = model.family.layers(model.body)[layer].get_submodule(model.family.output)
        twin = copy.deepcopy(model)
        inside = twin.family.layers(twin.body)[layer].get_submodule(twin.family.output)
        inside.forward = lambda x, own=inside: seen.append(torch.nn.functional.linear(x, own.weight, own.bias)) or seen[-1]
        twin.run(batch)
        added = torch.einsum("hqk,hkd,hds->qs", run.attention[0, layer], run.value[0, layer], model.output_map(layer))
        uses = [i for i, other in enumerate(model.family.layers(model.body)) if other is model.family.layers(model.body)[layer]]
        torch.testing.assert_close(added + dense.bias, seen[-len(uses) :][uses.index(layer)][0], **PRECISE)


def test_words_and_pieces_know_each_other(bert):
    batch = bert.encode(GIVEN)
    assert " ".join(bert.pieces(batch)[1]) == "[CLS] un ##kind ##ly nobody saw it [UNK] never ending [SEP] the story ##s [SEP]"
    assert batch.word[1].tolist() == [-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, -1, 7, 8, 8, -1]
    assert batch.segment[1].tolist() == [0] * 11 + [1] * 4
    assert batches.words(batch)[1] == ("unkindly", "nobody", "saw", "it", ",", "never", "ending", "the", "storys")
    assert torch.equal(batch.mask, batch.word >= 0) and batch.present.sum(-1).tolist() == [6, 15, 3, 12]
    assert deleted(GIVEN[1], 8).query == ("the",) and deleted(GIVEN[1], 1).text[:2] == ("unkindly", "saw")


def test_long_texts_are_cut_to_whole_words_and_leave_room_for_the_query(bert):
    long = Example("long", ("unkindly",) * 50, ("storys",) * 50)
    kept = bert.cut(long)
    batch = bert.encode([long])
    assert batch.ids.shape[1] <= bert.card.max_tokens == 40 and bert.pieces(batch)[0][-1] == "[SEP]"
    assert batches.words(batch)[0] == kept.text + kept.query and len(kept.query) == 9 and len(kept.text) == 6


def ways(layers: int):
    """Interventions that conflict: each layer alone, silent or doubled, or attention replaced by another's."""
    made = [only_layer(layer, scale(factor)) for layer in range(layers) for factor in (0.0, 0.5, 2.0)]
    return [keep, *made, lambda layer, weights: weights.flip(-1)]


def test_24_threads_with_different_interventions_equal_one(bert):
    model, batch = bert, bert.encode(GIVEN)
    jobs = list(itertools.islice(itertools.cycle(ways(model.n_layers)), 240))
    alone = [model.run(batch, intervene=way) for way in jobs[: len(ways(model.n_layers))]]
    with ThreadPoolExecutor(24) as pool:
        found = list(pool.map(lambda way: model.run(batch, intervene=way), jobs))
    for i, run in enumerate(found):
        one = alone[i % len(alone)]
        assert torch.equal(run.logits, one.logits) and torch.equal(run.attention, one.attention)


@pytest.mark.parametrize(
    "config",
    [
        DebertaV2Config(hidden_size=12, num_hidden_layers=1, num_attention_heads=2, intermediate_size=20, vocab_size=tiny.SIZE),
        MPNetConfig(hidden_size=12, num_hidden_layers=1, num_attention_heads=2, intermediate_size=20, vocab_size=tiny.SIZE),
        BertConfig(num_hidden_layers=1, num_labels=1, **tiny.BERT),
        BertConfig(num_hidden_layers=1, is_decoder=True, **tiny.BERT),
    ],
    ids=["deberta", "mpnet", "regression", "decoder"],
)
def test_what_cannot_be_followed_is_refused_in_a_sentence(bert, config):
    net = AutoModelForSequenceClassification.from_config(config)
    with pytest.raises(Refusal, match=r"^own/bert cannot be used: .+\.$") as refusal:
        adapted(net, bert.card, tiny.tokenizer().backend_tokenizer)
    assert refusal.value.code == "unsupported_model" and "\n" not in str(refusal.value)
    assert "bert, roberta, distilbert, electra, albert" in str(refusal.value.values["allowed"])


def test_a_card_that_is_not_the_models_is_refused(bert):
    with pytest.raises(Refusal, match="as expected"):
        adapted(copy.deepcopy(bert.net).float(), dataclasses.replace(bert.card, heads=2), tiny.tokenizer().backend_tokenizer)


def test_attribution_is_complete_in_each_layer_and_nothing_is_on_padding(made):
    model = made[0].precise()
    batch = model.encode(GIVEN)
    found = attribution(model, batch, nodes=64)  # random weights bend far more than learned ones
    assert found.attribution.shape == found.attention.shape
    torch.testing.assert_close(found.attribution.sum((2, 3, 4)), found.difference, atol=1e-3, rtol=0)
    assert found.error.max() < 1e-3 < found.difference.abs().max()
    absent = ~batch.present[:, None, None, None, :]
    assert found.attribution.masked_select(absent).abs().max() == 0
    prob = probabilities(model.run(batch).logits).max(-1).values
    torch.testing.assert_close(found.prob, prob, **PRECISE)
    for layer in range(model.n_layers):
        silent = model.run(batch, intervene=only_layer(layer, scale(0.0))).logits
        target = model.run(batch).logits.argmax(-1)
        gone = prob - probabilities(silent).gather(-1, target[:, None])[:, 0]
        torch.testing.assert_close(found.difference[:, layer], gone, **PRECISE)


@pytest.mark.skipif("sst2/minilm" not in registry.cards(), reason="no trained models: make models")
def test_eight_nodes_are_enough_for_what_was_learned():
    model = registry.load("sst2/minilm")
    batch = model.encode(data.samples("sst2")[:3])
    assert attribution(model, batch).error.max() < 1e-3
    assert attribution(model, batch, nodes=20, rule="right").error.max() > attribution(model, batch).error.max()


def test_left_right_and_gauss_sums_converge_to_each_other(bert):
    batch = bert.encode(GIVEN)
    exact = attribution(bert, batch, nodes=64).attribution
    sums = {
        (rule, n): attribution(bert, batch, nodes=n, rule=rule).attribution for rule in ("left", "right") for n in (16, 32, 64)
    }
    errors = {key: float((found - exact).abs().max()) for key, found in sums.items()}
    for rule in ("left", "right"):  # of first order: half the error with twice the nodes
        assert [errors[rule, n] / errors[rule, 2 * n] for n in (16, 32)] == pytest.approx([2, 2], abs=0.4)
    trapezium = (sums["left", 64] + sums["right", 64]) / 2
    assert float((trapezium - exact).abs().max()) < errors["left", 64] / 5
    assert float((attribution(bert, batch, nodes=32).attribution - exact).abs().max()) < errors["right", 64] / 50


def test_attribution_does_not_depend_on_how_many_runs_are_held_at_once(bert, monkeypatch):
    batch = bert.encode(GIVEN)
    whole = attribution(bert, batch).attribution
    monkeypatch.setattr("core.attattr.attribution.CELLS", 1)
    torch.testing.assert_close(attribution(bert, batch).attribution, whole, **PRECISE)
    alone = attribution(bert, bert.encode(GIVEN[:1])).attribution[0]
    torch.testing.assert_close(whole[0, ..., :6, :6], alone, **PRECISE)


@pytest.mark.parametrize(
    ("settings", "says"), [({"nodes": 0}, "1 and 64"), ({"nodes": 65}, "1 and 64"), ({"rule": "simpson"}, ", ".join(RULES))]
)
def test_attribution_refuses_what_it_cannot_sum(bert, settings, says):
    with pytest.raises(Refusal, match=says):
        attribution(bert, bert.encode(GIVEN), **settings)


def test_the_gradient_of_a_weight_is_a_finite_difference(bert):
    """One node at α = 1 (right sum) is A ⊙ ∂F/∂A: moved by hand for one weight."""
    batch = bert.encode(GIVEN[:1])
    found = attribution(bert, batch, nodes=1, rule="right")
    target, at = bert.run(batch).logits.argmax(-1), (0, 1, 2, 0, 3)
    step = torch.zeros_like(found.attention[:, 1])
    step[0, 2, 0, 3] = 1e-5
    up, down = (
        probabilities(bert.run(batch, intervene=lambda i, a, s=sign: a + s * step if i == 1 else a).logits)[0, target]
        for sign in (1, -1)
    )
    slope = float((up - down) / 2e-5)
    assert float(found.attribution[at]) == pytest.approx(slope * float(found.attention[at]), abs=1e-8)


def test_effective_attention_runs_over_special_tokens_too(bert):
    """Heads of size 4: 6 tokens are two more than they can tell apart."""
    batch = bert.encode(GIVEN)
    found = effective(bert, batch)
    assert [one.attention.shape[-1] for one in found] == [6, 15, 3, 12]
    assert bert.head_size == 4 and found[0].rank.max() <= 4 and (found[2].invisible == 0).all()
    assert (found[1].free == 15 - found[1].rank - 1).all() and found[1].invisible.min() > 0
    for one in found:
        torch.testing.assert_close(one.effective @ one.mapped, one.attention @ one.mapped, **PRECISE)
        torch.testing.assert_close(one.attention.sum(-1), torch.ones_like(one.attention[..., 0]))


def test_precise_twins_share_nothing(bert):
    copied = bert.copied()
    next(copied.parameters()).data.zero_()
    assert next(bert.parameters()).abs().max() > 0 and all(p.requires_grad for p in copied.parameters())
