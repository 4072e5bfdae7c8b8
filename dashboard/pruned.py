"""A sentence and whole test sets as heads are masked one tenth after the other, as plain values for the pruning page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pandas as pd
import torch
from scipy.stats import binomtest, spearmanr

from core.agreement import kendall
from core.attattr.heads import CHANCE, CRITERIA, STEPS, HeadScores, importances, kept, mask, ordered, random_importance
from core.experiments import head_importance, pruning
from core.importance import probabilities
from core.models.transformer import Transformer
from core.reading import Reading
from core.types import Note, Refusal
from dashboard import resources
from dashboard.texts import Texts

RANKED = "head-importance"  # the experiment that ranks heads
HALVES = 20  # times that the examples are halved
Orders = tuple[tuple[str, tuple[int, ...]], ...]  # criterion and its order of heads, for a cache's key


@dataclass(frozen=True)
class Pruned:
    """A text with 100, 90, ... 0 percent of the heads under each order, and its prediction with all of them."""

    labels: tuple[str, ...]
    prediction: dict[str, float]
    prob: Mapping[str, np.ndarray]  # by criterion: "step", of the label predicted with all heads
    label: Mapping[str, np.ndarray]  # by criterion: "step", the likeliest label's index
    notes: tuple[Note, ...]

    @property
    def predicted(self) -> int:
        """The label predicted with all heads, by its index."""
        return int(np.argmax(list(self.prediction.values())))

    def flips_at(self, criterion: str) -> int | None:
        """How many percent of the heads are masked when the prediction first changes; None if it never does."""
        changed = np.flatnonzero(self.label[criterion] != self.predicted)
        return 100 - STEPS[int(changed[0])] if len(changed) else None


def pruned(model: Transformer, reading: Reading, *, orders: Orders) -> Pruned:
    """The text under every order and step, in one batch."""
    layers, heads = model.n_layers, model.card.heads
    masks = torch.stack([kept(list(order), step, layers, heads) for _, order in orders for step in STEPS])
    with torch.no_grad():
        batch = model.encode([reading.example] * len(masks))
        prob = probabilities(model.run(batch, intervene=mask(masks.to(model.device))).logits).double().cpu()
    each = prob.unflatten(0, (len(orders), len(STEPS))).numpy()
    first, names = each[0, 0], [name for name, _ in orders]
    return Pruned(
        labels=model.card.task.labels,
        prediction=dict(zip(model.card.task.labels, first.tolist(), strict=True)),
        prob={name: row[:, first.argmax()] for name, row in zip(names, each, strict=True)},
        label={name: row.argmax(-1) for name, row in zip(names, each, strict=True)},
        notes=reading.notes,
    )


def scores(model_name: str, sister: bool = False) -> HeadScores:
    """What the examples kept for it say of each head; those of the sister set where it is asked for."""
    table = resources.results(RANKED, model_name)
    return head_importance.scores_of(table[table["sister"] == int(sister)])


def rankings(model_name: str) -> dict[str, list[int]]:
    """The order of heads under each criterion but chance. Refuses where heads were not ranked."""
    return pruning.rankings(resources.cards()[model_name], resources.results(RANKED, model_name))


def orders(model_name: str, ranked: Mapping[str, Sequence[int]], seed: int) -> Orders:
    """The orders of heads that there are, chance with a seed."""
    card = resources.cards()[model_name]
    found = {**ranked, CHANCE: ordered(random_importance(card.layers, card.heads, seed))}
    return tuple((name, tuple(found[name])) for name in CRITERIA if name in found)


def importance(model_name: str, criterion: str, seed: int) -> np.ndarray:
    """How important each head is under a criterion, "layer head"; by chance a number between 0 and 1."""
    card = resources.cards()[model_name]
    if criterion == CHANCE:
        return random_importance(card.layers, card.heads, seed).numpy()
    return importances(scores(model_name))[criterion].numpy()


def heads(model_name: str) -> pd.DataFrame:
    """layer, head, and each criterion's importance: one row a head."""
    found = importances(scores(model_name))
    layers, width = found["attribution"].shape
    layer, head = np.indices((layers, width)) + 1
    values = {name: value.flatten().tolist() for name, value in found.items()}
    return pd.DataFrame({"layer": layer.ravel(), "head": head.ravel(), **values})


def marked(importance: np.ndarray, order: Sequence[int], percent: int) -> pd.DataFrame:
    """layer, head, importance, masked: one row a head, as a map shows it."""
    layers, width = importance.shape
    left = kept(list(order), percent, layers, width).numpy()
    layer, head = np.indices(importance.shape) + 1
    values = {"layer": layer.ravel(), "head": head.ravel(), "importance": importance.ravel(), "masked": left.ravel() == 0}
    return pd.DataFrame(values)


def curves(model_name: str) -> pd.DataFrame:
    """series (criterion), x (percent masked), mean (accuracy), low, high (95 %, Wilson), n; a row a criterion and step."""
    table = resources.results("pruning", model_name)
    rows = []
    for criterion in CRITERIA:
        for step in STEPS:
            column = pruning.ALL if step == STEPS[0] else pruning.NONE if step == STEPS[-1] else f"{criterion}:{step}"
            right = int((table[column] == table["label"]).sum())
            interval = binomtest(right, len(table)).proportion_ci(method="wilson")
            shares = {"mean": right / len(table), "low": interval.low, "high": interval.high, "n": len(table)}
            rows.append({"series": criterion, "x": 100 - step, **shares})
    return pd.DataFrame(rows)


def sentence(found: Pruned) -> pd.DataFrame:
    """series (criterion), x (percent of heads masked), mean (probability), label (the likeliest then)."""
    rows = [
        {"series": name, "x": 100 - step, "mean": float(prob), "label": found.labels[label]}
        for name in found.prob
        for step, prob, label in zip(STEPS, found.prob[name], found.label[name], strict=True)
    ]
    return pd.DataFrame(rows)


def correlations(criterion: str) -> pd.DataFrame:
    """one, other (data sets, another seed behind a colon; equal: halves of the same examples), mean (tau-b over heads), low,
    high, spearman, n (heads).

    For halves the mean over draws and the middle 95 % of them; for pairs one tau with its asymptotic interval.
    """
    known: dict[str, HeadScores] = {}
    for name in ranked_models():
        source, seed = name.split("/")[0], name.partition(":")[2]
        known[f"{source}:{seed}" if seed else source], sister = scores(name), head_importance.SISTERS.get(source)
        if sister and not seed and len((own := scores(name, sister=True)).prob):
            known[sister] = own
    rows = [halves(name, own, criterion) for name, own in known.items()]
    values = {name: importances(own)[criterion].flatten().numpy() for name, own in known.items()}
    for one, other in combinations(values, 2):
        if values[one].shape == values[other].shape:
            tau = kendall(values[one], values[other])
            rho = float(spearmanr(values[one], values[other]).statistic)
            shares = {"mean": tau.kendall_tau, "low": tau.low, "high": tau.high, "spearman": rho, "n": tau.n}
            rows.append({"one": one, "other": other, **shares})
    return pd.DataFrame(rows, columns=["one", "other", "mean", "low", "high", "spearman", "n"])


def halves(name: str, own: HeadScores, criterion: str) -> dict[str, object]:
    """How far two halves of the same examples agree, over draws of halves."""
    generator, taus, rhos = np.random.default_rng(0), [], []
    n = len(own.prob)
    for _ in range(HALVES):
        drawn = torch.from_numpy(generator.permutation(n))
        first, second = (
            importances(part(own, rows))[criterion].flatten().numpy() for rows in (drawn[: n // 2], drawn[n // 2 :])
        )
        tau = kendall(first, second).kendall_tau
        taus.append(np.nan if tau is None else tau)
        rhos.append(float(spearmanr(first, second).statistic))
    low, high = np.nanquantile(taus, (0.025, 0.975))
    shares = {"mean": float(np.nanmean(taus)), "low": float(low), "high": float(high), "spearman": float(np.mean(rhos))}
    return {"one": name, "other": name, **shares, "n": int(own.prob[0].numel())}


def part(own: HeadScores, rows: torch.Tensor) -> HeadScores:
    """Some of the examples."""
    return HeadScores(**{name: getattr(own, name)[rows] for name in head_importance.NAMES})


def ranked_models() -> list[str]:
    """The models whose heads were ranked, of the weights that are there."""
    found = []
    for name, card in resources.cards().items():
        try:
            if resources.results(RANKED, name).attrs["provenance"]["weights_sha256"] == card.weights_sha256:
                found.append(name)
        except Refusal:
            continue
    return found


def accuracy(table: pd.DataFrame, criterion: str, masked: int) -> float:
    """A point of `curves`, with so many percent of the heads masked."""
    return float(table[(table["series"] == criterion) & (table["x"] == masked)]["mean"].iloc[0])


def spare(curve: pd.DataFrame, criterion: str) -> int:
    """How many percent of the heads can be masked, step by step, before accuracy leaves the interval of all heads' accuracy."""
    own = curve[curve["series"] == criterion].sort_values("x")
    floor = float(own["low"].iloc[0])
    enough = (own["mean"] >= floor).to_numpy()
    last = len(enough) if enough.all() else int(np.argmin(enough))
    return int(own["x"].iloc[max(0, last - 1)])


def measured(t: Texts, found: Pruned, criterion: str) -> str:
    """When the prediction changes as heads go, in words."""
    at = found.flips_at(criterion)
    return t("predict.all") if at is None else t("predict.at", masked=at)


def pair(t: Texts, one: str, other: str) -> str:
    """Two data sets whose examples rank heads, or trainings of one, or two halves of its examples."""
    parts = [name.partition(":seed=") for name in (one, other)]
    names = [t(f"short.{source}") + (t("agreement.seed", seed=seed) if seed else "") for source, _, seed in parts]
    return t("agreement.halves", name=names[0]) if one == other else " ~ ".join(names)


def published(paper: str, model_name: str, metric: str) -> float | None:
    """A figure known second-hand, in percent, for the data of a model."""
    table = pd.read_csv(resources.PUBLISHED)
    data = {"sst2": "SST-2", "mnli": "MNLI", "mrpc": "MRPC"}.get(model_name.split("/")[0])
    rows = table[(table["paper"] == paper) & (table["dataset"] == data) & table["metric"].str.startswith(metric)]
    return float(rows["value"].iloc[0]) if len(rows) else None


def published_accuracy(model_name: str) -> float | None:
    """What was read off the printed figure for the paper's ranking with 10 % of the heads."""
    found = published("Hao et al. 2021", model_name, "accuracy with 10 % of the heads kept")
    return None if found is None else found / 100


def published_note(t: Texts, model_name: str) -> str:
    """How many heads BERT-base can lose on the same data, as it is known second-hand; nothing where it is not."""
    found = published("Michel et al. 2019", model_name, "heads prunable")
    ours = t("accuracy.read") if published_accuracy(model_name) is not None else ""
    return " ".join(filter(None, (ours, "" if found is None else t("accuracy.michel", share=f"{found:.0f}"))))
