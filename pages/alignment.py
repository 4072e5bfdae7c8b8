"""Where attention comes from: a network that writes looks back at what it reads. Six chapters, one idea each.

What fades over distance and why a way of one step helps; dates, whose alignment everybody can judge; the reader's own sentence
into German; kinds of attention side by side; and whether a translator still writes when its weights are moved, which the debate
about classifiers left out. Last, sound instead of text.
"""

from functools import partial

import streamlit as st

from dashboard import controls, shell
from dashboard.alignment import kinds, memory, moved, sound, typed, writing
from dashboard.alignment.keys import CHAPTERS

SHOW = {
    "memory": memory.show,
    "dates": typed.dates,
    "german": typed.german,
    "kinds": kinds.show,
    "moved": moved.show,
    "sound": sound.show,
}

here = shell.start("alignment")
names = {name: here.t(f"chapter.{name}") for name in CHAPTERS}
with st.container(key="chapters"):
    chapter = controls.choose(here, "chapter", names, here.t("chapter.label"))
with shell.guarded(here):
    SHOW[chapter](here)
if chapter != CHAPTERS[-1]:
    following = CHAPTERS[CHAPTERS.index(chapter) + 1]
    label = here.t("chapter.next", name=names[following])
    onward = partial(writing.put_key, here, {"chapter": following})
    st.button(label, key="alignment-next", icon=":material/arrow_forward:", on_click=onward)
shell.close(here, (("definition", "charge"), ("shows", "shows_not")))
