"""A decoder that looks back at what it reads: one word at a time, each with weights over the input.

    c_i = Σ_j α_ij h_j    s_i = GRU([E[y_{i−1}]; c_i], s_{i−1})    logits_i = E tanh(W [s_i; c_i; E[y_{i−1}]]) + b

What asks for α_i is the *previous* state s_{i−1}, as in Bahdanau et al. (2015, §3.1), whatever the score: Luong et al. (2015)
ask with the state s_i of the same step. So decoders with different attention differ in the attention alone.

additive   vᵀ tanh(W s + U h)                                   Bahdanau et al. 2015
dot        hᵀ s, for states as wide as the annotations          Luong et al. 2015
general    (W h)ᵀ s                                             Luong et al. 2015
local      general within a window that s itself predicts       Luong et al. 2015, §3.2 (`core.models.windows`)
uniform    every input alike, whatever s is
none       no weights: c is the encoder's last state at every step (Cho et al. 2014), the bottleneck that attention took away

The annotations h may come from anywhere: words, letters, frames of sound, cells of a picture. The first state is a map of
the encoder's last one for every kind. The vectors of the words that are read are those of the words that are written (tied).
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import torch
from torch import Tensor, nn

from core.interventions import keep
from core.models import windows
from core.models.scores import softmax, uniform
from core.models.vocabulary import END, PAD, START
from core.types import Intervention

ATTENTIONS = ("additive", "dot", "general", "local", "uniform", "none")
NEVER = (PAD, START)  # what is never written
Drop = Callable[[Tensor], Tensor]
Module = TypeVar("Module", bound=nn.Module)


@dataclass(frozen=True)
class Source:
    """What a decoder looks at. `keys` are the annotations as its score reads them, computed once."""

    annotations: Tensor  # "batch input dim"
    mask: Tensor  # "batch input", True where there is something
    summary: Tensor  # "batch dim", the encoder's last state
    keys: Tensor  # "batch input key_dim"


@dataclass(frozen=True)
class Step:
    """What one step gives: its state, what it saw, and where it looked."""

    state: Tensor  # "batch dim"
    context: Tensor  # "batch input_dim"
    attention: Tensor  # "batch input"


@dataclass(frozen=True)
class Decoded:
    """A whole run. Attention is what was used: a row for each output, zero on padding."""

    ids: Tensor  # "batch output", up to and with the end, then padding
    logits: Tensor  # "batch output token"
    attention: Tensor  # "batch output input"


def same(x: Tensor) -> Tensor:
    """Nothing dropped."""
    return x


class Decoder(nn.Module):
    """A GRU with attention over annotations; it holds no state of any run."""

    def __init__(
        self,
        tokens: int,
        *,
        embedding_dim: int,
        hidden_dim: int,
        input_dim: int,
        attention: str = "additive",
        reach: float = windows.REACH,
    ) -> None:
        """`input_dim` is the width of the annotations, `reach` the window of local attention (Luong's D)."""
        super().__init__()
        if attention not in ATTENTIONS:
            raise ValueError(f"There is no attention {attention!r}; there are {', '.join(ATTENTIONS)}.")
        if attention == "dot" and hidden_dim != input_dim:
            raise ValueError(f"dot compares a state of {hidden_dim} with annotations of {input_dim}; both must be as wide.")
        self.attention, self.reach = attention, reach
        self.embedding = nn.Embedding(tokens, embedding_dim)
        self.bias = nn.Parameter(torch.empty(tokens))
        self.first = nn.Linear(input_dim, hidden_dim)
        self.gru = nn.GRUCell(embedding_dim + input_dim, hidden_dim)
        self.read = nn.Linear(hidden_dim + input_dim + embedding_dim, embedding_dim)
        if attention == "additive":
            self.key, self.query = nn.Linear(input_dim, hidden_dim // 2), nn.Linear(hidden_dim, hidden_dim // 2, bias=False)
            self.vector = nn.Linear(hidden_dim // 2, 1, bias=False)
        elif attention in ("general", "local"):
            self.key = nn.Linear(input_dim, hidden_dim, bias=False)
        if attention == "local":
            self.place, self.place_vector = nn.Linear(hidden_dim, hidden_dim), nn.Linear(hidden_dim, 1, bias=False)

    def source(self, annotations: Tensor, mask: Tensor, summary: Tensor) -> Source:
        """What an encoder made, ready to be looked at: annotations "batch input dim", mask "batch input", last state "batch
        dim"."""
        keys = self.key(annotations) if self.attention in ("additive", "general", "local") else annotations
        return Source(annotations, mask, summary, keys)

    def start(self, source: Source) -> Tensor:
        """The state before the first step, "batch dim": tanh(W · the encoder's last state)."""
        return torch.tanh(self.first(source.summary))

    def weights(self, source: Source, state: Tensor) -> Tensor:
        """The decoder's own weights α "batch input" for a state: they sum to one over the mask, with local attention to at
        most one (its Gaussian is not renormalized), with none to zero."""
        if self.attention == "none":
            return torch.zeros_like(source.annotations[..., 0])
        scores = self._scores(source, state)
        if self.attention == "local":
            center = windows.predicted(self.place_vector(torch.tanh(self.place(state))).squeeze(-1), source.mask)
            return windows.predictive(scores, center, source.mask, self.reach)
        return (uniform if self.attention == "uniform" else softmax)(scores, source.mask)

    def step(self, source: Source, state: Tensor, previous: Tensor, *, intervene: Intervention = keep) -> Step:
        """The step after a state and the embedding of the previous output "batch embedding". `intervene` gets the weights as
        layer 0, "batch 1 1 input"; a decoder without attention has none to change."""
        attention, context = self.weights(source, state), source.summary
        if self.attention != "none":
            attention = intervene(0, attention[:, None, None])[:, 0, 0]
            context = torch.einsum("bj,bjd->bd", attention, source.annotations)
        return Step(self.gru(torch.cat([previous, context], -1), state), context, attention)

    def logits(self, state: Tensor, context: Tensor, previous: Tensor, drop: Drop = same) -> Tensor:
        """Scores "… token" of what is written after a step that read `previous`."""
        readout = drop(torch.tanh(self.read(torch.cat([state, context, previous], -1))))
        return nn.functional.linear(readout, self.embedding.weight, self.bias)

    def forced(self, source: Source, ids: Tensor, *, intervene: Intervention = keep, drop: Drop = same) -> Decoded:
        """The run that reads the right outputs `ids` ("batch output", with the end, then padding) one behind: the logits at
        an output were given before it was read. `drop` is applied to embeddings and readouts in training."""
        before = torch.cat([torch.full_like(ids[:, :1], START), ids[:, :-1]], 1)
        embedding, state = drop(self.embedding(before)), self.start(source)
        steps: list[Step] = []
        for previous in embedding.unbind(1):
            steps.append(self.step(source, state, previous, intervene=intervene))
            state = steps[-1].state
        states, contexts = torch.stack([s.state for s in steps], 1), torch.stack([s.context for s in steps], 1)
        logits = self.logits(states, contexts, embedding, drop)  # all at once, since no step needs those of another
        return Decoded(ids, logits, torch.stack([s.attention for s in steps], 1))

    @torch.no_grad()
    def greedy(self, source: Source, limit: int, *, intervene: Intervention = keep, never: tuple[int, ...] = NEVER) -> Decoded:
        """The run that reads its own outputs, the likeliest each, until all rows have ended or `limit` outputs are written;
        `never` are ids that are not written."""
        if limit < 1:
            raise ValueError(f"At most {limit} outputs were asked for; at least one is written.")
        state, written = self.start(source), torch.full_like(source.mask[:, 0], START, dtype=torch.long)
        over = torch.zeros_like(source.mask[:, 0])
        ids: list[Tensor] = []
        logits: list[Tensor] = []
        attention: list[Tensor] = []
        while len(ids) < limit and not bool(over.all()):
            previous = self.embedding(written)
            step = self.step(source, state, previous, intervene=intervene)
            state = step.state
            logits.append(self.logits(state, step.context, previous))
            written = logits[-1].index_fill(-1, torch.tensor(never, device=over.device), -torch.inf).argmax(-1)
            written = written.masked_fill(over, PAD)
            ids.append(written)
            attention.append(step.attention.masked_fill(over[:, None], 0.0))
            over = over | (written == END)
        return Decoded(torch.stack(ids, 1), torch.stack(logits, 1), torch.stack(attention, 1))

    def _scores(self, source: Source, state: Tensor) -> Tensor:
        if self.attention == "additive":
            return self.vector(torch.tanh(source.keys + self.query(state)[:, None])).squeeze(-1)
        if self.attention == "uniform":
            return torch.zeros_like(source.annotations[..., 0])
        return torch.einsum("bjd,bd->bj", source.keys, state)


def fresh(build: Callable[[], Module], seed: int) -> Module:
    """A module with fresh weights that depend on the seed alone: embeddings normal (0.1), recurrent weights uniform within
    ±1/√width, other matrices Glorot, vectors zero, but one where they scale what is normalized."""
    with torch.device("meta"):
        module = build()
    module.to_empty(device="cpu")
    generator = torch.Generator().manual_seed(seed)
    for name, parameter in module.named_parameters():
        if name.endswith("embedding.weight"):
            nn.init.normal_(parameter, std=0.1, generator=generator)
        elif parameter.dim() == 1:
            nn.init.constant_(parameter, float("norm" in name and name.endswith("weight")))
        elif "gru" in name:
            bound = (parameter.shape[0] // 3) ** -0.5
            nn.init.uniform_(parameter, -bound, bound, generator=generator)
        else:
            nn.init.xavier_uniform_(parameter, generator=generator)
    return module
