"""Files in any format become the tables of an import, in parts that a stopped run goes on from."""

from __future__ import annotations

import gzip
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

import kgqa
from benchmarks.imports import wikidata
from kgqa.arrays.parallel import Threads
from kgqa.errors import (
    BrokenInput,
    EmptyResult,
    InputChanged,
    InterruptedRun,
    MissingInput,
    StorageError,
    WorkspaceError,
    WorkspaceMismatch,
)
from kgqa.progress import Silent
from kgqa.runs import importing, merging, parts
from kgqa.runs.files import alone, file_hashes
from kgqa.runs.importing import Imported, Origin, run_import
from kgqa.sources import streams
from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.imported import MANIFEST, PARTS, read_manifest
from kgqa.sources.rows import Rows
from kgqa.sources.streams import line_pieces
from tests.command import ROOT
from tests.conftest import Cli, SmallDisk

ORIGIN = Origin(format="calls", licence="cc0-1.0", attribution="Written for a test.")


@dataclass(frozen=True)
class Calls:
    """A format whose lines are calls of the methods of :class:`Rows`: ``["fact", "a", "r", "b"]``."""

    size: int = 1 << 20
    stop_at: int = -1

    def pieces(self, text: Bytes, start: int = 0) -> Iterator[Piece]:
        return line_pieces(text, start, size=self.size)

    def parse(self, piece: Piece) -> Rows:
        if 0 <= self.stop_at <= piece.position:
            raise KeyboardInterrupt
        rows = Rows()
        for line in piece.data.splitlines():
            name, *arguments = json.loads(line)
            options: dict[str, Any] = arguments.pop() if arguments and isinstance(arguments[-1], dict) else {}
            getattr(rows, name)(*arguments, **options)
        return rows


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a small file has several pieces."""
    monkeypatch.setattr(streams, "CHUNK_BYTES", 4_000)


def imported(folder: Path, *files: list[Any], parser: Calls = Calls(), out: str = "out", workers: int = 1) -> Imported:
    paths = []
    for number, calls in enumerate(files):
        path = folder / f"file-{number}.jsonl.gz"
        path.write_bytes(gzip.compress("".join(json.dumps(call) + "\n" for call in calls).encode(), mtime=0))
        paths.append(path)
    return run_import(parser, paths, folder / out, ORIGIN, engine=Threads(workers), partial=False, progress=Silent())


def table(result: Imported, name: str) -> list[tuple[Any, ...]]:
    rows = pq.read_table(result.folder / f"{name}.parquet").to_pylist()  # polars takes some folders' names for patterns
    return [tuple(row.values()) for row in rows]


def left_out(result: Imported) -> dict[str, int]:
    return {row["reason"]: row["count"] for row in result.skipped}


WIKI: list[Any] = [
    ["document", "w:1", "Lisbon", "Lisbon is the capital of Portugal."],
    ["page", "w", "Lisbon", {"document": "w:1"}],
    ["link", "w:1", 25, 33, "w", "Portuguese Republic"],
    ["link", "w:1", 0, 6, "w", "Olissipo"],
    ["document", "w:2", "Portugal", "Portugal borders Spain."],
    ["page", "w", "Portugal", {"document": "w:2"}],
    ["link", "w:2", 17, 22, "w", "Nowhere"],
    ["redirect", "w", "Portuguese Republic", "Portugal"],
    ["redirect", "w", "Olissipo", "Portuguese Republic"],
]


def test_links_follow_redirects_to_the_entity_of_a_page(tmp_path: Path) -> None:
    graph: list[Any] = [
        ["entity", "Q45", "Portugal"],
        ["page", "w", "Portugal", "Q45"],
        ["entity", "Q597", "Lisboa"],
        ["page", "w", "Lisbon", "Q597"],
    ]
    alone = imported(tmp_path, WIKI, out="alone")
    assert table(alone, "entities") == [("w:1", "entity", "Lisbon", ""), ("w:2", "entity", "Portugal", "")]
    assert table(alone, "mentions") == [("w:1", "w:2", 0, 6), ("w:1", "w:2", 25, 33)]
    assert ("w:2", "Portuguese Republic", "alias") in table(alone, "names")
    assert left_out(alone) == {"link elsewhere": 1}
    both = imported(tmp_path, WIKI, graph, out="both")
    assert [row[:3] for row in table(both, "documents")] == [("w:1", "Lisbon", "Q597"), ("w:2", "Portugal", "Q45")]
    assert table(both, "mentions") == [("w:1", "Q45", 0, 6), ("w:1", "Q45", 25, 33)]
    assert {row[0] for row in table(both, "entities")} == {"Q45", "Q597"}
    assert ("Q597", "Lisbon", "title") in table(both, "names")
    assert ("Q597", "Lisboa", "label") in table(both, "names")


def test_what_has_no_label_is_called_by_the_words_of_its_id(tmp_path: Path) -> None:
    edges: list[Any] = [
        ["entity", "big_town", ""],
        ["name", "big_town", "big town", "id"],
        ["entity", "old_port", ""],
        ["name", "old_port", "old port", "id"],
        ["relation", "nextTo", ""],
        ["name", "nextTo", "next to", "id"],
        ["relation", "partOf", ""],
        ["name", "partOf", "part of", "id"],
        ["fact", "big_town", "nextTo", "old_port"],
        ["fact", "big_town", "partOf", "old_port"],
        ["entity", "Ulm", ""],
        ["name", "Ulm", "Ulm", "id"],
    ]
    nodes: list[Any] = [["entity", "old_port", "Old Port", {"kind": "place"}], ["name", "partOf", "is a part of", "label"]]
    result = imported(tmp_path, edges, nodes)
    assert table(result, "entities") == [
        ("Ulm", "entity", "Ulm", ""),
        ("big_town", "entity", "big town", ""),
        ("old_port", "place", "Old Port", ""),
    ]
    assert table(result, "names") == [("Ulm", "Ulm", "label"), ("big_town", "big town", "label"), ("old_port", "Old Port", "label")]
    assert table(result, "relations") == [("nextTo", "next to", False), ("partOf", "is a part of", False)]
    assert left_out(result) == {"entity without a label": 2}


def test_versions_deletions_repetitions_and_unknown_ids_are_counted(tmp_path: Path) -> None:
    first: list[Any] = [
        ["document", "1", "a", "old text", {"version": 1}],
        ["mention", "1", 0, 3, "e"],
        ["document", "2", "b", "withdrawn"],
        ["document", "3", "c", "first"],
        ["document", "3", "c", "second"],
        ["document", "4", "d", " "],
        ["delete", "5"],
        ["entity", "e", ""],
        ["entity", "f", "Effe"],
        ["relation", "r", "rules", {"symmetric": True}],
        ["fact", "f", "r", "e"],
        ["fact", "e", "r", "f"],
        ["fact", "e", "s", "f"],
        ["fact", "e", "r", "e"],
        ["fact", "e", "r", "nobody"],
        ["skip", "odd record", "line 7"],
        ["skip", "odd record", "line 9"],
    ]
    second: list[Any] = [
        ["document", "1", "a", "the new text", {"version": 2}],
        ["mention", "1", 4, 7, "e"],
        ["mention", "1", 4, 12, "f"],
        ["mention", "1", 8, 99, "e"],
        ["mention", "1", 0, 3, "nobody"],
        ["delete", "2"],
        ["document", "5", "e", "added after it was withdrawn"],
        ["entity", "e", "Eee"],
        ["value", "e", "born", "time", "1952-03", {"precision": 10, "calendar": "gregorian"}],
        ["value", "nobody", "born", "time", "1952"],
    ]
    result = imported(tmp_path, first, second)
    assert table(result, "documents") == [
        ("1", "a", None, "the new text"),
        ("3", "c", None, "first"),
        ("5", "e", None, "added after it was withdrawn"),
    ]
    assert table(result, "mentions") == [("1", "f", 4, 12)]
    assert table(result, "facts") == [("e", "r", "f"), ("e", "s", "f")]
    assert table(result, "relations") == [("r", "rules", True), ("s", "s", False)]
    assert table(result, "values") == [("e", "born", "time", "1952-03", "", 10, "gregorian", "", "")]
    assert [row[2] for row in table(result, "entities")] == ["Eee", "Effe"]
    assert left_out(result) == {
        "odd record": 2,
        "repeated document": 2,
        "deleted document": 1,
        "empty document": 1,
        "mention of an unknown entity": 1,
        "mention outside its text": 1,
        "overlapping mention": 1,
        "fact of an unknown entity": 1,
        "self-loop": 1,
        "value of an unknown entity": 1,
    }
    assert left_out(result).keys() - {"odd record"} <= merging.REASONS.keys()
    assert next(row for row in result.skipped if row["reason"] == "odd record")["example"] == "line 7"


def calls(count: int, seed: int) -> list[list[Any]]:
    rng = random.Random(seed)
    result: list[list[Any]] = [["document", f"d{number}", f"Document {number}", f"Text {number} about é."] for number in range(count)]
    result += [["entity", f"e{rng.randrange(count)}", rng.choice(["", "label"])] for _ in range(count)]
    result += [["fact", f"e{rng.randrange(count)}", f"r{rng.randrange(5)}", f"e{rng.randrange(count)}"] for _ in range(count)]
    result += [
        ["mention", f"d{rng.randrange(count)}", start := rng.randrange(15), start + 2, f"e{rng.randrange(count)}"] for _ in range(count)
    ]
    rng.shuffle(result)
    return result


def test_the_same_bytes_for_any_cut_and_any_number_of_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = calls(3_000, 1), calls(2_000, 2)
    whole = imported(tmp_path, *files, out="whole")
    expected = {name: digest for name, digest in file_hashes(whole.folder).items() if name.endswith(".parquet") and "/" not in name}
    assert len(expected) == 7
    monkeypatch.setattr(importing, "PROCESSES_FROM", 0)
    monkeypatch.setattr(parts, "PART_BYTES", 60_000)
    monkeypatch.setattr(parts, "GROUP_BYTES", 20_000)
    monkeypatch.setattr(importing, "MUCH_LONGER", 0)
    cut = imported(tmp_path, *files, parser=Calls(size=9_000), out="cut", workers=2)
    monkeypatch.undo()
    monkeypatch.setattr(importing, "PROCESSES_FROM", 0)
    beside = imported(tmp_path, *files, parser=Calls(size=9_000), out="beside", workers=2)
    assert {path.parent.name for path in (cut.folder / PARTS).glob("*/*-1-facts.parquet")} == {"00000", "00001"}
    assert len(list((cut.folder / PARTS).glob("*/*-facts.parquet"))) > 10
    for folder in (cut.folder, beside.folder):
        assert {name: digest for name, digest in file_hashes(folder).items() if name in expected} == expected


def test_a_stopped_import_goes_on_in_the_middle_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "PART_BYTES", 20_000)
    files = calls(1_000, 3), calls(1_000, 4)
    whole = imported(tmp_path, *files, parser=Calls(size=5_000), out="whole")
    read: list[int] = []
    original = Calls.parse

    def parse(self: Calls, piece: Piece) -> Rows:
        read.append(len(piece.data))
        return original(self, piece)

    for stop in (30_000, 70_000, 110_000):
        monkeypatch.setattr(Calls, "parse", lambda self, piece, stop=stop: original(Calls(stop_at=stop), piece))
        with pytest.raises(InterruptedRun, match="run the same command again"):
            imported(tmp_path, *files, parser=Calls(size=5_000))
        with pytest.raises(BrokenInput, match="was not finished"):
            read_manifest(tmp_path / "out")
    monkeypatch.setattr(Calls, "parse", parse)
    result = imported(tmp_path, *files, parser=Calls(size=5_000))
    size = sum(len(gzip.decompress((tmp_path / f"file-{number}.jsonl.gz").read_bytes())) for number in range(2))
    assert 0 < sum(read) < size - 60_000
    for name in result.rows:
        assert (result.folder / f"{name}.parquet").read_bytes() == (whole.folder / f"{name}.parquet").read_bytes()
    assert result.rows == whole.rows
    assert result.skipped == whole.skipped


def test_a_further_import_adds_to_the_folder(tmp_path: Path) -> None:
    imported(tmp_path, [["entity", "a", "A"]])
    path = tmp_path / "more.jsonl"
    path.write_text('["entity", "b", "B"]\n')
    added = run_import(Calls(), [path], tmp_path / "out", ORIGIN, engine=Threads(1), partial=False, progress=Silent())
    assert [row[0] for row in table(added, "entities")] == ["a", "b"]
    again = run_import(Calls(), [path], tmp_path / "out", ORIGIN, engine=Threads(1), partial=False, progress=Silent())
    assert again.reused == ["more.jsonl"]
    other = Origin(format="calls", licence="cc0-1.0", attribution="", options={"column": "2"})
    changed = run_import(Calls(), [path], tmp_path / "out", other, engine=Threads(1), partial=False, progress=Silent())
    assert changed.reused == []
    assert [source["options"] for source in (read_manifest(tmp_path / "out") or {})["sources"]] == [{}, {}, {"column": "2"}]


def test_equal_files_of_other_names_are_both_read(tmp_path: Path) -> None:
    result = imported(tmp_path, [["entity", "a", "A"]], [["entity", "a", "A"]])
    assert len((read_manifest(result.folder) or {})["sources"]) == 2


def test_a_file_that_could_not_be_read_does_not_stand_in_the_way(tmp_path: Path) -> None:
    good = imported(tmp_path, [["entity", "a", "A"]])
    before = {path.name: path.read_bytes() for path in good.folder.glob("*.parquet")}
    bad = tmp_path / "bad.jsonl"
    bad.write_text('["entity", "b", "B"]\n' + '["entity"]\n')
    with pytest.raises(TypeError):
        run_import(Calls(), [bad], good.folder, ORIGIN, engine=Threads(1), partial=False, progress=Silent())
    assert {path.name: path.read_bytes() for path in good.folder.glob("*.parquet")} == before
    more = tmp_path / "more.jsonl"
    more.write_text('["entity", "c", "C"]\n')
    result = run_import(Calls(), [more], good.folder, ORIGIN, engine=Threads(1), partial=False, progress=Silent())
    assert [row[0] for row in table(result, "entities")] == ["a", "c"]
    assert [source["file"] for source in (read_manifest(good.folder) or {})["sources"]] == ["file-0.jsonl.gz", "more.jsonl"]
    assert result.notes == ["bad.jsonl: an earlier import did not read this whole, so it is left out; import it again to add it."]
    bad.write_text('["entity", "b", "B"]\n')
    origin = replace(ORIGIN, options={"column": 2})
    result = run_import(Calls(), [bad], good.folder, origin, engine=Threads(1), partial=False, progress=Silent())
    assert [row[0] for row in table(result, "entities")] == ["a", "b", "c"]
    assert result.notes == [], "the mended file was read, with other options than the first time"


def test_cut_files_of_one_name_in_two_folders_are_both_kept(tmp_path: Path) -> None:
    counts = []
    for year in ("2023", "2024"):
        path = tmp_path / year / "part.jsonl.gz"
        path.parent.mkdir()
        lines = [json.dumps({"id": f"{year}-{number}", "text": f"text {number * 7919 % 10000}"}) for number in range(5000)]
        path.write_bytes(gzip.compress("\n".join(lines).encode())[:-2000])
        result = kgqa.import_files("texts", [path], out=tmp_path / "out", partial=True)
        counts.append({row[0][:4] for row in table(result, "documents")})
    assert counts == [{"2023"}, {"2023", "2024"}]


def test_a_mended_file_takes_the_place_of_the_broken_one(tmp_path: Path) -> None:
    good = imported(tmp_path, [["entity", "a", "A"]])
    path = tmp_path / "more.jsonl"
    for text in ('["entity"]\n', '["entity", "b"]\n'):
        path.write_text(text)
        with pytest.raises(TypeError):
            run_import(Calls(), [path], good.folder, ORIGIN, engine=Threads(1), partial=False, progress=Silent())
    path.write_text('["entity", "b", "B"]\n')
    mended = run_import(Calls(), [path], good.folder, ORIGIN, engine=Threads(1), partial=False, progress=Silent())
    assert mended.notes == []
    assert [row[0] for row in table(mended, "entities")] == ["a", "b"]
    assert [source["file"] for source in (read_manifest(good.folder) or {})["sources"]] == ["file-0.jsonl.gz", "more.jsonl"]


def test_a_changed_file_takes_the_place_of_what_was_read_of_it(tmp_path: Path) -> None:
    imported(tmp_path, [["entity", "a", "A"]], [["entity", "b", "B"], ["skip", "odd record", "line 2"]])
    mended = imported(tmp_path, [["entity", "a", "A"]], [["entity", "c", "C"], ["entity", "d", "D"]])
    assert [row[0] for row in table(mended, "entities")] == ["a", "c", "d"]
    assert left_out(mended) == {}
    assert len((read_manifest(mended.folder) or {})["sources"]) == 2
    assert {path.name for path in (mended.folder / PARTS).iterdir() if path.is_dir()} == {"00000", "00002"}


def test_a_changed_file_that_cannot_be_read_takes_the_place_of_nothing(tmp_path: Path) -> None:
    imported(tmp_path, [["entity", "a", "A"]], [["entity", "b", "B"]])
    with pytest.raises(TypeError):
        imported(tmp_path, [["entity", "a", "A"]], [["entity"]])
    first = imported(tmp_path, [["entity", "a", "A"]])
    assert [row[0] for row in table(first, "entities")] == ["a", "b"]
    mended = imported(tmp_path, [["entity", "a", "A"]], [["entity", "c", "C"]])
    assert [row[0] for row in table(mended, "entities")] == ["a", "c"]
    assert mended.notes == []


def test_a_whole_file_takes_the_place_of_a_cut_one(tmp_path: Path, cli: Cli) -> None:
    lines = "".join(f'{{"id": "d{number}", "text": "word {number}"}}\n' for number in range(3000))
    packed, path = gzip.compress(lines.encode()), tmp_path / "texts.jsonl.gz"
    path.write_bytes(packed[: len(packed) // 2])
    assert "texts.jsonl.gz" in cli("import", "texts", path, "--partial", "--out", tmp_path / "out").out
    path.write_bytes(packed)
    outcome = cli("import", "texts", path, "--out", tmp_path / "out")
    assert (outcome.status, outcome.out.count("documents 3,000")) == (0, 1)
    manifest = read_manifest(tmp_path / "out") or {}
    assert (manifest["notes"], [source["partial"] for source in manifest["sources"]]) == ([], [False])


@pytest.mark.parametrize("damage", ["journal", "kinds", "part", "cut part"])
def test_damaged_parts_are_made_again_or_left_out_with_a_note(tmp_path: Path, damage: str) -> None:
    first = imported(tmp_path, [["entity", "a", "A"]], [["entity", "b", "B"]])
    place = first.folder / PARTS / "00000"
    part = next(place.glob("*.parquet"))
    if damage == "journal":
        (place / "journal.json").write_text("null")
    elif damage == "kinds":
        values = json.loads((place / "journal.json").read_text())
        (place / "journal.json").write_text(json.dumps({**values, "done": "no", "skipped": []}))
    elif damage == "part":
        part.unlink()
    else:
        part.write_bytes(part.read_bytes()[:-9])
    more = tmp_path / "more.jsonl"
    more.write_text('["entity", "c", "C"]\n')
    others = run_import(Calls(), [more], first.folder, ORIGIN, engine=Threads(1), partial=False, progress=Silent())
    assert [row[0] for row in table(others, "entities")] == ["b", "c"]
    assert others.notes[0].startswith("file-0.jsonl.gz: an earlier import did not read this whole")
    mended = imported(tmp_path, [["entity", "a", "A"]], [["entity", "b", "B"]])
    assert [row[0] for row in table(mended, "entities")] == ["a", "b", "c"]
    assert mended.reused == ["file-1.jsonl.gz"]


VICTIM = '{"../../victim": {"file": "a", "format": "b", "sha256": "c", "licence": "d"}}'


@pytest.mark.parametrize("text", ["null", "3", "[1]", '{"00000": "x"}', VICTIM])
def test_a_list_of_sources_that_no_import_wrote_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "thesis.txt").write_text("mine")
    result = imported(tmp_path, [["entity", "a", "A"]])
    (result.folder / PARTS / "sources.json").write_text(text)
    with pytest.raises(WorkspaceMismatch, match="not written by an import"):
        imported(tmp_path, [["entity", "a", "A"]])
    assert (tmp_path / "victim" / "thesis.txt").read_text() == "mine"


@pytest.mark.parametrize("name", ["b*", "a[1]", "c?", "d'e", 'f"g'])
def test_folders_with_strange_names_hold_their_own_rows(tmp_path: Path, name: str) -> None:
    for neighbour in ("bx", "a1", "cx"):
        imported(tmp_path, [["entity", "other", ""]], out=neighbour)
    assert [row[0] for row in table(imported(tmp_path, [["entity", "a", "A"]], out=name), "entities")] == ["a"]


@pytest.mark.parametrize("name", ["h\n", "i\udcff"])
def test_folders_with_names_that_cannot_be_printed_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(StorageError, match="cannot be printed"):
        imported(tmp_path, [["entity", "a", "A"]], out=name)


def test_someones_folder_with_parts_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "out" / PARTS).mkdir(parents=True)
    (tmp_path / "out" / "entities.parquet").write_text("precious")
    with pytest.raises(StorageError, match="not an import"):
        imported(tmp_path, [["entity", "a", "A"]])
    assert (tmp_path / "out" / "entities.parquet").read_text() == "precious"


def test_an_import_without_its_parts_is_known_and_left_alone(tmp_path: Path) -> None:
    first = imported(tmp_path, [["entity", "a", "A"]])
    shutil.rmtree(first.folder / PARTS)
    before = file_hashes(first.folder)
    with pytest.raises(StorageError, match=r"an import without \.parts, to which nothing can be added; import all files into another"):
        imported(tmp_path, [["entity", "a", "A"]], [["entity", "b", "B"]])
    assert file_hashes(first.folder) == before


@pytest.mark.parametrize("place", ["out", "deeper/out"])
@pytest.mark.parametrize(("text", "says"), [('{"id": 1', "cut"), ('{"id": "1"}\n', "neither entities nor documents")])
def test_an_import_that_fails_leaves_nothing_new(tmp_path: Path, cli: Cli, text: str, says: str, place: str) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text(text)
    cli("import", "texts", path, "--out", tmp_path / place).sentence(says)
    assert list(tmp_path.iterdir()) == [path]


def test_files_that_were_read_before_another_failed_are_kept(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    good.write_text('{"id": "1", "text": "word"}\n')
    bad.write_text('{"id": 1')
    with pytest.raises(BrokenInput, match="bad"):
        kgqa.import_files("texts", [good, bad], out=tmp_path / "out", workers=1)
    assert kgqa.import_files("texts", [good], out=tmp_path / "out", workers=1).reused == ["good.jsonl"]


def test_a_damaged_manifest_is_written_anew_and_that_is_said(tmp_path: Path, cli: Cli) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text('{"id": "1", "text": "word"}\n')
    assert "was damaged" not in cli("import", "texts", path, "--out", tmp_path / "out").out
    manifest = (tmp_path / "out" / MANIFEST).read_bytes()
    (tmp_path / "out" / MANIFEST).write_bytes(manifest[:40])
    assert f"{MANIFEST} was damaged and is written anew" in cli("import", "texts", path, "--out", tmp_path / "out").out
    assert (tmp_path / "out" / MANIFEST).read_bytes() == manifest


CUT_IN = {
    "the packing": ("wikipedia", gzip.compress(b"<mediawiki>")[:12]),
    "the first line": ("texts", gzip.compress(json.dumps({"id": "1", "text": "w" * 99}).encode())[:-30]),
    "the head": ("wikipedia", b"<mediawiki><siteinfo>"),
    "the first element": ("wikipedia", b"<mediawiki><page><title>A"),
}


@pytest.mark.parametrize("where", CUT_IN)
def test_a_cut_file_without_a_whole_record_is_said_to_be_cut(where: str, tmp_path: Path, cli: Cli) -> None:
    format_name, content = CUT_IN[where]
    (tmp_path / "dump").write_bytes(content)
    cli("import", format_name, tmp_path / "dump", "--partial", "--out", tmp_path / "out").sentence("dump: ", "cut")


@pytest.mark.slow
def test_workers_end_with_the_main_process(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(f'{{"id": "{number}", "title": "T", "text": "{"word " * 200}"}}\n' for number in range(60_000)))
    command = [sys.executable, "-m", "kgqa", "import", "texts", str(path), "--out", str(tmp_path / "out"), "--workers", "2"]
    process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    workers: set[int] = set()
    while process.poll() is None and len(workers) < 2:
        workers = {child for child in children(process.pid) if is_worker(child)}
        time.sleep(0.05)
    assert process.poll() is None
    process.kill()
    process.wait()
    ends = time.monotonic() + 30
    while any(is_worker(worker) for worker in workers):
        assert time.monotonic() < ends
        time.sleep(0.1)


def killed(step: int, out: Path, part_bytes: int, workers: int, files: list[Path], format: str) -> str | None:  # noqa: A002
    """What an import printed that kills itself at that step; None if it did."""
    module = [sys.executable, "-m", "tests.runs.killed_import"]
    command = [*module, str(step), str(out), str(part_bytes), str(workers), format, *map(str, files)]
    result = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode in {0, -9}, result.stderr
    return result.stdout if result.returncode == 0 else None


def check_kills(folder: Path, files: list[Path], format: str, part_bytes: int, kills: int, workers: int) -> None:  # noqa: A002
    """Kills at steps spread over the run, each time going on, give the tables of a run that nobody stops."""
    steps = int((killed(0, folder / "whole", part_bytes, workers, files, format) or "").rpartition(" ")[2])
    tables = {path.name: path.read_bytes() for path in (folder / "whole").glob("*.parquet")}
    assert len(tables) == 7
    left, stops = steps, 0
    for kill in range(kills):
        # The steps that are left are divided among the kills that are left. Merging always begins anew.
        if killed(max(1, left // (kills + 1 - kill)), folder / "out", part_bytes, workers, files, format) is None:
            stops += 1
        assert not (folder / "out" / MANIFEST).exists()
        noted = sum(json.loads(path.read_text())["parts"] for path in (folder / "out" / PARTS).glob("*/journal.json"))
        left = steps - noted
    merging_steps = left
    for step in range(1, merging_steps + 1, max(1, merging_steps // (kills // 2))):
        assert killed(step, folder / "out", part_bytes, workers, files, format) is None
        assert not (folder / "out" / MANIFEST).exists()
    assert stops == kills
    assert killed(0, folder / "out", part_bytes, workers, files, format) is not None
    assert {path.name: path.read_bytes() for path in (folder / "out").glob("*.parquet")} == tables
    assert read_manifest(folder / "out") == read_manifest(folder / "whole")
    assert not [path for path in (folder / "out").iterdir() if path.name.endswith(".partial")]
    noted_files = {name for path in (folder / "out" / PARTS).glob("*/journal.json") for name in json.loads(path.read_text())["files"]}
    assert {path.name for path in (folder / "out" / PARTS).glob("*/*.parquet")} == noted_files


@pytest.mark.slow
def test_an_import_that_is_killed_goes_on_to_the_same_tables(tmp_path: Path) -> None:
    files = []
    for number in range(2):
        lines = [f'{{"id": "d{number}.{at}", "title": "T{at}", "text": "{"word " * 40}", "about": "e{at}"}}\n' for at in range(50_000)]
        files.append(tmp_path / f"texts-{number}.jsonl")
        files[-1].write_text("".join(lines))
    check_kills(tmp_path, files, "texts", 5 << 20, 2, 1)


@pytest.mark.slow
@pytest.mark.real_data
def test_kills_of_an_import_of_real_items(tmp_path: Path, real_data: Path, pytestconfig: pytest.Config) -> None:
    folder = real_data / "sources" / "wikidata"
    path = tmp_path / "items.json.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for part in wikidata(folder, 30):
            file.write(part)
    check_kills(tmp_path, [path], "wikidata", 4 << 20, 10 if pytestconfig.getoption("--thorough") else 3, 2)


def children(parent: int) -> list[int]:
    """Processes that the main thread of ``parent`` started."""
    with suppress(OSError):
        return [int(word) for word in Path(f"/proc/{parent}/task/{parent}/children").read_text().split()]
    return []


def test_what_cannot_be_imported_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="no such file"):
        run_import(Calls(), [tmp_path / "absent"], tmp_path / "out", ORIGIN, engine=Threads(1), partial=False, progress=Silent())
    assert not (tmp_path / "out").exists()
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.txt").write_text("mine")
    with pytest.raises(StorageError, match="not an import"):
        imported(tmp_path, [["entity", "a", "A"]], out="taken")
    assert (tmp_path / "taken" / "thesis.txt").read_text() == "mine"
    with pytest.raises(EmptyResult, match=r"neither entities nor documents.*odd \(1\)"):
        imported(tmp_path, [["skip", "odd", "line 1"]], out="empty")
    assert not (tmp_path / "empty" / MANIFEST).exists()


def test_a_file_that_changes_while_it_is_read_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = Calls.pieces

    def pieces(self: Calls, text: Bytes, start: int = 0) -> Iterator[Piece]:
        (tmp_path / "file-0.jsonl.gz").write_bytes(gzip.compress(b'["entity", "b", "B"]\n'))
        return original(self, text, start)

    with monkeypatch.context() as patched:
        patched.setattr(Calls, "pieces", pieces)
        with pytest.raises(InputChanged):
            imported(tmp_path, [["entity", "a", "A"]])
    assert not (tmp_path / "out" / MANIFEST).exists()
    # What was read of the other file does not count when the first one is there again.
    assert [row[0] for row in table(imported(tmp_path, [["entity", "a", "A"]]), "entities")] == ["a"]


def is_worker(process: int) -> bool:
    with suppress(OSError):
        return b"spawn_main" in Path(f"/proc/{process}/cmdline").read_bytes()
    return False


@pytest.mark.slow
def test_two_imports_into_one_folder_at_once_take_turns(tmp_path: Path) -> None:
    started = []
    for number in range(2):
        path = tmp_path / f"texts-{number}.jsonl"
        path.write_text("".join(f'{{"id": "{number}.{at}", "title": "T", "text": "word"}}\n' for at in range(1_000)))
        command = [sys.executable, "-m", "kgqa", "import", "texts", str(path), "--out", str(tmp_path / "out"), "--workers", "1"]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=pipe, stderr=pipe, text=True))
    for process in started:
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, out + err
    assert pq.read_table(tmp_path / "out" / "documents.parquet").num_rows == 2_000
    assert len((read_manifest(tmp_path / "out") or {})["sources"]) == 2


def test_a_second_import_says_for_whom_it_waits(tmp_path: Path) -> None:
    path = tmp_path / "texts.jsonl"
    path.write_text('{"id": "1", "text": "word"}\n')
    (tmp_path / "out").mkdir()
    command = [sys.executable, "-m", "kgqa", "import", "texts", str(path), "--out", str(tmp_path / "out")]
    with alone(tmp_path / "out" / MANIFEST):
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}
        waiting = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert waiting.stdout is not None
        first = waiting.stdout.readline()
        assert re.match(rf"Waiting: (process {os.getpid()}|another process) imports into {re.escape(str(tmp_path / 'out'))}; this", first)
        assert waiting.poll() is None
    out, err = waiting.communicate(timeout=120)
    assert (waiting.returncode, "documents 1" in out) == (0, True), err


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_full_disk_is_one_sentence_and_the_import_goes_on_when_there_is_room(
    tmp_path: Path, small_disk: SmallDisk, cli: Cli, monkeypatch: pytest.MonkeyPatch, workers: int
) -> None:
    rng = random.Random(1)
    path = tmp_path / "texts.jsonl"
    path.write_text("".join(f'{{"id": "{at}", "title": "T", "text": "{rng.randbytes(500).hex()}"}}\n' for at in range(12_000)))
    monkeypatch.setattr(importing, "PROCESSES_FROM", 0)
    monkeypatch.setattr(parts, "PART_BYTES", 4 << 20)
    for size in (2, 5, 9):  # while parts are written, and in the merge
        small_disk.mount(f"size={size}m")
        outcome = cli("import", "texts", path, "--out", small_disk.path / "out", "--workers", workers)
        outcome.sentence(str(small_disk.path / "out"), "the disk is full; free some space and run the same command again")
        assert not (small_disk.path / "out" / MANIFEST).exists()
    small_disk.mount("size=100m")
    assert cli("import", "texts", path, "--out", small_disk.path / "out", "--workers", workers).status == 0
    assert pq.read_table(small_disk.path / "out" / "documents.parquet").num_rows == 12_000


class _Mortal(Calls):
    """Its process is killed, as for lack of memory, before the piece that reaches a position is parsed."""

    def parse(self, piece: Piece) -> Rows:
        if piece.position + len(piece.data) > 30_000 and b"spawn_main" in Path("/proc/self/cmdline").read_bytes():
            os.kill(os.getpid(), signal.SIGKILL)
        return super().parse(piece)


@pytest.mark.parametrize("much_longer", [2, pytest.param(0, marks=pytest.mark.slow)])
def test_a_killed_process_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, much_longer: int) -> None:
    monkeypatch.setattr(importing, "PROCESSES_FROM", 0)
    monkeypatch.setattr(importing, "MUCH_LONGER", much_longer)
    monkeypatch.setattr(parts, "PART_BYTES", 10_000)
    files = calls(1_000, 5), calls(1_000, 6)
    with pytest.raises(WorkspaceError, match="a process that parsed a file was killed, probably for lack of memory"):
        imported(tmp_path, *files, parser=_Mortal(size=5_000), workers=2)
    whole = imported(tmp_path, *files, parser=Calls(size=5_000), out="whole")
    assert imported(tmp_path, *files, parser=Calls(size=5_000)).rows == whole.rows


@pytest.mark.slow
def test_an_error_in_one_file_stops_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "PROCESSES_FROM", 0)
    good = tmp_path / "good.jsonl"
    good.write_text("".join(f'{{"id": "{at}", "title": "T", "text": "{"word " * 200}"}}\n' for at in range(100_000)))
    bad = tmp_path / "bad.jsonl"
    bad.write_text(good.read_text()[:-400])
    with pytest.raises(BrokenInput, match=r"^bad.jsonl: line 100000 ends within a record, so the file is cut"):
        kgqa.import_files("texts", [good, bad], out=tmp_path / "out", workers=2)
    assert not (tmp_path / "out" / MANIFEST).exists()


@pytest.mark.parametrize(
    ("kind", "text", "sentence"),
    [
        ("neo4j", "", "the setting 'facts' is missing; add it."),
        ("neo4j", "[[[", "the queries are not TOML: "),
        ("neo4j", "facts = 5", "the setting 'facts' cannot be 5: it must be "),
        ("sparql", "DELETE", "a query is not a SELECT query with variables; fix the query."),
    ],
)
def test_a_fault_of_queries_is_said_with_their_file(kind: str, text: str, sentence: str, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "towns.toml").write_text(text)
    address = ["--option", "endpoint=http://127.0.0.1:9/sparql"] if kind == "sparql" else []
    cli("import", kind, tmp_path / "towns.toml", "--out", tmp_path / "out", *address).sentence(f"towns.toml: {sentence}")
