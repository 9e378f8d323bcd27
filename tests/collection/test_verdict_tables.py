"""The table: what was written is read, and a faulty one is one sentence with its line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kgqa.collection.draw import MOST_SAMPLE, Origin
from kgqa.collection.verdict_tables.table import COLUMNS, Judgement, Table, check_origin, check_samples, in_order, read_table
from kgqa.collection.verdicts import TABLE_MARKS, VERDICTS
from kgqa.errors import MOST_SEED, BrokenInput, DuplicateId, InputError, KgqaError, UnknownId
from tests.collection.verdict_tables import table_text

ORIGIN = Origin(dataset="set", content="c0ffee", split="all", seed=7, sample=4)
DRAWN = dict.fromkeys(["s3", "s1", "s2"], "dev")
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
JUDGEMENTS = st.builds(
    Judgement,
    sample=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9),
    reader=st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=9),
    verdict=st.sampled_from(["", *VERDICTS]),
    marks=st.sets(st.sampled_from(list(TABLE_MARKS))).map(lambda marks: in_order(marks, TABLE_MARKS)),
    candidate=TEXT,
    note=TEXT,
)
TABLES = st.builds(
    Table,
    origin=st.builds(Origin, dataset=TEXT, content=TEXT, split=TEXT, seed=st.integers(0, MOST_SEED), sample=st.integers(1, MOST_SAMPLE)),
    judgements=st.lists(JUDGEMENTS, max_size=5, unique_by=lambda each: (each.sample, each.reader)).map(tuple),
)


@given(TABLES)
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, table: Table) -> None:
    path = tmp_path_factory.getbasetemp() / "round.tsv"
    path.write_bytes(table_text(table).encode())
    assert read_table(path) == table


def lines(*rows: str) -> list[str]:
    return [*table_text(Table(origin=ORIGIN, judgements=())).splitlines(), *rows]


GOOD = "s1\tann\tfollows\tanother,wrong-link\tQ1\tsays \\\\ so"


@pytest.mark.parametrize(
    ("changed", "error", "part"),
    [
        ({0: "id\tverdict"}, BrokenInput, "line 1: a table of verdicts begins with"),
        ({0: "# kgqa review 2"}, BrokenInput, "line 1:"),
        ({2: "# contents: x"}, BrokenInput, "line 3: expected '# content: '"),
        ({4: "# seed: seven"}, BrokenInput, "line 5: the seed 'seven' is not a number"),
        ({4: "# seed: 2147483648"}, BrokenInput, "line 5: the seed '2147483648' is not a number between 0 and 2147483647"),
        ({5: "# sample: 0"}, BrokenInput, "line 6: the sample '0' is not a number between 1"),
        ({5: f"# sample: {MOST_SAMPLE + 1}"}, BrokenInput, "line 6: the sample"),
        ({6: "sample\treader"}, BrokenInput, "line 7: expected the column names"),
        ({7: "s1\tann"}, BrokenInput, "line 8: it has 2 columns, not 6"),
        ({7: "s1\tann\tfollow\t\t\t"}, BrokenInput, "line 8: the verdict 'follow' is not known; did you mean follows?"),
        ({7: "s1\tann\t\tanother,wrong\t\t"}, BrokenInput, "line 8: the mark 'wrong' is not known"),
        ({7: "\tann\tfollows\t\t\t"}, BrokenInput, "line 8: the sample is empty"),
        ({7: "s1\t\tfollows\t\t\t"}, BrokenInput, "line 8: the reader is empty"),
        ({7: "s1\tann\tfollows\t\t\ta\\b"}, BrokenInput, "line 8: a backslash"),
        ({7: "s1\tann\tfollows\t\t\ta\\"}, BrokenInput, "line 8: a backslash"),
        ({8: "s1\tann\tlikely\t\t\t"}, DuplicateId, "line 9: reader ann judged sample s1 in line 8 already"),
        ({3: "# split: all\x00\udc80"}, BrokenInput, "not UTF-8"),
    ],
)
def test_a_broken_table_is_one_sentence(changed: dict[int, str], error: type[KgqaError], part: str, tmp_path: Path) -> None:
    text = lines(GOOD)
    for at, line in changed.items():
        text[at : at + 1] = [line]
    path = tmp_path / "t.tsv"
    path.write_bytes("\n".join(text).encode("utf-8", "surrogateescape"))
    with pytest.raises(error) as caught:
        read_table(path)
    assert part in str(caught.value)
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("count", range(len(lines())))
def test_a_table_that_ends_early_is_broken(count: int, tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("\n".join(lines()[:count]))
    with pytest.raises(BrokenInput, match="line "):
        read_table(path)


def test_a_byte_order_mark_does_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    text = "\n".join(lines(GOOD))
    path.write_text(text, "utf-8-sig")
    marked = read_table(path)
    path.write_text(text, "utf-8")
    assert marked == read_table(path)


def test_an_editors_line_ends_and_empty_lines_do_no_harm(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_bytes("\r\n".join([*lines(GOOD), "", ""]).encode())
    (found,) = read_table(path).judgements
    assert found == Judgement(
        sample="s1", reader="ann", verdict="follows", marks=("another", "wrong-link"), candidate="Q1", note="says \\ so"
    )


@pytest.mark.parametrize(
    ("origin", "part"),
    [
        ({"content": "0ther", "dataset": "old"}, "this table is of another dataset (old, content 0ther) than set, content c0ffee"),
        ({"seed": 8}, "drawn with seed 8, not 7; give tables of one draw"),
        ({"split": "dev"}, "drawn with split dev, not all"),
    ],
)
def test_a_table_of_other_samples_is_refused(origin: dict[str, Any], part: str, tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text(table_text(Table(origin=replace(ORIGIN, **origin), judgements=())))
    with pytest.raises(InputError) as caught:
        check_origin(path, read_table(path).origin, ORIGIN)
    assert part in str(caught.value)


def test_a_sample_that_was_not_drawn_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("\n".join(lines("s9\tann\tfollows\t\t\t")) + "\n")
    with pytest.raises(UnknownId, match="sample s9 is not among the 3 that were drawn"):
        check_samples(path, read_table(path), DRAWN)


def test_every_column_is_a_field() -> None:
    assert set(COLUMNS) == set(Judgement.__dataclass_fields__)
