"""What people take for the reason, beside what the prediction needs: plausible and faithful, told apart.

The reader marks the words of a text before anything is shown. Then five rankings are held against the marks, and against the
model with the words that each ranking puts first taken away or left alone. The same two families of numbers over a test set
that people marked, and over stories whose reasons are known. The boxes say what all this shows, and what it does not.
"""

from functools import partial
from typing import Any

import streamlit as st

from dashboard import charts, controls, evidence, exhibits, marking, planes, plausible, quality, resources, shell, texts, tokens
from dashboard.exhibits import Exhibit
from dashboard.plausible import Judged
from dashboard.resources import Choice
from dashboard.shell import Here
from dashboard.strips import strips_chart
from dashboard.theme import Look

CASE = ("sst2/bilstm-additive", "review-24", (2, 3, 7))  # model, sentence, and the words that a person would mark


def lesson(here: Here, choice: Choice, picked: controls.Picked) -> None:
    """Everything that is about one text."""
    t = here.t
    with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
        seed = controls.seed(here)
        names = {name: t(f"control.{name}") for name in plausible.AVERAGES}
        controls.choose(here, "average", names, t("control.average"), help_text=t("control.average_help"))
    with shell.computing(here, 330) as waiting:
        found = resources.compute(plausible.judged, choice, waiting=waiting)
        found = plausible.with_chance(found, resources.compute(plausible.drawn, choice, waiting=waiting, seed=seed))
    controls.show_prediction(here, picked.place, found.prediction)
    shell.show_notes(here, [note for note in found.notes if note.code not in shell.QUIET])
    quality.show(here)
    marked = words(here, choice, found)
    if marked is not None:
        judgment(here, found, marked)


def words(here: Here, choice: Choice, found: Judged) -> tuple[int, ...] | None:
    """The text to be marked; then the reader's words and how each measure scores the text. The marks, None before."""
    t, marked = here.t, marking.marked(here, found.words)
    title = t("marking.title") if marked is None else ""
    with exhibits.figure(here, "strips", title, legend(here, found, marked)) as frame:
        controls.show_query(here, choice)
        if marked is None:
            marking.ask(here, found.words)
            st.html(tokens.veil_html(t("marking.veil"), "9rem"))
        else:
            with frame:
                numbers = st.toggle(t("figure.numbers"), key="numbers", persist_state="session")
            strips(here, frame, found, marked, numbers)
            say_marks(here, choice, found, marked)
        shell.show_notes(here, [note for note in found.notes if note.code in shell.QUIET])
    return marked


def legend(here: Here, found: Judged, marked: tuple[int, ...] | None) -> str:
    """The scales of the strips, once there are strips."""
    return "" if marked is None else tokens.legend_html(legends(here), undefined(here, found))


def legends(here: Here) -> list[tokens.Legend]:
    """Scores without and with signs."""
    t = here.t
    return [
        tokens.Legend("0", t("strips.largest")),
        tokens.Legend(f"− {t('strips.lowers')}", f"+ {t('strips.raises')}", signed=True),
    ]


def undefined(here: Here, found: Judged) -> str:
    """What a hatched word means, where there is one."""
    return here.t("strips.undefined") if any(found.defined(name) is None for name in found.scores) else ""


def strips(here: Here, frame: Any, found: Judged, marked: tuple[int, ...], numbers: bool) -> None:
    """A strip for each measure, the marked words ringed."""
    t = here.t
    rows, marks = plausible.rows(t, found, marked), tokens.Marks(selected=frozenset(marked))
    language = here.card.task.language if here.card else here.link.lang
    drawn: dict[str, Any] = {"numbers": numbers, "marks": marks, "undefined": t("strips.undefined")}
    st.html(tokens.strips_html(rows, found.words, language=language, **drawn))
    caption = t("strips.caption", n=len(found.words), label=t.label(found.predicted), seed=here.link.seed)
    table = tokens.table(rows, found.words, position=t("table.position"), word=t("table.word"))

    def draw(look: Look) -> Any:
        return strips_chart(
            rows, found.words, legends=legends(here), look=look, **drawn | {"undefined": undefined(here, found)}
        )

    exhibit = Exhibit("strips", caption, t("strips.source"), {t("table.words"): table}, draw, on_screen=False)
    exhibits.show(here, frame, exhibit, quality.line(here))


def say_marks(here: Here, choice: Choice, found: Judged, marked: tuple[int, ...]) -> None:
    """What was marked, what chance would reach, and what the marked words themselves do to the prediction."""
    t, n, k = here.t, len(found.words), len(marked)
    said = [t("marking.passed")]
    if marked:
        own = resources.compute(plausible.own, choice, marked=marked)
        changes = {"comprehensiveness": own.comprehensiveness, "sufficiency": own.sufficiency}
        values = {name: tokens.number(value) for name, value in changes.items()}
        said = [t("marking.yours", k=k, n=n, share=round(100 * k / n), chance=tokens.number(k / n))]
        said.append(t("marking.own_all") if k == n else t("marking.own", label=t.label(found.predicted), **values))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(" ".join(said), width="content")
        marking.again(here)


def judgment(here: Here, found: Judged, marked: tuple[int, ...]) -> None:
    """Agreement with the marks against what the prediction needs: a point and a row of a table for each measure."""
    t, average = here.t, here.key("average")
    with exhibits.figure(here, "judgment", t("judgment.title")) as frame:
        table, thresholds = plausible.table(found, marked, average), plausible.by_threshold(found)
        st.markdown(f"{verdict(here, table)} {against(here, found, table)}".strip())
        table, thresholds = (part.assign(measure=[t(f"measure.{m}") for m in part["measure"]]) for part in (table, thresholds))
        points = table.rename(columns={"measure": "group", "auprc": "x", "comprehensiveness": "y"})
        there = bool(points[["x", "y"]].notna().all(axis=1).any())
        alt = t("judgment.alt", values=spoken(points, "x", "y"))
        draw = partial(drawn, here, points, alt)
        left, right = st.columns([3, 2], gap="medium")
        with left:
            if there:
                st.altair_chart(draw(here.look), theme=None, key="rationales-judgment-chart")
            else:
                st.caption(t("judgment.undefined" if marked else "judgment.unmarked"))
        right.table(printed(here, table), hide_index=True, border="horizontal")
        values = {"n": len(found.words), "label": t.label(found.predicted), "average": t(f"judgment.{average}")}
        tables = {t("table.measures"): table, t("table.thresholds"): thresholds}
        words = t("judgment.caption", **values), t("judgment.source")
        exhibit = Exhibit("judgment", *words, tables, draw if there else None, alt, on_screen=False)
        exhibits.show(here, frame, exhibit, t("judgment.note"))
        case(here, marked)


def drawn(here: Here, points: Any, alt: str, look: Look) -> Any:
    """The plane of the measures, around zero where a value is negative."""
    t = here.t
    low, high = min(0.0, points["y"].min()), max(0.1, points["y"].max())
    room = 0.08 * (high - low)
    domain = ((0.0, 1.05), (low - room if low < 0 else 0.0, high + room))
    names = t("judgment.x"), t("judgment.y")
    return planes.plane(points, x=names[0], y=names[1], alt_text=alt, domain=domain, faint=t("measure.random"), look=look)


def printed(here: Here, table: Any) -> Any:
    """The four numbers of each measure as they are read."""
    columns = ("auprc", "f1", "comprehensiveness", "sufficiency")
    made = table.assign(**{name: [tokens.number(value) for value in table[name]] for name in columns})
    return made.rename(columns=lambda name: here.t(f"table.{name}"))


def verdict(here: Here, table: Any) -> str:
    """Which measure the reader would believe, and which one the prediction needs."""
    t = here.t
    convincing, needed = (plausible.best(table, column) for column in ("auprc", "comprehensiveness"))
    if not needed:
        return t("judgment.undefined")
    changes = table.set_index("measure")["comprehensiveness"]
    most = {"faithful": named(here, needed), "most": tokens.number(changes[needed].max())}
    if not convincing:
        return t("judgment.only", **most)
    auprc = tokens.number(table["auprc"].where(table["measure"].isin(convincing)).max())
    if both := [name for name in convincing if name in needed]:
        return t("judgment.same", plausible=named(here, both), auprc=auprc, **most)
    least = tokens.number(changes[convincing].max())
    return t("judgment.apart", plausible=named(here, convincing), auprc=auprc, least=least, **most)


def against(here: Here, found: Judged, table: Any) -> str:
    """That the word which the most plausible ranking puts first speaks against the prediction, where it does."""
    convincing = plausible.best(table, "auprc")
    values = found.defined(convincing[0]) if convincing else None
    if not values or (falls := found.defined("leave_one_out")) is None or falls[first := values.index(max(values))] > -0.005:
        return ""
    word, rise = texts.plain(found.words[first]), tokens.number(-falls[first])
    return here.t("judgment.against", measure=here.t(f"measure.{convincing[0]}"), word=word, rise=rise)


def named(here: Here, measures: list[str]) -> str:
    """The names of measures in a sentence."""
    return ", ".join(here.t(f"measure.{name}") for name in measures)


def case(here: Here, marked: tuple[int, ...]) -> None:
    """A button that opens a sentence, marked as a person would, on which the two come apart."""
    model, sample, places = CASE
    shown = here.link.model == model and here.link.own is None and here.link.sample == sample
    if model not in resources.cards() or sample not in resources.samples(model) or (shown and marked == places):
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(here.t("case.lede"), width="content")
        st.button(here.t("case.open"), key="case-open", on_click=marking.open_case, args=(here, *CASE))


def movies(here: Here, family: str) -> None:
    """One family of numbers over the test set of film reviews that people marked."""
    t = here.t
    with exhibits.figure(here, family, t(f"{family}.title")) as frame:
        if family == "plausible":
            with frame:
                names = {name: t(f"encoder.{name}") for name in plausible.ENCODERS}
                controls.choose(here, "encoder", names, t("control.encoder"))
        model, average = plausible.movies(here.key("encoder")), here.key("average")
        where = plausible.provenance(model, t)
        table = resources.table(plausible.families, model, family, average)
        where |= {"undefined": str(table["undefined"].max()), "model": model, "average": t(f"judgment.{average}")}
        group = [t(f"measure.{name}") for name in table["group"]]
        table = table.assign(group=group, series=[t(f"{family}.{name}") for name in table["series"]])
        where |= {
            f"people_{change[0]}": tokens.number(plausible.people(model, change)) for change in plausible.FAMILIES["faithful"]
        }
        alt = t(f"{family}.alt", values=spoken_means(table))
        draw = partial(means, here, table, t(f"{family}.x"), alt)
        exhibit = Exhibit(family, t(f"{family}.caption", **where), t(f"{family}.source"), {"": table}, draw, alt)
        exhibits.show(here, frame, exhibit, *notes(here, family, model, average))


def notes(here: Here, family: str, model: str, average: str) -> list[str]:
    """How a family's figure is to be read; of the faithful one also what the sign is worth."""
    t = here.t
    if family == "plausible":
        return [t("plausible.note")]
    magnitudes = plausible.unsigned(model, average)
    signs = t("faithful.unsigned", **magnitudes) if magnitudes else t("faithful.signs")
    return [signs, t("faithful.note", **winners(model))]


def winners(model: str) -> dict[str, str]:
    """How often the two families name the same measure, in per cent."""
    same, dealt = resources.table(plausible.winners, model).to_dict("records")
    shares = {**{name: same[name] for name in ("low", "high")}, "same": same["mean"], "dealt": dealt["mean"]}
    return {name: tokens.number(100 * share, 0) for name, share in shares.items()}


def means(here: Here, table: Any, x: str, alt: str, look: Look) -> Any:
    """Dots with intervals on an axis that holds all of them."""
    low, high = min(0.0, table["low"].min()), table["high"].max()
    ends = (low - 0.04 if low < 0 else 0.0, min(1.0, high + 0.04))
    return charts.intervals(table, x=x, alt_text=alt, domain=ends, look=look)


def stories(here: Here) -> None:
    """How much attention lies on the sentences from which the answer follows."""
    t = here.t
    with exhibits.figure(here, "stories", t("stories.title")) as frame:
        table = resources.table(plausible.stories)
        if table.empty:
            st.caption(t("problem.no_results", model="babi1/bilstm-additive"))
            return
        table = table.assign(
            group=[story(here, name) for name in table["group"]], series=[t(f"stories.{name}") for name in table["series"]]
        )
        once = table.drop_duplicates("group")
        accuracy = ", ".join(f"{row['group']} {100 * row['accuracy']:.0f} %" for row in once.to_dict("records"))
        caption = t("stories.caption", n=texts.count(int(table["n"].max())), accuracy=accuracy) + unmeasured(here)
        alt = t("stories.alt", values=spoken_means(table))
        draw = partial(means, here, table, t("stories.x"), alt)
        exhibit = Exhibit("stories", caption, t("stories.source"), {"": table}, draw, alt)
        exhibits.show(here, frame, exhibit, t("stories.note"))


def story(here: Here, name: str) -> str:
    """A task of stories and an encoder in the reader's words."""
    task, encoder = name.split("/")
    return here.t("stories.group", task=task.replace("babi", "bAbI "), encoder=here.t(f"encoder.{encoder}"))


def unmeasured(here: Here) -> str:
    """The stories that are still to be measured, as the end of a caption."""
    models = {story(here, f"{task}/{encoder}"): model for task, encoder, model in plausible.story_models()}
    return evidence.unmeasured(here.t, "rationales", models)


def spoken(points: Any, *columns: str) -> str:
    """Points as a list to listen to."""
    return ", ".join(
        " ".join([row["group"], *(tokens.number(row[column]) for column in columns)]) for row in points.to_dict("records")
    )


def spoken_means(table: Any) -> str:
    """Dots with intervals as a list to listen to."""
    return ", ".join(f"{row.group} {row.series} {tokens.number(row.mean)}" for row in table.itertuples())


here = shell.start("rationales")
picked = controls.picker(here)
if picked.choice is not None:
    with shell.guarded(here):
        lesson(here, picked.choice, picked)
shell.side_by_side(here, [[partial(movies, family=family) for family in plausible.FAMILIES], [stories]])
shell.close(here)
