"""Words: Penn Treebank conventions by hand, and two laws for any text (splitting twice is splitting once; nothing blank)."""

import time
import unicodedata

import pandas as pd
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from core import data
from core.text import digest, words

PIECES = ["a", "n't", "'s", "'", "-", ".", "-LRB-", "ol'", "3", ",", "`", "!", "?", "_", "~", " ", "\t", "\x00", "\u200d"]
PIECES += [
    "\u0301",
    "\ufe0f",
    "👍",
    "🏽",
    "🇰",
    "🇷",
    "1️⃣",
    "ع",
    "가",
    "\u1100",
    "\u1161",
    "\u3164",
    "한",
    "ที่",
    "कि",
    "’",
    "\u200b",
    "\ud800",
]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't like it.", "I do n't like it ."),
        ("It's Ann's, can't you see?", "It 's Ann 's , ca n't you see ?"),
        (
            "They’ve said we’ll go; you’re late, I’d wait, I’m here",
            "They 've said we 'll go ; you 're late , I 'd wait , I 'm here",
        ),
        ("shouldn't've", "should n't 've"),
        ("WON'T", "WO N'T"),
        ("a feel-good film, 3.5 stars, 1,000 seats", "a feel-good film , 3.5 stars , 1,000 seats"),
        ("o'clock d'etre the '70s ol' rock 'n' roll", "o'clock d'etre the '70s ol' rock 'n' roll"),
        ("the parents' house", "the parents ' house"),
        ("-LRB- yes -RRB- -lsb-", "( yes ) ["),
        ("Wait... what?! No--never", "Wait ... what ?! No -- never"),
        ("the U.S. economy", "the U.S. economy"),
        ("<script>alert(1)</script>", "< script > alert ( 1 ) < / script >"),
        ("<unk> <pad>", "< unk > < pad >"),
        ("이 영화, 정말 재미있어요!", "이 영화 , 정말 재미있어요 !"),
        ("별로ㅋㅋㅋ^^", "별로ㅋㅋㅋ ^^"),
    ],
)
def test_words_by_hand(text: str, expected: str) -> None:
    assert words(text) == tuple(expected.split())


def test_tokenised_treebank_sentence_is_unchanged() -> None:
    sentence = "it 's n't `` fun '' , but -- as they 'd say -- 10,000 '80s films ca n't be !"
    assert words(sentence) == tuple(sentence.split())


@pytest.mark.parametrize(
    "sign", ["👍🏽", "👩‍💻", "👩🏾‍❤️‍👩🏻", "🇰🇷", "❤️", "1️⃣", "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"]
)
def test_an_emoji_is_one_word(sign: str) -> None:
    assert words(f"so{sign}{sign} good") == ("so", sign, sign, "good") if sign != "1️⃣" else words(sign * 2) == (sign, sign)


def test_two_flags_side_by_side() -> None:
    assert words("🇰🇷🇺🇸") == ("🇰🇷", "🇺🇸")


@pytest.mark.parametrize("word", ["किताब", "مُحَمَّد", "ที่นี่", "한국어", "naïve", "Ελλάδα", "日本語"])
def test_marks_stay_with_their_letters(word: str) -> None:
    assert words(f"({word})") == ("(", word, ")")


def test_composed_and_without_invisible_characters() -> None:
    assert words("cafe\u0301") == ("café",)
    assert words("\u1112\u1161\u11ab") == ("한",)
    assert words("a\x00b\u200ec\ufeff\ud800") == ("abc",)
    assert words("a\u200bb\x1fc\u00a0d\u2028e") == ("a", "b", "c", "d", "e")
    assert words(" \n\t\u200d\ufe0f\u3164 ") == ()


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES), max_size=12).map("".join)))
@settings(max_examples=600, deadline=None)
def test_splitting_twice_is_splitting_once(text: str) -> None:
    once = words(text)
    assert words(" ".join(once)) == once
    assert all(word and not any(c.isspace() for c in word) for word in once)


@given(st.text(alphabet=st.characters(categories=["L", "Nd", "P", "Zs"], exclude_characters="’‘ʼ＇"), max_size=30))
def test_no_visible_character_is_lost(text: str) -> None:
    kept = regex.sub(r"[\s\p{Default_Ignorable_Code_Point}]", "", unicodedata.normalize("NFC", text))
    if regex.search(r"(?i)-[lr][rsc]b-", kept):
        return
    assert regex.sub(r"\p{Default_Ignorable_Code_Point}", "", "".join(words(text))) == kept


@pytest.mark.parametrize("piece", ["don't stop ", "a-", "n't", "a.", "1,", "👍\u200d", "🇰", "'", "\u0301", "a'"])
def test_time_grows_with_the_length_only(piece: str) -> None:
    start = time.process_time()
    words(piece * 20_000 + "bb")
    assert time.process_time() - start < 2  # a quadratic pattern takes minutes


def test_digest_is_fixed() -> None:
    assert digest("") == 0xE3B0C44298FC1C14  # the first eight bytes of the published SHA-256 of nothing


@pytest.mark.data
@pytest.mark.parametrize("split", data.SPLITS)
def test_every_sentence_of_sst_is_unchanged(split: str) -> None:
    sentences = pd.read_parquet(data.data_root() / "sst2" / f"{split}.parquet")["sentence"]
    assert [s for s in sentences if words(s) != tuple(s.split())] == []
