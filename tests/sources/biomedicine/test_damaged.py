"""Cut and changed input: every parser makes rows or says BrokenInput, never anything else, and its mentions stay true."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from kgqa.errors import BrokenInput
from kgqa.sources import streams
from kgqa.sources.biomedicine import blocks, json_records
from kgqa.sources.biomedicine.bioc import BioCJson, BioCXml
from kgqa.sources.biomedicine.docred import DocRed
from kgqa.sources.biomedicine.drugbank import DrugBank, DrugBankVocabulary
from kgqa.sources.biomedicine.drugprot import DrugProt
from kgqa.sources.biomedicine.pubmed import PubMed
from kgqa.sources.biomedicine.pubtator import PubTator
from kgqa.sources.biomedicine.reactome import Reactome
from kgqa.sources.biomedicine.uniprot import UniProtText, UniProtXml
from kgqa.sources.formats import Parser, Piece
from kgqa.sources.rows import plain_rows
from kgqa.sources.streams import TextFile
from tests.sources.biomedicine import test_annotations, test_drugbank, test_pubmed, test_reactome, test_uniprot
from tests.sources.biomedicine.files import check_mentions

DOCRED = (
    '[{"title": "A", "sents": [["Ada", "lives", "in", "Bolt"]], "vertexSet": [[{"pos": [0, 1], "sent_id": 0, "type": "PER"}],'
    ' [{"pos": [3, 4], "sent_id": 0, "type": "LOC"}]], "labels": [{"h": 0, "t": 1, "r": "P551"}]}]'
)
FILES: dict[str, tuple[Parser, str]] = {
    "drugbank": (DrugBank(products=True), test_drugbank.HEAD + test_drugbank.DRUG + test_drugbank.BETA + "</drugbank>"),
    "vocabulary": (DrugBankVocabulary(), test_drugbank.VOCABULARY * 20),
    "pubmed": (
        PubMed(mesh=True),
        test_pubmed.HEAD + test_pubmed.article() * 2 + "<DeleteCitation><PMID>7</PMID></DeleteCitation></PubmedArticleSet>",
    ),
    "uniprot xml": (UniProtXml(organisms=(9606,)), test_uniprot.HEAD + test_uniprot.XML + "</uniprot>"),
    "uniprot text": (UniProtText(organisms=(9606,)), test_uniprot.TEXT),
    "mitab": (Reactome(by_kind=True), test_reactome.MITAB * 5),
    "functional": (Reactome(), test_reactome.FUNCTIONAL * 20),
    "pubtator": (PubTator(without_id="text"), "\n".join([test_annotations.PUBTATOR] * 3)),
    "bioc xml": (BioCXml(), "<collection>" + test_annotations.bioc_xml(test_annotations.bioc()) + "</collection>"),
    "bioc json": (BioCJson(), '{"documents": [' + test_annotations.records(test_annotations.bioc()) + "]}"),
    "docred": (DocRed(), DOCRED),
}
CHANGES = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),
        st.integers(0, 60),
        st.binary(max_size=4) | st.sampled_from([b"<", b"</", b"\t", b"\n", b'"', b"-1"]),
    ),
    min_size=1,
    max_size=4,
)


@pytest.fixture(scope="module")
def drugprot(tmp_path_factory: pytest.TempPathFactory) -> DrugProt:
    return test_annotations.drugprot(tmp_path_factory.mktemp("drugprot"))


def read_or_refuse(parser: Parser, path: Path) -> None:
    try:
        pieces = list(parser.pieces(TextFile(path)))
    except BrokenInput:
        return
    for piece in pieces:
        parse_or_refuse(parser, piece)


def parse_or_refuse(parser: Parser, piece: Piece) -> None:
    try:
        rows = parser.parse(piece)
    except BrokenInput:
        return
    assert rows.skipped.keys() == rows.examples.keys()
    tables = plain_rows(rows)
    if "mentions" in tables:
        check_mentions(tables)
    for head, relation, tail in tables.get("facts", []):
        assert head
        assert relation
        assert tail not in {"", head}


def change(data: bytes, changes: list[tuple[float, int, bytes]]) -> bytes:
    for place, removed, added in changes:
        at = int(place * len(data))
        data = data[:at] + added + data[at + removed :]
    return data


@pytest.mark.parametrize("name", FILES)
def test_whole_files_are_read(name: str, tmp_path: Path) -> None:
    parser, text = FILES[name]
    path = tmp_path / "whole"
    path.write_text(text, encoding="utf-8")
    tables: dict[str, Any] = {}
    for piece in parser.pieces(TextFile(path)):
        copy = pickle.loads(pickle.dumps(parser))
        assert plain_rows(copy.parse(piece)) == plain_rows(parser.parse(piece))
        tables |= plain_rows(parser.parse(piece))
    assert tables


@pytest.mark.parametrize("name", FILES)
def test_tables_do_not_depend_on_how_a_file_is_cut(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    parser, text = FILES[name]
    path = tmp_path / "data"
    path.write_text(text, encoding="utf-8")
    whole, count = merged(parser, path)
    monkeypatch.setattr(streams, "CHUNK_BYTES", 64)
    monkeypatch.setattr(blocks, "PIECE_BYTES", 1)
    for function in (streams.line_pieces, streams.element_pieces, json_records.json_pieces):
        monkeypatch.setattr(function, "__kwdefaults__", {"size": 1})
    finely, pieces = merged(parser, path)
    assert finely == whole
    assert pieces > count or name == "docred"


def merged(parser: Parser, path: Path) -> tuple[dict[str, Any], int]:
    """Rows as merging joins them: of an entity the first kind, label and description that are not empty. And the number of pieces."""
    result: dict[str, Any] = {}
    pieces = list(parser.pieces(TextFile(path)))
    for piece in pieces:
        for name, rows in plain_rows(parser.parse(piece)).items():
            if name == "entities":
                for id_, *columns in rows:
                    known = result.setdefault(name, {}).setdefault(id_, columns)
                    result[name][id_] = [old or new for old, new in zip(known, columns, strict=True)]
            else:
                result.setdefault(name, set()).update(rows)
    return result, len(pieces)


@pytest.mark.parametrize("name", FILES)
@given(share=st.floats(0, 1))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_cut_files(name: str, tmp_path: Path, share: float) -> None:
    parser, text = FILES[name]
    data = text.encode()
    path = tmp_path / "cut"
    path.write_bytes(data[: int(share * len(data))] or b" ")
    read_or_refuse(parser, path)


@pytest.mark.parametrize("name", FILES)
@given(changes=CHANGES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_changed_files(name: str, tmp_path: Path, changes: list[tuple[float, int, bytes]]) -> None:
    parser, text = FILES[name]
    path = tmp_path / "changed"
    path.write_bytes(change(text.encode(), changes) or b" ")
    read_or_refuse(parser, path)


@pytest.mark.parametrize("name", FILES)
@given(changes=CHANGES)
def test_changed_pieces(name: str, changes: list[tuple[float, int, bytes]]) -> None:
    parser, text = FILES[name]
    parse_or_refuse(parser, Piece("piece", 0, 1, change(text.encode(), changes)))


@given(changes=CHANGES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_changed_abstracts_of_drugprot(drugprot: DrugProt, changes: list[tuple[float, int, bytes]]) -> None:
    text = f"901\t{test_annotations.TITLE}\t{test_annotations.ABSTRACT}\n"
    parse_or_refuse(drugprot, Piece("piece", 0, 1, change(text.encode(), changes)))
