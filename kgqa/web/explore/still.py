"""Pictures as the server draws them, for a page without scripts: boxes and lines with places, and the same as an outline.

Places follow the rules of ``static/layout.js``; widths of labels are estimated, as a server has no fonts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

ROW = 34
HEIGHT = 26
COLUMN = 200
"""Widest box."""
GAP = 150
"""Between the columns of a tree, where the labels of edges stand."""
FLOW_GAP = 86
DOWN = 68
"""From layer to layer where they lie below one another."""
LETTERS = 26
"""Characters of a label that a box has room for; the whole of it is its title."""
THIN = frozenset("ijlIftr.,:;'|!()[]{} -/")
ORDER = ("article", "facts_in", "facts_out", "documents", "entities", "more")
Data = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Box:
    """A node and its place."""

    key: str
    label: str
    full: str
    kind: str
    """Classes of the style sheet."""
    link: str
    width: int
    parent: str = ""
    """The node that it hangs on."""
    side: int = 1
    """1: right of the root, -1: left."""
    group: str = ""
    relation: str = ""
    """What connects it with its parent."""
    layer: int = 0
    x: float = 0.0
    y: float = 0.0
    branches: list[Box] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """An edge: a path, and its label with a place."""

    path: str
    kind: str
    label: str
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Still:
    """A whole picture."""

    left: int
    top: int
    width: int
    height: int
    boxes: list[Box]
    lines: list[Line]
    root: Box
    """Its ``branches`` are the outline."""
    hidden: str
    """How much is left out, as a sentence."""


def still(pictures: list[Data], node_link: Callable[[str], str], *, down: bool = False) -> Still | None:
    """The pictures of one page (:meth:`~kgqa.web.explore.picture.Picture.data`) as one; ``down``: layers below one another.

    None where there is nothing to draw.
    """
    if not pictures or not pictures[0]["nodes"]:
        return None
    first = pictures[0]
    tree = first["layout"] == "tree"
    boxes: dict[str, Box] = {}
    edges: dict[tuple[str, str, str], Data] = {}
    for picture in pictures:
        _merge(picture, boxes, edges, root=first["root"], node_link=node_link)
    root = boxes.get(first["root"]) or next(iter(boxes.values()))
    root.parent = ""
    if not tree:
        _hang(boxes, edges.values(), root)
    for box in boxes.values():
        if box is not root and box.parent in boxes:
            boxes[box.parent].branches.append(box)
    for box in boxes.values():
        box.branches.sort(key=lambda branch: ORDER.index(branch.group) if branch.group in ORDER else 0)
    if tree:
        _place_tree(root)
    else:
        _place_flow(boxes, edges.values(), down=down)
    lines = [_line(edge, boxes[edge["source"]], boxes[edge["target"]], tree=tree, down=down) for edge in edges.values()]
    left, right = min(box.x - box.width / 2 for box in boxes.values()), max(box.x + box.width / 2 for box in boxes.values())
    top, bottom = min(box.y for box in boxes.values()), max(box.y for box in boxes.values())
    return Still(
        left=round(left) - 12, top=round(top) - HEIGHT, width=round(right - left) + 24, height=round(bottom - top) + 2 * HEIGHT,
        boxes=list(boxes.values()), lines=lines, root=root, hidden=_hidden(first),
    )  # fmt: skip


def _merge(
    picture: Data, boxes: dict[str, Box], edges: dict[tuple[str, str, str], Data], *, root: str, node_link: Callable[[str], str]
) -> None:
    """Add a picture; what is new hangs on the picture's own root."""
    holder = boxes.get(picture["root"])
    groups = {key: group["name"] for group in picture["groups"] for key in group["keys"]}
    leading = {edge["source"]: edge for edge in picture["edges"] if edge["target"] == picture["root"]}
    led_to = {edge["target"]: edge for edge in picture["edges"] if edge["source"] == picture["root"]}
    for node in picture["nodes"]:
        if node["key"] in boxes:
            continue
        edge = led_to.get(node["key"]) if led_to.get(node["key"], {}).get("kind") == "article" else None
        edge = edge or leading.get(node["key"]) or led_to.get(node["key"])
        side = -1 if edge is not None and edge["source"] == node["key"] else 1
        boxes[node["key"]] = Box(
            key=node["key"],
            label=_short(f"{node['step']}  {node['label']}" if node["step"] else node["label"]),
            full=node["label"],
            kind=" ".join(filter(None, (_kind(node["key"]), node["role"], "root" if node["key"] == root else ""))),
            link=node["link"] or (node_link(node["key"]) if node["key"][:2] in {"e:", "d:"} else ""),
            width=0,
            parent=picture["root"] if node["key"] != picture["root"] else root,  # a node may be opened that is not drawn any more
            side=side if holder is None or picture["root"] == root else holder.side,
            group=groups.get(node["key"], "article"),
            relation=edge["label"] if edge is not None else "",
            layer=node["layer"] or 0,
        )
        bold = node["key"] == root or node["role"] in {"start", "answer"}
        boxes[node["key"]].width = round(_width(boxes[node["key"]].label) * (1.12 if bold else 1)) + 24
    for edge in picture["edges"]:
        if edge["source"] in boxes and edge["target"] in boxes:
            edges.setdefault((edge["source"], edge["target"], edge["kind"]), edge)


def _hang(boxes: dict[str, Box], edges: Iterable[Data], root: Box) -> None:
    """Hang each node of a flowing picture on the first one before it that it is connected with."""
    for box in boxes.values():
        box.parent = ""
    for edge in edges:
        before, after = sorted((boxes[edge["source"]], boxes[edge["target"]]), key=lambda box: box.layer)
        if before.layer != after.layer and not after.parent and after is not root:
            after.parent, after.relation = before.key, edge["label"]
    for box in boxes.values():
        box.parent = box.parent or root.key


def _place_tree(root: Box) -> None:
    """What leads to the root on its left, what it leads to on its right, what is opened farther out."""

    def tall(box: Box) -> float:
        return max(ROW, sum(map(tall, box.branches)))

    def put(boxes: list[Box], side: int, edge: float, top: float) -> None:
        for box in boxes:
            box.x, box.y = edge + side * box.width / 2, top + tall(box) / 2
            put(box.branches, side, edge + side * (COLUMN + GAP), top)
            top += tall(box)

    for side in (-1, 1):
        there = [box for box in root.branches if box.side == side]
        put(there, side, side * (root.width / 2 + GAP + 20), -sum(map(tall, there)) / 2)


def _place_flow(boxes: dict[str, Box], edges: Iterable[Data], *, down: bool) -> None:
    """Layer by layer, within a layer in the order that crosses least, as a few sweeps find it."""
    layers: dict[int, list[Box]] = {}
    for box in boxes.values():
        layers.setdefault(box.layer, []).append(box)
    near: dict[str, list[str]] = {}
    for edge in edges:
        near.setdefault(edge["source"], []).append(edge["target"])
        near.setdefault(edge["target"], []).append(edge["source"])
    full = [layers[number] for number in sorted(layers)]
    rank: dict[str, float] = {}

    def number(layer: list[Box]) -> None:
        rank.update({box.key: at - (len(layer) - 1) / 2 for at, box in enumerate(layer)})

    for layer in full:
        number(layer)
    for sweep in range(4):
        for layer in full[::-1] if sweep % 2 else full:
            wanted = {box.key: _mean([rank[key] for key in near.get(box.key, [])], rank[box.key]) for box in layer}
            layer.sort(key=lambda box: wanted[box.key])
            number(layer)
    at = 0.0
    for depth, layer in enumerate(full):
        if down:
            left = -(sum(box.width + 18 for box in layer) - 18) / 2
            for box in layer:
                box.x, box.y = left + box.width / 2, depth * DOWN
                left += box.width + 18
        else:
            wide = max(box.width for box in layer)
            for row, box in enumerate(layer):
                box.x, box.y = at + wide / 2, (row - (len(layer) - 1) / 2) * (ROW + 8)
            at += wide + FLOW_GAP


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _line(edge: Data, source: Box, target: Box, *, tree: bool, down: bool) -> Line:
    """From border to border; the label of a tree's edge stands beside the outer node, that of another in its middle."""
    if down and source.y != target.y:
        way = 1 if target.y > source.y else -1
        x1, y1, x2, y2 = source.x, source.y + way * HEIGHT / 2, target.x, target.y - way * HEIGHT / 2
        path = f"M{x1:.0f} {y1:.0f}L{x2:.0f} {y2:.0f}"
    elif source.x != target.x:
        way = 1 if target.x > source.x else -1
        x1, y1, x2, y2 = source.x + way * source.width / 2, source.y, target.x - way * target.width / 2, target.y
        bend = way * min(40.0, abs(x2 - x1) / 2)
        path = f"M{x1:.0f} {y1:.0f}C{x1 + bend:.0f} {y1:.0f} {x2 - bend:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"
    else:
        way = 1 if target.y > source.y else -1
        x1, y1, x2, y2 = source.x, source.y + way * HEIGHT / 2, target.x, target.y - way * HEIGHT / 2
        path = f"M{x1:.0f} {y1:.0f}L{x2:.0f} {y2:.0f}"
    held = target.parent == source.key or source.parent == target.key
    kind = " ".join(filter(None, (edge["kind"], "chain" if edge["chain"] else "", "" if held or not tree else "cross")))
    x, y = (x1 + x2) / 2, (y1 + y2) / 2
    if tree:
        outer = source if source.parent == target.key else target
        x, y = outer.x - outer.side * (outer.width / 2 + 62), outer.y
    return Line(path=path, kind=kind, label=_short(edge["label"], 16 if tree else 30) if held or not tree else "", x=x, y=y + 3.5)


def _kind(key: str) -> str:
    return {"e": "entity", "d": "document"}.get(key[0], "other")


def _short(text: str, letters: int = LETTERS) -> str:
    """``text`` cut where it would be wider than so many letters of a Latin alphabet."""
    room = letters * 7.6
    if _width(text[: letters * 3]) <= room and len(text) <= letters * 3:
        return text
    kept = ""
    for letter in text[: letters * 3]:
        if _width(kept + letter) > room - 12:
            break
        kept += letter
    return f"{kept.rstrip()}…"


def _width(text: str) -> int:
    """About how wide a text is, in pixels."""
    return round(sum(_letter_width(letter) for letter in text))


def _letter_width(letter: str) -> float:
    if unicodedata.combining(letter) or unicodedata.category(letter) in {"Cf", "Mn"}:
        return 0.0
    if unicodedata.east_asian_width(letter) in {"W", "F"}:
        return 12.5
    if letter in THIN:
        return 4.6
    return 9.2 if letter.isupper() or letter in "mwMW@%" else 7.6


def _hidden(picture: Data) -> str:
    where = {"facts_in": " to it", "facts_out": " from it"}
    parts = [
        f"{group['total'] - group['shown']:,} {group['noun']}{where.get(group['name'], '')}"
        for group in picture["groups"]
        if group["total"] > group["shown"]
    ]
    return f"Not drawn: {', '.join(parts)}." if parts else picture["hidden"]
