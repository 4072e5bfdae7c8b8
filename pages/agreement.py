"""Does attention point at the words that matter? The first of the two conditions of Jain & Wallace 2019.

One sentence: attention, gradient, leave-one-out and integrated gradients as strips of the same words, and how far their
rankings agree. Then the whole test set beside the published table, the three encoders, and what the states that attention
weighs have read. The boxes say what all this shows, and what it does not.
"""

from dataclasses import replace
from typing import Any

import streamlit as st

from core.agreement import Correlation
from core.explanation import Explanation, explain
from dashboard import (
    charts,
    controls,
    evidence,
    exhibits,
    explained,
    frames,
    matrix,
    quality,
    resources,
    shell,
    texts,
    theme,
    tokens,
)
from dashboard.exhibits import Exhibit
from dashboard.resources import Choice
from dashboard.shell import Here
from dashboard.strips import strips_chart

GUESSES = ("hardly", "somewhat", "almost")
MIXED_WORDS = 24  # words that a matrix shows; more would not be readable


def lesson(here: Here, choice: Choice, picked: controls.Picked) -> None:
    """Everything that needs the model. What is known of the whole test set is shown even where the text cannot be read."""
    found: Explanation | None = None
    with shell.guarded(here):
        found = explanation(here, choice, picked)
        quality.show(here)
        strips(here, choice, found)
    several = resources.table(evidence.encoders, choice.model)["group"].nunique() > 1
    seeded = choice.model.split(":")[0] == evidence.SEEDED
    pairs = [
        [histogram, *[encoders] * several],
        [mixed],
        [published, difference],
        [*[noise] * (found is not None), *[seeds] * seeded],
    ]
    for pair in filter(None, pairs):
        for column, draw in zip(st.columns(len(pair), gap="medium"), pair, strict=True):
            with column:
                draw(here, choice, found)


def about(choice: Choice) -> str:
    """What a guess is made for."""
    return "|".join((choice.model, choice.text, choice.query))


def explanation(here: Here, choice: Choice, picked: controls.Picked) -> Explanation:
    """The explanation under the page's controls; says the prediction and what the reader should know about the text."""
    t = here.t
    with st.container(horizontal=True, vertical_alignment="bottom", key="page-controls"):
        names = {"cut": t("control.cut"), "uncut": t("control.uncut")}
        controls.choose(here, "graph", names, t("control.graph"), help_text=t("control.graph_help"))
        place = st.container(width="content")
    with shell.computing(here, 330) as waiting:
        found = resources.compute(explain, choice, waiting=waiting, **asked(here, choice))
    predicted = max(found.prediction, key=lambda name: found.prediction[name])
    with place:
        controls.target(here, predicted, tuple(found.prediction))
    controls.show_prediction(here, picked.place, found.prediction)
    controls.complain_of_target(here, tuple(found.prediction))
    shell.show_notes(here, [note for note in found.notes if note.code not in shell.QUIET])
    return found


def asked(here: Here, choice: Choice) -> dict[str, Any]:
    """What the page's controls ask of an explanation."""
    return {"target": controls.asked_target(here, choice), "cut_graph": here.key("graph") == "cut"}


def strips(here: Here, choice: Choice, found: Explanation) -> None:
    """The experiment: the four rankings as words with weights, three of them hidden until a guess is made."""
    t = here.t
    raises = t("strips.raises", label=t.label(found.target))
    legends = [tokens.Legend("0", t("strips.largest")), tokens.Legend(f"− {t('strips.lowers')}", f"+ {raises}", signed=True)]
    undefined = t("strips.undefined") if any(None in values for values in found.scores.values()) else ""
    with exhibits.figure(here, "strips", html=tokens.legend_html(legends, undefined)) as frame:
        with frame:
            numbers = st.toggle(t("figure.numbers"), key="numbers", persist_state="session")
        rows = explained.strip_rows(t, found, numbers)
        controls.show_query(here, choice)
        shown = st.container()
        guess = controls.guess(here, about(choice), t("predict.question"), {name: t(f"predict.{name}") for name in GUESSES})
        if guess.option is None:
            st.html(tokens.veil_html(t("predict.veil"), "9rem"))
        if guess.option:
            with shown:
                show_guess(here, choice, guess.option, found.agreement["attention~leave_one_out"].kendall)
        visible = rows if guess.option is not None else rows[:1]
        language = here.card.task.language if here.card else here.link.lang
        html = tokens.strips_html(visible, found.words, language=language, numbers=numbers, undefined=t("strips.undefined"))
        shown.html(html)
        if guess.option is not None:
            st.markdown(explained.comparison(t, found))
            k = found.agreement["attention~gradient"].top_k.k
            caption = t("strips.caption", n=len(found.words), k=k)
            tables = {t("table.scores"): tokens.table(rows, found.words, position=t("table.position"), word=t("table.word"))}
            tables |= {t("table.pairs"): evidence.pairs(found, t)}

            def draw(look: theme.Look) -> Any:
                return strips_chart(
                    rows, found.words, legends=legends, undefined=undefined, numbers=numbers, part=t("figure.part"), look=look
                )

            exhibit = Exhibit("strips", caption, t("strips.source"), tables, draw, on_screen=False)
            exhibits.show(here, frame, exhibit, explained.reading(t, len(found.words)), quality.line(here))
        shell.show_notes(here, [note for note in found.notes if note.code in shell.QUIET])


def show_guess(here: Here, choice: Choice, option: str, tau: Correlation) -> None:
    """The reader's guess and what was measured, in one muted line."""
    key = "predict.guessed" if tau.kendall_tau is not None else "predict.guessed_undefined"
    with st.container(horizontal=True, vertical_alignment="center"):
        said = here.t(key, guess=here.t(f"predict.{option}"), tau=tokens.number(tau.kendall_tau))
        st.caption(said, width="content")
        controls.guess_again(here, about(choice))


def histogram(here: Here, choice: Choice, found: Explanation | None) -> None:
    """Tau over the whole test set by predicted label; this sentence is marked once its guess was made."""
    t = here.t
    with exhibits.figure(here, "histogram", t("histogram.name")) as frame:
        table = resources.results("agreement", choice.model)
        measure = controls.choose(here, "pair", {name: t(f"measure.{name}") for name in explained.OTHERS}, t("histogram.pair"))
        values, where = evidence.tau(table, "attention", measure), evidence.provenance(table, t)
        groups = {t.label(name): list(values[mask]) for name, mask in evidence.by_label(table, choice.model)}
        binned = frames.binned_by(groups) if len(groups) > 1 else frames.binned(list(values))
        by_label = t("histogram.by_label") if len(groups) > 1 else ""
        told = found is not None and controls.revealed(here, about(choice))
        tau = found.agreement[f"attention~{measure}"].kendall.kendall_tau if found and told else None
        mean, std = tokens.number(values.mean()), tokens.number(values.std(ddof=0))
        caption = t("histogram.caption", undefined=texts.count(int(values.isna().sum())), mean=mean, std=std, **where)
        x, y, case = t("histogram.tau"), t("histogram.sentences"), t("histogram.this", tau=tokens.number(tau))
        alt = t("histogram.alt", measure=t(f"measure.{measure}"), mean=mean, n=where["n"])

        def draw(look: theme.Look) -> Any:
            return charts.histogram(binned, x=x, y=y, alt_text=alt, case=tau, case_label=case, height=250, look=look)

        exhibit = Exhibit("histogram", caption, t("histogram.source"), {"": binned}, draw, alt)
        exhibits.show(here, frame, exhibit, t("histogram.none") if told and tau is None else by_label)


def encoders(here: Here, choice: Choice, found: Explanation | None) -> None:
    """Mean tau over the test set for each encoder of the same score, beside the paper's."""
    t = here.t
    with exhibits.figure(here, "encoders", t("encoders.title")) as frame:
        where = evidence.provenance(resources.results("agreement", choice.model), t)
        table = named(here, resources.table(evidence.encoders, choice.model), "encoder")
        where["n"] = "–".join(texts.count(int(n)) for n in sorted({table["n"].min(), table["n"].max()}))
        said = ", ".join(f"{row.group} {row.series} {tokens.number(row.mean)}" for row in table.itertuples())
        words = t("encoders.caption", **where), t("encoders.alt", values=said)
        exhibit = interval_exhibit(here, "encoders", table, t("histogram.tau"), *words)
        ranked = table[table["series"] == t("measure.gradient")].sort_values("mean", ascending=False)["group"]
        order = t("encoders.order", order=" > ".join(ranked)) if len(ranked) > 1 else ""
        exhibits.show(here, frame, exhibit, order, where_published(here, table, "published.weighted"))


def mixed(here: Here, choice: Choice, found: Explanation | None) -> None:
    """The same sentence under three encoders: what a word's state has read beside the word, and what tau becomes."""
    t = here.t
    if found is None:
        return
    legend = tokens.legend_html([tokens.Legend("0", t("mixing.largest"))])
    with exhibits.figure(here, "mixing", t("mixing.title"), legend):
        st.markdown(t("mixing.lede"))
        names = {encoder: evidence.with_encoder(choice.model, encoder) for encoder in evidence.ENCODERS}
        there = [encoder for encoder, name in names.items() if name in resources.cards()]
        columns = st.columns([1] * len(there) + [3 - len(there)] * (len(there) < 3), gap="medium")
        for column, encoder in zip(columns, there, strict=False):
            with column, shell.guarded(here):
                mixing_of(here, Choice(names[encoder], choice.text, choice.query), encoder, found)
        with columns[-1] if len(there) < 3 else st.container():
            st.markdown(t("mixing.reading"))
            if missing := [t(f"encoder.{encoder}") for encoder in names if encoder not in there]:
                st.caption(t("mixing.missing", encoder=", ".join(missing)))
        if len(found.words) > MIXED_WORDS:
            st.caption(t("mixing.first", n=MIXED_WORDS))
        st.caption(t("mixing.source"))


def mixing_of(here: Here, choice: Choice, encoder: str, found: Explanation) -> None:
    """One encoder's matrix, with its own tau on this sentence."""
    t, measures = here.t, ("attention", *evidence.MEASURES)
    with shell.computing(here, 300) as waiting:
        weights = resources.compute(evidence.mixing, choice, waiting=waiting, words=MIXED_WORDS)
        there = found
        if choice.model != found.model:
            there = resources.compute(explain, choice, waiting=waiting, measures=measures, **asked(here, choice))
    words = there.words[:MIXED_WORDS]
    cells = frames.matrix(weights, words, words)
    own = round(100 * sum(weights[i][i] for i in range(len(words))) / len(words))
    taus = {m: tokens.number(there.agreement[f"attention~{m}"].kendall.kendall_tau) for m in evidence.MEASURES}
    alt = t("mixing.alt", encoder=t(f"encoder.{encoder}"), own=f"{own} %")

    def draw(look: theme.Look) -> Any:
        return matrix.matrix(cells, rows=words, columns=words, value=t("mixing.word"), alt_text=alt, cell=13, look=look)

    with exhibits.head(here, t(f"encoder.{encoder}"), small=True) as frame:
        caption = t("mixing.caption", model=choice.model, own=own)
        if controls.revealed(here, about(replace(choice, model=found.model))):
            caption += f" {t('mixing.tau', gradient=taus['gradient'], loo=taus['leave_one_out'])}"
        link = replace(here.link, model=choice.model)
        exhibit = Exhibit(f"mixing-{encoder}", caption, t("mixing.source"), {"": cells}, draw, alt, cited=False, link=link)
        exhibits.show(here, frame, exhibit)


def published(here: Here, choice: Choice, found: Explanation | None) -> None:
    """Mean, deviation and significant share by predicted label, beside the paper's table."""
    t = here.t
    with exhibits.figure(here, "published", t("published.title")) as frame:
        results = resources.results("agreement", choice.model)
        table = resources.table(evidence.comparison, choice.model)
        st.caption(t("published.format"))
        st.table(evidence.printed(table, t), hide_index=True, border="horizontal")
        theirs = t("published.absent" if table["paper_mean"].isna().all() else "published.theirs")
        caption = f"{t('published.caption', **trained(here), **evidence.provenance(results, t))} {theirs}"
        note = t("published.appendix") if evidence.in_files(table).any() else ""
        exhibit = Exhibit("published", caption, t("published.source"), {"": table})
        exhibits.show(here, frame, exhibit, note, quality.line(here))


def trained(here: Here) -> dict[str, str]:
    """The model's training examples and seed, for sentences."""
    card = here.card
    return {"trained": texts.count(card.training["n"]), "seed": str(card.seed)} if card else {"trained": "–", "seed": "–"}


def difference(here: Here, choice: Choice, found: Explanation | None) -> None:
    """Gradient against leave-one-out, minus attention's agreement with each."""
    t = here.t
    with exhibits.figure(here, "difference", t("difference.title")) as frame:
        table = named(here, resources.table(evidence.differences, choice.model), "difference")
        caption = t("difference.caption", n=texts.count(int(table["n"].min())))
        first, second = (tokens.number(mean) for mean in table["mean"])
        alt = t("difference.alt", gradient=first, loo=second)
        exhibit = interval_exhibit(here, "difference", table, t("difference.value"), caption, alt)
        exhibits.show(here, frame, exhibit, where_published(here, table, "difference.note"))


def noise(here: Here, choice: Choice, found: Explanation | None) -> None:
    """Tau among the two, three, … most important words: what the unimportant ones add is mostly chance."""
    t = here.t
    with exhibits.figure(here, "noise", t("noise.title")) as frame:
        if found is None or len(found.words) < 3:
            st.caption(t("noise.short"))
            return
        if not controls.revealed(here, about(choice)):
            st.html(tokens.veil_html(t("predict.veil_noise"), "15rem"))
            return
        table = evidence.noise(found, {name: t(f"measure.{name}") for name in evidence.MEASURES})
        if table.empty:
            st.caption(t("noise.undefined"))
            return
        first, last = table.iloc[0], table.iloc[-1]
        ends = {"k": first["x"], "first": tokens.number(first["mean"]), "last": tokens.number(last["mean"]), "n": last["x"]}
        alt = t("noise.alt", **ends)

        def draw(look: theme.Look) -> Any:
            return charts.line(table, x=t("noise.words"), y=t("noise.tau"), alt_text=alt, domain=(-1, 1), look=look)

        exhibits.show(here, frame, Exhibit("noise", t("noise.caption"), t("noise.source"), {"": table}, draw, alt))


def seeds(here: Here, choice: Choice, found: Explanation | None) -> None:
    """The same model trained five times."""
    t = here.t
    with exhibits.figure(here, "seeds", t("seeds.title")) as frame:
        table = resources.table(evidence.seeds)
        if (count := table["group"].nunique()) < 2:
            st.caption(t("seeds.few", model=evidence.SEEDED, count=count))
            return
        means = [tokens.number(mean) for mean in sorted(table.loc[table["series"] == "gradient", "mean"])]
        n = texts.count(int(table["n"].max()))
        caption = t("seeds.caption", model=evidence.SEEDED, count=count, n=n, low=means[0], high=means[-1])
        words = caption, t("seeds.alt", values=", ".join(means))
        exhibit = interval_exhibit(here, "seeds", named(here, table, "seed"), t("histogram.tau"), *words)
        exhibits.show(here, frame, exhibit, where_published(here, table, "published.weighted"))


def interval_exhibit(here: Here, name: str, table: Any, x: str, caption: str, alt: str) -> Exhibit:
    """Dots with intervals, and the paper's ticks where it has any."""
    t = here.t
    published_name = t("published.paper")

    def draw(look: theme.Look) -> Any:
        return charts.intervals(table, x=x, alt_text=alt, published=published_name, look=look)

    return Exhibit(name, caption, t(f"{name}.source"), {"": table}, draw, alt)


def where_published(here: Here, table: Any, key: str) -> str:
    """A sentence about the paper's ticks, where a chart has any; those of questions are no means over classes."""
    asked = here.card is not None and here.card.task.kind == "qa" and key == "published.weighted"
    return here.t(key) if table["published"].notna().any() and not asked else ""


def named(here: Here, table: Any, kind: str) -> Any:
    """The table with groups and series in the reader's words."""
    t = here.t
    prefix = {"encoder": "encoder.", "difference": "difference.minus_"}
    group = [t(prefix[kind] + name) if kind in prefix else f"{t('seeds.seed')} {name}" for name in table["group"]]
    series = {name: t(f"measure.{name}") for name in evidence.MEASURES} | {"here": t("published.ours")}
    return table.assign(group=group, series=table["series"].map(series))


here = shell.start("agreement")
picked = controls.picker(here)
if picked.choice is not None:
    with shell.guarded(here):
        lesson(here, picked.choice, picked)
shell.close(here)
