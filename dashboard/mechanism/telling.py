"""What every chapter does: an idea in a few words, a guess before the result, and the way to the next chapter."""

from collections.abc import Mapping

import streamlit as st

from dashboard import controls, tokens
from dashboard.lessons import PAGES
from dashboard.mechanism.editor import set_key
from dashboard.shell import Here


def idea(here: Here, chapter: str) -> None:
    """The chapter's one idea; a lecturer says it."""
    if not here.lecture:
        st.markdown(here.t(f"{chapter}.idea"))


def ask(here: Here, chapter: str, options: Mapping[str, str], height: str = "9rem", **values: str) -> str | None:
    """The reader's guess, "" where it was skipped; None while it is still to be made, with a veil over the result."""
    option = controls.guess(here, chapter, here.t(f"{chapter}.question", **values), options).option
    if option is None:
        st.html(tokens.veil_html(here.t(f"{chapter}.veil"), height))
    return option


def guessed(here: Here, chapter: str, guess: str, measured: str) -> None:
    """The guess and what came out, in one muted line."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(here.t("predict.guessed", guess=guess, measured=measured), width="content")
        controls.guess_again(here, chapter)


def onward(here: Here, chapter: str) -> None:
    """A button to the next chapter, and the sentence that leads there."""
    chapters = PAGES[here.page].keys["chapter"]
    place = chapters.index(chapter) + 1
    if place < len(chapters):
        following = chapters[place]
        label = here.t("chapter.next", name=here.t(f"chapter.{following}"))
        st.button(
            label, key="mechanism-next", icon=":material/arrow_forward:", on_click=lambda: set_key(here, "chapter", following)
        )
