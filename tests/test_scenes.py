"""Scenes: captions worked by hand in both languages, pictures that are where they should be, and splits that share nothing."""

import json

import pytest
import torch

from core import scenes
from core.scenes import CELL, COLORS, GRID, OUTLINES, PAPER, Thing, caption, checked, draw, from_json, share
from core.types import Refusal

CIRCLE, SQUARE, STAR = Thing("circle", "red", 1, 4), Thing("square", "blue", 4, 3), Thing("star", "green", 5, 7)


@pytest.mark.parametrize(
    ("things", "english", "korean"),
    [
        ([CIRCLE], "a red circle", "빨간 원"),
        ([SQUARE, CIRCLE], "a red circle left of a blue square", "파란 사각형 왼쪽의 빨간 원"),
        (
            [STAR, SQUARE, CIRCLE],
            "a red circle left of a blue square above a green star",
            "초록 별 위의 파란 사각형 왼쪽의 빨간 원",
        ),
        ([Thing("cross", "black", 3, 6), Thing("star", "red", 4, 2)], "a black cross below a red star", None),
        ([Thing("cross", "black", 2, 2), Thing("star", "red", 4, 4)], "a black cross left of a red star", None),
        ([Thing("cross", "black", 3, 5), Thing("star", "red", 3, 1)], "a red star above a black cross", None),
    ],
)
def test_captions_by_hand(things: list[Thing], english: str, korean: str | None) -> None:
    scene = checked(things)
    assert " ".join(caption(scene).words) == english
    assert korean is None or " ".join(caption(scene, "ko").words) == korean


@pytest.mark.parametrize("language", ["en", "ko"])
def test_every_word_knows_its_object(language: scenes.Language) -> None:
    scene = checked([STAR, SQUARE, CIRCLE])
    said = caption(scene, language)
    for word, place in zip(said.words, said.things, strict=True):
        names = {name for thing in scene[place : place + 1] for name in (thing.color, thing.shape)} if place >= 0 else set()
        names |= {scenes.KOREAN[name] for name in names} | {"a"}
        assert (word in names) == (place >= 0)
    assert sorted({place for place in said.things if place >= 0}) == [0, 1, 2]
    assert set(said.words) <= set(scenes.WORDS[language])


def test_a_picture_shows_each_object_in_its_cells_and_paper_elsewhere() -> None:
    scene = checked([CIRCLE, SQUARE, STAR])
    picture = draw(scene)
    assert picture.shape == (3, CELL * GRID, CELL * GRID)
    blank = torch.ones(GRID * GRID, dtype=torch.bool)
    for thing in scene:
        middle = picture[:, thing.row * CELL, thing.column * CELL]
        torch.testing.assert_close(middle, torch.tensor(COLORS[thing.color]))
        blank[list(thing.cells)] = False
    cells = picture.unfold(1, CELL, CELL).unfold(2, CELL, CELL).reshape(3, GRID * GRID, -1)
    assert (cells[:, blank] == torch.tensor(PAPER)[:, None, None]).all()
    assert all((cells[:, cell] != torch.tensor(PAPER)[:, None]).any() for thing in scene for cell in thing.cells)


def test_edges_are_smooth_and_a_circle_has_its_area() -> None:
    covered = scenes._stencil("circle")
    assert 0 < covered[(covered > 0) & (covered < 1)].size < covered.size / 2
    assert covered.sum() == pytest.approx(torch.pi * (scenes.RADIUS * CELL) ** 2, rel=0.01)
    assert all(abs(v) <= 1 for corners in OUTLINES.values() for point in corners for v in point)


def test_the_share_on_an_object_is_the_sum_over_its_four_cells() -> None:
    weights = torch.arange(GRID * GRID, dtype=torch.float64)
    assert SQUARE.cells == (19, 20, 27, 28)
    assert float(share(weights, SQUARE)) == 94.0


@pytest.mark.parametrize(
    ("things", "code"),
    [
        ([], "scene_count"),
        ([CIRCLE, SQUARE, STAR, Thing("star", "red", 7, 1)], "scene_count"),
        ([Thing("heart", "red", 1, 1)], "scene_shape"),
        ([Thing("star", "pink", 1, 1)], "scene_color"),
        ([Thing("star", "red", 0, 1)], "scene_place"),
        ([Thing("star", "red", 1, 8)], "scene_place"),
        ([Thing("star", "red", 2, 2), Thing("cross", "blue", 3, 3)], "scene_overlap"),
    ],
)
def test_what_cannot_be_drawn_is_refused(things: list[Thing], code: str) -> None:
    with pytest.raises(Refusal) as refused:
        checked(things)
    assert refused.value.code == code


GOOD = {"shape": "circle", "color": "red", "column": 2, "row": 3}


def test_a_scene_is_read_from_json() -> None:
    assert from_json(json.dumps({"objects": [GOOD]})) == (Thing("circle", "red", 2, 3),)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "scene_json"),
        ("{", "scene_json"),
        ("[" * 100_000, "scene_json"),
        ("[]", "scene_form"),
        ('"red circle"', "scene_form"),
        (json.dumps({"objects": ["red"]}), "scene_form"),
        (json.dumps({"objects": [{**GOOD, "size": 2}]}), "scene_form"),
        (json.dumps({"objects": [{**GOOD, "row": 1.5}]}), "scene_form"),
        (json.dumps({"objects": [{**GOOD, "row": True}]}), "scene_form"),
        (json.dumps({"objects": [{**GOOD, "color": ["red"]}]}), "scene_form"),
        (json.dumps({"objects": [{**GOOD, "color": "rot"}]}), "scene_color"),
        (json.dumps({"objects": []}), "scene_count"),
        (json.dumps({"objects": [{**GOOD, "row": 10**400}]}), "scene_place"),
    ],
)
def test_other_json_is_refused_in_words(text: str, code: str) -> None:
    with pytest.raises(Refusal) as refused:
        from_json(text)
    assert refused.value.code == code and len(str(refused.value)) < 1000


def test_no_object_of_test_was_seen_in_its_place_and_no_new_kind_anywhere() -> None:
    drawn = {name: scenes.scenes(name, 150, seed=3) for name in ("train", "validation", "test", "new-kinds")}
    seen = {thing for scene in drawn["train"] for thing in scene}
    assert all(any(scenes.part(thing) == name for thing in scene) for name, some in drawn.items() for scene in some)
    assert not any(scenes.part(thing) != "train" for thing in seen)
    known = [thing for name in ("train", "validation", "test") for scene in drawn[name] for thing in scene]
    assert not {(thing.color, thing.shape) for thing in known} & set(scenes.NEW_KINDS)
    assert drawn["test"] == scenes.scenes("test", 150, seed=3) != scenes.scenes("test", 150, seed=4)
