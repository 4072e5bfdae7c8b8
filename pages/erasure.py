"""Does attention name the words that the decision needs? The test of Serrano & Smith 2019, by erasing.

One sentence: its words lose their attention one by one, in four orders, until the decision flips. Then its largest weight
against another one, the same over the whole test set, how many words are needed under each encoder beside the published
medians, and on other data. The boxes say what all this shows, and what it does not.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import (
    boxes,
    controls,
    erased,
    evidence,
    exhibits,
    frames,
    lessons,
    link,
    paths,
    quality,
    resources,
    shell,
    spread,
    texts,
    tokens,
)
from dashboard.erased import AT_FLIP, Erased
from dashboard.exhibits import Exhibit
from dashboard.explained import digits
from dashboard.resources import Choice
from dashboard.shell import Here
from dashboard.strips import strips_chart
from dashboard.theme import Look

GUESSES = ("few", "half", "most", "never")
STRUCK = (AT_FLIP, "count")
WIDE = 680  # pixels of the curves in a file, as wide as the words above them


def lesson(here: Here, choice: Choice, picked: controls.Picked) -> None:
    """Everything that needs the model. What is known of the whole test set is shown even where the text cannot be read."""
    revealed: Erased | None = None
    with shell.guarded(here):
        view = looked(here, choice, picked)
        quality.show(here)
        revealed = view.found if experiment(here, choice, view) else None
    rows: list[list[Callable[..., None]]] = [
        [partial(single, found=revealed), partial(pairs, found=revealed)] if revealed else [pairs],
        [partial(fractions, found=revealed), published],
        [flips, tasks],
    ]
    shell.side_by_side(here, rows, choice)


@dataclass(frozen=True)
class View:
    """One text, how many of its words are struck out (None: until the decision flips), and the place for the results."""

    found: Erased
    count: int | None
    results: DeltaGenerator


def looked(here: Here, choice: Choice, picked: controls.Picked) -> View:
    """The text under the page's controls; says the prediction and what the reader should know about the text."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
        seed = controls.seed(here)
        place, results = st.container(width="content"), st.container(horizontal=True, width="content", gap="large")
        with shell.computing(here, 330) as waiting:
            found = resources.compute(erased.erased, choice, waiting=waiting, seed=seed)
        with place:
            count = struck_out(here, len(found.words))
    controls.show_prediction(here, picked.place, dict(zip(found.labels, found.prediction.tolist(), strict=True)))
    shell.show_notes(here, [note for note in found.notes if note.code not in shell.QUIET])
    return View(found, count, results)


def struck_out(here: Here, n: int) -> int | None:
    """How many words are struck out, the same in every order; None for as many as flip the decision in each."""
    t, key = here.t, lessons.own_key("erasure", "struck")
    code = here.key("struck")
    count = erased.struck(code, n)

    def put(value: str) -> None:
        link.put(keys={**link.current().keys, key: value})

    with st.container(horizontal=True, vertical_alignment="bottom", width="content"):
        st.session_state["struck_how"] = AT_FLIP if count is None else "count"
        st.segmented_control(
            t("control.struck"),
            STRUCK,
            format_func=lambda name: t(f"control.{name}"),
            key="struck_how",
            required=True,
            on_change=lambda: put(AT_FLIP if st.session_state["struck_how"] == AT_FLIP else "1"),
        )
        if count is not None and n > 0:
            st.session_state["struck_count"] = count
            st.slider(
                t("control.words"),
                0,
                n,
                key="struck_count",
                width=220,
                on_change=lambda: put(str(st.session_state["struck_count"])),
            )
    return count


def experiment(here: Here, choice: Choice, view: View) -> bool:
    """The words, struck out in four orders, over the fall of the probability. Whether a guess is made."""
    t, found = here.t, view.found
    about = "|".join((choice.model, choice.text, choice.query))
    legends = [tokens.Legend("0", t("strips.largest")), tokens.Legend(t("strips.against"), t("strips.for"), signed=True)]
    with exhibits.figure(here, "erased", html=tokens.legend_html(legends)) as frame:
        with frame:
            numbers = st.toggle(t("figure.numbers"), key="numbers", persist_state="session")
        rows = erased.rows(t, found, view.count)
        controls.show_query(here, choice)
        place = st.container()
        guess = controls.guess(here, about, t("predict.question"), {name: t(f"predict.{name}") for name in GUESSES})
        if guess.option:
            with place:
                show_guess(here, about, guess.option, found)
        visible = [erased.learned(t, found)] if guess.option is None else rows
        language = here.card.task.language if here.card else here.link.lang
        place.html(tokens.strips_html(visible, found.words, language=language, numbers=numbers))
        if guess.option is None:
            st.html(tokens.veil_html(t("predict.veil"), "16rem"))
        else:
            show_results(here, view)
            strips = partial(strips_chart, rows, found.words, legends=legends, numbers=numbers, part=t("figure.part"))
            words = tokens.table(rows, found.words, position=t("table.position"), word=t("table.word"))
            exhibits.show(here, frame, curves(here, view, strips, words), reading(here, found))
        st.caption(quality.line(here))
        shell.show_notes(here, [note for note in found.notes if note.code in shell.QUIET])
    return guess.option is not None


def show_results(here: Here, view: View) -> None:
    """How many words attention and the best gradient order need, beside the controls."""
    t, found = here.t, view.found
    with view.results:
        for order in erased.COMPARED:
            said = erased.needed(t, found, erased.middle(found.paths[order]))
            st.html(tokens.big_number_html(t(f"results.{order}"), said), width="content")


def reading(here: Here, found: Erased) -> str:
    """What the orders come to, in a sentence or two."""
    if found.alone:
        return here.t("reading.one")
    said = {order: erased.needed(here.t, found, erased.middle(path)) for order, path in found.paths.items()}
    everything = any(erased.middle(path) == len(found.words) for path in found.paths.values())
    parts = [here.t("reading.text", **said), *([here.t("reading.all", n=len(found.words))] if everything else [])]
    return " ".join(parts)


def curves(here: Here, view: View, strips: Callable[..., Any], words: Any) -> Exhibit:
    """The probability of the first decision as words go, in each order; in files under the words."""
    t, found = here.t, view.found
    data, label = erased.paths(t, found), t.label(found.labels[found.predicted])
    said = {order: erased.needed(t, found, erased.middle(path)) for order, path in found.paths.items()}
    alt = t("curves.alt", label=label, p=tokens.number(found.prediction.max()), n=len(found.words), **said)
    y = t("curves.y", label=label)

    def draw(look: Look) -> Any:
        text: dict[str, Any] = {"x": t("curves.x"), "y": y, "flip": t("curves.flip"), "alt_text": alt}
        at = None if view.count is None else view.count / len(found.words)
        drawn = paths.paths(data, **text, half=len(found.labels) == 2, at=at, width=WIDE, look=look)
        return spread.stacked([strips(look=look, width=look.px(WIDE)), drawn]) if look.export else drawn

    caption = t("curves.caption", n=len(found.words), seed=here.link.seed)
    return Exhibit("erased", caption, t("curves.source"), {t("table.words"): words, t("table.steps"): data}, draw, alt)


def show_guess(here: Here, about: str, option: str, found: Erased) -> None:
    """The reader's guess and what was measured, in one muted line."""
    with st.container(horizontal=True, vertical_alignment="center"):
        measured = erased.needed(here.t, found, erased.middle(found.paths["attention"]))
        st.caption(here.t("predict.guessed", guess=here.t(f"predict.{option}"), needed=measured), width="content")
        controls.guess_again(here, about)


def single(here: Here, choice: Choice, found: Erased) -> None:
    """Each weight of the sentence erased alone: how far the prediction moves, against the weight."""
    t = here.t
    with exhibits.figure(here, "single", t("single.title")) as frame:
        data, between = erased.singles(t, found), erased.differences(found)
        if between is None:
            st.caption(t("single.undefined"))
            return
        jsd = tokens.number(between[1], max(3, digits(data["y"].tolist())), sign=True)
        said = {"weight": tokens.number(between[0]), "jsd": jsd}
        pair = {"top": found.words[found.top], "other": found.words[found.other]}
        alt = t("single.alt", flipping=int(found.flips.sum()), n=len(data), **said, **pair)

        def draw(look: Look) -> Any:
            text: dict[str, Any] = {"x": t("single.x"), "y": t("single.y"), "alt_text": alt}
            return paths.points(data, [t("singles.stays"), t("singles.flips")], **text, height=300, look=look)

        said |= {name: texts.plain(word) for name, word in pair.items()}
        caption = t("single.caption", n=len(data), seed=here.link.seed, **said)
        exhibits.show(here, frame, Exhibit("single", caption, t("single.source"), {"": data}, draw, alt), t("single.note"))


def pairs(here: Here, choice: Choice, found: Erased | None = None) -> None:
    """The largest weight against a random other one over the whole test set, this sentence marked."""
    t = here.t
    with exhibits.figure(here, "pairs", t("pairs.title")) as frame:
        where = provenance(here, choice)
        table = resources.table(erased.pairs, choice.model)
        shares = {kind: f"{100 * (table['kind'] == kind).mean():.1f}" for kind in erased.KINDS}
        names = {kind: t(f"pairs.{kind}") for kind in erased.KINDS}
        data = frames.thinned(table, erased.SHOWN).assign(kind=lambda shown: shown["kind"].map(names))
        negative = f"{100 * (table['y'] < 0).mean():.1f}"
        between = erased.differences(found) if found else None
        case = (*between, t("pairs.this")) if between else None
        alt = t("pairs.alt", negative=negative, **shares)

        def draw(look: Look) -> Any:
            text: dict[str, Any] = {"x": t("pairs.x"), "y": t("pairs.y"), "alt_text": alt}
            return paths.points(data, list(names.values()), **text, zero=True, case=case, height=300, look=look)

        caption = t(
            "pairs.caption",
            negative=negative,
            compared=texts.count(len(table)),
            shown=texts.count(len(data)),
            **shares,
            **where,
        )
        exhibits.show(here, frame, Exhibit("pairs", caption, t("pairs.source"), {"": data}, draw, alt), t("pairs.note"))


def fractions(here: Here, choice: Choice, found: Erased | None) -> None:
    """The share of the words that must go, by encoder and order, over the test set."""
    t = here.t
    with exhibits.figure(here, "fractions", t("fractions.title")) as frame:
        where = provenance(here, choice)
        table = named(here, resources.table(erased.fractions, choice.model), encoder=True)
        marked = named(here, erased.marks(t, choice.model, found), encoder=True)
        alt = t("boxes.alt", values=spoken(here, table))

        def draw(look: Look) -> Any:
            return boxes.boxes(table, x=t("boxes.x"), never=t("needed.never"), alt_text=alt, marks=marked, look=look)

        caption = t("fractions.caption", never=never(here, table), **where) + unmeasured(here, erased.alike(choice.model))
        exhibit = Exhibit("fractions", caption, t("fractions.source"), {"": table}, draw, alt)
        theirs = t("published.read") if (marked["kind"] == t("fractions.published")).any() else ""
        exhibits.show(here, frame, exhibit, t("fractions.note"), theirs)


def published(here: Here, choice: Choice) -> None:
    """The medians that can be read off the published box plots."""
    t = here.t
    with exhibits.figure(here, "published", t("published.title")) as frame:
        table = named(here, erased.published(), encoder=True, flan=True)
        said = [f"{row.group} {row.series} {row.kind} {tokens.number(row.x)}" for row in table.itertuples()]
        alt = t("published.alt", values=", ".join(said))

        def draw(look: Look) -> Any:
            return boxes.dots(table, x=t("boxes.x"), never=t("needed.never"), alt_text=alt, look=look)

        exhibit = Exhibit("published", t("published.read"), t("published.source"), {"": table}, draw, alt)
        exhibits.show(here, frame, exhibit, t("published.note"))


def flips(here: Here, choice: Choice) -> None:
    """Whose removal flips the decision: the largest weight's, the random other one's, both, neither."""
    t = here.t
    with exhibits.figure(here, "flips", t("flips.title")) as frame:
        where = provenance(here, choice)
        table = resources.table(erased.flips, choice.model)
        shown = table.assign(encoder=[t(f"encoder.{name}") for name in table["encoder"]])
        shown["n"] = [texts.count(n) for n in shown["n"]]
        for name in (*erased.KINDS, "negative"):
            shown[name] = [f"{100 * share:.1f}" for share in shown[name]]
        headed = {"encoder": t("flips.encoder"), "n": "n", "negative": t("flips.negative")}
        st.table(
            shown.rename(columns=headed | {kind: t(f"pairs.{kind}") for kind in erased.KINDS}),
            hide_index=True,
            border="horizontal",
        )
        caption = t("flips.caption", **where) + unmeasured(here, erased.alike(choice.model))
        exhibits.show(here, frame, Exhibit("flips", caption, t("flips.source"), {"": table}), t("flips.note"))


def tasks(here: Here, choice: Choice) -> None:
    """The share of the words that must go on every data set with the same encoder and score."""
    t = here.t
    with exhibits.figure(here, "tasks", t("tasks.title")) as frame:
        provenance(here, choice)
        table = named(here, resources.table(erased.tasks, choice.model))
        alt = t("boxes.alt", values=spoken(here, table))

        def draw(look: Look) -> Any:
            return boxes.boxes(table, x=t("boxes.x"), never=t("needed.never"), alt_text=alt, look=look)

        encoder = t(f"encoder.{choice.model.split('/')[1].split('-')[0]}")
        caption = t("tasks.caption", encoder=encoder) + unmeasured(here, erased.on_all_data(choice.model))
        exhibits.show(here, frame, Exhibit("tasks", caption, t("fractions.source"), {"": table}, draw, alt), t("tasks.note"))


def unmeasured(here: Here, models: Mapping[str, str]) -> str:
    """The models (by encoder or data set) that are still to be run, as the end of a caption."""
    words = {here.t.words.get(f"encoder.{name}", name): model for name, model in models.items()}
    return evidence.unmeasured(here.t, "erasure", words)


def named(here: Here, table: Any, encoder: bool = False, flan: bool = False) -> Any:
    """A table with its orders, and its encoders, in the reader's words."""
    t = here.t
    groups = {name: t(f"flan.{name}") if flan else t(f"encoder.{name}") for name in evidence.ENCODERS} if encoder else {}
    return table.assign(
        group=[groups.get(name, name) for name in table["group"]], series=[t(f"order.{name}") for name in table["series"]]
    )


def never(here: Here, table: Any) -> str:
    """The share of texts that never flip in per cent, from the least to the most of all models and orders."""
    shares = 100 * table["never"]
    return f"{shares.min():.0f}–{shares.max():.0f}"


def spoken(here: Here, table: Any) -> str:
    """Medians as a list to listen to."""
    said = [f"{row.group} {row.series} {boxes.written(row.median, here.t('needed.never'))}" for row in table.itertuples()]
    return ", ".join(said)


def provenance(here: Here, choice: Choice) -> dict[str, str]:
    """Data, split, n and seed of the test set, for sentences."""
    table = resources.results("erasure", choice.model)
    settings = table.attrs["provenance"]
    return evidence.provenance(table, here.t) | {"seed": str(settings["shuffle_seed"]), "shuffles": str(settings["shuffles"])}


here = shell.start("erasure")
picked = controls.picker(here)
if picked.choice is not None:
    with shell.guarded(here):
        lesson(here, picked.choice, picked)
shell.close(here)
