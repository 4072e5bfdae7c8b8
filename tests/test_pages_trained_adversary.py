"""The page of trained adversaries as Streamlit runs it: its models, the walk through λ, the guess, bad input, test sets; and
what is said of them, by hand."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from core import experiments
from core.models import registry
from core.models.classifier import Classifier
from core.reading import read
from core.types import Refusal
from dashboard import elsewhere, frontier, texts
from dashboard.axes import to_spec
from dashboard.link import LANGUAGES
from tests.made_tables import forget
from tests.small import small_model
from tests.test_pages import SST, faults, guess_key, opened, said, strip_rows, type_own

ADVERSARIES = [f"{SST}:adversary={value}" for value in elsewhere.LAMBDAS]
needs_models = pytest.mark.skipif(not {SST, *ADVERSARIES} <= set(registry.cards()), reason="no trained models: make models")
FIGURES = {
    ":adversary=0.001": (0.003, 0.009, 0.83),
    ":adversary=0.0046": (0.006, 0.010, 0.84),
    ":adversary=0.01": (0.617, 0.040, 0.82),
    ":adversary=0.046": (0.637, 0.039, 0.81),
    ":adversary=0.01:seed=1": (0.600, 0.030, 0.99),
    ":uniform": (0.093, 0.093, 0.80),
    ":seed=3": (0.098, 0.146, 0.80),
}


def made_table() -> pd.DataFrame:
    """A table of seven trainings: JSD, TVD and validation accuracy of each."""
    rows: list[dict[str, Any]] = []
    for end, (jsd, tvd, accuracy) in FIGURES.items():
        behind = dict(part.partition("=")[::2] for part in end.split(":")[1:])
        kind = "adversary" if "adversary" in behind else ""
        row = {"variant": SST + end, "kind": kind, "value": behind.get("adversary", ""), "seed": int(behind.get("seed", 0))}
        row |= {"jsd": jsd, "tvd": tvd, "validation_jsd": jsd, "validation_accuracy": accuracy, "f1": accuracy, "n": 1821}
        rows.append(row)
    table = pd.DataFrame(rows)
    table.attrs["provenance"] = {"data": "sst2", "split": "test", "n": 1821, "command": "python -m core experiment"}
    return table


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Test sets as in `made_table`, and no others."""

    def results(name: str, model: str) -> pd.DataFrame:
        if (name, model) == ("trained-adversary", SST):
            return made_table()
        raise Refusal("no_results", "not run", name=name, model=model)

    monkeypatch.setattr(experiments, "results", results)
    forget()
    yield
    monkeypatch.undo()
    forget()


def page(lang: str = "en", mode: str = "lecture", model: str = SST, **given: str) -> AppTest:
    return opened("trained-adversary", lang=lang, mode=mode, model=model, **{"text": "A dull but lovely film"} | given)


def big_numbers(app: AppTest) -> list[float]:
    bodies = [html.proto.body for html in app.get("html") if 'class="big' in html.proto.body]
    return [float(body.split("<b>")[1].split("</b>")[0]) for body in bodies]


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_sentence_is_read_by_the_base_and_an_adversary(lang: str) -> None:
    app = page(lang)
    assert list(faults(app)) == [] and len(strip_rows(app)) == 2
    jsd, tvd = big_numbers(app)
    assert 0.3 < jsd <= 0.694 and 0 <= tvd <= 1


@needs_models
def test_lambda_walks_through_the_adversaries_and_is_in_the_link() -> None:
    app = page(trained_adversary_lambda="0.001")
    near = big_numbers(app)
    first = strip_rows(app)
    app.select_slider(key="lambda_walk").set_value("0.046").run()
    assert list(faults(app)) == []
    assert app.session_state["link_written"]["trained_adversary_lambda"] == "0.046"
    assert big_numbers(app)[0] > near[0] + 0.2
    assert strip_rows(app)[0].count("title") == first[0].count("title") and strip_rows(app)[1] != first[1]


@needs_models
def test_the_figures_are_those_of_the_models() -> None:
    app = page(text="A dull but lovely film", trained_adversary_lambda="0.01")
    base, other = (registry.needed(registry.load(name), Classifier) for name in (SST, f"{SST}:adversary=0.01"))
    found = elsewhere.elsewhere(base, read(base, "A dull but lovely film"), others=[other])
    assert big_numbers(app) == pytest.approx([round(found.jsd[1], 3), round(found.tvd[1], 3)], abs=1e-9)
    assert found.jsd[0] == found.tvd[0] == 0 and found.optimum[0] > 0 and found.optimum[1] <= elsewhere.EPSILON + 1e-9


@needs_models
def test_the_guess_comes_before_the_result() -> None:
    app = page(mode="study")
    assert len(strip_rows(app)) == 1 and big_numbers(app) == []
    app.segmented_control(key=guess_key(app)).set_value("hardly").run()
    next(button for button in app.button if button.label == "Lock in and reveal").click().run()
    assert len(strip_rows(app)) == 2 and len(big_numbers(app)) == 2
    assert f"Your guess: below 0.02. Measured: {big_numbers(app)[1]:.3f}." in said(app)


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
def test_unknown_values_in_the_link_are_named(lang: str) -> None:
    app = page(lang, trained_adversary_lambda="7")
    assert list(faults(app)) == [] and "trained\\_adversary\\_lambda = 7" in said(app)
    assert app.select_slider(key="lambda_walk").value == "0.01"


@needs_models
def test_a_lambda_that_this_model_does_not_have_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "LAMBDAS", ("0.001", "0.022"))
    app = page(trained_adversary_lambda="0.046")
    assert list(faults(app)) == [] and "λ = 0\\.046" in said(app)
    assert app.select_slider(key="lambda_walk").value == "0.022"


@needs_models
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Wonderful", "one_word"),
        ("영화가 재미있다", "all_unknown"),
        ("😀😀 <script>alert(1)</script> good\x00film", "unknown_words"),
    ],
)
def test_strange_text_is_answered(lang: str, text: str, code: str) -> None:
    app = page(lang, text=text)
    assert list(faults(app)) == [] and len(strip_rows(app)) == 2
    assert texts.page("trained-adversary", lang)(f"note.{code}").split("{")[0].split("**")[0] in said(app)
    assert "<script>" not in "".join(html.proto.body for html in app.get("html"))
    if code == "one_word":
        assert big_numbers(app)[0] == 0


@needs_models
def test_blanks_and_five_thousand_words_are_told() -> None:
    app = page()
    type_own(app, "  ")
    assert list(faults(app)) == [] and "blank" in said(app) and strip_rows(app) == []
    type_own(app, "good film " * 2500)
    assert list(faults(app)) == [] and "5,000 words" in said(app)


@needs_models
def test_the_test_set_is_beside_the_published_figures(measured: None) -> None:
    app = page(mode="study")
    assert list(faults(app)) == [] and len(app.get("vega_lite_chart")) == 1
    assert "Between λ = 0.0046 and λ = 0.01 attention jumps, from a mean JSD of 0.006 to 0.617" in said(app)
    table = app.table[0].value
    ours = table[table["Corpus"] == "SST, here"].iloc[0]
    assert (ours["λ"], ours["TVD"], ours["JSD"]) == ("0.01", "0.040", "0.617")
    theirs = table[table["Corpus"] == "SST, paper"].iloc[0]
    assert (theirs["λ"], theirs["TVD"], theirs["JSD"]) == ("0.00105", "0.072", "0.514")
    assert len(table) == 5 and "Not yet measured: IMDB." in said(app)


@needs_models
def test_without_results_the_page_says_how_to_make_them(measured: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(name: str, model: str) -> None:
        raise Refusal("no_results", "not run", name=name, model=model)

    monkeypatch.setattr(experiments, "results", none)
    forget()
    app = page()
    assert list(faults(app)) == [] and "make results" in said(app)


def test_the_reported_adversary_is_chosen_on_validation_among_the_far_ones(measured: None) -> None:
    """λ = 0.0046 is the most accurate, but near; a further seed is not asked; 0.01 beats 0.046."""
    assert elsewhere.chosen(SST)["value"] == "0.01"


def test_none_is_reported_where_none_is_far(measured: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elsewhere, "FAR", 0.65)
    with pytest.raises(Refusal, match="far"):
        elsewhere.chosen(SST)
    assert set(elsewhere.reported([SST])["where"]) == {"paper"}


def test_points_of_a_test_set(measured: None) -> None:
    t = texts.page("trained-adversary", "en")
    found = elsewhere.measured(t, SST)
    joined = found[found["joined"]]
    assert joined["name"].tolist() == ["λ 0.001", "λ 0.0046", "λ 0.01", "λ 0.046"]
    assert found["group"].value_counts()["trained adversary"] == 5
    theirs = found[found["group"] == "published: uniform"].iloc[0]
    assert (theirs["x"], theirs["y"]) == (0.11, 0.056)  # 0.028 in the paper
    assert set(found["group"]) <= set(elsewhere.styles(t))


def test_points_too_close_for_names_share_one() -> None:
    points = pd.DataFrame({"x": [0.0, 0.01, 0.6], "y": [0.1, 0.2, 0.3], "name": ["λ 1", "λ 2", "λ 3"]})
    found = frontier.named(points)
    assert found["label"].tolist() == ["λ 1 … 2", "λ 3"] and found["y"].tolist() == [0.2, 0.3]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_plane_draws_every_point_in_its_group(measured: None, lang: str) -> None:
    t = texts.page("trained-adversary", lang)
    data = elsewhere.measured(t, SST)
    words: dict[str, Any] = {"line": t("frontier.adversary"), "x": "JSD", "y": "TVD", "alt_text": "all"}
    spec = to_spec(frontier.frontier(data, elsewhere.styles(t), chosen="λ 0.01", **words))
    assert spec["description"] == "all"
    sizes = [len(rows) for rows in spec["datasets"].values()]
    assert len(data) in sizes and 4 in sizes


def test_a_text_by_hand() -> None:
    """Two random models on one text: distances as defined, the base at none from itself."""
    base, other = small_model(seed=3), small_model(seed=4)
    found = elsewhere.elsewhere(base, read(base, "a quiet good film"), others=[other])
    assert found.tvd[1] == pytest.approx(np.abs(found.prob[0] - found.prob[1]).sum() / 2)
    middle = found.attention.mean(0)
    parts = [float((row * np.log(row / middle)).sum()) for row in found.attention]
    assert found.jsd[1] == pytest.approx(sum(parts) / 2, abs=1e-6) and found.jsd[0] == pytest.approx(0.0, abs=1e-12)
    assert found.optimum[1] <= elsewhere.EPSILON + 1e-9
