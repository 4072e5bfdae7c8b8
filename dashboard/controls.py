"""Widgets that return typed values and are bound to the link: model, sentence, own text, a page's own switches, a guess.

A widget never holds the truth. Before it is drawn its state is set from the link, and its callback changes the link, so that
a shared address, the back button and a click all come to the same page.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.models import registry
from core.models.transformer import Transformer
from core.text import words
from core.types import Card
from dashboard import lessons, link, resources, shell, texts, tokens
from dashboard.link import Link
from dashboard.resources import Choice
from dashboard.shell import Here

OWN = "own"  # the option that stands for the reader's own text
MODEL_WIDTH, SENTENCE_WIDTH, SEED_WIDTH = 230, 420, 150
ROLES = {
    "classification": ("text", ""),
    "qa": ("story", "question"),
    "nli": ("premise", "hypothesis"),
    "paraphrase": ("first", "second"),
}
PICKED = {"qa": "story", "nli": "pair", "paraphrase": "two"}  # what the box of samples is called, where not a sentence


@dataclass(frozen=True)
class Picked:
    """What is chosen on the picker row, and the place on it where the prediction will stand."""

    choice: Choice | None
    place: DeltaGenerator


def picker(here: Here, models: Callable[[Card], bool] = lambda card: True) -> Picked:
    """The row of model, sentence, own text and prediction. `choice` is None where there is nothing to read."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="picker"):
        pick_model(here, [name for name, card in shell.usable(here.page).items() if models(card)])
        choice = current_choice(here)
        if here.card is not None:
            pick_sentence(here, here.card)
            own_text(here, here.card, choice)
        place = st.container(width="content")
    return Picked(choice, place)


def current_choice(here: Here) -> Choice | None:
    """Model and text that the link names."""
    now, card = here.link, here.card
    if card is None:
        return None
    if now.own is not None:
        return Choice(now.model, now.own, now.query)
    sample = resources.samples(now.model).get(now.sample)
    return Choice(now.model, sample.text, sample.query if card.task.kind != "classification" else "") if sample else None


def pick_model(here: Here, names: Sequence[str]) -> None:
    """The model's select box; models of a seed or another variant are shown only where the link names one, or where the page is
    about the variants of all that it can show."""
    about = bool(lessons.PAGES[here.page].variants)
    shown = [name for name in names if about or ":" not in name or name == here.link.model]
    st.session_state["picker_model"] = here.link.model
    st.selectbox(here.t("picker.model"), shown, key="picker_model", width=MODEL_WIDTH, on_change=choose_model)


def choose_model() -> None:
    """The link with the model that was picked; what suits it of the old choice stays."""
    now = link.moved(link.current(), st.session_state["picker_model"], suits, resources.sample_ids)
    link.put(model=now.model, sample=now.sample, own=now.own, query=now.query, target=now.target)


def suits(now: Link, model: str) -> bool:
    """Whether the own text of a link is something that another model can read."""
    before, after = resources.cards().get(now.model), resources.cards().get(model)
    return before is not None and after is not None and before.task.kind == after.task.kind


def pick_sentence(here: Here, card: Card) -> None:
    """The sentences' select box; an own text is its first option while it is shown."""
    samples, now = resources.samples(here.link.model), here.link
    mine = here.t("picker.mine", text=" ".join((now.own or "").split())[:80])
    options = ([OWN] if now.own is not None else []) + list(samples)
    if not options:
        st.caption(here.t("picker.no_sample"), width=SENTENCE_WIDTH)
        return
    st.session_state["picker_sentence"] = OWN if now.own is not None else now.sample
    st.selectbox(
        here.t(f"picker.{PICKED.get(card.task.kind, 'sentence')}"),
        options,
        format_func=lambda name: mine if name == OWN else " · ".join(filter(None, (samples[name].text, samples[name].query))),
        key="picker_sentence",
        width=SENTENCE_WIDTH,
        on_change=choose_sentence,
    )


def choose_sentence() -> None:
    """The link with the sample that was picked."""
    if (name := st.session_state["picker_sentence"]) != OWN:
        link.put(sample=name, own=None, query="", target=kept_target())


def own_text(here: Here, card: Card, choice: Choice | None) -> None:
    """A popover with one or two fields and a button. Its keys follow the text shown, so that applying closes it."""
    stamp = sha256(repr((choice, here.link.lang)).encode()).hexdigest()[:12]
    text_role, query_role = ROLES[card.task.kind]
    text, query = (choice.text, choice.query) if choice else ("", "")
    popover = st.popover(here.t("picker.own"), icon=":material/edit:", key=f"own_{stamp}")
    with popover, st.form(f"own_form_{stamp}", border=False):
        st.text_area(here.t(f"picker.own_{text_role}"), text, key=f"own_text_{stamp}", height=120)
        if query_role:
            st.text_area(here.t(f"picker.own_{query_role}"), query, key=f"own_query_{stamp}", height=80)
        st.caption(here.t("picker.own_help", n=card.max_tokens))
        st.form_submit_button(here.t("picker.apply"), on_click=apply_own, args=(stamp,))


def apply_own(stamp: str) -> None:
    """The link with the text that was typed."""
    query = st.session_state.get(f"own_query_{stamp}", "")
    link.put(own=st.session_state[f"own_text_{stamp}"], query=query, target=kept_target())


def kept_target() -> str:
    """The label to explain on another text: the same, but where labels are what a story names, the predicted one."""
    now = link.current()
    card = resources.cards().get(now.model)
    return "" if card is None or card.task.kind == "qa" else now.target


def show_prediction(here: Here, place: DeltaGenerator, prediction: Mapping[str, float]) -> None:
    """The two likeliest labels on the picker row: the first with its bar, the others in the tooltip."""
    ranked = sorted(prediction.items(), key=lambda item: -item[1])
    named = [(here.t.label(name), prob) for name, prob in ranked]
    if len(named) > 2:
        named[0] = (f"{named[0][0]} {tokens.number(named[0][1])}, {named[1][0]}", named[1][1])
    rest = ", ".join(f"{name} {tokens.number(prob, 3)}" for name, prob in ((here.t.label(n), p) for n, p in ranked))
    place.html(tokens.prediction_html(here.t("picker.prediction"), here.t.label(ranked[0][0]), ranked[0][1], rest))


def choose(
    here: Here, name: str, labels: Mapping[str, str], label: str, *, help_text: str | None = None, default: str | None = None
) -> str:
    """The code of one of the page's own keys, chosen with a segmented control; `default` where it depends on the model."""
    key = lessons.own_key(here.page, name)
    code = here.link.keys.get(key, default) if default else here.key(name)
    st.session_state[key] = code
    st.segmented_control(
        label,
        list(labels),
        format_func=lambda code: labels[code],
        key=key,
        required=True,
        help=help_text,
        on_change=lambda: link.put(keys={**link.current().keys, key: st.session_state[key]}),
    )
    return code


def target(here: Here, predicted: str, labels: Sequence[str]) -> str:
    """Which label is explained: the predicted one unless another of the `labels` is chosen."""
    t = here.t
    chosen = here.link.target if here.link.target in labels else predicted
    st.session_state["target"] = chosen
    st.selectbox(
        t("control.target"),
        list(labels),
        format_func=lambda name: t("control.predicted", label=t.label(name)) if name == predicted else t.label(name),
        key="target",
        help=t("control.target_help"),
        width=MODEL_WIDTH,
        on_change=lambda: link.put(target="" if st.session_state["target"] == predicted else st.session_state["target"]),
    )
    return chosen


def asked_target(here: Here, choice: Choice) -> str | None:
    """The label that the link asks for, None for the predicted one; where a story is read, only one that it names."""
    label, card = here.link.target, here.card
    reads_story = card is not None and card.task.kind == "qa"
    return None if reads_story and label not in map(str.lower, words(choice.text)) else label or None


def complain_of_target(here: Here, labels: Sequence[str]) -> None:
    """Says that the link asks for a label which this text does not allow."""
    if here.link.target not in ("", *labels):
        values = {"given": here.link.target, "allowed": tuple(labels)}
        shell.problem(here.t, "no_candidate", "This label cannot be the answer here.", values)


def seed(here: Here) -> int:
    """The seed of what is drawn by chance: a field, and a button that draws again with the next one."""
    last, key = link.SEEDS[-1], "seed_field"
    st.session_state[key] = here.link.seed
    st.number_input(
        here.t("control.seed"),
        min_value=0,
        max_value=last,
        step=1,
        key=key,
        help=here.t("control.seed_help"),
        width=SEED_WIDTH,
        on_change=lambda: link.put(seed=int(st.session_state[key] or 0)),
    )
    st.button(here.t("control.again"), key="seed_again", on_click=lambda: link.put(seed=(here.link.seed + 1) % (last + 1)))
    return here.link.seed


def show_query(here: Here, choice: Choice) -> None:
    """The question or the hypothesis, where the model reads one, and what attention reads then."""
    if choice.query and here.card and here.card.task.kind != "classification":
        asked = ROLES[here.card.task.kind][1]
        st.markdown(f"{here.t(f'picker.{asked}')}: **{texts.plain(choice.query, 200)}**")
        in_one_row = registry.suits(here.card, Transformer)
        st.caption(here.t("task.one_row" if in_one_row else f"task.{here.card.task.kind}"))


@dataclass(frozen=True)
class Guess:
    """A reader's prediction for one input: the option chosen, "" where it was skipped, None where it is still to be made."""

    option: str | None


def guess(here: Here, about: str, question: str, options: Mapping[str, str]) -> Guess:
    """Asks for a prediction before the result is shown; study mode only. `about` says for which result it is made."""
    made: dict[str, str] = st.session_state.setdefault("guesses", {})
    slot = f"{here.page}:{about}"
    if revealed(here, about):
        return Guess("" if here.lecture else made.get(slot, ""))
    t, key = here.t, f"guess_{sha256(slot.encode()).hexdigest()[:12]}"
    with st.container(key="guess", gap="xsmall"):
        st.markdown(question)
        with st.container(horizontal=True, vertical_alignment="center"):
            option = st.segmented_control(
                question, list(options), format_func=lambda name: options[name], key=key, label_visibility="collapsed"
            )
            st.button(
                t("predict.lock"),
                type="primary",
                icon=":material/lock:",
                disabled=option is None,
                help=t("predict.first") if option is None else None,
                on_click=lambda: made.update({slot: str(option)}),
            )
            st.button(t("predict.skip"), type="tertiary", on_click=lambda: made.update({f"{here.page}:skipped": ""}))
    return Guess(None)


def revealed(here: Here, about: str) -> bool:
    """Whether a result may be seen: its prediction was made or skipped; in a lecture always."""
    made = st.session_state.get("guesses", {})
    return here.lecture or f"{here.page}:{about}" in made or f"{here.page}:skipped" in made


def guess_again(here: Here, about: str) -> None:
    """A quiet button that takes the prediction back, or asks for predictions again after they were skipped."""
    made: dict[str, str] = st.session_state.setdefault("guesses", {})

    def forget() -> None:
        made.pop(f"{here.page}:{about}", None)
        made.pop(f"{here.page}:skipped", None)

    st.button(here.t("predict.again"), type="tertiary", on_click=forget)
