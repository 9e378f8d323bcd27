"""DocRED's JSON, also that of Re-DocRED: documents as tokens of sentences, clusters of mentions, and labelled pairs of clusters.

The text is the tokens with single spaces between them. A cluster has no identifier, so its kind and its longest name, in lower case, are
one: clusters of several documents with the same name are the same entity. Relations are Wikidata's properties by their number.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from kgqa.sources.biomedicine.annotations import AnnotatedText, Annotation, Annotations, AnnotationSettings
from kgqa.sources.biomedicine.elements import clean
from kgqa.sources.biomedicine.json_records import json_pieces, json_records
from kgqa.sources.formats import Piece
from kgqa.sources.rows import Rows


class _Mention(msgspec.Struct):
    pos: tuple[int, int]
    sent_id: int
    type: str = "entity"


class _Label(msgspec.Struct):
    h: int
    t: int
    r: str


class _Document(msgspec.Struct):
    title: str
    sents: list[list[str]]
    vertexSet: list[list[_Mention]]  # noqa: N815 (the format's spelling)
    labels: list[_Label] = []


class DocRed(AnnotationSettings):
    """Parser of DocRED's JSON files of annotated documents."""

    without_id: Literal["skip", "text"] = "text"
    """Treatment of clusters, which have no identifiers: ``skip`` them, or use their kind and longest name in lower case as the
    identifier."""

    pieces = staticmethod(json_pieces)

    def parse(self, piece: Piece) -> Rows:
        """Documents with mentions, entities and facts."""
        rows = Rows()
        annotations = Annotations(self, rows)
        for number, record in enumerate(json_records(piece), 1):
            try:
                annotations.add(self._annotated(msgspec.json.decode(record, type=_Document), rows))
            except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
                rows.skip("document that is no DocRED", f"{piece.file}, document {number} from line {piece.line}: {error}")
        return annotations.finish()

    def _annotated(self, document: _Document, rows: Rows) -> AnnotatedText:
        starts: list[list[int]] = []
        length = 0
        for sentence in document.sents:
            starts.append([])
            for token in sentence:
                starts[-1].append(length)
                length += len(token) + 1
        text = " ".join(token for sentence in document.sents for token in sentence)
        annotated = AnnotatedText(document.title, document.title, text)
        for number, cluster in enumerate(document.vertexSet):
            places = []
            for mention in cluster:
                first, last = mention.pos
                if 0 <= mention.sent_id < len(starts) and 0 <= first < last <= len(starts[mention.sent_id]):
                    start, end = starts[mention.sent_id][first], starts[mention.sent_id][last - 1]
                    places.append((start, end + len(document.sents[mention.sent_id][last - 1]), mention.type))
                else:
                    rows.skip("mention beyond its sentence", document.title)
            names = [clean(text[start:end]).lower() for start, end, _ in places]
            identifiers = (f"{places[0][2]}:{max(names, key=len)}",) if places and self.without_id == "text" else ()
            annotated.annotations += [
                Annotation(start, end, text[start:end], kind, identifiers, str(number)) for start, end, kind in places
            ]
        annotated.relations = [(label.r, str(label.h), str(label.t)) for label in document.labels]
        return annotated
