"""Is attention needed for the task at all? The first test of Wiegreffe & Pinter 2019.

One text under two models: attention learned, and attention frozen to equal weights before training. Then the same two ways of
training over several data sets and seeds, beside the published figures, and a corpus small enough to be trained on the page.
"""

from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import charts, controls, evidence, exhibits, quality, resources, retrained, scored, shell, tokens, workbench
from dashboard.exhibits import Exhibit
from dashboard.resources import Choice
from dashboard.retrained import Retrained
from dashboard.shell import Here
from dashboard.strips import strips_chart
from dashboard.theme import Look

GUESSES = ("hardly", "somewhat", "far")


def lesson(here: Here, choice: Choice, picked: controls.Picked) -> None:
    """One text under learned and under uniform attention."""
    results = st.container(horizontal=True, gap="large", key="page-results")
    with shell.computing(here, 200) as waiting:
        others = [f"{choice.model}:uniform"]
        found = resources.compute(retrained.with_uniform, choice, others=others, waiting=waiting)
    controls.show_prediction(here, picked.place, found.prediction())
    shell.show_notes(here, [note for note in found.notes if note.code not in shell.QUIET])
    quality.show(here)
    experiment(here, choice, found, results)


def experiment(here: Here, choice: Choice, found: Retrained, results: DeltaGenerator) -> None:
    """The words with their weights, as learned and as trained with equal ones."""
    t = here.t
    about = "|".join((choice.model, choice.text))
    legends = [tokens.Legend("0", t("strips.one"))]
    with exhibits.figure(here, "strips", html=tokens.legend_html(legends)) as frame:
        with frame:
            numbers = st.toggle(t("figure.numbers"), key="numbers", persist_state="session")
        rows = [
            retrained.row(t, found, 0, t("strips.learned"), t("strips.learned_sub")),
            retrained.row(t, found, 1, t("strips.uniform"), t("strips.uniform_sub"), side="defence"),
        ]
        place = st.container()
        guess = controls.guess(here, about, t("predict.question"), {name: t(f"predict.{name}") for name in GUESSES})
        if guess.option:
            with place:
                show_guess(here, about, guess.option, found)
        visible = rows if guess.option is not None else rows[:1]
        language = here.card.task.language if here.card else here.link.lang
        drawn: dict[str, Any] = {"numbers": numbers, "shared": True}
        place.html(tokens.strips_html(visible, found.words, language=language, **drawn))
        if guess.option is None:
            st.html(tokens.veil_html(t("predict.veil"), "6rem"))
        else:
            show_results(here, found, results)
            draw = partial(drawn_strips, rows, found.words, legends, drawn)
            table = tokens.table(rows, found.words, position=t("table.position"), word=t("table.word"))
            caption = t("strips.caption", n=len(found.words), model=choice.model)
            exhibit = Exhibit("strips", caption, t("strips.source"), {"": table}, draw, on_screen=False)
            exhibits.show(here, frame, exhibit, reading(here, found))
        st.caption(quality.line(here))
        shell.show_notes(here, [note for note in found.notes if note.code in shell.QUIET])


def drawn_strips(rows: list[tokens.Row], words: tuple[str, ...], legends: Any, drawn: dict[str, Any], look: Look) -> Any:
    """The strips as they go into a file."""
    return strips_chart(rows, words, legends=legends, look=look, **drawn)


def show_results(here: Here, found: Retrained, results: DeltaGenerator) -> None:
    """How far prediction and attention moved, above the figure."""
    t = here.t
    with results:
        st.html(tokens.big_number_html(t("results.tvd"), tokens.number(found.tvd[1], 3), "defence"), width="content")
        st.html(tokens.big_number_html(t("results.jsd"), tokens.number(found.jsd[1], 3)), width="content")


def show_guess(here: Here, about: str, option: str, found: Retrained) -> None:
    """The reader's guess and what was measured, in one muted line."""
    with st.container(horizontal=True, vertical_alignment="center"):
        said = {"guess": here.t(f"predict.{option}"), "tvd": tokens.number(found.tvd[1], 3)}
        st.caption(here.t("predict.guessed", **said), width="content")
        controls.guess_again(here, about)


def reading(here: Here, found: Retrained) -> str:
    """What the two models come to on this text."""
    if len(found.words) == 1:
        return here.t("reading.one")
    same = found.predicted(0) == found.predicted(1)
    return here.t("reading.same" if same else "reading.other", tvd=tokens.number(found.tvd[1], 3))


def scores(here: Here) -> None:
    """F1 of learned and of uniform attention on every data set."""
    t = here.t
    with exhibits.figure(here, "scores", t("scores.title")) as frame:
        table = resources.table(scored.necessity)
        table = table.assign(series=[t(f"scores.{name}") for name in table["series"]])
        low = scored.floor(table)
        alt = t("scores.alt", values=scored.spoken(table))

        def draw(look: Look) -> Any:
            words = {"x": t("scores.x"), "alt_text": alt, "published": t("scores.published"), "n_label": t("scores.n")}
            return charts.intervals(table, **words, domain=(low, 1.0), look=look)

        exhibit = Exhibit("scores", t("scores.caption") + unmeasured(here), t("scores.source"), {"": table}, draw, alt)
        exhibits.show(here, frame, exhibit, t("scores.note"))


def needed(here: Here) -> None:
    """Learned minus uniform, with intervals."""
    t = here.t
    with exhibits.figure(here, "needed", t("needed.title")) as frame:
        table = resources.table(scored.needed)
        table = table.assign(series=t("needed.gap"))
        clear = [row["group"] for row in table.to_dict("records") if row["low"] > 0 or row["high"] < 0]
        alt = t("needed.alt", values=scored.spoken(table))

        def draw(look: Look) -> Any:
            words = {"x": t("needed.x"), "alt_text": alt, "published": t("scores.published"), "n_label": t("scores.n")}
            return charts.intervals(table, **words, domain=scored.around_zero(table), look=look)

        note = t("needed.clear", names=", ".join(clear)) if clear else t("needed.unclear")
        exhibit = Exhibit("needed", t("needed.caption") + unmeasured(here), t("scores.source"), {"": table}, draw, alt)
        exhibits.show(here, frame, exhibit, note)


def published(here: Here) -> None:
    """The paper's table, the corpora that were dropped marked, beside what was measured here."""
    t = here.t
    with exhibits.figure(here, "published", t("published.title")) as frame:
        table = scored.printed(t)
        st.table(table, hide_index=True, border="horizontal")
        exhibit = Exhibit("published", t("published.caption") + unmeasured(here), t("published.source"), {"": table})
        exhibits.show(here, frame, exhibit, t("published.note"))


def unmeasured(here: Here) -> str:
    """The corpora that are still to be measured, as the end of a caption."""
    models = {scored.corpus(name): name for name in scored.NECESSITY}
    return evidence.unmeasured(here.t, "necessity", models)


here = shell.start("necessity")
picked = controls.picker(here)
if picked.choice is not None:
    with shell.guarded(here):
        lesson(here, picked.choice, picked)
shell.side_by_side(here, [[scores, needed], [published]])
workbench.show(here, "necessity")
shell.close(here)
