"""A model of the reader's own, offered below the model picker of every page that shows Transformers.

The reader names a folder of the machine that runs the dashboard, or, when online, a name on the Hugging Face hub, and says
whether it reads one text or two. What was opened stands in the picker of this session alone: nobody else sees it, a shared link
does not carry it, and closing the tab forgets it. The models themselves are shared resources of a bounded number
(`resources.own_model`). On a server that many share, `ATTENTION_OWN_MODELS=0` takes the offer away.
"""

import os
from dataclasses import dataclass
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.models import own
from core.types import Kind
from dashboard import controls, link, resources, shell, texts
from dashboard.shell import Here
from dashboard.texts import Texts

SWITCH = "ATTENTION_OWN_MODELS"


@dataclass(frozen=True)
class Wish:
    """Which model the reader asked for: a folder, or a name on the hub."""

    source: str
    on_hub: bool
    kind: Kind


def offer(here: Here) -> None:
    """The expander below the picker; opens what is asked for and shows it. Not in a lecture, nor where it is switched off."""
    if here.lecture or os.environ.get(SWITCH) == "0":
        return
    t = texts.page("own_model", here.link.lang)
    with st.expander(t("title"), icon=":material/folder_open:", key="own_model"):
        if wish := asked(t):
            try:
                show(opened(t, wish))
            except Exception as error:
                shell.complain(t, error)
        st.caption(t("rules", families=", ".join(own.FAMILIES), megabytes=texts.count(own.LARGEST // 10**6)))
        for name in resources.opened_here():
            close_button(t, name)


def asked(t: Texts) -> Wish | None:
    """Two fields with a button each, and whether the model reads one text or two; what was asked for in this run."""
    kind = st.segmented_control(
        t("reads"),
        list(own.KINDS),
        format_func=lambda kind: t(f"reads_{kind}"),
        default=own.KINDS[0],
        key="own_kind",
        required=True,
    )
    with st.form("own_folder_form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        folder = st.text_input(t("folder"), key="own_folder", placeholder=t("folder_example"), help=t("folder_help"))
        from_folder = st.form_submit_button(t("open"))
    with st.form("own_hub_form", border=False), st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(t("hub"), own.SUGGESTED, key="own_hub", help=t("hub_help"))
        from_hub = st.form_submit_button(t("fetch"), icon=":material/download:")
    if from_folder or from_hub:
        return Wish(name if from_hub else folder, from_hub, kind)
    return None


def opened(t: Texts, wish: Wish) -> str:
    """The name under which the model that was asked for is open in this session; what has come of it is told."""
    place = st.empty()
    place.progress(0.0, t("opening"))
    try:
        folder = str(own.fetch(wish.source, partial(tell, t, place))) if wish.on_hub else wish.source
        return resources.open_here(folder, wish.kind)
    finally:
        place.empty()


def tell(t: Texts, place: DeltaGenerator, there: int, total: int) -> None:
    """Says how much of a model has come over the network."""
    megabytes = {"there": texts.count(there // 10**6), "total": texts.count(max(1, total // 10**6))}
    place.progress(min(1.0, there / max(1, total)), t("fetching", **megabytes))


def show(name: str) -> None:
    """Runs the page again with the model."""
    now = link.moved(link.current(), name, controls.suits, resources.sample_ids)
    link.put(model=now.model, sample=now.sample, own=now.own, query=now.query, target=now.target)
    st.rerun()


def close_button(t: Texts, name: str) -> None:
    """Forgets a model that this session opened; the page then gives way to a model that it has."""
    label, key = t("close", model=texts.plain(name)), f"own_close_{name}"
    st.button(label, key=key, type="tertiary", on_click=lambda: resources.close_here(name))
