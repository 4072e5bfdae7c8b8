"""Tables of translators: what fades over distance, which attention writes best, whether it aligns, and whether that matters.

distance      copying rows of symbols without and with attention, by their length (`core.copying`)
translators   one training of equal length for each kind of attention and for a Transformer, on Multi30k
alignments    links of words under the committed translator, held against the automatic links of the data
rewired       its attention made uniform or shuffled while it writes, beside the same done to a classifier

A row is a finished training or a finished run; a call that was stopped goes on after the rows that it had.
"""

import json
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import torch

from core import copying, data, pairs, translators
from core.experiments.cases import Row
from core.experiments.tables import RESULTS, keep, path_of
from core.models import registry, translator
from core.models.classifier import Classifier
from core.models.decoder import ATTENTIONS, fresh
from core.models.registry import needed
from core.models.transformer_translator import TransformerTranslator
from core.models.translator import Translator
from core.training import Intervene, as_it_is, evaluate
from core.translating import At, fit, loss_of, write
from core.translation import CHANGES, shuffled
from core.types import Batch, Intervention, Pair, Refusal

GERMAN, REVIEWS = "multi30k/gru-additive", "sst2/bilstm-additive"
EPOCHS = 3  # of each training of the comparison
SEEDS, DRAWS = 3, 5  # trainings of a copier; shuffles of a whole test set
RESAMPLED = 1000  # times that a test set is drawn again for an interval of BLEU
Parts = dict[str, Callable[[], list[Row]]]  # what makes the rows of a part, by its name


def make(name: str, model: str, *, root: Path = RESULTS, progress: Callable[[int, int], None] | None = None) -> Path:
    """Makes one of the tables, part by part, and returns its path. Refuses another model than the table is about."""
    wanted, parts_of = TABLES[name]
    if model != wanted:
        sentence = f"The table of {name} is about {wanted}; {model!r} was given."
        raise Refusal("unsuited_model", sentence, given=model, allowed=wanted)
    path, started = path_of(name, model, root), time.time()
    folder = path.with_suffix(".parts")
    folder.mkdir(parents=True, exist_ok=True)
    parts = parts_of(folder)
    for done, (part, rows) in enumerate(parts.items(), 1):
        file = folder / f"{part}.json"
        if not file.exists():
            file.write_text(json.dumps(rows()))
        if progress:
            progress(done, len(parts))
    table = [row for part in parts for row in json.loads((folder / f"{part}.json").read_text())]
    command = f"python -m core experiment {name} --model {model} --data {model.partition('/')[0]}"
    provenance = {"experiment": name, "model": model, **SETTINGS[name], "n": len(table), "command": command}
    if name in ("alignments", "rewired"):
        provenance["weights_sha256"] = translator.cards()[model].weights_sha256
    provenance |= {"seconds": round(time.time() - started, 1), "date": time.strftime("%Y-%m-%d")}
    keep(pd.DataFrame(table), path, provenance)
    for file in (*folder.glob("*.json"),):
        file.unlink()
    folder.rmdir()
    return path


def _distance(folder: Path) -> Parts:
    kinds = [(attention, seed) for seed in range(SEEDS) for attention in ("none", "additive")]
    return {f"{attention}-{seed}": partial(copied, attention, seed) for attention, seed in kinds}


def copied(attention: str, seed: int) -> list[Row]:
    """What one copier does at every length, and the gradient before it was trained beside that after."""
    model, before = copying.trained(attention, seed), copying.build(attention, seed)
    rows = []
    for length in copying.LENGTHS:
        found, untrained = copying.reach(model, length), copying.reach(before, length, copying.BATCH)
        rows.append(
            {
                "attention": attention,
                "seed": seed,
                "length": length,
                "exact": found.exact,
                "symbols": found.symbols,
                "gradient": found.gradient,
                "gradient_untrained": untrained.gradient,
                "tested": found.n,
            }
        )
    return rows


def _translators(folder: Path) -> Parts:
    return {kind: partial(compared, kind, folder / "training" / kind) for kind in (*ATTENTIONS, "transformer")}


def compared(kind: str, checkpoint: Path) -> list[Row]:
    """A training of `EPOCHS` epochs with one kind of attention, judged on the test set; its best epoch by validation."""
    recipe = translators.RECIPES["multi30k"]
    train, validation, test = (pairs.load("multi30k", split) for split in pairs.SPLITS)
    reads, writes = translators.vocabularies_of("multi30k", train, registry.VOCABULARIES)
    model: Any
    if kind == "transformer":
        model = fresh(lambda: TransformerTranslator(reads, writes, recipe.max_tokens, recipe.max_output), 0)
    else:
        model = translators.untrained(f"multi30k/gru-{kind}:epochs={EPOCHS}", reads, writes)
    started = time.process_time()
    fitted = fit(
        model,
        train,
        validation,
        score=recipe.score,
        epochs=EPOCHS,
        rate=recipe.rate,
        batch_size=recipe.batch_size,
        dropout=recipe.dropout,
        smoothing=recipe.smoothing,
        checkpoint=checkpoint,
    )
    seconds = time.process_time() - started
    written = write(fitted.model, test)
    row: Row = {
        "attention": kind,
        "epochs": EPOCHS,
        "best_epoch": fitted.best + 1,
        "seed": 0,
        "parameters": sum(p.numel() for p in model.parameters()),
        "validation_bleu": fitted.history[fitted.best].validation_score,
        "loss": loss_of(fitted.model, test),
        "cpu_seconds": seconds,
        "n_test": len(test),
        **interval(written, test),
    }
    for file in checkpoint.glob("*"):
        file.unlink()
    checkpoint.rmdir()
    return [row | (totals(links(fitted.model, test)) if kind not in ("none", "transformer") else {})]


def interval(written: Sequence[Sequence[str]], test: Sequence[Pair]) -> Row:
    """BLEU of the corpus with the 95 % interval of a bootstrap over sentences (Koehn 2004), by sacrebleu."""
    from sacrebleu.metrics import BLEU

    metric = BLEU(tokenize="none", force=True)
    references = [[" ".join(pair.target) for pair in test]]
    found = metric.corpus_score([" ".join(words) for words in written], references, n_bootstrap=RESAMPLED)
    return {"bleu": float(found.score), "low": found._mean - found._ci, "high": found._mean + found._ci}


def _alignments(folder: Path) -> Parts:
    return {"test": lambda: links(translator.load(GERMAN), pairs.load("multi30k", "test"))}


@torch.no_grad()
def links(model: Translator, test: Sequence[Pair], batch_size: int = 128) -> list[Row]:
    """For each sentence: how many links the data have (and how many lead to no word), how many of the model's are among them.

    The model is told the German sentence; its link for a word is the word with the largest weight when that word was written,
    one for each German word. `diagonal` does the same by place alone: word j of J goes to the word at j I / J of I.
    """
    rows = []
    for start in range(0, len(test), batch_size):
        some = test[start : start + batch_size]
        attention = model.forced(model.encode([p.text for p in some]), model.targets([p.target for p in some])).attention
        rows += [linked(pair, attention[i].argmax(-1).tolist()) for i, pair in enumerate(some)]
    return rows


def linked(pair: Pair, best: Sequence[int]) -> Row:
    """The figures of one sentence from the source word that each target word looks at most."""
    inside = {(i, j) for i, j in pair.links if 0 <= i < len(pair.text) and 0 <= j < len(pair.target)}
    size, wide = len(pair.target), len(pair.text)
    ours = {(best[j], j) for j in range(min(size, len(best)))}
    straight = {(min(wide - 1, round(j * wide / size)), j) for j in range(size)}
    return {
        "links": len(inside),
        "dropped": len(set(pair.links)) - len(inside),
        "words": len(ours),
        "found": len(ours & inside),
        "diagonal_words": size,
        "diagonal": len(straight & inside),
    }


def totals(rows: Sequence[Row]) -> Row:
    """Precision, recall and alignment error rate over all sentences; every link counts as sure (Och & Ney 2003)."""
    total = {key: sum(row[key] for row in rows) for key in rows[0]}
    found, said, given = total["found"], total["words"], total["links"]
    return {"precision": found / said, "recall": found / given, "aer": 1 - 2 * found / (said + given)}


def _rewired(folder: Path) -> Parts:
    changes: dict[str, tuple[int, At]] = {name: (0, CHANGES[name]) for name in ("own", "uniform")}
    changes |= {f"shuffled-{draw}": (draw, shuffled(draw)) for draw in range(DRAWS)}
    parts: Parts = {f"german-{name}": partial(rewritten, name, draw, at) for name, (draw, at) in changes.items()}
    return parts | {f"reviews-{name}": partial(reclassified, name, draw, at) for name, (draw, at) in changes.items()}


def rewritten(name: str, draw: int, at: At) -> list[Row]:
    """The test set written anew under a change of attention."""
    test = pairs.load("multi30k", "test")
    found = interval(write(translator.load(GERMAN), test, at=at), test)
    row = {"model": GERMAN, "change": name.partition("-")[0], "draw": draw, "measure": "bleu", "n_test": len(test)}
    return [row | {"value": found["bleu"], "low": found["low"], "high": found["high"]}]


def reclassified(name: str, draw: int, at: At) -> list[Row]:
    """The accuracy of the classifier of reviews under the same change."""
    from scipy.stats import binomtest

    model, test = needed(registry.load(REVIEWS), Classifier), data.load("sst2", "test")
    changed: Intervene = as_it_is if name == "own" else lambda batch: _on_words(batch, at)
    found = evaluate(model, test, intervene=changed)
    share = binomtest(round(found["accuracy"] * len(test)), len(test)).proportion_ci(method="wilson")
    row = {"model": REVIEWS, "change": name.partition("-")[0], "draw": draw, "measure": "accuracy", "n_test": len(test)}
    return [row | {"value": found["accuracy"], "low": share.low, "high": share.high}]


def _on_words(batch: Batch, at: At) -> Intervention:
    """A change that deals with the words alone: start, end and padding keep their zero."""
    first = int(batch.mask.to(torch.int8).argmax(-1).max())  # start stands before the words of every text
    inner = at(batch.mask[:, first:])

    def changed(layer: int, weights: torch.Tensor) -> torch.Tensor:
        return torch.cat([weights[..., :first], inner(layer, weights[..., first:])], -1)

    return changed


TABLES: dict[str, tuple[str, Callable[[Path], Parts]]] = {
    "distance": ("copying", _distance),
    "translators": (GERMAN, _translators),
    "alignments": (GERMAN, _alignments),
    "rewired": (GERMAN, _rewired),
}
_TESTED = {"data": "multi30k", "split": "test"}
SETTINGS: dict[str, Row] = {
    "distance": {
        "data": "copying",
        "split": "generated",
        "seeds": SEEDS,
        "steps": copying.STEPS,
        "batch_size": copying.BATCH,
        "symbols": copying.SYMBOLS,
        "dim": copying.DIM,
        "tested": copying.TESTED,
    },
    "translators": _TESTED | {"epochs": EPOCHS, "seeds": 1, "bleu": "sacrebleu, tokenize none", "resampled": RESAMPLED},
    "alignments": _TESTED | {"links": "automatic, as the data have them"},
    "rewired": _TESTED | {"draws": DRAWS, "bleu": "sacrebleu, tokenize none", "resampled": RESAMPLED, "beside": REVIEWS},
}
