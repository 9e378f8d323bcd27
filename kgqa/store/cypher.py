"""Check that a Cypher statement only reads, from its tokens, before any engine sees it.

The engines refuse to write to a graph that is open for reading. That is not enough: the embedded engine still exports files, reads other
files and changes settings, and a server runs procedures. So each statement of a user, from the command line or from a domain's file, is
split into tokens by the rules that both engines share. Wherever a clause may begin, only a reading clause is allowed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator

from kgqa.errors import QueryError, suggestion
from kgqa.store.queries import Query

BEGINNINGS = ("MATCH", "OPTIONAL", "UNWIND", "WITH", "RETURN")
"""The first words allowed in a statement and in each part of a UNION."""
WRITING = frozenset(
    """ALTER ANALYZE ATTACH BEGIN CALL CHECKPOINT COMMENT COMMIT COPY CREATE DELETE DETACH DROP EXPORT FOREACH IMPORT INSERT INSTALL LOAD
    MERGE REMOVE ROLLBACK SET UNINSTALL UPDATE USE""".split()  # noqa: SIM905 - it reads better than so many quotation marks
)
"""Words that are refused everywhere, except as a name in backticks, a property, a label or a key."""
OPENS = frozenset(BEGINNINGS) | frozenset(
    """UNION WHERE ORDER BY SKIP OFFSET LIMIT AND OR XOR NOT IN STARTS ENDS CONTAINS IS TYPED AS CASE WHEN THEN ELSE NULLS DISTINCT TRAIL
    ACYCLIC""".split()  # noqa: SIM905
)
"""Words that are followed by a name, by a value or by another word of this set."""
GOES_ON = (OPENS - {"BY", "DISTINCT", "TYPED"}) | frozenset(
    "END ASC ASCENDING DESC DESCENDING FIRST LAST SHORTEST WSHORTEST PATH PATHS GROUP GROUPS".split()  # noqa: SIM905
)
"""Words that may follow a name, a value or a closing bracket; any other there would begin a clause that is not known to read."""
PLANS = ("EXPLAIN", "PROFILE")
"""Prefixes of a statement that return its plan: without running it (EXPLAIN) or while running it (PROFILE)."""
PROCEDURES = {
    "neo4j": (
        "db.labels", "db.relationshipTypes", "db.propertyKeys", "db.schema.visualization", "db.schema.nodeTypeProperties",
        "db.schema.relTypeProperties", "db.index.fulltext.queryNodes", "db.index.fulltext.queryRelationships", "dbms.components",
    ),
    "embedded": ("show_tables", "table_info", "show_connection", "db_version"),
}  # fmt: skip
"""Store → the procedures that a query may call; each only describes the graph."""
SHOWN = ("INDEX", "INDEXES", "CONSTRAINT", "CONSTRAINTS")
SHOW_KINDS = ("ALL", "RANGE", "TEXT", "FULLTEXT", "POINT", "LOOKUP", "VECTOR", "UNIQUE", "KEY", "NODE", "RELATIONSHIP", "PROPERTY")
"""The words allowed between SHOW and one of ``SHOWN``."""
_TOKEN = re.compile(
    r"""(?P<space>[^\S\r]+|\r\n|//[^\r\n]*|/\*.*?\*/)
    |(?P<value>'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?:``|[^`])*`|\$[^\S\r\n]*(?:\w+|`(?:``|[^`])*`)
     |0[xX][0-9a-fA-F]+|0[oO][0-7]+|[0-9]+(?:_[0-9]+)*(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)
    |(?P<word>[^\W\d]\w*)
    |(?P<sign>.)""",
    re.DOTALL | re.VERBOSE,
)
WIDEST = 1 << 63
"""The smallest positive number that no engine can hold."""
DIGITS = 25
"""Maximum digits of a number; Python refuses to parse thousands."""
_SIGNS = frozenset("()[]{}<>.,:+-*/%^=|&!?;")
"""All characters that a statement may contain outside names, numbers and quoted texts."""
_ESCAPES = {"\\": "\\", "'": "'", '"': '"', "`": "`", "n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
"""The character after a backslash in a text → its meaning. Engines disagree about all other escapes."""
_QUOTED = str.maketrans({"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"})
_UNCLOSED = {"'": "quotation mark", '"': "quotation mark", "`": "backtick", "/": "comment"}


def check_reads_only(text: str, parameters: Collection[str] | None = None, *, store: str = "") -> tuple[str, str]:
    """Raise QueryError unless ``text`` is one Cypher statement that only reads: no writing, no files, no settings, no procedures.

    ``parameters`` are the names that have values (None: any name is allowed). The statement must use exactly these names, because the
    embedded engine takes a missing value for null. With ``store``, the statement may also call procedures that only describe the graph
    (``PROCEDURES``), show indexes and constraints, and begin with EXPLAIN or PROFILE. Returns that first word in capitals (or an empty
    text) and the rest of the statement, rewritten. Callers run the rewritten text, never ``text`` itself.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise QueryError("the query is not UTF-8; write it in UTF-8.") from None
    if re.search(r"\\u", text, re.IGNORECASE):
        # Neo4j decodes these escapes before it parses, even in the middle of a word.
        raise QueryError("the query contains a \\u escape; write the character itself.")
    pieces = list(_pieces(text))
    tokens = _without_space(pieces)
    plan = _word(tokens, 0) if store and _word(tokens, 0) in PLANS else ""
    if plan:
        pieces = pieces[pieces.index(tokens[0]) + 1 :]
        tokens = tokens[1:]
    if not tokens:
        raise QueryError("the query is empty; give a Cypher query that begins with MATCH.")
    _check_parameters(tokens, parameters)
    if store and _word(tokens, 0) == "CALL":
        tokens = _after_call(tokens, store)
    elif store == "neo4j" and _word(tokens, 0) == "SHOW":
        tokens = _after_show(tokens)
    if tokens:
        _check_words(tokens)
    return plan, _rewrite(pieces)


def cypher_parameters(entries: Iterable[str]) -> dict[str, object]:
    """``["id=Q84", "limit=5"]`` → ``{"id": "Q84", "limit": 5}``. Raises QueryError for an entry without name or value, or a repeated
    name.
    """
    values: dict[str, object] = {}
    for entry in entries:
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
        raise QueryError(f"the parameter {name!r} has a number of more than 64 bits; write a smaller one, or text.") from None
    except ValueError:
        value = text
    except RecursionError:
        raise QueryError(f"the parameter {name!r} has too many lists in lists; give fewer.") from None
    try:
        json.dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:  # an escape can name half a character
        raise QueryError(f"the parameter {name!r} contains half a character (\\ud800 and the like); write the whole one.") from None
    return value


def _integer(digits: str) -> int:
    number = int(digits) if len(digits) < DIGITS else WIDEST
    if not -WIDEST <= number < WIDEST:
        raise OverflowError
    return number


def limited(text: str, rows: int) -> str:
    """``text`` with ``LIMIT rows`` at its end, if it passes :func:`check_reads_only`, has no limit yet and can take one.

    An engine that computes all rows before it returns the first one then computes no more than these.
    """
    last, depth, begins, end = "", 0, "", 0
    for match in _TOKEN.finditer(text):
        if match.lastgroup == "space" or match[0] == ";":
            continue
        end, word = match.end(), match[0].upper() if match.lastgroup == "word" else ""
        begins = begins or word or match[0]
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(match[0], 0) if match.lastgroup == "sign" else 0
        if not depth and word in {"RETURN", "LIMIT", "UNION"}:
            last = last if last == "UNION" else word  # a LIMIT would apply only to the last part
    return f"{text[:end]}\nLIMIT {rows}" if last == "RETURN" and begins in BEGINNINGS else text


def _word(tokens: list[tuple[str, str]], at: int) -> str:
    """The word at this position in capitals, or an empty text if the token is no word."""
    return tokens[at][1].upper() if at < len(tokens) and tokens[at][0] == "word" else ""


def _check_parameters(tokens: list[tuple[str, str]], parameters: Collection[str] | None) -> None:
    if parameters is None:
        return
    query_parameters = [part[1:].strip().strip("`") for kind, part in tokens if kind == "value" and part.startswith("$")]
    for name in query_parameters:
        if name not in parameters:
            hint = suggestion(name, list(parameters)) if parameters else f"give one, as {name}=VALUE."
            raise QueryError(f"the query uses the parameter ${name}, but it has no value; {hint}")
    for name in parameters:
        if name not in query_parameters:
            raise QueryError(f"there is a value for the parameter {name!r}, which the query does not use; write ${name}, or leave it out.")


def _after_call(tokens: list[tuple[str, str]], store: str) -> list[tuple[str, str]]:
    """The tokens after ``CALL name(…) YIELD …``. Raises QueryError for a procedure that is not in ``PROCEDURES``."""
    at, name = 1, ""
    while at < len(tokens) and (tokens[at][0] == "word" or tokens[at][1] == "."):
        name += tokens[at][1]
        at += 1
    procedures = {procedure.lower(): procedure for procedure in PROCEDURES[store]}
    if name.lower() not in procedures:
        callee = name or (tokens[at][1] if at < len(tokens) and tokens[at][0] == "value" else "a part of itself")
        raise QueryError(f"the query calls {callee}; only these can be called here: {', '.join(PROCEDURES[store])}.")
    depth = 0
    while at < len(tokens) and (depth or tokens[at][1] == "("):
        depth += {"(": 1, ")": -1}.get(tokens[at][1], 0)
        if _word(tokens, at) in WRITING:
            raise QueryError(f"the query contains {tokens[at][1]} in place of a procedure's arguments; only reading is allowed here.")
        at += 1
        if not depth:
            break
    return _after_yield(tokens, at)


def _after_show(tokens: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The tokens after ``SHOW INDEXES YIELD …``. Raises QueryError for anything but indexes and constraints."""
    at = 1
    while _word(tokens, at) in SHOW_KINDS:
        at += 1
    if _word(tokens, at) not in SHOWN:
        raise QueryError(
            f"the query shows {tokens[at][1] if at < len(tokens) else 'nothing'}; only INDEXES and CONSTRAINTS can be shown here."
        )
    return _after_yield(tokens, at + 1)


def _after_yield(tokens: list[tuple[str, str]], at: int) -> list[tuple[str, str]]:
    """The tokens after ``YIELD name AS other, …``, if there is one. Anything else in it stays and cannot begin a clause."""
    if _word(tokens, at) != "YIELD":
        return tokens[at:]
    while at < len(tokens) and (_word(tokens, at) == "YIELD" or tokens[at][1] == ","):
        at += 2
        if _word(tokens, at) == "AS":
            at += 2
    return tokens[at:]


def check_own_query(query: Query) -> str:
    """The rewritten text of a user's own query (:func:`check_reads_only`). Errors name the query and its file."""
    try:
        return check_reads_only(query.text)[1]
    except QueryError as error:
        raise QueryError(f"query {query.name} ({query.file}): {error}") from None


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Kind (``space``, ``value``, ``word`` or ``sign``) and text of each piece up to a semicolon at the end; a comment is space."""
    is_end = False
    for match in _TOKEN.finditer(text):
        kind, part = str(match.lastgroup), match[0]
        if kind == "space":
            if not is_end:
                yield kind, part
            continue
        if is_end:
            raise QueryError("the query has more than one statement; give one statement at a time.")
        if part == "\r":
            raise QueryError("the query has a carriage return without a line feed, which engines parse differently; use line feeds.")
        if kind == "sign" and part in _UNCLOSED and (part != "/" or text.startswith("/*", match.start())):
            raise QueryError(f"the query has a {_UNCLOSED[part]} that is not closed; close it.")
        if kind == "sign" and part not in _SIGNS:
            description = part if part.isprintable() else f"U+{ord(part):04X}"
            raise QueryError(
                f"the query contains the character {description}, which Cypher does not use; leave it out, or put it in quotation marks."
            )
        is_end = part == ";"
        if not is_end:
            yield kind, part


def _without_space(pieces: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    return [piece for piece in pieces if piece[0] != "space"]


def _rewrite(pieces: list[tuple[str, str]]) -> str:
    """The statement, rewritten from its ``pieces`` so that every engine reads it the same way. Raises QueryError where that is impossible.

    A comment becomes spaces and lines are kept, so that positions in an engine's messages fit the user's text.
    """
    output, before = [], ""
    for kind, part in pieces:
        if kind == "space":
            new_part = re.sub(r"[^\n]", " ", part)
        elif kind == "word":
            new_part = part if part.isascii() else f"`{part}`"  # an engine may fold a non-ASCII letter to one of a keyword
        else:
            new_part = _value_anew(part) if kind == "value" else part
        # Two adjacent quoted tokens must not merge into one.
        output.append(f" {new_part}" if before[-1:] in {"'", "`"} and new_part[:1] in {"'", "`"} else new_part)
        before = new_part or before
    statement = "".join(output).rstrip()
    if [_meaning(piece) for piece in _without_space(pieces)] != [_meaning(piece) for piece in _without_space(_pieces(statement))]:
        raise QueryError("the query cannot be written in a form that both engines parse in the same way; simplify it.")
    return statement


def _value_anew(part: str) -> str:
    if part[0] in {"'", '"'}:
        return f"'{_unquoted(part).translate(_QUOTED)}'"
    if part[0] == "$":
        name = part[1:].lstrip()
        return (
            f"${name if name.isascii() or name.isidentifier() else _name_anew(f'`{name}`')}" if name[0] != "`" else f"${_name_anew(name)}"
        )
    return _name_anew(part) if part[0] == "`" else part


def _name_anew(part: str) -> str:
    if not part.isprintable():
        raise QueryError("the query has a name in backticks with a line break or another character that cannot be seen; leave it out.")
    return part


def _unquoted(part: str) -> str:
    """The content of a quoted text. Raises QueryError for escapes that engines read differently."""
    if "\0" in part:
        raise QueryError("the query has a text with a NUL character; leave it out.")

    def unescape(match: re.Match[str]) -> str:
        if match[1] not in _ESCAPES:
            raise QueryError(
                f"the query has a text with the escape {match[0]}, which engines parse differently; write \\\\ for a backslash."
            )
        return _ESCAPES[match[1]]

    return re.sub(r"\\(.)", unescape, part[1:-1], flags=re.DOTALL)


def _meaning(piece: tuple[str, str]) -> tuple[str, str]:
    """Kind and content of a token, independent of how it is written."""
    kind, part = piece
    if kind == "value" and part[0] in {"'", '"'}:
        return "text", _unquoted(part)
    if kind == "value" and part[0] == "$":
        return "parameter", part[1:].strip().strip("`")
    return ("name", part.strip("`")) if kind == "word" or part[0] == "`" else piece


def _check_words(tokens: list[tuple[str, str]]) -> None:
    """Walk along the statement; ``complete`` is whether a name, a value or a bracket has just ended, so that a clause may begin."""
    complete, begins, before = False, True, ("", "")
    for at, (kind, part) in enumerate(tokens):
        word = part.upper() if kind == "word" else ""
        after_number = before[1] == "." and at > 1 and tokens[at - 2][1][-1].isdigit() and tokens[at - 2][0] == "value"
        is_name = before[1] in {".", ":"} and before[0] == "sign" and not after_number
        is_key = at + 1 < len(tokens) and tokens[at + 1][1] == ":"
        if begins and not (word in {"ALL", "DISTINCT"} and before[1].upper() == "UNION"):
            if word not in BEGINNINGS:
                openings = f"{', '.join(BEGINNINGS[:-1])} or {BEGINNINGS[-1]}"
                raise QueryError(f"a query begins with {openings}, this one with {part[:20]}; only reading is allowed here.")
            begins = False
        if word and word in WRITING and not is_name and (not is_key or complete):
            raise QueryError(f"the query contains {word}, but only reading is allowed here; put a name in backticks.")
        if word and not is_name:
            if complete and word not in GOES_ON:
                raise QueryError(f'the query has an unexpected "{part}": only reading clauses are allowed here; put a name in backticks.')
            begins = begins or (word == "UNION" and complete)
            complete = word not in OPENS
        else:
            star = part == "*" and before[1].upper() in {"WITH", "RETURN", "DISTINCT"}
            complete = kind != "sign" or part in {")", "]", "}"} or star
        before = (kind, part)
