"""Batches cut, repeated and read back: what the same examples are as other tensors."""

from dataclasses import replace

from core.types import Batch

OF_TOKENS = ("ids", "present", "mask", "word", "segment")  # tensors of a batch, "batch token"
TENSORS = (*OF_TOKENS, "query_ids", "query_present", "allowed")


def words(batch: Batch) -> list[tuple[str, ...]]:
    """For each example the words that `word` numbers: those of the text, and those of the query where it is read in one row
    with the text."""
    apart = batch.query_ids.shape[1] > 0
    return [e.text if apart else e.text + e.query for e in batch.examples]


def repeat(batch: Batch, n: int) -> Batch:
    """The batch n times in a row: all examples, and all again."""
    return replace(batch, examples=batch.examples * n, **{name: getattr(batch, name).repeat(n, 1) for name in TENSORS})


def only(batch: Batch, i: int) -> Batch:
    """One example of the batch, without padding."""
    n = int(batch.present[i].sum())
    own = {name: getattr(batch, name)[i : i + 1] for name in TENSORS}
    return replace(batch, examples=batch.examples[i : i + 1], **own | {name: own[name][:, :n] for name in OF_TOKENS})
