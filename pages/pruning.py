"""Which heads matter, and which can go? The ranking of Hao et al. 2021, Use Case 1, against four others.

The reader guesses how many heads, the least important first, can be masked before the sentence's prediction changes. Then a
slider masks them, one tenth after the other: the map of heads loses cells, and the prediction and the accuracy on the test set
move. The whole curves follow, and whether other examples and other tasks would have ranked the heads alike.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.attattr.heads import CHANCE, CRITERIA, STEPS
from dashboard import (
    charts,
    controls,
    evidence,
    exhibits,
    kept,
    lessons,
    link,
    own_model,
    pruned,
    quality,
    resources,
    shell,
    tokens,
)
from dashboard.exhibits import Exhibit
from dashboard.pruned import Pruned
from dashboard.resources import Choice
from dashboard.shell import Here
from dashboard.theme import Look

GUESSES = ("few", "half", "most", "never")
PICK_WIDTH, SLIDER_WIDTH = 170, 230
CELL = 27  # pixels of a head on the map


@dataclass(frozen=True)
class View:
    """One text under one ranking, how many percent of the heads are masked, and the places for what changes that.

    `names` are the rankings that there are, in words; chance alone where the model's heads were not ranked.
    """

    found: Pruned
    names: dict[str, str]
    criterion: str
    masked: int
    order: tuple[int, ...]
    controls: DeltaGenerator
    results: DeltaGenerator


def lesson(here: Here, choice: Choice, picked: controls.Picked) -> None:
    """Everything that needs the model. Test sets are shown even where the text cannot be read."""
    revealed: View | None = None
    with shell.guarded(here):
        view = looked(here, choice, picked)
        quality.show(here)
        revealed = view if experiment(here, choice, view) else None
    shell.side_by_side(here, [[partial(accuracy, view=revealed), agreement]], choice)


def looked(here: Here, choice: Choice, picked: controls.Picked) -> View:
    """The text under the page's controls; says the prediction and what the reader should know about the text."""
    t = here.t
    ranked: dict[str, list[int]] = {}
    with shell.guarded(here):
        ranked = pruned.rankings(choice.model)
    names = {name: t(f"criterion.{name}") for name in CRITERIA if name in ranked or name == CHANCE}
    with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
        criterion = CHANCE
        if ranked:
            criterion = pick(here, names)
        seed = controls.seed(here) if criterion == CHANCE else here.link.seed
        place = st.container(width="content")
        results = st.container(horizontal=True, width="content", gap="large")
    orders = pruned.orders(choice.model, ranked, seed)
    with shell.computing(here, 360) as waiting:
        found = resources.compute(pruned.pruned, choice, waiting=waiting, orders=orders)
    controls.show_prediction(here, picked.place, found.prediction)
    controls.show_query(here, choice)
    shell.show_notes(here, found.notes)
    return View(found, names, criterion, int(here.key("masked")), dict(orders)[criterion], place, results)


def pick(here: Here, names: dict[str, str]) -> str:
    """The ranking: five are too many for a row of buttons on a phone."""
    key = lessons.own_key(here.page, "criterion")
    st.session_state[key] = here.key("criterion")
    st.selectbox(
        here.t("control.criterion"),
        list(names),
        format_func=names.__getitem__,
        key=key,
        width=PICK_WIDTH,
        help=here.t("control.criterion_help"),
        on_change=lambda: link.put(keys={**link.current().keys, key: st.session_state[key]}),
    )
    return here.key("criterion")


def experiment(here: Here, choice: Choice, view: View) -> bool:
    """The map of heads beside the prediction as they go. Whether the guess is made."""
    t = here.t
    about = "|".join((choice.model, choice.text, choice.query, view.criterion))
    revealed = controls.revealed(here, about)
    if revealed:
        with view.controls:
            slide(here)
        show_results(here, choice, view)
    with exhibits.figure(here, "pruned"):
        left, right = st.columns(2, gap="medium")
        with left:
            head_map(here, choice, view, revealed)
        with right:
            if revealed:
                curve(here, view, about)
            else:
                options = {name: t(f"predict.{name}") for name in GUESSES}
                controls.guess(here, about, t("predict.question", criterion=t(f"criterion.{view.criterion}")), options)
                st.html(tokens.veil_html(t("predict.veil"), "12rem"))
        st.caption(quality.line(here))
    return revealed


def slide(here: Here) -> None:
    """How many percent of the heads are masked."""
    key = lessons.own_key(here.page, "masked")
    st.session_state["pruning_slider"] = int(here.key("masked"))
    st.slider(
        here.t("control.masked"),
        min_value=0,
        max_value=100,
        step=10,
        format="%d\u00a0%%",
        key="pruning_slider",
        width=SLIDER_WIDTH,
        help=here.t("control.masked_help"),
        on_change=lambda: link.put(keys={**link.current().keys, key: str(st.session_state["pruning_slider"])}),
    )


def show_results(here: Here, choice: Choice, view: View) -> None:
    """The prediction and the test accuracy with the heads that are left."""
    t, found = here.t, view.found
    step = STEPS.index(100 - view.masked)
    label = t.label(found.labels[found.predicted])
    with view.results:
        prob = tokens.number(float(found.prob[view.criterion][step]))
        st.html(tokens.big_number_html(t("results.prob", label=label), prob), width="content")
        with shell.guarded(here):
            if len(view.names) > 1:
                mean = pruned.accuracy(resources.table(pruned.curves, choice.model), view.criterion, view.masked)
                st.html(tokens.big_number_html(t("results.accuracy"), f"{tokens.number(100 * mean, 1)} %"), width="content")


def head_map(here: Here, choice: Choice, view: View, revealed: bool) -> None:
    """Layers × heads by importance, those that are masked crossed out."""
    t = here.t
    scores = pruned.importance(choice.model, view.criterion, here.link.seed)
    table = pruned.marked(scores, view.order, 100 - view.masked if revealed else 100)
    top, signed = float(abs(scores).max()), bool((scores < 0).any())
    ends = tokens.Legend(tokens.number(-top if signed else 0.0, 3), tokens.number(top, 3, sign=signed), signed)
    gone = int(table["masked"].sum())
    first = table.iloc[int(scores.argmax())]
    said = {"layer": int(first["layer"]), "head": int(first["head"]), "value": tokens.number(top, 3)}
    alt = t("map.alt", criterion=t(f"criterion.{view.criterion}"), n=len(table), gone=gone, **said)

    def draw(look: Look) -> Any:
        words = {"x": t("map.head"), "y": t("map.layer"), "value": t("map.value"), "alt_text": alt}
        return kept.head_map(table, **words, cell=CELL, look=look)

    title = t("map.title", criterion=t(f"criterion.{view.criterion}"))
    with exhibits.head(here, title, small=True) as frame:
        st.html(tokens.legend_html([ends]))
        tables, values = {t("map.shown"): table}, {"seed": here.link.seed}
        if len(view.names) > 1:
            tables |= {t("map.all"): pruned.heads(choice.model)}
            values |= {"n": len(pruned.scores(choice.model).prob)}
        caption = t(f"map.{view.criterion}", **values)
        note = t("map.note", gone=gone, n=len(table)) if gone else ""
        exhibits.show(here, frame, Exhibit("map", caption, t("map.source"), tables, draw, alt, cited=False), note)


def curve(here: Here, view: View, about: str) -> None:
    """The probability of the prediction as heads go, under every ranking; the guess, and what was measured."""
    t, found = here.t, view.found
    option = st.session_state.get("guesses", {}).get(f"{here.page}:{about}", "")
    measured = pruned.measured(t, found, view.criterion)
    if option and not here.lecture:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(t("predict.guessed", guess=t(f"predict.{option}"), measured=measured), width="content")
            controls.guess_again(here, about)
    label = t.label(found.labels[found.predicted])
    table = pruned.sentence(found)
    table = table.assign(said=[t.label(name) for name in table.pop("label")])
    said = ", ".join(f"{name}: {pruned.measured(t, found, code)}" for code, name in view.names.items())
    alt = t("curve.alt", label=label, p=tokens.number(found.prediction[found.labels[found.predicted]]), values=said)
    y = t("curve.y", label=label)

    def draw(look: Look) -> Any:
        words: dict[str, Any] = {"x": t("curve.x"), "y": y, "alt_text": alt}
        level = 0.5 if len(found.labels) == 2 else None
        return kept.curves(table, view.names, view.criterion, **words, at=view.masked, level=level, height=250, look=look)

    with exhibits.head(here, t("curve.title"), small=True) as frame:
        shown = table.assign(series=[t(f"criterion.{name}") for name in table["series"]])
        said_of = "curve.caption" if len(view.names) > 1 else "curve.caption_alone"
        caption = t(said_of, criterion=t(f"criterion.{view.criterion}"), measured=measured, seed=here.link.seed)
        exhibits.show(here, frame, Exhibit("curve", caption, t("curve.source"), {"": shown}, draw, alt), t("curve.note"))


def accuracy(here: Here, choice: Choice, view: View | None) -> None:
    """Accuracy against the share of heads masked over the test set, for every ranking."""
    t = here.t
    with exhibits.figure(here, "accuracy", t("accuracy.title")) as frame:
        where = evidence.provenance(resources.results("pruning", choice.model), t)
        table = resources.table(pruned.curves, choice.model)
        criterion = here.key("criterion")
        names = {name: t(f"criterion.{name}") for name in CRITERIA}
        level = resources.cards()[choice.model].test.get("majority")
        theirs = pruned.published_accuracy(choice.model)
        some = {name: [tokens.number(pruned.accuracy(table, name, masked)) for masked in (50, 90)] for name in CRITERIA}
        said = ", ".join(f"{names[name]} {half}, {tenth}" for name, (half, tenth) in some.items())
        alt = t("accuracy.alt", all=tokens.number(pruned.accuracy(table, criterion, 0)), values=said)

        def draw(look: Look) -> Any:
            words: dict[str, Any] = {"x": t("curve.x"), "y": t("accuracy.y"), "alt_text": alt}
            point = (90.0, theirs, t("accuracy.published")) if theirs is not None else None
            at = view.masked if view else None
            drawn = partial(kept.curves, table, names, criterion, **words, at=at, level=level, height=340)
            return drawn(published=point, look=look)

        spare, chance = (pruned.spare(table, name) for name in (criterion, CHANCE))
        reading = "accuracy.reading_chance" if criterion == CHANCE else "accuracy.reading"
        st.markdown(t(reading, criterion=names[criterion], spare=spare, chance=chance))
        caption = t("accuracy.caption", criterion=names[criterion], **where)
        shown = table.assign(series=[names[name] for name in table["series"]])
        notes = [pruned.published_note(t, choice.model), t("accuracy.note")]
        exhibits.show(here, frame, Exhibit("accuracy", caption, t("accuracy.source"), {"": shown}, draw, alt), *notes)


def agreement(here: Here, choice: Choice) -> None:
    """Whether other examples and other tasks rank the heads alike, under the chosen criterion."""
    t = here.t
    with exhibits.figure(here, "agreement", t("agreement.title")) as frame:
        criterion = here.key("criterion")
        if criterion == CHANCE:
            st.caption(t("agreement.chance"))
            return
        table = resources.table(pruned.correlations, criterion)
        if table.empty:
            st.caption(t("agreement.none"))
            return
        shown = table.assign(group=[pruned.pair(t, row["one"], row["other"]) for row in table.to_dict("records")])
        shown = shown.assign(series=t("agreement.x"))[["group", "series", "mean", "low", "high", "spearman", "n"]]
        said = ", ".join(f"{row['group']} {tokens.number(row['mean'])}" for row in shown.to_dict("records"))
        alt = t("agreement.alt", criterion=t(f"criterion.{criterion}"), values=said)

        def draw(look: Look) -> Any:
            return charts.intervals(shown, x=t("agreement.x"), alt_text=alt, n_label=t("agreement.n"), look=look)

        caption = t("agreement.caption", criterion=t(f"criterion.{criterion}"), halves=pruned.HALVES)
        exhibit = Exhibit("agreement", caption, t("agreement.source"), {"": shown}, draw, alt)
        exhibits.show(here, frame, exhibit, t("agreement.note"))


here = shell.start("pruning")
picked = controls.picker(here)
own_model.offer(here)
if picked.choice is not None:
    with shell.guarded(here):
        lesson(here, picked.choice, picked)
shell.close(here)
