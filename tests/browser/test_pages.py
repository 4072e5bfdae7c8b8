"""Every page opens in both languages: one h1, no error in the console, no request to another host."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from dashboard.lessons import PAGES
from tests.browser.conftest import profile
from tests.browser.visit import Visit, complaints

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext

CASES = [(path, lang) for path in PAGES for lang in ("en", "ko")]


@pytest.fixture(scope="module")
def context(browser: "Browser") -> "Iterator[BrowserContext]":
    """One profile for all: these tests only look, and a browser that knows the dashboard opens it sooner."""
    yield from profile(browser)


@pytest.mark.parametrize(("path", "lang"), CASES, ids=[f"{path or 'home'}-{lang}" for path, lang in CASES])
def test_page_opens(open_page: Callable[..., Visit], path: str, lang: str) -> None:
    visit = open_page(path, lang)
    visit.shoot(f"{path or 'home'}-{lang}")
    assert list(complaints(visit)) == []
    assert visit.page.locator("h1").inner_text().strip()


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
