"""An attribution tree on one text, and what cutting it does: what the page asks of `core`, as plain values.

Attributions are computed once for a text and a label; trees with other thresholds, over words or over pieces, grow from them at
once. Only cutting asks the model again.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch

from core.agreement import bootstrap_mean
from core.attattr import merging
from core.attattr.attribution import attribution
from core.attattr.cutting import largest, marks, probs_without, random_others
from core.attattr.tree import Edge, Tree
from core.experiments.tree import TAUS
from core.importance import probabilities
from core.models.transformer import Transformer
from core.reading import Reading, target_id
from core.types import Batch, Note
from dashboard import resources, texts, tokens
from dashboard.texts import Texts

UNITS = ("words", "pieces")
ARMS = ("tree", "random", "weight", "attribution")  # what is cut
DRAWS = 20  # of random edges
SHOWN = 36  # tokens that a drawing lists; of more only those of the tree

Place = tuple[int, int, int]  # layer, reader, source


@dataclass(frozen=True)
class Level:
    """A text as words or as pieces; special tokens are among them."""

    names: tuple[str, ...]
    special: frozenset[int]
    attribution: np.ndarray  # "layer query key", heads summed
    weights: np.ndarray  # "layer query key", mean over heads


@dataclass(frozen=True)
class Seen:
    """The attributions of one text for the probability of one label."""

    model: str
    prediction: dict[str, float]
    target: str
    prob: float
    levels: dict[str, Level]  # by UNITS
    error: float  # the largest completeness error of a layer
    notes: tuple[Note, ...]


def seen(model: Transformer, reading: Reading, *, target: str | None) -> Seen:
    """What each token got from each other token, layer by layer."""
    batch = model.encode([reading.example])
    with torch.no_grad():
        prob = probabilities(model.run(batch).logits)[0]
    label = target_id(model.card, target, int(prob.argmax()))
    found = attribution(model, batch, target=torch.tensor([label], device=batch.ids.device))
    summed, weights = found.attribution.sum(2), found.attention.mean(2)
    pieces = Level(
        names=tuple(model.pieces(batch)[0]),
        special=frozenset((~batch.mask[0]).nonzero()[:, 0].tolist()),
        attribution=summed[0].cpu().double().numpy(),
        weights=weights[0].cpu().double().numpy(),
    )
    words = Level(
        names=tuple(merging.names(model, batch)[0]),
        special=frozenset(i for i, word in enumerate(merging.words_at(batch)[0]) if word < 0),
        attribution=merging.to_words(batch, summed, "attribution")[0].cpu().double().numpy(),
        weights=merging.to_words(batch, weights, "attention")[0].cpu().double().numpy(),
    )
    return Seen(
        model=model.card.name,
        prediction=dict(zip(model.card.task.labels, prob.tolist(), strict=True)),
        target=model.card.task.labels[label],
        prob=float(prob[label]),
        levels={"words": words, "pieces": pieces},
        error=float(found.error.max()),
        notes=reading.notes,
    )


def without(
    model: Transformer, reading: Reading, *, target: str, units: str, cuts: tuple[tuple[Place, ...], ...]
) -> tuple[float, ...]:
    """The probability of a label with each of several sets of edges cut."""
    batch = model.encode([reading.example])
    place = _places(batch, units)
    marked = [marks([Edge(j, i, layer, 0.0) for layer, i, j in cut], place, model.n_layers) for cut in cuts]
    return tuple(probs_without(model, batch, torch.stack(marked))[:, model.card.task.labels.index(target)].tolist())


def _places(batch: Batch, units: str) -> torch.Tensor:
    own = merging.places(batch)[0]
    return own if units == "words" else torch.arange(len(own), device=own.device)


def arms(level: Level, grown: Tree, seed: int) -> dict[str, list[tuple[Place, ...]]]:
    """The edges to cut, by what is cut: the tree's, or as many others (of random ones several draws)."""
    generator = np.random.default_rng(seed)
    return {
        "tree": [places(grown.edges)],
        "random": [places(random_others(grown.edges, level.attribution, generator)) for _ in range(DRAWS)],
        "weight": [places(largest(grown.edges, level.weights))],
        "attribution": [places(largest(grown.edges, level.attribution))],
    }


def places(edges: Sequence[Edge]) -> tuple[Place, ...]:
    """Edges without their weights."""
    return tuple((edge.layer, edge.reader, edge.source) for edge in edges)


def effects(cut: dict[str, list[tuple[Place, ...]]], probs: Sequence[float], prob: float) -> pd.DataFrame:
    """group (what is cut, first nothing), mean, low, high, draws: the probability; of random edges the middle 95 %."""
    rows, start = [{"group": "none", "mean": prob, "low": prob, "high": prob, "draws": 1}], 0
    for name, draws in cut.items():
        own = np.asarray(probs[start : start + len(draws)])
        start += len(draws)
        low, high = np.quantile(own, [0.025, 0.975])
        rows.append({"group": name, "mean": own.mean(), "low": low, "high": high, "draws": len(draws)})
    return pd.DataFrame(rows)


def named(t: Texts, level: Level, edge: Edge) -> str:
    """An edge as it is read: its layer, who is read, by whom."""
    words = [tokens.nth(level.names, place) for place in (edge.source, edge.reader)]
    return f"{edge.layer + 1}: {words[0]} → {words[1]}"


def ids(edges: Sequence[Edge]) -> list[str]:
    """What tells the edges of one tree from those of another, for the link."""
    return [f"{edge.layer}:{edge.source}-{edge.reader}" for edge in edges]


def reading_of(t: Texts, level: Level, grown: Tree, layers: int) -> str:
    """The tree in a sentence or two, or why there is none."""
    root = texts.plain(tokens.nth(level.names, grown.root)) if grown.root is not None else ""
    if grown.why:
        return t(f"why.{grown.why}", root=root)
    best = max(grown.edges, key=lambda edge: edge.weight)
    ends = {"source": best.source, "reader": best.reader}
    values = {name: texts.plain(tokens.nth(level.names, place)) for name, place in ends.items()}
    values |= {"layer": str(best.layer + 1), "weight": tokens.fine(best.weight)}
    return t("reading.tree", root=root, n=len(grown.edges), layers=layers - 1, **values)


def by_tau(model_name: str) -> pd.DataFrame:
    """group (τ), series (what is cut), mean, low, high, n: how far the predicted label's probability falls over a test set, on
    the sentences whose tree has an edge."""
    table = resources.results("tree", model_name)
    rows = []
    for tau in TAUS:
        for arm in ARMS:
            found = bootstrap_mean(table[f"{tau}:{arm}_fall"].to_numpy(dtype=float))
            rows.append(
                {"group": str(tau), "series": arm, "mean": found.mean, "low": found.low, "high": found.high, "n": found.n}
            )
    return pd.DataFrame(rows)


def flips(model_name: str) -> pd.DataFrame:
    """tau, edges (mean), none (share without an edge), n (with one), and for each of ARMS the share of decisions it flips."""
    table = resources.results("tree", model_name)
    rows = []
    for tau in TAUS:
        part = table[table[f"{tau}:edges"] > 0]
        shares = {arm: float(part[f"{tau}:{arm}_flipped"].mean()) for arm in ARMS}
        edges = table[f"{tau}:edges"]
        rows.append({"tau": tau, "edges": float(edges.mean()), "none": float((edges == 0).mean()), "n": len(part), **shares})
    return pd.DataFrame(rows)
