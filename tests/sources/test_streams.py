"""Packed files as text, cut into whole lines and elements."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from kgqa.errors import BrokenInput, MissingInput
from kgqa.sources import streams
from kgqa.sources.formats import Piece
from kgqa.sources.streams import TextFile, element_pieces, line_pieces
from tests.conftest import Cli

PACK: dict[str, Callable[[bytes], bytes]] = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
LINES = b"".join(b"line %d of a file\n" % number for number in range(200_000))
PAGES = [f"<page><id>{number}</id><text>{'städtisch ' * (number % 7)}</text></page>" for number in range(3_000)]
SIZE = 1 << 16
"""Of chunks, so that a small file has several."""
DUMP = ("<dump><info>a\n</info>\n" + "\n".join(PAGES) + "\n</dump>\n").encode()


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "CHUNK_BYTES", SIZE)


def file(folder: Path, data: bytes, ending: str = "") -> TextFile:
    path = folder / f"data.xml{ending}"
    path.write_bytes(PACK[ending](data))
    return TextFile(path)


@pytest.mark.parametrize("ending", PACK)
def test_lines_are_whole_in_every_packing(tmp_path: Path, ending: str) -> None:
    text = file(tmp_path, LINES, ending)
    read: list[int] = []
    text.advance = read.append
    pieces = list(line_pieces(text, size=1 << 20))
    assert len(pieces) > 2
    assert b"".join(piece.data for piece in pieces) == LINES
    assert all(piece.data.endswith(b"\n") for piece in pieces)
    assert [piece.line for piece in pieces] == [1 + LINES[: piece.position].count(b"\n") for piece in pieces]
    assert sum(read) == pytest.approx(text.path.stat().st_size, abs=64)


@pytest.mark.parametrize("ending", PACK)
def test_elements_are_whole_in_every_packing(tmp_path: Path, ending: str) -> None:
    pieces = list(element_pieces(file(tmp_path, DUMP, ending), "page", size=20_000))
    assert len(pieces) > 1
    assert "\n".join(piece.data.decode() for piece in pieces).split("\n") == PAGES
    assert {piece.head for piece in pieces} == {b"<dump><info>a\n</info>\n"}
    for piece in pieces:
        assert DUMP[piece.position :].startswith(piece.data)
        assert piece.line == 1 + DUMP[: piece.position].count(b"\n")


@pytest.mark.parametrize("cut", [line_pieces, lambda text, start=0, size=0: element_pieces(text, "page", start, size=size)])
def test_reading_goes_on_after_any_piece(tmp_path: Path, cut: Callable[..., list[Piece]]) -> None:
    text = file(tmp_path, DUMP, ".gz")
    whole = list(cut(text, size=50_000))
    for number, piece in enumerate(whole[:-1]):
        rest = list(cut(text, start=piece.position + len(piece.data), size=50_000))
        assert b"".join(part.data.strip() for part in rest) == b"".join(part.data.strip() for part in whole[number + 1 :])
        assert rest[0].line == 1 + DUMP[: rest[0].position].count(b"\n")
        assert rest[0].head == piece.head


@given(st.lists(st.sampled_from(["<page>", "</page>", "<page/>", '<page a="1">', "<pages>", "x", "\n"]), max_size=12), st.integers(1, 9))
def test_elements_of_any_nesting_are_found_in_chunks_of_any_size(parts: list[str], size: int) -> None:
    data = ("<d>" + "".join(parts) + "</d>").encode()

    class Chunks:
        name = "made"

        def chunks(self) -> list[bytes]:
            return [data[at : at + size] for at in range(0, len(data), size)]

        def broken(self, sentence: str) -> None:
            raise BrokenInput(sentence)

    def outermost() -> list[str] | None:
        """The outermost elements. Those that end in one chunk are one piece, with what is between them."""
        depth, begin, at, elements = 0, 0, len("<d>"), []
        for part in parts:
            end = at + len(part)
            if part in ("<page>", '<page a="1">'):
                begin = at if not depth else begin
                depth += 1
            elif part == "</page>":
                depth -= 1
                if depth < 0:
                    return None
                if not depth:
                    elements.append((begin, end))
            elif part == "<page/>" and not depth:
                elements.append((at, end))
            at = end
        pieces = [[*same] for _, same in groupby(elements, lambda element: (element[1] - 1) // size)]
        return None if depth or not elements else [data[piece[0][0] : piece[-1][1]].decode() for piece in pieces]

    expected = outermost()
    try:
        result = [piece.data.decode() for piece in element_pieces(Chunks(), "page", size=1)]  # type: ignore[arg-type]
    except BrokenInput:
        assert expected is None
    else:
        assert expected is not None
        assert result == expected


def test_utf_16_and_declared_encodings_are_read_as_utf_8(tmp_path: Path) -> None:
    text = DUMP.decode()
    for encoding, declared in (("utf-16", "UTF-16"), ("utf-16-be", ""), ("latin-1", "ISO-8859-1"), ("utf-8-sig", "UTF-8")):
        declaration = f'<?xml version="1.0" encoding="{declared}"?>\n' if declared else "\ufeff"
        pieces = list(element_pieces(file(tmp_path, (declaration + text).encode(encoding)), "page"))
        assert b"\n".join(piece.data for piece in pieces).decode().split("\n") == PAGES
        assert b"UTF-16" not in pieces[0].head


@pytest.mark.parametrize(
    ("data", "ending", "sentence"),
    [
        (b"", "", "the file is empty; download it again, or leave it out"),
        (b"<!DOCTYPE html><html>busy</html>", "", "this is a web page"),
        (b"\x00\x01\x02<page></page>", "", "zero bytes"),
        (b'<?xml version="1.0" encoding="klingon"?><d><page></page></d>', "", "unknown encoding 'klingon'"),
        (b'<?xml version="1.0" encoding="rot13"?><d><page></page></d>', "", "unknown encoding 'rot13'"),
        ('<?xml version="1.0" encoding="utf-7"?><d>ą<page></page></d>'.encode(), "", "this is not UTF-7 to its end"),
        (b"\xff\xfe<\x00\x00\xd8<\x00", "", "this is not UTF-16-LE to its end"),
        (b"<d>no records</d>", "", "no <page> element"),
        (b"<d></page><page></page></d>", "", "</page> closes nothing"),
        (b"<d>\n<page>\n<page></page>", "", "ends within the <page> of line 2"),
        (b"<d><page></page>\n", "", "</d> is missing at the end"),
        (b'<!DOCTYPE d [<!ENTITY a "b">]><d><page>&a;</page></d>', "", "declares entities"),
    ],
)
def test_what_is_no_dump_is_said_in_a_sentence(tmp_path: Path, data: bytes, ending: str, sentence: str) -> None:
    with pytest.raises(BrokenInput, match=sentence):
        list(element_pieces(file(tmp_path, data, ending), "page"))


@pytest.mark.parametrize("ending", [".gz", ".bz2", ".xz"])
def test_packed_files_that_are_cut_or_of_another_kind(tmp_path: Path, ending: str) -> None:
    text = file(tmp_path, LINES, ending)
    whole = text.path.read_bytes()
    text.path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BrokenInput, match=r"cut.*--partial"):
        list(line_pieces(text))
    text.partial = True
    pieces = list(line_pieces(text))
    assert LINES.startswith(b"".join(piece.data for piece in pieces))
    assert len(text.notes) == 1
    text.path.write_bytes(b"<html>Error 503</html>")
    with pytest.raises(BrokenInput, match="web page"):
        list(line_pieces(text))


def test_a_cut_dump_is_read_to_its_last_whole_element(tmp_path: Path) -> None:
    text = file(tmp_path, DUMP[:50_000], ".gz")
    text.partial = True
    pieces = list(element_pieces(text, "page"))
    whole = b"".join(piece.data for piece in pieces).decode().split("\n")
    assert PAGES[: len(whole)] == whole
    assert len(whole) > 100
    assert "ends within the <page>" in text.notes[0]


def test_what_is_too_long_for_a_record_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "RECORD_LIMIT", 3 << 20)
    monkeypatch.setattr(streams, "HEAD_LIMIT", 3 << 20)
    with pytest.raises(BrokenInput, match="longer than 3 MiB"):
        list(line_pieces(file(tmp_path, b"x" * (5 << 20))))
    with pytest.raises(BrokenInput, match="line 2: a <page> longer than 3 MiB"):
        list(element_pieces(file(tmp_path, b"<d>\n<page>" + b"x" * (5 << 20)), "page"))
    with pytest.raises(BrokenInput, match="no <page> in the first 3 MiB"):
        list(element_pieces(file(tmp_path, b"<d>" + b"x" * (5 << 20)), "page"))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingInput, match="there is no such file; correct the name"):
        list(line_pieces(TextFile(tmp_path / "absent.xml")))


def test_elements_of_several_tags_are_records(tmp_path: Path) -> None:
    text = file(tmp_path, b"<set><record>one<note/></record>\n<book/><deletion><id>3</id></deletion></set>")
    pieces = list(element_pieces(text, ("record", "deletion"), size=1))
    assert b"".join(piece.data for piece in pieces) == b"<record>one<note/></record>\n<book/><deletion><id>3</id></deletion>"


def test_a_declared_encoding_that_the_bytes_contradict_is_ignored(tmp_path: Path) -> None:
    data = b'<?xml version="1.0" encoding="UTF-16"?><d><page>\xc3\xa9</page></d>'
    assert [piece.data for piece in element_pieces(file(tmp_path, data), "page")] == [b"<page>\xc3\xa9</page>"]


def test_tags_without_end_take_no_longer_than_others(tmp_path: Path) -> None:
    with pytest.raises(BrokenInput, match="ends within the <page>"):
        list(element_pieces(file(tmp_path, b"<d><page>" + b"<aaa pag <page/ xx " * 200_000), "page"))


def test_pipes_and_devices_are_no_files(tmp_path: Path) -> None:
    for path, sentence in ((Path("/dev/null"), "a pipe or device"), (tmp_path, "a folder"), (tmp_path / ("a" * 300), "no such file")):
        with pytest.raises(MissingInput, match=sentence):
            streams.require_files([path])


@pytest.mark.parametrize(("name", "compress"), [("gz", gzip.compress), ("bz2", bz2.compress), ("xz", lzma.compress)])
def test_a_packed_file_without_content_is_said_to_be_empty(name: str, compress: Callable[[bytes], bytes], tmp_path: Path, cli: Cli) -> None:
    packed = compress(b"")
    (tmp_path / f"edges.tsv.{name}").write_bytes(packed)
    outcome = cli("import", "edges", tmp_path / f"edges.tsv.{name}", "--out", tmp_path / "out")
    outcome.sentence(f"edges.tsv.{name}: the file is empty once it is unpacked; pack it again, or leave it out.")
