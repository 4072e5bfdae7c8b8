"""The spotlight in a browser: dragged with mouse, finger and keys, everything follows at once and Python hears on release."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import TimeoutError

from core.models import registry
from core.reading import read
from dashboard import resources, spotlight
from dashboard.adversaries import light
from dashboard.link import LANGUAGES
from tests.browser.visit import WIDTHS, Visit, barriers, complaints

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, WebSocket

MODEL = "sst2/bilstm-additive"
TEXT = "A tender and quiet film that nobody saw"
WORDS = TEXT.split()
STORY = "babi1/bilstm-additive"
pytestmark = pytest.mark.skipif(MODEL not in registry.cards(), reason="no trained models: make models")


def listen(visit: Visit) -> list[int]:
    """Sizes of the frames that the page sends to its server, from now on."""
    sent: list[int] = []

    def opened(socket: "WebSocket") -> None:
        socket.on("framesent", lambda payload: sent.append(len(payload)))

    visit.page.on("websocket", opened)
    return sent


def settled(visit: Visit) -> Visit:
    """The page once the component has told Python and Python has answered."""
    visit.page.wait_for_timeout(700)
    return visit.rest()


def bars(visit: Visit) -> "Locator":
    return visit.page.get_by_role("slider")


def weights(visit: Visit) -> list[float]:
    return [float(bar.get_attribute("aria-valuenow") or "nan") for bar in bars(visit).all()]


def readout(visit: Visit, name: str) -> str:
    """A value of the readout: prediction, tvd, jsd, best."""
    return visit.page.locator(f".readout .item.{name} b").inner_text()


@pytest.fixture
def sent(visit: Visit) -> list[int]:
    """Frames sent by a lecture's page with the spotlight."""
    frames = listen(visit)
    visit.open("adversary", mode="lecture", model=MODEL, text=TEXT)
    bars(visit).first.wait_for()
    return frames


def grip(visit: Visit, word: int) -> tuple[float, float, float]:
    """The middle of a word's track, its top and its bottom, in the window."""
    bars(visit).nth(word).scroll_into_view_if_needed()
    box = bars(visit).nth(word).bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"], box["y"] + box["height"]


def test_the_learned_weights_are_shown_first(visit: Visit, sent: list[int]) -> None:
    model = resources.model(MODEL)
    own = light(model, read(model, TEXT)).original
    assert weights(visit) == pytest.approx(own, abs=6e-4)
    assert (readout(visit, "tvd"), readout(visit, "jsd"), readout(visit, "best")) == ("0.000", "0.00", "0.00")
    assert visit.page.locator(".words bdi").all_inner_texts() == WORDS
    assert list(complaints(visit)) == []


def test_dragging_sends_nothing_until_release(visit: Visit, sent: list[int]) -> None:
    x, top, bottom = grip(visit, 2)
    mouse = visit.page.mouse
    mouse.move(x, bottom - 2)
    settled(visit)
    before = len(sent)
    mouse.down()
    seen = set()
    for step in range(12):
        mouse.move(x, bottom + (top - bottom) * step / 11)
        visit.page.wait_for_timeout(60)
        seen.add((readout(visit, "jsd"), tuple(weights(visit))))
        assert sum(weights(visit)) == pytest.approx(1, abs=5e-3)
    assert len(sent) == before
    assert len(seen) > 8
    assert weights(visit)[2] == pytest.approx(1)
    mouse.up()
    settled(visit)
    assert len(sent) > before
    assert weights(visit)[2] == pytest.approx(1)


def test_the_browser_computes_what_python_does(visit: Visit, sent: list[int]) -> None:
    model = resources.model(MODEL)
    own = light(model, read(model, TEXT))
    for word, key in ((1, "PageUp"), (4, "PageUp"), (6, "ArrowUp"), (0, "Home")):
        bars(visit).nth(word).press(key)
    there = spotlight.under(own, weights(visit))
    assert float(readout(visit, "tvd")) == pytest.approx(there.tvd, abs=4e-3)
    assert float(readout(visit, "jsd")) == pytest.approx(there.jsd, abs=7e-3)
    label, prob = readout(visit, "prediction").split()
    assert label == own.labels[max(range(2), key=lambda i: there.prediction[i])]
    assert float(prob) == pytest.approx(max(there.prediction), abs=7e-3)


def test_keys_move_a_bar_and_python_hears_when_they_rest(visit: Visit, sent: list[int]) -> None:
    bar = bars(visit).nth(3)
    bar.focus()
    start, before = weights(visit)[3], len(sent)
    for key, change in (("ArrowUp", 0.01), ("Shift+ArrowUp", 0.001), ("ArrowDown", -0.01), ("PageUp", 0.1)):
        bar.press(key)
        start += change
        assert weights(visit)[3] == pytest.approx(start, abs=6e-4)
    said = bar.get_attribute("aria-valuetext") or ""
    assert re.match(r"0\.\d\d, (positive|negative) [01]\.\d\d, (within|outside)", said)
    bar.press("End")
    assert weights(visit)[3] == 1
    bar.press("Home")
    assert weights(visit)[3] == 0 and sum(weights(visit)) == pytest.approx(1, abs=5e-3)
    settled(visit)
    assert len(sent) > before


def test_the_best_within_epsilon_is_kept_and_told_at_the_reveal(visit: Visit, sent: list[int]) -> None:
    bars(visit).nth(5).press("ArrowUp")
    best = readout(visit, "best")
    bars(visit).nth(1).press("End")
    bars(visit).nth(1).press("Home")
    settled(visit)
    assert float(readout(visit, "best")) >= float(best)
    visit.page.get_by_role("button", name="My best").click()
    settled(visit)
    assert readout(visit, "jsd") == readout(visit, "best")
    assert "within" in visit.page.locator(".readout em").inner_text()
    visit.page.get_by_role("button", name="Reveal the adversary").click()
    settled(visit)
    assert visit.page.get_by_text("You reached").count() == 1
    assert readout(visit, "jsd") == readout(visit, "best"), "the bars stay as they were"
    assert visit.page.locator(".track .optimum:visible").count() in (1, 2)
    assert list(complaints(visit)) == []


def choose(visit: Visit, sentence: int) -> list[str]:
    """Another of the project's sentences, chosen by its place in the list; the words that then have bars."""
    option = visit.page.get_by_role("option").nth(sentence)
    for _ in range(4):  # a run that the bars have just set off closes an open list
        visit.rest()
        visit.page.get_by_role("combobox", name="Sentence").click()
        try:
            option.click(timeout=4000)
            break
        except TimeoutError:
            visit.page.keyboard.press("Escape")
    settled(visit)
    return visit.page.locator(".words bdi").all_inner_texts()


def test_another_text_has_bars_of_its_own_and_the_first_comes_back(visit: Visit) -> None:
    visit.open("adversary", mode="lecture", model=MODEL)
    bars(visit).nth(2).press("End")
    settled(visit)
    words, turned = visit.page.locator(".words bdi").all_inner_texts(), weights(visit)
    assert choose(visit, 1) != words
    assert max(weights(visit)) < 1
    assert choose(visit, 0) == words
    assert weights(visit) == turned
    assert list(complaints(visit)) == []


def test_markup_stays_text(visit: Visit) -> None:
    visit.open("adversary", mode="lecture", model=MODEL, text="<img src=x onerror=alert(1)> film")
    bars(visit).first.wait_for()
    assert visit.page.locator(".words img").count() == 0
    assert "".join(visit.page.locator(".words bdi").all_inner_texts()) == "<imgsrc=xonerror=alert(1)>film"
    assert list(complaints(visit)) == []


def test_a_story_has_several_labels(visit: Visit) -> None:
    if STORY not in registry.cards():
        pytest.skip("no trained model of stories")
    visit.open("adversary", mode="lecture", model=STORY)
    bars(visit).first.wait_for()
    bars(visit).nth(4).press("End")
    assert re.match(r"\w+ [01]\.\d\d", readout(visit, "prediction"))
    assert float(readout(visit, "jsd")) > 0.1


@pytest.fixture
def phone(browser: "Browser", server: str) -> Iterator[Visit]:
    """A visit with a finger on a small screen."""
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True, reduced_motion="reduce", locale="en-US"
    )
    yield Visit(context.new_page(), server)
    context.close()


def test_a_finger_drags_on_a_phone(phone: Visit) -> None:
    sent = listen(phone)
    phone.open("adversary", mode="lecture", model=MODEL, text=TEXT)
    bars(phone).first.wait_for()
    x, top, bottom = grip(phone, 6)
    scrolled = "document.querySelector('[data-testid=\"stMain\"]').scrollTop"
    at = phone.page.evaluate(scrolled)
    finger = phone.page.context.new_cdp_session(phone.page)

    def touch(kind: str, y: float | None) -> None:
        points = [] if y is None else [{"x": x, "y": y}]
        finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
        phone.page.wait_for_timeout(60)

    phone.page.wait_for_timeout(500)
    before = len(sent)
    touch("touchStart", bottom - 3)
    for step in range(1, 8):
        touch("touchMove", bottom + (top - bottom) * step / 7)
    assert weights(phone)[6] > 0.9
    assert len(sent) == before
    touch("touchEnd", None)
    settled(phone)
    assert len(sent) > before
    assert phone.page.evaluate(scrolled) == at, "the page does not scroll under the finger"
    chosen = weights(phone)[6]
    phone.page.get_by_role("button", name="a little less").tap()
    assert weights(phone)[6] == pytest.approx(chosen - 0.002, abs=6e-4)
    assert phone.overflow() <= 0
    assert list(complaints(phone)) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_is_revealed_can_be_read_and_fits(visit: Visit, scheme: str) -> None:
    visit.page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    visit.open("adversary", model=MODEL, text=TEXT)
    story = visit.page.locator('[class*="st-key-first-story"]')
    story.locator("textarea").fill("It is tender, so it is good.")
    story.get_by_role("button").first.click()
    bars(visit).first.wait_for()
    bars(visit).nth(1).press("End")
    settled(visit)
    visit.page.get_by_role("button", name="Reveal the adversary").click()
    settled(visit)
    for width, height in WIDTHS.items():
        visit.resize(width, height).shoot(f"adversary-revealed-{scheme}-{width}")
        assert visit.overflow() <= 0
    assert barriers(visit) == []
    assert list(complaints(visit)) == []


@pytest.mark.skipif("snli/bilstm-additive" not in registry.cards(), reason="no trained model: make models")
@pytest.mark.parametrize("lang", LANGUAGES)
def test_names_of_three_series_fit_a_phone_in_a_lecture(visit: Visit, lang: str) -> None:
    visit.page.set_viewport_size({"width": 390, "height": 844})
    visit.open("adversary", lang, mode="lecture", model="snli/bilstm-additive")
    assert visit.overflow() <= 0
