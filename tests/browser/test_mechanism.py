"""The chapters of the mechanism in a browser: they fit, can be read, and their numbers are edited without a mouse."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from core.models import registry
from dashboard.mechanism import trained
from dashboard.mechanism.keys import KEYS
from tests.browser.conftest import profile
from tests.browser.visit import WIDTHS, Visit, barriers, complaints

WAYS = (("en", "light", "lecture"), ("ko", "dark", "study"))
CASES = [(chapter, *WAYS[i % 2]) for i, chapter in enumerate(KEYS["chapter"])]

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

needs_models = pytest.mark.skipif(not set(trained.MODELS) <= set(registry.cards()), reason="no trained models: make models")


@pytest.fixture(scope="module")
def context(browser: "Browser") -> "Iterator[BrowserContext]":
    """One profile for all: a browser that knows the dashboard opens it sooner."""
    yield from profile(browser)


@needs_models
@pytest.mark.parametrize(("chapter", "lang", "scheme", "mode"), CASES)
def test_a_chapter_fits_and_can_be_read(visit: Visit, chapter: str, lang: str, scheme: str, mode: str) -> None:
    visit.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    visit.open("mechanism", lang, mode=mode, mechanism_chapter=chapter)
    for width, height in WIDTHS.items():
        visit.resize(width, height).shoot(f"mechanism-{chapter}-{lang}-{width}")
        assert visit.overflow() <= 0, f"{visit.overflow()} px too wide in a window of {width} px"
    assert barriers(visit) == []
    assert list(complaints(visit)) == []


def test_a_number_is_edited_by_keyboard(open_page: Callable[..., Visit]) -> None:
    """Into the table, along to a cell, a number and Enter; the table keeps its place, so a second cell can follow."""
    visit = open_page("mechanism", "en", mode="lecture")
    table = visit.page.get_by_test_id("stDataFrame").first
    table.locator(".dvn-scroller").first.click(position={"x": 40, "y": 50})  # the first word
    for number, row in (("3", "slow,3,1,0,1"), ("4", "slow,3,4,0,1")):
        visit.page.keyboard.press("ArrowRight")
        visit.page.keyboard.type(number)
        visit.page.wait_for_timeout(400)  # as a person takes: the first key opens the field that the second one closes
        visit.page.keyboard.press("Enter")  # leads to the cell below
        visit.page.wait_for_function(f"decodeURIComponent(location.search).includes('{row}')")
        visit.rest()
        visit.page.keyboard.press("ArrowUp")
    visit.rest()
    assert "8.00" in visit.page.locator(".katex-html").first.inner_text()
    assert list(complaints(visit)) == []
    visit.page.reload()
    visit.rest()
    assert "8.00" in visit.page.locator(".katex-html").first.inner_text()
