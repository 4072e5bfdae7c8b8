"""Nine methods on one sentence in a browser: picked by keyboard, read on a phone and a projector."""

from collections.abc import Callable

import pytest

from core.models import registry
from tests.browser.visit import Visit, complaints

MODEL = "sst2/minilm"
pytestmark = pytest.mark.skipif(MODEL not in registry.cards(), reason="no trained models: make models")
THIRTY = (
    "A slow and long start gives way to a tender story , and the two leads are so good together "
    "that by the last scene nobody minds ."
)
METHOD = {"en": "Method", "ko": "방법"}


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_method_by_keyboard_on_every_screen(open_page: Callable[..., Visit], lang: str) -> None:
    visit = open_page("attribution", lang, mode="lecture", model=MODEL, text=THIRTY)
    box = visit.page.get_by_role("combobox", name=METHOD[lang])
    box.focus()
    box.press("ArrowDown")
    visit.page.keyboard.press("ArrowDown")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_function("location.search.includes('attribution_method=')")
    visit.rest()
    assert visit.page.locator(".strips .strip").count() == 2
    for width in (1280, 390, 1920):
        visit.resize(width)
        visit.shoot(f"attribution-{lang}-{width}")
        assert visit.overflow() <= 0
    assert list(complaints(visit)) == []
