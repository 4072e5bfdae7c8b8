"""Training what writes of scenes and sounds: `python -m core train scenes/soft`, `make models`.

    loss = Σ_t −log p(word_t | words before, signal) + λ Σ_i (1 − Σ_t α_ti)²      mean over the batch

Scenes and sounds cost nothing to make, so each epoch has new ones and none is seen twice. The best epoch is the one that writes
most validation captions exactly; test is written once, for the card. Adam, gradients clipped to norm 1, a rate that rises over
a hundred steps and then falls as a cosine. Each epoch is kept, and a later call goes on from there.
"""

import dataclasses
import math
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from core import scenes, sounds
from core.models import perceivers
from core.models.captioner import doubly_stochastic
from core.models.perceiver import Perceiver, PerceiverCard
from core.models.registry import CHECKPOINTS
from core.models.vocabulary import PAD
from core.training import STATE, Epoch, Progress, batches_of, descend, keep_state, restore
from core.types import Refusal

WARM_UP = 100  # steps in which the rate rises
CHECKED = 500  # examples of validation and of each test
TRAINED, VALIDATED, TESTED = 0, 1_000_000, 2_000_000  # seeds of what is drawn


@dataclass(frozen=True)
class Sense:
    """Where examples come from, what the model is given of one, and what it should write."""

    drawn: Callable[[Any, int, int], Sequence[Any]]  # split, how many, seed
    signal: Callable[[Any], Tensor]
    text: Callable[[Any, scenes.Language], tuple[str, ...]]
    tests: dict[str, str]  # what each split to be tested holds
    terms: str


def _recordings(which: sounds.Split, n: int, seed: int) -> list[sounds.Sound]:
    return [sounds.recording(letters, seed + i) for i, letters in enumerate(sounds.strings(which, n, seed))]


SENSES = {
    "scene": Sense(
        scenes.scenes,
        scenes.draw,
        lambda scene, language: scenes.caption(scene, language).words,
        {"test": "an object that training never had in that place", "new-kinds": "a colour and shape never seen together"},
        "Drawn by this project.",
    ),
    "sound": Sense(
        _recordings,
        lambda sound: sounds.spectrogram(sound.samples),
        lambda sound, language: tuple(sound.letters),
        {"test": "strings of 3 to 8 letters never heard, 4 to 10 letters a second, noise 0 to 1"},
        "Synthesized by this project.",
    ),
}


@dataclass(frozen=True)
class Recipe:
    """How a perceiver is trained; `doubly` is λ."""

    sense: str
    words: tuple[str, ...]
    max_output: int
    language: scenes.Language = "en"
    doubly: float = 0.0
    examples: int = 16_000  # of an epoch
    epochs: int = 16
    rate: float = 2e-3
    batch_size: int = 64
    embedding_dim: int = 32
    hidden_dim: int = 64


SCENES = Recipe("scene", scenes.WORDS["en"], max_output=16)
RECIPES: dict[str, Recipe] = {
    "scenes/soft": SCENES,
    "scenes/soft:doubly=1": dataclasses.replace(SCENES, doubly=1.0),
    "scenes/soft:language=ko": dataclasses.replace(SCENES, words=scenes.WORDS["ko"], language="ko"),
    "sounds/gru-additive": Recipe("sound", tuple(sounds.LETTERS), max_output=12, examples=8_000, epochs=20),
}
FLOORS = {"scenes/soft": 0.95, "sounds/gru-additive": 0.95}  # of exact captions and strings


def train(
    name: str,
    *,
    progress: Callable[[Progress], bool | None] | None = None,
    checkpoint: Path | None = None,
    checkpoints: Path = CHECKPOINTS,
    seed: int = 0,
) -> PerceiverCard | None:
    """Trains and saves a perceiver, measures it as read back, and returns its card; None where `progress` stopped it."""
    if name not in RECIPES:
        allowed = ", ".join(RECIPES)
        raise Refusal("unknown_model", f"There is no recipe for {name!r}; there are {allowed}.", given=name, allowed=allowed)
    recipe = RECIPES[name]
    sense = SENSES[recipe.sense]
    model = perceivers.fresh(_draft(name, recipe, seed))
    best, history = fit(model, recipe, seed=seed, progress=progress, checkpoint=checkpoint)
    if len(history) < recipe.epochs:
        return None
    chosen = best_of(history)
    training = {
        "data": recipe.sense,
        "n": recipe.examples * recipe.epochs,
        "epochs": recipe.epochs,
        "best_epoch": chosen + 1,
        "selected_on": f"exact on validation, n = {CHECKED}",
        "validation_accuracy": history[chosen].validation_accuracy,
        "rate": recipe.rate,
        "doubly_stochastic": recipe.doubly,
    }
    card = dataclasses.replace(best.card, training=training, parameters=sum(p.numel() for p in best.parameters()))
    perceivers.save(best, card, checkpoints)
    saved = perceivers.load(name, recipe.sense, checkpoints)
    test: dict[str, Any] = {"n": CHECKED, "split": "test"} | ({"floor": FLOORS[name]} if name in FLOORS else {})
    for split, what in sense.tests.items():
        examples = sense.drawn(split, CHECKED, TESTED)
        test[split.replace("-", "_")] = {"exact": exact(saved, recipe.language, examples), "unseen": what}
    card = dataclasses.replace(saved.card, test={"accuracy": test["test"]["exact"], **test})
    perceivers.write_card(card, checkpoints)
    if checkpoint is not None:
        shutil.rmtree(checkpoint, ignore_errors=True)
    return card


def fit(
    model: Perceiver,
    recipe: Recipe,
    *,
    seed: int = 0,
    progress: Callable[[Progress], bool | None] | None = None,
    checkpoint: Path | None = None,
) -> tuple[Perceiver, tuple[Epoch, ...]]:
    """The trained copy of `model` from the epoch with the most exact captions on validation (ties: the lower loss), and how
    the epochs went; fewer than the recipe's where `progress` returned False."""
    model, best, sense = model.copied(), model.copied(), SENSES[recipe.sense]
    optimizer = torch.optim.Adam(model.parameters(), lr=recipe.rate)
    generator = torch.Generator().manual_seed(seed)
    history: list[Epoch] = []
    if checkpoint is not None and (checkpoint / STATE).exists():
        history = [Epoch(**epoch) for epoch in restore(checkpoint, model, best, optimizer, generator)]
    validation = sense.drawn("validation", CHECKED, VALIDATED)
    while len(history) < recipe.epochs:
        examples = sense.drawn("train", recipe.examples, TRAINED + len(history) * recipe.examples)
        lengths = [len(sense.text(example, recipe.language)) for example in examples]
        batches, total = list(batches_of(lengths, recipe.batch_size, generator)), 0.0
        for step, chosen in enumerate(batches):
            done = len(history) * len(batches) + step
            optimizer.param_groups[0]["lr"] = recipe.rate * _schedule(done, recipe.epochs * len(batches))
            value = descend(model, optimizer, loss_of(model, recipe, [examples[i] for i in chosen]), 1.0)
            total += value * len(chosen)
            now = Progress(len(history) + 1, recipe.epochs, step + 1, len(batches), value, tuple(history))
            if progress is not None and progress(now) is False:
                return best, tuple(history)
        with torch.no_grad():
            loss = float(loss_of(model, recipe, validation))
        history.append(Epoch(total / len(examples), exact(model, recipe.language, validation), loss))
        if best_of(history) == len(history) - 1:
            best.load_state_dict(model.state_dict())
        if checkpoint is not None:
            keep_state(checkpoint, model, best, optimizer, generator, [asdict(epoch) for epoch in history])
        over = Progress(len(history), recipe.epochs, len(batches), len(batches), total / len(examples), tuple(history))
        if progress is not None and progress(over) is False:
            break
    return best.requires_grad_(False), tuple(history)


def loss_of(model: Perceiver, recipe: Recipe, examples: Sequence[Any]) -> Tensor:
    """Mean over examples of the negative log-likelihood of a caption in nats, with the recipe's second term."""
    sense = SENSES[recipe.sense]
    targets = model.targets([sense.text(example, recipe.language) for example in examples])
    run = model.forced([sense.signal(example) for example in examples], targets)
    spoken = targets != PAD
    nats = torch.nn.functional.cross_entropy(run.logits.flatten(0, 1), targets.flatten(), ignore_index=PAD, reduction="sum")
    value = nats / len(examples)
    return value + recipe.doubly * doubly_stochastic(run.attention, spoken) if recipe.doubly else value


def exact(model: Perceiver, language: scenes.Language, examples: Sequence[Any], batch_size: int = 100) -> float:
    """The share of examples of which exactly the right words are written."""
    sense, right = SENSES[model.card.sense], 0
    for start in range(0, len(examples), batch_size):
        some = examples[start : start + batch_size]
        written = model.written([sense.signal(example) for example in some]).ids.tolist()
        right += sum(model.words(row) == sense.text(e, language) for row, e in zip(written, some, strict=True))
    return right / len(examples)


def best_of(history: Sequence[Epoch]) -> int:
    """The number of the epoch with the best validation; 0 before the first."""
    return max(range(len(history)), key=lambda i: (history[i].validation_accuracy, -history[i].validation_loss), default=0)


def _schedule(step: int, steps: int) -> float:
    return min(1.0, (step + 1) / WARM_UP) * 0.5 * (1 + math.cos(math.pi * step / steps))


def _draft(name: str, recipe: Recipe, seed: int) -> PerceiverCard:
    return PerceiverCard(
        name=name,
        sense=recipe.sense,
        language=recipe.language,
        words=recipe.words,
        embedding_dim=recipe.embedding_dim,
        hidden_dim=recipe.hidden_dim,
        max_output=recipe.max_output,
        parameters=0,
        seed=seed,
        weights_sha256="",
        terms=SENSES[recipe.sense].terms,
        test={},
        training={},
    )
