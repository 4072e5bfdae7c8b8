"""`python -m core adversary`: other attention with nearly the same prediction, checked against what `tensors` writes."""

import math

import numpy as np
import pytest
from safetensors.torch import load_file

from core.__main__ import main

MODEL = "sst2/bilstm-additive"
REVIEW = "A quiet , good film that nobody saw , and not a dull minute in it ."
STORY = "Mary moved to the bathroom . John went to the hallway . Mary travelled to the office ."
LISTS = ("attention", "jsd", "tvd", "prediction")


@pytest.fixture
def ask(answer):
    """What a call prints, parsed."""

    def asked(*arguments: str, text: str = REVIEW, model: str = MODEL, stdin: bytes = b"") -> dict:
        found = answer("adversary", "--model", model, "--text", text, *arguments, stdin=stdin)
        assert found["model"] == model and all(isinstance(note, str) for note in found["notes"])
        return found

    return asked


@pytest.fixture
def refused(capsys):
    """The one line that a refused call prints."""

    def refusal(*arguments: str) -> str:
        assert main(("adversary", *arguments)) == 2
        out, err = capsys.readouterr()
        assert out == "" and err.count("\n") == 1 and "Traceback" not in err
        return err.strip()

    return refusal


def divergence(a: list[float], b: list[float]) -> float:
    """JSD in nats, written out."""
    both = [(x + y) / 2 for x, y in zip(a, b, strict=True)]

    def kl(p: list[float]) -> float:
        return sum(x * math.log(x / m) for x, m in zip(p, both, strict=True) if x > 0)

    return (kl(a) + kl(b)) / 2


def test_one_adversary_comes_in_lists_of_one(ask):
    found = ask()
    n = len(REVIEW.split())
    assert found["tokens"] == REVIEW.split() and len(found["original"]) == n
    assert [len(found[name]) for name in LISTS] == [1, 1, 1, 1]
    assert len(found["attention"][0]) == n and sum(found["attention"][0]) == pytest.approx(1)
    assert sum(found["original"]) == pytest.approx(1)
    assert found["exact"] is True and found["upper_bound"] == pytest.approx(found["jsd"][0])
    assert sum(weight > 0 for weight in found["attention"][0]) <= 2
    assert 0 <= found["tvd"][0] <= 0.01 + 1e-9
    assert set(found["prediction"][0]) == {"negative", "positive"}


def test_the_numbers_are_those_of_the_written_tensors(ask, tmp_path, capsys):
    """Prediction, TVD and JSD follow from attention, states and decoder alone."""
    found = ask("--k", "3", "--epsilon", "0.05")
    assert main(("tensors", "--model", MODEL, "--text", REVIEW, "--out", str(tmp_path / "t"))) == 0
    capsys.readouterr()
    held = {name: value.double().numpy() for name, value in load_file(tmp_path / "t").items()}

    def prob(attention: list[float]) -> np.ndarray:
        logits = held["decoder.weight"] @ (np.array(attention) @ held["states"]) + held["decoder.bias"]
        odds = np.exp(logits - logits.max())
        return odds / odds.sum()

    own = prob(found["original"])
    assert found["original"] == pytest.approx(held["attention"].tolist(), abs=1e-6)
    for attention, jsd, tvd, prediction in zip(*(found[name] for name in LISTS), strict=True):
        assert list(prediction.values()) == pytest.approx(prob(attention).tolist(), abs=1e-5)
        assert tvd == pytest.approx(abs(prob(attention) - own).sum() / 2, abs=1e-5)
        assert jsd == pytest.approx(divergence(attention, found["original"]), abs=1e-6)
        assert tvd <= 0.05 + 1e-9


def test_more_adversaries_come_best_first_and_the_first_stays(ask):
    one, five = ask(), ask("--k", "5")
    assert five["attention"][0] == one["attention"][0]
    assert five["jsd"] == sorted(five["jsd"], reverse=True) and len(five["attention"]) == 5
    assert any("greedily" in note for note in five["notes"])
    assert not any("greedily" in note for note in one["notes"])


def test_more_room_is_never_worse(ask):
    found = [ask("--epsilon", epsilon)["jsd"][0] for epsilon in ("0.001", "0.01", "0.2", "1")]
    assert found == sorted(found)


def test_the_search_is_seeded_and_never_better(ask):
    exact = ask()
    one, again, other = (ask("--method", "search", "--seed", seed) for seed in ("1", "1", "2"))
    assert one == again and one["attention"] != other["attention"]
    assert one["exact"] is False and one["jsd"][0] <= exact["jsd"][0] + 1e-9
    assert one["upper_bound"] == pytest.approx(exact["jsd"][0], abs=1e-6)
    assert any("promises nothing" in note for note in one["notes"])


def test_several_labels_have_a_bracket(ask):
    found = ask("--query", "Where is Mary ?", model="babi1/bilstm-additive", text=STORY)
    assert set(found["prediction"][0]) == {"mary", "john", "bathroom", "hallway", "office"}
    assert found["jsd"][0] <= found["upper_bound"] + 1e-12 <= math.log(2) + 1e-9
    assert 0.01 < found["epsilon"] == 0.05 and found["tvd"][0] <= 0.05 + 1e-9
    assert found["exact"] or any("not proven" in note for note in found["notes"])


def test_one_word_has_no_other_attention(ask):
    found = ask("--k", "2", text="good")
    assert found["attention"] == [[1.0], [1.0]] and found["tvd"] == pytest.approx([0, 0])
    assert found["jsd"] == pytest.approx([0, 0]) and any("One word" in note for note in found["notes"])


@pytest.mark.parametrize("text", ["qzxv wvqx", "🙂 🙂", "조용한 영화", "<b>good</b> film", "bad\x00good film", "good " * 40])
def test_any_text_is_answered_with_finite_numbers(ask, text):
    found = ask("--k", "2", text=text)
    weights = [weight for row in (found["original"], *found["attention"]) for weight in row]
    numbers = [*weights, *found["jsd"], *found["tvd"], found["upper_bound"]]
    assert all(math.isfinite(value) for value in numbers)


def test_standard_input_and_long_text(ask):
    assert ask(text="-", stdin=b"a good film")["tokens"] == ["a", "good", "film"]
    found = ask(text="good film and bad film " * 200)
    assert len(found["tokens"]) == 512 and any("1000" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--epsilon", "0"), "above 0"),
        (("--epsilon", "-0.1"), "above 0"),
        (("--epsilon", "1.5"), "at most 1"),
        (("--epsilon", "nan"), "at most 1"),
        (("--epsilon", "tiny"), "--epsilon"),
        (("--k", "0"), "20"),
        (("--k", "21"), "20"),
        (("--k", "two"), "--k"),
        (("--method", "guess"), "exact, search"),
        (("--seed", "-1"), "--seed"),
        (("--query", "why"), "no query"),
    ],
)
def test_what_is_out_of_range_is_refused(refused, arguments, says):
    assert says in refused("--model", MODEL, "--text", REVIEW, *arguments)


def test_what_cannot_be_read_is_refused(refused):
    assert "blank" in refused("--model", MODEL, "--text", " \n")
    assert MODEL in refused("--model", "sst2/nothing", "--text", "x")
    assert "question" in refused("--model", "babi1/bilstm-additive", "--text", STORY)
