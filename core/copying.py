"""How far does a signal reach? Copying a row of symbols, by a recurrent network with and without attention.

A GRU reads n symbols one after the other and another one writes them down again. Without attention all that it read must pass
through its last state, n − 1 steps after the first symbol, and so must the gradient that teaches it; attention opens a way of a
single step. This is the argument for attention in Bahdanau, Cho and Bengio (2015, §1); that gradients fade or explode over many
steps is Bengio, Simard and Frasconi (1994).

    reach(n) = ‖∂ z_1 / ∂h_1‖,  z_1 the logit with which the first symbol is written, h_1 the state in which it was read
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from core.models.decoder import Decoder, fresh
from core.models.vocabulary import END, SPECIALS
from core.training import descend

SYMBOLS, EMBEDDING, DIM = 10, 16, 64
LENGTHS = (5, 10, 15, 20, 30, 40, 60, 80)
STEPS, BATCH, RATE = 2500, 32, 3e-3
TESTED = 200  # rows of symbols at each length


class Copier(nn.Module):
    """Reads from left to right and writes; with `attention` "none" the last state is all that is handed over."""

    def __init__(self, attention: str) -> None:
        super().__init__()
        tokens = len(SPECIALS) + SYMBOLS
        self.embedding, self.gru = nn.Embedding(tokens, EMBEDDING), nn.GRUCell(EMBEDDING, DIM)
        self.decoder = Decoder(tokens, embedding_dim=EMBEDDING, hidden_dim=DIM, input_dim=DIM, attention=attention)

    def states(self, ids: Tensor) -> list[Tensor]:
        """The state after each symbol, "batch dim" each."""
        states = [ids.new_zeros(len(ids), DIM, dtype=self.embedding.weight.dtype)]
        for embedding in self.embedding(ids).unbind(1):
            states.append(self.gru(embedding, states[-1]))
        return states[1:]

    def forward(self, ids: Tensor, states: list[Tensor] | None = None) -> tuple[Tensor, list[Tensor]]:
        """Logits "batch output token", told the right outputs, and the states that were read from."""
        states = self.states(ids) if states is None else states
        source = self.decoder.source(torch.stack(states, 1), torch.ones_like(ids, dtype=torch.bool), states[-1])
        return self.decoder.forced(source, written(ids)).logits, states

    @torch.no_grad()
    def copy(self, ids: Tensor) -> Tensor:
        """What is written by itself, as many symbols as were read, "batch output"."""
        states = self.states(ids)
        source = self.decoder.source(torch.stack(states, 1), torch.ones_like(ids, dtype=torch.bool), states[-1])
        made = self.decoder.greedy(source, ids.shape[1]).ids
        return nn.functional.pad(made, (0, ids.shape[1] - made.shape[1]))


@dataclass(frozen=True)
class Reach:
    """What a copier does with rows of one length: shares of rows and of symbols that come out right, and how strongly the
    state in which the first symbol was read still moves the logit with which it is written."""

    length: int
    exact: float
    symbols: float
    gradient: float
    n: int


def build(attention: str, seed: int) -> Copier:
    """A copier with fresh weights that depend on the seed alone."""
    return fresh(lambda: Copier(attention), seed)


def drawn(length: int, n: int, generator: torch.Generator) -> Tensor:
    """Rows of symbols, "n length"."""
    return torch.randint(len(SPECIALS), len(SPECIALS) + SYMBOLS, (n, length), generator=generator)


def written(ids: Tensor) -> Tensor:
    """What is to be written: the same and the end."""
    return nn.functional.pad(ids, (0, 1), value=END)


def trained(attention: str, seed: int, steps: int = STEPS, longest: int = LENGTHS[-1]) -> Copier:
    """A copier after `steps` batches of rows whose length is drawn anew each time, up to a limit that grows with the training
    from the shortest length to `longest`, which it reaches after two thirds. Weights and rows depend on the seed alone."""
    model, generator = build(attention, seed), torch.Generator().manual_seed(seed)
    optimizer = torch.optim.Adam(model.parameters(), lr=RATE)
    for step in range(steps):
        optimizer.param_groups[0]["lr"] = RATE * (1 - 0.9 * step / steps)
        limit = min(longest, LENGTHS[0] + int((longest - LENGTHS[0]) * 1.5 * step / steps))
        length = int(torch.randint(LENGTHS[0], limit + 1, (1,), generator=generator))
        ids = drawn(length, BATCH, generator)
        logits, _ = model(ids)
        descend(model, optimizer, nn.functional.cross_entropy(logits.flatten(0, 1), written(ids).flatten()), 1.0)
    return model


def reach(model: Copier, length: int, n: int = TESTED) -> Reach:
    """How well rows of a length are copied, on rows that depend on the length alone."""
    ids = drawn(length, n, torch.Generator().manual_seed(10_000 + length))
    right = model.copy(ids) == ids
    return Reach(
        length=length,
        exact=float(right.all(-1).float().mean()),
        symbols=float(right.float().mean()),
        gradient=gradient(model, ids[:BATCH]),
        n=n,
    )


def gradient(model: Copier, ids: Tensor) -> float:
    """reach(n) of the rows, their mean."""
    with torch.enable_grad():
        logits, states = model(ids)
        own = logits[:, 0].gather(-1, ids[:, :1])
        (slope,) = torch.autograd.grad(own.sum(), states[0])
    return float(slope.norm(dim=-1).mean())
