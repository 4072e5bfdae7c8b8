"""Files say what they show: size, text, fonts and source are inside, Hangul is Hangul, and nothing asks another host."""

import io
import json
import re
import zipfile
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageFont
from pptx import Presentation
from pypdf import PdfReader

from dashboard import axes, charts, drawing, export, frames, strips
from dashboard.theme import FONTS, LIGHT, PRINT, SLIDE, Look
from dashboard.tokens import Legend, Marks, Row, Tau

CITATION = "Jain & Wallace 2019, §4.1 <어텐션>"
SETTINGS = {"model": "sst2/bilstm-additive", "text": 'a <b> & "조용한"\nline', "target": "positive", "n": 25}
LEGENDS = [Legend("0", "largest in the row"), Legend("− lowers", "+ raises", signed=True)]
KOREAN = ["조용하지만", "마음을", "무너뜨리는", "영화", ".", "영화"]


def strips_of(words: Sequence[str], look: Look = PRINT, **settings: Any) -> Any:
    weights = [(i % 5) / 5 for i in range(len(words))]
    rows = [
        Row("Attention", weights, "sums to 1", note="Kendall τ-b, 95 %"),
        Row("Leave one out", [None, *(w - 0.5 for w in weights[1:])][: len(words)], signed=True, tau=Tau(0.4, 0.2, 0.6)),
    ]
    return strips.strips_chart(rows, words, legends=LEGENDS, undefined="undefined", look=look, **settings)


def png_of(chart: Any) -> Image.Image:
    return Image.open(io.BytesIO(export.figure(chart, "png", citation=CITATION, settings=SETTINGS)))


def test_a_png_is_twice_its_size_on_white_with_its_source_inside() -> None:
    chart = charts.histogram(frames.binned([0.1, 0.2]), x="τ", y="n", alt_text="어텐션의 분포", look=PRINT)
    image = png_of(chart)
    spec = axes.to_spec(chart)
    assert image.width >= 2 * spec["width"] and image.height >= 2 * spec["height"]
    assert image.convert("RGB").getpixel((0, 0)) == (255, 255, 255)
    text: dict[str, str] = image.text  # type: ignore[attr-defined]
    assert text["Source"] == CITATION and text["Description"] == "어텐션의 분포"
    assert json.loads(text["Comment"]) == {key: str(value) for key, value in SETTINGS.items()}
    assert image.info["dpi"][0] == pytest.approx(144, abs=1)


def test_an_svg_names_no_other_host_and_carries_its_source() -> None:
    svg = export.figure(strips_of(KOREAN), "svg", citation=CITATION, settings=SETTINGS).decode()
    addresses = set(re.findall(r"https?://[^\s\"'<>]+", svg))
    assert addresses <= {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}  # names of XML, never fetched
    assert "<script" not in svg and "href=" not in svg and "@import" not in svg and "url(http" not in svg
    root = ElementTree.fromstring(svg)
    space = "{http://www.w3.org/2000/svg}"
    metadata = root.findtext(f"{space}metadata")
    assert metadata is not None and metadata.startswith(CITATION) and "sst2/bilstm-additive" in metadata
    assert "Attention: 조용하지만" in (root.findtext(f"{space}desc") or "")
    assert "Pretendard" in svg and "Malgun Gothic" in svg


def test_a_pdf_embeds_its_fonts_and_its_source() -> None:
    reader = PdfReader(io.BytesIO(export.figure(strips_of(KOREAN), "pdf", citation=CITATION, settings=SETTINGS)))
    assert reader.metadata is not None
    assert reader.metadata.title == CITATION and "조용한" in reader.metadata["/Keywords"]
    fonts = [font.get_object() for font in reader.pages[0]["/Resources"]["/Font"].values()]  # type: ignore[index]
    parts = [font["/DescendantFonts"][0].get_object() for font in fonts]
    assert {re.sub(r"^/\w+\+", "", f["/BaseFont"]).removesuffix("-Identity-H") for f in fonts} == {
        "Pretendard-Regular", "Pretendard-SemiBold"
    }  # fmt: skip
    assert all(any(key.startswith("/FontFile") for key in part["/FontDescriptor"]) for part in parts)
    assert "조용하지만" in reader.pages[0].extract_text().replace("\n", "")


def inked(text: str) -> np.ndarray:
    """The pixels of one word, its box cut away."""
    image = png_of(drawing.drawn([drawing.Text(4, 20, text, 24, "#000000")], 140, 40, PRINT, "")).convert("L")
    return np.asarray(image) < 128


def test_hangul_is_drawn_as_hangul() -> None:
    one, other, missing, more = inked("가나"), inked("라마"), inked("\U0003fff0\U0003fff1"), inked("\U0003fff2\U0003fff3")
    assert one.sum() > 200 and (one != other).sum() > 100
    assert (missing == more).all()  # characters that are not assigned look alike
    assert (one != missing).sum() > 100 and (other != missing).sum() > 100


@pytest.mark.parametrize("kind", ["png", "svg", "pdf"])
def test_any_text_can_be_exported(kind: export.Format) -> None:
    words = ["<b>hi</b>", "🙂👩‍👩‍👧", "مرحبا", "a\x00b", "\ud800", "x" * 5000, "", "]]>", "&amp;", "조용"]
    marks = Marks(selected=[0], forbidden=[1], masked=[2], special=[3])
    odd = {"text": "\x00\ud800]]>", "why": None}
    data = export.figure(strips_of(words, numbers=True, marks=marks), kind, citation="\x01<c>", settings=odd)
    assert data[:4] in (b"\x89PNG", b"<svg", b"%PDF")


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(ValueError, match="'gif' is not a format"):
        export.figure(strips_of(["a"]), "gif", citation="", settings={})  # type: ignore[arg-type]


def test_slides_and_dark_pages_are_drawn_too() -> None:
    assert png_of(strips_of(KOREAN, look=Look("dark", 13, True))).convert("RGB").getpixel((0, 0)) == (18, 22, 28)
    assert png_of(strips_of(KOREAN, look=SLIDE, width=1152)).width == pytest.approx(2 * 1152, rel=0.05)


# --- layout ---


def test_words_are_measured_with_the_shipped_font() -> None:
    font = ImageFont.truetype(str(FONTS / drawing.FILES[400]), 200)
    for word in ("devastating", "무너뜨리는", "τ = 0.41"):
        assert drawing.text_width(word, 200) == pytest.approx(font.getlength(word), rel=0.02)


def test_layout_by_hand() -> None:
    word = drawing.text_width("aa", 10) + 8.4
    first, second, third = strips.layout(["aa", "aa", "aa"], width=2 * word + 1.8, size=10)
    assert (first.x, second.x, third.x) == pytest.approx((0, word + 1.8, 0))
    assert (first.y, second.y, third.y) == pytest.approx((0, 0, 17.4 + 1.8)) and first.height == pytest.approx(17.4)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=20), max_size=40), st.integers(150, 900), st.booleans())
def test_boxes_stay_within_the_width_and_never_overlap(words: list[str], width: int, numbers: bool) -> None:
    boxes = strips.layout(words, width=width, size=17, least=3.0 * numbers, below=1.2 * numbers)
    assert len(boxes) == len(words)
    assert all(box.x >= -1e-6 and box.x + box.width <= width + 1e-6 for box in boxes)
    rows = pd.DataFrame([(b.y, b.x, b.x + b.width) for b in boxes], columns=["y", "x", "end"])
    for _, line in rows.groupby("y"):
        line = line.sort_values("x")
        assert (line["x"].to_numpy()[1:] >= line["end"].to_numpy()[:-1] - 1e-6).all()


def test_a_long_word_ends_in_an_ellipsis() -> None:
    assert drawing.shortened("short", 14) == "short"
    cut = drawing.shortened("y" * 99, 5)
    assert cut.endswith("…") and drawing.text_width(cut, 1) <= 5 < drawing.text_width(cut + "y", 1)


def test_text_from_the_right_starts_at_the_right() -> None:
    first, second = strips.layout(["هذا", "رائع"], width=300, size=17)
    assert first.x + first.width == pytest.approx(300) and second.x < first.x


# --- numbers and slides ---


def test_a_csv_carries_its_source_and_gives_the_numbers_back() -> None:
    frame = pd.DataFrame({"word": ["조용", "=1+1", "-", "a,b"], "weight": [0.25, -0.5, None, 1.0]})
    data = export.csv(frame, citation=CITATION, settings=SETTINGS)
    assert data.startswith(b"\xef\xbb\xbf# Jain & Wallace 2019")
    lines = data.decode("utf-8-sig").splitlines()
    assert lines[2] == '# text: a <b> & "조용한" line' and lines[:5] == [line for line in lines[:5] if line[0] == "#"]
    back = pd.read_csv(io.BytesIO(data), comment="#", encoding="utf-8-sig")
    assert list(back["word"]) == ["조용", "'=1+1", "-", "a,b"] and back["weight"].tolist()[:2] == [0.25, -0.5]
    assert pd.isna(back["weight"][2])


def test_file_names_are_plain() -> None:
    assert export.file_name("agreement", "sst2/bilstm-additive", kind="png") == "agreement_sst2-bilstm-additive.png"
    assert export.file_name("../../etc", "영화", "a:b", kind="csv") == "etc_a-b.csv"
    assert export.file_name("영화", kind="svg") == export.file_name(kind="svg") == "figure.svg"


def test_a_long_source_ends_with_a_word_in_two_lines() -> None:
    for source in ("word " * 200, "어텐션과의 평균 " * 100):
        kept = export.in_two_lines(source.strip())
        assert kept.endswith(" …") and source.startswith(kept[:-2]) and len(drawing.wrapped(kept, 1152, 11.5 / 0.75)) <= 2
    assert export.in_two_lines("Jain & Wallace 2019") == "Jain & Wallace 2019"


def test_the_legend_stands_below_what_stands_beside_the_last_strip() -> None:
    rows = [Row("Gradient", (0.2, 0.8), tau=Tau(0.3, 0.1, 0.5, "p = 0.044, top 4: 1 of them shared by both"))]
    for look in (PRINT, SLIDE):
        spec = export.to_spec(strips.strips_chart(rows, ("a", "film"), legends=[Legend("0", "largest")], look=look))
        texts = {row["text"]: row["y"] for rows in spec["datasets"].values() for row in rows if "text" in row}
        assert texts["largest"] - max(y for text, y in texts.items() if text not in ("0", "largest")) > look.base


def test_a_slide_by_the_book() -> None:
    picture = export.figure(strips_of(KOREAN, look=SLIDE, width=1152), "png", citation=CITATION, settings=SETTINGS)
    slide = export.Slide("어텐션은 정말 중요한 단어를 가리킬까?", picture, "그림 설명", "Source line", "고발 · J&W", "charge")
    data = export.deck([slide, slide], language="ko")
    deck = Presentation(io.BytesIO(data))
    assert (deck.slide_width / 914400, deck.slide_height / 914400) == pytest.approx((13.333, 7.5), abs=1e-3)
    assert len(deck.slides) == 2
    page = deck.slides[0]
    assert page.shapes.title.text_frame.text == slide.title
    (figure,) = [shape for shape in page.shapes if shape.shape_type == 13]
    assert figure._element.nvPicPr.cNvPr.get("descr") == "그림 설명"
    assert figure.width / figure.height == pytest.approx(np.divide(*Image.open(io.BytesIO(picture)).size), rel=0.01)
    assert figure.top >= 168 * 9525 and figure.top + figure.height <= 676 * 9525
    assert all(s.left >= 0 and s.left + s.width <= deck.slide_width and s.top + s.height <= deck.slide_height
               for s in page.shapes)  # fmt: skip
    xml = zipfile.ZipFile(io.BytesIO(data)).read("ppt/slides/slide1.xml").decode()
    assert xml.count('<a:ea typeface="Pretendard"') == xml.count("<a:latin") == 3 and 'lang="ko-KR"' in xml
    assert f'val="{LIGHT.charge[1:]}"' in xml and page.notes_slide.notes_text_frame.text == "Source line"


def test_a_long_text_is_drawn_where_the_first_strip_has_most_and_says_so() -> None:
    words = [f"word{i}" for i in range(500)]
    weights = [1.0 if 300 <= i < 310 else 0.001 for i in range(500)]
    rows = [Row("Attention", weights), Row("Gradient", weights)]
    sizes = {}
    for look in (PRINT, SLIDE):
        chart = strips.strips_chart(rows, words, legends=LEGENDS, part="{first} to {last} of {n}", look=look)
        said = str(chart.description)
        assert all(f"word{i} 1.00" in said for i in range(300, 310))
        first, last, n = map(int, re.findall(r"(\d+) to (\d+) of (\d+)", said)[0])
        assert n == 500 and said.count("word") == 2 * (last - first + 1)
        spec = axes.to_spec(chart)
        sizes[look] = spec["height"] / spec["width"]
    assert sizes[PRINT] < 2**0.5 and sizes[SLIDE] < 0.9


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40), st.integers(1, 6), st.integers(1, 5))
def test_a_window_holds_as_many_lines_as_it_may_and_the_most_weight(weights: list[float], wide: int, lines: int) -> None:
    boxes = [strips.Box(i % wide, i // wide, 1, 1, "") for i in range(len(weights))]
    first, last = strips.window(boxes, weights, lines)
    n = -(-len(weights) // wide)
    assert first % wide == 0 and (last % wide == 0 or last == len(weights))
    assert -(-(last - first) // wide) == min(lines, n)
    sums = [sum(weights[k * wide : (k + lines) * wide]) for k in range(max(1, n - lines + 1))]
    assert sum(weights[first:last]) == pytest.approx(max(sums))
