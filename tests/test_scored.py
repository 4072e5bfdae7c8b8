"""Means over seeds and their differences: worked by hand, against scipy, and on tables that the tests make."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from core import experiments
from core.types import Refusal
from dashboard import resources, scored, texts

SST, NEWS, GUIDED = "sst2/bilstm-additive", "ag_news/bilstm-additive", "sst2/average-additive"
LEARNED, UNIFORM = [0.80, 0.82, 0.84], [0.70, 0.75, 0.74]


def rows(kind: str, value: str, normalizer: str, scores: list[float]) -> list[dict[str, object]]:
    return [{"kind": kind, "value": value, "normalizer": normalizer, "seed": i, "f1": f1} for i, f1 in enumerate(scores)]


NECESSITY = pd.DataFrame(rows("", "", "softmax", LEARNED) + rows("", "", "uniform", UNIFORM))
GUIDE = pd.DataFrame(
    rows("", "", "uniform", [0.81, 0.82])
    + rows("", "", "softmax", [0.80, 0.83])
    + rows("guide", "base", "softmax", [0.82, 0.82])
    + rows("guide", "adversary", "softmax", [0.60, 0.60])
)


@pytest.fixture
def three_seeds(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Two models were trained with and without attention; one token-wise model under every guide."""
    tables = {("necessity", SST): NECESSITY, ("necessity", NEWS): NECESSITY, ("guide", GUIDED): GUIDE}

    def results(name: str, model: str) -> pd.DataFrame:
        if (name, model) not in tables:
            raise Refusal("no_results", "not run", name=name, model=model)
        return tables[name, model]

    monkeypatch.setattr(resources, "results", results)
    monkeypatch.setattr(experiments, "done", lambda name: [model for experiment, model in tables if experiment == name])
    yield


def test_a_mean_over_seeds_by_hand() -> None:
    found = scored.over_seeds(LEARNED)  # s = 0.02, n = 3, t = 4.3027
    assert found["n"] == 3 and found["mean"] == pytest.approx(0.82)
    reach = 4.30265 * 0.02 / 3**0.5
    assert (found["low"], found["high"]) == pytest.approx((0.82 - reach, 0.82 + reach), abs=1e-6)


@pytest.mark.parametrize("n", [2, 5, 7])
def test_a_mean_over_seeds_is_that_of_scipy(n: int) -> None:
    values = np.random.default_rng(n).normal(size=n)
    theirs = stats.t.interval(0.95, n - 1, loc=values.mean(), scale=stats.sem(values))
    found = scored.over_seeds(list(values))
    assert (found["low"], found["high"]) == pytest.approx(theirs)


def test_one_seed_has_no_interval_and_none_no_mean() -> None:
    assert scored.over_seeds([0.7]) == {"mean": 0.7, "low": None, "high": None, "n": 1}
    assert scored.over_seeds([]) == {"mean": None, "low": None, "high": None, "n": 0}


def test_a_difference_by_hand() -> None:
    found = scored.gap(LEARNED, UNIFORM)
    assert found["mean"] == pytest.approx(0.09) and found["n"] == 3
    a, b = np.var(LEARNED, ddof=1) / 3, np.var(UNIFORM, ddof=1) / 3
    freedom = (a + b) ** 2 / (a**2 / 2 + b**2 / 2)  # Welch and Satterthwaite
    reach = stats.t.ppf(0.975, freedom) * (a + b) ** 0.5
    assert (found["low"], found["high"]) == pytest.approx((0.09 - reach, 0.09 + reach))


def test_a_difference_without_spread_has_no_interval() -> None:
    assert scored.gap([0.5, 0.5], [0.4, 0.4])["low"] is None
    assert scored.gap([0.5], [0.4, 0.3])["low"] is None
    turned = scored.gap(UNIFORM, LEARNED)
    assert turned["low"] == pytest.approx(-float(scored.gap(LEARNED, UNIFORM)["high"] or 0))


@pytest.mark.parametrize(
    ("key", "corpus", "value"),
    [
        ("reported", "Diabetes", 0.79),
        ("learned", "SST", 0.831),
        ("uniform", "20News", 0.934),
        ("guide:base", "IMDB", 0.905),
        ("guide:adversary", "SST", 0.592),
        ("guide:own", "AG News", None),
    ],
)
def test_published_figures_are_those_of_the_paper(key: str, corpus: str, value: float | None) -> None:
    assert scored.published(key, corpus) == value


def test_learned_and_uniform_beside_the_paper(three_seeds: None) -> None:
    table = scored.necessity()
    assert list(table["group"]) == ["SST", "SST", "AG News", "AG News"] and list(table["series"]) == ["learned", "uniform"] * 2
    assert list(table["published"]) == [0.831, 0.822, 0.964, 0.960]
    assert table.loc[1, "mean"] == pytest.approx(0.73)
    needed = scored.needed()
    assert list(needed["published"].round(3)) == [0.009, 0.004] and list(needed["mean"].round(3)) == [0.09, 0.09]


def test_guides_beside_the_paper(three_seeds: None) -> None:
    table = scored.guides(GUIDED).set_index("group")
    assert list(table.index) == list(scored.GUIDES) and list(table["n"]) == [2] * 4
    assert table.loc["own", "mean"] == pytest.approx(0.815) and table.loc["base", "published"] == 0.824
    gaps = scored.helped(GUIDED).set_index("group")
    assert list(gaps["published"].round(3)) == [0.012, 0.007, 0.232]
    assert gaps.loc["base-adversary", "mean"] == pytest.approx(0.22) and pd.isna(gaps.loc["base-adversary", "low"])


def test_the_noise_of_a_run_by_hand(three_seeds: None) -> None:
    """s² of the three honest guides: 0.00005, 0.00045, 0."""
    noise = scored.noise(GUIDED)
    reach = 1.959964 * (2 * (0.00005 + 0.00045) / 3) ** 0.5
    assert noise == {"reach": f"{reach:.3f}", "least": "0.005", "most": "0.012", "within": "3", "of": "3"}


def test_what_was_not_run_is_refused_and_printed_as_a_dash(three_seeds: None, monkeypatch: pytest.MonkeyPatch) -> None:
    t = texts.page("necessity", "en")
    table = scored.printed(t).set_index("Corpus")
    assert table.loc["Diabetes", "Here: learned"] == "–" and table.loc["Diabetes", "J&W, as reported"] == "0.79"
    assert table.loc["SST", "Here: uniform"].startswith("0.730") and "AG News\u2009†" in table.index
    monkeypatch.setattr(experiments, "done", lambda name: [])
    with pytest.raises(Refusal):
        scored.necessity()
    assert set(scored.printed(t)["Here: learned"]) == {"–"}


def test_axes_hold_what_is_shown() -> None:
    table = pd.DataFrame({"mean": [0.82], "low": [np.nan], "high": [np.nan], "published": [0.592]})
    assert scored.floor(table) == 0.5
    low, high = scored.around_zero(table.assign(mean=-0.02, published=0.03))
    assert low < -0.02 and high > 0.03
    assert scored.around_zero(table.assign(mean=0.0, published=0.0)) == (-0.01, 0.01)
