"""One palette for words, charts, pages and files: ink on paper, colour only for a weight, a sign or a side.

Weights are cividis whose low end fades into the page, so that more weight is always more contrast with the page. Signed
scores run from purple (lowers) to orange (raises) around a neutral middle. Colours of HTML are written as CSS
`light-dark(a, b)` pairs, which follow a theme switch without a rerun; charts cannot do that and take a `Look`.
`.streamlit/config.toml` repeats these colours for Streamlit's own widgets, and a test holds the two equal.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

Mode = Literal["light", "dark"]
Side = Literal["charge", "defence"]

FAMILIES = "Pretendard, Noto Sans KR, Noto Sans CJK KR, Apple SD Gothic Neo, Malgun Gothic, sans-serif"
FONTS = Path(__file__).parent / "static" / "fonts"
BLACK_ABOVE = 0.179  # relative luminance at which black and white are equally readable (4.58:1)


@dataclass(frozen=True)
class Palette:
    """The colours of one mode as "#RRGGBB"; `seq` and `div` are ten stops each, from least to most."""

    page: str
    ink: str
    muted: str
    line: str
    panel: str
    charge: str
    defence: str
    raises: str
    lowers: str
    caution: str
    holds: str
    accent: str
    seq: tuple[str, ...]
    div: tuple[str, ...]


LIGHT = Palette(
    page="#FFFFFF", ink="#1B2430", muted="#5B6573", line="#D5DAE1", panel="#F4F5F7", charge="#B42E3E",
    defence="#0F6A9A", raises="#B35806", lowers="#6B3FA0", caution="#8A6100", holds="#2F7D32", accent="#1B2430",
    seq=("#F6F5F1", "#F1ECCE", "#DFD8B5", "#C0BA9E", "#969285", "#707173", "#575D6D", "#3B496C", "#123570", "#00224E"),
    div=("#4A2A78", "#6B4C9F", "#9480BE", "#C3B8DC", "#F1EFF5", "#F9F3EA", "#F3CD9F", "#DD9447", "#B96A17", "#8A4700"),
)  # fmt: skip
DARK = Palette(
    page="#12161C", ink="#E8EBEF", muted="#A3ADBA", line="#333C48", panel="#1B212A", charge="#FF8A80",
    defence="#6AC6F0", raises="#F2A65A", lowers="#B79BE8", caution="#E9C46A", holds="#81C784", accent="#A9BACD",
    seq=("#1B212A", "#19263B", "#2B354A", "#474D5B", "#6E6F71", "#8A8678", "#A59C74", "#C3B369", "#E1CC55", "#FEE838"),
    div=("#CDB7F2", "#A98BDD", "#8467B8", "#54447A", "#252936", "#2B2A28", "#6A4B26", "#B07A37", "#DE9A4C", "#FFC07A"),
)  # fmt: skip
PALETTES: dict[Mode, Palette] = {"light": LIGHT, "dark": DARK}
SEQUENTIAL: dict[Mode, tuple[str, ...]] = {"light": LIGHT.seq, "dark": DARK.seq}
DIVERGING: dict[Mode, tuple[str, ...]] = {"light": LIGHT.div, "dark": DARK.div}


@dataclass(frozen=True)
class Look:
    """How a figure is drawn: mode, base font size in pixels, and whether for a file (opaque page, own width)."""

    mode: Mode = "light"
    base: int = 13
    export: bool = False

    @property
    def palette(self) -> Palette:
        """The colours of its mode."""
        return PALETTES[self.mode]

    def px(self, length: float) -> float:
        """A length given for a base font of 13 px, grown with the base font."""
        return round(length * self.base / 13, 2)

    def area(self, size: float) -> float:
        """The size of a point in square pixels, grown likewise."""
        return round(size * (self.base / 13) ** 2, 1)


SCREEN = Look()
PRINT = Look("light", 13, export=True)
SLIDE = Look("light", 24, export=True)


def channels(color: str) -> tuple[int, int, int]:
    """Red, green and blue of "#RRGGBB", each 0 to 255."""
    return int(color[1:3], 16), int(color[3:5], 16), int(color[5:7], 16)


def luminance(color: str) -> float:
    """Relative luminance, 0 to 1 (WCAG 2.2)."""
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in channels(color))]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio, 1 to 21 (WCAG 2.2)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def interpolate(stops: tuple[str, ...], at: float) -> str:
    """The colour at `at` (clipped to 0..1) between evenly spaced stops, linear in sRGB as in CSS and Vega."""
    place = min(max(at, 0.0), 1.0) * (len(stops) - 1)
    low = min(int(place), len(stops) - 2)
    pairs = zip(channels(stops[low]), channels(stops[low + 1]), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * (place - low)):02X}" for a, b in pairs)


def ramp(weight: float, mode: Mode = "light") -> str:
    """The colour of a weight in 0..1 (1: the largest of its scale)."""
    return interpolate(SEQUENTIAL[mode], weight)


def diverging(value: float, mode: Mode = "light") -> str:
    """The colour of a signed score in -1..1: purple lowers, orange raises, 0 is neutral."""
    return interpolate(DIVERGING[mode], (value + 1) / 2)


def text_on(color: str) -> str:
    """Black or white, whichever reads on `color`; at least 4.58:1 on any colour."""
    return "#000000" if luminance(color) > BLACK_ABOVE else "#FFFFFF"


def css_pair(light: str, dark: str) -> str:
    """A CSS colour that follows the mode without a rerun."""
    return light if light == dark else f"light-dark({light},{dark})"


def css_gradient(stops: dict[Mode, tuple[str, ...]]) -> str:
    """A CSS gradient from the least to the most, in both modes."""
    pairs = (css_pair(a, b) for a, b in zip(stops["light"], stops["dark"], strict=True))
    return f"linear-gradient(90deg,{','.join(pairs)})"


def side_color(side: Side | None, palette: Palette) -> str:
    """The side's colour; muted for those on no side."""
    return palette.charge if side == "charge" else palette.defence if side == "defence" else palette.muted


def stylesheet(language: str = "en", lecture: bool = False) -> str:
    """The page's one `<style>` element: the palette and the sizes of language and mode as variables, then style.css."""
    names = ("page", "ink", "muted", "line", "panel", "charge", "defence", "caution", "holds")
    colors = "".join(f"--{n}:{css_pair(getattr(LIGHT, n), getattr(DARK, n))};" for n in names)
    korean = language == "ko"
    sizes = {
        "leading": "1.7" if korean else "1.55",
        "heading-leading": "1.35" if korean else "1.25",
        "tracking": "-0.02em" if korean else "-0.015em",
        "word": "1.19rem" if lecture else "1.0625rem",
        "page-width": "86rem" if lecture else "78rem",
        "below-title": "0.75rem" if lecture else "0",
    }
    root = ":root{font-size:clamp(17px,1.05vw,24px)}" if lecture else ""
    variables = "".join(f"--{name}:{value};" for name, value in sizes.items())
    css = (Path(__file__).parent / "style.css").read_text(encoding="utf-8")
    return f"<style>{root}.stApp{{{colors}{variables}}}\n{css}</style>"


def altair_theme(mode: Mode, base: int = 13, export: bool = False) -> dict[str, Any]:
    """The Vega-Lite configuration of every chart, so that screen and file are one specification."""
    p, look = PALETTES[mode], Look(mode, base)
    font = {"labelFontSize": base, "titleFontSize": base, "labelColor": p.muted, "titleColor": p.ink}
    return {
        "background": p.page if export else "transparent",
        "padding": 16 if export else 2,
        "view": {"stroke": None},
        "font": FAMILIES,
        "axis": {**font, "labelFontWeight": 400, "titleFontWeight": 500, "gridColor": p.line, "domain": False,
                 "ticks": False, "labelPadding": 6, "titlePadding": 8, "labelLimit": look.px(160)},
        "axisX": {"grid": False, "domain": True, "domainColor": p.muted, "titleAnchor": "start"},
        "axisY": {"grid": False, "titleAngle": 0, "titleAlign": "left", "titleAnchor": "end", "titleY": -look.px(10)},
        "legend": {**font, "orient": "top", "direction": "horizontal", "symbolSize": look.area(90),
                   "labelLimit": look.px(220), "gradientLength": 140,
                   "gradientThickness": 10, "offset": 6, "padding": 0, "columnPadding": 4},
        "title": {"fontSize": base + 1, "fontWeight": 600, "color": p.ink, "anchor": "start", "offset": 8,
                  "subtitleColor": p.muted, "subtitleFontSize": base},
        "header": {"labelFontSize": base, "labelFontWeight": 600, "labelColor": p.ink, "labelAnchor": "start"},
        "range": {"category": [p.charge, p.defence, p.muted, p.ink], "ramp": list(p.seq), "heatmap": list(p.seq),
                  "diverging": list(p.div)},
        "bar": {"color": p.muted},
        "line": {"strokeWidth": look.px(2), "color": p.ink},
        "point": {"size": look.area(90), "filled": True, "color": p.ink},
        "rule": {"color": p.ink, "strokeWidth": look.px(2)},
        "text": {"color": p.ink, "fontSize": base},
        "rect": {"stroke": p.page, "strokeWidth": 1},
    }  # fmt: skip
