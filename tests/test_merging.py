"""Pieces merged to words: a matrix by hand, and the sums that merging keeps."""

import torch

from core.attattr import merging
from core.types import Batch, Example


def batch() -> Batch:
    """ "[CLS] film ##s [SEP] saw [SEP]" and "[CLS] bad [SEP]" with padding."""
    word = torch.tensor([[-1, 0, 0, -1, 1, -1], [-1, 0, -1, -1, -1, -1]])
    present = torch.tensor([[True] * 6, [True] * 3 + [False] * 3])
    nothing = torch.zeros(2, 0, dtype=torch.long)
    examples = (Example("a", ("films",), ("saw",)), Example("b", ("bad",)))
    ids, may = torch.zeros_like(word), torch.ones(2, 2, dtype=torch.bool)
    return Batch(examples, ids, present, word >= 0, word, ids, nothing, nothing.bool(), may)


def test_special_tokens_keep_a_place_of_their_own() -> None:
    assert merging.places(batch()).tolist() == [[0, 1, 1, 2, 3, 4], [0, 1, 2, -1, -1, -1]]
    assert merging.words_at(batch()) == [[-1, 0, -1, 1, -1], [-1, 0, -1]]


def test_a_matrix_by_hand() -> None:
    matrix = torch.zeros(2, 6, 6)
    matrix[0, 1] = torch.tensor([1.0, 2, 3, 4, 5, 6])
    matrix[0, 2] = torch.tensor([3.0, 4, 5, 6, 7, 8])
    attention, attribution = (merging.to_words(batch(), matrix, how) for how in ("attention", "attribution"))
    assert attention[0, 1].tolist() == [2, 7, 5, 6, 7]
    assert attribution[0, 1].tolist() == [4, 14, 10, 12, 14]
    assert attention[0].sum() == 27 and attribution[0].sum() == matrix[0].sum()


def test_rows_still_sum_to_one_and_attributions_to_what_they_were() -> None:
    generator = torch.Generator().manual_seed(5)
    there = batch().present[:, None, None, None, :] & batch().present[:, None, None, :, None]
    weights = torch.rand(2, 3, 2, 6, 6, generator=generator).masked_fill(~there, 0)
    weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-9)
    rows = merging.to_words(batch(), weights, "attention").sum(-1)
    assert torch.allclose(rows[0], torch.ones(3, 2, 5)) and torch.allclose(rows[1, ..., :3], torch.ones(3, 2, 3))
    assert rows[1, ..., 3:].abs().max() == 0
    total = merging.to_words(batch(), weights, "attribution").sum((-1, -2))
    assert torch.allclose(total, weights.sum((-1, -2)), atol=1e-5)


def test_scores_are_summed_over_the_pieces_of_a_word() -> None:
    scores = torch.tensor([[1.0, 2, -5, 3, 4, 5], [1, 2, 3, 0, 0, 0]])
    assert merging.scores_to_words(batch(), scores).tolist() == [[1, -3, 3, 4, 5], [1, 2, 3, 0, 0]]
