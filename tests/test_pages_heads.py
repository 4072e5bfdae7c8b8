"""The page of heads as Streamlit runs it: the guess, one head of many, words and pieces, labels, and bad input."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from core.experiments import tables
from core.models import registry
from dashboard import contributions, texts
from dashboard.link import LANGUAGES
from tests.test_pages import faults, guess_key, opened, said, type_own

MODEL = "sst2/minilm"
pytestmark = pytest.mark.skipif(MODEL not in registry.cards(), reason="no trained model: make models")
OWN = "An unpretentious film that nobody really disliked"


def page(lang: str = "en", mode: str = "lecture", **codes: str) -> Any:
    return opened("heads", lang=lang, mode=mode, model=MODEL, **codes)


def charts(app: Any) -> list[str]:
    return [chart.proto.spec for chart in app.get("vega_lite_chart")]


def maps(app: Any) -> list[str]:
    """The specifications of token matrices."""
    return [spec for spec in charts(app) if "[CLS]" in spec]


def told(app: Any) -> str:
    return "\n".join(block.value for block in app.markdown)


def html(app: Any) -> str:
    return "".join(block.proto.body for block in app.get("html"))


def test_the_guess_comes_before_the_result(no_tables: Path) -> None:
    app = page(mode="study")
    assert list(faults(app)) == [] and len(charts(app)) == 2 and len(maps(app)) == 1
    assert "τ =" not in told(app) and "Most contributes" not in told(app)
    assert not any(button.key == "go_most" for button in app.button)
    app.segmented_control(key=guess_key(app)).set_value("lower").run()
    next(button for button in app.button if button.label == "Lock in and reveal").click().run()
    assert list(faults(app)) == [] and len(charts(app)) >= 5 and len(maps(app)) == 2
    assert "Your guess: in the lower half. Measured: place" in said(app)
    assert "τ =" in told(app) and ("Most contributes" in told(app) or "match at the top" in told(app))


def test_a_head_is_chosen_from_the_lists_and_travels_in_the_link() -> None:
    app = page()
    first = maps(app)
    app.selectbox(key="pick_layer").set_value(6).run()
    app.selectbox(key="pick_head").set_value(10).run()
    assert list(faults(app)) == [] and maps(app) != first
    written = app.session_state["link_written"]
    assert (written["heads_layer"], written["heads_head"]) == ("6", "10")
    assert "Layer 6, head 10" in [heading.value for heading in app.subheader]
    assert "In the last layer only what \\[CLS\\] reads" in told(app) or "In the last layer only what [CLS] reads" in told(app)
    again = page(heads_layer="6", heads_head="10")
    assert maps(again) == maps(app)


def test_two_buttons_go_to_heads_worth_looking_at() -> None:
    app = page(heads_layer="4", heads_head="7")
    app.button(key="go_most").click().run()
    written = app.session_state["link_written"]
    assert f"Most contributes **layer {written['heads_layer']}, head {written['heads_head']}**" in told(app)
    assert app.button(key="go_most").disabled and list(faults(app)) == []


def test_pieces_are_merged_to_words_or_shown() -> None:
    words, pieces = page(text=OWN), page(text=OWN, heads_units="pieces")
    assert "unpretentious" in maps(words)[0] and "##" not in maps(words)[0]
    assert "##" in maps(pieces)[0] and "unpretentious" not in maps(pieces)[0]
    for app in (words, pieces):
        assert list(faults(app)) == [] and "[SEP]" in maps(app)[0] and "Special tokens:" in told(app)


def test_another_label_and_another_measure_change_the_contributions() -> None:
    own, other = page(), page(target="positive")
    assert charts(own)[0] == charts(other)[0] and charts(own)[1] != charts(other)[1]
    largest = page(heads_measure="largest")
    assert charts(largest)[1] != charts(own)[1] and list(faults(largest)) == []
    assert "largest attribution in each head" in said(largest)
    masked = page(heads_measure="masked")
    assert charts(masked)[1] not in (charts(own)[1], charts(largest)[1]) and list(faults(masked)) == []
    assert "when one head alone is masked" in said(masked)


def test_a_long_text_is_drawn_in_part_and_says_so() -> None:
    app = page(text=" ".join(f"a good film {i}" for i in range(25)))
    assert list(faults(app)) == []
    cells = json.loads(maps(app)[0])["datasets"] if '"datasets"' in maps(app)[0] else {}
    assert all(len(rows) < 2000 for rows in cells.values())
    assert "tokens are drawn" in said(app)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("text", ["Wonderful", "فيلم رائع", "😀😀 <script>alert(1)</script> good\x00film", "good good good"])
def test_strange_text_is_answered(lang: str, text: str) -> None:
    app = page(lang, text=text)
    assert list(faults(app)) == [] and len(maps(app)) == 2
    assert "<script>" not in html(app)


def test_blank_text_is_refused_and_the_test_set_stays() -> None:
    app = page()
    type_own(app, "   ")
    assert list(faults(app)) == [] and "blank" in said(app)
    assert maps(app) == [] and "τ over the test set" in [heading.value for heading in app.subheader]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_unknown_values_in_the_link_are_named(lang: str) -> None:
    app = page(lang, heads_layer="zero", heads_units="letters")
    assert list(faults(app)) == []
    for key in ("layer", "units"):
        assert rf"heads\_{key}" in said(app)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_head_that_the_model_lacks_is_named(lang: str) -> None:
    app = page(lang, heads_layer="7", heads_head="12")
    assert list(faults(app)) == [] and "7, 12" in said(app) and len(maps(app)) == 2


def test_before_the_test_set_is_run_it_says_so(no_tables: Path) -> None:
    app = page()
    assert list(faults(app)) == [] and "Not yet measured" in said(app)


def test_the_test_set_is_shown_head_by_head(no_tables: Path) -> None:
    card = registry.cards()[MODEL]
    names = [contributions.column(layer, head) for layer in range(card.layers) for head in range(card.heads)]
    errors = {f"layer{layer}:error": [0.0, 0.02, 0.0005] for layer in range(card.layers)}
    table = pa.Table.from_pandas(pd.DataFrame({name: [0.25, 0.5, 0.75] for name in names} | errors))
    provenance = {"data": "sst2", "split": "test", "n": 3, "command": "python -m core experiment attribution"}
    path = tables.path_of("attribution", MODEL)
    path.parent.mkdir(parents=True)
    pq.write_table(table.replace_schema_metadata({b"provenance": json.dumps(provenance).encode()}), path)
    app = page()
    assert list(faults(app)) == [] and "SST, test, n = 3" in said(app)
    assert "by more than 0.001: 1 (largest error: 0.020)" in said(app)
    assert len(charts(app)) == 6


def test_every_number_of_the_page_is_in_both_languages() -> None:
    english, korean = (texts.page("heads", lang).words for lang in LANGUAGES)
    assert english.keys() == korean.keys()
