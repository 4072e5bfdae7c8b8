"""The frame of every page: navigation, language and mode, title, problems, arguments. One place for errors.

A page is a file in `pages/` and a line in `dashboard.lessons`. It calls `here = shell.start("agreement")`, which draws the
head and returns what the page knows about this visit, and then tells its lesson top to bottom. Everything that may fail stands
inside `with shell.guarded(here)`: a refusal becomes a sentence in the reader's language and the rest of the page stays alive; a
fault of ours is logged and said in one sentence, never shown as a traceback.
"""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.models import registry
from core.types import Card, Note, Refusal
from dashboard import link, resources, surroundings, texts, theme, tokens
from dashboard.lessons import PAGES, SECTIONS, own_key, own_keys
from dashboard.link import Link
from dashboard.texts import Texts
from dashboard.theme import Look, Side

ROOT = Path(__file__).resolve().parents[1]
SIDES: dict[str, Side] = {"charge": "charge", "defence": "defence"}
BOXES = (("definition", "condition"), ("charge", "defence"), ("shows", "shows_not"))  # of the argument, row by row
LECTURE_BASE, STUDY_BASE = 16, 13  # font size of charts in pixels
EMPTY = frozenset({"no_results", "no_results_own", "no_translator"})  # refusals that are nobody's mistake: said quietly
MOST_NAMED = 6  # allowed values that a sentence lists
QUIET = frozenset({"unknown_words", "unknown_marks"})  # notes that need no warning
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Here:
    """What a page knows about a visit."""

    page: str
    link: Link
    t: Texts
    look: Look

    @property
    def lecture(self) -> bool:
        """Whether the page is shown to a class: no lede, no downloads, no expanders."""
        return self.link.mode == "lecture"

    @property
    def card(self) -> Card | None:
        """The card of the chosen model, None where no model that the page can show is installed."""
        return usable(self.page).get(self.link.model)

    def key(self, name: str) -> str:
        """The code of one of the page's own keys."""
        return self.link.keys.get(own_key(self.page, name), PAGES[self.page].keys[name][0])


def run() -> None:
    """One run of the app: read the link, draw the navigation, run the page, report the browser's colours."""
    now = link.opened(resources.cards(), resources.sample_ids, own_keys())
    st.html(theme.stylesheet(now.lang, now.mode == "lecture"))
    page = st.navigation(menu(now.lang), position="top")
    link.suit(resources.cards(), tuple(usable(page.url_path)), resources.sample_ids)
    link.publish(page.url_path)
    try:
        page.run()
    except Exception as error:
        complain(texts.page("home", now.lang), error)
    surroundings.mount(now.lang)


def menu(lang: str) -> dict[str, list[st.Page]]:
    """The pages that exist, by section, titled in the language."""
    common = texts.page("home", lang)
    names = ["", *(common(f"section.{name}") for name in SECTIONS)]
    sections: dict[str, list[st.Page]] = {name: [] for name in names}
    for path, page in PAGES.items():
        title = texts.page(name_of(path), lang)("nav")
        entry = st.Page(page_of(path), title=title, url_path=path or None, default=not path)
        sections[common(f"section.{page.section}") if page.section else ""].append(entry)
    return {name: entries for name, entries in sections.items() if entries}


def usable(path: str) -> dict[str, Card]:
    """The cards of the models that a page can show, by name."""
    cards, page = resources.cards(), PAGES[path]
    return {
        name: card
        for name, card in cards.items()
        if page.kind is None
        or (
            registry.suits(card, page.kind)
            and all(any(other.startswith(name + part) for other in cards) for part in page.variants)
        )
    }


def page_of(path: str) -> Path:
    """The file of a page, for links to it."""
    return ROOT / "pages" / PAGES[path].file


def name_of(path: str) -> str:
    """The name under which a page's words are kept."""
    return path or "home"


def start(path: str) -> Here:
    """Draws the head of a page: side and paper, language and mode, title, lede, and what the link could not say."""
    now = link.current()
    t = texts.page(name_of(path), now.lang)
    base = LECTURE_BASE if now.mode == "lecture" else STUDY_BASE
    here = Here(path, now, t, Look(surroundings.scheme(), base))
    with st.container(gap="xsmall"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            section = PAGES[path].section
            kicker = f"{t(f'section.{section}')} · {t('kicker')}" if section else t("kicker")
            st.html(tokens.kicker_html(SIDES.get(section), kicker), width="content")
            with st.container(horizontal=True, width="content"):
                switch("lang", link.LANGUAGES, now.lang, t("mode.language"))
                switch("mode", {mode: t(f"mode.{mode}") for mode in link.MODES}, now.mode, t("mode.name"))
        st.title(t("title"), anchor=False)
        if not here.lecture:
            st.html(tokens.lede_html(t("lede")))
    if notes := st.session_state.get("link_notes"):
        warn([sentence(t, note.code, note.sentence, note.values) for note in notes])
    if not usable(path):
        problem(here.t, "no_models", "No trained model is installed.", {})
    return here


def switch(name: str, labels: Mapping[str, str], value: str, label: str) -> None:
    """A segmented control for one of the link's codes."""
    key = f"shell_{name}"
    st.session_state[key] = value
    st.segmented_control(
        label,
        list(labels),
        format_func=lambda code: labels[code],
        key=key,
        required=True,
        label_visibility="collapsed",
        on_change=lambda: link.put(**{name: st.session_state[key]}),
    )


@contextmanager
def guarded(here: Here) -> Iterator[None]:
    """Turns what goes wrong inside into a sentence in its place."""
    try:
        yield
    except Exception as error:
        complain(here.t, error)


def complain(t: Texts, error: Exception) -> None:
    """Says what went wrong: a refusal in words, a fault of ours in one sentence and in the log."""
    if isinstance(error, Refusal) and error.code in EMPTY:
        st.caption(t(f"problem.{error.code}", **spoken(t, error.values)))
        return
    if isinstance(error, Refusal):
        problem(t, error.code, str(error), error.values)
        return
    log.error("A part of a page failed", exc_info=error)
    problem(t, "unexpected", "This part of the page failed.", {})


def problem(t: Texts, code: str, english: str, values: Mapping[str, object]) -> None:
    """An amber sentence: what was given, what is shown instead, what is allowed."""
    warn([sentence(t, code, english, values)])


def warn(sentences: Sequence[str]) -> None:
    """One amber box, a paragraph for each sentence."""
    st.warning("\n\n".join(sentences), icon=":material/edit_note:")


def sentence(t: Texts, code: str, english: str, values: Mapping[str, object]) -> str:
    """The sentence for a code in the reader's language, else the English one."""
    key = next((key for key in (f"problem.{code}", f"note.{code}") if t.has(key)), "problem.other")
    return t(key, **{"sentence": texts.plain(english, 400)} | spoken(t, values))


def spoken(t: Texts, values: Mapping[str, object]) -> dict[str, str]:
    """Values as they can stand in a sentence; what a reader typed cannot become markup, and long lists are cut."""
    said: dict[str, str] = {}
    for name, value in values.items():
        if isinstance(value, tuple):
            cut = [texts.plain(item) or "–" for item in value[:MOST_NAMED]]
            said[name] = ", ".join(cut)
            if len(value) > MOST_NAMED:
                said[name] = t("problem.and_more", names=said[name], count=len(value) - MOST_NAMED)
        elif isinstance(value, int):
            said[name] = texts.count(value)
        else:
            said[name] = t("problem.used_default") if name == "used" and not value else texts.plain(value, 200) or "–"
    return said


def show_notes(here: Here, notes: Sequence[Note]) -> None:
    """What the reader should know about an answer that was given all the same."""
    for note in notes:
        if note.code in QUIET:
            st.caption(here.t(f"note.{note.code}", **spoken(here.t, note.values)))
        else:
            problem(here.t, note.code, note.sentence, note.values)


@contextmanager
def computing(here: Here, height: int) -> Iterator[resources.Waiting]:
    """Yields what shows, once there is something to wait for, the place in the queue over a skeleton of the figure."""
    slot = st.empty()
    lines: list[DeltaGenerator] = []

    def waiting(place: int, seconds: float | None) -> None:
        if not lines:
            with slot.container():
                lines.append(st.empty())
                st.skeleton(height=height)
        lines[0].caption(queue_line(here, place, seconds))

    try:
        yield waiting
    finally:
        slot.empty()


def queue_line(here: Here, place: int, seconds: float | None) -> str:
    """That it is computing, or how many come before and for about how long."""
    if not place:
        return f":material/progress_activity: {here.t('figure.computing')}"
    if seconds is None:
        return f":material/hourglass_top: {here.t('figure.queue_first', place=place)}"
    return f":material/hourglass_top: {here.t('figure.queue', place=place, seconds=max(1, round(seconds)))}"


def argument(here: Here, rows: Sequence[Sequence[str]]) -> None:
    """Boxes of the argument, each row its own columns, so that a phone keeps their order."""
    for row in rows:
        for column, name in zip(st.columns(len(row)), row, strict=True):
            side = SIDES.get(name)
            column.html(tokens.argument_html(side, here.t(f"heading.{name}"), here.t(f"argument.{name}")))


def side_by_side(here: Here, rows: Sequence[Sequence[Callable[..., object]]], *given: object) -> None:
    """Figures in rows, each in its own column and with its own problems; every one is given the visit and what is `given`."""
    for row in rows:
        for column, draw in zip(st.columns(len(row), gap="medium"), row, strict=True):
            with column, guarded(here):
                draw(here, *given)


def close(here: Here, boxes: Sequence[Sequence[str]] = BOXES) -> None:
    """The end of every lesson: the boxes of the argument, the closing line, the source, and what is longer."""
    argument(here, boxes)
    st.markdown(f"**{here.t('argument.closing')}**")
    source(here)
    more(here, {"method": "method.text", "next": "method.next"})


def source(here: Here) -> None:
    """The line that names where the experiment comes from."""
    st.caption(f"{here.t('heading.source')}: {here.t('argument.source')}")


def more(here: Here, sections: Mapping[str, str]) -> None:
    """Expanders for what is longer than three lines: heading and text by their keys; not in a lecture."""
    if not here.lecture:
        for heading, text in sections.items():
            with st.expander(here.t(f"heading.{heading}")):
                st.markdown(here.t(text))
