"""The defence's pages as Streamlit runs them: uniform attention, other seeds, guides; the guess, the link, and bad input."""

from pathlib import Path

import pandas as pd
import pytest

from core import experiments
from core.models import registry
from core.types import Refusal
from dashboard import resources, scored, shell, texts
from dashboard.link import LANGUAGES
from tests.made_tables import forget
from tests.test_pages import faults, guess_key, opened, said, strip_rows, type_own

SST, GUIDED = "sst2/bilstm-additive", "sst2/average-additive"
MODEL = {"necessity": SST, "variance": SST, "guide": GUIDED}
STRIPS = {"necessity": 2, "variance": 9, "guide": 2}  # once they are revealed
PATHS = tuple(MODEL)
needed = {f"{SST}:uniform", f"{GUIDED}:uniform", *(f"{GUIDED}:guide={name}" for name in ("base", "adversary"))}
needed |= {f"{SST}:seed={seed}" for seed in range(1, 8)}
pytestmark = pytest.mark.skipif(not needed <= set(registry.cards()), reason="no trained variants: make models")


def page(path: str, lang: str = "en", mode: str = "lecture", **codes: str):
    return opened(path, lang=lang, mode=mode, **{"model": MODEL[path]} | codes)


def big_numbers(app) -> list[str]:
    bodies = [html.proto.body for html in app.get("html") if 'class="big' in html.proto.body]
    return [body.split("<b>")[1].split("</b>")[0] for body in bodies]


def markup(app) -> str:
    return "".join(html.proto.body for html in app.get("html"))


@pytest.mark.parametrize("path", PATHS)
def test_the_guess_comes_before_the_result(path: str) -> None:
    app = page(path, mode="study")
    before = len(app.get("vega_lite_chart"))
    assert len(strip_rows(app)) == 1 and big_numbers(app) == []
    app.segmented_control(key=guess_key(app)).set_value("hardly").run()
    next(button for button in app.button if button.label == "Lock in and reveal").click().run()
    assert list(faults(app)) == []
    assert len(strip_rows(app)) == STRIPS[path] and len(big_numbers(app)) == 2
    assert "Your guess: below 0.05. Measured: 0." in said(app)
    assert len(app.get("vega_lite_chart")) == before + (path == "guide")


def test_only_models_with_their_variants_are_offered() -> None:
    offered = {path: set(shell.usable(path)) for path in PATHS}
    assert {SST, GUIDED} <= offered["necessity"] and offered["variance"] == {SST} and offered["guide"] == {GUIDED}
    assert not any(
        ":uniform" in name or ":seed" in name or ":adversary" in name for names in offered.values() for name in names
    )
    assert set(page("necessity").selectbox(key="picker_model").options) == offered["necessity"]


@pytest.mark.parametrize("path", ["agreement", "erasure"])
def test_variants_do_not_crowd_the_other_pages(path: str) -> None:
    app = opened(path, lang="en", mode="lecture", model=SST)
    assert [name for name in app.selectbox(key="picker_model").options if ":" in name] == []
    app = opened(path, lang="en", mode="lecture", model=f"{SST}:uniform")
    assert list(faults(app)) == [] and app.session_state["link"].model == f"{SST}:uniform"


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("path", PATHS)
def test_a_link_to_a_model_without_variants_is_answered_in_words(path: str, lang: str) -> None:
    app = page(path, lang, model="sst2/cnn-additive")
    assert list(faults(app)) == []
    assert "sst2/cnn" in said(app).replace("\\", "") and app.session_state["link"].model != "sst2/cnn-additive"
    assert "{" not in said(app)


def test_another_guide_changes_weights_and_answer() -> None:
    by_base, by_adversary = page("guide"), page("guide", guide_guide="adversary")
    assert strip_rows(by_base)[0] == strip_rows(by_adversary)[0] and strip_rows(by_base)[1] != strip_rows(by_adversary)[1]
    assert big_numbers(by_base)[0] != big_numbers(by_adversary)[0] and big_numbers(by_base)[1] == big_numbers(by_adversary)[1]
    own = page("guide", guide_guide="own")
    assert len(strip_rows(own)) == 1 and big_numbers(own)[0] == "0.000"
    own.segmented_control(key="guide_guide").set_value("uniform").run()
    assert own.session_state["link_written"]["guide_guide"] == "uniform" and len(strip_rows(own)) == 2


def test_a_looser_epsilon_lets_the_adversary_go_farther_and_leaves_the_seeds() -> None:
    tight, loose = (big_numbers(page("variance", variance_epsilon=code)) for code in ("0.01", "0.1"))
    assert tight[0] == loose[0] and float(tight[1]) <= float(loose[1])


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("path", "key"), [("guide", "guide_guide"), ("variance", "variance_epsilon")])
def test_unknown_values_in_the_link_are_named(path: str, key: str, lang: str) -> None:
    app = page(path, lang, **{key: "nonsense"})
    assert list(faults(app)) == [] and "nonsense" in said(app)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("text", "code"),
    [("Wonderful", "one_word"), ("فيلم رائع جدا", "all_unknown"), ("😀 <script>alert(1)</script> good\x00film", "")],
)
def test_strange_text_is_answered(path: str, text: str, code: str) -> None:
    app = page(path, "ko", text=text)
    assert list(faults(app)) == [] and len(strip_rows(app)) == STRIPS[path] and "<script>" not in markup(app)
    if code:
        assert texts.page(path, "ko")(f"note.{code}").split("{")[0].split("**")[0] in said(app)


@pytest.mark.parametrize("path", PATHS)
def test_a_text_that_cannot_be_read_leaves_the_rest_of_the_page(path: str) -> None:
    app = page(path)
    type_own(app, "   ")
    assert list(faults(app)) == [] and "blank" in said(app) and strip_rows(app) == []
    type_own(app, "good film " * 2500)
    assert list(faults(app)) == [] and "5,000 words" in said(app) and len(strip_rows(app)) == STRIPS[path]


@pytest.mark.parametrize("path", PATHS)
def test_without_results_the_page_says_how_to_make_them(path: str, no_tables: Path) -> None:
    app = page(path)
    assert list(faults(app)) == [] and "make results" in said(app) and len(strip_rows(app)) == STRIPS[path]
    assert path != "necessity" or scored.printed(texts.page(path, "en"))["Reproduced"].tolist()[3] == "0.831"


@pytest.mark.parametrize(
    ("lang", "words"), [("en", "Not yet measured: IMDB, AG News."), ("ko", "아직 재지 않음: IMDB, AG News.")]
)
def test_corpora_that_are_still_to_be_measured_are_named(lang: str, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    results = experiments.results

    def some(name: str, model: str) -> pd.DataFrame:
        if name == "necessity" and model.startswith(("imdb", "ag_news")):
            raise Refusal("no_results", "not run", name=name, model=model)
        return results(name, model)

    done = [SST, "newsgroups_sports/bilstm-additive"]
    monkeypatch.setattr(experiments, "results", some)
    monkeypatch.setattr(experiments, "done", lambda name: done)
    forget()
    try:
        app = page("necessity", lang)
        assert list(faults(app)) == [] and said(app).count(words) == 3
    finally:
        monkeypatch.undo()
        forget()


def test_a_damaged_variant_is_named_and_the_test_sets_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(name: str, weights: str) -> None:
        raise Refusal("altered_file", "damaged", given=name, file="model.safetensors")

    resources._computed.clear()  # type: ignore[attr-defined]
    monkeypatch.setattr(resources, "_model", damaged)
    for lang, words in (("en", "was altered since"), ("ko", "바뀐 파일")):
        app = page("necessity", lang)
        assert list(faults(app)) == [] and words in said(app) and len(app.table) == 1
