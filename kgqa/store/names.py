"""Resolve the name of an entity, a document or a relation to its id: by id, then by label or title, then by alias, then by similarity.

An exact match compares letter for letter. Near matches are, first, names that contain the text in any case, with equal names and prefixes
first. If these are few, names that share the first or the last half of the text follow, the most similar first; they include every name
that differs in one place. The store finds the candidates, with tests that both stores answer alike; this module compares them.
"""

from __future__ import annotations

import time
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from kgqa.errors import AmbiguousName, QueryError, UnknownName
from kgqa.store.graph import folded
from kgqa.store.limits import remaining
from kgqa.store.queries import Query, Value, read_queries

NAMED = {"entity": "entities", "document": "documents", "relation": "relations"}
"""Kinds of parameters that accept names → their prefix in the queries of ``names.cypher``."""
TOLD = 8
"""Maximum number of bearers and near matches in a sentence."""
SECONDS = 60.0
LONGEST = 300
"""Maximum characters of a text for near matches."""
COMPARED = 1000
"""Maximum number of candidates that share a half with the text and are compared with it."""
ALIKE = 0.7
"""Minimum similarity (0 to 1, :class:`difflib.SequenceMatcher`). With 0.7, a name of five letters may have one letter changed or added."""
SHOWN = 60
"""Maximum characters of a label or description in a sentence."""


class Answers(Protocol):
    """A graph store, or a pool of them."""

    def run(self, query: Query, arguments: Mapping[str, Value] | None = None, *, seconds: float) -> pa.Table:
        """The rows of ``query``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bearer:
    """An entity, a document or a relation, with details that distinguish it from others of the same name."""

    id: str
    label: str
    """The title, if it is a document."""
    kind: str
    """``document`` or ``relation``, if it is one."""
    description: str = ""
    documents: int = 0
    """Number of documents that mention the entity."""
    facts: int = 0
    """Number of facts of the relation."""

    def __str__(self) -> str:
        """``Q84 (London, capital of England, 2,031 documents)``, ``P36 (capital, 204 facts)``."""
        details = [_short(self.label)]
        if self.kind == "relation":
            details.append(_count_of(self.facts, "fact"))
        elif self.kind != "document":
            details += [_short(self.description or self.kind), _count_of(self.documents, "document")]
        return f"{self.id} ({', '.join(filter(None, details))})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The entities, documents or relations that a text may mean."""

    text: str
    exact: list[Bearer]
    """The one with this id; otherwise those with this label or title; otherwise those with this alias. The most mentioned come first."""
    near: list[Bearer]
    """Near matches, the nearest first."""
    total: int
    """Number of exact matches; only the first ones are listed."""


def find_names(store: Answers, text: str, kind: str, limit: int = 20, *, seconds: float = SECONDS) -> Names:
    """Up to ``limit`` entities, documents or relations (``kind``) that ``text`` may mean, and as many that are called like it.

    Raises QueryError for text that is none, QueryTimeout after ``seconds``.
    """
    look = _LookUp(store, kind, seconds)
    exact = look.exact(text)
    near = look.near(text, limit, {bearer.id for bearer in exact})
    return Names(text=text, exact=exact[:limit], near=near, total=len(exact))


def resolve(
    store: Answers, text: str, kind: str, *, seconds: float = SECONDS, tell: Callable[[str], None] = lambda _: None
) -> str:  # fmt: skip
    """The id of the one entity, document or relation (``kind``) that ``text`` names.

    If several entities share the name and documents mention only one of them, that one is taken, and ``tell`` gets a sentence about it.
    Raises AmbiguousName if several bear the name and UnknownName if none does, both with the :class:`Names` found.
    """
    look = _LookUp(store, kind, seconds)
    exact = look.exact(text)
    if len(exact) == 1:
        return exact[0].id
    mentioned = [bearer for bearer in exact if bearer.documents]
    if kind == "entity" and len(mentioned) == 1:
        phrase = "the other one is" if len(exact) == 2 else f"the {len(exact) - 1:,} others are"
        tell(f"{_quoted(text)} is taken for {mentioned[0]}; {phrase} in no document. Give an id to mean another one.")
        return mentioned[0].id
    if exact:
        bearers, hidden_count = exact[:TOLD], len(exact) - TOLD
        list_hint = " (kgqa query bearers --name NAME lists them)" if kind == "entity" else ""
        raise AmbiguousName(
            f"{len(exact):,} {NAMED[kind]} are called {_quoted(text)}: {'; '.join(map(str, bearers))}"
            f"{f'; and {hidden_count:,} more{list_hint}' if hidden_count > 0 else ''}. Give the id of the one that you mean.",
            names=Names(text=text, exact=exact, near=[], total=len(exact)),
        )
    near = look.near(text, TOLD, set())
    hint = "; ".join(map(str, near))
    raise UnknownName(
        f"no {kind} has the id or the name {_quoted(text)}; "
        + (
            f"similar names are: {hint}. Give the id of one of them."
            if near
            else f"nothing has a similar name either; look for {_OTHER[kind]}."
        ),
        names=Names(text=text, exact=[], near=near, total=0),
    )


_OTHER = {
    "entity": "a part of a name with kgqa query find_entity --text PART",
    "document": "the documents of an entity with kgqa query documents_mentioning --entity NAME",
    "relation": "it among all with kgqa query relation_counts",
}


def resolved(
    store: Answers, query: Query, arguments: Mapping[str, Value], *, seconds: float = SECONDS, tell: Callable[[str], None] = lambda _: None
) -> dict[str, Value]:
    """``arguments`` with ids in place of names, for each parameter whose kind is in ``NAMED``.

    ``tell`` gets a sentence whenever :func:`resolve` chooses among several bearers of a name.
    """
    values = dict(arguments)
    begin = time.monotonic()
    for parameter in query.params:
        user_value = values.get(parameter.name)
        if parameter.kind in NAMED and isinstance(user_value, str) and user_value != parameter.default:
            try:
                values[parameter.name] = resolve(store, user_value, parameter.kind, seconds=remaining(seconds, begin), tell=tell)
            except (AmbiguousName, UnknownName) as error:
                raise type(error)(f"query {query.name}, {parameter.name}: {error}", names=error.names, parameter=parameter.name) from None
    return values


class _LookUp:
    """Look-ups of names in one store, with one limit of seconds for all of them."""

    def __init__(self, store: Answers, kind: str, seconds: float) -> None:
        self._store, self._kind, self._seconds = store, kind, seconds
        self._begin = time.monotonic()
        self._queries = read_queries()

    def exact(self, text: str) -> list[Bearer]:
        _check(text)
        if with_id := self._ask("with_id", ids=[text]):
            return with_id
        name = _normal(text)
        if not name:
            return []
        if name != text and (with_id := self._ask("with_id", ids=[name])):
            return with_id
        bearers = self._ask("named", name=name, text=f"\n{folded(name)}\n")
        return [bearer for bearer in bearers if bearer.label == name] or bearers

    def near(self, text: str, limit: int, excluded_ids: set[str]) -> list[Bearer]:
        _check(text)
        name = _normal(text)[:LONGEST]
        if not name:
            return []
        small = folded(name)
        bearers = self._ask("with_id", ids=sorted({name.upper(), name.lower(), name.capitalize()} - excluded_ids))
        bearers += self._ask("like", text=small, also=small, limit=limit + len(excluded_ids))
        if len(bearers) < limit:
            bearers += self._similar(small)
        return _once(bearer for bearer in bearers if bearer.id not in excluded_ids)[:limit]

    def _similar(self, small: str) -> list[Bearer]:
        """Bearers of a name that shares the first or the last half with ``small``, by similarity."""
        from difflib import SequenceMatcher

        middle = len(small) // 2
        if not middle:
            return []
        matcher = SequenceMatcher(autojunk=False)
        matcher.set_seq2(small)
        candidates: list[tuple[float, int, Bearer]] = []
        halves = {"text": f"\n{small[:middle]}", "also": f"{small[middle:]}\n"}
        for row in self._rows("like", **halves, limit=COMPARED):
            best = 0.0
            for name in row["search"].split("\n"):
                matcher.set_seq1(name)
                # Cheap upper bounds first.
                if matcher.real_quick_ratio() > best and matcher.quick_ratio() > max(best, ALIKE):
                    best = max(best, matcher.ratio())
            if best >= ALIKE:
                candidates.append((-best, len(candidates), self._bearer(row)))
        return [bearer for *_, bearer in sorted(candidates, key=lambda entry: entry[:2])]

    def _ask(self, suffix: str, **arguments: Value) -> list[Bearer]:
        return _once(self._bearer(row) for row in self._rows(suffix, **arguments))

    def _rows(self, suffix: str, **arguments: Value) -> list[dict[str, Any]]:
        query = self._queries[f"{NAMED[self._kind]}_{suffix}"]
        return self._store.run(query, arguments, seconds=remaining(self._seconds, self._begin)).to_pylist()

    def _bearer(self, row: Mapping[str, Any]) -> Bearer:
        return Bearer(
            id=row["id"],
            label=row["label"] or "",
            kind=row.get("kind") or self._kind,
            description=row.get("description") or "",
            documents=row.get("documents") or 0,
            facts=row.get("facts") or 0,
        )


def _once(bearers: Iterable[Bearer]) -> list[Bearer]:
    """The first bearer of each id; a relation has one row for each label."""
    by_id: dict[str, Bearer] = {}
    for bearer in bearers:
        by_id.setdefault(bearer.id, bearer)
    return list(by_id.values())


def _check(text: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise QueryError(f"{text[:SHOWN]!r} is not text (UTF-8), so it is not a name; give an id or a name.") from None


def _normal(text: str) -> str:
    """Normalise a text like the names in the tables."""
    return unicodedata.normalize("NFC", text).strip()


def _quoted(text: str) -> str:
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…")


def _count_of(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' * (number != 1)}"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else f"{text[:SHOWN].rstrip()}…"
