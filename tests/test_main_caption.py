"""The verb `caption`: words with attention over cells, and refusals in one line."""

import json

import pytest

from core.models import perceivers
from tests.test_main import ask, refused  # noqa: F401

MODEL = "scenes/soft"
CIRCLE = {"shape": "circle", "color": "red", "column": 1, "row": 4}
SQUARE = {"shape": "square", "color": "blue", "column": 5, "row": 4}
SCENE = json.dumps({"objects": [SQUARE, CIRCLE]})
needs_model = pytest.mark.skipif(MODEL not in perceivers.cards(), reason="no trained models: make models")


@needs_model
def test_a_scene_is_captioned(ask):  # noqa: F811
    answer = ask("caption", "--model", MODEL, "--scene", SCENE)
    assert answer["text"] == " ".join(answer["output"]) == "a red circle left of a blue square"
    assert answer["notes"] == [] and answer["caption_that_fits"] == answer["text"]
    assert len(answer["tokens"]) == answer["grid"]["columns"] * answer["grid"]["rows"]
    assert len(answer["attention"]) == len(answer["output"]) == len(answer["probability"])
    assert all(sum(row) == pytest.approx(1, abs=1e-5) and len(row) == len(answer["tokens"]) for row in answer["attention"])
    assert answer["objects"][0]["color"] == "red" and answer["named"] == [0, 0, 0, None, None, 1, 1, 1]
    for row, on in zip(answer["attention"], answer["share_on_objects"], strict=True):
        assert on == pytest.approx([sum(row[cell] for cell in thing["cells"]) for thing in answer["objects"]], abs=1e-5)


@needs_model
def test_a_scene_is_read_from_standard_input(ask):  # noqa: F811
    one, other = (
        ask("caption", "--model", MODEL, "--scene", SCENE),
        ask("caption", "--model", MODEL, "--scene", "-", stdin=SCENE.encode()),
    )
    assert one == other


@pytest.mark.parametrize(
    ("scene", "said"),
    [
        ("", "no JSON"),
        ("{'objects': []}", "no JSON"),
        ("[1, 2]", "no list of objects"),
        (json.dumps({"objects": []}), "0 objects; 1 to 3"),
        (json.dumps({"objects": [{**CIRCLE, "color": "<b>rot</b>"}]}), "there are red, blue"),
        (json.dumps({"objects": [{**CIRCLE, "shape": "😀" * 900}]}), "there are circle"),
        (json.dumps({"objects": [{**CIRCLE, "column": 10**300}]}), "1 to 7 is allowed"),
        (json.dumps({"objects": [{**CIRCLE, "row": "2\n3"}]}), "a whole number"),
        (json.dumps({"objects": [CIRCLE, {**SQUARE, "column": 2}]}), "overlap"),
    ],
)
def test_other_scenes_are_refused_in_one_line(refused, scene, said):  # noqa: F811
    line = refused("caption", "--model", MODEL, "--scene", scene)
    assert said in line and len(line) < 400


@pytest.mark.parametrize("model", ["scenes/hard", "sst2/bilstm-additive", "", "../scenes/soft", "sounds/gru-additive"])
def test_other_models_are_refused(refused, model):  # noqa: F811
    assert "There is no captioner" in refused("caption", "--model", model, "--scene", SCENE)
