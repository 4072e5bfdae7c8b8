"""Words struck out on the page of erasing: until the decision flips, and one by one with the slider."""

from tests.browser.visit import Visit, complaints

REVIEW = "Wonderful film with a wonderful cast but a dull and tedious end"


def struck(visit: Visit) -> list[int]:
    """How many words are struck out in each strip, as the reader sees it."""
    lines = "cell => getComputedStyle(cell).textDecorationLine === 'line-through'"
    strips = visit.page.locator(".strip").all()
    return [strip.evaluate(f"strip => [...strip.querySelectorAll('.cell')].filter({lines}).length") for strip in strips]


def test_words_go_one_by_one(visit: Visit) -> None:
    visit.open("erasure", text=REVIEW, model="sst2/average-additive")
    assert struck(visit) == [0]
    visit.page.get_by_role("button", name="Skip").click()
    visit.rest().page.get_by_text("so many words").wait_for()
    assert len(struck(visit)) == 4 and min(struck(visit)) > 0
    visit.page.get_by_text("so many words").click()
    visit.page.get_by_role("slider").wait_for()
    assert struck(visit.rest()) == [1] * 4
    visit.page.get_by_role("slider").press("ArrowRight")
    visit.page.wait_for_url("**erasure_struck=2**")
    assert struck(visit.rest()) == [2] * 4
    assert list(complaints(visit)) == []
