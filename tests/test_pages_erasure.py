"""The page of erased attention as Streamlit runs it: every kind of model, the guess, words struck out, and bad input."""

from pathlib import Path

import pytest

from core import experiments
from core.models import registry
from dashboard import texts
from dashboard.link import LANGUAGES
from tests.test_pages import MODELS, SST, faults, guess_key, needs_models, opened, said, strip_rows, type_own

STORIES = "babi1/bilstm-additive"
needs_stories = pytest.mark.skipif(STORIES not in MODELS, reason="no trained model: make models")
needs_results = pytest.mark.skipif(not experiments.path_of("erasure", SST).exists(), reason="no results: make results")
KINDS = ("sst2/cnn-additive", "sst2/bilstm-additive:sparsemax", "snli/average-additive", "nsmc/bilstm-additive", STORIES)


def page(lang: str = "en", mode: str = "lecture", **codes: str):
    return opened("erasure", lang=lang, mode=mode, **codes)


def big_numbers(app) -> list[str]:
    bodies = [html.proto.body for html in app.get("html") if 'class="big' in html.proto.body]
    return [body.split("<b>")[1].split("</b>")[0] for body in bodies]


def struck(app) -> list[int]:
    """How many words are struck out in each strip."""
    body = next(html.proto.body for html in app.get("html") if 'class="strips' in html.proto.body)
    return [strip.count('class="cell masked') for strip in body.split('role="img"')[1:]]


def charts(app) -> int:
    return len(app.get("vega_lite_chart"))


@pytest.mark.parametrize("model", [name for name in KINDS if name in MODELS])
def test_models_of_every_kind_are_erased(model: str) -> None:
    app = page(model=model)
    assert list(faults(app)) == []
    assert app.session_state["link"].model == model
    assert len(strip_rows(app)) == 4 and charts(app) >= 2
    assert len(big_numbers(app)) == 2


@needs_models
def test_the_guess_comes_before_the_result() -> None:
    app = page(mode="study", model=SST)
    before = charts(app)
    assert len(strip_rows(app)) == 1 and big_numbers(app) == [] and struck(app) == [0]
    app.segmented_control(key=guess_key(app)).set_value("half").run()
    next(button for button in app.button if button.label == "Lock in and reveal").click().run()
    assert len(strip_rows(app)) == 4 and charts(app) == before + 2
    assert f"Your guess: up to half. Measured: {big_numbers(app)[0]}." in said(app)
    assert list(faults(app)) == []


@needs_models
def test_words_are_struck_out_one_by_one_and_the_link_says_how_many() -> None:
    app = page(model=SST)
    assert all(count > 0 for count in struck(app))
    app.segmented_control(key="struck_how").set_value("count").run()
    assert struck(app) == [1] * 4
    app.slider(key="struck_count").set_value(5).run()
    assert struck(app) == [5] * 4 and app.session_state["link_written"]["erasure_struck"] == "5"
    needed = big_numbers(app)
    app.segmented_control(key="struck_how").set_value("flip").run()
    assert app.session_state["link_written"]["erasure_struck"] == "flip"
    assert big_numbers(app) == needed and list(faults(app)) == []


@needs_models
def test_a_link_strikes_out_no_more_words_than_there_are() -> None:
    app = page(model=SST, text="a good film", erasure_struck="400")
    assert struck(app) == [3] * 4 and app.slider(key="struck_count").value == 3
    app = page(model=SST, text="a good film", erasure_struck="0")
    assert struck(app) == [0] * 4 and list(faults(app)) == []


@needs_models
def test_the_seed_is_in_the_link_and_draws_again() -> None:
    app = page(model=SST, seed="7")
    first = strip_rows(app)
    app.button(key="seed_again").click().run()
    assert app.session_state["link_written"]["seed"] == "8"
    assert strip_rows(app)[:3] == first[:3] and strip_rows(app)[3] == first[3]  # what the words score stays
    assert "seed 8" in said(app)


@needs_models
@needs_results
def test_the_test_set_is_shown_whatever_the_text_is() -> None:
    app = page(model=SST)
    there = charts(app)
    type_own(app, "   ")
    assert list(faults(app)) == [] and "blank" in said(app) and strip_rows(app) == []
    assert charts(app) == there - 2 >= 3


@needs_models
def test_without_results_the_page_says_how_to_make_them(no_tables: Path) -> None:
    app = page(model=SST)
    assert list(faults(app)) == []
    assert charts(app) == 3 and "make results" in said(app)  # the sentence's two, and the published one


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Wonderful", "one_word"),
        ("فيلم رائع جدا", "all_unknown"),
        ("😀😀 <script>alert(1)</script> good\x00film", "unknown_words"),
        ("good " * 50, None),
    ],
)
def test_strange_text_is_answered(lang: str, text: str, code: str | None) -> None:
    app, t = page(lang, model=SST, text=text), texts.page("erasure", lang)
    assert list(faults(app)) == []
    assert len(strip_rows(app)) == 4
    if code:
        assert t(f"note.{code}").split("{")[0].split("**")[0] in said(app)
    if code == "one_word":
        assert big_numbers(app) == [t("needed.undefined")] * 2 and struck(app) == [0] * 4
        assert t("single.undefined") in said(app)
    assert "<script>" not in "".join(html.proto.body for html in app.get("html"))


@needs_models
def test_five_thousand_words_are_cut_and_said() -> None:
    app = page(model=SST)
    type_own(app, "good film " * 2500)
    assert list(faults(app)) == [] and "5" in said(app) and "512" in said(app)
    assert sum(struck(app)) > 0


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
def test_unknown_values_in_the_link_are_named(lang: str) -> None:
    app = page(lang, "cinema", model="no/model", seed="-3", erasure_struck="everything")
    assert list(faults(app)) == []
    for value in ("cinema", "no/model", r"\-3", "everything"):
        assert value in said(app)
    assert app.session_state["link"].keys["erasure_struck"] == "flip"


@needs_stories
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_story_loses_its_words_under_its_question(lang: str) -> None:
    app = page(lang, model=STORIES)
    assert list(faults(app)) == [] and len(strip_rows(app)) == 4
    assert texts.page("erasure", lang)("task.qa") in said(app)
    assert registry.cards()[STORIES].task.kind == "qa"


@needs_stories
def test_a_story_without_a_question_is_refused_in_words() -> None:
    app = page(model=STORIES, text="Mary moved to the bathroom .", query=" ")
    assert list(faults(app)) == [] and "second field is blank" in said(app)
