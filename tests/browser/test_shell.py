"""What only a browser shows: the address, the document's language, colours after a theme switch, phones, files, typed text."""

from collections.abc import Callable
from pathlib import Path

import pytest

from core.models import registry
from tests.browser.visit import Visit, complaints

Open = Callable[..., Visit]
SST = "sst2/bilstm-additive"
pytestmark = pytest.mark.skipif(SST not in registry.cards(), reason="no trained models: make models")
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"


def type_own(visit: Visit, text: str) -> None:
    visit.page.get_by_role("button", name="Your own text").click()
    visit.page.get_by_role("textbox", name="Text", exact=True).fill(text)
    visit.page.get_by_role("button", name="Apply").click()
    visit.page.get_by_role("button", name="Apply").wait_for(state="hidden")
    visit.rest()


def test_the_address_carries_everything(open_page: Open) -> None:
    visit = open_page("agreement", "en", model=SST)
    assert "lang=en&mode=study&model=sst2%2Fbilstm-additive&text=sample%3Areview-01" in visit.page.url
    type_own(visit, "Überraschend good & <fine>")
    assert "text=%C3%9Cberraschend+good+%26+%3Cfine%3E" in visit.page.url
    visit.page.reload()
    visit.rest()
    assert "Überraschend" in visit.page.locator(".strip").first.inner_text()
    assert list(complaints(visit)) == []


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_document_speaks_the_language(open_page: Open, lang: str) -> None:
    visit = open_page("agreement", lang, model=SST)
    visit.page.wait_for_function(f"document.documentElement.lang === '{lang}'")
    strip = visit.page.locator(".strip").first
    assert strip.get_attribute("lang") == "en"
    assert strip.get_attribute("translate") == "no"


def test_a_switch_of_language_keeps_page_and_text(open_page: Open) -> None:
    visit = open_page("agreement", "en", mode="lecture", model=SST, text="A fine film")
    visit.page.get_by_text("한국어").click()
    visit.page.wait_for_function("document.documentElement.lang === 'ko'")
    visit.rest()
    assert "lang=ko" in visit.page.url and "text=A+fine+film" in visit.page.url
    assert "어텐션" in visit.page.locator("h1").inner_text()


def test_charts_follow_the_theme(open_page: Open) -> None:
    visit = open_page("agreement", "en", mode="lecture", model=SST)
    chart = visit.page.locator("[data-testid=stVegaLiteChart]").first
    chart.wait_for()
    light = chart.screenshot()
    visit.page.emulate_media(color_scheme="dark")
    visit.page.wait_for_timeout(2500)
    visit.rest()
    dark = chart.screenshot()
    assert mean_luminance(dark) < 0.4 < mean_luminance(light)


def mean_luminance(png: bytes) -> float:
    """The mean brightness of a picture, 0 to 1."""
    import io

    from PIL import Image, ImageStat

    return ImageStat.Stat(Image.open(io.BytesIO(png)).convert("L")).mean[0] / 255


@pytest.mark.parametrize("path", ["", "agreement"])
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_phone_does_not_scroll_sideways(open_page: Open, visit: Visit, path: str, lang: str) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    open_page(path, lang, mode="lecture")
    visit.shoot(f"{path or 'home'}-{lang}-390")
    assert visit.page.evaluate(WIDER) <= 0
    too_wide = visit.page.locator(".strip").evaluate_all("strips => strips.filter(s => s.scrollWidth > s.clientWidth).length")
    assert too_wide == 0


def test_the_experiment_begins_on_the_first_screen(open_page: Open, visit: Visit) -> None:
    visit.page.set_viewport_size({"width": 1280, "height": 720})
    open_page("agreement", "en", model=SST)
    box = visit.page.locator(".st-key-figure-strips").bounding_box()
    assert box is not None and box["y"] <= 360


def test_markup_stays_text(open_page: Open) -> None:
    visit = open_page("agreement", "en", mode="lecture", model=SST)
    type_own(visit, "<img src=x onerror=alert(1)> <script>document.title='no'</script> ![a](http://evil.example/a.png)")
    assert visit.page.title() != "no"
    assert "onerror" in visit.page.locator(".strip").first.inner_text()
    assert list(complaints(visit)) == []


def test_a_figure_is_downloaded(open_page: Open, tmp_path: Path) -> None:
    visit = open_page("", "en")
    visit.page.get_by_role("button", name="Download", exact=True).first.click()
    with visit.page.expect_download(timeout=60_000) as download:
        visit.page.get_by_role("button", name="PNG", exact=True).first.click()
    file = tmp_path / "figure.png"
    download.value.save_as(file)
    assert file.read_bytes().startswith(b"\x89PNG")
    assert download.value.suggested_filename.endswith(".png")
    assert list(complaints(visit)) == []


def test_the_way_in_leads_to_the_first_argument(open_page: Open) -> None:
    visit = open_page("", "en")
    visit.page.get_by_role("button", name="Begin with the charge").click()
    visit.page.wait_for_url("**/agreement?**")
    visit.rest()
    assert "words that matter" in visit.page.locator("h1").inner_text()
    assert list(complaints(visit)) == []


def test_the_guess_is_locked_in_before_the_result(open_page: Open) -> None:
    visit = open_page("agreement", "en", model=SST)
    assert visit.page.locator(".strip").count() == 1
    assert visit.page.locator(".veil").count() == 2  # over the other strips, and over how the noise moves tau
    visit.page.get_by_role("radio", name="somewhat").or_(visit.page.get_by_role("button", name="somewhat")).first.click()
    visit.rest()
    visit.page.get_by_role("button", name="Lock in and reveal").click()
    visit.page.wait_for_function("document.querySelectorAll('.strip').length === 4")
    visit.rest()
    assert visit.page.locator(".veil").count() == 0
    assert "Your guess: somewhat" in visit.page.locator("[data-testid=stMain]").inner_text()


def focused(visit: Visit) -> str:
    """The tag and the words of what the keyboard is on."""
    return str(visit.page.evaluate("document.activeElement.tagName + ' ' + document.activeElement.innerText"))


def test_a_result_that_is_revealed_by_keyboard_keeps_the_keyboard_in_its_figure(open_page: Open) -> None:
    visit = open_page("permutation", "en", model=SST)
    visit.page.get_by_role("button", name="Skip").focus()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_function("!document.querySelector('.veil')")
    visit.page.wait_for_function("document.activeElement.closest('[class*=st-key-figure-]')")


def test_the_tab_key_meets_no_second_toolbar(open_page: Open) -> None:
    """Every figure has its own table and files; what Streamlit puts on a chart would only double them."""
    visit = open_page("agreement", "en", mode="lecture", model=SST)
    visit.page.locator("[data-testid=stVegaLiteChart]").first.hover()
    assert visit.page.locator("[data-testid=stElementToolbar]").count() > 0
    assert visit.page.locator("[data-testid=stElementToolbar]:visible").count() == 0


def test_an_own_text_is_typed_without_a_mouse(open_page: Open) -> None:
    visit = open_page("agreement", "en", mode="lecture", model=SST)
    for _ in range(30):
        visit.page.keyboard.press("Tab")
        if focused(visit).startswith("BUTTON") and "Your own text" in focused(visit):
            break
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_function("document.activeElement.tagName === 'TEXTAREA'")
    visit.page.keyboard.press("Control+A")
    visit.page.keyboard.type("A dull and lifeless film")
    visit.page.keyboard.press("Control+Enter")
    visit.page.wait_for_url("**text=A+dull+and+lifeless+film**")
    visit.rest()
    assert "lifeless" in visit.page.locator(".strip").first.inner_text()
