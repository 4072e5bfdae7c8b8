"""A tree over the tokens of a text, growing from the words on the left, layer by layer, to the token at its root.

Every token is a row. A thin line is its own state, carried on until it is read; an edge leads, within the column of its layer,
from the row that is read to the row that reads, as wide as its weight. Behind the last column [CLS] reads the root.
"""

import json
from collections.abc import Collection, Sequence
from typing import Any

import altair as alt
import pandas as pd

from core.attattr.tree import CLS, Tree
from dashboard.axes import finished, tips, words_expr
from dashboard.theme import SCREEN, Look
from dashboard.tokens import readable

ROW, WIDTH = 20, 560  # pixels of a row, and of the drawing in a file
EDGES = ("layer", "source_word", "reader_word", "weight", "cut")  # what is told of an edge


def shown(grown: Tree, count: int, most: int) -> list[int]:
    """The positions that are drawn: all, or of a longer text those of the tree, and [CLS]."""
    return list(range(count)) if count <= most else sorted({CLS, *grown.nodes})


def edges(grown: Tree, names: Sequence[str], rows: Sequence[int], cut: Collection[int] = ()) -> pd.DataFrame:
    """layer (from 1), source_word, reader_word, weight, cut, and from where to where each edge goes: x, y, x2, y2."""
    row = {position: i for i, position in enumerate(rows)}
    made = [
        {
            "layer": edge.layer + 1,
            "source_word": readable(names[edge.source]),
            "reader_word": readable(names[edge.reader]),
            "weight": edge.weight,
            "cut": i in cut,
            **{"x": edge.layer, "y": row[edge.source], "x2": edge.layer + 1, "y2": row[edge.reader]},
        }
        for i, edge in enumerate(grown.edges)
    ]
    return pd.DataFrame(made, columns=[*EDGES, "x", "y", "x2", "y2"])


def stems(grown: Tree, rows: Sequence[int], layers: int) -> pd.DataFrame:
    """x, y, x2: for each token of the tree how far its own state is carried."""
    ends = {edge.source: edge.layer for edge in grown.edges} | ({} if grown.root is None else {grown.root: layers - 1})
    row = {position: i for i, position in enumerate(rows)}
    return pd.DataFrame([{"x": 0, "y": row[p], "x2": end} for p, end in ends.items()], columns=["x", "y", "x2"])


def branches(
    grown: Tree,
    names: Sequence[str],
    layers: int,
    *,
    x: str,
    weight: str,
    words: tuple[str, str],
    alt_text: str,
    special: Collection[int] = (),
    cut: Collection[int] = (),
    most: int = 36,
    look: Look = SCREEN,
) -> Any:
    """The tree; `words` names in tooltips who is read and who reads, `weight` what an edge carries."""
    p, rows = look.palette, shown(grown, len(names), most)
    data, own = edges(grown, names, rows, cut), stems(grown, rows, layers)
    wide = alt.X("x:Q", scale=alt.Scale(domain=[0, layers], nice=False), axis=layer_axis(layers, x))
    tall = alt.Y(
        "y:Q", scale=alt.Scale(domain=[len(rows) - 0.5, -0.5], nice=False), axis=row_axis(grown, names, rows, special, look)
    )
    place = {"x": wide, "y": tall}
    to = {"x2": "x2:Q", "y2": "y2:Q"}
    size = alt.Size(
        "weight:Q",
        scale=alt.Scale(domain=[0, float(data["weight"].max() or 1)], range=[look.px(1), look.px(8)]),
        legend=None,
    )
    hover = tips(
        ("layer:Q", x, "d"), ("source_word:N", words[0], None), ("reader_word:N", words[1], None), ("weight:Q", weight, "+.4f")
    )
    kept, gone = alt.Chart(data[~data["cut"].astype(bool)]), alt.Chart(data[data["cut"].astype(bool)])
    layers_drawn: list[Any] = [
        alt.Chart(own).mark_rule(color=p.line, strokeWidth=look.px(2), aria=False).encode(x2=alt.X2("x2:Q"), **place),
        gone.mark_rule(color=p.muted, strokeDash=[2, 3], strokeWidth=look.px(1.5), aria=False).encode(
            tooltip=hover, **place, **to
        ),
        kept.mark_rule(color=p.raises, strokeCap="round", opacity=0.85, aria=False).encode(
            size=size, tooltip=hover, **place, **to
        ),
        *joints(data, grown, rows, layers, place, look),
    ]
    return finished(layers_drawn, look, height=ROW * len(rows) + (0 if look.export else 50), width=WIDTH, alt_text=alt_text)


def joints(data: pd.DataFrame, grown: Tree, rows: Sequence[int], layers: int, place: dict[str, Any], look: Look) -> list[Any]:
    """A dot where an edge starts, a larger one for the root, and the dashed line by which [CLS] reads it."""
    p = look.palette
    dots = alt.Chart(data[["x", "y"]]).mark_point(filled=True, opacity=1, color=p.ink, size=look.area(22)).encode(**place)
    if grown.root is None:
        return [dots]
    root, end = rows.index(grown.root), rows.index(CLS)
    read = pd.DataFrame([{"x": layers - 1, "y": root, "x2": layers, "y2": end}])
    base = alt.Chart(read).encode(**place)
    dashed = base.mark_rule(color=p.muted, strokeDash=[5, 4], strokeWidth=look.px(1.5), aria=False)
    dashed = dashed.encode(x2=alt.X2("x2:Q"), y2=alt.Y2("y2:Q"))
    tip = alt.Chart(read[["x2", "y2"]].rename(columns={"x2": "x", "y2": "y"})).encode(**place)
    return [
        dashed,
        dots,
        base.mark_point(filled=True, opacity=1, color=p.ink, size=look.area(80)),
        tip.mark_point(filled=True, opacity=1, color=p.muted, size=look.area(50)),
    ]


def layer_axis(layers: int, title: str) -> alt.Axis:
    """The number of each layer in the middle of its column."""
    middles = [layer + 0.5 for layer in range(layers)]
    label = "format(datum.value + 0.5, 'd')"
    return alt.Axis(
        values=middles, labelExpr=label, title=title, grid=False, labelOverlap=False, labelFlush=False, domain=False
    )


def row_axis(grown: Tree, names: Sequence[str], rows: Sequence[int], special: Collection[int], look: Look) -> alt.Axis:
    """The tokens down the side: those of the tree in ink and heavier, special ones never."""
    p = look.palette
    used = json.dumps([i for i, position in enumerate(rows) if position in grown.nodes and position not in special])
    inside = f"indexof({used}, datum.value) >= 0"
    return alt.Axis(
        values=list(range(len(rows))),
        labelExpr=words_expr([names[position] for position in rows]),
        labelOverlap=False,
        labelLimit=look.px(96),
        title=None,
        grid=False,
        domain=False,
        labelColor={"condition": {"test": inside, "value": p.ink}, "value": p.muted},
        labelFontWeight={"condition": {"test": inside, "value": 600}, "value": 400},
    )
