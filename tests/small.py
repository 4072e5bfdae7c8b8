"""Small models that the tests build: odd, all-different sizes, so that a transposed axis cannot pass."""

from core.models import vocabulary as vocab
from core.models.classifier import Classifier, build
from core.models.vocabulary import Vocabulary
from core.types import Card, Example, Kind, Task

WORDS = ["the", "film", "is", "a", "quiet", "good", "bad", "long", "short", "story", "that", "nobody", "saw", "mary", "went"]
WORDS += ["to", "kitchen", "garden", "where"]
LABELS = {
    "classification": ("negative", "positive"),
    "qa": ("kitchen", "garden", "mary"),
    "nli": ("entailment", "neutral", "contradiction"),
}


def small_vocabulary() -> Vocabulary:
    """One id per word of WORDS."""
    return vocab.build_words([WORDS, WORDS], limit=100)


def small_card(
    encoder: str = "bilstm", score: str = "additive", normalizer: str = "softmax", kind: Kind = "classification"
) -> Card:
    """A card of no committed model."""
    return Card(
        name=f"small/{encoder}-{score}",
        task=Task("small", kind, LABELS[kind]),
        encoder=encoder,
        score=score,
        normalizer=normalizer,
        embedding_dim=7,
        hidden_dim=6,
        layers=1,
        heads=1,
        parameters=0,
        max_tokens=512,
        seed=0,
        vocabulary="small",
        vocabulary_sha256=small_vocabulary().sha256,
        weights_sha256="",
        terms="none",
        test={},
        training={},
    )


def small_model(
    encoder: str = "bilstm",
    score: str = "additive",
    normalizer: str = "softmax",
    kind: Kind = "classification",
    seed: int = 3,
) -> Classifier:
    """A random classifier whose scores differ enough from word to word for attention to be far from flat."""
    return build(small_card(encoder, score, normalizer, kind), small_vocabulary(), seed, 0.8).requires_grad_(False)


def example(text: str, query: str = "", label: int | None = None, candidates: tuple[int, ...] = ()) -> Example:
    """An example from words with spaces between them."""
    return Example(text, tuple(text.split()), tuple(query.split()), label, candidates)


def examples(kind: Kind = "classification") -> list[Example]:
    """Three texts of 5, 2 and 11 words."""
    texts = (
        "a quiet good film that",
        "bad story",
        "mary went to the kitchen that nobody saw is a garden",
    )
    if kind == "classification":
        return [example(text, label=i % 2) for i, text in enumerate(texts)]
    queries = ("where is mary", "the film is long", "garden")
    candidates = ((0, 1), (0, 1, 2), (1, 2)) if kind == "qa" else ((), (), ())
    return [
        example(text, query, label=c[0] if c else i, candidates=c)
        for i, (text, query, c) in enumerate(zip(texts, queries, candidates, strict=True))
    ]
