"""The title page: one prediction, two maps, and the question that six papers quarrel about.

A trained model reads one review. Left, its own attention; right, of all attentions that keep the prediction to within 0.01 the one
farthest from it, found by exact search. The picture is told as a detective's torch that somebody turns, and then says where it
overclaims.
"""

from math import log

import streamlit as st

from core.explanation import Explanation, explain
from dashboard import evidence, resources, shell, texts, tokens
from dashboard.resources import Choice
from dashboard.shell import Here

EPSILON = 0.01
OPENING = {"en": ("sst2/bilstm-additive", "review-02"), "ko": ("nsmc/bilstm-additive", "review-ko-07")}
PAPERS = (
    ("jain", "Jain & Wallace 2019", "charge", "agreement"),
    ("wiegreffe", "Wiegreffe & Pinter 2019", "defence", ""),
    ("serrano", "Serrano & Smith 2019", "witnesses", ""),
    ("pruthi", "Pruthi et al. 2020", "witnesses", ""),
    ("brunner", "Brunner et al. 2020", "witnesses", ""),
    ("hao", "Hao et al. 2021", "transformer", ""),
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
    with shell.computing(here, 260) as waiting:
        found = resources.compute(explain, choice, waiting=waiting, measures=("attention",))
        other = resources.compute(evidence.other_map, choice, waiting=waiting, epsilon=EPSILON)
    label = found.target
    prob = other.prediction[0][list(found.prediction).index(label)]
    maps = (("learned", found.prediction[label], other.original), ("turned", prob, other.attention[0]))
    st.markdown(t("story.review"))
    for column, (name, p, weights) in zip(st.columns(2, gap="medium"), maps, strict=True):
        with column:
            one_map(here, found, name, p, weights)
    values = {"tvd": tokens.number(other.tvd[0], 3), "epsilon": EPSILON, "jsd": tokens.number(other.jsd[0]), "most": tokens.number(log(2))}
    st.caption(t("story.caption", model=choice.model, **values))
    st.caption(t("story.found", epsilon=EPSILON))


def one_map(here: Here, found: Explanation, name: str, prob: float, weights: tuple[float, ...]) -> None:
    """One map: what it is, the prediction under it, the words, and the story's sentence."""
    t, label = here.t, here.t.label(found.target)
    word = found.words[max(range(len(weights)), key=lambda i: weights[i])]
    frame = "adversarial" if name == "turned" else "learned"
    with st.container(border=True, key=f"{frame}-map", height="stretch"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.markdown(f"### {t(f'story.{name}')}", width="content")
            st.html(tokens.prediction_html(t("picker.prediction"), label, prob), width="content")
        language = here.card.task.language if here.card else here.link.lang
        st.html(tokens.strips_html([tokens.Row("", weights)], found.words, language=language))
        st.markdown(t(f"story.{name}_text", word=texts.plain(word), label=label))


def papers(here: Here) -> None:
    """Six papers with the side each takes, two a row."""
    t = here.t
    st.markdown(f"## {t('papers.title')}")
    for row in (PAPERS[:2], PAPERS[2:4], PAPERS[4:]):
        for column, (key, name, section, page) in zip(st.columns(2, gap="medium"), row, strict=True):
            with column:
                heading = f"{t(f'section.{section}')} · {name}"
                st.html(tokens.argument_html(shell.SIDES.get(section), heading, t(f"papers.{key}")))
                if page in shell.PAGES and page:
                    st.page_link(shell.page_of(page), label=texts.page(page, here.link.lang)("title"), icon=":material/arrow_forward:")


here = shell.start("")
choice = opening(here)
with shell.guarded(here):
    if choice is None:
        st.caption(here.t("story.unavailable"))
    else:
        two_maps(here, choice)
for column, name in zip(st.columns(2, gap="medium"), ("overclaim", "question"), strict=True):
    column.html(tokens.argument_html(None, here.t(f"story.{name}"), here.t(f"story.{name}_text")))
papers(here)
st.markdown(f"## {here.t('way.title')}")
st.markdown(here.t("way.text"))
st.markdown(f"{here.t('way.study')} {here.t('way.share')}")
st.page_link(shell.page_of("agreement"), label=here.t("way.start"), icon=":material/gavel:")
