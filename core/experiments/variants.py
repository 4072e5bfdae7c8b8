"""Tables with one row per trained model: is attention needed, whose attention helps, what was traded for what?

The models are trainings of one base that differ in what they were trained for or in their seed. Committed ones are loaded,
others are trained here and kept in the user's data folder, so that a table can be made anywhere and its rows be repeated.
All figures are of the split that is asked; those that a choice may rest on (which λ) are given for validation beside them.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean

import platformdirs
import torch

from core import data, importance, recipes, variants
from core.debate.deception import mass
from core.debate.trained_adversary import distances
from core.experiments.cases import Row
from core.models import registry
from core.models.classifier import Classifier
from core.models.registry import needed
from core.training import as_it_is, evaluate
from core.types import Batch, Example
from core.variants import Name

STORE = Path(platformdirs.user_data_dir("is-attention-explanation")) / "models"
LAMBDAS = {"sst2": ("0.001", "0.0022", "0.0046", "0.01", "0.022", "0.046"), "imdb": ("0.001", "0.0046", "0.022")}
REPEATED = {"sst2": ("0.0022", "0.01")}  # λ trained with further seeds
BATCH = 64
REVIEWS, LONG = "sst2/bilstm-additive", "imdb/bilstm-additive:words=200"
SHOWN: dict[str, tuple[str, ...]] = {  # the bases that the pages show, by experiment
    "necessity": (REVIEWS, "newsgroups_sports/bilstm-additive", "ag_news/bilstm-additive", LONG),
    "guide": ("sst2/average-additive", "imdb/average-additive:words=200"),
    "trained-adversary": (REVIEWS, LONG),
    "deception": tuple(
        f"{source}/{encoder}-additive" for source in ("pronoun", "sst_wiki") for encoder in ("average", "bilstm")
    ),
    "variance": (REVIEWS,),
}


def seeds(name: str) -> range:
    """The seeds of a comparison: five, of long texts three."""
    return range(3 if recipes.parse(name).data == "imdb" else 5)


def seeded(name: str, seed: int) -> str:
    """The name of the same training from another seed; seed 0 is not written."""
    return f"{name}:seed={seed}" if seed else name


def obtain(name: str, store: Path = STORE) -> Classifier:
    """The committed model of that name, else the one that was trained here, else it is trained now."""
    if name not in registry.cards() and name not in registry.cards(store):
        recipes.train(name, checkpoints=store, checkpoint=store / "training" / name.replace(":", "@"))
    return needed(recipes.obtain(name, registry.CHECKPOINTS if name in registry.cards() else store), Classifier)


def necessity_of(base: str) -> list[str]:
    """Learned and uniform attention, each from several seeds. Wiegreffe & Pinter 2019, §3.2."""
    return [seeded(name, seed) for name in (base, f"{base}:uniform") for seed in seeds(base)]


def necessity(model: Classifier, examples: Sequence[Example]) -> list[Row]:
    """One row: how well a model does whose attention is learned, or frozen to uniform."""
    return [_quality(model, examples)]


def guide_of(base: str) -> list[str]:
    """A token-wise model with attention that is uniform, its own, an LSTM's, an adversary's. Wiegreffe & Pinter 2019, §3.4."""
    named = (f"{base}:uniform", base, f"{base}:guide=base", f"{base}:guide=adversary")
    return [seeded(name, seed) for name in named for seed in seeds(base)]


def guide(model: Classifier, examples: Sequence[Example]) -> list[Row]:
    """One row: how well a token-wise model does under its guide."""
    return [_quality(model, examples)]


def trained_adversary_of(base: str) -> list[str]:
    """Adversaries of several λ, some from further seeds; and, to hold them against, uniform attention and other seeds."""
    source = recipes.parse(base).data
    adversaries = [f"{base}:adversary={value}" for value in LAMBDAS[source]]
    repeated = [f"{base}:adversary={value}:seed={seed}" for value in REPEATED.get(source, ()) for seed in (1, 2)]
    others = range(1, 8) if source == "sst2" else seeds(base)[1:]
    return [*adversaries, *repeated, f"{base}:uniform", *(seeded(base, seed) for seed in others)]


def trained_adversary(model: Classifier, examples: Sequence[Example]) -> list[Row]:
    """One row: how far predictions (TVD) and attention (JSD) are from the base's on average, on validation too, and how well
    the model does. Wiegreffe & Pinter 2019, §4, Figure 5 and Table 4."""
    base = obtain(_name(model).base)
    far = dict(zip(("tvd", "jsd"), _apart(model, base, examples), strict=True))
    checked = data.load(_name(model).data, "validation")
    far |= dict(zip(("validation_tvd", "validation_jsd"), _apart(model, base, checked), strict=True))
    return [_quality(model, examples) | far]


def deception_of(base: str) -> list[str]:
    """The honest model, two that hide the marked words, and one that never sees them. Pruthi et al. 2020, Table 3."""
    return [base, f"{base}:deceptive=0.1", f"{base}:deceptive=1", f"{base}:anonymised"]


def deception(model: Classifier, examples: Sequence[Example]) -> list[Row]:
    """One row: how well a model does, the attention on the marked words (mean over sentences that have any), and how far its
    prediction moves (mean TVD) without them and without as many others of the sentence, drawn at random."""
    if _name(model).variant == "anonymised":
        return [_quality(model, [variants.without_marked(e) for e in examples])]
    having = [e for e in examples if 0 < len(e.evidence) < len(e.text)]
    weight, moved, other = [], [], []
    for batch in _batches(model, having):
        with torch.no_grad():
            weight += mass(model.run(batch), batch).tolist()
        moved += _moved(model, batch, [set(e.evidence) for e in batch.examples])
        other += _moved(model, batch, [_others(e, number) for number, e in enumerate(batch.examples)])
    shares = fmean(len(e.evidence) / len(e.text) for e in having)
    measured = {"mass": fmean(weight), "share_of_words": shares, "n_marked": len(having)}
    return [_quality(model, examples) | measured | {"without_marked": fmean(moved), "without_others": fmean(other)}]


def _name(model: Classifier) -> Name:
    return recipes.parse(model.card.name)


def _quality(model: Classifier, examples: Sequence[Example]) -> Row:
    """What every row says: which training it is, and how well the model does."""
    name = _name(model)
    intervene = variants.variant(name, obtain).intervene if name.variant == "guide" else as_it_is
    found = evaluate(model, examples, intervene=intervene)
    return {
        "variant": model.card.name,
        "normalizer": name.normalizer,
        "kind": name.variant,
        "value": name.value,
        "seed": name.seed,
        "accuracy": found["accuracy"],
        "f1": found["f1"],
        "n": found["n"],
        "validation_accuracy": model.card.training["validation_accuracy"],
    }


def _batches(model: Classifier, examples: Sequence[Example]) -> Iterator[Batch]:
    order = sorted(examples, key=lambda e: len(e.text))
    for start in range(0, len(order), BATCH):
        yield model.encode(order[start : start + BATCH])


def _apart(model: Classifier, base: Classifier, examples: Sequence[Example]) -> tuple[float, float]:
    """Mean TVD of predictions and mean JSD of attention."""
    found = [distances(model, base, batch) for batch in _batches(model, examples)]
    return fmean(torch.cat([far for far, _ in found]).tolist()), fmean(torch.cat([far for _, far in found]).tolist())


def _moved(model: Classifier, batch: Batch, gone: Sequence[set[int]]) -> list[float]:
    """How far each prediction moves (TVD) when words are deleted and the rest is read anew."""
    shorter = [_without(example, words) for example, words in zip(batch.examples, gone, strict=True)]
    with torch.no_grad():
        before = importance.probabilities(model.run(batch).logits)
        after = importance.probabilities(model.run(model.encode(shorter)).logits)
    return importance.tvd(before, after).tolist()


def _without(example: Example, gone: set[int]) -> Example:
    return Example(example.id, tuple(word for i, word in enumerate(example.text) if i not in gone), label=example.label)


def _others(example: Example, seed: int) -> set[int]:
    """As many words that are not marked as are marked, or as many as there are."""
    free = torch.tensor([i for i in range(len(example.text)) if i not in set(example.evidence)])
    order = torch.randperm(len(free), generator=torch.Generator().manual_seed(seed))
    return set(free[order[: len(example.evidence)]].tolist())
