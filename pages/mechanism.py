"""What does attention compute? For someone who has heard of it and no more: seven chapters, one idea each.

First the mechanism in numbers that the reader changes: scores, softmax, weighted sum. Then six ways to score, why Transformers
divide by √d, windows, and self-attention with two heads. Then six trained models on the reader's sentence, and what a picture
of weights can hide, which is where the quarrel begins.
"""

import streamlit as st

from dashboard import controls, lessons, shell
from dashboard.mechanism import heads, picture, scaling, six, steps, telling, trained, windows

CHAPTERS = {
    "steps": steps.show,
    "six": six.show,
    "scaling": scaling.show,
    "windows": windows.show,
    "heads": heads.show,
    "trained": trained.show,
    "picture": picture.show,
}

here = shell.start("mechanism")
names = {name: here.t(f"chapter.{name}") for name in lessons.PAGES["mechanism"].keys["chapter"]}
with st.container(key="chapters"):
    chapter = controls.choose(here, "chapter", names, here.t("chapter.label"))
with shell.guarded(here):
    CHAPTERS[chapter](here)
telling.onward(here, chapter)
shell.close(here, (("definition", "doubt"), ("shows", "shows_not")))
