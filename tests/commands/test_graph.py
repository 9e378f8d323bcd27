"""``kgqa.graph``: what NetworkX gets is what the tables hold, from both stores; and the same as a GraphML file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import networkx as nx
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import kgqa
from kgqa.errors import AmbiguousName, KgqaError, SettingsError, StorageError, StoreError, UnknownId, UnknownName, WorkspaceError
from kgqa.formats import native
from kgqa.formats.graph_rows import sample_rows
from kgqa.runs.graph import rows_of
from kgqa.runs.workspace import Workspace
from kgqa.settings.neo4j import Neo4jSettings
from kgqa.store.kinds import LOOKED_UP, NODES, RELATIONSHIPS
from tests.conftest import Cli

MANY = 10**6
SEEDS = pytest.mark.parametrize("seed", ["seed_wikidata", pytest.param("seed_medline", marks=pytest.mark.slow)])


def plain(rows: Mapping[str, pa.Table]) -> Any:
    """The graph of some tables, made one row at a time."""
    result = nx.MultiDiGraph()
    for name, node in NODES.items():
        for row in rows[name].to_pylist() if name in rows else ():
            result.add_node(node.mark + row[node.key], type=node.label, **said(row))
    for name, link in RELATIONSHIPS.items():
        for row in rows[name].to_pylist() if name in rows else ():
            source, target = (row.pop(column) for column in rows[name].column_names[:2])
            result.add_edge(NODES[link.source].mark + source, NODES[link.target].mark + target, type=link.type, **said(row))
    return result


def said(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name != LOOKED_UP and value not in (None, [])}


def nodes_of(graph: Any) -> list[tuple[str, dict[str, Any]]]:
    return sorted(graph.nodes(data=True), key=repr)


def edges_of(graph: Any) -> list[str]:
    return sorted(json.dumps(edge, sort_keys=True) for edge in graph.edges(data=True))


def assert_same(one: Any, other: Any) -> None:
    assert nodes_of(one) == nodes_of(other)
    assert edges_of(one) == edges_of(other)


def starts(rows: Mapping[str, pa.Table], every: int) -> Iterator[tuple[str, str]]:
    for kind in ("entity", "document"):
        for name in rows[kind]["id"].to_pylist()[::every]:
            yield kind, name


@SEEDS
def test_a_neighbourhood_is_the_ego_graph_of_the_whole_one(seed: str, request: pytest.FixtureRequest) -> None:
    place = request.getfixturevalue(seed)
    rows = rows_of(Workspace(place))
    whole = plain(rows)
    assert_same(kgqa.graph(place), whole)
    asked = 0
    for kind, name in starts(rows, 120):
        for hops in (1, 2):
            around = nx.ego_graph(whole, NODES[kind].mark + name, radius=hops, undirected=True)
            result = kgqa.graph(place, **{kind: name}, hops=hops, limit=MANY)  # type: ignore[arg-type]
            assert_same(result, around)
            assert result.graph == {kind: name, "hops": hops, "limit": MANY, "cuts": []}
            asked += result.number_of_edges() > 1
    assert asked > 5


def test_hubs_are_cut_where_it_says(seed_wikidata: Path) -> None:
    rows = rows_of(Workspace(seed_wikidata))
    whole = plain(rows)
    hub = max(rows["entity"].to_pylist(), key=lambda row: (row["documents"], row["id"]))["id"]
    full, cut = kgqa.graph(seed_wikidata, entity=hub, limit=MANY), kgqa.graph(seed_wikidata, entity=hub, limit=3)
    assert cut.number_of_nodes() < full.number_of_nodes()
    assert_same(cut, whole.subgraph(cut.nodes))
    node = f"e:{hub}"
    counts = {
        "facts from it": sum(data["type"] == "FACT" for *_, data in whole.out_edges(node, data=True)),
        "facts to it": sum(data["type"] == "FACT" for *_, data in whole.in_edges(node, data=True)),
        "documents that mention it": sum(data["type"] == "MENTIONS" for *_, data in whole.in_edges(node, data=True)),
    }
    items = [{"kind": "entity", "id": hub, "what": what, "followed": 3, "total": total} for what, total in counts.items() if total > 3]
    assert cut.graph["cuts"] == items
    assert len(items) > 1
    # A limit that is just enough is none.
    most = max(counts.values())
    assert kgqa.graph(seed_wikidata, entity=hub, limit=most).graph["cuts"] == []
    assert kgqa.graph(seed_wikidata, entity=hub, limit=most - 1).graph["cuts"]


@SEEDS
def test_a_sample_has_its_chains_in_order(seed: str, request: pytest.FixtureRequest) -> None:
    place = request.getfixturevalue(seed)
    dataset = next((place / "datasets").iterdir())
    whole = plain(rows_of(Workspace(place)) | sample_rows(dataset, dataset.name))
    for split, path in native.split_files(dataset).items():
        instance = next(native.read(path))
        result = kgqa.graph(place, sample=instance.id)
        assert result.graph == {"sample": instance.id, "dataset": dataset.name}
        (start,) = [node for node, data in result.nodes(data=True) if data["type"] == "Sample"]
        assert result.nodes[start]["question"] == instance.question
        assert result.nodes[start]["split"] == split
        assert_same(result, whole.subgraph(result.nodes))
        near = {target for _, target in whole.out_edges(start)}
        assert near <= set(result.nodes)
        chains = {tuple(chain) for several in instance.chains or () for chain in several}
        walked = set()
        for chain in (node for node, data in result.nodes(data=True) if data["type"] == "Chain"):
            steps = sorted((data["position"], target) for _, target, data in result.out_edges(chain, data=True))
            assert [position for position, _ in steps] == list(range(len(steps)))
            walked.add(tuple(target[2:] for _, target in steps))
        assert walked == chains


def test_names_will_do(seed_wikidata: Path) -> None:
    rows = rows_of(Workspace(seed_wikidata))
    labels, titles = (rows[kind][column].to_pylist() for kind, column in (("entity", "label"), ("document", "title")))
    label = next(text for text in labels if labels.count(text) == 1)
    title = next(text for text in titles if titles.count(text) == 1)
    entity = rows["entity"]["id"][labels.index(label)].as_py()
    assert kgqa.graph(seed_wikidata, entity=label).graph["entity"] == entity
    assert kgqa.graph(seed_wikidata, document=title).graph["document"] == rows["document"]["id"][titles.index(title)].as_py()


@pytest.mark.slow
def test_both_stores_give_the_same_in_the_same_order(seed_wikidata: Path, neo4j_database: Neo4jSettings) -> None:
    kgqa.load(seed_wikidata, neo4j=neo4j_database)
    rows = rows_of(Workspace(seed_wikidata))
    sample = next(native.read(seed_wikidata / "datasets" / "wikihop" / "train.parquet")).id
    items: list[dict[str, Any]] = [{"sample": sample}]
    items += [{kind: name, "hops": hops, "limit": limit} for kind, name in starts(rows, 200) for hops, limit in ((1, 100), (2, 4))]
    for arguments in items:
        one = kgqa.graph(seed_wikidata, **arguments)
        other = kgqa.graph(seed_wikidata, **arguments, store="neo4j", neo4j=neo4j_database)
        assert list(one.nodes(data=True)) == list(other.nodes(data=True))
        assert list(one.edges(keys=True, data=True)) == list(other.edges(keys=True, data=True))
        assert one.graph == other.graph


def as_written(data: Mapping[str, Any]) -> dict[str, Any]:
    """GraphML has no lists."""
    return {name: json.dumps(value, ensure_ascii=False) if isinstance(value, list) else value for name, value in data.items()}


def assert_read_back(path: Path, graph: Any) -> None:
    result = nx.read_graphml(path, force_multigraph=True)
    assert nodes_of(result) == sorted(((node, as_written(data)) for node, data in graph.nodes(data=True)), key=repr)
    assert edges_of(result) == sorted(json.dumps((a, b, as_written(data)), sort_keys=True) for a, b, data in graph.edges(data=True))


@SEEDS
def test_graphml_reads_back(seed: str, request: pytest.FixtureRequest, tmp_path: Path, cli: Cli) -> None:
    place = request.getfixturevalue(seed)
    dataset = next((place / "datasets").iterdir()).name
    sample = next(native.read(place / "datasets" / dataset / "train.parquet")).id
    entity = max(rows_of(Workspace(place))["entity"].to_pylist(), key=lambda row: (row["documents"], row["id"]))["id"]
    for number, (options, arguments) in enumerate(
        (
            (["--entity", entity, "--limit", "5"], {"entity": entity, "limit": 5}),
            (["--sample", sample, "--dataset", dataset], {"sample": sample}),
            ([], {}),
        )
    ):
        out = tmp_path / f"{number}.graphml"
        outcome = cli("export", "--to", "graphml", out, "--workspace", place, *options)
        assert outcome.status == 0, outcome.err
        assert str(out) in outcome.out
        result = kgqa.graph(place, **arguments)
        assert_read_back(out, result)
        told = nx.read_graphml(out).graph
        assert {name: told[name] for name in result.graph} == {
            name: value if isinstance(value, str) else json.dumps(value) for name, value in result.graph.items()
        }


def test_the_whole_graph_takes_samples_and_rejected_questions(seed_wikidata: Path, tmp_path: Path, cli: Cli) -> None:
    out = tmp_path / "all.graphml"
    outcome = cli("export", "--to", "graphml", out, "--workspace", seed_wikidata, "--dataset", "wikihop", "--rejected")
    assert outcome.status == 0, outcome.err
    result = nx.read_graphml(out, force_multigraph=True)
    kinds = {kind: sum(data["type"] == kind for _, data in result.nodes(data=True)) for kind in ("Sample", "Chain", "Rejected")}
    rows = sample_rows(seed_wikidata / "datasets" / "wikihop", "wikihop")
    rejected = pq.read_metadata(seed_wikidata / "datasets" / "wikihop" / "rejected.parquet").num_rows
    assert kinds == {"Sample": rows["sample"].num_rows, "Chain": rows["chain"].num_rows, "Rejected": rejected}
    assert json.loads(result.graph["datasets"]) == ["wikihop"]


def test_one_sample_in_two_datasets_is_asked_about(wikidata_copy: Path, tmp_path: Path) -> None:
    first = wikidata_copy / "datasets" / "wikihop"
    shutil.copytree(first, wikidata_copy / "datasets" / "other")
    sample = next(native.read(first / "train.parquet")).id
    with pytest.raises(SettingsError, match=r"other and wikihop have a sample"):
        kgqa.graph(wikidata_copy, sample=sample)
    assert kgqa.graph(wikidata_copy, sample=sample, dataset="other").graph["sample"] == sample
    with pytest.raises(SettingsError, match="two of the datasets are called wikihop"):
        kgqa.export(["wikihop", "other"], to="graphml", out=tmp_path / "x", workspace=wikidata_copy)
    assert not list(tmp_path.glob("x*"))


def test_a_dataset_of_another_graph_is_refused(seed_wikidata: Path, seed_medline: Path, tmp_path: Path) -> None:
    other = seed_medline / "datasets" / "medhop"
    sample = next(native.read(other / "train.parquet")).id
    with pytest.raises(UnknownId, match=r"which is not in the graph; give the workspace"):
        kgqa.graph(seed_wikidata, sample=sample, dataset=other)
    for to in ("graphml", "neo4j"):
        with pytest.raises(UnknownId, match=r"which is not among the entities of .*; give the workspace"):
            kgqa.export(other, to=to, out=tmp_path / "x", workspace=seed_wikidata)
    assert not list(tmp_path.glob("*x*"))


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"entity": "nobody is called so"}, UnknownName, "no entity has the id or the name"),
        ({"document": "nothing is called so"}, UnknownName, "no document has the id or the name"),
        ({"sample": "x-1"}, UnknownId, "no dataset here has a sample 'x-1'"),
        ({"sample": "x-1", "dataset": "wikihop"}, UnknownId, "there is no sample 'x-1' in this dataset"),
        ({"sample": "x-1", "dataset": "wikihopp"}, KgqaError, "there is no dataset of this name"),
        ({"entity": "Q1", "document": "d"}, SettingsError, "entity and document are given"),
        ({"sample": "x", "hops": 2}, SettingsError, "hops limits the neighbourhood of an entity or a document"),
        ({"limit": 2}, SettingsError, "limit limits the neighbourhood"),
        ({"entity": "Q1", "dataset": "wikihop"}, SettingsError, "leave out one of them"),
        ({"entity": "Q1", "hops": 0}, SettingsError, "hops 0 is not between 1 and 4"),
        ({"entity": "Q1", "hops": 5}, SettingsError, "hops 5 is not between 1 and 4"),
        ({"entity": "Q1", "limit": 0}, SettingsError, "limit 0 is not between 1 and 10,000,000"),
        ({"entity": "Q1", "limit": 10**30}, SettingsError, "000 is not between 1 and 10,000,000"),
        ({"entity": 5}, SettingsError, "entity 5 is not text; choose another one."),
        ({"entity": "Q1", "hops": "2"}, SettingsError, "hops '2' is not a whole number; choose another one."),
        ({"entity": "Q1", "store": "neo4jj"}, SettingsError, "did you mean neo4j?"),
        ({"dataset": "wikihop"}, SettingsError, "a dataset goes with a sample"),
        ({"store": "neo4j"}, SettingsError, "the whole graph is read from the workspace"),
    ],
)
def test_mistakes_are_sentences(arguments: dict[str, Any], error: type[KgqaError], sentence: str, seed_wikidata: Path) -> None:
    with pytest.raises(error) as raised:
        kgqa.graph(seed_wikidata, **arguments)
    assert sentence in str(raised.value)


def test_a_name_that_several_bear_is_listed(seed_wikidata: Path) -> None:
    counts = pc.value_counts(rows_of(Workspace(seed_wikidata))["entity"]["label"]).to_pylist()
    twice = next(entry["values"] for entry in counts if entry["counts"] > 1)
    with pytest.raises(AmbiguousName, match=r"Give the id"):
        kgqa.graph(seed_wikidata, entity=twice)


def test_a_workspace_without_a_graph_is_a_sentence(tmp_path: Path) -> None:
    for arguments, error in (({}, WorkspaceError), ({"entity": "Q1"}, StoreError)):
        with pytest.raises(error, match="there is no graph in this workspace"):
            kgqa.graph(tmp_path / "none", **arguments)  # type: ignore[arg-type]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("to", "out"), [("graphml", "graph.graphml"), ("neo4j", "graph")])
def test_an_export_that_was_killed_at_its_end_is_its_own(to: str, out: str, seed_wikidata: Path, tmp_path: Path) -> None:
    written = kgqa.export(to=to, out=tmp_path / out, workspace=seed_wikidata)
    before = [path.read_bytes() for path in written]
    assert kgqa.export(to=to, out=tmp_path / out, workspace=seed_wikidata) == written
    assert [path.read_bytes() for path in written] == before
    written[0].write_bytes(b"of somebody else")
    with pytest.raises(StorageError, match="this is already there; choose another --out, or remove it"):
        kgqa.export(to=to, out=tmp_path / out, workspace=seed_wikidata)
    assert written[0].read_bytes() == b"of somebody else"
