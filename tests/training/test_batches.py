"""Batches: every example once in an epoch, the same for the same seed, never more tokens than allowed; and examples that are made once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

from kgqa.errors import BrokenInput
from kgqa.progress import Silent
from kgqa.records import Instance
from kgqa.training.batches import POOL, batches_of_epoch, token_batches
from kgqa.training.encoded import CHUNK, encode
from kgqa.training.questions import of_list
from tests.small_questions import question, questions

LENGTHS = st.lists(st.integers(1, 600), min_size=1, max_size=300)


@given(LENGTHS, st.integers(1, 40), st.integers(0, 2**31 - 1), st.integers(0, 3))
def test_an_epoch_reads_every_row_once(lengths: list[int], size: int, seed: int, epoch: int) -> None:
    tokens = np.array([0, *lengths, 0], np.int32)
    rows = np.arange(1, len(lengths) + 1)
    found = batches_of_epoch(rows, tokens, size=size, seed=seed, epoch=epoch)
    assert sorted(np.concatenate(found).tolist()) == rows.tolist()
    assert sorted((len(batch) for batch in found), reverse=True)[:-1] == [size] * (len(found) - 1)
    again = batches_of_epoch(rows, tokens, size=size, seed=seed, epoch=epoch)
    assert [batch.tolist() for batch in found] == [batch.tolist() for batch in again]


def test_epochs_and_seeds_differ_and_batches_are_of_like_length() -> None:
    tokens = np.random.default_rng(0).integers(10, 500, 1000).astype(np.int32)
    rows = np.arange(1000)
    first = [batch.tolist() for batch in batches_of_epoch(rows, tokens, size=4, seed=1, epoch=0)]
    for seed, epoch in ((1, 1), (2, 0)):
        assert [batch.tolist() for batch in batches_of_epoch(rows, tokens, size=4, seed=seed, epoch=epoch)] != first
    spread = float(np.mean([np.ptp(tokens[batch]) for batch in first]))
    assert spread < 490 / POOL * 3


@given(LENGTHS, st.integers(1, 2000))
def test_parts_keep_to_the_limit_or_hold_one(lengths: list[int], limit: int) -> None:
    tokens, rows = np.array(lengths, np.int32), np.arange(len(lengths))[::-1].copy()
    parts = list(token_batches(rows, tokens, limit=limit))
    assert sorted(np.concatenate(parts).tolist()) == sorted(rows.tolist())
    for part in parts:
        assert len(part) == 1 or len(part) * int(tokens[part].max()) <= limit
    assert list(token_batches(rows[:0], tokens, limit=limit)) == []


class Counted:
    """Encodes the length of a question, and counts how often it is asked to."""

    encoding = "counted"

    def __init__(self) -> None:
        self.asked = 0

    def encode(self, instances: list[Instance]) -> pa.RecordBatch:
        self.asked += len(instances)
        return pa.RecordBatch.from_arrays(
            [
                pa.array([each.id for each in instances], pa.string()),
                pa.array([len(each.question) for each in instances], pa.int32()),
                pa.array([None if each.answers else "it has no answer" for each in instances], pa.string()),
            ],
            names=["id", "tokens", "fault"],
        )


def test_a_split_is_encoded_once_and_again_where_it_or_the_way_is_another(tmp_path: Path) -> None:
    task, many = Counted(), [question(number % 8, id=str(number)) for number in range(CHUNK + 3)]
    for _ in range(2):
        found = encode(task, of_list(many), tmp_path, Silent(), what="questions")  # type: ignore[arg-type]
        assert found.table.column("id").to_pylist() == [each.id for each in many]
        assert task.asked == len(many)
    encode(task, of_list(many[:3]), tmp_path, Silent(), what="questions")  # type: ignore[arg-type]
    assert task.asked == len(many) + 3
    task.encoding = "otherwise"
    encode(task, of_list(many[:3]), tmp_path, Silent(), what="questions")  # type: ignore[arg-type]
    assert task.asked == len(many) + 6
    assert not list(tmp_path.glob(".*"))


def test_faults_are_counted_of_the_rows_that_are_asked_for(tmp_path: Path) -> None:
    some = [question(number, answers=() if number % 2 else ("x",)) for number in range(6)]
    found = encode(Counted(), of_list(some), tmp_path, Silent(), what="questions")  # type: ignore[arg-type]
    assert found.faults(np.arange(6)) == {"it has no answer": 3}
    assert found.faults(np.array([0, 2])) == {}
    assert found.take(np.array([4, 0])).column("id").to_pylist() == ["q4", "q0"]


def test_what_failed_or_was_stopped_leaves_nothing_and_what_was_cut_says_so(tmp_path: Path) -> None:
    class Stopped(Counted):
        def encode(self, instances: list[Instance]) -> pa.RecordBatch:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        encode(Stopped(), of_list(questions()), tmp_path, Silent(), what="questions")  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
    encode(Counted(), of_list(questions()), tmp_path, Silent(), what="questions")  # type: ignore[arg-type]
    [path] = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(BrokenInput, match="not a complete Arrow file; remove it"):
        encode(Counted(), of_list(questions()), tmp_path, Silent(), what="questions")  # type: ignore[arg-type]


def test_no_question_is_a_table_without_rows(tmp_path: Path) -> None:
    found = encode(Counted(), of_list([]), tmp_path, Silent(), what="questions")  # type: ignore[arg-type]
    assert found.table.num_rows == len(found.tokens) == len(found.sound) == 0
