"""JSON lines and tab-separated files: every row with its line, in any size of block, and every fault with its place."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from kgqa.errors import BrokenInput, KgqaError, MissingInput
from kgqa.sources import delimited
from kgqa.sources.delimited import find_file, read_json_lines, read_tab_separated
from tests.lengths import example_count

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\t\n\r\ufeff"), max_size=8)
BLOCKS = st.sampled_from([40, 100, 8 << 20])


def written(folder: Path, data: bytes, *, packed: bool = False) -> Path:
    """A file with ``data``."""
    path = folder / ("file.gz" if packed else "file")
    path.write_bytes(gzip.compress(data) if packed else data)
    return path


@given(st.lists(st.tuples(TEXT, TEXT, st.integers(0, 2))), BLOCKS, st.booleans(), st.booleans(), st.booleans())
@settings(deadline=None, max_examples=example_count(60))
def test_json_lines_come_back_with_their_lines(
    tmp_path_factory: pytest.TempPathFactory, records: list[tuple[str, str, int]], block: int, packed: bool, ascii_only: bool, end: bool
) -> None:
    rows, expected = [], []
    for id_, text, blanks in records:
        rows += [" " * blanks] * blanks
        rows.append(json.dumps({"id": id_, "more": [{"x": 1}], "text": text}, ensure_ascii=ascii_only))
        expected.append({"id": id_, "text": text, "line": len(rows)})
    data = "\n".join(rows).encode() + (b"\n" if end else b"")
    path = written(tmp_path_factory.mktemp("json"), data, packed=packed)
    items: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "BLOCK_BYTES", block)
        assert read_json_lines(path, ("id", "text"), advance=items.append).to_pylist() == expected
    assert sum(items) == path.stat().st_size


@pytest.mark.parametrize(("head", "expected"), [("a\tb", "2"), ("a\tc", "")])
@pytest.mark.parametrize("body", ["", "1\t2\n", "1\t2\n1\t2\n"])
def test_a_column_that_may_lack_is_empty_where_it_does(head: str, expected: str, body: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"{head}\n{body}".encode())
    table = read_tab_separated(path, ("a", "b"), optional=("b",))
    rows = body.count("\n")
    assert table.select(["a", "b", "line"]).to_pylist() == [{"a": "1", "b": expected, "line": 2 + number} for number in range(rows)]
    if "b" not in head:
        with pytest.raises(MissingInput, match="'b' is missing"):
            read_tab_separated(path, ("a", "b"))


@given(st.lists(st.tuples(CELL, CELL, CELL), min_size=1), BLOCKS, st.booleans(), st.booleans(), st.sampled_from([b"\n", b"\r\n"]))
@settings(deadline=None, max_examples=example_count(60))
def test_tab_separated_rows_come_back_with_their_lines(
    tmp_path_factory: pytest.TempPathFactory, records: list[tuple[str, str, str]], block: int, packed: bool, header: bool, end: bytes
) -> None:
    rows = [("b", "other", "a"), *records] if header else records
    data = b"".join("\t".join(row).encode() + end for row in rows)
    path = written(tmp_path_factory.mktemp("tsv"), data, packed=packed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(delimited, "BLOCK_BYTES", block)
        table = read_tab_separated(path, ("a", "b") if header else ("b", "other", "a"), header=header)
    expected = [{"b": b, "a": a, "line": n} for n, (b, _, a) in enumerate(records, start=2 if header else 1)]
    assert table.select(["b", "a", "line"]).to_pylist() == expected


def check_sentence(text: str) -> None:
    """One sentence that names the file."""
    assert text.startswith("file")
    assert text.endswith(".")


@given(st.binary(max_size=120), st.sampled_from(["json", "tsv"]))
@settings(deadline=None, max_examples=example_count(300))
def test_arbitrary_bytes_are_rows_or_a_sentence(tmp_path_factory: pytest.TempPathFactory, data: bytes, kind: str) -> None:
    path = written(tmp_path_factory.mktemp("bytes"), data)
    try:
        table = read_json_lines(path, ("id",)) if kind == "json" else read_tab_separated(path, ("a", "b"), header=False)
    except KgqaError as error:
        check_sentence(str(error))
    else:
        assert table.num_rows <= data.count(b"\n") + 1


def test_a_byte_order_mark_is_no_character(tmp_path: Path) -> None:
    assert read_tab_separated(written(tmp_path, b"\xef\xbb\xbfa\tb\n1\t2\n"), ("a", "b")).to_pylist() == [{"a": "1", "b": "2", "line": 2}]
    assert read_json_lines(written(tmp_path, b'\xef\xbb\xbf{"id": "1"}\n'), ("id",)).to_pylist() == [{"id": "1", "line": 1}]


def test_a_quotation_mark_is_a_character(tmp_path: Path) -> None:
    table = read_tab_separated(written(tmp_path, b'a\tb\n"x\ty"\nNULL\t\n'), ("a", "b"))
    assert table["a"].to_pylist() == ['"x', "NULL"]
    assert table["b"].to_pylist() == ['y"', ""]


def test_a_huge_number_is_not_called_nesting(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"id": "1", "n": ' + b"9" * 5000 + b"}\n[]\n")
    with pytest.raises(BrokenInput, match=r"line 1.*digits"):
        read_json_lines(path, ("id",))


@pytest.mark.parametrize("top", [b"null", b"true", b"3", b'"x"', b"[]", b"[null]"])
@pytest.mark.parametrize("before", [b"", b"\n", b'{"id": "1"}\n'])
def test_what_is_no_object_is_named(top: bytes, before: bytes, tmp_path: Path) -> None:
    with pytest.raises(BrokenInput, match=f"line {before.count(bytes([10])) + 1}: expected an object"):
        read_json_lines(written(tmp_path, before + top + b"\n"), ("id",))


def test_a_file_is_found_plain_or_packed(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("x")
    (tmp_path / "b.tsv.gz").write_bytes(gzip.compress(b"x"))
    assert find_file(tmp_path, "a.tsv").name == "a.tsv"
    assert find_file(tmp_path, "b.tsv").name == "b.tsv.gz"
    (tmp_path / "c.tsv").mkdir()
    with pytest.raises(MissingInput, match=r"c\.tsv: this is a folder"):
        find_file(tmp_path, "c.tsv")
