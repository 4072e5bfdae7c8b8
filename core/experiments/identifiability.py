"""How much of each head's attention the output cannot see, per sentence. Brunner et al. 2020, §3."""

from collections.abc import Sequence

import torch

from core.debate.identifiability import Effective, effective
from core.experiments.cases import Row, cases
from core.models.text_model import MultiHead
from core.types import Example

SETTINGS: Row = {"precision": "float64", "tolerance": "max(tokens, dimensions) * eps * largest singular value"}


def identifiability(model: MultiHead, examples: Sequence[Example]) -> list[Row]:
    """One row per example: length in words and in tokens that attend, prediction, largest weight of any head; for each head the
    share of its attention that its output cannot see, the rank of T, and in how many directions attention may change unseen."""
    batch = model.encode(examples)
    with torch.no_grad():
        prob = torch.softmax(model.run(batch).logits, dim=-1)
    found = effective(model, batch)
    largest = [float(one.attention.max()) for one in found]
    rows = zip(cases(batch, prob, largest), found, strict=True)
    return [{**case, "n_tokens": one.attention.shape[-1], **_heads(one)} for case, one in rows]


def _heads(one: Effective) -> Row:
    layers, heads = one.rank.shape
    return {
        f"layer{layer + 1}_head{head + 1}:{name}": convert(getattr(one, name)[layer, head])
        for layer in range(layers)
        for head in range(heads)
        for name, convert in (("invisible", float), ("rank", int), ("free", int))
    }
