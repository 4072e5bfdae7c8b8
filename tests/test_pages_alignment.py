"""The page on alignment as Streamlit runs it: every chapter, the reader's own text, steps, and what cannot be read."""

import pytest

from core.models import translator
from dashboard import exhibits, texts
from dashboard.alignment.keys import CHAPTERS
from dashboard.alignment.typed import DATES, GERMAN
from dashboard.link import LANGUAGES
from tests.test_pages import faults, opened, said

READERS = {"dates": DATES, "german": GERMAN}
has_dates = pytest.mark.skipif(DATES.model not in translator.cards(), reason="no translator of dates: make models")
has_german = pytest.mark.skipif(GERMAN.model not in translator.cards(), reason="no translator of captions: make models")


def page(lang: str = "en", mode: str = "lecture", **keys: str):
    return opened("alignment", lang=lang, mode=mode, **{f"alignment_{name}": value for name, value in keys.items()})


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_chapter_opens_whatever_is_trained(chapter: str, lang: str) -> None:
    app = page(lang, "study", chapter=chapter)
    assert list(faults(app)) == []
    assert not app.warning
    assert any(button.key == "alignment-next" for button in app.button) == (chapter != CHAPTERS[-1])
    if chapter in READERS and READERS[chapter].model not in translator.cards():
        assert texts.page("alignment", lang)("problem.no_translator", model="").split("**")[0] in said(app)


@has_dates
@pytest.mark.parametrize("given", ["3rd of March 1998", "1998년 3월 3일"])
def test_a_date_is_written_and_stepped_through(given: str) -> None:
    app = page(chapter="dates", date=given)
    assert list(faults(app)) == [] and not app.warning
    assert any("1998" in block.value and "03" in block.value for block in app.markdown)
    slot = "alignment-dates-step-slider"
    app.button(key=f"{slot}-on").click().run()
    assert app.session_state["link_written"]["alignment_letter"] == "2"
    app.slider(key=slot).set_value(10).run()
    assert app.session_state["link_written"]["alignment_letter"] == "10"
    assert app.button(key=f"{slot}-on").disabled and list(faults(app)) == []


@has_dates
@pytest.mark.parametrize(
    ("given", "code"),
    [
        ("hello", "no_digits"),
        ("3/4/1998", "two_days"),
        ("🎂 3월 3일", "unknown_letters"),
        ("عشرة 3 <b>\x00", "unknown_letters"),
    ],
)
def test_what_is_no_date_is_answered_with_a_sentence(given: str, code: str) -> None:
    app = page(chapter="dates", date=given)
    assert list(faults(app)) == []
    start = texts.page("alignment", "en")(f"note.{code}", count="", n="", words="", written="").split(":")[0].split("**")[0]
    assert start in said(app)


@has_dates
def test_a_blank_field_is_said_and_the_date_stays() -> None:
    app = page(chapter="dates", date="31.12.1999")
    app.text_input(key="alignment-dates-text").set_value("   ").run()
    assert "blank" in said(app) and list(faults(app)) == []
    assert app.text_input(key="alignment-dates-text").value == "31.12.1999"
    app.text_input(key="alignment-dates-text").set_value("1 May 2001").run()
    assert "blank" not in said(app)
    assert app.session_state["link_written"]["alignment_date"] == "1 May 2001"


@has_dates
def test_an_example_is_picked_and_a_step_that_is_not_there_is_the_first() -> None:
    app = page(chapter="dates", letter="44")
    app.selectbox(key="alignment-dates-example").set_value("31.12.1999").run()
    assert list(faults(app)) == []
    assert any("1999" in block.value for block in app.markdown)


@has_dates
def test_files_name_the_translator_and_not_the_model_of_other_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(
        exhibits, "show", lambda here, _, shown, *notes: asked.append(exhibits.settings_of(here, shown)["model"])
    )
    assert list(faults(page(chapter="dates"))) == []
    assert asked == [DATES.model, DATES.model]


def test_unknown_values_of_the_link_are_named() -> None:
    app = page(chapter="nonsense", date="x" * 200)
    assert list(faults(app)) == []
    assert "nonsense" in said(app)


@has_german
def test_one_sentence_is_written_under_three_kinds_of_weights_once_the_guess_is_made() -> None:
    app = page(mode="study", chapter="moved", sentence="Two dogs run through the snow .")
    assert not any("Zwei Hunde" in block.value for block in app.markdown)
    app = page(mode="lecture", chapter="moved", sentence="Two dogs run through the snow .")
    lines = [block.value for block in app.markdown if block.value.startswith(("its own weights", "uniform", "shuffled"))]
    assert list(faults(app)) == [] and len(set(lines)) == 3
    assert "Zwei Hunde" in lines[0]
