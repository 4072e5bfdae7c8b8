"""Matrices keep tokens apart by position, show special ones in grey and never more marks than a screen reader can enter."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import vl_convert

from dashboard import axes, matrix
from dashboard.theme import LIGHT, PRINT, Look

WORDS = ["[CLS]", "very", "very", "good", '"]; alert(1)//', "조용하지만", "[SEP]"]
SPECIAL = (0, 6)
WEIGHTS = np.arange(49.0).reshape(7, 7) / 49


def drawn(look: Look = PRINT, **settings: Any) -> dict[str, Any]:
    frame = matrix.cells(WEIGHTS, WORDS, SPECIAL)
    settings = {"special": SPECIAL, "largest": matrix.top_of(frame), **settings}
    chart = matrix.matrix(frame, rows=WORDS, columns=WORDS, value="w", alt_text="설명", look=look, **settings)
    return axes.to_spec(chart)


def test_every_cell_is_there_once_and_special_keys_are_told_from_words() -> None:
    frame = matrix.cells(WEIGHTS, WORDS, SPECIAL)
    assert len(frame) == 49 and not frame.duplicated(["query", "key"]).any()
    assert set(frame[frame["special"]]["key"]) == {0, 6}
    very = frame[(frame["query_word"] == "very") & (frame["key_word"] == "good")]
    assert list(very["weight"]) == [WEIGHTS[1, 3], WEIGHTS[2, 3]]


def test_the_scale_ends_at_the_largest_cell_of_a_word() -> None:
    frame = matrix.cells(WEIGHTS, WORDS, SPECIAL)
    assert matrix.top_of(frame) == WEIGHTS[6, 5] < WEIGHTS[6, 6]
    assert matrix.top_of(frame, matrix.cells(-2 * WEIGHTS, WORDS, SPECIAL)) == 2 * WEIGHTS[6, 5]
    assert matrix.top_of(matrix.cells(np.ones((1, 1)), ["[CLS]"], (0,))) == 1.0
    assert matrix.top_of(matrix.cells(np.zeros((7, 7)), WORDS, SPECIAL)) == 1.0


def test_the_part_of_a_long_text_is_where_the_weight_is_and_keeps_special_tokens() -> None:
    weights = np.full((9, 9), 0.01)
    weights[6, 5] = -3.0  # a stretch counts by size, whatever the sign
    weights[2, 8] = 50.0  # a special token decides nothing
    assert matrix.part(weights, (0, 8), most=2) == (0, 5, 6, 8)
    assert matrix.part(weights, (0, 8), most=7) == tuple(range(9))
    assert matrix.part(weights, (), most=3) == (6, 7, 8)
    frame = matrix.cells(weights, [str(i) for i in range(9)], (0, 8), (0, 5, 6, 8))
    assert sorted(set(frame["query"])) == [0, 5, 6, 8] and len(frame) == 16


def test_no_text_has_more_marks_than_a_screen_reader_can_enter() -> None:
    shown = matrix.part(np.ones((128, 128)), (0, 60, 127))
    assert len(shown) ** 2 + 2 < 2000


def test_strongest_cells_go_by_size_and_ties_by_position() -> None:
    frame = matrix.cells(np.array([[0.2, -0.5], [0.5, 0.1]]), ["a", "b"])
    assert [(row.query, row.key) for row in matrix.strongest(frame, 3).itertuples()] == [(0, 1), (1, 0), (0, 0)]


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("turned", [False, True])
def test_it_compiles_without_a_warning(signed: bool, turned: bool, capfd: pytest.CaptureFixture[str]) -> None:
    spec = drawn(signed=signed, turned=turned, selected=(1, 2), select="cell", x="<b>", y="y")
    svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[], show_warnings=True)
    out = capfd.readouterr()
    assert "WARN" not in out.out + out.err and "NaN" not in svg and "undefined" not in svg
    assert svg.count("]; alert(1)//") >= 2  # a label on each axis, as text
    assert svg.count("very") >= 4


def test_special_tokens_are_grey_on_the_axes_and_in_their_columns() -> None:
    words, grey = drawn()["layer"]
    for axis in ("x", "y"):
        color = words["encoding"][axis]["axis"]["labelColor"]
        assert color["condition"] == {"test": "indexof([0, 6], datum.value) >= 0", "value": LIGHT.muted}
        assert color["value"] == LIGHT.ink
    assert grey["mark"]["color"] == LIGHT.muted and "color" not in grey["encoding"]
    assert repr(float(WEIGHTS[6, 5])) in grey["encoding"]["opacity"]["value"]["expr"]


def test_without_special_tokens_there_is_one_layer() -> None:
    frame = matrix.cells(WEIGHTS, WORDS)
    chart = matrix.matrix(frame, rows=WORDS, columns=WORDS, value="w", alt_text="")
    assert len(axes.to_spec(chart)["layer"]) == 1


def test_a_file_has_a_legend_and_a_size_of_its_own_and_the_screen_neither() -> None:
    def legend(spec: dict[str, Any]) -> Any:
        return spec["layer"][0]["encoding"]["color"]["legend"]

    assert legend(drawn())["type"] == "gradient" and legend(drawn(Look("dark", 16))) is None
    assert drawn()["width"] == drawn()["height"] == 7 * matrix.LARGEST_CELL
    assert "width" not in drawn(Look("dark", 16))


def test_layers_rise_and_a_click_names_the_cell() -> None:
    frame = matrix.cells(np.eye(3), ["1", "2", "3"])
    names = ["1", "2", "3"]
    chart = matrix.matrix(frame, rows=names, columns=names, value="w", alt_text="", upward=True, select="head")
    spec = axes.to_spec(chart)
    assert spec["layer"][0]["encoding"]["y"]["sort"] == "descending"
    assert spec["params"][0]["name"] == "head" and spec["params"][0]["select"]["fields"] == ["query", "key"]


@pytest.mark.parametrize(("count", "side"), [(0, 34), (3, 34), (20, 23), (30, 15), (40, 15)])
def test_cells_are_readable_at_every_length(count: int, side: int) -> None:
    assert matrix.cell_of(count) == side
    assert matrix.width_of(count, Look()) < 800


def test_cells_need_a_square_matrix() -> None:
    with pytest.raises(ValueError, match="must be equal"):
        matrix.cells(np.ones((2, 3)), ["a", "b"])
    assert isinstance(matrix.cells(np.ones((2, 2)), ["a", "b"]), pd.DataFrame)
