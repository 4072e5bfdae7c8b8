"""Can a model hide what it uses? The test of Pruthi et al. 2020: a penalty on the attention that forbidden words get.

One text under an honest model and two that were trained to hide: the attention that is left on the impermissible words, and
what happens to the answer without them. Then the test sets beside the published table and the control that never sees those
words; and the same on a small scale, to be trained on the page. The boxes say what all this shows, and what it does not.
"""

from dataclasses import replace
from typing import Any

import streamlit as st

from dashboard import charts, codes, controls, deceived, evidence, exhibits, quality, resources, shell, texts, tokens, workbench
from dashboard.deceived import STRENGTHS, Deceived
from dashboard.exhibits import Exhibit
from dashboard.marking import put
from dashboard.resources import Choice
from dashboard.shell import Here
from dashboard.strips import strips_chart
from dashboard.theme import Look

GUESSES = ("most", "some", "little")


def lesson(here: Here, choice: Choice, picked: controls.Picked) -> None:
    """Everything that is about one text."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
        seed = controls.seed(here)
        place, results = st.container(width="content"), st.container(horizontal=True, width="content", gap="large")
    found = looked(here, choice, seed)
    with place:
        impermissible(here, found)
    honest = dict(zip(found.labels, found.prob[0].tolist(), strict=True))
    controls.show_prediction(here, picked.place, honest)
    shell.show_notes(here, [note for note in found.notes if note.code not in shell.QUIET])
    if not found.marked:
        shell.problem(here.t, "nothing_impermissible", "No word of this text is impermissible.", {})
    quality.show(here)
    if attention(here, choice, found):
        with results:
            for i, name in ((0, "honest"), (-1, "hiding")):
                st.html(tokens.big_number_html(here.t(f"results.{name}"), deceived.share(found.mass(i))), width="content")
        deciding(here, found)


def looked(here: Here, choice: Choice, seed: int) -> Deceived:
    """The text under all λ, with the words that the link marks, else those that the rule finds."""
    others = [f"{choice.model}:deceptive={strength}" for strength in STRENGTHS[1:]]
    with shell.computing(here, 330) as waiting:
        settings: dict[str, Any] = {"others": others, "waiting": waiting}
        found: Deceived = resources.compute(deceived.deceived, choice, **settings)
        asked = codes.read(found.words, here.key("marked"))
        marked = found.marked if asked is None else asked
        gone, other = resources.compute(deceived.without, choice, marked=marked, seed=seed, **settings)
    return replace(found, marked=marked, without_marked=gone, without_others=other)


def impermissible(here: Here, found: Deceived) -> None:
    """A popover with the words as buttons: tapping one makes it impermissible, or permits it."""
    t, field = here.t, f"impermissible_{codes.stamp(found.words)}"
    st.session_state[field] = list(found.marked)
    with st.popover(t("control.marked", n=len(found.marked)), icon=":material/edit:", key="marked"):
        st.markdown(t("control.rule"))
        st.pills(
            t("control.words"),
            list(range(len(found.words))),
            selection_mode="multi",
            format_func=lambda place: texts.plain(tokens.readable(found.words[place])),
            key=field,
            label_visibility="collapsed",
            on_change=lambda: put(here, codes.written(found.words, st.session_state[field])),
        )
        st.button(t("control.by_rule"), key="by_rule", type="tertiary", on_click=put, args=(here, ""))


def attention(here: Here, choice: Choice, found: Deceived) -> bool:
    """The attention of the three models on the text, the impermissible words ringed. Whether a guess is made."""
    t, about = here.t, "|".join((choice.model, choice.text))
    legends = [tokens.Legend("0", t("strips.largest"))]
    with exhibits.figure(here, "attention", html=tokens.legend_html(legends)) as frame:
        with frame:
            numbers = st.toggle(t("figure.numbers"), key="numbers", persist_state="session")
        place = st.container()
        guess = controls.guess(here, about, t("predict.question"), {name: t(f"predict.{name}") for name in GUESSES})
        if guess.option:
            with place, st.container(horizontal=True, vertical_alignment="center"):
                said = t("predict.guessed", guess=t(f"predict.{guess.option}"), mass=deceived.share(found.mass(-1)))
                st.caption(said, width="content")
                controls.guess_again(here, about)
        rows = deceived.rows(t, found)
        shown = rows if guess.option is not None else rows[:1]
        strips(here, place, found, shown, numbers)
        if guess.option is None:
            st.html(tokens.veil_html(t("predict.veil"), "12rem"))
        else:
            exhibits.show(here, frame, strips_exhibit(here, found, "attention", rows, legends, numbers), reading(here, found))
        st.caption(quality.line(here))
        shell.show_notes(here, [note for note in found.notes if note.code in shell.QUIET])
    return guess.option is not None


def strips(here: Here, place: Any, found: Deceived, rows: list[tokens.Row], numbers: bool) -> None:
    """Words with weights on the screen."""
    language, marks = here.card.task.language if here.card else here.link.lang, tokens.Marks(forbidden=frozenset(found.marked))
    drawn: dict[str, Any] = {"language": language, "numbers": numbers, "marks": marks, "undefined": here.t("strips.undefined")}
    place.html(tokens.strips_html(rows, found.words, **drawn))


def strips_exhibit(
    here: Here, found: Deceived, name: str, rows: list[tokens.Row], legends: list[tokens.Legend], numbers: bool
) -> Exhibit:
    """The same words for files."""
    t, marks = here.t, tokens.Marks(forbidden=frozenset(found.marked))
    table = tokens.table(rows, found.words, position=t("table.position"), word=t("table.word"))
    table[t("table.marked")] = [place in found.marked for place in range(len(found.words))]

    def draw(look: Look) -> Any:
        text: dict[str, Any] = {"part": t("figure.part"), "undefined": ""}
        return strips_chart(rows, found.words, legends=legends, numbers=numbers, marks=marks, look=look, **text)

    caption = t(f"{name}.caption", n=len(found.words), k=len(found.marked), seed=here.link.seed, draws=deceived.DRAWS)
    return Exhibit(name, caption, t(f"{name}.source"), {t("table.words"): table}, draw, on_screen=False)


def reading(here: Here, found: Deceived) -> str:
    """What the three models come to, in a sentence."""
    if not found.marked:
        return here.t("reading.none")
    masses = {name: deceived.share(found.mass(i)) for i, name in ((0, "honest"), (-1, "hiding"))}
    same = len({int(row.argmax()) for row in found.prob}) == 1
    return here.t("reading.same" if same else "reading.other", **masses)


def deciding(here: Here, found: Deceived) -> None:
    """Whether the words decide although nothing attends to them: each left out, all of them, as many others."""
    t = here.t
    legends = [tokens.Legend("0", t("strips.largest"))]
    with exhibits.figure(here, "deciding", t("deciding.title"), tokens.legend_html(legends)) as frame:
        rows = deceived.deletions(t, found)
        numbers = bool(st.session_state.get("numbers", False))
        strips(here, st, found, rows, numbers)
        exhibits.show(here, frame, strips_exhibit(here, found, "deciding", rows, legends, numbers), t("deciding.note"))


def traded(here: Here, choice: Choice) -> None:
    """Accuracy and attention on the impermissible words over the test set, beside the published table."""
    t = here.t
    with exhibits.figure(here, "traded", t("traded.title")) as frame:
        where = evidence.provenance(resources.results("deception", choice.model), t)
        table = resources.table(deceived.measured, choice.model)
        data = long(here, table, {"accuracy": "paper_accuracy", "mass": "paper_mass"})
        alt = t("traded.alt", values=spoken(data))

        def draw(look: Look) -> Any:
            text: dict[str, Any] = {"x": t("traded.x"), "published": t("traded.published"), "alt_text": alt}
            return charts.intervals(data, domain=(0.0, 1.0), look=look, **text)

        share = f"{100 * table['share_of_words'].dropna().iloc[0]:.1f}"
        caption = t("traded.caption", share=share, **where)
        exhibit = Exhibit("traded", caption, t("traded.source"), {"": printed(here, table)}, draw, alt)
        exhibits.show(here, frame, exhibit, t("traded.note"), t("traded.second_hand"))


def needed(here: Here, choice: Choice) -> None:
    """How far predictions move without the impermissible words, and without as many others, over the test set."""
    t = here.t
    with exhibits.figure(here, "needed", t("needed.title")) as frame:
        where = evidence.provenance(resources.results("deception", choice.model), t)
        table = resources.table(deceived.measured, choice.model)
        table = table[table["strength"] != deceived.CONTROL]
        data = long(here, table, {"without_marked": "", "without_others": ""})
        alt, end = t("needed.alt", values=spoken(data)), 0.5 if data["mean"].max() <= 0.5 else 1.0

        def draw(look: Look) -> Any:
            return charts.intervals(data, x=t("needed.x"), alt_text=alt, domain=(0.0, end), look=look)

        exhibit = Exhibit("needed", t("needed.caption", **where), t("needed.source"), {"": data}, draw, alt)
        exhibits.show(here, frame, exhibit, t("needed.note"))


def beside(here: Here, choice: Choice) -> None:
    """Our figures and the published ones as a table."""
    t = here.t
    with exhibits.figure(here, "beside", t("beside.title")) as frame:
        where = evidence.provenance(resources.results("deception", choice.model), t)
        shown = printed(here, resources.table(deceived.measured, choice.model))
        st.table(shown, hide_index=True, border="horizontal")
        exhibit = Exhibit("beside", t("beside.caption", **where), t("traded.source"), {"": shown})
        exhibits.show(here, frame, exhibit, t("traded.second_hand"))


def long(here: Here, table: Any, columns: dict[str, str]) -> Any:
    """group, series, mean, low, high, published from columns of the measured table; accuracy has an interval."""
    t, parts = here.t, []
    for column, paper in columns.items():
        bounds = [table["low"], table["high"]] if column == "accuracy" else [table[column], table[column]]
        part = table.assign(series=t(f"series.{column}"), mean=table[column], low=bounds[0], high=bounds[1])
        part["published"] = table[paper] if paper else None
        part["group"] = [model(here, row.encoder, row.strength) for row in table.itertuples()]
        parts.append(part[["group", "series", "mean", "low", "high", "published", "n"]])
    return deceived.together(parts)


def model(here: Here, encoder: str, strength: str) -> str:
    """A model in the reader's words."""
    name = here.t("control.anonymised") if strength == deceived.CONTROL else f"λ = {strength}"
    return f"{here.t(f'encoder.{encoder}')}, {name}"


def printed(here: Here, table: Any) -> Any:
    """Our accuracy and mass and theirs, as they are read; a published cell bears a double dagger."""
    t = here.t
    return deceived.written(table, [model(here, row.encoder, row.strength) for row in table.itertuples()], t)


def spoken(data: Any) -> str:
    """Dots as a list to listen to."""
    return ", ".join(f"{row.group} {row.series} {tokens.number(row.mean, 3)}" for row in data.itertuples())


here = shell.start("deception")
picked = controls.picker(here)
if picked.choice is not None:
    with shell.guarded(here):
        lesson(here, picked.choice, picked)
    shell.side_by_side(here, [[traded, needed], [beside]], picked.choice)
workbench.show(here, "deception")
shell.close(here)
