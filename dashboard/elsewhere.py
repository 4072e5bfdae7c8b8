"""One text under models that were trained to look elsewhere, and their test sets: what the trained-adversary page shows.

`core` trains and measures. Here the answers are kept for one text and put into words, the rows of a test set become points
of (JSD, TVD), and what Wiegreffe & Pinter printed is brought to our scale: their TVD is half the difference of one sigmoid, so
that it is half of ours, and their λ is half of ours.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from core.debate.adversary import adversary
from core.models.classifier import Classifier
from core.models.comparison import compared
from core.reading import Reading
from core.types import Note, Refusal
from core.variants import CHOSEN
from dashboard import evidence, resources, tokens
from dashboard.explained import UNBROKEN
from dashboard.frontier import Style
from dashboard.texts import Texts

EPSILON, LOOSE, FAR = 0.01, 0.05, 0.4  # of the optimum, of the published search; the mean JSD that makes an adversary
LAMBDAS = ("0.001", "0.0022", "0.0046", "0.01", "0.022", "0.046")
PAPER = "Wiegreffe & Pinter 2019"
HALF = 2.0  # what their TVD and their λ are multiplied by
STYLES = {
    "adversary": Style("defence", "circle"),
    "uniform": Style("ink", "diamond"),
    "seed": Style("ink", "cross"),
    "optimum": Style("charge", "square"),
    "search": Style("charge", "triangle-up"),
    "paper_adversary": Style("defence", "circle", theirs=True),
    "paper_uniform": Style("ink", "diamond", theirs=True),
    "paper_seed": Style("ink", "cross", theirs=True),
    "paper_search": Style("charge", "triangle-up", theirs=True),
}
POINTS = ("group", "x", "y", "name", "joined")


@dataclass(frozen=True)
class Elsewhere:
    """A text under the base and other models: attention, prediction, distances to the base; and the optimum for this text."""

    words: tuple[str, ...]
    labels: tuple[str, ...]
    attention: np.ndarray  # "model word"
    prob: np.ndarray  # "model label"
    jsd: np.ndarray  # "model"
    tvd: np.ndarray  # "model"
    optimum: tuple[float, float]  # JSD and TVD of the best attention for this text alone
    notes: tuple[Note, ...]


def strengths(model_name: str) -> tuple[str, ...]:
    """λ of the committed adversaries of a model, rising."""
    return tuple(value for value in LAMBDAS if f"{model_name}:adversary={value}" in resources.cards())


def default(model_name: str) -> str:
    """The λ that is shown first: the least whose adversary is far from the base on validation."""
    there = strengths(model_name)
    wanted = CHOSEN.get(model_name.split("/")[0], "")
    return wanted if wanted in there else there[-1]


def beside(model_name: str) -> list[str]:
    """The committed models that a text is read by, after the base: adversaries by λ, uniform attention, other seeds."""
    adversaries = [f"{model_name}:adversary={value}" for value in strengths(model_name)]
    others = [f"{model_name}:uniform", *(f"{model_name}:seed={seed}" for seed in range(1, 8))]
    return [*adversaries, *(name for name in others if name in resources.cards())]


def elsewhere(model: Classifier, reading: Reading, *, others: Sequence[Classifier]) -> Elsewhere:
    """A text under the base and all `others`, in double precision, and the optimum within EPSILON."""
    batch = model.encode([reading.example])
    found, best = compared([model, *others], batch), adversary(model, batch, epsilon=EPSILON)[0]
    return Elsewhere(
        words=reading.example.text,
        labels=model.card.task.labels,
        attention=found.attention[:, 0].cpu().numpy(),
        prob=found.prob[:, 0].cpu().numpy(),
        jsd=found.jsd[:, 0].cpu().numpy(),
        tvd=found.tvd[:, 0].cpu().numpy(),
        optimum=(best.jsd[0], best.tvd[0]),
        notes=reading.notes,
    )


def rows(t: Texts, found: Elsewhere, at: int, strength: str) -> list[tokens.Row]:
    """The attention of the base and of one adversary, with what each predicts."""
    note = f"{said(t, found, at)}, " + t(
        "strips.apart", jsd=tokens.number(found.jsd[at], 3), tvd=tokens.number(found.tvd[at], 3)
    )
    return [
        tokens.Row(t("strips.base"), found.attention[0].tolist(), t("strips.learned"), note=said(t, found, 0)),
        tokens.Row(
            t("strips.adversary"),
            found.attention[at].tolist(),
            t("strips.strength", strength=strength),
            side="defence",
            note=note.replace(" ", UNBROKEN).replace(f",{UNBROKEN}", ", "),
        ),
    ]


def said(t: Texts, found: Elsewhere, at: int) -> str:
    """The label that the base predicts, with its probability under a model."""
    best = int(found.prob[0].argmax())
    return t("strips.p", label=t.label(found.labels[best]), p=tokens.number(float(found.prob[at, best])))


def points(t: Texts, found: Elsewhere, names: Sequence[str]) -> pd.DataFrame:
    """POINTS: the distances of every model to the base on one text, and of the optimum."""
    made = [point(t, name, float(found.jsd[i]), float(found.tvd[i])) for i, name in enumerate(names, 1)]
    made.append(("optimum", *found.optimum, t("frontier.within", epsilon=f"{EPSILON:g}"), False))
    return in_words(t, made)


def point(t: Texts, name: str, x: float, y: float) -> tuple[str, float, float, str, bool]:
    """A model's point: an adversary is called by its λ, joined where it is of the first seed; a seed by its number."""
    behind = dict(part.partition("=")[::2] for part in name.split(":")[1:])
    if "adversary" in behind:
        return "adversary", x, y, f"λ {behind['adversary']}", "seed" not in behind
    if "uniform" in behind:
        return "uniform", x, y, "", False
    return "seed", x, y, t("frontier.seed", seed=behind.get("seed", "0")), False


def in_words(t: Texts, made: Sequence[tuple[str, float, float, str, bool]]) -> pd.DataFrame:
    """POINTS with the groups in the reader's words."""
    frame = pd.DataFrame(list(made), columns=list(POINTS))
    return frame.assign(group=[named(t, group) for group in frame["group"]])


def styles(t: Texts) -> dict[str, Style]:
    """How the groups are drawn, by their names in the reader's words."""
    return {named(t, group): style for group, style in STYLES.items()}


def named(t: Texts, group: str) -> str:
    """A group of points in the reader's words."""
    return t("frontier.seed_name" if group == "seed" else f"frontier.{group}")


def measured(t: Texts, model_name: str) -> pd.DataFrame:
    """POINTS of a test set: means over its sentences for every model, what one text at a time allows, and Fig. 5."""
    table = resources.results("trained-adversary", model_name)
    made = [point(t, row["variant"], row["jsd"], row["tvd"]) for row in table.to_dict("records")]
    return in_words(t, [*made, *single(t, model_name), *published(t, model_name)])


def single(t: Texts, model_name: str) -> list[tuple[str, float, float, str, bool]]:
    """The optimum and the search for each text alone (Jain & Wallace), where they were run; of the search only the bound on
    its TVD is known."""
    try:
        table = resources.results("adversary", model_name)
    except Refusal:
        return []
    exact = (
        "optimum",
        float(table["jsd"].mean()),
        float(table["tvd"].mean()),
        t("frontier.within", epsilon=f"{EPSILON:g}"),
        False,
    )
    search = ("search", float(table["jsd_search_05"].mean()), LOOSE, t("frontier.within", epsilon=f"{LOOSE:g}"), False)
    return [exact, search]


def published(t: Texts, model_name: str) -> list[tuple[str, float, float, str, bool]]:
    """What was read off the paper's Figure 5 for the same corpus, the middle of a range, TVD doubled."""
    data = evidence.PAPERS_NAMES.get(model_name.split("/")[0])
    table = resources.published()
    table = table[(table["paper"] == PAPER) & (table["table"] == "Fig. 5") & (table["dataset"] == data)]
    groups = {
        "paper_adversary": "trained adversary, largest lambda shown",
        "paper_uniform": "uniform",
        "paper_seed": "random seeds",
        "paper_search": "J&W per-instance adversary",
    }
    made = []
    for group, model in groups.items():
        cells = table[table["model"] == model]
        jsd, tvd = (cells.loc[cells["metric"].str.startswith(f"{name} to base"), "value"].mean() for name in ("JSD", "TVD"))
        if len(cells):
            made.append((group, float(jsd), HALF * float(tvd), t("frontier.read"), False))
    return made


def chosen(model_name: str) -> Mapping[str, Any]:
    """The adversary to be reported: of those whose mean JSD on validation is above FAR, the most accurate on validation.

    Refuses where none is.
    """
    far = [row for row in adversaries(model_name) if row["validation_jsd"] > FAR]
    if not far:
        raise Refusal("no_far_adversary", f"No adversary of {model_name} is far from it on validation.", given=model_name)
    return max(far, key=lambda row: float(row["validation_accuracy"]))


def adversaries(model_name: str) -> list[dict[str, Any]]:
    """The rows of the adversaries of the first seed, by rising λ."""
    rows: list[dict[str, Any]] = resources.results("trained-adversary", model_name).to_dict("records")  # type: ignore[assignment]
    return sorted((row for row in rows if row["kind"] == "adversary" and not row["seed"]), key=lambda row: float(row["value"]))


def jump(model_name: str) -> tuple[str, str, float, float]:
    """The two neighboring λ between which the mean JSD grows most, and the mean JSD at each."""
    before, after = max(pairwise(adversaries(model_name)), key=lambda pair: pair[1]["jsd"] - pair[0]["jsd"])
    return before["value"], after["value"], float(before["jsd"]), float(after["jsd"])


def reported(model_names: Sequence[str]) -> pd.DataFrame:
    """data, where ("here", "paper"), lambda, f1, tvd, jsd, base_f1: the adversary chosen on validation beside Table 4."""
    made = []
    for name in model_names:
        try:
            found = chosen(name)
        except Refusal:
            continue
        base = resources.cards()[name]
        here = {"lambda": float(found["value"]), **{column: float(found[column]) for column in ("f1", "tvd", "jsd")}}
        made.append({"data": name.split("/")[0], "where": "here", **here, "base_f1": float(base.test["f1"])})
    return pd.DataFrame([*made, *table_4()], columns=["data", "where", "lambda", "f1", "tvd", "jsd", "base_f1"])


def table_4() -> list[dict[str, Any]]:
    """The published adversaries on our scale: λ and TVD doubled; the base's F1 is that of their Table 2."""
    table = resources.published()
    table = table[table["paper"] == PAPER]
    made: list[dict[str, Any]] = []
    for data, cells in table[table["table"] == "Table 4"].groupby("dataset", sort=False):
        value = cells.set_index(cells["metric"].str.split().str[0])["value"]
        base = table[(table["table"] == "Table 2") & (table["dataset"] == data) & table["model"].str.contains("reproduced")]
        ours = next((name for name, theirs in evidence.PAPERS_NAMES.items() if theirs == data), str(data))
        numbers = {"lambda": HALF * value["lambda"], "f1": value["F1"], "tvd": HALF * value["TVD"], "jsd": value["JSD"]}
        made.append({"data": ours, "where": "paper", **numbers, "base_f1": float(base["value"].iloc[0])})
    return made


def written(t: Texts, table: pd.DataFrame) -> pd.DataFrame:
    """The reported adversaries as they are read."""
    rows = [
        {
            t("reported.data"): t(f"reported.{row['where']}", data=t.words.get(f"corpus.{row['data']}", row["data"])),
            "λ": f"{row['lambda']:g}",
            t("reported.f1"): f"{tokens.number(row['f1'], 3)} ({tokens.number(row['base_f1'], 3)})",
            "TVD": tokens.number(row["tvd"], 3),
            "JSD": tokens.number(row["jsd"], 3),
        }
        for row in table.to_dict("records")
    ]
    return pd.DataFrame(rows)
