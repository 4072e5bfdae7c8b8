"""Sixth chapter: six trained models, one for each score, on the learner's own sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from core.agreement import entropy
from core.models.classifier import Classifier
from core.models.comparison import compared
from core.models.contributions import contributions
from core.models.scores import SCORES
from core.reading import Reading
from core.types import Note, Refusal
from dashboard import controls, exhibits, link, resources, shell, texts, tokens
from dashboard.exhibits import Exhibit
from dashboard.mechanism import telling
from dashboard.resources import Choice
from dashboard.shell import Here
from dashboard.strips import strips_chart

DATA = "sst2"
MODELS = {f"{DATA}/bilstm-{name}": name for name in SCORES}
FIRST = f"{DATA}/bilstm-additive"
FAMILY = ("dot", "scaled-dot", "general")
OPTIONS = ("few", "half", "most")


@dataclass(frozen=True)
class Six:
    """One text under the six models."""

    words: tuple[str, ...]
    labels: tuple[str, ...]
    scores: tuple[str, ...]  # names, "model"
    attention: np.ndarray  # "model word"
    prob: np.ndarray  # "model label"
    entropy: np.ndarray  # "model", in nats
    effect: np.ndarray  # "word label", what each word alone would add to the logits of the first model
    notes: tuple[Note, ...]

    @property
    def together(self) -> tuple[int, int]:
        """The word that most of the models look at most, and how many do."""
        places, counts = np.unique(self.attention.argmax(-1), return_counts=True)
        return int(places[counts.argmax()]), int(counts.max())


def six(model: Classifier, reading: Reading, *, others: Sequence[Classifier]) -> Six:
    """A text under the additive model and the other five, in double precision."""
    models = [model, *others]
    batch = model.encode([reading.example])
    found = compared(models, batch)
    return Six(
        words=reading.example.text,
        labels=model.card.task.labels,
        scores=tuple(one.card.score for one in models),
        attention=found.attention[:, 0].cpu().numpy(),
        prob=found.prob[:, 0].cpu().numpy(),
        entropy=entropy(found.attention[:, 0]).cpu().numpy(),
        effect=contributions(model, batch).effect[0].cpu().numpy(),
        notes=reading.notes,
    )


def there() -> list[str]:
    """The models of the six that are installed, the additive one first."""
    return [name for name in MODELS if name in resources.cards()]


def pick(here: Here) -> Choice | None:
    """The sentence that the six read. They know English reviews only: under a model of other data the first sample is read, and
    a button brings the reader to these models.
    """
    t = here.t
    if FIRST not in resources.cards():
        shell.problem(t, "no_models", "No trained model is installed.", {})
        return None
    card = resources.cards()[FIRST]
    if here.link.model in resources.cards() and resources.cards()[here.link.model].task == card.task:
        with st.container(horizontal=True, vertical_alignment="bottom", key="picker"):
            choice = controls.current_choice(here)
            controls.pick_sentence(here, card)
            controls.own_text(here, card, choice)
        return Choice(FIRST, choice.text) if choice else None
    samples = resources.samples(FIRST)
    if not samples:
        st.caption(t("picker.no_sample"))
        return None
    first = next(iter(samples.values()))
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(t("trained.english"), width="content")
        st.button(
            t("trained.choose"),
            key="mechanism-english",
            on_click=lambda: link.put(model=FIRST, sample=first.id, own=None, query="", target=""),
        )
    return Choice(FIRST, first.text)


def read(here: Here, choice: Choice) -> Six:
    """The six on a text."""
    with shell.computing(here, 330) as waiting:
        others = [name for name in there() if name != FIRST]
        return resources.compute(six, choice, others=others, waiting=waiting)


def show(here: Here) -> None:
    """Six strips of the same words, after a guess on how alike they are."""
    t = here.t
    telling.idea(here, "trained")
    choice = pick(here)
    if choice is None:
        return
    found = read(here, choice)
    shell.show_notes(here, found.notes)
    if strips(here, choice, found):
        said = {"location": t("trained.location_text"), "family": f"{t('trained.family_text')} {measured(here)}"}
        for column, (name, text) in zip(st.columns(2, gap="medium"), said.items(), strict=True):
            column.html(tokens.argument_html(None, t(f"trained.{name}_title"), text))


def measured(here: Here) -> str:
    """How large the largest weight is over the test set under each of the family; nothing where it was not measured."""
    try:
        tables = {name: resources.results("permutation", f"{DATA}/bilstm-{name}") for name in FAMILY}
    except Refusal:
        return ""
    means = {name.replace("-", "_"): tokens.number(float(table["max_attention"].mean())) for name, table in tables.items()}
    return here.t("trained.family_measured", n=texts.count(len(tables["dot"])), **means)


def strips(here: Here, choice: Choice, found: Six) -> bool:
    """The first of six strips, all of them after a guess. Whether it is made."""
    t, about = here.t, f"trained|{choice.text}"
    legends = [tokens.Legend("0", t("strips.largest"))]
    with exhibits.figure(here, "six-trained", html=tokens.legend_html(legends)) as frame:
        with frame:
            numbers = st.toggle(t("figure.numbers"), key="numbers", persist_state="session")
        rows = [row(here, found, place) for place in range(len(found.scores))]
        place, options = st.container(), {name: t(f"trained.{name}") for name in OPTIONS}
        option = controls.guess(here, about, t("trained.question"), options).option
        visible = rows[:1] if option is None else rows
        place.html(tokens.strips_html(visible, found.words, language="en", numbers=numbers))
        if option is None:
            st.html(tokens.veil_html(t("trained.veil"), "14rem"))
            return False
        word, count = found.together
        values = {"word": texts.plain(found.words[word]), "count": count, "of": len(found.scores)}
        if option:
            telling.guessed(here, about, options[option], t("trained.together", **values))
        draw = partial(strips_chart, rows, found.words, legends=legends, numbers=numbers, part=t("figure.part"))
        tables = {
            t("trained.models"): models(here, found),
            t("trained.weights"): tokens.table(rows, found.words, position=t("table.position"), word=t("table.word")),
        }
        caption = t("trained.caption", n=len(found.words), **tested())
        source, own = t("six.source"), here.link
        exhibit = Exhibit("trained", caption, source, tables, lambda look: draw(look=look), on_screen=False, link=own)
        exhibits.show(here, frame, exhibit, t("trained.reading", **values))
    return True


def row(here: Here, found: Six, place: int) -> tokens.Row:
    """One model's weights with its answer."""
    t, best = here.t, int(found.prob[place].argmax())
    said = f"{t.label(found.labels[best])} {tokens.number(float(found.prob[place, best]))}"
    card = resources.cards()[f"{DATA}/bilstm-{found.scores[place]}"]
    accuracy = t("trained.accuracy", accuracy=f"{100 * card.test['accuracy']:.1f}")
    return tokens.Row(t(f"score.{found.scores[place]}"), found.attention[place].tolist(), accuracy, note=said)


def models(here: Here, found: Six) -> pd.DataFrame:
    """Each model with its test, its answer, its most attended word, and how even its weights are."""
    t, rows = here.t, []
    for place, name in enumerate(found.scores):
        card, best = resources.cards()[f"{DATA}/bilstm-{name}"], int(found.prob[place].argmax())
        rows.append(
            {
                "score": t(f"score.{name}"),
                "accuracy": card.test["accuracy"],
                "answer": t.label(found.labels[best]),
                "prob": found.prob[place, best],
                "most": found.words[int(found.attention[place].argmax())],
                "largest": found.attention[place].max(),
                "entropy": found.entropy[place],
            }
        )
    return pd.DataFrame(rows)


def tested() -> dict[str, str]:
    """On how many test sentences the models were judged, and from which seed they were trained."""
    card = resources.cards()[FIRST]
    return {"test": texts.count(card.test["n"]), "seed": str(card.seed)}
