"""What each word would say if attention looked at nothing else.

The decoders are linear in the context, so the logits under *any* attention α are b + Σ_w α_w v_w, with one vector v_w per
word. Whoever wants to know what other weights would predict (the shuffles, the exact adversary, the spotlight in the browser)
needs these vectors and no further run of the encoder.

Everything is per written word. A word of several pieces has one weight, which its pieces share as the model shared it (equally
where it gave them none); so what is shuffled, optimized and shown are the same numbers, also for a model of subwords.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.models.classifier import Classifier
from core.types import Batch, Refusal


@dataclass(frozen=True)
class Contributions:
    """A linear decoder taken apart, in double precision, padded to the longest text."""

    attention: Tensor  # "batch word", the model's own; rows sum to one
    effect: Tensor  # "batch word label", the logits of all weight on one word, without the bias
    bias: Tensor  # "batch label", minus infinity where a label may not be answered
    mask: Tensor  # "batch word", words that exist
    share: Tensor  # "batch token", the part of its word's weight that a token gets
    word: Tensor  # "batch token", the word of a token, -1 for start, end and padding

    @property
    def lengths(self) -> Tensor:
        """How many words each text has, "batch"."""
        return self.mask.sum(-1)

    def prob(self, attention: Tensor) -> Tensor:
        """Probability of each label, "batch ... label", under attention "batch ... word"; zero where not allowed."""
        logits = torch.einsum("b...w,bwl->b...l", attention, self.effect)
        middle = (1,) * (attention.dim() - 2)
        return torch.softmax(logits + self.bias.unflatten(0, (-1, *middle)), dim=-1)

    def to_tokens(self, attention: Tensor) -> Tensor:
        """Weights "batch token" that carry "batch word", to run the model under `interventions.replace`."""
        padded = torch.cat([torch.zeros_like(attention[:, :1]), attention], dim=1)
        return padded.gather(1, self.word + 1) * self.share

    def rows(self, rows: Tensor) -> "Contributions":
        """Some of the examples, cut to their longest text."""
        width = max(1, int(self.mask[rows].any(0).nonzero().max()) + 1)
        return Contributions(
            attention=self.attention[rows, :width],
            effect=self.effect[rows, :width],
            bias=self.bias[rows],
            mask=self.mask[rows, :width],
            share=self.share[rows],
            word=self.word[rows],
        )


def contributions(model: Classifier, batch: Batch, *, double: bool = True) -> Contributions:
    """The words' part in the logits, v_w = W h_w, with the model's own attention and the bias (the query's part included).

    The result is in double precision; `double=False` lets the encoder run in the model's own. Refuses a text without a word.
    """
    must = double or model.device.type == "mps"  # which has no double precision at all
    precise = model.precise() if must and model.decoder.weight.dtype != torch.float64 else model
    if batch.ids.device != precise.device:
        batch = precise.encode(batch.examples)
    if not bool(batch.mask.any(-1).all()):
        raise Refusal("blank_text", "A text is blank; at least one word is needed.")
    with torch.no_grad():
        states, query = precise.remembered(batch), precise.query_vector(batch)
        tokens = precise.attend(batch, states, query)[:, 0, 0].double()
        effect, bias = (states @ precise.decoder.weight.T).double(), precise.bias(batch, query).double()
    attention, pieces = _per_word(batch, tokens), _per_word(batch, torch.ones_like(tokens))
    whole, parts = (_at_tokens(batch, words) for words in (attention, pieces))
    share = torch.where(whole > 0, tokens / whole.where(whole > 0, 1.0), 1 / parts.clamp(min=1)) * batch.mask
    return Contributions(attention, _per_word(batch, effect * share[..., None]), bias, pieces > 0, share, batch.word)


def by_length(words: Contributions, most: int, cost: Callable[[int], int]) -> Iterator[tuple[Tensor, Contributions]]:
    """Row numbers and their contributions, texts of like length together, as many as cost `most` together (at least one)."""
    lengths = words.lengths
    order = lengths.argsort(stable=True)
    start = 0
    while start < len(order):
        size = 1
        while start + size < len(order) and (size + 1) * cost(int(lengths[order[start + size]])) <= most:
            size += 1
        rows = order[start : start + size]
        yield rows, words.rows(rows)
        start += size


def generator(seed: int, words: int) -> torch.Generator:
    """A generator on the CPU for a text of so many words: an example draws the same alone, in a batch and on any device."""
    mixed = np.random.SeedSequence((seed, words)).generate_state(1)[0]
    return torch.Generator().manual_seed(int(mixed))


def log_odds_interval(first: Tensor, second: Tensor, epsilon: float) -> tuple[Tensor, Tensor]:
    """Least and greatest log(q₁/q₂) of all q within total variation `epsilon` of a p with p₁, p₂ = `first`, `second`.

    The extreme q moves ε from one label to the other. A bound is infinite where a label's whole probability may be moved.
    """
    low = torch.where(first > epsilon, (first - epsilon).clamp(min=0).log() - (second + epsilon).log(), -torch.inf)
    high = torch.where(second > epsilon, (first + epsilon).log() - (second - epsilon).clamp(min=0).log(), torch.inf)
    return low, high


def _per_word(batch: Batch, values: Tensor) -> Tensor:
    """Sums over the tokens of each word, "batch word ..."."""
    width = max(len(example.text) for example in batch.examples)
    index = batch.word + 1
    total = values.new_zeros(values.shape[0], width + 1, *values.shape[2:])
    if values.dim() == 3:
        index = index[..., None].expand_as(values)
    return total.scatter_add(1, index, values)[:, 1:]


def _at_tokens(batch: Batch, words: Tensor) -> Tensor:
    """Each token's word's value, "batch token"; zero for start, end and padding."""
    return torch.cat([torch.zeros_like(words[:, :1]), words], dim=1).gather(1, batch.word + 1)


def slab(words: Contributions, label: Tensor, other: Tensor, epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """The log-odds of two labels ("batch") with all weight on one word, "batch word", and the interval that is left to them.

    The model's own log-odds are always inside, whatever rounding says.
    """
    row = torch.arange(len(label), device=label.device)
    alone = words.effect + words.bias[:, None]
    prob = words.prob(words.attention)
    low, high = log_odds_interval(prob[row, label], prob[row, other], epsilon)
    scores = alone[row, :, label] - alone[row, :, other]
    own = (words.attention * scores).sum(-1)
    return scores, torch.minimum(low, own), torch.maximum(high, own)
