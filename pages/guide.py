"""Does attention that one model learned help another one? The third test of Wiegreffe & Pinter 2019.

A token-wise model that knows no context, trained under four sets of weights. The reader chooses the guide and sees what the
model makes of the text under it. Then the test sets: whose weights help, with the interval that seeds leave.
"""

from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.recipes import parse
from core.variants import guide_of
from dashboard import charts, controls, exhibits, quality, resources, retrained, scored, shell, spread, tokens, workbench
from dashboard.exhibits import Exhibit
from dashboard.resources import Choice
from dashboard.retrained import Retrained
from dashboard.shell import Here
from dashboard.strips import strips_chart
from dashboard.theme import Look, Side

ORDER = ("own", "uniform", "base", "adversary")  # of the trainings that are compared
SIDES: dict[str, Side | None] = {"own": None, "uniform": None, "base": "defence", "adversary": "charge"}
GUESSES = ("hardly", "somewhat", "far")
WIDE = 680  # pixels of the words in a file


def others(model: str) -> list[str]:
    """The models trained under other weights, then those whose weights guide."""
    guided = [f"{model}:guide=base", f"{model}:guide=adversary"]
    return [f"{model}:uniform", *guided, *(guide_of(parse(name)) for name in guided)]


def lesson(here: Here, choice: Choice, picked: controls.Picked) -> None:
    """One text under the guide that the reader chose."""
    t = here.t
    with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
        names = {name: t(f"guide.{name}") for name in ("base", "adversary", "uniform", "own")}
        chosen = controls.choose(here, "guide", names, t("control.guide"), help_text=t("control.guide_help"))
        results = st.container(horizontal=True, width="content", gap="large")
    with shell.computing(here, 330) as waiting:
        found = resources.compute(retrained.with_guides, choice, others=others(choice.model), waiting=waiting)
    revealed = experiment(here, choice, found, chosen, results)
    controls.show_prediction(here, picked.place, found.prediction(ORDER.index(chosen) if revealed else 0))
    shell.show_notes(here, [note for note in found.notes if note.code not in shell.QUIET])
    quality.show(here)


def experiment(here: Here, choice: Choice, found: Retrained, chosen: str, results: DeltaGenerator) -> bool:
    """The words under the model's own weights and under the guide's, over the answers under each. Whether a guess is made."""
    t, about = here.t, "|".join((choice.model, choice.text))
    legends = [tokens.Legend("0", t("strips.one"))]
    with exhibits.figure(here, "strips", html=tokens.legend_html(legends)) as frame:
        with frame:
            numbers = st.toggle(t("figure.numbers"), key="numbers", persist_state="session")
        place = st.container()
        guess = controls.guess(here, about, t("predict.question"), {name: t(f"predict.{name}") for name in GUESSES})
        revealed = guess.option is not None
        if guess.option:
            with place:
                show_guess(here, about, guess.option, found)
        rows = [strip(here, found, name) for name in dict.fromkeys(("own", chosen))]
        language = here.card.task.language if here.card else here.link.lang
        drawn: dict[str, Any] = {"numbers": numbers, "shared": True}
        visible = rows if revealed else [strip(here, found, "own")]
        place.html(tokens.strips_html(visible, found.words, language=language, **drawn))
        if revealed:
            show_results(here, found, chosen, results)
            answers(here, choice, frame, found, chosen, partial(strips_chart, rows, found.words, legends=legends, **drawn))
        else:
            st.html(tokens.veil_html(t("predict.veil"), "13rem"))
        st.caption(quality.line(here))
        shell.show_notes(here, [note for note in found.notes if note.code in shell.QUIET])
    return revealed


def strip(here: Here, found: Retrained, name: str) -> tokens.Row:
    """The weights that the model read under one guide."""
    t = here.t
    return retrained.row(t, found, ORDER.index(name), t(f"guide.{name}"), t(f"guide_sub.{name}"), SIDES[name])


def answers(here: Here, choice: Choice, frame: DeltaGenerator, found: Retrained, chosen: str, strips: Any) -> None:
    """The probability of one label under every guide; files show the words above it."""
    t, label = here.t, found.predicted()
    table = retrained.answers(found, label, {name: t(f"guide.{name}") for name in ORDER})
    said = ", ".join(f"{row['guide']} {tokens.number(row['p'], 3)}" for row in table.to_dict("records"))
    alt = t("answers.alt", label=t.label(label), values=said)

    def draw(look: Look) -> Any:
        names = [f"→ {name}" if i == ORDER.index(chosen) else str(name) for i, name in enumerate(table["guide"])]
        data = table.rename(columns={"guide": "word", "p": "value"}).assign(position=range(len(table)))
        bars = charts.bars(data, names, x=t("answers.x", label=t.label(label)), alt_text=alt, look=look)
        return spread.stacked([strips(look=look, width=look.px(WIDE)), bars]) if look.export else bars

    rows = [strip(here, found, name) for name in ORDER]
    words = tokens.table(rows, found.words, position=t("table.position"), word=t("table.word"))
    caption = t("strips.caption", n=len(found.words), model=choice.model)
    exhibit = Exhibit("answers", caption, t("strips.source"), {t("table.words"): words, t("table.answers"): table}, draw, alt)
    exhibits.show(here, frame, exhibit, reading(here, found))


def show_results(here: Here, found: Retrained, chosen: str, results: DeltaGenerator) -> None:
    """How far the guide moved the prediction, and how far the answers under all guides lie apart."""
    t, at, label = here.t, ORDER.index(chosen), found.predicted()
    width = tokens.number(retrained.width(found, label), 3)
    with results:
        moved = tokens.number(found.tvd[at], 3)
        st.html(tokens.big_number_html(t("results.tvd"), moved, SIDES[chosen]), width="content")
        st.html(tokens.big_number_html(t("results.width", label=t.label(label)), width), width="content")


def show_guess(here: Here, about: str, option: str, found: Retrained) -> None:
    """The reader's guess and what was measured, in one muted line."""
    with st.container(horizontal=True, vertical_alignment="center"):
        width = tokens.number(retrained.width(found, found.predicted()), 3)
        st.caption(here.t("predict.guessed", guess=here.t(f"predict.{option}"), width=width), width="content")
        controls.guess_again(here, about)


def reading(here: Here, found: Retrained) -> str:
    """Whether the model answers alike under every guide."""
    t = here.t
    if len(found.words) == 1:
        return t("reading.one")
    other = [t(f"guide.{name}") for i, name in enumerate(ORDER) if found.predicted(i) != found.predicted()]
    label = t.label(found.predicted())
    return t("reading.other", names=", ".join(other), label=label) if other else t("reading.same", label=label)


def scores(here: Here, model: str) -> None:
    """F1 under every guide on one data set."""
    t, corpus = here.t, scored.corpus(model)
    with exhibits.figure(here, f"scores-{corpus}", t("scores.title", corpus=corpus)) as frame:
        table = resources.table(scored.guides, model)
        table = table.assign(group=[t(f"guide.{name}") for name in table["group"]], series=t("scores.f1"))
        low = scored.floor(table)
        alt = t("scores.alt", corpus=corpus, values=scored.spoken(table))

        def draw(look: Look) -> Any:
            words = {"x": t("scores.x"), "alt_text": alt, "published": t("scores.published"), "n_label": t("scores.n")}
            return charts.intervals(table, **words, domain=(low, 1.0), look=look)

        caption = t("scores.caption", n=int(table["n"].max()), model=model, **scored.provenance(t, "guide", model))
        exhibits.show(here, frame, Exhibit(f"scores-{corpus}", caption, t("scores.source"), {"": table}, draw, alt))


def gaps(here: Here, model: str) -> None:
    """By how much the base's weights do better than others, with intervals, on one data set."""
    t, corpus = here.t, scored.corpus(model)
    with exhibits.figure(here, f"gaps-{corpus}", t("gaps.title", corpus=corpus)) as frame:
        table = resources.table(scored.helped, model)
        names = {
            pair: t("gaps.minus", **dict(zip(("first", "second"), guides(here, pair), strict=True))) for pair in table["group"]
        }
        table = table.assign(group=table["group"].map(names), series=t("gaps.here"))
        alt = t("gaps.alt", corpus=corpus, values=scored.spoken(table))

        def draw(look: Look) -> Any:
            words = {"x": t("gaps.x"), "alt_text": alt, "published": t("scores.published"), "n_label": t("scores.n")}
            return charts.intervals(table, **words, domain=scored.around_zero(table), look=look)

        clear = [row["group"] for row in table.to_dict("records") if row["low"] > 0 or row["high"] < 0]
        verdict = t("gaps.clear", names=", ".join(clear)) if clear else t("gaps.unclear")
        noise = t("gaps.noise", **scored.noise(model)) if corpus == "SST" else ""
        exhibit = Exhibit(f"gaps-{corpus}", t("gaps.caption"), t("scores.source"), {"": table}, draw, alt)
        exhibits.show(here, frame, exhibit, verdict, noise)


def guides(here: Here, pair: str) -> list[str]:
    """The names of the two guides that a difference is between."""
    return [here.t(f"guide.{name}") for name in pair.split("-")]


here = shell.start("guide")
picked = controls.picker(here)
if picked.choice is not None:
    with shell.guarded(here):
        lesson(here, picked.choice, picked)
shell.side_by_side(here, [[partial(draw, model=model) for model in scored.GUIDED] for draw in (scores, gaps)])
workbench.show(here, "guide")
shell.close(here)
