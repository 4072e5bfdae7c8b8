"""A page is given a model that it can show, and only who asked for another one is told."""

import pytest

from core.__main__ import main
from core.models import registry
from core.models.classifier import Classifier
from core.models.self_attention import NAME
from core.types import Refusal
from dashboard.lessons import PAGES
from dashboard.link import LANGUAGES
from tests.test_pages import ROOT, SST, faults, opened, said

SELF, MINILM = f"sst2/{NAME}", "sst2/minilm"
pytestmark = pytest.mark.skipif(not {SST, SELF, MINILM} <= set(registry.cards()), reason="no trained models: make models")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_a_link_to_a_model_of_another_kind_is_answered_in_words(lang: str) -> None:
    app = opened("permutation", lang=lang, mode="lecture", model=SELF)
    assert list(faults(app)) == []
    assert SELF in said(app).replace("\\", "")
    assert app.session_state["link"].model != SELF
    assert app.session_state["link_written"]["model"] == app.session_state["link"].model


def test_pickers_offer_what_the_page_can_show() -> None:
    app = opened("permutation", lang="en", mode="lecture", model=SST)
    assert SELF not in app.selectbox(key="picker_model").options
    assert registry.suits(registry.cards()[SST], Classifier) and not registry.suits(registry.cards()[SELF], Classifier)


def test_who_walks_between_pages_is_told_nothing_and_gets_the_model_back() -> None:
    app = opened("permutation", lang="en", mode="lecture", model="sst2/cnn-additive")
    assert app.session_state["link"].model == "sst2/cnn-additive"
    app.switch_page(str(ROOT / "pages" / PAGES["identifiability"].file)).run()
    assert app.session_state["link"].model == SELF and list(faults(app)) == [] and len(app.warning) == 0
    app.switch_page(str(ROOT / "pages" / PAGES["permutation"].file)).run()
    assert app.session_state["link"].model == "sst2/cnn-additive" and len(app.warning) == 0


def test_what_needs_another_kind_of_model_is_refused_in_a_sentence() -> None:
    assert registry.needed(registry.load(SST), Classifier).card.name == SST
    with pytest.raises(Refusal, match="whose encoder is self-attention; allowed are models with bilstm, cnn, average"):
        registry.needed(registry.load(SELF), Classifier)


@pytest.mark.parametrize("verb", ["permute", "adversary", "erase", "rationales"])
@pytest.mark.parametrize("model", [SELF, MINILM])
def test_verbs_on_one_attention_refuse_what_has_several(verb: str, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main((verb, "--model", model, "--text", "a good film")) == 2
    printed, complaint = capsys.readouterr()
    assert printed == "" and complaint.count("\n") == 1 and model in complaint


@pytest.mark.parametrize("name", ["agreement", "permutation", "adversary"])
def test_experiments_on_one_attention_refuse_it(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("experiment", name, "--model", SELF, "--data", "sst2")) == 2
    assert SELF in capsys.readouterr()[1]


def test_what_is_shown_instead_of_an_unknown_model_is_what_this_page_shows() -> None:
    app = opened("identifiability", lang="en", mode="lecture", model="no/model", text="sample:nope", identifiability_head="")
    told = said(app).replace("\\", "")
    assert list(faults(app)) == [] and app.session_state["link"].model == SELF
    assert f"**model = no/model**, which is not known here. Shown instead: **{SELF}**" in told and SST not in told
    assert f"Shown instead: **sample:{app.session_state['link'].sample}**" in told
    assert "**identifiability_head = –**" in told
