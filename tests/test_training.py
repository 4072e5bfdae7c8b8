"""Training reaches what it should, gives the same weights for the same seed, and can be stopped and resumed."""

import pytest
import torch

from core import training
from core.interventions import uniform
from core.models.classifier import build
from core.training import Progress, evaluate, fit
from core.types import Example
from tests.small import WORDS, small_card, small_vocabulary


def planted(n: int, seed: int) -> list[Example]:
    """Sentences of random words whose label is decided by `good` or `bad` somewhere among them."""
    generator = torch.Generator().manual_seed(seed)
    rest = [w for w in WORDS if w not in ("good", "bad")]
    found = []
    for i in range(n):
        length = 3 + int(torch.randint(5, (1,), generator=generator))
        text = [rest[int(j)] for j in torch.randint(len(rest), (length,), generator=generator)]
        label = i % 2
        text[int(torch.randint(length, (1,), generator=generator))] = ("bad", "good")[label]
        found.append(Example(f"planted-{i}", tuple(text), label=label))
    return found


TRAIN, VALIDATION = planted(200, 1), planted(60, 2)


def fresh():
    return build(small_card("average"), small_vocabulary(), 5)


def same(first, second) -> bool:
    return all(torch.equal(a, b) for a, b in zip(first.state_dict().values(), second.state_dict().values(), strict=True))


def test_learns_a_planted_word_and_leaves_the_given_model_alone():
    model = fresh()
    before = {k: v.clone() for k, v in model.state_dict().items()}
    fitted = fit(model, TRAIN, VALIDATION, epochs=12, rate=0.02)
    assert evaluate(fitted.model, VALIDATION)["accuracy"] > 0.95
    assert all(torch.equal(before[k], v) for k, v in model.state_dict().items())


def test_the_best_epoch_on_validation_is_kept():
    fitted = fit(fresh(), TRAIN, VALIDATION, epochs=6, rate=0.05)
    best = max(epoch.validation_accuracy for epoch in fitted.history)
    assert fitted.history[fitted.best].validation_accuracy == best
    assert evaluate(fitted.model, VALIDATION)["accuracy"] == best


def test_same_seed_same_weights_other_seed_other_weights():
    first, again, other = (fit(fresh(), TRAIN, VALIDATION, epochs=2, dropout=0.2, seed=s).model for s in (1, 1, 2))
    assert same(first, again)
    assert not same(first, other)


def test_the_rate_falls_over_the_last_epoch_only():
    level, falling = (fit(fresh(), TRAIN, VALIDATION, epochs=2, rate=0.01, cooldown=cools) for cools in (False, True))
    assert level.history[0] == falling.history[0]
    assert level.history[1] != falling.history[1]
    one_batch = [fit(fresh(), TRAIN[:20], VALIDATION, epochs=1, cooldown=cools).model for cools in (False, True)]
    assert same(*one_batch), "the first batch of the last epoch still has the whole rate"


def test_the_global_generator_is_left_alone():
    before = torch.random.get_rng_state()
    fit(fresh(), TRAIN[:40], VALIDATION, epochs=1, dropout=0.5)
    assert torch.equal(before, torch.random.get_rng_state())


def test_stopped_and_resumed_equals_uninterrupted(tmp_path):
    whole = fit(fresh(), TRAIN, VALIDATION, epochs=4, dropout=0.2)

    def stop_in_the_third_epoch(now: Progress) -> bool:
        return not (now.epoch == 3 and now.step == 2)

    part = fit(fresh(), TRAIN, VALIDATION, epochs=4, dropout=0.2, checkpoint=tmp_path, progress=stop_in_the_third_epoch)
    assert part.stopped and len(part.history) == 2
    resumed = fit(fresh(), TRAIN, VALIDATION, epochs=4, dropout=0.2, checkpoint=tmp_path)
    assert resumed.history == whole.history
    assert same(resumed.model, whole.model)


def test_progress_is_told_after_each_batch_and_epoch():
    told: list[Progress] = []
    fit(fresh(), TRAIN, VALIDATION, epochs=2, batch_size=50, progress=told.append)
    assert [(p.epoch, p.step) for p in told if len(p.history) < p.epoch] == [(e, s) for e in (1, 2) for s in (1, 2, 3, 4)]
    assert [len(p.history) for p in told if len(p.history) == p.epoch] == [1, 2]


def test_an_intervention_holds_while_training():
    fitted = fit(fresh(), TRAIN, VALIDATION, epochs=1, intervene=lambda batch: uniform(batch.mask))
    moved = dict(fitted.model.named_parameters())["score.vector.weight"]
    assert torch.equal(moved, dict(fresh().named_parameters())["score.vector.weight"])  # attention was never used


def test_figures_by_hand(monkeypatch):
    assert training._f1([1, 1, 0, 0], [1, 0, 0, 1], 1) == pytest.approx(0.5)
    assert training._f1([0, 0], [0, 0], 1) == 0.0
    figures = evaluate(fresh(), VALIDATION)
    assert figures["n"] == 60 and 0 <= figures["accuracy"] <= 1 and figures["loss"] > 0


def test_an_example_without_a_label_is_refused():
    with pytest.raises(ValueError, match="has no label"):
        evaluate(fresh(), [Example("x", ("good",))])
