"""Adapters of MiniLM: the seed alone decides where they start, merging changes nothing, and training stops and goes on."""

import dataclasses
import json
from pathlib import Path

import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from core import data, finetuning
from core.__main__ import main
from core.finetuning import RECIPES, Recipe
from core.models import minilm, registry
from core.models.transformer import Transformer
from core.types import Refusal
from tests.small import example

NAME = "sst2/minilm"
TEXTS = [example("a good film"), example("nobody saw this quiet , unlikely story")]
pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    """A data folder with a handful of sentences of two obvious kinds."""
    folder = tmp_path_factory.mktemp("data")

    def write(name: str, split: str, n: int) -> None:
        rows = [(f"{'awful' if i % 2 else 'lovely'} {i}", 1 - i % 2) for i in range(n)]
        (folder / name).mkdir(exist_ok=True)
        pd.DataFrame(rows, columns=["sentence", "label"]).to_parquet(folder / name / f"{split}.parquet")

    write("sst2_phrases", "train", 40)
    write("sst2", "validation", finetuning.FOR_HEADS + 6)
    write("sst2", "test", 12)
    return folder


@pytest.fixture
def quick(monkeypatch):
    monkeypatch.setattr(finetuning, "FOR_CHOICE", 10)
    monkeypatch.setitem(RECIPES, NAME, Recipe(("sst2_phrases",), epochs=2, rate=2e-3, batch_size=16))


def card():
    return finetuning._draft(NAME, "sst2", 0)


def used(model: Transformer) -> dict[str, torch.Tensor]:
    """The weights that a run uses: not those which an adapter keeps of what it replaces."""
    return {name: value for name, value in model.named_parameters() if "original_module" not in name}


def test_the_seed_alone_decides_where_training_starts():
    one, again, other = (used(minilm.adaptable(card(), seed)[0]) for seed in (0, 0, 1))
    assert one.keys() == again.keys() == other.keys() and all(torch.equal(one[name], again[name]) for name in one)
    changed = {name for name in one if not torch.equal(one[name], other[name])}
    assert changed and all("lora_A" in name or "classifier.modules_to_save" in name for name in changed)
    own = {name for name in one if minilm.trained(name)}
    assert all("lora_" in name or "pooler" in name or "classifier" in name for name in own) and len(own) == 6 * 6 * 2 + 4


def test_an_adapter_that_is_merged_computes_what_it_did(tmp_path):
    model, adapter = minilm.adaptable(card(), 0)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.02, generator=torch.Generator().manual_seed(5))
    batch = model.encode(TEXTS)
    before, plain = model.run(batch).logits, minilm.adaptable(card(), 0)[0].run(batch).logits
    assert (before - plain).abs().max() > 1e-3  # the adapter does something
    adapter.save_pretrained(tmp_path)
    merged = minilm.load(card(), tmp_path)
    assert not any("lora_" in name for name, _ in merged.named_parameters())
    torch.testing.assert_close(merged.run(merged.encode(TEXTS)).logits, before, atol=1e-4, rtol=0)


def test_training_stops_goes_on_and_gives_a_card(quick, root, tmp_path):
    seen = []

    def stop(now):
        seen.append((now.epoch, now.step, len(now.history)))
        return len(now.history) < 1

    folders = {"checkpoint": tmp_path / "state", "checkpoints": tmp_path / "models", "root": root}
    assert finetuning.train(NAME, progress=stop, **folders) is None
    assert (tmp_path / "state" / "training.safetensors").exists() and not (tmp_path / "models").exists()
    went_on = []
    made = finetuning.train(NAME, progress=lambda now: went_on.append(len(now.history)) or True, **folders)
    assert made is not None and min(went_on) == 1 and not (tmp_path / "state").exists()
    assert made.test["n"] == 12 and made.test["split"] == "test" and made.test["majority"] == 0.5
    # Of validation 6 are left beside those that rank heads; the last 4 of train choose the epoch with them.
    assert made.training["n"] == len(data.load("sst2_phrases", "train", root=root)) - 4 and made.training["epochs"] == 2
    assert made.training["selected_on"] == "validation accuracy, n = 10"
    whole = finetuning.train(NAME, checkpoints=tmp_path / "whole", root=root)
    assert whole is not None and whole.weights_sha256 == made.weights_sha256  # interrupted or not
    back = registry.load(NAME, root=tmp_path / "models")
    assert isinstance(back, Transformer) and registry.suits(back.card, Transformer)
    files = tmp_path / "models" / "sst2" / "minilm"
    assert {p.name for p in files.iterdir()} == {"adapter_model.safetensors", "adapter_config.json", "card.json"}
    assert str(Path.home()) not in (files / "adapter_config.json").read_text() and "/" not in str(
        json.loads((files / "adapter_config.json").read_text())["base_model_name_or_path"]
    )
    assert all(value.dtype == torch.float16 for value in load_file(files / "adapter_model.safetensors").values())


def test_what_ranks_heads_neither_trains_nor_chooses(root):
    kept = finetuning.for_heads("sst2", root)
    assert len(kept) == finetuning.FOR_HEADS
    assert kept == data.load("sst2", "validation", root=root)[6:]


def test_another_seed_is_an_adapter_of_its_own():
    first, second = (RECIPES[name] for name in ("mrpc/minilm", "mrpc/minilm:seed=1"))
    assert dataclasses.replace(second, seed=0) == first and second.seed == 1
    assert finetuning.is_adapter("mrpc/minilm:seed=1") and not finetuning.is_adapter("sst2/bilstm-additive:seed=1")
    assert finetuning.sources("mrpc/minilm:seed=1") == ("mrpc",)


def test_an_unknown_adapter_is_refused_with_what_there_is(capsys):
    with pytest.raises(Refusal, match=", ".join(RECIPES)):
        finetuning.train("imdb/minilm")
    assert main(("train", "imdb/minilm")) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and NAME in err


def test_the_verb_trains_adapters_as_it_trains_all_models(monkeypatch, capsys):
    asked = []

    def train(name, **settings):
        asked.append(name)
        return card()

    monkeypatch.setattr(finetuning, "train", train)
    assert main(("train", NAME, "rte/minilm")) == 0
    assert asked == [NAME, "rte/minilm"] and len(json.loads(capsys.readouterr()[0])["trained"]) == 2
