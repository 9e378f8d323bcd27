"""PubTator's format: a title and an abstract line, lines of annotations and relations, and an empty line.

::

    1234|t|Title
    1234|a|Abstract
    1234<tab>0<tab>5<tab>Title<tab>Disease<tab>D000001
    1234<tab>CID<tab>D000002<tab>D000001

Offsets count characters of title, space and abstract (https://www.ncbi.nlm.nih.gov/research/pubtator3/tutorial).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from kgqa.errors import BrokenInput
from kgqa.sources.biomedicine.annotations import AnnotatedText, Annotation, Annotations, IdentifierSettings, document_id, several
from kgqa.sources.biomedicine.blocks import block_pieces
from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.rows import Rows

EMPTY_LINE = re.compile(rb"^[^\S\n]*\n", re.MULTILINE)
TEXT_LINE = re.compile(r"([^|\s]+)\|([ta])\|(.*)")


class PubTator(IdentifierSettings):
    """Parser of PubTator's text format of annotated abstracts."""

    def pieces(self, text: Bytes, start: int = 0) -> Iterator[Piece]:
        """The documents from byte ``start`` on."""
        return block_pieces(text, EMPTY_LINE, start)

    def parse(self, piece: Piece) -> Rows:
        """Documents with mentions, entities and facts."""
        rows = Rows()
        annotations = Annotations(self, rows, self.prefixes)
        number, position, document_count = piece.line, 0, 0
        for block in EMPTY_LINE.split(piece.data):
            where = f"{piece.file}, line {number}"
            if block.strip():
                if document := _document(block.decode(errors="replace"), where, rows):
                    annotations.add(document)
                    document_count += 1
                elif piece.position == 0 and not document_count and not position:
                    raise BrokenInput(
                        f"{where}: no PubTator text, whose lines begin with a number and |t| or |a|; check the format and the file."
                    )
                position += 1
            number += block.count(b"\n") + 1
        return annotations.finish()


def _document(block: str, where: str, rows: Rows) -> AnnotatedText | None:
    """A document, None if it has no title line."""
    lines = [line.removesuffix("\r") for line in block.lstrip("\ufeff").split("\n")]
    texts: dict[str, str] = {}
    number = ""
    for line in lines:
        if match := TEXT_LINE.fullmatch(line):
            number = number or match[1]
            texts.setdefault(match[2], match[3])
    if "t" not in texts:
        rows.skip("document without a title line", where)
        return None
    document = AnnotatedText(document_id(number), texts["t"].strip(), f"{texts['t']} {texts['a']}" if texts.get("a") else texts["t"])
    for line in lines:
        fields = line.split("\t")
        if len(fields) < 4:
            if line.strip() and not TEXT_LINE.fullmatch(line):
                rows.skip("line that is neither text, annotation nor relation", f"{document.id}, in {where}")
        elif fields[1].isdecimal() and fields[2].isdecimal():
            start, end = int(fields[1]), int(fields[2])
            kind, identifiers = [*fields[4:6], "", ""][:2]
            document.annotations.append(Annotation(start, end, fields[3], kind, several(identifiers)))
        else:
            document.relations.append((fields[1], fields[2], fields[3]))
    return document
