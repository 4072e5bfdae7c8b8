"""An experiment small enough to be trained while one watches: the reader chooses what decides, and sees attention move.

`workbench.show(here, "deception")` draws the whole piece: controls, a button, loss and attention as they move, and what came of
it. The training itself goes on in `trainings`; a fragment of the page looks at it a few times a second.
"""

import time
from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from core import planted, workshop
from core.text import words
from core.types import Refusal
from core.workshop import Made
from dashboard import exhibits, learning, resources, shell, spread, texts, tokens, trainings
from dashboard.exhibits import Exhibit
from dashboard.shell import Here
from dashboard.strips import strips_chart
from dashboard.theme import Look
from dashboard.trainings import Chosen, Training

EVERY, WAITING = 1.2, 3.0  # seconds between two looks: while it trains, while others are trained
STRENGTHS = {"trained-adversary": (0.0, 0.01, 0.02, 0.05, 0.1, 0.2), "deception": (0.0, 0.1, 1.0, 3.0, 10.0, 30.0)}
ENCODERS = ("average", "bilstm")
COLUMNS = ("model", "accuracy", "mass", "forbidden", "tvd", "jsd", "without")
LONGEST_WORD = 30  # letters
WORD_WIDTH, FORBIDDEN_WIDTH, SEED_WIDTH = 150, 240, 130


def show(here: Here, name: str) -> None:
    """The experiment's controls, the training while it goes on, and what came of it."""
    t, training = here.t, trainings.of_session().get(name)
    with exhibits.figure(here, "workbench", t("workbench.title")) as frame:
        if not here.lecture:
            st.caption(t("workbench.lede", **sizes()))
        live = training is not None and training.live
        chosen = controls(here, name)
        with st.container(horizontal=True, vertical_alignment="center"):
            pressed = st.button(
                t("workbench.train"),
                key="workbench-train",
                icon=":material/play_arrow:",
                disabled=chosen is None or live,
            )
            if pressed and chosen:  # not in a callback, which would not know a word typed just before
                trainings.start(chosen)
                st.rerun()
            if live and training is not None:
                st.button(t("workbench.stop"), key="workbench-stop", icon=":material/stop:", on_click=training.stop.set)
        if training is None:
            st.html(tokens.veil_html(t("workbench.empty"), "5rem"))
        elif live:
            waits = training.place > 0
            st.fragment(partial(look, here, training, waits), run_every=WAITING if waits else EVERY)()
        else:
            result(here, frame, training)


def sizes() -> dict[str, str]:
    """How large the corpus is, for sentences."""
    return {split: f"{size:,}" for split, size in planted.SIZES.items()}


def controls(here: Here, name: str) -> Chosen | None:
    """What the reader chooses; None where the words cannot be used, which is said."""
    t, lang, strengths = here.t, here.link.lang, STRENGTHS.get(name)
    kept: dict[str, Any] = {"persist_state": "session"}
    with st.container(horizontal=True, vertical_alignment="bottom", key="workbench-controls"):
        deciding = [
            st.text_input(
                t(f"workbench.word_{number}"),
                planted.DECIDING[lang][number - 1],
                max_chars=LONGEST_WORD,
                key=f"planted-{name}-{lang}-{number}",
                width=WORD_WIDTH,
                help=t("workbench.word_help") if number == 1 else None,
                **kept,
            )
            for number in (1, 2)
        ]
        forbidden = forbidden_words(here, deciding) if name == "deception" else None
        encoder = pick_encoder(here, name)
        strength = None
        if strengths:
            strength = st.select_slider(
                t("workbench.strength"),
                strengths,
                value=strengths[-1 if name == "deception" else 3],
                format_func=lambda value: f"{value:g}",
                key=f"planted-{name}-strength",
                width=220,
                help=t(f"workbench.strength_{name.replace('-', '_')}"),
                **kept,
            )
        seed = st.number_input(
            t("control.seed"), 0, 9999, 0, 1, key=f"planted-{name}-seed", width=SEED_WIDTH, help=t("control.seed_help"), **kept
        )
    try:
        plan = planted.plan(deciding, forbidden, lang, int(seed or 0))
    except Refusal as refusal:
        shell.complain(t, refusal)
        return None
    return Chosen(name, plan, encoder, strength)


def forbidden_words(here: Here, deciding: list[str]) -> tuple[str, ...] | None:
    """The words that attention is to leave; None for both deciding ones."""
    t = here.t
    typed = st.text_input(
        t("workbench.forbidden"),
        key=f"planted-forbidden-{here.link.lang}",
        placeholder=" ".join(deciding),
        max_chars=200,
        width=FORBIDDEN_WIDTH,
        help=t("workbench.forbidden_help", words=" ".join(planted.DISTRACTORS[here.link.lang])),
        persist_state="session",
    )
    return words(typed.lower()) or None


def pick_encoder(here: Here, name: str) -> str:
    """The encoder of all models, where the experiment leaves it open."""
    if not any(job.encoder == "{}" for job in workshop.EXPERIMENTS[name]):
        return ENCODERS[0]
    chosen = st.segmented_control(
        here.t("workbench.encoder"),
        ENCODERS,
        default=ENCODERS[0],
        format_func=lambda encoder: here.t(f"encoder.{encoder}"),
        key=f"planted-{name}-encoder",
        required=True,
        persist_state="session",
    )
    return str(chosen or ENCODERS[0])


def look(here: Here, training: Training, waits: bool) -> None:
    """Where a training stands, looked at again and again; the whole page is drawn anew once its turn has come, or it has
    ended."""
    training.looked = time.monotonic()
    if not training.live or waits != (training.place > 0):
        st.rerun()
    st.caption(state(here, training))
    if training.points:
        curves(here, training)
    else:  # empty figures would cost the server as much as full ones, for each of a class that waits
        st.html(tokens.veil_html(here.t("workbench.empty"), "5rem"))


def state(here: Here, training: Training) -> str:
    """Which model is trained now, or how many jobs come before."""
    t, jobs = here.t, workshop.EXPERIMENTS[training.chosen.name]
    if training.place:
        return shell.queue_line(here, training.place, resources.bench().seconds_left(training.place))
    if not training.points:
        return shell.queue_line(here, 0, None)
    model, batch, loss, mass = training.points[-1]
    values = {"batch": batch, "loss": tokens.number(loss, 3), "mass": tokens.number(mass), "model": named(here, model)}
    place = [job.name for job in jobs].index(model) + 1
    return f":material/progress_activity: {t('workbench.state', place=place, of=len(jobs), **values)}"


def curves(here: Here, training: Training) -> None:
    """Loss and mass as they moved, side by side."""
    for column, (name, chart) in zip(st.columns(2, gap="medium"), charts(here, training, here.look).items(), strict=True):
        column.altair_chart(chart, theme=None, key=f"workbench-{name}")


def charts(here: Here, training: Training, look: Look) -> dict[str, Any]:
    """The two figures of a training, by what they show."""
    t = here.t
    data, names = moved(here, training), [named(here, job.name) for job in workshop.EXPERIMENTS[training.chosen.name]]
    last = data.groupby("series", sort=False)["mass"].last()
    said = ", ".join(f"{model} {tokens.number(mass)}" for model, mass in last.items()) or "–"
    alt = {"mass": t("workbench.mass_alt", values=said), "loss": t("workbench.loss_alt")}
    text: dict[str, Any] = {"x": t("workbench.batches"), "look": look}
    return {key: learning.curve(data, key, names, y=t(f"workbench.{key}"), alt_text=said, **text) for key, said in alt.items()}


def moved(here: Here, training: Training) -> pd.DataFrame:
    """The points of a training, some batches together, in the reader's words."""
    data = learning.binned(list(training.points))
    return data.assign(series=[named(here, model) for model in data["series"]])


def named(here: Here, model: str) -> str:
    """A model of an experiment in the reader's words."""
    return here.t(f"workbench.model.{model}")


def result(here: Here, frame: Any, training: Training) -> None:
    """What came of a training that has ended: how its models do, one sentence under each, how loss and mass moved."""
    t = here.t
    if training.error is not None:
        shell.complain(t, training.error)
        return
    made = training.made
    if made is None:
        return
    if made.stopped:
        shell.problem(t, "training_stopped", "The training was stopped.", {"done": len(made.models), "of": count(training)})
    if training.points:
        curves(here, training)
    if made.models:
        measured(here, frame, training, made)


def count(training: Training) -> int:
    """How many models an experiment has."""
    return len(workshop.EXPERIMENTS[training.chosen.name])


def measured(here: Here, frame: Any, training: Training, made: Made) -> None:
    """The finished models as a table and on one sentence."""
    t, rows = here.t, strips(here, training, made)
    marks = tokens.Marks(
        selected=places(made, training.chosen.plan.deciding),
        forbidden=places(made, training.chosen.plan.forbidden) if training.chosen.name == "deception" else frozenset(),
    )
    table = figures(here, training, made)
    shown = table.drop(columns=["tvd", "jsd"])  # which stand beside the strips: a phone has no room for all
    st.table(shown.rename(columns=headings(here)), hide_index=True, border="horizontal")
    legends = [tokens.Legend("0", t("workbench.one"))]
    st.html(tokens.legend_html(legends))
    drawn: dict[str, Any] = {"marks": marks, "numbers": True, "shared": True}
    st.html(tokens.strips_html(rows, made.shown, language=training.chosen.plan.language, **drawn))
    weights = tokens.table(rows, made.shown, position=t("workbench.position"), word=t("workbench.written"))

    def draw(look: Look) -> Any:
        sentence = strips_chart(rows, made.shown, legends=legends, look=look, width=look.px(520), **drawn)
        return spread.stacked([*charts(here, training, look).values(), sentence])

    tables = {
        t("workbench.models"): table.rename(columns=headings(here)),
        t("workbench.weights"): weights,
        t("workbench.moves"): moved(here, training),
    }
    exhibit = Exhibit("workbench", caption(here, training), t("workbench.source"), tables, draw, on_screen=False)
    exhibits.show(here, frame, exhibit, t("workbench.note"))


def places(made: Made, chosen: tuple[str, ...]) -> frozenset[int]:
    """Where words stand in the sentence that is shown."""
    return frozenset(i for i, word in enumerate(made.shown) if word in chosen)


def strips(here: Here, training: Training, made: Made) -> list[tokens.Row]:
    """A strip for each model."""
    t = here.t
    apart = {
        model.name: t("workbench.apart", jsd=tokens.number(model.jsd, 3), tvd=tokens.number(model.tvd, 3))
        for model in made.models[1:]
    }
    return [
        tokens.Row(named(here, model), weights, note=apart.get(model, t("workbench.first")))
        for model, weights in made.attention.items()
    ]


def figures(here: Here, training: Training, made: Made) -> pd.DataFrame:
    """model, accuracy, mass, [forbidden,] tvd, jsd, without: one row a model, as it is written."""
    rows = []
    for model in made.models:
        shown = {"model": named(here, model.name), "accuracy": f"{100 * model.accuracy:.1f} %"}
        shown["mass"] = tokens.number(model.mass, 3)
        if training.chosen.name == "deception" and set(training.chosen.plan.forbidden) != set(training.chosen.plan.deciding):
            shown["forbidden"] = tokens.number(model.forbidden, 4)
        first = model is made.models[0]
        shown |= {key: "–" if first else tokens.number(getattr(model, key), 3) for key in ("tvd", "jsd")}
        rows.append(shown | {"without": tokens.number(model.without, 3)})
    return pd.DataFrame(rows)


def headings(here: Here) -> Mapping[str, str]:
    """What the columns are called."""
    return {key: here.t(f"workbench.{key}_column") for key in COLUMNS}


def caption(here: Here, training: Training) -> str:
    """What was trained on what: words, λ, seed, n."""
    t, chosen = here.t, training.chosen
    plan = chosen.plan
    parts = [t("workbench.caption", words=" / ".join(map(texts.plain, plan.deciding)), seed=plan.seed, **sizes())]
    if count(training) == 2:
        parts.append(t("workbench.with_encoder", encoder=t(f"encoder.{chosen.encoder}")))
    if chosen.name == "deception":
        parts.append(t("workbench.with_forbidden", words=" ".join(map(texts.plain, plan.forbidden))))
    strength = workshop.STRENGTHS.get(chosen.name) if chosen.strength is None else chosen.strength
    if strength is not None:
        parts.append(t("workbench.with_strength", strength=f"{strength:g}"))
    return " ".join(parts)
