"""Rankings of heads: masking against a cut output map, Taylor against finite differences, the rest by hand."""

from dataclasses import replace

import pytest
import torch

from core.attattr.attribution import attribution
from core.attattr.heads import (
    CRITERIA,
    STEPS,
    HeadScores,
    head_scores,
    importances,
    kept,
    lowest_masked,
    mask,
    ordered,
    random_importance,
    ranking,
)
from core.importance import probabilities
from core.types import Refusal
from tests.small import example, examples
from tests.tiny_bert import HEADS, LAYERS, tiny_bert

MODEL = tiny_bert().precise()


@torch.no_grad()
def logits(left: torch.Tensor) -> torch.Tensor:
    return MODEL.run(MODEL.encode(examples()), intervene=mask(left)).logits


@pytest.mark.parametrize(("layer", "head"), [(0, 1), (1, 0), (2, 1)])
def test_masking_a_head_is_cutting_its_part_of_the_output_map(layer: int, head: int) -> None:
    left = torch.ones(LAYERS, HEADS)
    left[layer, head] = 0
    cut = MODEL.copied().requires_grad_(False)
    size = cut.body.config.hidden_size // HEADS
    cut.body.encoder.layer[layer].attention.output.dense.weight[:, head * size : (head + 1) * size] = 0
    expected = cut.run(cut.encode(examples())).logits
    assert torch.allclose(logits(left), expected, atol=1e-10)
    assert (logits(left) - logits(torch.ones(LAYERS, HEADS))).abs().max() > 1e-4


def test_a_mask_may_differ_from_example_to_example() -> None:
    each = torch.ones(3, LAYERS, HEADS)
    each[0, 0], each[2, 1, 1] = 0, 0
    together = logits(each)
    for i in range(3):
        assert torch.allclose(together[i], logits(each[i])[i], atol=1e-10)


def test_taylor_is_the_slope_of_the_loss() -> None:
    batch = MODEL.encode(examples())
    found = head_scores(MODEL, batch).taylor
    gold, step = torch.tensor([e.label for e in batch.examples]), 1e-5
    for layer in range(LAYERS):
        for head in range(HEADS):
            losses = []
            for factor in (1 + step, 1 - step):
                left = torch.ones(LAYERS, HEADS, dtype=torch.float64)
                left[layer, head] = factor
                losses.append(torch.nn.functional.cross_entropy(logits(left), gold, reduction="none"))
            slope = (losses[0] - losses[1]) / (2 * step)
            assert torch.allclose(found[:, layer, head], slope.abs(), atol=1e-7)


def test_what_masking_one_head_costs() -> None:
    batch = MODEL.encode(examples())
    found, gold = head_scores(MODEL, batch), torch.tensor([e.label for e in batch.examples])
    whole = probabilities(logits(torch.ones(LAYERS, HEADS)))
    for layer in range(LAYERS):
        for head in range(HEADS):
            left = torch.ones(LAYERS, HEADS)
            left[layer, head] = 0
            prob = probabilities(logits(left))
            right = (whole.argmax(-1) == gold).long() - (prob.argmax(-1) == gold).long()
            assert found.accuracy[:, layer, head].tolist() == right.tolist()
            assert torch.allclose(found.prob[:, layer, head], (whole - prob)[range(3), gold], atol=1e-10)


def test_the_largest_attribution_and_weight_of_a_head_and_padding_changes_nothing() -> None:
    together = head_scores(MODEL, MODEL.encode(examples()))
    for i, one in enumerate(examples()):
        batch = MODEL.encode([one])
        alone = head_scores(MODEL, batch)
        for name in ("attribution", "taylor", "attention", "accuracy", "prob"):
            assert torch.allclose(getattr(together, name)[i].double(), getattr(alone, name)[0].double(), atol=1e-9)
        found = attribution(MODEL, batch, target=torch.tensor([one.label]))
        assert torch.allclose(alone.attribution[0], found.attribution[0].amax((-2, -1)))
        assert torch.allclose(alone.attention[0], found.attention[0].amax((-2, -1)))


def scores(**given: list[list[list[float]]]) -> HeadScores:
    nothing = torch.zeros(2, 2, 2)
    return replace(
        HeadScores(nothing, nothing, nothing, nothing, nothing), **{name: torch.tensor(v) for name, v in given.items()}
    )


def test_importances_by_hand() -> None:
    made = scores(
        attribution=[[[0.2, -0.1], [0.4, 0.0]], [[0.0, -0.3], [0.2, 0.1]]],
        taylor=[[[3.0, 4], [1, 0]], [[3, 4], [3, 0]]],
    )
    found = importances(made)
    assert found["attribution"].flatten().tolist() == pytest.approx([0.1, -0.2, 0.3, 0.05])  # the sign stays
    assert found["taylor"].flatten().tolist() == pytest.approx([0.6, 0.8, 1, 0])  # each layer has length one
    assert ranking(made, "attribution") == [2, 0, 3, 1]
    assert ranking(made, "taylor") == [2, 1, 0, 3]


def test_equal_falls_of_accuracy_are_told_apart_by_p() -> None:
    made = scores(
        accuracy=[[[0.0, 1], [0, 0]], [[0, 0], [0, 0]]],
        prob=[[[0.1, 0], [0.3, 0.1]], [[0, 0], [0, 0]]],
    )
    assert ranking(made, "accuracy") == [1, 2, 0, 3]


def test_chance_comes_from_its_seed() -> None:
    made = scores()
    assert ranking(made, "random", seed=5) == ranking(made, "random", seed=5) == ordered(random_importance(2, 2, 5))
    assert len({tuple(ranking(made, "random", seed=seed)) for seed in range(30)}) > 10


def test_the_last_of_an_order_go_first() -> None:
    assert kept([3, 0, 2, 1], 50, 2, 2).tolist() == [[1, 0], [0, 1]]
    assert kept([3, 0, 2, 1], 100, 2, 2).min() == 1 and kept([3, 0, 2, 1], 0, 2, 2).max() == 0
    order = list(range(72))
    assert [int(kept(order, percent, 6, 12).sum()) for percent in STEPS] == [72, 65, 58, 50, 43, 36, 29, 22, 14, 7, 0]


def test_the_lowest_layer_with_a_masked_head() -> None:
    left = torch.ones(3, 2)
    assert lowest_masked(left) == 3
    left[2, 0] = 0
    assert lowest_masked(left) == 2 == lowest_masked(left.expand(4, 3, 2))
    each = torch.ones(2, 3, 2)
    each[0, 2], each[1, 1, 0] = 0, 0
    assert lowest_masked(each) == 1


def test_what_cannot_be_ranked_is_refused() -> None:
    with pytest.raises(Refusal) as refusal:
        head_scores(MODEL, MODEL.encode([example("good film")]))
    assert refusal.value.code == "no_label"
    with pytest.raises(Refusal, match="attribution, taylor") as refusal:
        ranking(scores(), "size")
    assert refusal.value.code == "unknown_criterion" and "size" not in CRITERIA
