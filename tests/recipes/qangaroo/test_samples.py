"""Columns hold what records say, and every way of choosing from them keeps chains with their candidates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from kgqa.recipes.qangaroo.samples import GRADE, Questions, Samples
from tests.recipes.drawing import ENTITIES, Record, check_chains, records, to_records, to_samples, without

MADE = records() | records(graded=True)


@given(made=MADE)
def test_columns_and_records_have_the_same_content(made: list[Record]) -> None:
    samples = to_samples(made)
    assert to_records(samples) == made
    assert len(samples) == len(made)
    for record in made:
        check_chains(record)


@given(made=MADE, before=st.integers(0, 3), after=st.integers(0, 3))
def test_samples_round_trip_through_a_table_and_a_slice_of_one(made: list[Record], before: int, after: int) -> None:
    table = to_samples(made).to_table()
    assert to_records(Samples.from_table(table)) == made
    part = Samples.from_table(table.slice(before, max(0, len(made) - before - after)))
    assert to_records(part) == made[before : max(before, len(made) - after)]
    assert Samples.from_table(pa.concat_tables([table, table])).to_table().equals(pa.concat_tables([table, table]).combine_chunks())


@given(made=MADE)
def test_samples_round_trip_through_a_file(made: list[Record]) -> None:
    sink = pa.BufferOutputStream()
    pq.write_table(to_samples(made).to_table(), sink)
    assert to_records(Samples.from_table(pq.read_table(pa.BufferReader(sink.getvalue())))) == made


@given(made=MADE)
def test_questions_round_trip_through_a_table(made: list[Record]) -> None:
    questions = to_samples(made).questions
    assert Questions.from_table(questions.to_table()).to_table().equals(questions.to_table())


@given(made=MADE, data=st.data())
def test_select_takes_whole_samples(made: list[Record], data: st.DataObject) -> None:
    kept = data.draw(st.lists(st.booleans(), min_size=len(made), max_size=len(made)))
    chosen = to_samples(made).select(np.array(kept, np.bool_))
    assert to_records(chosen) == [record for record, keep in zip(made, kept, strict=True) if keep]


@given(made=MADE, data=st.data())
def test_a_slice_takes_whole_samples(made: list[Record], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(made)))
    last = data.draw(st.integers(first, len(made)))
    assert to_records(to_samples(made).slice(first, last)) == made[first:last]


@given(made=MADE, data=st.data())
def test_with_chains_keeps_the_given_order(made: list[Record], data: st.DataObject) -> None:
    samples, kept, wanted, first = to_samples(made), list[int](), [], 0
    for record in made:
        lists = {}
        for candidate, chains in record.chains.items():
            some = data.draw(st.lists(st.integers(0, len(chains) - 1), min_size=1, unique=True))
            kept += [first + place for place in some]
            lists[candidate] = [chains[place] for place in some]
            first += len(chains)
        wanted.append(replace(record, chains=lists))
    assert to_records(samples.with_chains(np.array(kept, np.int64))) == wanted


@given(made=records())
def test_grades_are_one_for_each_candidate(made: list[Record]) -> None:
    samples = to_samples(made)
    assert samples.grades is None
    assert "grades" not in samples.to_table().column_names
    grades = np.zeros(len(samples.candidates.targets), GRADE)
    grades["confidence"] = np.arange(len(grades))
    graded = samples.with_grades(grades)
    assert graded.to_table()["grades"].combine_chunks().flatten().field("confidence").to_pylist() == list(range(len(grades)))
    with pytest.raises(AssertionError):
        samples.with_grades(np.zeros(len(grades) + 1, GRADE))


@given(made=MADE, dropped=st.sets(st.integers(0, ENTITIES - 1)))
def test_without_candidates_drops_them_with_their_chains_and_documents(made: list[Record], dropped: set[int]) -> None:
    samples = to_samples(made)
    left = samples.without_candidates(np.isin(samples.candidates.targets, sorted(dropped)))
    assert to_records(left) == [without(record, *dropped) for record in made]
    for record in to_records(left):
        check_chains(record)


@given(made=MADE, factor=st.sampled_from([-1, 5, 7]))
def test_with_candidates_by_orders_them_and_nothing_else(made: list[Record], factor: int) -> None:
    samples = to_samples(made)
    ordered = to_records(samples.with_candidates_by(samples.candidates.targets * factor % ENTITIES))
    assert ordered == made
    for record in ordered:
        check_chains(record)
        keys = [candidate * factor % ENTITIES for candidate in record.chains]
        assert keys == sorted(keys)


@given(made=MADE)
def test_is_answer_marks_one_candidate_of_each_sample(made: list[Record]) -> None:
    samples = to_samples(made)
    assert samples.candidates.targets[samples.is_answer()].tolist() == [record.answer for record in made]
    assert samples.question_of_candidate()[samples.is_answer()].tolist() == list(range(len(made)))
