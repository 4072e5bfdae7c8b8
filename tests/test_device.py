"""The gate under threads, the cache under threads and a small budget, and the settings that the environment makes."""

import gc
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor

from core.device import CacheStats, Gate, StateCache, best_device, default_budget, set_threads
from core.types import Refusal

PATIENCE = 20.0  # seconds until a test that hangs is failed


@pytest.fixture
def cuda() -> torch.device:
    if not torch.cuda.is_available():
        pytest.skip("needs CUDA")
    return torch.device("cuda")


@pytest.fixture
def start() -> Iterator[Callable[[Callable[[], object]], threading.Thread]]:
    """Starts a function in a thread; at the end of the test every thread must have ended, without an error."""
    started: list[threading.Thread] = []
    errors: list[BaseException] = []

    def begin(function: Callable[[], object]) -> threading.Thread:
        def run() -> None:
            try:
                function()
            except BaseException as error:  # kept for the test's own thread, where it is raised
                errors.append(error)

        started.append(threading.Thread(target=run, daemon=True))
        started[-1].start()
        return started[-1]

    yield begin
    for thread in started:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    for error in errors:
        raise error


def until(condition: Callable[[], bool]) -> None:
    """Wait until another thread has got somewhere."""
    tick = threading.Event()
    for _ in range(int(PATIENCE / 0.005)):
        if condition():
            return
        tick.wait(0.005)
    raise AssertionError("waited in vain")


# Device and threads


def test_device_is_chosen_by_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTENTION_DEVICE", "cpu")
    assert best_device() == torch.device("cpu")
    monkeypatch.setenv("ATTENTION_DEVICE", "abacus")
    with pytest.raises(Refusal, match=r"'abacus'.*allows:.*cpu"):
        best_device()


@pytest.mark.parametrize(
    ("cuda_there", "mps_there", "expected"), [(True, True, "cuda"), (False, True, "mps"), (False, False, "cpu")]
)
def test_device_is_cuda_then_mps_then_cpu(
    monkeypatch: pytest.MonkeyPatch, cuda_there: bool, mps_there: bool, expected: str
) -> None:
    monkeypatch.delenv("ATTENTION_DEVICE", raising=False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda_there)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps_there)
    assert best_device() == torch.device(expected)
    monkeypatch.setenv("ATTENTION_DEVICE", "cuda:1")
    if cuda_there:
        assert best_device() == torch.device("cuda:1")
    else:
        with pytest.raises(Refusal):
            best_device()


@pytest.fixture
def threads_put_back() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("threads_put_back")
@pytest.mark.parametrize(("wanted", "expected"), [("3", 3), ("2,1", 2), ("", None), ("many", None), ("0", None)])
def test_threads_follow_the_environment_else_the_cores(
    monkeypatch: pytest.MonkeyPatch, wanted: str, expected: int | None
) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", wanted)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 2, 5, 7, 11}, raising=False)
    assert set_threads() == set_threads() == torch.get_num_threads() == (expected or 5)
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 7)
    assert set_threads() == torch.get_num_threads() == (expected or 7)


# Gate


def test_one_at_a_time_in_order_of_arrival(start: Callable) -> None:
    gate, order, inside = Gate(), [], []
    with gate.turn():
        for number in range(8):

            def job(number: int = number) -> None:
                with gate.turn():
                    inside.append(number)
                    assert len(inside) == 1
                    order.append(number)
                    inside.remove(number)

            start(job)
            until(lambda number=number: gate.length == number + 2)
        assert order == []
    until(lambda: gate.length == 0)
    assert order == list(range(8))


def test_waiting_is_told_each_place(start: Callable) -> None:
    gate, places, tickets = Gate(), [], [None, None]
    tickets[0] = gate.join()
    start(lambda: waits_in(gate, tickets))
    until(lambda: gate.length == 2)

    def last() -> None:
        with gate.turn(on_wait=places.append):
            places.append("turn")

    start(last)
    until(lambda: places == [2])
    tickets[0].leave()
    until(lambda: places == [2, 1])
    tickets[1].leave()
    until(lambda: gate.length == 0)
    assert places == [2, 1, "turn"]


def waits_in(gate: Gate, tickets: list) -> None:
    tickets[1] = gate.join()
    assert tickets[1].wait(PATIENCE)


def test_waiting_is_told_again_after_a_second(start: Callable) -> None:
    gate, places = Gate(), []

    def job() -> None:
        with gate.turn(on_wait=places.append):
            pass

    with gate.turn():
        start(job)
        until(lambda: len(places) >= 2)
    assert set(places) == {1}


def test_ticket_counts_the_jobs_ahead(start: Callable) -> None:
    gate, tickets = Gate(), []
    with gate.join() as mine:
        for number in range(3):
            start(lambda: tickets.append(gate.join())).join(PATIENCE)
            assert tickets[number].place == number + 1
        assert (mine.place, mine.wait(0)) == (0, True)
        assert not tickets[0].wait(0.01)
        assert tickets[2].moved(3, 0.01) == 3
        tickets[1].leave()
        tickets[1].leave()
        assert tickets[2].moved(3, 0.01) == 2
        with pytest.raises(RuntimeError):
            _ = tickets[1].place
    assert tickets[0].wait(0)
    assert [tickets[0].place, tickets[2].place] == [0, 1]


class Stopped(BaseException):
    """As Streamlit stops a script."""


def test_who_is_stopped_leaves_the_line(start: Callable) -> None:
    gate, stopped = Gate(), []

    def stop(place: int) -> None:
        raise Stopped

    def waiting() -> None:
        try:
            with gate.turn(on_wait=stop):
                raise AssertionError("never had its turn")
        except Stopped:
            stopped.append(True)

    with gate.turn():
        start(waiting)
        until(lambda: stopped == [True])
        assert gate.length == 1
    with pytest.raises(Stopped), gate.turn():
        raise Stopped
    assert gate.length == 0
    with gate.turn() as ticket:
        assert ticket.place == 0


def test_lost_ticket_leaves_the_line() -> None:
    gate = Gate()
    ticket = gate.join()
    assert gate.length == 1
    del ticket
    gc.collect()
    assert gate.length == 0


def test_job_inside_a_job_keeps_the_turn(start: Callable) -> None:
    gate, done = Gate(), []
    with gate.turn():
        start(lambda: waits_for_turn(gate, done))
        until(lambda: gate.length == 2)
        with gate.turn(on_wait=lambda place: pytest.fail("waited for itself")):
            with gate.join() as inner:
                assert inner.place == 0
            assert done == []
        assert done == [] and gate.length == 2
    until(lambda: done == [True])


def waits_for_turn(gate: Gate, done: list) -> None:
    with gate.turn():
        done.append(True)


def test_job_inside_a_job_whose_ticket_another_thread_took(start: Callable) -> None:
    gate = Gate()
    ticket = gate.join()

    def job() -> None:
        assert ticket.wait(PATIENCE)
        with gate.turn() as inner:
            assert inner.place == 0

    start(job).join(PATIENCE)
    ticket.leave()
    assert gate.length == 0


def test_seconds_left_is_the_mean_of_jobs_ahead(monkeypatch: pytest.MonkeyPatch, start: Callable) -> None:
    now = [100.0]
    monkeypatch.setattr("core.device.time.monotonic", lambda: now[0])
    gate = Gate()
    assert gate.seconds_left(3) is None
    for seconds in (2.0, 4.0):
        with gate.turn():
            now[0] += seconds
    assert gate.seconds_left(0) == 0
    assert gate.seconds_left(3) == pytest.approx(9)
    with gate.turn():
        now[0] += 1.0
        assert gate.seconds_left(2) == pytest.approx(5)
        now[0] += 50.0
        assert gate.seconds_left(2) == pytest.approx(3)  # the job that overruns is expected to end now


def test_many_threads_never_overlap(start: Callable) -> None:
    gate, overlaps, jobs = Gate(), [], []
    running = threading.Lock()

    def job() -> None:
        for _ in range(20):
            with gate.turn():
                overlaps.append(not running.acquire(blocking=False))
                jobs.append(1)
                running.release()

    threads = [start(job) for _ in range(16)]
    for thread in threads:
        thread.join(PATIENCE)
    assert len(jobs) == 320 and not any(overlaps)


# Cache


def zeros(numbers: int, device: str | torch.device = "cpu") -> Callable[[], Tensor]:
    return lambda: torch.zeros(numbers, dtype=torch.float32, device=device)


def test_second_time_is_a_hit_of_the_same_memory() -> None:
    cache, made = StateCache(1000), []

    def make() -> Tensor:
        made.append(1)
        return torch.arange(7.0)

    first, second = cache.get("a", make), cache.get("a", make)
    assert len(made) == 1
    assert torch.equal(first, torch.arange(7.0)) and first.data_ptr() == second.data_ptr()
    assert cache.stats() == CacheStats(hits=1, misses=1, bytes=28, entries=1, evictions=0)


def test_least_recently_used_goes_first() -> None:
    cache = StateCache(3 * 20)
    for key in "abc":
        cache.get(key, zeros(5))
    cache.get("a", zeros(5))
    cache.get("d", zeros(5))  # b goes
    assert cache.stats() == CacheStats(hits=1, misses=4, bytes=60, entries=3, evictions=1)
    for key in "acd":
        cache.get(key, zeros(5))
    assert cache.stats().hits == 4
    cache.get("e", zeros(11))  # 44 bytes: all three must go
    assert cache.stats() == CacheStats(hits=4, misses=5, bytes=44, entries=1, evictions=4)


def test_budget_is_never_exceeded() -> None:
    cache = StateCache(100)
    for number in range(40):
        cache.get(number % 11, zeros(1 + number % 9))
        assert cache.stats().bytes <= 100
    stats = cache.stats()
    assert stats.hits + stats.misses == 40
    assert stats.entries == stats.misses - stats.evictions


def test_larger_than_the_budget_is_returned_and_not_kept() -> None:
    cache = StateCache(40)
    cache.get("small", zeros(5))
    assert cache.get("large", zeros(11)).shape == (11,)
    assert cache.stats() == CacheStats(hits=0, misses=2, bytes=20, entries=1, evictions=0)
    assert StateCache(0).get("a", zeros(3)).shape == (3,)


def test_tuples_and_views_count_the_memory_they_hold() -> None:
    cache = StateCache(1000)
    base = torch.zeros(10)
    states = cache.get("pair", lambda: (base[:2], base[3:]))
    assert isinstance(states, tuple) and [len(part) for part in states] == [2, 7]
    assert cache.stats().bytes == 40


def test_clear_forgets_and_counts_go_on() -> None:
    cache, made = StateCache(1000), []
    for _ in range(2):
        cache.get("a", lambda: made.append(1) or torch.zeros(2))
        cache.clear()
        assert cache.stats().entries == cache.stats().bytes == 0
    assert len(made) == cache.stats().misses == 2


def test_what_comes_out_can_enter_a_graph() -> None:
    cache, weight = StateCache(1000), torch.ones(3, requires_grad=True)
    made_in_graph = cache.get("graph", lambda: weight * 2)
    with torch.inference_mode():
        inferred = torch.arange(3.0)
        cache.get("made inside", lambda: torch.arange(3.0))
        cache.get("made before", lambda: inferred)
        hit_inside = cache.get("graph", zeros(3))
    found = [cache.get(key, zeros(3)) for key in ("graph", "made inside", "made before")]
    assert cache.get("made inside", zeros(3)).data_ptr() == found[1].data_ptr()  # kept as it is, not copied at each hit
    for states in (made_in_graph, hit_inside, *found):
        assert not states.requires_grad and not states.is_inference()
        (gradient,) = torch.autograd.grad((states * weight).sum(), weight)
        assert torch.equal(gradient, states)


def test_asking_for_a_gradient_stays_with_who_asks() -> None:
    cache = StateCache(1000)
    cache.get("a", zeros(3)).requires_grad_()
    assert not cache.get("a", zeros(3)).requires_grad


def test_sixteen_threads_make_once_and_other_keys_do_not_wait(start: Callable) -> None:
    cache, made, found, go = StateCache(1000), [], [], threading.Event()

    def slow() -> Tensor:
        made.append(1)
        assert go.wait(PATIENCE)
        return torch.arange(5.0)

    threads = [start(lambda: found.append(cache.get("slow", slow))) for _ in range(16)]
    until(lambda: len(made) == 1)
    assert cache.get("quick", zeros(2)).shape == (2,)
    assert found == []
    go.set()
    for thread in threads:
        thread.join(PATIENCE)
    assert len(made) == 1 and len(found) == 16
    assert all(torch.equal(states, torch.arange(5.0)) for states in found)
    assert (cache.stats().hits, cache.stats().misses) == (15, 2)


def test_too_large_is_still_made_once_for_all_who_wait(start: Callable) -> None:
    cache, made, found, go = StateCache(4), [], [], threading.Event()

    def slow() -> Tensor:
        made.append(1)
        assert go.wait(PATIENCE)
        return torch.arange(5.0)

    start(lambda: found.append(cache.get("slow", slow)))
    until(lambda: len(made) == 1)
    waiting = start(lambda: found.append(cache.get("slow", slow)))
    threading.Event().wait(0.1)
    go.set()
    waiting.join(PATIENCE)
    until(lambda: len(found) == 2)
    assert len(made) == 1 and cache.stats().entries == 0


@pytest.mark.parametrize("error", [ValueError, Stopped])
def test_failure_is_not_cached_and_the_next_in_line_tries(start: Callable, error: type[BaseException]) -> None:
    cache, found, go, making = StateCache(1000), [], threading.Event(), threading.Event()

    def fails() -> Tensor:
        making.set()
        assert go.wait(PATIENCE)
        raise error

    def first() -> None:
        with pytest.raises(error):
            cache.get("a", fails)

    start(first)
    assert making.wait(PATIENCE)
    waiting = start(lambda: found.append(cache.get("a", zeros(3))))
    go.set()
    waiting.join(PATIENCE)
    assert found[0].shape == (3,)
    assert cache.stats().entries == 1


def test_threads_with_a_small_budget_get_their_own_values() -> None:
    cache = StateCache(200)

    def ask(number: int) -> bool:
        key = number % 13
        return torch.equal(cache.get(key, lambda: torch.full((7,), float(key))), torch.full((7,), float(key)))

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(ask, range(2000)))
    stats = cache.stats()
    assert stats.bytes <= 200 and stats.hits + stats.misses == 2000


# Budget


def test_budget_follows_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATTENTION_CACHE_MB", "3")
    assert default_budget(torch.device("cpu")) == 3 * 2**20
    monkeypatch.setenv("ATTENTION_CACHE_MB", "0")
    assert default_budget(torch.device("cpu")) == 0
    for wrong in ("-1", "much", "1.5"):
        monkeypatch.setenv("ATTENTION_CACHE_MB", wrong)
        with pytest.raises(Refusal, match=wrong):
            default_budget(torch.device("cpu"))


def test_budget_of_the_cpu_is_part_of_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ATTENTION_CACHE_MB", raising=False)
    assert 0 < default_budget(torch.device("cpu")) <= 2**29
    monkeypatch.setattr(os, "sysconf", lambda name: {"SC_PAGE_SIZE": 4096}.get(name, 8 * 100))
    assert default_budget(torch.device("cpu")) == 100 * 4096


@pytest.mark.gpu
def test_cache_keeps_tensors_on_cuda(cuda: torch.device) -> None:
    cache = StateCache(2 * 4 * 1000)
    first = cache.get("a", zeros(1000, cuda))
    assert first.device.type == "cuda" and first.data_ptr() == cache.get("a", zeros(1000, cuda)).data_ptr()
    for key in "bc":
        cache.get(key, zeros(1000, cuda))
    assert cache.stats() == CacheStats(hits=1, misses=3, bytes=8000, entries=2, evictions=1)


@pytest.mark.gpu
def test_evicted_memory_is_given_back_on_cuda(cuda: torch.device) -> None:
    cache, size = StateCache(2**24), 2**24
    before = torch.cuda.memory_allocated(cuda)
    for number in range(5):
        cache.get(number, zeros(size // 4, cuda))
    assert torch.cuda.memory_allocated(cuda) - before == size
    cache.clear()
    assert torch.cuda.memory_allocated(cuda) == before


@pytest.mark.gpu
def test_threads_share_what_is_made_on_cuda(cuda: torch.device) -> None:
    cache = StateCache(2**20)

    def ask(number: int) -> bool:
        key = number % 7
        return bool((cache.get(key, lambda: torch.full((257,), float(key), device=cuda)) == key).all())

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(ask, range(400)))
    assert cache.stats() == CacheStats(hits=393, misses=7, bytes=cache.stats().bytes, entries=7, evictions=0)


@pytest.mark.gpu
def test_device_and_budget_on_cuda(cuda: torch.device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ATTENTION_DEVICE", raising=False)
    monkeypatch.delenv("ATTENTION_CACHE_MB", raising=False)
    assert best_device().type == "cuda"
    _, total = torch.cuda.mem_get_info(cuda)
    assert 0 < default_budget(cuda) <= total // 8
