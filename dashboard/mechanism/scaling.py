"""Third chapter: why Transformers divide by √d. Random numbers, measured while one looks."""

from functools import partial
from math import ceil, log
from typing import Any

import pandas as pd
import streamlit as st

from core.mechanism import attend, by_dimension, random_scores
from dashboard import controls, exhibits, resources, shell, tokens
from dashboard.exhibits import Exhibit
from dashboard.mechanism import telling, vectors
from dashboard.mechanism.keys import DIMENSIONS, KEYS
from dashboard.shell import Here
from dashboard.strips import strips_chart
from dashboard.theme import Look

QUERIES = 500
ASKED = 256  # the dimension that the guess is about
OPTIONS = ("tenth", "half", "nearly")
MEASURED = ("variance", "entropy", "largest")


def measured(words: str, seed: str) -> pd.DataFrame:
    """dimension, scaled, and of variance, entropy and largest weight the mean with its interval: two rows a dimension."""
    rows = []
    for found in by_dimension(DIMENSIONS, words=int(words), n=QUERIES, seed=int(seed)):
        means = {name: getattr(found, name) for name in MEASURED}
        ends = {f"{name}_{end}": getattr(mean, end) for name, mean in means.items() for end in ("mean", "low", "high")}
        rows.append({"dimension": found.dimension, "scaled": found.scaled, **ends})
    return pd.DataFrame(rows)


def of(found: pd.DataFrame, dimension: int, name: str, scaled: bool = False) -> float:
    """A mean of the table."""
    row = found[(found["dimension"] == dimension) & (found["scaled"] == scaled)]
    return float(row[f"{name}_mean"].iloc[0])


def show(here: Here) -> None:
    """Variance and entropy against dimension, then one draw of them."""
    t = here.t
    telling.idea(here, "scaling")
    with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
        names = {code: code for code in sorted(KEYS["dimension"], key=int)}
        dimension = int(controls.choose(here, "dimension", names, t("scaling.dimension")))
        names = {code: code for code in sorted(KEYS["words"], key=int)}
        words = controls.choose(here, "words", names, t("scaling.words"))
        seed = controls.seed(here)
    found = resources.table(measured, words, str(seed))
    left, right = st.columns(2, gap="medium")
    with left, shell.guarded(here):
        variance(here, found, dimension, words)
    with right, shell.guarded(here):
        entropy(here, found, dimension, words)
    with shell.guarded(here):
        one_draw(here, dimension, int(words), seed)


def variance(here: Here, found: pd.DataFrame, dimension: int, words: str) -> None:
    """How widely scores are spread, with the formula at the chosen dimension."""
    t = here.t
    with exhibits.figure(here, "variance", t("scaling.variance_title")) as frame:
        plain, scaled = (of(found, dimension, "variance", scaled) for scaled in (False, True))
        st.latex(
            r"\begin{aligned}\mathrm{Var}(q \cdot k) &= \textstyle\sum_{i=1}^{d} \mathrm{Var}(q_i k_i) = d = "
            rf"{dimension}\\ \text{{{t('scaling.measured')}}} &: {plain:.1f} \\"
            rf"\mathrm{{Var}}(q \cdot k / \sqrt{{d}}) &= {dimension} / {dimension} = 1\\"
            rf"\text{{{t('scaling.measured')}}} &: {scaled:.2f}\end{{aligned}}"
        )
        curve(here, frame, found, "variance", words)


def entropy(here: Here, found: pd.DataFrame, dimension: int, words: str) -> None:
    """How evenly the softmax shares out, after a guess on how much one word gets."""
    t = here.t
    with exhibits.figure(here, "entropy", t("scaling.entropy_title")) as frame:
        option = telling.ask(here, "scaling", {name: t(f"scaling.{name}") for name in OPTIONS}, "20rem", words=words)
        if option is None:
            return
        if option:
            share = t("scaling.percent", share=f"{100 * of(found, ASKED, 'largest'):.0f}")
            telling.guessed(here, "scaling", t(f"scaling.{option}"), share)
        plain, scaled = (of(found, dimension, "entropy", scaled) for scaled in (False, True))
        st.latex(
            rf"\begin{{aligned}} H &= -\textstyle\sum_t \alpha_t \ln \alpha_t \;\le\; \ln {words} = {log(int(words)):.2f} \\"
            rf"\text{{{t('scaling.measured')}}} &: {plain:.2f} \\ \text{{{t('scaling.measured')}}}, /\sqrt{{d}} &: {scaled:.2f}"
            r"\end{aligned}"
        )
        curve(here, frame, found, "entropy", words)


def curve(here: Here, frame: Any, found: pd.DataFrame, name: str, words: str) -> None:
    """A measured mean against the dimension, with and without the division."""
    t = here.t
    series = [t("scaling.scaled" if scaled else "scaling.plain") for scaled in found["scaled"]]
    data = pd.DataFrame({"x": found["dimension"], "series": series})
    data = data.assign(**{end: found[f"{name}_{end}"] for end in ("mean", "low", "high")})
    data = pd.concat([data[data["series"] == t(f"scaling.{kind}")] for kind in ("plain", "scaled")], ignore_index=True)
    largest = log(int(words))
    said = ", ".join(f"{row['series']} {row['x']}: {row['mean']:.2f}" for row in data.to_dict("records"))
    alt = t(f"scaling.{name}_alt", values=said)

    def draw(look: Look) -> Any:
        how: dict[str, Any] = {"log": True} if name == "variance" else {"top": ceil(largest * 2) / 2}
        return vectors.by_dimension(data, x=t("scaling.x"), y=t(f"scaling.{name}_y"), alt_text=alt, look=look, **how)

    caption = t("scaling.caption", n=QUERIES, words=words, seed=here.link.seed)
    share = {kind: f"{100 * of(found, ASKED, 'largest', kind == 'scaled'):.0f}" for kind in ("plain", "scaled")}
    note = t(f"scaling.{name}_note", even=tokens.number(largest), **share)
    shown = found[["dimension", "scaled", *(f"{of}_{end}" for of in MEASURED for end in ("mean", "low", "high"))]]
    exhibits.show(here, frame, Exhibit(name, caption, t("scaling.source"), {"": shown}, draw, alt), note)


def one_draw(here: Here, dimension: int, words: int, seed: int) -> None:
    """A single query over random keys: the same scores shared out with and without the division."""
    t = here.t
    scores = random_scores(dimension, words=words, n=1, seed=seed)
    nothing = scores.new_zeros(words, 1)
    names = [str(place) for place in range(1, words + 1)]
    rows = []
    for kind, values in (("plain", scores), ("scaled", scores / dimension**0.5)):
        weights = attend(values, nothing).weights[0].tolist()
        spread = t("scaling.range", low=tokens.number(float(values.min()), 1), high=tokens.number(float(values.max()), 1))
        largest = t("scaling.largest", share=tokens.number(max(weights)))
        rows.append(tokens.Row(t(f"scaling.{kind}"), weights, spread, note=largest))
    legends = [tokens.Legend("0", t("scaling.one"))]
    with exhibits.figure(here, "draw", t("scaling.draw_title", dimension=dimension)) as frame:
        st.html(tokens.legend_html(legends))
        st.html(tokens.strips_html(rows, names, numbers=words <= 10, shared=True))
        draw = partial(strips_chart, rows, names, legends=legends, numbers=True, shared=True, part=t("figure.part"))
        shown = tokens.table(rows, names, position=t("table.position"), word=t("scaling.key"))
        caption = t("scaling.draw_caption", dimension=dimension, seed=seed, words=words)
        exhibits.show(
            here, frame, Exhibit("draw", caption, t("scaling.source"), {"": shown}, lambda look: draw(look=look), "", False)
        )
