"""What a head's output cannot see of its attention: what the page asks of `core`, as plain values cut to what can be shown."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import torch

from core.agreement import bootstrap_mean, tvd
from core.debate.identifiability import direction, effective, walk
from core.importance import probabilities
from core.interventions import replace
from core.models.text_model import MultiHead
from core.reading import Reading
from core.types import Card, Note
from dashboard import frames, resources, texts, tokens
from dashboard.texts import Texts

SHOWN = 26  # tokens that a matrix shows; more would not be readable
ROUNDING = {1e-12: "< 10⁻¹²", 1e-9: "< 10⁻⁹"}  # a difference below is called so
MOST = "most"  # the code for the word that the head looks at most


@dataclass(frozen=True)
class Head:
    """One head on one text. Matrices are "query key" of the first SHOWN tokens; all numbers are of the whole text."""

    model: str
    layer: int  # from 1
    head: int  # from 1
    name: str  # as `named` gives it
    head_size: int
    words: tuple[str, ...]  # what is written at the tokens that attend: words, or pieces and special tokens
    prediction: dict[str, float]
    attention: np.ndarray
    effective: np.ndarray
    rank: int
    free: int
    invisible: float
    shares: tuple[float, ...]  # what the output of each head of the layer cannot see
    most: int  # the position of the token that gets most of the head's attention
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class Moved:
    """A head's attention moved along a direction that its output cannot see, towards a word or away from it."""

    attention: np.ndarray  # "query key" of the first SHOWN tokens
    largest: float  # of any weight on the way, for a scale that stands still
    prediction: dict[str, float]
    tvd: float  # between the two predictions
    logit: float  # the largest change of a logit
    rows: float  # mean total variation distance between the rows of the two attentions
    before: float  # mean weight on the word
    after: float


def seen(model: MultiHead, reading: Reading, *, layer: int, head: int) -> Head:
    """A head's attention and what its output sees of it, in double precision."""
    precise = model.precise()
    batch = precise.encode([reading.example])
    found = effective(precise, batch)[0]
    at = (layer - 1, head - 1)
    return Head(
        model=model.card.name,
        layer=layer,
        head=head,
        name=named(model.card, layer, head),
        head_size=model.head_size,
        words=tuple(precise.pieces(batch)[0]),
        prediction=_labelled(model, probabilities(precise.run(batch).logits)),
        attention=_shown(found.attention[at]),
        effective=_shown(found.effective[at]),
        rank=int(found.rank[at]),
        free=int(found.free[at]),
        invisible=float(found.invisible[at]),
        shares=tuple(found.invisible[layer - 1].tolist()),
        most=int(found.attention[at].sum(0).argmax()),
        notes=reading.notes,
    )


def moved(model: MultiHead, reading: Reading, *, layer: int, head: int, word: int, step: float) -> Moved | None:
    """The head's attention moved by `step` (-1 to 1) along the unseen direction towards a word, and what the model says then;
    None where it cannot move."""
    precise = model.precise()
    batch = precise.encode([reading.example])
    found, at = effective(precise, batch)[0], (layer - 1, head - 1)
    own, change = found.attention[at], direction(found.mapped[at], word)
    if change is None:
        return None
    new = walk(own, change, step)
    run = precise.run(batch)
    replaced = run.attention[:, layer - 1].clone()
    there = precise.attended(batch)[0].nonzero()[:, 0]
    replaced[0, head - 1, there[:, None], there] = new.to(replaced)
    after = precise.run(batch, intervene=replace({layer - 1: replaced}))
    before = probabilities(run.logits)
    return Moved(
        attention=_shown(new),
        largest=float(max(part.max() for part in (own, walk(own, change, 1.0), walk(own, change, -1.0)))),
        prediction=_labelled(model, probabilities(after.logits)),
        tvd=float(tvd(probabilities(after.logits), before)[0]),
        logit=float((after.logits - run.logits).abs().max()),
        rows=float(tvd(new, own).mean()),
        before=float(own[:, word].mean()),
        after=float(new[:, word].mean()),
    )


def _shown(matrix: torch.Tensor) -> np.ndarray:
    return matrix[:SHOWN, :SHOWN].numpy()


def _labelled(model: MultiHead, prob: torch.Tensor) -> dict[str, float]:
    return dict(zip(model.card.task.labels, prob[0].tolist(), strict=True))


def named(card: Card, layer: int, head: int) -> str:
    """How a head is written: its number, in a model of several layers behind that of its layer ("2.3")."""
    return f"{layer}.{head}" if card.layers > 1 else str(head)


def word_of(code: str, found: Head) -> int | None:
    """The position of the token that a code names; None where the text has no such token."""
    place = found.most if code == MOST else int(code) - 1
    return place if place < len(found.words) else None


def small(value: float) -> str:
    """A difference that may be rounding, as it is read."""
    return next((said for bound, said in ROUNDING.items() if value < bound), tokens.number(value, 3))


def moved_by(value: float) -> str:
    """How far something moved, where a little is not nothing."""
    return "< 0.001" if 0 < value < 0.0005 else tokens.number(value, 3)


def reading_of(t: Texts, found: Head) -> str:
    """What the rank comes to on this text, in a sentence or two."""
    n = len(found.words)
    values = {"n": n, "rank": found.rank, "size": found.head_size, "free": found.free, "share": percent(found.invisible)}
    if found.rank == n:
        return t("reading.full", **values)
    return t("reading.unseen" if found.free else "reading.one_short", **values)


def moving(t: Texts, found: Head, change: Moved, word: int) -> str:
    """What a walk moved, and what it did not."""
    label = max(found.prediction, key=lambda name: found.prediction[name])
    values = {
        "word": texts.plain(found.words[word]),
        "before": tokens.number(change.before),
        "after": tokens.number(change.after),
    }
    values |= {"rows": moved_by(change.rows), "logit": small(change.logit), "label": t.label(label)}
    values |= {"p": f"{found.prediction[label]:.6f}", "q": f"{change.prediction[label]:.6f}"}
    return t("walk.moved", **values)


def largest(found: Head, change: Moved | None) -> float:
    """The end of the scale that both maps share: the largest of their numbers, wherever the walk is."""
    ends = [found.attention.max(), np.abs(found.effective).max(), change.largest if change else 0.0]
    return float(max(ends))


def head_size(model_name: str) -> int:
    """How many numbers a value has in a head of a model."""
    card = resources.cards()[model_name]
    return card.hidden_dim // card.heads


def percent(share: float) -> str:
    """A share in percent, without decimals unless it is below one."""
    return f"{100 * share:.0f}" if share >= 0.01 or share == 0 else f"{100 * share:.1f}"


def column(layer: int, head: int) -> str:
    """Where a table of results holds the unseen share of a head."""
    return f"layer{layer}_head{head}:invisible"


def lengths(model_name: str) -> "pd.Series[int]":
    """How many tokens attend in each test sentence; where a table does not say it, they are the words."""
    table = resources.results("identifiability", model_name)
    return table["n_tokens" if "n_tokens" in table else "n_words"].astype(int)


def longer(model_name: str) -> int:
    """How many test sentences have more tokens than a head can tell apart."""
    return int((lengths(model_name) > head_size(model_name)).sum())


def by_length(model_name: str, layer: str, head: str) -> pd.DataFrame:
    """length, value: the unseen share of a head on each test sentence."""
    table = resources.results("identifiability", model_name)
    return pd.DataFrame({"length": lengths(model_name), "value": table[column(int(layer), int(head))].astype(float)})


def means(model_name: str, layer: str, head: str) -> pd.DataFrame:
    """length, mean, low, high, n over sentences of like length (`frames.by_length`)."""
    points = by_length(model_name, layer, head)
    return frames.by_length(list(points["length"]), list(points["value"]), groups=12)


def heads(model_name: str, layer: str) -> pd.DataFrame:
    """group (head), series, mean, low, high, n: the unseen share over test sentences that are longer than the head size."""
    table = resources.results("identifiability", model_name)
    part = table[lengths(model_name) > head_size(model_name)]
    rows: list[Mapping[str, Any]] = []
    for head in range(1, resources.cards()[model_name].heads + 1):
        found = bootstrap_mean(part[column(int(layer), head)].to_numpy(dtype=float))
        rows.append({"group": head, "series": "mean", "mean": found.mean, "low": found.low, "high": found.high, "n": found.n})
    return pd.DataFrame(rows)
