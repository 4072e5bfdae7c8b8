"""What only the browser knows: an inline component that sets the document's language and reports the colour scheme.

Streamlit does not run the script again when the theme changes, so charts would keep the old colours; it does run an inline
component again, which then reports the scheme. The document's language is fixed to English by Streamlit, which makes screen
readers read Korean as English and browsers offer to translate it.
"""

from pathlib import Path

import streamlit as st

from dashboard.theme import Mode

_mount = st.components.v2.component("surroundings", js=(Path(__file__).parent / "surroundings.js").read_text("utf-8"))


def scheme() -> Mode:
    """The scheme that the browser shows, as far as it is known."""
    reported = (st.session_state.get("surroundings") or {}).get("scheme") or st.context.theme.type
    return "dark" if reported == "dark" else "light"


def mount(lang: str) -> None:
    """Puts the component at the end of the page, where its first mount costs no room."""
    _mount(
        key="surroundings",
        data={"lang": lang, "scheme": scheme()},
        default={"scheme": None},
        on_scheme_change=lambda: None,
        height="content",
    )
