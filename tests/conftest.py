"""What all tests share: those marked `data` or `gpu` are skipped, with a reason, where a machine lacks their need."""

import io
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from streamlit import config

from tests.threads import PATIENCE

ROOT = Path(__file__).resolve().parents[1]
config.set_option("runner.magicEnabled", False)  # as the dashboard's own settings have it, which AppTest does not read


def data_folder() -> Path | None:
    """The folder of training data that `ATTENTION_DATA` names, else `data/`, where there is one."""
    folder = Path(os.environ.get("ATTENTION_DATA") or ROOT / "data")
    return folder if folder.is_dir() else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    no_data = pytest.mark.skip(reason="no training data: set ATTENTION_DATA or fill data/")
    no_gpu = pytest.mark.skip(reason="no CUDA device")
    for item in items:
        if item.get_closest_marker("data") and data_folder() is None:
            item.add_marker(no_data)
        if item.get_closest_marker("gpu") and not torch.cuda.is_available():
            item.add_marker(no_gpu)


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


@pytest.fixture
def cuda() -> torch.device:
    """For tests marked `gpu`, which are skipped where there is none."""
    return torch.device("cuda")


@pytest.fixture
def answer(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """`answer(verb, *arguments)`: the one line that a verb prints, parsed."""
    from core.__main__ import main

    def asked(*arguments: str, stdin: bytes = b"") -> Any:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        status = main(arguments)
        out, err = capsys.readouterr()
        assert status == 0, err
        assert out.count("\n") == 1
        return json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))

    return asked


@pytest.fixture
def no_tables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """An empty folder in place of the results, for the dashboard too."""
    from core.experiments import tables
    from tests.made_tables import forget

    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    forget()
    yield tmp_path
    monkeypatch.undo()
    forget()
