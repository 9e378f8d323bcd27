"""A folder that ``kgqa import`` wrote: seven tables as Parquet, and ``import.json``, which says what they were made from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.errors import BrokenInput
from kgqa.progress import Advance
from kgqa.settings.source import NAME_SOURCES
from kgqa.sources.delimited import find_file
from kgqa.sources.tables import NO_DROPS, SourceTables, clean_documents, clean_facts, clean_names, finished, frame

MANIFEST, PARTS = "import.json", ".parts"
VERSION = 1
"""Of the parts and the manifest; those of another version are made again."""
TABLES = ("entities", "names", "relations", "facts", "documents", "mentions", "values")
FILES = (*(f"{name}.parquet" for name in TABLES), MANIFEST)
NAMES = list(NAME_SOURCES["import"])


def read(folder: Path, *, advance: Advance = lambda _: None) -> SourceTables:
    """Read the seven tables. Memory: all of them, about twice the plain text."""
    tables = {name: _table(folder, name, advance).with_row_index("line", offset=1) for name in TABLES}
    advance(find_file(folder, MANIFEST).stat().st_size)
    entities, relations = tables["entities"], tables["relations"]
    documents, drops = clean_documents(tables["documents"], entities, "documents.parquet")
    facts, fact_drops = clean_facts(tables["facts"], entities["id"], entities["id"], relations, "facts.parquet")
    names, name_drops = clean_names(tables["names"], NAMES, "names.parquet")
    return finished(
        entities=entities,
        names=names,
        relations=relations,
        facts=facts,
        documents=documents,
        annotations=tables["mentions"],
        values=tables["values"].join(entities.select(head="id"), on="head", how="semi"),
        drops=[NO_DROPS, *drops, *fact_drops, *name_drops],
    )


def _table(folder: Path, name: str, advance: Advance) -> pl.DataFrame:
    path = find_file(folder, f"{name}.parquet")
    try:
        table = pq.read_table(path)
    except (pa.ArrowInvalid, OSError) as error:
        raise BrokenInput(
            f"{path}: this is not a Parquet file that can be read ({str(error).splitlines()[0]}); import the files again."
        ) from None
    advance(path.stat().st_size)
    return frame(table)


def read_manifest(folder: Path) -> dict[str, Any] | None:
    """What ``import.json`` says; None where the folder holds no import. BrokenInput where the import was not finished or is damaged."""
    try:
        if not (folder / PARTS).is_dir() and not (folder / MANIFEST).is_file():
            return None
    except OSError:  # no folder has such a name; whoever reads the files says so
        return None
    try:
        manifest: dict[str, Any] = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))
        if manifest["version"] != VERSION:
            raise BrokenInput(f"{folder}: another version of kgqa imported this; import the files again into another folder.")
    except FileNotFoundError:
        raise BrokenInput(f"{folder}: the import was not finished; run the same `kgqa import` again.") from None
    except (ValueError, KeyError, TypeError):
        raise BrokenInput(f"{folder / MANIFEST}: the manifest is damaged; import the files again.") from None
    return manifest
