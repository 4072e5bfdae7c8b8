"""A model of the reader's own: folders as people have them, a hub that is played by functions, and refusals in words."""

import json
import shutil
from pathlib import Path
from types import SimpleNamespace

import huggingface_hub
import pytest
import torch
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.processors import TemplateProcessing
from transformers import AutoModel, AutoModelForSequenceClassification, BertConfig, PreTrainedTokenizerFast

from core.__main__ import main
from core.models import own, registry
from core.models.transformer import FAMILIES, Transformer
from core.types import Refusal
from tests import tiny
from tests.small import example

GIVEN = [example("the film is good"), example("nobody saw it", "the story")]


@pytest.fixture
def folder(tmp_path) -> Path:
    return tiny.save(tmp_path / "my model")


def change(folder: Path, **values: object) -> None:
    """Writes other values into a config."""
    path = folder / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_a_folder_is_a_model_with_its_own_labels(folder):
    change(folder, id2label={"0": "bad", "1": "so-so", "2": "good"})
    model = own.load(str(folder), "paraphrase")
    assert isinstance(model, Transformer) and registry.suits(model.card, Transformer)
    assert model.card.name == "own/my-model" and model.card.task.labels == ("bad", "so-so", "good")
    assert model.card.task.kind == "paraphrase" and (model.card.layers, model.card.heads) == (2, 3)
    theirs = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    batch = model.encode(GIVEN)
    with torch.no_grad():
        logits = theirs(batch.ids, attention_mask=batch.present.long(), token_type_ids=batch.segment).logits
    torch.testing.assert_close(model.run(batch).logits, logits, atol=1e-5, rtol=0)


def test_the_checksum_is_of_weights_settings_and_kind(folder):
    first = own.load(str(folder)).card.weights_sha256
    assert first == own.digest(folder, "classification") == own.load(f" {folder}/ ").card.weights_sha256
    assert first != own.load(str(folder), "paraphrase").card.weights_sha256
    change(folder, id2label={"0": "a", "1": "b", "2": "c"})
    assert own.load(str(folder)).card.weights_sha256 != first


def test_a_vocabulary_is_enough_where_the_library_makes_a_tokenizer_of_it(folder):
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        (folder / name).unlink(missing_ok=True)
    (folder / "vocab.txt").write_text("\n".join((*tiny.MARKS.values(), *tiny.WORDS)), encoding="utf-8")
    model = own.load(str(folder))
    batch = model.encode(GIVEN)
    assert model.pieces(batch)[1] == ["[CLS]", "nobody", "saw", "it", "[SEP]", "the", "story", "[SEP]"]


def test_words_of_a_byte_level_tokenizer_stand_behind_a_space(tmp_path):
    """As RoBERTa's do in running text, where Ġ is the space."""
    folder = tiny.save(tmp_path / "roberta", tiny.CONFIGS["roberta"])
    pieces = dict.fromkeys(("<pad>", "<unk>", "<s>", "</s>", *"filmgoodĠ"))
    made = Tokenizer(BPE({piece: i for i, piece in enumerate(pieces)}, [], unk_token="<unk>"))
    made.pre_tokenizer = ByteLevel(add_prefix_space=False)
    made.post_processor = TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 2), ("</s>", 3)])
    PreTrainedTokenizerFast(tokenizer_object=made, pad_token="<pad>").save_pretrained(folder)
    model = own.load(str(folder))
    assert model.pieces(model.encode([example("film good")]))[0] == ["<s>", *"Ġfilm", *"Ġgood", "</s>"]


def another_tokenizer(folder: Path) -> None:
    path = folder / "tokenizer.json"
    content = json.loads(path.read_text())
    content["model"]["vocab"] |= {"more": tiny.SIZE}
    path.write_text(json.dumps(content))


def without_head(folder: Path) -> None:
    config = BertConfig.from_pretrained(folder)
    AutoModel.from_config(config).save_pretrained(folder)


def pickled(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def sharded(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "model-00001-of-00002.safetensors")


def truncated(folder: Path) -> None:
    (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:200])


def other_shapes(folder: Path) -> None:
    path = folder / "model.safetensors"
    save_file(
        {k: v[..., :-1].contiguous() if "query.weight" in k else v for k, v in load_file(path).items()}, path, {"format": "pt"}
    )


def no_tokenizer(folder: Path) -> None:
    for path in folder.glob("*token*"):
        path.unlink()


@pytest.mark.parametrize(
    ("damage", "code", "says"),
    [
        (shutil.rmtree, "own_no_folder", "no such folder"),
        (lambda f: (f / "config.json").unlink(), "own_no_config", "config.json"),
        (lambda f: (f / "config.json").write_text("{"), "own_no_config", "config.json"),
        (lambda f: (f / "config.json").write_text("[]"), "own_no_config", "config.json"),
        (lambda f: (f / "model.safetensors").unlink(), "own_no_weights", "no model.safetensors"),
        (pickled, "own_pickle", "may run code"),
        (sharded, "own_too_large", "one file of at most"),
        (lambda f: (f / "adapter_config.json").write_text("{}"), "own_adapter", "merge it"),
        (lambda f: change(f, model_type="deberta-v2"), "own_family", ", ".join(FAMILIES)),
        (lambda f: change(f, model_type="my_own", auto_map={"AutoConfig": "evil.Config"}), "own_family", "my_own"),
        (lambda f: change(f, problem_type="multi_label_classification"), "own_other_head", "several labels"),
        (lambda f: change(f, hidden_size="twelve"), "own_unreadable", "cannot be read"),
        (truncated, "own_unreadable", "cannot be read"),
        (other_shapes, "own_", "cannot"),
        (without_head, "own_no_head", "classif"),
        (lambda f: change(f, is_decoder=True), "unsupported_model", "decoder"),
        (no_tokenizer, "own_no_tokenizer", "tokenizer.json"),
        (another_tokenizer, "own_no_tokenizer", "another model"),
        (lambda f: (f / "tokenizer.json").write_text("{}"), "own_no_tokenizer", "tokenizer.json"),
    ],
)
def test_what_cannot_be_used_is_refused_in_a_sentence(folder, damage, code, says):
    damage(folder)
    with pytest.raises(Refusal) as refusal:
        own.load(str(folder))
    sentence = str(refusal.value)
    assert refusal.value.code.startswith(code) and says in sentence
    assert "\n" not in sentence and sentence.endswith(".") and "cannot be used" in sentence


@pytest.mark.parametrize("typed", ["", "  ", "/nowhere/at/all", "a" * 5000, "bad\x00name", "~nobody/x"])
def test_no_folder_is_no_folder(typed):
    with pytest.raises(Refusal) as refusal:
        own.load(typed)
    assert refusal.value.code == "own_no_folder"


def test_too_large_weights_are_not_read(folder, monkeypatch):
    monkeypatch.setattr(own, "LARGEST", 1000)
    with pytest.raises(Refusal, match="at most"):
        own.load(str(folder))


class Hub:
    """The hub as far as `fetch` asks it: one repository with the files of a folder, perhaps with an offer by its converter."""

    def __init__(self, monkeypatch, folder: Path, main=None, offer: str | None = None) -> None:
        self.folder, self.main, self.offer, self.asked = folder, main, offer, []
        monkeypatch.setattr(huggingface_hub, "HfApi", lambda token: self)
        monkeypatch.setattr(huggingface_hub, "hf_hub_download", self.download)

    def model_info(self, name, files_metadata, revision="main"):
        files = [path.name for path in self.folder.iterdir()] if self.main is None or revision != "main" else self.main
        sizes = {name: (self.folder / name).stat().st_size if (self.folder / name).exists() else 9 for name in files}
        siblings = [SimpleNamespace(rfilename=name, size=size) for name, size in sizes.items()]
        return SimpleNamespace(sha=f"sha-of-{revision}", siblings=siblings)

    def get_repo_discussions(self, name, author, discussion_status):
        assert author == "SFconvertbot" and discussion_status == "open"
        titles = ["Another", own.CONVERTED[1]] if self.offer else []
        return [SimpleNamespace(title=t, is_pull_request=True, git_reference=self.offer) for t in titles]

    def download(self, name, file, *, revision, token, tqdm_class=None):
        assert token is False
        self.asked.append((name, file, revision))
        size = (self.folder / file).stat().st_size
        if tqdm_class is not None:
            with tqdm_class(total=size, unit="B") as bar:
                bar.update(size // 2)
                bar.update(size - size // 2)
        return str(self.folder / file)


def test_a_name_is_loaded_from_the_hub_and_progress_told(folder, monkeypatch, capsys):
    (folder / "flax_model.msgpack").write_bytes(b"x")
    hub, told = Hub(monkeypatch, folder), []
    found = own.fetch(" someone/bert-tiny ", lambda there, total: told.append((there, total)))
    files = [file for _, file, _ in hub.asked]
    assert found == folder and files[0] == "config.json" and files[-1] == "model.safetensors"
    assert set(files) <= {"config.json", "model.safetensors", *own.TOKENIZERS} and hub.asked[0][2] == "sha-of-main"
    total = sum((folder / file).stat().st_size for file in files)
    assert told == sorted(told) and told[-1] == (total, total) and len(told) == 2 * len(files)
    assert own.load(str(found)).card.name == "own/my-model" and capsys.readouterr() == ("", "")


def test_an_old_repository_is_read_as_the_hubs_converter_offers_it(folder, monkeypatch):
    hub = Hub(monkeypatch, folder, main=["config.json", "pytorch_model.bin", "vocab.txt"], offer="refs/pr/1")
    assert own.fetch("someone/bert-old") == folder
    assert {revision for _, _, revision in hub.asked} == {"sha-of-refs/pr/1"}
    Hub(monkeypatch, folder, main=["config.json", "pytorch_model.bin"])
    with pytest.raises(Refusal, match="pickles"):
        own.fetch("someone/bert-old")


def raising(error):
    def ask(*_, **__):
        raise error

    return ask


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (ConnectionError("no route\nto the hub"), "own_offline", "connect to the network, or name a folder"),
        (huggingface_hub.errors.LocalEntryNotFoundError("offline"), "own_offline", "cannot be reached"),
        (huggingface_hub.errors.OfflineModeIsEnabled("offline"), "own_offline", "cannot be reached"),
    ],
)
def test_without_a_network_it_is_said_in_one_sentence(monkeypatch, error, code, says):
    monkeypatch.setattr(huggingface_hub, "HfApi", lambda token: SimpleNamespace(model_info=raising(error)))
    with pytest.raises(Refusal, match=says) as refusal:
        own.fetch(own.SUGGESTED)
    assert refusal.value.code == code and "\n" not in str(refusal.value) and own.SUGGESTED in str(refusal.value)


@pytest.mark.parametrize("name", ["", "bert", "a/b/c", "../etc/passwd", "a b/c", "https://huggingface.co/a/b", "x" * 400])
def test_what_is_no_name_is_asked_of_nobody(monkeypatch, name):
    monkeypatch.setattr(huggingface_hub, "HfApi", raising(AssertionError("asked")))
    with pytest.raises(Refusal, match="textattack") as refusal:
        own.fetch(name)
    assert refusal.value.code == "own_no_name"


def test_a_folder_can_be_named_without_a_screen(folder, capsys):
    assert main(("explain", "--model", str(folder), "--text", "the film is good")) == 0
    answer = json.loads(capsys.readouterr()[0])
    assert answer["model"] == "own/my-model" and answer["tokens"] == ["the", "film", "is", "good"]
    assert (
        main(("explain", "--model", str(folder), "--text", "it is good", "--query", "bad story", "--measures", "attention"))
        == 0
    )
    assert len(json.loads(capsys.readouterr()[0])["tokens"]) == 5
    pickled(folder)
    assert main(("explain", "--model", str(folder), "--text", "good")) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and "pickles" in err
