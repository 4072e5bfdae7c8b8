"""The chapters of alignment in a browser: they fit, can be read, and a date is written and stepped through."""

import pytest

from core.models import translator
from dashboard.alignment.typed import DATES
from tests.browser.visit import WIDTHS, Visit, barriers, complaints

needs_dates = pytest.mark.skipif(DATES.model not in translator.cards(), reason="no translator of dates: make models")


@needs_dates
def test_a_date_is_typed_and_stepped_through(visit: Visit) -> None:
    visit.open("alignment", "ko", alignment_chapter="dates")
    field = visit.page.get_by_label("직접 쓰는 날짜")
    field.fill("March the twenty-first, 1998")
    field.press("Enter")
    visit.page.wait_for_function("decodeURIComponent(location.search).includes('twenty-first')")
    visit.rest()
    visit.page.get_by_text("1998-03-21").first.wait_for()
    visit.page.get_by_role("button", name="다음", exact=True).click()
    visit.page.wait_for_function("location.search.includes('alignment_letter=2')")
    visit.rest()
    for width, height in WIDTHS.items():
        visit.resize(width, height).shoot(f"alignment-dates-ko-{width}")
        assert visit.overflow() <= 0, f"{visit.overflow()} px too wide in a window of {width} px"
    assert barriers(visit) == []
    assert list(complaints(visit)) == []
