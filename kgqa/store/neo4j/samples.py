"""Finished samples → the Neo4j database that holds their graph, so that one can browse from a question to its chain.

::

    (:Sample {id, dataset, split, row, question, relation, answer})
        -[:ASKS_ABOUT]->                                       (:Entity)    the subject
        -[:ANSWER]->                                           (:Entity)
        -[:CANDIDATE {position, answer, grade, path, text}]->  (:Entity)    in the order shown
        -[:SUPPORT {position}]->                               (:Document)  in the order shown
        -[:STEP {position, answer, candidates, chains}]->      (:Entity | :Document)

``grade``, ``path`` and ``text`` are the candidate's ``Grade``, and are not there where it has none. A step is one place between the subject
and the candidates: ``position`` counts from the subject, which is 0, and odd ones are documents; ``candidates`` and ``chains`` are two
lists of the same length, which name each chain that passes here by the candidate to which it leads and its number among that one's;
``answer`` says whether one of them leads to the answer. So two nodes have one line between them however many chains share it: of MedHop's
places on chains that leaves a fourteenth. A dataset has a marker of its own beside the graph's (:mod:`kgqa.store.neo4j.graph`), and a batch
and the marker's new count are one transaction, so a load goes on where it was cut off.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from kgqa.errors import StoreConflict, StoreError
from kgqa.progress import Advance
from kgqa.records import Grade
from kgqa.store.neo4j.connection import Neo4jStore
from kgqa.store.queries import read_queries

SAMPLES_VERSION = 2
"""Raised when the same samples give another graph."""
BATCH_STEPS = 20_000
ERASE_SAMPLES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRow:
    """One sample as ids; texts and mentions stay in the dataset."""

    id: str
    split: str
    row: int
    """Its place in the dataset, over all splits."""
    question: str
    relation: str
    answer: str
    """As text."""
    subject: str
    answer_id: str
    candidates: tuple[str, ...]
    supports: tuple[str, ...]
    chains: tuple[tuple[tuple[str, ...], ...], ...]
    """For each candidate its chains: entity and document ids in turn."""
    grades: tuple[Grade | None, ...] | None = None
    """One for each candidate."""

    def graded(self) -> Iterator[list[object]]:
        """Every candidate: sample, id, position, whether it is the answer, and its grade's fields, which may be null."""
        for position, (candidate, grade) in enumerate(zip(self.candidates, self.grades or (None,) * len(self.candidates), strict=True)):
            fields = (grade.confidence, grade.path, grade.text) if grade else (None, None, None)
            yield [self.id, candidate, position, candidate == self.answer_id, *fields]

    def steps(self) -> Iterator[tuple[str, int, bool, list[str], list[int]]]:
        """Every place between subject and candidates once: id, position, whether the answer's chains pass, and which chains pass."""
        passing: dict[tuple[int, str], tuple[list[str], list[int]]] = {}
        for candidate, chains in zip(self.candidates, self.chains, strict=True):
            for number, chain in enumerate(chains):
                for place in list(enumerate(chain))[1:-1]:
                    candidates, numbers = passing.setdefault(place, ([], []))
                    candidates.append(candidate)
                    numbers.append(number)
        for (position, node), (candidates, numbers) in passing.items():
            yield node, position, self.answer_id in candidates, candidates, numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleMarker:
    """What kgqa wrote down about the samples of one dataset."""

    dataset: str
    content: str
    """Hash of the dataset."""
    loader: str
    finished: bool
    samples: int


def sample_markers(store: Neo4jStore) -> dict[str, SampleMarker]:
    """The datasets in the database, by name."""
    rows = store.run(read_queries()["sample_markers"]).to_pylist()
    return {row["dataset"]: SampleMarker(**row) for row in rows}


def add_samples(
    store: Neo4jStore, rows: Iterable[SampleRow], *, tables: str, dataset: str, content: str, advance: Advance = lambda _: None
) -> bool:
    """Add the samples of ``dataset``, go on with what an earlier load left, or do nothing; whether anything was done.

    ``tables`` is the hash of the tables of the graph on which they lie, ``content`` that of the dataset. Raises StoreConflict where the
    database holds other samples of a dataset of this name, or where another run takes over.
    """
    queries = read_queries()
    # What kgqa did not add cannot be told from what it adds.
    check_only_ours(store)
    marker, loader = sample_markers(store).get(dataset), uuid.uuid4().hex
    key = _marker_id(dataset)
    if marker is not None and marker.content != content:
        raise StoreConflict(
            f"{store.settings.place}: the database holds other samples of {dataset}; replace them with kgqa load --store neo4j "
            f"--dataset {dataset} --replace."
        )
    if marker is not None and marker.finished:
        return False
    if marker is None:
        try:
            store.write(queries["claim_samples"], {"marker": key, "dataset": dataset, "content": content, "loader": loader})
        except StoreError:
            # Somebody else was faster: the constraint lets only one marker of this name be made.
            _take_over(store, dataset, content, loader)
    else:
        _take_over(store, dataset, content, loader)
    done = sample_markers(store)[dataset].samples
    advance(done)
    for batch in _batches(islice(rows, done, None)):
        tables_of = _flattened(batch)
        arguments = {"marker": key, "tables": tables, "loader": loader, "from": done, **tables_of}
        done += len(batch)
        if not store.write(queries["add_samples"], arguments, expect=[[len(values) for values in tables_of.values()]]):
            _check_written(store, dataset, loader, done)
        advance(len(batch))
    if store.write(queries["finish_samples"], {"marker": key, "loader": loader}) != [[1]]:
        raise _taken_over(store, dataset)
    return True


def erase_samples(store: Neo4jStore, dataset: str, *, advance: Advance = lambda _: None) -> None:
    """Remove the samples that kgqa added for ``dataset``, in batches."""
    queries = read_queries()
    loader, key = uuid.uuid4().hex, _marker_id(dataset)
    store.write(queries["begin_erasing_samples"], {"marker": key, "loader": loader})
    while erased := store.write(queries["erase_samples"], {"dataset": dataset, "limit": ERASE_SAMPLES})[0][0]:
        advance(int(erased))
    store.write(queries["erase_sample_marker"], {"marker": key, "loader": loader})


def check_only_ours(store: Neo4jStore) -> None:
    """Raise StoreConflict where the database holds samples that kgqa did not add."""
    if strange := store.run(read_queries()["strange_samples"])["samples"][0].as_py():
        raise StoreConflict(f"{store.settings.place}: {strange:,} samples are here that kgqa did not add; give it an empty database.")


def _marker_id(dataset: str) -> str:
    return f"samples of {dataset}"


def _batches(rows: Iterable[SampleRow]) -> Iterator[list[SampleRow]]:
    """Samples with ``BATCH_STEPS`` places on chains together, or one that has more."""
    batch: list[SampleRow] = []
    steps = 0
    for row in rows:
        size = sum(len(chain) for chains in row.chains for chain in chains)
        if batch and steps + size > BATCH_STEPS:
            yield batch
            batch, steps = [], 0
        batch.append(row)
        steps += size
    if batch:
        yield batch


def _flattened(batch: list[SampleRow]) -> dict[str, list[list[object]]]:
    """The tables that the query takes; none but the last may be empty, or the rest of it would not run."""
    tables: dict[str, list[list[object]]] = {name: [] for name in ("rows", "candidates", "supports", "documents", "entities")}
    for s in batch:
        tables["rows"].append([s.id, s.split, s.row, s.question, s.relation, s.answer, s.subject, s.answer_id])
        tables["candidates"] += s.graded()
        tables["supports"] += [[s.id, document, i] for i, document in enumerate(s.supports)]
        for step in s.steps():
            tables["documents" if step[1] % 2 else "entities"].append([s.id, *step])
    return tables


def _take_over(store: Neo4jStore, dataset: str, content: str, loader: str) -> None:
    taken = store.write(read_queries()["take_over_samples"], {"marker": _marker_id(dataset), "content": content, "loader": loader})
    if taken != [[1]]:
        raise StoreConflict(
            f"{store.settings.place}: another run of kgqa changes the samples of {dataset}; wait for it, then run the same command again."
        )


def _check_written(store: Neo4jStore, dataset: str, loader: str, done: int) -> None:
    """A batch that added nothing was there already, because the answer to its commit was lost; or it is no longer ours to write."""
    marker = sample_markers(store).get(dataset)
    if marker is None or marker.loader != loader or marker.samples != done:
        raise _taken_over(store, dataset)


def _taken_over(store: Neo4jStore, dataset: str) -> StoreConflict:
    return StoreConflict(
        f"{store.settings.place}: another run of kgqa replaces the graph or took over the samples of {dataset}; this one stopped."
    )
