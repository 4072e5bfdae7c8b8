"""Fourth chapter: looking at a part of the text only, as Luong et al. (2015) do, on a sentence that says a word twice."""

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
from dashboard.mechanism import examples, telling, vectors
from dashboard.mechanism.keys import REACHES, SIGNALS
from dashboard.shell import Here
from dashboard.strips import strips_chart
from dashboard.theme import Look

OPTIONS = ("less", "one", "more")
BEYOND = 6  # steps behind the end of the sentence, one less
SLIDER = 230


def show(here: Here) -> None:
    """The three ways beside each other, then the Gaussian."""
    t = here.t
    telling.idea(here, "windows")
    words, scores = examples.source(here.link.lang)
    with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
        names = {code: code for code in sorted(REACHES, key=int)}
        reach = int(controls.choose(here, "reach", names, t("windows.reach"), help_text=t("windows.reach_help")))
        places = [str(place) for place in range(1, len(words) + BEYOND)]
        step = int(slide(here, "place", places, here.key("place") or str(second(here, words)), t("windows.step")))
        signal = float(slide(here, "signal", sorted(SIGNALS, key=float), here.key("signal"), t("windows.signal")))
    mask = torch.ones(1, len(words), dtype=torch.bool)
    center = windows.predicted(torch.tensor([signal], dtype=torch.float64), mask)
    at = torch.tensor([float(step)], dtype=torch.float64)
    found = {
        "global": softmax(scores[None], mask)[0],
        "monotonic": windows.monotonic(scores[None], at, mask, reach)[0],
        "predictive": windows.predictive(scores[None], center, mask, reach)[0],
    }
    kinds(here, words, found, step, float(center), reach)
    bend(here, words, scores, found["predictive"], signal, float(center), reach)


def second(here: Here, words: tuple[str, ...]) -> int:
    """The place of the sought word when it comes the second time."""
    sought = examples.SOUGHT[here.link.lang]
    return max(place for place, word in enumerate(words, 1) if word == sought)


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


def kinds(
    here: Here, words: tuple[str, ...], found: dict[str, torch.Tensor], step: int, center: float, reach: int
) -> None:  # fmt: skip
    """Global, monotonic and predictive weights as rows of words; what they sum to after a guess."""
    t = here.t
    where = {"global": t("windows.everywhere"), "monotonic": t("windows.around", place=step)}
    where["predictive"] = t("windows.around", place=tokens.number(center))
    legends = [tokens.Legend("0", t("windows.one"))]
    total = {name: float(weights.sum()) for name, weights in found.items()}
    with exhibits.figure(here, "windows", t("windows.title", word=examples.SOUGHT[here.link.lang])) as frame:
        st.html(tokens.legend_html(legends))
        place = st.container()
        option = controls.guess(here, "windows", t("windows.question"), {name: t(f"windows.{name}") for name in OPTIONS}).option
        revealed = option is not None
        rows = [
            tokens.Row(
                t(f"windows.{name}"),
                weights.tolist(),
                where[name],
                note=t("windows.sum", total=tokens.number(total[name])) if revealed else "",
                masked=[i for i, weight in enumerate(weights.tolist()) if weight == 0],
            )
            for name, weights in found.items()
        ]
        shown = rows if revealed else rows[:2]
        place.html(tokens.strips_html(shown, words, language=here.link.lang, numbers=True, shared=True))
        if not revealed:
            st.html(tokens.veil_html(t("windows.veil"), "5rem"))
            return
        if option:
            telling.guessed(here, "windows", t(f"windows.{option}"), tokens.number(total["predictive"]))
        draw = partial(strips_chart, rows, words, legends=legends, numbers=True, shared=True, part=t("figure.part"))
        table = tokens.table(rows, words, position=t("table.position"), word=t("table.word"))
        caption = t("windows.caption", reach=reach, n=len(words))
        exhibit = Exhibit("windows", caption, t("windows.source"), {"": table}, lambda look: draw(look=look), "", False)
        exhibits.show(here, frame, exhibit, t("windows.note", word=examples.SOUGHT[here.link.lang]))


def bend(
    here: Here, words: tuple[str, ...], scores: torch.Tensor, after: torch.Tensor, signal: float, center: float, reach: int
) -> None:  # fmt: skip
    """Where the predictive window lies, and what its Gaussian takes from the weights; shown once the guess is made."""
    t = here.t
    if not controls.revealed(here, "windows"):
        return
    mask = torch.ones(1, len(words), dtype=torch.bool)
    before = windows.monotonic(scores[None], torch.tensor([center], dtype=torch.float64), mask, reach)[0]
    most = int(after.argmax())
    with exhibits.figure(here, "gaussian", t("windows.gaussian_title")) as frame:
        left, right = st.columns([5, 6], gap="medium")
        with left:
            st.latex(formula(words, signal, center, reach, most, float(before[most]), float(after[most])))
            st.markdown(t("windows.gaussian_text"))
        data = pd.DataFrame(
            {"position": range(1, len(words) + 1), "word": list(words), "before": before.tolist(), "after": after.tolist()}
        )
        at = np.linspace(1, len(words), 120)
        curve = pd.DataFrame({"position": at, "value": np.exp(-((at - center) ** 2) / (2 * (reach / 2) ** 2))})
        names = (t("windows.before"), t("windows.after"), t("windows.bell"))
        alt = t("windows.gaussian_alt", place=tokens.number(center), word=words[most], weight=tokens.number(float(after[most])))

        def draw(look: Look) -> Any:
            return vectors.windowed(data, curve, words, x=t("windows.weight"), names=names, alt_text=alt, look=look)

        with right:
            st.altair_chart(draw(here.look), theme=None, key="mechanism-gaussian")
        exhibit = Exhibit("gaussian", t("windows.gaussian_caption"), t("windows.source"), {"": data}, draw, alt, False)
        exhibits.show(here, frame, exhibit)


def formula(
    words: tuple[str, ...], signal: float, center: float, reach: int, most: int, before: float, after: float
) -> str:  # fmt: skip
    """The place of the window and the weight of its most attended word, with the numbers in it."""
    width, distance = reach / 2, most + 1 - center
    return (
        r"\begin{aligned}"
        rf"p &= S \cdot \mathrm{{sigmoid}}(z) = {len(words)} \cdot \tfrac{{1}}{{1 + e^{{{-signal:g}}}}} = {center:.2f}\\"
        rf"\sigma &= D / 2 = {width:g}\\"
        rf"\alpha_{{{most + 1}}} &= {before:.2f} \cdot e^{{-({most + 1} - {center:.2f})^2 / (2 \cdot {width:g}^2)}}\\"
        rf"&= {before:.2f} \cdot {exp(-(distance**2) / (2 * width**2)):.2f} = {after:.2f}"
        r"\end{aligned}"
    )
