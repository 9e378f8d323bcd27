"""A disagreement as a script that anyone can run, without kgqa: the embedded engine needs ladybug and pyarrow, Neo4j its driver."""

from __future__ import annotations

from pprint import pformat
from string import Template

import pyarrow as pa

from kgqa.conformance.comparison import Disagreement
from kgqa.conformance.oracles.registry import edge_lists
from kgqa.store.graph import TABLES
from kgqa.store.queries import read_queries

_HEAD = '''"""$title

Run: python THIS_FILE ($needs). It prints what was found and what is expected, and ends with status 1 while they differ.
"""

$imports

QUERY = """
$query
"""
ARGUMENTS = $arguments
COLUMNS = $columns
ROWS = $rows
LISTS = $lists  # which columns are lists of edges, in any order and number of pieces
EXPECTED = $expected


def comparable(rows):
    if not any(LISTS):
        return [tuple(row) for row in rows]
    edges = []
    for row in rows:
        length = next(len(value) for value, is_list in zip(row, LISTS) if is_list)
        edges += zip(*(value if is_list else [value] * length for value, is_list in zip(row, LISTS)))
    return sorted(edges)

'''
_TAIL = """
print("found   ", found)
print("expected", EXPECTED)
sys.exit(found != EXPECTED)
"""
_EMBEDDED = """
SCHEMA = $schema
LOAD = $load
TYPES = $types

with tempfile.TemporaryDirectory() as folder:
    database = ladybug.Database(folder + "/graph.lbug")
    connection = ladybug.Connection(database)
    for statement in SCHEMA:
        connection.execute(statement)
    for table, rows in ROWS.items():
        if rows:
            arrays = [pa.array([row[at] for row in rows], kind) for at, kind in enumerate(TYPES[table])]
            connection.execute(LOAD[table], {"rows": pa.table(arrays, names=COLUMNS[table])})
    connection.close()
    database.close()
    database = ladybug.Database(folder + "/graph.lbug", read_only=True)
    connection = ladybug.Connection(database)
    try:
        answer = connection.execute(QUERY, ARGUMENTS).get_as_arrow(-1)
        found = comparable(zip(*(column.to_pylist() for column in answer.columns)))
    except RuntimeError as error:
        found = str(error)
    connection.close()
    database.close()
print("ladybug", ladybug.__version__)
"""
_NEO4J = '''
LOAD = $load
COUNT = """$count"""
END = """$end"""

address = os.environ.get("NEO4J_URI", "bolt://localhost:7687")
user = (os.environ.get("NEO4J_USERNAME", "neo4j"), os.environ.get("NEO4J_PASSWORD", ""))
with neo4j.GraphDatabase.driver(address, auth=user) as driver:
    def run(text, **arguments):
        return driver.execute_query(text, arguments, database_=os.environ.get("NEO4J_DATABASE"))

    if run(COUNT).records[0]["nodes"]:
        sys.exit("the database is not empty; this script writes only into an empty one")
    try:
        for table, rows in ROWS.items():
            run(LOAD[table], rows=[list(row) for row in rows])
        try:
            found = comparable(record.values() for record in run(QUERY, **ARGUMENTS).records)
        except neo4j.exceptions.Neo4jError as error:
            found = str(error)
    finally:
        run(END)
    print(driver.get_server_info().agent)
'''


TYPES = {pa.int64(): "int64", pa.bool_(): "bool_"}
"""Arrow's names for them; all others are texts."""


def replay_script(store: str, version: str, disagreement: Disagreement) -> str:
    """The text of the script for a disagreement of ``store``, ``embedded`` or ``neo4j``."""
    queries = read_queries()
    embedded = store == "embedded"
    engine = f"ladybug {version}" if embedded else f"Neo4j {version}"
    tables = disagreement.graph.arrow()
    prefix = "load" if embedded else "replay"
    values = {
        "title": f"{engine} answers the query {disagreement.query.name} wrongly on a graph of {len(disagreement.graph)} rows.",
        "needs": f"needs ladybug=={version} and pyarrow"
        if embedded
        else "needs the driver neo4j, an empty database, and NEO4J_* variables",
        "imports": "import sys\nimport tempfile\n\nimport ladybug\nimport pyarrow as pa"
        if embedded
        else "import os\nimport sys\n\nimport neo4j",
        "query": disagreement.query.text.replace("\\", "\\\\"),
        "arguments": _literal(disagreement.arguments),
        "columns": _literal({name: table.column_names for name, table in tables.items()}),
        "rows": _literal({name: [tuple(row.values()) for row in table.to_pylist()] for name, table in tables.items()}),
        "lists": _literal(edge_lists(disagreement.query)),
        "expected": _literal(disagreement.expected),
        "schema": _literal([queries[f"schema_{name}"].text for name in TABLES]),
        "load": _literal({name: queries[f"{prefix}_{name}"].text for name in TABLES}),
        "types": "{" + ", ".join(f"{name!r}: [{', '.join(map(_arrow_type, table.schema.types))}]" for name, table in tables.items()) + "}",
        "count": queries["count_nodes"].text,
        "end": queries["replay_end"].text,
    }
    return Template(_HEAD + (_EMBEDDED if embedded else _NEO4J) + _TAIL).substitute(values)


def _arrow_type(kind: pa.DataType) -> str:
    if pa.types.is_list(kind):
        return f"pa.list_({_arrow_type(kind.value_type)})"
    return f"pa.{TYPES.get(kind, 'string')}()"


def _literal(value: object) -> str:
    return pformat(value, width=120, sort_dicts=False)
