"""Trainings that go on in a visitor's session: a thread of its own, told to stop by an event.

Trainings stand in a line of their own. The one whose turn it is trains in the gate of all heavy jobs, and steps aside after
each batch for whoever waits there, so that no question waits for a training to end. Nothing is cached, and nobody else sees
what comes of it. Where nobody has looked for two minutes (the tab is closed), a training ends by itself.
"""

import logging
import threading
import time
from dataclasses import dataclass, field
from functools import partial

import streamlit as st

from core import workshop
from core.device import Gate, Ticket
from core.planted import Plan
from core.training import Progress
from core.workshop import Made
from dashboard import resources

FORGOTTEN = 120.0  # seconds after which nobody seems to look
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Chosen:
    """What is to be trained; `strength` is λ where the experiment has one, `encoder` the models' where it can be chosen."""

    name: str
    plan: Plan
    encoder: str
    strength: float | None


class _GivenUp(Exception):
    """The reader stopped waiting for the turn."""


@dataclass
class Training:
    """A training that goes on, or went on, in one visitor's session. The thread writes, the page reads."""

    chosen: Chosen
    points: list[tuple[str, int, float, float]] = field(default_factory=list)  # model, batch, loss, mass
    place: int = 0  # how many trainings come before
    stop: threading.Event = field(default_factory=threading.Event)
    looked: float = field(default_factory=time.monotonic)
    made: Made | None = None
    error: Exception | None = None
    thread: threading.Thread | None = None

    @property
    def live(self) -> bool:
        """Whether it is still going on."""
        return self.thread is not None and self.thread.is_alive()

    @property
    def unwanted(self) -> bool:
        """Whether the reader stopped it, or is gone."""
        return self.stop.is_set() or time.monotonic() - self.looked > FORGOTTEN

    def told(self, ticket: Ticket, model: str, now: Progress) -> bool:
        """Notes where a training stands, and lets others go first; whether it shall go on."""
        if now.watched is not None:
            batch = self.points[-1][1] + 1 if self.points and self.points[-1][0] == model else 1
            self.points.append((model, batch, now.loss, now.watched))
        ticket.step_aside()
        return not self.unwanted

    def waiting(self, place: int) -> None:
        """Notes the place in the trainings' line, and leaves the line where the reader gave up."""
        self.place = place
        if self.unwanted:
            raise _GivenUp

    def run(self, bench: Gate, gate: Gate) -> None:
        """Trains when its turn among the trainings comes, in the gate; what goes wrong is kept for the page to say."""
        chosen = self.chosen
        try:
            with bench.turn(self.waiting):
                self.place = 0
                with gate.turn() as ticket:
                    told = partial(self.told, ticket)
                    self.made = workshop.make(
                        chosen.name, chosen.plan, encoder=chosen.encoder, strength=chosen.strength, told=told
                    )
        except _GivenUp:
            self.made = Made((), (), {}, stopped=True)
        except Exception as error:
            log.error("A training on a page failed", exc_info=error)
            self.error = error


def of_session() -> dict[str, Training]:
    """The trainings of this session by experiment."""
    kept: dict[str, Training] = st.session_state.setdefault("workbench", {})
    return kept


def start(chosen: Chosen) -> None:
    """Begins a training in this session; one that still goes on ends first."""
    if (before := of_session().get(chosen.name)) is not None:
        before.stop.set()
    training = Training(chosen)
    training.thread = threading.Thread(
        target=training.run, args=(resources.bench(), resources.gate()), name="workbench", daemon=True
    )
    of_session()[chosen.name] = training
    training.thread.start()
