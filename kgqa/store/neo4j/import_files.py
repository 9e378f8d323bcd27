"""Files for ``neo4j-admin database import full``: a header and the rows of every label and relationship type, and how to load them.

The importer reads plain bytes far faster than a server takes transactions, but has its own dialect of CSV. A quoted empty value is an empty
text, and a bare one is null. Quotation marks are doubled, and a backslash is an ordinary character. A text may only span several lines if
an option allows it. All values are quoted here, so that each text is imported unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from kgqa.progress import Advance

NODES = {
    "entity": ("Entity", "id:ID(Entity),row:long,kind,label,description,aliases:string[],common:long,documents:long,facts:long,search"),
    "document": ("Document", "id:ID(Document),row:long,title,text,usable:boolean,search"),
    "relation": ("Relation", "row:ID(Relation){id-type:long},id,label,facts:long,answers:long,no_article:long,stated:long,search"),
    "sample": ("Sample", "key:ID(Sample),id,dataset,split,row:long,question,relation,answer,hops:long,grade:double,relation_label"),
    "chain": ("Chain", "key:ID(Chain),row:long,dataset,sample,candidate,number:long,correct:boolean,grade:double,length:long"),
    "subquestion": ("SubQuestion", "key:ID(SubQuestion),row:long,dataset,sample,number:long,id,question,answer,relation"),
    "blocked": (
        "Rejected",
        "key:ID(Rejected),id,dataset,row:long,split,stage,reason,detail,question,relation,subject,answer,setting,value:double,threshold:double,filter,place:long",
    ),
    "filter": ("Filter", "key:ID(Filter),row:long,dataset,stage,reason,setting,questions:long"),
}
"""Table → label and header. An id is looked up among the nodes of its label."""
RELATIONSHIPS = {
    "fact": ("FACT", ":START_ID(Entity),:END_ID(Entity),row:long,relation,label"),
    "mentions": ("MENTIONS", ":START_ID(Document),:END_ID(Entity),count:long,start:long,stop:long"),
    "about": ("ABOUT", ":START_ID(Entity),:END_ID(Document)"),
    "sample_about": ("ASKS_ABOUT", ":START_ID(Sample),:END_ID(Entity)"),
    "sample_answer": ("ANSWER", ":START_ID(Sample),:END_ID(Entity)"),
    "candidate": ("CANDIDATE", ":START_ID(Sample),:END_ID(Entity),position:long,correct:boolean,grade:double,path,text"),
    "support": ("SUPPORT", ":START_ID(Sample),:END_ID(Document),position:long"),
    "has_chain": ("HAS_CHAIN", ":START_ID(Sample),:END_ID(Chain)"),
    "step_entity": ("STEP", ":START_ID(Chain),:END_ID(Entity),position:long,role"),
    "step_document": ("STEP", ":START_ID(Chain),:END_ID(Document),position:long,role"),
    "has_subquestion": ("HAS_SUBQUESTION", ":START_ID(Sample),:END_ID(SubQuestion)"),
    "supported_by": ("SUPPORTED_BY", ":START_ID(SubQuestion),:END_ID(Document)"),
    "subquestion_answer": ("ANSWER", ":START_ID(SubQuestion),:END_ID(Entity)"),
    "sample_relation": ("OF_RELATION", ":START_ID(Sample),:END_ID(Relation)"),
    "subquestion_relation": ("OF_RELATION", ":START_ID(SubQuestion),:END_ID(Relation)"),
    "rejected_by": ("REJECTED_BY", ":START_ID(Rejected),:END_ID(Filter)"),
    "depends_on": ("DEPENDS_ON", ":START_ID(SubQuestion),:END_ID(SubQuestion)"),
    "blocked_about": ("ASKS_ABOUT", ":START_ID(Rejected),:END_ID(Entity)"),
    "blocked_answer": ("ANSWER", ":START_ID(Rejected),:END_ID(Entity)"),
}
MARKER = "KgqaGraph"
README = "README.txt"
BATCH_ROWS = 10_000
BUFFER = 4 << 20
"""Default size of the importer's read buffer in characters. The longest value must fit."""
DELIMITERS = ("\x1f", "\x1e", "\x1d", "\x1c", *map(chr, range(0xE000, 0xE100)))
"""Candidates for the delimiter of lists; the first one that no text contains is used."""
KINDS = {bool: ":boolean", int: ":long", str: ""}


def write(
    folder: Path,
    rows: Mapping[str, pa.Table],
    *,
    markers: Sequence[Mapping[str, str | int | bool]],
    advance: Advance = lambda _: None,
) -> None:
    """Write header and data files of all ``rows`` and of the nodes ``markers`` into the new ``folder``, and how to import them."""
    folder.mkdir()
    groups = []
    delimiter = _delimiter(rows)
    rows = {name: _joined(table, delimiter) for name, table in rows.items()}
    for number, marker in enumerate(markers):
        name = f"marker-{number}" if number else "marker"
        _header(folder, name, ",".join(f"{key}{KINDS[type(value)]}" for key, value in marker.items()))
        _data(folder, name, pa.table({key: [value] for key, value in marker.items()}))
        groups.append(f"--nodes={MARKER}={{0}}{name}-header.csv,{{0}}{name}.csv")
    for option, tables in (("nodes", NODES), ("relationships", RELATIONSHIPS)):
        for name, (label, header) in tables.items():
            # Empty tables need no file.
            if name in rows and rows[name].num_rows:
                _header(folder, name, header)
                _data(folder, name, rows[name], advance)
                groups.append(f"--{option}={label}={{0}}{name}-header.csv,{{0}}{name}.csv")
    (folder / README).write_text(_instructions(groups, [f"--array-delimiter=U+{ord(delimiter):04X}", *_options(rows)], markers), "utf-8")


def _delimiter(rows: Mapping[str, pa.Table]) -> str:
    """A character that no text of a list holds."""
    texts = [column for table in rows.values() for column in table.columns if pa.types.is_list(column.type)]
    characters = "".join(set().union(*(set("".join(pc.list_flatten(column).unique().to_pylist())) for column in texts)))
    return next(character for character in DELIMITERS if character not in characters)


def _joined(table: pa.Table, delimiter: str) -> pa.Table:
    """``table`` with each list of texts as one text; CSV has no lists."""
    for at, field in enumerate(table.schema):
        if pa.types.is_list(field.type):
            table = table.set_column(at, field.name, pc.binary_join(table[field.name], delimiter))
    return table


def _options(rows: Mapping[str, pa.Table]) -> list[str]:
    """Options that these texts need. Needless options would only make the import slower."""
    texts = [column for table in rows.values() for column in table.columns if pa.types.is_string(column.type)]
    options = []
    if any(pc.any(pc.match_substring_regex(column, "[\r\n]")).as_py() for column in texts):
        options.append("--multiline-fields=true")
    longest = max((pc.max(pc.binary_length(column)).as_py() or 0 for column in texts), default=0)
    if 4 * longest > BUFFER:
        options.append(f"--read-buffer-size={4 * longest}")
    return options


def _header(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}-header.csv").write_text(f"{text}\n", "utf-8")


def _data(folder: Path, name: str, table: pa.Table, advance: Advance = lambda _: None) -> None:
    options = csv.WriteOptions(include_header=False, quoting_style="all_valid", batch_size=BATCH_ROWS)
    with (folder / f"{name}.csv").open("wb") as file, csv.CSVWriter(file, table.schema, write_options=options) as writer:
        for batch in table.to_batches(max_chunksize=BATCH_ROWS):
            writer.write_batch(batch)
            advance(batch.num_rows)


def import_arguments(folder: Path) -> list[str]:
    """The arguments of ``neo4j-admin`` that import the files in ``folder``, if it runs in that folder."""
    lines = (folder / README).read_text("utf-8").splitlines()
    begin = next(number for number, line in enumerate(lines) if line.strip().startswith("neo4j-admin "))
    command = []
    for line in lines[begin:]:
        command += line.removesuffix("\\").split()
        if not line.endswith("\\"):
            break
    return command[1:]


def _instructions(groups: list[str], options: list[str], markers: Sequence[Mapping[str, str | int | bool]]) -> str:
    local_parts = ["neo4j-admin database import full neo4j", *(group.format("./") for group in groups), *options]
    mounted = [
        'docker compose run --rm --volume "THIS FOLDER:/kgqa:ro" neo4j',
        "neo4j-admin database import full neo4j --report-file=/data/import.report",
        *(group.format("/kgqa/") for group in groups),
        *options,
    ]
    command, docker = (" \\\n        ".join(parts) for parts in (local_parts, mounted))
    return INSTRUCTIONS.format(command=command, docker=docker, markers="\n".join(json.dumps(dict(marker), indent=1) for marker in markers))


INSTRUCTIONS = """\
A graph of kgqa as files for neo4j-admin, to load millions of rows into a new database of Neo4j 5 or later.

1. Stop the server.

2. In this folder, with NEO4J_HOME set if need be, run

    {command}

   It refuses a database that is there already. The database of a server that was started before is there, even if nothing is in it.
   Add --overwrite-destination only if all that it holds may go: it is deleted.

   With the docker-compose.yml of kgqa, after "docker compose stop", run where that file is, with the full path of this folder:

    {docker}

3. Start the server, and run

    kgqa load --store neo4j --workspace WORKSPACE

   It recognises the graph, and adds the constraints and indexes by which things are looked up. With --dataset NAME (and --rejected) it
   also recognises the samples (and rejected questions) that are in these files, and adds those that are not.

The database then also holds these nodes, by which kgqa knows what the graph was made from:

{markers}
"""
