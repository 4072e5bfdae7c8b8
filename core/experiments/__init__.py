"""The arguments at the scale of a data set: tidy tables in parquet, one row per sentence and no sentence in them.

A run can be interrupted: finished parts lie beside the result and a later call goes on after them. Every file carries
where its figures come from (model and checksum, data, split, n, settings, command).
"""

import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq
import torch

from core import data, recipes
from core.experiments import (
    adversary,
    agreement,
    alignment,
    attribution,
    erasure,
    head_importance,
    identifiability,
    perceived,
    permutation,
    pruning,
    rationales,
    tree,
    triggers,
    variance,
    variants,
)
from core.experiments.cases import Row
from core.experiments.tables import RESULTS, keep, path_of
from core.experiments.tables import results as results
from core.models import registry
from core.models.classifier import Classifier
from core.models.self_attention import SelfAttention
from core.models.text_model import MultiHead, TextModel
from core.models.transformer import Transformer
from core.types import Card, Example, Refusal

PART = 64  # examples computed between two saves
Job = tuple[str, str, list[int], list[Example], Path]  # experiment, model, indices, examples, file


@dataclass(frozen=True)
class Experiment:
    """How the rows of a table are made from a model of a kind and examples, and which settings its provenance names.

    A table has a row for each example, computed in parts, or for each of several trained variants of the model; a table that is
    made of the `whole` split at once has rows of its own. `examples` are those of a data set, a split and a limit.
    """

    rows: Callable[[Any, Sequence[Example]], list[Row]]
    settings: Row
    kind: type[TextModel] = Classifier
    variants: Callable[[str], list[str]] | None = None  # of a base: then each part is one training over all examples
    precise: bool = True  # in double precision
    whole: bool = False
    split: str = "test"  # where none is named
    examples: Callable[[str, str, int | None], list[Example]] | None = None  # where others are asked than those of the split
    most: Mapping[str, int] = field(default_factory=dict)  # examples of a data set whose whole split would take too long


EXPERIMENTS: dict[str, Experiment] = {
    "agreement": Experiment(agreement.agreement, agreement.SETTINGS),
    "permutation": Experiment(permutation.permutation, permutation.SETTINGS),
    "adversary": Experiment(adversary.adversaries, adversary.SETTINGS),
    "identifiability": Experiment(identifiability.identifiability, identifiability.SETTINGS, MultiHead),
    "erasure": Experiment(erasure.erasure, erasure.SETTINGS),
    "rationales": Experiment(rationales.rationales, rationales.SETTINGS),
    "variance": Experiment(variance.seed_variance, variance.SETTINGS),
    "attribution": Experiment(
        attribution.compared, attribution.SETTINGS, Transformer, precise=False, examples=attribution.examples
    ),
    "tree": Experiment(tree.trees, tree.SETTINGS, Transformer, precise=False),
    "head-importance": Experiment(
        head_importance.head_importance,
        head_importance.SETTINGS,
        Transformer,
        precise=False,
        split=head_importance.SPLIT,
        examples=head_importance.examples,
    ),
    "pruning": Experiment(pruning.pruning, pruning.SETTINGS, Transformer, precise=False, most=pruning.MOST),
    "triggers": Experiment(triggers.triggers, triggers.SETTINGS, Transformer, precise=False, whole=True, most=triggers.MOST),
    **{
        name: Experiment(rows, {}, variants=of)
        for name, rows, of in (
            ("necessity", variants.necessity, variants.necessity_of),
            ("guide", variants.guide, variants.guide_of),
            ("trained-adversary", variants.trained_adversary, variants.trained_adversary_of),
            ("deception", variants.deception, variants.deception_of),
        )
    },
}
MEANS = (  # columns whose mean says something
    *("own", "others", "blank", "hit"),
    *(":tau", ":invisible", ":overlap", ":top_k_tau", "_tvd", ":tvd", "flipped", "jsd", "_05"),
    *(":auprc", ":f1", ":mass", ":comprehensiveness", ":sufficiency", "marked", "kept", "accuracy", "f1"),
    *("_fall", "bleu", "exact", "symbols", ":edges", ":error", ":special", ":special_attribution"),
)


def shown() -> list[tuple[str, str]]:
    """The tables that the pages show: experiment and model. Of trainings that are variants only what is about them."""
    found = [(name, base) for name, bases in variants.SHOWN.items() for base in bases]
    for card in registry.cards().values():
        if registry.suits(card, Transformer):
            found += [(name, card.name) for name in ("tree", "identifiability")] * (card.task.name == "sst2")
            found += [(name, card.name) for name in ("attribution", "head-importance", "pruning", "triggers")]
            continue
        parts = recipes.parse(card.name)
        if parts.data == "movie_rationales" or (parts.data.startswith("babi") and parts.score == "additive"):
            found.append(("rationales", card.name))
        if registry.suits(card, SelfAttention):
            found.append(("identifiability", card.name))
        elif parts.plain and parts.data != "movie_rationales":
            found += [(name, card.name) for name in ("agreement", "permutation", "adversary", "erasure")]
    found += [(name, model) for name, (model, _) in alignment.TABLES.items()]
    found += [("agreement", variants.seeded(variants.REVIEWS, seed)) for seed in range(1, 5)]
    return found + perceived.shown()


def done(name: str, root: Path = RESULTS) -> list[str]:
    """The models that an experiment was run for; some are not committed themselves (further seeds)."""
    tables = [path for path in (root / name).rglob("*.parquet") if path.parent.suffix != ".parts"]
    return sorted(path.relative_to(root / name).with_suffix("").as_posix().replace("@", ":") for path in tables)


def run(
    name: str,
    model_name: str,
    *,
    dataset: str,
    split: str | None = None,
    limit: int | None = None,
    workers: int = 1,
    root: Path = RESULTS,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Runs an experiment over a split, part by part, and returns the path of its table; goes on where an earlier call
    stopped."""
    if name in perceived.EXPERIMENTS:
        return perceived.run(name, model_name, dataset=dataset, split=split, limit=limit, root=root, progress=progress)
    if name in alignment.TABLES:
        return alignment.make(name, model_name, root=root, progress=progress)
    if name not in EXPERIMENTS:
        known = ", ".join([*EXPERIMENTS, *alignment.TABLES, *perceived.EXPERIMENTS])
        raise Refusal("unknown_experiment", f"There is no experiment {name!r}; there are {known}.", given=name)
    if workers < 1:
        raise Refusal("out_of_range", f"--workers is {workers}; at least 1 is allowed.", given=workers)
    card = registry.needed(_model(name, model_name), EXPERIMENTS[name].kind).card
    split = split or EXPERIMENTS[name].split
    limit = min((n for n in (limit, EXPERIMENTS[name].most.get(dataset)) if n is not None), default=None)
    examples = (EXPERIMENTS[name].examples or _load)(dataset, split, limit)
    settings = _settings(name, card, dataset, split, len(examples), limit)
    path = path_of(name, model_name, root)
    parts = _prepare(path.with_suffix(".parts"), settings)
    jobs = _jobs(name, model_name, examples, parts)
    left = [job for job in jobs if not job[-1].exists()]
    rows, made = sum(len(job[2]) for job in jobs), sum(len(job[2]) for job in jobs if job[-1].exists())
    started = time.time()
    for job, _ in zip(left, _each(left, workers), strict=True):
        made += len(job[2])
        if progress:
            progress(made, rows)
    _join(jobs, path, settings | {"seconds": round(time.time() - started, 1), "date": time.strftime("%Y-%m-%d")})
    shutil.rmtree(parts)
    return path


def _load(dataset: str, split: str, limit: int | None) -> list[Example]:
    return data.load(dataset, split, limit=limit)


def _settings(name: str, card: Card, dataset: str, split: str, n: int, limit: int | None) -> Row:
    """What a table's figures come from. Refuses a data set whose labels are not the model's."""
    if data.TASKS[dataset].labels != card.task.labels:
        sentence = f"{card.name} answers {', '.join(card.task.labels)}; {dataset} has {', '.join(data.TASKS[dataset].labels)}."
        raise Refusal("other_task", sentence, model=card.name, given=dataset)
    command = f"python -m core experiment {name} --model {card.name} --data {dataset} --split {split}"
    return {
        "experiment": name,
        "model": card.name,
        "weights_sha256": card.weights_sha256,
        "seed": card.seed,
        **EXPERIMENTS[name].settings,
        "data": dataset,
        "split": split,
        "n": n,
        "command": command + (f" --limit {limit}" if limit else ""),
    }


def _join(jobs: Sequence[Job], path: Path, provenance: Row) -> None:
    """Writes the parts as one table, in the order of the data, with its provenance."""
    frame = pd.concat([pd.read_parquet(job[-1]) for job in jobs]).sort_values("index", ignore_index=True)
    keep(frame, path, provenance)


def _jobs(name: str, model_name: str, examples: Sequence[Example], parts: Path) -> list[Job]:
    """Parts of examples of similar length, longest first, so that batches hold little padding, or one part for each
    variant, or one for the whole; each knows its indices."""
    if EXPERIMENTS[name].whole:
        return [(name, model_name, list(range(len(examples))), list(examples), parts / "00000.parquet")]
    if (of := EXPERIMENTS[name].variants) is not None:
        named = enumerate(of(model_name))
        return [(name, variant, [i], list(examples), parts / f"{i:05d}.parquet") for i, variant in named]
    order = sorted(range(len(examples)), key=lambda i: -len(examples[i].text))
    parted = [order[start : start + PART] for start in range(0, len(order), PART)]
    return [
        (name, model_name, index, [examples[i] for i in index], parts / f"{number:05d}.parquet")
        for number, index in enumerate(parted)
    ]


def _prepare(parts: Path, settings: Row) -> Path:
    """An empty folder for parts, or the one that an interrupted run with the same settings left."""
    stamp = parts / "settings.json"
    if not (stamp.exists() and json.loads(stamp.read_text()) == settings):
        shutil.rmtree(parts, ignore_errors=True)
        parts.mkdir(parents=True)
        stamp.write_text(json.dumps(settings))
    return parts


def _each(jobs: Sequence[Job], workers: int) -> Iterator[Path]:
    workers = min(workers, len(jobs))
    if workers < 2:
        yield from map(_part, jobs)
        return
    with ProcessPoolExecutor(workers, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        yield from pool.map(_part, jobs)


def _part(job: Job) -> Path:
    """Computes and saves one part; batches inside it stay small so that long texts fit in memory."""
    name, model_name, index, examples, path = job
    model = _model(name, model_name)
    kind = EXPERIMENTS[name]
    if kind.variants is not None or kind.whole:
        rows = kind.rows(model, examples)
        index = list(range(len(rows))) if kind.whole else index
    else:
        rows = _in_batches(name, model.precise() if kind.precise else model, examples)
    frame = pd.DataFrame([{"index": i, **row} for i, row in zip(index, rows, strict=True)])
    frame.to_parquet(path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)
    return path


def _model(name: str, model_name: str) -> TextModel:
    """The committed model, or for a table of variants one that was trained here or is trained now."""
    return registry.load(model_name) if EXPERIMENTS[name].variants is None else variants.obtain(model_name)


def _in_batches(name: str, model: TextModel, examples: Sequence[Example]) -> list[Row]:
    rows: list[Row] = []
    size = max(1, 4096 // max(len(e.text) for e in examples))
    for start in range(0, len(examples), size):
        rows += EXPERIMENTS[name].rows(model, examples[start : start + size])
    return rows


def describe(path: Path) -> Row:
    """What a table holds, as plain values: its provenance and the means of its measured columns."""
    frame = pq.read_table(path).to_pandas()
    provenance = json.loads(pq.read_schema(path).metadata[b"provenance"])
    means = {c: (None if pd.isna(m := frame[c].mean()) else float(m)) for c in frame.columns if c.endswith(MEANS)}
    return {"written": str(path), "provenance": provenance, "means": means}
