"""Variants: their names, what each is trained for, and tables with a row for each training."""

from dataclasses import replace as with_other
from pathlib import Path

import pandas as pd
import pytest
import torch

from core import data, experiments, recipes, variants
from core.agreement import jsd, kl, tvd
from core.debate.guide import follow
from core.debate.necessity import necessity
from core.debate.permutation import permutations
from core.debate.trained_adversary import distances, imitate
from core.debate.variance import apart, variance
from core.experiments import alignment, perceived
from core.experiments import variants as tables
from core.models import registry
from core.models.classifier import marked
from core.recipes import parse
from core.training import cross_entropy, fit
from core.types import Refusal
from core.variants import Name
from tests.small import example, examples, small_model

SMALL = recipes.Recipe(epochs=2, rate=0.05, batch_size=8, minilm=False, embedding_dim=5, hidden_dim=4)
BASE = "sst2/bilstm-additive"


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("sst2/bilstm-additive:uniform:seed=2", Name("sst2", "bilstm", "additive", "uniform", 2)),
        (
            "imdb/bilstm-additive:words=200:adversary=0.02",
            Name("imdb", "bilstm", "additive", words=200, variant="adversary", value="0.02"),
        ),
        (
            "pronoun/average-additive:deceptive=1:seed=3",
            Name("pronoun", "average", "additive", seed=3, variant="deceptive", value="1"),
        ),
        ("sst2/average-additive:guide=base", Name("sst2", "average", "additive", variant="guide", value="base")),
        ("sst_wiki/bilstm-additive:anonymised", Name("sst_wiki", "bilstm", "additive", variant="anonymised")),
    ],
)
def test_a_variant_explains_itself(name: str, parts: Name) -> None:
    assert parse(name) == parts


@pytest.mark.parametrize(
    "end",
    [
        "adversary",
        "adversary=",
        "adversary=-1",
        "adversary=x",
        "deceptive=1:adversary=1",
        "seed=1:seed=2",
        "guide=me",
        "softmax",
        "words=",
        "",
    ],
)
def test_other_endings_are_refused(end: str) -> None:
    with pytest.raises(Refusal, match="names no model that can be trained"):
        parse(f"{BASE}:{end}")


def test_a_variant_knows_its_base_and_its_guide() -> None:
    assert parse("imdb/bilstm-additive:words=200:adversary=0.02:seed=1").base == "imdb/bilstm-additive:words=200"
    assert variants.guide_of(parse("sst2/average-additive:guide=base")) == BASE
    assert variants.guide_of(parse("sst2/average-additive:guide=adversary")) == f"{BASE}:adversary={variants.CHOSEN['sst2']}"


def test_a_marked_word_is_taken_out() -> None:
    given = with_other(example("the film is good"), evidence=(0, 3))
    assert variants.without_marked(given).text == (variants.UNKNOWN, "film", "is", variants.UNKNOWN)
    model = small_model()
    batch = model.encode([given, example("a bad story")])
    assert marked(batch).tolist() == [[False, True, False, False, True, False], [False] * 6]


def test_a_model_imitates_itself_at_no_cost_and_without_a_slope() -> None:
    """At the base both gradients vanish, so an adversary that started there would stay."""
    base = small_model()
    model = base.copied()
    batch = model.encode(examples())
    for strength in (0.0, 3.0):
        loss = imitate(base, strength)(model.run(batch), batch)
        assert float(loss.detach()) == pytest.approx(0, abs=1e-6)
        slopes = torch.autograd.grad(loss, list(model.parameters()), allow_unused=True)
        assert max(float(slope.abs().max()) for slope in slopes if slope is not None) < 1e-5


def test_the_loss_of_an_adversary_by_hand() -> None:
    base, model = small_model(), small_model(seed=4)
    batch = model.encode(examples())
    run, aim = model.run(batch), base.run(batch)
    p, q = torch.softmax(run.logits, -1), torch.softmax(aim.logits, -1)
    by_hand = sum(
        float(
            (p[i] - q[i]).abs().sum() / 2
            - 0.5 * kl(run.attention[i, 0, 0, 0][batch.mask[i]], aim.attention[i, 0, 0, 0][batch.mask[i]])
        )
        for i in range(3)
    )
    assert float(imitate(base, 0.5)(run, batch)) == pytest.approx(by_hand / 3, abs=1e-6)


def test_a_weight_of_the_base_that_underflowed_leaves_the_loss_finite() -> None:
    base, model = small_model(), small_model(seed=4)
    batch = model.encode([example("the film is good")])
    with torch.no_grad():
        base.query.mul_(1e6)
    loss = imitate(base, 1.0)(model.copied().run(batch), batch)
    assert bool(loss.isfinite())


def test_distances_are_the_measures_of_agreement() -> None:
    base, model = small_model(), small_model(seed=4)
    batch = model.encode(examples())
    far, apart_ = distances(model, base, batch)
    one, other = model.run(batch), base.run(batch)
    torch.testing.assert_close(far, tvd(torch.softmax(one.logits, -1), torch.softmax(other.logits, -1)))
    torch.testing.assert_close(apart_, jsd(one.attention[:, 0, 0, 0], other.attention[:, 0, 0, 0]))
    assert max(map(float, (*distances(base, base, batch)[0], *distances(base, base, batch)[1]))) == pytest.approx(0, abs=1e-6)


def test_a_guided_model_has_the_attention_of_its_guide() -> None:
    guide, model = small_model(), small_model("average")
    batch = model.encode(examples())
    run = model.run(batch, intervene=follow(guide)(batch))
    torch.testing.assert_close(run.attention, guide.run(batch).attention)


def test_shuffling_uniform_weights_moves_nothing() -> None:
    model = small_model(normalizer="uniform")
    assert float(permutations(model, model.encode(examples()), n=20).tvd.max()) < 1e-12


def test_uniform_attention_is_one_over_the_words_and_stays_so_in_training() -> None:
    given = [with_other(e, label=i % 2) for i, e in enumerate(examples())]
    model = fit(small_model(normalizer="uniform"), given, given, epochs=3, rate=0.1).model
    batch = model.encode(given)
    weights = model.run(batch).attention[:, 0, 0, 0].detach()
    torch.testing.assert_close(weights, batch.mask / batch.mask.sum(-1, keepdim=True))


def test_models_side_by_side_are_held_against_the_first() -> None:
    learned, frozen, other = small_model(), small_model(normalizer="uniform"), small_model(seed=9)
    batch = learned.encode(examples())
    found = necessity(learned, frozen, batch)
    assert found.attention.shape == (2, 3, 11) and found.prob.shape == (2, 3, 2)
    torch.testing.assert_close(found.attention.sum(-1), torch.ones(2, 3, dtype=torch.float64))
    assert float(found.jsd[0].abs().max()) == float(found.tvd[0].abs().max()) == 0
    torch.testing.assert_close(found.jsd[1], jsd(found.attention[1], found.attention[0]))
    seeds = variance(learned, [frozen, other, learned], batch)
    torch.testing.assert_close(apart(seeds), seeds.jsd[1:].median(0).values)


def test_the_best_epoch_may_be_the_one_of_least_loss_and_waiting_has_an_end() -> None:
    given = [with_other(e, label=i % 2) for i, e in enumerate(examples())]
    losses: list[float] = []

    def worse(run, batch):
        losses.append(float(len(losses)))
        return cross_entropy(run, batch) * 0 + losses[-1]

    done = fit(small_model(), given, given, loss=worse, select="loss", epochs=9, patience=2)
    assert (done.best, len(done.history)) == (0, 3)


def test_frozen_parameters_stay_and_what_is_watched_is_told() -> None:
    given = [with_other(e, label=i % 2) for i, e in enumerate(examples())]
    model, seen = small_model(), []
    done = fit(
        model, given, given, epochs=1, rate=0.1, frozen=["embedding.weight"],
        watch=lambda run, batch: float(len(batch.examples)), progress=lambda now: seen.append(now.watched),
    )  # fmt: skip
    assert torch.equal(done.model.embedding.weight, model.embedding.weight)
    assert not torch.equal(done.model.decoder.weight, model.decoder.weight)
    assert seen == [3.0, None]


@pytest.fixture
def trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Reviews that one word decides, a small recipe, a base trained on them, and a store; nothing committed is touched."""
    for split, n in (("train", 60), ("validation", 20), ("test", 30)):
        rows = [(f"the film {i % 7} is {('bad', 'good')[i % 2]}", i % 2) for i in range(n)]
        (tmp_path / "sst2").mkdir(exist_ok=True)
        pd.DataFrame(rows, columns=["sentence", "label"]).to_parquet(tmp_path / "sst2" / f"{split}.parquet")
    monkeypatch.setitem(recipes.RECIPES, "sst2", SMALL)
    monkeypatch.setenv("ATTENTION_DATA", str(tmp_path))
    for module, name, value in (
        (registry, "CHECKPOINTS", tmp_path / "checkpoints"),
        (registry, "VOCABULARIES", tmp_path / "vocabularies"),
        (tables, "STORE", tmp_path / "store"),
        (variants, "CHOSEN", {"sst2": "0.5"}),
    ):
        monkeypatch.setattr(module, name, value)
    return tmp_path


def test_an_adversary_shares_the_input_vectors_of_its_base_and_cannot_do_without(trained: Path) -> None:
    where = {"checkpoints": trained / "checkpoints", "vocabularies": trained / "vocabularies"}
    recipes.train(BASE, **where)
    card = recipes.train(f"{BASE}:adversary=0.5", **where)
    assert card is not None and card.embedding == BASE and "adversary" not in card.test
    read = {"root": where["checkpoints"], "vocabularies": where["vocabularies"]}
    base, model = registry.load(BASE, **read), registry.load(card.name, **read)
    assert torch.equal(base.embedding.weight, model.embedding.weight)
    file = registry.folder(card.name, read["root"]) / registry.WEIGHTS
    assert file.stat().st_size < (registry.folder(BASE, read["root"]) / registry.WEIGHTS).stat().st_size
    assert card.parameters == sum(p.numel() for name, p in model.named_parameters() if name != "embedding.weight")
    recipes.train(f"{BASE}:seed=5", **where)
    lent, other = (registry.folder(name, read["root"]) / registry.WEIGHTS for name in (BASE, f"{BASE}:seed=5"))
    lent.write_bytes(other.read_bytes())
    with pytest.raises(Refusal, match="altered"):
        registry.load(card.name, **read)
    lent.unlink()
    with pytest.raises(Refusal, match="cannot be used"):
        registry.load(card.name, **read)


def test_a_row_holds_a_training_against_its_base(trained: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    where = {"checkpoints": trained / "checkpoints", "vocabularies": trained / "vocabularies"}
    for name in (BASE, f"{BASE}:uniform", f"{BASE}:adversary=0.5", "sst2/average-additive:guide=base"):
        recipes.train(name, **where)

    def obtain(name: str):
        return registry.load(name, root=where["checkpoints"], vocabularies=where["vocabularies"])

    monkeypatch.setattr(tables, "obtain", obtain)
    test, checked = data.load("sst2", "test"), data.load("sst2", "validation")
    (uniform,) = tables.necessity(obtain(f"{BASE}:uniform"), test)
    assert (uniform["normalizer"], uniform["seed"], uniform["n"]) == ("uniform", 0, 30)
    assert uniform["accuracy"] == obtain(f"{BASE}:uniform").card.test["accuracy"]
    (adversary,) = tables.trained_adversary(obtain(f"{BASE}:adversary=0.5"), test)
    for split, ahead in ((test, ""), (checked, "validation_")):
        model, base = obtain(f"{BASE}:adversary=0.5"), obtain(BASE)
        far, apart_ = distances(model, base, model.encode(split))
        assert adversary[f"{ahead}tvd"] == pytest.approx(float(far.mean()), abs=1e-6)
        assert adversary[f"{ahead}jsd"] == pytest.approx(float(apart_.mean()), abs=1e-6)
    (guided,) = tables.guide(obtain("sst2/average-additive:guide=base"), test)
    model, guide = obtain("sst2/average-additive:guide=base"), obtain(BASE)
    batch = model.encode(test)
    hits = model.run(batch, intervene=follow(guide)(batch)).logits.argmax(-1) == torch.tensor([e.label for e in test])
    assert guided["accuracy"] == pytest.approx(float(hits.double().mean()))


def test_a_row_of_a_deception_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Words that are marked everywhere, in sentences of three: the mass is their weight, and without them two words stay."""
    model = small_model()
    named = with_other(model.card, name="sst2/bilstm-additive", training={"validation_accuracy": 0.5})
    monkeypatch.setattr(model, "card", named)
    given = [with_other(example("the film good", label=i), evidence=(2,)) for i in (0, 1)]
    (row,) = tables.deception(model, [*given, example("a bad story", label=0)])
    whole, short = (torch.softmax(model.run(model.encode([example(t)])).logits, -1) for t in ("the film good", "the film"))
    assert row["mass"] == pytest.approx(float(model.run(model.encode(given)).attention[0, 0, 0, 0, 3]), abs=1e-6)
    assert row["without_marked"] == pytest.approx(float(tvd(whole, short)), abs=1e-6)
    assert (row["n_marked"], row["share_of_words"]) == (2, pytest.approx(1 / 3))


def test_the_tables_that_are_shown_leave_out_what_is_trained_to_be_held_against() -> None:
    shown = experiments.shown()
    assert len(shown) == len(set(shown))
    assert {name for name, _ in shown} == {*experiments.EXPERIMENTS, *alignment.TABLES, *perceived.EXPERIMENTS}
    plain = {model for name, model in shown if name == "permutation"}
    assert BASE in plain and f"{BASE}:sparsemax" in plain
    assert not any(mark in model for model in plain for mark in (":seed", ":uniform", ":guide", ":adversary", ":deceptive"))


def test_tables_name_their_trainings() -> None:
    assert tables.necessity_of(BASE)[::5] == [BASE, f"{BASE}:uniform"] and len(tables.necessity_of(BASE)) == 10
    assert len(tables.necessity_of("imdb/bilstm-additive:words=200")) == 6
    assert len(tables.guide_of("sst2/average-additive")) == 20
    named = tables.trained_adversary_of(BASE)
    assert len(named) == len(set(named)) == 6 + 4 + 1 + 7
    for name in (*named, *tables.guide_of("sst2/average-additive"), *tables.deception_of("pronoun/average-additive")):
        parse(name)
