"""The arguments at the scale of a data set: tidy tables in parquet, one row per sentence and no sentence in them.

A run can be interrupted: finished parts lie beside the result and a later call goes on after them. Every file carries
where its figures come from (model and checksum, data, split, n, settings, command).
"""

import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import torch
from torch import Tensor

from core import data, importance
from core.debate.adversary import EPSILON, adversary
from core.debate.permutation import permutations
from core.explanation import TIES, measured, pair
from core.models import registry
from core.models.classifier import Classifier
from core.types import Batch, Card, Example, Refusal

RESULTS = registry.ASSETS / "results"
PART = 64  # examples computed between two saves
IG_NODES = 8  # rank the words of SST as 100 do: tau 1.000 over 60 sentences
SHUFFLES, SHUFFLE_SEED = 100, 0  # as many as in the paper
Row = dict[str, Any]
Job = tuple[str, str, list[int], list[Example], Path]  # experiment, model, indices, examples, file


def agreement(model: Classifier, examples: Sequence[Example], *, nodes: int = IG_NODES) -> list[Row]:
    """One row per example: lengths, prediction, and for each pair of measures tau-b, its p, top-k overlap and top-k
    tau.

    In double precision, for the predicted class, LOO ties below 1e-7 tied. Jain & Wallace 2019, Algorithm 1.
    """
    batch = model.encode(examples)
    with torch.no_grad():
        prob = importance.probabilities(model.run(batch).logits)
    scores, _ = measured(model, batch, prob.argmax(-1), sorted({m for both in PAIRS for m in both}), nodes=nodes)
    rows = _cases(batch, prob, [max(weights) for weights in scores["attention"]])
    for i, (row, example) in enumerate(zip(rows, batch.examples, strict=True)):
        for a, b in PAIRS:
            both = (scores[a][i], scores[b][i])
            short = any(len(values) != len(example.text) for values in both)
            first, second = ([None], [None]) if short else both
            found = pair(first, second, TIES.get(a, 0.0), TIES.get(b, 0.0))
            row |= {f"{a}~{b}:tau": found.kendall.kendall_tau, f"{a}~{b}:p": found.kendall.p_value}
            row |= {f"{a}~{b}:overlap": found.top_k.overlap, f"{a}~{b}:top_k_tau": found.top_k.tau}
    return rows


PAIRS = (
    ("attention", "gradient"),
    ("attention", "leave_one_out"),
    ("attention", "integrated_gradients"),
    ("gradient", "leave_one_out"),
)

QUANTILES = {"q05_tvd": 0.05, "q25_tvd": 0.25, "median_tvd": 0.5, "q75_tvd": 0.75, "q95_tvd": 0.95}


def permutation(model: Classifier, examples: Sequence[Example]) -> list[Row]:
    """One row per example: length, prediction, largest weight, and quantiles and mean of the total variation distance over 100
    shuffles of its attention; `flipped` is the share of shuffles that change the predicted label.

    Jain & Wallace 2019, Algorithm 2.
    """
    batch = model.encode(examples)
    found = permutations(model, batch, n=SHUFFLES, seed=SHUFFLE_SEED)
    target = found.original.argmax(-1)
    flipped = (found.prob.argmax(-1) != target[:, None]).double().mean(-1)
    quantiles = {name: found.tvd.quantile(share, dim=-1) for name, share in QUANTILES.items()}
    return [
        {
            **case,
            **{name: float(values[i]) for name, values in quantiles.items()},
            "mean_tvd": float(found.tvd[i].mean()),
            "flipped": float(flipped[i]),
        }
        for i, case in enumerate(_cases(batch, found.original, found.max_attention.tolist()))
    ]


LOOSE, SEARCH_SEED = 0.05, 0  # the epsilon at which the published ε-max JSD were selected, whatever the task


def adversaries(model: Classifier, examples: Sequence[Example]) -> list[Row]:
    """One row per example: length, prediction, largest weight; JSD, TVD and bound of the exact adversary at the default
    epsilon; at 0.05 JSD and bound of the exact one, and JSD of the published search.

    Jain & Wallace 2019, Algorithm 3 and Figures 7 and 8.
    """
    batch = model.encode(examples)
    exact, loose = adversary(model, batch), adversary(model, batch, epsilon=LOOSE)
    searched = adversary(model, batch, epsilon=LOOSE, method="search", seed=SEARCH_SEED)
    with torch.no_grad():
        prob = importance.probabilities(model.run(batch).logits)
    return [
        {
            **case,
            "jsd": exact[i].jsd[0],
            "tvd": exact[i].tvd[0],
            "upper_bound": exact[i].upper_bound,
            "exact": exact[i].exact,
            "jsd_exact_05": loose[i].jsd[0],
            "upper_bound_05": loose[i].upper_bound,
            "jsd_search_05": searched[i].jsd[0],
        }
        for i, case in enumerate(_cases(batch, prob, [max(found.original) for found in exact]))
    ]


def _cases(batch: Batch, prob: Tensor, largest: Sequence[float]) -> list[Row]:
    """What every table says of each example: its length as the model read it, label, prediction, largest weight."""
    return [
        {
            "n_words": len(example.text),
            "label": example.label,
            "predicted": int(p.argmax()),
            "prob": float(p.max()),
            "max_attention": weight,
        }
        for example, p, weight in zip(batch.examples, prob, largest, strict=True)
    ]


EXPERIMENTS: dict[str, Callable[[Classifier, Sequence[Example]], list[Row]]] = {
    "agreement": agreement,
    "permutation": permutation,
    "adversary": adversaries,
}
SETTINGS: dict[str, Row] = {  # what a table's provenance says beside model and data
    "agreement": {"integrated_gradients_nodes": IG_NODES},
    "permutation": {"shuffles": SHUFFLES, "shuffle_seed": SHUFFLE_SEED},
    "adversary": {"epsilon": EPSILON, "epsilon_of_published": LOOSE, "search_seed": SEARCH_SEED},
}
MEANS = (":tau", ":overlap", ":top_k_tau", "_tvd", "flipped", "jsd", "_05")  # columns whose mean says something


def path_of(name: str, model: str, root: Path = RESULTS) -> Path:
    """Where the table of an experiment with a model is."""
    return root / name / f"{model.replace(':', '@')}.parquet"


def results(name: str, model: str, root: Path = RESULTS) -> pd.DataFrame:
    """The table, with its provenance in `attrs["provenance"]`. Refuses where the experiment was not run or its file is
    damaged."""
    path = path_of(name, model, root)
    if not path.exists():
        raise Refusal(
            "no_results",
            f"{name} was not run for {model}; `python -m core experiment {name} --model {model}` makes it.",
            name=name,
            model=model,
        )
    try:
        table = pq.read_table(path)
        frame = table.to_pandas()
        frame.attrs["provenance"] = json.loads(table.schema.metadata[b"provenance"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        sentence = f"The results of {name} for {model} in {path} cannot be read; `make results` makes them again."
        raise Refusal("damaged_results", sentence, name=name, model=model) from error
    return frame


def done(name: str, root: Path = RESULTS) -> list[str]:
    """The models that an experiment was run for; some are not committed themselves (further seeds)."""
    tables = [path for path in (root / name).rglob("*.parquet") if path.parent.suffix != ".parts"]
    return sorted(path.relative_to(root / name).with_suffix("").as_posix().replace("@", ":") for path in tables)


def run(
    name: str,
    model_name: str,
    *,
    dataset: str,
    split: str = "test",
    limit: int | None = None,
    workers: int = 1,
    root: Path = RESULTS,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Runs an experiment over a split, part by part, and returns the path of its table; goes on where an earlier call
    stopped."""
    if name not in EXPERIMENTS:
        raise Refusal("unknown_experiment", f"There is no experiment {name!r}; there are {', '.join(EXPERIMENTS)}.", given=name)
    if workers < 1:
        raise Refusal("out_of_range", f"--workers is {workers}; at least 1 is allowed.", given=workers)
    card = registry.load(model_name).card
    examples = data.load(dataset, split, limit=limit)
    settings = _settings(name, card, dataset, split, len(examples), limit)
    path = path_of(name, model_name, root)
    parts = _prepare(path.with_suffix(".parts"), settings)
    jobs = _jobs(name, model_name, examples, parts)
    left = [job for job in jobs if not job[-1].exists()]
    started = time.time()
    for finished, _ in enumerate(_each(left, workers), len(jobs) - len(left) + 1):
        if progress:
            progress(min(finished * PART, len(examples)), len(examples))
    _join(jobs, path, settings | {"seconds": round(time.time() - started, 1), "date": time.strftime("%Y-%m-%d")})
    shutil.rmtree(parts)
    return path


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
        **SETTINGS[name],
        "data": dataset,
        "split": split,
        "n": n,
        "command": command + (f" --limit {limit}" if limit else ""),
    }


def _join(jobs: Sequence[Job], path: Path, provenance: Row) -> None:
    """Writes the parts as one table, in the order of the data, with its provenance."""
    frame = pd.concat([pd.read_parquet(job[-1]) for job in jobs]).sort_values("index", ignore_index=True)
    table = pa.Table.from_pandas(_small(frame), preserve_index=False)
    metadata = {**(table.schema.metadata or {}), b"provenance": json.dumps(provenance).encode()}
    pq.write_table(table.replace_schema_metadata(metadata), path, compression="zstd")


def _jobs(name: str, model_name: str, examples: Sequence[Example], parts: Path) -> list[Job]:
    """Parts of examples of similar length, longest first, so that batches hold little padding; each knows its
    indices."""
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
    model = registry.load(model_name).precise()
    rows: list[Row] = []
    size = max(1, 4096 // max(len(e.text) for e in examples))
    for start in range(0, len(examples), size):
        rows += EXPERIMENTS[name](model, examples[start : start + size])
    frame = pd.DataFrame([{"index": i, **row} for i, row in zip(index, rows, strict=True)])
    frame.to_parquet(path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)
    return path


def _small(frame: pd.DataFrame) -> pd.DataFrame:
    """Floats in single precision, which is more than any figure shows."""
    return frame.astype({c: "float32" for c in frame.columns if frame[c].dtype == "float64"})


def describe(path: Path) -> Row:
    """What a table holds, as plain values: its provenance and the means of its measured columns."""
    frame = pq.read_table(path).to_pandas()
    provenance = json.loads(pq.read_schema(path).metadata[b"provenance"])
    means = {c: (None if pd.isna(m := frame[c].mean()) else float(m)) for c in frame.columns if c.endswith(MEANS)}
    return {"written": str(path), "provenance": provenance, "means": means}
