"""Oracles of ``paths.cypher`` and of the searches built on it, in plain Python."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from math import prod

from kgqa.conformance.oracles import explore, page
from kgqa.conformance.oracles.graph_index import GraphIndex, Oracle, Row, Rows


def tails(index: GraphIndex, ids: list[str]) -> Rows:
    """The tails of entities' facts."""
    return _with_counts(index, _ranked_others(index, {(name, fact.tail) for name in ids for fact in index.facts_from[name]}))


def heads(index: GraphIndex, ids: list[str]) -> Rows:
    """The heads of facts about entities."""
    return _with_counts(index, _ranked_others(index, {(name, fact.head) for name in ids for fact in index.facts_to[name]}))


def facts(index: GraphIndex, ids: list[str]) -> Rows:
    """Facts with both ends in a list."""
    rows = [fact for name in set(ids) for fact in index.facts_from[name] if fact.tail in ids]
    return [(fact.head, fact.tail, fact.relation, fact.label) for fact in sorted(rows, key=lambda fact: fact.row)]


def documents(index: GraphIndex, entity: str, others: list[str]) -> Rows:
    """Shared documents of several pairs, in one order."""
    rows = []
    for other in {name for name in others if name in index.entities and name != entity}:
        for name in index.naming(entity) & index.naming(other):
            counts = [m.count for m in index.mentions_in[name] if m.entity in (entity, other)]
            place = (-min(counts), -sum(counts), index.documents[name].row, index.row(other))
            rows.append((place, (other, name, index.documents[name].title, sum(counts))))
    return [row for _, row in sorted(rows)]


def companions(index: GraphIndex, ids: list[str]) -> Rows:
    """Entities mentioned in the same documents as the given ones."""
    return _ranked_others(
        index, {(name, other) for name in ids for document in index.naming(name) for other in index.named(document) - {name}}
    )


def over_facts(index: GraphIndex, entity: str, other: str, longest: int, limit: int) -> Rows:
    """Shortest paths along facts in either direction."""
    neighbours = {name: {f.tail for f in index.facts_from[name]} | {f.head for f in index.facts_to[name]} for name in index.entities}
    rows: list[Row] = []
    for path in sorted(_paths(neighbours, entity, other, longest), key=lambda path: (len(path), *_commonness(index, path)))[:limit]:
        steps = []
        for before, after in pairwise(path):
            forth = [(f.row, f"{f.label or f.relation} →") for f in index.facts_from[before] if f.tail == after]
            back = [(f.row, f"← {f.label or f.relation}") for f in index.facts_to[before] if f.head == after]
            steps.append(" · ".join(dict.fromkeys(words for _, words in [*sorted(forth), *sorted(back)])))
        rows.append((len(path) - 1, list(path), [index.entities[name].label or name for name in path], steps))
    return rows


def over_documents(index: GraphIndex, entity: str, other: str, longest: int, limit: int) -> Rows:
    """Shortest paths along documents that mention both ends of a step; those of two as bridges are."""
    neighbours = {name: {paths for document in index.naming(name) for paths in index.named(document)} - {name} for name in index.entities}
    bridges = [row[0] for row in explore.bridges_between(index, entity, other, len(index.entities))]
    paths = [path for path in _paths(neighbours, entity, other, longest) if len(path) != 3 or path[1] in bridges]
    rows: list[Row] = []
    for path in sorted(paths, key=lambda path: (len(path), *((bridges.index(path[1]),) if len(path) == 3 else _commonness(index, path))))[
        :limit
    ]:
        ids, names = [entity], [index.entities[entity].label or entity]
        for before, after in pairwise(path):
            (first, title, _), *_ = page.shared_documents(index, before, after, 1)
            ids += [str(first), after]
            names += [str(title or first), index.entities[after].label or after]
        rows.append((len(path) - 1, ids, names))
    return rows


def _paths(neighbours: dict[str, set[str]], entity: str, other: str, longest: int) -> Iterator[tuple[str, ...]]:
    """Every path, none of whose inner entities can be left out: only neighbours on it are neighbours, but perhaps the ends."""
    paths: list[tuple[str, ...]] = [(entity,)] if entity in neighbours and entity != other else []
    while paths:
        path = paths.pop()
        for name in neighbours[path[-1]] - set(path):
            extended = (*path, name)
            chords = [(a, b) for a, b in combinations(extended, 2) if b in neighbours[a] and (a, b) not in pairwise(extended)]
            if name == other and set(chords) <= {(entity, other)}:
                yield extended
            elif name != other and not chords and len(extended) <= longest:
                paths.append(extended)


def _commonness(index: GraphIndex, path: tuple[str, ...]) -> tuple[int, ...]:
    """The sort key of paths of one length."""
    return prod(1 + len(index.naming(name)) for name in path[1:-1]), *map(index.row, path[1:-1])


def _ranked_others(index: GraphIndex, pairs: set[tuple[str, str]]) -> Rows:
    """Entities with others, in the order of the others."""
    ranking = sorted(pairs, key=lambda pair: (index.row(pair[1]), index.row(pair[0])))
    return [(name, other, index.row(other), len(index.naming(other))) for name, other in ranking]


def _with_counts(index: GraphIndex, rows: Rows) -> Rows:
    """The rows with the number of each entity's facts."""
    return [(*row, len(index.facts_from[str(row[1])]) + len(index.facts_to[str(row[1])])) for row in rows]


ORACLES: dict[str, Oracle] = {f"path_{oracle.__name__}": oracle for oracle in (tails, heads, facts, documents, companions)}
ORACLES |= {f"paths_{oracle.__name__}": oracle for oracle in (over_facts, over_documents)}
"""By the name of the query."""
