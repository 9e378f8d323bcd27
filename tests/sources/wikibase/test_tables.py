"""The forms of the same entities end in the same tables."""

from __future__ import annotations

import json
from pathlib import Path
from xml.sax.saxutils import escape

import pyarrow.parquet as pq
from pyoxigraph import RdfFormat, parse, serialize

from kgqa.arrays.parallel import Threads
from kgqa.progress import Silent
from kgqa.runs.importing import Origin, run_import
from kgqa.sources.formats import Parser
from kgqa.sources.imported import TABLES
from kgqa.sources.wikibase.dump import WikidataJson
from kgqa.sources.wikibase.pages import WikidataXml
from kgqa.sources.wikibase.rdf import WikidataRdf
from tests.sources.wikibase.entities import aliases, dump, entity, place, statement, terms, thing

LABEL = terms(en="Ilm", mul="ILM")
ENTITIES = [
    entity(
        "Q10",
        thing("P31", "Q20"),
        place("P625", 50.5, 11.25),
        statement("P281", "string", "99423", datatype="string"),
        labels=LABEL,
        aliases=aliases(en=["River Ilm"]),
        descriptions=terms(en="a river"),
        sitelinks={"enwiki": {"site": "enwiki", "title": "Ilm (river)", "badges": []}},
    ),
    entity("Q20", labels=terms(en="river")),
    entity("P31", labels=terms(en="instance of")),
]
TURTLE = """
@prefix wd: <http://www.wikidata.org/entity/> . @prefix wdt: <http://www.wikidata.org/prop/direct/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix schema: <http://schema.org/> .
wd:Q10 rdfs:label "Ilm"@en , "ILM"@mul ; skos:altLabel "River Ilm"@en ; schema:description "a river"@en ; wdt:P31 wd:Q20 ;
  wdt:P281 "99423" ; wdt:P625 "Point(11.25 50.5)"^^<http://www.opengis.net/ont/geosparql#wktLiteral> .
<https://en.wikipedia.org/wiki/Ilm_(river)> schema:about wd:Q10 ; schema:name "Ilm (river)"@en .
wd:Q20 rdfs:label "river"@en . wd:P31 rdfs:label "instance of"@en .
"""


def test_all_forms_of_some_entities_end_in_the_same_tables(tmp_path: Path) -> None:
    triples = serialize(parse(TURTLE, RdfFormat.TURTLE), format=RdfFormat.N_TRIPLES)
    pages = "".join(
        f"<page><title>{found['id']}</title><revision><model>wikibase-{found['type']}</model><text>{escape(json.dumps(found))}</text></revision></page>"
        for found in ENTITIES
    )
    forms: list[tuple[str, bytes, Parser]] = [
        ("dump.json", dump(*ENTITIES), WikidataJson(texts=True)),
        ("data.json", json.dumps({"entities": {found["id"]: found for found in ENTITIES}}, indent=2).encode(), WikidataJson(texts=True)),
        ("truthy.nt", triples or b"", WikidataRdf(texts=True)),
        ("data.ttl", TURTLE.encode(), WikidataRdf(texts=True)),
        ("pages.xml", f"<mediawiki>{pages}</mediawiki>".encode(), WikidataXml(texts=True)),
    ]
    tables = []
    for name, data, parser in forms:
        (tmp_path / name).write_bytes(data)
        out = tmp_path / f"{name} tables"
        origin = Origin(format="wikidata", licence="cc0-1.0", attribution="")
        made = run_import(parser, [tmp_path / name], out, origin, engine=Threads(1), partial=False, progress=Silent())
        assert not made.skipped
        tables.append({table: pq.read_table(out / f"{table}.parquet").to_pylist() for table in (*TABLES, "values")})
    assert all(found == tables[0] for found in tables)
    assert tables[0]["facts"] == [{"head": "Q10", "relation": "P31", "tail": "Q20"}]
    assert {row["name"] for row in tables[0]["names"]} == {"Ilm", "ILM", "River Ilm", "Ilm (river)", "river"}
