"""The title page: one prediction, two maps, and the question that six papers quarrel about.

A trained model reads one review. Left, its own attention; right, of all attentions that keep the prediction to within 0.01 the
one farthest from it, found by exact search. The picture is told as a detective's torch that somebody turns, and then says where
it overclaims.
"""

from dataclasses import replace
from math import log
from typing import Any

import streamlit as st

from core.debate.adversary import Adversary
from core.explanation import Explanation, explain
from dashboard import evidence, exhibits, resources, shell, texts, tokens
from dashboard.exhibits import Exhibit
from dashboard.resources import Choice
from dashboard.shell import Here
from dashboard.strips import strips_chart
from dashboard.theme import Look

EPSILON = 0.01
OPENING = {"en": ("sst2/bilstm-additive", "review-01"), "ko": ("nsmc/bilstm-additive", "review-ko-22")}
PAPERS = (
    ("jain", "Jain & Wallace 2019", "charge"),
    ("wiegreffe", "Wiegreffe & Pinter 2019", "defence"),
    ("serrano", "Serrano & Smith 2019", "witnesses"),
    ("pruthi", "Pruthi et al. 2020", "witnesses"),
    ("brunner", "Brunner et al. 2020", "witnesses"),
    ("hao", "Hao et al. 2021", "transformer"),
)


def opening(here: Here) -> Choice | None:
    """The review of the language, where its model is there."""
    model, sample = OPENING[here.link.lang]
    if model not in resources.cards() or sample not in resources.samples(model):
        return None
    return Choice(model, resources.samples(model)[sample].text)


def two_maps(here: Here, choice: Choice) -> None:
    """The same review and the same prediction under two attentions, told as a story."""
    t = here.t
    legend = tokens.legend_html([tokens.Legend("0", t("story.largest"))])
    with exhibits.head(here, html=tokens.lede_html(t("story.review")) + legend) as right:
        with shell.computing(here, 240) as waiting:
            found = resources.compute(explain, choice, waiting=waiting, measures=("attention",))
            other = resources.compute(evidence.other_map, choice, waiting=waiting, epsilon=EPSILON)
        prob = other.prediction[0][list(found.prediction).index(found.target)]
        maps = (("learned", found.prediction[found.target], other.original), ("turned", prob, other.attention[0]))
        for column, (name, p, weights) in zip(st.columns(2, gap="medium"), maps, strict=True):
            with column:
                one_map(here, found, name, p, weights)
        exhibits.show(here, right, exhibit_of(here, choice, found, other))


def exhibit_of(here: Here, choice: Choice, found: Explanation, other: Adversary) -> Exhibit:
    """Both maps as one figure for files, and the caption with what separates them."""
    t = here.t
    legends = [tokens.Legend("0", t("story.largest"))]
    index = list(found.prediction).index(found.target)
    before, after = (
        f"{t('picker.prediction')} {t.label(found.target)} {tokens.number(p)}"
        for p in (found.prediction[found.target], other.prediction[0][index])
    )
    rows = [
        tokens.Row(t("story.learned"), other.original, before),
        tokens.Row(t("story.turned"), other.attention[0], after, side="charge"),
    ]
    values = {"tvd": tokens.number(other.tvd[0], 3), "epsilon": EPSILON, "jsd": tokens.number(other.jsd[0])}
    caption = t("story.caption", model=choice.model, most=tokens.number(log(2)), **values)
    table = tokens.table(rows, found.words, position=t("story.position"), word=t("story.word"))

    def draw(look: Look) -> Any:
        return strips_chart(rows, found.words, legends=legends, part=t("figure.part"), look=look)

    link = replace(here.link, model=choice.model, sample=OPENING[here.link.lang][1], own=None, query="", target="")
    return Exhibit("maps", caption, "Jain & Wallace 2019, §4.2", {"": table}, draw, on_screen=False, link=link)


def one_map(here: Here, found: Explanation, name: str, prob: float, weights: tuple[float, ...]) -> None:
    """One map: what it is, the prediction under it, the words, and the story's sentence."""
    t, label = here.t, here.t.label(found.target)
    word = found.words[max(range(len(weights)), key=lambda i: weights[i])]
    with st.container(border=True, key=f"{'adversarial' if name == 'turned' else 'learned'}-map", height="stretch"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.subheader(t(f"story.{name}"), anchor=False, width="content")
            st.html(tokens.prediction_html(t("picker.prediction"), label, prob), width="content")
        st.html(tokens.strips_html([tokens.Row("", weights)], found.words, language=here.link.lang))
        st.markdown(t(f"story.{name}_text", word=texts.plain(word), label=label))


def papers(here: Here) -> None:
    """Six papers with the side each takes, two a row."""
    st.space("small")
    st.header(here.t("papers.title"), anchor=False)
    for row in (PAPERS[:2], PAPERS[2:4], PAPERS[4:]):
        for column, (key, name, section) in zip(st.columns(2, gap="medium"), row, strict=True):
            heading = f"{here.t(f'section.{section}')} · {name}"
            column.html(tokens.argument_html(shell.SIDES.get(section), heading, here.t(f"papers.{key}")))


def way_in(here: Here) -> None:
    """The question, and the button that opens the first argument."""
    t = here.t
    for column, name in zip(st.columns(2, gap="medium"), ("overclaim", "question"), strict=True):
        column.html(tokens.argument_html(None, t(f"story.{name}"), t(f"story.{name}_text")))
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(t("way.start"), type="primary", icon=":material/gavel:"):
            st.switch_page(shell.page_of("agreement"))
        st.caption(t("way.next"), width="content")


here = shell.start("")
choice = opening(here)
with shell.guarded(here):
    if choice is None:
        st.caption(here.t("story.unavailable"))
    else:
        two_maps(here, choice)
way_in(here)
papers(here)
if not here.lecture:
    st.space("small")
    st.header(here.t("way.title"), anchor=False)
    st.markdown(here.t("way.text"))
    st.markdown(f"{here.t('way.study')} {here.t('way.share')}")
