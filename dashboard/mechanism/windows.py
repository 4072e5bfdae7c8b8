"""Fourth chapter: looking at a part of the text only, as Luong et al. (2015) do, on a sentence that says a word twice."""

from dataclasses import dataclass
from functools import partial
from math import exp
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
import torch

from core.models import windows
from core.models.scores import softmax
from dashboard import controls, exhibits, link, tokens
from dashboard.exhibits import Exhibit
from dashboard.lessons import own_key
from dashboard.mechanism import examples, formulas, telling, vectors
from dashboard.mechanism.keys import REACHES, SIGNALS
from dashboard.shell import Here
from dashboard.strips import strips_chart
from dashboard.theme import Look

OPTIONS = ("less", "one", "more")
BEYOND = 6  # steps behind the end of the sentence, one less
SLIDER = 230


@dataclass(frozen=True)
class View:
    """A sentence and where each way of attending looks in it."""

    words: tuple[str, ...]
    step: int  # of the translation, where the monotonic window lies
    signal: float  # what the model says of the place
    center: float  # the predicted place
    reach: int
    weights: dict[str, torch.Tensor]  # "global", "monotonic", "predictive": "token"
    before: torch.Tensor  # the predictive weights before the Gaussian, "token"

    @property
    def most(self) -> int:
        """The word with the largest predictive weight."""
        return int(self.weights["predictive"].argmax())


def viewed(lang: str, reach: int, step: int | None, signal: float) -> View:
    """The page's sentence under the three ways; the step is that of the second sought word unless given."""
    words, scores = examples.source(lang)
    step = step or max(place for place, word in enumerate(words, 1) if word == examples.SOUGHT[lang])
    mask, at = torch.ones(1, len(words), dtype=torch.bool), torch.tensor([float(step)], dtype=torch.float64)
    center = windows.predicted(torch.tensor([signal], dtype=torch.float64), mask)
    weights = {
        "global": softmax(scores[None], mask)[0],
        "monotonic": windows.monotonic(scores[None], at, mask, reach)[0],
        "predictive": windows.predictive(scores[None], center, mask, reach)[0],
    }
    before = windows.monotonic(scores[None], center, mask, reach)[0]
    return View(words, step, signal, float(center), reach, weights, before)


def show(here: Here) -> None:
    """The three ways beside each other, then the Gaussian once the guess is made."""
    t, lang = here.t, here.link.lang
    telling.idea(here, "windows")
    with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
        names = {code: code for code in sorted(REACHES, key=int)}
        reach = int(controls.choose(here, "reach", names, t("windows.reach"), help_text=t("windows.reach_help")))
        own = viewed(lang, reach, None, 0.0)
        places = [str(place) for place in range(1, len(own.words) + BEYOND)]
        step = slide(here, "place", places, here.key("place") or str(own.step), t("windows.step"))
        signal = slide(here, "signal", sorted(SIGNALS, key=float), here.key("signal"), t("windows.signal"))
    view = viewed(lang, reach, int(step), float(signal))
    if kinds(here, view):
        bend(here, view)


def slide(here: Here, name: str, codes: list[str], code: str, label: str) -> str:
    """One of the page's own keys as a slider over its codes."""
    own, slot = own_key(here.page, name), f"mechanism-{name}"
    st.session_state[slot] = code if code in codes else codes[-1]
    return str(
        st.select_slider(
            label,
            codes,
            key=slot,
            width=SLIDER,
            help=here.t(f"windows.{name}_help"),
            on_change=lambda: link.put(keys={**link.current().keys, own: st.session_state[slot]}),
        )
    )


def kinds(here: Here, view: View) -> bool:
    """Global, monotonic and predictive weights as rows of words; what they sum to after a guess. Whether it is made."""
    t, sought = here.t, examples.SOUGHT[here.link.lang]
    legends = [tokens.Legend("0", t("windows.one"))]
    with exhibits.figure(here, "windows", t("windows.title", word=sought)) as frame:
        st.html(tokens.legend_html(legends))
        place = st.container()
        options = {name: t(f"windows.{name}") for name in OPTIONS}
        option = controls.guess(here, "windows", t("windows.question"), options).option
        rows = strips(here, view, option is not None)
        drawn: dict[str, Any] = {"numbers": True, "shared": True}
        visible = rows[:2] if option is None else rows
        place.html(tokens.strips_html(visible, view.words, language=here.link.lang, **drawn))
        if option is None:
            st.html(tokens.veil_html(t("windows.veil"), "5rem"))
            return False
        if option:
            total = tokens.number(float(view.weights["predictive"].sum()))
            telling.guessed(here, "windows", options[option], total)
        draw = partial(strips_chart, rows, view.words, legends=legends, part=t("figure.part"), **drawn)
        table = tokens.table(rows, view.words, position=t("table.position"), word=t("table.word"))
        caption = t("windows.caption", reach=view.reach, n=len(view.words))
        exhibit = Exhibit("windows", caption, t("windows.source"), {"": table}, lambda look: draw(look=look), "", False)
        exhibits.show(here, frame, exhibit, t("windows.note", word=sought))
    return True


def strips(here: Here, view: View, summed: bool) -> list[tokens.Row]:
    """A row for each way, what it does not see struck out; what it sums to where that may be told."""
    t = here.t
    where = {
        "global": t("windows.everywhere"),
        "monotonic": t("windows.around", place=view.step),
        "predictive": t("windows.around", place=tokens.number(view.center)),
    }
    made = []
    for name, weights in view.weights.items():
        unseen = [place for place, weight in enumerate(weights.tolist()) if weight == 0]
        total = t("windows.sum", total=tokens.number(float(weights.sum()))) if summed else ""
        made.append(tokens.Row(t(f"windows.{name}"), weights.tolist(), where[name], note=total, masked=unseen))
    return made


def bend(here: Here, view: View) -> None:
    """Where the predictive window lies, and what its Gaussian takes from the weights."""
    t, words, after = here.t, view.words, view.weights["predictive"].tolist()
    data = pd.DataFrame({"position": range(1, len(words) + 1), "word": words, "before": view.before.tolist(), "after": after})
    at = np.linspace(1, len(words), 120)
    curve = pd.DataFrame({"position": at, "value": np.exp(-((at - view.center) ** 2) / (2 * (view.reach / 2) ** 2))})
    names = (t("windows.before"), t("windows.after"), t("windows.bell"))
    largest = {"word": words[view.most], "weight": tokens.number(after[view.most])}
    alt = t("windows.gaussian_alt", place=tokens.number(view.center), **largest)

    def draw(look: Look) -> Any:
        return vectors.windowed(data, curve, words, x=t("windows.weight"), names=names, alt_text=alt, look=look)

    with exhibits.figure(here, "gaussian", t("windows.gaussian_title")) as frame:
        left, right = st.columns([5, 6], gap="medium")
        with left:
            st.latex(formula(view))
            st.markdown(t("windows.gaussian_text"))
        right.altair_chart(draw(here.look), theme=None, key="mechanism-gaussian")
        exhibit = Exhibit("gaussian", t("windows.gaussian_caption"), t("windows.source"), {"": data}, draw, alt, False)
        exhibits.show(here, frame, exhibit)


def formula(view: View) -> str:
    """The place of the window and the weight of its most attended word, with the numbers in it."""
    width, place = view.reach / 2, view.most + 1
    before, after = float(view.before[view.most]), float(view.weights["predictive"][view.most])
    bell = exp(-((place - view.center) ** 2) / (2 * width**2))
    return formulas.aligned(
        [
            rf"p &= S \cdot \mathrm{{sigmoid}}(z) = {len(view.words)} \cdot \tfrac{{1}}{{1 + e^{{{-view.signal:g}}}}}",
            rf"&= {view.center:.2f}",
            rf"\sigma &= D / 2 = {width:g}",
            rf"\alpha_{{{place}}} &= {before:.2f} \cdot e^{{-({place} - {view.center:.2f})^2 / (2 \cdot {width:g}^2)}}",
            rf"&= {before:.2f} \cdot {bell:.2f} = {after:.2f}",
        ]
    )
