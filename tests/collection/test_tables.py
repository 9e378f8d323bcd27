"""The table: read(write(x)) == x, a faulty one is one sentence with its line, and what is stored is on the disk."""

from __future__ import annotations

import multiprocessing
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kgqa.collection.draw import MOST_SAMPLE, DrawnSamples, Origin
from kgqa.collection.tables.book import Book
from kgqa.collection.tables.table import COLUMNS, Judgement, Table, in_order, read_table, table_text
from kgqa.collection.verdicts import TABLE_MARKS, VERDICTS
from kgqa.errors import MOST_SEED, BrokenInput, DuplicateId, InputError, KgqaError, MissingInput, SettingsError, StorageError, UnknownId
from tests.conftest import SmallDisk

ORIGIN = Origin(dataset="set", content="c0ffee", split="all", seed=7, sample=4)
DRAWN = DrawnSamples(origin=ORIGIN, splits=dict.fromkeys(["s3", "s1", "s2"], "dev"), available=9)
MANY = DrawnSamples(origin=replace(ORIGIN, sample=40), splits=dict.fromkeys((f"s{number:02}" for number in range(40)), "dev"), available=40)
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
        ({0: "id\tverdict"}, BrokenInput, "line 1: a table of kgqa review begins with"),
        ({0: "# kgqa review 2"}, BrokenInput, "line 1:"),
        ({2: "# contents: x"}, BrokenInput, "line 3: expected '# content: '"),
        ({4: "# seed: seven"}, BrokenInput, "line 5: the seed 'seven' is no number"),
        ({4: "# seed: 2147483648"}, BrokenInput, "line 5: the seed '2147483648' is no number between 0 and 2147483647"),
        ({5: "# sample: 0"}, BrokenInput, "line 6: the sample '0' is no number between 1"),
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


def test_what_is_stored_is_on_the_disk_in_the_order_of_the_draw(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    book = Book(path, DRAWN, reader="ann")
    assert read_table(path) == Table(origin=ORIGIN, judgements=())
    book.store(Judgement(sample="s2", reader="?", verdict="follows"))
    book.store(Judgement(sample="s3", reader="?", note="a\tb\nc"))
    assert [each.sample for each in read_table(path).judgements] == ["s3", "s2"]
    again = Book(path, DRAWN, reader="ann")
    assert again.judgements() == {each.sample: each for each in read_table(path).judgements}
    assert again.store(Judgement(sample="s2", reader="ann", verdict="likely"))["s2"].verdict == "likely"
    assert list(again.store(Judgement(sample="s2", reader="ann"))) == ["s3"]
    assert [path.name for path in tmp_path.iterdir()] == ["t.tsv"]


def test_readers_may_share_a_table_and_do_not_see_each_other(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    ann, bob = (Book(path, DRAWN, reader=name) for name in ("ann", "bob"))
    ann.store(Judgement(sample="s1", reader="ann", verdict="follows"))
    bob.store(Judgement(sample="s1", reader="bob", verdict="likely"))
    assert ann.judgements()["s1"].verdict == "follows"
    assert bob.judgements()["s1"].verdict == "likely"
    assert len(read_table(path).judgements) == 2


@pytest.mark.parametrize(
    ("origin", "part"),
    [
        ({"content": "0ther", "dataset": "old"}, "this table is of another dataset (old, content 0ther) than set, content c0ffee"),
        ({"seed": 8}, "drawn with seed 8, not 7; give --seed 8, or another --table"),
        ({"split": "dev"}, "drawn with split dev, not all"),
    ],
)
def test_a_table_of_other_samples_is_refused(origin: dict[str, Any], part: str, tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text(table_text(Table(origin=replace(ORIGIN, **origin), judgements=())))
    before = path.read_bytes()
    with pytest.raises(InputError) as caught:
        Book(path, DRAWN, reader="ann")
    assert part in str(caught.value)
    assert path.read_bytes() == before


def test_a_sample_that_was_not_drawn_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("\n".join(lines("s9\tann\tfollows\t\t\t")) + "\n")
    with pytest.raises(UnknownId, match="sample s9 is not among the 3 that were drawn"):
        Book(path, DRAWN, reader="ann")


@pytest.mark.parametrize("reader", ["", " ", "a\tb", "a\nb"])
def test_a_reader_has_a_name(reader: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="is no name"):
        Book(tmp_path / "t.tsv", DRAWN, reader=reader)
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_known_at_once(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        Book(tmp_path / "none" / "t.tsv", DRAWN, reader="ann")
    (tmp_path / "folder").mkdir()
    with pytest.raises(MissingInput, match="no such file"):
        Book(tmp_path / "folder", DRAWN, reader="ann")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real.tsv").write_text(table_text(Table(origin=ORIGIN, judgements=())))
    (tmp_path / "link.tsv").symlink_to("real.tsv")
    Book(tmp_path / "link.tsv", DRAWN, reader="ann").store(Judgement(sample="s1", reader="ann", verdict="likely"))
    assert (tmp_path / "link.tsv").is_symlink()
    assert len(read_table(tmp_path / "real.tsv").judgements) == 1


def test_a_full_disk_leaves_what_was_there(small_disk: SmallDisk) -> None:
    path = small_disk.path / "t.tsv"
    book = Book(path, DRAWN, reader="ann")
    book.store(Judgement(sample="s1", reader="ann", verdict="likely"))
    before = path.read_bytes()
    with (small_disk.path / "filler").open("wb", buffering=0) as filler, suppress(OSError):
        while True:
            filler.write(bytes(1 << 12))
    with pytest.raises(StorageError, match="the disk is full"):
        book.store(Judgement(sample="s2", reader="ann", note="x" * 2000))
    assert path.read_bytes() == before
    small_disk.mount("ro,size=1m")
    with pytest.raises(StorageError, match="read-only"):
        book.store(Judgement(sample="s2", reader="ann", verdict="likely"))
    assert path.read_bytes() == before
    assert {path.name for path in small_disk.path.iterdir()} == {"t.tsv", "filler"}


def test_half_a_character_is_written_as_a_question_mark(tmp_path: Path) -> None:
    book = Book(tmp_path / "t.tsv", DRAWN, reader="ann")
    book.store(Judgement(sample="s1", reader="ann", note="\ud83d"))
    assert book.judgements()["s1"].note == "?"


def _judge(path: str, reader: str, start: Any) -> None:
    book = Book(Path(path), MANY, reader=reader)
    start.wait()
    for sample in MANY.splits:
        book.store(Judgement(sample=sample, reader=reader, verdict="follows"))


def test_two_processes_lose_no_word_of_one_table(tmp_path: Path) -> None:
    processes = multiprocessing.get_context("spawn")
    start = processes.Barrier(2)
    both = [processes.Process(target=_judge, args=(str(tmp_path / "t.tsv"), name, start)) for name in ("ann", "bob")]
    for each in both:
        each.start()
    for each in both:
        each.join()
    assert [each.exitcode for each in both] == [0, 0]
    said = {(each.sample, each.reader) for each in read_table(tmp_path / "t.tsv").judgements}
    assert said == {(sample, reader) for sample in MANY.splits for reader in ("ann", "bob")}
    assert [path.name for path in tmp_path.iterdir()] == ["t.tsv"]


def test_every_column_is_a_field() -> None:
    assert set(COLUMNS) == set(Judgement.__dataclass_fields__)
