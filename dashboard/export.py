"""A figure or its numbers as a file that still says, years later, what it shows: citation and settings travel inside.

Pictures are rendered by vl-convert from the specification the screen uses, on a white page, with the shipped fonts and no
access to any address. PNG carries text chunks, SVG a `<desc>` and `<metadata>`, PDF its document information and its fonts,
CSV comment lines, a slide its notes. An SVG only names its fonts: print from the PDF. Nothing here touches the screen.
"""

import io
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal
from xml.sax.saxutils import escape

import pandas as pd
import vl_convert
from PIL import Image, PngImagePlugin
from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.oxml.ns import qn
from pptx.util import Emu, Pt
from pypdf import PdfReader, PdfWriter

from dashboard.axes import to_spec
from dashboard.drawing import wrapped
from dashboard.theme import FONTS, LIGHT, Side, side_color

Format = Literal["png", "svg", "pdf"]
Settings = Mapping[str, object]
SCALE = 2
PIXEL = 9525  # English Metric Units of a pixel: 1280 x 720 pixels are a slide of 13.333 x 7.5 inches
MARGIN, TOP, FOOT = 64, 168, 676  # pixels of a slide


@cache
def register_fonts() -> None:
    """Makes the shipped fonts known to vl-convert, once a process."""
    vl_convert.register_font_directory(str(FONTS))


def settings_text(settings: Settings) -> str:
    """Settings as one line of JSON, in their order."""
    return json.dumps({key: printable(str(value)) for key, value in settings.items()}, ensure_ascii=False)


def figure(chart: Any, kind: Format, *, citation: str, settings: Settings) -> bytes:
    """The chart as a file, PNG at twice its size; build it with `theme.PRINT` (white page, a width of its own)."""
    register_fonts()
    spec = to_spec(chart)
    description, citation = printable(str(spec.get("description", ""))), printable(citation)
    if kind == "png":
        return with_chunks(vl_convert.vegalite_to_png(spec, scale=SCALE, allowed_base_urls=[]), description, citation, settings)
    if kind == "svg":
        return with_metadata(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[]), description, citation, settings).encode()
    if kind == "pdf":
        return with_information(vl_convert.vegalite_to_pdf(spec, allowed_base_urls=[]), description, citation, settings)
    raise ValueError(f"{kind!r} is not a format of a figure; png, svg and pdf are.")


def with_chunks(png: bytes, description: str, citation: str, settings: Settings) -> bytes:
    """The PNG with description, citation and settings as international text chunks, and its resolution."""
    chunks = PngImagePlugin.PngInfo()
    for key, value in (("Description", description), ("Source", citation), ("Comment", settings_text(settings))):
        chunks.add_itxt(key, value, lang="", tkey=key)
    out = io.BytesIO()
    with Image.open(io.BytesIO(png)) as image:
        image.save(out, "PNG", pnginfo=chunks, dpi=(72 * SCALE, 72 * SCALE), optimize=True)
    return out.getvalue()


def with_metadata(svg: str, description: str, citation: str, settings: Settings) -> str:
    """The SVG with a description for readers and its source for machines."""
    inside = f"<desc>{escape(description)}</desc><metadata>{escape(citation)}\n{escape(settings_text(settings))}</metadata>"
    return re.sub(r"(<svg\b[^>]*>)", lambda found: found[1] + inside, svg, count=1)


def printable(text: str) -> str:
    """The text, with a mark in place of what neither XML nor UTF-8 allows: controls and lone surrogates."""
    return re.sub(r"[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "\ufffd", text)


def with_information(pdf: bytes, description: str, citation: str, settings: Settings) -> bytes:
    """The PDF with citation, description and settings in its document information."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf)))
    writer.add_metadata({"/Title": citation, "/Subject": description, "/Keywords": settings_text(settings)})
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def csv(frame: pd.DataFrame, *, citation: str, settings: Settings) -> bytes:
    """The numbers as CSV under comment lines with their source, in UTF-8 with the mark that makes Excel read Hangul.

    A word that a spreadsheet would run as a formula gets an apostrophe in front. Undefined values are empty.
    """
    head = [citation, *(f"{key}: {value}" for key, value in settings.items())]
    comments = "".join(f"# {' '.join(line.split())}\n" for line in head)
    safe = frame.map(lambda cell: f"'{cell}" if isinstance(cell, str) and re.match(r"[=+\-@\t\r].", cell) else cell)
    return printable(comments + safe.to_csv(index=False, lineterminator="\n")).encode("utf-8-sig")


def file_name(*parts: str, kind: str) -> str:
    """A name that any system takes, such as `agreement_sst2-bilstm-additive_words.png`."""
    clean = (re.sub(r"[^A-Za-z0-9.=]+", "-", part).strip("-.") for part in parts)
    return ("_".join(part for part in clean if part)[:120] or "figure") + f".{kind}"


@dataclass(frozen=True)
class Slide:
    """One slide, one figure: a PNG with its description, a title (a question or a claim), and where it comes from."""

    title: str
    picture: bytes
    alt_text: str
    source: str
    kicker: str = ""
    side: Side | None = None
    notes: str = ""


def deck(slides: Sequence[Slide], *, language: str = "en") -> bytes:
    """The slides as a PowerPoint file of 13.333 x 7.5 inches."""
    deck = Presentation()
    deck.slide_width, deck.slide_height = Emu(1280 * PIXEL), Emu(720 * PIXEL)
    deck.core_properties.title = slides[0].title if slides else ""
    deck.core_properties.language = language
    for slide in slides:
        add_slide(deck, slide, "ko-KR" if language == "ko" else "en-US")
    out = io.BytesIO()
    deck.save(out)
    return out.getvalue()


def add_slide(deck: Any, slide: Slide, language: str) -> None:
    """Title, kicker, figure and source on a new slide; the title is a real title, so that outlines and readers find it."""
    page = deck.slides.add_slide(deck.slide_layouts[5])
    title = page.shapes.title
    title.left, title.top, title.width, title.height = (Emu(v * PIXEL) for v in (MARGIN, 64, 1152, 84))
    write(title.text_frame, slide.title, 33, LIGHT.ink, language, bold=True)
    source = in_two_lines(slide.source)
    lines = ((slide.kicker, 36, 15, side_color(slide.side, LIGHT), True), (source, FOOT, 11.5, LIGHT.muted, False))
    for text, top, points, color, bold in lines:
        if text:
            box = page.shapes.add_textbox(*(Emu(v * PIXEL) for v in (MARGIN, top, 1152, 28)))
            write(box.text_frame, text, points, color, language, bold=bold)
    with Image.open(io.BytesIO(slide.picture)) as image:
        width, height = image.size
    share = min(1152 / width, (FOOT - 16 - TOP) / height)
    place = (MARGIN, TOP, round(width * share), round(height * share))
    picture = page.shapes.add_picture(io.BytesIO(slide.picture), *(Emu(v * PIXEL) for v in place))
    picture._element.nvPicPr.cNvPr.set("descr", printable(slide.alt_text))
    page.notes_slide.notes_text_frame.text = printable(slide.notes or slide.source)


def in_two_lines(source: str) -> str:
    """As many words of a source line as fit into two lines at the foot of a slide."""
    lines = wrapped(source, 1152 * 0.94, 11.5 / 0.75)
    return source if len(lines) <= 2 else " ".join(lines[:2]).rstrip(" ,;:–·") + " …"


def write(frame: Any, text: str, points: float, color: str, language: str, *, bold: bool) -> None:
    """Text into a frame without margins, in the family of the figures for Latin and Hangul alike."""
    frame.margin_left = frame.margin_right = frame.margin_top = frame.margin_bottom = 0
    frame.word_wrap = True
    frame.text = printable(text)
    for paragraph in frame.paragraphs:
        paragraph.alignment = 1
        for run in paragraph.runs:
            font = run.font
            font.size, font.bold, font.name = Pt(points), bold, "Pretendard"
            font.color.rgb = RGBColor.from_string(color[1:])
            properties = run._r.get_or_add_rPr()
            properties.set("lang", language)
            latin = properties.find(qn("a:latin"))
            latin.addnext(latin.makeelement(qn("a:ea"), {"typeface": "Pretendard"}))
