"""Numbers that a reader edits, in a table or in fields, kept in the link like every other choice.

The table on screen must not be made anew while it is typed in, or the keyboard would lose its place. So the table that the
editing began with stays (`Draft`), the widget keeps the changes to it, and only a code that comes from elsewhere (a link, the
back button, *Reset*) begins a new one.
"""

from dataclasses import dataclass, replace

import pandas as pd
import streamlit as st

from dashboard import link, shell
from dashboard.lessons import own_key
from dashboard.mechanism.numbers import LARGEST, LONGEST, WORD, Table, cleaned, code_of, edited, frame_of, short, table_of
from dashboard.shell import Here

STEP = 0.5
FIELD = 118  # pixels of a field


@dataclass(frozen=True)
class Draft:
    """The code that the editing began with, the code that it has come to, and how many tables there were before."""

    start: str
    now: str
    number: int


def set_key(here: Here, name: str, code: str) -> None:
    """Puts one of the page's own keys, or takes it out of the link where the code is blank."""
    key = own_key(here.page, name)
    keys = {other: value for other, value in link.current().keys.items() if other != key}
    link.put(keys=keys | ({key: code} if code else {}))


def table(here: Here, name: str, default: Table, columns: dict[str, str]) -> Table:
    """The reader's table under the page's own key `name`; `columns` are the names of the numbers with their headings.

    Says what was left out. Refuses a table in which nothing can be used.
    """
    code = here.key(name)
    draft = drafted(here, name, code)
    frame = frame_of(table_of(draft.start) if draft.start else default, list(columns))
    key = f"mechanism-{name}-{here.link.lang}-{draft.number}"

    def changed() -> None:
        keep(here, name, draft, edited(frame, st.session_state[key]))

    numbers = {
        column: st.column_config.NumberColumn(
            heading, min_value=-LARGEST, max_value=LARGEST, step=0.01, format="%.3g", width=56
        )
        for column, heading in columns.items()
    }
    word = st.column_config.TextColumn(here.t("editor.word"), max_chars=LONGEST, width=72)
    found = st.data_editor(
        frame,
        key=key,
        num_rows="dynamic",
        hide_index=True,
        column_config={WORD: word, **numbers},
        on_change=changed,
        width="stretch",
    )
    used, notes = cleaned(found)
    shell.show_notes(here, notes)
    return used


def drafted(here: Here, name: str, code: str) -> Draft:
    """The draft of a table: the one at hand, or a new one where the link has come to another code by another way."""
    slot = f"draft-{name}-{here.link.lang}"
    draft: Draft | None = st.session_state.get(slot)
    if draft is None or draft.now != code:
        draft = Draft(code, code, draft.number + 1 if draft else 0)
        st.session_state[slot] = draft
    return draft


def keep(here: Here, name: str, draft: Draft, frame: pd.DataFrame) -> None:
    """Carries what was edited into the link; a table without a usable row leaves the link as it is."""
    try:
        code = code_of(cleaned(frame)[0])
    except ValueError:
        return
    st.session_state[f"draft-{name}-{here.link.lang}"] = replace(draft, now=code)
    set_key(here, name, code)


def vector(here: Here, name: str, default: tuple[float, ...], labels: tuple[str, ...]) -> tuple[float, ...]:
    """The reader's vector under the page's own key `name`, a field for each number."""
    code = here.key(name)
    numbers = tuple(map(float, code.split(","))) if code else default
    keys = [f"mechanism-{name}-{place}" for place in range(len(numbers))]

    def changed() -> None:
        given = [st.session_state[key] for key in keys]
        set_key(here, name, ",".join(short(old if new is None else new) for old, new in zip(numbers, given, strict=True)))

    for key, number, label in zip(keys, numbers, labels, strict=True):
        st.session_state[key] = number
        st.number_input(label, -LARGEST, LARGEST, step=STEP, format="%.2f", key=key, width=FIELD, on_change=changed)
    return numbers


def reset(here: Here, *names: str) -> None:
    """A quiet button that brings back the page's own numbers."""

    def forget() -> None:
        for name in names:
            set_key(here, name, "")

    st.button(here.t("editor.reset"), key="mechanism-reset", type="tertiary", icon=":material/undo:", on_click=forget)
