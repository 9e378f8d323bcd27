"""GraphML: whatever texts hold, what is written is XML, and reads back as it was but for what XML has no place for."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import networkx as nx
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st

import kgqa
from kgqa.errors import SettingsError, StorageError
from kgqa.store import graphml
from tests import contents
from tests.commands.test_load import Counting
from tests.conftest import Cli, SmallDisk
from tests.store.test_import_files import LONG, strange_rows

CHARACTERS = st.characters(exclude_categories=["Cs"])
TEXTS = st.text(CHARACTERS, max_size=20) | st.sampled_from(["&amp;", "]]>", "<data>", "\r\n", " \t\n ", "\x00\x1f\ufffe", "{}"])


def pictured(text: str) -> str:
    return "".join(str(graphml.PICTURED.get(character, character)) for character in text)


@given(texts=st.lists(TEXTS, min_size=1, max_size=4, unique_by=pictured))
def test_any_text_comes_back(texts: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("graphml") / "x.graphml"
    numbers = list(range(len(texts)))
    rows = {
        "entity": pa.table({"id": texts, "row": numbers, "label": [None, *texts[1:]], "aliases": [[text] for text in texts]}),
        "document": pa.table({"id": texts, "title": texts, "usable": [number % 2 == 0 for number in numbers], "search": texts}),
        "about": pa.table({"entity": texts, "document": texts[::-1]}),
    }
    about = {"name": texts[0]}
    count = graphml.write(path, rows, about=about)
    result = nx.read_graphml(path, force_multigraph=True)
    items = [pictured(text) for text in texts]
    assert result.graph.get("name", "") == items[0]
    for number, (text, node) in enumerate(zip(texts, items, strict=True)):
        entity, document = result.nodes[f"e:{node}"], result.nodes[f"d:{node}"]
        assert entity["row"] == number
        assert entity.get("label") == (node if number else None)
        assert json.loads(entity["aliases"]) == [text]
        assert (document["title"], document["usable"], "search" in document) == (node, number % 2 == 0, False)
    assert sorted(result.edges()) == sorted((f"e:{a}", f"d:{b}") for a, b in zip(items, items[::-1], strict=True))
    illegal = [sum(character in graphml.PICTURED for character in text) for text in texts]
    assert count == 6 * sum(illegal)


def test_strange_texts_come_through_and_what_is_lost_is_told(tmp_path: Path) -> None:
    rows = strange_rows()
    result = graphml.write(tmp_path / "x.graphml", rows)
    read = nx.read_graphml(tmp_path / "x.graphml", force_multigraph=True)
    assert result > 0
    assert {node for node in read if node.startswith("e:")} == {f"e:{pictured(name)}" for name in rows["entity"]["id"].to_pylist()}
    assert max(len(data.get("text", "")) for _, data in read.nodes(data=True)) == len(LONG)
    types = {name: sum(data["type"] == name for *_, data in read.edges(data=True)) for name in ("FACT", "MENTIONS", "ABOUT")}
    assert types == {name: rows[table].num_rows for name, table in (("FACT", "fact"), ("MENTIONS", "mentions"), ("ABOUT", "about"))}


def test_batches_make_no_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graphml.write(tmp_path / "one.graphml", strange_rows())
    monkeypatch.setattr(graphml, "BATCH_ROWS", 3)
    graphml.write(tmp_path / "many.graphml", strange_rows())
    assert (tmp_path / "one.graphml").read_bytes() == (tmp_path / "many.graphml").read_bytes()


def test_two_runs_give_the_same_bytes(seed_wikidata: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        kgqa.export(to="graphml", out=tmp_path / name, workspace=seed_wikidata)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_nothing_is_replaced(seed_wikidata: Path, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    for name in ("file", "folder", "link"):
        for options in ((), ("--entity", "Portugal")):
            cli("export", "--to", "graphml", tmp_path / name, "--workspace", seed_wikidata, *options).sentence(name, "already there")
    cli("export", "--to", "graphml", tmp_path / "none" / "x", "--workspace", seed_wikidata).sentence("there is no folder")
    assert contents.files(tmp_path) == {"file": b"mine"}
    for _ in range(2):  # as after a run that was killed when all was done
        assert cli("export", "--to", "graphml", tmp_path / "new", "--workspace", seed_wikidata, "--entity", "Portugal").status == 0


def test_a_full_disk_leaves_nothing(seed_wikidata: Path, small_disk: SmallDisk, cli: Cli) -> None:
    small_disk.mount("size=64k")
    cli("export", "--to", "graphml", small_disk.path / "x", "--workspace", seed_wikidata).sentence("the disk is full")
    assert list(small_disk.path.iterdir()) == []


def test_what_is_stopped_or_fails_leaves_nothing(seed_wikidata: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for to in ("graphml", "neo4j"):
        with pytest.raises(KeyboardInterrupt):
            kgqa.export("wikihop", to=to, out=tmp_path / "x", workspace=seed_wikidata, progress=Counting(stop=2))
        assert not list(tmp_path.iterdir())

    def refuse(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(graphml, "write", refuse)
    with pytest.raises(StorageError, match="the disk is full"):
        kgqa.export(to="graphml", out=tmp_path / "x", workspace=seed_wikidata)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--to", "graphm"), "did you mean graphml?"),
        (("--to", "graphml", "--entity", "nobody is called so"), "no entity has the id or the name 'nobody is called so'"),
        (("--to", "graphml", "--sample", "x-1"), "no dataset here has a sample 'x-1'"),
        (("--to", "graphml", "--entity", "Portugal", "--rejected"), "rejected questions are those of a dataset"),
        (("--to", "graphml", "--entity", "Portugal", "--dataset", "wikihop"), "leave out one of them"),
        (("--to", "graphml", "--sample", "x", "--dataset", "wikihop", "--rejected"), "no rejected questions"),
        (("--to", "graphml", "--hops", "2"), "hops limits the neighbourhood"),
        (("--to", "graphml", "--neo4j-uri", "bolt://127.0.0.1:9"), "--neo4j-uri requires --store neo4j"),
        (("--to", "graphml", "--store", "neo4j"), "the whole graph is read from the workspace"),
        (("--to", "graphml", "--dataset", "nothing"), "there is no dataset of this name"),
        (("--to", "neo4j", "--sample", "x"), "the format neo4j exports the whole graph"),
    ],
)
def test_mistakes_are_sentences(options: tuple[str, ...], sentence: str, seed_wikidata: Path, tmp_path: Path, cli: Cli) -> None:
    cli("export", *options, "--out", tmp_path / "x", "--workspace", seed_wikidata).sentence(sentence)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("arguments", "part"),
    [({"rejected": True}, "rejected"), ({"entity": "Q1"}, "entity"), ({"limit": 3}, "limit"), ({"store": "neo4j"}, "store")],
)
def test_a_dataset_alone_has_no_graph_around_it(arguments: dict[str, object], part: str, seed_wikidata: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=f"which need no {part}; leave it out"):
        kgqa.export(seed_wikidata / "datasets" / "wikihop", to="qangaroo", out=tmp_path / "x", **arguments)  # type: ignore[arg-type]


def test_an_empty_dataset_is_a_sentence(seed_wikidata: Path, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "empty").mkdir()
    for to in ("graphml", "neo4j"):
        cli("export", "--to", to, tmp_path / "x", "--workspace", seed_wikidata, "--dataset", tmp_path / "empty").sentence("dataset")
    assert not (tmp_path / "x").exists()
