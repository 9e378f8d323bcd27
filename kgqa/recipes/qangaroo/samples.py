"""Questions and samples as columns: the traversal fills them, gates select from them, and the writer turns them into Instances."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.int32 import narrow
from kgqa.arrays.rows import Adjacency, IntArray, Rows
from kgqa.records import SPLITS

BoolArray = npt.NDArray[np.bool_]
Limit = tuple[str, str]
"""The kind of item that may be too numerous, and the advice for that case (:func:`~kgqa.arrays.int32.check_fits`)."""
GRADE = np.dtype(
    [
        ("confidence", np.float32),
        ("text", np.int8),
        ("first", np.int32),
        ("second", np.int32),
        ("third", np.int32),
        ("implied", np.int32),
        ("useful", np.float32),
    ],
    align=True,
)
"""The grade of a chain (:mod:`kgqa.recipes.qangaroo.evidence`).

``confidence``: that the chain implies its end, 0 if no rule applies. ``text``: the lowest text grade of its hops. ``first``, ``second``,
``third``: the roles of the hops on the best path, -1 after the last hop. ``implied``: with three hops, the relation that two of them imply;
else -1. ``useful``: the probability that the query is useful, 0 if it is not estimated (:mod:`kgqa.recipes.qangaroo.usefulness`).
"""
HOP_ROLES = ("first", "second", "third")
"""The fields of a ``GRADE`` with the roles of the hops."""
Grades = npt.NDArray[np.void]
_FEWER_CHAINS = "lower qangaroo.traversal.max_chains, or set qangaroo.traversal.chains to tree"
CHAINS: Limit = ("chains", _FEWER_CHAINS)
NODES: Limit = ("nodes on chains", _FEWER_CHAINS)
CANDIDATES: Limit = ("candidates of samples", "lower qangaroo.max_candidates, or --limit the questions")
DOCUMENTS: Limit = ("documents of samples", "lower qangaroo.max_documents, or --limit the questions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """Questions for the objects of facts, one entry each, ordered by (head, relation, answer)."""

    id: npt.NDArray[np.uint64]
    """Hash of the head, the relation and a number; it reveals nothing about the answer and is the same in every run."""
    split: npt.NDArray[np.int8]
    """Index into ``SPLITS`` (train, dev, test)."""
    head: IntArray
    """Row of the entity table; so is ``answer``."""
    relation: IntArray
    """Row of the relation table."""
    answer: IntArray

    def __len__(self) -> int:
        """The number of questions."""
        return len(self.id)

    def select(self, mask: npt.NDArray[np.bool_] | npt.NDArray[np.integer]) -> Questions:
        """The questions with a true entry in ``mask``, or those at the given indices."""
        return Questions(
            id=self.id[mask], split=self.split[mask], head=self.head[mask], relation=self.relation[mask], answer=self.answer[mask]
        )

    def by_split(self) -> dict[str, int]:
        """Split → number of its questions."""
        return {split: int((self.split == number).sum()) for number, split in enumerate(SPLITS)}

    def to_table(self) -> pa.Table:
        """A table with one row per question; the columns are the fields."""
        return pa.table({name: getattr(self, name) for name in ("id", "split", "head", "relation", "answer")})

    @classmethod
    def from_table(cls, table: pa.Table) -> Questions:
        """The inverse of :meth:`to_table`."""
        columns = {name: table[name].combine_chunks().to_numpy() for name in ("id", "split", "head", "relation", "answer")}
        return cls(**columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Questions with candidates, the chains to them, and support documents."""

    questions: Questions
    candidates: Rows
    """Question → entities, ascending, the answer included."""
    chains: Rows
    """Candidate (index into ``candidates.targets``) → numbers of its chains, counted over all candidates from 0."""
    nodes: Rows
    """Chain → entity, document, entity, …, from the question's head to the candidate."""
    documents: Rows
    """Question → documents on its chains, ascending."""
    grades: npt.NDArray[np.void] | None = None
    """The ``GRADE`` of the best chain for each entry of ``candidates.targets``; None before chains are graded."""

    def __len__(self) -> int:
        """The number of samples."""
        return len(self.questions)

    def select(self, mask: BoolArray) -> Samples:
        """The samples with a true entry in ``mask``."""
        entries = np.repeat(mask, self.candidates.counts())
        return replace(
            self._without_candidates(entries),
            questions=self.questions.select(mask),
            candidates=self.candidates.take(np.flatnonzero(mask)),
            documents=self.documents.take(np.flatnonzero(mask)),
        )

    def slice(self, first: int, last: int) -> Samples:
        """The samples ``first`` to ``last - 1``; O(their size)."""
        rows = np.arange(first, last)
        entries = np.arange(self.candidates.offsets[first], self.candidates.offsets[last])
        chains = self.chains.take(entries)
        return Samples(
            questions=self.questions.select(rows),
            candidates=self.candidates.take(rows),
            chains=Rows.numbering(chains.counts(), *CHAINS),
            nodes=self.nodes.take(chains.targets),
            documents=self.documents.take(rows),
            grades=None if self.grades is None else self.grades[entries],
        )

    def without_candidates(self, dropped: BoolArray) -> Samples:
        """The same samples without the ``dropped`` entries of ``candidates.targets``, their chains, and documents only on these."""
        return self._without_candidates(~dropped).with_documents() if dropped.any() else self

    def _without_candidates(self, mask: BoolArray) -> Samples:
        chains = self.chains.take(np.flatnonzero(mask))
        nodes = self.nodes.take(chains.targets)
        renumbered = Rows.numbering(chains.counts(), *CHAINS)
        grades = None if self.grades is None else self.grades[mask]
        return replace(self, candidates=self.candidates.keep(mask), chains=renumbered, nodes=nodes, grades=grades)

    def with_chains(self, rows: npt.NDArray[np.integer]) -> Samples:
        """The same samples with only these entries of ``chains.targets``, ordered by candidate, and the documents on them."""
        candidate = self.chains.sources()[rows]
        assert (candidate[1:] >= candidate[:-1]).all(), "rows are ordered by candidate"
        counts = np.bincount(candidate, minlength=len(self.candidates.targets))
        nodes = self.nodes.take(self.chains.targets[rows])
        return replace(self, chains=Rows.numbering(counts, *CHAINS), nodes=nodes).with_documents()

    def with_grades(self, grades: npt.NDArray[np.void]) -> Samples:
        """The same samples with these grades, one for each entry of ``candidates.targets``."""
        assert len(grades) == len(self.candidates.targets)
        return replace(self, grades=grades)

    def with_candidates_by(self, key: npt.NDArray[np.integer]) -> Samples:
        """The same samples, with the candidates of each ordered by ``key`` (one per entry of ``candidates.targets``)."""
        order = np.lexsort((key, self.question_of_candidate()))
        chains = self.chains.take(order)
        renumbered = Rows.numbering(chains.counts(), *CHAINS)
        candidates = Rows(offsets=self.candidates.offsets, targets=self.candidates.targets[order])
        grades = None if self.grades is None else self.grades[order]
        return replace(self, candidates=candidates, chains=renumbered, nodes=self.nodes.take(chains.targets), grades=grades)

    def with_documents(self) -> Samples:
        """The same samples with ``documents`` taken from the chains."""
        return replace(self, documents=chain_documents(self.candidates, self.chains, self.nodes))

    def question_of_candidate(self) -> IntArray:
        """For each entry of ``candidates.targets`` the index of its sample."""
        return self.candidates.sources()

    def is_answer(self) -> BoolArray:
        """For each entry of ``candidates.targets`` whether it is the answer of its question."""
        return self.candidates.targets == self.questions.answer[self.question_of_candidate()]

    def to_table(self) -> pa.Table:
        """A table with one row per sample: the columns of questions, ``candidates``, ``chains`` and ``documents``, and ``grades`` if any.

        ``chains`` is nested: candidate → chain → node.
        """
        chains = list_array(self.nodes, self.nodes.targets, NODES)
        table = self.questions.to_table()
        table = table.append_column("candidates", list_array(self.candidates, self.candidates.targets, CANDIDATES))
        table = table.append_column("chains", list_array(self.candidates, list_array(self.chains, chains, CHAINS), CANDIDATES))
        table = table.append_column("documents", list_array(self.documents, self.documents.targets, DOCUMENTS))
        if self.grades is None:
            return table
        names = list(GRADE.names or ())
        fields = pa.StructArray.from_arrays([np.ascontiguousarray(self.grades[name]) for name in names], names=names)
        return table.append_column("grades", list_array(self.candidates, fields, CANDIDATES))

    @classmethod
    def from_table(cls, table: pa.Table) -> Samples:
        """The inverse of :meth:`to_table`."""
        table = table.combine_chunks()
        candidates, chains, documents = (_only_chunk(table[name]) for name in ("candidates", "chains", "documents"))
        per_candidate = chains.flatten()
        nodes = per_candidate.flatten()
        return cls(
            questions=Questions.from_table(table),
            candidates=_rows(candidates),
            chains=Rows.numbering(_lengths(per_candidate), *CHAINS),
            nodes=_rows(nodes),
            documents=_rows(documents),
            grades=_grades(table),
        )


def list_array(rows: Rows, values: pa.Array | npt.NDArray[np.int32], limit: Limit) -> pa.ListArray:
    """``values``, one for each entry of ``rows.targets``, as lists of the lengths of the rows.

    >>> list_array(Rows.from_counts(np.array([2, 1]), np.zeros(3, np.int32)), pa.array(["a", "b", "c"]), CHAINS).to_pylist()
    [['a', 'b'], ['c']]
    """
    return pa.ListArray.from_arrays(narrow(rows.offsets, *limit), values)


def _only_chunk(column: pa.ChunkedArray) -> pa.ListArray:
    array = column.combine_chunks()
    return array.chunk(0) if isinstance(array, pa.ChunkedArray) else array


def _grades(table: pa.Table) -> npt.NDArray[np.void] | None:
    if "grades" not in table.column_names:
        return None
    fields = _only_chunk(table["grades"]).flatten()
    grades = np.empty(len(fields), GRADE)
    for name in GRADE.names or ():
        grades[name] = fields.field(name).to_numpy()
    return grades


def _lengths(array: pa.ListArray) -> npt.NDArray[np.int64]:
    return np.diff(array.offsets.to_numpy()).astype(np.int64)


def _rows(array: pa.ListArray) -> Rows:
    return Rows.from_counts(_lengths(array), array.flatten().to_numpy())


def chain_documents(candidates: Rows, chains: Rows, nodes: Rows) -> Adjacency:
    """Question → the distinct documents on its chains, ascending."""
    is_document = nodes.places() % 2 == 1
    question = candidates.sources()[chains.sources()][nodes.sources()][is_document]
    return Adjacency.from_pairs(question, nodes.targets[is_document], len(candidates.offsets) - 1)


def facts_on_path(grades: Grades, roles: int) -> npt.NDArray[np.integer]:
    """The number of hops of each path that are facts: their roles are below ``roles``, and text roles come after them.

    >>> grade = np.zeros(1, GRADE)
    >>> grade["first"], grade["second"], grade["third"] = 3, 9, -1
    >>> facts_on_path(grade, 8).tolist()
    [1]
    """
    hops = np.stack([grades[name] for name in HOP_ROLES])
    return ((hops >= 0) & (hops < roles)).sum(axis=0)


def by_length(grades: Grades, short: float, long: float) -> npt.NDArray[np.float32]:
    """The limit for each grade: ``long`` for chains of three documents, whose composed confidence is too optimistic, else ``short``."""
    return np.where(grades["third"] >= 0, np.float32(long), np.float32(short))
