"""Heads masked by keyboard on the page of pruning, and words put in by keyboard on the page of triggers."""

from collections.abc import Callable

import pytest

from core import experiments
from tests.browser.visit import Visit, complaints

MODEL = "sst2/minilm"
RUN = {name: experiments.path_of(name, MODEL).exists() for name in ("head-importance", "pruning", "triggers")}
pytestmark = pytest.mark.skipif(not all(RUN.values()), reason="no results: make results")


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_heads_go_by_keyboard(open_page: Callable[..., Visit], lang: str) -> None:
    visit = open_page("pruning", lang, mode="lecture", model=MODEL)
    chart = visit.page.locator("[data-testid=stVegaLiteChart]").first
    before = chart.screenshot()
    visit.page.get_by_role("slider").press("End")
    visit.page.wait_for_function("location.search.includes('pruning_masked=100')")
    visit.rest()
    assert chart.screenshot() != before  # every head is crossed out
    visit.page.get_by_role("slider").press("ArrowLeft")
    visit.page.wait_for_function("location.search.includes('pruning_masked=90')")
    assert list(complaints(visit.rest())) == []


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_words_go_in_by_keyboard(open_page: Callable[..., Visit], lang: str) -> None:
    visit = open_page("triggers", lang, mode="lecture", model=MODEL)
    count = visit.page.locator(".cell.selected").count()
    assert count > 0
    visit.page.get_by_role("slider").press("ArrowLeft")
    visit.page.wait_for_function(f"document.querySelectorAll('.cell.selected').length === {count - 1}")
    assert f"triggers_words={count - 1}" in visit.page.url
    assert list(complaints(visit.rest())) == []
