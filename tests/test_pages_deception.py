"""The page of hidden attention as Streamlit runs it: its models, the guess, words that are made impermissible, bad input; and
what it says of a text, held against the models themselves."""

import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from streamlit.testing.v1 import AppTest

from core import experiments, planted
from core.models import registry
from core.models.classifier import Classifier
from core.reading import read
from dashboard import codes, deceived, resources, texts, trainings
from dashboard.link import LANGUAGES
from tests.small import small_model
from tests.test_pages import faults, guess_key, opened, said, strip_rows, type_own

BIOGRAPHY, REVIEW = "pronoun/bilstm-additive", "sst_wiki/average-additive"
CARDS = registry.cards()
needs_models = pytest.mark.skipif(
    not {f"{name}{end}" for name in (BIOGRAPHY, REVIEW) for end in ("", ":deceptive=0.1", ":deceptive=1")} <= set(CARDS),
    reason="no trained models: make models",
)
needs_results = pytest.mark.skipif(not experiments.path_of("deception", BIOGRAPHY).exists(), reason="no results: make results")
TEXT = "She kept his letters in a tin"


def page(lang: str = "en", mode: str = "lecture", model: str = BIOGRAPHY, **given: str) -> AppTest:
    return opened("deception", lang=lang, mode=mode, model=model, **{"text": TEXT} | given)


def marked_words(app: AppTest) -> list[int]:
    """How many words of each strip bear a dashed ring."""
    bodies = [html.proto.body for html in app.get("html") if 'class="strips' in html.proto.body]
    return [strip.count('class="cell forbidden') for body in bodies for strip in body.split('role="img"')[1:]]


def big_numbers(app: AppTest) -> list[str]:
    bodies = [html.proto.body for html in app.get("html") if 'class="big' in html.proto.body]
    return [body.split("<b>")[1].split("</b>")[0] for body in bodies]


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("model", [BIOGRAPHY, REVIEW])
def test_a_text_is_read_under_three_models_and_without_its_words(lang: str, model: str) -> None:
    app = page(lang, model=model)
    assert list(faults(app)) == [] and app.session_state["link"].model == model
    assert len(strip_rows(app)) == 6
    assert marked_words(app) == [2 if model == BIOGRAPHY else 7] * 6
    assert len(big_numbers(app)) == 2


@needs_models
def test_attention_leaves_the_pronouns_and_they_decide_on() -> None:
    app = page()
    honest, hiding = (float(share.removeprefix("< ").removesuffix(" %")) for share in big_numbers(app))
    assert honest > 90 > 5 > hiding
    names = [BIOGRAPHY, *(f"{BIOGRAPHY}:deceptive={strength}" for strength in deceived.STRENGTHS[1:])]
    model, *others = (registry.needed(registry.load(name), Classifier) for name in names)
    reading = read(model, "She kept the letters in a tin")
    found = deceived.deceived(model, reading, others=others)
    gone, other = deceived.without(model, reading, others=others, marked=found.marked, seed=0)
    assert found.marked == (0,) and found.mass(2) < 0.05 < 0.9 < found.mass(0)
    for i in range(3):
        with_her, without = gone[i], other[i]
        assert with_her is not None and without is not None and with_her > 0.2 > without
        assert with_her == pytest.approx(found.left_out[i][0], abs=1e-6)


@needs_models
def test_pickers_offer_honest_models_only() -> None:
    app = page()
    options = app.selectbox(key="picker_model").options
    assert set(options) == {
        f"{data}/{encoder}-additive" for data in ("pronoun", "sst_wiki") for encoder in ("average", "bilstm")
    }
    app.selectbox(key="picker_model").set_value(REVIEW).run()
    assert list(faults(app)) == [] and app.session_state["link"].model == REVIEW


@needs_models
def test_the_guess_comes_before_the_result() -> None:
    app = page(mode="study")
    assert len(strip_rows(app)) == 1 and big_numbers(app) == []
    app.segmented_control(key=guess_key(app)).set_value("little").run()
    next(button for button in app.button if button.label == "Lock in and reveal").click().run()
    assert len(strip_rows(app)) == 6 and "Your guess: less than 5 %" in said(app)
    assert f"Measured with λ = 1: {big_numbers(app)[1]}." in said(app)


@needs_models
def test_tapping_words_changes_what_is_impermissible_and_the_link() -> None:
    app = page()
    words = tuple(TEXT.split())
    key = f"impermissible_{codes.stamp(words)}"
    assert app.pills(key=key).value == [0, 2]
    app.pills(key=key).set_value([3]).run()
    assert marked_words(app) == [1] * 6
    assert app.session_state["link_written"]["deception_marked"] == codes.written(words, (3,))
    again = page(deception_marked=codes.written(words, (3,)))
    assert strip_rows(again) == strip_rows(app)
    app.button(key="by_rule").click().run()
    assert marked_words(app) == [2] * 6 and list(faults(app)) == []
    app.pills(key=key).set_value([]).run()
    assert marked_words(app) == [0] * 6 and "No word of this text is impermissible" in said(app)


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("She", "one_word"),
        ("zxqv blorp wibble", "all_unknown"),
        ("<script>alert(1)</script> she\x00 said", "unknown_words"),
        ("그는 편지를 썼다", "all_unknown"),
    ],
)
def test_strange_text_is_answered(lang: str, text: str, code: str) -> None:
    app = page(lang, text=text)
    assert list(faults(app)) == []
    assert len(strip_rows(app)) == 6
    assert texts.page("deception", lang)(f"note.{code}").split("{")[0].split("**")[0] in said(app)
    assert "<script>" not in "".join(html.proto.body for html in app.get("html"))


@needs_models
def test_five_thousand_words_and_blanks_are_told() -> None:
    app = page()
    type_own(app, "she went " * 2500)
    assert list(faults(app)) == [] and "5,000 words" in said(app)
    type_own(app, "   ")
    assert list(faults(app)) == [] and "blank" in said(app)


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
def test_unknown_values_in_the_link_are_named(lang: str) -> None:
    app = page(lang, deception_marked="me", seed="-3")
    assert list(faults(app)) == [] and "me" in said(app) and r"\-3" in said(app)


@needs_models
@needs_results
def test_the_test_set_is_beside_the_published_table() -> None:
    app = page(text="   ")
    assert list(faults(app)) == [] and len(app.get("vega_lite_chart")) == 2
    table = app.table[0].value
    assert len(table) == 8 and "second-hand" in said(app)
    row = table[table["Model"] == "BiLSTM, λ = 1"].iloc[0]
    assert float(row["Accuracy %"]) > 97 and float(row["Mass %"]) < 1
    assert row["Paper’s mass ‡"] == "< 0.000001" and row["Paper ‡"] == "100"


@needs_models
def test_without_results_the_page_says_how_to_make_them(no_tables: Path) -> None:
    app = page()
    assert list(faults(app)) == [] and len(app.get("vega_lite_chart")) == 0 and "make results" in said(app)


@needs_models
def test_words_that_cannot_be_planted_are_refused_in_words() -> None:
    app = page()
    app.text_input(key="planted-deception-en-1").set_value("two words").run()
    assert list(faults(app)) == [] and "must be **one word**" in said(app) and app.button(key="workbench-train").disabled
    app.text_input(key="planted-deception-en-1").set_value("*rainy*").run()
    assert list(faults(app)) == [] and app.button(key="workbench-train").disabled
    app.text_input(key="planted-deception-en-1").set_value("").run()
    assert "A deciding word is **missing**" in said(app) and app.button(key="workbench-train").disabled
    app.text_input(key="planted-deception-en-1").set_value("splendid").run()
    app.text_input(key="planted-forbidden-en").set_value("storm").run()
    assert "**storm** is in no sentence" in said(app) and app.button(key="workbench-train").disabled
    app.text_input(key="planted-forbidden-en").set_value("").run()
    assert not app.button(key="workbench-train").disabled


@needs_models
def test_an_experiment_is_trained_on_the_page_and_stays_in_its_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planted, "SIZES", {"train": 96, "validation": 32, "test": 40})
    app = page()
    app.text_input(key="planted-deception-en-1").set_value("splendid").run()
    app.button(key="workbench-train").click().run()
    training = app.session_state["workbench"]["deception"]
    training.thread.join(timeout=120)
    app.run()
    assert list(faults(app)) == [] and not training.live and training.made is not None and not training.made.stopped
    assert "splendid / rainy" in said(app) and len(app.table[-1].value) == 2
    assert len(training.points) == 3 * (6 + 4 * 6)
    assert resources.bench().length == resources.gate().length == 0
    assert "workbench" not in page().session_state or not page().session_state["workbench"]


def test_a_training_that_is_stopped_leaves_the_gate_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planted, "SIZES", {"train": 96, "validation": 32, "test": 40})
    chosen = trainings.Chosen("necessity", planted.plan(("sunny", "rainy")), "average", None)
    bench, gate, training = resources.bench(), resources.gate(), trainings.Training(chosen)
    training.stop.set()
    training.run(bench, gate)
    assert training.made is not None and training.made.stopped and gate.length == 0
    waiting = trainings.Training(chosen)
    with bench.turn():
        waiting.thread = threading.Thread(target=waiting.run, args=(bench, gate))
        waiting.thread.start()
        end = time.monotonic() + 20
        while not waiting.place and time.monotonic() < end:
            time.sleep(0.01)
        assert waiting.place == 1 and bench.length == 2
        waiting.stop.set()
        waiting.thread.join(timeout=20)
    assert bench.length == gate.length == 0 and not waiting.points
    assert waiting.made is not None and waiting.made.stopped


def test_questions_of_others_do_not_wait_for_a_training_to_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planted, "SIZES", {"train": 960, "validation": 32, "test": 40})
    bench, gate = resources.bench(), resources.gate()
    training = trainings.Training(trainings.Chosen("necessity", planted.plan(("sunny", "rainy")), "average", None))
    training.thread = threading.Thread(target=training.run, args=(bench, gate))
    with gate.turn():
        training.thread.start()
        end = time.monotonic() + 20
        while gate.length < 2 and time.monotonic() < end:
            time.sleep(0.01)
        assert gate.length == 2 and training.place == 0 and not training.points
    for _ in range(3):
        with gate.turn():
            assert training.live and training.made is None
    training.stop.set()
    training.thread.join(timeout=20)
    assert bench.length == gate.length == 0 and training.made is not None and training.made.stopped


def test_a_training_that_nobody_looks_at_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planted, "SIZES", {"train": 96, "validation": 32, "test": 40})
    training = trainings.Training(trainings.Chosen("necessity", planted.plan(("sunny", "rainy")), "average", None))
    training.looked -= trainings.FORGOTTEN + 1
    training.run(resources.bench(), resources.gate())
    assert training.made is not None and training.made.stopped and training.made.models == ()


def test_as_many_other_words_are_drawn_and_never_the_marked_ones() -> None:
    drawn = deceived.chosen_others(7, (1, 4), seed=0)
    assert len(drawn) == deceived.DRAWS and all(len(gone) == 2 and not gone & {1, 4} for gone in drawn)
    assert drawn == deceived.chosen_others(7, (1, 4), seed=0) != deceived.chosen_others(7, (1, 4), seed=1)
    assert deceived.chosen_others(3, (0, 1), seed=0) == [{2}] * deceived.DRAWS
    assert deceived.chosen_others(2, (0, 1), seed=0) == [] == deceived.chosen_others(2, (), seed=0)


def test_a_text_by_hand() -> None:
    """Two words, one marked: without it the other is read alone."""
    model = small_model("average")
    found = replace(deceived.deceived(model, read(model, "bad story"), others=[small_model("average", seed=4)]), marked=(1,))
    gone, _ = deceived.without(model, read(model, "bad story"), others=[], marked=(1,), seed=0)
    with torch.no_grad():
        run = model.precise().run(model.precise().encode([read(model, "bad story").example]))
        alone = model.precise().run(model.precise().encode([read(model, "bad").example]))
    p, q = (torch.softmax(each.logits, -1)[0] for each in (run, alone))
    assert found.mass(0) == pytest.approx(float(run.attention[0, 0, 0, 0, 2]))
    assert gone[0] == pytest.approx(float((p - q).abs().sum() / 2))
    assert found.left_out[0][1] == pytest.approx(gone[0])
    one = read(model, "bad")
    assert deceived.without(model, one, others=[model], marked=(0,), seed=0) == ((None, None), (None, None))
    assert deceived.without(model, one, others=[], marked=(), seed=0) == ((None,), (None,))
    assert deceived.deceived(model, one, others=[model]).left_out == ((None,), (None,))


@pytest.mark.parametrize(
    ("value", "said"), [(0.0, "0.0 %"), (1.0, "100.0 %"), (0.123, "12.3 %"), (0.0018, "0.18 %"), (1e-7, "< 0.001 %")]
)
def test_shares_are_written_with_the_decimals_they_need(value: float, said: str) -> None:
    assert deceived.share(value) == said


def test_published_cells_are_found_and_marked_where_they_are_bounds() -> None:
    cell = deceived.published("pronoun", "bilstm", "0.1")
    assert cell == {"paper_accuracy": 1.0, "paper_mass": pytest.approx(1e-8), "paper_sign": "below"}
    assert deceived.published("sst_wiki", "average", "anonymised") == {
        "paper_accuracy": pytest.approx(0.489),
        "paper_mass": None,
        "paper_sign": "",
    }
    assert set(deceived.second_hand()["evidence"]) == {"second-hand"}


def test_accuracy_has_its_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    """8 of 10 right: Wilson's interval is 0.490 to 0.943."""
    row: dict[str, object] = {"kind": "", "value": "", "accuracy": 0.8, "n": 10, "mass": 0.5, "share_of_words": 0.1}
    table = pd.DataFrame([row | {"without_marked": 0.4, "without_others": np.nan}])
    monkeypatch.setattr(deceived, "encoders", lambda name: {"bilstm": name})
    monkeypatch.setattr(resources, "results", lambda name, model: table)
    found = deceived.measured(BIOGRAPHY).iloc[0]
    assert (found["low"], found["high"]) == (pytest.approx(0.490, abs=1e-3), pytest.approx(0.943, abs=1e-3))
    assert found["strength"] == "0" and found["paper_mass"] == pytest.approx(0.968)
