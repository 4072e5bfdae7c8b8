"""A figure's frame on a page: title or legend left, controls, numbers and files right, caption and source below.

The same `Exhibit` is drawn on the screen and into files, so that a slide shows what the lecturer saw. Files are made when they
are asked for, from plain values and outside the session; where making one fails, the file says so in words. In a lecture there
is nothing to download.
"""

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import export, lessons, link, resources, shell, texts
from dashboard.link import Link
from dashboard.shell import Here
from dashboard.theme import PRINT, SLIDE, Look

PICTURES: dict[export.Format, str] = {"png": "image/png", "svg": "image/svg+xml", "pdf": "application/pdf"}
SLIDES = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Exhibit:
    """A figure's result: name, caption, source, its numbers as tables by title, and how it is drawn in a look.

    `on_screen` is False where the page shows something else than the drawing (strips of words, a table), `cited` where the
    source is said elsewhere, `alt` empty where the drawing describes itself. `link` names model and text where the figure does
    not show those of the page's link.
    """

    name: str
    caption: str
    source: str
    tables: Mapping[str, pd.DataFrame]
    draw: Callable[[Look], Any] | None = None
    alt: str = ""
    on_screen: bool = True
    cited: bool = True
    link: Link | None = None


@dataclass(frozen=True)
class File:
    """A file that a figure can become: its name, what its button says, and how it is made when the button is pressed."""

    name: str
    label: str
    kind: str
    mime: str
    make: Callable[[], bytes]


@contextmanager
def figure(here: Here, name: str, title: str = "", html: str = "") -> Iterator[DeltaGenerator]:
    """A bordered frame with its title, or a legend, on the left; yields the place on the right for controls and files."""
    with st.container(border=True, key=f"figure-{name}", height="stretch"), head(here, title, html) as right:
        yield right


@contextmanager
def head(here: Here, title: str = "", html: str = "", small: bool = False) -> Iterator[DeltaGenerator]:
    """The first row of a figure, or of a small one inside a figure. What fails inside is said in its place."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        if title and small:
            st.markdown(f"**{title}**", width="content")
        elif title:
            st.subheader(title, anchor=False, width="content")
        if html:
            st.html(html, width="content")
        right = st.container(horizontal=True, width="content", vertical_alignment="center", gap="small")
    with shell.guarded(here):
        yield right


def show(here: Here, right: DeltaGenerator, exhibit: Exhibit, *notes: str) -> None:
    """The chart where there is one, caption, notes and source below it, numbers and files on the right of the head."""
    key = f"{shell.name_of(here.page)}-{exhibit.name}"
    if exhibit.draw is not None and exhibit.on_screen:
        st.altair_chart(exhibit.draw(here.look), theme=None, key=key)
    with st.container(gap="xxsmall"):
        st.caption(exhibit.caption)
        if not here.lecture:
            for note in filter(None, notes):
                st.caption(note)
            if exhibit.cited:
                st.caption(exhibit.source)
    if not here.lecture:
        with right:
            numbers(here, key, exhibit)
            downloads(here, key, exhibit)


def numbers(here: Here, key: str, exhibit: Exhibit) -> None:
    """A popover with the figure's numbers."""
    with st.popover(here.t("figure.table"), type="tertiary", key=f"{key}-table"):
        for title, table in exhibit.tables.items():
            if title:
                st.markdown(f"**{title}**")
            shown = table.rename(columns=lambda name: here.t.words.get(f"column.{name}", name))
            rounded = {str(name): st.column_config.NumberColumn(format="%.3g") for name in shown.select_dtypes("float")}
            size: dict[str, Any] = {
                "width": min(640, 60 + 110 * len(table.columns)),
                "height": 280 if len(table) > 8 else "content",
            }
            st.dataframe(shown, hide_index=True, column_config=rounded, **size)


def downloads(here: Here, key: str, exhibit: Exhibit) -> None:
    """A popover with the figure as files, its numbers, a slide, and the link."""
    t, settings = here.t, settings_of(here, exhibit)
    popover = st.popover(t("figure.download"), type="tertiary", icon=":material/download:", key=f"{key}-files")
    with popover, st.container(width=340, gap="xsmall"):
        with st.container(horizontal=True, gap="xsmall"):
            for file in files(here, exhibit, settings):
                name = export.file_name(shell.name_of(here.page), shown(here, exhibit).model, file.name, kind=file.kind)
                make = attempted(file.make)
                st.download_button(file.label, make, name, file.mime, key=f"{key}-{file.label}", on_click="ignore")
        st.caption(t("figure.link"))
        st.code(address(here), language=None, wrap_lines=True)
        if not link.carried(here.link):
            st.caption(t("figure.link_sample", allowed=link.LONGEST))


def files(here: Here, exhibit: Exhibit, settings: Mapping[str, object]) -> list[File]:
    """What can be downloaded, and how each file is made."""
    t, citation, name = here.t, unmarked(f"{exhibit.source}. {exhibit.caption}"), exhibit.name
    made: list[File] = []
    if (draw := exhibit.draw) is not None:
        for kind, mime in PICTURES.items():
            make = partial(picture, draw, kind, citation=citation, settings=settings)
            made.append(File(name, t(f"figure.{kind}"), kind, mime, make))
        made.append(File(name, t("figure.slide"), "pptx", SLIDES, slide(here, exhibit, draw, settings)))
    for i, (title, table) in enumerate(exhibit.tables.items(), 1):
        label = f"{t('figure.csv')}: {title}" if title else t("figure.csv")
        make = partial(export.csv, table, citation=citation, settings=settings)
        made.append(File(f"{name}-{i}" if len(exhibit.tables) > 1 else name, label, "csv", "text/csv", make))
    return made


def unmarked(caption: str) -> str:
    """A caption for files: without the Markdown that makes words bold on the page, or keeps a reader's words from doing so."""
    return re.sub(r"\\([^\w\s])", r"\1", caption.replace("**", ""))


def picture(draw: Callable[[Look], Any], kind: export.Format, *, citation: str, settings: Mapping[str, object]) -> bytes:
    """The figure drawn for print, as a file."""
    return export.figure(draw(PRINT), kind, citation=citation, settings=settings)


def slide(here: Here, exhibit: Exhibit, draw: Callable[[Look], Any], settings: Mapping[str, object]) -> Callable[[], bytes]:
    """One slide with the figure, its title the page's question."""
    t, section = here.t, lessons.PAGES[here.page].section
    kicker = f"{t(f'section.{section}')} · {t('kicker')}" if section else t("kicker")
    model = shown(here, exhibit).model
    model = "" if model in exhibit.caption else model
    source = unmarked(" · ".join(filter(None, (exhibit.source, model, exhibit.caption))))
    notes = "\n".join((unmarked(exhibit.caption), *(f"{name}: {value}" for name, value in settings.items())))
    text = {"title": t("title"), "kicker": kicker, "source": source, "notes": notes}

    def make() -> bytes:
        chart, side = draw(SLIDE), shell.SIDES.get(section)
        picture = export.figure(chart, "png", citation=exhibit.source, settings=settings)
        slide = export.Slide(picture=picture, alt_text=exhibit.alt or str(chart.description), side=side, **text)
        return export.deck([slide], language=here.link.lang)

    return make


def attempted(make: Callable[[], bytes]) -> Callable[[], bytes]:
    """The file, made inside the gate; or a few words that it could not be made, since a download cannot show an error."""
    gate = resources.gate()

    def attempt() -> bytes:
        try:
            with gate.turn():
                return make()
        except Exception as error:
            log.error("A file could not be made", exc_info=error)
            return f"This file could not be made: {type(error).__name__}. The server's log has the details.\n".encode()

    return attempt


def settings_of(here: Here, exhibit: Exhibit) -> dict[str, object]:
    """What a figure was made with: model and weights, the codes of what it shows, and the link of its page."""
    now = shown(here, exhibit)
    card = resources.cards().get(now.model)
    weights = {"weights_sha256": card.weights_sha256, "training_seed": card.seed} if card else {}
    text = {} if link.carried(now) else {"text": identified(now.own or ""), "query": identified(now.query)}
    codes = {name: code for name, code in link.write(now, here.page).items() if code}
    return {"figure": exhibit.name, **codes, **text, **weights, "link": address(here)}


def shown(here: Here, exhibit: Exhibit) -> Link:
    """The link that names a figure's own model and text; on a page without a picker a figure that names none has none."""
    if exhibit.link is None and lessons.PAGES[here.page].kind is None:
        return made_by(here, "")
    return exhibit.link or here.link


def made_by(here: Here, model: str) -> Link:
    """The link that names a figure's own model, and no text: those of the page's link are of other pages."""
    return replace(here.link, model=model, sample="", own=None)


def identified(text: str) -> str:
    """A text that is too long for a link by its beginning, its length and its SHA-256."""
    if len(text) <= link.LONGEST:
        return text
    return f"{text[: link.LONGEST]}… ({texts.count(len(text))} characters, sha256 {sha256(text.encode()).hexdigest()})"


def address(here: Here) -> str:
    """The link to what is shown."""
    url = st.context.url or ""
    return link.address(here.link, here.page, url.removesuffix(here.page).rstrip("/") + "/" if url else "")
