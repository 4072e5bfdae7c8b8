"""Two numbers against each other: every defined thing is a point of its own shape, and nothing undefined is drawn."""

from typing import Any

import pandas as pd
import pytest
import vl_convert

from dashboard import axes, planes
from dashboard.theme import DARK, LIGHT, PRINT, Look

FRAME = pd.DataFrame(
    {"group": ["어텐션", "<b>", "LOO", "무작위"], "x": [0.9, 0.4, None, 0.4], "y": [-0.1, 0.6, 0.2, 0.6]},
)


def drawn(frame: pd.DataFrame = FRAME, low: float = -0.2, look: Look = PRINT) -> dict[str, Any]:
    words: dict[str, Any] = {"x": "AUPRC", "y": "포괄성", "alt_text": "설명", "faint": "무작위"}
    return axes.to_spec(planes.plane(frame, **words, domain=((0.0, 1.05), (low, 0.7)), look=look))


def test_it_compiles_without_a_warning_and_says_what_it_shows(capfd: pytest.CaptureFixture[str]) -> None:
    svg = vl_convert.vegalite_to_svg(drawn(), allowed_base_urls=[], show_warnings=True)
    out = capfd.readouterr()
    assert "WARN" not in out.out + out.err and "NaN" not in svg and "undefined" not in svg
    assert drawn()["description"] == "설명" and "&lt;b&gt;" in svg and "<b>" not in svg


def test_what_is_undefined_is_in_the_legend_and_not_among_the_points() -> None:
    spec = drawn()
    points = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "point")
    assert points["encoding"]["shape"]["scale"]["domain"] == list(FRAME["group"])
    assert {row["group"] for row in spec["datasets"][points["data"]["name"]]} == {"어텐션", "<b>", "무작위"}


def test_shapes_tell_groups_apart_and_chance_is_muted() -> None:
    scales = {name: drawn()["layer"][-1]["encoding"][name]["scale"]["range"] for name in ("shape", "color")}
    assert len(set(scales["shape"])) == 4
    assert scales["color"] == [LIGHT.ink] * 3 + [LIGHT.muted]
    assert drawn(look=Look("dark", 16))["layer"][-1]["encoding"]["color"]["scale"]["range"][0] == DARK.ink


def test_zero_is_a_line_only_where_both_sides_show() -> None:
    assert [layer["mark"]["type"] for layer in drawn()["layer"]] == ["rule", "point"]
    assert [layer["mark"]["type"] for layer in drawn(FRAME[1:], low=0.0)["layer"]] == ["point"]
