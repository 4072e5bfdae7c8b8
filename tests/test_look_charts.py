"""Charts keep words by position, give every number a place on a stated scale, and are valid whatever their words are."""

import math
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
import vl_convert
from hypothesis import given
from hypothesis import strategies as st

from dashboard import axes, charts, frames, matrix
from dashboard.theme import LIGHT, PRINT, SCREEN, Look
from tests.looks import on_dark_screen, on_paper

WORDS = ["very", "very", "good", ",", '"]; alert(1)//', "조용하지만", "\u2028'"]
N = len(WORDS)


def intervals_frame() -> pd.DataFrame:
    rows = [("Average", "Gradient", 0.7, 0.6, 0.8, 9, 0.69), ("Average", "LOO", 0.6, 0.5, 0.7, 9, None)]
    rows += [("BiLSTM", "Gradient", 0.3, 0.2, 0.4, 9, 0.34), ("BiLSTM", "LOO", 0.2, 0.1, 0.3, 9, 0.22)]
    return pd.DataFrame(rows, columns=["group", "series", "mean", "low", "high", "n", "published"])


def line_frame() -> pd.DataFrame:
    x = np.arange(2, 9)
    return pd.DataFrame({"x": x, "mean": 1 - x / 20, "low": 0.9 - x / 20, "high": 1.1 - x / 20})


def every_chart(look: Look) -> Iterator[tuple[str, Any]]:
    values = np.random.default_rng(0).normal(0.3, 0.2, 99).clip(-1, 1)
    both = frames.binned_by({"negative": values[:40], "positive": values[40:]})
    lines = pd.concat([line_frame().assign(series="a"), line_frame().assign(series="b")])
    lengths = np.arange(99) % 31 + 2
    means = frames.by_length(lengths, values, groups=3)
    square = frames.matrix(np.random.default_rng(1).random((N, N)), WORDS, WORDS)
    text = {"alt_text": "설명", "look": look}
    yield "histogram", charts.histogram(frames.binned(values), x="τ", y="n", case=0.9, case_label="이 문장", **text)
    yield "histogram of two", charts.histogram(both, x="τ", y="share", field="share", **text)
    yield "intervals", charts.intervals(intervals_frame(), x="τ", published="Table 2", **text)
    yield (
        "scatter",
        charts.scatter_by_length(pd.DataFrame({"length": lengths, "value": values}), means, x="words", y="τ", **text),
    )
    yield "line", charts.line(line_frame(), x="words", y="τ", **text)
    yield "two lines", charts.line(lines, x="words", y="τ", **text)
    yield (
        "heatmap",
        matrix.matrix(square, rows=WORDS, columns=WORDS, value="w", cell=16, select="cell", x="<b>", y="y", **text),
    )
    yield "signed heatmap", matrix.matrix(square, rows=WORDS, columns=WORDS, value="w", signed=True, turned=False, **text)
    yield "bars", charts.bars(frames.scores(WORDS, {"a": np.linspace(-1, 1, N)}), WORDS, x="p", signed=True, **text)
    yield (
        "mirror",
        charts.mirror(frames.mirrored(WORDS, np.linspace(0, 0.4, N), np.linspace(0.3, 0, N)), left="l", right="r", **text),
    )


CHARTS = dict(every_chart(PRINT))


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_compiles_without_a_warning_and_says_what_it_shows(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    on_paper(CHARTS[name], capfd)


@pytest.mark.parametrize("name", CHARTS)
def test_screen_charts_have_no_width_and_a_clear_page(name: str) -> None:
    on_dark_screen(dict(every_chart(Look("dark", 16)))[name])
    printed = axes.to_spec(CHARTS[name])
    assert printed["width"] > 50 and printed["config"]["background"] == LIGHT.page


def shown(spec: dict[str, Any]) -> str:
    return vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])


def test_repeated_words_stay_apart_in_the_order_of_the_text() -> None:
    svg = shown(axes.to_spec(CHARTS["bars"]))
    places = [svg.index(f">{word}<") for word in ("very", "good", ",", "조용하지만")]
    assert svg.count(">very<") == 2 and places == sorted(places)


def test_words_never_become_code() -> None:
    svg = shown(axes.to_spec(CHARTS["heatmap"]))
    assert svg.count("]; alert(1)//") >= 2  # a label on each axis, as text


def test_ten_thousand_words_on_an_axis_are_a_valid_expression() -> None:
    assert axes.words_expr(['"', "\\", "</script>"]) == '["\\"", "\\\\", "</script>"][datum.value]'


def test_the_scale_of_tau() -> None:
    assert axes.tau_domain(0.0) == (0, 1) and axes.tau_domain(-0.01) == axes.tau_domain(None) == (-1, 1)
    spec = axes.to_spec(charts.intervals(intervals_frame().assign(low=-0.1), x="τ", alt_text=""))
    assert spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == [-1, 1]


def test_papers_figures_are_drawn_only_where_there_are_some() -> None:
    assert len(axes.to_spec(CHARTS["intervals"])["layer"]) == 3
    none = intervals_frame().assign(published=None)
    assert len(axes.to_spec(charts.intervals(none, x="τ", alt_text="", published="Table 2"))["layer"]) == 2


def test_models_wear_no_color_of_a_side() -> None:
    text = str(axes.to_spec(CHARTS["intervals"])["layer"]) + str(axes.to_spec(CHARTS["two lines"])["layer"])
    assert LIGHT.charge not in text and LIGHT.defence not in text
    assert LIGHT.charge in str(axes.to_spec(CHARTS["mirror"])["layer"])


def test_sizes_grow_with_the_base_font() -> None:
    small, large = (axes.to_spec(dict(every_chart(Look("light", base, True)))["heatmap"]) for base in (13, 26))
    assert small["height"] == 16 * N and large["height"] == 32 * N == large["width"]


@given(st.floats(1e-6, 1e6))
def test_round_ticks_are_two_equal_steps_within_reach(top: float) -> None:
    zero, one, two = charts.round_ticks(top)
    assert zero == 0 and two == pytest.approx(2 * one) and 0.35 * top <= two <= top * 1.000001
    digits = one / 10 ** math.floor(math.log10(one) + 1e-9)
    assert min(abs(digits - d) for d in (1, 2, 2.5, 5)) < 1e-6


def test_a_mirror_has_one_scale_for_both_sides() -> None:
    spec = axes.to_spec(CHARTS["mirror"])
    domains = [layer["encoding"]["x"]["scale"]["domain"] for layer in spec["layer"] if "scale" in layer["encoding"]["x"]]
    assert len(domains) == 3  # words and both sides; headings stand at a share of the width
    assert all(d == domains[0] and d[0] == -d[1] for d in domains) and domains[0][1] == pytest.approx(0.6)


def test_histogram_counts_by_hand() -> None:
    frame = frames.binned([-1.0, -0.6, 0.0, 0.1, 1.0, float("nan"), 3.0], bins=4)
    assert list(frame["count"]) == [2, 0, 2, 1] and list(frame["low"]) == [-1, -0.5, 0, 0.5]
    assert frame["share"].sum() == pytest.approx(5 / 6)  # one of six lies outside
    assert frames.binned([]).share.sum() == 0


def test_a_bootstrap_interval_holds_its_mean_and_repeats() -> None:
    values = list(np.random.default_rng(5).normal(0.2, 0.1, 301))
    mean, low, high = frames.mean_interval(values)
    assert mean == pytest.approx(np.mean(values)) and (mean, low, high) == frames.mean_interval(values)
    assert high - low == pytest.approx(2 * 1.96 * np.std(values) / math.sqrt(301), rel=0.15)  # as the normal one
    assert frames.mean_interval([float("nan")]) == (None, None, None)


def test_means_by_length_use_every_defined_value_once() -> None:
    frame = frames.by_length([3, 3, 5, 5, 9, 9], [0.0, 1.0, 0.5, float("nan"), 0.2, 0.4], groups=3)
    assert list(frame["n"]) == [2, 1, 2] and list(frame["length"]) == [3, 5, 9]
    assert frame["mean"].tolist() == pytest.approx([0.5, 0.5, 0.3])
    assert len(frames.by_length([4, 4, 4], [0.1, 0.2, 0.3])) == 1 and frames.by_length([], []).empty


def test_tidy_frames_by_hand() -> None:
    long = frames.scores(["a", "a"], {"g": [0.5, None], "l": [1, 2]})
    assert long.to_dict("list") == {
        "position": [0, 0, 1], "word": ["a", "a", "a"], "series": ["g", "l", "l"], "value": [0.5, 1, 2]
    }  # fmt: skip
    cells = frames.matrix(np.array([[0.1, 0.2, 0.3], [0.6, 0.5, 0.4]]), ["q", "r"], ["x", "y", "z"])
    assert frames.strongest_pairs(cells, 2) == [("r", "x", 0.6), ("r", "y", 0.5)]
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        frames.matrix(np.zeros((2, 3)), ["q"], ["x"])
    top = frames.mirrored(["a", "b", "c", "d"], [0.1, 0.9, 0, 0], [0, 0, 0.05, 0.8], k=2)
    assert list(top["word"]) == ["b", "d"] and list(top["position"]) == [1, 3]
    many = pd.DataFrame({"v": range(50)})
    thin = frames.thinned(many, 7)
    assert len(thin) == 7 and thin.index.is_monotonic_increasing and frames.thinned(many, 50) is many


def test_marks_and_limits_grow_with_the_base_font() -> None:
    small, large = (dict(every_chart(Look("light", base, True)))["intervals"] for base in (13, 26))
    rule, dot = (axes.to_spec(small)["layer"][i]["mark"] for i in (0, 1))
    big_rule, big_dot = (axes.to_spec(large)["layer"][i]["mark"] for i in (0, 1))
    assert (rule["strokeWidth"], big_rule["strokeWidth"]) == (3, 6) and (dot["size"], big_dot["size"]) == (90, 360)
    limits = [axes.to_spec(chart)["config"]["axis"]["labelLimit"] for chart in (small, large)]
    assert limits == [160, 320]


def columns(names: list[str], figure: int, labels: tuple[str, ...] = (), look: Look = SCREEN) -> int:
    """In how many columns a legend stands in a figure of this width; 0: in one line."""
    said = axes.legend(names, look, labels=labels).columns.to_dict()["expr"]
    beside, line, two = (int(re.search(form, said)[1]) for form in (r"- (\d+)", r">= (\d+) \? 0", r">= (\d+) \? 2"))
    return 0 if figure - beside >= line else 2 if figure - beside >= two else 1


def test_names_of_series_stand_below_each_other_where_they_find_no_room() -> None:
    three = ["search, ε = 0.05", "exact, ε = 0.05", "exact, ε = 0.01"]
    assert [columns(three, figure, ("BiLSTM",)) for figure in (1100, 400, 240)] == [0, 2, 1]
    assert columns(["a", "b"], 326) == 0 and columns(["a", "b"], 326, ("BiLSTM, never shown them at all", "c")) == 0
    assert columns(["금지된 단어를 뺌", "같은 수의 다른 단어를 뺌"], 326, ("BiLSTM, λ = 0.1",)) == 1
    assert columns(["accuracy", "attention"], 326) == 0 and columns(["accuracy", "attention"], 326, look=Look("light", 24)) == 1


def test_the_room_of_a_legend_does_not_shrink_with_the_plot() -> None:
    said = axes.legend(["a"], SCREEN).columns.to_dict()["expr"]
    assert "containerSize()[0] || width" in said, "the plot's own width counts in files only"
