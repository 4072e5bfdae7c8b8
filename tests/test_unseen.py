"""What the identifiability page shows, as plain values: heads on one text, walks, and a test set by hand."""

import dataclasses
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
import torch

from core.models import own
from core.models.self_attention import NAME, SelfAttention
from core.models.text_model import fresh
from core.models.transformer import Transformer
from core.reading import Reading
from dashboard import resources, texts, unseen
from dashboard.unseen import Head, Moved
from tests import tiny
from tests.small import WORDS, example, small_card, small_vocabulary

MODEL = f"sst2/{NAME}"
HEADS, HEAD_SIZE = 3, 2
CARD = dataclasses.replace(small_card(score="scaled-dot"), name=MODEL, encoder=NAME, hidden_dim=HEADS * HEAD_SIZE, heads=HEADS)
LANGUAGES = ("en", "ko")


def model() -> SelfAttention:
    made = fresh(SelfAttention, CARD, small_vocabulary(), 3, 0.8)
    with torch.no_grad():
        made.value.bias.normal_(generator=torch.Generator().manual_seed(3))
    return made.requires_grad_(False)


def reading(n: int) -> Reading:
    return Reading(example(" ".join(WORDS[i % len(WORDS)] for i in range(n))), 0, ())


def found(n: int = 11, head: int = 2) -> Head:
    return unseen.seen(model(), reading(n), layer=1, head=head)


def walked(step: float, n: int = 11, word: int = 4) -> Moved:
    made = unseen.moved(model(), reading(n), layer=1, head=2, word=word, step=step)
    assert made is not None
    return made


def test_a_head_is_told_in_plain_values() -> None:
    one = found()
    assert (one.rank, one.free, one.head_size, one.head) == (HEAD_SIZE, 11 - HEAD_SIZE - 1, HEAD_SIZE, 2)
    assert one.shares[1] == one.invisible and len(one.shares) == HEADS
    assert one.attention.shape == one.effective.shape == (11, 11)
    assert one.most == one.attention.sum(0).argmax()
    assert sum(one.prediction.values()) == pytest.approx(1)


def test_long_texts_are_drawn_in_part_and_computed_whole() -> None:
    one = found(unseen.SHOWN + 7)
    assert one.attention.shape == (unseen.SHOWN, unseen.SHOWN) and one.free == unseen.SHOWN + 7 - HEAD_SIZE - 1
    assert (one.attention.sum(-1) < 1).all()
    assert walked(1.0, n=unseen.SHOWN + 7, word=unseen.SHOWN + 2).attention.shape == (unseen.SHOWN, unseen.SHOWN)


def test_a_walk_changes_the_map_and_nothing_else() -> None:
    ahead, still, back = walked(1.0), walked(0.0), walked(-1.0)
    assert ahead.after > ahead.before > back.after >= 0
    assert ahead.before == still.before == still.after and still.rows == 0
    assert ahead.rows > 0.01 and back.rows > 0.01
    for one in (ahead, still, back):
        assert one.tvd < 1e-12 and one.logit < 1e-12
        assert one.largest >= max(ahead.attention.max(), still.attention.max(), back.attention.max()) - 1e-12
    assert ahead.largest == back.largest


@pytest.mark.parametrize("n", [1, 2, 3])
def test_where_nothing_is_free_nothing_moves(n: int) -> None:
    assert found(n).free == 0
    assert unseen.moved(model(), reading(n), layer=1, head=1, word=0, step=1.0) is None


def test_the_scale_covers_both_maps() -> None:
    one, change = found(), walked(1.0)
    assert unseen.largest(one, None) == max(one.attention.max(), np.abs(one.effective).max())
    assert unseen.largest(one, change) == max(unseen.largest(one, None), change.largest)


def test_words_are_named_by_their_places() -> None:
    one = found()
    assert unseen.word_of("most", one) == one.most
    assert unseen.word_of("11", one) == 10
    assert unseen.word_of("12", one) is None


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("n", "key"), [(1, "full"), (2, "full"), (3, "one_short"), (11, "unseen")])
def test_the_reading_suits_the_rank(n: int, key: str, lang: str) -> None:
    t, one = texts.page("identifiability", lang), found(n)
    values = {"n": n, "rank": one.rank, "size": HEAD_SIZE, "free": one.free, "share": unseen.percent(one.invisible)}
    assert unseen.reading_of(t, one) == t(f"reading.{key}", **values)
    assert (one.invisible == 0) == (key == "full")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_walk_is_told_with_its_numbers(lang: str) -> None:
    one, change = found(), walked(0.5)
    said = unseen.moving(texts.page("identifiability", lang), one, change, 4)
    best = max(one.prediction.values())
    assert f"{best:.6f}" in said and f"{change.after:.2f}" in said and "< 10⁻¹²" in said and one.words[4] in said


@pytest.mark.parametrize(("value", "said"), [(0.0, "< 10⁻¹²"), (3e-16, "< 10⁻¹²"), (4e-12, "< 10⁻⁹"), (0.25, "0.250")])
def test_rounding_is_called_so(value: float, said: str) -> None:
    assert unseen.small(value) == said


@pytest.mark.parametrize(("value", "said"), [(0.0, "0.000"), (2e-5, "< 0.001"), (0.0006, "0.001"), (0.25, "0.250")])
def test_a_little_is_not_nothing(value: float, said: str) -> None:
    assert unseen.moved_by(value) == said


@pytest.mark.parametrize(("share", "said"), [(0.0, "0"), (0.004, "0.4"), (0.28, "28"), (0.996, "100")])
def test_percent(share: float, said: str) -> None:
    assert unseen.percent(share) == said


@pytest.fixture
def run_over_five(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Five sentences of 1 to 12 words, heads of size 2."""
    shares = {unseen.column(1, head): [0.0, 0.0, 0.1 * head, 0.2, 0.3] for head in range(1, HEADS + 1)}
    table = pd.DataFrame({"n_words": [1, 2, 3, 9, 12], **shares}).astype(dict.fromkeys(shares, "float32"))
    monkeypatch.setattr(resources, "results", lambda name, model: table)
    monkeypatch.setattr(resources, "cards", lambda: {MODEL: CARD})
    yield


def test_tokens_are_counted_where_they_are_not_the_words(run_over_five: None, monkeypatch: pytest.MonkeyPatch) -> None:
    table = resources.results("identifiability", MODEL)
    assert unseen.lengths(MODEL).tolist() == [1, 2, 3, 9, 12] and unseen.longer(MODEL) == 3
    monkeypatch.setattr(resources, "results", lambda name, model: table.assign(n_tokens=table["n_words"] + 2))
    assert unseen.lengths(MODEL).tolist() == [3, 4, 5, 11, 14] and unseen.longer(MODEL) == 5


def test_heads_of_several_layers_are_named_by_both() -> None:
    assert unseen.named(CARD, 1, 3) == "3" and unseen.named(dataclasses.replace(CARD, layers=2), 2, 3) == "2.3"


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Transformer:
    return own.load(str(tiny.save(tmp_path_factory.mktemp("models") / "bert")))


@pytest.mark.parametrize("layer", [1, 2])
def test_a_head_of_a_transformer_is_walked_and_all_layers_above_follow(bert: Transformer, layer: int) -> None:
    """Heads of size 4, and 9 words between special tokens."""
    text = Reading(example("nobody saw the film nobody saw the unkind film"), 0, ())
    one = unseen.seen(bert, text, layer=layer, head=3)
    assert one.words[0] == "[CLS]" and len(one.words) == 12 and (one.name, one.rank, one.free) == (f"{layer}.3", 4, 7)
    change = unseen.moved(bert, text, layer=layer, head=3, word=5, step=1.0)
    assert change is not None and change.rows > 0.005 and change.tvd < 1e-9 and change.logit < 1e-9
    assert change.after > change.before


def test_a_test_set_by_length(run_over_five: None) -> None:
    points = unseen.by_length(MODEL, "1", "3")
    assert points["length"].tolist() == [1, 2, 3, 9, 12]
    assert points["value"].tolist() == pytest.approx([0, 0, 0.3, 0.2, 0.3])
    means = unseen.means(MODEL, "1", "3")
    assert means["n"].sum() == 5 and means["length"].is_monotonic_increasing


def test_heads_are_compared_on_what_is_longer_than_they_are(run_over_five: None) -> None:
    table = unseen.heads(MODEL, "1")
    assert table["group"].tolist() == [1, 2, 3] and table["n"].tolist() == [3, 3, 3]
    assert table["mean"].tolist() == pytest.approx([0.2, 0.7 / 3, 0.8 / 3])
    assert (table["low"] <= table["mean"]).all() and (table["mean"] <= table["high"]).all()
