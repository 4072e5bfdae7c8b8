"""Words with weights: nothing a user writes becomes markup, nothing is merged or sorted, undefined is never zero."""

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard import tokens
from dashboard.theme import ramp
from dashboard.tokens import Legend, Marks, Row, Tau

WORDS = ["very", "very", ",", "good"]
WEIGHTS = [0.1, 0.2, None, 0.4]


class Page(HTMLParser):
    """Tags, attributes and text of a piece of HTML, and whether every tag is closed in order."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {k: v or "" for k, v in attrs}))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def cells(self) -> list[dict[str, str]]:
        return [a for tag, a in self.tags if tag == "bdi"]


def strips(rows: list[Row], words: list[str], **settings: object) -> Page:
    return Page(tokens.strips_html(rows, words, **settings))  # type: ignore[arg-type]


def test_every_word_is_its_own_box_in_the_order_of_the_text() -> None:
    page = strips([Row("Attention", [0.1, 0.2, 0.3, 0.4]), Row("Gradient", [1, 2, 3, 4])], WORDS)
    assert [t for t in page.texts if t in WORDS] == WORDS * 2
    images = [a for _, a in page.tags if a.get("role") == "img"]
    assert images[0]["aria-label"] == "Attention: very 0.10, very 0.20, , 0.30, good 0.40"
    assert all(a["translate"] == "no" and a["lang"] == "en" for a in images) and len(images) == 2


def test_a_row_is_scaled_by_its_own_largest_weight_unless_shared() -> None:
    rows = [Row("a", [0.1, 0.2]), Row("b", [0.5, 1.0])]
    own = [a["style"] for a in strips(rows, ["x", "y"]).cells()]
    assert own[0] == own[2] and own[1] == own[3] and ramp(1.0) in own[1]
    shared = [a["style"] for a in strips(rows, ["x", "y"], shared=True).cells()]
    assert ramp(0.2) in shared[1] and ramp(0.5) in shared[2] and ramp(1.0) in shared[3]


def test_undefined_is_hatched_with_a_dash_and_said() -> None:
    page = strips([Row("Gradient", WEIGHTS)], WORDS, numbers=True, undefined="not defined")
    undefined = page.cells()[2]
    assert "undefined" in undefined["class"].split() and "style" not in undefined
    assert [t for t in page.texts if t in ("0.10", "0.20", "–", "0.40")] == ["0.10", "0.20", "–", "0.40"]
    assert ", not defined" in next(a["aria-label"] for _, a in page.tags if "aria-label" in a)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_what_is_not_a_number_is_undefined(bad: float) -> None:
    page = strips([Row("g", [0.5, bad])], ["a", "b"], numbers=True)
    assert "undefined" in page.cells()[1]["class"] and "nan" not in "".join(page.texts) and "inf" not in page.texts


def test_all_zero_and_no_words_are_drawn() -> None:
    assert all(ramp(0) in a["style"] for a in strips([Row("a", [0.0, 0.0])], ["x", "y"]).cells())
    assert strips([Row("a", [])], []).cells() == []


def test_states_of_words() -> None:
    marks = Marks(selected={0}, forbidden={1}, masked={2}, special={3})
    cells = strips([Row("a", [1.0, 1.0, 1.0, 1.0])], WORDS, marks=marks).cells()
    assert [a["class"] for a in cells] == ["cell selected", "cell forbidden", "cell masked", "cell special"]
    assert ["style" in a for a in cells] == [True, True, False, False]


def test_a_strip_may_strike_out_words_of_its_own() -> None:
    rows = [Row("first", [0.1, 0.2, 0.7], masked={1}), Row("second", [0.1, 0.2, 0.7], masked={0, 2})]
    states = [a["class"] for a in strips(rows, ["a", "quiet", "film"], marks=Marks(masked={2})).cells()]
    assert states == ["cell", "cell masked", "cell masked", "cell masked", "cell", "cell masked"]


def test_words_have_one_width_in_all_strips_with_numbers() -> None:
    page = strips([Row("a", [0.1, 0.2]), Row("b", [-12.345, 0.1], signed=True, decimals=3)], ["x", "y"], numbers=True)
    grid = page.tags[0][1]
    assert grid["class"] == "strips numbers" and grid["style"] == "--digits:3.64em"  # seven characters of −12.345


def test_rows_that_do_not_fit_the_words_are_refused() -> None:
    with pytest.raises(ValueError, match="'a' has 1 weights for 2 words"):
        tokens.strips_html([Row("a", [0.1])], ["x", "y"])


def test_agreement_stands_beside_its_strip() -> None:
    page = strips([Row("a", [1.0], note="Kendall"), Row("b", [1.0], tau=Tau(-0.5, -1.5, 0.0, "n = 9"))], ["x"])
    text = "".join(page.texts)
    assert "Kendall" in text and "−0.50" in text and "−1.50 – 0.00" in text and "n = 9" in text
    styles = [a["style"] for _, a in page.tags if "left:" in a.get("style", "")]
    assert styles == ["left:0.0%;width:50.0%", "left:25.0%"]  # the interval is cut at -1, the dot is a quarter in


def test_an_undefined_agreement_has_no_dot() -> None:
    page = Page(tokens.tau_html(Tau(None, text="all equal")))
    assert page.texts[0] == "–" and "all equal" in page.texts and not any("left:" in a.get("style", "") for _, a in page.tags)


@pytest.mark.parametrize(
    ("value", "decimals", "sign", "text"),
    [
        (-0.0, 2, False, "0.00"),
        (-0.004, 2, True, "0.00"),
        (-0.25, 2, False, "−0.25"),
        (0.25, 3, True, "+0.250"),
        (None, 2, False, "–"),
        (float("nan"), 2, False, "–"),
        (10.0, 0, False, "10"),
    ],
)
def test_numbers(value: float | None, decimals: int, sign: bool, text: str) -> None:
    assert tokens.number(value, decimals, sign) == text


any_text = st.text(alphabet=st.characters(exclude_categories=()), max_size=30)


@settings(max_examples=150, deadline=None)
@given(st.lists(any_text, max_size=6), any_text)
def test_no_text_becomes_markup(words: list[str], label: str) -> None:
    rows = [Row(label, [0.5] * len(words), label, note=label, tau=None)]
    pieces = [
        tokens.strips_html(rows, words, language=label, numbers=True),
        tokens.legend_html([Legend(label, label), Legend(label, label, True)], label),
        tokens.tau_html(Tau(0.1, 0.0, 0.2, label)),
        tokens.prediction_html(label, label, 0.5, label),
        tokens.kicker_html("charge", label),
        tokens.argument_html("defence", label, label),
        tokens.veil_html(label),
        tokens.big_number_html(label, label),
        tokens.pairs_html(label, [(label, label, 0.5)]),
        tokens.lede_html(label),
    ]
    for piece in pieces:
        allowed = {"div", "span", "bdi", "b", "i", "p", "table", "caption", "tbody", "tr", "td"}
        page = Page(piece)
        assert {tag for tag, _ in page.tags} <= allowed
        names = {name for _, a in page.tags for name in a}
        assert names <= {"class", "style", "title", "role", "aria-label", "aria-hidden", "lang", "translate", "dir"}


def test_a_script_stays_text() -> None:
    html = tokens.strips_html([Row("<img src=x>", [1.0])], ['"><script>alert(1)</script>'])
    assert "<script" not in html and "<img" not in html and "&lt;script&gt;" in html


def test_controls_and_nothing_stay_visible() -> None:
    assert tokens.readable("a\x00b") == "a□b" and tokens.readable("") == tokens.readable(" ") == "\u00a0"


def test_words_alike_are_told_apart_by_their_turn() -> None:
    words = ["good", "bad", "good", ""]
    assert [tokens.nth(words, place) for place in range(4)] == ["good (1)", "bad", "good (2)", "\u00a0"]


def test_a_strip_of_arabic_runs_from_the_right() -> None:
    page = strips([Row("a", [1.0, 0.5])], ["مرحبا", "hi"], language="ar")
    assert [a.get("dir") for _, a in page.tags if a.get("role") == "img"] == ["rtl"]
    page = strips([Row("a", [1.0])], ["hello"])
    assert [a.get("dir") for _, a in page.tags if a.get("role") == "img"] == [None]


def test_the_legend_names_both_ends_and_what_is_undefined() -> None:
    legends = [Legend("0", "largest"), Legend("− lowers", "+ raises", signed=True)]
    page = Page(tokens.legend_html(legends, "undefined"))
    assert page.texts == ["0", "largest", "− lowers", "+ raises", "undefined"]
    gradients = [a["style"] for _, a in page.tags if a.get("class") == "gradient"]
    assert [g.count("light-dark") for g in gradients] == [10, 10] and gradients[0] != gradients[1]


def test_a_figure_without_names_has_no_column_for_them() -> None:
    assert strips([Row("", [1.0])], ["a"]).tags[0][1]["class"] == "strips bare"
    assert strips([Row("x", [1.0], note="n")], ["a"]).tags[0][1]["class"] == "strips beside"


def test_sides_come_with_their_class() -> None:
    assert Page(tokens.kicker_html("defence", "x")).tags[0][1]["class"] == "kicker defence"
    assert Page(tokens.argument_html(None, "x", "y")).tags[0][1]["class"] == "argument neutral"
    bar = [a["style"] for _, a in Page(tokens.prediction_html("p", "x", 1.2)).tags if a.get("style")]
    assert bar == ["width:100.0%"]


def test_the_table_says_the_same_in_numbers() -> None:
    frame = tokens.table([Row("Attention", WEIGHTS), Row("Loss", [1, 2, 3, 4])], WORDS, position="#", word="단어")
    assert list(frame.columns) == ["#", "단어", "Attention", "Loss"]
    assert list(frame["단어"]) == WORDS and list(frame["#"]) == [1, 2, 3, 4]
    assert frame["Attention"].isna().tolist() == [False, False, True, False] and frame["Attention"][3] == 0.4
