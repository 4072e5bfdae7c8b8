"""How long an explanation takes, and what doing all deletions in one batch saves. Reported, not asserted."""

import time

import pytest
import torch

from core import importance
from core.device import StateCache
from core.explanation import explain
from core.importance import probabilities
from core.models import registry
from core.reading import read
from core.types import Example

pytestmark = pytest.mark.bench

REVIEW = (  # thirty words and two marks
    "A slow and rather clumsy start gives way to a tender story , and the two leads are so good together "
    "that by the last scene nobody minds the silly plot ."
)


@pytest.fixture(scope="module", params=["sst2/bilstm-additive", "sst2/minilm"])
def model(request):
    """As the dashboard loads it."""
    return registry.load(request.param, cache=StateCache(2**24))


def test_explain_a_review_of_thirty_words(benchmark, model):
    """Goal of the classifier: 150 ms."""
    reading = read(model, REVIEW)
    assert len(reading.example.text) == 32
    found = benchmark(explain, model, reading)
    assert len(found.scores["leave_one_out"]) == 32


def test_leave_one_out_in_a_batch_against_one_run_per_deletion(benchmark, model):
    """Goal: at least 5 times faster; the ratio is in the extra information."""
    precise = model.precise()
    example = read(model, REVIEW).example
    batch = precise.encode([example])
    target = torch.tensor([1])

    def one_by_one() -> list[float]:
        with torch.no_grad():
            words = example.text
            shorter = [Example("x", words[:t] + words[t + 1 :]) for t in range(len(words))]
            return [float(probabilities(precise.run(precise.encode([s])).logits)[0, 1]) for s in shorter]

    benchmark(importance.leave_one_out, precise, batch, target=target)
    started = time.perf_counter()
    for _ in range(5):
        one_by_one()
    benchmark.extra_info["times faster than one run per deletion"] = (
        (time.perf_counter() - started) / 5 / benchmark.stats.stats.median
    )
