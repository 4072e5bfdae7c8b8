"""Clouds and violins: valid whatever their words are, the same every time, every number where its axis says."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import vl_convert

from dashboard import axes, frames, spread
from dashboard.spread import Case, Groups, Lane
from dashboard.strips import strips_chart
from dashboard.theme import LIGHT, PRINT, Look
from dashboard.tokens import Legend, Row
from tests.looks import on_dark_screen, on_paper

RANDOM = np.random.default_rng(7)
CLOUD = pd.DataFrame({"shuffle": range(1, 38), "p": RANDOM.random(37), "tvd": RANDOM.random(37) / 3})
LANES = (Lane("p", 'p("]; alert(1)//)', 0.97, "as learned 0.97"), Lane("tvd", "거리", 0.0, "중앙값 0.000"))


def groups(count: int) -> Groups:
    names = ["negative", "긍정", '"]; x//'][:count]
    marks, shapes, singles = [], [], []
    for place in range(4):
        for name in names:
            n = 0 if place == 3 else 1000
            values = {"median": 0.1, "low": 0.05, "high": 0.2} if n else dict.fromkeys(("median", "low", "high"), float("nan"))
            marks.append({"bin": place, "group": name, "n": n, **values})
            if place < 2:
                shapes.append(frames.density(RANDOM.beta(1, 8, 99)).assign(bin=place, group=name))
            if place == 2:
                singles.append({"bin": place, "group": name, "x": 0.3})
    bins = ["0–0.25", "0.25–0.5", "0.5–0.75", "0.75–1"]
    return Groups(bins, names, pd.concat(shapes), pd.DataFrame(marks), pd.DataFrame(singles))


def every_chart(look: Look) -> dict[str, Any]:
    text = {"alt_text": "설명", "look": look}
    made: dict[str, Any] = {
        "cloud": spread.cloud(CLOUD, LANES, x="확률", key="shuffle", selected=4, **text),
        "bare cloud": spread.cloud(CLOUD, LANES[:1], x="p", key="shuffle", **text),
        "no singles": spread.violins(
            Groups(**{**vars(groups(1)), "singles": groups(1).singles.iloc[:0]}), x="TVD", y="weight", end=0.25, **text
        ),
    }
    for count in (1, 2, 3):
        case = Case(0.31, 1, groups(count).groups[-1], "이 문장 0.310")
        made[f"violins of {count}"] = spread.violins(groups(count), x="TVD", y="weight", end=0.5, case=case, **text)
    return made


CHARTS = every_chart(PRINT)


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_compiles_without_a_warning_and_says_what_it_shows(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    on_paper(CHARTS[name], capfd)


@pytest.mark.parametrize("name", CHARTS)
def test_screen_charts_have_no_width_and_a_clear_page(name: str) -> None:
    on_dark_screen(every_chart(Look("dark", 16))[name])


@pytest.mark.parametrize("name", CHARTS)
def test_every_name_is_written_as_text(name: str) -> None:
    svg = vl_convert.vegalite_to_svg(axes.to_spec(CHARTS[name]), allowed_base_urls=[])
    wanted = [LANES[0].name] if name == "bare cloud" else [lane.name for lane in LANES] if "cloud" in name else groups(1).bins
    for text in wanted:
        assert f">{text}<" in svg.replace("&quot;", '"')


def test_points_are_set_apart_evenly_and_the_same_every_time() -> None:
    for count in (1, 7, 100):
        places = spread.apart(count)
        assert len(places) == count and (places >= 0).all() and (places < 1).all()
        gaps = np.diff(np.sort(places))
        assert count < 2 or gaps.min() > 0.3 / count
    np.testing.assert_array_equal(spread.apart(50)[:20], spread.apart(20))


def test_only_what_the_charge_made_wears_its_color() -> None:
    cloud, violins = (str(axes.to_spec(CHARTS[name])["layer"]) for name in ("cloud", "violins of 2"))
    assert LIGHT.charge in cloud and LIGHT.defence not in cloud
    assert LIGHT.charge not in violins and LIGHT.defence not in violins and LIGHT.ink in violins


def test_the_chosen_point_is_ringed_in_every_lane() -> None:
    layers = axes.to_spec(CHARTS["cloud"])["layer"]
    ringed = [layer for layer in layers if layer["mark"].get("type") == "point" and "stroke" in layer["encoding"]]
    assert len(ringed) == 2


def test_a_density_peaks_at_one_and_stays_inside() -> None:
    flat = frames.density(np.linspace(0, 1, 2001))
    assert flat["density"].min() > 0.95
    ends = frames.density([0.0] * 5 + [1.0] * 5)
    assert ends["density"].iloc[[0, -1]].tolist() == pytest.approx([1, 1]) and ends["density"].iloc[100] < 1e-6
    assert frames.density([0.5])["x"].iloc[frames.density([0.5])["density"].argmax()] == pytest.approx(0.5, abs=0.003)


def test_violins_leave_the_same_room_however_wide_they_are() -> None:
    scale = axes.to_spec(CHARTS["violins of 1"])["layer"][0]["encoding"]["x"]["scale"]
    assert scale["domainMin"] == 0 and "0.5 * width" in scale["domainMax"]["expr"]
    ticks = axes.to_spec(CHARTS["violins of 1"])["layer"][0]["encoding"]["x"]["axis"]["values"]
    assert ticks == [0, 0.1, 0.2, 0.3, 0.4, 0.5]


def test_charts_of_a_file_stand_below_each_other() -> None:
    rows, words = [Row("Attention", [0.2, 0.8])], ["good", "film"]
    strips = strips_chart(rows, words, legends=[Legend("0", "largest")], look=PRINT)
    spec = axes.to_spec(spread.stacked([strips, CHARTS["cloud"]]))
    assert len(spec["vconcat"]) == 2 and spec["config"]["background"] == LIGHT.page
    assert "Attention: good 0.20, film 0.80" in spec["description"] and "설명" in spec["description"]
    svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    assert svg.index(">good<") < svg.index(">as learned 0.97<")
    assert axes.to_spec(CHARTS["cloud"])["description"] == "설명", "the chart itself is left as it was"
