"""Fifth chapter: no question from outside. Every word asks all words, twice, in two heads."""

from typing import Any

import pandas as pd
import streamlit as st
import torch

from core.mechanism import Steps, self_attention
from dashboard import controls, exhibits, frames, matrix, shell, texts, tokens
from dashboard.exhibits import Exhibit
from dashboard.mechanism import editor, examples, formulas, telling
from dashboard.mechanism.numbers import Table, short
from dashboard.shell import Here
from dashboard.theme import Look

COLUMNS = ("f1", "f2", "f3")
OPTIONS = ("itself", "nothing", "alike")
CELL = 34  # pixels of a matrix's row


def show(here: Here) -> None:
    """The words' numbers on the left, one word's question on the right; both heads as matrices below."""
    left, right = st.columns(2, gap="medium")
    with left:
        table = vectors(here)
    if table is None:
        return
    states = torch.tensor(table.rows, dtype=torch.float64)
    found = self_attention(states, examples.heads())
    with right, shell.guarded(here):
        question(here, table, states, found)
    if controls.revealed(here, "heads"):
        for place, column in enumerate(st.columns(2, gap="medium")):
            with column, shell.guarded(here):
                whole(here, table, found, place)


def vectors(here: Here) -> Table | None:
    """The words as vectors, to be edited; None where nothing can be used, which is said."""
    t = here.t
    table: Table | None = None
    with exhibits.figure(here, "words", t("heads.words")) as corner:
        with corner:
            editor.reset(here, "vectors")
        telling.idea(here, "heads")
        table = editor.table(here, "vectors", examples.sentence(here.link.lang), {c: t(f"heads.{c}") for c in COLUMNS})
        st.caption(t("heads.maps"))
    return table


def question(here: Here, table: Table, states: torch.Tensor, found: Steps) -> None:
    """One word's scores, weights and context in a head, with the numbers in the formula; a guess first."""
    t = here.t
    with exhibits.figure(here, "asks", t("heads.asks_title")) as frame:
        word = examples.SENTENCE[here.link.lang][0]
        option = telling.ask(here, "heads", {name: t(f"heads.{name}") for name in OPTIONS}, "16rem", word=word)
        if option is None:
            return
        if option:
            telling.guessed(here, "heads", t(f"heads.{option}"), t("heads.alike"))
        with st.container(horizontal=True, vertical_alignment="bottom"):
            asks = pick_word(here, table)
            head = int(controls.choose(here, "head", {"1": "1", "2": "2"}, t("heads.head")))
        made = examples.heads()[head - 1]
        query, keys = (states @ made.query)[asks].tolist(), (states @ made.key).tolist()
        st.latex(in_words(table, query, keys, found, head - 1, asks))
        weights, context = found.weights[head - 1, asks].tolist(), found.context[head - 1, asks].tolist()
        row = tokens.Row(t("heads.head_name", head=head), weights)
        st.html(tokens.strips_html([row], table.words, language=here.link.lang, numbers=True))
        shown = pd.DataFrame({"word": list(table.words), "score": found.scores[head - 1, asks].tolist(), "weight": weights})
        shown = shown.assign(query=[f"({', '.join(map(short, query))})"] * len(shown))
        shown = shown.assign(key=[f"({', '.join(map(short, key))})" for key in keys])
        most = table.words[int(found.weights[head - 1, asks].argmax())]
        note = t("heads.reading", word=texts.plain(most)) if any(query) else t("heads.empty")
        caption = t("heads.context", values=", ".join(tokens.number(number) for number in context))
        exhibits.show(here, frame, Exhibit("asks", caption, t("heads.source"), {"": shown}), note)


def pick_word(here: Here, table: Table) -> int:
    """The place of the word that asks; the first one where the link names a row that is not there."""
    places = [str(place) for place in range(1, len(table.words) + 1)]
    code = here.key("asks")
    if code not in places:
        values = {"given": code, "n": len(places), "used": table.words[0]}
        shell.problem(here.t, "no_row", f"There is no row {code}; the first one is shown.", values)
        code = "1"
    st.session_state["mechanism-asks"] = code
    st.segmented_control(
        here.t("heads.word"),
        places,
        format_func=lambda place: table.words[int(place) - 1],
        key="mechanism-asks",
        required=True,
        on_change=lambda: editor.set_key(here, "asks", st.session_state["mechanism-asks"]),
    )
    return int(code) - 1


def in_words(table: Table, query: list[float], keys: list[list[float]], found: Steps, head: int, asks: int) -> str:
    """q, and for each word its score and weight."""
    scores, weights = found.scores[head, asks].tolist(), found.weights[head, asks].tolist()
    lines = [
        rf"{formulas.vector(query)} \cdot {formulas.vector(key)} / \sqrt2 &= {formulas.rounded(score)}"
        rf"\;\to\; \alpha_{{{name}}} = {formulas.rounded(weight)}"
        for name, key, score, weight in zip(formulas.named(table.words), keys, scores, weights, strict=True)
    ]
    return formulas.aligned([r"q \cdot k_t / \sqrt{d} &= s_t", *lines])


def whole(here: Here, table: Table, found: Steps, place: int) -> None:
    """One head: who looks at whom."""
    t, words = here.t, table.words
    cells = frames.matrix(found.weights[place].numpy(), words, words)
    strongest = matrix.strongest(cells, 4).to_dict("records")
    pairs = ", ".join(f"{row['query_word']} → {row['key_word']} {tokens.number(row['weight'])}" for row in strongest)
    alt = t("heads.matrix_alt", head=place + 1, values=pairs)

    def draw(look: Look) -> Any:
        drawn: dict[str, Any] = {"rows": words, "columns": words, "largest": 1.0, "cell": CELL, "look": look}
        return matrix.matrix(cells, value=t("heads.weight"), x=t("heads.key"), y=t("heads.query"), alt_text=alt, **drawn)

    with exhibits.figure(here, f"head-{place + 1}", t("heads.head_name", head=place + 1)) as frame:
        st.html(tokens.legend_html([tokens.Legend("0", "1")]))
        exhibit = Exhibit(f"head-{place + 1}", t("heads.matrix_caption"), t("heads.source"), {"": cells}, draw, alt)
        exhibits.show(here, frame, exhibit, t(f"heads.note_{place + 1}"))
