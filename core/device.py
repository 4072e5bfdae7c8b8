"""Where the arithmetic runs, who may run now, and what stays in memory.

Many people share one process, and torch already uses every core for one job: two jobs at once do not take twice the
time but, on two cores, up to seventy times. So heavy jobs pass a `Gate` one at a time, in order of arrival, and
whoever waits can be told how many are ahead. What one job leaves behind, the encoder's states of a sentence, the next
one mostly needs again: a `StateCache` keeps it on the device up to a budget in bytes.

Take the gate first and ask the cache inside. The other way round, with a gate inside `make`, two threads can wait for
each other. Nothing here is a global: a process makes one gate and one cache per device and hands them on.
"""

import os
import threading
import time
import weakref
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from statistics import fmean
from typing import Any, TypeVar

import torch
from torch import Tensor

from core.types import Refusal

States = TypeVar("States", Tensor, tuple[Tensor, ...])
MEGABYTE = 2**20
CPU_BUDGET = 512 * MEGABYTE  # free memory is the machine's, which a container may not be allowed to use


def best_device() -> torch.device:
    """CUDA, else MPS, else the CPU; the environment variable ATTENTION_DEVICE chooses another.

    Raises Refusal where that names a device which this machine does not have.
    """
    cuda = ["cuda", *(f"cuda:{i}" for i in range(torch.cuda.device_count()))] if torch.cuda.is_available() else []
    mps = ["mps"] if torch.backends.mps.is_available() else []
    available = [*cuda, *mps, "cpu"]
    name = os.environ.get("ATTENTION_DEVICE") or available[0]
    if name not in available:
        allowed = ", ".join(available)
        sentence = f"ATTENTION_DEVICE is {name!r}; this machine allows: {allowed}."
        raise Refusal("unknown_device", sentence, device=name, allowed=allowed)
    return torch.device(name)


def set_threads() -> int:
    """Number of threads that torch now uses: OMP_NUM_THREADS where set, else the cores that this process may use.

    Call it once at the start: threads that have computed before keep the number that they had.
    """
    wanted = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    threads = int(wanted) if wanted.isdecimal() and int(wanted) > 0 else cores
    if torch.get_num_threads() != threads:
        torch.set_num_threads(threads)
    return threads


def default_budget(device: torch.device) -> int:
    """Bytes that cached states may take: an eighth of the device's free memory, on a CPU at most 512 MB.

    The environment variable ATTENTION_CACHE_MB sets another number (0 keeps nothing). Raises Refusal where it is
    none.
    """
    wanted = os.environ.get("ATTENTION_CACHE_MB")
    if wanted:
        if not wanted.isdecimal():
            sentence = f"ATTENTION_CACHE_MB is {wanted!r}; it must be a whole number of megabytes, 0 or more."
            raise Refusal("bad_cache_budget", sentence, given=wanted)
        return int(wanted) * MEGABYTE
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0] // 8
    if device.type == "mps":
        return max(0, torch.mps.recommended_max_memory() - torch.mps.driver_allocated_memory()) // 8
    names = getattr(os, "sysconf_names", {})
    pages = next((name for name in ("SC_AVPHYS_PAGES", "SC_PHYS_PAGES") if name in names), None)
    free = os.sysconf(pages) * os.sysconf("SC_PAGE_SIZE") if pages else 8 * CPU_BUDGET
    return min(free // 8, CPU_BUDGET)


@dataclass(eq=False)
class _Spot:
    """One thread's place in the line, with the number of its open tickets and the time when its turn came."""

    thread: threading.Thread
    tickets: int = 0
    since: float | None = None


class Ticket:
    """A place in a gate's line. Always leave it, as a context or by `leave`; a ticket that is lost leaves too."""

    def __init__(self, gate: "Gate", spot: _Spot) -> None:
        self._gate, self._spot = gate, spot
        self._leave = weakref.finalize(self, gate._leave, spot)  # runs once, at the latest when the ticket is dropped
        self._leave.atexit = False

    @property
    def place(self) -> int:
        """How many jobs come before this one; 0 means that it is this one's turn."""
        if not self._leave.alive:
            raise RuntimeError("this ticket has left the line")
        return self._gate._place(self._spot)

    def moved(self, place: int, timeout: float | None = None) -> int:
        """The place, as soon as it is not `place` any more, or after `timeout` seconds."""
        self._until(lambda: self.place != place, timeout)
        return self.place

    def wait(self, timeout: float | None = None) -> bool:
        """True as soon as it is this one's turn, False after `timeout` seconds."""
        return self._until(lambda: self.place == 0, timeout)

    def step_aside(self) -> None:
        """Let all who wait go first, then go on; for long jobs to call between their steps."""
        self._gate._to_the_end(self._spot)
        self.wait()

    def leave(self) -> None:
        """End the job, or give up waiting; a second time does nothing."""
        self._leave()

    def _until(self, reached: Callable[[], bool], timeout: float | None) -> bool:
        with self._gate._changed:
            self._spot.thread = threading.current_thread()  # whoever waits runs the job, whoever joined
            return self._gate._changed.wait_for(reached, timeout)

    def __enter__(self) -> "Ticket":
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()


class Gate:
    """Lets one heavy job run at a time, in order of arrival.

    A thread stands in line once: a job that starts another inside itself keeps its turn.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()  # its lock is reentrant, which a ticket that is collected inside needs
        self._line: list[_Spot] = []  # the first one's job is running
        self._seconds: deque[float] = deque(maxlen=20)

    def join(self) -> Ticket:
        """A ticket for the end of the line, or for this thread's place where it already stands in it."""
        thread = threading.current_thread()
        with self._changed:
            spot = next((spot for spot in self._line if spot.thread is thread), None)
            if spot is None:
                spot = _Spot(thread)
                self._line.append(spot)
                self._start_first()
            spot.tickets += 1
            return Ticket(self, spot)

    @contextmanager
    def turn(self, on_wait: Callable[[int], None] | None = None) -> Iterator[Ticket]:
        """Wait for the turn, run the block, leave.

        While waiting, `on_wait` gets the place, at each change and at least every second; what it raises leaves the
        line.
        """
        with self.join() as ticket:
            place = ticket.place
            while place > 0:
                if on_wait is not None:
                    on_wait(place)
                place = ticket.moved(place, timeout=1.0)
            yield ticket

    @property
    def length(self) -> int:
        """How many stand in line, the running job included."""
        return len(self._line)

    def seconds_left(self, place: int) -> float | None:
        """About how many seconds until the turn of `place`, by the mean of the last 20 jobs; None before the
        first."""
        with self._changed:
            if not self._seconds:
                return None
            mean = fmean(self._seconds)
            since = self._line[0].since if self._line else None
            spent = 0.0 if since is None else min(time.monotonic() - since, mean)
            return max(0.0, place * mean - spent)

    def _place(self, spot: _Spot) -> int:
        with self._changed:
            return self._line.index(spot)

    def _start_first(self) -> None:
        for first in self._line[:1]:
            if first.since is None:
                first.since = time.monotonic()

    def _to_the_end(self, spot: _Spot) -> None:
        with self._changed:
            if self._line[:1] == [spot]:
                self._line.append(self._line.pop(0))
                spot.since = None  # each step is a short job, by which the others' wait is foretold
                self._start_first()
                self._changed.notify_all()

    def _leave(self, spot: _Spot) -> None:
        with self._changed:
            spot.tickets -= 1
            if spot.tickets > 0:
                return
            self._line.remove(spot)
            if spot.since is not None:
                self._seconds.append(time.monotonic() - spot.since)
            self._start_first()
            self._changed.notify_all()


@dataclass(frozen=True)
class CacheStats:
    """What a cache has done since it was made, and what it holds now."""

    hits: int
    misses: int
    bytes: int
    entries: int
    evictions: int


class StateCache:
    """Tensors that stay on their device, at most `budget_bytes` of them; the least recently used go first.

    Whoever asks for the same key shares the same memory: never write into a tensor that comes from here.
    """

    def __init__(self, budget_bytes: int) -> None:
        self._budget = budget_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._making: dict[Hashable, Future[Any]] = {}
        self._hits = self._misses = self._bytes = self._evictions = 0

    def get(self, key: Hashable, make: Callable[[], States]) -> States:
        """What `make()` gave for this key, detached; made now where it is not kept.

        Threads that ask for a key while it is made wait for that one result; where making it raises, the next of them
        tries. `make` runs without gradients but not in inference mode, whose tensors could not enter a graph later.
        It must not ask for its own key. What is larger than the whole budget is returned and not kept.
        """
        while True:
            with self._lock:
                if key in self._kept:
                    self._hits += 1
                    self._kept.move_to_end(key)
                    return _detached(self._kept[key][0])
                future = self._making.get(key)
                if future is None:
                    self._misses += 1
                    mine = self._making[key] = Future()
            if future is None:
                return self._make(key, make, mine)
            made = future.result()
            if made is not None:
                with self._lock:
                    self._hits += 1
                return _detached(made)

    def stats(self) -> CacheStats:
        """Counts so far, and bytes and entries held now."""
        with self._lock:
            return CacheStats(self._hits, self._misses, self._bytes, len(self._kept), self._evictions)

    def clear(self) -> None:
        """Forget all tensors; the counts go on."""
        with self._lock:
            self._kept.clear()
            self._bytes = 0

    def _make(self, key: Hashable, make: Callable[[], States], future: Future[Any]) -> States:
        made = None
        try:
            with torch.inference_mode(False), torch.no_grad():
                made = _detached(make())
            return _detached(made)
        finally:  # also when the thread is stopped from outside: nobody may wait for it for ever
            with self._lock:
                del self._making[key]
                if made is not None:
                    self._keep(key, made)
            future.set_result(made)

    def _keep(self, key: Hashable, made: Tensor | tuple[Tensor, ...]) -> None:
        size = _size(made)
        if size > self._budget:
            return
        self._kept[key] = made, size
        self._bytes += size
        while self._bytes > self._budget:
            _, (_, freed) = self._kept.popitem(last=False)
            self._bytes -= freed
            self._evictions += 1


def _size(states: Tensor | tuple[Tensor, ...]) -> int:
    """Bytes that the states keep alive: their whole storages, each counted once."""
    tensors = (states,) if isinstance(states, Tensor) else states
    storages = [tensor.untyped_storage() for tensor in tensors]
    return sum({storage.data_ptr(): storage.nbytes() for storage in storages}.values())


def _detached(states: States) -> States:
    """The same values as new tensor objects outside any graph; tensors of inference mode are copied out of it."""
    if isinstance(states, Tensor):
        return states.clone() if states.is_inference() else states.detach()
    return tuple(_detached(tensor) for tensor in states)
