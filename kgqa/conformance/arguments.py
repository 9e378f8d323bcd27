"""Random arguments for a query, chosen by the names of its parameters so that most of them meet something in the graph."""

from __future__ import annotations

import random
from collections.abc import Sequence

from kgqa.conformance.graphs import KINDS, NAMES, RELATIONS
from kgqa.conformance.oracles.graph_index import GraphIndex
from kgqa.conformance.oracles.names import folded
from kgqa.store.paths import LONGEST, MOST
from kgqa.store.queries import Parameter, Query, Value

LIMITS = (1, 2, 3, 5, 50, 1000)
ENTITIES = ("entity", "other", "subject", "candidate", "answer")


def random_arguments(query: Query, index: GraphIndex, rng: random.Random) -> dict[str, Value]:
    """A value for each parameter of ``query``; raises KeyError for a parameter of a name that nothing is known about."""
    values = {parameter.name: _value(query, parameter, index, rng) for parameter in query.params}
    if {"name", "text"} <= values.keys() and rng.random() < 0.9:  # they belong together, or nothing would be found
        values["text"] = f"\n{folded(str(values['name']))}\n"
    return values


def _value(query: Query, parameter: Parameter, index: GraphIndex, rng: random.Random) -> Value:
    name = parameter.name
    if name in ENTITIES or name == "document":
        return _entity(index, rng) if name in ENTITIES else _document(index, rng)
    if parameter.kind == "strings":
        kind = "document" if name == "documents" or next(iter(query.returns)) == "document" else query.name.split("s_")[0]
        draw_one = {"document": _document, "relation": _relation}.get(kind, _entity)
        return [draw_one(index, rng) for _ in range(rng.randint(1, 8))]
    if name == "relation":
        if parameter.default == "" and rng.random() < 1 / 2:
            return ""  # any
        return _relation(index, rng)
    if name in {"text", "also", "name"}:
        return _text(index, rng, part=name in {"text", "also"}, of=query.name.split("_")[0])
    choices: dict[str, Sequence[Value]] = {"kind": KINDS, "limit": LIMITS, "skip": (0, 1, 5, 40), "least": (1, 2, 3), "mentions": (1, 2, 3)}
    if query.search:
        choices |= {"limit": (1, 2, 3, 5, 50, MOST), "longest": range(1, 1 + LONGEST["facts" if query.search == "facts" else "documents"])}
    return rng.choice(choices[name])


def _entity(index: GraphIndex, rng: random.Random) -> str:
    """Mostly one with something around it; sometimes one that is not there."""
    draw = rng.random()
    if draw < 0.05 or not index.graph.entity:
        return rng.choice(NAMES)
    if draw < 0.5 and index.graph.mentions:
        return rng.choice(index.graph.mentions).entity
    if draw < 0.75 and index.graph.about:
        return rng.choice(index.graph.about).entity
    return rng.choice(index.graph.entity).id


def _document(index: GraphIndex, rng: random.Random) -> str:
    """Mostly one that is there."""
    return rng.choice([d.id for d in index.graph.document] or [""]) if rng.random() < 0.95 else rng.choice(NAMES)


def _relation(index: GraphIndex, rng: random.Random) -> str:
    """Mostly one that has facts."""
    return rng.choice([f.relation for f in index.graph.fact] or RELATIONS) if rng.random() < 0.8 else rng.choice(RELATIONS)


def _text(index: GraphIndex, rng: random.Random, *, part: bool, of: str) -> str:
    """A label, an alias or a title that is there, or a part of it in another case, which may be empty; or an id."""
    if part and rng.random() < 0.15:
        return rng.choice([*index.entities, *index.documents] or list(NAMES))
    if of == "documents":
        names = [d.title for d in index.graph.document if d.title]
    elif of == "relations":
        names = [f.label for f in index.graph.fact if f.label]
    else:
        names = [name for e in index.graph.entity for name in (e.label, *e.aliases) if name]
    text = rng.choice(names or list(NAMES)) if rng.random() < 0.9 else rng.choice(NAMES)
    if not part or not text:
        return text
    begin = rng.randrange(len(text))
    text = text[begin : rng.randint(begin, min(len(text), begin + 6))]
    return rng.choice((text, text, text.lower(), text.upper()))
