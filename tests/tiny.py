"""Tiny random Transformers of every supported family, saved to a folder as a person would save one; sizes all differ."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, normalizers, processors
from transformers import (
    AlbertConfig,
    AutoModelForSequenceClassification,
    BertConfig,
    DistilBertConfig,
    ElectraConfig,
    PreTrainedTokenizerFast,
    RobertaConfig,
)

WORDS = ("the", "film", "is", "good", "bad", "never", "ending", "story", "nobody", "saw", "it", "un", "##kind", "##ly", "##s")
MARKS = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
SIZE = len(WORDS) + len(MARKS)
SMALL: dict[str, Any] = {"vocab_size": SIZE, "max_position_embeddings": 40, "initializer_range": 0.2}
BERT = {"hidden_size": 12, "num_attention_heads": 3, "intermediate_size": 22, **SMALL}
CONFIGS: dict[str, Any] = {
    "bert": BertConfig(num_hidden_layers=2, num_labels=3, **BERT),
    "bert-relu": BertConfig(num_hidden_layers=1, num_labels=2, hidden_act="relu", **BERT),
    "roberta": RobertaConfig(num_hidden_layers=3, type_vocab_size=1, pad_token_id=0, **BERT),
    "distilbert": DistilBertConfig(dim=12, n_heads=2, n_layers=3, hidden_dim=26, **SMALL),
    "distilbert-sinusoidal": DistilBertConfig(dim=12, n_heads=4, n_layers=2, hidden_dim=18, sinusoidal_pos_embds=True, **SMALL),
    "electra": ElectraConfig(num_hidden_layers=2, embedding_size=12, **BERT),
    "electra-projected": ElectraConfig(num_hidden_layers=3, embedding_size=8, num_labels=4, **BERT),
    "albert": AlbertConfig(num_hidden_layers=3, embedding_size=8, **BERT),
    "albert-groups": AlbertConfig(num_hidden_layers=4, num_hidden_groups=2, embedding_size=6, **BERT),
    "albert-inner": AlbertConfig(num_hidden_layers=2, num_hidden_groups=2, inner_group_num=2, embedding_size=6, **BERT),
}


def tokenizer() -> PreTrainedTokenizerFast:
    """Pieces of WORDS between [CLS] and [SEP]."""
    table = {piece: i for i, piece in enumerate((*MARKS.values(), *WORDS))}
    made = Tokenizer(models.WordPiece(table, unk_token="[UNK]"))
    made.normalizer = normalizers.Lowercase()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=made, **MARKS)


def save(folder: Path, config: Any = CONFIGS["bert"], seed: int = 0) -> Path:
    """The folder, with a random model of that configuration and the tokenizer in it."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        net = AutoModelForSequenceClassification.from_config(config)
    for name, parameter in net.named_parameters():
        if name.endswith("bias") and parameter.requires_grad:
            torch.nn.init.normal_(parameter.data, std=0.1, generator=torch.Generator().manual_seed(seed))
    net.save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder
