"""One dashboard and one Chromium for all browser tests; a fresh browser context, and so a fresh session, for each test.

All tests in this folder carry the mark `browser`. They are skipped, with the reason, under `BROWSER=0` and where no
browser is found.
"""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.browser import chromium

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

    from tests.browser.visit import Visit

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run")


@cache
def why_skipped() -> str | None:
    if not chromium.wanted():
        return chromium.LEFT_OUT
    return None if chromium.find() else "no Chrome or Chromium found (CHROME=/path/to/chrome names one)"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = [item for item in items if Path(__file__).parent in item.path.parents]
    for item in here:
        item.add_marker("browser")
        if reason := why_skipped():
            item.add_marker(pytest.mark.skip(reason=reason))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for(url: str, server: subprocess.Popen[bytes], log: Path, seconds: float = 60) -> None:
    """Returns as soon as the server answers; fails with what it said if it ends or stays silent."""
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.05)
    said = log.read_text(errors="replace")
    raise RuntimeError(f"the dashboard did not start at {url} (exit status {server.poll()})\n{said}")


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a dashboard of these sources, on a free port, started from another folder, as a user may."""
    folder, port = tmp_path_factory.mktemp("server"), free_port()
    log = folder / "log.txt"
    command = [sys.executable, "-m", "streamlit", "run", str(ROOT / "dashboard" / "app.py")]
    command += [f"--server.port={port}", "--server.address=127.0.0.1", "--server.headless=true"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"}
    with log.open("wb") as output:
        process = subprocess.Popen(command, cwd=folder, env=environment, stdout=output, stderr=subprocess.STDOUT)
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health", process, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=20)
    said = log.read_text(errors="replace")
    assert "Traceback" not in said, f"the dashboard's log holds a traceback:\n{said[-6000:]}"


@pytest.fixture(scope="session")
def browser() -> "Iterator[Browser]":
    from playwright.sync_api import sync_playwright

    path = chromium.find()
    flags = [*FLAGS, "--no-sandbox"] if os.geteuid() == 0 else list(FLAGS)
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=path, args=flags)
        yield opened
        opened.close()


def profile(browser: "Browser") -> "Iterator[BrowserContext]":
    """A fresh profile. Animations are off, so that pictures show what stays."""
    size: ViewportSize = {"width": 1280, "height": 720}
    opened = browser.new_context(viewport=size, reduced_motion="reduce", locale="en-US", accept_downloads=True)
    yield opened
    opened.close()


@pytest.fixture
def context(browser: "Browser") -> "Iterator[BrowserContext]":
    yield from profile(browser)


@pytest.fixture
def page(context: "BrowserContext") -> "Iterator[Page]":
    opened = context.new_page()
    yield opened
    opened.close()


@pytest.fixture
def visit(page: "Page", server: str) -> "Visit":
    """A visit that has not begun: errors and requests are recorded from here on."""
    from tests.browser.visit import Visit

    return Visit(page, server)


@pytest.fixture
def open_page(visit: "Visit") -> "Callable[..., Visit]":
    """`open_page(path, lang, **query)` goes to a page and returns the visit once Streamlit rests."""
    return visit.open
