"""Pictures drawn by the server, for a page without scripts: boxes and lines with positions, and an outline of the same content.

Positions follow the rules of ``static/layout.js``. The widths of labels are estimates, because a server has no fonts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from kgqa.web.explore.layers import HEIGHT, Point, label_places, place

ROW = 34
COLUMN = 200
"""Width of the widest box in pixels."""
GAP = 150
"""Width between the columns of a tree, for the labels of edges."""
BETWEEN = (62, 20)
"""Minimum width between two layers, and the margin around the longest label there."""
DOWN = 42
"""Height between two layers that are rows."""
LETTERS = 26
"""Maximum characters of a label in its box; the title has all of it."""
MANY, FEWER = 5, 17
"""From this number of layers on, boxes are narrower; and the number of characters that they then show."""
FORMS = (18, 9)
"""Maximum characters of a line's label, and of its shorter form."""
SMALL = 10.5 / 12.5
"""Size of lines' labels relative to nodes'."""
THIN = frozenset("ijlIftr.,:;'|!()[]{} -/")
ORDER = ("article", "facts_in", "facts_out", "documents", "entities", "more")
Data = dict[str, Any]


@dataclass(slots=True, kw_only=True)
class Box:
    """A node and its position."""

    key: str
    label: str
    full: str
    kind: str
    """CSS classes of the box, for its colour."""
    link: str
    width: int
    parent: str = ""
    """Key of its parent."""
    side: int = 1
    """1: right of the root, -1: left."""
    group: str = ""
    relation: str = ""
    """Label of the edge to its parent."""
    layer: int = 0
    x: float = 0.0
    y: float = 0.0
    branches: list[Box] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """An edge: an SVG path, and the position of its label."""

    path: str
    kind: str
    label: str
    full: str
    """The whole label, its title."""
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerSvg:
    """A picture drawn without scripts: its area, boxes and lines."""

    left: int
    top: int
    width: int
    height: int
    boxes: list[Box]
    lines: list[Line]
    root: Box
    """The outline is the tree of ``branches``."""
    hidden: str
    """A sentence about hidden nodes."""
    tree: bool


def server_svg(pictures: list[Data], node_link: Callable[[str], str], *, is_down: bool = False) -> ServerSvg | None:
    """The pictures of one page (:meth:`~kgqa.web.explore.picture.Picture.data`) as one SVG; ``is_down``: layers are rows.

    None if there is nothing to draw.
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
        lines = [_line(edge, boxes[edge["source"]], boxes[edge["target"]]) for edge in edges.values()]
        points = [(box.x, box.y) for box in boxes.values()]
    else:
        lines, points = _place_layers(boxes, list(edges.values()), is_down=is_down)
    left = min([x for x, _ in points] + [box.x - box.width / 2 for box in boxes.values()])
    right = max([x for x, _ in points] + [box.x + box.width / 2 for box in boxes.values()])
    top, bottom = min(y for _, y in points), max(y for _, y in points)
    return ServerSvg(
        left=round(left) - 12, top=round(top) - HEIGHT, width=round(right - left) + 24, height=round(bottom - top) + 2 * HEIGHT,
        boxes=list(boxes.values()), lines=lines, root=root, hidden=_hidden_note(first), tree=tree,
    )  # fmt: skip


def _merge(
    picture: Data, boxes: dict[str, Box], edges: dict[tuple[str, str, str], Data], *, root: str, node_link: Callable[[str], str]
) -> None:
    """Add a picture. New nodes are attached to the picture's own root."""
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
            parent=picture["root"] if node["key"] != picture["root"] else root,  # an opened node may no longer be in the picture
            side=side if holder is None or picture["root"] == root else holder.side,
            group=groups.get(node["key"], "article"),
            relation=edge["label"] if edge is not None else "",
            layer=node["layer"] or 0,
        )
        boxes[node["key"]].width = _box_width(boxes[node["key"]])
    for edge in picture["edges"]:
        if edge["source"] in boxes and edge["target"] in boxes:
            edges.setdefault((edge["source"], edge["target"], edge["kind"]), edge)


def _hang(boxes: dict[str, Box], edges: Iterable[Data], root: Box) -> None:
    """Make each node of a layered picture a child of the first earlier node that it has an edge with."""
    for box in boxes.values():
        box.parent = ""
    for edge in edges:
        before, after = sorted((boxes[edge["source"]], boxes[edge["target"]]), key=lambda box: box.layer)
        if before.layer != after.layer and not after.parent and after is not root:
            after.parent, after.relation = before.key, edge["label"]
    for box in boxes.values():
        box.parent = box.parent or root.key


def _place_tree(root: Box) -> None:
    """Place nodes with an edge to the root on its left, nodes with an edge from it on its right, and opened neighbours further out."""

    def tall(box: Box) -> float:
        return max(ROW, sum(map(tall, box.branches)))

    def place_column(boxes: list[Box], side: int, edge: float, top: float) -> None:
        for box in boxes:
            box.x, box.y = edge + side * box.width / 2, top + tall(box) / 2
            place_column(box.branches, side, edge + side * (COLUMN + GAP), top)
            top += tall(box)

    for side in (-1, 1):
        side_boxes = [box for box in root.branches if box.side == side]
        place_column(side_boxes, side, side * (root.width / 2 + GAP + 20), -sum(map(tall, side_boxes)) / 2)


def _place_layers(boxes: dict[str, Box], edges: list[Data], *, is_down: bool) -> tuple[list[Line], list[Point]]:
    """Place nodes layer by layer. Returns the lines, and all points that the picture must contain, except the sides of boxes."""
    if not is_down and len({box.layer for box in boxes.values()}) >= MANY:
        for box in boxes.values():
            box.label = _short(box.label, FEWER)
            box.width = _box_width(box)
    forms = [list(dict.fromkeys(_short(edge["label"], letters) for letters in FORMS)) if edge["label"] else [] for edge in edges]
    widths = [[_width(form) * SMALL + 6 for form in texts_widths] for texts_widths in forms]
    gap = DOWN if is_down else max(BETWEEN[0], BETWEEN[1] + max((texts_widths[0] for texts_widths in widths if texts_widths), default=0))
    placed = place(
        {box.key: (box.layer, box.width) for box in boxes.values()},
        [(edge["source"], edge["target"]) for edge in edges],
        down=is_down,
        gap=gap,
    )
    for box in boxes.values():
        box.x, box.y = placed.nodes[box.key]
    areas = [(box.x - box.width / 2, box.y - HEIGHT / 2, box.x + box.width / 2, box.y + HEIGHT / 2) for box in boxes.values()]
    lines, points = [], [*placed.nodes.values(), *(point for line in placed.lines for point in line)]
    labels = label_places(placed.lines, widths, areas)
    for edge, line, texts, wide, placed_label in zip(edges, placed.lines, forms, widths, labels, strict=True):
        form, (x, y) = placed_label or (0, line[0])
        points += [(x - wide[form] / 2, y), (x + wide[form] / 2, y)] if placed_label else []
        label = texts[form] if placed_label else ""
        path = "M" + "L".join(f"{x:.0f} {y:.0f}" for x, y in line)
        lines.append(Line(path=path, kind=_line_kind(edge), label=label, full=edge["label"], x=x, y=y + 3.5))
    return lines, points


def _line_kind(edge: Data, *classes: str) -> str:
    return " ".join(filter(None, (edge["kind"], "chain" if edge["chain"] else "", *classes)))


def _line(edge: Data, source: Box, target: Box) -> Line:
    """A line of a tree from border to border; its label is next to the outer node."""
    way = 1 if target.x > source.x else -1
    if source.x != target.x:
        x1, y1, x2, y2 = source.x + way * source.width / 2, source.y, target.x - way * target.width / 2, target.y
        bend = way * min(40.0, abs(x2 - x1) / 2)
        path = f"M{x1:.0f} {y1:.0f}C{x1 + bend:.0f} {y1:.0f} {x2 - bend:.0f} {y2:.0f} {x2:.0f} {y2:.0f}"
    else:
        way = 1 if target.y > source.y else -1
        path = f"M{source.x:.0f} {source.y + way * HEIGHT / 2:.0f}L{target.x:.0f} {target.y - way * HEIGHT / 2:.0f}"
    is_branch = target.parent == source.key or source.parent == target.key
    outer = source if source.parent == target.key else target
    x, y = outer.x - outer.side * (outer.width / 2 + 62), outer.y
    label = _short(edge["label"], 16) if is_branch else ""
    return Line(path=path, kind=_line_kind(edge, "" if is_branch else "cross"), label=label, full=edge["label"], x=x, y=y + 3.5)


def _kind(key: str) -> str:
    return {"e": "entity", "d": "document"}.get(key[0], "other")


def _short(text: str, letters: int = LETTERS) -> str:
    """``text``, cut to the width of this many letters of a Latin alphabet."""
    room = letters * 7.6
    if _width(text[: letters * 3]) <= room and len(text) <= letters * 3:
        return text
    short_text = ""
    for letter in text[: letters * 3]:
        if _width(short_text + letter) > room - 12:
            break
        short_text += letter
    return f"{short_text.rstrip()}…"


def _box_width(box: Box) -> int:
    bold = {"root", "start", "answer"} & set(box.kind.split())
    return round(_width(box.label) * (1.12 if bold else 1)) + 24


def _width(text: str) -> int:
    """Approximate width of a text in pixels."""
    return round(sum(_letter_width(letter) for letter in text))


def _letter_width(letter: str) -> float:
    if unicodedata.combining(letter) or unicodedata.category(letter) in {"Cf", "Mn"}:
        return 0.0
    if unicodedata.east_asian_width(letter) in {"W", "F"}:
        return 12.5
    if letter in THIN:
        return 4.6
    return 9.2 if letter.isupper() or letter in "mwMW@%" else 7.6


def _hidden_note(picture: Data) -> str:
    where = {"facts_in": " to it", "facts_out": " from it"}
    parts = [
        f"{group['total'] - group['shown']:,} {group['noun']}{where.get(group['name'], '')}"
        for group in picture["groups"]
        if group["total"] > group["shown"]
    ]
    return f"Not drawn: {', '.join(parts)}." if parts else picture["hidden"]
