"""The cache of states under threads and a small budget, on the CPU and on CUDA."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import Tensor

from core.device import CacheStats, StateCache
from tests.threads import PATIENCE, Stopped, until


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
