"""Last chapter: how weights become a picture, and what a picture can hide. The first doubt."""

from functools import partial
from math import log10
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import controls, exhibits, shell, texts, tokens
from dashboard.exhibits import Exhibit
from dashboard.mechanism import formulas, telling, trained
from dashboard.mechanism.examples import DOUBTS, Doubt
from dashboard.mechanism.trained import Six
from dashboard.shell import Here
from dashboard.strips import strips_chart

SCALES = ("largest", "whole", "log", "rank")
DECADES = 3  # of the logarithmic picture
POSITIVE = 1  # the label that the values speak for


def pictured(weights: np.ndarray, scale: str) -> list[float]:
    """Weights as shares of the full colour, 0 to 1, on one of the SCALES.

    largest: w / max w. whole: w itself. log: three decades below 1. rank: the places in order, evenly.
    """
    match scale:
        case "whole":
            return weights.tolist()
        case "log":
            return [max(0.0, 1 + log10(w) / DECADES) if w > 0 else 0.0 for w in weights.tolist()]
        case "rank":
            order = weights.argsort(kind="stable").argsort(kind="stable")
            return ((order + 1) / len(weights)).tolist()
    return (weights / weights.max()).tolist()


def show(here: Here) -> None:
    """The same weights on four scales; weights that say nothing; both on the learner's sentence; and the question."""
    t = here.t
    telling.idea(here, "picture")
    choice = trained.pick(here)
    found: Six | None = None
    with shell.guarded(here):
        if choice is not None:
            found = trained.read(here, choice)
            shell.show_notes(here, found.notes)
            scales(here, found)
    with shell.guarded(here):
        doubt(here)
    if found is not None:
        with shell.guarded(here):
            sentence(here, found)
    for column, name in zip(st.columns(2, gap="medium"), ("known", "asked"), strict=True):
        column.html(tokens.argument_html(None, t(f"picture.{name}_title"), t(f"picture.{name}_text")))
    if st.button(t("picture.next"), icon=":material/gavel:", key="mechanism-agreement"):
        st.switch_page(shell.page_of("agreement"))


def scales(here: Here, found: Six) -> None:
    """One attention in four pictures."""
    t, weights = here.t, found.attention[0]
    rows = [tokens.Row(t(f"picture.{scale}"), pictured(weights, scale), t(f"picture.{scale}_sub")) for scale in SCALES]
    legends = [tokens.Legend(t("picture.none"), t("picture.full"))]
    with exhibits.figure(here, "scales", t("picture.scales_title")) as frame:
        st.html(tokens.legend_html(legends))
        st.html(tokens.strips_html(rows, found.words, language="en", shared=True))
        draw = partial(strips_chart, rows, found.words, legends=legends, shared=True, part=t("figure.part"))
        shown = tokens.table(rows, found.words, position=t("table.position"), word=t("table.word"))
        shown.insert(2, t("picture.weight"), weights)
        caption = t("picture.scales_caption", n=len(found.words), model=trained.FIRST)
        source, own = t("picture.scales_source"), here.link
        exhibit = Exhibit("scales", caption, source, {"": shown}, lambda look: draw(look=look), "", False, link=own)
        exhibits.show(here, frame, exhibit, t("picture.scales_note"))


def doubt(here: Here) -> None:
    """Weights of a small example, then what each word hands over; a guess on which word decides stands between."""
    t = here.t
    with exhibits.figure(here, "doubt", t("picture.doubt_title")) as frame:
        name = controls.choose(here, "doubt", {name: t(f"picture.doubt_{name}") for name in DOUBTS}, t("picture.example"))
        case = DOUBTS[name]
        words = case.words[here.link.lang]
        rows = doubted(here, case)
        place = st.container()
        about, options = f"doubt|{name}", {str(i): word for i, word in enumerate(words)}
        option = controls.guess(here, about, t("picture.question"), options).option
        place.html(tokens.strips_html(rows if option is not None else rows[:1], words, language=here.link.lang, numbers=True))
        if option is None:
            st.html(tokens.veil_html(t("picture.veil"), "6rem"))
            return
        parts = np.array(case.weights) * np.array(case.values)
        total, decides = float(parts.sum()), words[deciding(case)]
        if option:
            telling.guessed(here, about, words[int(option)], decides)
        st.latex(formulas.single(case.weights, case.values, total))
        draw = partial(strips_chart, rows, words, legends=legends(here), numbers=True, part=t("figure.part"))
        shown = pd.DataFrame({"word": list(words), "weight": case.weights, "value": case.values, "part": parts})
        caption = t("picture.doubt_caption", total=tokens.number(total, sign=True))
        exhibit = Exhibit("doubt", caption, t("picture.source"), {"": shown}, lambda look: draw(look=look), "", False)
        exhibits.show(here, frame, exhibit, t(f"picture.doubt_{name}_note", word=decides))


def legends(here: Here) -> list[tokens.Legend]:
    """The scales of weights and of what speaks for and against."""
    t = here.t
    return [tokens.Legend("0", t("strips.largest")), tokens.Legend(t("picture.against"), t("picture.for"), True)]


def deciding(case: Doubt) -> int:
    """The place of the word that decides: parts of equal size and opposite sign cancel, and of what is left it adds most in the
    direction of the sum."""
    parts = np.array(case.weights) * np.array(case.values)
    left = np.where(np.isclose(parts[:, None], -parts).any(1), 0.0, parts)
    return int((np.sign(left.sum()) * left).argmax())


def doubted(here: Here, case: Doubt) -> list[tokens.Row]:
    """Weight, value, and their product as rows of words."""
    t = here.t
    parts = [weight * value for weight, value in zip(case.weights, case.values, strict=True)]
    return [
        tokens.Row(t("picture.weight"), case.weights, t("picture.weight_sub")),
        tokens.Row(t("picture.value"), case.values, t("picture.value_sub"), signed=True),
        tokens.Row(t("picture.part"), parts, t("picture.part_sub"), signed=True),
    ]


def sentence(here: Here, found: Six) -> None:
    """The learner's sentence: weight, what a word's state says alone, and both together."""
    t, words = here.t, found.words
    says = found.effect[:, POSITIVE] - found.effect[:, 1 - POSITIVE]
    weights = found.attention[0]
    parts = weights * says
    rows = [
        tokens.Row(t("picture.weight"), weights.tolist(), t("picture.weight_sub")),
        tokens.Row(t("picture.says"), says.tolist(), t("picture.says_sub"), signed=True),
        tokens.Row(t("picture.part"), parts.tolist(), t("picture.part_sub"), signed=True),
    ]
    with exhibits.figure(here, "sentence", t("picture.sentence_title")) as frame:
        with frame:
            numbers = st.toggle(t("figure.numbers"), key="mechanism-numbers", persist_state="session")
        st.html(tokens.legend_html(legends(here)))
        st.html(tokens.strips_html(rows, words, language="en", numbers=numbers))
        draw = partial(strips_chart, rows, words, legends=legends(here), numbers=numbers, part=t("figure.part"))
        shown = tokens.table(rows, words, position=t("table.position"), word=t("table.word"))
        most, least = int(weights.argmax()), int(np.abs(parts).argmax())
        values: dict[str, Any] = {"most": texts.plain(words[most]), "strong": texts.plain(words[least])}
        little = int((np.abs(says) < np.abs(says).max() / 10).sum())
        note = t("picture.same_word" if most == least else "picture.other_word", **values)
        caption = t("picture.sentence_caption", model=trained.FIRST, n=len(words))
        source, own = t("picture.source"), here.link
        exhibit = Exhibit("sentence", caption, source, {"": shown}, lambda look: draw(look=look), "", False, link=own)
        idle = t("picture.little" if little else "picture.little_none", count=little, n=len(words))
        exhibits.show(here, frame, exhibit, note, idle)
