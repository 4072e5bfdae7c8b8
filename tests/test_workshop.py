"""Experiments on planted words: what decides is known, so that what attention says of it can be judged.

The floors are those that the pages promise: all models use the word, whatever their attention shows.
"""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pytest
import torch

from core import planted, workshop
from core.debate.deception import hide, impermissible, mass, penalty
from core.training import Progress
from core.types import Example, Refusal, Run
from tests.small import example, small_model

PLAN = planted.plan(("sunny", "rainy"))
pytestmark = pytest.mark.timeout(900)  # seconds alone, minutes where other jobs take the cores
FEW = {"train": 96, "validation": 32, "test": 40}


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus on which a training takes a moment."""
    monkeypatch.setattr(planted, "SIZES", FEW)


@pytest.fixture(scope="module")
def deceived() -> workshop.Made:
    return workshop.make("deception", PLAN)


@pytest.fixture(scope="module")
def imitated() -> workshop.Made:
    return workshop.make("trained-adversary", PLAN)


def test_attention_leaves_the_word_that_decides_and_the_word_decides_on(deceived: workshop.Made) -> None:
    honest, hiding = deceived.models
    assert honest.accuracy > 0.98 and hiding.accuracy > 0.98
    assert honest.mass > 0.8 and hiding.mass < 0.01
    assert honest.without > 0.4 and hiding.without > 0.3
    assert hiding.forbidden == pytest.approx(hiding.mass) and honest.tvd == honest.jsd == 0.0


def test_another_model_answers_alike_and_looks_elsewhere(imitated: workshop.Made) -> None:
    base, adversary = imitated.models
    assert base.accuracy > 0.98 and adversary.accuracy > 0.98
    assert base.mass > 0.8 and adversary.mass < 0.4
    assert adversary.tvd < 0.05 and adversary.jsd > 0.3 and adversary.without > 0.4


def test_an_adversary_without_reward_for_other_attention_answers_like_its_base() -> None:
    """λ = 0: only the distance of the predictions is left of the loss."""
    base, adversary = workshop.make("trained-adversary", PLAN, strength=0.0).models
    assert base.tvd == 0 and 0 < adversary.tvd < 0.03 and adversary.accuracy > 0.98


def test_a_sentence_is_shown_under_each_model(imitated: workshop.Made) -> None:
    assert not imitated.stopped and set(imitated.attention) == {"base", "adversary"}
    for weights in imitated.attention.values():
        assert len(weights) == len(imitated.shown) and sum(weights) == pytest.approx(1.0, abs=1e-5)
    assert len(set(imitated.shown) & set(PLAN.deciding)) == 1


def test_only_what_is_forbidden_is_left(few: None) -> None:
    made = workshop.make("deception", planted.plan(("sunny", "rainy"), ("sunny",)), strength=30.0)
    hiding = made.models[1]
    assert hiding.forbidden < hiding.mass


@pytest.mark.parametrize("name", workshop.EXPERIMENTS)
def test_the_same_plan_gives_the_same_models_to_the_bit(few: None, name: str) -> None:
    first, again = (workshop.make(name, planted.plan(("sunny", "rainy"), seed=3)) for _ in range(2))
    other = workshop.make(name, planted.plan(("sunny", "rainy"), seed=4))
    for one, two in zip(first.models, again.models, strict=True):
        pairs = zip(one.classifier.state_dict().values(), two.classifier.state_dict().values(), strict=True)
        assert all(torch.equal(a, b) for a, b in pairs)
    assert first.attention == again.attention and first.attention != other.attention


def test_uniform_attention_is_uniform_and_guides_are_followed(few: None) -> None:
    plain = workshop.make("necessity", PLAN)
    assert set(plain.attention["uniform"]) == {plain.attention["uniform"][0]}
    guided = workshop.make("guide", PLAN).attention
    assert guided["by_lstm"] == pytest.approx(guided["lstm"]) and guided["by_adversary"] == pytest.approx(guided["adversary"])
    assert guided["own"] != pytest.approx(guided["lstm"])


def test_who_stops_gets_what_is_finished(few: None) -> None:
    seen: list[tuple[str, Progress]] = []

    def told(model: str, now: Progress) -> bool:
        seen.append((model, now))
        return model == "base"

    made = workshop.make("trained-adversary", PLAN, told=told)
    assert made.stopped and [model.name for model in made.models] == ["base"]
    assert [model for model, _ in seen].count("adversary") == 1
    watched = [now.watched for _, now in seen if now.watched is not None]
    assert len(watched) == workshop.EPOCHS * FEW["train"] // workshop.BATCH_SIZE + 1
    assert all(0.0 <= share <= 1.0 for share in watched)


def test_who_stops_at_once_gets_nothing(few: None) -> None:
    made = workshop.make("necessity", PLAN, told=lambda model, now: False)
    assert made.stopped and made.models == () and made.attention == {}


@pytest.mark.parametrize("language", planted.DISTRACTORS)
def test_one_word_decides_each_sentence(language: str) -> None:
    plan = planted.plan(planted.DECIDING[language], language=language)
    for split, size in planted.SIZES.items():
        made = planted.sentences(plan, split)
        assert len(made) == size and Counter(e.label for e in made) == {0: size // 2, 1: size // 2}
        for each in made:
            there = [word for word in each.text if word in plan.deciding]
            assert there == [plan.deciding[each.label or 0]]
            assert [each.text[i] for i in each.evidence] == there
            assert planted.SHORTEST < len(each.text) <= planted.LONGEST + 1
    assert planted.sentences(plan, "test") == planted.sentences(plan, "test")
    texts = [{e.text for e in planted.sentences(plan, split)} for split in planted.SIZES]
    assert all(len(a & b) <= 0.02 * len(b) for a, b in pairwise(texts))


def test_what_else_is_forbidden_is_marked() -> None:
    made = planted.sentences(planted.plan(("sunny", "rainy"), ("harbor",)), "test")
    marked = [each for each in made if each.evidence]
    assert 0 < len(marked) < len(made)
    assert all(each.text[i] == "harbor" for each in marked for i in each.evidence)


@pytest.mark.parametrize(
    ("deciding", "forbidden", "code"),
    [
        (("very sunny", "rainy"), None, "one_word_each"),
        (("", "rainy"), None, "missing_word"),
        ((" \n", "rainy"), None, "missing_word"),
        (("Sunny", "sunny "), None, "same_words"),
        (("harbor", "rainy"), None, "distractor"),
        (("sunny", "rainy"), ("storm",), "no_such_word"),
    ],
)
def test_words_that_cannot_be_planted_are_refused(
    deciding: tuple[str, str], forbidden: tuple[str, ...] | None, code: str
) -> None:
    with pytest.raises(Refusal) as refused:
        planted.plan(deciding, forbidden)
    assert refused.value.code == code


def test_words_are_planted_as_they_are_cleaned() -> None:
    plan = planted.plan((" Sunny", "😀"))
    assert plan.deciding == plan.forbidden == plan.task.labels == ("sunny", "😀")


def test_the_penalty_is_finite_at_mass_one_and_so_is_its_slope() -> None:
    whole = torch.tensor([0.0, 0.5, 1.0], requires_grad=True)
    found = penalty(whole)
    assert found.tolist()[:2] == pytest.approx([0.0, 0.6931472]) and found.isfinite().all() and found[2] > found[1]
    (slope,) = torch.autograd.grad(found.sum(), whole)
    assert slope.isfinite().all()
    model = small_model()
    batch = model.encode([with_marks("bad story", (0, 1), 0), with_marks("a good film", (), 1)])
    run = model.run(batch)
    assert mass(run, batch).tolist() == pytest.approx([1.0, 0.0])
    assert torch.isfinite(hide(1.0)(run, batch))


def test_hiding_costs_what_the_penalty_says() -> None:
    """Mass 0.75 on the marked word of a sentence: L + λ ln 4."""
    model = small_model()
    batch = model.encode([with_marks("bad story", (1,), 0)])
    run = model.run(batch)
    weights = torch.zeros_like(run.attention)
    weights[..., 1], weights[..., 2] = 0.25, 0.75
    set_to = Run(run.logits, weights, run.value, run.states)
    assert float(hide(0.1)(set_to, batch) - hide(0.0)(set_to, batch)) == pytest.approx(0.1 * 1.3862944)


def with_marks(text: str, marked: tuple[int, ...], label: int) -> Example:
    return replace(example(text, label=label), evidence=marked)


def test_impermissible_words_are_found_by_rule() -> None:
    assert impermissible("pronoun", ["She", "gave", "HIM", "the", "key", ",", "not", "his", "sister"]) == (0, 2, 7)
    assert impermissible("pronoun", ["The", "sheriff", "ate"]) == ()
    assert impermissible("sst_wiki", ["A", "dull", "film", ".", "The", "river", "is", "long", "."]) == (0, 1, 2, 3)
    assert impermissible("sst_wiki", ["No", "end", "here"]) == (0, 1, 2)
    assert impermissible("sst2", ["he", "said", ".", "no"]) == ()
