"""The gate under threads: one heavy job at a time, in order of arrival, whatever becomes of those who wait."""

import gc
import threading
from collections.abc import Callable

import pytest

from core.device import Gate
from tests.threads import PATIENCE, Stopped, until


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


def test_a_long_job_lets_all_who_wait_go_first(start: Callable) -> None:
    gate, order = Gate(), []
    with gate.turn() as ticket:
        ticket.step_aside()  # nobody waits
        for number in range(3):

            def job(number: int = number) -> None:
                with gate.turn():
                    order.append(number)

            start(job)
            until(lambda number=number: gate.length == number + 2)
        ticket.step_aside()
        order.append("long")
        assert ticket.place == 0 and gate.length == 1
    assert order == [0, 1, 2, "long"] and gate.length == 0


def test_the_wait_behind_a_job_that_steps_aside_is_foretold_by_its_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("core.device.time.monotonic", lambda: now[0])
    gate = Gate()
    with gate.turn() as ticket:
        for _ in range(3):
            now[0] += 2.0
            ticket.step_aside()
        now[0] += 0.5
    assert gate.seconds_left(1) == 0.5
