"""What nine methods say about one text, and how they compare over whole test sets, as plain values and their frames.

Scores belong to tokens, as words or as pieces; agreement is always over words, as deletion is.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from core.agreement import bootstrap_mean
from core.attattr import merging, rivals
from core.attattr.attribution import RULES, attribution
from core.attattr.rivals import RIVALS, Scores
from core.experiments.attribution import RATED, agreements, faithful
from core.models.transformer import Transformer
from core.reading import Reading, target_id
from core.types import Batch, Note
from dashboard import frames, resources, tokens
from dashboard.texts import Texts

METHODS, UNITS = tuple(RIVALS), ("words", "pieces")
ATTRIBUTION, TOTAL = "attribution", "total"
EFFECTS = ("comprehensiveness", "sufficiency")
SMALLEST = 1e-9  # an error below this is drawn as this


@dataclass(frozen=True)
class Method:
    """A method's scores per token (None: it has none there) and its matrices, "query key" and "layer query key"."""

    scores: tuple[float | None, ...]
    matrix: np.ndarray | None
    layers: np.ndarray | None


@dataclass(frozen=True)
class Told:
    """A text's tokens, which of them are special, and what each method says of them."""

    tokens: tuple[str, ...]
    special: tuple[int, ...]
    methods: Mapping[str, Method]


@dataclass(frozen=True)
class Compared:
    """One text under every method."""

    prediction: dict[str, float]
    predicted: str
    target: str
    words: tuple[str, ...]  # of text and query
    scores: Mapping[str, tuple[float, ...]]  # per word
    tau: Mapping[tuple[str, str], float | None]
    effects: Mapping[str, tuple[float | None, float | None]]  # of the words that speak for the predicted label; else empty
    told: Mapping[str, Told]  # by unit
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class Integrated:
    """Attribution with a rule and a number of nodes, and how far each layer is from adding up."""

    told: Mapping[str, Method]  # by unit
    sums: tuple[float, ...]  # of each layer's attributions
    difference: tuple[float, ...]  # what they should be: p minus p without the layer's attention
    errors: Mapping[str, tuple[float, ...]]  # of each rule with as many nodes


def compared(model: Transformer, reading: Reading, *, target: str | None = None) -> Compared:
    """Every method for the probability of `target`, the predicted label by default; deletion is asked for the predicted one."""
    batch, prob, predicted, wanted = _asked(model, reading, target)
    found = rivals.compare(model, batch, torch.tensor([wanted], device=batch.ids.device))
    own = {name: one.words[0] for name, one in found.items()}
    agreed, labels = agreements(own), model.card.task.labels
    effects = faithful(model, batch.examples[0], own) if wanted == predicted else {}
    return Compared(
        prediction=dict(zip(labels, prob.tolist(), strict=True)),
        predicted=labels[predicted],
        target=labels[wanted],
        words=(*batch.examples[0].text, *batch.examples[0].query),
        scores={name: tuple(values) for name, values in own.items()},
        tau={(a, b): agreed[f"{a}~{b}:tau"] for a, b in combinations(METHODS, 2)},
        effects={name: (effects[f"{name}:{EFFECTS[0]}"], effects[f"{name}:{EFFECTS[1]}"]) for name in RATED if effects},
        told={unit: _told(model, batch, found, unit) for unit in UNITS},
        notes=reading.notes,
    )


def integrated(model: Transformer, reading: Reading, *, target: str | None = None, rule: str, nodes: int) -> Integrated:
    """Attribution by a rule, and the errors of every rule with as many nodes.

    The left sum is the right one without its last point and with the first: L = R − (R₁ − L₁)/n.
    """
    batch, _, _, wanted = _asked(model, reading, target)
    label = torch.tensor([wanted], device=batch.ids.device)
    made = {name: attribution(model, batch, target=label, nodes=nodes, rule=name) for name in ("gauss", "right")}
    ends = [attribution(model, batch, target=label, nodes=1, rule=name).attribution for name in ("right", "left")]
    made["left"] = replace(made["right"], attribution=made["right"].attribution - (ends[0] - ends[1]) / nodes)
    own = made[rule]
    scores = rivals.attributed(batch, own)
    return Integrated(
        told={unit: _method(batch, ATTRIBUTION, scores, unit) for unit in UNITS},
        sums=tuple(own.attribution.sum((2, 3, 4))[0].tolist()),
        difference=tuple(own.difference[0].tolist()),
        errors={name: tuple(made[name].error[0].tolist()) for name in RULES},
    )


def _asked(model: Transformer, reading: Reading, target: str | None) -> tuple[Batch, Tensor, int, int]:
    batch = model.encode([reading.example])
    prob = model.unchanged(batch).logits.softmax(-1)[0]
    predicted = int(prob.argmax())
    return batch, prob, predicted, target_id(model.card, target, predicted)


def _told(model: Transformer, batch: Batch, found: Mapping[str, Scores], unit: str) -> Told:
    at = _words_at(batch, unit)
    named = merging.names(model, batch)[0] if unit == "words" else model.pieces(batch)[0]
    special = tuple(place for place, word in enumerate(at) if word < 0)
    return Told(tuple(named), special, {name: _method(batch, name, one, unit) for name, one in found.items()})


def _words_at(batch: Batch, unit: str) -> list[int]:
    """The word that stands at each token, -1 for a special one."""
    return merging.words_at(batch)[0] if unit == "words" else batch.word[0].tolist()


def _method(batch: Batch, name: str, found: Scores, unit: str) -> Method:
    """A method's answer in a unit. Where only words have scores, each piece is given that of its word."""
    if found.tokens is None:
        own = found.words[0]
        return Method(tuple(own[word] if 0 <= word < len(own) else None for word in _words_at(batch, unit)), None, None)
    if unit == "pieces":
        return Method(tuple(found.tokens[0].tolist()), _numpy(found.matrix), _numpy(found.layers))
    how = RIVALS[name].merged
    matrices = [None if m is None else merging.to_words(batch, m, how) for m in (found.matrix, found.layers)]
    scores = merging.scores_to_words(batch, found.tokens)[0].tolist()
    return Method(tuple(scores), _numpy(matrices[0]), _numpy(matrices[1]))


def _numpy(matrices: Tensor | None) -> np.ndarray | None:
    return None if matrices is None else matrices[0].float().cpu().numpy()


def order_of(scores: Sequence[float]) -> list[int]:
    """Words from the largest |score| to the smallest."""
    return np.argsort(-np.abs(np.asarray(scores, dtype=float)), kind="stable").tolist()


def place_of(found: Compared, method: str = ATTRIBUTION) -> tuple[int, int] | None:
    """The word that attention puts first, and its place by another method, from 1; None where there are not two words."""
    if len(found.words) < 2:
        return None
    first = order_of(found.scores["attention"])[0]
    return first, order_of(found.scores[method]).index(first) + 1


def special_share(told: Told, method: str) -> float | None:
    """How much of a method's scores by size lies on special tokens; None where these have none."""
    scores = told.methods[method].scores
    if any(scores[place] is None for place in told.special):
        return None
    sizes = [abs(score or 0.0) for score in scores]
    return sum(sizes[place] for place in told.special) / sum(sizes) if sum(sizes) else None


def with_integral(told: Told, unit: str, found: Integrated) -> Told:
    """The same with attribution by the chosen rule."""
    return replace(told, methods={**told.methods, ATTRIBUTION: found.told[unit]})


def matrix_of(told: Told, method: str, layer: str) -> np.ndarray | None:
    """The matrix of a method: what its scores are read from, or that of a layer (from 1); None where there is none."""
    found = told.methods[method]
    if layer == TOTAL or found.layers is None:
        return found.matrix
    own: np.ndarray = found.layers[int(layer) - 1]
    return own


def cost(layers: int, nodes: int) -> tuple[int, int]:
    """How many layers are run forward and back: with those below computed once, and with every layer run anew in 20 steps."""
    return nodes * layers * (layers + 1) // 2, 20 * layers * layers


def pairs(t: Texts, tau: Mapping[tuple[str, str], float | None]) -> pd.DataFrame:
    """A `frames.matrix` frame of tau for every two methods, either way round; the diagonal is empty."""
    n, at = len(METHODS), {name: place for place, name in enumerate(METHODS)}
    values = np.full((n, n), np.nan)
    for (a, b), value in tau.items():
        values[at[a], at[b]] = values[at[b], at[a]] = np.nan if value is None else value
    names = [t(f"method_name.{name}") for name in METHODS]
    return frames.matrix(values, names, names)


def measured_pairs(model_name: str) -> pd.DataFrame:
    """first, second, mean, low, high, n: mean tau of every two methods over a test set, with bootstrap intervals."""
    table = resources.results("attribution", model_name)
    rows = [{"first": a, "second": b, **_mean(table[f"{a}~{b}:tau"])} for a, b in combinations(METHODS, 2)]
    return pd.DataFrame(rows)


def means(table: pd.DataFrame) -> dict[tuple[str, str], float | None]:
    """The means of a `measured_pairs` table by pair."""
    rows = table[["first", "second", "mean"]].itertuples(index=False)
    return {(a, b): None if pd.isna(mean) else float(mean) for a, b, mean in rows}


def measured_effects(model_name: str) -> pd.DataFrame:
    """method, effect, mean, low, high, n: comprehensiveness and sufficiency over a test set, with bootstrap intervals."""
    table = resources.results("attribution", model_name)
    rows = [{"method": name, "effect": effect, **_mean(table[f"{name}:{effect}"])} for name in RATED for effect in EFFECTS]
    return pd.DataFrame(rows)


def _mean(values: pd.Series) -> dict[str, float | int | None]:
    found = bootstrap_mean(values.to_numpy(dtype=float))
    return {"mean": found.mean, "low": found.low, "high": found.high, "n": found.n}


def effects(t: Texts, table: pd.DataFrame, found: Compared | None) -> pd.DataFrame:
    """For `charts.intervals`: group (method), series (effect), mean, low, high, n, and this text in `published`."""
    here = found.effects if found is not None else {}
    own = [here[m][EFFECTS.index(e)] if m in here else None for m, e in zip(table["method"], table["effect"], strict=True)]
    return table.assign(
        group=[t(f"method_name.{name}") for name in table["method"]],
        series=[t(f"effects.{effect}") for effect in table["effect"]],
        published=np.array(own, dtype=float),
    ).drop(columns=["method", "effect"])


def ends_of(table: pd.DataFrame) -> tuple[float, float]:
    """The tenths between which an `effects` table lies, at least from −0.1 to 0.5."""
    values = table[["mean", "low", "high", "published"]].to_numpy(dtype=float)
    return min(-0.1, float(np.floor(10 * np.nanmin(values)) / 10)), max(0.5, float(np.ceil(10 * np.nanmax(values)) / 10))


def errors(t: Texts, found: Integrated) -> pd.DataFrame:
    """layer (from 1), rule, error, drawn (on a logarithmic scale, which has no zero)."""
    rows = [
        {"layer": layer, "rule": t(f"rule.{rule}"), "error": error, "drawn": max(error, SMALLEST)}
        for rule, values in found.errors.items()
        for layer, error in enumerate(values, 1)
    ]
    return pd.DataFrame(rows)


def layer_sums(found: Integrated, rule: str) -> pd.DataFrame:
    """layer, sum, difference, error of the chosen rule: the law that every layer keeps, in numbers."""
    own = {"sum": found.sums, "difference": found.difference, "error": found.errors[rule]}
    return pd.DataFrame({"layer": range(1, len(found.sums) + 1), **own})


def error_of(values: Sequence[float]) -> str:
    """The largest error, as it is read."""
    largest = max(values)
    return "< 10⁻⁵" if largest < 1e-5 else tokens.number(largest, 5 if largest < 1e-3 else 3)
