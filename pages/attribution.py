"""Which words does the answer rest on? Attribution of Hao et al. 2021 beside the eight other answers that the field gives.

The reader's sentence as attention sees it, and, once they have guessed where attribution puts its first word, as any of nine
methods does, token by token and as a matrix. Then the integral: by which rule, at how many nodes, and what that costs. How far
every two methods agree, and whether the prediction needs the words that each puts first, on the sentence and over test sets.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st

from core.attattr.rivals import RIVALS
from dashboard import (
    charts,
    controls,
    evidence,
    exhibits,
    lessons,
    link,
    matrix,
    own_model,
    quality,
    resources,
    rivalry,
    rivalry_charts,
    shell,
    texts,
    tokens,
)
from dashboard.exhibits import Exhibit
from dashboard.explained import digits
from dashboard.resources import Choice
from dashboard.rivalry import ATTRIBUTION, TOTAL, Compared, Integrated, Told
from dashboard.shell import Here
from dashboard.strips import strips_chart
from dashboard.theme import Look

GUESSES = ("first", "next", "lower")
METHOD_WIDTH, LAYER_WIDTH, NODES_WIDTH = 230, 130, 150


@dataclass(frozen=True)
class View:
    """One text under the page's controls: every method's answer, in the chosen unit with the chosen integral."""

    found: Compared
    told: Told
    integral: Integrated
    method: str
    about: str  # the result that is guessed
    revealed: bool

    @property
    def signed(self) -> bool:
        """Whether the chosen method knows for or against."""
        return RIVALS[self.method].signed


def lesson(here: Here, choice: Choice, picked: controls.Picked) -> None:
    """Everything that needs the model. Test sets are shown even where the text cannot be read."""
    view: View | None = None
    with shell.guarded(here):
        view = seen(here, choice, picked)
        quality.show(here)
        strips(here, choice, view)
        if view.revealed:
            shell.side_by_side(here, [[the_matrix, the_integral]], view)
    revealed = view if view is not None and view.revealed else None
    shell.side_by_side(here, [[these_pairs, test_pairs] if revealed else [test_pairs]], choice, revealed)
    with shell.guarded(here):
        effects(here, choice, revealed)


def seen(here: Here, choice: Choice, picked: controls.Picked) -> View:
    """The text under the page's controls; says the prediction and what the reader should know about the text."""
    t = here.t
    with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
        target, rest = st.container(width="content"), st.container(horizontal=True, vertical_alignment="bottom")
    rule, nodes = here.key("rule"), int(here.key("nodes"))
    wanted = here.link.target or None
    with shell.computing(here, 420) as waiting:
        found = resources.compute(rivalry.compared, choice, waiting=waiting, target=wanted)
        settings: dict[str, Any] = {"target": wanted, "rule": rule, "nodes": nodes}
        integral = resources.compute(rivalry.integrated, choice, waiting=waiting, **settings)
    controls.show_prediction(here, picked.place, found.prediction)
    shell.show_notes(here, [note for note in found.notes if note.code not in shell.QUIET])
    about = "|".join((choice.model, choice.text, choice.query, found.target))
    revealed = controls.revealed(here, about) or rivalry.place_of(found) is None
    with target:
        controls.target(here, found.predicted, list(found.prediction))
    with rest:
        method = pick(here, "method", {name: t(f"method_name.{name}") for name in rivalry.METHODS}, METHOD_WIDTH)
        units = {unit: t(f"control.{unit}") for unit in rivalry.UNITS}
        unit = controls.choose(here, "units", units, t("control.units"), help_text=t("control.units_help"))
    told = rivalry.with_integral(found.told[unit], unit, integral)
    return View(found, told, integral, method, about, revealed)


def pick(here: Here, name: str, labels: dict[str, str], width: int) -> str:
    """The code of one of the page's own keys, chosen from a list; the first one where the link names none of them."""
    key, box, code = lessons.own_key(here.page, name), f"pick_{name}", here.key(name)
    st.session_state[box] = code = code if code in labels else next(iter(labels))
    st.selectbox(
        here.t(f"control.{name}"),
        list(labels),
        format_func=lambda code: labels[code],
        key=box,
        width=width,
        help=here.t(f"control.{name}_help"),
        on_change=lambda: link.put(keys={**link.current().keys, key: st.session_state[box]}),
    )
    return code


def strips(here: Here, choice: Choice, view: View) -> None:
    """The tokens as attention weighs them and, after the guess, as the chosen method scores them."""
    t, found = here.t, view.found
    legends = [tokens.Legend("0", t("strips.largest")), tokens.Legend(t("strips.against"), t("strips.for"), signed=True)]
    with exhibits.figure(here, "strips", html=tokens.legend_html(legends)) as frame:
        with frame:
            numbers = st.toggle(t("figure.numbers"), key="numbers", persist_state="session")
        controls.show_query(here, choice)
        rows = [row(here, view, "attention"), *([row(here, view, view.method)] if view.method != "attention" else [])]
        marks = tokens.Marks(special=frozenset(view.told.special))
        language = here.card.task.language if here.card else here.link.lang
        missing = any(score is None for row in rows for score in row.weights)
        undefined = t("strips.undefined") if missing else ""
        shown: dict[str, Any] = {"numbers": numbers, "marks": marks, "undefined": undefined}
        first = rows if view.revealed else rows[:1]
        st.html(tokens.strips_html(first, view.told.tokens, language=language, **shown))
        if view.revealed:
            say(here, view)
            draw = partial(strips_chart, rows, view.told.tokens, legends=legends, part=t("figure.part"), **shown)
            table = tokens.table(rows, view.told.tokens, position=t("table.position"), word=t("table.token"))
            caption = t("strips.caption", label=t.label(found.target))
            exhibit = Exhibit("strips", caption, t("strips.source"), {"": table}, lambda look: draw(look=look), on_screen=False)
            exhibits.show(here, frame, exhibit)
        else:
            st.html(tokens.veil_html(t("predict.veil"), "5rem"))
            ask(here, view)
        st.caption(quality.line(here))
        shell.show_notes(here, [note for note in found.notes if note.code in shell.QUIET])


def row(here: Here, view: View, method: str) -> tokens.Row:
    """A method's strip, with what it reads and what special tokens take."""
    t, scores = here.t, view.told.methods[method].scores
    share = rivalry.special_share(view.told, method)
    note = t("strips.no_special") if share is None else t("strips.special", share=percent(share))
    return tokens.Row(
        t(f"method_name.{method}"),
        list(scores),
        t(f"method_about.{method}"),
        signed=RIVALS[method].signed,
        note=note,
        decimals=min(4, digits(scores)),
    )


def percent(share: float) -> str:
    """A share in percent, as it stands in a sentence."""
    return "< 1" if 0 < share < 0.005 else f"{100 * share:.0f}"


def ask(here: Here, view: View) -> None:
    """Where will attribution put the word that attention puts first?"""
    place = rivalry.place_of(view.found)
    assert place is not None  # otherwise there is nothing to guess
    options = {name: here.t(f"predict.{name}") for name in GUESSES}
    word = texts.plain(view.found.words[place[0]])
    controls.guess(here, view.about, here.t("predict.question", word=word, n=len(view.found.words)), options)


def say(here: Here, view: View) -> None:
    """The guess, and where the chosen method, attribution beside attention itself, puts the word that attention puts first."""
    t, found, guessed = here.t, view.found, rivalry.place_of(view.found)
    method = ATTRIBUTION if view.method == "attention" else view.method
    place = rivalry.place_of(found, method)
    if guessed is None or place is None:
        st.markdown(t("reading.one"))
        return
    option = st.session_state.get("guesses", {}).get(f"{here.page}:{view.about}", "")
    if option and not here.lecture:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(t("predict.guessed", guess=t(f"predict.{option}"), place=guessed[1]), width="content")
            controls.guess_again(here, view.about)
    first = rivalry.order_of(found.scores[method])[0]
    words = {"word": texts.plain(found.words[place[0]]), "other": texts.plain(found.words[first])}
    tau = tokens.number(found.tau["attention", method])
    values = {"place": place[1], "n": len(found.words), "tau": tau, "method": t(f"method_name.{method}"), **words}
    st.markdown(t("reading.same" if place[1] == 1 else "reading.other", **values))


def the_matrix(here: Here, view: View) -> None:
    """What the chosen method says of every two tokens, in all layers together or in one."""
    t, method = here.t, view.method
    with exhibits.figure(here, "matrix", t("matrix.title", method=t(f"method_name.{method}"))) as frame:
        known = view.told.methods[method].layers
        if known is None:
            st.caption(t("matrix.none"))
            return
        layers = {TOTAL: t("control.total"), **{str(i): str(i) for i in range(1, len(known) + 1)}}
        if (given := here.key("layer")) not in layers:
            values = {"given": given, "layers": len(known)}
            shell.problem(t, "no_layer", "The model has no such layer; all layers are shown.", values)
        with frame:
            layer = pick(here, "layer", layers, LAYER_WIDTH)
        draw_matrix(here, frame, view, layer)


def draw_matrix(here: Here, frame: Any, view: View, layer: str) -> None:
    """The cells, with their scale above."""
    t, told, method, signed = here.t, view.told, view.method, view.signed
    values = rivalry.matrix_of(told, method, layer)
    assert values is not None  # a method with layers has a matrix
    shown = matrix.part(values, told.special)
    cells, end = (
        matrix.cells(values, told.tokens, told.special, shown),
        matrix.top_of(matrix.cells(values, told.tokens, told.special)),
    )
    ends = tokens.Legend(tokens.number(-end, 3) if signed else "0", tokens.number(end, 3, sign=signed), signed)
    which = t("matrix.total") if layer == TOTAL else t("matrix.layer", layer=layer)
    alt = t("matrix.alt", method=t(f"method_name.{method}"), which=which, n=len(told.tokens), largest=tokens.number(end, 3))

    def draw(look: Look) -> Any:
        return matrix.matrix(
            cells, rows=told.tokens, columns=told.tokens, value=t(f"method_name.{method}"), alt_text=alt, x=t("matrix.key"),
            y=t("matrix.query"), special=told.special, signed=signed, largest=end, exponent=0.5, look=look,
        )  # fmt: skip

    st.html(tokens.legend_html([ends]))
    with st.container(width=matrix.width_of(len(shown), here.look)):
        st.altair_chart(draw(here.look), theme=None, key="attribution-matrix-chart")
    about = t(f"matrix.{method}" if layer == TOTAL else f"matrix.{method}_layer")
    part = t("matrix.part", n=len(shown), of=len(told.tokens)) if len(shown) < len(told.tokens) else ""
    table = matrix.cells(values, told.tokens, told.special)
    exhibit = Exhibit(
        "matrix", f"{which}. {about} {t('matrix.root')}", t(f"method_source.{method}"), {"": table}, draw, alt, on_screen=False
    )
    exhibits.show(here, frame, exhibit, part)


def the_integral(here: Here, view: View) -> None:
    """The rule and the number of nodes, how far each layer is from adding up, and what it costs."""
    t, found, rule = here.t, view.integral, here.key("rule")
    with exhibits.figure(here, "integral", t("integral.title")) as frame:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            rules = {name: t(f"rule.{name}") for name in found.errors}
            controls.choose(here, "rule", rules, t("control.rule"), help_text=t("control.rule_help"))
            pick(here, "nodes", {str(n): str(n) for n in range(1, 65)}, NODES_WIDTH)
        nodes, layers = int(here.key("nodes")), len(found.sums)
        largest, (runs, whole) = rivalry.error_of(found.errors[rule]), rivalry.cost(layers, nodes)
        st.html(tokens.big_number_html(t("integral.error"), largest))
        table = rivalry.errors(t, found)
        alt = t("integral.alt", nodes=nodes, values=", ".join(
            f"{rules[name]} {rivalry.error_of(values)}" for name, values in found.errors.items()
        ))  # fmt: skip

        def draw(look: Look) -> Any:
            return rivalry_charts.by_layer(table, x=t("integral.layer"), y=t("integral.y"), alt_text=alt, look=look)

        caption = t("integral.caption", nodes=nodes, label=t.label(view.found.target), runs=texts.count(runs), whole=whole)
        tables = {t("integral.sums"): rivalry.layer_sums(found, rule), t("integral.errors"): table.drop(columns="drawn")}
        exhibit = Exhibit("integral", caption, t("integral.source"), tables, draw, alt)
        exhibits.show(here, frame, exhibit, t("integral.law"))


def these_pairs(here: Here, choice: Choice, view: View | None) -> None:
    """How far every two methods agree on this text."""
    assert view is not None
    t = here.t
    with exhibits.figure(here, "pairs", t("pairs.this")) as frame:
        caption = t("pairs.caption", n=len(view.found.words), label=t.label(view.found.target))
        square(here, frame, "pairs", view.found.tau, caption)


def test_pairs(here: Here, choice: Choice, view: View | None) -> None:
    """The same over the test set, as means over texts."""
    t = here.t
    with exhibits.figure(here, "test-pairs", t("pairs.test")) as frame:
        where = evidence.provenance(resources.results("attribution", choice.model), t)
        table = resources.table(rivalry.measured_pairs, choice.model)
        square(here, frame, "test-pairs", rivalry.means(table), t("pairs.test_caption", **where), table)


def square(here: Here, frame: Any, name: str, tau: Any, caption: str, table: Any = None) -> None:
    """Every two methods with their tau."""
    t, cells = here.t, rivalry.pairs(here.t, tau)
    names = [t(f"method_name.{method}") for method in rivalry.METHODS]
    said = [f"{a} – {b} {tokens.number(value)}" for (a, b), value in tau.items()]
    alt = t("pairs.alt", values=", ".join(said))

    def draw(look: Look) -> Any:
        return rivalry_charts.squares(cells, names, value="τ-b", alt_text=alt, look=look)

    shown = cells.dropna(subset=["weight"]).drop(columns=["query", "key"]) if table is None else table
    exhibits.show(here, frame, Exhibit(name, caption, t("pairs.source"), {"": shown}, draw, alt))


def effects(here: Here, choice: Choice, view: View | None) -> None:
    """Whether the prediction falls without the words that each method puts first, and stands on them alone."""
    t = here.t
    with exhibits.figure(here, "effects", t("effects.title")) as frame:
        where = evidence.provenance(resources.results("attribution", choice.model), t)
        measured = resources.table(rivalry.measured_effects, choice.model)
        table = rivalry.effects(t, measured, view.found if view is not None else None)
        said = [f"{row['group']}, {row['series']} {tokens.number(row['mean'])}" for row in table.to_dict("records")]
        alt = t("effects.alt", values="; ".join(said))
        domain = rivalry.ends_of(table)

        def draw(look: Look) -> Any:
            named = t("effects.this") if table["published"].notna().any() else ""
            return charts.intervals(table, x=t("effects.x"), published=named, domain=domain, alt_text=alt, look=look)

        shown = table.rename(columns={"published": "this"})
        exhibit = Exhibit("effects", t("effects.caption", **where), t("effects.source"), {"": shown}, draw, alt)
        exhibits.show(here, frame, exhibit, t("effects.note"))


here = shell.start("attribution")
picked = controls.picker(here)
own_model.offer(here)
if picked.choice is not None:
    with shell.guarded(here):
        lesson(here, picked.choice, picked)
shell.close(here)
