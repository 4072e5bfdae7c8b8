"""ε-max JSD over whole test sets: how far attention may move while the prediction stays, beside what the paper printed.

The published figures were selected at ε = 0.05 (the authors' plotting code; the paper's text says 0.01), so what stands beside
them is the search at 0.05. The exact optimum stands apart: it can only be larger. Tables first, then the figures of the page.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from core.agreement import bootstrap_mean
from core.debate.adversary import EPSILON
from core.types import Refusal
from dashboard import adversaries, charts, controls, evidence, exhibits, frames, resources, theme
from dashboard.exhibits import Exhibit
from dashboard.resources import Choice
from dashboard.shell import Here
from dashboard.texts import Texts
from dashboard.tokens import number

SERIES = {"search": "jsd_search_05", "exact": "jsd_exact_05", "default": "jsd"}  # columns of the experiment
TABLE = "camera-ready JSD"  # the bars of Figures 7 and 8, from the authors' files
SHARES = (0.4, 0.6)
DOMAIN = (0.0, 0.7)
STAND_IN = "pronoun/bilstm-additive"
SPARSE = ":sparsemax"


def published(dataset: str, model: str, group: str) -> tuple[float, ...] | None:
    """Mean of the published ε-max JSD and the shares from 0.4 and from 0.6 on, for a data set as the paper calls it."""
    table = resources.published()
    rows = table[(table["paper"] == evidence.PAPER) & (table["table"] == TABLE) & (table["dataset"] == dataset)]
    cells = rows[(rows["model"] == model) & (rows["class_or_split"] == group)].set_index("metric")["value"].to_dict()
    names = ("epsilon-max JSD", *(f"epsilon-max JSD >= {share:.2f}" for share in SHARES))
    return tuple(float(cells[name]) for name in names) if set(names) <= set(cells) else None


def described(values: pd.Series) -> tuple[float | None, ...]:
    """Mean and the shares from 0.4 and from 0.6 on."""
    if not len(values):
        return (None, None, None)
    return (float(values.mean()), *(float((values >= share).mean()) for share in SHARES))


def by_group(model_name: str) -> pd.DataFrame:
    """For each predicted label: n, mean and shares of the search, mean of the exact optimum, both at 0.05, and the paper's."""
    frame, card = resources.results("adversary", model_name), resources.cards()[model_name]
    dataset, model = name_parts(model_name)
    rows = []
    for name, label, group in evidence.groups(card):
        part = frame if label is None else frame[frame["predicted"] == label]
        paper = published(evidence.PAPERS_NAMES.get(dataset, ""), model, group) or (None, None, None)
        here, exact = described(part[SERIES["search"]]), described(part[SERIES["exact"]])
        rows.append([name, len(part), *here, exact[0], *paper])
    columns = ["group", "n", "mean", "from_40", "from_60", "exact_mean", "paper_mean", "paper_40", "paper_60"]
    return pd.DataFrame(rows, columns=columns)


def models(model_name: str) -> pd.DataFrame:
    """Mean JSD over the test set for each encoder: search and exact optimum at 0.05, exact at the default ε; the paper's."""
    names = [(encoder, evidence.with_encoder(model_name, encoder)) for encoder in evidence.ENCODERS]
    return _intervals(names)


def normalizers(model_name: str) -> pd.DataFrame:
    """The same for one model with softmax and with sparsemax."""
    base = model_name.split(":")[0]
    return _intervals([("softmax", base), ("sparsemax", base + SPARSE)])


def exception(t: Texts) -> pd.DataFrame:
    """Where few precise words decide: the published figures of Diabetes, and a stand-in that anybody may run."""
    rows = []
    for group, name in (("predicted 0", t("exception.without")), ("predicted 1", t("exception.with"))):
        if found := published("Diabetes", "bilstm-additive", group):
            rows.append([t("exception.diabetes"), name, *found, None])
    try:
        ours = by_group(STAND_IN)
    except (Refusal, KeyError):
        ours = pd.DataFrame()
    for row in ours.to_dict("records"):
        if row["group"]:
            rows.append([STAND_IN, t.label(row["group"]), row["mean"], row["from_40"], row["from_60"], row["exact_mean"]])
    return pd.DataFrame(rows, columns=["data", "group", "mean", "from_40", "from_60", "exact_mean"])


def _intervals(names: Sequence[tuple[str, str]]) -> pd.DataFrame:
    rows = []
    for group, name in names:
        try:
            frame = resources.results("adversary", name)
        except Refusal:
            continue
        for series, column in SERIES.items():
            found = bootstrap_mean(frame[column].to_numpy(dtype=float))
            paper = _paper_mean(name, frame) if series == "search" else None
            rows.append([group, series, found.mean, found.low, found.high, found.n, paper])
    table = pd.DataFrame(rows, columns=["group", "series", "mean", "low", "high", "n", "published"])
    return table.astype(dict.fromkeys(("mean", "low", "high", "published"), float))


def _paper_mean(name: str, frame: pd.DataFrame) -> float | None:
    """The paper's mean over all sentences: of its classes, weighted by how often we predict them."""
    dataset, model = name_parts(name)
    if ":" in name:
        return None
    cells, weights = [], []
    for _, label, group in evidence.groups(resources.cards()[name]):
        found = published(evidence.PAPERS_NAMES.get(dataset, ""), model, group)
        if group == "all" and found is not None:
            return found[0]
        if label is not None:
            cells.append(found)
            weights.append(float((frame["predicted"] == label).mean()))
    known = [cell[0] for cell in cells if cell is not None]
    return float(np.dot(known, weights)) if known and len(known) == len(cells) else None


def name_parts(model_name: str) -> tuple[str, str]:
    """Data set and model of a name; a variant is another model."""
    dataset, model = model_name.split("/", 1)
    return dataset, model


def series_names(t: Texts, model_name: str) -> dict[str, str]:
    """The series in the reader's words."""
    card = resources.cards()[model_name]
    return {name: t(f"series.{adversaries.named(card, name)}") for name in SERIES}


def percent(share: float | None) -> str:
    """A share as whole percent; a dash where there is none."""
    return "–" if share is None or pd.isna(share) else f"{round(100 * share)} %"


def written(mean: float | None, *shares: float | None) -> str:
    """A mean with its shares in brackets; a dash where there is none."""
    known = mean is not None and not pd.isna(mean)
    return f"{number(mean)}  ({', '.join(percent(share) for share in shares)})" if known else "–"


def printed(table: pd.DataFrame, t: Texts, exact: str = "exact") -> pd.DataFrame:
    """The comparison as it is read: predicted label, the search here, the paper, the exact optimum (`exact` names it)."""
    return pd.DataFrame(
        {
            t("table.group"): [t.label(name) or t("table.all") for name in table["group"]],
            t("table.search"): [written(*row) for row in table[["mean", "from_40", "from_60"]].itertuples(index=False)],
            t("table.paper"): [written(*row) for row in table[["paper_mean", "paper_40", "paper_60"]].itertuples(index=False)],
            t(f"table.{exact}"): [number(mean) for mean in table["exact_mean"]],
        }
    )


def printed_exception(table: pd.DataFrame, t: Texts) -> pd.DataFrame:
    """The table of the exception as it is read."""
    return pd.DataFrame(
        {
            t("exception.data"): [f"{data}: {group}" for data, group in zip(table["data"], table["group"], strict=True)],
            t("table.search"): [written(*row) for row in table[["mean", "from_40", "from_60"]].itertuples(index=False)],
            t("table.exact"): [number(mean) for mean in table["exact_mean"]],
        }
    )


# Figures


def histogram(here: Here, choice: Choice, of_case: Callable[[str], float | None]) -> None:
    """JSD over the test set by predicted label; `of_case` gives this sentence's, None where it is not to be seen."""
    t = here.t
    with exhibits.figure(here, "histogram", t("histogram.name")) as frame:
        names = series_names(t, choice.model)
        series = controls.choose(here, "series", names, t("histogram.series"))
        table = resources.results("adversary", choice.model)
        values = table[SERIES[series]].astype(float)
        groups = {t.label(name) or t("table.all"): values[mask] for name, mask in evidence.by_label(table, choice.model)}
        binned = frames.binned_by({name: list(part) for name, part in groups.items()}, domain=DOMAIN)
        case = of_case(series)
        mean, std = number(values.mean()), number(values.std(ddof=0))
        where = evidence.provenance(table, t)
        caption = t("histogram.caption", mean=mean, std=std, series=names[series], **where)
        words = {"x": t("axis.jsd"), "y": t("axis.sentences"), "alt_text": t("histogram.alt", mean=mean, **where)}
        label = t("histogram.this", jsd=number(case))

        def draw(look: theme.Look) -> Any:
            return charts.histogram(binned, domain=DOMAIN, case=case, case_label=label, height=250, look=look, **words)

        exhibit = Exhibit("histogram", caption, t("histogram.source"), {"": binned}, draw, words["alt_text"])
        exhibits.show(here, frame, exhibit, t("histogram.by_label") if len(groups) > 1 else "")


def beside_paper(here: Here, choice: Choice, of_case: Callable[[str], float | None]) -> None:
    """The search at 0.05 by predicted label beside the published figures; the exact optimum apart."""
    t = here.t
    with exhibits.figure(here, "published", t("published.title")) as frame:
        results, table = resources.results("adversary", choice.model), resources.table(by_group, choice.model)
        card = resources.cards()[choice.model]
        st.caption(t("published.format"))
        st.table(printed(table, t, adversaries.named(card, "exact")), hide_index=True, border="horizontal")
        known = "absent" if table["paper_mean"].isna().all() else "known"
        parts = (t("published.caption", **evidence.provenance(results, t)), t(f"published.{known}"))
        caption = " ".join((*parts, t(f"published.{adversaries.named(card, 'exact')}")))
        exhibits.show(here, frame, Exhibit("published", caption, t("published.source"), {"": table}))


def encoders(here: Here, choice: Choice, of_case: Callable[[str], float | None]) -> None:
    """Mean JSD for each encoder, search and exact optimum."""
    table = resources.table(models, choice.model)
    groups = {name: here.t(f"encoder.{name}") for name in evidence.ENCODERS}
    interval_figure(here, choice, "encoders", table, groups)


def sparse(here: Here, choice: Choice, of_case: Callable[[str], float | None]) -> None:
    """Softmax beside sparsemax, where a model was trained with both."""
    table = resources.table(normalizers, choice.model)
    if table["group"].nunique() < 2:
        with exhibits.figure(here, "sparse", here.t("sparse.title")):
            st.markdown(here.t("sparse.lede"))
            st.caption(here.t("sparse.missing", model=evidence.SEEDED))
        return
    groups = {name: here.t(f"sparse.{name}") for name in ("softmax", "sparsemax")}
    interval_figure(here, choice, "sparse", table, groups, agreement_of_both(here.t, choice.model))


def agreement_of_both(t: Texts, model_name: str) -> str:
    """Mean tau of attention with gradient and leave-one-out under softmax and sparsemax; "" where it was not measured."""
    base = model_name.split(":")[0]
    try:
        both = {"softmax": resources.results("agreement", base), "sparsemax": resources.results("agreement", base + SPARSE)}
    except Refusal:
        return ""
    measures = {"gradient": "gradient", "leave_one_out": "loo"}
    taus = {
        f"{name}_{short}": number(evidence.tau(frame, "attention", measure).mean())
        for name, frame in both.items()
        for measure, short in measures.items()
    }
    return t("sparse.agreement", **taus)


def interval_figure(
    here: Here, choice: Choice, name: str, table: pd.DataFrame, groups: Mapping[str, str], note: str = ""
) -> None:
    """Dots with intervals by group and series, the paper's ticks where it has any."""
    t = here.t
    with exhibits.figure(here, name, t(f"{name}.title")) as frame:
        if t.has(f"{name}.lede"):
            st.markdown(t(f"{name}.lede"))
        where = evidence.provenance(resources.results("adversary", choice.model), t)
        series = series_names(t, choice.model)
        once = EPSILON[resources.cards()[choice.model].task.kind] == adversaries.LOOSE  # the default ε says nothing new then
        shown = table[table["series"] != "default"] if once else table
        shown = shown.assign(group=shown["group"].map(groups), series=shown["series"].map(series))
        said = ", ".join(f"{row['group']} {row['series']} {number(row['mean'])}" for row in shown.to_dict("records"))
        alt = t(f"{name}.alt", values=said)

        def draw(look: theme.Look) -> Any:
            paper = t("published.paper")
            return charts.intervals(shown, x=t("axis.mean"), alt_text=alt, published=paper, domain=DOMAIN, look=look)

        exhibit = Exhibit(name, t(f"{name}.caption", **where), t(f"{name}.source"), {"": shown}, draw, alt)
        weighted = len(evidence.groups(resources.cards()[choice.model])) > 1 and shown["published"].notna().any()
        exhibits.show(here, frame, exhibit, note, t("published.weighted") if weighted else "")


def few_words(here: Here, choice: Choice, of_case: Callable[[str], float | None]) -> None:
    """The exception: a class that few precise words decide leaves attention no room."""
    t = here.t
    with exhibits.figure(here, "exception", t("exception.title")) as frame:
        st.markdown(t("exception.lede"))
        st.caption(t("published.format"))
        table = exception(t)
        st.table(printed_exception(table, t), hide_index=True, border="horizontal")
        if STAND_IN not in set(table["data"]):
            st.caption(t("problem.no_results", model=STAND_IN, name="adversary"))
        exhibits.show(here, frame, Exhibit("exception", t("exception.caption"), t("exception.source"), {"": table}))
