"""Tables with a flipped bit: whoever reads one says so, and shows or makes nothing of it."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import kgqa
from kgqa.collection.corpus import draw_terms, read_corpus
from kgqa.collection.passages import draw_passages
from kgqa.errors import BrokenInput, WorkspaceError
from kgqa.formats import native
from kgqa.formats.dataset_on_graph import dataset_name
from kgqa.formats.question_set import open_dataset
from tests.conftest import Cli
from tests.contents import files
from tests.small_questions import questions, write_set

FLIPS = 50
SAYS = "the file differs from its hash in manifest.json, so it was damaged or changed"


def flips(path: Path, count: int = FLIPS, *, seed: int = 11) -> Iterator[int]:
    """The file with one flipped bit after the other, and afterwards as it was; the number of the bit."""
    whole, rng = path.read_bytes(), random.Random(seed)
    for _ in range(count):
        bit = rng.randrange(8 * len(whole))
        data = bytearray(whole)
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        yield bit
    path.write_bytes(whole)


@pytest.mark.parametrize("name", ["train.parquet", "masked/train.parquet"])
def test_show_shows_nothing_of_a_damaged_dataset(name: str, wikidata_copy: Path, cli: Cli) -> None:
    folder = wikidata_copy / "datasets" / "wikihop"
    options = ["--masked"] if "/" in name else []
    before = files(wikidata_copy)
    for _ in flips(folder / name):
        result = cli("show", folder, *options)
        result.sentence(f"{name}: {SAYS}")
        assert result.out == ""
    assert files(wikidata_copy) == before
    assert cli("show", folder, *options).status == 0


@pytest.mark.parametrize("table", ["entities", "facts", "relations"])
def test_show_names_nothing_from_a_damaged_table(table: str, wikidata_copy: Path, cli: Cli) -> None:
    for _ in flips(wikidata_copy / "tables" / f"{table}.parquet"):
        result = cli("show", wikidata_copy / "datasets" / "wikihop", "wikihop-a16447ab6d322b5f")
        result.sentence("a table is damaged", "run kgqa generate again")
        assert "Chain:" not in result.out


READERS: dict[str, Callable[[Path], object]] = {
    "read": lambda folder: list(native.read(folder / "dev.parquet")),
    "columns": lambda folder: native.read_columns(folder / "dev.parquet", "id"),
    "fields": lambda folder: list(native.read_fields(folder / "dev.parquet", "id")),
    "take": lambda folder: list(native.take(folder / "dev.parquet", {"q1"})),
    "rows": lambda folder: native.row_count(folder / "dev.parquet"),
    "set": lambda folder: list(open_dataset(folder, "native").instances()),
    "convert": lambda folder: kgqa.convert(folder, to="hotpotqa", out=folder.parent / "out", format="native"),
    "split": lambda folder: kgqa.split(folder, out=folder.parent / "out", format="native"),
    "audit": lambda folder: kgqa.audit(folder, out=folder.parent / "out", format="native"),
}


@pytest.mark.parametrize("name", READERS)
def test_every_reader_of_a_dataset_says_that_it_is_damaged(name: str, tmp_path: Path) -> None:
    made = kgqa.convert(write_set(tmp_path / "set", train=questions(12), dev=questions(6)), to="native", out=tmp_path / "native")
    assert made.counts == {"train": 12, "dev": 6}
    for _ in flips(tmp_path / "native" / "dev.parquet", 5):
        with pytest.raises(BrokenInput, match=SAYS):
            READERS[name](tmp_path / "native")
        assert not (tmp_path / "out").exists()


def test_a_dataset_without_a_manifest_is_read_as_it_is(tmp_path: Path) -> None:
    folder = write_set(tmp_path / "set", dev=questions(6))
    for manifest in ("{}", '{"from": 3}', '{"files": {"train.parquet": "0"}}', '{"files": {"dev.parquet": ""}}'):
        (folder / "manifest.json").write_text(manifest, "utf-8")
        assert native.row_count(folder / "dev.parquet") == 6
    (folder.parent / "manifest.json").write_text("of something else", "utf-8")
    assert native.row_count(folder / "dev.parquet") == 6


@pytest.mark.parametrize("manifest", ["", "[]", "damaged", '{"files": {', "[" * 100_000, "\udcff", "9" * 5000])
def test_a_damaged_manifest_of_a_dataset_is_refused(manifest: str, wikidata_copy: Path, tmp_path: Path, cli: Cli) -> None:
    folder = wikidata_copy / "datasets" / "wikihop"
    (folder / "manifest.json").write_text(manifest, "utf-8", "surrogateescape")
    before = files(wikidata_copy)
    commands = {
        "show": ["show", folder],
        "load": ["load", "--workspace", wikidata_copy, "--dataset", folder],
        "audit": ["audit", folder, "--out", tmp_path / "out"],
        "convert": ["convert", folder, "--to", "hotpotqa", "--lossy", "--out", tmp_path / "out"],
    }
    for arguments in commands.values():
        cli(*arguments).sentence(f"{folder / 'manifest.json'}: this manifest is damaged; ")
    assert files(wikidata_copy) == before
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("value", [3, None, ["train.parquet"], {"train.parquet": 3}, {"train.parquet": {"sha256": "0"}}])
def test_a_manifest_with_odd_files_is_refused(value: object, wikidata_copy: Path, cli: Cli) -> None:
    folder = wikidata_copy / "datasets" / "wikihop"
    (folder / "manifest.json").write_text(json.dumps({"files": value}), "utf-8")
    for command in (["show", folder], ["load", "--workspace", wikidata_copy, "--dataset", folder]):
        cli(*command).sentence(f"{folder / 'manifest.json'}: this manifest is damaged, since its 'files' ")


def test_a_manifest_that_names_no_dataset(wikidata_copy: Path) -> None:
    folder = wikidata_copy / "datasets" / "wikihop"
    (folder / "manifest.json").write_text(json.dumps({"dataset": ["x"]}), "utf-8")
    assert dataset_name(folder) == "wikihop"


def test_an_empty_manifest_is_not_that_of_a_dataset_to_show(wikidata_copy: Path, cli: Cli) -> None:
    folder = wikidata_copy / "datasets" / "wikihop"
    (folder / "manifest.json").write_text("{}", "utf-8")
    cli("show", folder).sentence(f"{folder / 'manifest.json'}: this manifest is empty; ")
    (folder / "manifest.json").unlink()
    assert cli("show", folder).status == 0


@pytest.mark.parametrize("stage", ["read_sources", "link_mentions"])
def test_a_corpus_and_terms_come_from_whole_tables(stage: str, wikidata_copy: Path) -> None:
    corpus = read_corpus(wikidata_copy)
    table = {"read_sources": "documents", "link_mentions": "mentions"}[stage]
    says = f"a table of the stage {stage} is damaged or unfinished"
    for _ in flips(wikidata_copy / "tables" / f"{table}.parquet", 10):
        with pytest.raises(WorkspaceError, match=says):
            draw_passages(wikidata_copy, links=1, sample=3, seed=1)
        if stage == "read_sources":
            with pytest.raises(WorkspaceError, match=says):
                read_corpus(wikidata_copy)
            with pytest.raises(WorkspaceError, match=says):
                draw_terms(wikidata_copy, corpus, count=3, seed=1)


@pytest.fixture
def imported(tmp_path: Path) -> Path:
    pytest.importorskip("duckdb")
    lines = ["head\trelation\ttail"] + [f"land {number}\tcapital\ttown {number}" for number in range(40)]
    (tmp_path / "edges.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    texts = [f'{{"id": "d{number}", "text": "town {number} is the capital of land {number}."}}' for number in range(40)]
    (tmp_path / "texts.jsonl").write_text("\n".join(texts) + "\n", "utf-8")
    kgqa.import_files("edges", [tmp_path / "edges.tsv"], out=tmp_path / "import")
    kgqa.import_files("texts", [tmp_path / "texts.jsonl"], out=tmp_path / "import")
    return tmp_path / "import"


def test_a_damaged_import_is_not_read(imported: Path, tmp_path: Path, cli: Cli) -> None:
    for _ in flips(imported / "facts.parquet", 10):
        said = cli("generate", "--domain", "wikidata", "--source", imported, "--workspace", tmp_path / "w")
        said.sentence("facts.parquet: this is not the table that import.json names, so it was damaged or changed")
        shutil.rmtree(tmp_path / "w")
