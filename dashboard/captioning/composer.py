"""The scene that the learner composes: colour, shape and place of one to three objects, kept in the link."""

from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any

import pandas as pd
import streamlit as st

from core import scenes
from core.scenes import COLORS, MOST, PLACES, SHAPES, Scene, Thing
from core.types import Refusal
from dashboard import exhibits, link
from dashboard.captioning import keys
from dashboard.captioning.picture import SIDE, picture, room
from dashboard.exhibits import Exhibit
from dashboard.lessons import own_key
from dashboard.shell import Here

WIDTHS = {"color": 112, "shape": 122, "column": 112, "row": 112}
OPTIONS = {"color": tuple(COLORS), "shape": SHAPES}
FRESH = Thing("cross", "yellow", 1, 1)  # what is added, at the first place that is free


def named(here: Here, thing: Thing) -> str:
    """An object in the reader's words."""
    return here.t("thing", color=here.t(f"color.{thing.color}"), shape=here.t(f"shape.{thing.shape}"))


def show(here: Here) -> Scene:
    """The picture, a row of controls for each object, and other scenes. Refuses objects that overlap, below the controls."""
    t, things = here.t, keys.read(here.key("scene"))
    with exhibits.figure(here, "scene", t("scene.title")) as frame:
        alt = t("scene.alt", things=", ".join(placed(here, thing) for thing in things))
        with st.container(width=room(here.look, SIDE)):
            st.altair_chart(picture(things, alt_text=alt, look=here.look), theme=None, key="captioning-scene-picture")
        for place, thing in enumerate(things):
            with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall", key=f"thing-{place}"):
                controls_of(here, things, place, thing)
        others(here, things)
        table = [{field: getattr(thing, field) for field in WIDTHS} for thing in things]
        caption = unseen(here, things)
        exhibit = Exhibit(
            "scene",
            caption,
            t("scene.source"),
            {"": pd.DataFrame(table)},
            lambda look: picture(things, alt_text=alt, look=look),
            alt,
            on_screen=False,
        )
        exhibits.show(here, frame, exhibit, t("scene.how"))
    return checked(here, things)


def checked(here: Here, things: tuple[Thing, ...]) -> Scene:
    """The scene from left to right; a refusal of overlapping objects names them in the reader's words."""
    try:
        return scenes.checked(things)
    except Refusal as refusal:
        pair = refusal.values.get("pair")
        if not isinstance(pair, tuple):
            raise
        one, other = (placed(here, thing) for thing in pair)
        raise Refusal(refusal.code, str(refusal), one=one, other=other) from refusal


def placed(here: Here, thing: Thing) -> str:
    """An object with its place, in the reader's words."""
    return here.t("placed", thing=named(here, thing), column=thing.column, row=thing.row)


def controls_of(here: Here, things: tuple[Thing, ...], place: int, thing: Thing) -> None:
    """Colour, shape, column and row of one object, and a button that takes it out."""
    t = here.t
    for field, width in WIDTHS.items():
        key = f"captioning-{field}-{place}"
        st.session_state[key] = getattr(thing, field)
        settings: dict[str, Any] = {"key": key, "width": width, "on_change": change, "args": (here, things, place, field)}
        if field in OPTIONS:
            said = partial(label, here, field)
            st.selectbox(t(f"scene.{field}"), OPTIONS[field], format_func=said, **settings)
        else:
            st.number_input(t(f"scene.{field}"), 1, PLACES, step=1, **settings)
    if len(things) > 1:
        rest = things[:place] + things[place + 1 :]
        out = t("scene.remove", thing=named(here, thing))
        st.button("", icon=":material/close:", key=f"captioning-remove-{place}", help=out, type="tertiary", on_click=put,
                  args=(here, rest))  # fmt: skip


def label(here: Here, field: str, name: str) -> str:
    """A colour or a shape in the reader's words."""
    return here.t(f"{field}.{name}")


def change(here: Here, things: tuple[Thing, ...], place: int, field: str) -> None:
    """The link with what a control of one object was set to."""
    value = st.session_state[f"captioning-{field}-{place}"]
    if value is not None:
        put(here, tuple(replace(thing, **{field: value}) if i == place else thing for i, thing in enumerate(things)))


def put(here: Here, things: tuple[Thing, ...]) -> None:
    """The link with another scene."""
    link.put(keys={**link.current().keys, own_key(here.page, "scene"): keys.written(things)})


def others(here: Here, things: tuple[Thing, ...]) -> None:
    """Buttons: one more object, another scene, one with a kind of object that was never seen."""
    t = here.t

    def draw(split: scenes.Split) -> None:
        seed = link.current().seed + 1
        link.put(seed=seed)
        put(here, scenes.scenes(split, 1, seed)[0])

    with st.container(horizontal=True, gap="xsmall"):
        if len(things) < MOST and (free := added(things)) is not None:
            st.button(t("scene.add"), icon=":material/add:", key="captioning-add", on_click=put, args=(here, free))
        st.button(t("scene.another"), key="captioning-another", on_click=draw, args=("test",))
        st.button(t("scene.new"), key="captioning-new", on_click=draw, args=("new-kinds",), help=t("scene.new_help"))


def added(things: tuple[Thing, ...]) -> tuple[Thing, ...] | None:
    """The scene with one more object at the first free place, None where there is none."""
    for row, column in product(range(1, PLACES + 1), repeat=2):
        wider = (*things, replace(FRESH, column=column, row=row))
        try:
            scenes.checked(wider)
        except Refusal:
            continue
        return wider
    return None


def unseen(here: Here, things: tuple[Thing, ...]) -> str:
    """What of the scene training never showed."""
    t = here.t
    new = [named(here, thing) for thing in things if scenes.part(thing) == "new-kinds"]
    moved = [named(here, thing) for thing in things if scenes.part(thing) in ("test", "validation")]
    if new:
        return t("scene.new_kind", things=", ".join(new))
    return t("scene.new_place", things=", ".join(moved)) if moved else t("scene.known")
