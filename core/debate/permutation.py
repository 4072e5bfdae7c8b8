"""Does it matter which word gets which weight? Shuffle the weights, leave everything else, and watch the prediction.

Jain & Wallace 2019 (§4.2.1, Algorithm 2): if attention explained a prediction, the same weights on other words should change
it. They shuffle 100 times after the softmax, with the states fixed, and report the median total variation distance per text, by
bins of the largest weight: a peaked attention has more to lose than a flat one.

The decoder is linear in the context, so the text is encoded once and all shuffles are one product; only written words take
part. A small median is not proof that attention is idle: a BiLSTM may have written the same news into every state.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from core.agreement import tvd
from core.models.classifier import Classifier
from core.models.contributions import Contributions, by_length, contributions, generator
from core.types import Batch, Refusal

MOST = 10_000  # shuffles of one text
CELLS = 2**22  # shuffled weights held at once
SEEDS = 2**32


@dataclass(frozen=True)
class Permutations:
    """What `n` shuffles of each text's attention did to its prediction; CPU tensors in double precision.

    A text of one word has nothing to shuffle: its distances are zero.
    """

    tvd: Tensor  # "batch n", in [0, 1]
    median_tvd: Tensor  # "batch"
    max_attention: Tensor  # "batch", the largest weight of a word before shuffling
    prob: Tensor  # "batch n label", the prediction under each shuffle
    original: Tensor  # "batch label", the prediction as it is
    seed: int


def permutations(model: Classifier, batch: Batch, *, n: int = 100, seed: int = 0) -> Permutations:
    """Total variation distance between the prediction and that under each of `n` shuffles of the words' weights.

    The encoder runs once, in the model's precision; all after it is double. A text's shuffles depend on the seed and its number
    of words alone, not on its batch or the device. Jain & Wallace 2019, Algorithm 2.

    Refuses n outside 1..10000 and seeds outside 0..2³²−1.
    """
    _check(n, seed)
    words = contributions(model, batch, double=False)
    labels, size = words.bias.shape[-1], len(batch.examples)
    prob = torch.empty(size, n, labels, dtype=torch.float64)
    original = torch.empty(size, labels, dtype=torch.float64)
    for rows, part in by_length(words, CELLS, lambda length: n * length):
        order = orders(part, n, seed)
        shuffled = part.attention[:, None].expand_as(order).gather(-1, order)
        both = part.prob(torch.cat([part.attention[:, None], shuffled], dim=1)).cpu()  # one product: rounded alike
        original[rows], prob[rows] = both[:, 0], both[:, 1:]
    distance = tvd(prob, original[:, None])
    return Permutations(
        tvd=distance,
        median_tvd=torch.from_numpy(np.median(distance.numpy(), axis=-1)),
        max_attention=words.attention.max(-1).values.cpu(),
        prob=prob,
        original=original,
        seed=seed,
    )


def orders(words: Contributions, n: int, seed: int) -> Tensor:
    """For each text `n` orders of its words, "batch n word": word w gets the weight of word order[w]; padding stays."""
    size = words.mask.shape[1]
    found = torch.arange(size).expand(len(words.mask), n, size).clone()
    lengths = words.lengths.cpu()
    for length in lengths.unique().tolist():
        drawn = torch.rand(n, length, dtype=torch.float64, generator=generator(seed, length)).argsort(-1)
        found[lengths == length, :, :length] = drawn
    return found.to(words.mask.device)


def _check(n: int, seed: int) -> None:
    if not 1 <= n <= MOST:
        raise Refusal("n_out_of_range", f"{n} shuffles were asked for; it must be between 1 and {MOST}.", given=n, most=MOST)
    if not 0 <= seed < SEEDS:
        raise Refusal(
            "seed_out_of_range", f"The seed is {seed}; it must be between 0 and {SEEDS - 1}.", given=seed, most=SEEDS - 1
        )
