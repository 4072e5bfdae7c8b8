"""What a visit to a page shows: the page once Streamlit has come to rest, and what the browser complained about.

Streamlit itself asks for `/<page>/_stcore/health` and `/<page>/_stcore/host-config` below a page's address and gets
404; these two lines in the console are its own and the only ones that are let pass.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]
from playwright.sync_api import ConsoleMessage, Page, Request

WIDTHS = {390: 844, 1920: 1080, 1280: 720}  # windows of a phone, a projector and a laptop, with their heights
SHOTS = Path(__file__).resolve().parent / "shots"
PROBE = re.compile(r"/[^/]+/_stcore/(health|host-config)$")
AT_REST = """() => {
  const app = document.querySelector('[data-testid="stApp"]');
  return app && app.dataset.testScriptState === 'notRunning'
    && app.dataset.testConnectionState === 'CONNECTED'
    && document.querySelector('[data-testid="stMain"] h1, [data-testid="stException"]')
    && !document.querySelector('[data-testid="stSkeleton"], [data-testid="stSpinner"], [data-stale="true"]')
    && [...document.querySelectorAll('[data-testid="stVegaLiteChart"]')].every(box => box.querySelector('svg, canvas'));
}"""
STILL = """() => document.getAnimations().every(one =>
  one.playState !== 'running' || one.effect.getComputedTiming().iterations === Infinity)"""
TALL = """() => Math.ceil(document.querySelector('[data-testid="stMain"]').scrollHeight)"""
OVERFLOWS = """() => {
  const main = document.querySelector('[data-testid="stMain"]');
  const scrolls = element => element !== main && ['auto', 'scroll'].includes(getComputedStyle(element).overflowX);
  const excess = element => {
    for (let up = element.parentElement; up && up !== main; up = up.parentElement) if (scrolls(up)) return 0;
    const box = element.getBoundingClientRect();
    return box.width && box.height ? Math.max(box.right - innerWidth, -box.left) : 0;
  };
  return Math.ceil(Math.max(0, ...[...main.querySelectorAll('*')].map(excess)));
}"""

CUT_OFF = """() => [...document.querySelectorAll('[data-testid="stVegaLiteChart"] svg')].flatMap(svg => {
  const figure = svg.getBoundingClientRect();
  const beyond = box => Math.max(figure.left - box.left, box.right - figure.right,
                                 figure.top - box.top, box.bottom - figure.bottom);
  return [...svg.querySelectorAll('text')]
    .filter(text => text.textContent.trim() && beyond(text.getBoundingClientRect()) > 3).map(text => text.textContent);
})"""


@dataclass
class Visit:
    """A page in a browser; `errors` are console errors and uncaught exceptions, `foreign` requests to other hosts."""

    page: Page
    server: str
    errors: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.errors.append(f"uncaught: {error}"))
        self.page.on("request", self._request)
        self.page.on("websocket", lambda socket: self._address(socket.url))

    def _console(self, message: ConsoleMessage) -> None:
        where = message.location.get("url", "")
        if message.type == "error" and not PROBE.search(urlsplit(where).path):
            self.errors.append(f"{message.text} ({where})")

    def _request(self, request: Request) -> None:
        self._address(request.url)

    def _address(self, url: str) -> None:
        parts = urlsplit(url)
        if parts.scheme not in {"data", "blob", "about"} and parts.netloc != urlsplit(self.server).netloc:
            self.foreign.append(url)

    def open(self, path: str, lang: str = "en", **query: str) -> "Visit":
        """Goes to a page in a language, with further keys of the link, and waits until Streamlit rests."""
        self.page.goto(f"{self.server}/{path}?{urlencode({'lang': lang, **query})}")
        return self.rest()

    def rest(self, seconds: float = 60) -> "Visit":
        """Waits until the script has ended, nothing is stale or spinning, and fonts are there."""
        self.page.wait_for_function(AT_REST, timeout=seconds * 1000)
        self.page.evaluate("document.fonts.ready.then(() => true)")
        return self

    def resize(self, width: int, height: int = 720) -> "Visit":
        """The same page in a window of another size, at rest again."""
        self.page.set_viewport_size({"width": width, "height": height})
        return self.rest()

    def shoot(self, name: str) -> None:
        """Takes a picture of the whole page, to be looked at, where `SHOTS=1` asks for it; Streamlit scrolls inside, so the
        window grows."""
        if os.environ.get("SHOTS") != "1":
            return
        SHOTS.mkdir(exist_ok=True)
        size, path = self.page.viewport_size or {"width": 1280, "height": 720}, SHOTS / f"{name}.png"
        self.resize(size["width"], max(size["height"], self.page.evaluate(TALL)))
        self.page.screenshot(path=path)
        self.resize(size["width"], size["height"])

    def cut_off(self) -> list[str]:
        """Words of figures that stand outside their figure, where they cannot be read."""
        return list(self.page.evaluate(CUT_OFF))

    def overflow(self) -> int:
        """By how many pixels something on the page reaches out of the window, boxes that scroll by themselves aside, once
        figures are drawn anew for its width."""
        for _ in range(20):
            if (found := int(self.page.evaluate(OVERFLOWS))) <= 0:
                return found
            self.page.wait_for_timeout(100)
        return found


def complaints(visit: Visit) -> Iterator[str]:
    """What must not be on any page: errors in the console, requests to other hosts, a red box, other than one h1."""
    yield from (f"console: {error}" for error in visit.errors)
    yield from (f"foreign request: {url}" for url in visit.foreign)
    for box in visit.page.get_by_test_id("stException").all():
        yield f"exception on screen: {box.inner_text()[:500]}"
    headings = visit.page.locator("h1").all_inner_texts()
    if len(headings) != 1:
        yield f"{len(headings)} h1 instead of one: {headings}"


def barriers(visit: Visit) -> list[str]:
    """What axe calls serious or critical: the rule, the place, the reason, once colors have come to rest."""
    visit.page.wait_for_function(STILL)
    found = Axe().run(visit.page).response["violations"]
    grave = [violation for violation in found if violation["impact"] in {"serious", "critical"}]
    return [f"{v['id']}: {node['html'][:160]} {node['failureSummary']}" for v in grave for node in v["nodes"]]
