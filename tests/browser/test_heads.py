"""One head of many, by a click and by keyboard; readable on a phone."""

import re
from collections.abc import Callable

import pytest

from core.models import registry
from tests.browser.visit import Visit, complaints

MODEL = "sst2/minilm"
pytestmark = pytest.mark.skipif(MODEL not in registry.cards(), reason="no trained models: make models")
THIRTY = (
    "The film is a quiet and slow story about two people who never meet, and although the ending drags "
    "a little, I loved all of it, every slow and quiet minute."
)
CHART = "[data-testid=stVegaLiteChart]"


def cell(visit: Visit, chart: int, layer: int, head: int) -> None:
    """Clicks a cell of a chart of all heads."""
    named = f"{layer} → {head}: "
    visit.page.locator(CHART).nth(chart).locator(f'path[aria-label^="{named}"]').first.click()
    visit.page.wait_for_function(f"location.search.includes('heads_layer={layer}&heads_head={head}')")
    visit.rest()


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_click_shows_a_head_again_and_again(open_page: Callable[..., Visit], lang: str) -> None:
    visit = open_page("heads", lang, mode="lecture", model=MODEL)
    cell(visit, 0, 4, 7)
    cell(visit, 1, 6, 2)
    visit.page.go_back()  # the link is the state: what was shown before comes back
    visit.page.get_by_role("heading", name=re.compile(r"4\D+7")).wait_for()
    visit.rest()
    cell(visit, 0, 6, 2)
    visit.shoot(f"heads-clicked-{lang}")
    assert visit.overflow() <= 0
    assert list(complaints(visit)) == []


def test_a_head_by_keyboard_alone(open_page: Callable[..., Visit]) -> None:
    visit = open_page("heads", mode="lecture", model=MODEL)
    box = visit.page.get_by_role("combobox", name="Layer")
    box.focus()
    box.press("ArrowDown")
    visit.page.keyboard.type("5")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_function("location.search.includes('heads_layer=5')")
    visit.rest()
    assert visit.page.get_by_role("heading", name="Layer 5, head").count() == 1
    assert list(complaints(visit)) == []


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_thirty_tokens_on_a_phone(open_page: Callable[..., Visit], lang: str) -> None:
    visit = open_page("heads", lang, mode="lecture", model=MODEL, text=THIRTY).resize(390, 844)
    assert visit.overflow() <= 0
    maps = visit.page.locator(CHART)
    for chart in (2, 3):
        assert maps.nth(chart).locator("canvas").count() == 0  # marks that a screen reader can enter
        labels = maps.nth(chart).locator(".role-axis-label text").all_text_contents()
        assert len(labels) > 60 and labels.count("slow") == 4  # both axes, repeated words apart
    visit.shoot(f"heads-phone-{lang}")
    assert list(complaints(visit)) == []
