"""The spotlight: attention as bars over the words that a reader drags, prediction and distances following at once.

An inline component. What the browser needs are the numbers of the linear decoder (`core.debate.adversary.Spotlight`), so that
nothing is sent while a bar is dragged; on release Python is told the weights, and the best within ε so far. What comes back
from a browser may be anything: it counts only if it names this very text and is a distribution over its words, and its
distances are computed again here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from math import isfinite
from pathlib import Path
from typing import Any

import streamlit as st
import torch

from core.agreement import jsd, tvd
from core.debate.adversary import Spotlight
from dashboard.texts import Texts
from dashboard.tokens import number, readable, right_to_left

KEY = "spotlight"
ROUNDING = 1e-6  # a sum of weights may miss one by so much
REMEMBERED = 30  # texts whose weights a session keeps
STRINGS = ("prediction", "tvd", "jsd", "best", "best_short", "now", "words", "note", "note_goal")
BUTTONS = ("less", "more", "back", "mine")

_folder = Path(__file__).parent
_mount = st.components.v2.component(
    "spotlight", css=(_folder / "spotlight.css").read_text("utf-8"), js=(_folder / "spotlight.js").read_text("utf-8")
)


@dataclass(frozen=True)
class Turned:
    """Weights that a reader gave the words of a text; `best` is the farthest within ε so far. None: the model's own."""

    weights: tuple[float, ...] | None = None
    best: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Reading:
    """What weights do: probability of each label that may be answered, TVD to the model's own, JSD of the attentions."""

    prediction: tuple[float, ...]
    tvd: float
    jsd: float


@dataclass(frozen=True)
class Goal:
    """What is marked once it may be seen: the adversary's weights, their JSD, and whether they are the optimum."""

    weights: tuple[float, ...]
    jsd: float
    exact: bool


def stamp(light: Spotlight, words: Sequence[str]) -> str:
    """A fingerprint of the text and of the numbers that predict on it."""
    return sha256(repr((asdict(light), tuple(words))).encode()).hexdigest()[:16]


def under(light: Spotlight, weights: Sequence[float]) -> Reading:
    """What the model predicts under `weights`, computed as the browser computes it."""
    effect, bias, own, other = (
        torch.tensor(values, dtype=torch.float64) for values in (light.effect, light.bias, light.original, tuple(weights))
    )
    before, after = (torch.softmax(bias + attention @ effect, dim=-1) for attention in (own, other))
    return Reading(tuple(after.tolist()), float(tvd(after, before)), float(jsd(other, own)))


def turned(light: Spotlight, words: Sequence[str]) -> Turned:
    """What the reader made of this text, as far as it can be believed; kept for the session, also while another is shown."""
    kept: dict[str, Turned] = st.session_state.setdefault("spotlights", {})
    name = stamp(light, words)
    state = st.session_state.get(KEY)
    answer = state.get("spot") if isinstance(state, Mapping) else None
    if isinstance(answer, Mapping) and answer.get("id") == name:
        kept[name] = Turned(*(believed(answer.get(part), len(words)) for part in ("weights", "best")))
    while len(kept) > REMEMBERED:
        kept.pop(next(iter(kept)))
    return kept.get(name, Turned())


def believed(values: Any, n: int) -> tuple[float, ...] | None:
    """The values as a distribution over n words; None if they are none."""
    if not isinstance(values, list | tuple) or len(values) != n:
        return None
    if not all(type(value) in (int, float) and isfinite(value) and 0 <= value <= 1 for value in values):
        return None
    total = sum(values)
    return tuple(value / total for value in values) if abs(total - 1) <= ROUNDING else None


def show(
    t: Texts,
    light: Spotlight,
    words: Sequence[str],
    *,
    epsilon: float,
    language: str = "en",
    goal: Goal | None = None,
) -> None:
    """Draws the spotlight."""
    start = turned(light, words)
    text = {name: t(f"spotlight.{name}") for name in (*STRINGS, *BUTTONS)}
    text |= {name: t(f"spotlight.{name}", epsilon=f"{epsilon:g}") for name in ("inside", "outside")}
    text["optimum"] = t("spotlight.optimum" if goal is None or goal.exact else "spotlight.farthest")
    data: dict[str, Any] = {
        "id": stamp(light, words),
        "lang": t.lang,
        "language": language,
        "rtl": right_to_left(words),
        "words": [readable(word) for word in words],
        "labels": [t.label(name) for name in light.labels],
        "effect": [list(row) for row in light.effect],
        "bias": list(light.bias),
        "original": list(light.original),
        "epsilon": epsilon,
        "start": start.weights and list(start.weights),
        "best": start.best and list(start.best),
        "optimum": list(goal.weights) if goal else None,
        "optimum_jsd": goal.jsd if goal else None,
        "text": text,
    }
    _mount(key=KEY, data=data, default={"spot": None}, on_spot_change=lambda: None)


def summary(t: Texts, light: Spotlight, words: Sequence[str], epsilon: float, goal: Goal) -> str:
    """How far the reader came within ε, beside what was found; "" where nothing was dragged."""
    made = turned(light, words)
    reached = under(light, made.best) if made.best else None
    if reached is None or reached.tvd > epsilon + ROUNDING:
        return t("spotlight.none", epsilon=f"{epsilon:g}") if made.weights else ""
    values = {"jsd": number(reached.jsd, 3), "goal": number(goal.jsd, 3)}
    if not goal.exact and reached.jsd > goal.jsd + ROUNDING:
        return t("spotlight.beaten", **values)
    share = f"{100 * min(reached.jsd / goal.jsd, 1):.0f}" if goal.jsd > 0 else "100"
    return t("spotlight.reached" if goal.exact else "spotlight.reached_found", share=share, **values)
