"""The page of triggers as Streamlit runs it: the guess, words put in one by one, the link, and what is not there."""

import pytest

from core.models import registry
from dashboard.link import LANGUAGES
from tests.made_tables import made_tables as made_tables
from tests.made_tables import no_tables as no_tables
from tests.test_pages import faults, guess_key, opened, said, type_own

MODEL = "sst2/minilm"
pytestmark = pytest.mark.skipif(MODEL not in registry.cards(), reason="no trained model: make models")


def page(lang: str = "en", mode: str = "lecture", **codes: str):
    return opened("triggers", lang=lang, mode=mode, **{"model": MODEL, **codes})


def html(app) -> str:
    return "\n".join(block.proto.body for block in app.get("html"))


def put_in(app) -> int:
    """How many words are outlined in the text."""
    return html(app).count('class="cell selected"')


def charts(app) -> int:
    return len(app.get("vega_lite_chart"))


@pytest.mark.usefixtures("made_tables")
def test_the_guess_comes_before_the_words() -> None:
    app = page(mode="study")
    assert list(faults(app)) == [] and put_in(app) == 0 and charts(app) == 1 and 'class="big' not in html(app)
    assert r"**but, bad, \<b\>**" in "\n".join(block.value for block in app.markdown)
    app.segmented_control(key=guess_key(app)).set_value("flips").run()
    next(button for button in app.button if button.label == "Lock in and reveal").click().run()
    assert list(faults(app)) == [] and put_in(app) == 3 and charts(app) == 2
    assert "Your guess: it flips. Measured:" in said(app) and "<b>&lt;b" not in html(app)


@pytest.mark.usefixtures("made_tables")
def test_words_go_in_one_by_one_and_travel_in_the_link() -> None:
    app = page(triggers_words="1")
    assert put_in(app) == 1
    app.slider(key="triggers_words").set_value(2).run()
    assert put_in(app) == 2 and app.session_state["link_written"]["triggers_words"] == "2"
    app.selectbox(key="triggers_pick").set_value(3).run()
    assert app.session_state["link_written"]["triggers_trigger"] == "4"
    assert put_in(app) == 1 and list(faults(app)) == []  # this one has a single word


@pytest.mark.usefixtures("made_tables")
@pytest.mark.parametrize("lang", LANGUAGES)
def test_strange_links_and_texts_are_answered(lang: str) -> None:
    app = page(lang, text="<script>alert(1)</script> 😀", triggers_trigger="9", triggers_words="many")
    assert list(faults(app)) == [] and "**9**" in said(app) and r"triggers\_words" in said(app)
    assert "<script>" not in html(app)


@pytest.mark.usefixtures("made_tables")
def test_blank_text_is_refused_and_the_test_set_stays() -> None:
    app = page()
    type_own(app, " ")
    assert list(faults(app)) == [] and charts(app) == 1 and "blank" in said(app)


@pytest.mark.usefixtures("no_tables")
@pytest.mark.parametrize("lang", LANGUAGES)
def test_without_tables_the_page_says_how_to_make_them(lang: str) -> None:
    app = page(lang)
    assert list(faults(app)) == [] and "make results" in said(app) and charts(app) == 0


@pytest.mark.usefixtures("made_tables")
@pytest.mark.skipif("mnli/minilm" not in registry.cards(), reason="no trained model: make models")
def test_a_pair_shows_both_sentences() -> None:
    app = page(mode="study", model="mnli/minilm")
    assert list(faults(app)) == [] and html(app).count('class="strip"') == 2
    assert "82.9 % to 0.8 %" in said(app)
