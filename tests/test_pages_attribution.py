"""The page of attribution as Streamlit runs it: the guess, nine methods, the integral, words and pieces, and bad input."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.attattr.attribution import attribution
from core.experiments import attribution as experiment
from core.experiments import tables
from core.models import registry
from core.reading import Reading
from dashboard import export, rivalry, rivalry_charts, texts, tokens
from dashboard.axes import to_spec
from dashboard.link import LANGUAGES
from dashboard.theme import PRINT
from tests.small import example
from tests.small_transformers import small_transformer
from tests.test_pages import faults, guess_key, opened, said, type_own

MODEL, PAIRS = "sst2/minilm", "mnli/minilm"
trained = pytest.mark.skipif(not {MODEL, PAIRS} <= set(registry.cards()), reason="no trained models: make models")
OWN = "An unpretentious film that nobody really disliked"


def page(lang: str = "en", mode: str = "lecture", model: str = MODEL, **codes: str) -> Any:
    return opened("attribution", lang=lang, mode=mode, model=model, **codes)


def charts(app: Any) -> list[str]:
    return [chart.proto.spec for chart in app.get("vega_lite_chart")]


def maps(app: Any) -> list[str]:
    """The specifications of token matrices."""
    return [spec for spec in charts(app) if "[CLS]" in spec]


def told(app: Any) -> str:
    return "\n".join(block.value for block in app.markdown)


def strips(app: Any) -> list[str]:
    """The strips of words, one text each."""
    bodies = [block.proto.body for block in app.get("html") if 'class="strips' in block.proto.body]
    return bodies[0].split('class="name')[1:] if bodies else []


@trained
def test_the_guess_comes_before_the_result() -> None:
    app = page(mode="study")
    assert list(faults(app)) == [] and len(strips(app)) == 1 and maps(app) == []
    assert "τ =" not in told(app) and "Largest error" not in "".join(block.proto.body for block in app.get("html"))
    app.segmented_control(key=guess_key(app)).set_value("lower").run()
    next(button for button in app.button if button.label == "Lock in and reveal").click().run()
    assert list(faults(app)) == [] and len(strips(app)) == 2 and len(maps(app)) == 1
    assert "Your guess: lower. Measured: place" in said(app) and "τ =" in told(app)


@trained
@pytest.mark.parametrize("method", rivalry.METHODS)
def test_every_method_can_be_picked(method: str) -> None:
    app = page(attribution_method=method)
    assert list(faults(app)) == []
    assert len(strips(app)) == (1 if method == "attention" else 2)
    spoken_of = texts.page("attribution", "en")(f"method_name.{'attribution' if method == 'attention' else method}")
    assert f"*{spoken_of}*" in told(app)
    words_only = method in ("input_x_gradient", "integrated_gradients", "leave_one_out")
    assert len(maps(app)) == (0 if words_only else 1)
    assert ("it has no matrix" in said(app)) == words_only


@trained
def test_a_layer_a_rule_and_a_number_of_nodes_travel_in_the_link() -> None:
    app = page()
    first = charts(app)
    app.selectbox(key="pick_layer").set_value("3").run()
    app.selectbox(key="pick_nodes").set_value("2").run()
    app.segmented_control(key="attribution_rule").set_value("left").run()
    written = app.session_state["link_written"]
    assert (written["attribution_layer"], written["attribution_nodes"], written["attribution_rule"]) == ("3", "2", "left")
    assert list(faults(app)) == [] and charts(app) != first
    assert "nodes: 2" in said(app) and "42 layers run forward and back" in said(app)


@trained
def test_pieces_are_merged_to_words_or_shown() -> None:
    words, pieces = page(text=OWN), page(text=OWN, attribution_units="pieces")
    assert "unpretentious" in maps(words)[0] and "##" not in maps(words)[0]
    assert "##" in maps(pieces)[0] and "##" in strips(pieces)[0]
    for app in (words, pieces):
        assert list(faults(app)) == [] and "special tokens:" in strips(app)[0]


@trained
@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("text", ["Wonderful", "فيلم رائع", "😀😀 <script>alert(1)</script> good\x00film", "good good good"])
def test_strange_text_is_answered(lang: str, text: str) -> None:
    app = page(lang, text=text, attribution_method="leave_one_out")
    assert list(faults(app)) == [] and len(strips(app)) == 2
    assert "<script>" not in "".join(block.proto.body for block in app.get("html"))


@trained
def test_a_pair_of_sentences_and_another_label() -> None:
    app = page(model=PAIRS, text="Two dogs run .", query="Animals move .", target="contradiction")
    assert list(faults(app)) == [] and "Animals" in strips(app)[0] and strips(app)[0].count("[SEP]") >= 2


@trained
def test_blank_text_is_refused_and_the_test_set_stays() -> None:
    app = page()
    type_own(app, "   ")
    assert list(faults(app)) == [] and "blank" in said(app)
    assert maps(app) == [] and "Every two methods, test set" in [heading.value for heading in app.subheader]


@trained
@pytest.mark.parametrize("lang", LANGUAGES)
def test_unknown_values_in_the_link_are_named(lang: str) -> None:
    app = page(lang, attribution_method="flow", attribution_nodes="65", attribution_rule="middle", attribution_layer="9")
    assert list(faults(app)) == []
    for key in ("method", "nodes", "rule"):
        assert rf"attribution\_{key}" in said(app)
    assert texts.page("attribution", lang)("problem.no_layer", given="9", layers="6") in said(app)


@trained
def test_before_the_test_set_is_run_it_says_so(no_tables: Path) -> None:
    app = page()
    assert list(faults(app)) == [] and "Not yet measured" in said(app)


@trained
def test_the_test_set_is_shown(no_tables: Path) -> None:
    rows = experiment.compared(
        small_transformer(), [example("the films is good"), example("nobody saw that film"), example("bad")]
    )
    table = pa.Table.from_pandas(pd.DataFrame(rows))
    provenance = {"data": "sst2", "split": "test", "n": 3, "command": "python -m core experiment attribution"}
    path = tables.path_of("attribution", MODEL)
    path.parent.mkdir(parents=True)
    pq.write_table(table.replace_schema_metadata({b"provenance": json.dumps(provenance).encode()}), path)
    app = page()
    assert list(faults(app)) == [] and said(app).count("SST, test, n = 3") == 2
    assert len(charts(app)) == 5
    taus = rivalry.measured_pairs(MODEL)
    assert len(taus) == 36 and taus["n"].max() == 2  # one word has no ranking
    mean = np.mean([row["attention~norms:tau"] for row in rows[:2]])
    assert rivalry.means(taus)["attention", "norms"] == pytest.approx(mean, abs=1e-6)


def asked(text: str, **settings: Any) -> rivalry.Integrated:
    return rivalry.integrated(small_transformer().precise(), Reading(example(text), 0, ()), **settings)


def test_the_left_sum_comes_from_the_right_one() -> None:
    model = small_transformer().precise()
    batch = model.encode([example("the films is quietly good")])
    for nodes in (1, 3, 5):
        found = asked("the films is quietly good", rule="left", nodes=nodes)
        own = attribution(model, batch, nodes=nodes, rule="left")
        assert found.sums == pytest.approx(own.attribution.sum((2, 3, 4))[0].tolist(), abs=1e-12)
        for rule, errors in found.errors.items():
            expected = attribution(model, batch, nodes=nodes, rule=rule).error[0].tolist()
            assert errors == pytest.approx(expected, abs=1e-12)


def test_the_same_scores_in_words_and_in_pieces() -> None:
    model = small_transformer().precise()
    found = rivalry.compared(model, Reading(example("the films is quietly good"), 0, ()))
    words, pieces = found.told["words"], found.told["pieces"]
    assert words.tokens == ("[CLS]", "the", "films", "is", "quietly", "good", "[SEP]") and words.special == (0, 6)
    assert len(pieces.tokens) > len(words.tokens) and pieces.special == (0, len(pieces.tokens) - 1)
    for name in rivalry.METHODS:
        merged = [score for place, score in enumerate(words.methods[name].scores) if place not in words.special]
        assert merged == pytest.approx(found.scores[name], abs=1e-9)
    assert sum(s or 0 for s in words.methods["norms"].scores) == pytest.approx(
        sum(s or 0 for s in pieces.methods["norms"].scores)
    )
    matrix = words.methods["attribution"].matrix
    assert matrix is not None and words.methods["leave_one_out"].matrix is None
    assert matrix.sum(0) == pytest.approx(np.array(words.methods["attribution"].scores, dtype=float), abs=1e-5)


def test_special_tokens_share_by_hand() -> None:
    told = rivalry.Told(("[CLS]", "a", "[SEP]"), (0, 2), {
        "attention": rivalry.Method((0.5, 0.25, 0.25), None, None),
        "leave_one_out": rivalry.Method((None, 0.1, None), None, None),
    })  # fmt: skip
    assert rivalry.special_share(told, "attention") == 0.75 and rivalry.special_share(told, "leave_one_out") is None


def test_the_place_of_attentions_first_word_by_hand() -> None:
    scores = dict.fromkeys(rivalry.METHODS, (0.1, 0.2, 0.3)) | {"attribution": (-0.9, 0.5, 0.1)}
    found = rivalry.Compared({}, "a", "a", ("x", "y", "z"), scores, {}, {}, {}, ())
    assert rivalry.place_of(found) == (2, 3) and rivalry.order_of((-0.9, 0.5, 0.1)) == [0, 1, 2]
    assert rivalry.place_of(found, "rollout") == (2, 1)


def test_what_the_integral_costs_by_hand() -> None:
    """Six layers and eight nodes: 8 · (6 + 5 + 4 + 3 + 2 + 1); all anew in 20 steps: 20 · 6 · 6."""
    assert rivalry.cost(6, 8) == (168, 720)


def test_a_square_says_its_numbers_and_leaves_the_diagonal_blank() -> None:
    t = texts.page("attribution", "en")
    frame = rivalry.pairs(t, {("attention", "rollout"): -0.5, ("attention", "norms"): None})
    names = [t(f"method_name.{name}") for name in rivalry.METHODS]
    (rows,) = to_spec(rivalry_charts.squares(frame, names, value="τ", alt_text="a"))["datasets"].values()
    chart = rivalry_charts.squares(frame, names, value="τ", alt_text="a", look=PRINT)
    assert "−0.50".encode() in export.figure(chart, "svg", citation="c", settings={})
    by = {(row["query"], row["key"]): row["said"] for row in rows}
    assert by[0, 1] == by[1, 0] == "−0.50" and by[0, 2] == "–" and by[3, 3] == ""


def test_an_error_of_zero_can_be_drawn_on_a_logarithmic_scale() -> None:
    t = texts.page("attribution", "en")
    found = rivalry.Integrated({}, (0.5,), (0.5,), {"gauss": (0.0,), "right": (0.1,), "left": (0.2,)})
    frame = rivalry.errors(t, found)
    assert frame["drawn"].tolist() == [rivalry.SMALLEST, 0.1, 0.2] and frame["error"].tolist() == [0.0, 0.1, 0.2]
    chart = rivalry_charts.by_layer(frame, x="x", y="y", alt_text="a", look=PRINT)
    assert export.figure(chart, "png", citation="c", settings={})[:4] == b"\x89PNG"
    assert rivalry.error_of((0.0, 1e-6)) == "< 10⁻⁵" and rivalry.error_of((0.0, 0.0213)) == "0.021"


def test_special_tokens_do_not_set_the_scale() -> None:
    row = tokens.Row("x", [8.0, 1.0, 2.0, 4.0])
    assert tokens.scaled(row, special={0}) == [2.0, 0.25, 0.5, 1.0] and tokens.scaled(row)[3] == 0.5


def test_every_number_of_the_page_is_in_both_languages() -> None:
    english, korean = (texts.page("attribution", lang).words for lang in LANGUAGES)
    assert english.keys() == korean.keys()
    for name in (*rivalry.METHODS, "random"):
        assert f"method_name.{name}" in english
