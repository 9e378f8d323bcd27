"""Questions and samples as columns: what the traversal fills, gates select from, and the writer turns into Instances."""

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
"""What there may be too many of, and what to do then (:func:`~kgqa.arrays.int32.check_fits`)."""
GRADE = np.dtype(
    [
        ("confidence", np.float32),
        ("text", np.int8),
        ("first", np.int32),
        ("second", np.int32),
        ("third", np.int32),
        ("implied", np.int32),
    ],
    align=True,
)
"""How surely a chain implies its end (:mod:`kgqa.recipes.qangaroo.evidence`), 0 where no rule fits; the worst text grade of its hops;
the roles of the hops on the best path, -1 after the last; of three hops the relation that two imply, else -1."""
HOP_ROLES = ("first", "second", "third")
"""The fields of a ``GRADE`` that hold the roles of its hops."""
Grades = npt.NDArray[np.void]
_FEWER_CHAINS = "lower qangaroo.traversal.max_chains, or set qangaroo.traversal.chains to tree"
CHAINS: Limit = ("chains", _FEWER_CHAINS)
NODES: Limit = ("nodes on chains", _FEWER_CHAINS)
CANDIDATES: Limit = ("candidates of samples", "lower qangaroo.max_candidates, or --limit the questions")
DOCUMENTS: Limit = ("documents of samples", "lower qangaroo.max_documents, or --limit the questions")


@dataclass(frozen=True, slots=True, kw_only=True)
class Questions:
    """Facts with the object left open; one entry per question, ordered by (head, relation, answer)."""

    id: npt.NDArray[np.uint64]
    """Hash of the head, the relation and a number; says nothing about the answer and stays the same between runs."""
    split: npt.NDArray[np.int8]
    """Index into ``SPLITS``."""
    head: IntArray
    """Row of the entity table; so is ``answer``."""
    relation: IntArray
    """Row of the relation table."""
    answer: IntArray

    def __len__(self) -> int:
        """How many questions."""
        return len(self.id)

    def select(self, kept: npt.NDArray[np.bool_] | npt.NDArray[np.integer]) -> Questions:
        """The questions for which ``kept`` holds, or those at the given places."""
        return Questions(
            id=self.id[kept], split=self.split[kept], head=self.head[kept], relation=self.relation[kept], answer=self.answer[kept]
        )

    def by_split(self) -> dict[str, int]:
        """How many questions each split has."""
        return {split: int((self.split == number).sum()) for number, split in enumerate(SPLITS)}

    def to_table(self) -> pa.Table:
        """One row per question; the columns are the fields."""
        return pa.table({name: getattr(self, name) for name in ("id", "split", "head", "relation", "answer")})

    @classmethod
    def from_table(cls, table: pa.Table) -> Questions:
        """What :meth:`to_table` made."""
        columns = {name: table[name].combine_chunks().to_numpy() for name in ("id", "split", "head", "relation", "answer")}
        return cls(**columns)


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Questions with their candidates, the chains to them and the support documents."""

    questions: Questions
    candidates: Rows
    """Per question: entity rows, ascending; the answer is among them."""
    chains: Rows
    """Per candidate (in the order of ``candidates.targets``): numbers of its chains, which run from 0 upwards."""
    nodes: Rows
    """Per chain: entity, document, entity, …, from the question's head to the candidate."""
    documents: Rows
    """Per question: the documents on the chains, ascending."""
    grades: npt.NDArray[np.void] | None = None
    """Per candidate (in the order of ``candidates.targets``) the ``GRADE`` of its best chain; None before chains are graded."""

    def __len__(self) -> int:
        """How many samples."""
        return len(self.questions)

    def select(self, kept: BoolArray) -> Samples:
        """The samples for which ``kept`` holds."""
        entries = np.repeat(kept, self.candidates.counts())
        return replace(
            self._without_candidates(entries),
            questions=self.questions.select(kept),
            candidates=self.candidates.take(np.flatnonzero(kept)),
            documents=self.documents.take(np.flatnonzero(kept)),
        )

    def slice(self, first: int, last: int) -> Samples:
        """The samples from ``first`` up to ``last``, without looking at the others."""
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
        """The same samples less the dropped entries of ``candidates.targets`` and their chains; documents too, if any are dropped."""
        return self._without_candidates(~dropped).with_documents() if dropped.any() else self

    def _without_candidates(self, kept: BoolArray) -> Samples:
        chains = self.chains.take(np.flatnonzero(kept))
        nodes = self.nodes.take(chains.targets)
        renumbered = Rows.numbering(chains.counts(), *CHAINS)
        grades = None if self.grades is None else self.grades[kept]
        return replace(self, candidates=self.candidates.keep(kept), chains=renumbered, nodes=nodes, grades=grades)

    def with_chains(self, kept: npt.NDArray[np.integer]) -> Samples:
        """The same samples with these entries of ``chains.targets`` alone, candidate by candidate, and the documents on them."""
        candidate = self.chains.sources()[kept]
        assert (candidate[1:] >= candidate[:-1]).all(), "the chains of a candidate stand together"
        counts = np.bincount(candidate, minlength=len(self.candidates.targets))
        nodes = self.nodes.take(self.chains.targets[kept])
        return replace(self, chains=Rows.numbering(counts, *CHAINS), nodes=nodes).with_documents()

    def with_grades(self, grades: npt.NDArray[np.void]) -> Samples:
        """The same samples with these grades, one for each entry of ``candidates.targets``."""
        assert len(grades) == len(self.candidates.targets)
        return replace(self, grades=grades)

    def with_candidates_by(self, key: npt.NDArray[np.integer]) -> Samples:
        """The same samples with each one's candidates ordered by ``key`` (one per entry of ``candidates.targets``)."""
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
        """For each entry of ``candidates.targets`` the sample that it belongs to."""
        return self.candidates.sources()

    def is_answer(self) -> BoolArray:
        """For each entry of ``candidates.targets`` whether it is its question's answer."""
        same: BoolArray = self.candidates.targets == self.questions.answer[self.question_of_candidate()]
        return same

    def to_table(self) -> pa.Table:
        """One row per sample: the question's columns, ``candidates``, ``chains`` (per candidate, per chain: nodes), ``documents``."""
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
        """What :meth:`to_table` made."""
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
    """``values``, one for each entry of ``rows.targets``, in lists as long as the rows."""
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
    lengths: npt.NDArray[np.int64] = np.diff(array.offsets.to_numpy()).astype(np.int64)
    return lengths


def _rows(array: pa.ListArray) -> Rows:
    return Rows.from_counts(_lengths(array), array.flatten().to_numpy())


def splits_note(counts: dict[str, int]) -> str:
    """What :meth:`Questions.by_split` counted, in a line."""
    return ", ".join(f"{split} {count:,}" for split, count in counts.items())


def chain_documents(candidates: Rows, chains: Rows, nodes: Rows) -> Adjacency:
    """Per question the documents on its chains, ascending and once each."""
    is_document = nodes.places() % 2 == 1
    question = candidates.sources()[chains.sources()][nodes.sources()][is_document]
    return Adjacency.from_pairs(question, nodes.targets[is_document], len(candidates.offsets) - 1)


def facts_on_path(grades: Grades, roles: int) -> npt.NDArray[np.integer]:
    """How many hops of each path are facts; the roles of texts come after the ``roles`` of facts."""
    hops = np.stack([grades[name] for name in HOP_ROLES])
    count: npt.NDArray[np.integer] = ((hops >= 0) & (hops < roles)).sum(axis=0)
    return count


def by_length(grades: Grades, short: float, long: float) -> npt.NDArray[np.float32]:
    """``long`` for each grade of a chain of three documents, which is composed and so less sure than it looks, else ``short``."""
    return np.where(grades["third"] >= 0, np.float32(long), np.float32(short))
