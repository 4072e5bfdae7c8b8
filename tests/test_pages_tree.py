"""The page of the attribution tree as Streamlit runs it: thresholds, the guess, cuts in the link, and bad input."""

import pytest

from core.models import registry
from dashboard import texts
from dashboard.link import LANGUAGES
from tests.test_pages import faults, opened, said, type_own

MODEL, PAIRS = "sst2/minilm", "mnli/minilm"
pytestmark = pytest.mark.skipif(not {MODEL, PAIRS} <= set(registry.cards()), reason="no trained models: make models")


def page(lang: str = "en", mode: str = "lecture", model: str = MODEL, **codes: str):
    return opened("tree", lang=lang, mode=mode, model=model, **codes)


def told(app) -> str:
    return "\n".join(block.value for block in app.markdown)


def big_numbers(app) -> list[str]:
    bodies = [html.proto.body for html in app.get("html") if 'class="big' in html.proto.body]
    return [body.split("<b>")[1].split("</b>")[0] for body in bodies]


def drawings(app) -> list[str]:
    """The specifications of trees."""
    return [str(chart.proto) for chart in app.get("vega_lite_chart") if "source_word" in str(chart.proto)]


def written(app, name: str) -> str:
    return app.session_state["link_written"].get(f"tree_{name}", "")


def test_the_guess_comes_before_the_result() -> None:
    app = page(mode="study")
    assert list(faults(app)) == [] and len(drawings(app)) == 1 and big_numbers(app) == []
    next(button for button in app.button if button.label == "Skip").click().run()
    assert list(faults(app)) == [] and "Without the tree p changes by" in told(app)
    before, after = big_numbers(app)
    assert before == after


def test_edges_are_cut_one_by_one_and_travel_in_the_link() -> None:
    app = page(tree_tau="0.2")
    edges = app.pills(key="tree_edges")
    assert len(edges.options) > 2 and edges.value == []
    next(button for button in app.button if button.label == "Cut all").click().run()
    assert written(app, "cut").count(".") == len(edges.options)
    before, whole = big_numbers(app)
    assert float(whole) != float(before)
    again = page(tree_tau="0.2", tree_cut=written(app, "cut"))
    assert big_numbers(again) == [before, whole] and drawings(again) == drawings(app)
    again.pills(key="tree_edges").set_value([0]).run()
    assert written(again, "cut").endswith(".0") and "after cutting 1" in "".join(h.proto.body for h in again.get("html"))
    again.select_slider(key="tree_tau").set_value("0.8").run()
    assert list(faults(again)) == [] and again.pills(key="tree_edges").value == []


def test_a_tree_without_an_edge_says_why_and_how_to_get_one() -> None:
    app = page(tree_tau="0.95", tree_lambda="0.1", text="This was a dull film , and far too long .")
    assert "no edge" in told(app) and drawings(app) == [] and "no edge to cut" in said(app)
    next(button for button in app.button if button.label.startswith("Grow it")).click().run()
    assert (written(app, "tau"), written(app, "lambda")) == ("0.1", "0")
    assert list(faults(app)) == [] and len(drawings(app)) == 1


def test_words_or_pieces_and_another_label() -> None:
    app = page(text="An unhurried , unpretentious film")
    app.segmented_control(key="tree_units").set_value("pieces").run()
    assert " pieces;" in said(app) and "##" in drawings(app)[0]
    predicted = app.selectbox(key="target").value
    other = next(name for name in ("negative", "positive") if name != predicted)
    app.selectbox(key="target").set_value(other).run()
    assert list(faults(app)) == [] and app.session_state["link"].target == other


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("text", ["Wonderful", "فيلم رائع جدا", "😀😀 <script>alert(1)</script> good\x00film", "good " * 55])
def test_short_long_and_strange_texts_are_answered(lang: str, text: str) -> None:
    app = page(lang, text=text, tree_tau="0.1")
    assert list(faults(app)) == []
    t = texts.page("tree", lang)
    assert drawings(app) or any(t(f"why.{why}").split("**")[1] in told(app) for why in ("nothing", "below", "elsewhere"))
    assert "<script>" not in "".join(html.proto.body for html in app.get("html"))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_pair_of_sentences_grows_one_tree(lang: str) -> None:
    app = page(lang, model=PAIRS)
    assert list(faults(app)) == [] and drawings(app)


def test_blank_text_is_refused_and_the_test_set_stays() -> None:
    app = page()
    type_own(app, "   ")
    assert list(faults(app)) == [] and "blank" in said(app) and drawings(app) == []
    assert "The whole test set" in [heading.value for heading in app.subheader]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_unknown_values_in_the_link_are_named(lang: str) -> None:
    app = page(lang, tree_tau="7", tree_lambda="-1", tree_units="letters", tree_cut="all")
    assert list(faults(app)) == []
    for key in ("tau", "lambda", "units", "cut"):
        assert rf"tree\_{key}" in said(app)


def test_cuts_of_another_tree_are_left_alone() -> None:
    assert page(tree_cut="0000.1.2").pills(key="tree_edges").value == []
