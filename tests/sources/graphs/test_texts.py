"""Plain texts: JSON lines with fields of any names, and text files."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from kgqa.errors import BrokenInput, InputError
from kgqa.sources.graphs.texts import JsonTexts, TextFiles
from kgqa.sources.streams import TextFile
from tests.lengths import example_count
from tests.sources.graphs.memory_text import MemoryText, check_sentence, read


def lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def test_json_lines_with_the_usual_fields() -> None:
    found = read(
        JsonTexts(), lines({"id": 7, "text": "A text. ", "more": [1]}, {"id": "b", "title": "B", "text": "It.", "about": "q1"}), "x.jsonl"
    )
    assert found["documents"] == {("7", "", None, "A text.", 0), ("b", "B", "q1", "It.", 0)}
    assert not found.skipped


def test_fields_may_be_named() -> None:
    parser = JsonTexts(id="pmid", title="heading", text="abstract", about="drug", name_of_about=True)
    found = read(parser, lines({"pmid": 12, "heading": "Aspirin", "abstract": "It helps.", "drug": "DB1", "id": "no"}), "x.jsonl")
    assert found["documents"] == {("12", "Aspirin", "DB1", "It helps.", 0)}
    assert found["names"] == {("DB1", "Aspirin", "title")}


def test_a_title_may_name_the_entity() -> None:
    found = read(
        JsonTexts(about="title", space="_"), lines({"id": "a", "title": "New York", "text": "x"}, {"id": "b", "text": "y"}), "x.jsonl"
    )
    assert found["documents"] == {("a", "New York", "New_York", "x", 0), ("b", "", None, "y", 0)}


def test_what_is_no_document_is_skipped_with_its_line() -> None:
    records = [{"id": f"d{number}", "text": "x"} for number in range(5)]
    text = (
        lines(*records)
        + "\n{no json}\n"
        + lines({"text": "x"}, {"id": "e", "text": " "}, {"id": "f", "text": [3]}, {"id": True, "text": "x"}, [])
    )
    found = read(JsonTexts(), text, "x.jsonl")
    assert len(found["documents"]) == 5
    assert found.skipped == {"line that is no record": 4, "document without 'id'": 1, "document without 'text'": 1}
    assert found.examples["line that is no record"] == "x.jsonl, line 7"


def test_lines_that_are_no_records_are_an_error() -> None:
    with pytest.raises(BrokenInput, match=r"^x.jsonl, line 1: this is not a record with these fields"):
        read(JsonTexts(), "[1]\n[2]\n", "x.jsonl")


def test_a_file_cut_within_a_line() -> None:
    data = lines({"id": "a", "text": "x"}, {"id": "b", "text": "y"}).encode()[:-5]
    with pytest.raises(BrokenInput, match="line 2 ends within a record"):
        read(JsonTexts(), data, "x.jsonl")
    assert {row[0] for row in read(JsonTexts(), MemoryText("x.jsonl", data, partial=True))["documents"]} == {"a"}
    assert len(read(JsonTexts(), lines({"id": "a", "text": "x"}).strip(), "x.jsonl")["documents"]) == 1


def test_text_files(tmp_path: Path) -> None:
    path = tmp_path / "Ada_Lovelace.txt"
    path.write_text("Ada\n\nShe wrote a program.\n", encoding="utf-16")
    text = TextFile(path)
    found = [list(parser.parse(*parser.pieces(text)).tables()["documents"].to_pylist()[0].values()) for parser in (
        TextFiles(), TextFiles(title="first line", about="name")
    )]  # fmt: skip
    assert found == [
        ["Ada_Lovelace", "Ada Lovelace", None, "Ada\n\nShe wrote a program.", 0],
        ["Ada_Lovelace", "Ada", "Ada_Lovelace", "She wrote a program.", 0],
    ]
    assert read(TextFiles(), " \n", "x.txt.gz").skipped == {"document without text": 1}
    with pytest.raises(BrokenInput, match=r"x.txt, line 2: this is not UTF-8"):
        read(TextFiles(), b"a\n\xe9t\xe9", "x.txt")
    assert pickle.loads(pickle.dumps(TextFiles(about="name"))) == TextFiles(about="name")


@given(st.binary(max_size=60) | st.text(st.sampled_from('{}[]":,\n a1\\'), max_size=40).map(str.encode), st.booleans())
@settings(deadline=None, max_examples=example_count(200))
def test_any_bytes_are_rows_or_a_sentence(data: bytes, as_lines: bool) -> None:
    try:
        read(JsonTexts() if as_lines else TextFiles(), data, "f.txt")
    except InputError as error:
        check_sentence(error, "f.txt")


@pytest.mark.real_data
def test_real_documents_under_names_of_our_own(real_data: Path) -> None:
    path = real_data / "wikidata" / "documents.jsonl.gz"
    data = next(TextFile(path).chunks())
    whole = data[: data.rfind(b"\n") + 1]
    found = read(JsonTexts(about="entity"), whole, path.name)
    expected = [json.loads(line) for line in whole.splitlines()]
    assert found["documents"] == {
        (row["id"], row["title"], row["entity"], row["text"].strip(), 0) for row in expected if row["text"].strip()
    }


def test_a_text_cut_within_a_character() -> None:
    whole = "Ada wrote a programme. Elle était".encode()
    cut = whole[: whole.index("é".encode()) + 1]
    with pytest.raises(BrokenInput, match=r"^x.txt: the file ends within a character, so it is cut"):
        read(TextFiles(), cut, "x.txt")
    text = MemoryText("x.txt", cut, partial=True)
    assert {row[3] for row in read(TextFiles(), text)["documents"]} == {"Ada wrote a programme. Elle"}
    assert len(text.notes) == 1
    with pytest.raises(BrokenInput, match="line 1: this is not UTF-8"):
        read(TextFiles(), b"caf\xe9 au lait", "x.txt")
