"""JSON files of records: every layout gives the same records, whatever the pieces it is read in, and every fault is named."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
from pathlib import Path
from typing import Annotated, Any, Literal, NotRequired

import pytest
from hypothesis import given, settings, strategies as st
from pydantic import ConfigDict, Strict, TypeAdapter
from typing_extensions import TypedDict

from kgqa.errors import BrokenInput, DuplicateId, InputError, MissingInput
from kgqa.formats.json import stream
from kgqa.formats.json.validate import Ids

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXT, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3)
)
OBJECTS = st.lists(st.dictionaries(TEXT, VALUES, max_size=3), max_size=5)


class Word(TypedDict):
    __pydantic_config__ = ConfigDict(extra="allow", strict=True)  # type: ignore[misc]

    id: str
    places: list[int]
    pair: NotRequired[Annotated[tuple[int, int], Strict(False)]]
    kind: NotRequired[Literal["a", "b"]]


WORD = TypeAdapter(Word)
ANY = TypeAdapter(dict[str, Any])


def written(folder: Path, data: str | bytes, name: str = "x.json") -> Path:
    path = folder / name
    path.write_bytes(data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data)
    return path


@given(OBJECTS, st.sampled_from(["list", "indented", "ascii", "lines", "blank lines"]), st.booleans(), st.booleans(), st.integers(1, 9))
@settings(deadline=None)
def test_every_layout_gives_the_same_records(
    tmp_path_factory: pytest.TempPathFactory, objects: list[dict[str, Any]], layout: str, mark: bool, packed: bool, chunk: int
) -> None:
    if layout in {"lines", "blank lines"}:
        text = ("\n\n" if layout == "blank lines" else "\n").join(json.dumps(value, ensure_ascii=False) for value in objects)
    else:
        text = json.dumps(objects, ensure_ascii=layout == "ascii", indent=2 if layout == "indented" else None)
    data = (b"\xef\xbb\xbf" if mark else b"") + text.encode()
    path = written(tmp_path_factory.mktemp("reading"), gzip.compress(data) if packed else data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stream, "CHUNK_BYTES", chunk + 3)
        assert [value for _, value in stream.values(path)] == objects


def test_the_place_of_a_record_is_said(tmp_path: Path) -> None:
    assert [where for where, _ in stream.values(written(tmp_path, "\n{}\n\n{}\n"))] == ["x.json, line 2", "x.json, line 4"]
    assert [where for where, _ in stream.values(written(tmp_path, "[{}, {}]"))] == ["x.json, record 1", "x.json, record 2"]


@pytest.mark.parametrize(
    ("data", "part"),
    [
        ("", "has no records"),
        ("[]", "has no records"),
        ("[", "x.json, record 1, character 1: this is not JSON"),
        ('[{"id": "a", "places": []}', "the file ends in the middle of its list"),
        ('[{"id": "a", "places": []},', "record 2, character 27: this is not JSON"),
        ('[{"id": "a", "places": [1', "record 1, character 25: this is not JSON"),
        ('[{"id": "a", "places": []} {"id"', "expected ',' between two records, found '{'"),
        ('[{"id": "a", "places": []}] x', "there is extra data after the end of the list"),
        ('[{"id": "a", "places": []}, {"id', "record 2, character 29: this is not JSON"),
        ("[1]", "record 1: expected an object"),
        ('{"id": "a", "places": [1, true]}', "line 1, field 'places.1': expected a whole number, found true or false"),
        ('{"id": "a", "places": [1, 2.0]}', "field 'places.1': expected a whole number, found a number"),
        ('{"id": 3.5, "places": []}', "field 'id': expected text, found a number"),
        ('{"id": null, "places": []}', "field 'id': expected text, found null"),
        ('{"id": "a", "places": {}}', "field 'places': expected a list, found an object"),
        ('{"id": "a", "places": [NaN]}', "line 1: this is not JSON (NaN is not a number)"),
        ('{"id": "a", "places": [1e999]}', "line 1: this is not JSON (1e999 is too large a number)"),
        ('{"id": "\\ud800", "places": []}', "line 1: a text holds half of a surrogate pair"),
        ('[{"id": "\\ud800", "places": []}]', "record 1: a text holds half of a surrogate pair"),
        ('{"id": "a", "places": []}\n3\n', "line 2: expected an object, found a number"),
        ('{"id": "a", "places": []}\n{', "line 2, character 1: this is not JSON"),
        ('{"id": "a", "places": ' + "[" * 100_000, "line 1: it is nested too deeply"),
        ('[{"id": "a", "places": ' + "[" * 100_000, "record 1: it is nested too deeply"),
        ('{"id": "a", "places": [%s]}' % ("9" * 6000), "line 1: a number has more than 4,300 digits; fix or drop the record."),
        ('[{"id": "a", "places": [%s]}]' % ("9" * 6000), "record 1: a number has more than 4,300 digits"),
        ('{"id": "a", "places": [], "pair": [1, 2, 3]}', "field 'pair': expected a list of at most 2, found one of 3; fix"),
        ('{"id": "a", "places": [], "kind": "c"}', "field 'kind': expected 'a' or 'b', found 'c'; fix"),
        (b'{"id": "a\xff"}', "line 1, byte 9: this is not UTF-8"),
        (b'[{"id": "a\xff"}]', "byte 10: this is not UTF-8"),
        ('{"id": "a"}'.encode("utf-16"), "UTF-16"),
        (b"PK\x03\x04 and so on", "this is a zip archive"),
        (bz2.compress(b"{}"), "this is bzip2 data"),
        (lzma.compress(b"{}"), "this is xz data"),
        (gzip.compress(b'{"id": "a", "places": []}' * 99, mtime=0)[:-9], "the file is truncated"),
        (b"\x1f\x8bnot gzip at all", "the gzip data are damaged"),
    ],
)
def test_what_is_no_file_of_records_is_said(data: str | bytes, part: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        list(stream.records(written(tmp_path, data), WORD))
    assert part in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_field_a_missing_file_and_a_wrong_name(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="record 1: the field 'places' is missing"):
        list(stream.records(written(tmp_path, '[{"id": "a"}]'), WORD))
    with pytest.raises(MissingInput, match="there is no such file"):
        list(stream.records(tmp_path / "none.json", WORD))
    with pytest.raises(BrokenInput, match="this is a folder"):
        list(stream.records(tmp_path, WORD))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BrokenInput, match=r"pipe: this is a pipe or device, .*; write it to a file first\."):
        list(stream.records(tmp_path / "pipe", WORD))
    with pytest.raises(BrokenInput, match=r"not gzip data although its name ends in .gz"):
        list(stream.records(written(tmp_path, "{}", "x.json.gz"), WORD))


@pytest.mark.parametrize("data", ['{"id": "%s", "places": []}', '[{"id": "%s", "places": []}]'])
def test_a_record_that_never_ends_is_refused_before_it_fills_the_memory(data: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "CHUNK_BYTES", 1 << 10)
    path = written(tmp_path, data % ("a" * (1 << 15)))
    assert len(list(stream.records(path, WORD))) == 1
    monkeypatch.setattr(stream, "RECORD_LIMIT", 1 << 14)
    with pytest.raises(BrokenInput, match="longer than 0 MiB"):
        list(stream.records(path, WORD))


def test_a_file_that_is_one_object(tmp_path: Path) -> None:
    assert stream.document(written(tmp_path, '{"a": {"b": 1}}'), ANY) == {"a": {"b": 1}}
    with pytest.raises(DuplicateId, match="the key 'b' occurs twice"):
        stream.document(written(tmp_path, '{"a": {"b": 1, "b": 2}}'), ANY)
    with pytest.raises(BrokenInput, match="expected an object, found a list"):
        stream.document(written(tmp_path, "[]"), ANY)
    with pytest.raises(BrokenInput, match="half of a surrogate pair"):
        stream.document(written(tmp_path, '{"a": "\\udc00"}'), ANY)


TWICE = ['{"k": 1, "k": 1}', '{"a": {"k": 1, "b": [], "k": 2}}', '{"a": [0, [{"b": "k"}, {"k": {}, "k" : {}}]]}', r'{"k": 1, "\u006b": 2}']


@pytest.mark.parametrize("chunk", [1, 1 << 20])
@pytest.mark.parametrize("record", TWICE)
def test_a_key_twice_in_an_object_is_refused_wherever_it_stands(
    record: str, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "CHUNK_BYTES", chunk)
    said = "the key 'k' occurs twice in one object; drop one of them."
    for data, where in ((f'[{{"k": {{"k": 1}}}}, {record}, {{}}]', "record 2"), (f'{{"k": {{"k": 1}}}}\n{record}\n', "line 2")):
        with pytest.raises(DuplicateId, match=rf"^x.json, {where}: {said}$"):
            list(stream.values(written(tmp_path, data)))
    with pytest.raises(DuplicateId, match=rf"^x.json, passage 2: {said}$"):
        list(stream.members(written(tmp_path, f'{{"1": {{"k": {{"k": 1}}}}, "2": {record}}}'), "passage"))
    with pytest.raises(DuplicateId, match=rf"^x.json: {said}$"):
        stream.document(written(tmp_path, f'{{"1": {record}}}'), ANY)


def test_the_first_record_tells_the_format(tmp_path: Path) -> None:
    for data in ('[{"a": 1}, {"b": 2}]', '{"a": 1}\n{"b": 2}\n', '{"a": 1}', '{\n"a": 1\n}\n'):
        assert stream.head(written(tmp_path, data)) == {"a": 1}


def test_an_id_may_stand_in_one_place_only() -> None:
    ids = Ids()
    ids.add("a", "x.json, line 1")
    ids.add("b", "x.json, line 2")
    with pytest.raises(DuplicateId, match=r"x.json, line 3: id a was already used in line 1; drop one of them."):
        ids.add("a", "x.json, line 3")


def test_an_id_is_not_empty() -> None:
    with pytest.raises(BrokenInput, match=r"x.json, line 3: the id is empty; give the record one of its own."):
        Ids().add("", "x.json, line 3")
