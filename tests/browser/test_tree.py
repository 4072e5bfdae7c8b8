"""The attribution tree in a browser: cut by click, and read on a phone and a projector."""

from collections.abc import Callable

import pytest

from core.models import registry
from tests.browser.visit import Visit, complaints

MODEL = "sst2/minilm"
pytestmark = pytest.mark.skipif(MODEL not in registry.cards(), reason="no trained models: make models")
CUT = {"en": "Cut all", "ko": "모두 자르기"}
THIRTY = (
    "A slow and long start gives way to a tender story , and the two leads are so good together "
    "that by the last scene nobody minds ."
)


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_all_edges_are_cut_by_click(open_page: Callable[..., Visit], lang: str) -> None:
    visit = open_page("tree", lang, mode="lecture", model=MODEL, tree_tau="0.2", text=THIRTY)
    drawing = visit.page.locator("[data-testid=stVegaLiteChart]").first
    before = drawing.screenshot()
    visit.page.get_by_role("button", name=CUT[lang]).click()
    visit.page.wait_for_function("location.search.includes('tree_cut=')")
    visit.rest()
    assert drawing.screenshot() != before
    visit.shoot(f"tree-cut-{lang}")
    for width in (390, 1920):
        visit.resize(width)
        visit.shoot(f"tree-cut-{lang}-{width}")
        assert visit.overflow() <= 0
    assert list(complaints(visit)) == []
