"""One text whose words lose their attention, and whole test sets of them: what the erasure page shows, as plain values.

`core` erases and measures; here the answers are kept for one text and put into words, and the tables of test sets become boxes,
beside the medians that can be read off the published figure.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from core.debate.erasure import ORDERS, removals, scores, single_weights
from core.models.classifier import Classifier
from core.models.contributions import contributions
from core.reading import Reading
from core.types import Note
from dashboard import boxes, evidence, resources, tokens
from dashboard.explained import UNBROKEN, digits
from dashboard.texts import Texts

AT_FLIP = "flip"  # the link's code that strikes out words until the decision flips; any other is a number of words
KINDS = ("neither", "top", "other", "both")  # whose removal flips the decision: the largest weight's, the other one's
COMPARED = ("attention", "attention_gradient")
PAPER = "Serrano & Smith 2019"
FLAN = {"average": "FLANnoenc", "cnn": "FLANconv", "bilstm": "FLANrnn"}  # their models that are nearest to ours
SHOWN = 1500  # points of a scatter plot


@dataclass(frozen=True)
class Path:
    """Words erased one by one in an order, several draws of it where it is random."""

    scores: tuple[float, ...]  # what the order ranks by; attention where it is random
    order: np.ndarray  # "draw word", positions
    prob: np.ndarray  # "draw step", of the label predicted with all words
    label: np.ndarray  # "draw step", the likeliest label's index
    flips_at: tuple[int | None, ...]  # for each draw, how many words are gone when the decision flips

    def gone(self, count: int | None, draw: int = 0) -> int:
        """How many words are struck out: as many as asked for, or until the decision flips (all, where it never does)."""
        n = self.order.shape[1]
        at_flip = self.flips_at[draw]
        return min(count, n) if count is not None else n if at_flip is None else at_flip


@dataclass(frozen=True)
class Erased:
    """A text, its prediction, and what erasing attention does to it; `labels` are those that may be answered."""

    model: str
    words: tuple[str, ...]
    labels: tuple[str, ...]
    prediction: np.ndarray  # "label"
    paths: Mapping[str, Path]  # by order
    attention: np.ndarray  # "word"
    jsd: np.ndarray  # "word", each weight erased alone
    flips: np.ndarray  # "word"
    top: int
    other: int
    notes: tuple[Note, ...]

    @property
    def predicted(self) -> int:
        """The likeliest label's index."""
        return int(self.prediction.argmax())

    @property
    def alone(self) -> bool:
        """Whether there is one word only: nothing can be compared."""
        return len(self.words) == 1


def erased(model: Classifier, reading: Reading, *, seed: int) -> Erased:
    """A text under every order and every single erasure, in double precision."""
    batch = model.encode([reading.example])
    words, allowed = contributions(model, batch), batch.allowed[0].cpu()
    single = single_weights(words, seed=seed)
    prediction = words.prob(words.attention)[0].cpu()[allowed].numpy()
    return Erased(
        model=model.card.name,
        words=reading.example.text,
        labels=tuple(name for name, may in zip(model.card.task.labels, allowed.tolist(), strict=True) if may),
        prediction=prediction,
        paths={order: _path(words, order, seed, allowed.numpy()) for order in ORDERS},
        attention=single.attention[0].numpy(),
        jsd=single.jsd[0].numpy(),
        flips=single.flips[0].numpy(),
        top=int(single.top[0]),
        other=int(single.other[0]),
        notes=reading.notes,
    )


def _path(words: Any, order: str, seed: int, allowed: np.ndarray) -> Path:
    found = removals(words, order, seed=seed)
    prob = found.prob[0].numpy()[..., allowed]
    n = found.order.shape[-1]
    shares = found.flips_at[0].tolist()
    ranked = scores(words, "attention" if order == "random" else order)
    return Path(
        scores=tuple(ranked[0].tolist()),
        order=found.order[0].numpy(),
        prob=prob[..., prob[0, 0].argmax()],
        label=prob.argmax(-1),
        flips_at=tuple(None if share != share else round(share * n) for share in shares),
    )


def middle(path: Path) -> int | None:
    """How many words must go, the median over the draws; one that never flips counts as more than all."""
    counts = sorted(np.inf if count is None else count for count in path.flips_at)
    found = counts[(len(counts) - 1) // 2]
    return None if np.isinf(found) else int(found)


def needed(t: Texts, found: Erased, count: int | None) -> str:
    """How many words must go, or that it never flips, or that one word is left out."""
    if found.alone:
        return t("needed.undefined")
    return t("needed.never") if count is None else t("needed.of", gone=count, n=len(found.words))


def rows(t: Texts, found: Erased, count: int | None) -> list[tokens.Row]:
    """A strip for each order: what it ranks by, the words struck out, and what the model says then."""
    return [_row(t, found, order, count) for order in ORDERS]


def _row(t: Texts, found: Erased, order: str, count: int | None) -> tokens.Row:
    path = found.paths[order]
    gone = 0 if found.alone else path.gone(count)
    label = t.label(found.labels[path.label[0, gone]])
    parts = [unbroken(t("strips.gone", gone=gone, n=len(found.words))), unbroken(said(t, found, path, gone))]
    if order == "random" and count is None and not found.alone:
        parts.append(t("strips.median", needed=unbroken(needed(t, found, middle(path)))))
    elif count is None and path.flips_at[0] is None and not found.alone:
        parts.append(t("strips.never", label=label))
    return tokens.Row(
        t(f"order.{order}"),
        list(path.scores),
        t(f"strips.{order}"),
        signed=order in ("gradient", "attention_gradient"),
        note=", ".join(parts),
        decimals=digits(path.scores),
        masked=frozenset(path.order[0, :gone].tolist()),
    )


def unbroken(text: str) -> str:
    """A text in which no line ends."""
    return text.replace(" ", UNBROKEN)


def said(t: Texts, found: Erased, path: Path, gone: int) -> str:
    """The probability of the label predicted with all words."""
    return t("strips.p", label=t.label(found.labels[found.predicted]), p=tokens.number(float(path.prob[0, gone])))


def learned(t: Texts, found: Erased) -> tokens.Row:
    """The attention as it is, which may be seen before a guess."""
    return tokens.Row(t("order.attention"), found.attention.tolist(), t("strips.learned"))


def paths(t: Texts, found: Erased) -> pd.DataFrame:
    """series, draw, gone, x (share of the words gone), y (probability), flips, said (the new decision)."""
    n, made = len(found.words), []
    for order, path in found.paths.items():
        for draw, (prob, at) in enumerate(zip(path.prob, path.flips_at, strict=True)):
            steps = np.arange(n + 1)
            names = [t.label(found.labels[label]) for label in path.label[draw]]
            shared = {"series": t(f"order.{order}"), "draw": draw + 1, "gone": steps, "x": steps / n, "y": prob}
            made.append(pd.DataFrame(shared | {"flips": steps == (-1 if at is None else at), "said": names}))
    return pd.concat(made, ignore_index=True)


def singles(t: Texts, found: Erased) -> pd.DataFrame:
    """word, x (its weight), y (JSD when it is erased alone), kind, label (of the two that are compared)."""
    names = dict.fromkeys(range(len(found.words)), "")
    if not found.alone:
        for place in (found.other, found.top):
            names[place] = tokens.readable(found.words[place])
    kinds = [t("singles.flips" if flips else "singles.stays") for flips in found.flips]
    frame = {"word": [tokens.readable(word) for word in found.words], "x": found.attention, "y": found.jsd}
    return pd.DataFrame(frame | {"kind": kinds, "label": list(names.values())})


def differences(found: Erased) -> tuple[float, float] | None:
    """Δα and ΔJS of the largest weight and the random other one; None for one word."""
    if found.alone:
        return None
    pair = [found.top, found.other]
    (a, b), (c, d) = found.attention[pair].tolist(), found.jsd[pair].tolist()
    return a - b, c - d


def pairs(model_name: str) -> pd.DataFrame:
    """x (Δα), y (ΔJS), kind (which of the two erasures flips the decision): one row a text of more than one word."""
    table = compared_texts(model_name)
    top, other = table["top_flipped"] > 0.5, table["other_flipped"] > 0.5
    kind = np.select([top & other, top, other], ["both", "top", "other"], "neither")
    return pd.DataFrame({"x": table["delta_attention"], "y": table["delta_jsd"], "kind": kind}).astype({"x": float, "y": float})


def compared_texts(model_name: str) -> pd.DataFrame:
    """The table of a test set without its texts of one word."""
    table = resources.results("erasure", model_name)
    return table[table["n_words"] > 1]


def flips(model_name: str) -> pd.DataFrame:
    """encoder, n, and the share of texts whose decision each of KINDS flips; negative, the share with ΔJS below 0."""
    made = []
    for encoder, name in encoders(model_name).items():
        found = pairs(name)
        shares = {kind: float((found["kind"] == kind).mean()) for kind in KINDS}
        made.append({"encoder": encoder, "n": len(found), **shares, "negative": float((found["y"] < 0).mean())})
    return pd.DataFrame(made, columns=["encoder", "n", *KINDS, "negative"])


def encoders(model_name: str) -> dict[str, str]:
    """The models with the same data and score that were run, by encoder, from the least to the most mixing."""
    return {encoder: name for encoder, name in alike(model_name).items() if evidence.ran("erasure", name)}


def alike(model_name: str) -> dict[str, str]:
    """The models with the same data and score that there are, by encoder."""
    names = {encoder: evidence.with_encoder(model_name, encoder) for encoder in evidence.ENCODERS}
    return {encoder: name for encoder, name in names.items() if name in resources.cards()}


def fractions(model_name: str) -> pd.DataFrame:
    """`summary` for every order and encoder: group (encoder), series (order)."""
    return summary(encoders(model_name), ORDERS)


def tasks(model_name: str) -> pd.DataFrame:
    """`summary` for attention and attention × gradient on every data set with the same encoder and score."""
    return summary({data: name for data, name in on_all_data(model_name).items() if evidence.ran("erasure", name)}, COMPARED)


def on_all_data(model_name: str) -> dict[str, str]:
    """The models with the same encoder and score that there are, by data set."""
    same = model_name.split(":")[0].split("/", 1)[1]
    cards = [card for card in resources.cards().values() if card.name.split("/", 1)[1] == same]
    return {card.task.name: card.name for card in sorted(cards, key=lambda card: (card.task.kind, card.task.name))}


def summary(models: Mapping[str, str], orders: Sequence[str]) -> pd.DataFrame:
    """group, series, low, first, median, third, high (missing: never), never (share of texts), n, for each model and order."""
    made = []
    for group, name in models.items():
        table = compared_texts(name)
        for order in orders:
            shares = table[f"{order}_fraction"].to_numpy(dtype=float)
            found = boxes.quantiles(shares.tolist())
            made.append({"group": group, "series": order, **found, "never": float(np.isnan(shares).mean()), "n": len(shares)})
    return pd.DataFrame(made, columns=["group", "series", *boxes.QUANTILES, "never", "n"])


def published() -> pd.DataFrame:
    """group (encoder), series (order), kind (corpus), x: the medians that were read off the published box plots."""
    table = resources.published()
    rows = table[(table["paper"] == PAPER) & table["metric"].str.startswith("median fraction removed")]
    made = [
        {"group": encoder, "series": order, "kind": corpus, "x": float(value)}
        for encoder, theirs in FLAN.items()
        for order in ORDERS
        for corpus, model, metric, value in rows[["dataset", "model", "metric", "value"]].itertuples(index=False)
        if model == theirs and metric.endswith(f", {order} order")
    ]
    return pd.DataFrame(made, columns=["group", "series", "kind", "x"])


def marks(t: Texts, model_name: str, found: Erased | None) -> pd.DataFrame:
    """group, series, x, kind: this text in the lanes of its encoder, and the published medians of the same corpus."""
    data, model = model_name.split(":")[0].split("/", 1)
    theirs = published()
    theirs = theirs[theirs["kind"] == evidence.PAPERS_NAMES.get(data)].assign(kind=t("fractions.published"))
    theirs = theirs[theirs["group"].isin(encoders(model_name))]
    if found is None or found.alone:
        return theirs
    counts = {order: middle(path) for order, path in found.paths.items()}
    shares = [np.nan if count is None else count / len(found.words) for count in counts.values()]
    here = {"group": model.split("-")[0], "series": list(counts), "x": shares, "kind": t("fractions.this")}
    return pd.concat([theirs, pd.DataFrame(here)], ignore_index=True)


def struck(code: str, n: int) -> int | None:
    """How many words the link asks to strike out; None for as many as flip the decision."""
    return None if code == AT_FLIP else min(int(code), n)
