"""Second chapter: six ways to score the same words, with the reader's numbers, and what tells them apart."""

from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
import torch

from core.mechanism import attend, scored, small
from core.models.scores import SCORES
from dashboard import controls, exhibits, texts, tokens
from dashboard.exhibits import Exhibit
from dashboard.mechanism import examples, formulas, telling
from dashboard.mechanism.numbers import Table, table_of
from dashboard.shell import Here
from dashboard.strips import strips_chart

OPTIONS = ("none", "location", "additive", "all")


def given(here: Here) -> tuple[Table, tuple[float, ...]]:
    """The words and the query as the reader left them in the first chapter."""
    code, query = here.key("numbers"), here.key("query")
    table = table_of(code) if code else examples.review(here.link.lang)
    return table, tuple(map(float, query.split(","))) if query else examples.QUERY


def all_scores(table: Table, query: tuple[float, ...]) -> dict[str, torch.Tensor]:
    """The scores of every word under each of the six, the keys read as states: name to "token"."""
    states = torch.tensor([row[:2] for row in table.rows], dtype=torch.float64)
    asks = torch.tensor(query, dtype=torch.float64)
    return {name: scored(name, states, asks, small(name, len(states))) for name in SCORES}


def weights(scores: torch.Tensor) -> list[float]:
    """What a softmax makes of scores "token"."""
    return attend(scores[None], torch.zeros(len(scores), 1, dtype=scores.dtype)).weights[0].tolist()


def show(here: Here) -> None:
    """One score written out beside all six, then the same words in reverse, then the family of three."""
    t = here.t
    telling.idea(here, "six")
    table, query = given(here)
    with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
        name = controls.choose(here, "score", {name: t(f"score.{name}") for name in SCORES}, t("six.score"))
    found = all_scores(table, query)
    left, right = st.columns([5, 6], gap="medium")
    with left:
        formula(here, name, table, query, found[name])
    with right:
        strips(here, "six", t("six.title"), table, found, t("six.caption"), t(f"six.about_{name.replace('-', '_')}"))
    left, right = st.columns(2, gap="medium")
    with left:
        in_reverse(here, table, query, found)
    with right:
        family(here, table, query, found)


def formula(here: Here, name: str, table: Table, query: tuple[float, ...], scores: torch.Tensor) -> None:
    """One score with its formula and the numbers of each word in it."""
    t = here.t
    with exhibits.figure(here, "formula", t(f"score.{name}")) as frame:
        keys = [row[:2] for row in table.rows]
        st.latex(formulas.by_score(name, table.words, query, keys, scores.tolist()))
        shown = pd.DataFrame({"word": list(table.words), "score": scores.tolist(), "weight": weights(scores)})
        about = t(f"six.about_{name.replace('-', '_')}")
        exhibits.show(here, frame, Exhibit("formula", about, t(f"six.source_{name.replace('-', '_')}"), {"": shown}))
        changed = here.key("numbers") or here.key("query")
        st.caption(t("six.yours" if changed else "six.ours"))


def strips(here: Here, name: str, title: str, table: Table, found: dict[str, torch.Tensor], caption: str, *notes: str) -> None:
    """The weights of all six as rows of words."""
    t = here.t
    rows = [tokens.Row(t(f"score.{score}"), weights(values)) for score, values in found.items()]
    legends = [tokens.Legend("0", t("strips.largest"))]
    with exhibits.figure(here, name, title) as frame:
        st.html(tokens.legend_html(legends))
        st.html(tokens.strips_html(rows, table.words, language=here.link.lang, numbers=True))
        draw = partial(strips_chart, rows, table.words, legends=legends, numbers=True, part=t("figure.part"))
        shown = tokens.table(rows, table.words, position=t("table.position"), word=t("table.word"))
        exhibit = Exhibit(name, caption, t("six.source"), {"": shown}, lambda look: draw(look=look), on_screen=False)
        exhibits.show(here, frame, exhibit)


def in_reverse(here: Here, table: Table, query: tuple[float, ...], found: dict[str, torch.Tensor]) -> None:
    """The same words from the last to the first: which score gives a word another weight?"""
    t = here.t
    turned = Table(table.words[::-1], table.rows[::-1])
    after = all_scores(turned, query)
    moved = [name for name in found if not torch.allclose(after[name].flip(0), found[name])]
    with exhibits.figure(here, "reverse", t("six.reverse_title")) as frame:
        option = telling.ask(here, "reverse", {name: t(f"reverse.{name}") for name in OPTIONS})
        if option is None:
            return
        measured = ", ".join(t(f"score.{name}") for name in moved) or t("reverse.none")
        if option:
            telling.guessed(here, "reverse", t(f"reverse.{option}"), measured)
        rows = [tokens.Row(t(f"score.{name}"), weights(after[name])) for name in ("dot", "location")]
        st.html(tokens.strips_html(rows, turned.words, language=here.link.lang, numbers=True))
        draw = partial(strips_chart, rows, turned.words, legends=[tokens.Legend("0", t("strips.largest"))], numbers=True)
        every = [tokens.Row(t(f"score.{name}"), weights(values)) for name, values in after.items()]
        shown = tokens.table(every, turned.words, position=t("table.position"), word=t("table.word"))
        exhibit = Exhibit(
            "reverse", t("reverse.caption"), t("six.source"), {"": shown}, lambda look: draw(look=look), on_screen=False
        )
        exhibits.show(here, frame, exhibit, t("reverse.reading", names=measured))


def family(here: Here, table: Table, query: tuple[float, ...], found: dict[str, torch.Tensor]) -> None:
    """General and scaled dot as dot products with another query, in the reader's numbers."""
    t = here.t
    turned, shrunk = tuple(reversed(query)), tuple(number / 2**0.5 for number in query)
    with exhibits.figure(here, "family", t("family.title")) as frame:
        st.latex(
            formulas.aligned(
                [
                    r"h_t^\top W q &= h_t^\top \underbrace{(W q)}_{q'} = h_t \cdot " + formulas.vector(turned),
                    r"\tfrac{1}{\sqrt d}\, h_t^\top q &= h_t^\top \underbrace{(q / \sqrt d)}_{q''} = h_t \cdot "
                    + formulas.vector(shrunk, exact=False),
                ]
            )
        )
        states = torch.tensor([row[:2] for row in table.rows], dtype=torch.float64)
        as_dot = [scored("dot", states, torch.tensor(q, dtype=torch.float64), {}).tolist() for q in (turned, shrunk)]
        shown = pd.DataFrame(
            {
                "word": list(table.words),
                "general": found["general"].tolist(),
                "dot_general": as_dot[0],
                "scaled": found["scaled-dot"].tolist(),
                "dot_scaled": as_dot[1],
            }
        )
        st.table(written(here, shown), hide_index=True, border="horizontal")
        exhibits.show(here, frame, Exhibit("family", t("family.caption"), t("six.source"), {"": shown}), t("family.note"))


def written(here: Here, frame: pd.DataFrame) -> pd.DataFrame:
    """The table of the family as it is read."""
    columns: dict[str, Any] = {here.t("table.word"): [texts.plain(word) for word in frame["word"]]}
    for name in ("general", "dot_general", "scaled", "dot_scaled"):
        columns[here.t(f"family.{name}")] = [tokens.number(value) for value in frame[name]]
    return pd.DataFrame(columns)
