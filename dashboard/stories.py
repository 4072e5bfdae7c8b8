"""Just-so stories: a reader says in words what a heat map tells, before and after the map is exchanged for its opposite.

Both maps belong to one prediction, so two stories that sound right and contradict each other show what a map is worth as a
reason. A story is kept for the session under the text it is about; it goes nowhere else.
"""

from dataclasses import dataclass, replace
from hashlib import sha256

import streamlit as st

from dashboard import shell, texts
from dashboard.shell import Here

LONGEST = 600  # characters of a story


@dataclass(frozen=True)
class Told:
    """What a reader did with one text: the story of the learned map, whether the other was revealed, and its story."""

    learned: str = ""
    revealed: bool = False
    adversarial: str = ""


def told(here: Here, about: str) -> Told:
    """What was done with a text; everything is open where the reader skipped, and nobody tells stories in a lecture."""
    kept: dict[str, Told] = st.session_state.setdefault("stories", {})
    made = kept.get(about, Told())
    return replace(made, revealed=True) if "" in kept and not here.lecture else made


def keep(about: str, **changes: str | bool) -> None:
    """Changes what is kept of a text."""
    kept: dict[str, Told] = st.session_state.setdefault("stories", {})
    kept[about] = replace(kept.get(about, Told()), **changes)  # type: ignore[arg-type]


def again(about: str) -> None:
    """Forgets a text, and that stories were skipped."""
    kept: dict[str, Told] = st.session_state.setdefault("stories", {})
    kept.pop(about, None)
    kept.pop("", None)


def ask(here: Here, about: str, part: str) -> None:
    """A field for one story with its button; a blank one is asked for again."""
    t, key = here.t, f"story_{part}_{sha256(about.encode()).hexdigest()[:12]}"
    field = f"{key}_text"
    with st.form(key, border=False):
        st.text_area(t(f"story.{part}"), key=field, max_chars=LONGEST, height=96, placeholder=t(f"story.{part}_example"))
        sent = st.form_submit_button(
            t("story.apply"),
            type="primary" if part == "learned" else "secondary",
            on_click=lambda: keep(about, **{part: st.session_state[field].strip()[:LONGEST]}),
        )
    if sent and not st.session_state[field].strip():
        shell.problem(t, "blank_story", "The story is blank.", {})


def quote(here: Here, story: str) -> None:
    """A story as its teller wrote it, in one paragraph."""
    st.markdown(f"> {texts.plain(story, LONGEST)}" if story else f"*{here.t('story.untold')}*")
