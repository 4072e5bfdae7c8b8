"""A Chrome or Chromium for the browser tests: found where machines keep one, else installed.

`python -m tests.browser.chromium` says in one line which browser the tests will use, or why they are left out, and
exits with status 0 always: a machine without a browser still runs the rest of the tests. A candidate counts only if it
answers to `--version`, because a package may leave a launcher that opens nothing.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

SHELL = "chromium-headless-shell"  # the same pages for two thirds of the processor time: no window is drawn around them
NAMES = (SHELL, "google-chrome", "google-chrome-stable", "chromium", "chromium-browser", "chrome")
APPLICATIONS = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
LEFT_OUT = "BROWSER=0: the browser tests are left out."
NONE = "No Chrome or Chromium was found and none could be installed (offline?): the browser tests are skipped."


def wanted() -> bool:
    """Whether the browser tests were asked for: `BROWSER=0` in the environment leaves them out."""
    return os.environ.get("BROWSER", "1") != "0"


def find() -> str | None:
    """The path of a browser that starts, or None. `CHROME` in the environment comes first, Playwright's own last."""
    return next((path for path in candidates() if starts(path)), None)


def candidates() -> Iterator[str]:
    if chosen := os.environ.get("CHROME"):
        yield chosen
    yield from filter(None, map(shutil.which, NAMES))
    yield from APPLICATIONS
    yield from filter(None, [of_playwright()])


def of_playwright() -> str | None:
    """Where Playwright keeps its own Chromium, whether or not it is there."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        return playwright.chromium.executable_path


def starts(path: str) -> bool:
    return Path(path).exists() and succeeds([path, "--version"], seconds=30)


def succeeds(command: list[str], seconds: float) -> bool:
    """Whether a command ends well in time. Its output is kept off the screen: one line is promised there."""
    try:
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, env=quiet)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def install() -> str | None:
    """Installs a browser; answers with what installed it, or None."""
    if os.geteuid() == 0 and shutil.which("apt-get") and by_apt():
        return "apt-get"
    return "playwright" if by_playwright() else None


def by_apt() -> bool:
    apt = ["apt-get", "-qq", "-o", "Acquire::Retries=1", "-o", "Acquire::http::Timeout=20"]
    succeeds([*apt, "update"], seconds=180)  # a stale list may still do
    packages = (SHELL, "chromium")  # older releases lack the first
    return any(succeeds([*apt, "install", "-y", package], seconds=600) and find() is not None for package in packages)


def by_playwright() -> bool:
    command = [sys.executable, "-m", "playwright", "install", "chromium"]
    if os.geteuid() == 0 and shutil.which("apt-get"):
        command.append("--with-deps")
    return succeeds(command, seconds=600) and find() is not None


def report() -> str:
    """One sentence: which browser, where it came from, or why there is none."""
    if not wanted():
        return LEFT_OUT
    chosen = os.environ.get("CHROME")
    remark = f" (CHROME={chosen} does not start)" if chosen and not starts(chosen) else ""
    if path := find():
        return f"Browser tests use {path}, which was there{remark}."
    installer = install()
    path = find()
    return f"Browser tests use {path}, installed now with {installer}{remark}." if path else NONE


if __name__ == "__main__":
    print(report(), flush=True)
