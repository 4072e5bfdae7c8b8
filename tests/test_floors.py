"""Floors of the committed variants, by the tables of their test sets: what the lessons promise of these models holds."""

import pandas as pd
import pytest

from core import experiments
from core.models import registry

REVIEWS, BIOGRAPHIES = "sst2/bilstm-additive", "pronoun/bilstm-additive"


def table(name: str, model: str) -> pd.DataFrame:
    if not experiments.path_of(name, model).exists():
        pytest.skip("no results: make results")
    return experiments.results(name, model).set_index("variant")


def test_a_committed_adversary_looks_far_elsewhere_and_loses_little() -> None:
    """Mean JSD above 0.4, and less than three points of accuracy below its base."""
    found = table("trained-adversary", REVIEWS)
    base = registry.cards()[REVIEWS].test["accuracy"]
    kept = found[(found["kind"] == "adversary") & found.index.isin(registry.cards()) & (found["jsd"] > 0.4)]
    assert len(kept) and float((base - kept["accuracy"]).min()) < 0.03


def test_the_deceptive_bilstm_answers_as_well_and_hides_the_pronouns() -> None:
    found = table("deception", BIOGRAPHIES)
    hiding = found[found["kind"] == "deceptive"]
    assert set(hiding.index) <= set(registry.cards()) and len(hiding) == 2
    assert hiding["accuracy"].min() > 0.97 and hiding["mass"].max() < 0.01
    assert hiding["without_marked"].min() > 0.4 > 0.01 > hiding["without_others"].max()
