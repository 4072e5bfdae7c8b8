"""What tests of threads share: patience, waiting for another thread, and being stopped."""

import threading
from collections.abc import Callable

PATIENCE = 20.0  # seconds until a test that hangs is failed


class Stopped(BaseException):
    """As Streamlit stops a script."""


def until(condition: Callable[[], bool]) -> None:
    """Wait until another thread has got somewhere."""
    tick = threading.Event()
    for _ in range(int(PATIENCE / 0.005)):
        if condition():
            return
        tick.wait(0.005)
    raise AssertionError("waited in vain")
