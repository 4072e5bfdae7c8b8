"""Does it matter which word gets which weight? The second condition of Jain & Wallace 2019, tried by chance.

One sentence: its attention shuffled over the words a hundred times, each prediction a dot around the original one. Then the
whole test set by how peaked attention is, since flat weights have nothing to shuffle, the three encoders, and sparse
attention. The boxes say what all this shows, and what it does not.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dashboard import (
    charts,
    controls,
    evidence,
    exhibits,
    frames,
    link,
    quality,
    resources,
    shell,
    shuffles,
    spread,
    texts,
    tokens,
)
from dashboard.exhibits import Exhibit
from dashboard.resources import Choice
from dashboard.shell import Here
from dashboard.shuffles import Shuffled
from dashboard.strips import strips_chart
from dashboard.theme import Look

GUESSES = ("hardly", "somewhat", "far")
SHOWN = ("median", "extreme")
WIDE = 680  # pixels of the cloud in a file, as wide as the words above it


def lesson(here: Here, choice: Choice, picked: controls.Picked) -> None:
    """Everything that needs the model. What is known of the whole test set is shown even where the text cannot be read."""
    found: Shuffled | None = None
    revealed: Shuffled | None = None
    with shell.guarded(here):
        view = shuffled(here, choice, picked)
        found = view.found
        quality.show(here)
        revealed = found if experiment(here, choice, view) else None
    evidence_rows: list[list[Callable[..., None]]] = [
        [partial(violins, found=revealed), partial(peaked, found=found)],
        [encoders, tasks],
        [sparse],
    ]
    shell.side_by_side(here, evidence_rows, choice)


@dataclass(frozen=True)
class View:
    """The shuffles of one text, what of them is shown, and the place for what they come to."""

    found: Shuffled
    target: str  # the label whose probability is drawn
    which: str  # the shuffle that is drawn as words: "median" or "extreme"
    results: DeltaGenerator


def shuffled(here: Here, choice: Choice, picked: controls.Picked) -> View:
    """The shuffles under the page's controls; says the prediction and what the reader should know about the text."""
    t = here.t
    with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
        seed = controls.seed(here)
        which = controls.choose(here, "shown", {name: t(f"control.{name}") for name in SHOWN}, t("control.shown"))
        place, results = st.container(width="content"), st.container(horizontal=True, width="content", gap="large")
    with shell.computing(here, 330) as waiting:
        found = resources.compute(shuffles.shuffled, choice, waiting=waiting, seed=seed)
    with place:
        target = controls.target(here, found.predicted, found.labels)
    if here.link.target not in ("", target):
        values = {"given": here.link.target, "allowed": found.labels}
        shell.problem(t, "unknown_label", "This label cannot be answered here.", values)
    controls.show_prediction(here, picked.place, dict(zip(found.labels, found.original.tolist(), strict=True)))
    shell.show_notes(here, [note for note in found.notes if note.code not in shell.QUIET])
    return View(found, target, which, results)


def experiment(here: Here, choice: Choice, view: View) -> bool:
    """The words with their weights, as learned and shuffled, over the cloud of predictions. Whether a guess is made."""
    t, found = here.t, view.found
    about = "|".join((choice.model, choice.text, choice.query))
    legends = [tokens.Legend("0", t("strips.largest"))]
    with exhibits.figure(here, "shuffles", html=tokens.legend_html(legends)) as frame:
        with frame:
            numbers = st.toggle(t("figure.numbers"), key="numbers", persist_state="session")
        rows = shuffles.rows(t, found, view.target, view.which)
        controls.show_query(here, choice)
        place = st.container()
        guess = controls.guess(here, about, t("predict.question"), {name: t(f"predict.{name}") for name in GUESSES})
        if guess.option:
            with place:
                show_guess(here, about, guess.option, found)
        visible = rows if guess.option is not None else rows[:1]
        language = here.card.task.language if here.card else here.link.lang
        place.html(tokens.strips_html(visible, found.words, language=language, numbers=numbers))
        if guess.option is None:
            st.html(tokens.veil_html(t("predict.veil"), "13rem"))
        else:
            show_results(here, view)
            strips = partial(strips_chart, rows, found.words, legends=legends, numbers=numbers, part=t("figure.part"))
            words = tokens.table(rows, found.words, position=t("table.position"), word=t("table.word"))
            exhibits.show(here, frame, cloud(here, view, strips, words), shuffles.reading(t, found))
        st.caption(quality.line(here))
        shell.show_notes(here, [note for note in found.notes if note.code in shell.QUIET])
    return guess.option is not None


def show_results(here: Here, view: View) -> None:
    """The two numbers that the shuffles come to, beside the controls."""
    t, found = here.t, view.found
    changed = t("results.of", flipped=found.flipped, n=len(found.tvd))
    with view.results:
        st.html(tokens.big_number_html(t("results.median"), tokens.number(found.median, 3), "charge"), width="content")
        st.html(tokens.big_number_html(t("results.flipped"), changed), width="content")


def cloud(here: Here, view: View, strips: Callable[..., Any], words: Any) -> Exhibit:
    """The predictions under each shuffle around the original one; in files under the words with their weights."""
    t, found = here.t, view.found
    dots, label, at = shuffles.cloud(found, view.target), t.label(view.target), found.labels.index(view.target)
    p, median = tokens.number(found.original[at]), tokens.number(found.median, 3)
    ends = {"low": tokens.number(dots["p"].min()), "high": tokens.number(dots["p"].max())}
    alt = t("cloud.alt", n=len(dots), label=label, p=p, median=median, most=tokens.number(found.tvd.max(), 3), **ends)
    lanes = [
        spread.Lane("p", t("cloud.p", label=label), float(found.original[at]), t("cloud.original", p=p)),
        spread.Lane("tvd", t("cloud.tvd"), found.median, t("cloud.median", median=median)),
    ]

    def draw(look: Look) -> Any:
        shown = found.shown(view.which)
        drawn = spread.cloud(dots, lanes, x=t("cloud.x"), key="shuffle", alt_text=alt, selected=shown, width=WIDE, look=look)
        return spread.stacked([strips(look=look, width=look.px(WIDE)), drawn]) if look.export else drawn

    caption = t("strips.caption", n=len(found.words), shuffles=len(dots), seed=here.link.seed)
    return Exhibit("shuffles", caption, t("strips.source"), {t("table.words"): words, t("table.shuffles"): dots}, draw, alt)


def show_guess(here: Here, about: str, option: str, found: Shuffled) -> None:
    """The reader's guess and what was measured, in one muted line."""
    with st.container(horizontal=True, vertical_alignment="center"):
        median = tokens.number(found.median, 3)
        st.caption(here.t("predict.guessed", guess=here.t(f"predict.{option}"), median=median), width="content")
        controls.guess_again(here, about)


def violins(here: Here, choice: Choice, found: Shuffled | None) -> None:
    """The per-sentence medians of the whole test set, by bin of the largest weight and predicted label."""
    t = here.t
    with exhibits.figure(here, "violins", t("violins.title")) as frame:
        where = provenance(resources.results("permutation", choice.model), t)
        data = shuffles.medians(t, choice.model)
        case = shuffles.case(t, found, data.groups) if found else None
        end = shuffles.end(max(data.largest, found.median if found else 0.0))
        x, y = t("violins.x", shuffles=where["shuffles"]), t("violins.y")
        table = data.marks.assign(bin=data.marks["bin"].map(dict(enumerate(data.bins))))
        said = [f"{row['bin']} {row['group']} {tokens.number(row['median'], 3)}" for row in table.to_dict("records")]
        alt = t("violins.alt", values=", ".join(said))

        def draw(look: Look) -> Any:
            return spread.violins(data, x=x, y=y, alt_text=alt, end=end, case=case, look=look)

        caption = t("violins.caption", few=shuffles.FEW, **where)
        exhibit = Exhibit("violins", caption, t("violins.source"), {"": table}, draw, alt)
        exhibits.show(here, frame, exhibit, t("violins.by_label" if len(data.groups) > 1 else "violins.note"))


def peaked(here: Here, choice: Choice, found: Shuffled | None) -> None:
    """The largest weight over the whole test set, this sentence marked."""
    t = here.t
    with exhibits.figure(here, "peaked", t("peaked.title")) as frame:
        table = resources.results("permutation", choice.model)
        largest, where = table["max_attention"].astype(float), provenance(table, t)
        binned = frames.binned(list(largest), domain=(0.0, 1.0))
        mean = tokens.number(largest.mean())
        caption = t("peaked.caption", peaked=round(100 * (largest >= 0.5).mean()), mean=mean, **where)
        case = float(found.attention.max()) if found else None
        alt, this = t("peaked.alt", n=where["n"], mean=mean), t("peaked.this", largest=tokens.number(case))

        def draw(look: Look) -> Any:
            words = {"x": t("peaked.x"), "y": t("peaked.y"), "alt_text": alt, "case_label": this}
            return charts.histogram(binned, **words, domain=(0.0, 1.0), case=case, height=340, look=look)

        exhibits.show(here, frame, Exhibit("peaked", caption, t("peaked.source"), {"": binned}, draw, alt), t("peaked.note"))


def encoders(here: Here, choice: Choice) -> None:
    """How far a shuffle moves the predictions of the three encoders."""
    compared(here, "encoders", shuffles.encoders, choice)


def tasks(here: Here, choice: Choice) -> None:
    """How far a shuffle moves the predictions of the same encoder and score on every data set."""
    compared(here, "tasks", shuffles.tasks, choice)


def compared(here: Here, name: str, function: Callable[[str], Any], choice: Choice) -> None:
    """Means over test sets, one row a model."""
    t = here.t
    with exhibits.figure(here, name, t(f"{name}.title")) as frame:
        where = provenance(resources.results("permutation", choice.model), t)
        table = resources.table(function, choice.model)
        group = [t(f"encoder.{group}") if name == "encoders" else group for group in table["group"]]
        table = table.assign(group=group, series=[t(f"compared.{series}") for series in table["series"]])
        once, end = table.drop_duplicates("group"), shuffles.end(table["high"].max())
        flipped = ", ".join(f"{row['group']} {100 * row['flipped']:.1f} %" for row in once.to_dict("records"))
        caption, alt = t(f"{name}.caption", flipped=flipped, **where), t("compared.alt", values=spoken(table))

        def draw(look: Look) -> Any:
            return charts.intervals(table, x=t("compared.x"), alt_text=alt, domain=(0.0, end), look=look)

        exhibit = Exhibit(name, caption, t("compared.source"), {"": table}, draw, alt)
        exhibits.show(here, frame, exhibit, t(f"{name}.note"))


def sparse(here: Here, choice: Choice) -> None:
    """Softmax beside sparsemax, by bin of the largest weight, for the model that was trained with both."""
    t = here.t
    if choice.model not in shuffles.NORMALIZERS.values():
        return
    with exhibits.figure(here, "sparse", t("sparse.title")) as frame:
        table, where = resources.table(shuffles.normalizers), provenance(resources.results("permutation", evidence.SEEDED), t)
        peaked = {name: f"{100 * share:.0f}" for name, share in shuffles.half_on_one(table).items()}
        group = [t("sparse.bin", bin=shuffles.bin_names()[place]) for place in table["group"]]
        table = table.assign(group=group, series=[t(f"sparse.{name}") for name in table["series"]]).dropna(subset=["mean"])
        alt, end = t("sparse.alt", values=spoken(table)), shuffles.end(table["high"].max())

        def draw(look: Look) -> Any:
            return charts.intervals(table, x=t("sparse.x"), alt_text=alt, domain=(0.0, end), look=look)

        caption = t("sparse.caption", model=evidence.SEEDED, n=where["n"], **peaked)
        exhibits.show(here, frame, Exhibit("sparse", caption, t("sparse.source"), {"": table}, draw, alt), t("sparse.note"))
        other, model = next(pair for pair in shuffles.NORMALIZERS.items() if pair[1] != choice.model)
        st.button(t(f"sparse.open_{other}"), key="sparse-open", on_click=lambda: link.put(model=model))


def spoken(table: Any) -> str:
    """Dots with intervals as a list to listen to."""
    return ", ".join(f"{row.group} {row.series} {tokens.number(row.mean, 3)}" for row in table.itertuples())


def provenance(table: Any, t: texts.Texts) -> dict[str, str]:
    """Data, split, n, shuffles and seed of a table of results, for sentences."""
    settings = table.attrs["provenance"]
    return evidence.provenance(table, t) | {"shuffles": str(settings["shuffles"]), "seed": str(settings["shuffle_seed"])}


here = shell.start("permutation")
picked = controls.picker(here)
if picked.choice is not None:
    with shell.guarded(here):
        lesson(here, picked.choice, picked)
shell.close(here)
