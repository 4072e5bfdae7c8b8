"""Where does a model look while it describes a picture, and does the word need it? After Xu et al. 2015.

The learner composes a scene, and a captioner that was never shown it says what is there; the cells that each word looked at are
lit. Because the scene is drawn, the truth is known: how much of the attention lies on the named object, over many scenes, and
whether the word changes when attention is kept off the object or the object is painted over.
"""

import streamlit as st

from dashboard import controls, lessons, shell
from dashboard.captioning import composer, measured, views
from dashboard.shell import Here


def scene_and_looks(here: Here) -> None:
    """The scene beside the picture of one word; then all words, and whether the chosen one needs where the model looks."""
    names = {code: here.t(f"model.{code}") for code in lessons.PAGES[here.page].keys["model"]}
    with st.container(key="page-controls"):
        controls.choose(here, "model", names, here.t("model.label"), help_text=here.t("model.help"))
    left, right = st.columns(2, gap="medium")
    view, made = None, False
    with left, shell.guarded(here):
        scene = composer.show(here)
        with right, shell.guarded(here):
            view = views.viewed(here, scene)
            made = views.looks(here, view)
    if view is not None and made:
        for draw in (views.all_words, views.needed):
            with shell.guarded(here):
                draw(here, view)


here = shell.start("captioning")
scene_and_looks(here)
shell.side_by_side(here, [[measured.shares, measured.changes]])
with shell.guarded(here):
    measured.exact(here)
shell.close(here)
