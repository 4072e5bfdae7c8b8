"""What every chapter does: an idea in a few words, a guess before the result, and the way to the next chapter."""

from collections.abc import Mapping

import streamlit as st

from dashboard import controls, tokens
from dashboard.mechanism.editor import set_key
from dashboard.mechanism.keys import KEYS
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


def guessed(here: Here, about: str, guess: str, measured: str) -> None:
    """The guess about something and what came out, in one muted line."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(here.t("predict.guessed", guess=guess, measured=measured), width="content")
        controls.guess_again(here, about)


def onward(here: Here, chapter: str) -> None:
    """A button to what comes next: in the first chapter the next step, else the next chapter."""
    way = [("steps", "step", step) for step in KEYS["step"]]
    way += [("chapter", "chapter", name) for name in KEYS["chapter"][1:]]
    at = way.index(("steps", "step", here.key("step")) if chapter == "steps" else ("chapter", "chapter", chapter))
    if at + 1 < len(way):
        words, key, code = way[at + 1]
        label = here.t("chapter.next", name=here.t(f"{words}.{code}"))
        st.button(label, key="mechanism-next", icon=":material/arrow_forward:", on_click=lambda: set_key(here, key, code))
