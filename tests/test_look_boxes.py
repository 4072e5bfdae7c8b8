"""Boxes with a place for never, and paths of erasing: valid whatever their words are, every number where its axis says."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import vl_convert

from dashboard import axes, boxes, paths
from dashboard.theme import DARK, LIGHT, PRINT, Look
from tests.looks import on_dark_screen, on_paper

NAN = float("nan")
RANDOM = np.random.default_rng(11)
GROUPS, SERIES = ("Average", '"]; x//'), ("어텐션", "gradient")
BOXES = pd.DataFrame(
    [
        {"group": group, "series": name, "low": 0.1, "first": 0.2, "median": 0.4, "third": third, "high": NAN, "n": 1819}
        for group in GROUPS
        for name, third in zip(SERIES, (0.5, NAN), strict=True)
    ]
)
MARKS = pd.DataFrame({"group": GROUPS, "series": SERIES[0], "x": [0.3, NAN], "kind": ["this sentence", "published"]})
PATHS = pd.concat(
    [
        pd.DataFrame(
            {
                "series": name, "draw": draw, "gone": range(8), "x": np.arange(8) / 7, "y": RANDOM.random(8),
                "flips": np.arange(8) == draw + 2, "said": "positive",
            }
        )
        for name, draws in (("어텐션", 1), ('"]; x//', 1), ("both", 1), ("random", 5))
        for draw in range(1, draws + 1)
    ]
)  # fmt: skip
POINTS = pd.DataFrame({"x": RANDOM.random(9), "y": RANDOM.random(9) - 0.5, "kind": ["stays", "flips", "stays"] * 3})
NAMED = POINTS.assign(word=[f"word{i}" for i in range(9)], label=["", "그", *[""] * 6, '"]; x//'])


def every_chart(look: Look) -> dict[str, Any]:
    text = {"alt_text": "설명", "look": look}
    return {
        "boxes": boxes.boxes(BOXES, x="share", never="안 바뀜", marks=MARKS, **text),
        "bare boxes": boxes.boxes(BOXES, x="share", never="never", **text),
        "dots": boxes.dots(MARKS.assign(x=0.5), x="share", never="never", **text),
        "paths": paths.paths(PATHS, x="share", y="p(negative)", flip="decision", half=True, at=0.3, **text),
        "bare paths": paths.paths(PATHS.assign(flips=False), x="share", y="p", flip="decision", **text),
        "points": paths.points(POINTS, ["stays", "flips"], x="Δα", y="ΔJS", zero=True, case=(0.4, 0.1, "이 문장"), **text),
        "named points": paths.points(NAMED, ["stays", "flips"], x="α", y="JSD", **text),
    }


CHARTS = every_chart(PRINT)


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_compiles_without_a_warning_and_says_what_it_shows(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    on_paper(CHARTS[name], capfd)


@pytest.mark.parametrize("name", CHARTS)
def test_screen_charts_have_no_width_and_the_colors_of_their_mode(name: str) -> None:
    spec = on_dark_screen(every_chart(Look("dark", 16))[name])
    assert DARK.charge not in str(spec["layer"]) and DARK.defence not in str(spec["layer"])


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("boxes", [*GROUPS, *SERIES, "안 바뀜", "this sentence", "published"]),
        ("paths", ["어텐션", "both", "random", "p(negative)"]),
        ("points", ["stays", "flips", "이 문장"]),
        ("named points", ["그", '"]; x//']),
    ],
)
def test_every_name_is_written_as_text(name: str, texts: list[str]) -> None:
    svg = vl_convert.vegalite_to_svg(axes.to_spec(CHARTS[name]), allowed_base_urls=[])
    for text in texts:
        assert f">{text}<" in svg.replace("&quot;", '"')


def test_what_never_happens_stands_beyond_all_shares() -> None:
    data = axes.to_spec(CHARTS["bare boxes"])["datasets"]
    rows = next(rows for rows in data.values() if "median" in rows[0])
    assert [row["third"] for row in rows] == [0.5, boxes.NEVER] * 2 and {row["high"] for row in rows} == {boxes.NEVER}
    assert [row["said"] for row in rows] == ["0.20 – 0.40 – 0.50", "0.20 – 0.40 – never"] * 2
    assert boxes.NEVER > 1


def test_lanes_stand_below_their_groups() -> None:
    rows = boxes.lanes(BOXES)
    assert rows["lane"].tolist() == [1.5, 2.5, 5.0, 6.0] and rows["top"].tolist() == [0, 0, 3.5, 3.5]
    assert boxes.height_of(rows) > boxes.LANE * 6


def test_every_flip_has_a_point() -> None:
    layers = axes.to_spec(CHARTS["paths"])["layer"]
    spec = axes.to_spec(CHARTS["paths"])
    drawn = [spec["datasets"][layer["data"]["name"]] for layer in layers if layer["mark"].get("type") == "point"]
    assert sorted(len(rows) for rows in drawn) == [1, 1, 1, 5]
    assert all(row["flips"] for rows in drawn for row in rows)
    assert LIGHT.ink in str(layers)
