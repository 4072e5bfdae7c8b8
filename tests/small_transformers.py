"""Small random Transformers that the tests build, read by a tokenizer whose words fall into pieces."""

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import AutoConfig, AutoModelForSequenceClassification

from core.models.transformer import Transformer, adapted
from core.types import Card, Task
from tests.small import WORDS

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
PIECES = ("##s", "##ly", "un")
LABELS = {"classification": ("negative", "positive"), "nli": ("entailment", "neutral", "contradiction")}
LAYERS, HEADS, DIM = 3, 2, 10


def small_tokenizer() -> Tokenizer:
    """Word pieces: "films" is film ##s."""
    tokenizer = Tokenizer(
        models.WordPiece({piece: i for i, piece in enumerate((*SPECIAL, *WORDS, *PIECES))}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    ends = [(name, SPECIAL.index(name)) for name in ("[CLS]", "[SEP]")]
    template = {"single": "[CLS] $A [SEP]", "pair": "[CLS] $A [SEP] $B:1 [SEP]:1"}
    tokenizer.post_processor = processors.TemplateProcessing(**template, special_tokens=ends)
    return tokenizer


def small_transformer(kind: str = "classification", seed: int = 3) -> Transformer:
    """A BERT of 3 layers with 2 heads of 5 numbers, weights random and large enough for attention to be far from flat."""
    labels, tokenizer = LABELS[kind], small_tokenizer()
    config = AutoConfig.for_model(
        "bert",
        vocab_size=tokenizer.get_vocab_size(),
        hidden_size=DIM,
        num_hidden_layers=LAYERS,
        num_attention_heads=HEADS,
        intermediate_size=11,
        max_position_embeddings=40,
        num_labels=len(labels),
    )
    net, generator = AutoModelForSequenceClassification.from_config(config), torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in net.named_parameters():
            if "LayerNorm" not in name:
                parameter.normal_(std=0.5, generator=generator)
    return adapted(net, small_card(kind, labels), tokenizer)


def small_card(kind: str, labels: tuple[str, ...]) -> Card:
    """A card of no committed model."""
    return Card(
        name="small/bert",
        task=Task("small", kind, labels),  # type: ignore[arg-type]
        encoder="bert",
        score="scaled-dot",
        normalizer="softmax",
        embedding_dim=DIM,
        hidden_dim=DIM,
        layers=LAYERS,
        heads=HEADS,
        parameters=0,
        max_tokens=30,
        seed=0,
        vocabulary="small",
        vocabulary_sha256="",
        weights_sha256="",
        terms="none",
        test={},
        training={},
    )
