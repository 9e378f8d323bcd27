"""The layout of DrugProt and ChemProt: abstracts, entities and relations in three tab-separated files without headers.

Abstracts ``number, title, abstract``, or ``number, text`` whose first sentence is the title; entities ``number, key, kind, start, end,
text``, in characters of title, one space and abstract; relations ``number, kind, Arg1:key, Arg2:key``. The entities have no identifiers,
so by default their lower-cased texts are.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Literal

from kgqa.errors import BrokenInput
from kgqa.sources.biomedicine.annotations import AnnotatedText, Annotation, Annotations, AnnotationSettings, document_id
from kgqa.sources.formats import Piece
from kgqa.sources.rows import Rows
from kgqa.sources.streams import TextFile, line_pieces

FIRST_SENTENCE = re.compile(r".*?(?:[.?!](?=\s|$)|$)", re.DOTALL)
Lines = dict[str, list[list[str]]]


class DrugProt(AnnotationSettings):
    """DrugProt's files; the file to read is that of the abstracts."""

    entities: Path
    """File of the entities, which is held in memory."""
    relations: Path | None = None
    """File of the relations, which is held in memory."""
    without_id: Literal["skip", "text"] = "text"
    """Treatment of entities, which have no identifiers: ``skip`` them, or use their kind and lower-case ``text`` as the identifier."""

    pieces = staticmethod(line_pieces)

    def parse(self, piece: Piece) -> Rows:
        """Documents with mentions, entities and facts."""
        rows = Rows()
        annotations = Annotations(self, rows)
        entities = _by_number(self.entities, 6)
        relations = _by_number(self.relations, 4) if self.relations else {}
        for line, text in enumerate(piece.data.decode(errors="replace").split("\n"), piece.line):
            fields = text.removesuffix("\r").removeprefix("\ufeff").split("\t")
            where = f"{piece.file}, line {line}"
            if len(fields) in {2, 3}:
                title = fields[1] if len(fields) == 3 else FIRST_SENTENCE.match(fields[1])[0]  # type: ignore[index]
                document = AnnotatedText(document_id(fields[0]), title, " ".join(fields[1:]))
                for _, key, kind, start, end, marked in entities.get(fields[0], []):
                    if start.isdecimal() and end.isdecimal():
                        document.annotations.append(Annotation(int(start), int(end), marked, kind, (), key))
                    else:
                        rows.skip("entity whose offset is no number", document.id)
                document.relations = [
                    (kind, first.removeprefix("Arg1:"), second.removeprefix("Arg2:"))
                    for _, kind, first, second in relations.get(fields[0], [])
                ]
                annotations.add(document)
            elif line == 1:
                raise BrokenInput(f"{where}: {len(fields)} columns, but abstracts have 3: number, title and abstract.")
            elif text.strip():
                rows.skip("abstract with too few or too many columns", where)
        return annotations.finish()


@lru_cache(maxsize=4)
def _by_number(path: Path, columns: int) -> Lines:
    """A document's number → its rows in the file."""
    lines: Lines = {}
    for line, text in enumerate(b"".join(TextFile(path).chunks()).decode(errors="replace").split("\n"), 1):
        fields = text.removesuffix("\r").split("\t")
        if len(fields) == columns:
            lines.setdefault(fields[0], []).append(fields)
        elif text.strip():
            raise BrokenInput(f"{path.name}, line {line}: {len(fields)} columns instead of {columns}; is this the right file?")
    return lines
