"""GraphML as several programs write it, the same however it is cut, and nothing outside the file is read."""

from __future__ import annotations

import io
import pickle
import random

import networkx as nx
import pytest
from hypothesis import given, settings, strategies as st

from kgqa.errors import BrokenInput, InputError
from kgqa.sources.graphs import cutting
from kgqa.sources.graphs.graphml import GraphMl
from tests.lengths import example_count
from tests.sources.graphs.memory_text import MemoryText, check_sentence, read

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!-- <node id="no"/> -->
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:y="http://www.yworks.com/xml/graphml">
  <key id="d0" for="node" attr.name="name" attr.type="string"/>
  <key id="d1" for="node" attr.name="height" attr.type="double"/>
  <key id="d2" for="node" attr.name="kind" attr.type="string"><default>person</default></key>
  <key id="d3" for="node" attr.name="also" attr.type="string"/>
  <key id="d4" for="edge" attr.name="relation" attr.type="string"/>
  <key id="d5" for="node" yfiles.type="nodegraphics"/>
"""
TEXT = (
    HEAD
    + """  <graph edgedefault="directed">
    <node id="ada"><data key="d0">Ada &amp; <![CDATA[<node id="x"> Lovelace]]></data>
      <data key="d1">1.6</data><data key="d3">Countess| A. L.</data></node>
    <node id="Isle_of_Dogs"><data key="d2">place</data><data key="d1">tall</data>
      <graph edgedefault="undirected"><node id="dog"><data key="d2">animal</data></node>
      <edge source="dog" target="ada"><data key="d4">friendOf</data></edge></graph>
    </node>
    <node id="draw"><data key="d5"><y:ShapeNode><y:Geometry x="1"/><y:NodeLabel>Drawn</y:NodeLabel></y:ShapeNode></data></node>
    <node/>
    <edge id="e0" source="ada" target="Isle_of_Dogs" label="LIVED_IN"/>
    <edge source="ada" target="dog"><data key="d4">owns</data></edge>
    <edge source="ada" target="draw"/>
  </graph>
</graphml>
"""
)


def test_elements_become_rows() -> None:
    found = read(GraphMl(aliases=("also",)), TEXT, "x.graphml")
    assert found["entities"] == {
        ("ada", "person", 'Ada & <node id="x"> Lovelace', ""), ("Isle_of_Dogs", "place", "", ""), ("dog", "animal", "", ""),
        ("draw", "person", "Drawn", ""),
    }  # fmt: skip
    assert found["facts"] == {("ada", "LIVED_IN", "Isle_of_Dogs"), ("ada", "owns", "dog"), ("dog", "friendOf", "ada")}
    assert found["relations"] == {("LIVED_IN", "", False), ("owns", "", False), ("friendOf", "", True), ("height", "", False)}
    assert found["values"] == {("ada", "height", "quantity", "1.6", "", None, "", "", "")}
    assert found.names("alias") == {"ada": {"Countess", "A. L."}}
    assert found.names("id")["LIVED_IN"] == {"lived in"}
    assert found.names("id")["Isle_of_Dogs"] == {"Isle of Dogs"}
    assert found.skipped == {"edge without a relation": 1, "node without an id": 1, "number that is none": 1}


def test_options() -> None:
    parser = GraphMl(labels=("also",), without=("height", "name"), only_relation="knows", symmetric=("knows",), kinds=(), kind="thing")
    found = read(parser, TEXT, "x.graphml")
    assert ("ada", "thing", "Countess| A. L.", "") in found["entities"]
    assert {row[1] for row in found["values"]} == {"kind", "label"}
    assert ("knows", "", True) in found["relations"]
    assert pickle.loads(pickle.dumps(parser)) == parser


def test_what_neo4j_exports() -> None:
    text = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><key id="name" for="node" attr.name="name"/>
    <graph id="G" edgedefault="directed"><node id="n0" labels=":Person:Actor">
    <data key="labels">:Person:Actor</data><data key="name">Ann</data></node>
    <node id="n1" labels=":Movie"><data key="labels">:Movie</data></node>
    <edge id="e0" source="n0" target="n1" label="ACTED_IN"><data key="label">ACTED_IN</data></edge></graph></graphml>"""
    found = read(GraphMl(), text, "x.graphml")
    assert found["entities"] == {("n0", "Person", "Ann", ""), ("n1", "Movie", "", "")}
    assert found["facts"] == {("n0", "ACTED_IN", "n1")}


def test_the_graph_of_networkx() -> None:
    rng = random.Random(0)
    graph = nx.MultiDiGraph()
    for number in range(200):
        graph.add_node(f"n_{number}", label=f'"<{number}> é', size=number, ratio=number / 7)
    for _ in range(500):
        graph.add_edge(f"n_{rng.randrange(200)}", f"n_{rng.randrange(200)}", relation=f"r{rng.randrange(5)}")
    out = io.BytesIO()
    nx.write_graphml(graph, out)
    found = read(GraphMl(), out.getvalue(), "x.graphml")
    assert found["facts"] == {(head, data["relation"], tail) for head, tail, data in graph.edges(data=True)}
    assert {(row[0], row[2]) for row in found["entities"]} == {(node, data["label"]) for node, data in graph.nodes(data=True)}
    assert {(row[0], row[1], float(row[3])) for row in found["values"]} == {
        (node, name, float(data[name])) for node, data in graph.nodes(data=True) for name in ("size", "ratio")
    }
    assert not any(row[2] for row in found["relations"])
    out = io.BytesIO()
    nx.write_graphml(nx.Graph([("a", "b", {"relation": "touches"})]), out)
    assert read(GraphMl(), out.getvalue(), "x.graphml")["relations"] == {("touches", "", True)}


@pytest.mark.parametrize("size", [50, 200, 1000, 10_000])
def test_several_graphs_in_a_file(size: int) -> None:
    graphs = "\n".join(
        f"<graph edgedefault='{kind}'>"
        + "".join(f'<node id="{n}"/><edge source="a" target="b" label="{kind} {n}"/>' for n in range(20))
        + "</graph>"
        for kind in ("directed", "undirected")
    )
    text = f"<graphml>{graphs}</graphml>"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting.record_pieces, "__kwdefaults__", {"size": size, "record": "record"})
        found = read(GraphMl(), MemoryText("x.graphml", text.encode(), chunk=50))
    assert {row[0] for row in found["relations"] if row[2]} == {f"undirected {number}" for number in range(20)}
    assert len(found["relations"]) == 40


@given(st.integers(10, 900), st.integers(5, 90), st.integers(0, 20))
@settings(deadline=None, max_examples=40)
def test_rows_do_not_depend_on_where_a_file_is_cut(size: int, chunk: int, start: int) -> None:
    whole = read(GraphMl(), TEXT, "x.graphml")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cutting.record_pieces, "__kwdefaults__", {"size": size, "record": "record"})
        text = MemoryText("x.graphml", TEXT.encode(), chunk=chunk)
        found, pieces = read(GraphMl(), text), list(GraphMl().pieces(text))
        number = start % len(pieces)
        begin = pieces[number - 1].position + len(pieces[number - 1].data) if number else 0
        assert list(GraphMl().pieces(text, begin)) == pieces[number:]
    assert found.tables == whole.tables
    assert found.skipped == whole.skipped
    assert all(piece.line == 1 + TEXT.encode()[: piece.position].count(b"\n") for piece in pieces)


def test_an_element_that_is_no_xml_spoils_only_itself() -> None:
    text = TEXT.replace('<node id="draw">', '<node id="bad"><data>&undefined;</data></node><node id="worse" id="twice"/>\n<node id="draw">')
    found = read(GraphMl(), text, "x.graphml")
    assert found["facts"] == read(GraphMl(), TEXT, "x.graphml")["facts"]
    assert found.skipped["element that is no XML"] >= 1
    assert found.examples["element that is no XML"].startswith("x.graphml, line 1")


@pytest.mark.parametrize(
    "broken",
    [
        '<edge source="a" target="b"><data key="r">x</data>',  # never closed
        '<edge source="a" target=b"><data key="r">x</data></edge>',
        '<edge source="a" target=b"/>',
        '<edge source="a" target="b" target="c"/>',
        '<edge source="a<" target="b"/>',
        '<edge source="a" target="b"><data key="r">x</edge>',
        '<node id="n"><graph><edge source="a" target="b"></graph></node>',
        '<node id="n"><data key="r">x</data>',
    ],
)
@pytest.mark.parametrize("size", [30, 10_000])
def test_only_the_broken_element_goes_and_is_counted(broken: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutting.record_pieces, "__kwdefaults__", {"size": size, "record": "record"})
    edges = [f'<edge source="{at}" target="{at + 1}"/>' for at in range(6)]
    expected = {(str(at), "r", str(at + 1)) for at in range(6)}
    for place in (0, 3, 6):
        inside = "\n".join((*edges[:place], broken, *edges[place:]))
        text = f'<graphml><graph edgedefault="directed">\n{inside}\n</graph></graphml>'.encode()
        found = read(GraphMl(only_relation="r"), MemoryText("x.graphml", text, 7))
        assert found["facts"] == expected
        assert found.skipped == {"element that is no XML": 1}
        assert found.examples == {"element that is no XML": f"x.graphml, line {2 + place}"}


def test_elements_that_are_mostly_no_xml_are_an_error() -> None:
    text = HEAD + '<graph edgedefault="directed">' + '<node id="a">&x;</node>' * 2_000 + "</graph></graphml>"
    with pytest.raises(BrokenInput, match=r"^x.graphml, line 10: this is not XML, nor are most elements"):
        read(GraphMl(), text, "x.graphml")


def test_nothing_outside_is_read_and_no_entity_expanded() -> None:
    bomb = '<!DOCTYPE g [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;"><!ENTITY c SYSTEM "file:///etc/passwd">]>'
    for text in (TEXT.replace("<!--", bomb + "<!--"), f"{bomb}<graphml><graph><node id='x'><data>&c;</data></node></graph></graphml>"):
        with pytest.raises(BrokenInput, match="document type declaration"):
            read(GraphMl(), text, "x.graphml")
    deep = "<graphml><graph>" + "<node id='a'><graph>" * 100_000
    with pytest.raises(BrokenInput, match="nested in 200 others"):
        read(GraphMl(), deep, "x.graphml")
    inside = f"<graphml><graph><node id='a'><data key='k'>{'<a>' * 10_000}{'</a>' * 10_000}</data></node></graph></graphml>"
    assert read(GraphMl(), inside, "x.graphml").skipped == {"element that is no XML": 1}


def test_a_file_that_is_cut_or_something_else() -> None:
    cut = TEXT[: TEXT.index('<edge source="ada" target="dog"')]
    with pytest.raises(BrokenInput, match="</graphml> is missing"):
        read(GraphMl(), cut, "x.graphml")
    text = MemoryText("x.graphml", cut.encode(), partial=True)
    assert ("ada", "LIVED_IN", "Isle_of_Dogs") in read(GraphMl(), text)["facts"]
    assert len(text.notes) == 1
    with pytest.raises(BrokenInput, match="not GraphML"):
        read(GraphMl(), "<gexf><node id='a'/></gexf>", "x.gexf")
    with pytest.raises(BrokenInput, match="Cypher script"):
        read(GraphMl(), "CREATE (a:B)", "x.graphml")


@given(
    st.integers(0, len(TEXT)), st.integers(0, 5), st.binary(max_size=4) | st.sampled_from([b"<node ", b"</node>", b"<!--", b"<![CDATA["])
)
@settings(deadline=None, max_examples=example_count(200))
def test_a_changed_file_is_rows_or_a_sentence(at: int, cut: int, new: bytes) -> None:
    data = TEXT.encode()
    try:
        read(GraphMl(), data[:at] + new + data[at + cut :], "f.graphml")
    except InputError as error:
        check_sentence(error, "f.graphml")
