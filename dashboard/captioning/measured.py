"""The figures over scenes that no model saw: where attention lies while an object is named, and what words need of it."""

from collections.abc import Hashable, Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard import charts, exhibits, texts, tokens
from dashboard.captioning import told
from dashboard.captioning.keys import MODELS
from dashboard.captioning.told import CHANGED, NEW, TEST, WHERE
from dashboard.exhibits import Exhibit
from dashboard.shell import Here
from dashboard.theme import Look


def figure(here: Here, name: str, columns: tuple[str, ...]) -> None:
    """Means over test scenes as intervals, for every model whose table is there."""
    t = here.t
    with exhibits.figure(here, name, t(f"{name}.title")) as frame:
        codes = told.measured_models() or [next(iter(MODELS))]
        frames = told.means(codes, columns)
        table = frames.assign(
            group=[t(f"{name}.{column.split(':')[-1]}") for column in frames["group"]],
            series=[t(f"model.{code}") for code in frames["series"]],
        )
        rows = table.to_dict("records")
        said = ", ".join(f"{row['group']}, {row['series']}: {tokens.number(row['mean'])}" for row in rows)
        alt, x = t(f"{name}.alt", values=said), t(f"{name}.x")

        def draw(look: Look) -> Any:
            return charts.intervals(table, x=x, alt_text=alt, domain=(0.0, 1.0), n_label=t("measured.n"), look=look)

        caption = t(f"{name}.caption", n=texts.count(int(table["n"].min())), seeds=seeds(codes)) + unmeasured(here, codes)
        exhibits.show(here, frame, Exhibit(name, caption, t("measured.source"), {"": table}, draw, alt), t(f"{name}.note"))


def shares(here: Here) -> None:
    """Where attention lies while an object is named."""
    figure(here, "shares", WHERE)


def changes(here: Here) -> None:
    """How often another word is said under each change."""
    figure(here, "changes", CHANGED)


def exact(here: Here) -> None:
    """How many captions are exactly right, as they are and with changed weights."""
    t = here.t
    with exhibits.figure(here, "exact", t("exact.title")) as frame:
        codes = told.measured_models() or [next(iter(MODELS))]
        table = told.exact(codes)
        shown = pd.DataFrame(
            {
                t("exact.model"): [t(f"model.{code}") for code in table["model"]],
                t("exact.scenes"): [t({TEST: "exact.test", NEW: "exact.new"}[split]) for split in table["split"]],
                t("exact.right"): [interval(row) for row in table.to_dict("records")],
                t("tried.uniform"): [f"{100 * value:.1f} %" for value in table["uniform"]],
                t("tried.shuffled"): [f"{100 * value:.1f} %" for value in table["shuffled"]],
            }
        )
        st.table(shown, hide_index=True, border="horizontal")
        caption = t("exact.caption", n=texts.count(int(table["n"].min())), seeds=seeds(codes)) + unmeasured(here, codes)
        exhibits.show(here, frame, Exhibit("exact", caption, t("measured.source"), {"": table}), t("exact.note"))


def interval(row: Mapping[Hashable, Any]) -> str:
    """A share with its interval, in percent."""
    return f"{100 * row['exact']:.1f} % ({100 * row['low']:.1f} – {100 * row['high']:.1f})"


def unmeasured(here: Here, codes: list[str]) -> str:
    """The end of a caption that says which models are still to be measured; empty where none is."""
    names = [here.t(f"model.{code}") for code in MODELS if code not in codes]
    return " " + here.t("figure.unmeasured", names=", ".join(names)) if names else ""


def seeds(codes: list[str]) -> str:
    """The seeds of the trainings."""
    found = {str(told.measured(code).attrs["provenance"]["seed"]) for code in codes}
    return ", ".join(sorted(found))
