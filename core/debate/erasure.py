"""Does attention name the words that the decision needs? Erase weights, renormalize the rest, and see when the decision flips.

Serrano & Smith 2019: if attention ranks words by their importance, then zeroing its largest weight should move the prediction
more than zeroing another one, and few words taken from the top should be enough to flip the decision. They zero weights after
the softmax, renormalize the others and keep the states, so this is no leave-one-out: nothing is read again. The rival orders
are the gradient of the decision's probability by each weight (signed: what speaks for the decision goes first), attention times
that gradient, and chance.

The decoder is linear in the context, so a text is encoded once, the gradient has a closed form, and all steps of an order are
running sums over its words. With nothing left the model reads a zero vector, as in the paper: its bias decides. A text of one
word is left out.
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from core.agreement import jsd
from core.interventions import erase
from core.models.contributions import Contributions, by_length, generator
from core.types import Refusal

ORDERS = ("attention", "gradient", "attention_gradient", "random")
SHUFFLES = 5  # random orders of a text, as many as in the paper
CELLS = 2**22  # weights held at once
SEEDS = 2**32


@dataclass(frozen=True)
class Removals:
    """Words erased one by one in an order; several draws of it where it is random, else one. CPU tensors in double precision.

    `flips_at` is the share of the words that are gone when the decision first differs from the one with all words; NaN where it
    never does, and for a text of one word.
    """

    order: Tensor  # "batch draw word", positions, the first to go first; padding last
    prob: Tensor  # "batch draw step label", with 0, 1, 2, ... words gone; at the last step none is left
    flips_at: Tensor  # "batch draw", in (0, 1]


@dataclass(frozen=True)
class SingleWeights:
    """What erasing each weight alone does, and which two the paper compares. CPU tensors in double precision.

    `other` is a word drawn from all but `top`; in a text of one word it is `top` itself, and nothing is to be compared.
    """

    attention: Tensor  # "batch word"
    jsd: Tensor  # "batch word", from the prediction as it is to that without the word's weight, in nats; 0 at padding
    flips: Tensor  # "batch word", whether the decision changes
    top: Tensor  # "batch", the position of the largest weight
    other: Tensor  # "batch"

    def of(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """Values "batch word" at the largest weight and at the other one, "batch" each."""
        pair = torch.stack([self.top, self.other], dim=-1)
        first, second = values.gather(1, pair).unbind(-1)
        return first, second


def removals(words: Contributions, order: str = "attention", *, seed: int = 0) -> Removals:
    """The prediction after each word of an order is erased, and when it flips. Serrano & Smith 2019, §5.

    A random order depends on the seed and the number of words alone. Refuses an unknown order and seeds outside 0..2³²−1.
    """
    _check(order, seed)
    ranked = _shuffled(words, seed) if order == "random" else _descending(words, scores(words, order))
    weights = torch.take_along_dim(words.attention[:, None], ranked, dim=-1)
    parts = weights[..., None] * torch.take_along_dim(words.effect[:, None], ranked[..., None], dim=2)
    total, context = _of_the_rest(weights[..., None]), _of_the_rest(parts)
    left = torch.where(total > 0, context / total.clamp(min=torch.finfo(total.dtype).tiny), 0.0)
    prob = torch.softmax(left + words.bias[:, None, None], dim=-1).cpu()
    return Removals(ranked.cpu(), prob, _flips_at(prob, words.lengths.cpu()))


def scores(words: Contributions, order: str) -> Tensor:
    """What an order ranks by, "batch word", the largest first to go: α, ∂p/∂α of the decision's probability, or the product."""
    if order == "attention":
        return words.attention
    return gradient(words) * (words.attention if order == "attention_gradient" else 1.0)


def gradient(words: Contributions) -> Tensor:
    """∂p_y/∂α_w of the predicted label y, "batch word", signed: p_y Σ_l p_l (v_wy − v_wl), v the words' parts in the logits.

    Each weight is moved alone, the others as they are (no renormalization), as in the paper.
    """
    prob = words.prob(words.attention)
    most, label = prob.max(-1)
    own = words.effect.gather(2, label[:, None, None].expand(-1, words.effect.shape[1], 1))
    return most[:, None] * torch.einsum("bl,bwl->bw", prob, own - words.effect)


def after(words: Contributions, erased: Tensor) -> Tensor:
    """Probability of each label, "batch ... label", with the weights erased that are marked in "batch ... word"."""
    middle = (1,) * (erased.dim() - 2)
    weights = words.attention.unflatten(0, (-1, *middle)).expand(erased.shape)
    left = erase(erased.flatten(0, -2))(0, weights.flatten(0, -2)[:, None, None])
    return words.prob(left.reshape(erased.shape))


def single_weights(words: Contributions, *, seed: int = 0) -> SingleWeights:
    """Each weight erased alone: JSD to the prediction as it is, and whether the decision flips. Serrano & Smith 2019, §4.

    The other word depends on the seed, the number of words and the place of the largest weight.
    """
    _check("attention", seed)
    size, most = words.mask.shape
    distance = torch.zeros(size, most, dtype=torch.float64)
    flips = torch.zeros(size, most, dtype=torch.bool)
    for rows, part in by_length(words, CELLS, lambda length: length * (length + 1)):
        width = part.mask.shape[1]
        none = torch.zeros(len(rows), 1, width, dtype=torch.bool, device=part.mask.device)
        each = torch.eye(width, dtype=torch.bool, device=part.mask.device).expand(len(rows), -1, -1)
        prob = after(part, torch.cat([none, each], dim=1)).cpu()  # one product: rounded alike
        distance[rows, :width] = jsd(prob[:, :1], prob[:, 1:])
        flips[rows, :width] = prob[:, 1:].argmax(-1) != prob[:, :1].argmax(-1)
    attention, there = words.attention.cpu(), words.mask.cpu()
    top = attention.masked_fill(~there, -1.0).argmax(-1)
    return SingleWeights(attention, distance * there, flips & there, top, _other(top, words.lengths.cpu(), seed))


def _of_the_rest(values: Tensor) -> Tensor:
    """Sums over "batch draw word label" without the first 0, 1, 2, ... words, "batch draw step label"; the last is zero.

    They are added up from the end, so that what is left is never the difference of two large sums.
    """
    sums = values.flip(2).cumsum(2).flip(2)
    return torch.cat([sums, torch.zeros_like(sums[:, :, :1])], dim=2)


def _descending(words: Contributions, values: Tensor) -> Tensor:
    """Positions "batch 1 word" from the largest value to the smallest, equals by position, padding last."""
    return values.masked_fill(~words.mask, -torch.inf).argsort(dim=-1, descending=True, stable=True)[:, None]


def _shuffled(words: Contributions, seed: int) -> Tensor:
    """Random orders "batch draw word", padding last."""
    lengths = words.lengths.cpu()
    found = torch.arange(words.mask.shape[1]).expand(len(lengths), SHUFFLES, -1).clone()
    for length in lengths.unique().tolist():
        drawn = torch.rand(SHUFFLES, length, dtype=torch.float64, generator=generator(seed, length)).argsort(-1)
        found[lengths == length, :, :length] = drawn
    return found.to(words.mask.device)


def _other(top: Tensor, lengths: Tensor, seed: int) -> Tensor:
    """A position other than `top`, "batch", each of them equally likely; `top` where there is no other."""
    other = top.clone()
    for length in lengths.unique().tolist():
        if length > 1:
            drawn = torch.randint(1, length, (length,), generator=generator(seed, length))  # steps to the right, around the end
            rows = lengths == length
            other[rows] = (top[rows] + drawn[top[rows]]) % length
    return other


def _flips_at(prob: Tensor, lengths: Tensor) -> Tensor:
    """The share of words gone at the first step whose decision is not that of step 0, "batch draw"; NaN where there is none."""
    decision = prob.argmax(-1)
    flipped = decision != decision[:, :, :1]
    share = flipped.double().argmax(-1) / lengths[:, None].double()
    return share.masked_fill(~flipped.any(-1) | (lengths[:, None] < 2), torch.nan)


def _check(order: str, seed: int) -> None:
    if order not in ORDERS:
        sentence = f"There is no order {order!r}; there are {', '.join(ORDERS)}."
        raise Refusal("unknown_order", sentence, given=order, allowed=ORDERS)
    if not 0 <= seed < SEEDS:
        raise Refusal(
            "seed_out_of_range", f"The seed is {seed}; it must be between 0 and {SEEDS - 1}.", given=seed, most=SEEDS - 1
        )
