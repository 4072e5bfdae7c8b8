"""The walk through what a head's output cannot see, by keyboard: one map moves, the other and the prediction do not."""

from collections.abc import Callable

import pytest

from core.models import registry
from tests.browser.visit import Visit, complaints

MODEL = "sst2/self-attention"
pytestmark = pytest.mark.skipif(MODEL not in registry.cards(), reason="no trained models: make models")


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_walk_by_keyboard(open_page: Callable[..., Visit], lang: str) -> None:
    visit = open_page("identifiability", lang, mode="lecture", model=MODEL)
    charts = visit.page.locator("[data-testid=stVegaLiteChart]")
    before = [charts.nth(i).screenshot() for i in range(2)]
    visit.page.get_by_role("slider").press("End")
    visit.page.wait_for_function("location.search.includes('identifiability_step=100')")
    visit.rest()
    after = [charts.nth(i).screenshot() for i in range(2)]
    assert after[0] != before[0]
    assert visit.page.locator(".big b").last.inner_text() == "< 10⁻¹²"
    visit.shoot(f"identifiability-walked-{lang}")
    assert visit.overflow() <= 0
    assert list(complaints(visit)) == []
