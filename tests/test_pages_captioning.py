"""The page on captions as Streamlit runs it: scenes that are composed, words that are chosen, what cannot be drawn or shown."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from core import experiments, scenes
from core.experiments import tables
from core.experiments.looking import looking
from core.models import perceivers
from core.scenes import Thing
from core.types import Refusal
from dashboard import export, resources, texts
from dashboard.captioning import keys, picture, told
from dashboard.link import LANGUAGES
from dashboard.theme import PRINT, SCREEN
from tests.test_pages import faults, opened, said
from tests.test_perceivers import perceiver

SOFT = keys.MODELS["soft"]
SCENES = scenes.scenes("test", 2)


@pytest.fixture(autouse=True)
def small_models(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small untrained model and its table instead of the committed ones."""
    folder = tmp_path_factory.mktemp("made")
    model = perceiver("scene")
    card = perceivers.save(model, model.card, folder)
    monkeypatch.setattr(resources, "perceivers_here", lambda: {SOFT: card})
    empty = folder / "empty"
    monkeypatch.setattr(
        resources, "_perceiver", lambda name, weights: perceivers.load(name, "scene", folder if name == SOFT else empty)
    )
    rows = [{"split": split, **row} for split in ("test", "new-kinds") for row in looking(model, SCENES)]
    path = experiments.path_of("looking", SOFT, folder)
    path.parent.mkdir(parents=True)
    tables.keep(pd.DataFrame(rows), path, {"weights_sha256": card.weights_sha256, "seed": 1, "n": 2})
    monkeypatch.setattr(resources, "results", lambda name, model_name: experiments.results(name, model_name, folder))
    return folder


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_lecture_shows_every_figure(lang: str) -> None:
    app = opened("captioning", lang=lang, mode="lecture", captioning_scene="red-circle-1-4.blue-square-5-4")
    t = texts.page("captioning", lang)
    assert list(faults(app)) == []
    shown = [heading.value for heading in app.subheader]
    assert shown[:3] == [t("scene.title"), t("looks.title"), t("words.title")]
    assert {t("shares.title"), t("changes.title"), t("exact.title")} <= set(shown)
    assert len(app.get("vega_lite_chart")) >= 4


def test_objects_that_overlap_are_named_and_the_rest_of_the_page_lives() -> None:
    app = opened("captioning", lang="en", mode="lecture", captioning_scene="red-circle-2-4.blue-square-3-5")
    assert list(faults(app)) == []
    assert "overlap" in said(app) and "blue square" in said(app)
    assert texts.page("captioning", "en")("shares.title") in [heading.value for heading in app.subheader]
    app.number_input(key="captioning-column-1").set_value(5).run()
    assert "overlap" not in said(app)
    assert app.session_state["link"].keys["captioning_scene"] == "red-circle-2-4.blue-square-5-5"


def test_a_scene_is_composed_object_by_object() -> None:
    app = opened("captioning", lang="en", captioning_scene="red-circle-2-4")
    app.selectbox(key="captioning-color-0").set_value("green").run()
    app.selectbox(key="captioning-shape-0").set_value("star").run()
    app.button(key="captioning-add").click().run()
    assert app.session_state["link"].keys["captioning_scene"] == "green-star-2-4.yellow-cross-1-1"
    app.button(key="captioning-remove-0").click().run()
    assert app.session_state["link"].keys["captioning_scene"] == "yellow-cross-1-1"
    app.button(key="captioning-new").click().run()
    drawn = scenes.checked(keys.read(app.session_state["link"].keys["captioning_scene"]))
    assert scenes.split(drawn) == "new-kinds" and "at any place" in said(app)
    assert list(faults(app)) == []


@pytest.mark.parametrize(
    "code",
    ["", "x", "red-circle-0-4", "red-circle-1-8", "pink-circle-1-1", "빨간-원-1-1", "😀", "red-star-1-1." * 9],
)
def test_other_codes_are_no_scenes(code: str) -> None:
    assert code not in keys.SCENE


def test_unknown_values_in_the_link_are_named() -> None:
    app = opened(
        "captioning", lang="ko", mode="lecture", captioning_scene="<b>별</b>", captioning_word="0", captioning_model="hard"
    )
    assert list(faults(app)) == []
    assert all(value in said(app) for value in ("별", "captioning\\_word = 0", "hard"))
    assert app.session_state["link"].keys["captioning_scene"] == keys.FIRST


def test_a_word_beyond_the_caption_is_said(small_models: Path) -> None:
    app = opened("captioning", lang="en", mode="lecture", captioning_word="16", captioning_scene="red-circle-2-4")
    assert list(faults(app)) == []
    words = told.told(perceivers.load(SOFT, "scene", small_models), keys.read("red-circle-2-4")).words
    assert len(words) == 16 or f"this caption has {len(words)} words" in said(app)


def test_a_model_that_is_not_there_is_said() -> None:
    app = opened("captioning", lang="en", mode="lecture", captioning_model="doubly")
    assert list(faults(app)) == [] and "still to be trained" in said(app)


def test_the_guess_comes_before_the_picture() -> None:
    app = opened("captioning", lang="en", captioning_scene="red-circle-1-4.blue-square-5-4")
    titles = [heading.value for heading in app.subheader]
    assert texts.page("captioning", "en")("words.title") not in titles
    assert list(faults(app)) == []


def test_a_scene_survives_the_link() -> None:
    things = (Thing("star", "green", 7, 1), Thing("circle", "red", 2, 4))
    assert keys.read(keys.written(things)) == things
    assert keys.FIRST in keys.SCENE and keys.written(things) in keys.SCENE and "green-star-7-1." not in keys.SCENE


def test_the_veil_is_thinnest_where_most_attention_lies() -> None:
    weights = np.zeros(64)
    weights[[9, 10]] = 0.75, 0.25
    frame = picture.cells(weights).set_index(["column", "row"])
    assert frame.loc[(2, 2), "veil"] == 0 and frame.loc[(1, 1), "veil"] == picture.DEEP
    assert frame.loc[(3, 2), "veil"] == pytest.approx(picture.DEEP * 2 / 3)
    assert picture.seen(weights) == (0.0, 0.0, 3.25, 3.25)


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_pictures_become_files(kind: export.Format) -> None:
    things, weights = keys.read(keys.FIRST), np.full(64, 1 / 64)
    charts = [picture.picture(things, weights, things[0], alt_text="a", title=str(i), field=True, look=PRINT) for i in range(3)]
    file = export.figure(picture.together(charts, "three"), kind, citation="c", settings={"s": 1})
    assert len(file) > 1000
    assert picture.picture(things, alt_text="plain", look=SCREEN).to_dict()["description"] == "plain"


def test_a_table_of_other_weights_is_not_shown(small_models: Path) -> None:
    frame = experiments.results("looking", SOFT, small_models)
    tables.keep(frame, experiments.path_of("looking", SOFT, small_models), {"weights_sha256": "other", "seed": 1, "n": 2})
    with pytest.raises(Refusal, match="other weights"):
        told.measured("soft")
    assert told.measured_models() == []
