"""Marking words in a browser: by mouse and by keyboard, at a desk and on a phone, text that looks like markup included."""

import pytest
from playwright.sync_api import Locator

from core.models import registry
from core.text import words
from dashboard import codes
from tests.browser.visit import Visit, complaints

MODEL = "sst2/bilstm-additive"
TEXT = "This is no masterpiece; it is barely a film."
pytestmark = pytest.mark.skipif(MODEL not in registry.cards(), reason="no trained models: make models")


def button(visit: Visit, word: str, nth: int = 0) -> Locator:
    return visit.page.get_by_role("toolbar").get_by_role("button", name=word, exact=True).nth(nth)


def pressed(visit: Visit) -> list[str]:
    return visit.page.get_by_role("toolbar").locator("[aria-pressed=true]").all_inner_texts()


def revealed(visit: Visit) -> None:
    visit.page.get_by_role("button", name="Lock in and reveal").click()
    visit.page.wait_for_selector(".strips .strip")
    visit.rest()


@pytest.mark.parametrize("width", [390, 1280])
def test_words_are_marked_with_the_mouse(visit: Visit, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 800})
    visit.open("rationales", model=MODEL, text=TEXT)
    assert visit.page.locator(".strips").count() == 0
    button(visit, "is", 1).click()
    button(visit, "barely").click()
    button(visit, "film").click()
    button(visit, "film").click()  # taken back
    assert pressed(visit) == ["is", "barely"]
    revealed(visit)
    assert codes.written(words(TEXT), (6, 7)) in visit.page.url
    assert visit.page.locator(".strip").first.locator(".selected").all_inner_texts() == ["is", "barely"]
    assert visit.overflow() <= 0
    visit.shoot(f"rationales-marked-{width}")
    visit.page.reload()
    visit.rest()
    assert visit.page.locator(".strip").first.locator(".selected").all_inner_texts() == ["is", "barely"]
    visit.page.get_by_role("button", name="Mark again").click()
    visit.page.get_by_role("button", name="Lock in and reveal").wait_for()
    assert list(complaints(visit)) == []


def test_words_are_marked_with_the_keyboard(visit: Visit) -> None:
    visit.open("rationales", model=MODEL, text=TEXT)
    button(visit, "This").focus()
    for key in ("ArrowRight", "ArrowRight", "Space", "ArrowRight", "Space"):
        visit.page.keyboard.press(key)
    assert pressed(visit) == ["no", "masterpiece"]
    visit.page.keyboard.press("Tab")
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_selector(".strips .strip")
    assert codes.written(words(TEXT), (2, 3)) in visit.rest().page.url


def test_text_that_looks_like_markup_stays_text(visit: Visit) -> None:
    visit.open("rationales", model=MODEL, text="**bold** <img src=x onerror=alert(1)> :material/lock: $x$ film")
    shown = "".join(visit.page.get_by_role("toolbar").get_by_role("button").all_inner_texts())
    assert shown == "**bold**<imgsrc=xonerror=alert(1)>:material/lock:$x$film"
    button(visit, "<").click()
    revealed(visit)
    assert list(complaints(visit)) == [] and visit.page.locator("img[src='x']").count() == 0
