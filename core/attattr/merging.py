"""From pieces to words: a reader thinks in words, a tokenizer in pieces.

A weight says how much of its reading a query spends on a key. Hence two keys are read together by the sum of their weights,
and two queries read, on average, with the mean of theirs: rows still sum to one (Clark et al. 2019, §4.1). An attribution is a
share of the answer, and shares add: summed over queries and keys the total stays what it was, and with it completeness.
Special tokens stay tokens of their own, so that what they take is seen.
"""

from typing import Literal

import torch
from torch import Tensor

from core.models.transformer import Transformer
from core.types import Batch

Kind = Literal["attention", "attribution"]


def places(batch: Batch) -> Tensor:
    """The place of each token once pieces are merged, "batch token": special tokens and words in order, -1 for padding."""
    before = torch.cat([torch.full_like(batch.word[:, :1], -2), batch.word[:, :-1]], 1)
    starts = (batch.word < 0) | (batch.word != before)
    return (starts.cumsum(1) - 1).masked_fill(~batch.present, -1)


def to_words(batch: Batch, matrix: Tensor, how: Kind) -> Tensor:
    """A matrix over tokens as one over special tokens and words, "batch ... place place", zero where a row has fewer places.

    `matrix` is "batch ... query key". Over keys both kinds are summed; over queries attention is averaged, attribution summed.
    """
    member = _members(batch).to(matrix)
    rows = member / member.sum(1, keepdim=True).clamp(min=1) if how == "attention" else member
    return torch.einsum("btp,b...tu,buq->b...pq", rows, matrix, member)


def scores_to_words(batch: Batch, scores: Tensor) -> Tensor:
    """Scores "batch token" summed over the pieces of each word, "batch place"."""
    return torch.einsum("btp,bt->bp", _members(batch).to(scores), scores)


def words_at(batch: Batch) -> list[list[int]]:
    """For each example what stands at each place: a word's number (the query's numbered on), -1 for a special token."""
    rows = zip(places(batch).tolist(), batch.word.tolist(), strict=True)
    return [list({place: word for place, word in zip(*row, strict=True) if place >= 0}.values()) for row in rows]


def names(model: Transformer, batch: Batch) -> list[list[str]]:
    """For each example what is written at each place: the word itself, or the special token's name."""
    found = []
    rows = zip(batch.examples, words_at(batch), places(batch).tolist(), model.pieces(batch), strict=True)
    for example, words, place, pieces in rows:
        written, token = (*example.text, *example.query), dict(zip(place, pieces, strict=False))
        found.append([written[word] if word >= 0 else token[i] for i, word in enumerate(words)])
    return found


def _members(batch: Batch) -> Tensor:
    """Which token belongs to which place, "batch token place", zero rows for padding."""
    place = places(batch)
    return place[:, :, None] == torch.arange(int(place.max()) + 1, device=place.device)
