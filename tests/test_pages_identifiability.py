"""The page of unseen attention as Streamlit runs it: heads, the guess, the walk in the link, and bad input."""

import pytest

from core import experiments
from core.models import registry
from dashboard import texts
from dashboard.link import LANGUAGES
from tests.test_pages import faults, guess_key, opened, said, type_own

MODEL, MINILM = "sst2/self-attention", "sst2/minilm"
pytestmark = pytest.mark.skipif(MODEL not in registry.cards(), reason="no trained model: make models")
needs_results = pytest.mark.skipif(
    not experiments.path_of("identifiability", MODEL).exists(), reason="no results: make results"
)
NINE = "This is one of those films that nobody saw"


def page(lang: str = "en", mode: str = "lecture", **codes: str):
    return opened("identifiability", lang=lang, mode=mode, model=MODEL, **codes)


def big_numbers(app) -> list[str]:
    bodies = [html.proto.body for html in app.get("html") if 'class="big' in html.proto.body]
    return [body.split("<b>")[1].split("</b>")[0] for body in bodies]


def maps(app) -> list[str]:
    """The specifications of the matrices."""
    return [str(chart.proto) for chart in app.get("vega_lite_chart") if "query_word" in str(chart.proto)]


def told(app) -> str:
    return "\n".join(block.value for block in app.markdown)


@needs_results
def test_the_guess_comes_before_the_result() -> None:
    app = page(mode="study")
    assert list(faults(app)) == [] and len(maps(app)) == 1 and big_numbers(app) == []
    assert "this sentence" not in "".join(str(chart.proto) for chart in app.get("vega_lite_chart"))
    app.segmented_control(key=guess_key(app)).set_value("some").run()
    next(button for button in app.button if button.label == "Lock in and reveal").click().run()
    assert list(faults(app)) == [] and len(maps(app)) == 2
    assert "Your guess: below 25 %. Measured:" in said(app)
    assert big_numbers(app) == ["0.000", "&lt; 10⁻¹²"]
    assert "Move the slider" in told(app)


def test_the_walk_moves_one_map_and_travels_in_the_link() -> None:
    still = page()
    app = page(identifiability_step="60")
    assert app.slider(key="walk_step").value == 60
    assert maps(app)[0] != maps(still)[0] and maps(app)[1] == maps(still)[1]
    moved, prediction = big_numbers(app)
    assert float(moved) > 0.01 and prediction == "&lt; 10⁻¹²"
    app.slider(key="walk_step").set_value(-100).run()
    assert app.session_state["link_written"]["identifiability_step"] == "-100"
    app.selectbox(key="walk_word").set_value(2).run()
    assert app.session_state["link_written"]["identifiability_word"] == "3"
    assert list(faults(app)) == []


def test_each_head_has_a_map_of_its_own() -> None:
    first = page()
    first.segmented_control(key="identifiability_head").set_value("5").run()
    assert first.session_state["link_written"]["identifiability_head"] == "5"
    assert list(faults(first)) == []
    assert maps(first)[0] != maps(page())[0]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("text", "key"), [("Wonderful", "full"), ("good film", "full"), (NINE, "one_short")])
def test_short_texts_have_nothing_to_move(lang: str, text: str, key: str) -> None:
    app = page(lang, text=text, identifiability_step="50")
    assert list(faults(app)) == [] and len(maps(app)) == 2 and big_numbers(app) == []
    t = texts.page("identifiability", lang)
    assert t(f"reading.{key}").split("{")[-1].split("}")[-1] in told(app)
    if text == "Wonderful":
        assert t("note.one_word") in said(app)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("text", ["فيلم رائع جدا", "😀😀 <script>alert(1)</script> good\x00film", "good " * 40])
def test_strange_text_is_answered(lang: str, text: str) -> None:
    app = page(lang, text=text, identifiability_step="-30")
    assert list(faults(app)) == [] and len(maps(app)) == 2
    assert "<script>" not in "".join(html.proto.body for html in app.get("html"))


def test_blank_text_is_refused_and_the_test_set_stays() -> None:
    app = page()
    there = len(app.get("vega_lite_chart"))
    type_own(app, "   ")
    assert list(faults(app)) == [] and "blank" in said(app)
    assert len(app.get("vega_lite_chart")) == there - 2


@pytest.mark.parametrize("lang", LANGUAGES)
def test_unknown_values_in_the_link_are_named(lang: str) -> None:
    app = page(
        lang, identifiability_head="99", identifiability_layer="0", identifiability_step="7", identifiability_word="five"
    )
    assert list(faults(app)) == []
    for key in ("head", "layer", "step", "word"):
        assert rf"identifiability\_{key}" in said(app)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_head_that_this_model_lacks_is_named(lang: str) -> None:
    app = page(lang, identifiability_head="9")
    assert list(faults(app)) == [] and texts.page("identifiability", lang)("problem.no_head", n="8", given="9") in said(app)
    assert app.session_state["link"].keys["identifiability_head"] == "1" and len(maps(app)) == 2


@pytest.mark.skipif(MINILM not in registry.cards(), reason="no trained model: make models")
@pytest.mark.parametrize("lang", LANGUAGES)
def test_heads_of_a_transformer_hide_nothing_of_a_short_sentence_and_something_of_a_long_one(lang: str) -> None:
    t, long = texts.page("identifiability", lang), " ".join(f"{NINE} ," for _ in range(4))
    at = {"model": MINILM, "identifiability_layer": "3", "identifiability_head": "12"}
    short = opened("identifiability", lang=lang, mode="lecture", text=NINE, **at)
    assert list(faults(short)) == [] and len(maps(short)) == 2 and big_numbers(short) == []
    assert t("reading.full", n=11, rank=11, size=32) in told(short) and "[CLS]" in maps(short)[0]
    app = opened("identifiability", lang=lang, mode="lecture", text=long, identifiability_step="100", **at)
    assert list(faults(app)) == [] and len(maps(app)) == 2
    moved, prediction = big_numbers(app)
    assert (moved == "&lt; 0.001" or float(moved) > 0) and prediction.startswith("&lt; 10")
    assert t("maps.title", head="3.12") in [heading.value for heading in app.subheader]


def test_a_word_that_the_text_lacks_is_named() -> None:
    app = page(identifiability_word="400")
    assert list(faults(app)) == [] and "no word number **400**" in said(app)
    assert len(big_numbers(app)) == 2
