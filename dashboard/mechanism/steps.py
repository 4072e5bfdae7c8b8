"""First chapter: one query, a few words, and attention in three steps that the reader walks with numbers of their own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
import torch

from core.mechanism import Steps, attend
from dashboard import charts, controls, exhibits, shell, spread, texts, tokens
from dashboard.exhibits import Exhibit
from dashboard.mechanism import editor, examples, formulas, telling, vectors
from dashboard.mechanism.keys import KEYS, TEMPERATURES
from dashboard.mechanism.numbers import Table
from dashboard.shell import Here
from dashboard.theme import Look

COLUMNS = ("k1", "k2", "v1", "v2")


@dataclass(frozen=True)
class Asked:
    """What is asked, of which words, and what comes of it at a temperature."""

    table: Table
    query: tuple[float, ...]
    temperature: float
    found: Steps

    @property
    def scores(self) -> list[float]:
        return self.found.scores[0].tolist()

    @property
    def weights(self) -> list[float]:
        return self.found.weights[0].tolist()

    @property
    def keys(self) -> list[tuple[float, ...]]:
        return [row[:2] for row in self.table.rows]

    @property
    def values(self) -> list[tuple[float, ...]]:
        return [row[2:] for row in self.table.rows]

    @property
    def powers(self) -> list[float]:
        """exp(s / T); finite, since numbers are at most `numbers.LARGEST`."""
        return torch.exp(self.found.scores[0] / self.temperature).tolist()

    @property
    def most(self) -> int:
        """The place of the largest weight."""
        return int(np.argmax(self.weights))


def asked(table: Table, query: tuple[float, ...], temperature: float = 1.0) -> Asked:
    """The three steps of attention with dot products."""
    rows = torch.tensor(table.rows, dtype=torch.float64)
    scores = rows[:, :2] @ torch.tensor(query, dtype=torch.float64)
    return Asked(table, query, temperature, attend(scores[None], rows[:, 2:], temperature=temperature))


def show(here: Here) -> None:
    """The reader's numbers on the left, the step on the right."""
    t = here.t
    with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
        step = controls.choose(here, "step", {name: t(f"steps.{name}") for name in KEYS["step"]}, t("steps.step"))
        temperature = 1.0
        if step != "scores":
            names = {code: code for code in sorted(TEMPERATURES, key=float)}
            help_text = t("steps.temperature_help")
            temperature = float(controls.choose(here, "temperature", names, t("steps.temperature"), help_text=help_text))
    left, right = st.columns(2, gap="medium")
    with left:
        given = numbers(here)
    with right, shell.guarded(here):
        if given is not None:
            result(here, step, asked(*given, temperature))


def numbers(here: Here) -> tuple[Table, tuple[float, ...]] | None:
    """The query and the words, to be edited; None where nothing can be used, which is said."""
    t = here.t
    given: tuple[Table, tuple[float, ...]] | None = None
    with exhibits.figure(here, "numbers", t("steps.numbers")) as right:
        with right:
            editor.reset(here, "numbers", "query")
        telling.idea(here, "steps")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            query = editor.vector(here, "query", examples.QUERY, (t("steps.q1"), t("steps.q2")))
        table = editor.table(here, "numbers", examples.review(here.link.lang), {c: t(f"steps.{c}") for c in COLUMNS})
        st.caption(t("steps.how"))
        given = table, query
    return given


def result(here: Here, step: str, found: Asked) -> None:
    """One step: its formula with the numbers in it, its picture, its numbers as a table; a guess first."""
    t = here.t
    draw: dict[str, Callable[..., Any]] = {"scores": scores, "softmax": weights, "sum": summed}
    with exhibits.figure(here, step, t(f"steps.{step}_title")) as frame:
        options = {str(place): word for place, word in enumerate(found.table.words)}
        query = ", ".join(tokens.number(number, 1) for number in found.query)
        option = telling.ask(here, "steps", options, "16rem", query=query)
        if option is None:
            return
        if option in options:
            telling.guessed(here, "steps", options[option], texts.plain(found.table.words[found.most]))
        draw[step](here, frame, found)


def scores(here: Here, frame: Any, found: Asked) -> None:
    """Who points where the query points: arrows, and the dot products as bars."""
    t = here.t
    st.latex(formulas.dot_products(found.table.words, found.query, found.keys, found.scores))
    origin = (0.0, 0.0)
    lines = [(word, origin, (key[0], key[1]), False) for word, key in zip(found.table.words, found.keys, strict=True)]
    lines.append((t("steps.query"), origin, (found.query[0], found.query[1]), True))
    alt = t("steps.plane_alt", values=spoken(found.table.words, found.scores))
    picture = vectors.arrows(lines)
    table = scored(found)

    def plane(look: Look) -> Any:
        return vectors.plane(picture, x=t("steps.first"), y=t("steps.second"), alt_text=alt, look=look)

    def bars(look: Look) -> Any:
        return charts.bars(table, found.table.words, x=t("steps.score"), alt_text=alt, look=look)

    beside(plane(here.look), bars(here.look), "scores")
    caption, note = t("steps.scores_caption"), t("steps.scores_reading", word=texts.plain(found.table.words[found.most]))
    exhibit = Exhibit(
        "scores", caption, t("steps.source"), {"": table}, lambda look: spread.stacked([plane(look), bars(look)]), alt, False
    )
    exhibits.show(here, frame, exhibit, note)


def weights(here: Here, frame: Any, found: Asked) -> None:
    """The scores as shares of one whole; at another temperature with the shares at T = 1 as ticks."""
    t, words = here.t, found.table.words
    st.latex(formulas.softmax(words, found.powers, found.weights, found.temperature))
    table = scored(found).rename(columns={"value": "score"}).assign(power=found.powers, value=found.weights)
    before = ""
    if found.temperature != 1:
        table, before = table.assign(plain=asked(found.table, found.query).weights), "plain"
    alt = t("steps.weights_alt", values=spoken(words, found.weights))

    def draw(look: Look) -> Any:
        return vectors.shares(table, words, x=t("steps.weight"), alt_text=alt, before=before, look=look)

    caption = t("steps.softmax_ticks" if before else "steps.softmax_caption", temperature=f"{found.temperature:g}")
    largest = {"word": texts.plain(words[found.most]), "share": f"{100 * found.weights[found.most]:.0f}"}
    note = t("steps.softmax_reading", **largest)
    shown = table.rename(columns={"value": "weight", "plain": "weight_1"})
    exhibits.show(here, frame, Exhibit("softmax", caption, t("steps.source"), {"": shown}, draw, alt), note)


def summed(here: Here, frame: Any, found: Asked) -> None:
    """Each value shortened by its weight, laid end to end, and the context that they lead to."""
    t, words = here.t, found.table.words
    context = found.found.context[0].tolist()
    st.latex(formulas.weighted_sum(words, found.weights, found.values, context))
    parts = found.found.parts[0].numpy()
    picture = vectors.chained([(word, (part[0], part[1])) for word, part in zip(words, parts, strict=True)], t("steps.context"))
    said = ", ".join(tokens.number(number) for number in context)
    alt = t("steps.sum_alt", context=said)

    def draw(look: Look) -> Any:
        return vectors.plane(picture, x=t("steps.v1_axis"), y=t("steps.v2_axis"), alt_text=alt, chain=True, look=look)

    shown = pd.DataFrame(
        {
            "word": [*words, t("steps.context")],
            "weight": [*found.weights, sum(found.weights)],
            "part_1": [*parts[:, 0], context[0]],
            "part_2": [*parts[:, 1], context[1]],
        }
    )
    with st.container(width=400):
        st.altair_chart(draw(here.look), theme=None, key="mechanism-sum-plane")
    exhibit = Exhibit("sum", t("steps.sum_caption"), t("steps.source"), {"": shown}, draw, alt, False)
    note = t("steps.sum_reading", first=tokens.number(context[0]), second=tokens.number(context[1]))
    exhibits.show(here, frame, exhibit, note)


def beside(first: Any, second: Any, name: str) -> None:
    """Two small charts side by side."""
    for place, (column, chart) in enumerate(zip(st.columns(2, gap="small"), (first, second), strict=True)):
        column.altair_chart(chart, theme=None, key=f"mechanism-{name}-{place}")


def scored(found: Asked) -> pd.DataFrame:
    """position, word, value (the score)."""
    return pd.DataFrame(
        {"position": range(len(found.scores)), "word": list(found.table.words), "value": [s + 0.0 for s in found.scores]}
    )


def spoken(words: tuple[str, ...], numbers: list[float]) -> str:
    """Words with their numbers as a list to listen to."""
    return ", ".join(f"{word} {tokens.number(number)}" for word, number in zip(words, numbers, strict=True))
