"""Scores of words held against a person's marks and against the model: what the rationales page shows, as plain values.

`core` scores and measures; here the answers are kept for one text, put into words, and the tables of test sets become means
with intervals. Marks never enter what is computed by the model, so that a reader may change them at no cost.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from core.agreement import bootstrap_mean
from core.debate.rationales import (
    THRESHOLDS,
    Effect,
    Faithfulness,
    Plausibility,
    aopc,
    chance,
    effects,
    faithfulness,
    plausibility,
)
from core.explanation import explain
from core.models.classifier import Classifier
from core.reading import Reading
from core.types import Note
from dashboard import evidence, explained, resources, tokens
from dashboard.texts import Texts

ASKED = ("attention", "gradient", "leave_one_out", "integrated_gradients")
MEASURES = (*ASKED, "random")
MOVIES, STORIES = "movie_rationales", ("babi1", "babi2", "babi3")
ENCODERS = ("average", "bilstm")
FAMILIES = {"plausible": ("auprc", "f1"), "faithful": ("comprehensiveness", "sufficiency")}
DEALS = 200
AVERAGES = {"plain": 1.0, "printed": len(THRESHOLDS) / (len(THRESHOLDS) + 1)}  # what the plain mean is multiplied with


@dataclass(frozen=True)
class Judged:
    """A text, its prediction, and for each measure its scores and what their words do to the prediction.

    Scores are signed where the measure has signs, None where undefined; `faithful` holds the measures that are defined.
    """

    model: str
    words: tuple[str, ...]
    predicted: str
    prediction: Mapping[str, float]
    scores: Mapping[str, tuple[float | None, ...]]
    signed: frozenset[str]
    faithful: Mapping[str, Faithfulness]
    notes: tuple[Note, ...]

    def defined(self, measure: str) -> list[float] | None:
        """A measure's scores, None where it has none."""
        values = [value for value in self.scores[measure] if value is not None]
        return values if len(values) == len(self.words) else None

    def plausible(self, measure: str, marked: Sequence[int]) -> Plausibility | None:
        """How well a measure finds the marked words; None where it has no scores or nothing is marked."""
        values = self.defined(measure)
        return plausibility(values, marked) if values and marked else None


def judged(model: Classifier, reading: Reading) -> Judged:
    """A text under every measure but chance, in double precision."""
    found = explain(model, reading, measures=ASKED)
    scores = {name: found.signed.get(name, values) for name, values in found.scores.items()}
    defined = {name: [v for v in values if v is not None] for name, values in scores.items() if None not in values}
    return Judged(
        model=model.card.name,
        words=reading.example.text,
        predicted=found.target,
        prediction=found.prediction,
        scores=scores,
        signed=frozenset(found.signed),
        faithful=faithfulness(model.precise(), reading.example, defined),
        notes=found.notes,
    )


def drawn(model: Classifier, reading: Reading, *, seed: int) -> tuple[tuple[float, ...], Faithfulness]:
    """Random scores of a text, and what their words do to the prediction."""
    scores = chance(reading.example.text, seed)
    return scores, faithfulness(model.precise(), reading.example, {"random": scores})["random"]


def with_chance(found: Judged, random: tuple[tuple[float, ...], Faithfulness]) -> Judged:
    """A text under every measure, chance among them."""
    scores, faithful = random
    return replace(found, scores={**found.scores, "random": scores}, faithful={**found.faithful, "random": faithful})


def own(model: Classifier, reading: Reading, *, marked: tuple[int, ...]) -> Effect:
    """What the marked words themselves do to the prediction."""
    return effects(model.precise(), reading.example, [marked])[0]


def rows(t: Texts, found: Judged, marked: Sequence[int]) -> list[tokens.Row]:
    """The reader's marks, where there are any, and a strip for each measure with how well it finds them."""
    made = [strip(t, found, name, marked) for name in MEASURES]
    if not marked:
        return made
    ones = [float(place in set(marked)) for place in range(len(found.words))]
    return [tokens.Row(t("strips.you"), ones, t("strips.marked", k=len(marked), n=len(found.words)), decimals=0), *made]


def strip(t: Texts, found: Judged, name: str, marked: Sequence[int]) -> tokens.Row:
    """One measure's scores, with how well they find the marked words beside them."""
    values, parts = found.scores[name], []
    if (plausible := found.plausible(name, marked)) is not None:
        f1 = t("strips.f1", k=plausible.k, f1=tokens.number(plausible.f1))
        parts = [t("strips.auprc", auprc=tokens.number(plausible.auprc)), f1]
    note = ", ".join(part.replace(" ", explained.UNBROKEN) for part in parts)
    decimals, signed = explained.digits(values), name in found.signed
    return tokens.Row(t(f"measure.{name}"), values, t(f"strips.{name}"), signed=signed, note=note, decimals=decimals)


def table(found: Judged, marked: Sequence[int], average: str) -> pd.DataFrame:
    """measure, auprc, f1, comprehensiveness, sufficiency: one row a measure, missing where undefined."""
    made = []
    for name in MEASURES:
        plausible, faithful = found.plausible(name, marked), found.faithful.get(name)
        changes = ("comprehensiveness", "sufficiency")
        averaged = {change: averages(faithful, change, average) for change in changes}
        made.append(
            {"measure": name, "auprc": getattr(plausible, "auprc", None), "f1": getattr(plausible, "f1", None), **averaged}
        )
    return pd.DataFrame(made).astype(dict.fromkeys(("auprc", "f1", *changes), float))


def averages(faithful: Faithfulness | None, change: str, average: str) -> float | None:
    """A measure's comprehensiveness or sufficiency, averaged as chosen."""
    if faithful is None:
        return None
    return aopc([getattr(effect, change) for effect in faithful.effects], as_printed=average == "printed")


def by_threshold(found: Judged) -> pd.DataFrame:
    """measure, threshold, words, comprehensiveness, sufficiency: what is averaged."""
    made = [
        {
            "measure": name,
            "threshold": share,
            "words": size,
            "comprehensiveness": e.comprehensiveness,
            "sufficiency": e.sufficiency,
        }
        for name, faithful in found.faithful.items()
        for share, size, e in zip(THRESHOLDS, faithful.sizes, faithful.effects, strict=True)
    ]
    return pd.DataFrame(made)


def best(judgment: pd.DataFrame, column: str) -> list[str]:
    """The measures with the highest value of a column, chance aside; none where all are undefined."""
    values = judgment[judgment["measure"] != "random"].set_index("measure")[column].dropna().round(6)
    return [str(name) for name in values.index[values == values.max()]]


def movies(encoder: str) -> str:
    """The model of film reviews with rationales."""
    return f"{MOVIES}/{encoder}-additive"


def families(model_name: str, family: str, average: str) -> pd.DataFrame:
    """Means over the test set of one family's two numbers for each measure, with 95 % bootstrap intervals over documents.

    group (measure), series, mean, low, high, n (defined), undefined.
    """
    results = resources.results("rationales", model_name)
    made = []
    for measure in MEASURES:
        for series in FAMILIES[family]:
            values = results[f"{measure}:{series}"].astype(float) * (AVERAGES[average] if family == "faithful" else 1.0)
            made.append({"group": measure, "series": series, **interval(values), "undefined": int(values.isna().sum())})
    return pd.DataFrame(made)


def people(model_name: str, change: str) -> float | None:
    """What the words that people marked do to the prediction, mean over the documents that have any."""
    return bootstrap_mean(resources.results("rationales", model_name)[f"people:{change}"].to_numpy(dtype=float)).mean


def unsigned(model_name: str, average: str) -> dict[str, str]:
    """Comprehensiveness of the signed measures when they are taken by magnitude, as attention is; none where it was not run."""
    results = resources.results("rationales", model_name)
    columns = {name: f"|{name}|:comprehensiveness" for name in ("leave_one_out", "integrated_gradients")}
    if not set(columns.values()) <= set(results):
        return {}
    return {name: tokens.number(AVERAGES[average] * results[column].mean()) for name, column in columns.items()}


def winners(model_name: str) -> pd.DataFrame:
    """series, mean, low, high, n: the share of documents in which a measure with the highest AUPRC is also one with the highest
    comprehensiveness ("same"), and what remains of it when the latter are dealt to other documents ("dealt", mean of DEALS)."""
    results = resources.results("rationales", model_name)
    tops = [top(results, column) for column in ("auprc", "comprehensiveness")]
    there = tops[0].any(axis=1) & tops[1].any(axis=1)
    plausible, faithful = (part[there].reset_index(drop=True) for part in tops)
    dealt = [faithful.sample(frac=1, random_state=seed).reset_index(drop=True) for seed in range(DEALS)]
    same = (plausible & faithful).any(axis=1).astype(float)
    by_chance = float(np.mean([(plausible & part).any(axis=1).mean() for part in dealt]))
    return pd.DataFrame([{"series": "same", **interval(same)}, {"series": "dealt", "mean": by_chance, "n": len(same)}])


def top(results: pd.DataFrame, column: str) -> pd.DataFrame:
    """For each document, which measures (chance aside) have the highest value of a column."""
    values = results[[f"{measure}:{column}" for measure in ASKED]].astype(float).round(6).set_axis(ASKED, axis=1)
    return values.eq(values.max(axis=1), axis=0) & values.notna()


def stories() -> pd.DataFrame:
    """The mass of attention on the supporting sentences of bAbI's test stories, and their share of the words.

    group (task and encoder), series, mean, low, high, n, accuracy (of the model), and the other measures' mass as columns.
    """
    made = []
    for task, encoder, name in story_models():
        if not evidence.ran("rationales", name):
            continue
        results = resources.results("rationales", name)
        accuracy = float((results["predicted"] == results["label"]).mean())
        others = {measure: float(results[f"{measure}:mass"].mean()) for measure in ASKED[1:]}
        shared = {"group": f"{task}/{encoder}", "accuracy": accuracy, **others}
        made += [{**shared, "series": "attention", **interval(results["attention:mass"])}]
        made += [{**shared, "series": "share", **interval(results["marked"])}]
    columns = ["group", "series", "mean", "low", "high", "n", "accuracy", *ASKED[1:]]
    return pd.DataFrame(made, columns=columns)


def story_models() -> list[tuple[str, str, str]]:
    """Task, encoder and model of every table of stories."""
    return [(task, encoder, f"{task}/{encoder}-additive") for task in STORIES for encoder in ENCODERS]


def interval(values: pd.Series) -> dict[str, float | int | None]:
    """Mean of the defined values with its 95 % bootstrap interval."""
    found = bootstrap_mean(values.to_numpy(dtype=float))
    return {"mean": found.mean, "low": found.low, "high": found.high, "n": found.n}


def provenance(model_name: str, t: Texts) -> dict[str, str]:
    """Where a test set's figures come from, for sentences: data, split, n, and percentages of what was read and marked."""
    results = resources.results("rationales", model_name)
    right = results["predicted"] == results["label"]
    shares = {"kept": results["kept"].mean(), "marked": results["marked"].mean(), "accuracy": right.mean()}
    return evidence.provenance(results, t) | {name: f"{100 * share:.0f}" for name, share in shares.items()}
