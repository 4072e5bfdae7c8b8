"""What every chart must hold, on paper and on screen."""

from typing import Any

import altair as alt
import pytest
import vl_convert

from dashboard import axes
from dashboard.theme import DARK


def on_paper(chart: alt.TopLevelMixin, capfd: pytest.CaptureFixture[str]) -> None:
    """It compiles without a warning, is described, and shows no value that is none."""
    spec = axes.to_spec(chart)
    svg = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[], show_warnings=True)
    out = capfd.readouterr()
    assert "WARN" not in out.out + out.err
    assert spec["description"] == "설명" and "NaN" not in svg and ">undefined<" not in svg


def on_dark_screen(chart: alt.TopLevelMixin) -> dict[str, Any]:
    """It takes the width and the page that it is given, and the colors of its mode; its specification."""
    spec = axes.to_spec(chart)
    assert "width" not in spec and spec["config"]["background"] == "transparent"
    assert spec["config"]["axis"]["labelColor"] == DARK.muted
    return spec
