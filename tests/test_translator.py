"""Translators: they learn, they are read back as they were saved, typed text reaches them, and attention can be replaced."""

import dataclasses
import json

import pytest
import torch

from core.interventions import uniform
from core.models import translator
from core.models import vocabulary as vocab
from core.models.decoder import fresh
from core.models.transformer_translator import TransformerTranslator
from core.models.translator import Translator, TranslatorCard
from core.models.vocabulary import END, UNKNOWN
from core.translating import bleu, exact, fit, loss_of, write
from core.translation import letters, sentence, shuffled, translate
from core.types import Pair, Refusal

WORDS = tuple("abcdefgh")


def pairs(n: int, seed: int = 0) -> list[Pair]:
    """Rows of letters and the same rows in capitals, backwards."""
    generator = torch.Generator().manual_seed(seed)
    rows = [torch.randint(len(WORDS), (2 + i % 3,), generator=generator).tolist() for i in range(n)]
    return [
        Pair(str(i), tuple(WORDS[w] for w in row), tuple(WORDS[w].upper() for w in reversed(row))) for i, row in enumerate(rows)
    ]


def untrained(attention: str = "additive", unit: str = "word") -> Translator:
    data = pairs(50)
    reads, writes = (vocab.build_symbols(texts, limit=50) for texts in ([p.text for p in data], [p.target for p in data]))
    card = TranslatorCard(
        *("toy/gru", unit, ("en", "de"), attention, 3.0, 12, 24, 9, 8, 0, ("toy_read", "toy_written")),
        *((reads.sha256, writes.sha256), "", "", 0, {}, {}),
    )
    return translator.build(card, reads, writes)


@pytest.fixture(scope="module")
def trained() -> Translator:
    settings = {"score": exact, "rate": 1e-2, "batch_size": 16, "dropout": 0.0, "smoothing": 0.0}
    return fit(untrained(), pairs(400), pairs(40, 1), epochs=15, **settings).model


def test_it_learns_to_write_backwards_and_looks_at_the_right_word(trained: Translator) -> None:
    test = pairs(40, 2)
    assert exact(write(trained, test), test) > 0.8
    assert loss_of(trained, test) < 0.5
    attention = translate(trained.requires_grad_(False), "a b").attention
    assert attention.shape[1] == 2 and torch.allclose(attention.sum(-1), torch.ones(len(attention)))


def test_an_interrupted_training_ends_where_a_whole_one_does(tmp_path) -> None:
    settings = {"score": exact, "epochs": 3, "dropout": 0.2}
    whole = fit(untrained(), pairs(80), pairs(20, 1), **settings)
    part = fit(
        *(untrained(), pairs(80), pairs(20, 1)), progress=lambda history: len(history) < 2, checkpoint=tmp_path, **settings
    )
    assert part.stopped and len(part.history) == 2
    rest = fit(untrained(), pairs(80), pairs(20, 1), checkpoint=tmp_path, **settings)
    assert rest.history == whole.history
    values = zip(rest.model.state_dict().values(), whole.model.state_dict().values(), strict=True)
    assert all(torch.equal(a, b) for a, b in values)


def test_it_is_read_back_and_altered_files_are_refused(tmp_path) -> None:
    model = untrained()
    for side, name in ((model.reads, "toy_read"), (model.writes, "toy_written")):
        vocab.save(side, tmp_path / f"{name}.json")
    card = translator.save(model, model.card, tmp_path)
    back = translator.load("toy/gru", root=tmp_path, vocabularies=tmp_path)
    assert back.card == card and translator.cards(tmp_path) == {"toy/gru": card}
    close = zip(back.state_dict().values(), model.state_dict().values(), strict=True)
    assert all(torch.allclose(a, b, atol=1e-3) for a, b in close)
    file = tmp_path / "toy" / "gru" / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-1] + b"x")
    for change, code in (
        (lambda: None, "altered_file"),
        (file.unlink, "missing_file"),
        (lambda: (file.parent / translator.CARD).write_text("{"), "unreadable_card"),
        (lambda: (file.parent / translator.CARD).unlink(), "unknown_model"),
    ):
        change()
        with pytest.raises(Refusal) as refused:
            translator.load("toy/gru", root=tmp_path, vocabularies=tmp_path)
        assert refused.value.code == code


def test_a_card_from_which_nothing_can_be_built_is_left_out(tmp_path) -> None:
    content = dataclasses.asdict(untrained().card)
    for i, wrong in enumerate(({"attention": "hard"}, {"hidden_dim": 0}, {"vocabularies": ["one"]})):
        (tmp_path / str(i)).mkdir()
        (tmp_path / str(i) / translator.CARD).write_text(json.dumps(content | wrong))
    assert translator.cards(tmp_path) == {}


def test_a_shuffle_moves_weights_among_the_words_that_are_there() -> None:
    mask = torch.tensor([[True] * 4, [True] * 2 + [False] * 2])
    weights = torch.tensor([[0.1, 0.2, 0.3, 0.4], [0.3, 0.7, 0, 0]])[:, None, None]
    one, again = shuffled(3)(mask), shuffled(3)(mask)
    first, second = one(0, weights), one(0, weights)
    assert torch.equal(first, again(0, weights)) and torch.equal(second, again(0, weights))
    assert torch.equal(first.sort(-1).values, weights.sort(-1).values) and not first[1, 0, 0, 2:].any()
    assert not torch.equal(torch.stack([one(0, weights) for _ in range(8)]).std(0), torch.zeros_like(weights))


def test_replaced_attention_is_what_is_used_and_returned(trained: Translator) -> None:
    found = translate(trained.requires_grad_(False), "a b c", at=uniform)
    assert torch.allclose(found.attention, torch.full_like(found.attention, 1 / 3))


@pytest.mark.parametrize(("text", "code"), [("", "blank_text"), ("  \t\n", "blank_text"), ("\x00\u200b", "blank_text")])
@pytest.mark.parametrize("unit", ["word", "letter"])
def test_blank_text_is_refused(text: str, code: str, unit: str) -> None:
    with pytest.raises(Refusal) as refused:
        translate(untrained(unit=unit), text)
    assert refused.value.code == code


def test_what_is_unknown_cut_or_unfinished_is_said() -> None:
    model = untrained().requires_grad_(False)
    model.decoder.bias[END] = -1e6
    found = translate(model, "a <b> 안녕 😀 " * 5)
    assert {note.code for note in found.notes} == {"cut_last", "unknown_words", "not_ended"}
    assert found.cut > 0 and len(found.tokens) == model.card.max_tokens
    assert len(found.output) == model.card.max_output == len(found.attention)
    model.decoder.bias[UNKNOWN] = 1e6
    assert "[UNK]" not in translate(model, "a b").output


def test_letters_and_sentences() -> None:
    assert "".join(letters(" １９９８．\u00a0 3\x00.  ’98 ")) == "1998. 3. '98"
    assert sentence(("Ein", "Mann", ",", "der", "geht", ".")) == "Ein Mann, der geht."


def test_a_transformer_writes_step_by_step_what_forcing_it_gives() -> None:
    model = untrained()
    other = fresh(lambda: TransformerTranslator(model.reads, model.writes, 9, 8), 0).requires_grad_(False)
    ids = other.encode([["a", "b", "c"], ["d"]])
    made = other.written(ids)
    forced = other.forced(ids, made.ids)
    alive = (made.ids != 0)[..., None]
    torch.testing.assert_close(forced.logits * alive, made.logits * alive, atol=1e-4, rtol=0)


def test_bleu_of_the_same_words_is_100() -> None:
    pytest.importorskip("sacrebleu")
    test = [Pair("1", ("x",), ("Ein", "Mann", "geht", "am", "Strand", "."))]
    assert bleu([test[0].target], test) == pytest.approx(100)
    assert bleu([("Zwei",)], test) < 5
