"""The page of the adversary as Streamlit runs it: story, spotlight, reveal; what a browser may send back; every model."""

import json
import math
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from core import experiments
from core.debate.adversary import Spotlight
from dashboard import adversaries, epsilon_max, evidence, resources, spotlight, texts
from dashboard.link import LANGUAGES
from tests.test_pages import MODELS, ROOT, SST, faults, needs_models, opened, said, strip_rows, type_own
from tests.test_texts import asked

STORIES = "babi1/bilstm-additive"
needs_stories = pytest.mark.skipif(STORIES not in MODELS, reason="no trained model: make models")
needs_results = pytest.mark.skipif(not experiments.path_of("adversary", SST).exists(), reason="no results: make results")
LABELS = {
    "en": {"skip": "Skip the stories", "reveal": "Reveal the adversary", "apply": "Apply"},
    "ko": {"skip": "이야기 건너뛰기", "reveal": "적대적 어텐션 보기", "apply": "적용"},
}
LIGHT = Spotlight(("negative", "positive"), ((0.0, 1.0), (2.0, 0.0), (0.0, 0.5)), (0.1, 0.0), (0.5, 0.3, 0.2))


def page(lang: str = "en", mode: str = "lecture", **codes: str) -> AppTest:
    return opened("adversary", lang=lang, mode=mode, **codes)


def press(app: AppTest, label: str) -> AppTest:
    return next(button for button in app.button if button.label == label).click().run()


def revealed(lang: str = "en", **codes: str) -> AppTest:
    """The page after the one click that a lecturer makes."""
    return press(page(lang, **codes), LABELS[lang]["reveal"])


def bodies(app: AppTest) -> str:
    return "".join(html.proto.body for html in app.get("html"))


def components(app: AppTest) -> list[dict[str, Any]]:
    """What the spotlight is given, wherever it is drawn."""
    return [data for part in app.get("bidi_component") if "effect" in (data := json.loads(part.proto.json or "{}"))]


def text_of(app: AppTest) -> str:
    return "\n".join(block.value for block in app.markdown)


# Story, spotlight, reveal


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_story_comes_first_then_the_spotlight_then_the_map(lang: str) -> None:
    app = page(lang, "study", model=SST)
    assert len(strip_rows(app)) == 1 and components(app) == [] and 'class="big' not in bodies(app)
    field = next(area for area in app.text_area if str(area.key).startswith("story_learned_"))
    field.set_value("The <b>dullness</b> of it.")
    next(b for b in app.button if b.label == LABELS[lang]["apply"] and "story" in str(b.form_id)).click().run()
    assert len(strip_rows(app)) == 1 and len(components(app)) == 1 and components(app)[0]["optimum"] is None
    press(app, LABELS[lang]["reveal"])
    assert len(strip_rows(app)) > 5 and components(app)[0]["optimum"] is not None
    assert r"> The \<b\>dullness\</b\> of it\." in text_of(app)
    other = next(area for area in app.text_area if str(area.key).startswith("story_adversarial_"))
    other.set_value("The word in.")
    next(b for b in app.button if b.label == LABELS[lang]["apply"] and "story_adversarial" in str(b.form_id)).click().run()
    assert r"> The word in\." in text_of(app)
    assert list(faults(app)) == []


@needs_models
def test_a_blank_story_is_asked_for_again_and_all_stories_can_be_skipped() -> None:
    app = page("en", "study", model=SST)
    next(b for b in app.button if b.label == "Apply" and "story" in str(b.form_id)).click().run()
    assert "story is **blank**" in said(app) and len(strip_rows(app)) == 1
    press(app, "Skip the stories")
    assert len(strip_rows(app)) > 5 and "No story was told" in text_of(app)
    app.selectbox(key="picker_sentence").set_value("review-02").run()
    assert len(strip_rows(app)) > 5
    press(app, "Start over")
    assert len(strip_rows(app)) == 1
    assert list(faults(app)) == []


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_lecture_has_no_story_and_one_button(lang: str) -> None:
    app = page(lang, model=SST)
    assert not [area for area in app.text_area if "story" in str(area.key)]
    assert len(components(app)) == 1 and len(strip_rows(app)) == 1
    press(app, LABELS[lang]["reveal"])
    assert len(strip_rows(app)) > 5
    assert list(faults(app)) == []


@pytest.mark.parametrize("model", MODELS)
def test_every_model_has_an_adversary(model: str) -> None:
    app = revealed(model=model)
    assert list(faults(app)) == []
    assert app.session_state["link"].model == model
    learned, adversarial = strip_rows(app)[:2]
    assert learned != adversarial
    (data,) = components(app)
    assert sum(data["optimum"]) == pytest.approx(1) and 0 < data["optimum_jsd"] <= math.log(2)
    assert len(data["words"]) == len(data["effect"]) == len(data["original"]) == len(data["optimum"])
    assert all(len(row) == len(data["bias"]) == len(data["labels"]) for row in data["effect"])


# Controls and the link


@needs_models
def test_epsilon_and_method_come_from_the_link_and_more_room_goes_farther() -> None:
    tight, loose = (components(revealed(model=SST, adversary_epsilon=code))[0] for code in ("0.01", "0.1"))
    assert (tight["epsilon"], loose["epsilon"]) == (0.01, 0.1)
    assert loose["optimum_jsd"] >= tight["optimum_jsd"]
    app = revealed(model=SST, adversary_method="search", seed="3")
    searched = components(app)[0]
    assert searched["optimum_jsd"] <= tight["optimum_jsd"] + 1e-9
    assert "the search missed" in text_of(app) and "(seed 3)" in text_of(app)
    assert list(faults(app)) == []


@needs_models
def test_unknown_codes_are_named() -> None:
    app = page(model=SST, adversary_epsilon="0.3", adversary_method="guess", adversary_ceiling="sky")
    assert all(value in said(app) for value in ("0\\.3", "guess", "sky"))
    assert list(faults(app)) == []


@needs_stories
def test_several_labels_have_a_larger_epsilon_and_a_bracket() -> None:
    app = revealed(model=STORIES)
    assert components(app)[0]["epsilon"] == 0.05
    text = text_of(app)
    assert "Not proven: more than two labels" in text or "This is the optimum" in text
    assert list(faults(app)) == []


@needs_models
@pytest.mark.parametrize("ceiling", ["own", "half", "quarter", "none"])
@pytest.mark.parametrize("floor", ["none", "own"])
def test_less_freedom_leaves_less_distance(ceiling: str, floor: str) -> None:
    app = revealed(model=SST, text="A tender and quiet film", adversary_ceiling=ceiling, adversary_floor=floor)
    assert list(faults(app)) == []
    line = next(caption.value for caption in app.caption if caption.value.startswith("Weights up to"))
    assert any(word in line for word in ("**optimum**", "**bound**", "no attention"))
    if "JSD" in line:
        assert float(line.split("JSD ")[1][:5]) <= components(app)[0]["optimum_jsd"] + 5e-4


@needs_models
def test_a_ceiling_that_no_three_words_can_meet_is_said() -> None:
    app = revealed(model=SST, text="quiet good film", adversary_ceiling="quarter")
    assert "cannot be met" in said(app)
    assert list(faults(app)) == []


# Bad input


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
def test_one_word_has_nothing_to_exchange(lang: str) -> None:
    app = page(lang, model=SST, text="Wonderful")
    assert components(app) == [] and len(strip_rows(app)) == 1
    assert texts.page("adversary", lang)("note.one_word")[:20] in said(app)
    assert list(faults(app)) == []


@needs_models
@pytest.mark.parametrize(
    "text", ["zxqv blorp wibble", "정말 재미있는 영화", "😀😀 good", "<script>alert(1)</script> good", "good\x00film \x07now"]
)
def test_strange_text_is_answered(text: str) -> None:
    app = revealed(model=SST, text=text)
    assert list(faults(app)) == []
    assert "<script>" not in bodies(app)


@needs_models
def test_a_text_that_cannot_be_read_leaves_the_test_set() -> None:
    app = page(model=SST)
    charts = len(app.get("vega_lite_chart"))
    type_own(app, "   ")
    assert "blank" in said(app) and len(app.get("vega_lite_chart")) == charts
    assert list(faults(app)) == []


# What a browser may send back


def answer(app: AppTest, **changes: Any) -> dict[str, Any]:
    """An honest answer to the component with changes."""
    data = components(app)[0]
    n = len(data["words"])
    even = [1 / n] * n
    return {"id": data["id"], "weights": even, "best": even, **changes}


@needs_models
def test_what_was_dragged_is_shown_again_and_judged_at_the_reveal() -> None:
    app = page(model=SST, adversary_epsilon="0.1")
    target = components(app)[0]["original"]
    mixed = [0.9 * weight for weight in target]
    mixed[0] += 0.1
    app.session_state["spotlight"] = {"spot": answer(app, weights=mixed, best=mixed)}
    app.run()
    assert components(app)[0]["start"] == pytest.approx(mixed) and components(app)[0]["best"] == pytest.approx(mixed)
    press(app, "Reveal the adversary")
    assert "Your best within ε" in text_of(app) and "You reached" in text_of(app)
    assert list(faults(app)) == []


@needs_models
def test_who_beats_the_search_is_told_so() -> None:
    text = "A tender and luminous little film about two lighthouse keepers"
    best = components(revealed(model=SST, text=text))[0]["optimum"]
    app = page(model=SST, text=text, adversary_method="search")
    app.session_state["spotlight"] = {"spot": answer(app, weights=best, best=best)}
    app.run()
    press(app, "Reveal the adversary")
    assert "farther than what was found here" in text_of(app)
    assert list(faults(app)) == []


HOSTILE = [
    {"id": "another text"},
    {"weights": None},
    {"weights": "0.5"},
    {"weights": [1.0]},
    {"weights": [float("nan")] * 5},
    {"weights": [float("inf"), 0, 0, 0, 0]},
    {"weights": [2.0, -1.0, 0, 0, 0]},
    {"weights": [0.5, 0.5, 0.5, 0, 0]},
    {"weights": [True, False, False, False, False]},
    {"weights": ["<b>", 0, 0, 0, 1]},
    {"weights": {"0": 1}},
]


@needs_models
@pytest.mark.parametrize("changes", HOSTILE, ids=[str(index) for index in range(len(HOSTILE))])
def test_a_hostile_answer_is_not_believed(changes: dict[str, Any]) -> None:
    app = page(model=SST, text="A tender and quiet film")
    app.session_state["spotlight"] = {"spot": answer(app, best=changes.get("weights"), **changes)}
    app.run()
    assert components(app)[0]["start"] is None and components(app)[0]["best"] is None
    assert list(faults(app)) == []
    press(app, "Reveal the adversary")
    assert "You reached" not in text_of(app)
    assert list(faults(app)) == []


@pytest.mark.parametrize("value", ["spot", 3, None, [], {"spot": 4}, {"spot": {"id": 4}}])
def test_an_answer_of_another_shape_is_no_answer(value: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    state: dict[str, Any] = {spotlight.KEY: value}
    monkeypatch.setattr(spotlight.st, "session_state", state)
    assert spotlight.turned(LIGHT, ["a", "b", "c"]) == spotlight.Turned()


def test_the_spotlight_predicts_by_hand() -> None:
    """All weight on the second word: logits 2.1 and 0."""
    found = spotlight.under(LIGHT, (0.0, 1.0, 0.0))
    assert found.prediction[0] == pytest.approx(1 / (1 + math.exp(-2.1)))
    own = 1 / (1 + math.exp(-(0.1 + 0.6 - 0.5 - 0.1)))
    assert found.tvd == pytest.approx(found.prediction[0] - own)
    middle = (math.log(1 / 0.65) + 0.3 * math.log(0.3 / 0.65) + 0.7 * math.log(2)) / 2
    assert found.jsd == pytest.approx(middle)


def test_a_weight_that_misses_one_by_rounding_is_believed() -> None:
    found = spotlight.believed([0.3333333, 0.3333333, 0.3333334], 3)
    assert found is not None and sum(found) == pytest.approx(1, abs=1e-12)
    assert spotlight.believed([0.3, 0.3, 0.3], 3) is None


@pytest.mark.parametrize("module", ["adversaries", "epsilon_max", "stories", "spotlight/__init__"])
def test_the_page_has_the_words_that_its_modules_ask_for(module: str) -> None:
    words = texts.page("adversary", "en")
    assert sorted(key for key in asked(ROOT / "dashboard" / f"{module}.py") if not words.has(key)) == []


# Whole test sets


@needs_results
def test_the_search_stands_beside_the_published_figures() -> None:
    table = epsilon_max.by_group(SST).set_index("group")
    assert table.loc["negative", "paper_mean"] == pytest.approx(0.513)
    assert table.loc["positive", "paper_60"] == pytest.approx(0.17, abs=0.01)
    assert (table["exact_mean"] >= table["mean"]).all()
    frame = resources.results("adversary", SST)
    assert table.loc["", "n"] == len(frame) and table.loc["", "mean"] == pytest.approx(frame["jsd_search_05"].mean())


@needs_results
def test_encoders_have_three_series_and_the_papers_tick_on_the_search() -> None:
    table = epsilon_max.models(SST)
    assert set(table["series"]) == set(epsilon_max.SERIES)
    assert table.loc[table["series"] != "search", "published"].isna().all()
    ours = table[(table["group"] == "bilstm") & (table["series"] == "search")].iloc[0]
    negative = float((resources.results("adversary", SST)["predicted"] == 0).mean())
    assert ours["published"] == pytest.approx(negative * 0.513 + (1 - negative) * 0.482, abs=1e-6)
    assert ours["low"] <= ours["mean"] <= ours["high"]


@needs_results
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_published_mean_over_classes_says_how_it_was_made(lang: str) -> None:
    assert texts.page("adversary", lang)("published.weighted") in said(page(lang, "study", model=SST))


def test_the_exception_is_told_with_published_figures() -> None:
    table = epsilon_max.exception(texts.page("adversary", "en"))
    assert table["data"].tolist()[:2] == ["Diabetes, published"] * 2
    assert table["mean"].tolist()[:2] == pytest.approx([0.676, 0.471])
    assert epsilon_max.printed_exception(table, texts.page("adversary", "en")).iloc[1, 1] == "0.47  (70 %, 25 %)"


@pytest.mark.parametrize(("dataset", "model"), [("", "bilstm-additive"), ("SST", "bilstm-additive:sparsemax"), ("NSMC", "x")])
def test_what_the_paper_did_not_report_is_none(dataset: str, model: str) -> None:
    assert epsilon_max.published(dataset, model, "predicted 0") is None


def test_the_groups_of_the_paper_are_found() -> None:
    assert epsilon_max.published(evidence.PAPERS_NAMES["babi1"], "average-additive", "all") == pytest.approx(
        (0.191, 0.14, 0.01), abs=0.01
    )


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
def test_stories_of_one_answer_are_told_from_stories_of_two(lang: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Labels that change within ε are rare: the second time, the adversary is said to answer otherwise."""
    codes = {"model": SST, "text": "thin but warm", "adversary_epsilon": "0.1"}
    for key, changed in (("story.moral", False), ("story.other_label", True)):
        if changed:
            monkeypatch.setattr(adversaries, "most_likely", lambda prediction, labels: (labels[0], 0.51))
        app = press(page(lang, "study", **codes), LABELS[lang]["skip"])
        sentence = texts.page("adversary", lang)(key, tvd="0.060", epsilon="0.1")
        assert list(faults(app)) == [] and sentence in text_of(app)
