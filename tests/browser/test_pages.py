"""Every page opens in both languages without an error in the console or a request to another host; it fits a phone, a laptop
and a projector, and has no grave barrier for its readers, in the light and in the dark."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from dashboard.lessons import PAGES
from tests.browser.conftest import profile
from tests.browser.visit import WIDTHS, Visit, barriers, complaints

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

DARK = "() => getComputedStyle(document.querySelector('[data-testid=stApp]')).colorScheme === 'dark'"


@pytest.fixture(scope="module")
def context(browser: "Browser") -> "Iterator[BrowserContext]":
    """One profile for all: these tests only look, and a browser that knows the dashboard opens it sooner."""
    yield from profile(browser)


@pytest.mark.parametrize("lang", ["en", "ko"])
@pytest.mark.parametrize("path", PAGES, ids=[path or "home" for path in PAGES])
def test_page_opens_fits_and_can_be_read(visit: Visit, path: str, lang: str) -> None:
    """Barriers are looked for in one language, whose words alone differ."""
    visit.open(path, lang)
    assert visit.page.locator("h1").inner_text().strip()
    for width, height in WIDTHS.items():
        visit.resize(width, height).shoot(f"{path or 'home'}-{lang}-{width}")
        assert visit.overflow() <= 0, f"{visit.overflow()} px too wide in a window of {width} px"
        assert visit.cut_off() == [], f"cut off in a window of {width} px"
    if lang == "en":
        assert barriers(visit) == []
        visit.page.emulate_media(color_scheme="dark")
        visit.page.wait_for_function(DARK)
        visit.rest().shoot(f"{path or 'home'}-{lang}-dark")
        assert barriers(visit) == []
    assert list(complaints(visit)) == []


def test_complaints_are_heard(visit: Visit) -> None:
    """The check above can fail: an error, a foreign request and a second h1 on the dashboard are all told."""
    visit.open("")
    visit.page.evaluate(
        """() => {
            console.error('a broken promise');
            document.body.append(document.createElement('h1'));
            return fetch('http://elsewhere.invalid/font.woff2').catch(() => null);
        }"""
    )
    told = list(complaints(visit))
    assert any("a broken promise" in line for line in told)
    assert any("elsewhere.invalid" in line and line.startswith("foreign") for line in told)
    assert any("2 h1" in line for line in told)


def test_barriers_are_seen(visit: Visit) -> None:
    """The checks above can fail: pale text is a barrier, and a wide box overflows."""
    visit.open("")
    put = "insertAdjacentHTML('afterbegin', `<p style='${style}'>put in</p>`)"
    paint = f"style => document.querySelector('.block-container').{put}"
    visit.page.evaluate(paint, "color:#ccc;background:#fff")
    assert any(line.startswith("color-contrast") and "put in" in line for line in barriers(visit))
    visit.page.evaluate(paint, "width:5000px")
    assert visit.overflow() > 3000
