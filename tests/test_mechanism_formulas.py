"""What is written and drawn of small attention: formulas say what is computed, pictures are drawn, and no word is a command."""

import math
import re

import numpy as np
import pandas as pd
import pytest
import torch

from core.mechanism import self_attention
from core.models.scores import SCORES
from dashboard.axes import to_spec
from dashboard.link import LANGUAGES
from dashboard.mechanism import examples, formulas, picture, scaling, six, steps, vectors
from dashboard.mechanism.keys import KEYS, LAST_STEP
from dashboard.mechanism.numbers import Table
from dashboard.theme import Look

WORDS, KEYS_2 = ("dog", "a_b"), [(1.0, -2.0), (0.5, 0.0)]


def test_a_dot_product_is_written_out() -> None:
    written = formulas.dot_products(WORDS, (3.0, 0.5), KEYS_2, [2.0, 1.5])
    assert r"s_{\text{dog}} &= 3\cdot1 + 0.5\cdot(-2) = 2.00" in written
    assert r"s_{2} &= 3\cdot0.5 + 0.5\cdot0 = 1.50" in written


@pytest.mark.parametrize("word", [r"\input{x}", "a_b", "x$y", "{", "%", "a b", "", "longerthanten1"])
def test_no_word_becomes_a_command(word: str) -> None:
    assert formulas.named([word]) == ["1"]


@pytest.mark.parametrize(("word", "name"), [("slow", r"\text{slow}"), ("예쁜", r"\text{예쁜}"), ("7", r"\text{7}")])
def test_plain_words_stand_in_formulas(word: str, name: str) -> None:
    assert formulas.named([word]) == [name]


@pytest.mark.parametrize(
    ("number", "written"),
    [(2.0, "2.00"), (-0.001, "0.00"), (-1.5, "-1.50"), (123456.0, r"1.2\cdot 10^{5}"), (1e87, r"1.0\cdot 10^{87}")],
)
def test_results_are_short(number: float, written: str) -> None:
    assert formulas.rounded(number) == written


def test_every_step_has_its_numbers() -> None:
    """Query (0, 2), keys (0, 0) and (1, ln 3 / 2): scores 0 and ln 3, weights 1/4 and 3/4."""
    table = Table(("a", "b"), ((0.0, 0.0, 4.0, 0.0), (1.0, math.log(3) / 2, 0.0, 8.0)))
    found = steps.asked(table, (0.0, 2.0))
    assert found.scores == pytest.approx([0.0, math.log(3)]) and found.weights == pytest.approx([0.25, 0.75])
    assert found.powers == pytest.approx([1.0, 3.0]) and found.most == 1
    written = formulas.softmax(table.words, found.powers, found.weights, 1.0)
    assert r"3.00 \,/\, 4.00 = 0.75" in written and "T = 1" in written
    total = formulas.weighted_sum(table.words, found.weights, found.values, found.found.context[0].tolist())
    assert r"0.75 \cdot (0,\,8) &= (0.00,\,6.00)" in total and r"c &= (1.00,\,6.00)" in total


@pytest.mark.parametrize("temperature", [float(code) for code in KEYS["temperature"]])
def test_the_largest_numbers_can_still_be_written(temperature: float) -> None:
    found = steps.asked(Table(("a", "b"), ((5.0, 5.0, 1.0, 1.0), (-5.0, -5.0, 0.0, 0.0))), (5.0, 5.0), temperature)
    assert all(map(math.isfinite, (*found.powers, *found.weights)))
    assert not re.search("nan|inf", formulas.softmax(("a", "b"), found.powers, found.weights, temperature))


@pytest.mark.parametrize("name", SCORES)
@pytest.mark.parametrize("lang", LANGUAGES)
def test_what_is_written_of_a_score_is_what_is_computed(name: str, lang: str) -> None:
    """The right side of each line, evaluated as arithmetic, is the number that stands behind the equals sign."""
    table, query = examples.review(lang), examples.QUERY
    scores = six.all_scores(table, query)[name]
    written = formulas.by_score(name, table.words, query, [row[:2] for row in table.rows], scores.tolist())
    lines = [line for line in written.removesuffix(r"\end{aligned}").split(r"\\") if r"s_{\text" in line]
    assert len(lines) == len(table.words)
    for line, score in zip(lines, scores.tolist(), strict=True):
        assert arithmetic(line.split("&=")[1].rsplit("=", 1)[0]) == pytest.approx(score, abs=0.02)


def arithmetic(text: str) -> float:
    """The value of the small part of LaTeX that the formulas use."""
    text = (
        text.replace(r"\cdot", "*")
        .replace(r",\,", ",")
        .replace(r"\tanh", "tanh")
        .replace(r"\cos", "cos")
        .replace(")tanh", ")*tanh")
    )
    text = re.sub(r"(\d)\s*tanh", r"\1*tanh", text)

    def cos(one: tuple[float, float], other: tuple[float, float]) -> float:
        return float(np.dot(one, other) / (np.linalg.norm(one) * np.linalg.norm(other)))

    return float(eval(text, {"__builtins__": {}}, {"tanh": math.tanh, "cos": cos}))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_examples_show_what_they_are_made_for(lang: str) -> None:
    table = examples.review(lang)
    found = steps.asked(table, examples.QUERY)
    assert table.words[found.most] in ("lovely", "예쁜")
    words, scores = examples.source(lang)
    assert words.count(examples.SOUGHT[lang]) == 2 and len(words) + 6 <= LAST_STEP + 1
    assert (scores == 3).sum() == 2 and set(scores.tolist()) == {0.0, 1.0, 3.0}
    for case in examples.DOUBTS.values():
        assert sum(case.weights) == pytest.approx(1.0) and len(case.words[lang]) == len(case.weights)
        assert picture.deciding(case) != int(np.argmax(case.weights))
        assert case.values[picture.deciding(case)] * np.dot(case.weights, case.values) > 0


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_two_heads_find_what_they_ask_for(lang: str) -> None:
    table = examples.sentence(lang)
    weights = self_attention(torch.tensor(table.rows, dtype=torch.float64), examples.heads()).weights
    thing, action, pointer = (next(i for i, row in enumerate(table.rows) if row[f]) for f in range(3))
    assert weights[0, thing].argmax() == action and weights[0, action].argmax() == thing
    assert weights[1, pointer].argmax() == thing and weights[1, thing].argmax() == pointer
    assert weights[:, 0].tolist() == [[0.25] * 4] * 2  # the first word asks nothing


WEIGHTS = np.array([0.6, 0.001, 0.3, 0.099])


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ("largest", [1, 0.001 / 0.6, 0.5, 0.165]),
        ("whole", [0.6, 0.001, 0.3, 0.099]),
        ("log", [1 + math.log10(0.6) / 3, 0.0, 1 + math.log10(0.3) / 3, 1 + math.log10(0.099) / 3]),
        ("rank", [1, 0.25, 0.75, 0.5]),
    ],
)
def test_one_attention_on_four_scales(scale: str, expected: list[float]) -> None:
    assert picture.pictured(WEIGHTS, scale) == pytest.approx(expected)


def test_weights_of_zero_have_no_logarithm_and_no_colour() -> None:
    assert picture.pictured(np.array([1.0, 0.0]), "log") == [1.0, 0.0]


@pytest.mark.parametrize(("end", "angle"), [((0.0, 1.0), 0), ((1.0, 0.0), 90), ((0.0, -1.0), 180), ((-1.0, 0.0), 270)])
def test_arrowheads_point_along_their_arrows(end: tuple[float, float], angle: int) -> None:
    frame = vectors.arrows([("a", (0.0, 0.0), end, True)])
    assert vectors.turned(next(frame.itertuples())) % 360 == pytest.approx(angle)


@pytest.mark.parametrize("look", [Look(), Look("dark", 16), Look("light", 24, True)])
def test_charts_are_specifications(look: Look) -> None:
    lines = [("query", (0.0, 0.0), (0.0, 2.0), True), ("nothing", (0.0, 0.0), (0.0, 0.0), False)]
    plane = to_spec(vectors.plane(vectors.arrows(lines), x="x", y="y", alt_text="two", look=look))
    assert plane["description"] == "two" and "angle" in str(plane)
    bars = pd.DataFrame({"position": [0, 1], "word": ["a", "b"], "value": [0.25, 0.75], "plain": [0.5, 0.5]})
    shares = to_spec(vectors.shares(bars, ["a", "b"], x="weight", alt_text="shares", before="plain", look=look))
    assert "plain" in str(shares["layer"][-1])
    found = scaling.measured("4", "0")
    data = pd.DataFrame({"x": found["dimension"], "series": found["scaled"].map(str)})
    data = data.assign(mean=found["variance_mean"], low=found["variance_low"], high=found["variance_high"])
    assert "'log'" in str(to_spec(vectors.by_dimension(data, x="d", y="v", alt_text="lines", log=True, look=look)))


def test_the_table_of_dimensions_is_whole() -> None:
    found = scaling.measured("10", "3")
    assert len(found) == 2 * len(scaling.DIMENSIONS) and not found.isna().any().any()
    assert scaling.of(found, 512, "largest") > 0.8 > 0.5 > scaling.of(found, 512, "largest", scaled=True)
