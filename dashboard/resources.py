"""What all visitors share: models, answers, results, samples. The only file with Streamlit's caches.

Cached values are read-only. An answer is kept under the function's qualified name, `VERSION`, the weights' checksum, the
input and the settings; two visitors who ask the same cost one computation. Different questions wait for each other in the gate:
two heavy jobs at once on two cores are up to seventy times slower than one after the other. Because a cached function may not
draw, the queue is shown outside: the first call asks the cache only, and where it has no answer the second one computes inside
the gate.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import Any, Concatenate, ParamSpec, TypeVar

import pandas as pd
import streamlit as st

from core import data, device, experiments
from core.device import Gate, StateCache
from core.models import own, perceivers, registry, translator
from core.models.perceiver import Perceiver, PerceiverCard
from core.models.text_model import TextModel
from core.models.translator import TranslatorCard
from core.reading import Reading, read
from core.translation import CHANGES, Translation, translate
from core.types import Card, Kind, Refusal

VERSION = 1  # raise it when a function's answer changes its meaning or its fields
OWN, MOST_OWN = "own_models", 2  # where a session keeps what it opened; how many of all readers' models stay loaded
OWN_SAMPLES: Mapping[str, str] = {"classification": "sst2", "paraphrase": "mrpc"}  # sentences for a model, by what it reads
PUBLISHED = Path(__file__).resolve().parents[1] / "assets" / "published.csv"

Waiting = Callable[[int, float | None], None]  # told the place in the queue (0: its turn), and about how many seconds
P = ParamSpec("P")
Answer = TypeVar("Answer")


class _NotYet(Exception):
    """The cache has no answer, and the caller has not passed the gate."""


@dataclass(frozen=True)
class Choice:
    """What is read by which model."""

    model: str
    text: str
    query: str = ""


@st.cache_resource(show_spinner=False)
def prepare() -> int:
    """Sets, once for the server, how many threads torch may use, and returns it."""
    return device.set_threads()


def compute(
    function: Callable[Concatenate[Any, Reading, P], Answer],
    choice: Choice,
    *,
    others: Sequence[str] = (),
    waiting: Waiting | None = None,
    **settings: Any,
) -> Answer:
    """`function(model, reading, **settings)` for a choice, from the cache or computed inside the gate.

    Where `others` names further models, the function is given them too, as `others=[model]` in that order. Raises what the
    function, the reading or the loading of a model refuses; refusals are not cached.
    """
    weights = tuple(cards()[name].weights_sha256 if name in cards() else "" for name in (choice.model, *others))
    key = (function, VERSION, choice, tuple(others), weights, tuple(sorted(settings.items())))
    try:
        return _computed(*key, _admitted=False)
    except _NotYet:
        if waiting:
            waiting(0, None)
        with gate().turn(lambda place: waiting(place, gate().seconds_left(place)) if waiting else None):
            return _computed(*key, _admitted=True)


def _name(function: FunctionType) -> str:
    return f"{function.__module__}.{function.__qualname__}"


@st.cache_data(max_entries=1000, max_size="200MB", show_spinner=False, hash_funcs={FunctionType: _name})
def _computed(
    function: Callable[..., Any],
    version: int,
    choice: Choice,
    others: tuple[str, ...],
    weights: tuple[str, ...],
    settings: tuple[tuple[str, Any], ...],
    *,
    _admitted: bool,
) -> Any:
    if not _admitted:
        raise _NotYet
    loaded = model(choice.model)
    beside = {"others": [model(name) for name in others]} if others else {}
    return function(loaded, read(loaded, choice.text, choice.query or None), **beside, **dict(settings))


def model(name: str) -> TextModel:
    """The model of that name, shared and read-only. Refuses an unknown name and damaged files."""
    if (opened := opened_here().get(name)) is not None:
        return _own_model(opened.folder, opened.card.task.kind, opened.card.weights_sha256)
    card = committed().get(name)
    return _model(name, card.weights_sha256 if card else "")


@st.cache_resource(max_entries=48, show_spinner=False)
def _model(name: str, weights: str) -> TextModel:
    return registry.load(name, device.best_device(), cache=states())


@dataclass(frozen=True)
class Opened:
    """A model of the reader's own: where it is, and its card."""

    folder: str
    card: Card


def opened_here() -> Mapping[str, Opened]:
    """The reader's own models that this session opened, by name; nobody else sees them."""
    return st.session_state.get(OWN, {})


def open_here(folder: str, kind: Kind) -> str:
    """Opens a model in a folder for this session, and returns its name. Refuses what `own.load` refuses."""
    with gate().turn():
        card = _own_model(folder, kind, own.digest(folder, kind)).card
    st.session_state[OWN] = {**opened_here(), card.name: Opened(folder, card)}
    return card.name


def close_here(name: str) -> None:
    """Forgets a model that this session opened."""
    st.session_state[OWN] = {other: opened for other, opened in opened_here().items() if other != name}


@st.cache_resource(max_entries=MOST_OWN, show_spinner=False)
def _own_model(folder: str, kind: Kind, weights: str) -> TextModel:
    return own.load(folder, kind, states()).to(device.best_device())


@st.cache_resource(show_spinner=False)
def states() -> StateCache:
    """What encoders made of the texts that are being looked at, kept on the device within its budget."""
    return StateCache(device.default_budget(device.best_device()))


def cards() -> Mapping[str, Card]:
    """The card of every model that this session can show, by name."""
    return {**committed(), **{name: opened.card for name, opened in opened_here().items()}}


@st.cache_resource(ttl=60, show_spinner=False)
def committed() -> Mapping[str, Card]:
    """The card of every model that is there for all, by name; looked up again after a minute."""
    return registry.cards()


@st.cache_resource(ttl=60, show_spinner=False)
def results(name: str, model_name: str) -> pd.DataFrame:
    """An experiment's table with its provenance. Refuses where the experiment was not run, as with a reader's own model."""
    if model_name.startswith(own.PREFIX):
        sentence = f"No test set is measured with a model of your own, so there is no table of {name} for {model_name}."
        raise Refusal("no_results_own", sentence, name=name, model=model_name)
    return experiments.results(name, model_name)


@st.cache_resource(ttl=60, show_spinner=False)
def translators() -> Mapping[str, TranslatorCard]:
    """The card of every committed translator, by name; looked up again after a minute."""
    return translator.cards()


@st.cache_resource(max_entries=4, show_spinner=False)
def _translator(name: str, weights: str) -> translator.Translator:
    return translator.load(name)


def translated(name: str, text: str, waiting: Waiting | None = None, change: str = "own") -> Translation:
    """What a translator writes for a text under one of `CHANGES`, from the cache or computed inside the gate. Refuses a
    translator that is still to be trained, and what `translate` refuses."""
    if name not in translators():
        sentence = f"The translator {name} is still to be trained: `python -m core train {name}`."
        raise Refusal("no_translator", sentence, model=name)
    key = (name, translators()[name].weights_sha256, text, change, VERSION)
    try:
        return _translated(*key, _admitted=False)
    except _NotYet:
        if waiting:
            waiting(0, None)
        with gate().turn(lambda place: waiting(place, gate().seconds_left(place)) if waiting else None):
            return _translated(*key, _admitted=True)


@st.cache_data(max_entries=500, show_spinner=False)
def _translated(name: str, weights: str, text: str, change: str, version: int, *, _admitted: bool) -> Translation:
    if not _admitted:
        raise _NotYet
    return translate(_translator(name, weights), text, at=CHANGES[change])


def table(function: Callable[..., pd.DataFrame], *names: str) -> pd.DataFrame:
    """`function(*names)`, a table made from results that do not change while people look at them; kept for ten minutes."""
    return _table(function, VERSION, names)


@st.cache_data(ttl=600, max_entries=200, show_spinner=False, hash_funcs={FunctionType: _name})
def _table(function: Callable[..., pd.DataFrame], version: int, names: tuple[str, ...]) -> pd.DataFrame:
    return function(*names)


@st.cache_resource(show_spinner=False)
def published() -> pd.DataFrame:
    """Figures of the papers that were read first-hand and are confirmed."""
    table = pd.read_csv(PUBLISHED)
    return table[(table["evidence"] == "first-hand") & (table["verified"] == "yes")]


def perceive(function: Callable[..., Answer], name: str, *given: Any) -> Answer:
    """`function(model, *given)` for a model that sees or hears and plain values, from the cache or computed inside the gate.
    Refuses an unknown name and damaged files."""
    card = perceivers_here().get(name)
    key = (function, VERSION, name, card.weights_sha256 if card else "", given)
    try:
        return _perceived(*key, _admitted=False)
    except _NotYet:
        with gate().turn():
            return _perceived(*key, _admitted=True)


@st.cache_data(max_entries=1000, max_size="50MB", show_spinner=False, hash_funcs={FunctionType: _name})
def _perceived(
    function: Callable[..., Any], version: int, name: str, weights: str, given: tuple[Any, ...], *, _admitted: bool
) -> Any:
    if not _admitted:
        raise _NotYet
    return function(_perceiver(name, weights), *given)


@st.cache_resource(max_entries=8, show_spinner=False)
def _perceiver(name: str, weights: str) -> Perceiver:
    card = perceivers_here().get(name)
    return perceivers.load(name, card.sense if card else "scene")


@st.cache_resource(ttl=60, show_spinner=False)
def perceivers_here() -> Mapping[str, PerceiverCard]:
    """The card of every model that sees or hears, by name; looked up again after a minute."""
    return perceivers.cards()


def samples(model_name: str) -> "Mapping[str, data.Sample]":
    """The project's sentences that suit a model, by id; none where there are none."""
    opened = opened_here().get(model_name)
    return _samples(OWN_SAMPLES[opened.card.task.kind] if opened else model_name.split("/")[0])


@st.cache_resource(show_spinner=False)
def _samples(source: str) -> "Mapping[str, data.Sample]":
    return {sample.id: sample for sample in data.sample_texts(source)}


def sample_ids(model_name: str) -> Sequence[str]:
    """Their ids in order."""
    return tuple(samples(model_name))


@st.cache_resource(show_spinner=False)
def gate() -> Gate:
    """The one gate of this server."""
    return Gate()


@st.cache_resource(show_spinner=False)
def bench() -> Gate:
    """The line of the trainings on pages: one at a time, and that one steps aside for whoever waits at the gate."""
    return Gate()
