"""A model is read back as it was saved, and not at all where a file is missing, altered or another card's."""

import dataclasses
import json

import pytest
import torch

from core.models import registry
from core.models import vocabulary as vocab
from core.models.registry import WEIGHTS
from core.types import Refusal
from tests.small import examples, small_model, small_vocabulary


@pytest.fixture
def saved(tmp_path):
    """A saved small model: its name and the two folders."""
    vocab.save(small_vocabulary(), tmp_path / "vocabularies" / "small.json")
    model = small_model()
    card = dataclasses.replace(model.card, name="small/bilstm-additive:seed=3")
    registry.write_card(registry.save(model, card, tmp_path / "checkpoints"), tmp_path / "checkpoints")
    return card.name, tmp_path / "checkpoints", tmp_path / "vocabularies"


def load(saved):
    name, root, vocabularies = saved
    return registry.load(name, root=root, vocabularies=vocabularies)


def test_a_model_is_read_back_as_it_was_saved(saved):
    model, back = small_model(), load(saved)
    batch = model.encode(examples())
    torch.testing.assert_close(back.run(back.encode(examples())).logits, model.run(batch).logits, atol=2e-2, rtol=1e-2)
    assert back.card.task == model.card.task
    assert not any(p.requires_grad for p in back.parameters())


def test_reading_twice_gives_the_same_bits(saved):
    assert all(torch.equal(a, b) for a, b in zip(load(saved).parameters(), load(saved).parameters(), strict=True))


def test_a_variant_is_written_with_an_at_sign(saved):
    assert (saved[1] / "small" / "bilstm-additive@seed=3" / "card.json").exists()
    assert list(registry.cards(saved[1])) == [saved[0]]


def test_an_unknown_name_is_refused_with_what_there_is(saved):
    with pytest.raises(Refusal, match="small/bilstm-additive:seed=3") as refusal:
        registry.load("small/nothing", root=saved[1], vocabularies=saved[2])
    assert refusal.value.code == "unknown_model"
    with pytest.raises(Refusal, match="There is no model"):
        registry.load("x" * 5000, root=saved[1], vocabularies=saved[2])


def says_otherwise(folder, **values):
    """Writes other values into a card."""
    path = folder / "card.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


@pytest.mark.parametrize(
    "damage, says, code",
    [
        (lambda f, v: (f / WEIGHTS).unlink(), "missing", "missing_file"),
        (lambda f, v: (f / WEIGHTS).write_bytes(b"x" + (f / WEIGHTS).read_bytes()[1:]), "altered", "altered_file"),
        (lambda f, v: (f / WEIGHTS).write_bytes(b""), "altered", "altered_file"),
        (lambda f, v: (f / "card.json").write_text("{"), "cannot be read", "unreadable_card"),
        (lambda f, v: (f / "card.json").write_text(json.dumps({"name": "x"})), "cannot be read", "unreadable_card"),
        (lambda f, v: says_otherwise(f, encoder="gru"), "cannot be read", "unreadable_card"),
        (lambda f, v: says_otherwise(f, normalizer="entmax"), "cannot be read", "unreadable_card"),
        (lambda f, v: says_otherwise(f, max_tokens=0), "cannot be read", "unreadable_card"),
        (lambda f, v: says_otherwise(f, hidden_dim="8"), "cannot be read", "unreadable_card"),
        (lambda f, v: (v / "small.json").write_text("{}"), "altered", "altered_file"),
        (lambda f, v: (v / "small.json").unlink(), "missing", "missing_file"),
    ],
)
def test_missing_and_altered_files_are_refused(saved, damage, says, code):
    name, root, vocabularies = saved
    damage(registry.folder(name, root), vocabularies)
    with pytest.raises(Refusal, match=says) as refusal:
        registry.load(name, root=root, vocabularies=vocabularies)
    assert refusal.value.code == code and refusal.value.values["given"] == name
    assert name in str(refusal.value)
    assert (refusal.value.values.get("file") in (WEIGHTS, "small.json")) == code.endswith("_file")


def test_weights_that_do_not_fit_their_card_are_refused(saved):
    name, root, _ = saved
    says_otherwise(registry.folder(name, root), hidden_dim=9)
    with pytest.raises(Refusal, match="do not fit") as refusal:
        load(saved)
    assert refusal.value.code == "unfitting_weights"


def test_a_damaged_card_does_not_hide_the_others(saved):
    name, root, _ = saved
    broken = root / "small" / "broken"
    broken.mkdir()
    (broken / "card.json").write_text("[]")
    assert list(registry.cards(root)) == [name]
