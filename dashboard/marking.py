"""The words that a reader takes for the reason, marked before anything is shown.

Each word is a button of its own, in the order of the text, repeated words and punctuation included. Marking happens in the
browser: Python hears of it when the reader locks it in, and from then on the link carries it. In a lecture, too, the class
marks first. What was typed reaches a button as text, never as markup.
"""

from collections.abc import Sequence

import streamlit as st

from core.text import words as split
from dashboard import codes, lessons, link, resources, shell, texts
from dashboard.shell import Here
from dashboard.tokens import readable


def marked(here: Here, words: Sequence[str]) -> tuple[int, ...] | None:
    """The positions that the link marks in this text; none where the reader passed, None where nothing is decided yet."""
    return codes.read(words, here.key("marked"))


def ask(here: Here, words: Sequence[str]) -> None:
    """The words as buttons, and the two ways on: lock the marks in, or see the result without."""
    t, stamp = here.t, codes.stamp(words)
    field = f"marks_{stamp}"

    def locked() -> None:
        if chosen := st.session_state[field]:
            put(here, codes.written(words, chosen))

    with st.form(f"marking_{stamp}", border=False):
        st.markdown(t("marking.question"))
        st.pills(
            t("marking.words"),
            list(range(len(words))),
            selection_mode="multi",
            format_func=lambda place: texts.plain(readable(words[place])),
            key=field,
            label_visibility="collapsed",
        )
        with st.container(horizontal=True, vertical_alignment="center"):
            sent = st.form_submit_button(t("predict.lock"), type="primary", icon=":material/lock:", on_click=locked)
            passed = codes.written(words, ())
            st.form_submit_button(t("marking.pass"), type="tertiary", on_click=put, args=(here, passed))
    if sent and not st.session_state[field]:
        shell.problem(t, "nothing_marked", "No word is marked.", {})


def again(here: Here) -> None:
    """A quiet button that takes the marks back."""
    st.button(here.t("marking.again"), type="tertiary", on_click=put, args=(here, ""))


def put(here: Here, code: str) -> None:
    """The link with other marks."""
    key = lessons.own_key(here.page, "marked")
    link.put(keys={**link.current().keys, key: code})


def open_case(here: Here, model: str, sample: str, chosen: Sequence[int]) -> None:
    """The link with another model and sentence, marked."""
    read = split(resources.samples(model)[sample].text)
    put(here, codes.written(read, chosen))
    link.put(model=model, sample=sample, own=None, query="", target="")
