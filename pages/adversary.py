"""Can opposite attention give the same answer? The second of the two conditions of Jain & Wallace 2019.

The reader first writes the story that the heat map tells, then tries to beat the optimum with the spotlight: bars over the
words, the prediction following in the browser. Only then the adversary is shown, the exact optimum or what the published search
finds, beside the learned map and the two stories. What the optimum looks like, how little is left of it when it may not put
everything on two words, and whole test sets beside the published figures follow.
"""

from typing import Any

import streamlit as st

from core.debate.adversary import EPSILON, Adversary
from core.explanation import explain
from dashboard import (
    adversaries,
    charts,
    controls,
    epsilon_max,
    exhibits,
    frames,
    quality,
    resources,
    shell,
    spotlight,
    stories,
    theme,
    tokens,
)
from dashboard.adversaries import Case
from dashboard.exhibits import Exhibit
from dashboard.resources import Choice
from dashboard.shell import Here
from dashboard.strips import strips_chart

EPSILONS = ("0.01", "0.05", "0.1")
METHODS = ("exact", "search")
CEILINGS = ("own", "half", "quarter", "none")
FLOORS = ("none", "own", "half")
COUNTS = ("3", "5", "10")
BARS = 12  # words of the mirrored chart


def lesson(here: Here, choice: Choice, picked: controls.Picked) -> bool:
    """All that needs the model; whether the argument stands beside the figure already. Test sets are shown in any case."""
    argued, case = False, None
    with shell.guarded(here):
        case, place = opened(here, choice, picked)
        argued = experiment(here, case, place)
    revealed = case is not None and stories.told(here, case.about).revealed

    def of_case(series: str) -> float | None:
        """This sentence's JSD in a series, once it may be seen; the search is not run for it."""
        if case is None or not revealed or series == "search":
            return None
        epsilon = adversaries.LOOSE if series == "exact" else default_epsilon(here)
        return float(exact_one(here, case, epsilon).jsd[0])

    for pair in ((epsilon_max.histogram, epsilon_max.beside_paper), (epsilon_max.encoders, epsilon_max.few_words)):
        for column, draw in zip(st.columns(2, gap="medium"), pair, strict=True):
            with column:
                draw(here, choice, of_case)
    epsilon_max.sparse(here, choice, of_case)
    return argued


def default_epsilon(here: Here) -> float:
    """How far a prediction may move by default: less for classification, as in the paper."""
    return EPSILON[here.card.task.kind] if here.card else EPSILON["classification"]


def opened(here: Here, choice: Choice, picked: controls.Picked) -> tuple[Case, Any]:
    """The text under the page's controls, and the place on their row for the two results."""
    t = here.t
    with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
        names = {code: code for code in EPSILONS}
        default = f"{default_epsilon(here):g}"
        epsilon = controls.choose(
            here, "epsilon", names, t("control.epsilon"), help_text=t("control.epsilon_help"), default=default
        )
        names = {name: t(f"control.{adversaries.named(here.card, name)}") for name in METHODS}
        method = controls.choose(here, "method", names, t("control.method"), help_text=t("control.method_help"))
        if method == "search":
            controls.seed(here)
        place = st.container(horizontal=True, width="content", vertical_alignment="bottom", gap="medium")
    with shell.computing(here, 330) as waiting:
        found = resources.compute(explain, choice, waiting=waiting, measures=("attention",))
        light = resources.compute(adversaries.light, choice, waiting=waiting)
    controls.show_prediction(here, picked.place, found.prediction)
    shell.show_notes(here, [note for note in found.notes if note.code not in shell.QUIET])
    quality.show(here)
    return Case(choice, found, light, float(epsilon), method), place


def experiment(here: Here, case: Case, place: Any) -> bool:
    """Story, spotlight, reveal; whether the argument was drawn beside the figure."""
    made = stories.told(here, case.about)
    if len(case.found.words) < 2:
        learned_map(here, case)
        return False
    other = None
    if made.revealed:
        with shell.computing(here, 240) as waiting:
            other = shown_one(here, case, waiting)
        with place:
            st.html(tokens.big_number_html(here.t("result.tvd"), tokens.number(other.tvd[0], 3)), width="content")
            st.html(tokens.big_number_html(here.t("result.jsd"), tokens.number(other.jsd[0]), "charge"), width="content")
    maps(here, case, other, made)
    shell.show_notes(here, [note for note in case.found.notes if note.code in shell.QUIET])
    if other is not None:
        word_by_word(here, case, other)
    if made.revealed or made.learned or here.lecture:
        turn(here, case, other)
    if other is not None:
        if not here.lecture:
            both_stories(here, case, other, made)
        limits(here, case)
        further(here, case)
    return other is not None


def shown_one(here: Here, case: Case, waiting: resources.Waiting) -> Adversary:
    """The adversary of the chosen method."""
    seed = {"seed": here.link.seed} if case.method == "search" else {}
    settings: dict[str, Any] = {"epsilon": case.epsilon, "method": case.method, **seed}
    return resources.compute(adversaries.opposite, case.choice, waiting=waiting, **settings)


def exact_one(here: Here, case: Case, epsilon: float) -> Adversary:
    """The exact adversary, whatever method is shown."""
    with shell.computing(here, 60) as waiting:
        return resources.compute(adversaries.opposite, case.choice, waiting=waiting, epsilon=epsilon, method="exact")


def maps(here: Here, case: Case, other: Adversary | None, made: stories.Told) -> None:
    """The learned map, and beside it the story's field, the veil, or the adversarial map."""
    left, right = st.columns(2, gap="medium")
    with left:
        learned_map(here, case)
    with right:
        if other is not None:
            adversarial_map(here, case, other)
        elif made.learned or here.lecture:
            veiled(here, case)
        else:
            first_story(here, case)


def learned_map(here: Here, case: Case) -> None:
    """What the model attends to, and what it predicts."""
    one_map(here, case, "learned", max(case.found.prediction.items(), key=lambda item: item[1]), case.light.original)


def adversarial_map(here: Here, case: Case, other: Adversary) -> None:
    """The other attention, and what the model predicts under it."""
    labels = here.card.task.labels if here.card else ()
    one_map(here, case, "adversarial", adversaries.most_likely(other.prediction[0], labels), other.attention[0])


def one_map(here: Here, case: Case, name: str, prediction: tuple[str, float], weights: tuple[float, ...]) -> None:
    """A map in its frame: title, prediction, words."""
    t, (label, prob) = here.t, prediction
    with st.container(border=True, key=f"{name}-map", height="stretch"):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            st.subheader(t(f"map.{name}"), anchor=False, width="content")
            st.html(tokens.prediction_html(t("picker.prediction"), t.label(label), prob), width="content")
        language = here.card.task.language if here.card else here.link.lang
        st.html(tokens.strips_html([tokens.Row("", weights)], case.found.words, language=language))
        if name == "learned":
            controls.show_query(here, case.choice)
            st.html(tokens.legend_html([tokens.Legend("0", t("map.largest"))]))


def first_story(here: Here, case: Case) -> None:
    """Before anything is revealed: what does this map tell?"""
    with st.container(border=True, key="first-story", height="stretch"), shell.guarded(here):
        st.subheader(here.t("story.title"), anchor=False)
        stories.ask(here, case.about, "learned")
        st.button(here.t("story.skip"), type="tertiary", on_click=lambda: stories.keep("", revealed=True))


def veiled(here: Here, case: Case) -> None:
    """The place of the adversarial map, and the button that shows it."""
    with st.container(border=True, key="adversarial-veil", height="stretch"):
        st.subheader(here.t("map.adversarial"), anchor=False)
        st.html(tokens.veil_html(here.t("map.veil"), "6rem"))
        st.button(here.t("map.reveal"), type="primary", on_click=lambda: stories.keep(case.about, revealed=True))


def word_by_word(here: Here, case: Case, other: Adversary) -> None:
    """Both attentions back to back; beside them the three boxes that belong to them."""
    t, words = here.t, case.found.words
    left, right = st.columns([7, 4], gap="medium")
    with left, exhibits.figure(here, "words", t("words.title")) as frame:
        learned, adversarial = t("map.learned"), t("map.adversarial")
        table = frames.mirrored(words, other.original, other.attention[0], k=BARS)
        rows = [tokens.Row(learned, other.original), tokens.Row(adversarial, other.attention[0])]
        tables = {"": tokens.table(rows, words, position=t("table.position"), word=t("table.word"))}
        values = {"tvd": tokens.number(other.tvd[0], 3), "jsd": tokens.number(other.jsd[0], 3), "epsilon": f"{case.epsilon:g}"}
        method = t(f"control.{adversaries.named(here.card, other.method)}")
        caption = t("words.caption", n=len(words), shown=len(table), method=method, **values)
        alt = t("words.alt", jsd=values["jsd"], tvd=values["tvd"])

        def draw(look: theme.Look) -> Any:
            return charts.mirror(table, left=learned, right=adversarial, alt_text=alt, look=look)

        exhibits.show(here, frame, Exhibit("words", caption, t("words.source"), tables, draw, alt), quality.line(here))
    with right:
        st.markdown(adversaries.carried(t, other.attention[0], words))
        with shell.guarded(here):
            st.markdown(adversaries.reached(t, case, other, exact_one(here, case, case.epsilon), here.link.seed))
        shell.argument(here, [("charge",), ("defence",), ("shows_not",)])


def turn(here: Here, case: Case, other: Adversary | None) -> None:
    """The spotlight: beat the optimum."""
    t = here.t
    with exhibits.figure(here, "spotlight", t("spotlight.title")):
        goal = spotlight.Goal(other.attention[0], other.jsd[0], other.exact) if other else None
        language = here.card.task.language if here.card else "en"
        if not here.lecture:
            st.markdown(t("spotlight.lede", epsilon=f"{case.epsilon:g}"))
        spotlight.show(t, case.light, case.found.words, epsilon=case.epsilon, language=language, goal=goal)
        if goal and (said := spotlight.summary(t, case.light, case.found.words, case.epsilon, goal)):
            st.markdown(said)


def both_stories(here: Here, case: Case, other: Adversary, made: stories.Told) -> None:
    """Two stories side by side, of one prediction unless ε is so wide that the label changes."""
    with exhibits.figure(here, "stories", here.t("story.both")) as frame:
        with frame:
            st.button(here.t("story.again"), type="tertiary", on_click=lambda: stories.again(case.about))
        for column, part in zip(st.columns(2, gap="medium"), ("learned", "adversarial"), strict=True):
            with column:
                st.markdown(f"**{here.t(f'map.{part}')}**")
                if part == "adversarial" and not made.adversarial:
                    stories.ask(here, case.about, part)
                else:
                    stories.quote(here, getattr(made, part))
        labels = here.card.task.labels if here.card else ()
        before = max(case.found.prediction, key=lambda label: case.found.prediction[label])
        same = adversaries.most_likely(other.prediction[0], labels)[0] == before
        values = {"tvd": tokens.number(other.tvd[0], 3), "epsilon": f"{case.epsilon:g}"}
        st.markdown(here.t("story.moral" if same else "story.other_label", **values))


def limits(here: Here, case: Case) -> None:
    """What is left of the optimum when it may not put everything on two words."""
    t, own = here.t, case.light.original
    with exhibits.figure(here, "limits", t("limits.title")) as frame:
        st.markdown(t("limits.lede"))
        with st.container(horizontal=True, vertical_alignment="bottom"):
            ceiling = controls.choose(here, "ceiling", {name: t(f"ceiling.{name}") for name in CEILINGS}, t("limits.ceiling"))
            floor = controls.choose(here, "floor", {name: t(f"floor.{name}") for name in FLOORS}, t("limits.floor"))
        highest = {"own": max(own), "half": 0.5, "quarter": 0.25, "none": 1.0}[ceiling]
        lowest = {"none": 0.0, "half": 0.5, "own": 1.0}[floor] * adversaries.entropy(own)
        with shell.computing(here, 120) as waiting:
            free = resources.compute(adversaries.opposite, case.choice, waiting=waiting, epsilon=case.epsilon, method="exact")
            settings: dict[str, Any] = {"epsilon": case.epsilon, "ceiling": highest, "floor": lowest}
            found = resources.compute(adversaries.limited, case.choice, waiting=waiting, **settings)
        rows = [row(here, "limits.learned", own), row(here, "limits.free", free.attention[0], free.jsd[0])]
        if found.attention is not None:
            rows.append(row(here, "limits.limited", found.attention, found.jsd))
        caption = adversaries.promise(t, found)
        strips(here, case, frame, Exhibit("limits", caption, t("limits.source"), {}), rows)


def further(here: Here, case: Case) -> None:
    """More than one adversary: the best, and others chosen greedily."""
    t = here.t
    with exhibits.figure(here, "further", t("further.title")) as frame:
        k = int(controls.choose(here, "count", {name: name for name in COUNTS}, t("further.count")))
        with shell.computing(here, 240) as waiting:
            settings: dict[str, Any] = {"epsilon": case.epsilon, "method": "exact", "k": k}
            found = resources.compute(adversaries.opposite, case.choice, waiting=waiting, **settings)
        rows = [row(here, "limits.learned", found.original)]
        for i, (weights, jsd) in enumerate(zip(found.attention, found.jsd, strict=True), 1):
            name = "further.later" if i > 1 else "further.first" if found.exact else "further.found"
            rows.append(row(here, name, weights, jsd, i=i))
        caption = t("further.caption", epsilon=f"{case.epsilon:g}", k=k)
        strips(here, case, frame, Exhibit("further", caption, t("words.source"), {}), rows)


def row(here: Here, name: str, weights: tuple[float, ...], jsd: float | None = None, **values: int) -> tokens.Row:
    """A strip with its largest weight, entropy and JSD beside it."""
    said = {"largest": tokens.number(max(weights)), "entropy": tokens.number(adversaries.entropy(weights))}
    note = here.t("row.note", **said) if jsd is None else here.t("row.note_jsd", jsd=tokens.number(jsd, 3), **said)
    return tokens.Row(here.t(name, **values), weights, note=note, side=None if jsd is None else "charge")


def strips(here: Here, case: Case, frame: Any, exhibit: Exhibit, rows: list[tokens.Row]) -> None:
    """Strips with caption, numbers and files."""
    t, words = here.t, case.found.words
    legends = [tokens.Legend("0", t("map.largest"))]
    language = here.card.task.language if here.card else here.link.lang
    st.html(tokens.strips_html(rows, words, language=language))

    def draw(look: theme.Look) -> Any:
        return strips_chart(rows, words, legends=legends, part=t("figure.part"), look=look)

    tables = {"": tokens.table(rows, words, position=t("table.position"), word=t("table.word"))}
    made = Exhibit(exhibit.name, exhibit.caption, exhibit.source, tables, draw, t(f"{exhibit.name}.title"), on_screen=False)
    exhibits.show(here, frame, made)


here = shell.start("adversary")
picked = controls.picker(here)
argued = False
if picked.choice is not None:
    with shell.guarded(here):
        argued = lesson(here, picked.choice, picked)
shell.close(here, [("definition", "condition"), ("shows",)] if argued else shell.BOXES)
