"""Who may import whom. The order below is the design; this test keeps it true by reading the imports of every file.

    types <- interventions, agreement, text ... <- data <- models <- importance, training <- debate, attattr
                                                       <- explanation <- experiments        core <- dashboard <- pages

A module imports what stands further left, or files of its own folder; files of `debate/` stand alone. A file that is in
no layer fails, so that nobody adds one without saying where it belongs. The same reading forbids what would leave state
behind in a server that many sessions share.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("core", "dashboard", "pages")
LAYERS = (
    {"types"},
    {"interventions", "agreement", "text", "device", "hub"},
    {"babi", "planted", "data_closed", "dates", "scenes", "sounds"},
    {"data"},
    {"pairs"},
    {"models"},
    {"importance", "training", "reading", "mechanism", "translation"},
    {"translating", "copying"},
    {"debate", "attattr"},
    {"variants", "workshop"},
    {"recipes", "finetuning", "translators", "perceiving"},
    {"explanation"},
    {"experiments"},
    {"verbs"},
    {"__main__"},
)
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
ALONE = "debate"
FORBIDDEN = {
    "core": {"streamlit", "altair", "dashboard", "pages"},
    "dashboard": {"pages"},
    "pages": {"torch", "altair", "transformers", "pages"},
}
BARE = {path.stem for folder in FOLDERS for path in (ROOT / folder).glob("*.py")} - sys.stdlib_module_names
PAGES_MAY = {"streamlit", "dashboard", "core"} | sys.stdlib_module_names
STATEFUL = {"backward", "register_forward_hook", "register_forward_pre_hook", "register_full_backward_hook"}
TRAIN = {"core.training"}  # where weights change
UNSAFE = {("torch", "manual_seed"), ("random", "manual_seed"), ("torch", "load"), ("torch", "save")}


def modules() -> Iterator[tuple[str, str]]:
    """(dotted name, source) of every file of the product."""
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path.read_text(encoding="utf-8")


def imported(module: str, source: str) -> Iterator[str]:
    """Dotted names that a module imports, anywhere in it. `from a import b` gives a.b, whether b is a file or not."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = ".".join(module.split(".")[: -node.level] if node.level else [])
            start = ".".join(filter(None, [package, node.module]))
            yield from (f"{start}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Call) and "import_module" in ast.dump(node.func):
            yield from (str(name.value) for name in node.args[:1] if isinstance(name, ast.Constant))


def layer(dotted: str) -> str:
    """The name under which a module of core stands in `LAYERS`: its file or folder directly below core."""
    return dotted.split(".")[1] if "." in dotted else ""


def offence(module: str, target: str) -> str | None:
    """What is wrong with one import, or None."""
    here, there = module.split(".")[0], target.split(".")[0]
    if there in FORBIDDEN[here]:
        return f"{module} imports {there}"
    if here == "pages" and there not in PAGES_MAY:
        return f"{module} imports {there}: pages import streamlit, dashboard and core"
    if there in BARE:
        return f"{module} imports {there} without its package"
    return offence_in_core(module, target) if here == there == "core" else None


def offence_in_core(module: str, target: str) -> str | None:
    here, there = layer(module), layer(target)
    if not here or not there:
        return None
    for name in (here, there):
        if name not in RANK:
            return f"core.{name} stands in no layer: say in tests/test_layers.py where it belongs"
    if here == there:
        sibling = here == ALONE and target.split(".")[:3] != module.split(".")[:3]
        return f"{module} imports {target}: the arguments stand alone" if sibling else None
    return None if RANK[there] < RANK[here] else f"{module} imports core.{there}, which stands to its right"


def offences(module: str, source: str) -> list[str]:
    return [found for target in imported(module, source) if (found := offence(module, target))]


def state(module: str, source: str) -> list[str]:
    """Uses of what changes a module or generator that sessions share, and of pickles. Training may call `backward`."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Attribute):
            continue
        owner = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
        if (owner, node.attr) in UNSAFE or (node.attr in STATEFUL and module not in TRAIN):
            found.append(f"{module}:{node.lineno} uses {owner}.{node.attr}")
    return found + [f"{module} imports pickle" for name in imported(module, source) if name.split(".")[0] == "pickle"]


FILES = dict(modules())


@pytest.mark.parametrize("module", FILES)
def test_imports_go_to_the_left(module: str) -> None:
    assert offences(module, FILES[module]) == []


@pytest.mark.parametrize("module", FILES)
def test_nothing_is_left_behind(module: str) -> None:
    assert state(module, FILES[module]) == []


@pytest.mark.parametrize("module", [name for name in FILES if not name.startswith("core")])
def test_only_resources_caches(module: str) -> None:
    """Cached values are shared by all sessions: one file decides what may be."""
    cached = [node for node in ast.walk(ast.parse(FILES[module])) if getattr(node, "attr", "").startswith("cache_")]
    assert module == "dashboard.resources" or not cached


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("core.agreement", "import streamlit as st"),
        ("core.importance", "def late():\n    from altair import Chart"),
        ("core.types", "from core.interventions import keep"),
        ("core.models.classifier", "from core import training"),
        ("core.models.classifier", "from ..importance import gradient"),
        ("core.importance", "from core.training import fit"),
        ("core.debate.permutation", "from core.debate.adversary import adversary"),
        ("core.debate.permutation", "from core.debate import adversary"),
        ("core.debate.permutation", "from .adversary import adversary"),
        ("core.importance", "import core.unheard"),
        ("core.data", "import dashboard.frames"),
        ("core.data", "import importlib\nimportlib.import_module('streamlit')"),
        ("dashboard.shell", "from pages import agreement"),
        ("pages.agreement", "import torch.nn.functional as F"),
        ("pages.agreement", "import altair as alt"),
        ("pages.agreement", "import pandas as pd"),
        ("dashboard.charts", "import interventions"),
    ],
)
def test_an_offending_import_is_found(module: str, source: str) -> None:
    assert len(offences(module, source)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("core.debate.permutation", "from core.importance import gradient\nfrom core.types import Batch\nimport torch"),
        ("core.models.registry", "from core.models.classifier import Classifier\nfrom . import vocabulary"),
        ("core.experiments", "from core import agreement, debate"),
        ("core.__main__", "from core.explanation import explain\nimport json"),
        ("dashboard.charts", "import altair as alt\nfrom dashboard import theme\nfrom core.agreement import kendall"),
        ("pages.agreement", "import streamlit\nfrom dashboard import shell\nfrom core.importance import gradient"),
    ],
)
def test_a_decent_import_is_left_alone(module: str, source: str) -> None:
    assert offences(module, source) == []


@pytest.mark.parametrize(
    "source",
    ["loss.backward()", "torch.manual_seed(0)", "torch.load(path)", "net.register_forward_hook(see)", "import pickle"],
)
def test_what_leaves_something_behind_is_found(source: str) -> None:
    assert len(state("core.importance", source)) == 1


def test_a_generator_of_ones_own_and_training_are_left_alone() -> None:
    assert state("core.importance", "torch.Generator().manual_seed(0)\ngenerator.manual_seed(1)") == []
    assert state("core.training", "loss.backward()") == []
