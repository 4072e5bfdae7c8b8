"""Training: a model, examples, a loss and an intervention. The only place where weights change.

Every paper that trains changes one of two things, what is wanted (the loss) or what attention may be (the
intervention), and both are arguments here. The best epoch is chosen on validation; all randomness comes from one
generator, so that the same seed gives the same weights on one machine, interrupted or not.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Generic, Literal

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from core.interventions import keep
from core.models.text_model import Model, TextModel
from core.types import Batch, Example, Intervention, Loss, Run

Intervene = Callable[[Batch], Intervention]  # what is done to the attention of a batch
Watch = Callable[[Run, Batch], float]
Select = Literal["accuracy", "loss"]
STATE = "training.safetensors"  # where a training that may be interrupted stands, in its checkpoint folder


@dataclass(frozen=True)
class Epoch:
    """What one pass over the training data gave."""

    loss: float
    validation_accuracy: float
    validation_loss: float


@dataclass(frozen=True)
class Progress:
    """Where training stands: told after every batch and after every epoch. `watched` is what `watch` saw in the batch."""

    epoch: int
    epochs: int
    step: int
    steps: int
    loss: float
    history: tuple[Epoch, ...]
    watched: float | None = None


@dataclass(frozen=True)
class Fitted(Generic[Model]):
    """The model of the best epoch, and how all epochs went; `stopped` where the caller ended it early."""

    model: Model
    history: tuple[Epoch, ...]
    best: int
    stopped: bool


def as_it_is(batch: Batch) -> Intervention:
    """Attention as the model makes it."""
    return keep


def cross_entropy(run: Run, batch: Batch) -> Tensor:
    """Mean negative log-likelihood of the gold labels, in nats."""
    return torch.nn.functional.cross_entropy(run.logits, labels(batch))


def labels(batch: Batch) -> Tensor:
    """Gold label ids, "batch"."""
    return torch.tensor([_gold(e) for e in batch.examples], device=batch.ids.device)


def fit(
    model: Model,
    train: Sequence[Example],
    validation: Sequence[Example],
    *,
    loss: Loss = cross_entropy,
    intervene: Intervene = as_it_is,
    select: Select = "accuracy",
    frozen: Sequence[str] = (),
    epochs: int = 8,
    patience: int | None = None,
    rate: float = 1e-3,
    cooldown: bool = False,
    seed: int = 0,
    batch_size: int = 32,
    dropout: float = 0.0,
    watch: Watch | None = None,
    progress: Callable[[Progress], bool | None] | None = None,
    checkpoint: Path | None = None,
) -> Fitted[Model]:
    """The trained copy of `model` from its best epoch on validation, by accuracy or by the loss that is trained.

    Adam (amsgrad, weight decay 1e-5, as in Jain & Wallace's code but for the attention, which they do not decay), gradients
    clipped to norm 5, `dropout` on the embeddings; parameters named in `frozen` stay as they are. Ends after `patience`
    epochs without a better one. With `cooldown` the rate falls to zero over the last epoch. `progress` is called after each
    batch and each epoch and ends training by returning False. With a `checkpoint` folder each epoch is saved there and a later
    call goes on after it.
    """
    model = model.copied()
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name not in frozen)
    optimizer = torch.optim.Adam(model.parameters(), lr=rate, weight_decay=1e-5, amsgrad=True)
    generator = torch.Generator().manual_seed(seed)
    best, history = model.copied(), []
    if checkpoint is not None and (checkpoint / STATE).exists():
        history = [Epoch(**epoch) for epoch in restore(checkpoint, model, best, optimizer, generator)]
    stopped = False
    while not (stopped or _finished(history, epochs, patience, select)):
        total, batches = 0.0, list(batches_of([len(e.text) for e in train], batch_size, generator))
        for step, chosen in enumerate(batches, 1):
            if cooldown and len(history) == epochs - 1:
                optimizer.param_groups[0]["lr"] = rate * (1 - (step - 1) / len(batches))
            examples = [train[i] for i in chosen]
            value, run, batch = _step(model, optimizer, examples, loss, intervene, dropout, generator)
            total += value * len(examples)
            seen = watch(run, batch) if watch is not None else None
            now = Progress(len(history) + 1, epochs, step, len(batches), value, tuple(history), seen)
            stopped = progress is not None and progress(now) is False
            if stopped:
                return Fitted(best, tuple(history), _best(history, select), stopped)
        figures = evaluate(model, validation, loss=loss, intervene=intervene)
        history.append(Epoch(total / len(train), figures["accuracy"], figures["loss"]))
        if _best(history, select) == len(history) - 1:
            best.load_state_dict(model.state_dict())
        if checkpoint is not None:
            keep_state(checkpoint, model, best, optimizer, generator, [asdict(epoch) for epoch in history])
        done = Progress(len(history), epochs, len(batches), len(batches), total / len(train), tuple(history))
        stopped = progress is not None and progress(done) is False
    return Fitted(best, tuple(history), _best(history, select), stopped)


@torch.no_grad()
def evaluate(
    model: TextModel,
    examples: Sequence[Example],
    *,
    loss: Loss = cross_entropy,
    intervene: Intervene = as_it_is,
    batch_size: int = 64,
) -> dict[str, float]:
    """Accuracy, F1 (of the second class where there are two, else the mean over classes), mean loss (in nats by default),
    and n."""
    order = sorted(range(len(examples)), key=lambda i: len(examples[i].text))
    predicted, gold, total = [], [], 0.0
    for start in range(0, len(order), batch_size):
        batch = model.encode([examples[i] for i in order[start : start + batch_size]])
        run = model.run(batch, intervene=intervene(batch))
        total += float(loss(run, batch)) * len(batch.examples)
        predicted += run.logits.argmax(-1).tolist()
        gold += labels(batch).tolist()
    classes = [1] if len(model.card.task.labels) == 2 else sorted(set(gold))
    return {
        "accuracy": sum(p == g for p, g in zip(predicted, gold, strict=True)) / len(gold),
        "f1": sum(_f1(predicted, gold, c) for c in classes) / len(classes),
        "loss": total / len(gold),
        "n": len(gold),
    }


def _step(
    model: TextModel,
    optimizer: torch.optim.Optimizer,
    examples: Sequence[Example],
    loss: Loss,
    intervene: Intervene,
    dropout: float,
    generator: torch.Generator,
) -> tuple[float, Run, Batch]:
    batch = model.encode(examples)
    embedding, query = (dropped(e, dropout, generator) for e in (model.embed(batch), model.embed_query(batch)))
    run = model.run(batch, embedding=embedding, query_embedding=query, intervene=intervene(batch))
    return descend(model, optimizer, loss(run, batch), 5.0), run, batch


def descend(model: nn.Module, optimizer: torch.optim.Optimizer, loss: Tensor, largest: float) -> float:
    """One step down the gradient of a loss, clipped to the norm `largest`; returns the loss as a number."""
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), largest)
    optimizer.step()
    return float(loss.detach())


def dropped(embedding: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """Input vectors with a share of their numbers set to zero and the rest scaled up."""
    if not share or not embedding.numel():
        return embedding
    kept = torch.rand(embedding.shape, generator=generator) >= share
    return embedding * kept.to(embedding.device) / (1 - share)


def batches_of(lengths: Sequence[int], size: int, generator: torch.Generator) -> Iterator[list[int]]:
    """The numbers of examples that make a batch, of similar length and in random order: shuffled, sorted within windows of
    fifty batches, shuffled again."""
    order = torch.randperm(len(lengths), generator=generator).tolist()
    batches = []
    for start in range(0, len(order), 50 * size):
        window = sorted(order[start : start + 50 * size], key=lambda i: lengths[i])
        batches += [window[i : i + size] for i in range(0, len(window), size)]
    for i in torch.randperm(len(batches), generator=generator).tolist():
        yield batches[i]


def _best(history: Sequence[Epoch], select: Select) -> int:
    """The number of the best epoch so far; 0 before the first."""

    def merit(i: int) -> tuple[float, float]:
        accuracy, loss = history[i].validation_accuracy, history[i].validation_loss
        return (accuracy, -loss) if select == "accuracy" else (-loss, accuracy)

    return max(range(len(history)), key=merit, default=0)


def _finished(history: Sequence[Epoch], epochs: int, patience: int | None, select: Select) -> bool:
    waited = len(history) - 1 - _best(history, select)
    return len(history) >= epochs or (patience is not None and waited >= patience)


def _gold(example: Example) -> int:
    if example.label is None:
        raise ValueError(f"Example {example.id} has no label; training and evaluation need one.")
    return example.label


def _f1(predicted: Sequence[int], gold: Sequence[int], label: int) -> float:
    hits = sum(p == g == label for p, g in zip(predicted, gold, strict=True))
    named = sum(p == label for p in predicted) + sum(g == label for g in gold)
    return 2 * hits / named if named else 0.0


def keep_state(
    folder: Path,
    model: nn.Module,
    best: nn.Module,
    optimizer: torch.optim.Optimizer,
    generator: torch.Generator,
    history: Sequence[Mapping[str, float]],
) -> None:
    """Writes where a training stands, for `restore`."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {f"model.{k}": v for k, v in model.state_dict().items()} | {f"best.{k}": v for k, v in best.state_dict().items()}
    for index, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{index}.{name}": value for name, value in state.items()}
    tensors["generator"] = generator.get_state()
    kept = {k: v.detach().cpu().contiguous().clone() for k, v in tensors.items()}
    new = folder / f"{STATE}.new"
    save_file(kept, new, metadata={"history": json.dumps(history)})
    new.replace(folder / STATE)  # one file, so that weights and history never belong to different epochs


def restore(
    folder: Path, model: nn.Module, best: nn.Module, optimizer: torch.optim.Optimizer, generator: torch.Generator
) -> list[dict[str, float]]:
    """Puts a training back to where it stood, and returns its history."""
    with safe_open(folder / STATE, framework="pt") as file:
        tensors, history = {name: file.get_tensor(name) for name in file.keys()}, file.metadata()["history"]  # noqa: SIM118
    for prefix, target in (("model.", model), ("best.", best)):
        target.load_state_dict({k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)})
    state: dict[int, dict[str, Tensor]] = {}
    for key, value in tensors.items():
        if key.startswith("optimizer."):
            _, index, name = key.split(".", 2)
            state.setdefault(int(index), {})[name] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    generator.set_state(tensors["generator"])
    found: list[dict[str, float]] = json.loads(history)
    return found
