"""The defence's pages in a browser: what is hidden until a guess is made, a guide that is chosen, a figure that is saved."""

from pathlib import Path

import pytest

from core.models import registry
from tests.browser.visit import Visit, complaints

REVIEW = "A dull and tedious film, but the ending is wonderful"
MODELS = {"sst2/bilstm-additive:uniform", "sst2/bilstm-additive:seed=7", "sst2/average-additive:guide=adversary"}
pytestmark = pytest.mark.skipif(not set(registry.cards()) >= MODELS, reason="no trained variants: make models")


def revealed(visit: Visit, strips: int) -> None:
    visit.page.get_by_role("button", name="Skip").click()
    visit.page.wait_for_function(f"document.querySelectorAll('.strips .strip').length === {strips}")
    visit.rest()


@pytest.mark.parametrize("width", [390, 1280])
def test_uniform_attention_is_even(visit: Visit, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 800})
    visit.open("necessity", text=REVIEW)
    assert visit.page.locator(".strips .strip").count() == 1
    revealed(visit, 2)
    colors = "strip => new Set([...strip.querySelectorAll('.cell')].map(cell => getComputedStyle(cell).backgroundColor)).size"
    learned, even = (strip.evaluate(colors) for strip in visit.page.locator(".strips .strip").all())
    assert learned > 2 and even == 1
    visit.shoot(f"necessity-revealed-{width}")
    assert visit.overflow() <= 0 and list(complaints(visit)) == []


@pytest.mark.parametrize("width", [390, 1280])
def test_every_seed_has_its_strip(visit: Visit, width: int) -> None:
    visit.page.set_viewport_size({"width": width, "height": 800})
    visit.open("variance", text=REVIEW)
    revealed(visit, 9)
    assert visit.page.locator(".strips .name.charge").count() == 1
    visit.shoot(f"variance-revealed-{width}")
    assert visit.overflow() <= 0 and list(complaints(visit)) == []


@pytest.mark.parametrize("width", [390, 1280])
def test_a_guide_is_chosen_and_its_figure_saved(visit: Visit, width: int, tmp_path: Path) -> None:
    visit.page.set_viewport_size({"width": width, "height": 800})
    visit.open("guide", text=REVIEW)
    revealed(visit, 2)
    before = visit.page.locator(".strips .note").last.inner_text()
    visit.page.get_by_role("radio", name="Adversary’s").click()
    visit.page.wait_for_url("**guide_guide=adversary**")
    visit.rest()
    assert visit.page.locator(".strips .note").last.inner_text() != before
    visit.page.locator(".st-key-figure-strips").get_by_role("button", name="Download").click()
    with visit.page.expect_download() as download:
        visit.page.get_by_role("button", name="PNG").click()
    saved = tmp_path / "guide.png"
    download.value.save_as(saved)
    assert saved.read_bytes().startswith(b"\x89PNG") and saved.stat().st_size > 20_000
    visit.page.keyboard.press("Escape")
    visit.shoot(f"guide-revealed-{width}")
    assert visit.overflow() <= 0 and list(complaints(visit)) == []
