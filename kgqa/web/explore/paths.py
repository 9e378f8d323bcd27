"""The shortest paths between two entities, over facts or over documents that mention both ends of each step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Literal

import polars as pl

from kgqa.sources.tables import frame
from kgqa.web.explore.bridges import COUNTED
from kgqa.web.explore.neighbours import Subject
from kgqa.web.explore.picture import Edge, Picture, document_node, entity_key, entity_node, in_turn
from kgqa.web.explore.stores import Graph

Over = Literal["documents", "facts"]
DRAWN = 7
"""Paths in the picture; the list beside it holds more."""
LISTED = 20
COMPARED = 200
"""Paths over facts whose relations are compared, so that those that are listed are not all of one kind."""
ENOUGH = 7
"""Paths of which no longer ones are looked for."""
REACH = {"facts": 3_000, "documents": 20_000}
"""How far a side is followed: neighbours over facts, mentions over documents; rarely mentioned entities come first."""
SAID = 2
"""Facts of a step that are named."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """From one entity of a path to the next."""

    before: str
    after: str
    facts: tuple[dict[str, Any], ...] = ()
    """``head``, ``tail``, ``relation``, ``label``: the facts between the two, in either direction."""
    document: dict[str, Any] | None = None
    """``document``, ``title``: one that mentions both."""
    documents: int = 0
    """How many do."""

    @property
    def said(self) -> str:
        """Its facts in words: ``capital →``, ``← country and 3 more``."""
        words = list(dict.fromkeys(self._word(fact) for fact in self.facts))
        more = f" and {len(words) - SAID} more" if len(words) > SAID else ""
        return " · ".join(words[:SAID]) + more

    def _word(self, fact: dict[str, Any]) -> str:
        label = fact["label"] or fact["relation"]
        return f"{label} →" if fact["head"] == self.before else f"← {label}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """Paths between two entities, the shortest first."""

    over: Over
    listed: tuple[tuple[Step, ...], ...]
    names: dict[str, dict[str, Any]]
    """Entity → ``entity``, ``kind``, ``label``."""
    total: int
    """How many were found, of which the first are listed."""
    longest: int
    """Steps of the longest path that was looked for."""


def find_paths(graph: Graph, first: Subject, second: Subject, over: Over) -> Paths:
    """The paths between two entities of one to four steps, longer ones only where shorter are few.

    Of one length those come first whose inner entities fewer documents mention: that two things are in one country says little.
    """
    found, longest = (_over_facts if over == "facts" else _over_documents)(graph, first.id, second.id)
    paths = [(first.id, *inner, second.id) for inner in found]
    compared = paths[: COMPARED if over == "facts" else LISTED]
    between = _facts(graph, compared) if over == "facts" else _documents(graph, compared)
    steps = [tuple(between[pair] for pair in pairwise(path)) for path in compared]
    # Of one length different relations take turns.
    listed = sorted(in_turn(steps, _relations), key=len)[:LISTED]
    names = graph.entities(sorted({first.id, *(step.after for path in listed for step in path)}))
    return Paths(over=over, listed=tuple(listed), names=names, total=len(paths), longest=longest)


def paths_picture(first: Subject, second: Subject, paths: Paths) -> Picture:
    """From left to right, one column for each step."""
    picture = Picture(root=first.node.key, layout="flow")
    picture.add(replace(first.node, layer=0, role="start"))
    drawn = paths.listed[:DRAWN]
    wide = 1 if paths.over == "facts" else 2
    last = wide * max(map(len, drawn), default=1)
    end = replace(second.node, layer=last, role="answer")
    for path in drawn:
        for number, step in enumerate(path):
            if step.document is not None:
                # A shorter path keeps to the middle.
                picture.add(document_node(step.document, layer=number * wide + 1 if len(path) > 1 else last // 2))
            if number + 1 < len(path):
                picture.add(entity_node(paths.names[step.after], layer=(number + 1) * wide, role="bridge"))
            else:
                picture.add(end)
            _connect(picture, step)
    picture.add(end)
    left = paths.total - len(drawn)
    picture.hidden = f"{left:,} more {'path is' if left == 1 else 'paths are'} not drawn." if left > 0 else ""
    return picture


def _relations(path: tuple[Step, ...]) -> str:
    """What kind of path it is; paths over documents are of one kind."""
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


def _over_facts(graph: Graph, first: str, second: str) -> tuple[list[tuple[str, ...]], int]:
    def beside(names: list[str]) -> pl.DataFrame:
        tables = [frame(graph.table(query, ids=names)) for query in ("page_tails", "page_heads")]
        return pl.concat(tables).unique(["entity", "other"], keep="first", maintain_order=True)

    near, far = beside([first]), beside([second])
    direct: list[tuple[str, ...]] = [()] if second in near["other"] else []
    inner = _two_steps(near, far, first, second)
    if len(direct) + inner.height >= ENOUGH:
        return direct + _ranked(inner), 2
    return _longer(near, far, direct + _ranked(inner), (first, second), beside, lambda side: _first(side, pl.lit(1), REACH["facts"]))


def _over_documents(graph: Graph, first: str, second: str) -> tuple[list[tuple[str, ...]], int]:
    direct: list[tuple[str, ...]] = [()] if graph.rows("page_shared_documents", entity=first, other=second, limit=1) else []
    bridges: list[tuple[str, ...]] = [(row["bridge"],) for row in graph.rows("bridges_between", entity=first, other=second, limit=COUNTED)]
    if len(direct) + len(bridges) >= ENOUGH:
        return direct + bridges, 2
    near, far = (frame(graph.table("page_companions", entity=name)).with_columns(entity=pl.lit(name)) for name in (first, second))

    def beside(names: list[str]) -> pl.DataFrame:
        return frame(graph.table("page_companions_of", ids=names))

    return _longer(near, far, direct + bridges, (first, second), beside, lambda side: _first(side, pl.col("documents"), REACH["documents"]))


def _two_steps(near: pl.DataFrame, far: pl.DataFrame, first: str, second: str) -> pl.DataFrame:
    """What both ends stand beside: ``one``, with its measures."""
    ends = [first, second]
    both = near.join(far.select("other"), on="other", how="semi").filter(~pl.col("other").is_in(ends))
    return both.select(one="other", row_one="row", documents_one="documents")


def _longer(
    near: pl.DataFrame, far: pl.DataFrame, found: list[tuple[str, ...]], ends: tuple[str, str],
    beside: Callable[[list[str]], pl.DataFrame], within: Callable[[pl.DataFrame], pl.DataFrame],
) -> tuple[list[tuple[str, ...]], int]:  # fmt: skip
    """``found``, and paths of three steps; where there is none at all, of four. It goes on from the end that has fewer neighbours."""
    inner = ~pl.col("other").is_in(list(ends))
    near, far = near.filter(inner), far.filter(inner)
    turned = far.height < near.height
    few, many = (far, near) if turned else (near, far)

    def onwards(side: pl.DataFrame, name: str) -> pl.DataFrame:
        """``name``: a neighbour of the end; ``two``: a neighbour of that."""
        outer = _named(within(side), name)
        farther = beside(outer[name].to_list()).filter(inner).rename({"entity": name})
        return _named(farther, "two").join(outer, on=name).filter(pl.col("two") != pl.col(name))

    def ordered(paths: pl.DataFrame, names: list[str]) -> list[tuple[str, ...]]:
        return _ranked(paths, names[::-1] if turned else names)

    start = onwards(few, "outer")
    met = start.join(many.select("other"), left_on="two", right_on="other", how="semi")
    # One that could leave out an inner entity says no more than the shorter one.
    for name, side in (("outer", many), ("two", few)):
        met = met.join(side.select("other"), left_on=name, right_on="other", how="anti")
    found = found + ordered(met, ["outer", "two"])
    if found:
        return found, 3
    finish = _best(onwards(many, "last"), "last").drop("row_two", "documents_two")
    met = _best(start, "outer").join(finish, on="two").filter(pl.col("outer") != pl.col("last"))
    return ordered(met, ["outer", "two", "last"]), 4


def _named(side: pl.DataFrame, name: str) -> pl.DataFrame:
    """Its other ends in a column ``name``, with their measures in columns that are called so too."""
    kept = side.select(pl.exclude("entity"))
    return kept.rename({"other": name, "row": f"row_{name}", "documents": f"documents_{name}"})


def _first(side: pl.DataFrame, weight: pl.Expr, most: int) -> pl.DataFrame:
    """As many as weigh ``most`` together, those that few documents mention first."""
    ordered = side.sort("documents", "row").with_columns(weight=weight.cast(pl.Int64))
    return ordered.filter((pl.col("weight").cum_sum() <= most) | (pl.int_range(pl.len()) == 0)).drop("weight")


def _best(side: pl.DataFrame, name: str) -> pl.DataFrame:
    """For each place to meet the way there that fewest documents mention."""
    return side.sort(f"documents_{name}", f"row_{name}").unique("two", keep="first", maintain_order=True)


def _ranked(paths: pl.DataFrame, names: Sequence[str] = ("one",)) -> list[tuple[str, ...]]:
    """The inner entities of each path; first those that few documents mention, of those that are alike the first in the graph."""
    commonness = pl.sum_horizontal((1 + pl.col(f"documents_{name}")).log() for name in names).round(9)
    ordered = paths.with_columns(commonness=commonness).sort("commonness", *(f"row_{name}" for name in names))
    return ordered.select(*names).unique(maintain_order=True).rows()


def _facts(graph: Graph, paths: list[tuple[str, ...]]) -> dict[tuple[str, str], Step]:
    names = sorted({name for path in paths for name in path})
    facts = graph.rows("page_facts_among", ids=names) if names else []
    by_pair: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for fact in facts:
        by_pair.setdefault((fact["head"], fact["tail"]), []).append(fact)
    steps = {}
    for before, after in {pair for path in paths for pair in pairwise(path)}:
        both_ways = (*by_pair.get((before, after), ()), *by_pair.get((after, before), ()))
        steps[before, after] = Step(before=before, after=after, facts=both_ways)
    return steps


def _documents(graph: Graph, paths: list[tuple[str, ...]]) -> dict[tuple[str, str], Step]:
    """For each step a document that mentions both; one query for all steps that leave an entity."""
    pairs = dict.fromkeys(pair for path in paths for pair in pairwise(path))
    groups: dict[str, set[str]] = {}
    last = paths[0][-1] if paths else ""
    for before, after in pairs:  # the ends are in many steps
        center, other = (after, before) if after == last else (before, after)
        groups.setdefault(center, set()).add(other)
    rows: dict[frozenset[str], list[dict[str, Any]]] = {}
    for center, others in groups.items():
        for row in graph.rows("page_documents_beside", entity=center, others=sorted(others)):
            rows.setdefault(frozenset((center, row["other"])), []).append(row)
    steps = {}
    for before, after in pairs:
        found = rows[frozenset((before, after))]
        steps[before, after] = Step(before=before, after=after, document=found[0], documents=len(found))
    return steps
