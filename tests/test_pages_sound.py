"""The chapter on sound as Streamlit runs it: letters that are sounded, those that cannot be, and pictures that stay small."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from core import experiments, sounds
from core.experiments import tables
from core.experiments.listening import NOISES, listening
from core.models import perceivers
from dashboard import export, resources, texts
from dashboard.alignment import sound, sound_picture
from dashboard.alignment.keys import KEYS
from dashboard.link import LANGUAGES
from dashboard.theme import PRINT, SCREEN
from tests.test_pages import faults, opened, said
from tests.test_perceivers import perceiver

SHOWN = {"lang": "en", "mode": "lecture", "alignment_chapter": "sound"}


@pytest.fixture(autouse=True)
def small_model(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A small untrained listener and its table instead of the committed ones."""
    import pandas as pd

    folder = tmp_path_factory.mktemp("made")
    model = perceiver("sound")
    card = perceivers.save(model, model.card, folder)
    monkeypatch.setattr(resources, "perceivers_here", lambda: {sound.MODEL: card})
    monkeypatch.setattr(resources, "_perceiver", lambda name, weights: perceivers.load(name, "sound", folder))
    given = {"weights_sha256": card.weights_sha256, "seed": 1, "n": 2, "pace": 6.0}
    tables.keep(pd.DataFrame(listening(model, ["ABC", "XYZ"])), experiments.path_of(sound.TABLE, sound.MODEL, folder), given)
    monkeypatch.setattr(resources, "results", lambda name, model_name: experiments.results(name, model_name, folder))
    yield folder


@pytest.mark.parametrize("lang", LANGUAGES)
def test_letters_are_sounded_and_shown(lang: str) -> None:
    app = opened("alignment", **SHOWN | {"lang": lang, "alignment_letters": "So na"})
    assert list(faults(app)) == []
    t = texts.page("sound", lang)
    titles = [heading.value for heading in app.subheader]
    assert titles == [t("picture.title"), t("noise.title")]
    assert len(app.get("audio")) == 1 and len(app.get("vega_lite_chart")) == 2
    assert any("SONA" in mark.value for mark in app.markdown)


@pytest.mark.parametrize(
    ("typed", "code"),
    [(" ", "letters_blank"), ("안녕", "letters_other"), ("<b>😀\x00", "letters_other"), ("A" * 40, "letters_many")],
)
def test_what_has_no_sound_is_said_and_the_chapter_lives(typed: str, code: str) -> None:
    app = opened("alignment", **SHOWN | {"alignment_letters": typed})
    assert list(faults(app)) == []
    assert texts.page("sound", "en")(f"problem.{code}").split("{")[0].split("**")[0] in said(app)
    assert len(app.get("audio")) == 0 and len(app.get("vega_lite_chart")) == 1


def test_what_is_typed_goes_into_the_link() -> None:
    app = opened("alignment", **SHOWN)
    app.text_input(key="alignment-sound-letters").set_value("XY").run()
    assert app.session_state["link_written"]["alignment_letters"] == "XY" and list(faults(app)) == []


def heard(letters: str, pace: float) -> sound_picture.Heard:
    return sound.heard(perceiver("sound"), letters, pace, 0.5, 3)


def test_attention_lies_within_the_letter_of_its_place() -> None:
    found = heard("ABCDE", 6.0)
    assert found.attention.shape[0] == len(found.written) == len(found.share) == len(found.prob)
    spans = sounds.frames(sounds.synthesize("ABCDE", pace=6.0, seed=3), sound.STEP)
    for row, part, share in zip(found.attention, spans, found.share, strict=False):
        assert share == pytest.approx(float(row[list(part)].sum()))
    assert all(share is None for share in found.share[5:])


@pytest.mark.parametrize(("letters", "pace"), [("A", 12.0), ("ABCDEFGH", 3.0)])
def test_a_picture_stays_below_two_thousand_marks_and_becomes_a_file(letters: str, pace: float) -> None:
    found = heard(letters, pace)
    words = dict.fromkeys(("seconds", "frequency", "weight", "power"), "w")
    spec = sound_picture.picture(found, words, "a picture", SCREEN).to_dict()
    written = min(len(found.written), sounds.LONGEST)
    assert spec["description"] == "a picture"
    assert sound_picture.COLUMNS * (sound_picture.ROWS + written) + 4 * sounds.LONGEST < 2000
    assert len(export.figure(sound_picture.picture(found, words, "a", PRINT), "png", citation="c", settings={})) > 1000


def test_columns_of_a_picture_are_means_or_what_is_nearest() -> None:
    """Four moments of 10 ms in 56 columns repeat; 112 moments in 56 columns are halved."""
    few = sound_picture.binned(np.array([[1.0, 2, 3, 4]]), 0.04, sounds.HOP)
    assert few.shape == (1, 56) and set(few[0]) == {1.0, 2.0, 3.0, 4.0} and list(few[0]) == sorted(few[0])
    many = sound_picture.binned(np.arange(112.0)[None], 1.12, sounds.HOP)
    assert many[0, 0] == 0.5 and many[0, -1] == 110.5


def test_the_curve_has_each_noise_once_for_each_series(small_model: Path) -> None:
    rows = sound.curve(resources.results(sound.TABLE, sound.MODEL))
    assert list(rows["x"]) == [*NOISES, *NOISES] and set(rows["n"]) == {2}
    assert (rows["low"] <= rows["mean"]).all() and (rows["mean"] <= rows["high"] + 1e-9).all()
    assert max(map(float, KEYS["noise"])) == sounds.NOISES[1]
