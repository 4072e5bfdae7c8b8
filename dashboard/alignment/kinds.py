"""Fourth chapter: which attention translates best after equally many epochs, and whether it looks at the right words."""

from functools import partial
from typing import Any

import streamlit as st

from dashboard import charts, exhibits, resources, shell, texts, tokens
from dashboard.alignment import measured
from dashboard.alignment.typed import GERMAN
from dashboard.exhibits import Exhibit
from dashboard.shell import Here


def show(here: Here) -> None:
    """Bleu of the seven trainings on the left, agreement with the links of the data on the right."""
    if not here.lecture:
        st.markdown(here.t("kinds.idea"))
    left, right = st.columns(2, gap="medium")
    with left, shell.guarded(here):
        compared(here)
    with right, shell.guarded(here):
        aligned(here)


def compared(here: Here) -> None:
    """One dot with its interval for each kind of attention."""
    t = here.t
    with exhibits.figure(here, "kinds", t("kinds.title")) as frame:
        table = resources.table(measured.kinds)
        rows = table.assign(group=[t(f"kinds.{name}") for name in table["attention"]], series=t("kinds.bleu"))
        rows = rows.rename(columns={"bleu": "mean", "n_test": "n"})
        listed = ", ".join(f"{row['group']} {row['mean']:.1f}" for row in rows.to_dict("records"))
        alt = t("kinds.alt", values=listed)
        words: dict[str, Any] = {"x": t("kinds.bleu"), "alt_text": alt, "n_label": t("kinds.n")}
        shown = rows[["group", "series", "mean", "low", "high", "n"]]
        draw = partial(charts.intervals, shown, domain=(0.0, float(rows["high"].max()) * 1.05), **words)
        none, best = table[table["attention"] == "none"]["bleu"], table.iloc[0]
        values = {"best": t(f"kinds.{best['attention']}"), "score": f"{best['bleu']:.1f}", "none": f"{float(none.iloc[0]):.1f}"}
        st.markdown(t("kinds.reading", **values))
        caption = t("kinds.caption", epochs=measured.EPOCHS, n=texts.count(int(table["n_test"].iloc[0])))
        trained = ["loss", "validation_bleu", "epochs", "parameters", "cpu_seconds"]
        full = rows[["group", "mean", "low", "high", "n", "recall", "aer", *trained]]
        exhibit = Exhibit("kinds", caption, t("kinds.source"), {"": full}, lambda look: draw(look=look), alt)
        exhibits.show(here, frame, exhibit, t("kinds.note"))


def aligned(here: Here) -> None:
    """How many of the data's links the translator's largest weights find, beside the diagonal."""
    t = here.t
    with exhibits.figure(here, "aligned", t("aligned.title")) as frame:
        table = resources.table(measured.agreement)
        raw = resources.results("alignments", measured.GERMAN)
        rows = table.assign(group=[t(f"aligned.{name}") for name in table["group"]], series=t("aligned.recall"))
        ours, straight = (row for row in table.to_dict("records"))
        values = {
            "recall": f"{100 * ours['recall']:.0f}",
            "precision": f"{100 * ours['precision']:.0f}",
            "aer": tokens.number(ours["aer"]),
            "diagonal": f"{100 * straight['recall']:.0f}",
        }
        alt = t("aligned.alt", **values)
        words: dict[str, Any] = {"x": t("aligned.recall"), "alt_text": alt, "n_label": t("aligned.n")}
        shown = rows[["group", "series", "mean", "low", "high", "n"]]
        draw = partial(charts.intervals, shown, domain=(0.0, 1.0), **words)
        st.markdown(t("aligned.reading", **values))
        counts = {"n": len(raw), "links": int(raw["links"].sum()), "dropped": int(raw["dropped"].sum())}
        caption = t("aligned.caption", **{name: texts.count(count) for name, count in counts.items()})
        full = rows[["group", "recall", "low", "high", "precision", "aer", "n"]]
        own = exhibits.made_by(here, GERMAN.model)
        exhibit = Exhibit("aligned", caption, t("aligned.source"), {"": full}, lambda look: draw(look=look), alt, link=own)
        exhibits.show(here, frame, exhibit, t("aligned.note"))
