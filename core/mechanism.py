"""What attention computes, in numbers small enough to be worked by hand.

    score s_t = how well key k_t suits query q    weights α = softmax(s / T)    context c = Σ α_t v_t

Nothing here is trained. `attend` takes the last two steps apart, so that each can be looked at; `scored` runs the score modules
of the trained models on numbers that a reader gives; `self_attention` lets every word ask, in several heads; `by_dimension`
measures why Transformers divide by √d (Vaswani et al. 2017, §3.2.1). Everything is in double precision.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from core.agreement import Mean, bootstrap_mean, entropy
from core.models.contributions import generator
from core.models.scores import SCORES
from core.types import Refusal

RESAMPLES = 300  # of the bootstrap; the intervals are drawn, not tested


@dataclass(frozen=True)
class Steps:
    """Attention, one step at a time. Leading axes (heads) are kept."""

    scores: Tensor  # "… query key"
    weights: Tensor  # "… query key", rows sum to one
    parts: Tensor  # "… query key dim", weight times value: what each key adds
    context: Tensor  # "… query dim", their sum


@dataclass(frozen=True)
class Head:
    """What a head of self-attention makes of a word: "dim inner" each."""

    query: Tensor
    key: Tensor
    value: Tensor


@dataclass(frozen=True)
class Scaling:
    """Dot products of random vectors and the softmax over them: means over `n` queries with 95 % bootstrap intervals."""

    dimension: int
    scaled: bool
    variance: Mean  # of a score
    entropy: Mean  # of the weights, in nats
    largest: Mean  # weight


def attend(scores: Tensor, value: Tensor, *, temperature: float = 1.0) -> Steps:
    """The steps from scores "… query key" and values "… key dim" to the context: α = softmax(s / T), c = Σ α_t v_t.

    Refuses a temperature that is not above zero.
    """
    if not temperature > 0:
        raise Refusal("temperature", f"The temperature is {temperature}; it must be above 0.", given=temperature)
    weights = torch.softmax(scores / temperature, dim=-1)
    parts = weights[..., None] * value[..., None, :, :]
    return Steps(scores, weights, parts, parts.sum(-2))


def scored(name: str, states: Tensor, query: Tensor, parameters: Mapping[str, Tensor]) -> Tensor:
    """Scores "token" of states "token dim" for a query "dim" by the module of that name, with the given parameters."""
    with torch.device("meta"):  # its own weights are never made, so nothing is drawn
        module = SCORES[name](states.shape[-1])
    return torch.func.functional_call(module, dict(parameters), (states[None], query[None]))[0]


def small(name: str, tokens: int) -> dict[str, Tensor]:
    """Parameters of a score of two dimensions that can be worked by hand.

    additive tanh(h₁ − q₁/2) + 3 tanh(h₂ − q₂/2); general with a W that swaps the numbers of q; cosine with β = 4; location with
    a score of 0.8 q₂ for the first place and half of that for each further one.
    """
    one = torch.eye(2, dtype=torch.float64)
    match name:
        case "additive":
            vector = torch.tensor([[1.0, 3.0]], dtype=torch.float64)
            none = torch.zeros(2, dtype=torch.float64)
            return {"state.weight": one, "state.bias": none, "query.weight": -one / 2, "vector.weight": vector}
        case "general":
            return {"bilinear.weight": one.flip(0)}
        case "cosine":
            return {"sharpness": torch.tensor([4.0], dtype=torch.float64)}
        case "location":
            places = 0.8 * 0.5 ** torch.arange(tokens, dtype=torch.float64)
            weight = torch.stack([torch.zeros_like(places), places], dim=-1)
            return {"positions.weight": weight, "positions.bias": torch.zeros_like(places)}
    return {}


def self_attention(states: Tensor, heads: Sequence[Head]) -> Steps:
    """Every word of "token dim" asks all words, in each head: scores q kᵀ / √m, "head query key"; context "head query inner".

    Heads do not see each other; a Transformer puts their contexts side by side and maps them back (Vaswani et al., §3.2.2).
    """
    query, key, value = (torch.stack([states @ getattr(head, part) for head in heads]) for part in ("query", "key", "value"))
    return attend(query @ key.mT / query.shape[-1] ** 0.5, value)


def by_dimension(dimensions: Iterable[int], *, words: int, n: int, seed: int) -> list[Scaling]:
    """Variance, entropy and largest weight for `n` random queries over `words` keys, with and without the division by √d.

    A score of `random_scores` has mean 0, so its variance is its mean square.
    """
    found = []
    for dimension in dimensions:
        scores = random_scores(dimension, words=words, n=n, seed=seed)
        found += [_summary(dimension, scores / dimension**0.5, True, seed), _summary(dimension, scores, False, seed)]
    return found


def random_scores(dimension: int, *, words: int, n: int, seed: int) -> Tensor:
    """Dot products "query key" of queries and keys whose numbers are drawn from a standard normal distribution."""
    chance = generator(seed, dimension)
    query = torch.randn(n, 1, dimension, generator=chance, dtype=torch.float64)
    key = torch.randn(n, words, dimension, generator=chance, dtype=torch.float64)
    return (query * key).sum(-1)


def _summary(dimension: int, scores: Tensor, scaled: bool, seed: int) -> Scaling:
    weights = torch.softmax(scores, dim=-1)
    measured = (scores.square().mean(-1), entropy(weights), weights.amax(-1))
    return Scaling(dimension, scaled, *(bootstrap_mean(values.numpy(), seed=seed, n=RESAMPLES) for values in measured))
