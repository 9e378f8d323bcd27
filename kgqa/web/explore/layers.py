"""Positions of the nodes, lines and labels of a picture in layers. ``static/layout.js`` follows the same rules.

Layers are columns, or rows if ``down``. A line that crosses a layer has a slot of its own in it, like a node, so that it runs through no
node. It is straight within a layer and bends between two layers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import dist

HEIGHT = 26
"""Height of a node in pixels."""
NEXT = 42
"""Distance of neighbouring nodes in a column."""
SLOT = 22
"""Distance from a line that crosses a layer to its neighbours in the layer."""
BESIDE = 18
"""Distance between neighbouring nodes of a layer."""
LANE = 10
"""Distance of two lines that connect the same nodes."""
SHARES = (0.5, 0.62, 0.38, 0.74, 0.26, 0.86, 0.14)
"""Positions of a label along a part of a line (0 to 1), the best first."""
LABEL = 14
"""Height of a label."""
STUB = 44
"""Maximum length of the straight part between a node and the border of its layer."""
Point = tuple[float, float]
Area = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layers:
    """Positions of nodes and lines of a drawing."""

    nodes: dict[str, Point]
    lines: list[list[Point]]
    """The points of each edge from its source to its target. Every second part lies between two layers."""


def place(nodes: Mapping[str, tuple[int, int]], edges: Sequence[tuple[str, str]], *, down: bool, gap: float) -> Layers:
    """Lay out ``nodes`` (key → layer and width) and ``edges`` (source and target), with a ``gap`` between two layers."""
    numbers = sorted({layer for layer, _ in nodes.values()})
    depth = {number: at for at, number in enumerate(numbers)}
    columns: list[list[str]] = [[] for _ in numbers]
    at = {key: depth[layer] for key, (layer, _) in nodes.items()}
    ways: list[list[str]] = []
    for number, (source, target) in enumerate(edges):
        low, high = sorted((source, target), key=at.__getitem__)
        slots = {f"{number} {layer}": layer for layer in range(at[low] + 1, at[high])}
        at.update(slots)
        for key, layer in slots.items():
            columns[layer].append(key)
        ways.append([low, *slots, high])
    for key in nodes:
        columns[at[key]].append(key)
    _order(columns, ways)
    along = {key: HEIGHT if down else width for key, (_, width) in nodes.items()}
    across = {key: width + BESIDE if down else NEXT for key, (_, width) in nodes.items()}
    places, borders, begin = {}, [], 0.0
    for column in columns:
        wide = max(along.get(key, 0) for key in column)
        top = -sum(across.get(key, SLOT) for key in column) / 2
        for key in column:
            places[key] = (begin + wide / 2, top + across.get(key, SLOT) / 2)
            top += across.get(key, SLOT)
        borders.append((begin, begin + wide))
        begin += wide + gap
    lines = []
    for line, way, (source, _) in zip(_lines(ways, places, borders, along, at), ways, edges, strict=True):
        # If a node is as wide as its layer, its line starts at the border. Drop parts without length: an arrow's tip needs a direction.
        points = [line[0], *(point for before, point in pairwise(line) if dist(before, point) > 1)]
        turned = [point[::-1] for point in points] if down else points
        lines.append(turned if way[0] == source else turned[::-1])
    return Layers(nodes={key: places[key][::-1] if down else places[key] for key in nodes}, lines=lines)


def _order(columns: list[list[str]], ways: list[list[str]]) -> None:
    """Sort each layer so that few lines cross; a heuristic of a few sweeps."""
    near: defaultdict[str, list[str]] = defaultdict(list)
    for way in ways:
        for left, right in pairwise(way):
            near[left].append(right)
            near[right].append(left)
    rank: dict[str, float] = {}

    def number(column: list[str]) -> None:
        rank.update({key: at - (len(column) - 1) / 2 for at, key in enumerate(column)})

    for column in columns:
        number(column)
    # The barycentre heuristic: sort each layer by the mean rank of its neighbours, forwards and backwards in turn.
    for sweep in range(4):
        for column in columns[::-1] if sweep % 2 else columns:
            mean_rank = {
                key: sum(rank[neighbour] for neighbour in near[key]) / len(near[key]) if near[key] else rank[key] for key in column
            }
            column.sort(key=mean_rank.__getitem__)
            number(column)


def _lines(
    ways: list[list[str]], places: Mapping[str, Point], borders: list[tuple[float, float]], along: Mapping[str, int], at: Mapping[str, int]
) -> Iterator[list[Point]]:
    """The points of each line from its lower to its higher layer. Lines with the same ends run in parallel."""
    # Parallel lines between two nodes get lanes around the middle.
    lane_counts = Counter(frozenset((way[0], way[-1])) for way in ways)
    lanes: Counter[frozenset[str]] = Counter()
    for way in ways:
        low, high = way[0], way[-1]
        ends = frozenset((low, high))
        lane = (lanes[ends] - (lane_counts[ends] - 1) / 2) * LANE
        lanes[ends] += 1
        (x1, y1), (x2, y2) = places[low], places[high]
        if at[low] == at[high]:  # out of the layer, along it, and back
            out, by = borders[at[low]][1] + SLOT + lane, LANE / 2 if low == high else 0
            yield [(x1 + along[low] / 2, y1 - by), (out, y1 - by), (out, y2 + by), (x2 + along[high] / 2, y2 + by)]
            continue
        line = [(x1 + along[low] / 2, y1 + lane), (borders[at[low]][1], y1 + lane)]
        for slot in way[1:-1]:
            line += [(border, places[slot][1]) for border in borders[at[slot]]]
        yield [*line, (borders[at[high]][0], y2 + lane), (x2 - along[high] / 2, y2 + lane)]


def label_places(
    lines: Sequence[Sequence[Point]], widths: Sequence[Sequence[float]], nodes: Sequence[Area]
) -> list[tuple[int, Point] | None]:
    """The form and centre of each label of ``lines``, such that no label covers a node or another label.

    ``widths`` are the widths of each label's forms, the best form first. None if no form fits.
    """
    covered_places, places = list(nodes), list[tuple[int, Point] | None]()
    for line, forms in zip(lines, widths, strict=True):
        # Greedy: the longest form first, at the first centre where it covers nothing.
        free = next(
            (
                (form, area, point)
                for form, wide in enumerate(forms)
                for point in _points(line)
                for area in [(point[0] - wide / 2, point[1] - LABEL / 2, point[0] + wide / 2, point[1] + LABEL / 2)]
                if not any(area[0] < x2 and x1 < area[2] and area[1] < y2 and y1 < area[3] for x1, y1, x2, y2 in covered_places)
            ),
            None,
        )
        places.append(free and (free[0], free[2]))
        covered_places += [free[1]] if free else []
    return places


def _points(line: Sequence[Point]) -> Iterator[Point]:
    """Possible centres of a line's label: first where the line crosses a layer, then on its longest part."""
    parts = [(begin, end) for begin, end in pairwise(line) if dist(begin, end) > LABEL]
    straight = {(begin, end) for begin, end in parts if begin[0] == end[0] or (begin[1] == end[1] and dist(begin, end) > STUB)}
    for begin, end in sorted(parts, key=lambda part: (part not in straight, -dist(*part))):
        for share in SHARES:
            yield begin[0] + (end[0] - begin[0]) * share, begin[1] + (end[1] - begin[1]) * share
