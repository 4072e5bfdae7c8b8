"""Tables of translators: links counted by hand, copying that learns, parts that are kept, and the page's frames of them."""

import json

import pandas as pd
import pytest
import torch

from core import copying
from core.experiments import alignment, describe, results
from core.experiments.tables import keep, path_of
from core.types import Pair, Refusal
from dashboard.alignment import measured, memory


def test_links_by_hand() -> None:
    """Five links, one of them beyond the sentence: the model finds two with three words, the diagonal three."""
    pair = Pair("1", ("a", "red", "dog", "runs"), ("ein", "Hund", "rennt"), ((0, 0), (2, 1), (1, 1), (3, 2), (9, 2)))
    row = alignment.linked(pair, [0, 2, 0, 3])
    assert row == {"links": 4, "dropped": 1, "words": 3, "found": 2, "diagonal_words": 3, "diagonal": 3}
    assert alignment.totals([row]) == {"precision": 2 / 3, "recall": 2 / 4, "aer": pytest.approx(1 - 4 / 7)}


def test_a_step_of_attention_reaches_what_recurrence_forgets() -> None:
    """Before training already: the first symbol's gradient is smaller in longer rows; weights of 1/n keep attention's share."""
    bare, looking = (copying.build(attention, 0) for attention in ("none", "additive"))
    ids = {n: copying.drawn(n, 16, torch.Generator().manual_seed(n)) for n in (5, 40)}
    assert copying.gradient(bare, ids[40]) < copying.gradient(bare, ids[5])
    assert 1 / 16 < copying.gradient(looking, ids[40]) / copying.gradient(looking, ids[5]) < 1 / 3


def test_the_gradient_is_that_of_a_finite_difference() -> None:
    model = copying.build("additive", 1).double().requires_grad_(False)
    ids = copying.drawn(4, 1, torch.Generator().manual_seed(0))

    def logit(nudge: torch.Tensor) -> torch.Tensor:
        first = model.states(ids)[0] + nudge
        states = [first]
        for embedding in model.embedding(ids).unbind(1)[1:]:
            states.append(model.gru(embedding, states[-1]))
        return model(ids, states)[0][0, 0, ids[0, 0]]

    step = 1e-6
    slopes = [(logit(step * e[None]) - logit(-step * e[None])) / (2 * step) for e in torch.eye(copying.DIM).double()]
    model.requires_grad_(True)
    assert copying.gradient(model, ids) == pytest.approx(float(torch.stack(slopes).norm()), rel=1e-5)


def test_copying_is_learned_and_depends_on_the_seed_alone() -> None:
    model = copying.trained("additive", 0, steps=150, longest=5)
    found = copying.reach(model, 5, 50)
    assert found.symbols > 2 / copying.SYMBOLS
    assert copying.reach(copying.trained("additive", 0, steps=5, longest=5), 5, 20) == copying.reach(
        copying.trained("additive", 0, steps=5, longest=5), 5, 20
    )


def test_parts_that_are_there_are_not_made_again(tmp_path, monkeypatch) -> None:
    made: list[str] = []

    def part(name: str, fail: bool = False):
        def rows():
            if fail:
                raise KeyboardInterrupt
            made.append(name)
            return [{"attention": name, "seed": 0, "exact": 0.5}]

        return rows

    broken = {"one": part("one"), "two": part("two", fail=True)}
    whole = {"one": part("one"), "two": part("two")}
    monkeypatch.setitem(alignment.TABLES, "distance", ("copying", lambda folder: broken))
    with pytest.raises(KeyboardInterrupt):
        alignment.make("distance", "copying", root=tmp_path)
    monkeypatch.setitem(alignment.TABLES, "distance", ("copying", lambda folder: whole))
    path = alignment.make("distance", "copying", root=tmp_path)
    assert made == ["one", "two"] and list(path.parent.iterdir()) == [path]
    told = describe(path)
    assert told["means"]["exact"] == 0.5
    assert told["provenance"]["command"] == "python -m core experiment distance --model copying --data copying"
    assert len(results("distance", "copying", tmp_path)) == 2


def test_another_model_is_refused(tmp_path) -> None:
    with pytest.raises(Refusal, match="about copying"):
        alignment.make("distance", "sst2/bilstm-additive", root=tmp_path)


@pytest.fixture
def tables(tmp_path, monkeypatch):
    """Small tables made by hand, as the page's frames read them."""

    def write(name: str, model: str, rows: list[dict]) -> None:
        keep(pd.DataFrame(rows), path_of(name, model, tmp_path), {"experiment": name})

    monkeypatch.setattr(measured.resources, "results", lambda name, model: results(name, model, tmp_path))
    return write


def test_curves_have_the_interval_of_three_seeds(tables) -> None:
    """0.4, 0.5, 0.6: standard error 0.1 / √3, times 4.303."""
    same = {"attention": "none", "length": 5, "gradient": 0.01}
    rows = [{**same, "seed": i, "symbols": value} for i, value in enumerate((0.4, 0.5, 0.6))]
    tables("distance", "copying", rows)
    row = measured.distance("symbols").iloc[0]
    assert row["mean"] == pytest.approx(0.5) and row["high"] - row["mean"] == pytest.approx(4.303 * 0.1 / 3**0.5, rel=1e-3)
    assert measured.distance("gradient").iloc[0]["mean"] == pytest.approx(-2)


@pytest.mark.parametrize(("logarithm", "said"), [(-1.0, "0.1"), (0.5, "3.2"), (-17.4, "4 · 10⁻¹⁸"), (-16.001, "1 · 10⁻¹⁶")])
def test_small_numbers_are_powers_of_ten(logarithm: float, said: str) -> None:
    assert memory.power(logarithm) == said


def test_kept_shares_are_of_the_own_score(tables) -> None:
    rows = []
    for model, own, moved in ((alignment.GERMAN, 30.0, (3.0, 6.0)), (alignment.REVIEWS, 0.8, (0.6, 0.6))):
        for change, value in (("own", own), ("uniform", own / 2), *(("shuffled", v) for v in moved)):
            ends = {"low": value * 0.9, "high": value * 1.1, "n_test": 10}
            rows.append({"model": model, "change": change, "draw": 0, "value": value, **ends})
    tables("rewired", alignment.GERMAN, rows)
    frame = measured.kept().set_index(["model", "change"])
    shuffled = frame.loc[(alignment.GERMAN, "shuffled")]
    assert shuffled["mean"] == pytest.approx(0.15) and shuffled["draws"] == 2
    assert shuffled["low"] == pytest.approx(0.09) and shuffled["high"] == pytest.approx(0.22)
    assert frame.loc[(alignment.REVIEWS, "uniform")]["mean"] == pytest.approx(0.5)


def test_agreement_counts_links_of_all_sentences(tables) -> None:
    row = {"links": 4, "dropped": 1, "words": 3, "found": 2, "diagonal_words": 3, "diagonal": 1}
    tables("alignments", alignment.GERMAN, [row, row])
    ours, straight = measured.agreement().to_dict("records")
    assert (ours["recall"], straight["recall"]) == (0.5, 0.25) and ours["n"] == 8
    assert ours["low"] == ours["high"] == 0.5


def test_an_unfinished_table_is_a_list_of_plain_rows(tmp_path) -> None:
    row = alignment.linked(Pair("1", ("a",), ("b",), ((0, 0),)), [0])
    assert json.loads(json.dumps(row)) == row
