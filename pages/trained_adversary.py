"""Can a whole model look elsewhere and answer alike? The trained adversary of Wiegreffe & Pinter 2019.

One sentence under the committed adversaries, walked through by λ: where they look, what they answer, how far both are from the
base. Then the test set: the frontier of the two distances beside uniform attention, other seeds, the optimum of one sentence
at a time, and the published figures; and the same on a small scale, to be trained on the page.
"""

from typing import Any

import streamlit as st

from dashboard import controls, elsewhere, evidence, exhibits, lessons, link, quality, resources, shell, tokens, workbench
from dashboard.elsewhere import Elsewhere
from dashboard.exhibits import Exhibit
from dashboard.frontier import frontier
from dashboard.resources import Choice
from dashboard.shell import Here
from dashboard.strips import strips_chart
from dashboard.theme import Look

GUESSES = ("hardly", "somewhat", "far")
WIDE = 680  # pixels of the plane in a file, as wide as the words above it


def lesson(here: Here, choice: Choice, picked: controls.Picked) -> None:
    """Everything that is about one sentence."""
    names = elsewhere.beside(choice.model)
    with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
        strength = walk(here, choice.model)
        results = st.container(horizontal=True, width="content", gap="large")
    with shell.computing(here, 330) as waiting:
        found: Elsewhere = resources.compute(elsewhere.elsewhere, choice, others=names, waiting=waiting)
    controls.show_prediction(here, picked.place, dict(zip(found.labels, found.prob[0].tolist(), strict=True)))
    shell.show_notes(here, [note for note in found.notes if note.code not in shell.QUIET])
    quality.show(here)
    at = 1 + elsewhere.strengths(choice.model).index(strength)
    if experiment(here, choice, found, at, strength):
        with results:
            for key, value in (("jsd", found.jsd[at]), ("tvd", found.tvd[at])):
                st.html(
                    tokens.big_number_html(here.t(f"results.{key}"), tokens.number(float(value), 3), "defence"), width="content"
                )
        plane(here, choice, found, strength)


def walk(here: Here, model: str) -> str:
    """The λ of the adversary that is shown; one that this model does not have is named, and the usual one is used."""
    key, there = lessons.own_key("trained-adversary", "lambda"), elsewhere.strengths(model)
    asked = here.link.keys.get(key, elsewhere.default(model))
    chosen = asked if asked in there else elsewhere.default(model)
    if asked != chosen:
        shell.problem(here.t, "no_such_lambda", "", {"given": asked, "used": chosen, "allowed": there})
    st.session_state["lambda_walk"] = chosen
    st.select_slider(
        here.t("control.lambda"),
        there,
        key="lambda_walk",
        width=330,
        help=here.t("control.lambda_help"),
        on_change=lambda: link.put(keys={**link.current().keys, key: st.session_state["lambda_walk"]}),
    )
    return chosen


def experiment(here: Here, choice: Choice, found: Elsewhere, at: int, strength: str) -> bool:
    """The words under the base and under the adversary. Whether a guess is made."""
    t, about = here.t, "|".join((choice.model, choice.text))
    legends = [tokens.Legend("0", t("strips.one"))]
    with exhibits.figure(here, "adversary", html=tokens.legend_html(legends)) as frame:
        with frame:
            numbers = st.toggle(t("figure.numbers"), key="numbers", persist_state="session")
        place = st.container()
        guess = controls.guess(here, about, t("predict.question"), {name: t(f"predict.{name}") for name in GUESSES})
        if guess.option:
            with place, st.container(horizontal=True, vertical_alignment="center"):
                said = t("predict.guessed", guess=t(f"predict.{guess.option}"), tvd=tokens.number(found.tvd[at], 3))
                st.caption(said, width="content")
                controls.guess_again(here, about)
        rows = elsewhere.rows(t, found, at, strength)
        shown, language = rows if guess.option is not None else rows[:1], here.card.task.language if here.card else "en"
        drawn: dict[str, Any] = {"numbers": numbers, "shared": True}
        place.html(tokens.strips_html(shown, found.words, language=language, **drawn))
        if guess.option is None:
            st.html(tokens.veil_html(t("predict.veil"), "9rem"))
        else:
            table = tokens.table(rows, found.words, position=t("table.position"), word=t("table.word"))

            def draw(look: Look) -> Any:
                return strips_chart(rows, found.words, legends=legends, look=look, part=t("figure.part"), **drawn)

            caption = t("adversary.caption", n=len(found.words), strength=strength)
            exhibit = Exhibit("adversary", caption, t("adversary.source"), {"": table}, draw, on_screen=False)
            exhibits.show(here, frame, exhibit, reading(here, found, at))
        st.caption(quality.line(here))
        shell.show_notes(here, [note for note in found.notes if note.code in shell.QUIET])
    return guess.option is not None


def reading(here: Here, found: Elsewhere, at: int) -> str:
    """What the adversary does to this sentence, in a sentence."""
    if len(found.words) == 1:
        return here.t("reading.one")
    same = int(found.prob[at].argmax()) == int(found.prob[0].argmax())
    values = {"jsd": tokens.number(found.jsd[at], 3), "tvd": tokens.number(found.tvd[at], 3)}
    return here.t("reading.same" if same else "reading.other", **values)


def plane(here: Here, choice: Choice, found: Elsewhere, strength: str) -> None:
    """Every committed model on this sentence: how far attention and prediction are from the base's."""
    t = here.t
    with exhibits.figure(here, "plane", t("plane.title")) as frame:
        data = elsewhere.points(t, found, elsewhere.beside(choice.model))
        alt = t("frontier.alt", values=spoken(data))

        def draw(look: Look) -> Any:
            return drawn_plane(here, data, alt, look, chosen=f"λ {strength}")

        caption = t("plane.caption", strength=strength, epsilon=f"{elsewhere.EPSILON:g}")
        exhibits.show(here, frame, Exhibit("plane", caption, t("plane.source"), {"": data}, draw, alt), t("plane.note"))


def drawn_plane(here: Here, data: Any, alt: str, look: Look, chosen: str = "") -> Any:
    """Points of the two distances, the adversaries joined."""
    t = here.t
    text: dict[str, Any] = {"x": t("frontier.x"), "y": t("frontier.y")}
    return frontier(
        data, elsewhere.styles(t), line=t("frontier.adversary"), alt_text=alt, chosen=chosen, width=WIDE, look=look, **text
    )


def test_set(here: Here, choice: Choice) -> None:
    """The frontier over the test set, with what the paper's Figure 5 shows for the same corpus."""
    t = here.t
    with exhibits.figure(here, "frontier", t("frontier.title")) as frame:
        table = resources.results("trained-adversary", choice.model)
        where = evidence.provenance(table, t)
        data = elsewhere.measured(t, choice.model)
        alt = t("frontier.alt", values=spoken(data))

        def draw(look: Look) -> Any:
            return drawn_plane(here, data, alt, look)

        searched = t("frontier.search") in set(data["group"])
        caption = t("frontier.caption", **where)
        notes = [jumped(here, choice), t("frontier.searched" if searched else "frontier.not_searched"), t("frontier.published")]
        exhibits.show(here, frame, Exhibit("frontier", caption, t("frontier.source"), {"": data}, draw, alt), *notes)


def jumped(here: Here, choice: Choice) -> str:
    """Between which λ attention moves, and that nothing lies between."""
    before, after, low, high = elsewhere.jump(choice.model)
    jsd = {"low": tokens.number(low, 3), "high": tokens.number(high, 3)}
    return here.t("frontier.jump", before=before, after=after, **jsd)


def reported(here: Here, choice: Choice) -> None:
    """The adversary chosen on validation beside the published ones."""
    t = here.t
    with exhibits.figure(here, "reported", t("reported.title")) as frame:
        where = evidence.provenance(resources.results("trained-adversary", choice.model), t)
        table = elsewhere.reported(list(shell.usable(here.page)))
        shown = elsewhere.written(t, table)
        st.table(shown, hide_index=True, border="horizontal")
        models = {t(f"corpus.{name.split('/')[0]}"): name for name in shell.usable(here.page)}
        unmeasured = evidence.unmeasured(t, "trained-adversary", models)
        caption = t("reported.caption", far=f"{elsewhere.FAR:g}", **where) + unmeasured
        exhibit = Exhibit("reported", caption, t("reported.source"), {"": table})
        exhibits.show(here, frame, exhibit, t("reported.note"))


def spoken(data: Any) -> str:
    """Points as a list to listen to."""
    said = (
        f"{row.group} {row.name_of} ({tokens.number(row.x, 3)}, {tokens.number(row.y, 3)})"
        for row in data.rename(columns={"name": "name_of"}).itertuples()
    )
    return ", ".join(" ".join(part.split()) for part in said)


here = shell.start("trained-adversary")
picked = controls.picker(here)
if picked.choice is not None:
    with shell.guarded(here):
        lesson(here, picked.choice, picked)
    for column, draw_figure in zip(st.columns([7, 5], gap="medium"), (test_set, reported), strict=True):
        with column:
            draw_figure(here, picked.choice)
workbench.show(here, "trained-adversary")
shell.close(here)
