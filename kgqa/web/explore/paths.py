"""The page of the shortest paths between two entities: those of ``kgqa query paths_over_facts`` and ``paths_over_documents``, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from kgqa.store.paths import LONGEST, MOST, Over, Step, find_paths as find, find_steps
from kgqa.web.explore.neighbours import Subject
from kgqa.web.explore.picture import Edge, Picture, document_node, entity_key, entity_node, in_turn
from kgqa.web.explore.stores import Graph

DRAWN = 7
"""Paths in the picture; the list on the page holds more."""
LISTED = 20
COMPARED = 200
"""Maximum number of paths over facts whose relations are compared, so that the list shows different kinds of paths."""
ENOUGH = 7
"""Once this many paths are found, longer ones are not searched."""
SAID = 2
"""Maximum number of facts named for one step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Paths between two entities, the shortest first."""

    over: Over
    listed: tuple[tuple[Step, ...], ...]
    names: dict[str, dict[str, Any]]
    """Entity → ``entity``, ``kind``, ``label``."""
    total: int
    """Number of paths found; only the first are listed. If it is ``MOST``, there may be more."""
    longest: int
    """Maximum length of the paths searched."""


def in_words(step: Step) -> str:
    """A step's facts in words: ``capital → · ← country and 3 more``."""
    suffix = f" and {len(step.words) - SAID} more" if len(step.words) > SAID else ""
    return " · ".join(step.words[:SAID]) + suffix


def find_paths(graph: Graph, first: Subject, second: Subject, over: Over) -> Paths:
    """The shortest paths between two entities. Longer ones are searched only if there are few; paths of one length alternate between
    relations.
    """
    paths = find(graph.table, over, first.id, second.id, longest=LONGEST[over], limit=MOST, sufficient=ENOUGH)
    return listed_paths(graph, over, paths, longest=len(paths[-1]) - 1 if len(paths) >= ENOUGH else LONGEST[over])


def listed_paths(graph: Graph, over: Over, paths: Sequence[tuple[str, ...]], *, longest: int) -> Paths:
    """The listed ones of ``paths`` (each with all its entities), with the facts and documents of their steps."""
    compared = paths[: COMPARED if over == "facts" else LISTED]
    between = find_steps(graph.table, over, compared)
    steps = [tuple(between[pair] for pair in pairwise(path)) for path in compared]
    shortest_paths = sorted(in_turn(steps, _relations), key=len)[:LISTED]
    names = graph.entities(sorted({name for path in shortest_paths for step in path for name in (step.before, step.after)}))
    return Paths(over=over, listed=tuple(shortest_paths), names=names, total=len(paths), longest=longest)


def paths_picture(first: Subject, second: Subject, paths: Paths) -> Picture:
    """The picture of the paths from left to right, with one column for each step."""
    picture = Picture(root=first.node.key, layout="flow")
    picture.add(replace(first.node, layer=0, role="start"))
    rows = paths.listed[:DRAWN]
    wide = 1 if paths.over == "facts" else 2
    last = wide * max(map(len, rows), default=1)
    end = replace(second.node, layer=last, role="answer")
    for path in rows:
        for number, step in enumerate(path):
            if step.document is not None:
                # A shorter path is drawn in the middle.
                picture.add(document_node(step.document, layer=number * wide + 1 if len(path) > 1 else last // 2))
            if number + 1 < len(path):
                picture.add(entity_node(paths.names[step.after], layer=(number + 1) * wide, role="bridge"))
            else:
                picture.add(end)
            _connect(picture, step)
    picture.add(end)
    hidden_count = paths.total - len(rows)
    count = "Many" if paths.total == MOST else f"{hidden_count:,}"
    picture.hidden = f"{count} more {'path is' if hidden_count == 1 else 'paths are'} not drawn." if hidden_count > 0 else ""
    return picture


def _relations(path: tuple[Step, ...]) -> str:
    """The kind of a path: its relations. All paths over documents are of one kind."""
    return " ".join(step.facts[0]["relation"] if step.facts else "" for step in path)


def _connect(picture: Picture, step: Step) -> None:
    if step.document is not None:
        document = f"d:{step.document['document']}"
        label = f"1 of {step.documents:,}" if step.documents > 1 else ""
        for name, text in ((step.before, ""), (step.after, label)):
            picture.connect(Edge(source=document, target=entity_key(name), kind="mention", label=text))
        return
    for fact in step.facts:
        label = fact["label"] or fact["relation"]
        picture.connect(Edge(source=entity_key(fact["head"]), target=entity_key(fact["tail"]), kind="fact", label=label))
