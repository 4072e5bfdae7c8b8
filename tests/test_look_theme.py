"""One palette: what the pages, the charts and Streamlit's own widgets are given is the same, readable and monotone."""

import re
import tomllib
from itertools import pairwise
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit import config

from dashboard import theme

FOLDER = Path(theme.__file__).parent
TOML: dict[str, Any] = tomllib.loads((FOLDER / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
NAMES = {
    "backgroundColor": "page",
    "secondaryBackgroundColor": "panel",
    "textColor": "ink",
    "linkColor": "ink",
    "codeTextColor": "ink",
    "codeBackgroundColor": "panel",
    "borderColor": "line",
    "primaryColor": "accent",
    "redColor": "charge",
    "redTextColor": "charge",
    "blueColor": "defence",
    "blueTextColor": "defence",
    "violetColor": "lowers",
    "orangeColor": "raises",
    "yellowColor": "caution",
    "greenColor": "holds",
    "grayColor": "muted",
    "grayTextColor": "muted",
}
modes = pytest.mark.parametrize("mode", ["light", "dark"])


@modes
def test_streamlit_and_charts_are_given_the_same_colors(mode: theme.Mode) -> None:
    block, palette = TOML["theme"][mode], theme.PALETTES[mode]
    assert {key: block[key] for key in NAMES} == {key: getattr(palette, name) for key, name in NAMES.items()}
    assert tuple(block["chartSequentialColors"]) == theme.SEQUENTIAL[mode] == palette.seq
    assert tuple(block["chartDivergingColors"]) == theme.DIVERGING[mode] == palette.div
    assert block["chartCategoricalColors"] == [palette.charge, palette.defence, palette.muted, palette.ink]
    ranges = theme.altair_theme(mode)["range"]
    assert tuple(ranges["ramp"]) == tuple(ranges["heatmap"]) == palette.seq and tuple(ranges["diverging"]) == palette.div


def test_screen_and_chart_name_the_same_fonts_and_they_are_there() -> None:
    assert TOML["theme"]["font"] == TOML["theme"]["headingFont"] == theme.FAMILIES == theme.altair_theme("light")["font"]
    (face,) = TOML["theme"]["fontFaces"]
    file = FOLDER / face["url"].removeprefix("app/")
    assert file.read_bytes()[:4] == b"wOF2" and file.parent == theme.FONTS
    assert "Open Font License" in (theme.FONTS / "OFL.txt").read_text(encoding="utf-8")


def test_every_option_is_one_that_streamlit_knows() -> None:
    def keys(block: dict[str, Any], prefix: str) -> list[str]:
        inner = [keys(v, f"{prefix}{k}.") if isinstance(v, dict) else [f"{prefix}{k}"] for k, v in block.items()]
        return [key for part in inner for key in part]

    unknown = [key for key in keys(TOML, "") if key not in config.get_config_options()]
    assert unknown == []


def test_the_server_tells_nobody_and_shows_no_traceback() -> None:
    assert TOML["browser"]["gatherUsageStats"] is False
    assert TOML["client"]["showErrorDetails"] in ("type", "none") and TOML["client"]["toolbarMode"] == "viewer"
    assert TOML["runner"]["magicEnabled"] is False and TOML["server"]["fileWatcherType"] == "none"
    assert TOML["server"]["enableStaticServing"] is True and TOML["server"]["enableAgentApi"] is False
    assert TOML["server"]["enableCORS"] and TOML["server"]["enableXsrfProtection"]


@modes
def test_more_weight_is_more_contrast_with_the_page(mode: theme.Mode) -> None:
    page = theme.PALETTES[mode].page
    ratios = [theme.contrast(theme.ramp(w, mode), page) for w in np.linspace(0, 1, 201)]
    assert all(later >= earlier - 0.02 for earlier, later in pairwise(ratios))
    assert ratios[0] < 1.2 and ratios[-1] > 12


@modes
def test_signed_colors_are_neutral_at_zero_and_strong_at_both_ends(mode: theme.Mode) -> None:
    page = theme.PALETTES[mode].page
    low, zero, high = (theme.contrast(theme.diverging(v, mode), page) for v in (-1, 0, 1))
    assert zero < 1.35 and min(low, high) > 6
    red, _, blue = theme.channels(theme.diverging(-1, mode))
    assert blue > red
    red, _, blue = theme.channels(theme.diverging(1, mode))
    assert red > blue


@given(st.floats(-1, 1), st.sampled_from(["light", "dark"]))
def test_text_reads_on_every_cell(value: float, mode: theme.Mode) -> None:
    for color in (theme.ramp(abs(value), mode), theme.diverging(value, mode)):
        assert theme.contrast(color, theme.text_on(color)) >= 4.5


@modes
def test_text_and_sides_read_on_the_page(mode: theme.Mode) -> None:
    p = theme.PALETTES[mode]
    for color in (p.ink, p.muted, p.charge, p.defence, p.raises, p.lowers, p.caution, p.holds):
        assert theme.contrast(color, p.page) >= 4.5
    assert theme.contrast(p.muted, p.panel) >= 4.5


def test_worked_examples() -> None:
    assert theme.contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert theme.interpolate(("#000000", "#646464"), 0.5) == "#323232"
    assert theme.ramp(0) == "#F6F5F1" and theme.ramp(1) == theme.ramp(7) == "#00224E"
    assert theme.diverging(-1) == "#4A2A78" and theme.diverging(1) == "#8A4700"
    assert theme.css_pair("#111111", "#EEEEEE") == "light-dark(#111111,#EEEEEE)" and theme.css_pair("a", "a") == "a"


@modes
@pytest.mark.parametrize("export", [True, False])
def test_the_chart_theme_is_a_valid_configuration(mode: theme.Mode, export: bool) -> None:
    configuration = theme.altair_theme(mode, 16, export)
    alt.Config.from_dict(configuration, validate=True)
    assert configuration["background"] == (theme.PALETTES[mode].page if export else "transparent")
    assert configuration["axis"]["labelFontSize"] == 16


@pytest.mark.parametrize(("language", "lecture"), [("en", False), ("ko", False), ("en", True), ("ko", True)])
def test_the_stylesheet_defines_every_variable_it_uses(language: str, lecture: bool) -> None:
    css = theme.stylesheet(language, lecture)
    defined = set(re.findall(r"(--[\w-]+):", css)) | {"--digits"}
    assert set(re.findall(r"var\((--[\w-]+)\)", css)) <= defined
    assert css.startswith("<style>") and css.endswith("</style>") and css.count("{") == css.count("}")
    assert "url(" not in css and "http" not in css
    assert ("font-size:clamp(17px,1.05vw,24px)" in css) is lecture
    assert ("--leading:1.7" in css) is (language == "ko")
