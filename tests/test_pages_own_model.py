"""The offer of a model of the reader's own, on a page as Streamlit runs it: opened, kept for the session, closed, refused."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from core.models import own, registry
from core.types import Refusal
from dashboard import resources, texts
from dashboard.link import LANGUAGES
from tests import tiny
from tests.test_pages import faults, opened, said

PAGE, MODEL = "identifiability", "sst2/self-attention"
pytestmark = pytest.mark.skipif(MODEL not in registry.cards(), reason="no trained models: make models")


@pytest.fixture
def folder(tmp_path) -> Path:
    return tiny.save(tmp_path / "tiny-bert")


def page(lang: str = "en", mode: str = "study") -> AppTest:
    return opened(PAGE, lang=lang, mode=mode, model=MODEL)


def press(app: AppTest, key: str, lang: str = "en") -> AppTest:
    label = texts.page("own_model", lang)(key)
    return next(button for button in app.button if button.label == label).click().run()


def open_folder(app: AppTest, folder: str, lang: str = "en", kind: str = "classification") -> AppTest:
    app.segmented_control(key="own_kind").set_value(kind)
    app.text_input(key="own_folder").set_value(folder)
    return press(app, "open", lang)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_folder_is_shown_on_the_page_and_nobody_else_sees_it(folder: Path, lang: str) -> None:
    app = open_folder(page(lang), str(folder), lang)
    assert list(faults(app)) == []
    assert app.session_state["link"].model == "own/tiny-bert"
    assert "own/tiny-bert" in app.selectbox(key="picker_model").options
    assert texts.page("common", lang)("problem.no_results_own") in said(app)
    other = page(lang)
    assert "own/tiny-bert" not in other.selectbox(key="picker_model").options
    assert "own/tiny-bert" not in resources.committed()


@pytest.mark.parametrize("path", ["heads", "attribution", "pruning", "tree"])
def test_every_page_of_transformers_offers_it(folder: Path, path: str) -> None:
    app = open_folder(opened(path, mode="study", model="sst2/minilm", text="A warm, funny film."), str(folder))
    assert list(faults(app)) == []
    assert app.session_state["link"].model == "own/tiny-bert"


def test_closing_gives_the_page_a_model_that_it_has(folder: Path) -> None:
    app = open_folder(page(), str(folder))
    close = next(button for button in app.button if button.label.startswith("Close"))
    close.click().run()
    assert list(faults(app)) == []
    assert app.session_state["link"].model in registry.cards()
    assert "own/tiny-bert" not in app.selectbox(key="picker_model").options


def test_a_model_of_pairs_reads_two_sentences(folder: Path) -> None:
    app = open_folder(page(), str(folder), kind="paraphrase")
    assert list(faults(app)) == []
    assert app.session_state["link"].sample == resources.sample_ids("mrpc/minilm")[0]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_cannot_be_opened_is_said_and_the_page_goes_on(folder: Path, lang: str) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    app = open_folder(page(lang), str(folder), lang)
    assert list(faults(app)) == [] and app.session_state["link"].model == MODEL
    assert texts.page("own_model", lang)("problem.own_pickle", given="tiny\\-bert") in said(app)
    app = open_folder(app, "/nowhere/<b>at</b> all", lang)
    assert list(faults(app)) == [] and "nowhere" in said(app)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_offline_it_is_said_in_a_sentence_and_the_rest_goes_on(monkeypatch: pytest.MonkeyPatch, lang: str) -> None:
    def fetch(name: str, told: own.Told) -> Path:
        told(3 * 10**6, 9 * 10**6)
        raise Refusal("own_offline", "no network", given=name)

    monkeypatch.setattr(own, "fetch", fetch)
    app = press(page(lang), "fetch", lang)
    expected = texts.page("own_model", lang)("problem.own_offline", given=texts.plain(own.SUGGESTED))
    assert list(faults(app)) == [] and expected in said(app)
    assert app.session_state["link"].model == MODEL


def test_a_name_on_the_hub_is_asked_for_only_by_a_click(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    asked: list[str] = []
    monkeypatch.setattr(own, "fetch", lambda name, told: asked.append(name) or folder)
    app = page()
    assert app.text_input(key="own_hub").value == own.SUGGESTED and asked == []
    press(app, "fetch")
    assert asked == [own.SUGGESTED] and app.session_state["link"].model == "own/tiny-bert" and list(faults(app)) == []


def test_neither_a_lecture_nor_a_server_that_forbids_it_offers_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [box.key for box in page(mode="lecture").text_input] == []
    monkeypatch.setenv("ATTENTION_OWN_MODELS", "0")
    assert "own_folder" not in [box.key for box in page().text_input]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_refusal_has_words_in_each_language(lang: str) -> None:
    t = texts.page("own_model", lang)
    source = Path(own.__file__).read_text(encoding="utf-8")
    codes = {part.split('"')[0] for part in source.split('_refusal("')[1:]}
    assert len(codes) >= 12 and all(t.has(f"problem.own_{code}") for code in codes)
