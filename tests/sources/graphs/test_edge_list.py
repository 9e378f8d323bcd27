"""Tables of edges, nodes and relations: any columns in any order, quoted as Python's csv quotes, and every fault with its place."""

from __future__ import annotations

import csv
import gzip
import io
import pickle
from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from pydantic import ValidationError

from kgqa.errors import BrokenInput, InputError, MissingInput
from kgqa.sources.graphs import cutting
from kgqa.sources.graphs.edge_list import Edges, Nodes, Relations
from kgqa.sources.streams import TextFile, line_pieces
from tests.lengths import example_count
from tests.sources.graphs.memory_text import MemoryText, check_sentence, read

BY_NUMBER = Edges(header=False, head=1, relation=2, tail=3)


def test_edges_by_name() -> None:
    found = read(Edges(), 'relation,tail,head,weight\nborn in,"Ulm, Germany",Albert_Einstein,1\nborn in,Bonn,Beethoven,2\n')
    assert found["facts"] == {("Albert_Einstein", "born in", "Ulm, Germany"), ("Beethoven", "born in", "Bonn")}
    assert {row[0] for row in found["entities"]} == {"Albert_Einstein", "Ulm, Germany", "Bonn", "Beethoven"}
    assert found.names("id")["Albert_Einstein"] == {"Albert Einstein"}
    assert found["relations"] == {("born in", "", False)}


def test_edges_by_number() -> None:
    found = read(Edges(header=False, head=1, tail=2, relation=3, symmetric=("spouse",)), "a\tb\tspouse\nb\tc\tbirthPlace\n", "x.txt")
    assert found["facts"] == {("a", "spouse", "b"), ("b", "birthPlace", "c")}
    assert found["relations"] == {("spouse", "", True), ("birthPlace", "", False)}
    assert found.names("id")["birthPlace"] == {"birth place"}


def test_a_number_may_be_text_as_on_the_command_line() -> None:
    text = Edges.model_validate({"header": False, "head": "1", "relation": "2", "tail": "3"})
    assert read(text, "a\tr\tb\n", "x.tsv")["facts"] == {("a", "r", "b")}
    assert read(Edges(head="1", relation="2", tail="3"), "x,y,z\na,r,b\n")["facts"] == {("a", "r", "b")}
    assert read(Edges(head="1", relation="2", tail="3"), "3,2,1\na,r,b\n")["facts"] == {("b", "r", "a")}


def test_edges_with_labels_kinds_and_values() -> None:
    parser = Edges(
        head="x_id", relation="rel", tail="y_id", head_label="x_name", tail_label="y_name", relation_label="shown",
        head_kind="x_type", tail_kind="y_type", values={"mass": "quantity"},
    )  # fmt: skip
    text = (
        "rel\tshown\tx_id\tx_name\tx_type\ty_id\ty_name\ty_type\n"
        "ppi\tinteracts with\t1\tABC1\tprotein\t2\tXYZ\t\n"
        "mass\tmass in u\t1\tABC1\tprotein\t12.5\t\t\n"
    )
    found = read(parser, text, "x.tsv")
    assert found["entities"] == {("1", "protein", "ABC1", ""), ("2", "entity", "XYZ", "")}
    assert found["facts"] == {("1", "ppi", "2")}
    assert found["values"] == {("1", "mass", "quantity", "12.5", "", None, "", "", "")}
    assert ("ppi", "interacts with", False) in found["relations"]
    assert not found.names("id")


def test_one_relation_for_all_rows() -> None:
    found = read(Edges(header=False, head=1, tail=2, only_relation="cites", delimiter=" "), "a b\nb c\n", "x.txt")
    assert found["facts"] == {("a", "cites", "b"), ("b", "cites", "c")}


def test_nodes() -> None:
    parser = Nodes(id="key", label="name", kind_column="type", description="about", aliases=("other", "old"), values={"born": "time"})
    text = (
        "key,name,type,about,other,old,born\r\n"
        'q1,Ada,person,"first\nprogrammer",Countess|  A. L. |,,1815-12-10\r\n'
        "q2,,,,,Cafe\u0301,\r\n"
        ",no id,,,,,\r\n"
    )
    found = read(parser, text)
    assert found["entities"] == {("q1", "person", "Ada", "first\nprogrammer"), ("q2", "entity", "", "")}
    assert found.names("alias") == {"q1": {"Countess", "A. L."}, "q2": {"Café"}}
    assert found.names("label") == {"q1": {"Ada"}}
    assert found.names("id")["q2"] == {"q2"}
    assert found["values"] == {("q1", "born", "time", "1815-12-10", "", None, "", "", "")}
    assert found.skipped == {"row without an id": 1}


def test_relations() -> None:
    found = read(Relations(symmetric=("r2",)), "id,label\nr1,born in\nr2,\n")
    assert found["relations"] == {("r1", "born in", False), ("r2", "", True)}
    assert found.names("id") == {"r2": {"r2"}}


@pytest.mark.parametrize(
    ("id_", "words"),
    [
        ("Nobel_Prize", "Nobel Prize"),
        ("http://x.org/resource/Avaí_FC", "Avaí FC"),
        ("http://x.org/resource/Ava%C3%AD_FC", "Avaí FC"),
        ("http://x.org/o#Thing", "Thing"),
        ("http://x.org/folder/", "folder"),
        ("/location/country", "country"),
        ("AC/DC", "AC/DC"),
        ("urn:isbn:12", "12"),
        ("___", "___"),
    ],
)
def test_words_of_an_id(id_: str, words: str) -> None:
    found = read(BY_NUMBER, f"{id_}\tr\tother\n", "x.tsv")
    assert found.names("id")[id_] == {words}
    assert "id" not in {
        row[2] for row in read(Edges(header=False, head=1, relation=2, tail=3, label_from_id=False), f"{id_}\tr\ta\n", "x.tsv")["names"]
    }


@pytest.mark.parametrize(
    ("relation", "words"),
    [
        ("birthPlace", "birth place"),
        ("ACTED_IN", "acted in"),
        ("location_of", "location of"),
        ("isPartOf", "is part of"),
        ("hasURL", "hasURL"),
    ],
)
def test_words_of_a_relation(relation: str, words: str) -> None:
    assert read(BY_NUMBER, f"a\t{relation}\tb\n", "x.tsv").names("id")[relation] == {words}


def test_a_column_that_is_not_there_is_named_before_anything_is_read() -> None:
    with pytest.raises(
        MissingInput,
        match=r"file.csv, line 1: .* no column 'head'; .*The file has heads, relation, tail\. Name the column by the option 'head'\.$",
    ):
        list(Edges().pieces(MemoryText("file.csv", b"heads,relation,tail\na,r,b\n")))
    with pytest.raises(MissingInput, match=r"no column 'subject'; the file has heads, relation, tail\. Correct the option 'head'\.$"):
        list(Edges(head="subject").pieces(MemoryText("file.csv", b"heads,relation,tail\na,r,b\n")))
    with pytest.raises(MissingInput, match=r"no column 4 among the 3 of the file"):
        list(Edges(header=False, head=1, relation=2, tail=4).pieces(MemoryText("f.tsv", b"a\tr\tb\n")))
    with pytest.raises(MissingInput, match="given by its number"):
        list(Edges(header=False).pieces(MemoryText("f.tsv", b"a\tr\tb\n")))
    wide = b"".join(b"a column number %d," % number for number in range(60_000)) + b"heads\n"
    with pytest.raises(MissingInput, match=r"the file has a column number 0, .*… \([0-9,]+ characters\)\. Name") as fault:
        list(Edges().pieces(MemoryText("file.csv", wide)))
    assert len(str(fault.value)) < 500
    with pytest.raises(MissingInput, match="occurs twice"):
        list(Edges().pieces(MemoryText("f.tsv", b"head\thead\trelation\ttail\n")))
    with pytest.raises(MissingInput, match="give the delimiter"):
        list(Edges().pieces(MemoryText("f.dat", b"head,relation,tail\n")))


def test_ragged_rows_are_skipped_with_the_line_of_the_first() -> None:
    found = read(Edges(), 'head,relation,tail\n"a\nb",r,c\n\nx,r\nd,r,e\nf,r,g\nx,r,y,z\n')
    assert found["facts"] == {("a\nb", "r", "c"), ("d", "r", "e"), ("f", "r", "g")}
    assert found.skipped == {"row with more or fewer cells than the first line": 2}
    assert found.examples == {"row with more or fewer cells than the first line": "file.csv, line 5"}
    found = read(Edges(), "head\trelation\ttail\na\tr\tb\n\nx\ty\n", "f.tsv")
    assert found.examples == {"row with more or fewer cells than the first line": "f.tsv, line 4"}


def test_more_ragged_rows_than_half_are_an_error() -> None:
    with pytest.raises(BrokenInput, match=r"file.csv, line 3: 2 cells where the first line has 3"):
        read(Edges(), "head,relation,tail\na,r,b\nx,r\ny,r\n")


def test_wrong_encoding() -> None:
    with pytest.raises(BrokenInput, match=r"file.csv, line 3: this is not UTF-8"):
        read(Edges(), "head,relation,tail\na,r,b\nMüller,r,b\n".encode("latin-1"))
    with pytest.raises(BrokenInput, match=r"file.csv, line 1: this is not UTF-8"):
        read(Edges(), "head,relation,tail,größe\n".encode("latin-1"))


def test_a_quotation_mark_that_nothing_closes() -> None:
    with pytest.raises(BrokenInput, match=r"file.csv, line 3: the quotation mark of a cell is not closed"):
        read(Edges(), 'head,relation,tail\na,r,b\nb,r,"c\nd,r,e\n')
    assert len(read(Edges(quoting="no"), 'head,relation,tail\na,r,b\nb,r,"c\nd,r,e\n')["facts"]) == 3
    assert len(read(Edges(), 'head\trelation\ttail\na\tr\t"b\n', "x.tsv")["facts"]) == 1


@pytest.mark.parametrize("name", ["movies.cypher", "movies.csv"])
def test_a_cypher_script_is_refused_with_advice(name: str) -> None:
    with pytest.raises(BrokenInput, match=r"Cypher script.*load it into one.*kgqa import neo4j"):
        read(Edges(), "// people\nCREATE (a:Person {name: 'A'})\nCREATE (b:Person)\n", name)
    assert read(Edges(head="match", relation="create"), "match,create,tail\n1,2,3\n", "ok.csv")["facts"] == {("1", "2", "3")}


def test_options_are_strict_and_travel_to_other_processes() -> None:
    with pytest.raises(ValidationError):
        Edges(heads="x")  # type: ignore[call-arg]
    with pytest.raises(ValidationError):
        Edges(delimiter=", ")
    parser = Edges(head=1, symmetric=("r",))
    assert pickle.loads(pickle.dumps(parser)) == parser


CELL = st.text(st.sampled_from('ab,"\n\t é|'), max_size=5)


@given(st.lists(st.tuples(CELL, CELL, CELL), max_size=12), st.integers(1, 9), st.integers(1, 40), st.sampled_from(",|"))
@settings(deadline=None, max_examples=example_count(50))
def test_quoted_rows_are_read_as_python_reads_them(rows: list[tuple[str, str, str]], chunk: int, size: int, delimiter: str) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=delimiter, lineterminator="\n").writerows([("head", "relation", "tail"), *rows])
    expected = {tuple(cell.strip() for cell in row) for row in rows if all(cell.strip() for cell in row)}
    parser = Edges(delimiter=delimiter)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting.record_pieces, "__kwdefaults__", {"size": size, "record": "record"})
        assert read(parser, MemoryText("f.csv", out.getvalue().encode(), chunk=chunk))["facts"] == expected


@given(st.binary(max_size=80) | st.text(st.sampled_from('a,"\n\r\t'), max_size=60).map(str.encode), st.sampled_from(["f.csv", "f.tsv"]))
@settings(deadline=None, max_examples=example_count(300))
def test_any_bytes_are_rows_or_a_sentence(data: bytes, name: str) -> None:
    try:
        read(BY_NUMBER, data, name)
    except InputError as error:
        check_sentence(error, name)


@given(st.integers(0, 60))
def test_reading_goes_on_after_a_piece(start: int) -> None:
    data = "head,relation,tail\n" + "".join(f'a{number},r,"b\n{number}"\n' for number in range(30))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting.record_pieces, "__kwdefaults__", {"size": 50, "record": "record"})
        whole = list(Edges().pieces(MemoryText("f.csv", data.encode(), chunk=7)))
        piece = whole[start % len(whole)]
        end = piece.position + len(piece.data)
        rest = list(Edges().pieces(MemoryText("f.csv", data.encode(), chunk=11), end))
    assert b"".join(part.data for part in rest) == data.encode()[end:]
    assert [part.line for part in rest] == [1 + data.encode()[: part.position].count(b"\n") for part in rest]


@pytest.mark.real_data
def test_umls(real_data: Path) -> None:
    path = real_data / "sources" / "graphs" / "UMLS-train.txt"
    found = read(BY_NUMBER, path.read_bytes(), path.name)
    lines = {tuple(line.split("\t")) for line in path.read_text("utf-8").splitlines()}
    assert found["facts"] == lines
    assert len(found["entities"]) == 135
    assert found.names("id")["acquired_abnormality"] == {"acquired abnormality"}
    assert not found.skipped


@pytest.mark.real_data
def test_dbpedia50(real_data: Path) -> None:
    folder = real_data / "sources" / "graphs" / "dbpedia50"
    parser, facts, entities, relations = Edges(header=False, head=1, tail=2, relation=3), set(), set(), set()
    for name in ("train.txt.gz", "valid.txt", "test.txt.gz"):
        found = read(parser, MemoryText(name, b"".join(TextFile(folder / name).chunks())))
        assert not found.skipped
        facts |= found["facts"]
        entities |= {row[0] for row in found["entities"]}
        relations |= {row[0] for row in found["relations"]}
        if name.startswith("train"):
            assert len(found["facts"]) == len(set(gzip.decompress((folder / name).read_bytes()).splitlines()))
            assert found.names("id")["Princeton,_New_Jersey"] == {"Princeton, New Jersey"}
    known = {line.split(b"\t")[0].decode() for line in gzip.decompress((folder / "entity2id.txt.gz").read_bytes()).splitlines()}
    assert (len(facts), len(relations)) == (43_490, 365)
    assert entities <= known


@pytest.mark.real_data
def test_hetionet_nodes(real_data: Path) -> None:
    path = real_data / "sources" / "graphs" / "hetionet-v1.0-nodes.tsv.gz"
    text = MemoryText(path.name, b"".join(TextFile(path).chunks()))
    found = read(Nodes(label="name", kind_column="kind"), text)
    assert len(found["entities"]) == 47_031
    assert len({row[1] for row in found["entities"]}) == 11
    assert ("Anatomy::UBERON:0000002", "Anatomy", "uterine cervix", "") in found["entities"]
    assert next(line_pieces(text)).line == 1
