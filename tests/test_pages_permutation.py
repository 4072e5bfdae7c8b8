"""The page of shuffled attention as Streamlit runs it: every model, the guess, the seed in the link, and bad input."""

from pathlib import Path

import pytest

from core import experiments
from core.models import registry
from dashboard import link, shuffles, texts
from dashboard.link import LANGUAGES
from tests.test_pages import MODELS, SST, faults, guess_key, needs_models, opened, said, strip_rows, type_own

STORIES = "babi1/bilstm-additive"
needs_stories = pytest.mark.skipif(STORIES not in MODELS, reason="no trained model: make models")
needs_results = pytest.mark.skipif(not experiments.path_of("permutation", SST).exists(), reason="no results: make results")


def page(lang: str = "en", mode: str = "lecture", **codes: str):
    return opened("permutation", lang=lang, mode=mode, **codes)


def big_numbers(app) -> list[str]:
    bodies = [html.proto.body for html in app.get("html") if 'class="big' in html.proto.body]
    return [body.split("<b>")[1].split("</b>")[0] for body in bodies]


def marked(app) -> list[str]:
    """Figures in which this sentence is marked: where it stands among the medians is a result, its largest weight is none."""
    return [chart.proto.spec for chart in app.get("vega_lite_chart") if "this sentence" in str(chart.proto)]


def charts(app) -> int:
    return len(app.get("vega_lite_chart"))


KINDS = (
    "sst2/cnn-additive",
    "sst2/average-scaled-dot",
    "snli/bilstm-additive",
    "nsmc/bilstm-additive",
    "babi2/bilstm-additive",
)


@pytest.mark.parametrize("model", [name for name in KINDS if name in MODELS])
def test_models_of_every_kind_are_shuffled(model: str) -> None:
    app = page(model=model)
    assert list(faults(app)) == []
    assert app.session_state["link"].model == model
    assert len(strip_rows(app)) == 2 and charts(app) >= 1
    median, changed = big_numbers(app)
    assert 0 <= float(median) <= 1 and changed.endswith("of 100")


@needs_models
def test_the_guess_comes_before_the_result() -> None:
    app = page(mode="study", model=SST)
    before = charts(app)
    assert len(strip_rows(app)) == 1 and big_numbers(app) == [] and len(marked(app)) <= 1
    app.segmented_control(key=guess_key(app)).set_value("hardly").run()
    next(button for button in app.button if button.label == "Lock in and reveal").click().run()
    assert len(strip_rows(app)) == 2 and len(big_numbers(app)) == 2
    assert charts(app) == before + 1
    assert len(marked(app)) == 2 or not experiments.path_of("permutation", SST).exists()
    assert f"Your guess: below 0.05. Measured: {big_numbers(app)[0]}." in said(app)
    assert list(faults(app)) == []


@needs_models
def test_the_seed_is_in_the_link_and_draws_again() -> None:
    app = page(model=SST, seed="7")
    assert app.number_input(key="seed_field").value == 7
    first = strip_rows(app)
    app.button(key="seed_again").click().run()
    assert app.session_state["link_written"]["seed"] == "8"
    second = strip_rows(app)
    assert first[0] == second[0] and first[1] != second[1]
    app.number_input(key="seed_field").set_value(7).run()
    assert app.session_state["link_written"]["seed"] == "7"
    assert strip_rows(app) == first
    assert "seed 7" in said(app)


@needs_models
def test_the_last_seed_is_followed_by_the_first() -> None:
    app = page(model=SST, seed=str(link.SEEDS[-1]))
    app.button(key="seed_again").click().run()
    assert app.session_state["link"].seed == 0
    assert list(faults(app)) == []


@needs_models
def test_the_farthest_shuffle_can_be_shown() -> None:
    near, far = page(model=SST), page(model=SST, permutation_shown="extreme")
    assert strip_rows(near)[0] == strip_rows(far)[0] and strip_rows(near)[1] != strip_rows(far)[1]
    assert big_numbers(near) == big_numbers(far)


@needs_models
@needs_results
def test_the_test_set_is_shown_whatever_the_text_is() -> None:
    app = page(model=SST)
    there = charts(app)
    type_own(app, "   ")
    assert list(faults(app)) == []
    assert "blank" in said(app) and strip_rows(app) == []
    assert charts(app) == there - 1 >= 4


@needs_models
def test_without_results_the_page_says_how_to_make_them(no_tables: Path) -> None:
    app = page(model=SST)
    assert list(faults(app)) == []
    assert charts(app) == 1 and "make results" in said(app)


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
    app = page(lang, model=SST, text=text)
    assert list(faults(app)) == []
    assert len(strip_rows(app)) == 2
    if code:
        assert texts.page("permutation", lang)(f"note.{code}").split("{")[0].split("**")[0] in said(app)
    if code == "one_word":
        assert big_numbers(app)[0] == "0.000"
    assert "<script>" not in "".join(html.proto.body for html in app.get("html"))


@needs_models
def test_five_thousand_words_are_cut_and_said() -> None:
    app = page(model=SST)
    type_own(app, "good film " * 2500)
    assert list(faults(app)) == [] and "5,000 words" in said(app)
    assert app.session_state["link_written"]["text"] == "sample:review-01"


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
def test_unknown_values_in_the_link_are_named(lang: str) -> None:
    app = page(lang, "cinema", model="no/model", seed="-3", permutation_shown="worst")
    assert list(faults(app)) == []
    for value in ("cinema", "no/model", r"\-3", "worst"):
        assert value in said(app)
    assert app.session_state["link"].seed == 0


@needs_stories
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_story_is_shuffled_under_its_question(lang: str) -> None:
    app = page(lang, model=STORIES)
    card = registry.cards()[STORIES]
    assert list(faults(app)) == [] and len(strip_rows(app)) == 2
    labels = app.selectbox(key="target").options
    assert 2 <= len(labels) < len(card.task.labels)
    assert texts.page("permutation", lang)("task.qa") in said(app)


@needs_stories
def test_an_answer_that_the_story_lacks_is_named_and_the_predicted_one_is_shown() -> None:
    story = {"text": "Mary moved to the bathroom . John went to the hallway .", "query": "Where is Mary ?"}
    app = page(model=STORIES, target="kitchen", **story)
    assert list(faults(app)) == []
    assert "**kitchen** cannot be the answer" in said(app)
    assert app.selectbox(key="target").value == "bathroom"
    app = page(model=STORIES, target="hallway", **story)
    assert "cannot be the answer" not in said(app)
    assert "p(hallway)" in "".join(html.proto.body for html in app.get("html")).replace("\u00a0", " ")


@needs_stories
def test_a_story_without_a_question_or_an_answer_is_refused_in_words() -> None:
    app = page(model=STORIES, text="Mary moved to the bathroom .", query=" ")
    assert list(faults(app)) == [] and "second field is blank" in said(app)
    app = page(model=STORIES, text="It rained .", query="Where is Mary ?")
    assert list(faults(app)) == [] and "nothing that could be the answer" in said(app)


@pytest.mark.skipif(
    not all(experiments.path_of("permutation", name).exists() for name in shuffles.NORMALIZERS.values()),
    reason="sparsemax was not run: make results",
)
def test_sparse_attention_is_beside_softmax_and_one_click_away() -> None:
    app = page(model=SST)
    assert list(faults(app)) == []
    app.button(key="sparse-open").click().run()
    assert app.session_state["link"].model == shuffles.NORMALIZERS["sparsemax"]
    assert list(faults(app)) == [] and len(strip_rows(app)) == 2
    app.button(key="sparse-open").click().run()
    assert app.session_state["link"].model == SST
