"""The page of rationales as Streamlit runs it: marks before results, marks in the link, every kind of model, and bad input."""

from pathlib import Path

import pytest

from core import data, experiments
from core.text import words
from dashboard import codes, plausible, texts
from dashboard.link import LANGUAGES
from tests.test_pages import MODELS, SST, faults, needs_models, opened, said, strip_rows, type_own

STORIES = "babi1/bilstm-additive"
CASE = "This is no masterpiece; it is barely a film."
needs_results = pytest.mark.skipif(
    not all(experiments.path_of("rationales", plausible.movies(encoder)).exists() for encoder in plausible.ENCODERS),
    reason="no results: make results",
)


def page(lang: str = "en", mode: str = "study", **given: str):
    return opened("rationales", lang=lang, mode=mode, **given)


def revealed(text: str, places: tuple[int, ...], lang: str = "en", query: str = "", model: str = SST, **given: str):
    """The page of a text with marks in the link."""
    codes_of = {"model": model, "text": text, "rationales_marked": codes.written(words(text), places)}
    return page(lang, **codes_of | ({"query": query} if query else {}) | given)


def markdown(app) -> str:
    return "\n".join(box.value for box in app.markdown)


def charts(app) -> int:
    return len(app.get("vega_lite_chart"))


def press(app, label: str):
    return next(button for button in app.button if button.label == label).click().run()


KINDS = (
    "sst2/cnn-additive",
    "imdb/average-additive",
    "movie_rationales/bilstm-additive",
    "movie_rationales/average-additive",
    "snli/bilstm-additive",
    "nsmc/bilstm-additive",
    "babi2/bilstm-additive",
)


@pytest.mark.parametrize("model", [name for name in KINDS if name in MODELS])
def test_models_of_every_kind_are_judged(model: str) -> None:
    sample = data.sample_texts(model.split("/")[0])[0]
    code = codes.written(words(sample.text), (0, 2))
    app = page(model=model, text=f"sample:{sample.id}", rationales_marked=code)
    assert list(faults(app)) == []
    assert len(strip_rows(app)) == 6 and "2 of" in markdown(app)
    assert app.session_state["link_written"]["rationales_marked"] == code


@needs_models
@pytest.mark.parametrize("mode", ["study", "lecture"])
def test_words_are_marked_before_anything_is_shown(mode: str) -> None:
    app = page(mode=mode, model=SST, text=CASE)
    before = charts(app)
    assert strip_rows(app) == [] and "AUPRC 0" not in markdown(app)
    field = f"marks_{codes.stamp(words(CASE))}"
    app.session_state[field] = [2, 7]
    press(app, "Lock in and reveal")
    assert list(faults(app)) == []
    assert len(strip_rows(app)) == 6 and charts(app) == before + 1
    assert "You marked 2 of 11 words" in markdown(app)
    assert app.session_state["link_written"]["rationales_marked"] == codes.written(words(CASE), (2, 7))
    press(app, "Mark again")
    assert strip_rows(app) == [] and app.session_state["link"].keys["rationales_marked"] == ""


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
def test_nothing_marked_is_said_and_nothing_shown(lang: str) -> None:
    app = page(lang, model=SST, text=CASE)
    press(app, texts.page("rationales", lang)("predict.lock"))
    assert list(faults(app)) == [] and strip_rows(app) == []
    assert texts.page("rationales", lang)("problem.nothing_marked") in said(app)


@needs_models
def test_who_passes_sees_what_the_model_needs_and_no_agreement() -> None:
    app = page(model=SST, text=CASE)
    press(app, "Show without marks")
    assert list(faults(app)) == [] and len(strip_rows(app)) == 5
    assert "Without marks there is no agreement" in said(app) and "The prediction needs the words of" in markdown(app)
    assert app.session_state["link_written"]["rationales_marked"] == codes.stamp(words(CASE))


@needs_models
def test_marks_of_another_text_are_no_marks() -> None:
    app = revealed(CASE, (2, 3, 7))
    assert len(strip_rows(app)) == 6
    app.selectbox(key="picker_sentence").set_value("review-02").run()
    assert list(faults(app)) == [] and strip_rows(app) == []


@needs_models
def test_marks_stay_with_the_text_under_another_model() -> None:
    other = "sst2/average-additive"
    if other not in MODELS:
        pytest.skip("no trained model: make models")
    app = revealed(CASE, (2, 3, 7), model=other)
    assert list(faults(app)) == [] and len(strip_rows(app)) == 6 and "You marked 3 of 11 words" in markdown(app)


@needs_models
def test_the_case_comes_apart() -> None:
    """The committed model: two measures find nearly all marks, and the prediction does not need the words they put first."""
    app = page(model=SST, text="sample:review-01", rationales_marked=codes.stamp(words(data.sample_texts("sst2")[0].text)))
    app.button(key="case-open").click().run()
    assert list(faults(app)) == [] and app.session_state["link"].sample == "review-24"
    assert len(strip_rows(app)) == 6 and "Plausible is not faithful" in markdown(app) and "masterpiece" in markdown(app)
    assert not [button for button in app.button if button.key == "case-open"]
    table = app.table[0].value.set_index("Measure").astype(str)
    assert float(table.loc["Gradient", "AUPRC ↑"]) > 0.9 > float(table.loc["Leave one out", "AUPRC ↑"])
    needed = [float(table.loc[name, "compr. ↑"].replace("−", "-")) for name in ("Gradient", "Leave one out")]
    assert needed[1] - needed[0] > 0.3


@needs_models
def test_the_formula_of_the_paper_gives_five_sixths() -> None:
    plain, printed = (revealed(CASE, (2, 3, 7), rationales_average=average) for average in ("plain", "printed"))
    first, second = (
        float(app.table[0].value.set_index("Measure").loc["Leave one out", "compr. ↑"]) for app in (plain, printed)
    )
    assert second == pytest.approx(first * 5 / 6, abs=0.011) and second < first
    assert "÷ 5." in said(plain) and "÷ 6." in said(printed)


@needs_models
def test_the_seed_draws_other_random_scores_and_nothing_else() -> None:
    first, second = strip_rows(revealed(CASE, (2,), seed="1")), strip_rows(revealed(CASE, (2,), seed="2"))
    assert first[:5] == second[:5] and first[5] != second[5]


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("text", "places", "code"),
    [
        ("Wonderful", (0,), "one_word"),
        ("فيلم رائع جدا", (1,), "all_unknown"),
        ("😀😀 <script>alert(1)</script> good **x** :material/lock: $a$", (0, 3), "unknown_words"),
        ("good " * 50, (0, 49), None),
        ("bad film", (0, 1), None),
    ],
)
def test_strange_text_is_answered(lang: str, text: str, places: tuple[int, ...], code: str | None) -> None:
    app = revealed(text.strip(), places, lang)
    assert list(faults(app)) == [] and len(strip_rows(app)) == 6
    t = texts.page("rationales", lang)
    if code:
        assert t(f"note.{code}").split("{")[0].split("**")[0] in said(app)
    if len(places) == len(words(text)):
        assert t("marking.own_all") in markdown(app)
    assert "<script>" not in "".join(html.proto.body for html in app.get("html"))
    assert "nan" not in markdown(app).lower() + said(app).lower()


@needs_models
def test_words_reach_their_buttons_without_markup() -> None:
    app = page(model=SST, text="**bold** :material/lock: <b>x</b> [a](http://x) 😀")
    assert list(faults(app)) == []
    (group,) = [group for group in app.get("button_group") if "marks_" in group.proto.id]
    shown = [option.content or option.content_icon for option in group.proto.options]
    assert shown[:5] == ["\\*", "\\*", "bold", "\\*", "\\*"] and shown[-1] == "😀"
    assert {"\\<", "\\[", "\\(", "\\:", "material", "lock"} <= set(shown) and not {"*", "<", "[", ":"} & set(shown)


@needs_models
def test_five_thousand_words_are_cut_and_said() -> None:
    app = page(model=SST)
    type_own(app, "good film " * 2500)
    assert list(faults(app)) == [] and any(n in said(app) for n in ("5000 words", "5,000 words"))


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
def test_unknown_values_in_the_link_are_named(lang: str) -> None:
    app = page(lang, "cinema", model="no/model", seed="-3", rationales_marked="everything", rationales_average="mode")
    assert list(faults(app)) == []
    for value in ("cinema", "no/model", r"\-3", "everything", "mode"):
        assert value in said(app)


@pytest.mark.skipif(STORIES not in MODELS, reason="no trained model: make models")
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_story_is_marked_under_its_question(lang: str) -> None:
    story = "Mary moved to the bathroom . John went to the hallway ."
    app = revealed(story, (0, 1, 2, 3, 4), lang, query="Where is Mary ?", model=STORIES)
    assert list(faults(app)) == [] and len(strip_rows(app)) == 6
    assert texts.page("rationales", lang)("task.qa") in said(app)
    app = page(lang, model=STORIES, text="It rained .", query="Where is Mary ?")
    assert list(faults(app)) == [] and strip_rows(app) == []


@needs_models
@needs_results
@pytest.mark.parametrize("encoder", plausible.ENCODERS)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_test_set_is_shown_whatever_the_text_is(lang: str, encoder: str) -> None:
    app = page(lang, model=SST, rationales_encoder=encoder)
    assert list(faults(app)) == [] and charts(app) == 3
    assert plausible.movies(encoder) in said(app) and "n = 199" in said(app)
    type_own(app, "   ")
    assert list(faults(app)) == [] and charts(app) == 3


@needs_models
def test_without_results_the_page_says_how_to_make_them(no_tables: Path) -> None:
    app = page(model=SST)
    assert list(faults(app)) == [] and charts(app) == 0 and "make results" in said(app)
