"""Names for the ids of a dataset: from its samples, and from the tables of its workspace, if it is in one."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kgqa.errors import WorkspaceError, storage_errors
from kgqa.records import Instance
from kgqa.runs.workspace import Workspace

Pair = tuple[str, str]


def workspace_of(dataset: Path) -> Workspace | None:
    """The workspace of ``dataset``, if it is in one; raises WorkspaceError if its tables are damaged."""
    folder = Path(os.path.realpath(dataset))
    place = Workspace(folder.parent.parent)
    if folder.parent.name != "datasets" or not place.has_record("read_sources"):
        return None
    with storage_errors(place.path):
        if place.finished("read_sources") is None:
            raise WorkspaceError(
                f"{place.tables}: a table is not as it was written, so names and relations cannot be shown; run kgqa generate again in "
                "this workspace, which rebuilds it, or move the dataset elsewhere."
            )
    return place


def names_in(instance: Instance) -> dict[str, str]:
    """Entity → what the instance itself calls it: a candidate's text, or how the documents write it most often."""
    spellings: dict[str, Counter[str]] = {}
    for paragraph in instance.paragraphs:
        for mention in paragraph.mentions or ():
            spellings.setdefault(mention.entity, Counter())[paragraph.text[mention.start : mention.end]] += 1
    # Of names that are written equally often, the longest says most.
    names = {entity: max(texts, key=lambda text: (texts[text], len(text), text)) for entity, texts in spellings.items()}
    names |= {candidate.id: candidate.text for candidate in instance.candidates or ()}
    return {entity: name for entity, name in names.items() if name != entity}


def labels(place: Workspace, table: str, ids: Iterable[str]) -> dict[str, str]:
    """Id → label, of the rows of ``table`` with these ``ids``; an entity whose label is its id has no name."""
    rows = pq.read_table(place.tables / f"{table}.parquet", columns=["id", "label"], filters=pc.field("id").isin(_texts(ids)))
    return {row["id"]: row["label"] for row in rows.to_pylist() if row["label"] != row["id"]}


def relations_among(place: Workspace, entities: set[str]) -> dict[Pair, tuple[str, ...]]:
    """Two entities → the labels of the facts that lead from the one to the other; symmetric ones both ways."""
    among = _texts(entities)
    inside = pc.field("head").isin(among) & pc.field("tail").isin(among)
    facts = pq.read_table(place.tables / "facts.parquet", columns=["head", "relation", "tail"], filters=inside).to_pylist()
    relations = {row["id"]: row for row in pq.read_table(place.tables / "relations.parquet").to_pylist()}
    relation_labels: dict[Pair, list[str]] = {}
    for fact in facts:
        relation = relations[fact["relation"]]
        for pair in [(fact["head"], fact["tail"]), *([(fact["tail"], fact["head"])] if relation["symmetric"] else [])]:
            relation_labels.setdefault(pair, []).append(relation["label"])
    return {pair: tuple(dict.fromkeys(texts)) for pair, texts in relation_labels.items()}


def _texts(ids: Iterable[str]) -> pa.Array:
    """``ids`` with their type, which a list without elements does not have."""
    return pa.array(sorted(ids), pa.string())
