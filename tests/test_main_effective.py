"""`python -m core effective`: the part of each head's attention that its output can see."""

import numpy as np
import pytest

from core.__main__ import main
from core.models import registry

MODEL, OTHER = "sst2/self-attention", "sst2/bilstm-additive"
REVIEW = "A quiet , good film that nobody saw , and not a dull minute in it ."
pytestmark = pytest.mark.skipif(MODEL not in registry.cards(), reason="no trained models: make models")


@pytest.fixture
def effective(answer):
    """What a call prints, parsed."""
    return lambda text, stdin=b"": answer("effective", "--model", MODEL, "--text", text, stdin=stdin)


def test_every_head_is_answered(effective):
    found, n = effective(REVIEW), len(REVIEW.split())
    attention, weights = np.array(found["attention"]), np.array(found["weights"])
    assert found["tokens"] == REVIEW.split() and found["cut"] == 0 and found["head_size"] == 8
    assert attention.shape == weights.shape == (1, 8, n, n)
    np.testing.assert_allclose(attention.sum(-1), 1)
    assert found["rank"] == [[8] * 8] and found["free"] == [[n - 9] * 8]
    share = ((attention - weights) ** 2).sum((-1, -2)) / (attention**2).sum((-1, -2))
    np.testing.assert_allclose(found["invisible"], share, atol=1e-12)
    assert sum(found["prediction"].values()) == pytest.approx(1) and set(found["prediction"]) == {"negative", "positive"}


@pytest.mark.parametrize("text", ["good", "good film", "a film that nobody saw", "🙂🙂 good", "فيلم جميل", "<b>good</b>"])
def test_short_and_strange_texts_hide_nothing(effective, text):
    found = effective(text)
    assert found["weights"] == found["attention"] and set(found["invisible"][0]) == {0} and set(found["free"][0]) == {0}


def test_standard_input_is_read_and_long_text_cut(effective):
    assert effective("-", stdin=b"a good film")["tokens"] == ["a", "good", "film"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--model", OTHER, "--text", REVIEW), "self-attention"),
        (("--model", MODEL, "--text", "  "), "blank"),
        (("--model", MODEL, "--text", REVIEW, "--query", "why ?"), "no query"),
        (("--model", "sst2/none", "--text", REVIEW), MODEL),
        (("--model", MODEL), "--text"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_one_line(capsys, arguments, says):
    assert main(("effective", *arguments)) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and says in err
