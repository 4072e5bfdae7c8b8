"""What a whole test set says, beside what the papers printed: tables of an experiment's results as tidy frames.

The published figures are those that were read first-hand (`assets/published.csv`); a cell that the paper's table does not
have may stand in the authors' files of the same run, and then says so. Means and shares are made as the paper made them: the
standard deviation over sentences, and the share of p <= 0.05 among all sentences, those without a defined p counted as not
significant.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import pandas as pd

from core import experiments, importance
from core.agreement import bootstrap_mean, noise_in_tau
from core.debate.adversary import Adversary, adversary
from core.explanation import TIES, Explanation
from core.models.classifier import Classifier
from core.reading import Reading
from core.types import Card, Refusal
from dashboard import resources
from dashboard.texts import Texts, count
from dashboard.tokens import number

PAPER = "Jain & Wallace 2019"
PAPERS_NAMES = {
    "sst2": "SST", "imdb": "IMDB", "ag_news": "AG News", "newsgroups_sports": "20News", "snli": "SNLI",
    "babi1": "bAbI 1", "babi2": "bAbI 2", "babi3": "bAbI 3",
}  # fmt: skip
TABLES = ("Table 2", "camera-ready tau")  # the paper's table, and the authors' files of the same run
ENCODERS = ("average", "cnn", "bilstm")
MEASURES = ("gradient", "leave_one_out")
SEEDED = "sst2/bilstm-additive"


@dataclass(frozen=True)
class Published:
    """A cell of the paper: mean and deviation of tau over sentences, share with p <= 0.05, and the table it stands in."""

    mean: float
    std: float | None
    share: float | None
    table: str


def tau(frame: pd.DataFrame, first: str, second: str) -> pd.Series:
    """Tau of a pair for every sentence, NaN where undefined."""
    return frame[f"{first}~{second}:tau"].astype(float)


def published(dataset: str, model: str, measure: str, group: str) -> Published | None:
    """What the paper reports for a data set, a model ("bilstm-additive") and a group of sentences, if it was confirmed."""
    table = resources.published()
    rows = table[(table["paper"] == PAPER) & (table["dataset"] == PAPERS_NAMES.get(dataset)) & (table["model"] == model)]
    for name in TABLES:
        cells = rows[(rows["table"] == name) & (rows["class_or_split"] == group)].set_index("metric")
        if (metric := f"tau attention~{measure}") in cells.index:
            share = cells["value"].get(f"p<=.05 attention~{measure}")
            return Published(float(cells["value"][metric]), _number(cells["std"][metric]), _number(share), name)
    return None


def figure_value(table: str, dataset: str) -> float | None:
    """A bar of the paper's Figures 3 to 5 for a data set (read off the printed page, to about 0.005)."""
    rows = resources.published()
    rows = rows[(rows["paper"] == PAPER) & (rows["table"] == table) & (rows["dataset"] == PAPERS_NAMES.get(dataset))]
    return float(rows["value"].iloc[0]) if len(rows) else None


def groups(card: Card) -> list[tuple[str, int | None, str]]:
    """Groups of sentences: name of the label ("" for all), its id, and what the published table calls the group."""
    if card.task.kind == "qa":
        return [("", None, "all")]
    by_name = card.task.kind == "nli"
    labels = enumerate(card.task.labels)
    return [*((name, i, f"predicted {name if by_name else i}") for i, name in labels), ("", None, "all")]


def comparison(model_name: str) -> pd.DataFrame:
    """For each group and measure: n, undefined, mean, std, share here, and paper_mean, paper_std, paper_share, paper_table."""
    frame, card = resources.results("agreement", model_name), resources.cards()[model_name]
    dataset, model = _parts(model_name)
    rows = []
    for measure in MEASURES:
        for name, label, group in groups(card):
            part = frame if label is None else frame[frame["predicted"] == label]
            found = published(dataset, model, measure, group)
            here = describe(tau(part, "attention", measure), part[f"attention~{measure}:p"].astype(float))
            paper = {f"paper_{field.name}": getattr(found, field.name, None) for field in fields(Published)}
            rows.append({"measure": measure, "group": name, **here, **paper})
    return pd.DataFrame(rows)


def describe(values: pd.Series, p_values: pd.Series) -> dict[str, float | int | None]:
    """n, undefined, mean, std (population), share of p <= 0.05 among all."""
    defined = values.dropna()
    mean, std = (float(defined.mean()), float(defined.std(ddof=0))) if len(defined) else (None, None)
    share = float((p_values <= 0.05).mean()) if len(p_values) else None
    return {"n": len(values), "undefined": len(values) - len(defined), "mean": mean, "std": std, "share": share}


def encoders(model_name: str) -> pd.DataFrame:
    """Mean tau of attention with each measure over the test set for the encoders that were run, with bootstrap intervals.

    group (encoder), series (measure), mean, low, high, n, published (mean over the paper's classes, weighted by our counts).
    """
    dataset, model = _parts(model_name)
    score = model.split("-", 1)[1]
    names = [(encoder, f"{dataset}/{encoder}-{score}") for encoder in ENCODERS]
    return _intervals([(encoder, name) for encoder, name in names if name in resources.cards()])


def ran(experiment: str, model_name: str) -> bool:
    """Whether an experiment was run for a model and its table can be read."""
    try:
        return len(resources.results(experiment, model_name)) > 0
    except Refusal:
        return False


def unmeasured(t: Texts, experiment: str, named: Mapping[str, str]) -> str:
    """The end of a caption that says for which models (by their names in the reader's words) a table is still to be made;
    empty where there is none."""
    left = {name: model_name for name, model_name in named.items() if not ran(experiment, model_name)}
    planned = experiments.shown() if left else []
    names = [name for name, model_name in left.items() if (experiment, model_name) in planned]
    return " " + t("figure.unmeasured", names=", ".join(names)) if names else ""


def seeds() -> pd.DataFrame:
    """The same for the five trainings of one model, by seed."""
    names = [name for name in experiments.done("agreement") if name == SEEDED or name.startswith(f"{SEEDED}:seed=")]
    by_seed = sorted((resources.results("agreement", name).attrs["provenance"]["seed"], name) for name in names)
    return _intervals([(str(seed), name) for seed, name in by_seed])


def differences(model_name: str) -> pd.DataFrame:
    """Mean over sentences of tau(gradient, leave-one-out) minus attention's tau: group, mean, low, high, n, published."""
    frame = resources.results("agreement", model_name)
    dataset, model = _parts(model_name)
    rows = []
    # By the authors' files the bars of Figure 3 subtract attention~gradient and those of Figure 4 attention~LOO.
    for measure, figure in (("gradient", "Fig. 3"), ("leave_one_out", "Fig. 4")):
        gap = tau(frame, "gradient", "leave_one_out") - tau(frame, "attention", measure)
        known = figure_value(figure, dataset) if model == "bilstm-additive" else None
        rows.append({"group": measure, "series": "here", **_mean(gap), "published": known})
    return pd.DataFrame(rows)


def _intervals(names: Sequence[tuple[str, str]]) -> pd.DataFrame:
    rows = []
    for group, name in names:
        try:
            frame = resources.results("agreement", name)
        except Refusal:
            continue
        for measure in MEASURES:
            found = _paper_mean(name, measure, frame)
            rows.append({"group": group, "series": measure, **_mean(tau(frame, "attention", measure)), "published": found})
    return pd.DataFrame(rows, columns=["group", "series", "mean", "low", "high", "n", "published"])


def _mean(values: pd.Series) -> dict[str, float | int | None]:
    found = bootstrap_mean(values.to_numpy(dtype=float))
    return {"mean": found.mean, "low": found.low, "high": found.high, "n": found.n}


def _paper_mean(name: str, measure: str, frame: pd.DataFrame) -> float | None:
    """The paper's mean over all sentences; where it has classes only, their mean weighted by how often we predict them."""
    dataset, model = _parts(name)
    card = resources.cards()[name.split(":")[0]]  # a further seed may have results and no committed model
    whole = published(dataset, model, measure, "all")
    if whole is not None:
        return whole.mean
    cells = [(published(dataset, model, measure, group), label) for _, label, group in groups(card) if label is not None]
    if not cells or any(cell is None for cell, _ in cells):
        return None
    weights = [float((frame["predicted"] == label).mean()) for _, label in cells]
    return float(np.dot([cell.mean for cell, _ in cells if cell], weights))


def _parts(model_name: str) -> tuple[str, str]:
    dataset, model = model_name.split(":")[0].split("/", 1)
    return dataset, model


def _number(value: Any) -> float | None:
    return None if pd.isna(value) else float(value)


def provenance(table: pd.DataFrame, t: Texts) -> dict[str, str]:
    """Data, split and n of a table of results, for sentences; what is a part of a set is called one."""
    settings = table.attrs["provenance"]
    data, split = settings["data"], settings["split"]
    return {
        "data": t(f"data.{data}") if t.has(f"data.{data}") else data,
        "split": t("data.part", split=split) if settings["command"].endswith(f" --limit {settings['n']}") else split,
        "n": count(settings["n"]),
    }


def by_label(frame: pd.DataFrame, model_name: str) -> list[tuple[str, pd.Series]]:
    """For each of two labels its name and the sentences that were given it; one group of all ("") where there are more."""
    labels = resources.cards()[model_name].task.labels
    if len(labels) > 2:
        return [("", frame["predicted"].notna())]
    marks = [(name, frame["predicted"] == i) for i, name in enumerate(labels)]
    return [(name, mask) for name, mask in marks if mask.any()]


def with_encoder(model_name: str, encoder: str) -> str:
    """The name of the same data and score with another encoder."""
    dataset, model = _parts(model_name)
    return f"{dataset}/{encoder}-{model.split('-', 1)[1]}"


def noise(found: Explanation, names: Mapping[str, str]) -> pd.DataFrame:
    """Tau of attention with each measure over its 2, 3, ... most important words: x, series, mean, low, high."""
    rows = []
    for measure, name in names.items():
        attention, scores = ([x for x in found.scores[name] if x is not None] for name in ("attention", measure))
        if len(scores) != len(attention):
            continue
        added = noise_in_tau(attention, scores, tie=(TIES.get("attention", 0.0), TIES.get(measure, 0.0)))
        rows += [
            {"x": i, "series": name, "mean": step.kendall_tau, "low": step.low, "high": step.high}
            for i, step in enumerate(added, 2)
            if step.kendall_tau is not None
        ]
    table = pd.DataFrame(rows, columns=["x", "series", "mean", "low", "high"])
    return table.astype(dict.fromkeys(("mean", "low", "high"), float))


def pairs(found: Explanation, t: Texts) -> pd.DataFrame:
    """Every pair of measures with its agreement, one row a pair, in the reader's words."""
    rows = [
        {
            "pair": " – ".join(t(f"measure.{name}") for name in key.split("~")),
            **{"tau": pair.kendall.kendall_tau, "low": pair.kendall.low, "high": pair.kendall.high},
            **{"p": pair.kendall.p_value, "n": pair.kendall.n, "k": pair.top_k.k},
            **{"overlap": pair.top_k.overlap, "top_tau": pair.top_k.tau},
        }
        for key, pair in found.agreement.items()
    ]
    return pd.DataFrame(rows).rename(columns=lambda name: t(f"table.{name}"))


def printed(table: pd.DataFrame, t: Texts) -> pd.DataFrame:
    """A comparison as it is read: measure, label, here, published; a cell that the paper does not print bears a dagger."""

    def written(mean: Any, std: Any, share: Any, mark: str = "") -> str:
        if pd.isna(mean):
            return "–"
        return f"{number(mean)}\u00a0±\u00a0{number(std)}" + ("" if pd.isna(share) else f", {round(100 * share)}\u00a0%") + mark

    rows = [
        {
            t("published.measure"): t(f"measure.{row['measure']}"),
            t("published.class"): t.label(row["group"]) or t("published.all"),
            t("published.ours"): written(row["mean"], row["std"], row["share"]),
            t("published.paper"): written(row["paper_mean"], row["paper_std"], row["paper_share"], "\u2009†" * unprinted),
        }
        for row, unprinted in zip(table.to_dict("records"), in_files(table), strict=True)
    ]
    return pd.DataFrame(rows)


def in_files(table: pd.DataFrame) -> pd.Series:
    """Which rows of a comparison stand beside figures that only the authors' files have."""
    return table["paper_mean"].notna() & (table["paper_table"] != TABLES[0])


def other_map(model: Classifier, reading: Reading, epsilon: float) -> Adversary:
    """The attention farthest from the model's own whose prediction stays within epsilon."""
    return adversary(model, model.encode([reading.example]), epsilon=epsilon)[0]


def mixing(model: Classifier, reading: Reading, words: int) -> np.ndarray:
    """How much the state at each of the first words depends on each of them, rows summing to one; longer texts are cut."""
    short = replace(reading.example, text=reading.example.text[:words])
    return np.asarray(importance.mixing(model, model.encode([short]), words=words))
