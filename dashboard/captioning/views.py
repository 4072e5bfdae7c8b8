"""The figures on one scene: where the model looks at a word and at all words, and whether a word needs it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.models.captioner import RECEPTIVE
from core.scenes import CELL, Scene, Thing
from core.types import Refusal
from dashboard import controls, exhibits, link, resources, shell, texts, tokens
from dashboard.captioning import told as answers
from dashboard.captioning.composer import named
from dashboard.captioning.keys import MODELS
from dashboard.captioning.picture import SIDE, SMALL, cells, picture, room, together
from dashboard.captioning.told import Told
from dashboard.exhibits import Exhibit
from dashboard.lessons import own_key
from dashboard.mechanism import vectors
from dashboard.shell import Here
from dashboard.theme import Look

LOOKS, NEEDS = ("hardly", "some", "most"), ("stays", "changes")
SOME, MUCH = 0.2, 0.6  # shares of attention that the options of the first guess part at
NAMES = 190  # pixels for the name of a change and what is said then
WORDS = ("picture.column", "picture.row", "picture.weight")


@dataclass(frozen=True)
class View:
    """A scene, what the model says of it, and the word that is looked at (from 0)."""

    scene: Scene
    model: str
    found: Told
    word: int

    @property
    def said(self) -> str:
        return self.found.words[self.word]

    @property
    def thing(self) -> Thing | None:
        """The object that the word names."""
        place = self.found.things[self.word]
        return self.scene[place] if place >= 0 else None


def viewed(here: Here, scene: Scene) -> View:
    """What the chosen model says of the scene, and which word is chosen. Refuses where the model is not there."""
    model = MODELS[here.key("model")]
    found = resources.perceive(answers.told, model, scene)
    if not found.words:
        raise Refusal(
            "nothing_said", f"{model} says nothing of this scene; the caption that fits is {' '.join(found.right)!r}."
        )
    word = min(int(here.key("word")), len(found.words)) - 1
    if int(here.key("word")) > len(found.words):
        values = {"given": here.key("word"), "allowed": len(found.words)}
        shell.problem(here.t, "no_word", "The caption has fewer words.", values)
    return View(scene, model, found, word)


def choose_word(here: Here, view: View) -> None:
    """The caption, a button for each word, and one for the next word."""
    t, key, words = here.t, own_key(here.page, "word"), view.found.words
    st.session_state[key] = str(view.word + 1)

    def put(code: str) -> None:
        link.put(keys={**link.current().keys, key: code})

    with st.container(gap="xsmall"):
        st.pills(
            t("looks.word"),
            [str(place) for place in range(1, len(words) + 1)],
            format_func=lambda code: texts.plain(words[int(code) - 1]),
            key=key,
            required=True,
            on_change=lambda: put(st.session_state[key]),
        )
        after = str((view.word + 1) % len(words) + 1)
        st.button(t("looks.next"), icon=":material/arrow_forward:", key="captioning-next", on_click=put, args=(after,))


def looks(here: Here, view: View) -> bool:
    """The picture with attention over it at one word; the guess comes first. Whether it is made."""
    t, found = here.t, view.found
    with exhibits.figure(here, "looks", t("looks.title")) as frame:
        choose_word(here, view)
        if not found.exact:
            st.caption(t("looks.wrong", right=" ".join(found.right)))
        about = f"looks|{view.model}"
        if view.thing is None and not controls.revealed(here, about):
            st.caption(t("looks.names_none", word=view.said))
            return False
        thing = named(here, view.thing) if view.thing else ""
        question = t("looks.question", word=view.said, thing=thing)
        option = controls.guess(here, about, question, {name: t(f"looks.{name}") for name in LOOKS}).option
        if option is None:
            st.html(tokens.veil_html(t("looks.veil"), "16rem"))
            return False
        weights, alt = found.attention[view.word], lit(here, view, view.word)
        if option and view.thing is not None:
            share = found.share(view.word, view.scene)
            guessed(here, about, t(f"looks.{option}"), t("looks.measured", share=percent(share), word=view.said, thing=thing))

        def draw(look: Look) -> Any:
            names = [t(name) for name in WORDS]
            return picture(view.scene, weights, view.thing, alt_text=alt, words=names, field=True, look=look)

        with st.container(width=room(here.look, SIDE)):
            st.altair_chart(draw(here.look), theme=None, key="captioning-looks-picture")
        caption = t("looks.caption", word=view.said, where=where(here, view, view.word), model=view.model,
                    largest=tokens.number(float(weights.max())), p=tokens.number(found.prob[view.word]))  # fmt: skip
        table = cells(weights).drop(columns="veil")
        source, own = t("looks.source"), exhibits.made_by(here, view.model)
        exhibit = Exhibit("looks", caption, source, {"": table}, draw, alt, on_screen=False, link=own)
        seen = {"pixels": RECEPTIVE, "cells": f"{RECEPTIVE / CELL:g}"}
        exhibits.show(here, frame, exhibit, t("looks.note", **seen))
    return True


def guessed(here: Here, about: str, guess: str, measured: str) -> None:
    """The guess and what came out, in one muted line."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(here.t("predict.guessed", guess=guess, measured=measured), width="content")
        controls.guess_again(here, about)


def percent(share: float) -> str:
    """A share as a whole percentage."""
    return f"{100 * share:.0f} %"


def where(here: Here, view: View, word: int) -> str:
    """Where attention lies at a word: on each object, and on blank cells."""
    weights = view.found.attention[word]
    parts = [(named(here, thing), float(weights[list(thing.cells)].sum())) for thing in view.scene]
    parts.append((here.t("looks.blank"), 1 - sum(share for _, share in parts)))
    return ", ".join(f"{name} {percent(share)}" for name, share in parts)


def lit(here: Here, view: View, word: int) -> str:
    """A picture in words."""
    return here.t("looks.alt", word=view.found.words[word], where=where(here, view, word))


def all_words(here: Here, view: View) -> None:
    """A small picture for each word of the caption."""
    t, found = here.t, view.found
    with exhibits.figure(here, "words", t("words.title")) as frame:
        with st.container(horizontal=True, gap="small"):
            for word in range(len(found.words)):
                with st.container(width=room(here.look, SMALL)):
                    chart = small(here, view, word, here.look)
                    st.altair_chart(chart, theme=None, key=f"captioning-word-{word}")
        alt = t("words.alt", caption=" ".join(found.words))
        parts = [cells(weights).drop(columns="veil") for weights in found.attention]
        table = pd.concat(
            [part.assign(place=i + 1, word=word) for i, (word, part) in enumerate(zip(found.words, parts, strict=True))]
        )[["place", "word", "column", "row", "weight"]]
        total = found.attention.sum(0)
        spread = t("words.spread", looked=int((total > len(found.words) / len(total)).sum()), cells=len(total))
        exhibit = Exhibit(
            "words",
            t("words.caption", model=view.model),
            t("looks.source"),
            {"": table},
            lambda look: together([small(here, view, word, look) for word in range(len(found.words))], alt),
            alt,
            on_screen=False,
            link=exhibits.made_by(here, view.model),
        )
        exhibits.show(here, frame, exhibit, spread)


def small(here: Here, view: View, word: int, look: Look) -> Any:
    """The picture at a word, with the word and the share on its object above."""
    place = view.found.things[word]
    thing = view.scene[place] if place >= 0 else None
    share = percent(view.found.share(word, view.scene)) if thing else ""
    names = [here.t(name) for name in WORDS]
    return picture(
        view.scene,
        view.found.attention[word],
        thing,
        alt_text=lit(here, view, word),
        words=names,
        title=view.found.words[word],
        subtitle=share,
        side=SMALL,
        look=look,
    )


def needed(here: Here, view: View) -> None:
    """The chosen word with attention spread, shuffled, kept off its object, and with the object painted over; then the whole
    caption under such weights."""
    t, found, seed = here.t, view.found, here.link.seed
    with exhibits.figure(here, "tried", t("tried.title")) as frame:
        if view.thing is None:
            st.caption(t("tried.names_none", word=view.said))
            return
        thing, about = named(here, view.thing), f"tried|{view.model}"
        question = t("tried.question", word=view.said, thing=thing)
        option = controls.guess(here, about, question, {name: t(f"tried.{name}") for name in NEEDS}).option
        if option is None:
            st.html(tokens.veil_html(t("tried.veil"), "10rem"))
            return
        given = (view.scene, found.words, view.word, found.things[view.word], seed)
        changes = resources.perceive(answers.tried, view.model, *given)
        off = next(one for one in changes if one.change == "kept_off")
        if option:
            outcome = t("tried.still" if off.says == view.said else "tried.instead", word=off.says or t("tried.end"))
            guessed(here, about, t(f"tried.{option}"), outcome)
        names = [t("tried.as_it_is"), *(t(f"tried.{one.change}") for one in changes)]
        says = [view.said, *(one.says or t("tried.end") for one in changes)]
        probs = [changes[0].before, *(one.after for one in changes)]
        labels = [name if word == view.said else f"{name} → {word}" for name, word in zip(names, says, strict=True)]
        table = pd.DataFrame({"position": range(len(labels)), "word": labels, "value": probs})
        x = t("tried.x", word=view.said)
        values = ", ".join(f"{label} {tokens.number(p)}" for label, p in zip(labels, probs, strict=True))
        alt = t("tried.alt", word=view.said, values=values)

        def draw(look: Look) -> Any:
            return vectors.shares(table, labels, x=x, alt_text=alt, label=NAMES, top=1.1, look=look)

        shown = pd.DataFrame({"change": names, "says": says, "p": np.array(probs)})
        share = percent(found.share(view.word, view.scene))
        reading = t("tried.spared" if off.says == view.said else "tried.needed", word=view.said, thing=thing, share=share)
        st.markdown(reading)
        exhibit = Exhibit(
            "tried",
            t("tried.caption", model=view.model, seed=seed),
            t("tried.source"),
            {"": shown},
            draw,
            alt,
            link=exhibits.made_by(here, view.model),
        )
        exhibits.show(here, frame, exhibit, t("tried.note"))
        captions(here, view)


def captions(here: Here, view: View) -> None:
    """The whole caption with changed weights at every word."""
    t = here.t
    changed = resources.perceive(answers.rewritten, view.model, view.scene, here.link.seed)
    rows = [(t("tried.as_it_is"), view.found.words), *((t(f"tried.{name}"), words) for name, words in changed.items())]
    st.markdown(f"**{t('tried.whole')}**")
    lines = {t("tried.change"): [name for name, _ in rows], t("tried.caption_column"): [" ".join(words) for _, words in rows]}
    st.table(pd.DataFrame(lines), hide_index=True, border="horizontal")
