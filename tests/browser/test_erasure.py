"""Words struck out on the page of erasing: until the decision flips, and one by one with the slider."""

from tests.browser.visit import Visit, complaints

REVIEW = "Wonderful film with a wonderful cast but a dull and tedious end"


def struck(visit: Visit) -> list[int]:
    """How many words are struck out in each strip, as the reader sees it."""
    lines = "cell => getComputedStyle(cell).textDecorationLine === 'line-through'"
    strips = visit.page.locator(".strip").all()
    return [strip.evaluate(f"strip => [...strip.querySelectorAll('.cell')].filter({lines}).length") for strip in strips]


def when_struck(visit: Visit, count: int) -> list[int]:
    """The same as soon as there are four strips and `count` words are struck out in all (any number if 0)."""
    wanted = f"document.querySelectorAll('.cell.masked').length {'===' if count else '>'} {count}"
    visit.page.wait_for_function(f"document.querySelectorAll('.strip').length === 4 && {wanted}")
    return struck(visit.rest())


def test_words_go_one_by_one(visit: Visit) -> None:
    visit.open("erasure", text=REVIEW, model="sst2/average-additive")
    assert struck(visit) == [0]
    visit.page.get_by_role("button", name="Skip").click()
    assert min(when_struck(visit, 0)) > 0
    visit.page.get_by_text("so many words").click()
    assert when_struck(visit, 4) == [1] * 4
    visit.page.get_by_role("slider").press("ArrowRight")
    assert when_struck(visit, 8) == [2] * 4
    assert "erasure_struck=2" in visit.page.url
    assert list(complaints(visit)) == []
