"""The device, its threads and the budget of its cache follow the environment, else the machine."""

import os
from collections.abc import Iterator

import pytest
import torch

from core.device import best_device, default_budget, set_threads
from core.types import Refusal


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
def test_device_and_budget_on_cuda(cuda: torch.device, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ATTENTION_DEVICE", raising=False)
    monkeypatch.delenv("ATTENTION_CACHE_MB", raising=False)
    assert best_device().type == "cuda"
    _, total = torch.cuda.mem_get_info(cuda)
    assert 0 < default_budget(cuda) <= total // 8
