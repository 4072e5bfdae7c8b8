"""Training a translator: the right outputs are told one behind, and the best epoch is the one that *writes* best.

    loss = −(1 − ε) log p(y_i | y_<i, x) − ε mean_v log p(v | y_<i, x)      label smoothing ε, mean over outputs

Validation is written greedily and scored (BLEU, or the share that is exactly right), as it will be used. Adam, gradients
clipped to norm 1, a rate that falls to a twentieth over all steps; a share of the numbers of embeddings, annotations and
readouts is dropped. All randomness comes from one generator; each epoch is kept, and a later call goes on from there.
"""

from collections.abc import Callable, Iterator, Sequence
from copy import deepcopy
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import torch
from torch import Tensor, nn

from core.interventions import keep
from core.models.decoder import NEVER, Decoded, Drop, same
from core.models.vocabulary import PAD
from core.training import STATE, batches_of, descend, dropped, keep_state, restore
from core.types import Intervention, Pair

At = Callable[[Tensor], Intervention]  # what is done to the attention over texts with this mask, "batch input"


class Writer(Protocol):
    """What can be trained on pairs: a module with these, with or without recurrence."""

    def encode(self, texts: Sequence[Sequence[str]]) -> Tensor: ...
    def targets(self, texts: Sequence[Sequence[str]]) -> Tensor: ...
    def forced(self, ids: Tensor, targets: Tensor, *, intervene: Intervention = keep, drop: Drop = same) -> Decoded: ...
    def written(self, ids: Tensor, *, intervene: Intervention = keep, never: tuple[int, ...] = NEVER) -> Decoded: ...
    def words(self, ids: Sequence[int]) -> tuple[str, ...]: ...
    def parameters(self) -> Iterator[nn.Parameter]: ...


M = TypeVar("M", bound=Writer)
Score = Callable[[Sequence[tuple[str, ...]], Sequence[Pair]], float]


@dataclass(frozen=True)
class Epoch:
    """What one pass over the training pairs gave; losses in nats per output, without smoothing on validation."""

    loss: float
    validation_loss: float
    validation_score: float


@dataclass(frozen=True)
class Fitted(Generic[M]):
    """The translator of the best epoch, and how all epochs went; `stopped` where the caller ended it early."""

    model: M
    history: tuple[Epoch, ...]
    best: int
    stopped: bool


def exact(written: Sequence[tuple[str, ...]], pairs: Sequence[Pair]) -> float:
    """The share of texts that are written exactly as they should be."""
    return sum(w == p.target for w, p in zip(written, pairs, strict=True)) / len(pairs)


def bleu(written: Sequence[tuple[str, ...]], pairs: Sequence[Pair]) -> float:
    """BLEU of the corpus, 0 to 100, by sacrebleu on the words as they come (Papineni et al. 2002; Post 2018)."""
    # Imported here because only training and experiments need it, not the dashboard.
    import sacrebleu

    references = [[" ".join(pair.target) for pair in pairs]]
    return float(sacrebleu.corpus_bleu([" ".join(w) for w in written], references, tokenize="none", force=True).score)


def fit(
    model: M,
    train: Sequence[Pair],
    validation: Sequence[Pair],
    *,
    score: Score,
    epochs: int,
    rate: float = 1e-3,
    batch_size: int = 64,
    dropout: float = 0.3,
    smoothing: float = 0.1,
    seed: int = 0,
    progress: Callable[[Sequence[Epoch]], bool | None] | None = None,
    checkpoint: Path | None = None,
) -> Fitted[M]:
    """The trained copy of `model` from the epoch with the best score on validation (ties: the lower loss).

    `progress` is called after each epoch and ends training by returning False. With a `checkpoint` folder each epoch is saved
    there and a later call goes on after it.
    """
    trained: Any = deepcopy(model)
    best: Any = deepcopy(model)
    optimizer = torch.optim.Adam(trained.parameters(), lr=rate)
    generator, history = torch.Generator().manual_seed(seed), []
    if checkpoint is not None and (checkpoint / STATE).exists():
        history = [Epoch(**epoch) for epoch in restore(checkpoint, trained, best, optimizer, generator)]
    texts, targets = ([getattr(pair, part) for pair in train] for part in ("text", "target"))
    drop: Drop = lambda x: dropped(x, dropout, generator)  # noqa: E731
    stopped = False
    while len(history) < epochs and not stopped:
        total, batches = 0.0, list(batches_of([len(t) for t in texts], batch_size, generator))
        for step, chosen in enumerate(batches):
            done = (len(history) + step / len(batches)) / epochs
            optimizer.param_groups[0]["lr"] = rate * (1 - 0.95 * done)
            ids, wanted = trained.encode([texts[i] for i in chosen]), trained.targets([targets[i] for i in chosen])
            total += descend(trained, optimizer, _loss(trained.forced(ids, wanted, drop=drop), smoothing), 1.0) * len(chosen)
        history.append(Epoch(total / len(train), loss_of(trained, validation), score(write(trained, validation), validation)))
        if best_of(history) == len(history) - 1:
            best.load_state_dict(trained.state_dict())
        if checkpoint is not None:
            keep_state(checkpoint, trained, best, optimizer, generator, [asdict(epoch) for epoch in history])
        stopped = progress is not None and progress(tuple(history)) is False
    return Fitted(best, tuple(history), best_of(history), stopped)


@torch.no_grad()
def loss_of(model: Writer, pairs: Sequence[Pair], batch_size: int = 128) -> float:
    """Mean negative log-likelihood of the right outputs, in nats per output, unknown words counted as one word."""
    total, n = 0.0, 0
    for chosen in _sorted(pairs, batch_size):
        run = model.forced(model.encode([pairs[i].text for i in chosen]), model.targets([pairs[i].target for i in chosen]))
        outputs = int((run.ids != PAD).sum())
        total, n = total + float(_loss(run, 0.0)) * outputs, n + outputs
    return total / n


def write(
    model: Writer, pairs: Sequence[Pair], *, at: At = lambda mask: keep, batch_size: int = 128
) -> list[tuple[str, ...]]:
    """What the model writes for each text, in their order, its attention changed by `at`."""
    found: dict[int, tuple[str, ...]] = {}
    for chosen in _sorted(pairs, batch_size):
        ids = model.encode([pairs[i].text for i in chosen])
        run = model.written(ids, intervene=at(ids != PAD))
        found |= {i: model.words(row) for i, row in zip(chosen, run.ids.tolist(), strict=True)}
    return [found[i] for i in range(len(pairs))]


def best_of(history: Sequence[Epoch]) -> int:
    """The number of the epoch with the best score; 0 before the first."""
    return max(range(len(history)), key=lambda i: (history[i].validation_score, -history[i].validation_loss), default=0)


def _loss(run: Decoded, smoothing: float) -> Tensor:
    logits = run.logits.flatten(0, 1)
    return torch.nn.functional.cross_entropy(logits, run.ids.flatten(), ignore_index=PAD, label_smoothing=smoothing)


def _sorted(pairs: Sequence[Pair], size: int) -> list[list[int]]:
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i].text))
    return [order[i : i + size] for i in range(0, len(order), size)]
