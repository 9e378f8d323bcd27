"""Completion of a word in a Cypher query: labels, types, properties, variables, parameters, keywords, named queries."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

from kgqa.store.queries import Query
from kgqa.store.schema import GraphSchema

SUGGESTED = 12
WORDS = (
    "MATCH", "OPTIONAL MATCH", "WHERE", "RETURN", "DISTINCT", "ORDER BY", "LIMIT", "SKIP", "WITH", "UNWIND", "UNION", "AND", "OR",
    "NOT", "IN", "IS NULL", "IS NOT NULL", "STARTS WITH", "ENDS WITH", "CONTAINS", "CASE", "WHEN", "THEN", "ELSE", "END", "DESC",
    "EXPLAIN", "PROFILE", "count(", "collect(", "size(", "labels(", "lower(", "coalesce(", "min(", "max(", "sum(", "avg(",
)  # fmt: skip
"""Words of Cypher that only read, and functions that both stores have."""
_CLOSED = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`|//[^\n]*\n|/\*.*?\*/", re.DOTALL)
_BEGUN = re.compile(r"\w*\Z")
_VARIABLE = re.compile(
    r"[(\[]\s*(?P<name>[^\W\d]\w*)\s*(?::\s*(?P<label>\w+)|(?=[)\]{*]))|\bAS\s+(?P<column>[^\W\d]\w*)|\b(?P<path>[^\W\d]\w*)\s*=\s*\(",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A word to insert, and its kind for the list of completions."""

    word: str
    kind: str
    """``label``, ``type``, ``property``, ``variable``, ``parameter``, ``query``, or empty for a word of Cypher."""
    about: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The completions at the cursor."""

    begun: str
    """The beginning of the word: the end of the text before the cursor."""
    suggestions: tuple[Suggestion, ...] = ()


def complete(text: str, at: int, schema: GraphSchema, *, queries: Mapping[str, Query], parameters: Collection[str] = ()) -> Completion:
    """Completions at position ``at`` of ``text``, in characters; ``parameters`` are the names of parameters.

    After a dot, these are the properties of the variable's label or type if the text declares it, otherwise all properties. There are none
    inside texts and comments.
    """
    before = _CLOSED.sub(lambda options: "''" if options[0][0] in "'\"" else " ", text[:at])
    prefix = _BEGUN.search(before)[0]  # type: ignore[index]
    head = before[: len(before) - len(prefix)]
    if re.search(r"['\"`]", head.replace("''", "")) or re.search(r"//|/\*", head):
        return Completion(begun="")
    options = list(_fitting(head, prefix, text, schema, queries, parameters))
    word = prefix.lower()
    fits = [option for option in options if option.word.lower().startswith(word)]
    fits += [option for option in options if option.kind == "query" and word in option.word and option not in fits]
    if len(fits) == 1 and fits[0].word == prefix:
        fits = []
    return Completion(begun=prefix, suggestions=tuple(fits[:SUGGESTED]))


def _fitting(
    head: str, prefix: str, text: str, schema: GraphSchema, queries: Mapping[str, Query], parameters: Collection[str]
) -> Iterable[Suggestion]:
    """All completions after ``head``, regardless of the beginning of the word."""
    sign = head.rstrip()[-1:] if head[-1:] != "$" else "$"
    open_brackets = _open_bracket(head)
    variables = _variables(text)
    if sign == "$":
        yield from (Suggestion(word=name, kind="parameter") for name in parameters)
    elif head.endswith("."):
        if re.search(r"(?<!\w)\d+\.\Z|\.\.\Z", head):  # a number, or how many steps
            return
        owner = re.search(r"(\w+)\.\Z", head)
        yield from _properties(schema, variables.get(owner[1], "") if owner else "")
    elif sign in {":", "|", "&", "!"} and open_brackets in {"(", ""}:
        yield from (Suggestion(word=label, kind="label", about=", ".join(properties)) for label, properties in schema.labels.items())
    elif sign in {":", "|", "&", "!"} and open_brackets == "[":
        for name, ends in schema.ends.items():
            yield Suggestion(word=name, kind="type", about=", ".join(f"{begin} → {end}" for begin, end in ends))
    elif open_brackets == "{" and sign in {"{", ","}:
        label = re.search(r":\s*(\w+)\s*\{[^{}]*\Z", head)
        yield from _properties(schema, label[1] if label else "")
    elif prefix:
        yield from (Suggestion(word=name, kind="variable", about=label) for name, label in variables.items() if name != prefix)
        yield from (Suggestion(word=word, kind="") for word in WORDS)
        if not head.strip() and text.strip() == prefix:
            yield from (Suggestion(word=query.name, kind="query", about=query.purpose) for query in queries.values())


def _open_bracket(head: str) -> str:
    """The last bracket that ``head`` opens and does not close, or an empty text."""
    stack: list[str] = []
    for sign in re.findall(r"[()\[\]{}]", head):
        if sign in "([{":
            stack.append(sign)
        elif stack:
            stack.pop()
    return stack[-1] if stack else ""


def _variables(text: str) -> dict[str, str]:
    """The variables of ``text`` → their label or type; empty if the text declares none."""
    variables: dict[str, str] = {}
    for match in _VARIABLE.finditer(_CLOSED.sub("''", text)):
        name = match["name"] or match["column"] or match["path"]
        variables[name] = match["label"] or variables.get(name, "")
    return variables


def _properties(schema: GraphSchema, owner: str) -> Iterable[Suggestion]:
    owners = {**schema.labels, **schema.types}
    if owner in owners:
        return [Suggestion(word=name, kind="property", about=owner) for name in owners[owner]]
    having: dict[str, list[str]] = {}
    for label, names in owners.items():
        for name in names:
            having.setdefault(name, []).append(label)
    return [Suggestion(word=name, kind="property", about=", ".join(labels)) for name, labels in having.items()]
