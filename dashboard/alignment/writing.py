"""What the chapters on dates and on German share: a field to write in, the outputs one by one, and where each of them looked.

The text lives in the link under the page's own key. What is blank is not taken over, and said.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st

from core.translation import Translation
from core.types import Note
from dashboard import exhibits, frames, link, matrix, resources, shell, texts, tokens
from dashboard.exhibits import Exhibit
from dashboard.lessons import own_key
from dashboard.shell import Here
from dashboard.strips import strips_chart
from dashboard.theme import Look

SPACE = "␣"
PICKED, TYPED, SLIDER = 330, 420, 300  # widths in pixels
LINE = 400  # characters of a line of words


@dataclass(frozen=True)
class Piece:
    """A chapter: its name, the translator that it shows, what stands between two outputs, the keys of its text and of its step,
    and examples to begin with."""

    name: str
    model: str
    between: str
    text: str
    step: str
    examples: Sequence[str]
    first: Mapping[str, str]  # the example that a language begins with
    longest: int


def put_key(here: Here, changes: Mapping[str, str]) -> None:
    """Puts some of the page's own keys, or takes them out of the link where the code is blank."""
    named = {own_key(here.page, name): code for name, code in changes.items()}
    left = {key: code for key, code in link.current().keys.items() if key not in named}
    link.put(keys=left | {key: code for key, code in named.items() if code})


def field(here: Here, piece: Piece) -> str:
    """The text that the link names, to be picked or typed."""
    t = here.t
    text = here.link.keys.get(own_key(here.page, piece.text), piece.first[here.link.lang])
    picked, typed = f"alignment-{piece.name}-example", f"alignment-{piece.name}-text"
    own = [] if text in piece.examples else [text]
    st.session_state[picked], st.session_state[typed] = text, text

    def take(slot: str) -> None:
        given = str(st.session_state[slot])
        if given.strip():
            put_key(here, {piece.text: given, piece.step: ""})
        else:
            note = Note("blank_field", "The field is blank; what was there before is shown.")
            st.session_state["link_notes"] = (note,)

    with st.container(horizontal=True, vertical_alignment="bottom", key="picker"):
        st.selectbox(
            t(f"{piece.name}.examples"), [*own, *piece.examples], key=picked, width=PICKED, on_change=partial(take, picked)
        )
        st.text_input(
            t(f"{piece.name}.own"), key=typed, max_chars=piece.longest, width=TYPED, on_change=partial(take, typed)
        )
    return text


def written(here: Here, piece: Piece, text: str) -> Translation:
    """What the translator writes, with what should be known about it."""
    with shell.computing(here, 220) as waiting:
        found = resources.translated(piece.model, text, waiting)
    shell.show_notes(here, found.notes)
    return found


def shown(symbols: Sequence[str]) -> tuple[str, ...]:
    """Words or letters as they can be seen."""
    return tuple(SPACE if symbol == " " else symbol for symbol in symbols)


def one_by_one(here: Here, piece: Piece, found: Translation, language: str) -> None:
    """The output as far as the step, and below it the input under the weights with which the last of it was written."""
    t, size = here.t, len(found.output)
    with exhibits.figure(here, f"{piece.name}-step", t(f"{piece.name}.title")) as frame:
        if not size:
            st.caption(t("writing.nothing"))
            return
        step = steps(here, piece, size)
        inputs, outputs, at = shown(found.tokens), shown(found.output), step - 1
        weights = found.attention[at].tolist()
        before = texts.plain(piece.between.join(outputs[:at]), LINE)
        st.markdown(t("writing.output", before=before + piece.between * bool(before), word=texts.plain(outputs[at])))
        looked = tokens.Row(t("writing.looked", word=outputs[at]), weights)
        legends = [tokens.Legend("0", t("writing.largest"))]
        st.html(tokens.legend_html(legends))
        st.html(tokens.strips_html([looked], inputs, language=language, numbers=piece.name == "german"))
        best = max(range(len(weights)), key=weights.__getitem__)
        said = {"word": texts.plain(outputs[at]), "most": texts.plain(inputs[best]), "weight": tokens.number(weights[best])}
        draw = partial(strips_chart, [looked], inputs, legends=legends, numbers=True, part=t("figure.part"))
        table = tokens.table([looked], inputs, position=t("table.position"), word=t("table.word"))
        caption = t("writing.reading", step=step, n=size, **said)
        shown_by = source(here, piece)
        exhibit = Exhibit(f"{piece.name}-step", caption, shown_by, {"": table}, lambda look: draw(look=look), "", False)
        exhibits.show(here, frame, replace(exhibit, link=exhibits.made_by(here, piece.model)))


def steps(here: Here, piece: Piece, size: int) -> int:
    """How many outputs are shown, with a slider and two buttons; the first one where the link names none that is there."""
    code = here.key(piece.step)
    step = int(code) if code and int(code) <= size else 1
    slot = f"alignment-{piece.name}-step-slider"
    st.session_state[slot] = step

    def move(to: Callable[[], int]) -> None:
        put_key(here, {piece.step: str(to())})

    with st.container(horizontal=True, vertical_alignment="bottom"):
        if size > 1:
            label = here.t(f"{piece.name}.step")
            moved = partial(move, lambda: int(st.session_state[slot]))
            st.slider(label, 1, size, key=slot, width=SLIDER, on_change=moved)
        back, on = partial(move, lambda: step - 1), partial(move, lambda: step + 1)
        st.button(here.t("writing.back"), key=f"{slot}-back", icon=":material/arrow_back:", disabled=step < 2, on_click=back)
        st.button(here.t("writing.on"), key=f"{slot}-on", icon=":material/arrow_forward:", disabled=step >= size, on_click=on)
    return step


def whole(here: Here, piece: Piece, found: Translation) -> None:
    """All outputs against all inputs."""
    t = here.t
    if not found.output:
        return
    rows, columns = shown(found.output), shown(found.tokens)
    turned = max(map(len, columns)) > 1  # letters stand upright
    cells = frames.matrix(found.attention.numpy(), rows, columns)
    pairs = ", ".join(
        f"{row['query_word']} → {row['key_word']} {tokens.number(row['weight'])}"
        for row in matrix.strongest(cells, 5).to_dict("records")
    )
    alt = t("writing.matrix_alt", values=pairs)

    def draw(look: Look) -> Any:
        drawn: dict[str, Any] = {"rows": rows, "columns": columns, "largest": 1.0, "look": look}
        words: dict[str, Any] = {"value": t("writing.weight"), "x": t("writing.input"), "y": t("writing.written")}
        return matrix.matrix(cells, alt_text=alt, turned=turned, **words, **drawn)

    with exhibits.figure(here, f"{piece.name}-matrix", t("writing.matrix")) as frame:
        st.html(tokens.legend_html([tokens.Legend("0", "1")]))
        card = resources.translators()[piece.model]
        caption = t("writing.matrix_caption", seed=card.seed, n=len(found.output))
        exhibit = Exhibit(f"{piece.name}-matrix", caption, source(here, piece), {"": cells}, draw, alt)
        exhibits.show(here, frame, replace(exhibit, link=exhibits.made_by(here, piece.model)))


def source(here: Here, piece: Piece) -> str:
    """Which model was asked, and how well it does on its test set."""
    card = resources.translators()[piece.model]
    test: Mapping[str, Any] = card.test
    score = f"{100 * test['exact']:.1f} %" if "exact" in test else f"{test['bleu']:.1f} BLEU"
    return here.t(f"{piece.name}.source", model=piece.model, score=score, n=texts.count(test["n"]), seed=card.seed)



def quoted(text: str) -> str:
    """What was written, as it can stand in a sentence; a dash for nothing."""
    return texts.plain(text, 400) or "–"
