"""Fifth chapter: does it matter where a trained translator looks? Its weights made uniform or shuffled while it writes.

Over the test set, after a guess; then on a sentence of the reader's own.
"""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core.translation import CHANGES
from dashboard import charts, controls, exhibits, resources, shell, texts, tokens
from dashboard.alignment import measured, writing
from dashboard.alignment.typed import GERMAN
from dashboard.exhibits import Exhibit
from dashboard.shell import Here

OPTIONS = ("little", "half", "most")


def show(here: Here) -> None:
    """The test set, and one sentence once the guess is made."""
    if not here.lecture:
        st.markdown(here.t("moved.idea"))
    test_set(here)
    if controls.revealed(here, "moved"):
        one_sentence(here)


def test_set(here: Here) -> None:
    """The share of its score that each model keeps, after a guess."""
    t = here.t
    with shell.guarded(here), exhibits.figure(here, "moved", t("moved.title")) as frame:
        table = resources.table(measured.kept)
        option = controls.guess(here, "moved", t("moved.question"), {name: t(f"moved.{name}") for name in OPTIONS}).option
        if option is None:
            st.html(tokens.veil_html(t("moved.veil"), "14rem"))
            return
        kept = {(row["model"], row["change"]): row for row in table.to_dict("records")}
        german, reviews = (kept[name, "shuffled"] for name in (measured.GERMAN, measured.REVIEWS))
        if option:
            with st.container(horizontal=True, vertical_alignment="center"):
                lost = f"{100 * (1 - german['mean']):.0f} %"
                st.caption(t("predict.guessed", guess=t(f"moved.{option}"), measured=lost), width="content")
                controls.guess_again(here, "moved")
        names = {measured.GERMAN: t("moved.translator"), measured.REVIEWS: t("moved.classifier")}
        rows = table.assign(
            group=[t(f"moved.{change}") for change in table["change"]],
            series=[names[str(model)] for model in table["model"]],
            n=table["n_test"],
        )
        values = {
            "own": f"{kept[measured.GERMAN, 'own']['value']:.1f}",
            "uniform": f"{kept[measured.GERMAN, 'uniform']['value']:.1f}",
            "shuffled": f"{german['value']:.1f}",
            "accuracy": f"{100 * kept[measured.REVIEWS, 'own']['value']:.1f}",
            "accuracy_uniform": f"{100 * kept[measured.REVIEWS, 'uniform']['value']:.1f}",
            "accuracy_shuffled": f"{100 * reviews['value']:.1f}",
        }
        alt = t("moved.alt", **values)
        shown = rows[["group", "series", "mean", "low", "high", "n"]]
        words: dict[str, Any] = {"x": t("moved.kept"), "alt_text": alt, "n_label": t("kinds.n")}
        draw = partial(charts.intervals, shown, domain=(0.0, max(1.05, float(rows["high"].max()))), **words)
        st.markdown(t("moved.reading", **values))
        counts = {"german": texts.count(german["n_test"]), "reviews": texts.count(reviews["n_test"]), "draws": german["draws"]}
        full = rows[["series", "group", "value", "mean", "low", "high", "draws", "n"]]
        caption = t("moved.caption", **counts)
        own = exhibits.made_by(here, GERMAN.model)
        exhibit = Exhibit("moved", caption, t("moved.source"), {"": full}, lambda look: draw(look=look), alt, link=own)
        exhibits.show(here, frame, exhibit, t("moved.note"))


def one_sentence(here: Here) -> None:
    """What the translator writes for one sentence with its own weights, equal ones and shuffled ones."""
    t = here.t
    text = writing.field(here, GERMAN)
    with shell.guarded(here), exhibits.figure(here, "moved-one", t("moved.one")) as frame:
        with shell.computing(here, 120) as waiting:
            found = {change: resources.translated(GERMAN.model, text, waiting, change) for change in CHANGES}
        shell.show_notes(here, found["own"].notes)
        lines = pd.DataFrame([{"group": t(f"moved.{change}"), "text": one.text} for change, one in found.items()])
        for line in lines.to_dict("records"):
            st.markdown(f"{line['group']}: **{writing.quoted(line['text'])}**")
        caption, own = t("moved.one_caption"), exhibits.made_by(here, GERMAN.model)
        exhibits.show(here, frame, Exhibit("moved-one", caption, writing.source(here, GERMAN), {"": lines}, link=own))
