"""Whether a Cypher statement only reads, judged from its words before any engine sees it.

The engines refuse to write to a graph that is open for reading, but that is not enough: the embedded one still exports files, reads others
and changes settings, and a server runs procedures. So a statement that a user brings, on the command line or in a domain's own file, is cut
into tokens (:mod:`kgqa.store.tokens`) and held to a list: where a clause may begin, one that reads must stand. What runs is written from
those tokens.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import replace

from kgqa.errors import QueryError, suggestion
from kgqa.store.queries import Query
from kgqa.store.tokens import Token, tokens_of, written

BEGINNINGS = ("MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN")
"""What a statement, and each part of a UNION, may begin with."""
WRITING = frozenset(
    """ALTER ANALYZE ATTACH BEGIN CALL CHECKPOINT COMMENT COMMIT COPY CREATE DELETE DETACH DROP EXPORT FOREACH IMPORT INSERT INSTALL LOAD
    MERGE REMOVE ROLLBACK SET UNINSTALL UPDATE USE""".split()  # noqa: SIM905 - it reads better than so many quotation marks
)
"""Words that stand nowhere in a statement that reads, but as a name in backticks, of a property, a label or a key."""
OPENS = frozenset(BEGINNINGS) | frozenset(
    """UNION WHERE ORDER BY SKIP OFFSET LIMIT AND OR XOR NOT IN STARTS ENDS CONTAINS IS TYPED AS CASE WHEN THEN ELSE NULLS DISTINCT TRAIL
    ACYCLIC""".split()  # noqa: SIM905
)
"""Words after which a name, a value or another of them stands."""
GOES_ON = (OPENS - {"BY", "DISTINCT", "TYPED"}) | frozenset(
    "END ASC ASCENDING DESC DESCENDING FIRST LAST SHORTEST WSHORTEST PATH PATHS GROUP GROUPS".split()  # noqa: SIM905
)
"""Words that may follow a name, a value or a closing bracket; any other there would begin a clause that is not known to read."""
PLANS = ("EXPLAIN", "PROFILE")
"""Before a statement: how it is run, in place of or beside running it."""
PROCEDURES = {
    "neo4j": (
        "db.labels", "db.relationshipTypes", "db.propertyKeys", "db.schema.visualization", "db.schema.nodeTypeProperties",
        "db.schema.relTypeProperties", "db.index.fulltext.queryNodes", "db.index.fulltext.queryRelationships", "dbms.components",
    ),
    "embedded": ("show_tables", "table_info", "show_connection", "db_version"),
}  # fmt: skip
"""Store → what may be called: each only tells what is there."""
SHOWN = ("INDEX", "INDEXES", "CONSTRAINT", "CONSTRAINTS")
SHOW_KINDS = ("ALL", "RANGE", "TEXT", "FULLTEXT", "POINT", "LOOKUP", "VECTOR", "UNIQUE", "KEY", "NODE", "RELATIONSHIP", "PROPERTY")
"""What may stand between SHOW and them."""
WIDEST = 1 << 63
"""The first number that no engine holds."""
DIGITS = 25
"""Numbers with more are not read at all, which Python refuses beyond some thousands."""


def check_reads_only(text: str, parameters: Collection[str] | None = None, *, store: str = "") -> tuple[str, str]:
    """Raise QueryError unless ``text`` is one Cypher statement that only reads: no writing, no files, no settings, no procedures.

    ``parameters`` are the names for which there are values (None: whatever it names), and it must name those alone: the embedded engine
    would take another for null. With ``store`` it may also call what only tells what is there (``PROCEDURES``), show indexes and
    constraints, and begin with EXPLAIN or PROFILE. Returns that word in capitals, or an empty text, and the statement without it, written
    again from the tokens that were checked (:mod:`kgqa.store.tokens`): an engine gets this, never ``text``.
    """
    tokens = tokens_of(text)
    plan = _word(tokens, 0) if store and _word(tokens, 0) in PLANS else ""
    if plan:
        del tokens[0]
    if not tokens:
        raise QueryError("the query is empty; give a Cypher query that begins with MATCH.")
    statement = written(tokens)
    _check_parameters(tokens, parameters)
    if store and _word(tokens, 0) == "CALL":
        tokens = _after_call(tokens, store)
    elif store == "neo4j" and _word(tokens, 0) == "SHOW":
        tokens = _after_show(tokens)
    if tokens:
        _check_words(tokens)
    return plan, statement


def cypher_parameters(given: Iterable[str]) -> dict[str, object]:
    """``["id=Q84", "limit=5"]`` → ``{"id": "Q84", "limit": 5}``; raises QueryError for what has no name or no value, or is given twice."""
    values: dict[str, object] = {}
    for entry in given:
        name, equals, text = entry.partition("=")
        if not name or not equals:
            raise QueryError(f"the parameter {entry!r} is not NAME=VALUE; give it as id=Q84.")
        if name in values:
            raise QueryError(f"the parameter {name!r} is given twice; keep one.")
        values[name] = _value(name, text)
    return values


def _value(name: str, text: str) -> object:
    try:
        value: object = json.loads(text, parse_constant=str, parse_int=_integer)
    except OverflowError:
        raise QueryError(f"the parameter {name!r} holds a number of more than 64 bits; write a smaller one, or text.") from None
    except ValueError:
        value = text
    except RecursionError:
        raise QueryError(f"the parameter {name!r} has too many lists in lists; give fewer.") from None
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:  # an escape can name half a character
        raise QueryError(f"the parameter {name!r} holds half a character (\\ud800 and the like); write the whole one.") from None
    return value


def _integer(digits: str) -> int:
    number = int(digits) if len(digits) < DIGITS else WIDEST
    if not -WIDEST <= number < WIDEST:
        raise OverflowError
    return number


def limited(statement: str, rows: int) -> str:
    """``statement`` with a LIMIT of so many ``rows`` at its end, where it is one that :func:`check_reads_only` returned, ends without and
    could take one: an engine that makes all rows before it gives the first then makes no more than these.
    """
    last, depth, tokens = "", 0, tokens_of(statement)
    for at, (kind, part, _) in enumerate(tokens):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(part, 0) if kind == "sign" else 0
        if not depth and (word := _word(tokens, at)) in {"RETURN", "LIMIT", "UNION"}:
            last = last if last == "UNION" else word  # a LIMIT would be that of the last part alone
    return f"{statement}\nLIMIT {rows}" if last == "RETURN" and _word(tokens, 0) in BEGINNINGS else statement


def _word(tokens: list[Token], at: int) -> str:
    """The word there, in capitals; empty where there is none."""
    return tokens[at][1].upper() if at < len(tokens) and tokens[at][0] == "word" else ""


def _check_parameters(tokens: list[Token], parameters: Collection[str] | None) -> None:
    if parameters is None:
        return
    named = [part[1:].strip("`").replace("``", "`") for kind, part, _ in tokens if kind == "value" and part.startswith("$")]
    for name in named:
        if name not in parameters:
            hint = suggestion(name, list(parameters)) if parameters else f"give one, as {name}=VALUE."
            raise QueryError(f"the query names the parameter ${name}, for which there is no value; {hint}")
    for name in parameters:
        if name not in named:
            raise QueryError(f"there is a value for the parameter {name!r}, which the query does not name; write ${name}, or leave it out.")


def _after_call(tokens: list[Token], store: str) -> list[Token]:
    """What follows ``CALL name(…) YIELD …``; raises QueryError for a procedure that is not among ``PROCEDURES``."""
    at, name = 1, ""
    while at < len(tokens) and (tokens[at][0] == "word" or tokens[at][1] == "."):
        name += tokens[at][1]
        at += 1
    known = {procedure.lower(): procedure for procedure in PROCEDURES[store]}
    if name.lower() not in known:
        called = name or (tokens[at][1] if at < len(tokens) and tokens[at][0] == "value" else "a part of itself")
        raise QueryError(f"the query calls {called}; only these can be called here: {', '.join(PROCEDURES[store])}.")
    depth = 0
    while at < len(tokens) and (depth or tokens[at][1] == "("):
        depth += {"(": 1, ")": -1}.get(tokens[at][1], 0)
        if _word(tokens, at) in WRITING:
            raise QueryError(f"the query contains {tokens[at][1]} where a procedure's arguments stand; only reading is possible here.")
        at += 1
        if not depth:
            break
    return _after_yield(tokens, at)


def _after_show(tokens: list[Token]) -> list[Token]:
    """What follows ``SHOW INDEXES YIELD …``; raises QueryError for what says more than what is indexed and constrained."""
    at = 1
    while _word(tokens, at) in SHOW_KINDS:
        at += 1
    if _word(tokens, at) not in SHOWN:
        raise QueryError(
            f"the query shows {tokens[at][1] if at < len(tokens) else 'nothing'}; only INDEXES and CONSTRAINTS can be shown here."
        )
    return _after_yield(tokens, at + 1)


def _after_yield(tokens: list[Token], at: int) -> list[Token]:
    """What follows ``YIELD name AS other, …``, if that stands there; where more stands in it, that is left, and begins no clause."""
    if _word(tokens, at) != "YIELD":
        return tokens[at:]
    while at < len(tokens) and (_word(tokens, at) == "YIELD" or tokens[at][1] == ","):
        at += 2
        if _word(tokens, at) == "AS":
            at += 2
    return tokens[at:]


def check_own_query(query: Query) -> Query:
    """The query of a user's file with the text that :func:`check_reads_only` returns; what it raises names query and file."""
    try:
        return replace(query, text=check_reads_only(query.text)[1])
    except QueryError as error:
        raise QueryError(f"query {query.name} ({query.file}): {error}") from None


def _check_words(tokens: list[Token]) -> None:
    """Walk along the statement; ``complete`` is whether a name, a value or a bracket has just ended, so that a clause may begin."""
    complete, begins, before = False, True, ("", "")
    for at, (kind, part, _) in enumerate(tokens):
        word = part.upper() if kind == "word" else ""
        after_number = before[1] == "." and at > 1 and tokens[at - 2][1][-1].isdigit() and tokens[at - 2][0] == "value"
        is_name = before[1] in {".", ":"} and before[0] == "sign" and not after_number
        is_key = at + 1 < len(tokens) and tokens[at + 1][1] == ":"
        if begins and not (word in {"ALL", "DISTINCT"} and before[1].upper() == "UNION"):
            if word not in BEGINNINGS:
                known = f"{', '.join(BEGINNINGS[:-1])} or {BEGINNINGS[-1]}"
                raise QueryError(f"a query begins with {known}, this one with {part[:20]}; only reading is possible here.")
            begins = False
        if word and word in WRITING and not is_name and (not is_key or complete):
            raise QueryError(f"the query contains {word}, but only reading is possible here; a name goes in backticks.")
        if word and not is_name:
            if complete and word not in GOES_ON:
                raise QueryError(f"the query has {part} where a clause that reads may begin, which it is not; a name goes in backticks.")
            begins = begins or (word == "UNION" and complete)
            complete = word not in OPENS
        else:
            star = part == "*" and before[1].upper() in {"WITH", "RETURN", "DISTINCT"}
            complete = kind != "sign" or part in {")", "]", "}"} or star
        before = (kind, part)
