"""Can what attribution finds be turned against the model? Triggers of Hao et al. 2021, Use Case 3, in a sentence of one's own.

A trigger is chosen, the reader guesses what it does, and then its words go into the sentence one by one, at the places they
have in the training example they come from, beside random words at the same places. Then the test set: accuracy per gold label
with and without the trigger, all triggers in a table, and the published drop.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.attattr.triggers import Trigger
from dashboard import attacked, charts, controls, evidence, exhibits, lessons, link, quality, resources, shell, texts, tokens
from dashboard.attacked import Attacked
from dashboard.exhibits import Exhibit
from dashboard.resources import Choice
from dashboard.shell import Here
from dashboard.theme import Look

GUESSES = ("holds", "weaker", "flips")
TRIGGER_WIDTH, SLIDER_WIDTH = 300, 180
ALL = "all"  # the code for as many words as the trigger has
AGAINST = "against"  # the code for the first trigger that speaks against the prediction


@dataclass(frozen=True)
class View:
    """One text and one trigger, how many of its words are put in, and the places for what changes that."""

    found: Attacked
    trigger: Trigger
    number: int
    count: int
    controls: DeltaGenerator
    results: DeltaGenerator


def lesson(here: Here, choice: Choice, picked: controls.Picked) -> None:
    """Everything that needs the model. The test set is shown even where the text cannot be read."""
    number = 0
    with shell.guarded(here):
        view = looked(here, choice, picked)
        if view is not None:
            number = view.number
            quality.show(here)
            experiment(here, choice, view)
    shell.side_by_side(here, [[partial(classes, number=number), overview]], choice)


def looked(here: Here, choice: Choice, picked: controls.Picked) -> View | None:
    """The text under the chosen trigger; None where no trigger was found. Says the prediction and the notes."""
    t = here.t
    known = attacked.known(choice.model)
    if not known:
        st.caption(t("trigger.none"))
        return None
    with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
        picker, place = st.container(width="content"), st.container(width="content")
        results = st.container(horizontal=True, width="content", gap="large")
    with shell.computing(here, 260) as waiting:
        plain = resources.compute(attacked.attacked, choice, waiting=waiting, places=(), draws=())
        with picker:
            number = pick(here, [one for one, _ in known], plain.predicted)
        one, draws = known[number]
        found = resources.compute(attacked.attacked, choice, waiting=waiting, places=one.places, draws=draws)
    controls.show_prediction(here, picked.place, found.prediction)
    controls.show_query(here, choice)
    shell.show_notes(here, found.notes)
    code = here.key("words")
    count = len(one.places) if code == ALL else min(int(code), len(one.places))
    return View(found, one, number, count, place, results)


def pick(here: Here, known: list[Trigger], predicted: int) -> int:
    """The number of the trigger that the link names, else of the first one against the predicted label; one that is not there
    is named and replaced."""
    t, key, labels = here.t, lessons.own_key(here.page, "trigger"), here.card.task.labels if here.card else ()
    number = next((i for i, one in enumerate(known) if one.label != predicted), 0)
    if (code := here.key("trigger")) != AGAINST:
        if int(code) <= len(known):
            number = int(code) - 1
        else:
            shell.problem(t, "no_trigger", "There are fewer triggers.", {"given": code, "n": len(known)})
    st.session_state["triggers_pick"] = number
    st.selectbox(
        t("control.trigger"),
        range(len(known)),
        format_func=lambda i: attacked.named(t, known[i], labels),
        key="triggers_pick",
        width=TRIGGER_WIDTH,
        help=t("control.trigger_help"),
        on_change=lambda: put({key: str(st.session_state["triggers_pick"] + 1)}),
    )
    return number


def put(changed: dict[str, str]) -> None:
    """Some of the page's own keys, for callbacks."""
    link.put(keys={**link.current().keys, **changed})


def slide(here: Here, view: View) -> None:
    """How many of the trigger's words are put in."""
    key = lessons.own_key(here.page, "words")
    st.session_state["triggers_words"] = view.count
    st.slider(
        here.t("control.words"),
        0,
        len(view.trigger.places),
        key="triggers_words",
        width=SLIDER_WIDTH,
        help=here.t("control.words_help"),
        on_change=lambda: put({key: str(st.session_state["triggers_words"])}),
    )


def experiment(here: Here, choice: Choice, view: View) -> None:
    """The text, the guess, and the prediction after each inserted word."""
    t, found = here.t, view.found
    about = "|".join((choice.model, choice.text, choice.query, str(view.number)))
    revealed = controls.revealed(here, about)
    if revealed:
        with view.controls:
            slide(here, view)
        show_results(here, view)
    with exhibits.figure(here, "attack", t("attack.title")) as frame:
        show_text(here, view, view.count if revealed else 0)
        if not revealed:
            words = ", ".join(texts.plain(word) for word in view.trigger.words)
            label = t.label(found.labels[view.trigger.label])
            options = {name: t(f"predict.{name}") for name in GUESSES}
            controls.guess(here, about, t("predict.question", words=words, label=label), options)
            st.html(tokens.veil_html(t("predict.veil"), "11rem"))
        else:
            say(here, view, about)
            exhibits.show(here, frame, steps(here, view), t("attack.note"))
        st.caption(quality.line(here))


def show_results(here: Here, view: View) -> None:
    """The prediction with the words that are put in."""
    t, found = here.t, view.found
    prob = found.prob[view.count]
    with view.results:
        label = t.label(found.labels[found.predicted])
        st.html(
            tokens.big_number_html(t("results.prob", label=label), tokens.number(float(prob[found.predicted]))), width="content"
        )
        st.html(tokens.big_number_html(t("results.now"), t.label(found.labels[int(prob.argmax())])), width="content")


def show_text(here: Here, view: View, count: int) -> None:
    """The text as the model reads it, and the second one where there is one, the inserted words outlined."""
    card = here.card
    names = controls.ROLES[card.task.kind] if card else ("text", "")
    language = card.task.language if card else here.link.lang
    for part, (name, words, new) in enumerate(zip(names, view.found.texts[count], view.found.new[count], strict=True)):
        if words or not part:
            st.html(attacked.text_html(words, new, language, here.t(f"picker.own_{name}") if view.found.texts[0][1] else ""))


def say(here: Here, view: View, about: str) -> None:
    """The guess, and what the whole trigger did beside random words, in sentences."""
    t, found = here.t, view.found
    option = st.session_state.get("guesses", {}).get(f"{here.page}:{about}", "")
    if option and not here.lecture:
        with st.container(horizontal=True, vertical_alignment="center"):
            values = {"guess": t(f"predict.{option}"), "measured": t(f"predict.{attacked.outcome(found)}")}
            st.caption(t("predict.guessed", **values), width="content")
            controls.guess_again(here, about)
    at = found.predicted
    flipped = int((found.random[:, -1].argmax(-1) != at).sum())
    values = {
        "label": t.label(found.labels[at]),
        "before": tokens.number(float(found.prob[0, at])),
        "after": tokens.number(float(found.prob[-1, at])),
        "random": tokens.number(float(found.random[:, -1, at].mean())),
        "now": t.label(found.labels[int(found.prob[-1].argmax())]),
    }
    own = "own" if view.trigger.label == at else attacked.outcome(found)
    st.markdown(t(f"reading.{own}", flipped=flipped, draws=len(found.random), **values))


def steps(here: Here, view: View) -> Exhibit:
    """p of the first prediction after each word, of the trigger and of random ones."""
    t, found = here.t, view.found
    table = attacked.steps(t, found, view.trigger)
    x = t("results.prob", label=t.label(found.labels[found.predicted]))
    said = ", ".join(f"{row['group']} {row['series']} {tokens.number(row['mean'])}" for row in table.to_dict("records"))
    alt = t("attack.alt", values=said)

    def draw(look: Look) -> Any:
        return charts.intervals(table, x=x, alt_text=alt, domain=(0.0, 1.0), look=look)

    caption = t("attack.caption", draws=len(found.random), score=tokens.number(view.trigger.score, 3), **head_of(view.trigger))
    return Exhibit("attack", caption, t("attack.source"), {"": table}, draw, alt)


def head_of(one: Trigger) -> dict[str, int]:
    """The head that the trigger was read from, counted from one."""
    return {"layer": one.layer + 1, "head": one.head + 1}


def where(here: Here, choice: Choice) -> dict[str, str]:
    """What a test set's figures come from."""
    found = attacked.table(choice.model)
    sample = found.attrs["provenance"]["training_examples"]
    return evidence.provenance(found, here.t) | {"training": texts.count(int(sample))}


def classes(here: Here, choice: Choice, number: int) -> None:
    """Accuracy per gold label without the trigger, with it, and with random words."""
    t = here.t
    with exhibits.figure(here, "classes", t("classes.title")) as frame:
        known = attacked.known(choice.model)
        if not known:
            st.caption(t("trigger.none"))
            return
        labels = resources.cards()[choice.model].task.labels
        one = known[min(number, len(known) - 1)][0]
        table = resources.table(attacked.by_class, choice.model, str(min(number, len(known) - 1)))
        group = [t("classes.gold", label=t.label(labels[gold])) for gold in table["group"]]
        shown = table.assign(group=group, series=[t(f"series.{name}") for name in table["series"]])
        said = ", ".join(f"{row['group']} {row['series']} {tokens.number(row['mean'])}" for row in shown.to_dict("records"))
        alt = t("classes.alt", trigger=attacked.named(t, one, labels), values=said)

        def draw(look: Look) -> Any:
            return charts.intervals(shown, x=t("classes.x"), alt_text=alt, domain=(0.0, 1.0), look=look)

        caption = t("classes.caption", trigger=attacked.named(t, one, labels), **where(here, choice))
        exhibits.show(here, frame, Exhibit("classes", caption, t("classes.source"), {"": shown}, draw, alt), t("classes.note"))


def overview(here: Here, choice: Choice) -> None:
    """Every trigger on the labels that it speaks against, beside the published drop."""
    t = here.t
    with exhibits.figure(here, "overview", t("overview.title")) as frame:
        table = resources.table(attacked.overview, choice.model)
        if table.empty:
            st.caption(t("trigger.none"))
            return
        labels = [t.label(name) for name in resources.cards()[choice.model].task.labels]
        named = table.assign(label=[labels[i] for i in table["label"]], gold=[labels[i] for i in table["gold"]])
        shown = named.assign(words=[f"{row['words']} → {row['label']}" for row in named.to_dict("records")])
        for name in attacked.SERIES:
            shown[name] = [tokens.number(100 * share, 1) for share in table[name]]
        columns = ["words", "gold", *attacked.SERIES]
        headed = {"words": t("overview.words"), "gold": t("overview.gold")}
        st.table(
            shown[columns].rename(columns=headed | {name: t(f"series.{name}") for name in attacked.SERIES}),
            hide_index=True,
            border="horizontal",
        )
        most, (before, after) = attacked.strongest(named), attacked.published()
        values = {name: tokens.number(100 * float(str(most[name])), 1) for name in attacked.SERIES}
        st.markdown(t("overview.reading", words=texts.plain(most["words"]), gold=most["gold"], **values))
        theirs = t("overview.published", before=tokens.number(before, 1), after=tokens.number(after, 1))
        caption = t("overview.caption", **where(here, choice))
        exhibits.show(here, frame, Exhibit("overview", caption, t("classes.source"), {"": named}), theirs, t("overview.note"))


here = shell.start("triggers")
picked = controls.picker(here)
if picked.choice is not None:
    with shell.guarded(here):
        lesson(here, picked.choice, picked)
shell.close(here)
