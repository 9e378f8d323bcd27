"""Rows from any SPARQL endpoint, page by page in a stable order, so that an import goes on after its last page."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Annotated
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from pydantic import Field, ValidationError, field_validator, model_validator

from kgqa.errors import EndpointError, SettingsError, require_packages
from kgqa.settings.base import Settings, plain_fault
from kgqa.sources.rows import Rows
from kgqa.sources.wikibase import selection as reasons
from kgqa.sources.wikibase.endpoint import Answer, Binding, Endpoint, Term
from kgqa.sources.wikibase.rdf import UNKNOWN_VALUE, XSD, write_literal

ROLES: dict[str, frozenset[str]] = {
    "facts": frozenset({"head", "relation", "tail"}),
    "pages": frozenset({"entity", "site", "title"}),
    "names": frozenset({"entity", "name"}),
    "entities": frozenset({"entity", "label"}),
    "relations": frozenset({"relation", "label"}),
}
"""What a query gives → the variables by which it says so. A tail may be a literal, which becomes a value."""
OPTIONAL = {"entities": {"description", "kind"}, "relations": {"symmetric"}}
AFTER = re.compile(r"\$after\b")
SELECT = re.compile(r"\bSELECT\b\s*(?:DISTINCT\b|REDUCED\b)?(.*?)(?:\bFROM\b[^{]*|\bWHERE\b\s*)?\{", re.IGNORECASE | re.DOTALL)
MODIFIER = re.compile(r"\b(ORDER\s+BY|LIMIT|OFFSET)\b[^}]*$", re.IGNORECASE)


class SelectQuery(Struct, frozen=True):
    """A SELECT query with what its variables say."""

    text: str
    variables: tuple[str, ...]
    role: str
    by_key: bool
    """Pages go on after the last value of the first variable rather than after a number of rows."""

    def page(self, after: str, offset: int, limit: int) -> str:
        """The query for one page. Values of a key that have been read are passed as a literal, never as part of the query."""
        order = [f"?{variable}" for variable in self.variables]
        if self.by_key:
            order[0] = f"STR({order[0]})"
        text = AFTER.sub(lambda _: _literal(after), self.text) if self.by_key else self.text
        return f"{text}\nORDER BY {' '.join(order)}\nLIMIT {limit} OFFSET {offset}"


class SparqlEndpoint(Settings):
    """An endpoint, and how fast to ask it."""

    endpoint: str
    """Address of the endpoint, such as https://query.wikidata.org/sparql."""
    contact: str = ""
    """Web or e-mail address for the endpoint's operators, sent with each request. Public endpoints ask for one."""
    prefixes: tuple[str, ...] = ("http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/")
    """Beginnings of IRIs to remove from ids. Objects with other IRIs are skipped; empty: all IRIs are kept as ids."""
    texts: bool = False
    """Keep texts, strings and external identifiers as values."""
    page_size: int = Field(default=10_000, ge=2, le=1_000_000)
    """Number of rows per request."""
    pause: float = Field(default=1.0, ge=0, le=3600)
    """Pause in seconds between a response and the next request."""
    timeout: float = Field(default=90.0, gt=0, le=3600)
    """Timeout of a request in seconds."""
    retries: int = Field(default=5, ge=0, le=100)
    """Maximum retries after a temporary failure."""
    longest_wait: float = Field(default=600.0, ge=0, le=86_400)
    """Maximum wait before a retry, in seconds."""
    max_megabytes: int = Field(default=256, ge=1, le=4096)
    """Maximum size of a response in megabytes, decompressed; larger responses are refused."""

    @field_validator("endpoint")
    @classmethod
    def _address(cls, value: str) -> str:
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.query or parts.fragment:
            raise ValueError(
                "this is not the address of an endpoint without a name and password; write for instance https://query.wikidata.org/sparql"
            )
        return value

    @field_validator("contact")
    @classmethod
    def _header(cls, value: str) -> str:
        if not re.fullmatch(r"[!-'*-~]*", value):
            raise ValueError(f"{value!r} is not the address of a page or mailbox")
        return value

    def pages(self, queries: str, token: str = "") -> Iterator[tuple[Rows, str]]:
        """Rows of the query in a file."""
        try:
            settings = SparqlSettings(**self.model_dump(), queries=(queries,))
        except ValidationError as error:
            raise SettingsError(f"{plain_fault(error.errors(include_url=False)[0])}; fix the query.") from None
        return pages(settings, token)


class SparqlSettings(SparqlEndpoint):
    """What to ask an endpoint."""

    queries: Annotated[tuple[str, ...], Field(min_length=1)]
    """SELECT queries without ORDER BY, LIMIT and OFFSET. Their variables say what they give: ``head relation tail``; ``entity label``, with
    ``description`` and ``kind`` if wanted; ``entity name``; ``relation label``, with ``symmetric``; ``entity site title``. A query with
    ``FILTER(STR(?first) > $after)``, for its first variable, is paged by that variable, which is faster than by OFFSET."""

    @model_validator(mode="after")
    def _queries(self) -> SparqlSettings:
        assert self.parsed  # raises ValueError for what is no such query
        return self

    @cached_property
    def parsed(self) -> tuple[SelectQuery, ...]:
        """The queries with what they give."""
        return tuple(_parsed(text) for text in self.queries)

    def digest(self) -> str:
        """Of what the rows depend on."""
        settings_json = self.model_dump_json(include={"endpoint", "queries", "prefixes", "texts"})
        return hashlib.sha256(settings_json.encode()).hexdigest()[:16]


class Token(Struct, forbid_unknown_fields=True):
    """Where the next page begins."""

    settings: str
    query: int = 0
    after: str = ""
    """The last value of the key whose rows have all been read."""
    offset: int = 0
    last: str = ""
    """Digest of the row before ``offset``."""


def pages(settings: SparqlSettings, token: str = "", *, sleep: Callable[[float], object] = time.sleep) -> Iterator[tuple[Rows, str]]:
    """Rows of each page, with the token from which to go on after it.

    Pages have a stable order. By OFFSET, each page begins with the last row of the one before, so that rows which the endpoint moved or
    dropped in between are noticed. A query ends where an endpoint has no more rows, never where it sent fewer than it was asked for, since
    many limit their answers on their own. EndpointError, SettingsError for a token of other settings.
    """
    require_packages("a SPARQL endpoint", "sources", "SPARQLWrapper")
    at = _read_token(settings, token)
    endpoint = Endpoint(
        address=settings.endpoint,
        contact=settings.contact,
        timeout=settings.timeout,
        pause=settings.pause,
        retries=settings.retries,
        longest_wait=settings.longest_wait,
        max_bytes=settings.max_megabytes << 20,
        sleep=sleep,
    )
    while at.query < len(settings.parsed):
        query = settings.parsed[at.query]
        bindings, at = _next(endpoint, query, at, settings.page_size)
        yield _rows(settings, query, bindings), msgspec.json.encode(at).decode()


def _read_token(settings: SparqlSettings, token: str) -> Token:
    if not token:
        return Token(settings.digest())
    try:
        at = msgspec.json.decode(token, type=Token)
    except msgspec.MsgspecError:
        raise SettingsError(f"{token!r} is not the token of a page; start without one.") from None
    if at.settings != settings.digest():
        raise SettingsError("the token of a page belongs to another endpoint or other queries; start without one.")
    return at


def _next(endpoint: Endpoint, query: SelectQuery, at: Token, size: int) -> tuple[list[Binding], Token]:
    """The rows of the next page that have not been read, and where to go on."""
    overlap = 1 if at.offset else 0
    answer = endpoint.ask(query.page(at.after, at.offset - overlap, size))
    _check_variables(endpoint, query, answer)
    candidates = answer.results.bindings
    if overlap:
        if not candidates or _digest(query, candidates[0]) != at.last:
            raise EndpointError(
                f"{endpoint.address} does not repeat the last row of the page before, so its order or data changed in between; start again "
                "without the pages so far."
            )
        candidates = candidates[1:]
    if not candidates:
        return [], Token(at.settings, at.query + 1)
    if query.by_key:
        keys = [row[query.variables[0]].value if query.variables[0] in row else "" for row in candidates]
        if keys != sorted(keys) or (keys[0] <= at.after and at.after):
            raise EndpointError(
                f"{endpoint.address} does not order ?{query.variables[0]} as it compares it with $after, or the query has no such filter; "
                f"write FILTER(STR(?{query.variables[0]}) > $after), or page without it."
            )
        # The last key's rows may go on in the next page, so they are read again as a whole.
        whole = next((number for number in range(len(keys), 0, -1) if keys[number - 1] != keys[-1]), 0)
        if whole:
            return candidates[:whole], Token(at.settings, at.query, keys[whole - 1])
    return candidates, Token(at.settings, at.query, at.after, at.offset + len(candidates), _digest(query, candidates[-1]))


def _check_variables(endpoint: Endpoint, query: SelectQuery, answer: Answer) -> None:
    if missing := set(query.variables).difference(answer.head.vars):
        raise EndpointError(f"{endpoint.address} answers without ?{min(missing)}, so this is not a result of the query.")


def _digest(query: SelectQuery, row: Binding) -> str:
    """Of a row. Blank nodes have other names in each answer."""
    terms = [row.get(variable) for variable in query.variables]
    parts = [
        None if term is None else (term.type, "" if term.type == "bnode" else term.value, term.datatype, term.language) for term in terms
    ]
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:16]


def _parsed(text: str) -> SelectQuery:
    """A query with its variables. ValueError for what cannot be paged."""
    plain = re.sub(r"(?m)(^|\s)#.*$", " ", text)
    match = SELECT.search(plain)
    if match is None:
        raise ValueError("a query is not a SELECT query with variables")
    clause = match[1]
    while (shorter := re.sub(r"\([^()]*?(?:\bAS\s+([?$]\w+)\s*)?\)", r" \1 ", clause, flags=re.IGNORECASE)) != clause:
        clause = shorter
    variables = tuple(re.findall(r"[?$](\w+)", clause))
    if MODIFIER.search(plain):
        raise ValueError("leave ORDER BY, LIMIT and OFFSET out of a query; pages get their own")
    for role, needed in ROLES.items():
        if needed <= set(variables) <= needed | OPTIONAL.get(role, set()):
            return SelectQuery(text.strip(), variables, role, AFTER.search(plain) is not None)
    raise ValueError(
        f"the results cannot be interpreted for {' '.join('?' + variable for variable in variables) or '*'}; name the variables "
        + ", or ".join(" ".join(f"?{variable}" for variable in sorted(needed)) for needed in ROLES.values())
    )


def _literal(text: str) -> str:
    from pyoxigraph import Literal

    return str(Literal(text))


def _rows(settings: SparqlSettings, query: SelectQuery, bindings: list[Binding]) -> Rows:
    rows = Rows()
    write = {"facts": _fact, "pages": _page, "names": _name, "entities": _entity, "relations": _relation}[query.role]
    for row in bindings:
        write(settings, row, rows)
    return rows


def _id(settings: SparqlSettings, term: Term | None) -> str:
    """Id of an entity or relation; empty for what is none."""
    if term is None or term.type != "uri" or UNKNOWN_VALUE in term.value:
        return ""
    if not settings.prefixes:
        return term.value
    prefixes = [prefix for prefix in settings.prefixes if term.value.startswith(prefix)]
    return term.value[max(map(len, prefixes)) :] if prefixes else ""


def _text(row: Binding, variable: str) -> str:
    return row[variable].value if variable in row else ""


def _fact(settings: SparqlSettings, row: Binding, rows: Rows) -> None:
    head, relation, tail = _id(settings, row.get("head")), _id(settings, row.get("relation")), row.get("tail")
    where = f"{_text(row, 'head')} {_text(row, 'relation')}"
    if not head or not relation:
        rows.skip(reasons.BLANK, where)
    elif tail is None or tail.type == "bnode" or UNKNOWN_VALUE in tail.value:
        rows.skip(reasons.SOME_VALUE, where)
    elif tail.type != "uri":
        write_literal(rows, head, relation, tail.value, tail.datatype or XSD + "string", tail.language, texts=settings.texts)
    elif id_ := _id(settings, tail):
        rows.fact(head, relation, id_)
    else:
        rows.skip(reasons.OTHER_VALUE, where)


def _entity(settings: SparqlSettings, row: Binding, rows: Rows) -> None:
    if id_ := _id(settings, row.get("entity")):
        label = _text(row, "label")
        rows.entity(id_, label, kind=_text(row, "kind") or "entity", description=_text(row, "description"))
        if label:
            rows.name(id_, label, "label")
    else:
        rows.skip(reasons.BLANK, _text(row, "entity"))


def _name(settings: SparqlSettings, row: Binding, rows: Rows) -> None:
    id_, name = _id(settings, row.get("entity")), _text(row, "name")
    if id_ and name:
        rows.name(id_, name)
    else:
        rows.skip(reasons.BLANK, _text(row, "entity"))


def _relation(settings: SparqlSettings, row: Binding, rows: Rows) -> None:
    if id_ := _id(settings, row.get("relation")):
        rows.relation(id_, _text(row, "label"), symmetric=_text(row, "symmetric") in {"true", "1"})
    else:
        rows.skip(reasons.BLANK, _text(row, "relation"))


def _page(settings: SparqlSettings, row: Binding, rows: Rows) -> None:
    id_, site, title = _id(settings, row.get("entity")), _text(row, "site"), _text(row, "title")
    if id_ and site and title:
        rows.page(site, title, id_)
        rows.name(id_, title, "title")
    else:
        rows.skip(reasons.BLANK, _text(row, "entity"))
