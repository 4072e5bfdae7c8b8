"""Other seeds over a test set, parted by hand, and beside what was read off the paper."""

from collections.abc import Iterator

import pandas as pd
import pytest

from core import experiments
from core.types import Refusal
from dashboard import resources, seed_spread, texts
from tests.test_evidence import card

MODEL = seed_spread.MODEL
FRAME = pd.DataFrame(
    {
        "predicted": [0] * 11 + [1, 1],
        "max_attention": [0.2] * 10 + [0.8, 0.3, 0.25],
        "median_jsd": [0.01 * i for i in range(11)] + [0.2, 0.4],
        "adversary_jsd": [0.6] * 12 + [0.5],
        "seed_1:jsd": [0.1] * 13,
        "seed_1:tvd": [0.2] * 13,
        "seed_2:jsd": [0.3] * 13,
        "seed_2:tvd": [0.05] * 13,
    }
)


@pytest.fixture
def thirteen(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two further seeds were run over thirteen sentences."""
    frame = FRAME.copy()
    frame.attrs["provenance"] = {"seeds": [1, 2]}
    names = [MODEL, f"{MODEL}:seed=10", f"{MODEL}:seed=2", f"{MODEL}:uniform"]
    cards = {
        name: card(name, "classification", ("negative", "positive"), int(name.partition("seed=")[2] or 0)) for name in names
    }
    monkeypatch.setattr(resources, "results", lambda name, model: frame)
    monkeypatch.setattr(resources, "cards", lambda: cards)
    monkeypatch.setattr(resources, "table", lambda function, *names: function(*names))
    yield


def test_seeds_stand_in_their_order(thirteen: None) -> None:
    assert seed_spread.seeds(MODEL) == [f"{MODEL}:seed=2", f"{MODEL}:seed=10"]


def test_marks_by_hand(thirteen: None) -> None:
    table = seed_spread.marks(MODEL, "negative").set_index(["bin", "group"])
    assert table["n"].tolist() == [10, 10, 0, 0, 0, 0, 1, 1]
    assert table.loc[(0, "seeds"), "median"] == pytest.approx(0.045) and table.loc[(0, "adversary"), "median"] == 0.6
    assert table.loc[(3, "seeds"), "median"] == pytest.approx(0.1) and pd.isna(table.loc[(1, "seeds"), "median"])
    assert seed_spread.marks(MODEL, "positive")["n"].tolist() == [0, 0, 2, 2, 0, 0, 0, 0]


def test_small_groups_are_shown_one_by_one(thirteen: None) -> None:
    assert set(zip(*seed_spread.shapes(MODEL, "negative")[["bin", "group"]].T.values, strict=True)) == {
        (0, "seeds"),
        (0, "adversary"),
    }
    assert sorted(seed_spread.singles(MODEL, "positive")["x"]) == [0.2, 0.4, 0.5, 0.6]
    assert seed_spread.shapes(MODEL, "positive").empty


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_violins_are_in_the_readers_words(thirteen: None, lang: str) -> None:
    t = texts.page("variance", lang)
    data = seed_spread.violins(t, MODEL, "negative")
    assert list(data.groups) == [t("violins.seeds"), t("violins.adversary")]
    assert set(data.marks["group"]) == set(data.groups) and len(data.bins) == 4


def test_means_of_each_seed(thirteen: None) -> None:
    table = seed_spread.by_seed(MODEL)
    assert list(table["group"]) == ["1", "1", "2", "2", "adversary"] and list(table["series"]) == ["jsd", "tvd"] * 2 + ["jsd"]
    assert list(table["mean"].round(6)) == [0.1, 0.2, 0.3, 0.05, round((0.6 * 12 + 0.5) / 13, 6)]


def test_beside_what_was_read_off(thirteen: None) -> None:
    """The paper's distance of predictions is doubled, as it is half the total variation distance."""
    t = texts.page("variance", "en")
    table = seed_spread.printed(t, MODEL)
    assert list(table["SST, here"]) == ["0.100–0.300", "0.050–0.200", "0.592"]
    assert list(table["SST, read off"]) == ["0.040–0.085", "0.074–0.116", "0.380"]


def test_the_committed_table_can_be_shown() -> None:
    try:
        table = experiments.results("variance", MODEL)
    except Refusal:
        pytest.skip("not run: make results")
    counted = sum(seed_spread.marks(MODEL, label).query("group == 'seeds'")["n"].sum() for label in ("negative", "positive"))
    assert counted == len(table)
    assert table["median_jsd"].mean() < table["adversary_jsd"].mean() / 5
