"""Load finished samples into the Neo4j database of their graph, so that users can browse from a question to its chain.

::

    (:Sample {key, id, dataset, split, row, question, relation, relation_label, answer, hops, grade})
        -[:OF_RELATION]->                                      (:Relation)
        -[:ASKS_ABOUT]->                                       (:Entity)    the subject
        -[:ANSWER]->                                           (:Entity)
        -[:CANDIDATE {position, answer, grade, path, text}]->  (:Entity)    in the order shown
        -[:SUPPORT {position}]->                               (:Document)  in the order shown
        -[:HAS_CHAIN]-> (:Chain {key, row, dataset, sample, candidate, number, answer, grade, length})
                            -[:STEP {position, role}]->        (:Entity | :Document)
        -[:HAS_SUBQUESTION]-> (:SubQuestion {key, row, dataset, sample, number, id, question, answer, relation})
                                  -[:SUPPORTED_BY]->           (:Document)
                                  -[:ANSWER]->                 (:Entity)
                                  -[:OF_RELATION]->            (:Relation)
                                  -[:DEPENDS_ON]->             (:SubQuestion)
    (:Rejected {key, id, dataset, row, split, stage, reason, detail, question, relation, subject, answer, setting, value, threshold,
                 filter, place})
        -[:ASKS_ABOUT]-> (:Entity), -[:ANSWER]-> (:Entity), -[:REJECTED_BY]-> (:Filter)
    (:Filter {key, row, dataset, stage, reason, setting, questions})

The rows are those of :mod:`kgqa.store.samples`; nodes have no property for a null. The samples and the rejected questions of a dataset have
one marker each, like the graph (:mod:`kgqa.store.neo4j.graph`). One transaction writes a batch and the marker's new count, so that an
interrupted load resumes where it stopped.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.errors import StoreConflict, StoreError
from kgqa.progress import Advance
from kgqa.store.neo4j.batches import ahead, distinct_ids, listed
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.neo4j.layouts import ON_SAMPLES
from kgqa.store.queries import read_queries

BATCH_ROWS = 20_000
"""In one transaction; fewer are no faster here."""
ERASE_NODES = {"samples": 50, "rejected": 5_000}
"""In one transaction; a sample of MedHop has 400 steps."""


PLURALS = {"entity": "entities", "document": "documents", "relation": "relations", "filter": "filters"}
"""Table of nodes that relationships of a part lead to → the parameter with their ids."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """Nodes of one kind, the nodes below them, and their relationships to the graph."""

    name: str
    """Name of the part: ``samples`` or ``rejected``."""
    noun: str
    """Name of the part in a sentence."""
    nodes: str
    """The table whose rows are counted."""
    under: Mapping[str, str]
    """Table of nodes that hang on them → the table of relationships that says on which."""
    beside: str
    """A small table of nodes that goes in with the first batch, if there is one."""
    links: Mapping[str, tuple[str, str]]
    """Table of relationships → the tables of nodes at its two ends."""
    add: str
    erase: str
    """Names of the queries that add and erase the part."""


SAMPLES = Part(
    name="samples",
    noun="samples",
    nodes="sample",
    under={"chain": "has_chain", "subquestion": "has_subquestion"},
    beside="",
    links={
        "sample_about": ("sample", "entity"),
        "sample_answer": ("sample", "entity"),
        "candidate": ("sample", "entity"),
        "support": ("sample", "document"),
        "step_entity": ("chain", "entity"),
        "step_document": ("chain", "document"),
        "supported_by": ("subquestion", "document"),
        "subquestion_answer": ("subquestion", "entity"),
        "sample_relation": ("sample", "relation"),
        "subquestion_relation": ("subquestion", "relation"),
        "depends_on": ("subquestion", "subquestion"),
    },
    add="add_samples",
    erase="erase_samples",
)
REJECTED = Part(
    name="rejected",
    noun="rejected questions",
    nodes="blocked",
    under={},
    beside="filter",
    links={"blocked_about": ("blocked", "entity"), "blocked_answer": ("blocked", "entity"), "rejected_by": ("blocked", "filter")},
    add="add_rejected",
    erase="erase_rejected",
)
PARTS = (SAMPLES, REJECTED)


def parts_of(rows: Mapping[str, pa.Table]) -> tuple[Part, ...]:
    """The parts whose rows are there."""
    return tuple(part for part in PARTS if part.nodes in rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class PartMarker:
    """The marker of the samples, or the rejected questions, of one dataset."""

    dataset: str
    part: str
    content: str
    """Hash of the dataset."""
    loader: str
    finished: bool
    rows: int
    """Number of loaded samples or questions."""


def part_markers(store: Neo4jStore) -> dict[tuple[str, str], PartMarker]:
    """All markers in the database, by dataset and part."""
    rows = store.run(read_queries()["sample_markers"]).to_pylist()
    return {(row["dataset"], row["part"]): PartMarker(**row) for row in rows}


def add_part(
    store: Neo4jStore, part: Part, rows: Mapping[str, pa.Table], *, tables: str, dataset: str, content: str,
    advance: Advance = lambda _: None,
) -> bool:  # fmt: skip
    """Load the ``rows`` of ``dataset``, or resume an earlier load. Returns whether anything was written.

    ``tables`` is the hash of the tables of the graph, ``content`` that of the dataset. Raises StoreConflict if the database holds another
    dataset of this name, or if another run takes over.
    """
    queries = read_queries()
    # Check first: later, foreign nodes could not be distinguished from kgqa's.
    check_only_ours(store)
    marker, loader = part_markers(store).get((dataset, part.name)), uuid.uuid4().hex
    key = _marker_id(part, dataset)
    if marker is not None and marker.content != content:
        raise StoreConflict(
            f"{store.settings.place}: the database has other samples of {dataset}; replace them with kgqa load --store neo4j "
            f"--dataset {dataset} --replace."
        )
    if marker is not None and marker.finished:
        return False
    if marker is None:
        claim = {"marker": key, "dataset": dataset, "part": part.name, "content": content, "loader": loader}
        try:
            store.write(queries["claim_samples"], claim)
        except StoreError:
            # Another loader was faster: the constraint allows only one marker of this name.
            _take_over(store, part, dataset, content, loader)
    else:
        _take_over(store, part, dataset, content, loader)
    loaded_count = part_markers(store)[dataset, part.name].rows
    advance(loaded_count)
    for until, batch in ahead(_Cutter(part, rows).batches(loaded_count)):
        arguments = {"marker": key, "tables": tables, "loader": loader, "from": loaded_count, "to": until, **batch}
        if not store.write(queries[part.add], arguments, expect=[[len(values) for values in batch.values()]]):
            _check_written(store, part, dataset, loader, until)
        advance(until - loaded_count)
        loaded_count = until
    if store.write(queries["finish_samples"], {"marker": key, "loader": loader}) != [[1]]:
        raise _taken_over(store, dataset)
    return True


def make_indexes(store: Neo4jStore) -> None:
    """Create the indexes of samples and rejected questions."""
    for name in ON_SAMPLES:
        store.write(read_queries()[name])


def drop_indexes(store: Neo4jStore) -> None:
    """Drop these indexes once no samples are left."""
    for name in ON_SAMPLES:
        if name != "await_indexes":
            store.write(read_queries()[f"drop_{name}"])


def imported_part_marker(part: Part, dataset: str, content: str, rows: Mapping[str, pa.Table]) -> dict[str, str | int | bool]:
    """The marker of a part that comes into the database whole, with the names of the node's properties."""
    marker = {"id": _marker_id(part, dataset), "dataset": dataset, "part": part.name, "content": content}
    return {**marker, "loader": "neo4j-admin", "finished": True, "rows": rows[part.nodes].num_rows}


def erase_part(store: Neo4jStore, part: Part, dataset: str, *, rows: int, advance: Advance = lambda _: None) -> None:
    """Remove everything that kgqa added for ``dataset``, in batches. ``rows`` is the total for the progress bar; filters do not count."""
    queries = read_queries()
    loader, key = uuid.uuid4().hex, _marker_id(part, dataset)
    store.write(queries["begin_erasing_samples"], {"marker": key, "loader": loader})
    while erased := store.write(queries[part.erase], {"dataset": dataset, "limit": ERASE_NODES[part.name]})[0][0]:
        advance(min(int(erased), rows))
        rows -= min(int(erased), rows)
    store.write(queries["erase_sample_marker"], {"marker": key, "loader": loader})


def check_only_ours(store: Neo4jStore) -> None:
    """Raise StoreConflict where the database holds samples, chains, questions or filters that kgqa did not add."""
    for row in store.run(read_queries()["strange_samples"]).to_pylist():
        description = f"{row['nodes']:,} {row['label'].lower()}s"
        raise StoreConflict(f"{store.settings.place}: {description} in it were not added by kgqa; give kgqa an empty database.")


def _marker_id(part: Part, dataset: str) -> str:
    return f"{part.name} of {dataset}"


class _Cutter:
    """Batches of the rows of a part: samples with all that hangs on them."""

    def __init__(self, part: Part, rows: Mapping[str, pa.Table]) -> None:
        self._part, self._rows = part, rows
        nodes = rows[part.nodes]["key"]
        self._count = len(nodes)
        # Table → for each row the index of its sample; rows of a chain or sub-question have the index of its sample.
        self._places: dict[str, npt.NDArray[np.int64]] = {}
        self._own: dict[str, npt.NDArray[np.int64]] = {}
        for name, holding in part.under.items():
            self._places[name] = _lookup(rows[holding][part.nodes], nodes)
        for name, (begin, _) in part.links.items():
            node_numbers = _lookup(rows[name][begin], rows[begin]["key"])
            self._own[name] = node_numbers
            self._places[name] = node_numbers if begin == part.nodes else self._places[begin][node_numbers]

    def ends(self, offset: int) -> Iterator[int]:
        """The end of each batch of samples, starting at ``offset``: ``BATCH_ROWS`` rows in all, or one sample that has more."""
        rows = np.ones(self._count, np.int64)
        for places in self._places.values():
            rows += np.bincount(places, minlength=self._count)
        before = np.concatenate([[0], np.cumsum(rows)])
        while offset < self._count:
            offset = max(int(np.searchsorted(before, before[offset] + BATCH_ROWS, side="right")) - 1, offset + 1)
            yield offset

    def batches(self, offset: int) -> Iterator[tuple[int, dict[str, list[Any]]]]:
        """The end of each batch of samples, starting at ``offset``, and the parameters of the query that adds it."""
        for until in self.ends(offset):
            yield until, self.batch(offset, until)
            offset = until

    def batch(self, first: int, last: int) -> dict[str, list[Any]]:
        """The arguments of the query that adds the samples from ``first`` up to ``last``."""
        part = self._part
        tables: dict[str, list[Any]] = {part.nodes: listed(self._rows[part.nodes].slice(first, last - first))}
        spans = {name: slice(*np.searchsorted(places, [first, last])) for name, places in self._places.items()}
        starts = {part.nodes: first}
        for name in part.under:
            span = spans[name]
            starts[name] = span.start
            node_numbers = (self._places[name][span] - first).tolist()
            tables[name] = [[n, *row] for n, row in zip(node_numbers, listed(_sliced(self._rows[name], span)), strict=True)]
        if part.beside:
            tables[part.beside] = listed(self._rows[part.beside].slice(0, None if first == 0 else 0))
        slices = {name: _sliced(self._rows[name], spans[name]) for name in part.links}
        graph_ends = dict.fromkeys(to for _, to in part.links.values() if to not in part.under)
        end_ids = {name: distinct_ids(slices[table][name] for table, (_, to) in part.links.items() if to == name) for name in graph_ends}
        for name, (begin, to) in part.links.items():
            node_numbers = (self._own[name][spans[name]] - starts[begin]).tolist()
            ends = slices[name].column_names[:2]
            if to in part.under:
                # A relationship between nodes of this part joins two of the same sample, which are in the same batch.
                targets = (_lookup(slices[name][ends[1]], self._rows[to]["key"]) - starts[to]).tolist()
            else:
                targets = pc.index_in(slices[name][to], value_set=end_ids[to]).to_pylist()
            link_properties = listed(slices[name].drop_columns(ends))
            tables[name] = [
                [a, b, *properties]
                for a, b, properties in zip(node_numbers, targets, link_properties or [[]] * len(node_numbers), strict=True)
            ]
        ids = {PLURALS[name]: ids.to_pylist() for name, ids in end_ids.items()}
        return {**ids, **tables}


def _lookup(names: pa.ChunkedArray, among: pa.ChunkedArray) -> npt.NDArray[np.int64]:
    return pc.index_in(names, value_set=among.combine_chunks()).to_numpy().astype(np.int64)


def _sliced(table: pa.Table, span: slice) -> pa.Table:
    return table.slice(span.start, span.stop - span.start)


def _take_over(store: Neo4jStore, part: Part, dataset: str, content: str, loader: str) -> None:
    result = store.write(read_queries()["take_over_samples"], {"marker": _marker_id(part, dataset), "content": content, "loader": loader})
    if result != [[1]]:
        raise StoreConflict(
            f"{store.settings.place}: another run of kgqa changes the samples of {dataset}; wait for it, then run the same command again."
        )


def _check_written(store: Neo4jStore, part: Part, dataset: str, loader: str, expected_count: int) -> None:
    """Check a batch that added nothing: either it was committed before and only the answer was lost, or another loader has taken over."""
    marker = part_markers(store).get((dataset, part.name))
    if marker is None or marker.loader != loader or marker.rows != expected_count:
        raise _taken_over(store, dataset)


def _taken_over(store: Neo4jStore, dataset: str) -> StoreConflict:
    return StoreConflict(
        f"{store.settings.place}: another run of kgqa replaces the graph or took over the samples of {dataset}; this one stopped."
    )
