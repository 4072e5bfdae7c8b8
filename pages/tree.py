"""How do parts combine over layers? The attribution tree of Hao et al. 2021, grown from the reader's sentence.

The tree under its two thresholds; beside it the reader guesses how far the prediction falls without it, sees it held against as
many other edges, and cuts edges one by one. Then a whole test set: the fall of the probability by threshold, and the decisions
that flip.
"""

import math
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.attattr.tree import Tree, tree
from dashboard import (
    branches,
    charts,
    codes,
    controls,
    evidence,
    exhibits,
    grown,
    lessons,
    link,
    own_model,
    quality,
    resources,
    rivalry,
    shell,
    texts,
    tokens,
)
from dashboard.exhibits import Exhibit
from dashboard.grown import Level, Seen
from dashboard.resources import Choice
from dashboard.shell import Here
from dashboard.theme import Look

GUESSES = ("hardly", "some", "much")
TAU_WIDTH, COST_WIDTH = 200, 200
LOOSE = "0.1"  # the τ that is offered where the tree has no edge
MANY = 18  # edges to choose from that need a box of their own


@dataclass(frozen=True)
class View:
    """A text's tree over words or pieces, and which of its edges are cut (their numbers)."""

    seen: Seen
    units: str
    level: Level
    tree: Tree
    cut: tuple[int, ...]

    @property
    def layers(self) -> int:
        """How many layers the model has."""
        return len(self.level.attribution)


def lesson(here: Here, choice: Choice, picked: controls.Picked) -> None:
    """Everything that needs the model. The test set is shown even where the text cannot be read."""
    with shell.guarded(here):
        view = looked(here, choice, picked)
        quality.show(here)
        left, right = st.columns([7, 5], gap="medium")
        with left, shell.guarded(here):
            drawing(here, view)
        with right, shell.guarded(here):
            cutting(here, choice, view)
    shell.side_by_side(here, [[falls, flips]], choice)


def looked(here: Here, choice: Choice, picked: controls.Picked) -> View:
    """The tree under the page's controls; says the prediction and what the reader should know about the text."""
    t = here.t
    with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
        tau = threshold(here, "tau", TAU_WIDTH)
        cost = threshold(here, "lambda", COST_WIDTH)
        names = {units: t(f"control.{units}") for units in grown.UNITS}
        units = controls.choose(here, "units", names, t("control.units"), help_text=t("control.units_help"))
        place = st.container(width="content")
    with shell.computing(here, 420) as waiting:
        found = resources.compute(grown.seen, choice, waiting=waiting, target=controls.asked_target(here, choice))
    with place:
        controls.target(here, max(found.prediction, key=lambda name: found.prediction[name]), list(found.prediction))
    controls.show_prediction(here, picked.place, found.prediction)
    controls.show_query(here, choice)
    shell.show_notes(here, found.notes)
    level = found.levels[units]
    made = tree(level.attribution, tau=tau, cost=cost)
    return View(found, units, level, made, codes.read(grown.ids(made.edges), here.key("cut")) or ())


def threshold(here: Here, name: str, width: int) -> float:
    """A slider over the codes of a threshold."""
    key, steps = lessons.own_key(here.page, name), sorted(lessons.PAGES[here.page].keys[name], key=float)
    st.session_state[key] = here.key(name)
    st.select_slider(
        here.t(f"control.{name}"),
        steps,
        key=key,
        width=width,
        help=here.t(f"control.{name}_help"),
        on_change=lambda: put({key: st.session_state[key]}),
    )
    return float(here.key(name))


def put(changed: dict[str, str]) -> None:
    """Some of the page's own keys, for callbacks."""
    link.put(keys={**link.current().keys, **changed})


def drawing(here: Here, view: View) -> None:
    """The tree, or why it has no edge, and what would give it one."""
    t, level, made = here.t, view.level, view.tree
    with exhibits.figure(here, "tree", t("tree.title")) as frame:
        st.markdown(grown.reading_of(t, level, made, view.layers))
        if made.why:
            if made.why in ("below", "elsewhere") and (here.key("tau"), here.key("lambda")) != (LOOSE, "0"):
                loose = {lessons.own_key(here.page, name): code for name, code in (("tau", LOOSE), ("lambda", "0"))}
                st.button(t("tree.loosen", tau=LOOSE), on_click=lambda: put(loose))
            return
        data = branches.edges(made, level.names, range(len(level.names)), view.cut)[list(branches.EDGES)]
        spoken = "; ".join(f"{grown.named(t, level, edge)} {tokens.fine(edge.weight)}" for edge in made.edges)
        alt = t("tree.alt", root=level.names[made.root or 0], n=len(made.edges), values=spoken)
        words = (t("tree.source_word"), t("tree.reader_word"))
        draw = partial(
            branches.branches,
            made,
            level.names,
            view.layers,
            x=t("tree.layer"),
            weight=t("tree.weight"),
            words=words,
            alt_text=alt,
            special=level.special,
            cut=view.cut,
            most=grown.SHOWN,
        )
        values = {"tau": here.key("tau"), "cost": here.key("lambda"), "n": len(level.names), "label": t.label(view.seen.target)}
        values |= {"units": t(f"tree.{view.units}", n=len(level.names)), "error": rivalry.error_of((view.seen.error,))}
        caption = t("tree.caption", **values)
        part = t("tree.part", n=len(level.names)) if len(level.names) > grown.SHOWN else ""
        exhibit = Exhibit("tree", caption, t("tree.source"), {"": data}, lambda look: draw(look=look), alt)
        exhibits.show(here, frame, exhibit, t("tree.note"), part)
        st.caption(quality.line(here))


def cutting(here: Here, choice: Choice, view: View) -> None:
    """What the prediction loses without the tree: first a guess, then the comparison, then edge by edge."""
    t, made = here.t, view.tree
    with exhibits.figure(here, "cut", t("cut.title")) as frame:
        if not made.edges:
            st.caption(t("cut.nothing"))
            return
        about = "|".join((choice.model, choice.text, choice.query, view.seen.target, view.units, *grown.ids(made.edges)))
        options = {name: t(f"predict.{name}") for name in GUESSES}
        question = t("predict.question", n=len(made.edges), label=t.label(view.seen.target), p=tokens.number(view.seen.prob))
        guess = controls.guess(here, about, question, options)
        if guess.option is None:
            st.html(tokens.veil_html(t("predict.veil"), "14rem"))
            return
        compare(here, choice, view, frame, about, guess.option)
        choose_edges(here, choice, view)


def compare(here: Here, choice: Choice, view: View, frame: DeltaGenerator, about: str, guessed: str) -> None:
    """The probability without the tree, beside as many other edges cut."""
    t, seen = here.t, view.seen
    arms = grown.arms(view.level, view.tree, here.link.seed)
    sets = tuple(cut for draws in arms.values() for cut in draws)
    with shell.computing(here, 200) as waiting:
        probs = resources.compute(grown.without, choice, waiting=waiting, target=seen.target, units=view.units, cuts=sets)
    table = grown.effects(arms, probs, seen.prob)
    falls = dict(zip(table["group"], seen.prob - table["mean"], strict=True))
    if guessed and not here.lecture:
        with st.container(horizontal=True, vertical_alignment="center"):
            values = {"guess": t(f"predict.{guessed}"), "fall": tokens.number(-falls["tree"], 3, sign=True)}
            st.caption(t("predict.guessed", **values), width="content")
            controls.guess_again(here, about)
    x = t("cut.p", label=t.label(seen.target))
    shown = table.assign(group=arms_of(here, table["group"]), series=x)
    alt = t("cut.alt", values=", ".join(f"{row['group']} {row['mean']:.3f}" for row in shown.to_dict("records")))

    low, high = math.floor(10 * table["low"].min()) / 10, math.ceil(10 * table["high"].max()) / 10
    domain = (max(0.0, min(low, high - 0.2)), high)

    def draw(look: Look) -> Any:
        return charts.intervals(shown, x=x, alt_text=alt, domain=domain, look=look)

    caption = t("cut.caption", n=len(view.tree.edges), draws=grown.DRAWS, seed=here.link.seed)
    verdict = "most" if falls["tree"] > max(falls["random"], falls["weight"]) else "less"
    st.markdown(t(f"cut.{verdict}", **{name: tokens.number(-fall, 3, sign=True) for name, fall in falls.items()}))
    exhibits.show(here, frame, Exhibit("cut", caption, t("cut.source"), {"": shown}, draw, alt))


def choose_edges(here: Here, choice: Choice, view: View) -> None:
    """The edges that the reader cuts, and what the prediction is without them."""
    t, made, key = here.t, view.tree, lessons.own_key(here.page, "cut")
    own = grown.ids(made.edges)
    st.session_state["tree_edges"] = list(view.cut)

    def chosen(numbers: list[int]) -> None:
        put({key: codes.written(own, numbers) if numbers else ""})

    with st.container(border=False, height=230 if len(own) > MANY else "content"):
        st.pills(
            t("edges.choose"),
            range(len(own)),
            selection_mode="multi",
            format_func=lambda i: grown.named(t, view.level, made.edges[i]),
            key="tree_edges",
            on_change=lambda: chosen(st.session_state["tree_edges"]),
        )
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(t("edges.all"), on_click=lambda: chosen(list(range(len(own)))), disabled=len(view.cut) == len(own))
        st.button(t("edges.none"), type="tertiary", on_click=lambda: chosen([]), disabled=not view.cut)
    cut = grown.places([made.edges[i] for i in view.cut])
    with shell.computing(here, 60) as waiting:
        prob = resources.compute(
            grown.without, choice, waiting=waiting, target=view.seen.target, units=view.units, cuts=(cut,)
        )[0]
    label = t.label(view.seen.target)
    with st.container(horizontal=True, gap="large"):
        st.html(tokens.big_number_html(t("edges.before", label=label), tokens.number(view.seen.prob, 3)), width="content")
        name = t("edges.after", n=len(cut))
        st.html(tokens.big_number_html(name, tokens.number(prob, 3)), width="content")


def falls(here: Here, choice: Choice) -> None:
    """How far the probability falls over the test set, by what is cut and by τ."""
    t = here.t
    with exhibits.figure(here, "falls", t("falls.title")) as frame:
        where = evidence.provenance(resources.results("tree", choice.model), t)
        table = resources.table(grown.by_tau, choice.model)
        shown = table.assign(
            group=[t("falls.tau", tau=tau) for tau in table["group"]], series=[t(f"short.{name}") for name in table["series"]]
        )
        low, high = min(0.0, table["low"].min()), max(0.1, table["high"].max())
        domain = (math.floor(10 * low) / 10, math.ceil(10 * high) / 10)
        alt = t("falls.alt", values=", ".join(f"{r['group']} {r['series']} {r['mean']:.3f}" for r in shown.to_dict("records")))

        def draw(look: Look) -> Any:
            return charts.intervals(shown, x=t("falls.x"), alt_text=alt, domain=domain, look=look)

        exhibit = Exhibit("falls", t("falls.caption", **where), t("falls.source"), {"": shown}, draw, alt)
        exhibits.show(here, frame, exhibit, t("falls.note"))


def flips(here: Here, choice: Choice) -> None:
    """How large the trees are, and how many decisions flip without them."""
    t = here.t
    with exhibits.figure(here, "flips", t("flips.title")) as frame:
        where = evidence.provenance(resources.results("tree", choice.model), t)
        table = resources.table(grown.flips, choice.model)
        shown = table.assign(
            tau=[f"{tau:g}" for tau in table["tau"]],
            edges=[f"{edges:.1f}" for edges in table["edges"]],
            n=[texts.count(n) for n in table["n"]],
        )
        for name in ("none", *grown.ARMS):
            shown[name] = [f"{100 * share:.1f}" for share in table[name]]
        headed = {"tau": "τ", "edges": t("flips.edges"), "none": t("flips.none"), "n": "n"}
        st.table(
            shown.rename(columns=headed | {arm: t(f"arm.{arm}") for arm in grown.ARMS}), hide_index=True, border="horizontal"
        )
        numbers = table.rename(columns=headed | {arm: t(f"arm.{arm}") for arm in grown.ARMS})
        exhibit = Exhibit("flips", t("flips.caption", **where), t("falls.source"), {"": numbers})
        exhibits.show(here, frame, exhibit, t("flips.note"))


def arms_of(here: Here, names: Any) -> list[str]:
    """What is cut, in the reader's words."""
    return [here.t(f"arm.{name}") for name in names]


here = shell.start("tree")
picked = controls.picker(here)
own_model.offer(here)
if picked.choice is not None:
    with shell.guarded(here):
        lesson(here, picked.choice, picked)
shell.close(here)
