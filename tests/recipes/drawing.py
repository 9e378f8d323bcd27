"""Random samples as plain records, turned into the recipe's columns and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st

from kgqa.arrays.rows import Rows
from kgqa.recipes.qangaroo.samples import CHAINS, GRADE, Questions, Samples, chain_documents
from kgqa.rules.roles import TEXT_ROLES

ENTITIES, DOCUMENTS, RELATIONS = 12, 9, 3
ROLES = 2 * RELATIONS + len(TEXT_ROLES)
Chain = tuple[int, ...]
Grade = tuple[float, int, int, int, int, int, float]
"""The fields of ``GRADE``."""
CONFIDENCES = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Few, so that many are equal, and exact, so that products are."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """One sample."""

    id: int
    split: int
    head: int
    relation: int
    answer: int
    chains: Mapping[int, Sequence[Chain]]
    """Candidate → its chains; candidates ascend."""
    grades: Mapping[int, Grade] | None = None
    """Candidate → the grade of its best chain, where chains are graded."""

    @property
    def documents(self) -> list[int]:
        return sorted({node for chains in self.chains.values() for chain in chains for node in chain[1::2]})


def to_samples(records: list[Record]) -> Samples:
    """The columns of ``records``."""
    fields = {name: [getattr(record, name) for record in records] for name in ("id", "split", "head", "relation", "answer")}
    questions = Questions(
        id=np.array(fields["id"], np.uint64),
        split=np.array(fields["split"], np.int8),
        head=np.array(fields["head"], np.int32),
        relation=np.array(fields["relation"], np.int32),
        answer=np.array(fields["answer"], np.int32),
    )
    lists = [chains for record in records for chains in record.chains.values()]
    every = [chain for chains in lists for chain in chains]
    candidates = Rows.from_counts(
        np.array([len(record.chains) for record in records], np.int64), np.array([c for record in records for c in record.chains], np.int32)
    )
    chains = Rows.numbering(np.array([len(chains) for chains in lists], np.int64), *CHAINS)
    nodes = Rows.from_counts(np.array([len(chain) for chain in every], np.int64), np.array([n for chain in every for n in chain], np.int32))
    samples = Samples(
        questions=questions, candidates=candidates, chains=chains, nodes=nodes, documents=chain_documents(candidates, chains, nodes)
    )
    if not any(record.grades for record in records):
        return samples
    return samples.with_grades(np.array([record.grades[c] for record in records if record.grades for c in record.chains], GRADE))


def to_records(samples: Samples) -> list[Record]:
    """The records of columns; checks on the way that documents are those of the chains."""
    nodes = [tuple(samples.nodes.targets[a:b].tolist()) for a, b in zip(samples.nodes.offsets[:-1], samples.nodes.offsets[1:], strict=True)]
    questions, records = samples.questions, []
    for i in range(len(samples)):
        chains = {}
        for at in range(samples.candidates.offsets[i], samples.candidates.offsets[i + 1]):
            numbers = samples.chains.targets[samples.chains.offsets[at] : samples.chains.offsets[at + 1]].tolist()
            chains[int(samples.candidates.targets[at])] = [nodes[number] for number in numbers]
        head, relation, answer = int(questions.head[i]), int(questions.relation[i]), int(questions.answer[i])
        record = Record(id=int(questions.id[i]), split=int(questions.split[i]), head=head, relation=relation, answer=answer, chains=chains)
        if samples.grades is not None:
            mine = samples.grades[samples.candidates.offsets[i] : samples.candidates.offsets[i + 1]].tolist()
            record = replace(record, grades=dict(zip(chains, mine, strict=True)))
        assert samples.documents.targets[samples.documents.offsets[i] : samples.documents.offsets[i + 1]].tolist() == record.documents
        records.append(record)
    return records


def without(record: Record, *dropped: int) -> Record:
    """The same record less some candidates."""
    grades = record.grades and {candidate: grade for candidate, grade in record.grades.items() if candidate not in dropped}
    return replace(
        record, chains={candidate: chains for candidate, chains in record.chains.items() if candidate not in dropped}, grades=grades
    )


def check_chains(record: Record) -> None:
    """Every chain runs from the head to its candidate, entity and document in turn."""
    for candidate, chains in record.chains.items():
        assert chains
        for chain in chains:
            assert (chain[0], chain[-1], len(chain) % 2) == (record.head, candidate, 1)


def chain_to(draw: st.DrawFn, head: int, candidate: int) -> Chain:
    """A chain over one to three documents; which entities it passes through does not matter to what is tested here."""
    documents = draw(st.lists(st.integers(0, DOCUMENTS - 1), min_size=1, max_size=3, unique=True))
    entities = [draw(st.integers(0, ENTITIES - 1)) for _ in documents[1:]] + [candidate]
    return (head, *(node for step in zip(documents, entities, strict=True) for node in step))


GRADES = st.tuples(
    st.sampled_from(CONFIDENCES), st.integers(0, 2), *[st.integers(-1, ROLES - 1)] * 3, st.integers(-1, RELATIONS - 1), st.just(0.0)
)


@st.composite
def records(draw: st.DrawFn, *, most: int = 8, chains: int = 3, answers: int = ENTITIES, graded: bool = False) -> list[Record]:
    """Up to ``most`` samples (at least one if ``graded``) with different ids, whose answers are among the first ``answers`` entities."""
    ids = draw(st.lists(st.integers(0, 2**64 - 1), min_size=int(graded), max_size=most, unique=True))
    made = []
    for number in ids:
        head = draw(st.integers(0, ENTITIES - 1))
        answer = draw(st.integers(0, answers - 1))
        candidates = {answer} | draw(st.sets(st.integers(0, ENTITIES - 1), max_size=5))
        lists = {c: [chain_to(draw, head, c) for _ in range(draw(st.integers(1, chains)))] for c in sorted(candidates)}
        split, relation = draw(st.integers(0, 2)), draw(st.integers(0, RELATIONS - 1))
        grades = {c: draw(GRADES) for c in lists} if graded else None
        made.append(Record(id=number, split=split, head=head, relation=relation, answer=answer, chains=lists, grades=grades))
    return made
