"""A Hugging Face classifier whose attention can be read and replaced in every call.

    x_0 = embeddings    A_l = softmax(Q_l K_lᵀ / √d)    x_{l+1} = layer_l(x_l, intervene(l, A_l))    logits = head(x_L)

Transformers 5 looks a model's attention function up by name and hands it the keywords of the call. One function is registered
here, eager attention with one more line: a `trace` that came with the call chooses the weights. A trace is made for one call,
counts its layers and dies with it, so nothing is left on a module and calls in other threads do not meet. The layers are called
here one by one, which lets a run begin at any of them with states that were computed before. Where each family keeps its
embeddings, layers and head is told in `FAMILIES`; other models are refused, since their attention may not pass through the
function, and a model whose logits are not those of the library's own forward pass is refused as well.
"""

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from core.device import StateCache
from core.interventions import keep
from core.models import vocabulary as vocab
from core.models.text_model import MultiHead, allowed
from core.models.vocabulary import Vocabulary
from core.types import Batch, Card, Example, Intervention, Readout, Refusal, Run

TRACED = "traced"  # the name of the attention function
CELLS = 2**22  # numbers of states that a batch may have at once
CLOSE = 1e-4  # logits that differ by less are the library's


@dataclass
class Trace:
    """What one call wants of its attention and what it saw: weights "batch head query key" and values "batch head key dim"."""

    intervene: Intervention
    layer: int = 0  # the next one
    attention: list[Tensor] = field(default_factory=list)
    value: list[Tensor] = field(default_factory=list)

    def weights(self, own: Tensor, value: Tensor) -> Tensor:
        """The weights to use in this layer instead of its own."""
        used = self.intervene(self.layer, own)
        self.layer += 1
        self.attention.append(used)
        self.value.append(value)
        return used


def _attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    trace: Trace | None = None,
    **rest: object,
) -> tuple[Tensor, Tensor]:
    scores = query @ key.transpose(-1, -2) * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    weights = torch.softmax(scores if attention_mask is None else scores + attention_mask, dim=-1)
    if trace is not None:
        weights = trace.weights(weights, value)
    return (weights @ value).transpose(1, 2).contiguous(), weights


AttentionInterface.register(TRACED, _attend)
AttentionMaskInterface.register(TRACED, eager_mask)  # without it padding would be attended


@dataclass(frozen=True)
class Family:
    """Where a family of models keeps what a run needs."""

    body: str  # the part of the classifier below its head
    embed: Callable[[Any, Tensor, Batch], Tensor]  # input vectors -> states of the first layer
    layers: Callable[[Any], list[nn.Module]]
    output: str  # in a layer, the linear map that carries the heads' values into the state
    head: Callable[[Any, Tensor], Tensor]  # last states -> logits


def _with_segments(body: Any, vectors: Tensor, batch: Batch, **more: Tensor) -> Tensor:
    return body.embeddings(inputs_embeds=vectors, token_type_ids=batch.segment, **more)


def _electra(body: Any, vectors: Tensor, batch: Batch) -> Tensor:
    states = _with_segments(body, vectors, batch)
    return body.embeddings_project(states) if hasattr(body, "embeddings_project") else states


def _roberta(body: Any, vectors: Tensor, batch: Batch) -> Tensor:
    """One segment, and positions that start behind the padding's."""
    present = batch.present.long()
    position = present.cumsum(-1) * present + body.embeddings.padding_idx
    return body.embeddings(inputs_embeds=vectors, token_type_ids=torch.zeros_like(batch.ids), position_ids=position)


def _albert_layers(body: Any) -> list[nn.Module]:
    groups, n = body.encoder.albert_layer_groups, body.config.num_hidden_layers
    return [layer for i in range(n) for layer in groups[i * len(groups) // n].albert_layers]


FAMILIES: dict[str, Family] = {
    "bert": Family(
        "bert",
        _with_segments,
        lambda body: list(body.encoder.layer),
        "attention.output.dense",
        lambda model, states: model.classifier(model.bert.pooler(states)),
    ),
    "roberta": Family(
        "roberta",
        _roberta,
        lambda body: list(body.encoder.layer),
        "attention.output.dense",
        lambda model, states: model.classifier(states),
    ),
    "distilbert": Family(
        "distilbert",
        lambda body, vectors, batch: body.embeddings(None, vectors),
        lambda body: list(body.transformer.layer),
        "attention.out_lin",
        lambda model, states: model.classifier(torch.relu(model.pre_classifier(states[:, 0]))),
    ),
    "electra": Family(
        "electra",
        _electra,
        lambda body: list(body.encoder.layer),
        "attention.output.dense",
        lambda model, states: model.classifier(states),
    ),
    "albert": Family(
        "albert",
        lambda body, vectors, batch: body.encoder.embedding_hidden_mapping_in(_with_segments(body, vectors, batch)),
        _albert_layers,
        "attention.dense",
        lambda model, states: model.classifier(model.albert.pooler_activation(model.albert.pooler(states[:, 0]))),
    ),
}


class Transformer(MultiHead):
    """An `AttentionModel` over a frozen `…ForSequenceClassification`, its layers and heads those of the card.

    Special tokens are attended as the model was trained to; `Batch.mask` tells them from words.
    """

    def __init__(self, card: Card, vocabulary: Vocabulary, net: Any, cache: StateCache | None = None) -> None:
        super().__init__(card, vocabulary, cache)
        self.net, self.family = net, FAMILIES[net.config.model_type]

    @property
    def n_layers(self) -> int:  # type: ignore[override]
        """How many layers have attention."""
        return self.card.layers

    @property
    def body(self) -> Any:
        """Embeddings and layers, without the head."""
        return getattr(self.net, self.family.body)

    def output_map(self, layer: int) -> Tensor:
        """What carries each head's values into the state, "head dim state": Σ_h (A_h value_h) output_map_h is what attention
        adds, but for a bias."""
        return self._output(layer).weight.T.unflatten(0, (self.card.heads, -1))

    @property
    def tokens_at_once(self) -> int:  # type: ignore[override]
        """How many tokens a batch may have whose gradient is asked."""
        return max(1, CELLS // (self.card.layers * self.card.hidden_dim))

    def copied(self, *, dtype: torch.dtype | None = None, device: torch.device | None = None) -> Self:
        """A model of its own with these weights; it shares no cache, as its weights will differ."""
        net: nn.Module = copy.deepcopy(self.net)
        return type(self)(self.card, self.vocabulary, net.to(device=device, dtype=dtype)).requires_grad_()

    def cut(self, example: Example) -> Example:
        """The example with as many words as fit the card's `max_tokens` pieces; a query may take half of them."""
        room = self.card.max_tokens - self.vocabulary.tokenizer.num_special_tokens_to_add(self._pair(example))
        query = self._fitting(example.query, max(1, room // 2))
        text = self._fitting(example.text, max(1, room - len(vocab.ids(self.vocabulary, query)[0])))
        evidence = tuple(e for e in example.evidence if e < len(text))
        return Example(example.id, text, query, example.label, example.candidates, evidence)

    def encode(self, examples: Sequence[Example]) -> Batch:
        """The examples as one padded batch of pieces, special tokens around them; the query's words are numbered on."""
        kept = tuple(self.cut(e) for e in examples)
        rows = [self._pieces(example) for example in kept]
        width = max(len(row) for row, _, _ in rows)
        filled = [torch.full((len(rows), width), value) for value in (self.net.config.pad_token_id or 0, 0, -1)]
        present = torch.zeros(len(rows), width, dtype=torch.bool)
        for i, row in enumerate(rows):
            present[i, : len(row[0])] = True
            for tensor, values in zip(filled, row, strict=True):
                tensor[i, : len(values)] = torch.tensor(values)
        ids, segment, word = (tensor.to(self.device) for tensor in filled)
        nothing = ids[:, :0]
        may = allowed(kept, len(self.card.task.labels)).to(self.device)
        return Batch(kept, ids, present.to(self.device), word >= 0, word, segment, nothing, nothing.bool(), may)

    def attended(self, batch: Batch) -> Tensor:
        """All tokens but padding, "batch token"."""
        return batch.present

    def pieces(self, batch: Batch) -> list[list[str]]:
        """The tokenizer's pieces of each example, special ones included."""
        named = self.vocabulary.tokenizer.id_to_token
        return [[named(int(i)) or "" for i in row[here]] for row, here in zip(batch.ids, batch.present, strict=True)]

    def embed(self, batch: Batch) -> Tensor:
        """Input vectors of the pieces, "batch token dim", before position and segment are added."""
        return self.body.get_input_embeddings()(batch.ids)

    def embed_query(self, batch: Batch) -> Tensor:
        """No vectors: the query is read with the text."""
        return self.embed(batch)[:, :0]

    def run(
        self,
        batch: Batch,
        *,
        embedding: Tensor | None = None,
        intervene: Intervention = keep,
        states: Tensor | None = None,
        query_embedding: Tensor | None = None,
        start: int = 0,
    ) -> Run:
        """One forward pass from layer `start` on, whose input `states` may bring; of the layers below nothing is returned."""
        if states is None:
            states = self.family.embed(self.body, self.embed(batch) if embedding is None else embedding, batch)
        trace, seen, hidden = Trace(intervene, start), [], _hidden(batch, states)
        for layer in self.family.layers(self.body)[start:]:
            seen.append(states)
            states = layer(states, hidden, trace=trace)
        logits = self.family.head(self.net, states).masked_fill(~batch.allowed, -torch.inf)
        return Run(logits, torch.stack(trace.attention, 1), torch.stack(trace.value, 1), torch.stack(seen, 1))

    def layer(self, batch: Batch, number: int, states: Tensor, intervene: Intervention = keep) -> Tensor:
        """What one layer makes of the `states` that it is given, "batch token dim"."""
        return self.family.layers(self.body)[number](states, _hidden(batch, states), trace=Trace(intervene, number))

    def reader(self, batch: Batch) -> Tensor:
        """The classification token alone, the first one, "batch query"."""
        return (torch.arange(batch.ids.shape[1], device=batch.ids.device) == 0).expand(len(batch.examples), -1)

    def readout(self, batch: Batch) -> Readout:
        """Logits "batch label" with an intervention at one layer and those above; what is below is computed once."""
        with torch.no_grad():
            states = self.run(batch).states

        def read(layer: int, intervene: Intervention) -> Tensor:
            if not 0 <= layer < self.n_layers:
                raise ValueError(f"This model has the attention layers 0 to {self.n_layers - 1}; {layer} was asked for.")
            return self.run(batch, states=states[:, layer], intervene=intervene, start=layer).logits

        return read

    def _output(self, layer: int) -> nn.Linear:
        found = self.family.layers(self.body)[layer].get_submodule(self.family.output)
        assert isinstance(found, nn.Linear)
        return found

    def _fitting(self, words: Sequence[str], room: int) -> tuple[str, ...]:
        """The first words whose pieces fit; at least one."""
        _, word = vocab.ids(self.vocabulary, words)
        return tuple(words) if len(word) <= room else tuple(words[: max(1, word[room])])

    def _pair(self, example: Example) -> bool:
        """Whether two texts are read, of which one may be empty once a word was deleted."""
        return bool(example.query) or self.card.task.kind != "classification"

    def _pieces(self, example: Example) -> tuple[list[int], list[int], list[int]]:
        """Ids, segments, and the word of each piece."""
        query = list(example.query) if self._pair(example) else None
        found = self.vocabulary.tokenizer.encode(list(example.text), query, is_pretokenized=True)
        word = [
            -1 if index is None else index + (len(example.text) if part == 1 else 0)
            for index, part in zip(found.word_ids, found.sequence_ids, strict=True)
        ]
        return found.ids[: self.card.max_tokens], found.type_ids[: self.card.max_tokens], word[: self.card.max_tokens]


def _hidden(batch: Batch, states: Tensor) -> Tensor:
    """What keeps padding from being attended, added to the scores."""
    return (~batch.present)[:, None, None].to(states) * torch.finfo(states.dtype).min


def adapted(net: Any, card: Card, tokenizer: Tokenizer, cache: StateCache | None = None) -> Transformer:
    """The classifier as a model whose attention is an ordinary value.

    Refuses families that are not in `FAMILIES`, decoders, regression, and a model whose forward pass is not reproduced.
    """
    config = net.config
    if config.model_type not in FAMILIES:
        raise _unsupported(card, f"its family is {config.model_type}; allowed are {', '.join(FAMILIES)}")
    if getattr(config, "is_decoder", False) or (config.num_labels or 0) < 2:
        raise _unsupported(card, "it is a decoder or has fewer than two labels")
    config._attn_implementation = TRACED
    tokenizer.no_padding()
    tokenizer.no_truncation()
    model = Transformer(card, vocab.stamped(tokenizer), net.eval(), cache)
    _check(model)
    return model.requires_grad_(False)


@torch.no_grad()
def _check(model: Transformer) -> None:
    """Refuses a model that does not do what the library's own forward pass does, layer for layer."""
    batch = model.encode([Example("check", ("a", "b")), Example("check", ("a",), ("b", "c"))])
    run = model.run(batch)
    more = {} if model.family.body in ("distilbert", "roberta") else {"token_type_ids": batch.segment}
    whole = model.net(input_ids=batch.ids, attention_mask=batch.present.long(), **more).logits
    if run.attention.shape[1:3] != (model.card.layers, model.card.heads) or not torch.allclose(run.logits, whole, atol=CLOSE):
        raise _unsupported(model.card, "its attention does not pass through the library's interface as expected")


def _unsupported(card: Card, reason: str) -> Refusal:
    sentence = f"{card.name} cannot be used: {reason}."
    return Refusal("unsupported_model", sentence, given=card.name, reason=reason, allowed=", ".join(FAMILIES))


def read_tokenizer(folder: Path) -> Tokenizer:
    """The tokenizer in a model's folder."""
    return Tokenizer.from_file(str(folder / "tokenizer.json"))
