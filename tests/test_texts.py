"""The words of the pages: both languages say the same things, of a fitting length, and no value bends a Korean particle."""

import ast
import re
from pathlib import Path

import pytest

from dashboard import texts
from dashboard.lessons import PAGES
from dashboard.link import LANGUAGES
from dashboard.shell import name_of

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted(path.stem for path in (ROOT / "assets" / "texts" / "en").glob("*.toml"))
PARTICLES = "은|는|이|가|을|를|와|과|으로|로|이다|입니다|이며|이고|라는|이라는|라고|이라고"  # those with two forms
LONGEST = {"en": {"title": 60, "argument": 160}, "ko": {"title": 28, "argument": 160}}
LEDE = 120


@pytest.mark.parametrize("name", FILES)
def test_languages_have_the_same_keys(name: str) -> None:
    keys = {lang: set(texts.catalogue(name, lang)) for lang in LANGUAGES}
    assert keys["en"] == keys["ko"]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_file_is_missing_and_none_is_left_over(lang: str) -> None:
    there = {path.stem for path in (ROOT / "assets" / "texts" / lang).glob("*.toml")}
    assert there == {"common", "own_model", "sound", *map(name_of, PAGES)}


@pytest.mark.parametrize("name", FILES)
def test_sentences_want_the_same_values(name: str) -> None:
    english, korean = texts.catalogue(name, "en"), texts.catalogue(name, "ko")
    wanted = {key: (texts.placeholders(english[key]), texts.placeholders(korean[key])) for key in english}
    assert {key: both for key, both in wanted.items() if both[0] != both[1]} == {}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_nothing_is_blank(name: str, lang: str) -> None:
    assert [key for key, sentence in texts.catalogue(name, lang).items() if not sentence.strip()] == []


@pytest.mark.parametrize("name", FILES)
def test_sentences_are_translated(name: str) -> None:
    """A Korean sentence of several words holds Hangul, unless it names papers."""
    english, korean = texts.catalogue(name, "en"), texts.catalogue(name, "ko")
    same = [key for key in english if english[key] == korean[key]]
    words = {key: re.findall(r"[a-z]{4,}", re.sub(r"\{\w+\}", "", korean[key])) for key in same}
    assert [key for key in same if len(words[key]) > 1 and not re.search(r"\d{4}", korean[key])] == []


@pytest.mark.parametrize("name", FILES)
def test_no_particle_follows_a_value(name: str) -> None:
    """Which form a particle takes depends on the sound before it, which a value does not promise."""
    pattern = re.compile(rf"\}}[*”’\"')\]]*(?:{PARTICLES})(?![가-힣])")
    assert [key for key, sentence in texts.catalogue(name, "ko").items() if pattern.search(sentence)] == []


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_titles_and_boxes_fit(path: str, lang: str) -> None:
    words = texts.catalogue(name_of(path), lang)
    assert len(words["title"]) <= LONGEST[lang]["title"]
    assert len(words["lede"]) <= LEDE
    boxes = {key: len(text) for key, text in words.items() if key.startswith("argument.") and key != "argument.source"}
    assert {key: length for key, length in boxes.items() if length > LONGEST[lang]["argument"]} == {}


def asked(path: Path) -> set[str]:
    """Keys that a file asks its words for, where they are written out."""
    calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    named = [call for call in calls if getattr(call.func, "attr", getattr(call.func, "id", "")) == "t" and call.args]
    return {call.args[0].value for call in named if isinstance(call.args[0], ast.Constant)}


@pytest.mark.parametrize("path", PAGES)
def test_every_key_that_a_page_asks_for_is_there(path: str) -> None:
    words = texts.page(name_of(path), "en")
    assert sorted(key for key in asked(ROOT / "pages" / PAGES[path].file) if not words.has(key)) == []


REFUSE = (  # files whose refusals can reach a page
    "core/models/registry.py",
    "core/models/wordpieces.py",
    "core/reading.py",
    "core/planted.py",
    "core/experiments/tables.py",
    "dashboard/elsewhere.py",
)


def refused(path: Path) -> set[str]:
    """The codes of a file's refusals: what is handed first to `Refusal`, or to a function that makes one."""
    calls = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Call)]
    named = [call for call in calls if getattr(call.func, "id", "") in ("Refusal", "_damaged") and call.args]
    return {call.args[0].value for call in named if isinstance(call.args[0], ast.Constant)}


@pytest.mark.parametrize("file", REFUSE)
def test_every_refusal_that_can_reach_a_page_has_words_of_its_own(file: str) -> None:
    pages = [texts.page(name_of(path), "ko") for path in PAGES]
    codes = refused(ROOT / file)
    assert codes and {code for code in codes if not any(words.has(f"problem.{code}") for words in pages)} == set()


@pytest.mark.parametrize("module", ["shell", "controls", "exhibits", "evidence"])
def test_what_pages_share_asks_for_words_that_one_of_them_has(module: str) -> None:
    of_pages = {"title", "lede", "kicker", "nav"}
    pages = [texts.page(name_of(path), "en") for path in PAGES]
    keys = asked(ROOT / "dashboard" / f"{module}.py") - of_pages
    assert {key for key in keys if not any(words.has(key) for words in pages)} == set()


def test_a_page_comes_before_what_all_share() -> None:
    t = texts.page("home", "en")
    assert t("title") == texts.catalogue("home", "en")["title"]
    assert t("picker.model") == texts.catalogue("common", "en")["picker.model"]


def test_values_are_filled_in_by_name() -> None:
    t = texts.Texts("en", {"a": "{n} of {key}", "b": "{left} as it is"})
    assert t("a", n=3, key="five") == "3 of five"
    assert t("b") == "{left} as it is"


def test_labels_that_are_data_stay_as_they_are() -> None:
    assert texts.page("home", "ko").label("positive") == "긍정"
    assert texts.page("home", "ko").label("kitchen") == "kitchen"


@pytest.mark.parametrize(
    ("value", "said"), [(None, "p –"), (float("nan"), "p –"), (0.0004, "p < 0.001"), (0.0449, "p = 0.045"), (1.0, "p = 1.000")]
)
def test_p_values(value: float | None, said: str) -> None:
    assert texts.p_value(value) == said


def test_counts_have_commas() -> None:
    assert [texts.count(n) for n in (7, 1821, 1234567)] == ["7", "1,821", "1,234,567"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("![x](http://evil/x.png)", r"\!\[x\]\(http\://evil/x\.png\)"),
        ("two\nlines\x00 and\ttab", "two lines and tab"),
        ("<b> $x$ `c` :red[r]", r"\<b\> \$x\$ \`c\` \:red\[r\]"),
        ("한글은 그대로", "한글은 그대로"),
        ("a" * 100, "a" * 79 + "…"),
    ],
)
def test_what_a_reader_typed_is_no_markup(given: str, said: str) -> None:
    assert texts.plain(given) == said
