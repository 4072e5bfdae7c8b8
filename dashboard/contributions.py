"""What the weights of every head contribute on one text: what the page asks of `core`, as plain values, and their frames."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
import torch
from torch import Tensor

from core.agreement import bootstrap_mean
from core.attattr.attribution import attribution
from core.attattr.heads import without_each
from core.attattr.matching import agreements, idle
from core.attattr.merging import names, to_words
from core.models.transformer import Transformer
from core.reading import Reading, target_id
from core.types import Batch, Note
from dashboard import frames, resources, texts, tokens
from dashboard.texts import Texts

UNITS = ("words", "pieces")
MASKED = "masked"  # what is lost without a head: no attribution, but what attribution should tell
MEASURES = ("sum", "largest", MASKED)  # what a head's attributions add in all, the paper's measure of importance, and the check
STRONGEST = "strongest"  # the code for the head with the largest weight on a word
TENTH = 0.1
CLOSE = 0.001  # an error of completeness that is small
TOLD = 5  # cells that a list names


@dataclass(frozen=True)
class Cells:
    """Weights and attributions of every head, "layer head query key", over the tokens of one text."""

    tokens: tuple[str, ...]
    special: tuple[int, ...]  # positions of special tokens
    attention: np.ndarray
    attribution: np.ndarray
    tau: tuple[tuple[float | None, ...], ...]  # of each head: the order of its weights beside that of its contributions

    @property
    def words(self) -> list[int]:
        """The positions that are no special tokens."""
        return [place for place in range(len(self.tokens)) if place not in self.special]


@dataclass(frozen=True)
class Sentence:
    """One text under a Transformer, token by token and with pieces merged to words."""

    prediction: dict[str, float]
    predicted: str
    target: str
    prob: float
    difference: tuple[float, ...]  # of each layer: how far p falls when its attention is set to zero
    error: float  # the largest distance, over layers, of the attributions from adding up to that
    masked: np.ndarray  # how far p falls when a head alone is masked, "layer head"
    words: Cells
    pieces: Cells
    notes: tuple[Note, ...]


@dataclass(frozen=True)
class Grid:
    """A number for every head, "layer head" (NaN: undefined), the chosen one marked; `largest` is the scale's end where it is
    fixed, `table` what is downloaded where it is more than these numbers."""

    name: str
    values: np.ndarray
    caption: str
    at: tuple[int, int] | None
    signed: bool = False
    largest: float | None = None
    exponent: float = 1.0
    table: pd.DataFrame | None = None

    @property
    def end(self) -> float:
        """The end of the scale."""
        return self.largest or float(np.nanmax(np.abs(self.values))) or 1.0

    @property
    def legend(self) -> str:
        """The scale, to stand above the cells."""
        digits = 0 if self.largest else 3
        low, high = tokens.number(-self.end if self.signed else 0.0, digits), tokens.number(self.end, digits, sign=self.signed)
        return tokens.legend_html([tokens.Legend(low, high, self.signed)])


def seen(model: Transformer, reading: Reading, *, target: str | None = None) -> Sentence:
    """What each weight contributes to the probability of `target`, the predicted label by default."""
    batch, labels = model.encode([reading.example]), model.card.task.labels
    with torch.no_grad():
        prob = model.run(batch).logits.softmax(-1)[0]
    predicted = int(prob.argmax())
    wanted = target_id(model.card, target, predicted)
    target_ids = torch.tensor([wanted], device=batch.ids.device)
    found, (_, lost) = attribution(model, batch, target=target_ids), without_each(model, batch, target_ids)
    return Sentence(
        prediction=dict(zip(labels, prob.tolist(), strict=True)),
        predicted=labels[predicted],
        target=labels[wanted],
        prob=float(found.prob[0]),
        difference=tuple(found.difference[0].tolist()),
        error=float(found.error.max()),
        masked=lost[0].float().cpu().numpy(),
        words=_words(model, batch, found.attention, found.attribution),
        pieces=_cells(model.pieces(batch)[0], (~batch.mask[0]).tolist(), found.attention[0], found.attribution[0]),
        notes=reading.notes,
    )


def _words(model: Transformer, batch: Batch, attention: Tensor, attributed: Tensor) -> Cells:
    named = names(model, batch)[0]
    special = to_words(batch, torch.diag_embed((~batch.mask).float()), "attribution")[0].diagonal() > 0
    merged = to_words(batch, attention, "attention"), to_words(batch, attributed, "attribution")
    return _cells(named, special.tolist(), merged[0][0], merged[1][0])


def _cells(named: Sequence[str], special: Sequence[bool], attention: Tensor, attributed: Tensor) -> Cells:
    attention, attributed = attention.float().cpu(), attributed.float().cpu()
    return Cells(
        tokens=tuple(named),
        special=tuple(place for place, one in enumerate(special) if one),
        attention=attention.numpy(),
        attribution=attributed.numpy(),
        tau=tuple(map(tuple, agreements(attention, attributed))),
    )


def weights_of(cells: Cells) -> np.ndarray:
    """The largest weight that each head puts on a word, "layer head"; on any token where there is no word."""
    keys = cells.words or list(range(len(cells.tokens)))
    largest: np.ndarray = cells.attention[..., keys].max((-1, -2))
    return largest


def contributions_of(cells: Cells, measure: str = MEASURES[0]) -> np.ndarray:
    """What each head contributes: the sum of its attributions, or the largest one (Hao et al. 2021, Use Case 1)."""
    found: np.ndarray = cells.attribution.sum((-1, -2)) if measure == "sum" else cells.attribution.max((-1, -2))
    return found


def taus_of(cells: Cells) -> np.ndarray:
    """The tau-b of every head, "layer head", NaN where it is undefined."""
    return np.array(cells.tau, dtype=float)


def heads(values: np.ndarray) -> pd.DataFrame:
    """A `frames.matrix` frame of numbers "layer head", rows and columns counted from one; undefined cells are left out."""
    layers, of_layer = (tuple(map(str, range(1, n + 1))) for n in values.shape)
    return frames.matrix(values, layers, of_layer).dropna(subset=["weight"]).reset_index(drop=True)


def strongest(cells: Cells) -> tuple[int, int]:
    """Layer and head, from 0, of the largest weight on a word."""
    return _at(weights_of(cells))


def most(cells: Cells) -> tuple[int, int]:
    """Layer and head, from 0, of the largest contribution by size, all attributions of a head together."""
    return _at(np.abs(contributions_of(cells)))


def _at(values: np.ndarray) -> tuple[int, int]:
    layer, head = np.unravel_index(int(values.argmax()), values.shape)
    return int(layer), int(head)


def rank(cells: Cells, at: tuple[int, int]) -> int:
    """The place of a head, from 1, when all are ordered by the size of what they contribute."""
    sizes = np.abs(contributions_of(cells))
    return 1 + int((sizes > sizes[at]).sum())


def count(cells: Cells) -> int:
    """How many heads the model has."""
    return cells.attention.shape[0] * cells.attention.shape[1]


def top(heads_in_all: int) -> int:
    """How many heads are a tenth of them."""
    return max(1, round(TENTH * heads_in_all))


def chosen(codes: tuple[str, str], cells: Cells) -> tuple[int, int] | None:
    """Layer and head, from 0, that two codes name; STRONGEST follows the text. None where the model has no such head."""
    layers, count = cells.attention.shape[:2]
    first = strongest(cells)
    found = tuple(own if code == STRONGEST else int(code) - 1 for code, own in zip(codes, first, strict=True))
    return (found[0], found[1]) if found[0] < layers and found[1] < count else None


def pair_table(cells: Cells, at: tuple[int, int]) -> pd.DataFrame:
    """query, key (positions from 1), query_word, key_word, weight, attribution: one row a cell of a head."""
    table = frames.matrix(cells.attention[at], cells.tokens, cells.tokens)
    table = table.assign(attribution=cells.attribution[at].ravel(), query=table["query"] + 1, key=table["key"] + 1)
    return table[["query", "query_word", "key", "key_word", "weight", "attribution"]]


def loudest(cells: Cells, at: tuple[int, int]) -> list[tuple[int, int]]:
    """The cells of a head that contribute most, by size, largest first; cells that contribute nothing are not named."""
    sizes = np.abs(cells.attribution[at])
    order = np.argsort(-sizes, axis=None, kind="stable")[:TOLD]
    return [(int(q), int(k)) for q, k in zip(*np.unravel_index(order, sizes.shape), strict=True) if sizes[q, k] > 0]


def idlers(cells: Cells, at: tuple[int, int]) -> list[tuple[int, int]]:
    """Large weights of a head on words that contribute little, the largest first."""
    keys = torch.zeros(len(cells.tokens), dtype=torch.bool)
    keys[cells.words] = True
    found = idle(torch.from_numpy(cells.attention[at]), torch.from_numpy(cells.attribution[at]), keys)
    return [(int(query), int(key)) for query, key in found[:TOLD].tolist()]


def shares(cells: Cells, at: tuple[int, int]) -> list[tuple[str, float, float | None]]:
    """For each special token: its name, its share of the head's attention, and of the sizes of its attributions."""
    weights, sizes = cells.attention[at], np.abs(cells.attribution[at])
    of_all, total = float(weights.sum()), float(sizes.sum())
    return [
        (cells.tokens[place], float(weights[:, place].sum()) / of_all, float(sizes[:, place].sum()) / total if total else None)
        for place in cells.special
    ]


def told_shares(t: Texts, cells: Cells, at: tuple[int, int]) -> str:
    """What the special tokens take, in a sentence; special tokens of one name together."""
    named: dict[str, list[tuple[float, float | None]]] = {}
    for name, weight, size in shares(cells, at):
        named.setdefault(name, []).append((weight, size))
    parts = [
        t("one.special", name=texts.plain(name), weight=percent(sum(w for w, _ in found)), size=percent(_total(found)))
        for name, found in named.items()
    ]
    return t("one.specials", parts="; ".join(parts)) if parts else ""


def _total(found: Sequence[tuple[float, float | None]]) -> float | None:
    sizes = [size for _, size in found if size is not None]
    return sum(sizes) if sizes else None


def percent(share: float | None) -> str:
    """A share in percent, as it stands in a sentence."""
    return "–" if share is None else "< 1" if 0 < share < 0.005 else f"{100 * share:.0f}"


def added(t: Texts, found: Sentence) -> str:
    """What the contributions of each layer add up to, as a list."""
    return ", ".join(t("all.layer", layer=i, sum=tokens.fine(value)) for i, value in enumerate(found.difference, 1))


def error_of(found: Sentence) -> str:
    """How far the attributions are from adding up, as it is read."""
    return "< 10⁻⁵" if found.error < 1e-5 else tokens.number(found.error, 5)


def numbered(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """layer and head from 1, and the number of a `heads` frame under its own name: what is downloaded."""
    return pd.DataFrame({"layer": table["query"] + 1, "head": table["key"] + 1, name: table["weight"]})


def column(layer: int, head: int) -> str:
    """Where a table of results holds the tau of a head; both counted from 0."""
    return f"tau {layer}.{head}"


def measured(model_name: str) -> pd.DataFrame:
    """layer, head (from 1), mean, low, high, n: the mean tau of each head over the test split, with bootstrap intervals."""
    table, card = resources.results("attribution", model_name), resources.cards()[model_name]
    rows: list[Mapping[str, float | int | None]] = []
    for layer, head in product(range(card.layers), range(card.heads)):
        found = bootstrap_mean(table[column(layer, head)].to_numpy(dtype=float))
        place = {"layer": layer + 1, "head": head + 1}
        rows.append(place | {"mean": found.mean, "low": found.low, "high": found.high, "n": found.n})
    return pd.DataFrame(rows)


def inexact(model_name: str) -> tuple[int, float]:
    """In how many texts of the test split the attributions of some layer miss their sum by more than `CLOSE`, and the largest
    miss."""
    errors = resources.results("attribution", model_name).filter(regex=r"^layer\d+:error$").max(axis=1)
    return int((errors > CLOSE).sum()), float(errors.max())


def grid(table: pd.DataFrame) -> np.ndarray:
    """The means of a `measured` table as "layer head"."""
    return table.pivot(index="layer", columns="head", values="mean").to_numpy(dtype=float)


def listed(cells: Cells, at: tuple[int, int], places: Sequence[tuple[int, int]]) -> list[tuple[str, str, str, str]]:
    """For `matrix.pairs_html`: two tokens, weight and attribution of each cell, as they are read."""
    words, weights, found = cells.tokens, cells.attention[at], cells.attribution[at]
    numbers = [(tokens.number(float(weights[q, k])), tokens.fine(float(found[q, k]))) for q, k in places]
    return [(tokens.nth(words, q), tokens.nth(words, k), *two) for (q, k), two in zip(places, numbers, strict=True)]
