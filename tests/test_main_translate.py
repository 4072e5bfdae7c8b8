"""`python -m core translate`: tokens, output and weights fit together; what cannot be translated is refused in one line."""

import pytest

from core.models import translator
from tests.test_main import ask, refused

__all__ = ["ask", "refused"]
DATES, GERMAN = "dates/gru-additive", "multi30k/gru-additive"
needs_dates = pytest.mark.skipif(DATES not in translator.cards(), reason="no translator of dates: make models")
needs_german = pytest.mark.skipif(GERMAN not in translator.cards(), reason="no translator of captions: make models")


@needs_dates
@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("3rd of March 1998", "1998-03-03"),
        ("1998년 3월 3일", "1998-03-03"),
        ("'98. 3. 3.", "1998-03-03"),
        ("December the thirty-first, 1999", "1999-12-31"),
        ("서기 2024년 시월 9일", "2024-10-09"),
    ],
)
def test_dates_become_iso(ask, text: str, iso: str) -> None:
    answer = ask("translate", "--model", DATES, "--text", text)
    assert answer["text"] == iso == "".join(answer["output"])
    assert "".join(answer["tokens"]) == text and answer["cut"] == 0 and answer["notes"] == []
    assert len(answer["attention"]) == len(answer["output"])
    for row in answer["attention"]:
        assert len(row) == len(answer["tokens"]) and sum(row) == pytest.approx(1, abs=1e-4)


@needs_dates
def test_the_last_digit_of_the_day_looks_at_the_day(ask) -> None:
    answer = ask("translate", "--model", DATES, "--text", "17 March 1998")
    last = answer["attention"][-1]
    assert answer["tokens"][last.index(max(last))] == "7"


@needs_dates
def test_nonsense_is_answered_with_notes(ask) -> None:
    answer = ask("translate", "--model", DATES, "--text", "-", stdin="😀 <b>안녕</b> ".encode() * 20)
    assert answer["cut"] > 0 and len(answer["tokens"]) == len(answer["attention"][0])
    assert any("no digit" in note for note in answer["notes"]) and any("does not know" in note for note in answer["notes"])


@needs_german
def test_a_caption_becomes_german(ask) -> None:
    answer = ask("translate", "--model", GERMAN, "--text", "Two dogs run through the snow.")
    assert answer["tokens"][-1] == "." and answer["text"].startswith("Zwei Hunde") and "Schnee" in answer["text"]
    assert len(answer["attention"]) == len(answer["output"]) > 4


@needs_dates
def test_its_weights_are_made_equal_or_dealt_out_anew(ask) -> None:
    asked = ("translate", "--model", DATES, "--text", "17 March 1998", "--weights")
    own, uniform, shuffled = (ask(*asked, name) for name in ("own", "uniform", "shuffled"))
    assert all(weight == pytest.approx(1 / len(uniform["tokens"]), abs=1e-6) for row in uniform["attention"] for weight in row)
    assert sorted(shuffled["attention"][0]) == pytest.approx(sorted(own["attention"][0]), abs=1e-6)
    assert shuffled["attention"][0] != own["attention"][0]


@needs_dates
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--model", "dates/gru-hard", "--text", "1 May 2001"), "dates/gru-additive"),
        (("--model", DATES, "--text", "   "), "blank"),
        (("--model", "sst2/bilstm-additive", "--text", "A good film"), "no translator"),
        (("--model", DATES), "--text"),
    ],
)
def test_what_cannot_be_translated_is_refused(refused, arguments: tuple[str, ...], said: str) -> None:
    assert said in refused("translate", *arguments)


def test_a_training_that_is_no_training_is_refused(refused) -> None:
    assert "ATTENTION in" in refused("train", "multi30k/gru-hard")


@needs_dates
def test_translators_are_among_the_models(ask) -> None:
    found = {model["name"]: model for model in ask("models")["models"]}
    assert found[DATES]["kind"] == "translation" and found[DATES]["test"]["exact"] > 0.98
    assert found[DATES]["labels"] == []
