"""The page on the mechanism as Streamlit runs it: every chapter and step, guesses, numbers in the link, and bad input."""

import pytest

from core.models import registry
from dashboard import exhibits, export, texts
from dashboard.link import LANGUAGES
from dashboard.mechanism import examples, trained
from dashboard.mechanism.keys import KEYS
from dashboard.theme import PRINT, SLIDE
from tests.test_pages import faults, guess_key, opened, said, strip_rows, type_own

needs_models = pytest.mark.skipif(not set(trained.MODELS) <= set(registry.cards()), reason="no trained models: make models")
SST = "sst2/bilstm-additive"


def page(lang: str = "en", mode: str = "lecture", **keys: str):
    links = {"model", "text"}
    codes = {name if name in links else f"mechanism_{name}": value for name, value in keys.items()}
    return opened("mechanism", lang=lang, mode=mode, **codes)


def formulas(app) -> str:
    return "\n".join(block.value for block in app.latex)


def lock_in(app, option: str) -> None:
    app.segmented_control(key=guess_key(app)).set_value(option).run()
    next(button for button in app.button if button.label == "Lock in and reveal").click().run()


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("chapter", KEYS["chapter"])
def test_every_chapter_opens_before_and_after_the_guess(chapter: str, lang: str) -> None:
    study, lecture = page(lang, "study", chapter=chapter), page(lang, "lecture", chapter=chapter)
    assert list(faults(study)) == [] and list(faults(lecture)) == []
    assert any(str(control.key).startswith("guess_") for control in study.segmented_control)
    assert not any(str(control.key).startswith("guess_") for control in lecture.segmented_control)
    assert not study.warning and not lecture.warning
    assert any(button.key == "mechanism-next" for button in lecture.button) == (chapter != "picture")


@pytest.mark.parametrize("step", KEYS["step"])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_step_shows_its_formula_with_the_numbers(step: str, lang: str) -> None:
    app = page(lang, step=step)
    assert list(faults(app)) == []
    expected = {"scores": r"0\cdot0.1 + 2\cdot1.5 = 3.00", "softmax": r"20.09 \,/\, 29.97 = 0.67", "sum": r"c &= (0.68,\,0.25)"}
    assert expected[step] in formulas(app)


def test_the_guess_comes_before_scores_and_weights() -> None:
    app = page(mode="study")
    assert formulas(app) == ""
    lock_in(app, "2")
    assert "3.00" in formulas(app) and "Your guess: lovely. Measured: lovely." in said(app)
    app.segmented_control(key="mechanism_step").set_value("softmax").run()
    assert "0.67" in formulas(app) and app.session_state["link_written"]["mechanism_step"] == "softmax"


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "keys", [{"step": step} for step in KEYS["step"]] + [{"chapter": name} for name in KEYS["chapter"][1:]]
)
def test_every_figure_becomes_a_file_and_a_slide(keys: dict[str, str], lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[exhibits.Exhibit] = []
    shown = exhibits.show

    def keep(here, right, exhibit, *notes) -> None:
        made.append(exhibit)
        shown(here, right, exhibit, *notes)

    monkeypatch.setattr(exhibits, "show", keep)
    app = page(lang, **keys)
    assert list(faults(app)) == [] and made
    for exhibit in made:
        assert all(len(table) and not table.empty for table in exhibit.tables.values())
        assert export.csv(next(iter(exhibit.tables.values())), citation=exhibit.source, settings={})
        for look in (PRINT, SLIDE) if exhibit.draw else ():
            picture = export.figure(exhibit.draw(look), "svg", citation=exhibit.source, settings={})
            assert picture.lstrip().startswith(b"<") and b"NaN" not in picture


def test_fewer_words_than_the_guess_chose_from() -> None:
    app = page(mode="study")
    app.segmented_control(key=guess_key(app)).set_value("3").run()
    app.query_params["mechanism_numbers"] = "one,1,0,1,0;two,-1,0.5,0,1"
    assert list(faults(app.run())) == []
    lock_in(app, "0")
    assert "Your guess: one. Measured: two." in said(app)
    app.query_params["mechanism_numbers"] = "one,1,0,1,0"
    assert list(faults(app.run())) == [] and formulas(app)


def test_temperature_travels_and_evens_out() -> None:
    app = page(step="softmax", temperature="5")
    assert "T = 5" in formulas(app) and "0.34" in formulas(app)  # e^0.6 / (e^0.4 + e^0.08 + e^0.6 + 1)
    assert list(faults(app)) == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_numbers_of_a_link_are_used_in_two_chapters(lang: str) -> None:
    numbers = {"numbers": "one,1,0,1,0;two,-1,0.5,0,1", "query": "2,-4"}
    app = page(lang, **numbers)
    assert r"s_{\text{two}} &= 2\cdot(-1) + (-4)\cdot0.5 = -4.00" in formulas(app)
    assert [field.value for field in app.number_input][:2] == [2.0, -4.0]
    app = page(lang, chapter="six", score="general", **numbers)
    assert r"Wq = (-4,\,2)" in formulas(app) and r"1\cdot(-4) + 0\cdot2 = -4.00" in formulas(app)
    assert list(faults(app)) == []


def test_a_field_of_the_query_changes_scores_and_link() -> None:
    app = page()
    app.number_input(key="mechanism-query-0").set_value(1.5).run()
    assert app.session_state["link_written"]["mechanism_query"] == "1.5,2"
    assert r"1.5\cdot2 + 2\cdot0 = 3.00" in formulas(app)
    next(button for button in app.button if button.key == "mechanism-reset").click().run()
    assert "mechanism_query" not in app.session_state["link_written"]
    assert r"0\cdot2 + 2\cdot0 = 0.00" in formulas(app)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "keys",
    [
        {"numbers": "slow,x,2,3,4"},
        {"numbers": "slow,1e9,2,3,4"},
        {"numbers": ";;;"},
        {"query": "1e308,2"},
        {"query": "nan,1"},
        {"chapter": "eight"},
        {"step": "4"},
        {"temperature": "0"},
        {"chapter": "windows", "signal": "inf"},
        {"chapter": "windows", "place": "0"},
        {"chapter": "heads", "vectors": "a,1,2"},
        {"chapter": "heads", "asks": "9"},
        {"chapter": "scaling", "dimension": "100000000"},
    ],
    ids=lambda keys: "-".join(keys),
)
def test_what_a_link_cannot_say_is_named_and_the_page_lives(keys: dict[str, str], lang: str) -> None:
    app = page(lang, **keys)
    assert list(faults(app)) == [] and len(app.warning) == 1
    named = list(keys)[-1]
    assert rf"mechanism\_{named}" in said(app)
    assert formulas(app)


@pytest.mark.parametrize("word", [r"\input", "<script>", "$x$", "a_b", "{}", "😀"])
def test_strange_words_are_only_words(word: str) -> None:
    app = page(numbers=f"{word},1,0,1,0;ok,0,1,0,1")
    assert list(faults(app)) == [] and not app.warning
    assert word not in formulas(app) and "s_{1}" in formulas(app)
    assert list(faults(page(chapter="six", numbers=f"{word},1,0,1,0;ok,0,1,0,1"))) == []


def test_one_word_takes_everything() -> None:
    app = page(step="softmax", numbers="only,0,0,1,1")
    assert list(faults(app)) == [] and r"1.00 \,/\, 1.00 = 1.00" in formulas(app)
    for chapter in ("six", "heads"):
        assert list(faults(page(chapter=chapter, numbers="only,0,0,1,1", vectors="only,1,1,1"))) == []


@pytest.mark.parametrize("numbers", ["a,5,5,5,5;b,-5,-5,-5,-5", "a,0,0,0,0;b,0,0,0,0"])
def test_the_ends_of_what_is_allowed(numbers: str) -> None:
    for step in KEYS["step"]:
        app = page(step=step, numbers=numbers, query="5,5", temperature="0.25")
        assert list(faults(app)) == [] and "nan" not in formulas(app) and "inf" not in formulas(app)
    for score in KEYS["score"]:
        assert list(faults(page(chapter="six", score=score, numbers=numbers, query="0,0"))) == []


@pytest.mark.parametrize("score", KEYS["score"])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_score_is_written_out_beside_all_six(score: str, lang: str) -> None:
    app = page(lang, chapter="six", score=score)
    assert list(faults(app)) == [] and len(strip_rows(app)) == 6 + 2
    assert r"s_{\text{" in formulas(app)


def test_only_location_gives_words_other_weights_in_reverse() -> None:
    app = page(mode="study", chapter="six")
    assert len(strip_rows(app)) == 6
    lock_in(app, "all")
    assert "Your guess: under all. Measured: Location." in said(app)
    before = {row.split(":")[0]: row for row in strip_rows(app)[:6]}
    dot, location = strip_rows(app)[6:]
    assert "lovely 0.67" in before["Dot"] and "lovely 0.67" in dot
    first = before["Location"].split(": ")[1].split(",")[0].split()[-1]
    assert first == location.split(": ")[1].split(",")[0].split()[-1]  # the first place, whatever stands there


@pytest.mark.parametrize("dimension", ["2", "512"])
def test_scaling_is_measured_with_its_seed(dimension: str) -> None:
    app = page(chapter="scaling", dimension=dimension)
    assert f"d = {dimension}" in formulas(app)
    assert "500 random queries" in said(app) and "seed 0" in said(app)
    before = formulas(app)
    next(button for button in app.button if button.key == "seed_again").click().run()
    assert "seed 1" in said(app) and formulas(app) != before and list(faults(app)) == []


@pytest.mark.parametrize("reach", KEYS["reach"])
@pytest.mark.parametrize("place", ["1", "15", "19"])
def test_windows_say_what_they_sum_to(reach: str, place: str) -> None:
    app = page(chapter="windows", reach=reach, place=place, signal="-4")
    assert list(faults(app)) == []
    body = next(html.proto.body for html in app.get("html") if 'class="strips' in html.proto.body)
    sums = [float(part.split("<")[0]) for part in body.split("sum ")[1:]]
    assert sums[0] == 1.0 and sums[1] in (0.0, 1.0) and sums[2] < 1.0
    assert sums[1] == float(int(place) - int(reach) <= 15)


def test_a_word_that_asks_nothing_looks_at_all_alike() -> None:
    app = page(mode="study", chapter="heads")
    assert strip_rows(app) == []
    lock_in(app, "itself")
    assert "Your guess: only itself. Measured: all words alike." in said(app)
    assert "the 0.25, dog 0.25, saw 0.25, itself 0.25" in "".join(strip_rows(app))
    assert "must give out the whole" in said(app)
    app.segmented_control(key="mechanism-asks").set_value("4").run()
    app.segmented_control(key="mechanism_head").set_value("2").run()
    assert "It looks most at **dog**" in said(app) and list(faults(app)) == []


def test_a_row_that_is_not_there_is_named() -> None:
    app = page(chapter="heads", asks="6")
    assert list(faults(app)) == [] and "no row **6**" in said(app)


@needs_models
def test_six_models_read_the_learners_sentence() -> None:
    app = page(mode="study", chapter="trained", model=SST, text="A slow start, but the ending is wonderful.")
    assert len(strip_rows(app)) == 1
    lock_in(app, "half")
    assert len(strip_rows(app)) == 6 and "Your guess: 3 or 4. Measured:" in said(app)
    assert all("wonderful" in row for row in strip_rows(app))
    assert list(faults(app)) == []
    type_own(app, "   ")
    assert "blank" in said(app) and list(faults(app)) == []


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    "text", ["Wonderful", "정말 재미있는 영화", "😀😀 <script>alert(1)</script> good\x00film", "good " * 60]
)
def test_strange_texts_are_answered(lang: str, text: str) -> None:
    for chapter in ("trained", "picture"):
        app = page(lang, chapter=chapter, model=SST, text=text.strip())
        assert list(faults(app)) == []
        assert "<script>" not in "".join(html.proto.body for html in app.get("html"))


@needs_models
@pytest.mark.skipif("nsmc/bilstm-additive" not in registry.cards(), reason="no Korean model")
def test_a_reader_of_korean_reviews_keeps_the_model_until_english_is_asked_for() -> None:
    app = page("ko", chapter="trained", model="nsmc/bilstm-additive")
    assert len(strip_rows(app)) == 6 and texts.page("mechanism", "ko")("trained.english") in said(app)
    assert app.session_state["link"].model == "nsmc/bilstm-additive"
    next(button for button in app.button if button.key == "mechanism-english").click().run()
    assert app.session_state["link"].model == SST and app.selectbox(key="picker_sentence").value
    assert list(faults(app)) == []


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_each_word_hands_over_stands_in_a_table(lang: str) -> None:
    app = page(lang, mode="study", chapter="picture", model=SST)
    app.session_state["guesses"] = {"mechanism:skipped": ""}
    app.run()
    columns = [list(table.value.columns) for table in app.dataframe]
    named = [texts.page("mechanism", lang)(f"column.{name}") for name in ("word", "weight", "value", "part")]
    assert named in columns and not app.warning and list(faults(app)) == []


@needs_models
@pytest.mark.parametrize("doubt", examples.DOUBTS)
def test_the_heaviest_word_is_not_the_one_that_decides(doubt: str) -> None:
    app = page(mode="study", chapter="picture", doubt=doubt, model=SST)
    before = len(strip_rows(app))
    lock_in(app, "1")
    decides = {"zero": "boring", "cancel": "short"}[doubt]
    assert f"Measured: {decides}." in said(app) and len(strip_rows(app)) == before + 2
    assert list(faults(app)) == []


@needs_models
def test_without_models_the_first_chapters_still_teach(monkeypatch: pytest.MonkeyPatch) -> None:
    from dashboard import resources

    monkeypatch.setattr(registry, "cards", lambda: {})
    resources.committed.clear()  # type: ignore[attr-defined]
    try:
        app = page()
        assert list(faults(app)) == [] and "3.00" in formulas(app)
        for chapter in ("trained", "picture"):
            app = page(chapter=chapter)
            assert list(faults(app)) == [] and "make models" in said(app)
    finally:
        monkeypatch.undo()
        resources.committed.clear()  # type: ignore[attr-defined]
