"""Labels for the ids of a dataset: from its samples, and from the tables of its workspace if it lies in one."""

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
    """The workspace that ``dataset`` lies in, or None; raises WorkspaceError if its tables are damaged."""
    folder = Path(os.path.realpath(dataset))
    place = Workspace(folder.parent.parent)
    if folder.parent.name != "datasets" or not place.has_record("read_sources"):
        return None
    with storage_errors(place.path):
        if place.finished("read_sources") is None:
            raise WorkspaceError(
                f"{place.tables}: a table is damaged, so labels and relations cannot be shown; run kgqa generate again in this workspace "
                "to rebuild it, or move the dataset elsewhere."
            )
    return place


def names_in(instance: Instance) -> dict[str, str]:
    """Entity → its name in the instance: the text of the candidate, or its most frequent spelling in the documents."""
    spellings: dict[str, Counter[str]] = {}
    for paragraph in instance.paragraphs:
        for mention in paragraph.mentions or ():
            spellings.setdefault(mention.entity, Counter())[paragraph.text[mention.start : mention.end]] += 1
    # Among equally frequent spellings, the longest is the most specific.
    names = {entity: max(texts, key=lambda text: (texts[text], len(text), text)) for entity, texts in spellings.items()}
    names |= {candidate.id: candidate.text for candidate in instance.candidates or ()}
    return {entity: name for entity, name in names.items() if name != entity}


def labels(place: Workspace, table: str, ids: Iterable[str]) -> dict[str, str]:
    """Id → label for the rows of ``table`` with these ``ids``; ids that are their own label are left out."""
    rows = pq.read_table(place.tables / f"{table}.parquet", columns=["id", "label"], filters=pc.field("id").isin(_texts(ids)))
    return {row["id"]: row["label"] for row in rows.to_pylist() if row["label"] != row["id"]}


def relations_among(place: Workspace, entities: set[str]) -> dict[Pair, tuple[str, ...]]:
    """Pair of entities → the labels of the facts from the first to the second; symmetric facts count in both directions."""
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
    """``ids`` as an array of strings; the type is explicit because an empty list has none."""
    return pa.array(sorted(ids), pa.string())
