"""Every page, light and dark, fits a phone, a laptop and a projector, and has no grave barrier for its readers."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]

from dashboard.lessons import PAGES
from tests.browser.conftest import profile
from tests.browser.visit import Visit

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

WIDTHS = {390: 844, 1280: 720, 1920: 1080}
SCHEMES = ("light", "dark")
CASES = [(path, scheme) for path in PAGES for scheme in SCHEMES]
NAMES = [f"{path or 'home'}-{scheme}" for path, scheme in CASES]


def barriers(visit: Visit) -> list[str]:
    """What axe calls serious or critical: the rule, the place, the reason."""
    found = Axe().run(visit.page).response["violations"]
    grave = [violation for violation in found if violation["impact"] in {"serious", "critical"}]
    return [f"{v['id']}: {node['html'][:160]} {node['failureSummary']}" for v in grave for node in v["nodes"]]


@pytest.fixture(scope="module")
def context(browser: "Browser") -> "Iterator[BrowserContext]":
    """One profile for all: these tests only look, and a browser that knows the dashboard opens it sooner."""
    yield from profile(browser)


@pytest.mark.parametrize(("path", "scheme"), CASES, ids=NAMES)
def test_page_fits_and_can_be_read(visit: Visit, path: str, scheme: str) -> None:
    visit.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    visit.open(path)
    for width, height in WIDTHS.items():
        visit.resize(width, height).shoot(f"{path or 'home'}-{scheme}-{width}")
        assert visit.overflow() <= 0, f"{visit.overflow()} px too wide in a window of {width} px"
    assert barriers(visit) == []


def test_barriers_are_seen(visit: Visit) -> None:
    """The checks above can fail: pale text is a barrier, and a wide box overflows."""
    visit.open("")
    put = "insertAdjacentHTML('afterbegin', `<p style='${style}'>put in</p>`)"
    paint = f"style => document.querySelector('.block-container').{put}"
    visit.page.evaluate(paint, "color:#ccc;background:#fff")
    assert any(line.startswith("color-contrast") and "put in" in line for line in barriers(visit))
    visit.page.evaluate(paint, "width:5000px")
    assert visit.overflow() > 3000
