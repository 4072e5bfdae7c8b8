"""Experiments small enough to train while one watches, on sentences in which a planted word decides.

The same losses and interventions as in the large experiments (`debate/`), through the same `training.fit`; only the corpus is
small. Because the deciding word is known, the share of attention that it gets is a figure worth drawing as it moves.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from core import importance, planted
from core.agreement import jsd, tvd
from core.debate.deception import hide
from core.debate.deception import mass as forbidden_mass
from core.debate.guide import follow
from core.debate.trained_adversary import imitate
from core.models import vocabulary as vocab
from core.models.classifier import Classifier
from core.models.text_model import fresh
from core.models.vocabulary import Vocabulary
from core.planted import Plan
from core.training import Fitted, Progress, as_it_is, fit
from core.types import Batch, Card, Example, Loss, Run

STRENGTHS = {"guide": 0.03, "trained-adversary": 0.05, "deception": 30.0}  # λ where the reader chooses none
HIDING, LEAVING = (1 / 30, 0.1, 1 / 3, 1.0), (0.0, 0.5, 1.0)  # the share of λ in the rounds of a training
EPOCHS, RATE, HIDING_RATE, BATCH_SIZE = 6, 1e-2, 5e-2, 32
EMBEDDING, HIDDEN = 16, 16
Told = Callable[[str, Progress], bool | None]  # told which model is trained and where it stands; False stops


@dataclass(frozen=True)
class Model:
    """What came of one training, on the test sentences: accuracy, mean attention on the deciding word and on all forbidden
    words, mean distances to the first model, and how far the prediction moves (TVD) without the deciding word."""

    name: str
    classifier: Classifier
    accuracy: float
    mass: float
    forbidden: float
    tvd: float
    jsd: float
    without: float
    epochs: int


@dataclass(frozen=True)
class Made:
    """All models of an experiment, the one that others are held against first; fewer where it was stopped. `shown` is a test
    sentence with each model's attention on it."""

    models: tuple[Model, ...]
    shown: tuple[str, ...]
    attention: Mapping[str, tuple[float, ...]]
    stopped: bool


@dataclass(frozen=True)
class _Job:
    """One training of an experiment."""

    name: str
    encoder: str
    normalizer: str = "softmax"
    like: str = ""  # the job whose model it imitates, follows or hides from
    role: str = ""  # adversary, guided, deceptive


EXPERIMENTS: dict[str, tuple[_Job, ...]] = {
    "necessity": (_Job("learned", "{}"), _Job("uniform", "{}", "uniform")),
    "guide": (
        _Job("lstm", "bilstm"),
        _Job("adversary", "bilstm", like="lstm", role="adversary"),
        _Job("own", "average"),
        _Job("uniform", "average", "uniform"),
        _Job("by_lstm", "average", like="lstm", role="guided"),
        _Job("by_adversary", "average", like="adversary", role="guided"),
    ),
    "trained-adversary": (_Job("base", "{}"), _Job("adversary", "{}", like="base", role="adversary")),
    "deception": (_Job("honest", "{}"), _Job("deceptive", "{}", like="honest", role="deceptive")),
}


def make(name: str, chosen: Plan, *, encoder: str = "average", strength: float | None = None, told: Told | None = None) -> Made:
    """Trains the models of an experiment one after the other; seconds on two cores.

    `strength` is λ of the adversary and of the deception. The same plan gives the same models on one machine.
    """
    parts = {split: planted.sentences(chosen, split) for split in planted.SIZES}
    words = vocab.build_words([example.text for example in parts["train"]], limit=200)
    strength = STRENGTHS.get(name, 0.0) if strength is None else strength
    fitted: dict[str, Classifier] = {}
    epochs: dict[str, int] = {}
    for job in EXPERIMENTS[name]:
        done = _train(job, job.encoder.format(encoder), chosen, words, parts, fitted, strength, told)
        if done.stopped:
            return _measured(name, fitted, epochs, chosen, parts["test"], stopped=True)
        fitted[job.name] = done.model.requires_grad_(False)
        epochs[job.name] = len(done.history)
    return _measured(name, fitted, epochs, chosen, parts["test"], stopped=False)


def mass_on(deciding: Sequence[str]) -> Callable[[Run, Batch], float]:
    """Watches the mean attention that the deciding word of a sentence gets."""

    def watch(run: Run, batch: Batch) -> float:
        return float((run.attention.detach()[:, 0, 0, 0] * _deciding(batch, deciding)).sum(-1).mean())

    return watch


def _train(
    job: _Job,
    encoder: str,
    chosen: Plan,
    words: Vocabulary,
    parts: Mapping[str, list[Example]],
    fitted: Mapping[str, Classifier],
    strength: float,
    told: Told | None,
) -> Fitted:
    fit_on = partial(
        fit,
        train=parts["train"],
        validation=parts["validation"],
        intervene=follow(fitted[job.like]) if job.role == "guided" else as_it_is,
        epochs=EPOCHS,
        seed=chosen.seed,
        batch_size=BATCH_SIZE,
        watch=mass_on(chosen.deciding),
        progress=None if told is None else lambda now: told(job.name, now),
    )
    if job.role == "deceptive":
        return _rising(fitted[job.like], fit_on, [hide(share * strength) for share in HIDING], HIDING_RATE)
    other = job.role == "adversary"  # must not start where the model that it imitates started
    model = fresh(Classifier, _card(job.name, encoder, job.normalizer, chosen, words), words, chosen.seed + 100 * other, 0.5)
    if other:
        return _rising(model, fit_on, [imitate(fitted[job.like], share * strength) for share in LEAVING], RATE)
    return fit_on(model, rate=RATE)


def _rising(model: Classifier, fit_on: Callable[..., Fitted], losses: Sequence[Loss], rate: float) -> Fitted:
    """A training in rounds in which λ rises, each going on from the last: where attention is asked to leave a word before the
    model knows what the word is good for, it never learns it."""
    for loss in losses:
        fitted = fit_on(model, loss=loss, select="loss", rate=rate)
        if fitted.stopped:
            break
        model = fitted.model
    return fitted


def _card(name: str, encoder: str, normalizer: str, chosen: Plan, words: Vocabulary) -> Card:
    return Card(
        name=f"planted/{name}",
        task=chosen.task,
        encoder=encoder,
        score="additive",
        normalizer=normalizer,
        embedding_dim=EMBEDDING,
        hidden_dim=HIDDEN,
        layers=1,
        heads=1,
        parameters=0,
        max_tokens=512,
        seed=chosen.seed,
        vocabulary="planted",
        vocabulary_sha256=words.sha256,
        weights_sha256="",
        terms="The sentences are generated by this project.",
        test={},
        training={},
    )


def _measured(
    name: str, fitted: Mapping[str, Classifier], epochs: Mapping[str, int], chosen: Plan, test: list[Example], *, stopped: bool
) -> Made:
    jobs = [job for job in EXPERIMENTS[name] if job.name in fitted]
    shorter = [replace(e, text=tuple(w for w in e.text if w not in chosen.deciding), evidence=()) for e in test]
    found: list[Model] = []
    attention: dict[str, tuple[float, ...]] = {}
    first: tuple[Tensor, Tensor] | None = None
    for job in jobs:
        weights, prob, mass, forbidden = _run(job, fitted, test, chosen.deciding)
        without = _run(job, fitted, shorter, chosen.deciding)[1]
        first = first or (weights, prob)
        gold = torch.tensor([example.label for example in test])
        accuracy = float((prob.argmax(-1) == gold).double().mean())
        apart = {"tvd": tvd(prob, first[1]), "jsd": jsd(weights, first[0]), "without": tvd(prob, without)}
        means = {key: float(values.mean()) for key, values in apart.items()}
        found.append(Model(job.name, fitted[job.name], accuracy, mass, forbidden, **means, epochs=epochs[job.name]))
        attention[job.name] = tuple(weights[0, 1 : len(test[0].text) + 1].tolist())
    return Made(tuple(found), test[0].text, attention, stopped)


@torch.no_grad()
def _run(
    job: _Job, fitted: Mapping[str, Classifier], examples: Sequence[Example], deciding: Sequence[str]
) -> tuple[Tensor, Tensor, float, float]:
    """Weights "example token", probabilities, and the mean mass on the deciding word and on the forbidden ones, of a job's
    model under its guide."""
    model = fitted[job.name]
    batch = model.encode(examples)
    run = model.run(batch, intervene=(follow(fitted[job.like]) if job.role == "guided" else as_it_is)(batch))
    return (
        run.attention[:, 0, 0, 0],
        importance.probabilities(run.logits),
        mass_on(deciding)(run, batch),
        float(forbidden_mass(run, batch).mean()),
    )


def _deciding(batch: Batch, deciding: Sequence[str]) -> Tensor:
    """The tokens of the deciding words, "batch token"."""
    marks = [{i for i, word in enumerate(example.text) if word in deciding} for example in batch.examples]
    return torch.tensor([[int(t) in mark for t in row] for row, mark in zip(batch.word, marks, strict=True)])
