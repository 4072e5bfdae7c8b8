"""Is the picture of attention the only one? Brunner et al. 2020, on heads that are small enough to overlook something.

The reader's sentence under one head: its attention beside the part of it that the output can see. First the reader guesses how
much is unseen. Then a slider moves the attention along a direction that the output cannot see, towards a word or away from it,
until a weight reaches zero; the map changes, the effective map and the prediction stand still. Whole test sets follow: the
unseen share by length, against the head size, and by head.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import (
    charts,
    controls,
    evidence,
    exhibits,
    frames,
    lessons,
    link,
    matrix,
    own_model,
    quality,
    resources,
    shell,
    texts,
    tokens,
    unseen,
)
from dashboard.exhibits import Exhibit
from dashboard.resources import Choice
from dashboard.shell import Here
from dashboard.theme import Look
from dashboard.unseen import Head, Moved

GUESSES = ("none", "some", "much")
WORD_WIDTH, SLIDER_WIDTH = 170, 230
CELL = 14  # pixels of a matrix's row


@dataclass(frozen=True)
class View:
    """One head on one text, and the places for what moves it and for the results."""

    found: Head
    controls: DeltaGenerator
    results: DeltaGenerator


@dataclass(frozen=True)
class Walk:
    """Where the controls have moved the attention: towards which word, by how many percent of the way, and what came of it."""

    word: int
    step: int
    moved: Moved


def lesson(here: Here, choice: Choice, picked: controls.Picked) -> None:
    """Everything that needs the model. Test sets are shown even where the text cannot be read."""
    revealed: Head | None = None
    with shell.guarded(here):
        view = seen(here, choice, picked)
        quality.show(here)
        revealed = view.found if experiment(here, choice, view) else None
    left, right = st.columns(2, gap="medium")
    with left:
        lengths(here, choice, revealed)
    with right:
        heads(here, choice, revealed)


def seen(here: Here, choice: Choice, picked: controls.Picked) -> View:
    """The head under the page's controls; says the prediction and what the reader should know about the text."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
        layer, head = pick_head(here)
        place = st.container(horizontal=True, width="content", vertical_alignment="bottom", gap="medium")
        results = st.container(horizontal=True, width="content", gap="large")
    with shell.computing(here, 420) as waiting:
        found = resources.compute(unseen.seen, choice, waiting=waiting, layer=layer, head=head)
    controls.show_prediction(here, picked.place, found.prediction)
    shell.show_notes(here, [note for note in found.notes if note.code not in shell.QUIET])
    return View(found, place, results)


def pick_head(here: Here) -> tuple[int, int]:
    """Which layer, where the model has several, and which of its heads."""
    layers, heads = (here.card.layers, here.card.heads) if here.card else (1, 1)
    layer = pick(here, "layer", layers) if layers > 1 else 1
    return layer, pick(here, "head", heads)


def pick(here: Here, name: str, count: int) -> int:
    """The number of a layer or a head; the first one where the link names one that this model does not have."""
    t, given = here.t, int(here.key(name))
    options = {str(number): str(number) for number in range(1, count + 1)}
    if given > count:
        shell.problem(t, f"no_{name}", "This model has fewer; the first one is shown.", {"given": str(given), "n": count})
        put(lessons.own_key(here.page, name), "1")
        here = replace(here, link=link.current())
    return int(controls.choose(here, name, options, t(f"control.{name}"), help_text=t(f"control.{name}_help")))


def experiment(here: Here, choice: Choice, view: View) -> bool:
    """The two maps, the guess, and the walk that moves one of them. Whether the guess is made."""
    t, found = here.t, view.found
    about = "|".join((choice.model, choice.text, found.name))
    revealed = controls.revealed(here, about)
    walk = walked(here, choice, view) if revealed else None
    with exhibits.figure(here, "maps", t("maps.title", head=found.name)):
        left, right = st.columns(2, gap="medium")
        with left:
            attention_map(here, found, walk)
        with right:
            if revealed:
                effective_map(here, found, walk)
            else:
                st.html(tokens.veil_html(t("predict.veil"), "13rem"))
                options = {name: t(f"predict.{name}") for name in GUESSES}
                controls.guess(here, about, t("predict.question"), options)
        if revealed:
            say(here, about, found, walk)
        st.caption(quality.line(here))
        shell.show_notes(here, [note for note in found.notes if note.code in shell.QUIET])
    return revealed


def walked(here: Here, choice: Choice, view: View) -> Walk | None:
    """The attention moved as the controls say; None where nothing can move unseen. Shows the two numbers that this comes to."""
    t, found = here.t, view.found
    if not found.free:
        return None
    word = unseen.word_of(here.key("word"), found)
    if word is None:
        values = {"given": here.key("word"), "n": len(found.words), "used": found.words[found.most]}
        shell.problem(t, "no_word", "The text has fewer words; the most attended one is shown.", values)
        word = found.most
    with view.controls:
        pick_word(here, found, word)
        step = slide(here)
    with shell.computing(here, 60) as waiting:
        ask = partial(resources.compute, unseen.moved, choice, waiting=waiting, layer=found.layer, head=found.head)
        moved = ask(word=word, step=step / 100)
    if moved is None:
        with view.controls:
            st.caption(t("walk.stuck", word=texts.plain(found.words[word])))
        return None
    with view.results:
        st.html(tokens.big_number_html(t("results.rows"), unseen.moved_by(moved.rows)), width="content")
        st.html(tokens.big_number_html(t("results.prediction"), unseen.small(moved.tvd)), width="content")
    return Walk(word, step, moved)


def pick_word(here: Here, found: Head, word: int) -> None:
    """The word towards which attention moves."""
    key = lessons.own_key(here.page, "word")
    st.session_state["walk_word"] = word
    st.selectbox(
        here.t("control.word"),
        range(len(found.words)),
        format_func=lambda place: f"{place + 1} {found.words[place]}",
        key="walk_word",
        width=WORD_WIDTH,
        help=here.t("control.word_help"),
        on_change=lambda: put(key, str(st.session_state["walk_word"] + 1)),
    )


def slide(here: Here) -> int:
    """How far attention moves: -100 to 100 percent of the way to where a first weight of a row is zero."""
    key, step = lessons.own_key(here.page, "step"), int(here.key("step"))
    st.session_state["walk_step"] = step
    st.slider(
        here.t("control.step"),
        min_value=-100,
        max_value=100,
        step=5,
        format="%d\u00a0%%",
        key="walk_step",
        width=SLIDER_WIDTH,
        help=here.t("control.step_help"),
        on_change=lambda: put(key, str(st.session_state["walk_step"])),
    )
    return step


def put(key: str, code: str) -> None:
    """One of the page's own keys, for callbacks."""
    link.put(keys={**link.current().keys, key: code})


def attention_map(here: Here, found: Head, walk: Walk | None) -> None:
    """The attention, as it was learned or moved."""
    t, moved = here.t, walk is not None and walk.step != 0
    weights = found.attention if walk is None else walk.moved.attention
    values = {"n": len(found.words), "head": found.name}
    if walk is not None and moved:
        word = texts.plain(found.words[walk.word])
        caption = t("maps.moved_caption", word=word, step=tokens.number(walk.step, 0, sign=True), **values)
    else:
        caption = t("maps.attention_caption", **values)
    one_map(here, found, walk, "attention", t("maps.moved" if moved else "maps.attention"), weights, caption)


def effective_map(here: Here, found: Head, walk: Walk | None) -> None:
    """The part of the attention that the output sees."""
    values = {"n": len(found.words), "rank": found.rank}
    if found.rank == len(found.words):
        caption = here.t("maps.effective_whole", **values)
    else:
        caption = here.t("maps.effective_caption", share=unseen.percent(found.invisible), **values)
    one_map(here, found, walk, "effective", here.t("maps.effective"), found.effective, caption)


def one_map(here: Here, found: Head, walk: Walk | None, name: str, title: str, weights: Any, caption: str) -> None:
    """A matrix with its legend, on a scale that both maps share and that stands still while one of them moves."""
    t, signed = here.t, name == "effective"
    largest = unseen.largest(found, walk.moved if walk else None)
    words = found.words[: unseen.SHOWN]
    cells = frames.matrix(weights, words, words)
    ends = tokens.Legend(tokens.number(-largest if signed else 0.0), tokens.number(largest), signed)
    alt = t(f"maps.{name}_alt", head=found.name, n=len(found.words), largest=tokens.number(float(weights.max())))

    def draw(look: Look) -> Any:
        drawn = partial(matrix.matrix, cells, rows=words, columns=words, signed=signed, largest=largest, cell=CELL, look=look)
        return drawn(value=t("maps.weight"), x=t("maps.key"), y=t("maps.query"), alt_text=alt)

    with exhibits.head(here, title, tokens.legend_html([ends]), small=True) as frame:
        cut = t("maps.first", n=unseen.SHOWN) if len(found.words) > unseen.SHOWN else ""
        exhibits.show(here, frame, Exhibit(name, caption, t("maps.source"), {"": cells}, draw, alt, cited=False), cut)


def say(here: Here, about: str, found: Head, walk: Walk | None) -> None:
    """The guess, what was measured, and what the walk left alone, in sentences."""
    t, option = here.t, st.session_state.get("guesses", {}).get(f"{here.page}:{about}", "")
    if option and not here.lecture:
        with st.container(horizontal=True, vertical_alignment="center"):
            values = {"guess": t(f"predict.{option}"), "share": unseen.percent(found.invisible)}
            st.caption(t("predict.guessed", **values), width="content")
            controls.guess_again(here, about)
    st.markdown(unseen.reading_of(t, found))
    if walk is not None:
        st.markdown(unseen.moving(t, found, walk.moved, walk.word) if walk.step else t("walk.still"))
    if not here.lecture:
        st.caption(t("maps.source"))


def lengths(here: Here, choice: Choice, found: Head | None) -> None:
    """The unseen share of the chosen head over the whole test set, by the length of the sentence."""
    t, (layer, number) = here.t, chosen(here)
    head = unseen.named(resources.cards()[choice.model], int(layer), int(number))
    with exhibits.figure(here, "lengths", t("lengths.title", head=head)) as frame:
        table = resources.results("identifiability", choice.model)
        points = resources.table(unseen.by_length, choice.model, layer, number)
        means = resources.table(unseen.means, choice.model, layer, number)
        size = unseen.head_size(choice.model)
        bounds = [(size, t("lengths.bound", size=size)), (size + 1, t("lengths.simplex", size=size + 1))]
        said = ", ".join(f"{row['length']:.0f}: {row['mean']:.2f}" for row in means.to_dict("records"))
        alt, case = t("lengths.alt", head=head, values=said), None
        if found is not None and len(found.words) <= points["length"].max():
            case = (float(len(found.words)), found.invisible)
        named = t("lengths.this")

        def draw(look: Look) -> Any:
            drawn = partial(charts.scatter_by_length, points, means, bounds=bounds, case=case, case_label=named, height=340)
            return drawn(x=t("lengths.x"), y=t("lengths.y"), alt_text=alt, look=look)

        caption = t("lengths.caption", head=head, **evidence.provenance(table, t))
        tables = {t("lengths.means"): means, t("lengths.points"): points}
        exhibits.show(here, frame, Exhibit("lengths", caption, t("lengths.source"), tables, draw, alt), sizes(here, choice))


def sizes(here: Here, choice: Choice) -> str:
    """How large the heads are, against how long the sentences of the test set are."""
    card, size = resources.cards()[choice.model], unseen.head_size(choice.model)
    counts = {"n": len(unseen.lengths(choice.model)), "longer": unseen.longer(choice.model)}
    said = {name: texts.count(value) for name, value in counts.items()}
    return here.t("lengths.note", model=card.name, dim=card.hidden_dim, heads=card.heads, size=size, **said)


def chosen(here: Here) -> tuple[str, str]:
    """The codes of layer and head, where this model has them."""
    most = (here.card.layers, here.card.heads) if here.card else (1, 1)
    codes = (here.key("layer"), here.key("head"))
    layer, head = (code if int(code) <= count else "1" for code, count in zip(codes, most, strict=True))
    return layer, head


def heads(here: Here, choice: Choice, found: Head | None) -> None:
    """The unseen share of every head over the longer sentences of the test set, and this sentence's."""
    t, size = here.t, unseen.head_size(choice.model)
    with exhibits.figure(here, "heads", t("heads.title")) as frame:
        where = evidence.provenance(resources.results("identifiability", choice.model), t)
        layer = chosen(here)[0]
        table = resources.table(unseen.heads, choice.model, layer)
        longer = texts.count(int(table["n"].iloc[0]))
        card = resources.cards()[choice.model]
        group = [t("heads.head", head=unseen.named(card, int(layer), head)) for head in table["group"]]
        table = table.assign(group=group, series=t("heads.mean"))
        if found is not None:
            table = table.assign(published=list(found.shares))
        alt = t("heads.alt", values=", ".join(f"{row['group']} {row['mean']:.2f}" for row in table.to_dict("records")))
        end = 0.5 if max(table["high"].max(), *(found.shares if found else [0.0])) <= 0.5 else 1.0

        def draw(look: Look) -> Any:
            return charts.intervals(
                table, x=t("lengths.y"), published=t("heads.this"), alt_text=alt, domain=(0.0, end), look=look
            )

        caption = t("heads.caption", size=size, longer=longer, **where)
        shown = table.rename(columns={"published": "this"})
        exhibits.show(here, frame, Exhibit("heads", caption, t("heads.source"), {"": shown}, draw, alt), t("heads.note"))


here = shell.start("identifiability")
picked = controls.picker(here)
own_model.offer(here)
if picked.choice is not None:
    with shell.guarded(here):
        lesson(here, picked.choice, picked)
shell.close(here)
