"""One text under several trainings: by law, on small models, and a guided model against one that is run under its guide."""

import numpy as np
import pytest
import torch

from core.debate.guide import follow, guide
from core.importance import probabilities
from core.reading import Reading
from dashboard import retrained, texts
from tests.small import example, examples, small_model

TEXT = Reading(examples()[2], 0, ())


def test_learned_and_uniform_attention() -> None:
    found = retrained.with_uniform(small_model(), TEXT, others=[small_model(normalizer="uniform")])
    assert found.attention.shape == (2, 11) and found.prob.shape == (2, 2)
    np.testing.assert_allclose(found.attention[1], 1 / 11)
    np.testing.assert_allclose(found.attention.sum(-1), 1)
    assert found.tvd[0] == found.jsd[0] == 0 and found.jsd[1] > 0
    assert found.tvd[1] == pytest.approx(abs(found.prob[1, 0] - found.prob[0, 0]))


def test_one_word_has_the_same_attention_in_every_training() -> None:
    one = Reading(example("film"), 0, ())
    found = retrained.with_uniform(small_model(), one, others=[small_model(normalizer="uniform")])
    assert found.attention.tolist() == [[1.0], [1.0]] and found.jsd.tolist() == [0.0, 0.0]


def test_other_seeds_and_the_adversary() -> None:
    others = [small_model(seed=seed) for seed in (4, 5, 7)]
    found = retrained.with_seeds(small_model(), TEXT, others=others, epsilon=0.05)
    assert found.trainings.attention.shape == (4, 11)
    assert found.median_jsd == pytest.approx(float(np.median(found.trainings.jsd[1:])))
    assert found.adversary_tvd <= 0.05 + 1e-9 and 0 < found.adversary_jsd <= np.log(2)
    far = abs(found.adversary_prob[0] - found.trainings.prob[0, 0])
    assert far == pytest.approx(found.adversary_tvd, abs=1e-9)
    assert sum(found.adversary) == pytest.approx(1)


def guided() -> tuple[retrained.Retrained, list]:
    models = [small_model("average", seed=seed) for seed in (3, 5, 7)]
    uniform = small_model("average", normalizer="uniform", seed=11)
    guides = [small_model("bilstm", seed=13), small_model("bilstm", seed=17)]
    return retrained.with_guides(models[0], TEXT, others=[uniform, *models[1:], *guides]), [models, guides]


def test_each_guide_lends_its_own_weights() -> None:
    found, (models, guides) = guided()
    np.testing.assert_allclose(found.attention[1], 1 / 11)
    for place, lender in ((0, models[0]), (2, guides[0]), (3, guides[1])):
        alone = retrained.with_uniform(lender, TEXT, others=[lender])
        np.testing.assert_allclose(found.attention[place], alone.attention[0], atol=1e-12)


def test_the_answer_is_that_of_a_run_under_the_guide() -> None:
    found, (models, guides) = guided()
    batch = models[1].encode([TEXT.example])
    with torch.no_grad():
        run = models[1].run(batch, intervene=follow(guides[0])(batch))
    np.testing.assert_allclose(found.prob[2], probabilities(run.logits)[0], atol=1e-5)


def test_without_guides_all_read_with_their_own_weights() -> None:
    learners = [small_model("average", seed=seed) for seed in (3, 5)]
    batch = learners[0].encode(examples())
    found = guide(learners, [None, None], batch)
    other = guide(learners, [None, learners[0]], batch)
    assert found.attention.shape == (2, 3, 11)
    np.testing.assert_allclose(other.attention[1], found.attention[0])
    assert other.jsd.abs().max() == 0 and found.jsd[1].min() > 0


def test_answers_and_their_width() -> None:
    found, _ = guided()
    table = retrained.answers(found, "positive", dict.fromkeys(("own", "uniform", "base", "adversary"), "x"))
    np.testing.assert_array_equal(table["p"], found.prob[:, 1])
    assert retrained.width(found, "positive") == pytest.approx(table["p"].max() - table["p"].min())
    assert retrained.width(found, "positive") == pytest.approx(retrained.width(found, "negative"))


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_rows_say_what_each_training_answers(lang: str) -> None:
    t = texts.page("variance", lang)
    found = retrained.with_seeds(small_model(), TEXT, others=[small_model(seed=5)], epsilon=0.01)
    first, second = (retrained.row(t, found.trainings, i, str(i)) for i in range(2))
    assert "JSD" not in first.note and f"{found.trainings.prob[0].max():.2f}" in first.note
    assert f"JSD\u00a0{found.trainings.jsd[1]:.3f}" in second.note and f"TVD\u00a0{found.trainings.tvd[1]:.3f}" in second.note
    last = retrained.adversary_row(t, found)
    assert last.side == "charge" and f"JSD\u00a0{found.adversary_jsd:.3f}" in last.note
