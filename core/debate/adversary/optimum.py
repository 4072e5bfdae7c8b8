"""The best allowed attention: the optimum where two labels may be answered, the best found and a bound where more may.

With more labels the prediction ties down several sums at once, and an attention on two words can answer to one of them. So the
edges of the simplex are not enough: climbs on as many words as it takes stand beside them. So does the published search, and
what is found never falls behind it at the same ε and seed.
"""

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import pad

from core.agreement import jsd, tvd
from core.debate.adversary.ascent import CLIMBS, ascents, keeps
from core.debate.adversary.descent import search
from core.debate.adversary.extremes import Points, greedy, two_labels
from core.debate.adversary.room import ENOUGH, Room, toward
from core.models.contributions import Contributions

SCAN, HALVINGS = 33, 50  # points of an edge looked at, then bisection between two of them


def optimum(words: Contributions, epsilon: float, k: int, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Attention "batch k word", the best first, and a bound "batch" on its JSD; they meet where two labels may be answered.

    `seed` starts the climbs where there are more labels; else nothing is drawn.
    """
    attention = words.attention[:, None].repeat(1, k, 1)
    bound = torch.zeros_like(attention[:, 0, 0])
    binary = words.bias.isfinite().sum(-1) <= 2
    for group, method in ((binary, _two), (~binary, _several)):
        rows = group.nonzero().squeeze(-1)
        if len(rows):
            found, bound[rows] = method(words.rows(rows), epsilon, k, seed)
            attention[rows, :, : found.shape[-1]] = found
    return attention, bound


def _two(words: Contributions, epsilon: float, k: int, seed: int) -> tuple[Tensor, Tensor]:
    """The extreme points, and the JSD of the best, which nothing exceeds."""
    found = greedy(words, two_labels(words, epsilon), k)
    return found, jsd(found[:, 0], words.attention)


def _several(words: Contributions, epsilon: float, k: int, seed: int) -> tuple[Tensor, Tensor]:
    """The best of edges, search and climbs, and the bound that the pairs of labels give."""
    points, (searched, bound) = _edges(words, epsilon), search(words, epsilon, 1, seed)
    first = greedy(words, points, 1, searched)[:, 0]
    gaps = (bound - jsd(first, words.attention)).tolist()
    ends = [
        _climbed(words.rows(torch.tensor([row])), epsilon, start, seed) if gap > ENOUGH else start.expand(1 + CLIMBS, -1)
        for row, (start, gap) in enumerate(zip(first, gaps, strict=True))
    ]
    return greedy(words, points, k, torch.cat([searched, torch.stack(ends)], dim=1)), bound


def _climbed(words: Contributions, epsilon: float, first: Tensor, seed: int) -> Tensor:
    """Allowed ends of climbs over one text, "candidate word", as wide as `first`."""
    original = words.attention[0].cpu().numpy()
    nothing = np.zeros((0, len(original)))
    room = Room(original, nothing, nothing[:, 0], ceiling=1.0, floor=0.0, near=keeps(words, epsilon))
    start = first[: len(original)].cpu().numpy()
    ends = ascents(words, room, epsilon, start, lambda end: toward(room, original, end), seed)
    return pad(torch.tensor(np.array(ends)).to(first), (0, len(first) - len(original)))


def _edges(words: Contributions, epsilon: float) -> Points:
    """The first and the last point of each edge whose prediction stays within ε, as far as a scan finds them."""
    size = words.mask.shape[1]
    first, second = torch.triu_indices(size, size, device=words.mask.device)
    exist = words.mask[:, first] & words.mask[:, second]
    base, slope = words.effect[:, second] + words.bias[:, None], words.effect[:, first] - words.effect[:, second]
    prediction = words.prob(words.attention)[:, None]

    def near(weight: Tensor) -> Tensor:
        return tvd(torch.softmax(base + weight[..., None] * slope, dim=-1), prediction) <= epsilon

    grid = torch.linspace(0, 1, SCAN, dtype=base.dtype, device=base.device)
    ok = torch.stack([near(point.expand(exist.shape)) for point in grid], dim=-1) & exist[..., None]
    low = ok.long().argmax(-1)
    high = SCAN - 1 - ok.flip(-1).long().argmax(-1)
    sides = [
        _bisect(near, grid[low], grid[(low - 1).clamp(min=0)]),
        _bisect(near, grid[high], grid[(high + 1).clamp(max=SCAN - 1)]),
    ]
    row, pair = ok.any(-1).nonzero(as_tuple=True)
    weight = torch.cat([side[row, pair] for side in sides])
    return Points(row.repeat(2), first[pair].repeat(2), second[pair].repeat(2), weight)


def _bisect(near: Callable[[Tensor], Tensor], inside: Tensor, outside: Tensor) -> Tensor:
    """The last point from inside to outside that is near."""
    for _ in range(HALVINGS):
        middle = (inside + outside) / 2
        ok = near(middle)
        inside, outside = torch.where(ok, middle, inside), torch.where(ok, outside, middle)
    return inside
