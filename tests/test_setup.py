"""The set-up speaks before it fails: a machine that lacks something is told what, in one sentence.

Machines are played by folders of small shell scripts on the path: a Python that is too old, one without ensurepip, a
browser's launcher that opens nothing.
"""

import os
import subprocess
from pathlib import Path

import pytest

from tests.browser import chromium
from tests.conftest import ROOT

OLD = 'case "$1" in --version) echo "Python 3.9.2";; *) exit 1;; esac'
BARE = 'case "$2" in "import ensurepip"*) exit 1;; esac; [ "$1" = --version ] && echo "Python 3.12.1"; exit 0'
MAKES = 'case "$2" in venv) eval folder=\\${$#}; mkdir -p "$folder"; echo made > "$folder/made";; esac; exit 0'


def script(folder: Path, name: str, body: str) -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)
    return str(path)


def make_environment(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """tools/venv.sh on a machine whose only programs are those of `folder`, `id` and `mkdir`."""
    for name in ("id", "mkdir", "echo"):
        (folder / name).symlink_to(f"/bin/{name}" if Path(f"/bin/{name}").exists() else f"/usr/bin/{name}")
    command = ["/bin/sh", str(ROOT / "tools" / "venv.sh"), str(folder / "venv")]
    return subprocess.run(command, env={"PATH": str(folder), **environment}, capture_output=True, text=True)


def test_an_old_python_is_refused_with_its_version(tmp_path: Path) -> None:
    done = make_environment(tmp_path, PYTHON=script(tmp_path, "mine", OLD))
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed; found: Python 3.9.2" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_no_python_is_said(tmp_path: Path) -> None:
    done = make_environment(tmp_path)
    assert done.returncode == 1
    assert "found: no python3" in done.stderr.splitlines()[-1]


def test_a_newer_python_beside_an_old_one_is_taken(tmp_path: Path) -> None:
    script(tmp_path, "python3", OLD)
    script(tmp_path, "python3.12", MAKES)
    done = make_environment(tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "venv" / "made").exists()


def test_a_python_without_ensurepip_is_told_what_to_install(tmp_path: Path) -> None:
    script(tmp_path, "python3", BARE)
    done = make_environment(tmp_path)
    assert done.returncode == 1
    assert "Python 3.12.1 cannot make virtual environments: install python3-venv" in done.stderr


@pytest.fixture
def bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder that is the whole path, on a machine where neither Playwright nor the system keeps a browser."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROME", raising=False)
    monkeypatch.delenv("BROWSER", raising=False)
    monkeypatch.setattr(chromium, "APPLICATIONS", ())
    monkeypatch.setattr(chromium, "of_playwright", lambda: None)
    monkeypatch.setattr(chromium, "by_playwright", lambda: False)
    return tmp_path


def test_a_launcher_that_opens_nothing_is_passed_over(bare_machine: Path) -> None:
    script(bare_machine, "google-chrome", "exit 1")
    works = script(bare_machine, "chromium", "echo Chromium 140")
    assert chromium.find() == works
    assert chromium.report() == f"Browser tests use {works}, which was there."


def test_the_chosen_browser_comes_first(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(bare_machine, "chromium", "echo Chromium 140")
    chosen = script(bare_machine, "my-own", "echo Chromium 141")
    monkeypatch.setenv("CHROME", chosen)
    assert chromium.find() == chosen
    monkeypatch.setenv("CHROME", "/no/such")
    assert chromium.report().endswith("(CHROME=/no/such does not start).")


@pytest.mark.parametrize("package", [chromium.SHELL, "chromium"])  # older releases have only the second
def test_apt_installs_where_it_can(bare_machine: Path, monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    target = bare_machine / package
    made = f'printf "#!/bin/sh\\nexit 0\\n" > {target}; /bin/chmod +x {target}'
    script(bare_machine, "apt-get", f'case "$*" in *" update") ;; *" install -y {package}") {made};; *) exit 100;; esac')
    assert chromium.report() == f"Browser tests use {target}, installed now with apt-get."


def test_offline_without_a_browser_is_said_in_one_sentence(bare_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    script(bare_machine, "apt-get", "exit 100")
    assert chromium.report() == chromium.NONE
    monkeypatch.setenv("BROWSER", "0")
    assert chromium.report() == chromium.LEFT_OUT
