"""Do weights match contributions? Hao et al. 2021: what the attention of each head adds to the prediction, weight by weight.

All heads first: the largest weight of each, and, once the reader has guessed where the head with the largest one will stand,
what each contributes. Then one head, clicked or chosen: weights and attributions side by side, how far their orders agree,
which weights are large and contribute little, what the special tokens take. Whole test sets follow.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import (
    contributions,
    controls,
    evidence,
    exhibits,
    link,
    matrix,
    own_model,
    quality,
    resources,
    shell,
    texts,
    tokens,
)
from dashboard.contributions import Cells, Grid, Sentence
from dashboard.exhibits import Exhibit
from dashboard.resources import Choice
from dashboard.shell import Here
from dashboard.theme import Look

GUESSES = ("top", "upper", "lower")
NARROW = 110  # pixels of a short select box
CLICKED = "head"  # the name of the selection in a chart of all heads


@dataclass(frozen=True)
class View:
    """One text under the page's controls: its tokens as they are to be read, and the head that is looked at."""

    found: Sentence
    cells: Cells
    at: tuple[int, int]
    about: str  # the result that is guessed
    revealed: bool

    @property
    def name(self) -> dict[str, int]:
        """Layer and head as they stand in sentences."""
        return {"layer": self.at[0] + 1, "head": self.at[1] + 1}


def lesson(here: Here, choice: Choice, picked: controls.Picked) -> None:
    """Everything that needs the model. The test set is shown even where the text cannot be read."""
    view: View | None = None
    with shell.guarded(here):
        view = seen(here, choice, picked)
        quality.show(here)
        overview(here, view)
        one_head(here, view)
    left, right = st.columns(2, gap="medium")
    if view is not None:
        with left, shell.guarded(here):
            sentence_taus(here, view)
    with right if view is not None else left, shell.guarded(here):
        test_taus(here, choice)


def seen(here: Here, choice: Choice, picked: controls.Picked) -> View:
    """The text under the page's controls; says the prediction and what the reader should know about the text."""
    t = here.t
    row = st.container(horizontal=True, vertical_alignment="bottom", key="page-controls")
    with shell.computing(here, 420) as waiting:
        found = resources.compute(contributions.seen, choice, waiting=waiting, target=here.link.target or None)
    controls.show_prediction(here, picked.place, found.prediction)
    shell.show_notes(here, [note for note in found.notes if note.code not in shell.QUIET])
    about = "|".join((choice.model, choice.text, choice.query, found.target))
    revealed, at = controls.revealed(here, about), head_of(here, found)
    with row:
        controls.target(here, found.predicted, list(found.prediction))
        units = {unit: t(f"control.{unit}") for unit in contributions.UNITS}
        unit = controls.choose(here, "units", units, t("control.units"), help_text=t("control.units_help"))
        pick_head(here, found, at, revealed)
    return View(found, found.words if unit == "words" else found.pieces, at, about, revealed)


def head_of(here: Here, found: Sentence) -> tuple[int, int]:
    """The head that the link names; the one with the largest weight where this model has no such head."""
    codes, (layers, heads) = (here.key("layer"), here.key("head")), found.words.attention.shape[:2]
    if (at := contributions.chosen(codes, found.words)) is not None:
        return at
    first = contributions.strongest(found.words)
    values = {"given": ", ".join(codes), "layers": layers, "heads": heads, "used": f"{first[0] + 1}, {first[1] + 1}"}
    shell.problem(here.t, "no_head", "The model has no such head; the one with the largest weight is shown.", values)
    return first


def pick_head(here: Here, found: Sentence, at: tuple[int, int], revealed: bool) -> None:
    """Two lists for layer and head, and two ways to a head worth looking at."""
    for name, count, place in zip(("layer", "head"), found.words.attention.shape[:2], at, strict=True):
        key = f"pick_{name}"
        st.session_state[key] = place + 1
        st.selectbox(here.t(f"control.{name}"), range(1, count + 1), key=key, width=NARROW, on_change=picked_head)
    ways = {"strongest": contributions.strongest(found.words)}
    ways |= {"most": contributions.most(found.words)} if revealed else {}
    for name, way in ways.items():
        st.button(here.t(f"control.{name}"), key=f"go_{name}", disabled=way == at, on_click=go, args=way)


def picked_head() -> None:
    """The link with the head that was picked from the lists."""
    go(st.session_state["pick_layer"] - 1, st.session_state["pick_head"] - 1)


def go(layer: int, head: int) -> None:
    """The link with another head, both counted from 0."""
    link.put(keys={**link.current().keys, "heads_layer": str(layer + 1), "heads_head": str(head + 1)})


def clicked(key: str) -> None:
    """The link with the head that was clicked in a chart; a click beside the cells changes nothing."""
    if cells := st.session_state[key]["selection"].get(CLICKED):
        go(int(cells[0]["query"]), int(cells[0]["key"]))


def overview(here: Here, view: View) -> None:
    """All heads: the largest weight of each, the guess, and what each contributes."""
    t, words = here.t, view.found.words
    weights, first, count = contributions.weights_of(words), contributions.strongest(words), contributions.count(words)
    weight = tokens.number(float(weights[first]))
    values = {"layer": first[0] + 1, "head": first[1] + 1, "count": count, "weight": weight, "top": contributions.top(count)}
    with exhibits.figure(here, "all", t("all.title", count=count)) as frame:
        if view.revealed:
            with frame:
                measures = {name: t(f"control.{name}") for name in contributions.MEASURES}
                controls.choose(here, "measure", measures, t("control.measure"), help_text=t("control.measure_help"))
        left, right = st.columns(2, gap="medium")
        with left:
            small_grid(here, Grid("weights", weights, t("all.weights_caption"), view.at, largest=1.0))
        with right:
            if view.revealed:
                all_contributions(here, view)
            else:
                st.html(tokens.veil_html(t("predict.veil"), "14rem"))
                options = {name: t(f"predict.{name}", **values) for name in GUESSES}
                controls.guess(here, view.about, t("predict.question", **values), options)
        if view.revealed:
            say(here, view, values)
        st.caption(quality.line(here))
        shell.show_notes(here, [note for note in view.found.notes if note.code in shell.QUIET])


def all_contributions(here: Here, view: View) -> None:
    """What each head contributes, all its attributions together or the largest one, or what is lost without it."""
    t, found, measure = here.t, view.found, here.key("measure")
    values = found.masked if measure == contributions.MASKED else contributions.contributions_of(view.cells, measure)
    said = {"label": t.label(found.target), "layers": contributions.added(t, found), "error": contributions.error_of(found)}
    small_grid(here, Grid(measure, values, t(f"all.{measure}_caption", **said), view.at, signed=True, exponent=0.5))


def small_grid(here: Here, grid: Grid) -> None:
    """A grid inside a figure."""
    with exhibits.head(here, here.t(f"all.{grid.name}"), grid.legend, small=True) as frame:
        show_grid(here, frame, grid, "")


def show_grid(here: Here, frame: DeltaGenerator, grid: Grid, source: str) -> None:
    """The cells of a grid; a click on one chooses its head."""
    t, cells = here.t, contributions.heads(grid.values)
    rows, columns = (tuple(map(str, range(1, n + 1))) for n in grid.values.shape)
    what = t(f"all.{grid.name}")
    alt = t("all.alt", what=what, layers=len(rows), heads=len(columns))
    labels: dict[str, Any] = {"value": what, "alt_text": alt, "x": t("control.head"), "y": t("control.layer")}
    scale: dict[str, Any] = {"signed": grid.signed, "largest": grid.end, "exponent": grid.exponent}

    def draw(look: Look) -> Any:
        drawn = partial(matrix.matrix, cells, rows=rows, columns=columns, cell=26, turned=False, upward=True, look=look)
        return drawn(**labels, **scale, selected=grid.at, select=CLICKED)

    key = f"heads-{grid.name}-{grid.at}"  # a new one where another head is chosen: a click on the old one counts again
    settings: dict[str, Any] = {"on_select": partial(clicked, key), "selection_mode": CLICKED}
    st.altair_chart(draw(here.look), theme=None, key=key, **settings)
    table = contributions.numbered(cells, grid.name) if grid.table is None else grid.table
    exhibits.show(
        here, frame, Exhibit(grid.name, grid.caption, source or t("all.source"), {"": table}, draw, alt, False, bool(source))
    )


def say(here: Here, view: View, values: dict[str, Any]) -> None:
    """The guess, and what the head with the largest weight contributes beside the one that contributes most."""
    t, words = here.t, view.found.words
    first, most = contributions.strongest(words), contributions.most(words)
    place = contributions.rank(words, first)
    option = st.session_state.get("guesses", {}).get(f"{here.page}:{view.about}", "")
    if option and not here.lecture:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(t("predict.guessed", guess=t(f"predict.{option}", **values), place=place), width="content")
            controls.guess_again(here, view.about)
    sums, weights = contributions.contributions_of(words), contributions.weights_of(words)
    more = {"place": place, "sum": tokens.fine(float(sums[first])), "label": t.label(view.found.target)}
    more |= {"most_layer": most[0] + 1, "most_head": most[1] + 1, "most_sum": tokens.fine(float(sums[most]))}
    more |= {"most_weight": tokens.number(float(weights[most])), "p": tokens.number(view.found.prob)}
    st.markdown(t("reading.same" if first == most else "reading.other", **values, **more))


def one_head(here: Here, view: View) -> None:
    """The chosen head: weights, attributions, how far they agree, and the cells worth reading in words."""
    t, cells, at = here.t, view.cells, view.at
    shown = matrix.part(abs(cells.attribution[at]), cells.special)
    with exhibits.figure(here, "one", t("one.title", **view.name)) as frame:
        if view.revealed:
            with frame:
                st.html(tokens.big_number_html(t("one.tau"), tokens.number(cells.tau[at[0]][at[1]])), width="content")
        left, right = st.columns(2, gap="medium")
        with left:
            token_map(here, view, "attention", shown)
        with right:
            if view.revealed:
                token_map(here, view, "attribution", shown)
            else:
                st.html(tokens.veil_html(t("predict.veil_one"), "18rem"))
        if view.revealed:
            lists(here, view)
        if len(shown) < len(cells.tokens):
            st.caption(t("one.part", n=len(shown), of=len(cells.tokens)))


def token_map(here: Here, view: View, name: str, shown: tuple[int, ...]) -> None:
    """Every token against every token, as weights or as attributions."""
    t, cells, signed = here.t, view.cells, name == "attribution"
    values = getattr(cells, name)[view.at]
    end = matrix.top_of(matrix.cells(values, cells.tokens, cells.special))
    frame = matrix.cells(values, cells.tokens, cells.special, shown)
    digits = 2 if end >= 0.1 else 3 if end >= 0.001 else 5
    low = tokens.number(-end, digits) if signed else "0"
    ends = tokens.Legend(low, tokens.number(end, digits, sign=signed), signed)
    alt = t(f"one.{name}_alt", n=len(cells.tokens), largest=tokens.number(end, digits), **view.name)

    def draw(look: Look) -> Any:
        return matrix.matrix(
            frame, rows=cells.tokens, columns=cells.tokens, value=t(f"one.{name}"), alt_text=alt, x=t("one.key"),
            y=t("one.query"), special=cells.special, signed=signed, largest=end, decimals=5 if signed else 3, look=look,
        )  # fmt: skip

    table = contributions.pair_table(cells, view.at)
    table = table if view.revealed else table.drop(columns="attribution")
    caption = t(f"one.{name}_caption", label=t.label(view.found.target), **view.name)
    exhibit = Exhibit(name, caption, t("all.source"), {"": table}, draw, alt, on_screen=False, cited=False)
    with exhibits.head(here, t(f"one.{name}"), tokens.legend_html([ends]), small=True) as head:
        with st.container(width=matrix.width_of(len(shown), here.look)):
            st.altair_chart(draw(here.look), theme=None, key=f"heads-{name}")
        exhibits.show(here, head, exhibit)


def lists(here: Here, view: View) -> None:
    """What the special tokens take, the weights that contribute little, and the largest contributions, in words."""
    t, cells, at = here.t, view.cells, view.at
    st.markdown(" ".join((agreement_line(here, view), contributions.told_shares(t, cells, at))))
    columns = (t("one.weight"), t("one.contribution"))
    left, right = st.columns(2, gap="medium")
    for column, name, places in (
        (left, "idle", contributions.idlers(cells, at)),
        (right, "loud", contributions.loudest(cells, at)),
    ):
        rows = contributions.listed(cells, at, places)
        column.html(matrix.pairs_html(t(f"one.{name}"), columns, rows, t(f"one.{name}_empty")))


def agreement_line(here: Here, view: View) -> str:
    """Tau of this head on this text in a sentence, or why there is none."""
    t, tau = here.t, view.cells.tau[view.at[0]][view.at[1]]
    if tau is None:
        return t("one.no_tau")
    n = texts.count(len(view.cells.tokens) ** 2)
    last = t("one.last") if view.at[0] == len(view.found.difference) - 1 else ""
    return f"{t('one.agreement', tau=tokens.number(tau), n=n)} {last}".strip()


def sentence_taus(here: Here, view: View) -> None:
    """The agreement of every head on this text."""
    t, values = here.t, contributions.taus_of(view.cells)
    defined = values[values == values]  # what is undefined equals nothing
    mean = tokens.number(float(defined.mean()) if len(defined) else None)
    grid = Grid("tau", values, t("tau.caption", mean=mean, n=len(defined)), view.at, signed=True, largest=1.0)
    with exhibits.figure(here, "tau", t("all.tau"), grid.legend if view.revealed else "") as frame:
        if not view.revealed:
            st.html(tokens.veil_html(t("predict.veil_tau"), "14rem"))
        elif len(defined):
            show_grid(here, frame, grid, t("tau.source"))
        else:
            st.caption(t("one.no_tau"))


def test_taus(here: Here, choice: Choice) -> None:
    """The mean agreement of every head over the test set."""
    t = here.t
    with exhibits.figure(here, "test", t("all.test")) as frame:
        where = evidence.provenance(resources.results("attribution", choice.model), t)
        table = resources.table(contributions.measured, choice.model)
        many, miss = contributions.inexact(choice.model)
        close, largest = (tokens.number(value, 3) for value in (contributions.CLOSE, miss))
        sums = {"inexact": texts.count(many), "close": close, "largest": largest}
        values, caption = contributions.grid(table), t("tau.test_caption", **where, **sums)
        grid = Grid("test", values, caption, None, signed=True, largest=1.0, table=table)
        st.html(grid.legend)
        show_grid(here, frame, grid, t("tau.source"))


here = shell.start("heads")
picked = controls.picker(here)
own_model.offer(here)
if picked.choice is not None:
    with shell.guarded(here):
        lesson(here, picked.choice, picked)
shell.close(here)
