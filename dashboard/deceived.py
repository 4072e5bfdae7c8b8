"""One text under models that were trained to hide what they use, and their test sets: what the deception page shows, as values.

`core` trains and measures; here the answers are kept for one text and put into words, and the tables of two encoders are held
against the published one, whose cells were recovered from a reproduction (second-hand) and are marked so.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from scipy.stats import binomtest

from core import importance
from core.agreement import tvd
from core.debate.deception import impermissible
from core.models.classifier import Classifier
from core.models.comparison import compared
from core.reading import Reading
from core.types import Example, Note
from dashboard import evidence, resources, tokens
from dashboard.explained import UNBROKEN, digits
from dashboard.texts import Texts

STRENGTHS = ("0", "0.1", "1")  # λ; 0 is the honest model
DRAWS = 20  # of as many other words as are marked
PAPER = "Pruthi et al. 2020"
PAPERS_DATA = {"pronoun": "Gender (pronoun)", "sst_wiki": "SST+Wiki"}
PAPERS_MODELS = {"average": "Embedding", "bilstm": "BiLSTM"}
CONTROL = "anonymised"
COLUMNS = ("encoder", "strength", "accuracy", "low", "high", "mass", "without_marked", "without_others", "share_of_words", "n")


@dataclass(frozen=True)
class Deceived:
    """A text under the honest model and those that hide, by λ; distances are TVD, None where nothing would be left."""

    words: tuple[str, ...]
    labels: tuple[str, ...]
    marked: tuple[int, ...]
    attention: np.ndarray  # "model word"
    prob: np.ndarray  # "model label"
    left_out: tuple[tuple[float | None, ...], ...]  # "model word", how far the prediction moves without the word
    notes: tuple[Note, ...]
    without_marked: tuple[float | None, ...] = ()  # "model"
    without_others: tuple[float | None, ...] = ()  # "model", mean over DRAWS

    def mass(self, model: int) -> float:
        """The attention on the marked words."""
        return float(self.attention[model, list(self.marked)].sum())


def deceived(model: Classifier, reading: Reading, *, others: Sequence[Classifier]) -> Deceived:
    """A text under the model and `others`, each word left out in turn; the words that the rule finds are marked, and nothing is
    taken away yet."""
    text = reading.example.text
    models = [model.precise(), *(other.precise() for other in others)]
    found = compared(models, models[0].encode([reading.example]))
    return Deceived(
        words=text,
        labels=model.card.task.labels,
        marked=impermissible(model.card.name.split("/")[0], text),
        attention=found.attention[:, 0].cpu().numpy(),
        prob=found.prob[:, 0].cpu().numpy(),
        left_out=tuple(left_out(each, reading.example) for each in models),
        notes=reading.notes,
    )


def without(
    model: Classifier, reading: Reading, *, others: Sequence[Classifier], marked: tuple[int, ...], seed: int
) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
    """How far each model's prediction moves without the marked words, and on average without as many others."""
    text, models = reading.example.text, [model.precise(), *(other.precise() for other in others)]
    rest = kept(text, [set(marked)] if marked else [])
    drawn = kept(text, chosen_others(len(text), marked, seed))
    first, second = (tuple(moved(each, reading.example, parts) for each in models) for parts in (rest, drawn))
    return first, second


def chosen_others(n: int, marked: Sequence[int], seed: int) -> list[set[int]]:
    """DRAWS times as many unmarked words as are marked, or as many as there are."""
    free = np.array([i for i in range(n) if i not in set(marked)])
    if not len(free) or not len(marked):
        return []
    generator = np.random.default_rng(seed)
    return [set(generator.permutation(free)[: len(marked)].tolist()) for _ in range(DRAWS)]


def kept(text: Sequence[str], gone: Sequence[set[int]]) -> list[Example]:
    """The text without some of its words, once for each set of them; what is left blank is left out."""
    parts = [tuple(word for i, word in enumerate(text) if i not in places) for places in gone]
    return [Example("without", part) for part in parts if part]


def moved(model: Classifier, whole: Example, parts: Sequence[Example]) -> float | None:
    """The mean distance of the predictions on the parts to that on the whole; None where there is no part."""
    if not parts:
        return None
    with torch.no_grad():
        prob = importance.probabilities(model.run(model.encode([whole, *parts])).logits)
    return float(tvd(prob[1:], prob[:1]).mean())


def left_out(model: Classifier, example: Example) -> tuple[float | None, ...]:
    """How far the prediction moves without each word; undefined for a single word."""
    batch = model.encode([example])
    with torch.no_grad():
        target = model.run(batch).logits.argmax(-1)
    distance, _ = importance.leave_one_out(model, batch, target=target)
    return tuple(distance[0]) or (None,) * len(example.text)


def rows(t: Texts, found: Deceived) -> list[tokens.Row]:
    """Attention under each λ, with its mass on the marked words and what the model says."""
    return [
        tokens.Row(
            t("strips.strength", strength=strength),
            found.attention[i].tolist(),
            t(f"strips.{'honest' if strength == '0' else 'hiding'}"),
            note=unbroken(t("strips.mass", mass=share(found.mass(i))), said(t, found, i)),
        )
        for i, strength in enumerate(STRENGTHS[: len(found.attention)])
    ]


def deletions(t: Texts, found: Deceived) -> list[tokens.Row]:
    """Leave-one-out under each λ, with what the marked words together and as many others do."""
    return [
        tokens.Row(
            t("strips.strength", strength=strength),
            found.left_out[i],
            t("strips.left_out"),
            note=unbroken(
                t("strips.without_marked", tvd=tokens.number(found.without_marked[i], 3)),
                t("strips.without_others", tvd=tokens.number(found.without_others[i], 3)),
            ),
            decimals=digits(found.left_out[i]),
        )
        for i, strength in enumerate(STRENGTHS[: len(found.attention)])
    ]


def said(t: Texts, found: Deceived, model: int) -> str:
    """The likeliest label and its probability."""
    best = int(found.prob[model].argmax())
    return t("strips.p", label=t.label(found.labels[best]), p=tokens.number(float(found.prob[model, best])))


def unbroken(*parts: str) -> str:
    """Parts between which a line may end; numbers stay with what stands before and behind them."""
    return re.sub(r" (?=[<%\d–])", UNBROKEN, ", ".join(parts))


def share(value: float) -> str:
    """A share in per cent, small ones with the decimals that they need."""
    percent = 100 * value
    return f"{percent:.1f} %" if percent >= 0.95 or percent == 0 else f"{percent:.2g} %" if percent >= 0.001 else "< 0.001 %"


def encoders(model_name: str) -> dict[str, str]:
    """The honest models on the same data that were measured, by encoder."""
    names = {encoder: evidence.with_encoder(model_name, encoder) for encoder in PAPERS_MODELS}
    return {encoder: name for encoder, name in names.items() if evidence.ran("deception", name)}


def measured(model_name: str) -> pd.DataFrame:
    """COLUMNS, one row for each encoder and λ ("anonymised": the control), with a 95 % interval of the accuracy (Wilson), and
    paper_accuracy, paper_mass, paper_sign (below, about)."""
    made = []
    for encoder, name in encoders(model_name).items():
        for row in resources.results("deception", name).to_dict("records"):
            strength = CONTROL if row["kind"] == CONTROL else row["value"] or "0"
            found = binomtest(round(row["accuracy"] * row["n"]), row["n"]).proportion_ci(method="wilson")
            here = {column: row[column] for column in COLUMNS if column in row}
            paper = published(name.split("/")[0], encoder, strength)
            made.append({**here, "encoder": encoder, "strength": strength, "low": found.low, "high": found.high, **paper})
    order = {name: place for place, name in enumerate((CONTROL, *STRENGTHS))}
    made.sort(key=lambda row: (row["encoder"] == "bilstm", order[row["strength"]]))
    return pd.DataFrame(made, columns=[*COLUMNS, "paper_accuracy", "paper_mass", "paper_sign"])


def published(data: str, encoder: str, strength: str) -> dict[str, float | str | None]:
    """What the paper has for a cell: shares, and whether the mass is a bound ("below") or rounded ("about")."""
    table = resources.table(second_hand)
    model = f"{PAPERS_MODELS[encoder]}, {CONTROL if strength == CONTROL else f'lambda={strength}'}"
    cells = table[(table["dataset"] == PAPERS_DATA.get(data)) & (table["model"] == model)].set_index("metric")
    accuracy = cells["value"].get("accuracy")
    mass = cells[cells.index.str.startswith("attention mass")]
    return {
        "paper_accuracy": None if accuracy is None else float(accuracy) / 100,
        "paper_mass": float(mass["value"].iloc[0]) / 100 if len(mass) else None,
        "paper_sign": next((sign for sign in ("below", "about") if len(mass) and sign in mass["unit"].iloc[0]), ""),
    }


def second_hand() -> pd.DataFrame:
    """The cells of the published table, all of them recovered from a reproduction."""
    table = pd.read_csv(resources.PUBLISHED)
    return table[(table["paper"] == PAPER) & (table["verified"] == "yes")].reset_index(drop=True)


def together(parts: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Parts of a figure as one frame of numbers, without what was not measured."""
    frame = pd.concat(list(parts), ignore_index=True)
    return frame.astype(dict.fromkeys(("mean", "low", "high", "published"), float)).dropna(subset=["mean"])


def written(table: pd.DataFrame, models: Sequence[str], t: Texts) -> pd.DataFrame:
    """The measured table as it is read: model, accuracy and mass here and published (‡: second-hand)."""
    signs = {"below": "< ", "about": "≈ ", "": ""}

    def percent(value: float | None, sign: str = "", theirs: bool = False) -> str:
        if value is None or pd.isna(value):
            return "–"
        exact = f"{100 * value:.6f}".rstrip("0").rstrip(".")
        return f"{sign}{exact}" if theirs else share(value).removesuffix(" %")

    rows = [
        {
            t("beside.model"): model,
            t("beside.accuracy"): percent(row["accuracy"]),
            t("beside.paper_accuracy"): percent(row["paper_accuracy"], theirs=True),
            t("beside.mass"): percent(row["mass"]),
            t("beside.paper_mass"): percent(row["paper_mass"], signs[row["paper_sign"]], theirs=True),
        }
        for model, row in zip(models, table.to_dict("records"), strict=True)
    ]
    return pd.DataFrame(rows)
