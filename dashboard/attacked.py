"""A sentence into which a trigger is put word by word, and what triggers do to whole test sets: plain values for the page."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
import pandas as pd
from scipy.stats import binomtest

from core.attattr.triggers import Place, Trigger, inserted, positions, predictions
from core.experiments import triggers
from core.models.transformer import Transformer
from core.reading import Reading
from core.types import Note, Refusal
from dashboard import resources, tokens
from dashboard.texts import Texts

SERIES = ("before", "after", "random")
WEAKER = 0.1  # a fall of the probability that counts
PAPER = "Hao et al. 2021"
Places = tuple[Place, ...]


@dataclass(frozen=True)
class Attacked:
    """A text with none, one, ... all words of a trigger, and with random words instead."""

    labels: tuple[str, ...]
    texts: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]  # of each step: text and query
    new: tuple[tuple[frozenset[int], frozenset[int]], ...]  # of each step: where the inserted words stand
    prob: np.ndarray  # "step label"
    random: np.ndarray  # "draw step label"
    notes: tuple[Note, ...]

    @property
    def prediction(self) -> dict[str, float]:
        """The probability of each label before anything is inserted."""
        return dict(zip(self.labels, self.prob[0].tolist(), strict=True))

    @property
    def predicted(self) -> int:
        """The likeliest label before, by its index."""
        return int(self.prob[0].argmax())


def attacked(model: Transformer, reading: Reading, *, places: Places, draws: tuple[Places, ...]) -> Attacked:
    """The text with the first words of a trigger, one more at each step, and the same with random words."""
    steps = [places[:count] for count in range(len(places) + 1)]
    chance = [draw[:count] for draw in draws for count in range(len(draw) + 1)]
    made = [inserted(reading.example, some) for some in (*steps, *chance)]
    prob = predictions(model, made).double().numpy()
    stand = [positions(reading.example, some) for some in steps]
    return Attacked(
        labels=model.card.task.labels,
        texts=tuple((one.text, one.query) for one in made[: len(steps)]),
        new=tuple((frozenset(text), frozenset(query)) for text, query in stand),
        prob=prob[: len(steps)],
        random=prob[len(steps) :].reshape(len(draws), len(steps), prob.shape[-1]),
        notes=reading.notes,
    )


def table(model_name: str) -> pd.DataFrame:
    """The table of a model's triggers. Refuses one that was made with other weights."""
    found = resources.results("triggers", model_name)
    if found.attrs["provenance"]["weights_sha256"] != resources.cards()[model_name].weights_sha256:
        sentence = f"The triggers of {model_name} were found with other weights; `make results` finds them again."
        raise Refusal("stale_results", sentence, model=model_name)
    return found


def known(model_name: str) -> list[tuple[Trigger, tuple[Places, ...]]]:
    """The triggers of a model and draws of random words for each, by label and rank."""
    rows = table(model_name).drop_duplicates(["label", "rank"]).to_dict("records")
    return [(triggers.read(row), tuple(triggers.read_draws(row))) for row in rows]  # type: ignore[arg-type]


def named(t: Texts, one: Trigger, labels: Sequence[str]) -> str:
    """A trigger as it is chosen: its words, and the label that they speak for."""
    return f"{' + '.join(map(tokens.readable, one.words))} → {t.label(labels[one.label])}"


def steps(t: Texts, found: Attacked, one: Trigger) -> pd.DataFrame:
    """group (what was inserted last), series, mean, low, high (of p of the label predicted before; draws of random words), said
    (the prediction)."""
    rows = []
    for step in range(len(found.prob)):
        group = t("steps.none") if not step else f"{step} + {tokens.readable(one.words[step - 1])}"
        for name, probs in (("after", found.prob[None, step]), ("random", found.random[:, step])):
            p = probs[:, found.predicted]
            said = ", ".join(dict.fromkeys(t.label(found.labels[i]) for i in probs.argmax(-1)))
            shares = {"mean": float(p.mean()), "low": float(p.min()), "high": float(p.max())}
            rows.append({"group": group, "series": t(f"series.{name}"), **shares, "said": said})
    return pd.DataFrame(rows)


def outcome(found: Attacked) -> str:
    """The option of the guess that is right."""
    if int(found.prob[-1].argmax()) != found.predicted:
        return "flips"
    fell = found.prob[0, found.predicted] - found.prob[-1, found.predicted]
    return "weaker" if fell > WEAKER else "holds"


def text_html(words: Sequence[str], new: Collection[int], language: str, name: str = "") -> str:
    """Words in boxes, the inserted ones outlined, with a spoken description."""
    cells = "".join(
        f'<span class="word"><bdi class="cell{" selected" if i in new else ""}">{escape(tokens.readable(word))}</bdi></span>'
        for i, word in enumerate(words)
    )
    spoken = escape(" ".join(f"[{word}]" if i in new else word for i, word in enumerate(words)))
    strip = f'<div class="strip" role="img" aria-label="{spoken}" lang="{escape(language)}" translate="no">{cells}</div>'
    label = f'<div class="name"><b>{escape(name)}</b></div>' if name else ""
    return f'<div class="strips{"" if name else " bare"}">{label}{strip}</div>'


def by_class(model_name: str, index: str) -> pd.DataFrame:
    """group (gold label), series (before, after, random), mean (accuracy), low, high (95 %, Wilson), n for one trigger, by its
    number."""
    found = table(model_name)
    pairs = found[["label", "rank"]].drop_duplicates().reset_index(drop=True)
    label, rank = pairs.loc[int(index), ["label", "rank"]]
    rows = []
    for row in found[(found["label"] == label) & (found["rank"] == rank)].to_dict("records"):
        for series in SERIES:
            interval = binomtest(int(row[series]), int(row["n"])).proportion_ci(method="wilson")
            shares = {"mean": row[series] / row["n"], "low": interval.low, "high": interval.high, "n": int(row["n"])}
            rows.append({"group": int(row["gold"]), "series": series, **shares})
    return pd.DataFrame(rows)


def overview(model_name: str) -> pd.DataFrame:
    """words, label, score, gold, n, and accuracy before, after and with random words: a row a trigger and gold label other than
    its own, shares."""
    found = table(model_name)
    found = found[found["gold"] != found["label"]].reset_index(drop=True)
    shares = {name: found[name] / found["n"] for name in SERIES}
    return found[["words", "label", "score", "gold", "n"]].assign(**shares)


def strongest(shown: pd.DataFrame) -> dict[str, object]:
    """The row of `overview` whose accuracy falls most."""
    fall = (shown["before"] - shown["after"]).to_numpy()
    return {str(name): value for name, value in shown.iloc[int(fall.argmax())].items()}


def published() -> tuple[float, float]:
    """What is known second-hand: accuracy of BERT-base on MNLI's entailment without and with two words, in percent."""
    rows = pd.read_csv(resources.PUBLISHED)
    rows = rows[(rows["paper"] == PAPER) & (rows["table"] == "Attack table")]
    value = dict(zip(rows["metric"], rows["value"], strict=True))
    return float(value["accuracy without a trigger"]), float(value["accuracy with the trigger (with, math)"])
