"""First chapter: what fades over distance, and what attention does about it, by copying rows of symbols."""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import charts, controls, exhibits, resources, shell, texts, tokens
from dashboard.alignment import measured
from dashboard.exhibits import Exhibit
from dashboard.shell import Here
from dashboard.theme import Look

OPTIONS = ("all", "half", "none")
HEIGHT = 300
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def show(here: Here) -> None:
    """The idea; how many rows come out right by their length; how strongly the first symbol is still felt."""
    t = here.t
    if not here.lecture:
        st.markdown(t("memory.idea"))
    left, right = st.columns(2, gap="medium")
    with left, shell.guarded(here):
        copied(here)
    with right, shell.guarded(here):
        felt(here)


def said(here: Here) -> dict[str, Any]:
    """What a caption says of how the table was made."""
    made = resources.results("distance", measured.COPYING).attrs["provenance"]
    return {name: texts.count(int(made[name])) for name in ("seeds", "steps", "symbols", "tested", "dim")}


def copied(here: Here) -> None:
    """The share of symbols that are copied, by the length of the row, after a guess."""
    t = here.t
    with exhibits.figure(here, "copied", t("memory.copied")) as frame:
        table, whole = (resources.table(measured.distance, column) for column in ("symbols", "exact"))
        option = controls.guess(here, "memory", t("memory.question"), {name: t(f"memory.{name}") for name in OPTIONS}).option
        if option is None:
            st.html(tokens.veil_html(t("memory.veil"), "16rem"))
            return
        ends = {way: at(table, way, 80) for way in measured.WAYS}
        if option:
            with st.container(horizontal=True, vertical_alignment="center"):
                line = t("predict.guessed", guess=t(f"memory.{option}"), measured=f"{100 * ends['none']:.0f} %")
                st.caption(line, width="content")
                controls.guess_again(here, "memory")
        values = {f"{way}_{length}": f"{100 * at(table, way, length):.0f}" for way in measured.WAYS for length in (5, 20, 80)}
        alt = t("memory.copied_alt", **values)
        made = named(here, table)

        def draw(look: Look) -> Any:
            words: dict[str, Any] = {"x": t("memory.length"), "y": t("memory.symbols_right"), "alt_text": alt}
            return charts.line(made, domain=(0.0, 1.0), height=HEIGHT, look=look, **words)

        st.markdown(t("memory.copied_reading", **values))
        tables = {t("memory.symbols_right"): made, t("memory.rows_right"): named(here, whole)}
        exhibit = Exhibit("copied", t("memory.copied_caption", **said(here)), t("memory.source"), tables, draw, alt)
        exhibits.show(here, frame, exhibit, t("memory.copied_note"))


def felt(here: Here) -> None:
    """The gradient of the first output with respect to the state that read its symbol, before and after training."""
    t = here.t
    with exhibits.figure(here, "felt", t("memory.felt")) as frame:
        table, after = (resources.table(measured.distance, column) for column in ("gradient_untrained", "gradient"))
        if not controls.revealed(here, "memory"):
            st.html(tokens.veil_html(t("memory.veil"), "20rem"))
            return
        made = named(here, table)
        values = {f"{way}_{length}": power(at(table, way, length)) for way in measured.WAYS for length in (5, 80)}
        alt, ends = t("memory.felt_alt", **values), (float(table["low"].min()) - 0.5, float(table["high"].max()) + 0.5)
        words: dict[str, Any] = {"x": t("memory.length"), "y": t("memory.gradient"), "alt_text": alt}
        draw = partial(charts.line, made, domain=ends, height=HEIGHT, **words)
        st.markdown(t("memory.felt_reading", **values))
        tables = {t("memory.before"): made, t("memory.after"): named(here, after)}
        caption, cited = t("memory.felt_caption", **said(here)), t("memory.felt_source")
        exhibit = Exhibit("felt", caption, cited, tables, lambda look: draw(look=look), alt)
        exhibits.show(here, frame, exhibit, t("memory.felt_note"))


def named(here: Here, table: pd.DataFrame) -> pd.DataFrame:
    """The table with the ways in the reader's words."""
    return table.assign(series=[here.t(f"memory.way_{way}") for way in table["series"]])


def power(logarithm: float) -> str:
    """A power of ten as it is written in a sentence: two digits where it is not small."""
    if logarithm > -4:
        return f"{10**logarithm:.2g}"
    digits, exponent = f"{10**logarithm:.0e}".split("e")
    return f"{digits} · 10{str(int(exponent)).translate(RAISED)}"


def at(table: pd.DataFrame, way: str, length: int) -> float:
    """A point of a curve."""
    return float(table[(table["series"] == way) & (table["x"] == length)]["mean"].iloc[0])
