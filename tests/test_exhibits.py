"""Figures as files: each opens, says where it comes from, and holds the settings that made it."""

import io
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace

import pandas as pd
import pytest
from PIL import Image
from pypdf import PdfReader

from dashboard import charts, exhibits, resources, texts
from dashboard.exhibits import Exhibit, File
from dashboard.link import Link
from dashboard.shell import Here
from dashboard.theme import SCREEN, Look

SETTINGS = {"model": "sst2/bilstm-additive", "text": "조용한 <영화> & more"}
TABLE = pd.DataFrame({"group": ["가", "나"], "series": ["x", "x"], "mean": [0.5, 0.25], "low": [0.4, 0.1], "high": [0.6, 0.3]})


def draw(look: Look) -> object:
    return charts.intervals(TABLE, x="τ", alt_text="Two means: 0.50 and 0.25.", look=look)


def here(lang: str = "ko") -> Here:
    now = Link(lang, "study", "sst2/bilstm-additive", sample="review-01")
    return Here("agreement", now, texts.page("agreement", lang), SCREEN)


@pytest.fixture(autouse=True)
def no_cards(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(resources, "cards", lambda: {})
    yield


def files(tables: dict[str, pd.DataFrame], drawn: Callable[[Look], object] | None = draw) -> dict[str, File]:
    exhibit = Exhibit("means", "두 평균, n = 7", "Jain & Wallace 2019, Table 2", tables, drawn, "Two means.")
    return {file.label: file for file in exhibits.files(here(), exhibit, SETTINGS)}


def test_a_chart_becomes_five_files() -> None:
    assert list(files({"": TABLE})) == ["PNG", "SVG", "PDF", "슬라이드", "CSV"]


def test_a_table_without_a_chart_is_csv_only() -> None:
    assert [file.kind for file in files({"": TABLE}, None).values()] == ["csv"]


def test_each_table_is_a_file_of_its_own() -> None:
    assert [label for label in files({"a": TABLE, "b": TABLE}) if "CSV" in label] == ["CSV: a", "CSV: b"]


def test_the_picture_says_where_it_comes_from() -> None:
    image = Image.open(io.BytesIO(files({"": TABLE})["PNG"].make()))
    assert "Jain & Wallace 2019, Table 2" in image.text["Source"]
    assert "조용한" in image.text["Comment"]


def test_bold_words_of_a_caption_are_plain_in_files() -> None:
    exhibit = Exhibit("limits", "This is the **optimum**, n = 7.", "Own extension", {"": TABLE}, draw, "Means.")
    made = {file.kind: file.make() for file in exhibits.files(here(), exhibit, SETTINGS)}
    assert "This is the optimum, n = 7." in Image.open(io.BytesIO(made["png"])).text["Source"]
    assert "This is the optimum, n = 7." in made["csv"].decode("utf-8-sig")
    slides = zipfile.ZipFile(io.BytesIO(made["pptx"]))
    assert not any(b"**" in slides.read(name) for name in slides.namelist() if name.endswith(".xml"))


def test_svg_and_pdf_open() -> None:
    made = files({"": TABLE})
    assert made["SVG"].make().startswith(b"<svg")
    assert "조용한" in PdfReader(io.BytesIO(made["PDF"].make())).metadata["/Keywords"]


def test_the_numbers_are_those_of_the_figure() -> None:
    content = files({"": TABLE})["CSV"].make().decode("utf-8-sig")
    read = pd.read_csv(io.StringIO(content), comment="#")
    pd.testing.assert_frame_equal(read, TABLE, check_dtype=False)
    assert "# Jain & Wallace 2019, Table 2. 두 평균, n = 7" in content


def test_the_slide_asks_the_pages_question() -> None:
    deck = zipfile.ZipFile(io.BytesIO(files({"": TABLE})["슬라이드"].make()))
    slide = deck.read("ppt/slides/slide1.xml").decode()
    assert texts.page("agreement", "ko")("title") in slide
    assert "고발 · Jain &amp; Wallace 2019" in slide


def test_files_of_one_figure_have_names_of_their_own() -> None:
    names = [(file.name, file.kind) for file in files({"a": TABLE, "b": TABLE}).values()]
    assert len(set(names)) == len(names)
    assert files({"": TABLE})["CSV"].name == files({"": TABLE})["PNG"].name


def test_a_file_that_cannot_be_made_says_so() -> None:
    def broken() -> bytes:
        raise ZeroDivisionError

    content = exhibits.attempted(broken)().decode()
    assert "could not be made: ZeroDivisionError" in content
    assert exhibits.attempted(lambda: b"fine")() == b"fine"


def test_settings_name_what_the_figure_shows_and_not_what_the_page_is_set_to() -> None:
    other = Link("ko", "study", "sst2/cnn-additive", sample="review-02")
    exhibit = Exhibit("means", "두 평균", "J&W", {"": TABLE}, link=other)
    settings = exhibits.settings_of(here(), exhibit)
    assert settings["model"] == "sst2/cnn-additive" and settings["text"] == "sample:review-02"
    assert exhibits.settings_of(here(), replace(exhibit, link=None))["model"] == "sst2/bilstm-additive"
    without = exhibits.settings_of(replace(here(), page="alignment"), replace(exhibit, link=None))
    assert not {"model", "text", "weights_sha256"} & without.keys() and without["figure"] == "means"


def test_a_text_too_long_for_the_link_is_named_by_its_beginning_and_digest() -> None:
    texts_of = [Link("en", "study", "m", sample="review-01", own="film " * 200 + end) for end in ("good", "bad.")]
    first, second = (exhibits.settings_of(here(), Exhibit("x", "", "", {}, link=now))["text"] for now in texts_of)
    assert str(first).startswith("film film") and "1,004 characters" in str(first)
    assert first != second


@pytest.mark.parametrize("word", ["*", "`", "$x$", "sun-ny", "a\\b", "<b>", "비"])
def test_a_readers_word_stands_in_files_as_it_was_typed(word: str) -> None:
    assert exhibits.unmarked(f"The largest is **{texts.plain(word)}**, n = 7.") == f"The largest is {word}, n = 7."
