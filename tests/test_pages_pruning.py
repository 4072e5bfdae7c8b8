"""The page of pruning as Streamlit runs it: rankings, the guess, the slider in the link, and what is not there."""

import pytest

from core.models import registry
from dashboard.link import LANGUAGES
from tests.made_tables import made_tables as made_tables
from tests.made_tables import no_tables as no_tables
from tests.test_pages import faults, guess_key, opened, said, type_own

MODEL = "sst2/minilm"
pytestmark = pytest.mark.skipif(MODEL not in registry.cards(), reason="no trained model: make models")


def page(lang: str = "en", mode: str = "lecture", **codes: str):
    return opened("pruning", lang=lang, mode=mode, **{"model": MODEL, **codes})


def big_numbers(app) -> list[str]:
    bodies = [html.proto.body for html in app.get("html") if 'class="big' in html.proto.body]
    return [body.split("<b>")[1].split("</b>")[0] for body in bodies]


def specs(app) -> list[str]:
    return [str(chart.proto) for chart in app.get("vega_lite_chart")]


@pytest.mark.usefixtures("made_tables")
def test_the_guess_comes_before_the_slider_and_the_curve() -> None:
    app = page(mode="study", pruning_masked="40")
    assert list(faults(app)) == [] and len(specs(app)) == 3 and big_numbers(app) == []
    assert len(app.slider) == 0
    app.segmented_control(key=guess_key(app)).set_value("half").run()
    next(button for button in app.button if button.label == "Lock in and reveal").click().run()
    assert list(faults(app)) == [] and len(specs(app)) == 4 and len(big_numbers(app)) == 2
    assert "Your guess: 40–60 %. Measured:" in said(app)


@pytest.mark.usefixtures("made_tables")
def test_the_slider_prunes_and_travels_in_the_link() -> None:
    app = page()
    assert big_numbers(app)[1] == "90.0 %" and "×: masked" not in said(app)
    app.slider(key="pruning_slider").set_value(90).run()
    assert app.session_state["link_written"]["pruning_masked"] == "90"
    assert big_numbers(app)[1] == "56.7 %" and list(faults(app)) == []


@pytest.mark.usefixtures("made_tables")
def test_every_ranking_has_its_map_and_chance_its_seed() -> None:
    app, maps = page(mode="study", pruning_masked="50"), []
    for name in ("taylor", "accuracy", "attention", "random"):
        app.selectbox(key="pruning_criterion").set_value(name).run()
        assert list(faults(app)) == []
        maps.append(specs(app)[0])
        assert bool([field for field in app.number_input if field.key == "seed_field"]) == (name == "random")
    assert len(set(maps)) == 4
    assert "An order by chance agrees with nothing" in said(app)
    assert app.session_state["link_written"]["pruning_criterion"] == "random"


@pytest.mark.usefixtures("no_tables")
@pytest.mark.parametrize("lang", LANGUAGES)
def test_without_tables_heads_go_by_chance_and_the_page_says_how_to_rank_them(lang: str) -> None:
    app = page(lang, pruning_masked="50", pruning_criterion="taylor")
    assert list(faults(app)) == [] and said(app).count("make results") == 2  # of the ranking and of the test set
    assert len(specs(app)) == 2 and len(big_numbers(app)) == 1


@pytest.mark.usefixtures("made_tables")
@pytest.mark.parametrize("lang", LANGUAGES)
def test_strange_text_is_answered(lang: str) -> None:
    app = page(lang, text="😀 <script>alert(1)</script> فيلم\x00", pruning_masked="70", pruning_criterion="size")
    assert list(faults(app)) == [] and len(specs(app)) == 4
    assert r"pruning\_criterion" in said(app)


@pytest.mark.usefixtures("made_tables")
def test_blank_text_is_refused_and_the_test_set_stays() -> None:
    app = page()
    type_own(app, "  ")
    assert list(faults(app)) == [] and len(specs(app)) == 2 and "blank" in said(app)


@pytest.mark.usefixtures("made_tables")
@pytest.mark.parametrize("model", [name for name in ("mnli/minilm", "mrpc/minilm") if name in registry.cards()])
def test_pairs_of_sentences_are_pruned_too(model: str) -> None:
    app = page(model=model, pruning_masked="30")
    assert list(faults(app)) == [] and len(specs(app)) == 4 and len(big_numbers(app)) == 2
    assert ("second-hand" in said(page(mode="study", model=model))) == (model in ("mnli/minilm", "mrpc/minilm"))
