"""The pages as Streamlit runs them, without a browser: every page and language, every model on one page, and bad input.

Nothing may raise, and nothing may fail behind the sentence that hides a fault of ours.
"""

from collections.abc import Iterator
from pathlib import Path

import altair as alt
import pytest
from streamlit.testing.v1 import AppTest

from core.models import registry
from core.models.classifier import Classifier
from dashboard import axes, resources, texts
from dashboard.lessons import PAGES
from dashboard.link import LANGUAGES, MODES
from dashboard.shell import name_of

ROOT = Path(__file__).resolve().parents[1]
APP = str(ROOT / "dashboard" / "app.py")
MODELS = [name for name, card in registry.cards().items() if registry.suits(card, Classifier)]
SST = "sst2/bilstm-additive"
MARKED = '"field": "at"'  # one case in a distribution, as a chart encodes it
needs_models = pytest.mark.skipif(SST not in MODELS, reason="no trained models: make models")


def opened(path: str, **codes: str) -> AppTest:
    """A page as its link opens it."""
    app = AppTest.from_file(APP, default_timeout=100)
    if PAGES[path].file != f"{path or 'home'}.py":  # before a first run, Streamlit finds a page by its file's name only
        app.run()
    if path:
        app.switch_page(str(ROOT / "pages" / PAGES[path].file))
    for key, value in codes.items():
        app.query_params[key] = value
    return app.run()


def faults(app: AppTest) -> Iterator[str]:
    """Exceptions on screen, and the sentence that stands for one in the log."""
    yield from (error.message for error in app.exception)
    ours = {texts.page("home", lang)("problem.unexpected") for lang in LANGUAGES}
    yield from (box.value for box in app.warning if box.value in ours)


def said(app: AppTest) -> str:
    """All amber sentences and captions."""
    return "\n".join(box.value for box in (*app.warning, *app.caption))


@pytest.mark.parametrize(("lang", "mode"), tuple(zip(LANGUAGES, MODES, strict=True)))  # the others: in the browser, and below
@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_page_opens_in_each_language_and_mode(path: str, lang: str, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(axes.Drawn, "to_dict", alt.LayerChart.to_dict)  # held against Vega-Lite's schema, as pages do not
    app = opened(path, lang=lang, mode=mode)
    assert list(faults(app)) == []
    assert [title.value for title in app.title] == [texts.page(name_of(path), lang)("title")]
    assert len(app.expander) == 0 or mode == "study"


@pytest.mark.parametrize("model", {name.partition("=")[0]: name for name in MODELS}.values())  # of seeds and strengths the last
def test_every_model_shows_agreement(model: str) -> None:
    app = opened("agreement", lang="en", mode="lecture", model=model, text="sample:none")
    assert list(faults(app)) == []
    assert app.session_state["link"].model == model
    strips = [html.proto.body for html in app.get("html") if 'class="strips' in html.proto.body]
    assert len(strips) == 1
    assert strips[0].count('role="img"') == 4


@needs_models
def test_the_guess_comes_before_the_result() -> None:
    app = opened("agreement", lang="en", model=SST)
    assert len(strip_rows(app)) == 1
    app.segmented_control(key=guess_key(app)).set_value("hardly").run()
    next(button for button in app.button if button.label == "Lock in and reveal").click().run()
    assert len(strip_rows(app)) == 4
    assert "Your guess: hardly" in said(app)
    assert list(faults(app)) == []


@needs_models
def test_nothing_of_this_sentence_is_told_before_the_guess() -> None:
    """Neither the mark in the histogram, nor the encoders' captions, nor the last point of the noise."""
    app = opened("agreement", lang="en", model=SST)
    assert MARKED not in shown(app) and "τ on this sentence" not in said(app)
    next(button for button in app.button if button.label == "Skip").click().run()
    assert not has_results(SST) or MARKED in shown(app)
    assert "τ on this sentence" in said(app)
    assert list(faults(app)) == []


@needs_models
@pytest.mark.parametrize("model", [SST, "sst2/bilstm-cosine", "nsmc/bilstm-additive"])
def test_a_frame_that_has_nothing_to_show_is_left_out(model: str) -> None:
    app = opened("agreement", lang="en", mode="lecture", model=model)
    titles = [heading.value for heading in app.subheader]
    assert ("Five seeds" in titles) == (model == SST)
    assert model != "sst2/bilstm-cosine" or "The encoders, whole test set" not in titles


@needs_models
def test_skipping_shows_the_result_and_asks_no_more() -> None:
    app = opened("agreement", lang="en", model=SST)
    next(button for button in app.button if button.label == "Skip").click().run()
    assert len(strip_rows(app)) == 4
    app.selectbox(key="picker_sentence").set_value("review-02").run()
    assert len(strip_rows(app)) == 4


@needs_models
def test_an_own_text_is_read_and_stays_when_it_cannot_be() -> None:
    app = opened("agreement", lang="en", mode="lecture", model=SST)
    own = "I <u>loved</u> this film."
    type_own(app, own)
    assert "<u>" not in "".join(html.proto.body for html in app.get("html"))
    assert app.session_state["link"].own == own
    type_own(app, "   ")
    assert "blank" in said(app)
    assert list(faults(app)) == []
    assert len(app.get("vega_lite_chart")) > 0 or not has_results(SST)


@needs_models
def test_five_thousand_words_are_cut_and_said() -> None:
    app = opened("agreement", lang="en", mode="lecture", model=SST)
    type_own(app, "good film " * 2500)
    assert list(faults(app)) == []
    assert "5,000 words" in said(app)
    assert app.session_state["link_written"]["text"] == "sample:review-01"


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Wonderful", "one_word"),
        ("zxqv blorp wibble", "all_unknown"),
        ("정말 재미있는 영화", "all_unknown"),
        ("فيلم رائع جدا", "all_unknown"),
        ("😀😀 good", "unknown_words"),
        ("<script>alert(1)</script> good", "unknown_marks"),
        ("good\x00film \x07now", "unknown_words"),
    ],
)
def test_strange_text_is_answered_with_a_sentence(lang: str, text: str, code: str) -> None:
    app = opened("agreement", lang=lang, mode="lecture", model=SST, text=text)
    assert list(faults(app)) == []
    start = texts.page("agreement", lang)(f"note.{code}").split("{")[0].split("**")[0]
    assert start in said(app)
    assert "<script>" not in "".join(html.proto.body for html in app.get("html"))


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
def test_unknown_values_in_the_link_are_named(lang: str) -> None:
    app = opened("agreement", lang=lang, mode="cinema", model="no/model", target="maybe", agreement_graph="glued")
    assert list(faults(app)) == []
    for value in ("cinema", "no/model", "maybe", "glued"):
        assert value in said(app)
    assert app.session_state["link"].mode == "study"


@needs_models
def test_a_label_that_the_story_does_not_name_is_said_and_the_predicted_one_explained() -> None:
    codes = {"model": "babi1/bilstm-additive", "text": "Mary went to the kitchen.", "query": "Where is Mary?"}
    app = opened("agreement", lang="en", mode="lecture", target="office", **codes)
    assert list(faults(app)) == [] and strip_rows(app)
    assert "office" in said(app) and "Named here: mary, kitchen" in said(app)
    assert app.selectbox(key="target").value == "kitchen"
    type_own(app, "Mary went to the office. John went to the garden.")
    assert app.session_state["link"].target == "" and "Named here" not in said(app)


@needs_models
def test_choosing_another_sentence_ends_complaints_about_the_link() -> None:
    app = opened("agreement", lang="en", mode="lecture", target="maybe")
    assert "maybe" in said(app)
    app.selectbox(key="picker_sentence").set_value("review-02").run()
    assert "maybe" not in said(app)
    assert app.session_state["link"].sample == "review-02"


@needs_models
def test_a_damaged_checkpoint_is_said_and_the_page_lives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The weights of one model are altered in a copy of the checkpoints."""
    import shutil

    shutil.copytree(registry.CHECKPOINTS / "sst2", tmp_path / "sst2")
    weights = tmp_path / "sst2" / "bilstm-additive" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x00")
    load = registry.load
    monkeypatch.setattr(registry, "load", lambda name, *where, **kept: load(name, *where, root=tmp_path, **kept))
    resources._model.clear()  # type: ignore[attr-defined]
    resources._computed.clear()  # type: ignore[attr-defined]
    try:
        app = opened("agreement", lang="en", mode="lecture", model=SST)
        assert list(faults(app)) == []
        assert "cannot be used" in said(app)
        assert app.title[0].value
        assert strip_rows(app) == []
    finally:
        resources._model.clear()  # type: ignore[attr-defined]


@needs_models
def test_without_models_the_pages_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "cards", lambda: {})
    resources.committed.clear()  # type: ignore[attr-defined]
    try:
        for path in PAGES:
            app = opened(path, lang="en")
            assert list(faults(app)) == []
            assert "make models" in said(app)
    finally:
        monkeypatch.undo()
        resources.committed.clear()  # type: ignore[attr-defined]


@needs_models
def test_language_and_mode_are_switched_without_losing_the_text() -> None:
    app = opened("agreement", lang="en", mode="lecture", model=SST, text="A fine, quiet film")
    app.segmented_control(key="shell_lang").set_value("ko").run()
    assert app.title[0].value == texts.page("agreement", "ko")("title")
    assert app.session_state["link"].own == "A fine, quiet film"
    app.segmented_control(key="shell_mode").set_value("study").run()
    assert app.session_state["link"].mode == "study"
    assert list(faults(app)) == []


@needs_models
def test_another_graph_changes_the_gradient_only() -> None:
    codes = {"lang": "en", "mode": "lecture", "model": SST}
    cut, uncut = (strip_rows(opened("agreement", **codes, agreement_graph=graph)) for graph in ("cut", "uncut"))
    assert cut[0] == uncut[0]
    assert cut[1] != uncut[1]
    assert cut[2:] == uncut[2:]


def strip_rows(app: AppTest) -> list[str]:
    """What each strip says when it is read out."""
    bodies = [html.proto.body for html in app.get("html") if 'class="strips' in html.proto.body]
    return [part.split('"')[0] for body in bodies for part in body.split('aria-label="')[1:]]


def shown(app: AppTest) -> str:
    """What the charts say."""
    return "\n".join(chart.proto.spec for chart in app.get("vega_lite_chart"))


def guess_key(app: AppTest) -> str:
    return next(str(control.key) for control in app.segmented_control if str(control.key).startswith("guess_"))


def type_own(app: AppTest, text: str) -> None:
    field = next(area for area in app.text_area if str(area.key).startswith("own_text_"))
    field.set_value(text)
    labels = {texts.page("home", lang)("picker.apply") for lang in LANGUAGES}
    next(button for button in app.button if button.label in labels).click().run()


def has_results(model: str) -> bool:
    from core.experiments import path_of

    return path_of("agreement", model).exists()
