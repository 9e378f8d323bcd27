"""The tables of a workspace as arrays of row numbers, for the stages of the recipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.rows import Adjacency, IntArray, paired, row_bounds
from kgqa.errors import UnknownId
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.sources.tables import frame


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Facts as row numbers, ordered by (head, relation, tail)."""

    head: IntArray
    relation: IntArray
    tail: IntArray
    turned: bool = False
    """Whether facts of symmetric relations are included in both directions."""

    def offsets(self, entities: int) -> npt.NDArray[np.int64]:
        """The bounds of the facts of each head (entities + 1)."""
        return row_bounds(self.head, entities)


def row_numbers(values: pa.ChunkedArray | pa.Array, ids: pa.ChunkedArray) -> IntArray:
    """The row of each value in ``ids``, which must contain all of them.

    >>> row_numbers(pa.chunked_array([["b", "a", "b"]]), pa.chunked_array([["a", "b"]])).tolist()
    [1, 0, 1]
    """
    if pa.types.is_dictionary(values.type):
        parts = values.unify_dictionaries().chunks
        dictionary_rows = row_numbers(parts[0].dictionary, ids) if parts else np.zeros(0, np.int32)
        return np.concatenate([np.zeros(0, np.int32), *(dictionary_rows[part.indices.to_numpy()] for part in parts)])
    rows = pc.index_in(values, ids)
    assert rows.null_count == 0
    return (rows.combine_chunks() if isinstance(rows, pa.ChunkedArray) else rows).to_numpy()


def possible_candidates(tables: Mapping[str, pa.Table], settings: QangarooSettings) -> npt.NDArray[np.bool_]:
    """For each row of ``entities`` whether it can be a candidate of some question."""
    if settings.endpoint_kind:
        return np.asarray(pc.equal(tables["entities"]["kind"], settings.endpoint_kind))
    mask = np.zeros(tables["entities"].num_rows, np.bool_)
    mask[asked_facts(tables, settings).tail] = True
    return mask


def asked_facts(tables: Mapping[str, pa.Table], settings: QangarooSettings) -> Facts:
    """The facts that become questions; raises UnknownId if the settings name a relation that is not in the tables."""
    return _facts(tables, settings, both_directions=settings.both_directions)


def true_facts(tables: Mapping[str, pa.Table], settings: QangarooSettings) -> Facts:
    """All true facts of the relations of questions, in both directions if symmetric: a true object must not become a wrong candidate."""
    return _facts(tables, settings, both_directions=True)


def _facts(tables: Mapping[str, pa.Table], settings: QangarooSettings, *, both_directions: bool) -> Facts:
    """The facts of the relations in the settings (none: of all); with ``both_directions``, symmetric ones also from tail to head."""
    relations = frame(tables["relations"]).with_row_index("row")
    for relation in settings.relations:
        if relation not in relations["id"]:
            first_ids = ", ".join(relations["id"].head(20).to_list())
            raise UnknownId(f"qangaroo.relations: the relation {relation!r} is not in the relation table, which begins with {first_ids}.")
    facts = frame(tables["facts"])
    if settings.relations:
        facts = facts.filter(pl.col("relation").is_in(settings.relations))
    fact_count = len(facts)
    if both_directions:
        symmetric = relations.filter("symmetric")["id"]
        inverse_facts = facts.filter(pl.col("relation").is_in(symmetric.implode())).select(head="tail", relation="relation", tail="head")
        facts = pl.concat([facts, inverse_facts])
    entities = tables["entities"]["id"]
    head, tail = (row_numbers(facts[name].to_arrow().cast(pa.string()), entities) for name in ("head", "tail"))
    relation_row = row_numbers(facts["relation"].to_arrow().cast(pa.string()), tables["relations"]["id"])
    order = np.lexsort((tail, relation_row, head))
    return Facts(head=head[order], relation=relation_row[order], tail=tail[order], turned=len(facts) > fact_count)


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Places of entities in texts, ordered by document and start: those of document d are ``offsets[d]:offsets[d + 1]``."""

    offsets: npt.NDArray[np.int64]
    entity: IntArray
    start: IntArray
    """In characters; so is ``end``."""
    end: IntArray


def places(table: pa.Table, tables: Mapping[str, pa.Table]) -> Places:
    """The rows of a mentions or occurrences table, which is sorted by document and start."""
    document = row_numbers(table["document"], tables["documents"]["id"])
    return Places(
        offsets=row_bounds(document, tables["documents"].num_rows),
        entity=row_numbers(table["entity"], tables["entities"]["id"]),
        start=table["start"].combine_chunks().to_numpy(),
        end=table["end"].combine_chunks().to_numpy(),
    )


def stated(table: pa.Table, tables: Mapping[str, pa.Table]) -> Adjacency:
    """Document → the entities in its text, from the pairs of an occurrences or links table."""
    document = row_numbers(table["document"], tables["documents"]["id"])
    entity = row_numbers(table["entity"], tables["entities"]["id"])
    return Adjacency.from_pairs(document, entity, tables["documents"].num_rows)


def article_of(tables: Mapping[str, pa.Table]) -> IntArray:
    """Entity → row of the document about it, or -1."""
    articles = np.full(tables["entities"].num_rows, -1, np.int32)
    about = tables["documents"]["about"]
    documents = np.flatnonzero(np.asarray(pc.is_valid(about)))
    if len(documents):
        articles[row_numbers(about.take(pa.array(documents)), tables["entities"]["id"])] = documents
    return articles


def subject_of(tables: Mapping[str, pa.Table]) -> IntArray:
    """Document → row of the entity that it is about, or -1."""
    subjects, articles = np.full(tables["documents"].num_rows, -1, np.int32), article_of(tables)
    subjects[articles[articles >= 0]] = np.flatnonzero(articles >= 0)
    return subjects


def first_mentions(mentions: Places) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The pairs of a document and an entity in it, as numbers (:func:`paired`), ascending; and the index of the first mention of each."""
    document = np.repeat(np.arange(len(mentions.offsets) - 1), np.diff(mentions.offsets))
    # Mentions are ordered by start within a document, so the first of equal pairs is the first mention.
    return np.unique(paired(document, mentions.entity), return_index=True)


def expression_numbers(entities: pa.Table, surface: str) -> IntArray:
    """A number for the text that a candidate list shows for each entity: its label, or its id if ``surface`` is "id".

    Numbers ascend with the lower-cased texts, and equal texts have equal numbers.
    """
    if surface == "id":
        return np.arange(entities.num_rows, dtype=np.int32)
    rank = frame(entities).select(pl.col("label").str.to_lowercase().rank("dense"))
    return rank.to_series().cast(pl.Int32).to_numpy()
