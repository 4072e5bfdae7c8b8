"""A model of the reader's own: a folder of this machine, or a name on the Hugging Face hub, asked for only by a click.

Whatever comes is data and stays data. Only `model.safetensors` is read, never a pickle; no code of a repository runs; and what
the adapter (`transformer.adapted`) cannot follow layer for layer is refused with the reason. Labels are those of the model's
`config.json`. Whether it reads one text or a pair is not written there, so the reader says it.

A text is cut into words first, as everywhere here, and each word into pieces as if it stood behind a space. A clitic (n't) may
have other pieces then than in the model's training.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from tokenizers import Tokenizer
from tokenizers.pre_tokenizers import ByteLevel
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

from core.device import StateCache
from core.models.loading import quiet
from core.models.transformer import FAMILIES, Transformer, adapted
from core.types import Card, Kind, Refusal, Task

SUGGESTED = "textattack/bert-base-uncased-SST-2"  # BERT-base, as in Hao et al. 2021
PREFIX = "own/"  # of the names of such models
KINDS: tuple[Kind, ...] = ("classification", "paraphrase")  # one text, a pair
LARGEST = 700 * 10**6  # bytes of weights: a BERT-base has 440 MB; some answers need twice as much again
MOST_PIECES = 512
CONFIG, WEIGHTS = "config.json", "model.safetensors"
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "merges.txt", "tokenizer_config.json", "special_tokens_map.json")
VOCABULARIES = TOKENIZERS[:3]
UNREADABLE = (OSError, ValueError, RuntimeError, LookupError, TypeError, ImportError, SafetensorError, StrictDataclassError)
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".h5", ".msgpack")
NOT_IN_NAMES, LONGEST = re.compile(r"[^\w./-]"), 80
ON_HUB = re.compile(r"[\w.-]{1,96}/[\w.-]{1,96}")
CONVERTED = (
    "SFconvertbot",
    "Adding `safetensors` variant of this model",
)  # who offers safetensors for old repositories, and how

Told = Callable[[int, int], None]  # bytes that are there, of how many


def load(source: str, kind: Kind = "classification", cache: StateCache | None = None) -> Transformer:
    """The model in a folder, on the CPU. Refuses, in words, what is not there, not safe, not supported or too large."""
    folder = _folder(source)
    config = _config(folder)
    _check_files(folder.name, {file.name: file.stat().st_size for file in folder.iterdir() if file.is_file()})
    if config.get("model_type") not in FAMILIES:
        given, allowed = str(config.get("model_type", "none")), ", ".join(FAMILIES)
        raise _refusal("family", folder.name, f"its family is {given}; {allowed} are supported", family=given, allowed=allowed)
    net = _net(folder)
    return adapted(net, _card(folder, kind, net.config), _tokenizer(folder, net.config.vocab_size), cache)


def is_folder(source: str) -> bool:
    """Whether a folder of that name is there; False for what no file system takes."""
    return bool(source.strip()) and os.path.isdir(os.path.expanduser(source.strip()))


def digest(folder: str | Path, kind: Kind) -> str:
    """A checksum of all that decides what the model in a folder answers."""
    found = hashlib.sha256(kind.encode())
    for name in (WEIGHTS, CONFIG, *TOKENIZERS):
        path = os.path.join(os.path.expanduser(str(folder).strip()), name)
        if os.path.isfile(path):
            with open(path, "rb") as opened:
                found.update(hashlib.file_digest(opened, "sha256").digest())
    return found.hexdigest()


def fetch(name: str, told: Told | None = None) -> Path:
    """The folder into which a model was loaded from the hub. Needs the network; refuses where it cannot be reached, and what
    `load` would refuse as far as the list of files tells."""
    name = name.strip()
    if not ON_HUB.fullmatch(name):
        raise _refusal("no_name", name, f"it is no name on the hub; such a name looks like {SUGGESTED}", allowed=SUGGESTED)
    # Imported here, as only this function may open a connection. httpx2 is what huggingface_hub downloads with.
    import httpx2
    import huggingface_hub

    try:
        revision, sizes = _files_on_hub(huggingface_hub.HfApi(token=False), name)
        _check_files(name, sizes)
        wanted = [file for file in (CONFIG, *TOKENIZERS, WEIGHTS) if file in sizes]
        bar = _bar(huggingface_hub.utils.tqdm, told, sum(sizes[file] for file in wanted)) if told else None
        paths = [huggingface_hub.hf_hub_download(name, file, revision=revision, token=False, tqdm_class=bar) for file in wanted]
    except (huggingface_hub.errors.RepositoryNotFoundError, huggingface_hub.errors.HFValidationError) as error:
        raise _refusal("no_model", name, "the hub has no such public model") from error
    except (OSError, httpx2.HTTPError, huggingface_hub.errors.HfHubHTTPError) as error:
        reason = type(error).__name__
        raise _refusal(
            "offline", name, f"the hub cannot be reached ({reason}); connect to the network, or name a folder"
        ) from error
    return Path(paths[-1]).parent


def _files_on_hub(api: Any, name: str) -> tuple[str, dict[str, int]]:
    """The state of a repository that is read, and the sizes of its files; where it has pickles only, the state that the hub's
    own converter offers."""
    info = api.model_info(name, files_metadata=True)
    sizes = {file.rfilename: file.size or 0 for file in info.siblings}
    if WEIGHTS not in sizes:
        author, title = CONVERTED
        for offer in api.get_repo_discussions(name, author=author, discussion_status="open"):
            if offer.title == title and offer.is_pull_request:
                info = api.model_info(name, files_metadata=True, revision=offer.git_reference)
                return info.sha, {file.rfilename: file.size or 0 for file in info.siblings}
    return info.sha, sizes


def _bar(base: Any, told: Told, total: int) -> type:
    """A progress bar for the hub's downloads that draws nothing and tells how far all of them are."""
    there = [0]

    class Bar(base):
        def __init__(self, *args: Any, **settings: Any) -> None:
            super().__init__(*args, **{**settings, "disable": True})

        def update(self, n: float | None = 1) -> None:
            there[0] += int(n or 0)
            told(min(there[0], total), total)

    return Bar


def _folder(source: str) -> Path:
    if not is_folder(source):
        raise _refusal("no_folder", source.strip(), "there is no such folder on the machine that runs the dashboard")
    return Path(source.strip()).expanduser().resolve()


def _config(folder: Path) -> Mapping[str, Any]:
    try:
        found = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return found
    except (OSError, ValueError):
        pass
    raise _refusal("no_config", folder.name, f"its {CONFIG} is missing or cannot be read")


def _check_files(name: str, sizes: Mapping[str, int]) -> None:
    """Refuses files without safetensors, or with too much of them."""
    parts = [file for file in sizes if file.endswith(".safetensors") and file != "adapter_model.safetensors"]
    if "adapter_config.json" in sizes:
        raise _refusal("adapter", name, "it is an adapter; merge it into its model and save that")
    if not parts and any(file.endswith(PICKLES) for file in sizes):
        why = f"its weights are pickles, which may run code when they are read; save them as {WEIGHTS}"
        raise _refusal("pickle", name, why)
    if not parts:
        raise _refusal("no_weights", name, f"it has no {WEIGHTS}")
    if WEIGHTS not in sizes or sizes[WEIGHTS] > LARGEST:
        given = f"{sum(sizes[file] for file in parts) / 1e6:.0f}"
        why = f"its weights have {given} MB; one file of at most {LARGEST / 1e6:.0f} MB is allowed"
        raise _refusal("too_large", name, why, size=given, allowed=f"{LARGEST / 1e6:.0f}")


def _net(folder: Path) -> Any:
    """The classifier in a folder, its weights complete."""
    try:
        with quiet():
            config = AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
            if config.problem_type == "multi_label_classification" or getattr(config, "quantization_config", None):
                raise _refusal("other_head", folder.name, "it is quantized, or gives several labels at once")
            net, report = AutoModelForSequenceClassification.from_pretrained(
                folder,
                config=config,
                local_files_only=True,
                trust_remote_code=False,
                use_safetensors=True,
                output_loading_info=True,
                dtype="float32",
            )
    except UNREADABLE as error:
        if isinstance(error, Refusal):
            raise
        raise _refusal("unreadable", folder.name, f"it cannot be read ({type(error).__name__})") from error
    if missing := [*report["missing_keys"], *report["mismatched_keys"]]:
        why = f"its weights lack {missing[0]}, so it was not trained to classify texts"
        raise _refusal("no_head", folder.name, why, missing=str(missing[0]))
    return net


def _tokenizer(folder: Path, vocab_size: int) -> Tokenizer:
    """The tokenizer in a folder. Refuses one that gives ids for which the model has no vector."""
    found = None
    try:
        if any((folder / name).is_file() for name in VOCABULARIES):  # without one the library makes an empty tokenizer
            with quiet():
                found = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except UNREADABLE as error:
        raise _refusal("no_tokenizer", folder.name, "its tokenizer cannot be read; tokenizer.json is needed") from error
    made = getattr(found, "backend_tokenizer", None)
    if not isinstance(made, Tokenizer):
        raise _refusal("no_tokenizer", folder.name, "it has no fast tokenizer; tokenizer.json is needed")
    if max(made.get_vocab(with_added_tokens=False).values()) >= vocab_size:
        raise _refusal("no_tokenizer", folder.name, "its tokenizer belongs to another model; its own tokenizer.json is needed")
    if isinstance(made.pre_tokenizer, ByteLevel):
        made.pre_tokenizer = ByteLevel(add_prefix_space=True, use_regex=made.pre_tokenizer.use_regex)
    return made


def _card(folder: Path, kind: Kind, config: Any) -> Card:
    labels = tuple(str(config.id2label[i]) for i in range(config.num_labels))
    name = PREFIX + NOT_IN_NAMES.sub("-", _named(folder))[:LONGEST]
    return Card(
        name=name,
        task=Task("own", kind, labels),
        encoder=config.model_type,
        score="scaled-dot",
        normalizer="softmax",
        embedding_dim=getattr(config, "embedding_size", config.hidden_size),
        hidden_dim=config.hidden_size,
        layers=config.num_hidden_layers * getattr(config, "inner_group_num", 1),
        heads=config.num_attention_heads,
        parameters=0,
        max_tokens=min(MOST_PIECES, _positions(config)),
        seed=0,
        vocabulary=name,
        vocabulary_sha256="",
        weights_sha256=digest(folder, kind),
        terms="The reader's own model.",
        test={},
        training={},
    )


def _named(folder: Path) -> str:
    """What a folder is called; one of the hub's cache by the name on the hub."""
    if folder.parent.name == "snapshots":
        return folder.parents[1].name.removeprefix("models--").replace("--", "/")
    return folder.name


def _positions(config: Any) -> int:
    """How many pieces have a position; RoBERTa's begin behind that of padding."""
    behind = config.pad_token_id + 1 if config.model_type == "roberta" else 0
    return int(config.max_position_embeddings) - behind


def _refusal(code: str, given: str, why: str, **values: object) -> Refusal:
    return Refusal(f"own_{code}", f"{given or 'An empty name'} cannot be used: {why}.", given=given, **values)
