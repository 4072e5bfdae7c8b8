"""How stable is attention when a model is only trained again? The second test of Wiegreffe & Pinter 2019.

One text under eight trainings that differ in their seed, and beside them the attention that an adversary of the first finds
for this text. Then the whole test set: how far other seeds move attention, against how far the adversary moves it.
"""

from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import (
    charts,
    controls,
    evidence,
    exhibits,
    quality,
    resources,
    retrained,
    scored,
    seed_spread,
    shell,
    spread,
    tokens,
)
from dashboard.exhibits import Exhibit
from dashboard.resources import Choice
from dashboard.retrained import Seeds
from dashboard.shell import Here
from dashboard.strips import strips_chart
from dashboard.theme import Look

EPSILONS = ("0.01", "0.05", "0.1")
GUESSES = ("hardly", "somewhat", "far")


def lesson(here: Here, choice: Choice, picked: controls.Picked) -> Seeds | None:
    """One text under every seed; what may be marked among the test set."""
    t = here.t
    with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
        names = {code: code for code in EPSILONS}
        epsilon = controls.choose(here, "epsilon", names, t("control.epsilon"), help_text=t("control.epsilon_help"))
        results = st.container(horizontal=True, width="content", gap="large")
    others = seed_spread.seeds(choice.model)
    with shell.computing(here, 420) as waiting:
        found = resources.compute(retrained.with_seeds, choice, others=others, waiting=waiting, epsilon=float(epsilon))
    controls.show_prediction(here, picked.place, found.trainings.prediction())
    shell.show_notes(here, [note for note in found.trainings.notes if note.code not in shell.QUIET])
    quality.show(here)
    return found if experiment(here, choice, found, results) else None


def experiment(here: Here, choice: Choice, found: Seeds, results: DeltaGenerator) -> bool:
    """The text's attention under every seed, and the adversary's. Whether a guess is made."""
    t, about = here.t, "|".join((choice.model, choice.text))
    legends = [tokens.Legend("0", t("strips.largest"))]
    with exhibits.figure(here, "strips", html=tokens.legend_html(legends)) as frame:
        with frame:
            numbers = st.toggle(t("figure.numbers"), key="numbers", persist_state="session")
        rows = strip_rows(here, choice, found)
        place = st.container()
        guess = controls.guess(here, about, t("predict.question"), {name: t(f"predict.{name}") for name in GUESSES})
        if guess.option:
            with place:
                show_guess(here, about, guess.option, found)
        visible = rows if guess.option is not None else rows[:1]
        language = here.card.task.language if here.card else here.link.lang
        drawn: dict[str, Any] = {"numbers": numbers}
        place.html(tokens.strips_html(visible, found.trainings.words, language=language, **drawn))
        if guess.option is None:
            st.html(tokens.veil_html(t("predict.veil"), "15rem"))
        else:
            show_results(here, found, results)
            draw = partial(drawn_strips, rows, found.trainings.words, legends, drawn)
            table = tokens.table(rows, found.trainings.words, position=t("table.position"), word=t("table.word"))
            counts = {"n": len(found.trainings.words), "trainings": len(rows) - 1, "epsilon": here.key("epsilon")}
            exhibit = Exhibit("strips", t("strips.caption", **counts), t("strips.source"), {"": table}, draw, on_screen=False)
            exhibits.show(here, frame, exhibit, reading(here, found))
        st.caption(quality.line(here))
        shell.show_notes(here, [note for note in found.trainings.notes if note.code in shell.QUIET])
    return guess.option is not None


def strip_rows(here: Here, choice: Choice, found: Seeds) -> list[tokens.Row]:
    """The base, its other seeds, the adversary."""
    t, cards = here.t, resources.cards()
    names = [choice.model, *seed_spread.seeds(choice.model)]
    rows = [
        retrained.row(t, found.trainings, i, t("strips.seed", seed=cards[name].seed), "" if i else t("strips.base"))
        for i, name in enumerate(names)
    ]
    return [*rows, retrained.adversary_row(t, found)]


def drawn_strips(rows: list[tokens.Row], words: tuple[str, ...], legends: Any, drawn: dict[str, Any], look: Look) -> Any:
    """The strips as they go into a file."""
    return strips_chart(rows, words, legends=legends, look=look, **drawn)


def show_results(here: Here, found: Seeds, results: DeltaGenerator) -> None:
    """What other seeds do to attention, and what the adversary does, beside the controls."""
    t = here.t
    with results:
        st.html(tokens.big_number_html(t("results.seeds"), tokens.number(found.median_jsd, 3), "defence"), width="content")
        st.html(
            tokens.big_number_html(t("results.adversary"), tokens.number(found.adversary_jsd, 3), "charge"), width="content"
        )


def show_guess(here: Here, about: str, option: str, found: Seeds) -> None:
    """The reader's guess and what was measured, in one muted line."""
    with st.container(horizontal=True, vertical_alignment="center"):
        said = {"guess": here.t(f"predict.{option}"), "jsd": tokens.number(found.median_jsd, 3)}
        st.caption(here.t("predict.guessed", **said), width="content")
        controls.guess_again(here, about)


def reading(here: Here, found: Seeds) -> str:
    """What the seeds come to on this text."""
    one, t = found.trainings, here.t
    if len(one.words) == 1:
        return t("reading.one")
    other = sum(one.predicted(i) != one.predicted() for i in range(1, len(one.jsd)))
    values = {"least": tokens.number(one.jsd[1:].min(), 3), "most": tokens.number(one.jsd[1:].max(), 3)}
    return t("reading.text", other=other, n=len(one.jsd) - 1, **values)


def violins(here: Here, model: str, label: str, found: Seeds | None) -> None:
    """JSD under other seeds against the adversary's for the sentences of one predicted label, by largest weight."""
    t = here.t
    with exhibits.figure(here, f"violins-{label}", t("violins.title", label=t.label(label))) as frame:
        where = evidence.provenance(resources.results("variance", model), t)
        data = seed_spread.violins(t, model, label)
        case = seed_spread.case(t, found) if found and found.trainings.predicted() == label else None
        table = data.marks.assign(bin=data.marks["bin"].map(dict(enumerate(data.bins))))
        said = [f"{row['bin']} {row['group']} {tokens.number(row['median'], 3)}" for row in table.to_dict("records")]
        alt = t("violins.alt", label=t.label(label), values=", ".join(said))

        def draw(look: Look) -> Any:
            words = {"x": t("violins.x"), "y": t("violins.y"), "alt_text": alt}
            return spread.violins(data, **words, end=seed_spread.END, case=case, look=look)

        exhibit = Exhibit(f"violins-{label}", t("violins.caption", **where), t("violins.source"), {"": table}, draw, alt)
        exhibits.show(here, frame, exhibit, t("violins.note"))


def by_seed(here: Here, model: str) -> None:
    """Mean distances of each seed over the test set, and the adversary's."""
    t = here.t
    with exhibits.figure(here, "seeds", t("seeds.title")) as frame:
        where = evidence.provenance(resources.results("variance", model), t)
        table = resources.table(seed_spread.by_seed, model)
        names = [t("seeds.adversary") if name == "adversary" else t("strips.seed", seed=name) for name in table["group"]]
        table = table.assign(group=names, series=[t(f"seeds.{name}") for name in table["series"]])
        alt = t("seeds.alt", values=scored.spoken(table))

        def draw(look: Look) -> Any:
            return charts.intervals(table, x=t("seeds.x"), alt_text=alt, domain=(0.0, seed_spread.END), look=look)

        exhibit = Exhibit("seeds", t("seeds.caption", **where), t("seeds.source"), {"": table}, draw, alt)
        exhibits.show(here, frame, exhibit, t("seeds.note"))


def published(here: Here, model: str) -> None:
    """Means of the test set beside points read off the paper's figure."""
    t = here.t
    with exhibits.figure(here, "published", t("published.title")) as frame:
        where = evidence.provenance(resources.results("variance", model), t)
        table = seed_spread.printed(t, model)
        st.table(table, hide_index=True, border="horizontal")
        exhibit = Exhibit("published", t("published.caption", **where), t("published.source"), {"": table})
        exhibits.show(here, frame, exhibit, t("published.note"))


def test_set(here: Here, found: Seeds | None) -> None:
    """What is known of the whole test set, which needs no text."""
    model = here.link.model
    card = resources.cards().get(model)
    for column, label in zip(st.columns(2, gap="medium"), card.task.labels if card else (), strict=False):
        with column, shell.guarded(here):
            violins(here, model, label, found)
    for column, draw in zip(st.columns(2, gap="medium"), (by_seed, published), strict=True):
        with column, shell.guarded(here):
            draw(here, model)


here = shell.start("variance")
picked = controls.picker(here)
found: Seeds | None = None
if picked.choice is not None:
    with shell.guarded(here):
        found = lesson(here, picked.choice, picked)
test_set(here, found)
shell.close(here)
