"""What the page of triggers shows: a sentence with words put in by law, test sets by hand."""

import numpy as np
import pytest

from core.attattr.triggers import Place
from core.experiments.triggers import read_draws
from core.importance import probabilities
from core.reading import Reading
from core.types import Refusal
from dashboard import attacked, resources, texts
from dashboard.attacked import Attacked
from tests.made_tables import made_tables as made_tables
from tests.made_tables import triggers
from tests.small import examples
from tests.tiny_bert import tiny_bert

PLACES = (Place("bad", 0, 0.0), Place("long", 1, 0.5))
DRAWS = ((Place("film", 0, 0.0), Place("story", 1, 0.5)), (Place("saw", 0, 0.0), Place("went", 1, 0.5)))
T = texts.page("triggers", "en")


def found() -> Attacked:
    return attacked.attacked(tiny_bert(kind="nli"), Reading(examples("nli")[1], 0, ()), places=PLACES, draws=DRAWS)


def test_words_go_in_one_by_one() -> None:
    one = found()
    assert one.texts == (
        (("bad", "story"), ("the", "film", "is", "long")),
        (("bad", "bad", "story"), ("the", "film", "is", "long")),
        (("bad", "bad", "story"), ("the", "film", "long", "is", "long")),
    )
    assert one.new == ((set(), set()), ({0}, set()), ({0}, {2}))
    assert one.prob.shape == (3, 3) and one.random.shape == (2, 3, 3)
    np.testing.assert_allclose(one.prob.sum(-1), 1, atol=1e-5)
    np.testing.assert_allclose(one.random[:, 0], one.prob[[0, 0]], atol=1e-5)  # before anything is put in


def test_the_first_step_is_the_plain_prediction() -> None:
    model = tiny_bert(kind="nli")
    plain = probabilities(model.run(model.encode([examples("nli")[1]])).logits)[0]
    assert list(found().prediction.values()) == pytest.approx(plain.tolist(), abs=1e-5)


def by_hand(*prob: float) -> Attacked:
    rows = np.array([[p, 1 - p] for p in prob])
    return Attacked(("no", "yes"), (), (), rows, rows[None], ())


@pytest.mark.parametrize(
    ("prob", "option"), [((0.9, 0.2), "flips"), ((0.9, 0.3, 0.6), "weaker"), ((0.9, 0.85), "holds"), ((0.2, 0.1), "holds")]
)
def test_what_a_trigger_did(prob: tuple[float, ...], option: str) -> None:
    assert attacked.outcome(by_hand(*prob)) == option


@pytest.mark.usefixtures("made_tables")
def test_steps_name_the_word_that_came_last() -> None:
    one, draws = attacked.known("sst2/minilm")[0]
    made = attacked.attacked(tiny_bert(), Reading(examples()[0], 0, ()), places=one.places, draws=draws)
    table = attacked.steps(T, made, one)
    assert list(dict.fromkeys(table["group"])) == ["as typed", "1 + but", "2 + bad", "3 + <b>"]
    assert (table["low"] <= table["mean"]).all() and (table["mean"] <= table["high"]).all()
    assert table.groupby("series").size().to_dict() == {"trigger": 4, "random words": 4}


@pytest.mark.usefixtures("made_tables")
def test_known_triggers_come_by_label_and_rank_with_their_draws() -> None:
    known = attacked.known("sst2/minilm")
    assert [(one.label, one.words) for one, _ in known] == [
        (0, ("but", "bad", "<b>")),
        (0, ("dull",)),
        (1, ("but", "bad", "<b>")),
        (1, ("dull",)),
    ]
    assert [place.word for place in known[0][1][1]] == ["the", "in", "was"]
    assert known[0][1][1][2].share == known[0][0].places[2].share == 0.9
    assert read_draws(triggers("sst2/minilm").iloc[-1].to_dict())[1] == (Place("was", 0, 0.0),)  # type: ignore[arg-type]
    assert attacked.named(T, known[1][0], ("negative", "positive")) == "dull → negative"


@pytest.mark.usefixtures("made_tables")
def test_accuracy_by_gold_label() -> None:
    table = attacked.by_class("sst2/minilm", "1")  # the second trigger, which speaks for label 0
    said = {(row["group"], row["series"]): row["mean"] for row in table.to_dict("records")}
    assert said[0, "after"] == said[0, "before"] == pytest.approx(0.9) and said[1, "after"] == pytest.approx(13 / 20)
    assert said[1, "random"] == pytest.approx(17 / 20)
    first = table.iloc[0]
    assert (first["low"], first["high"]) == pytest.approx((0.6990, 0.9721), abs=1e-4)  # Wilson, 18 of 20


@pytest.mark.usefixtures("made_tables")
def test_the_overview_leaves_out_a_triggers_own_label() -> None:
    table = attacked.overview("sst2/minilm")
    assert (table["gold"] != table["label"]).all() and len(table) == 4
    assert attacked.strongest(table)["after"] == pytest.approx(8 / 20)


def test_a_table_of_other_weights_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    table = triggers("sst2/minilm")
    table.attrs["provenance"]["weights_sha256"] = "other"
    monkeypatch.setattr(resources, "results", lambda name, model: table)
    with pytest.raises(Refusal) as refusal:
        attacked.table("sst2/minilm")
    assert refusal.value.code == "stale_results"


def test_what_a_reader_typed_cannot_become_markup() -> None:
    html = attacked.text_html(("<script>", 'a"b'), {1}, "en", "<i>")
    assert "<script>" not in html and "<i>" not in html and html.count("cell selected") == 1
    assert 'aria-label="&lt;script&gt; [a&quot;b]"' in html


def test_the_published_drop() -> None:
    assert attacked.published() == (82.87, 0.8)
