"""The published search for an adversary (Jain & Wallace 2019, Algorithm 3), settings as in their code.

Five candidates a text start at random and climb JSD together for 500 steps of Adam, held back by a hinge on the prediction.
Three departures, all stated where they matter: the distance of predictions is the total variation distance for every task
(their code doubles it for QA), candidates repel each other by the paper's term (their code averages over all pairs, a candidate
with itself included), and a candidate is accepted by the same ε as everywhere (their code accepts up to 0.05 for every task).
"""

from itertools import combinations

import torch
from torch import Tensor

from core.agreement import jsd, tvd
from core.debate.adversary.extremes import upper_bound
from core.models.contributions import Contributions, generator

CANDIDATES, STEPS, RATE, PENALTY = 5, 500, 0.01, 500.0
HINGE = 0.01  # where the penalty starts, whatever is accepted in the end
SPREAD = 3.0  # standard deviation of the first scores


def search(words: Contributions, epsilon: float, k: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Attention "batch k word" by falling JSD, the original where no candidate stays within ε, and the proven bound."""
    attention = _climbs(words, max(k, CANDIDATES), min(epsilon, HINGE), seed)
    prediction = words.prob(words.attention)[:, None]
    original = words.attention[:, None]
    near = tvd(words.prob(attention), prediction) <= epsilon
    attention = torch.where(near[..., None], attention, original)
    best = jsd(attention, original).topk(k, dim=-1).indices
    return attention.gather(1, best[..., None].expand(-1, -1, attention.shape[-1])), upper_bound(words, epsilon)


def _climbs(words: Contributions, candidates: int, hinge: float, seed: int) -> Tensor:
    """Where the candidates of each text end, "batch candidate word"; some may have left ε."""
    scores = _start(words, candidates, seed).requires_grad_()
    optimizer = torch.optim.Adam([scores], lr=RATE, amsgrad=True)
    prediction = words.prob(words.attention)[:, None]
    with torch.enable_grad():
        for _ in range(STEPS):
            (scores.grad,) = torch.autograd.grad(_loss(words, scores, prediction, hinge), scores)
            optimizer.step()
    return _weights(words, scores.detach())


def _start(words: Contributions, candidates: int, seed: int) -> Tensor:
    """First scores "batch candidate word": log(1/words) + 3 N(0, 1)."""
    lengths = words.lengths.tolist()
    scores = torch.zeros(len(lengths), candidates, words.mask.shape[1], dtype=torch.float64)
    for row, n in enumerate(lengths):
        noise = torch.randn(candidates, n, dtype=torch.float64, generator=generator(seed, n))
        scores[row, :, :n] = SPREAD * noise - torch.tensor(n, dtype=torch.float64).log()
    return scores.to(words.attention.device)


def _weights(words: Contributions, scores: Tensor) -> Tensor:
    return torch.softmax(scores.masked_fill(~words.mask[:, None], -torch.inf), dim=-1)


def _loss(words: Contributions, scores: Tensor, prediction: Tensor, hinge: float) -> Tensor:
    """Σ_i [500 max(TVD_i − ε, 0) − JSD(α_i, α̂)] − Σ_{i<j} JSD(α_i, α_j) / (k (k − 1)), summed over texts (Eq. 1)."""
    attention = _weights(words, scores)
    k = attention.shape[1]
    far = jsd(attention, words.attention[:, None]).sum()
    moved = (tvd(words.prob(attention), prediction) - hinge).clamp(min=0).sum()
    one, two = torch.tensor(list(combinations(range(k), 2)), device=attention.device).T
    apart = jsd(attention[:, one], attention[:, two]).sum() / (k * (k - 1))
    return PENALTY * moved - far - apart
