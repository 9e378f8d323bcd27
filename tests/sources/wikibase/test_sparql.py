"""An endpoint's graph comes out whole, in any size of page and from any token; every fault of an endpoint is an error or tried again."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from email.utils import formatdate
from typing import Any
from urllib.parse import urlencode

import pytest
from pydantic import ValidationError
from pyoxigraph import Literal, RdfFormat

from kgqa.errors import EndpointError, SettingsError
from kgqa.sources.rows import Rows, plain_rows
from kgqa.sources.wikibase import selection as reasons
from kgqa.sources.wikibase.sparql import SparqlSettings, pages
from tests.sources.wikibase.sparql_server import Reply, SparqlServer, sparql_server

WD, WDT = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
PREFIXES = f"""PREFIX wd: <{WD}> PREFIX wdt: <{WDT}> PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
PREFIX schema: <http://schema.org/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
GRAPH = PREFIXES + "\n".join(
    [f'wd:Q{number} rdfs:label "town {number}"@en ; wdt:P131 wd:Q{number // 3 + 100} , wd:Q{number + 7} .' for number in range(1, 30)]
    + [
        'wd:Q1 schema:description "where it begins"@en ; wdt:P571 "1312-04-05T00:00:00Z"^^xsd:dateTime ; wdt:P1082 "+4200"^^xsd:decimal .',
        'wd:Q2 wdt:P138 _:somebody ; wdt:P856 <https://town.example/> ; wdt:P281 "1234" .',
        '<https://en.wikipedia.org/wiki/Town_1> schema:about wd:Q1 ; schema:name "Town 1"@en .',
    ]
)
FACTS = PREFIXES + f'SELECT ?head ?relation ?tail WHERE {{ ?head ?relation ?tail FILTER(STRSTARTS(STR(?relation), "{WDT}")) }}'
FACTS_BY_KEY = FACTS.replace("FILTER(", "FILTER(STR(?head) > $after) FILTER(")
LABELS = (
    PREFIXES
    + "SELECT DISTINCT ?entity ?label ?description { ?entity rdfs:label ?label OPTIONAL { ?entity schema:description ?description } }"
)
PAGES = PREFIXES + 'SELECT ?entity ("enwiki" AS ?site) (STR(?name) AS ?title) WHERE { ?page schema:about ?entity ; schema:name ?name }'


@pytest.fixture
def server() -> Iterator[SparqlServer]:
    with sparql_server(GRAPH) as found:
        yield found


def settings(server: SparqlServer, *queries: str, **options: Any) -> SparqlSettings:
    return SparqlSettings(endpoint=server.address, queries=queries or (FACTS,), **{"pause": 0.0, "retries": 1, **options})


def told(parts: list[Rows]) -> tuple[dict[str, Counter[tuple[Any, ...]]], Counter[str]]:
    """Rows of all tables, and what was skipped."""
    tables: dict[str, Counter[tuple[Any, ...]]] = {}
    skipped: Counter[str] = Counter()
    for rows in parts:
        for name, found in plain_rows(rows).items():
            tables.setdefault(name, Counter()).update(found)
        skipped += rows.skipped
    return tables, skipped


def whole(chosen: SparqlSettings) -> tuple[dict[str, Counter[tuple[Any, ...]]], Counter[str]]:
    return told([rows for rows, _ in pages(chosen, sleep=lambda _: None)])


def test_a_graph_becomes_rows(server: SparqlServer) -> None:
    tables, skipped = whole(settings(server, FACTS, LABELS, PAGES))
    assert sum(tables["facts"].values()) == 58
    assert tables["facts"]["Q1", "P131", "Q8"] == 1
    assert sorted(tables["values"]) == [
        ("Q1", "P1082", "quantity", "4200", "", None, "", "", ""),
        ("Q1", "P571", "time", "1312-04-05", "", None, "gregorian", "", ""),
    ]
    assert tables["entities"]["Q1", "entity", "town 1", "where it begins"] == 1
    assert tables["entities"]["Q2", "entity", "town 2", ""] == 1
    assert tables["pages"] == {("enwiki", "Town 1", "Q1", None): 1}
    assert tables["names"]["Q1", "Town 1", "title"] == tables["names"]["Q1", "town 1", "label"] == 1
    assert skipped == {reasons.SOME_VALUE: 1, reasons.OTHER_VALUE: 1, reasons.TEXT_VALUE: 1}
    assert whole(settings(server, texts=True))[0]["values"]["Q2", "P281", "text", "1234", "", None, "", "", ""] == 1


@pytest.mark.parametrize("query", [FACTS, FACTS_BY_KEY])
@pytest.mark.parametrize("size", [2, 3, 7, 58, 63, 64, 1000])
def test_pages_of_any_size_give_the_same_rows(server: SparqlServer, query: str, size: int) -> None:
    assert whole(settings(server, query, LABELS, page_size=size)) == whole(settings(server, FACTS, LABELS))
    assert server.most_at_once == 1
    assert all("ORDER BY" in query and "LIMIT" in query for query in server.queries)


@pytest.mark.parametrize("query", [FACTS, FACTS_BY_KEY])
def test_an_import_goes_on_from_any_token(server: SparqlServer, query: str) -> None:
    chosen = settings(server, query, PAGES, page_size=9)
    parts = list(pages(chosen))
    assert len(parts) > 6
    for stop, (_, token) in enumerate(parts, 1):
        assert told([rows for rows, _ in parts[:stop]] + [rows for rows, _ in pages(chosen, token)]) == whole(chosen)
    assert list(pages(chosen, parts[-1][1])) == []


@pytest.mark.parametrize("query", [FACTS, FACTS_BY_KEY])
def test_an_endpoint_that_limits_its_answers_on_its_own_loses_nothing(server: SparqlServer, query: str) -> None:
    def fault(_number: int, _query: str, reply: Reply) -> Reply:
        answer = json.loads(reply.body)
        answer["results"]["bindings"] = answer["results"]["bindings"][:5]
        return replace(reply, body=json.dumps(answer).encode())

    expected = whole(settings(server))
    server.fault = fault
    assert whole(settings(server, query, page_size=1000)) == expected


def test_two_endpoints_with_parts_of_a_graph_give_the_whole_graph() -> None:
    lines = GRAPH.removeprefix(PREFIXES).splitlines()
    halves = [PREFIXES + "\n".join(lines[begin::2]) for begin in (0, 1)]
    with sparql_server(GRAPH) as both, sparql_server(halves[0]) as one, sparql_server(halves[1]) as other:
        assert told([rows for part in (one, other) for rows, _ in pages(settings(part))]) == whole(settings(both))


def test_requests_name_the_tool_and_its_user(server: SparqlServer) -> None:
    list(pages(settings(server, contact="https://example.org/me")))
    agent = server.headers[0]["User-Agent"]
    assert agent.startswith("kgqa/")
    assert "(https://example.org/me)" in agent
    assert "SPARQLWrapper/" in agent


def test_a_pause_is_kept_between_requests(server: SparqlServer) -> None:
    waits: list[float] = []
    list(pages(settings(server, page_size=30, pause=5.0), sleep=waits.append))
    assert len(server.queries) == len(waits) + 1
    assert all(4.5 < wait <= 5 for wait in waits)


def once(reply: Callable[[Reply], Reply], at: int = 1) -> Callable[[int, str, Reply], Reply]:
    """The fault in one request alone."""
    return lambda number, _query, right: reply(right) if number == at else right


def always(reply: Callable[[Reply], Reply]) -> Callable[[int, str, Reply], Reply]:
    return lambda _number, _query, right: reply(right)


STACK = b"\nSPARQL-QUERY: queryStr=SELECT ...\njava.util.concurrent.TimeoutException\n\tat java.util.concurrent.FutureTask.get\n"
PASSING: dict[str, Callable[[Reply], Reply]] = {
    "429": lambda _: Reply(body=b"Too Many Requests", status=429, headers={"Retry-After": "3"}),
    "503": lambda _: Reply(body=b"Service Unavailable", status=503, headers={"Retry-After": formatdate(time.time() + 4, usegmt=True)}),
    "500": lambda _: Reply(body=STACK, status=500),
    "502": lambda _: Reply(body=b"<html>Bad gateway</html>", status=502),
    "cut connection": lambda right: replace(right, cut=len(right.body) // 2),
    "cut connection without a length": lambda right: replace(right, cut=len(right.body) // 2, length=False),
    "cut within gzip": lambda right: replace(right, headers={**right.headers, "Content-Encoding": "gzip"}, cut=60),
    "cut within gzip without a length": lambda right: replace(
        right, headers={**right.headers, "Content-Encoding": "gzip"}, cut=60, length=False
    ),
    "no body": lambda right: replace(right, body=b""),
    "time-out within the answer": lambda right: replace(right, body=right.body[: len(right.body) // 2] + STACK),
    "time-out after a whole row": lambda right: replace(right, body=right.body[: right.body.rfind(b"},{")] + b"}" + STACK),
    "part of a result": lambda right: replace(right, headers={**right.headers, "X-SQL-State": "S1TAT"}),
}


@pytest.mark.parametrize("reply", PASSING.values(), ids=PASSING)
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_fault_that_passes_changes_nothing(server: SparqlServer, reply: Callable[[Reply], Reply], at: int) -> None:
    expected = whole(settings(server, page_size=30))
    server.queries.clear()
    server.fault = once(reply, at)
    assert whole(settings(server, page_size=30)) == expected
    assert server.queries[at] == server.queries[at + 1]


@pytest.mark.parametrize("reply", PASSING.values(), ids=PASSING)
def test_a_fault_that_stays_is_one_sentence_after_a_bounded_number_of_attempts(
    server: SparqlServer, reply: Callable[[Reply], Reply]
) -> None:
    server.fault = always(reply)
    waits: list[float] = []
    with pytest.raises(EndpointError, match="4 times; run the same command again later") as caught:
        list(pages(settings(server, retries=3), sleep=waits.append))
    assert "\n" not in str(caught.value)
    assert len(server.queries) == 4
    assert len(waits) == 3


def test_the_time_that_an_endpoint_asks_for_is_waited(server: SparqlServer) -> None:
    for reply, least, most in ((PASSING["429"], 3, 3), (PASSING["503"], 2, 4)):
        server.queries.clear()
        server.fault = once(reply, 0)
        waits: list[float] = []
        list(pages(settings(server), sleep=waits.append))
        assert least <= waits[0] <= most
    server.fault = always(lambda _: Reply(body=b"", status=429, headers={"Retry-After": "3600"}))
    with pytest.raises(EndpointError, match="wants 3600 seconds without any"):
        list(pages(settings(server), sleep=waits.append))


def test_an_endpoint_that_is_down_is_one_sentence() -> None:
    with sparql_server(GRAPH) as server:
        chosen = settings(server)
    with pytest.raises(EndpointError, match=r"does not answer .*refused"):
        list(pages(chosen, sleep=lambda _: None))


def test_a_slow_answer_is_given_up(server: SparqlServer) -> None:
    def fault(_number: int, _query: str, reply: Reply) -> Reply:
        time.sleep(0.4)
        return reply

    server.fault = fault
    with pytest.raises(EndpointError, match=r"does not answer .*timed out"):
        list(pages(settings(server, timeout=0.1, retries=0)))
    time.sleep(0.4)


def test_an_answer_that_never_stops_for_long_is_given_up_too(server: SparqlServer) -> None:
    server.fault = always(lambda right: replace(right, drip=0.01))
    begin = time.monotonic()
    with pytest.raises(EndpointError, match=r"took more than 0\.3 seconds"):
        list(pages(settings(server, timeout=0.3, retries=0)))
    assert time.monotonic() - begin < 2


LASTING: dict[str, tuple[Callable[[Reply], Reply], str]] = {
    "text of 200": (
        lambda _: Reply(body=b"Please set a user agent.", headers={"Content-Type": "text/plain"}),
        "text in place of a result: 'Pl",
    ),
    "web page": (lambda _: Reply(body=b"<html><body>Hello</body></html>", headers={"Content-Type": "text/html"}), "'Hello'"),
    "403": (lambda _: Reply(body=b"", status=403), "set contact"),
    "400": (lambda _: Reply(body=b"MalformedQueryException: line 1", status=400), "MalformedQueryException: line 1"),
    "206": (lambda right: replace(right, status=206), "status 206"),
    "ASK": (lambda right: replace(right, body=b'{"head":{},"boolean":true}'), "not the result of a SELECT query"),
    "other variables": (lambda right: replace(right, body=b'{"head":{"vars":["x"]},"results":{"bindings":[]}}'), r"without \?head"),
    "brotli": (lambda right: replace(right, headers={"Content-Encoding": "br"}), "compresses its response with 'br'"),
    "other host": (
        lambda _: Reply(body=b"", status=302, headers={"Location": "http://localhost:1/sparql"}),
        "redirects to http://localhost:1",
    ),
    "file": (lambda _: Reply(body=b"", status=302, headers={"Location": "file:///etc/hostname"}), "is not allowed"),
    "bomb": (
        lambda _: Reply(body=b" " * (3 << 20), headers={"Content-Type": "application/json", "Content-Encoding": "gzip"}),
        "more than 1 MiB",
    ),
    "large": (lambda _: Reply(body=b" " * (3 << 20), headers={"Content-Type": "application/json"}), "more than 1 MiB"),
}


@pytest.mark.parametrize(("reply", "sentence"), LASTING.values(), ids=LASTING)
def test_a_fault_that_another_attempt_cannot_help_is_one_sentence_at_once(
    server: SparqlServer, reply: Callable[[Reply], Reply], sentence: str
) -> None:
    server.fault = always(reply)
    with pytest.raises(EndpointError, match=sentence):
        list(pages(settings(server, max_megabytes=1)))
    assert len(server.queries) == 1


def test_a_redirect_within_the_host_is_followed(server: SparqlServer) -> None:
    expected = whole(settings(server))
    server.queries.clear()

    def fault(number: int, query: str, reply: Reply) -> Reply:
        location = f"{server.address}/moved?{urlencode({'query': query})}"
        return Reply(body=b"", status=302, headers={"Location": location}) if number % 2 == 0 else reply

    server.fault = fault
    assert whole(settings(server)) == expected


def test_comments_and_texts_of_a_query_reach_the_endpoint(server: SparqlServer) -> None:
    query = FACTS.replace("}", "FILTER(STR(?relation) != ' # LIMIT 1 ') } # ORDER BY ?tail, FILTER(?head > $after)")
    assert whole(settings(server, query)) == whole(settings(server))
    assert server.queries[0].startswith(query)


def test_long_queries_are_sent_by_post(server: SparqlServer) -> None:
    long = FACTS.replace("}", f"FILTER(STR(?head) != '{'x' * 7000}') }}")
    assert whole(settings(server, long)) == whole(settings(server))


def test_rows_that_move_between_pages_are_noticed(server: SparqlServer) -> None:
    parts = pages(settings(server, page_size=10))
    next(parts)
    server.store.load(f"<{WD}Q1> <{WDT}P1> <{WD}Q3> .", RdfFormat.TURTLE)
    with pytest.raises(EndpointError, match="does not repeat the last row"):
        list(parts)


def test_a_query_without_its_filter_is_noticed(server: SparqlServer) -> None:
    query = FACTS.replace("FILTER(", "BIND($after AS ?unused) FILTER(")
    with pytest.raises(EndpointError, match=r"does not order .head as it compares it"):
        list(pages(settings(server, query, page_size=10)))


def test_a_key_is_a_literal_whatever_is_in_it() -> None:
    bad = 'x" } INSERT \\ \n {'
    with sparql_server("\n".join(f"<{WD}Q{n}> <{WDT}P1> <{WD}Q{n}> ." for n in range(4))) as server:
        values = " ".join(f"({Literal(key)} 'n')" for key in ("a", bad, "y"))
        query = f"SELECT ?entity ?name {{ VALUES (?entity ?name) {{ {values} }} FILTER(STR(?entity) > $after) }}"
        tables, skipped = whole(settings(server, query, page_size=2))
    assert tables == {}
    assert sum(skipped.values()) == 3


def test_iris_are_ids_where_no_prefix_is_given(server: SparqlServer) -> None:
    tables, _ = whole(settings(server, prefixes=()))
    assert tables["facts"][f"{WD}Q1", f"{WDT}P131", f"{WD}Q8"] == 1
    assert tables["facts"][f"{WD}Q2", f"{WDT}P856", "https://town.example/"] == 1


def test_a_token_of_other_settings_is_refused(server: SparqlServer) -> None:
    _, token = next(pages(settings(server)))
    with pytest.raises(SettingsError, match="another endpoint or other queries"):
        next(pages(settings(server, LABELS), token))
    for bad in ("{", "[]", '{"settings":1}', "x"):
        with pytest.raises(SettingsError, match="is not the token"):
            next(pages(settings(server), bad))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"queries": ["ASK { ?a ?b ?c }"]}, "not a SELECT query"),
        ({"queries": ["SELECT * { ?head ?relation ?tail }"]}, "name the variables"),
        ({"queries": ["SELECT ?head ?tail { ?head ?relation ?tail }"]}, "the results cannot be interpreted for .head .tail"),
        ({"queries": [FACTS + " LIMIT 5"]}, "leave ORDER BY"),
        ({"queries": [FACTS + " order by ?head"]}, "leave ORDER BY"),
        ({"queries": []}, "at least 1 item"),
        ({"endpoint": "ftp://x/y"}, "not the address of an endpoint"),
        ({"endpoint": "http://me:secret@x/y"}, "not the address of an endpoint"),
        ({"endpoint": "file:///etc/passwd"}, "not the address of an endpoint"),
        ({"contact": "a\r\nX-Evil: 1"}, "not the address of a page or mailbox"),
        ({"speed": 3}, "Extra inputs"),
    ],
)
def test_settings_that_cannot_work_are_refused(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        SparqlSettings(**{"endpoint": "https://query.example/sparql", "queries": [FACTS], **options})
