"""How fast Wikidata's forms become rows on one core, beside plain implementations that make the same rows.

``python -m benchmarks.sources_wikidata``. The real excerpts are repeated in memory.
"""

from __future__ import annotations

import gzip
import json
import statistics
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from pyoxigraph import Literal, NamedNode, RdfFormat, parse

from benchmarks.measure import Section, Table, absent, data_folder, in_turn, ratios, spread
from kgqa.sources.formats import Piece
from kgqa.sources.rows import Rows, plain_rows
from kgqa.sources.wikibase.dump import WikidataJson
from kgqa.sources.wikibase.rdf import WikidataRdf
from kgqa.sources.wikibase.times import CALENDARS, json_time, rdf_time

TITLE = "Wikidata's forms"
ROUNDS = 5
COPIES = 8
SOME = ("P17", "P27", "P31", "P106", "P131", "P569")


def main(*, rounds: int = ROUNDS) -> Section:
    """Repeat the excerpts and parse them."""
    folder = data_folder("sources/wikidata")
    if folder is None:
        return Section(title=TITLE, skipped=absent("sources/wikidata"))
    lines = gzip.decompress((folder / "entities-dump-lines.json.gz").read_bytes()).strip(b"[]\n") + b",\n"
    packed = gzip.compress(lines)
    whole = WikidataJson()
    assert sorted_rows(json_rows(lines, json.loads)) == sorted_rows(parse_lines(whole, lines))
    dump = table(
        "The JSON dump",
        lines,
        {
            "kgqa": lambda: parse_lines(whole, lines),
            "kgqa, six properties": lambda: parse_lines(WikidataJson(properties=SOME), lines),
            "kgqa, from gzip to Arrow": lambda: parse_lines(whole, gzip.decompress(packed)).tables(),
            "plain, with msgspec": lambda: json_rows(lines, msgspec.json.decode),
            "plain, with json": lambda: json_rows(lines, json.loads),
            "json alone": lambda: drain(json.loads(line.rstrip(b",")) for line in lines.split(b"\n") if line),
        },
        rounds,
    )
    one = gzip.decompress((folder / "truthy-derived-10-entities.nt.gz").read_bytes())
    assert facts(rdf_rows(one)) == facts(WikidataRdf().parse(Piece("", 0, 1, one)))
    truthy = table(
        "The truthy dump",
        one,
        {
            "kgqa": lambda: WikidataRdf().parse(Piece("", 0, 1, one)),
            "kgqa, six properties": lambda: WikidataRdf(properties=SOME).parse(Piece("", 0, 1, one)),
            "plain, with pyoxigraph": lambda: rdf_rows(one),
            "pyoxigraph alone": lambda: drain(parse(one, RdfFormat.N_TRIPLES)),
        },
        rounds,
    )
    return Section(title=TITLE, tables=[dump, truthy])


def table(title: str, piece: bytes, competitors: dict[str, Callable[[], object]], rounds: int) -> Table:
    """MB of uncompressed text a second, where a file is the piece repeated."""

    def repeated(run: Callable[[], object]) -> Callable[[], None]:
        def all_copies() -> None:
            for _ in range(COPIES):
                run()

        return all_copies

    size = COPIES * len(piece) / 1e6
    seconds = in_turn({name: repeated(run) for name, run in competitors.items()}, rounds=rounds)
    rows = [
        (name, spread([size / second for second in found], 0), f"{statistics.median(ratios(found, seconds['kgqa'])):.2f}")
        for name, found in seconds.items()
    ]
    note = f"{size:.0f} MB in pieces of {len(piece) / 1e6:.1f} MB, {rounds} rounds, one core."
    return Table(title=title, columns=("", "MB a second", "time, kgqa's = 1"), rows=rows, notes=[note])


def drain(found: Iterable[object]) -> None:
    """Make everything and keep nothing."""
    deque(found, maxlen=0)


def parse_lines(parser: WikidataJson, data: bytes) -> Rows:
    return parser.parse(Piece("", 1, 1, data))


def sorted_rows(rows: Rows) -> dict[str, list[Any]]:
    return {name: sorted(map(repr, found)) for name, found in plain_rows(rows).items()}


def facts(rows: Rows) -> set[tuple[Any, ...]]:
    return set(plain_rows(rows)["facts"])


def json_rows(data: bytes, decode: Callable[[bytes], Any]) -> Rows:
    """The same rows as simply as one would write it."""
    rows = Rows()
    for line in data.split(b"\n"):
        if line:
            plain_item(decode(line.rstrip(b",")), rows)
    return rows


def plain_item(item: dict[str, Any], rows: Rows) -> None:
    id_, languages = item["id"], ("en", "mul")
    labels = [item["labels"][language]["value"] for language in languages if language in item["labels"]]
    descriptions = [item["descriptions"][language]["value"] for language in languages if language in item["descriptions"]]
    rows.entity(id_, labels[0] if labels else "", description=descriptions[0] if descriptions else "")
    for number, label in enumerate(labels):
        rows.name(id_, label, "alias" if number else "label")
    for language in languages:
        for alias in item["aliases"].get(language, ()):
            rows.name(id_, alias["value"])
    if "enwiki" in item["sitelinks"]:
        rows.page("enwiki", item["sitelinks"]["enwiki"]["title"], id_)
        rows.name(id_, item["sitelinks"]["enwiki"]["title"], "title")
    for property_, statements in item["claims"].items():
        best = "preferred" if any(statement["rank"] == "preferred" for statement in statements) else "normal"
        for statement in statements:
            if statement["rank"] != best:
                rows.skip(statement["rank"], id_)
            elif "datavalue" in statement["mainsnak"]:
                plain_value(id_, property_, statement["mainsnak"]["datavalue"], rows)


def plain_value(id_: str, property_: str, datavalue: dict[str, Any], rows: Rows) -> None:
    value = datavalue["value"]
    match datavalue["type"]:
        case "wikibase-entityid" if value["entity-type"] == "item":
            rows.fact(id_, property_, value["id"])
        case "time":
            text, precision = json_time(value["time"], value["precision"])
            calendar = CALENDARS[value["calendarmodel"].rpartition("/")[2]]
            rows.value(id_, property_, "time", text, precision=precision, calendar=calendar)
        case "quantity":
            unit = "" if value["unit"] == "1" else value["unit"].rpartition("/")[2]
            low, high = (value.get(name, "").lstrip("+") for name in ("lowerBound", "upperBound"))
            rows.value(id_, property_, "quantity", value["amount"].lstrip("+"), unit=unit, lower=low, upper=high)
        case "globecoordinate":
            globe = value["globe"].rpartition("/")[2]
            where = ",".join(str(float(value[name])).removesuffix(".0") for name in ("latitude", "longitude"))
            rows.value(id_, property_, "coordinate", where, unit="" if globe == "Q2" else globe)
        case _:
            rows.skip("other", id_)


def rdf_rows(data: bytes) -> Rows:
    """The rows of all triples in the order of the file."""
    rows = Rows()
    entity, direct = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
    labels: dict[str, dict[str, str]] = {}
    for subject, predicate, object_, _ in parse(data, RdfFormat.N_TRIPLES):
        assert isinstance(subject, NamedNode)
        if not subject.value.startswith(entity + "Q"):
            continue
        id_ = subject.value[len(entity) :]
        relation = predicate.value
        if isinstance(object_, NamedNode) and relation.startswith(direct) and object_.value.startswith(entity + "Q"):
            rows.fact(id_, relation[len(direct) :], object_.value[len(entity) :])
        elif isinstance(object_, Literal) and relation.startswith(direct):
            if object_.datatype.value.endswith("dateTime"):
                rows.value(id_, relation[len(direct) :], "time", rdf_time(object_.value)[0])
            elif object_.datatype.value.endswith("decimal"):
                rows.value(id_, relation[len(direct) :], "quantity", object_.value.lstrip("+"))
        elif isinstance(object_, Literal) and relation.endswith("#label") and object_.language in {"en", "mul"}:
            labels.setdefault(id_, {})[object_.language] = object_.value
        elif isinstance(object_, Literal) and relation.endswith("#altLabel") and object_.language in {"en", "mul"}:
            rows.name(id_, object_.value)
    for id_, found in labels.items():
        rows.entity(id_, found.get("en") or found["mul"])
        for label in found.values():
            rows.name(id_, label, "label")
    return rows


if __name__ == "__main__":
    print(main().plain())
