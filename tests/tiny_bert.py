"""A BERT small enough for tests, its weights from a seed, with the word pieces of MiniLM."""

from dataclasses import replace

import torch
from torch import nn
from transformers import BertConfig, BertForSequenceClassification

from core.models import wordpieces
from core.models.transformer import Transformer, adapted, read_tokenizer
from core.types import Kind
from tests.small import small_card

LAYERS, HEADS, DIM = 3, 2, 12


def tiny_bert(kind: Kind = "classification", name: str = "sst2/minilm", seed: int = 4) -> Transformer:
    """Three layers of two heads; random enough for heads to differ."""
    card = replace(small_card(kind=kind), name=name, encoder="minilm", layers=LAYERS, heads=HEADS, max_tokens=64)
    card = replace(card, task=replace(card.task, name=name.split("/")[0]))
    sizes = {"num_hidden_layers": LAYERS, "num_attention_heads": HEADS, "hidden_size": DIM, "intermediate_size": 17}
    net = BertForSequenceClassification(BertConfig(vocab_size=30522, num_labels=len(card.task.labels), **sizes))
    generator = torch.Generator().manual_seed(seed)
    for module in net.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.6, generator=generator)
    return adapted(net, card, read_tokenizer(wordpieces.folder()))
