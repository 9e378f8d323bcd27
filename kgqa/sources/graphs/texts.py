"""Plain texts to go with any graph: JSON lines with fields of any names, and ``.txt`` files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import msgspec

from kgqa.errors import BrokenInput
from kgqa.settings.base import Settings
from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.rows import Rows
from kgqa.sources.streams import RECORD_LIMIT, json_line_pieces, unpacked_name

ENOUGH_LINES = 1_000
"""Lines from which a piece after the first shows what share of a file cannot be read."""


class JsonTexts(Settings):
    """JSON lines, one document each. A line without an id or a text is skipped."""

    id: str = "id"
    """Field of the document's id, a string or an integer."""
    title: str = "title"
    """Field of the document's title, which may be absent."""
    text: str = "text"
    """Field of the document's text."""
    about: str = "about"
    """Field of the id of the entity that the document is about, which may be absent."""
    space: str = " "
    """Replacement for spaces in the id of that entity: ``_`` turns ``New York`` into DBpedia's id ``New_York``."""
    name_of_about: bool = False
    """Use the title as a name of that entity."""

    pieces = staticmethod(json_line_pieces)

    def parse(self, piece: Piece) -> Rows:
        """Documents of a piece. BrokenInput where more than half of the lines are no records."""
        rows = Rows()
        decode, places = self._decoder()
        faults, first, whole = 0, "", 0
        for number, line in enumerate(piece.data.split(b"\n"), start=piece.line):
            if not line.strip():
                continue
            where = f"{piece.file}, line {number}"
            try:
                record = decode(line)
                id_, title, text, about = (_text(getattr(record, name)) for name in places)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                first = first or f"{where}: this is not a record with these fields ({_reason(error)})"
                faults += 1
                rows.skip("line that is no record", where)
                continue
            whole += 1
            if not id_:
                rows.skip(f"document without {self.id!r}", where)
            elif not text:
                rows.skip(f"document without {self.text!r}", where)
            else:
                about = about.replace(" ", self.space)
                rows.document(id_, title, text, about=about or None)
                if about and title and self.name_of_about:
                    rows.name(about, title, "title")
        if faults > whole and (not piece.position or faults + whole >= ENOUGH_LINES):
            raise BrokenInput(f"{first}, nor are more than half of the lines; check the file, or name its fields.")
        return rows

    def _decoder(self) -> tuple[Callable[[bytes], Any], list[str]]:
        """Reads the fields of a line, of which one may serve for two, and passes over all others; the attributes of the four fields."""
        attributes: dict[str, str] = {}
        for name in (self.id, self.title, self.text, self.about):
            attributes.setdefault(name, f"field_{len(attributes)}")
        fields = [(attribute, str | int | None, None) for attribute in attributes.values()]
        record = msgspec.defstruct("Record", fields, rename={attribute: name for name, attribute in attributes.items()})
        return msgspec.json.Decoder(record).decode, [attributes[name] for name in (self.id, self.title, self.text, self.about)]


class TextFiles(Settings):
    """``.txt`` files, one document each; its id is the file's name without ending."""

    title: Literal["name", "first line"] = "name"
    """Title of a document: the file name with spaces for underscores, or the first line, which is then not part of the text."""
    about: Literal["", "name"] = ""
    """``name``: the document is about the entity whose id is the file name without its extension."""

    def pieces(self, text: Bytes, start: int = 0) -> Iterator[Piece]:
        """The whole file. BrokenInput beyond the limit of a record, and where the last character is cut."""
        data = bytearray()
        for chunk in text.chunks():
            data += chunk
            if len(data) > RECORD_LIMIT:
                raise BrokenInput(f"{text.name}: longer than {RECORD_LIMIT >> 20} MiB, which is too much for one document; split it.")
        try:
            data.decode()
        except UnicodeDecodeError as error:
            if error.reason == "unexpected end of data":
                text.broken("the file ends within a character, so it is cut; download it again")
                del data[error.start :]
        if start < len(data):
            yield Piece(text.name, 0, 1, bytes(data))

    def parse(self, piece: Piece) -> Rows:
        """The document. BrokenInput where it is not UTF-8."""
        rows = Rows()
        try:
            text = piece.data.decode().strip()
        except UnicodeDecodeError as error:
            line = 1 + piece.data.count(b"\n", 0, error.start)
            raise BrokenInput(f"{piece.file}, line {line}: this is not UTF-8; save the file as UTF-8.") from None
        name = unpacked_name(piece.file).removesuffix(".txt")
        title = name.replace("_", " ")
        if self.title == "first line":
            title, _, text = text.partition("\n")
        if not text.strip():
            rows.skip("document without text", piece.file)
        else:
            rows.document(name, title.strip(), text.strip(), about=name if self.about else None)
        return rows


def _text(value: str | int | None) -> str:
    return "" if value is None else str(value).strip()


def _reason(error: Exception) -> str:
    return "nested too deeply" if isinstance(error, RecursionError) else str(error).rstrip(".")
