"""What all tests share: those marked `data` or `gpu` are skipped, with a reason, where a machine lacks their need."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def data_folder() -> Path | None:
    """The folder of training data that `ATTENTION_DATA` names, else `data/`, where there is one."""
    folder = Path(os.environ.get("ATTENTION_DATA") or ROOT / "data")
    return folder if folder.is_dir() else None


def cuda_is_there() -> bool:
    import torch

    return torch.cuda.is_available()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    no_data = pytest.mark.skip(reason="no training data: set ATTENTION_DATA or fill data/")
    no_gpu = pytest.mark.skip(reason="no CUDA device")
    for item in items:
        if item.get_closest_marker("data") and data_folder() is None:
            item.add_marker(no_data)
        if item.get_closest_marker("gpu") and not cuda_is_there():
            item.add_marker(no_gpu)
