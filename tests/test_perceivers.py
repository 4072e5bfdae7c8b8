"""Captioner and listener: what an annotation can see, runs that agree, files that are checked, and a training that goes on."""

import dataclasses
import json
from pathlib import Path

import pytest
import torch

from core import perceiving, scenes
from core.interventions import uniform
from core.models import perceivers
from core.models.captioner import RECEPTIVE, Captioner, doubly_stochastic
from core.models.listener import STRIDE, Listener
from core.models.perceiver import Perceiver
from core.models.registry import WEIGHTS
from core.models.vocabulary import PAD
from core.types import Refusal

SMALL = {"examples": 24, "epochs": 3, "batch_size": 8, "embedding_dim": 5, "hidden_dim": 7}
NAMES = {"scene": "scenes/soft", "sound": "sounds/gru-additive"}


def perceiver(sense: str, seed: int = 1) -> Perceiver:
    recipe = dataclasses.replace(perceiving.RECIPES[NAMES[sense]], **SMALL)
    model = perceivers.fresh(perceiving._draft(NAMES[sense], recipe, seed)).requires_grad_(False)
    with torch.no_grad():
        model.decoder.embedding.weight.mul_(20)  # so that what is written differs from step to step
    return model


def signals(sense: str, n: int = 3) -> list[torch.Tensor]:
    kind = perceiving.SENSES[sense]
    return [kind.signal(example) for example in kind.drawn("train", n, 5)]


@pytest.mark.parametrize("sense", NAMES)
def test_what_was_written_is_what_telling_it_gives(sense: str) -> None:
    model = perceiver(sense)
    written = model.written(signals(sense))
    forced = model.forced(signals(sense), written.ids)
    alive = (written.ids != PAD)[..., None]
    torch.testing.assert_close(forced.attention * alive, written.attention, atol=1e-5, rtol=0)
    torch.testing.assert_close(forced.logits * alive, written.logits * alive, atol=1e-5, rtol=0)


@pytest.mark.parametrize("sense", NAMES)
def test_attention_is_a_value_that_can_be_replaced(sense: str) -> None:
    model, heard = perceiver(sense), signals(sense)
    mask = model.source(heard).mask
    used = model.written(heard, intervene=uniform(mask)).attention[:, 0]
    torch.testing.assert_close(used, mask / mask.sum(-1, keepdim=True))


def test_an_annotation_sees_its_receptive_field_and_nothing_else() -> None:
    assert RECEPTIVE == 28
    model = perceiver("scene")
    assert isinstance(model, Captioner)
    plain = torch.full((1, 3, scenes.SIZE, scenes.SIZE), 0.9)
    cell = 3 * scenes.GRID + 4
    picture = plain.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(model.annotations(picture)[0, cell].sum(), picture)
    rows, columns = gradient.abs().sum((0, 1)).nonzero().T
    assert int(rows.max() - rows.min()) + 1 <= RECEPTIVE and int(columns.max() - columns.min()) + 1 <= RECEPTIVE
    changed = plain.clone()
    changed[:, :, : scenes.CELL, : scenes.CELL] = 0.0
    before, after = (model.annotations(p)[0] for p in (plain, changed))
    assert not torch.equal(before[0], after[0]) and torch.equal(before[cell], after[cell])


def test_padding_of_a_shorter_sound_changes_nothing() -> None:
    model = perceiver("sound")
    heard = sorted(signals("sound"), key=len)
    assert len(heard[0]) < len(heard[-1])
    together, alone = model.source([heard[0], heard[-1]]), model.source(heard[:1])
    n = alone.mask.shape[1]
    assert n == (len(heard[0]) + 1) // STRIDE == int(together.mask[0].sum())
    torch.testing.assert_close(together.annotations[0, : n - 1], alone.annotations[0, : n - 1], atol=1e-5, rtol=0)
    torch.testing.assert_close(together.summary[0], alone.summary[0], atol=1e-5, rtol=0)


def test_the_doubly_stochastic_term_by_hand() -> None:
    """Two words over three cells: one looked at by both, one by neither, one by nobody; the third output is padding."""
    attention = torch.tensor([[[1.0, 0, 0], [0.5, 0.5, 0], [0, 0, 9.0]]])
    spoken = torch.tensor([[True, True, False]])
    assert float(doubly_stochastic(attention, spoken)) == pytest.approx(0.5**2 + 0.5**2 + 1)


def test_words_and_targets_are_each_others_inverse() -> None:
    model = perceiver("scene")
    text = ("a", "red", "star", "left", "of", "a", "blue", "cross")
    ids = model.targets([text, text[:3]])
    assert ids.shape == (2, 9) and model.words(ids[0].tolist()) == text and model.words(ids[1].tolist()) == text[:3]


def test_a_model_is_saved_and_read_back(tmp_path: Path) -> None:
    model = perceiver("sound")
    card = perceivers.save(model, model.card, tmp_path)
    again = perceivers.load(card.name, "sound", tmp_path)
    assert isinstance(again, Listener) and again.card == card == perceivers.cards(tmp_path)[card.name]
    assert all(torch.equal(v.half().float(), again.state_dict()[k]) for k, v in model.state_dict().items())
    with pytest.raises(Refusal, match="no captioner 'sounds/gru-additive'"):
        perceivers.load(card.name, "scene", tmp_path)


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda folder: (folder / WEIGHTS).unlink(), "missing_file"),
        (lambda folder: (folder / WEIGHTS).write_bytes(b"x"), "altered_file"),
        (lambda folder: (folder / perceivers.CARD).write_text("{"), "unreadable_card"),
        (lambda folder: _rewrite(folder, hidden_dim=9), "unfitting_weights"),
        (lambda folder: _rewrite(folder, sense="smell"), "unreadable_card"),
        (lambda folder: _rewrite(folder, words=[]), "unfitting_weights"),
    ],
)
def test_damaged_files_are_refused(damage: object, code: str, tmp_path: Path) -> None:
    model = perceiver("scene")
    perceivers.save(model, model.card, tmp_path)
    damage(tmp_path / "scenes" / "soft")  # type: ignore[operator]
    with pytest.raises(Refusal) as refused:
        perceivers.load("scenes/soft", "scene", tmp_path)
    assert refused.value.code == code


def _rewrite(folder: Path, **changes: object) -> None:
    card = json.loads((folder / perceivers.CARD).read_text())
    (folder / perceivers.CARD).write_text(json.dumps(card | changes))


@pytest.mark.parametrize("sense", NAMES)
def test_a_training_that_was_stopped_goes_on_as_if_it_had_not_been(
    sense: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = NAMES[sense]
    monkeypatch.setitem(perceiving.RECIPES, name, dataclasses.replace(perceiving.RECIPES[name], **SMALL))
    monkeypatch.setattr(perceiving, "CHECKED", 6)
    whole = perceiving.train(name, checkpoints=tmp_path / "whole")
    kept = {"checkpoint": tmp_path / "state", "checkpoints": tmp_path / "parts"}
    assert perceiving.train(name, progress=lambda now: len(now.history) < 2, **kept) is None
    parts = perceiving.train(name, **kept)
    assert whole is not None and parts == whole
    assert whole.training["n"] == 72 and whole.test["n"] == 6 and 0 <= whole.test["accuracy"] <= 1
    assert not (tmp_path / "state").exists()


def test_other_names_are_refused() -> None:
    with pytest.raises(Refusal, match="no recipe for 'scenes/hard'"):
        perceiving.train("scenes/hard")


@pytest.mark.parametrize("name", perceiving.FLOORS)
def test_committed_perceivers_hold_their_floors(name: str) -> None:
    cards = perceivers.cards()
    if name not in cards:
        pytest.skip("no trained models: make models")
    assert cards[name].test["accuracy"] >= perceiving.FLOORS[name]
    assert cards[name].test["n"] == perceiving.CHECKED
