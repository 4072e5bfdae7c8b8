"""The link: what is read is what was written, and nothing that a person can put into an address breaks a page."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.types import Card, Task
from dashboard import link
from dashboard.link import Link

LABELS = {"sst2": ("negative", "positive"), "nsmc": ("negative", "positive"), "snli": ("entailment", "neutral")}
SAMPLES = {"sst2": ("review-01", "review-02"), "nsmc": ("ko-01",), "snli": ("pair-01",)}
OWN_KEYS = {"agreement_graph": ("cut", "uncut")}


def card(name: str) -> Card:
    data = name.split("/")[0]
    task = Task(data, "nli" if data == "snli" else "classification", LABELS[data])
    counts = {"embedding_dim": 3, "hidden_dim": 5, "layers": 1, "heads": 1, "parameters": 7, "max_tokens": 11, "seed": 0}
    hashes = {"vocabulary": data, "vocabulary_sha256": "", "weights_sha256": ""}
    made = {"encoder": "average", "score": "additive", "normalizer": "softmax", "terms": "", "test": {}, "training": {}}
    return Card(name=name, task=task, **counts, **hashes, **made)


NAMES = ("nsmc/bilstm-additive", "snli/average-additive", "sst2/bilstm-additive")
CARDS = {name: card(name) for name in NAMES}


def samples(model: str) -> tuple[str, ...]:
    return SAMPLES[model.split("/")[0]]


def read(codes: dict[str, str], locale: str | None = "en-US", before: Link | None = None) -> tuple[Link, list[str]]:
    found, notes = link.read(codes, locale=locale, cards=CARDS, samples=samples, own_keys=OWN_KEYS, before=before)
    return found, [f"{note.code}:{note.values.get('key', '')}" for note in notes]


def test_an_empty_link_is_the_default_and_says_nothing() -> None:
    found, notes = read({})
    assert found == Link("en", "study", "sst2/bilstm-additive", sample="review-01")
    assert notes == []


@pytest.mark.parametrize(("locale", "lang"), [("ko-KR", "ko"), ("ko", "ko"), ("de-DE", "en"), ("", "en"), (None, "en")])
def test_language_comes_from_the_browser_first(locale: str | None, lang: str) -> None:
    assert read({}, locale)[0].lang == lang
    assert read({"lang": "en"}, locale)[0].lang == "en"


def test_korean_opens_with_the_korean_model() -> None:
    assert read({"lang": "ko"})[0].model == "nsmc/bilstm-additive"


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("lang", "xx"),
        ("mode", "cinema"),
        ("model", "sst2/nothing"),
        ("target", "maybe"),
        ("seed", "-1"),
        ("seed", "1e3"),
        ("seed", "٣"),
        ("seed", "99999999999999999999"),
        ("text", "sample:review-99"),
        ("agreement_graph", "glued"),
    ],
)
def test_an_unknown_value_is_named_and_replaced(key: str, value: str) -> None:
    found, notes = read({key: value})
    assert notes == [f"unknown_in_link:{key}"]
    assert replace(found, keys={}) == read({})[0]
    assert found.keys.get(key, "cut") == "cut"


def test_a_note_says_what_was_given_what_is_used_and_what_is_allowed() -> None:
    _, notes = link.read({"mode": "cinema"}, locale="en", cards=CARDS, samples=samples)
    assert dict(notes[0].values) == {"key": "mode", "given": "cinema", "allowed": ("study", "lecture"), "used": "study"}
    assert "cinema" in notes[0].sentence and "lecture" in notes[0].sentence


@pytest.mark.parametrize(
    "now",
    [
        Link("ko", "lecture", "nsmc/bilstm-additive", sample="ko-01", target="positive", seed=3),
        Link("en", "study", "sst2/bilstm-additive", sample="review-02"),
        Link("en", "study", "sst2/bilstm-additive", sample="review-01", own="a <b>bold</b> & 기쁜 film\n😀"),
        Link("en", "study", "sst2/bilstm-additive", sample="review-01", own=""),
        Link("en", "study", "snli/average-additive", sample="pair-01", own="A dog runs.", query="An animal moves."),
        Link("en", "study", "sst2/bilstm-additive", sample="review-01", keys={"agreement_graph": "uncut"}),
    ],
)
def test_what_was_written_is_read_again(now: Link) -> None:
    assert read(link.write(now, "agreement")) == (now, [])


def test_language_mode_model_and_text_are_always_written() -> None:
    assert link.write(read({})[0]) == {
        "lang": "en",
        "mode": "study",
        "model": "sst2/bilstm-additive",
        "text": "sample:review-01",
    }


def test_a_page_writes_its_own_keys_only() -> None:
    now = replace(read({})[0], keys={"agreement_graph": "uncut", "trained_adversary_lambda": "1"})
    assert "agreement_graph" in link.write(now, "agreement")
    assert "agreement_graph" not in link.write(now, "")
    assert "trained_adversary_lambda" in link.write(now, "trained-adversary")


def test_a_long_text_stays_in_the_session_and_the_link_names_a_sample() -> None:
    now = replace(read({})[0], own="x" * (link.LONGEST + 1))
    assert link.write(now)["text"] == "sample:review-01"
    assert not link.carried(now)
    assert link.carried(replace(now, own="x" * link.LONGEST))
    moved_to_another_page = read({}, before=now)
    assert moved_to_another_page == (now, [])


def test_a_long_text_in_a_link_is_cut_and_said() -> None:
    found, notes = read({"text": "y" * 301})
    assert found.own == "y" * 300
    assert notes == ["long_in_link:"]


@pytest.mark.parametrize(("text", "kept"), [("a moving " * 34, "a moving " * 33 + "a"), ("x" * 299 + " yy", "x" * 299)])
def test_a_text_that_is_cut_keeps_whole_words(text: str, kept: str) -> None:
    assert read({"text": text})[0].own == kept


def test_an_own_text_that_looks_like_a_sample_is_not_taken_for_one() -> None:
    now = replace(read({})[0], own="sample: a film")
    assert link.write(now)["text"] == "sample:review-01"


def test_missing_codes_keep_what_was_chosen_before() -> None:
    before = Link("ko", "lecture", "snli/average-additive", sample="pair-01", own="p", query="h", target="neutral", seed=5)
    assert read({}, before=before) == (before, [])
    assert read({"lang": "en"}, before=before)[0] == replace(before, lang="en")


def test_the_back_button_leads_to_defaults_too() -> None:
    whole = {"lang": "en", "mode": "study", "model": "snli/average-additive", "text": "sample:pair-01"}
    keys = {"agreement_graph": "uncut", "trained_adversary_lambda": "1"}
    before = Link("en", "study", whole["model"], sample="pair-01", target="neutral", seed=5, keys=keys)
    written = link.write(before, "agreement")
    back = link.left(before, written, whole)
    assert (back.target, back.seed, back.keys) == ("", 0, {"trained_adversary_lambda": "1"})
    assert link.left(before, written, {}) == link.left(before, written, {"lang": "ko"}) == before
    assert link.left(before, written, written) == before


def test_another_model_in_the_link_lets_the_old_target_and_sample_go() -> None:
    before = Link("en", "study", "snli/average-additive", sample="pair-01", target="neutral")
    found, notes = read({"model": "sst2/bilstm-additive"}, before=before)
    assert (found.target, found.sample, notes) == ("", "review-01", [])


def test_moving_to_another_model_keeps_what_suits_it() -> None:
    now = Link("en", "study", "sst2/bilstm-additive", sample="review-02", own="fine", target="positive")
    suits = link.moved(now, "nsmc/bilstm-additive", lambda _, __: True, samples)
    assert (suits.own, suits.sample, suits.target) == ("fine", "ko-01", "")
    other = link.moved(now, "snli/average-additive", lambda _, __: False, samples)
    assert (other.own, other.sample, other.query) == (None, "pair-01", "")


def test_no_model_at_all_leaves_an_empty_name() -> None:
    found, _ = link.read({}, locale="en", cards={}, samples=samples)
    assert (found.model, found.sample) == ("", "")


def test_an_address_can_be_opened_again() -> None:
    from urllib.parse import parse_qsl, urlsplit

    now = Link("ko", "study", "sst2/bilstm-additive", sample="review-01", own="좋은 & <영화> #1")
    address = link.address(now, "agreement", "http://host:1/")
    assert address.startswith("http://host:1/agreement?")
    assert read(dict(parse_qsl(urlsplit(address).query))) == (now, [])


KEYS = st.sampled_from(["lang", "mode", "model", "text", "query", "target", "seed", "agreement_graph", "other_key"])


@given(st.dictionaries(KEYS, st.text(max_size=400)))
def test_any_codes_give_a_link_that_can_be_written_and_read(codes: dict[str, str]) -> None:
    found, _ = read(codes)
    assert found.lang in link.LANGUAGES and found.mode in link.MODES and found.model in CARDS
    assert found.sample in samples(found.model)
    again, notes = read(link.write(found))
    assert notes == []
    assert again == found
