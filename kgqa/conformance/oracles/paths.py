"""What the queries of ``paths.cypher`` must answer, and the searches that take their steps, in plain Python."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, pairwise
from math import prod

from kgqa.conformance.oracles import explore, page
from kgqa.conformance.oracles.known import Known, Oracle, Row, Rows


def tails(known: Known, ids: list[str]) -> Rows:
    """What facts of entities end at."""
    return _counted(known, _others(known, {(name, fact.tail) for name in ids for fact in known.facts_from[name]}))


def heads(known: Known, ids: list[str]) -> Rows:
    """What facts about entities begin at."""
    return _counted(known, _others(known, {(name, fact.head) for name in ids for fact in known.facts_to[name]}))


def facts(known: Known, ids: list[str]) -> Rows:
    """Facts with both ends in a list."""
    found = [fact for name in set(ids) for fact in known.facts_from[name] if fact.tail in ids]
    return [(fact.head, fact.tail, fact.relation, fact.label) for fact in sorted(found, key=lambda fact: fact.row)]


def documents(known: Known, entity: str, others: list[str]) -> Rows:
    """Shared documents of several pairs, in one order."""
    rows = []
    for other in {name for name in others if name in known.entities and name != entity}:
        for name in known.naming(entity) & known.naming(other):
            counts = [m.count for m in known.mentions_in[name] if m.entity in (entity, other)]
            place = (-min(counts), -sum(counts), known.documents[name].row, known.row(other))
            rows.append((place, (other, name, known.documents[name].title, sum(counts))))
    return [row for _, row in sorted(rows)]


def companions(known: Known, ids: list[str]) -> Rows:
    """What documents mention beside entities."""
    return _others(known, {(name, other) for name in ids for document in known.naming(name) for other in known.named(document) - {name}})


def over_facts(known: Known, entity: str, other: str, longest: int, limit: int) -> Rows:
    """Shortest paths along facts in either direction."""
    beside = {name: {f.tail for f in known.facts_from[name]} | {f.head for f in known.facts_to[name]} for name in known.entities}
    rows: list[Row] = []
    for path in sorted(_paths(beside, entity, other, longest), key=lambda path: (len(path), *_commonness(known, path)))[:limit]:
        told = []
        for before, after in pairwise(path):
            forth = [(f.row, f"{f.label or f.relation} →") for f in known.facts_from[before] if f.tail == after]
            back = [(f.row, f"← {f.label or f.relation}") for f in known.facts_to[before] if f.head == after]
            told.append(" · ".join(dict.fromkeys(words for _, words in [*sorted(forth), *sorted(back)])))
        rows.append((len(path) - 1, list(path), [known.entities[name].label or name for name in path], told))
    return rows


def over_documents(known: Known, entity: str, other: str, longest: int, limit: int) -> Rows:
    """Shortest paths along documents that mention both ends of a step; those of two as bridges are."""
    beside = {name: {found for document in known.naming(name) for found in known.named(document)} - {name} for name in known.entities}
    bridges = [row[0] for row in explore.bridges_between(known, entity, other, len(known.entities))]
    found = [path for path in _paths(beside, entity, other, longest) if len(path) != 3 or path[1] in bridges]
    rows: list[Row] = []
    for path in sorted(found, key=lambda path: (len(path), *((bridges.index(path[1]),) if len(path) == 3 else _commonness(known, path))))[
        :limit
    ]:
        ids, names = [entity], [known.entities[entity].label or entity]
        for before, after in pairwise(path):
            (first, title, _), *_ = page.shared_documents(known, before, after, 1)
            ids += [str(first), after]
            names += [str(title or first), known.entities[after].label or after]
        rows.append((len(path) - 1, ids, names))
    return rows


def _paths(beside: dict[str, set[str]], entity: str, other: str, longest: int) -> Iterator[tuple[str, ...]]:
    """Every path, none of whose inner entities can be left out: only neighbours on it are neighbours, but perhaps the ends."""
    paths: list[tuple[str, ...]] = [(entity,)] if entity in beside and entity != other else []
    while paths:
        path = paths.pop()
        for name in beside[path[-1]] - set(path):
            longer = (*path, name)
            chords = [(a, b) for a, b in combinations(longer, 2) if b in beside[a] and (a, b) not in pairwise(longer)]
            if name == other and set(chords) <= {(entity, other)}:
                yield longer
            elif name != other and not chords and len(longer) <= longest:
                paths.append(longer)


def _commonness(known: Known, path: tuple[str, ...]) -> tuple[int, ...]:
    """By what paths of one length are ordered."""
    return prod(1 + len(known.naming(name)) for name in path[1:-1]), *map(known.row, path[1:-1])


def _others(known: Known, pairs: set[tuple[str, str]]) -> Rows:
    """Entities with others, in the order of the others."""
    ordered = sorted(pairs, key=lambda pair: (known.row(pair[1]), known.row(pair[0])))
    return [(name, other, known.row(other), len(known.naming(other))) for name, other in ordered]


def _counted(known: Known, rows: Rows) -> Rows:
    """With the facts in which each stands."""
    return [(*row, len(known.facts_from[str(row[1])]) + len(known.facts_to[str(row[1])])) for row in rows]


ORACLES: dict[str, Oracle] = {f"path_{oracle.__name__}": oracle for oracle in (tails, heads, facts, documents, companions)}
ORACLES |= {f"paths_{oracle.__name__}": oracle for oracle in (over_facts, over_documents)}
"""By the name of the query."""
