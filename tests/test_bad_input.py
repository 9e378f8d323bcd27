"""Whatever is wrong with files, settings or disks: one sentence that says what, where and what to do, and nothing half-written."""

from __future__ import annotations

import dataclasses
import gzip
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import kgqa
from kgqa.errors import EmptyResult, KgqaError, StorageError
from kgqa.runs.workspace import Workspace
from kgqa.sources import delimited
from kgqa.store.limits import MIB, OWN_LIMITS
from tests import contents
from tests.command import COMMAND, ROOT, environment, run_command
from tests.conftest import Cli, SmallDisk

SEEDS = ROOT / "seeds"


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Something wrong with one source file, and what the sentence must say about it."""

    file: str
    spoil: Callable[[bytes], bytes]
    says: tuple[str, ...]
    domain: str = "wikidata"
    block: int = 0
    """Bytes a block, where the fault stands in a later one."""
    rename: str = ""
    names: dict[str, str] = field(default_factory=dict)


def lines(change: Callable[[list[bytes]], list[bytes]]) -> Callable[[bytes], bytes]:
    """Change the list of lines."""
    return lambda data: b"".join(change(data.splitlines(keepends=True)))


def insert(number: int, line: bytes) -> Callable[[bytes], bytes]:
    """``line`` becomes line ``number``."""
    return lines(lambda rows: [*rows[: number - 1], line + b"\n", *rows[number - 1 :]])


def replace(number: int, old: bytes, new: bytes) -> Callable[[bytes], bytes]:
    """Change something in line ``number``."""

    def change(rows: list[bytes]) -> list[bytes]:
        assert old in rows[number - 1], rows[number - 1]
        return [*rows[: number - 1], rows[number - 1].replace(old, new, 1), *rows[number:]]

    return lines(change)


def first(count: int) -> Callable[[bytes], bytes]:
    """Keep so many lines."""
    return lines(lambda rows: rows[:count])


DOC = b'{"id": "new", "title": "T", "entity": "", "text": "A text."}'
FAULTS = {
    "wrong column": Fault(
        file="entities.tsv", spoil=replace(1, b"label", b"name"), says=("entities.tsv, line 1", "'label' is missing", "aliases")
    ),
    "column twice": Fault(
        file="relations.tsv", spoil=replace(1, b"detail", b"label"), says=("relations.tsv, line 1", "'label' occurs twice")
    ),
    "too many cells": Fault(
        file="entities.tsv", spoil=replace(5, b"\n", b"\tx\n"), says=("entities.tsv, line 5", "expected 8 cells", "found 9")
    ),
    "too few cells": Fault(file="triples.tsv", spoil=insert(7, b"Q45\tP36"), says=("triples.tsv, line 7", "expected 3 cells", "found 2")),
    "too few cells, later block": Fault(
        file="triples.tsv", spoil=insert(200, b"Q45\tP36"), block=1000, says=("triples.tsv, line 200", "expected 3 cells", "found 2")
    ),
    "carriage return in a line": Fault(
        file="triples.tsv", spoil=insert(3, b"Q45\rx\tP36\tQ1"), says=("triples.tsv, line 3", "carriage return")
    ),
    "truncated gzip": Fault(
        file="triples.tsv", spoil=lambda data: gzip.compress(data)[:-100], rename="triples.tsv.gz", says=("triples.tsv.gz", "truncated")
    ),
    "damaged gzip": Fault(
        file="triples.tsv",
        spoil=lambda data: gzip.compress(data)[:300] + b"\xff" * 300 + gzip.compress(data)[600:],
        rename="triples.tsv.gz",
        says=("triples.tsv.gz", "not a whole gzip file"),
    ),
    "no gzip in .gz": Fault(
        file="triples.tsv", spoil=lambda data: data, rename="triples.tsv.gz", says=("triples.tsv.gz", "not a whole gzip file")
    ),
    "gzip without .gz": Fault(file="triples.tsv", spoil=gzip.compress, says=("triples.tsv", "without the .gz ending", "triples.tsv.gz")),
    "UTF-16": Fault(
        file="relations.tsv", spoil=lambda data: data.decode().encode("utf-16"), says=("relations.tsv", "UTF-16", "save it as UTF-8")
    ),
    "no UTF-8": Fault(file="entities.tsv", spoil=replace(9, b"\t", b"\t\xe9"), says=("entities.tsv, line 9, byte", "not UTF-8")),
    "no UTF-8, exact place": Fault(
        file="triples.tsv", spoil=insert(30, b"abc\xffd"), block=99, says=("triples.tsv, line 30, byte 4:", "not UTF-8")
    ),
    "zero byte": Fault(file="triples.tsv", spoil=insert(30, b"abc\0d"), block=99, says=("triples.tsv, line 30", "zero byte")),
    "no JSON": Fault(file="documents.jsonl", spoil=insert(4, b'{"id": "x", '), says=("documents.jsonl, line 4, column", "not JSON")),
    "no JSON after blank lines": Fault(
        file="documents.jsonl",
        spoil=lambda data: b"\n \n\n" + insert(4, b"{]")(data),
        says=("documents.jsonl, line 7, column 2", "not JSON"),
    ),
    "no JSON in a later block": Fault(
        file="documents.jsonl", spoil=insert(100, b"{]"), block=2000, says=("documents.jsonl, line 100, column 2", "not JSON")
    ),
    "later block after blank lines": Fault(
        file="documents.jsonl",
        spoil=lambda data: b"\n\n" + insert(100, b"{]")(data),
        block=2000,
        says=("documents.jsonl, line 102,", "not JSON"),
    ),
    "two objects in a line": Fault(
        file="documents.jsonl", spoil=insert(2, DOC + DOC + b"\n"), says=("documents.jsonl, line 2", "Extra data")
    ),
    "a list": Fault(
        file="documents.jsonl", spoil=insert(2, b"[1]"), says=("documents.jsonl, line 2", "expected an object", "found a list")
    ),
    "a bare null": Fault(
        file="documents.jsonl", spoil=lambda _: b"null\n", says=("documents.jsonl, line 1", "expected an object", "found null")
    ),
    "deeply nested": Fault(file="documents.jsonl", spoil=insert(2, b"[" * 100_000), says=("documents.jsonl, line 2", "nested too deeply")),
    "wrong type": Fault(
        file="documents.jsonl", spoil=insert(2, DOC.replace(b'"T"', b"3")), says=("line 2", "'title' must be text", "found a number")
    ),
    "null field": Fault(file="documents.jsonl", spoil=insert(2, DOC.replace(b'"A text."', b"null")), says=("line 2", "'text' is missing")),
    "field missing": Fault(file="documents.jsonl", spoil=insert(2, DOC.replace(b"entity", b"ent")), says=("line 2", "'entity' is missing")),
    "half a surrogate pair": Fault(
        file="documents.jsonl", spoil=insert(2, DOC.replace(b"A text", b"\\ud83d")), says=("line 2", "surrogate")
    ),
    "document twice": Fault(
        file="documents.jsonl",
        spoil=insert(9, DOC.replace(b"new", b"seed:2")),
        says=("documents.jsonl, line 9", "document id seed:2", "in line 2"),
    ),
    "entity twice": Fault(
        file="entities.tsv", spoil=lines(lambda rows: [*rows, rows[3]]), says=("entities.tsv, line 510", "entity id Q142", "in line 4")
    ),
    "relation twice": Fault(
        file="relations.tsv", spoil=insert(5, b"P17\tcountry\t\t"), says=("relations.tsv, line 5", "relation id P17", "in line 2")
    ),
    "drug twice": Fault(
        domain="medline", file="drugs.tsv", spoil=insert(6, b"DB00005\tX\t"), says=("drugs.tsv, line 6", "drug id DB00005", "in line 2")
    ),
    "protein with a drug's id": Fault(
        domain="medline",
        file="proteins.tsv",
        spoil=replace(3, b"O75376", b"DB00005"),
        says=("proteins.tsv, line 3", "DB00005 is also a drug's", "drugs.tsv, line 2"),
    ),
    "abstract twice": Fault(
        domain="medline",
        file="abstracts.jsonl",
        spoil=insert(6, b'{"id": "SEED:1", "text": "x"}'),
        says=("abstracts.jsonl, line 6", "in line 1"),
    ),
    "empty document id": Fault(
        file="documents.jsonl", spoil=insert(3, DOC.replace(b"new", b" ")), says=("documents.jsonl, line 3", "'id' is empty")
    ),
    "empty entity id": Fault(file="entities.tsv", spoil=replace(3, b"Q29", b""), says=("entities.tsv, line 3", "'id' is empty")),
    "empty file": Fault(file="entities.tsv", spoil=lambda _: b"", says=("entities.tsv", "the file is empty", "must name the columns")),
    "header only": Fault(file="entities.tsv", spoil=first(1), says=("entities.tsv", "no rows", "at least one entity")),
    "no documents": Fault(file="documents.jsonl", spoil=lambda _: b"", says=("documents.jsonl", "no rows", "at least one document")),
    "no triples": Fault(file="triples.tsv", spoil=lambda _: b"", says=("triples.tsv", "no rows", "at least one triple")),
    "every fact unknown": Fault(
        file="triples.tsv", spoil=lambda _: b"X\tP17\tY\n", says=("no facts are left", "first entity is not in the entity table (1)")
    ),
    "every text empty": Fault(
        file="documents.jsonl",
        spoil=lambda _: DOC.replace(b"A text.", b" ") + b"\n",
        says=("no documents are left", "the document has no text (1)"),
    ),
    "a line without an end": Fault(
        file="documents.jsonl", spoil=lambda _: b"x" * 3000, block=500, says=("documents.jsonl, line 1", "longer than")
    ),
}


def copy_of_seeds(folder: Path, domain: str = "wikidata") -> Path:
    """The seed domain as a user's source."""
    return Path(shutil.copytree(SEEDS / domain, folder / "source"))


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_a_source_file(name: str, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    fault = FAULTS[name]
    source, workspace = copy_of_seeds(tmp_path, fault.domain), tmp_path / "workspace"
    path = source / fault.file
    good = path.read_bytes()
    path.unlink()
    spoilt = source / (fault.rename or fault.file)
    spoilt.write_bytes(fault.spoil(good))
    if fault.block:
        monkeypatch.setattr(delimited, "BLOCK_BYTES", fault.block)
        monkeypatch.setattr(delimited, "LINE_LIMIT", 2000)
    command = ("generate", "--domain", fault.domain, "--source", source, "--workspace", workspace)
    cli(*command).sentence(*fault.says)
    assert not (workspace / "datasets").exists()
    assert not list((workspace / "tables").iterdir())
    assert contents.leftovers(workspace) == []
    # Mended, the same command goes on; nothing that the failed run left stands in its way.
    spoilt.unlink()
    path.write_bytes(good)
    with Workspace(workspace) as place:
        place.claim(domain=fault.domain, inputs={"mended": "0"})


def test_a_mended_source_runs_in_the_same_workspace(tmp_path: Path, cli: Cli) -> None:
    source, workspace = copy_of_seeds(tmp_path), tmp_path / "workspace"
    good = (source / "triples.tsv").read_bytes()
    (source / "triples.tsv").write_bytes(good + b"Q1\n")
    command = ("generate", "--domain", "wikidata", "--source", source, "--workspace", workspace)
    cli(*command).sentence("triples.tsv, line 445")
    (source / "triples.tsv").write_bytes(good)
    assert cli(*command).status == 0


@pytest.mark.parametrize("dry", [True, False])
def test_a_source_that_is_not_there(dry: bool, tmp_path: Path, cli: Cli) -> None:
    source, workspace = copy_of_seeds(tmp_path), tmp_path / "workspace"
    command = ["generate", "--domain", "wikidata", "--workspace", workspace, *(["--dry-run"] if dry else []), "--source"]
    cli(*command, tmp_path / "nowhere").sentence("nowhere: there is no such folder", "as --source")
    cli(*command, source / "triples.tsv").sentence("triples.tsv: this is a file; give the folder")
    cli(*command, tmp_path / ("x" * 300)).sentence("the name is too long")
    (source / "triples.tsv.gz").write_bytes(gzip.compress((source / "triples.tsv").read_bytes()))
    cli(*command, source).sentence("both triples.tsv and triples.tsv.gz are there; remove")
    (source / "triples.tsv").unlink()
    (source / "entities.tsv").unlink()
    cli(*command, source).sentence("entities.tsv (or entities.tsv.gz) is missing")
    assert not workspace.exists()


OWN = 'extends = "wikidata"\nseed_domain = "wikidata"\n'
SETTINGS = {
    "unknown": ("[qangaroo]\nmin_candidate = 3", ("own.toml", "unknown setting 'qangaroo.min_candidate'", "did you mean min_candidates?")),
    "unknown section": ("[qangaro]\nx = 3", ("unknown setting 'qangaro'", "did you mean qangaroo?")),
    "unknown deep down": ("[linking.shared]\nprefer_kind = ['x']", ("linking.shared.prefer_kind", "did you mean prefer_kinds?")),
    "wrong type": ("[qangaroo]\nmin_candidates = 'many'", ("'qangaroo.min_candidates' cannot be \"many\"", "whole number")),
    "out of range": ("[qangaroo]\nmin_candidates = 1", ("'qangaroo.min_candidates' cannot be 1", "it must be at least 2")),
    "unknown choice": ("[qangaroo]\nsurface = 'labels'", ("'qangaroo.surface' cannot be \"labels\"", '"label" or "id"')),
    "unknown layout": ("[source]\nlayout = 'csv'", ("'source.layout' cannot be \"csv\"", '"medline", "import" or "questions"')),
    "section is a number": ("qangaroo = 3", ("'qangaroo' cannot be 3",)),
    "splits": ("[qangaroo.splits]\ntrain = 0.9\ndev = 0.3", ("qangaroo.splits", "must add up to 1", "1.25")),
    "placeholders": ("[qangaroo]\nplaceholders = 10\nmax_candidates = 20", ("placeholders (10) must be at least max_candidates (20)",)),
    "question": ("[qangaroo]\nquestion = '{object}?'", ("question may use only {relation} and {subject}",)),
    "question looks inside": ("[qangaroo]\nquestion = '{relation.x}?'", ("question may use only {relation} and {subject}",)),
    "no room": ("[qangaroo]\nmin_candidates = 90", ("min_candidates (90) is more than a sample may have (15)",)),
    "no such kind of name": ("[linking]\ncase = { titel = 'free' }", ("there is no kind of name 'titel'", "title, label, alias")),
    "no such kind of entity": ("[qangaroo]\nendpoint_kind = 'drgu'", ("there is no kind of entity 'drgu'",)),
    "rounds over a tree": ("[qangaroo.balance]\ncandidates = 9", ("balance.candidates needs traversal.chains",)),
    "question without its subject": ("[qangaroo]\nquestion = 'what?'", ("must use {subject}",)),
    "question with a width": ("[qangaroo]\nquestion = '{subject:>9}'", ("question may use only",)),
    "regular expression": ("[linking]\nlist_pages = '('", ("linking.list_pages", "not a regular expression")),
    "dataset name": ("dataset = '../x'", ("'dataset' cannot be \"../x\"",)),
    "unknown query": ("[projection]\narticle = 1\n", ("unknown setting 'projection.article'",)),
    "projection names no query": (
        "[projection]\nentity_to_document = ['article_off']",
        ("projection.entity_to_document", "no query 'article_off'", "did you mean article_of?"),
    ),
    "projection without the columns": (
        "[projection]\nentity_to_document = ['hubs']",
        ("projection.entity_to_document", "'hubs' does not return document"),
    ),
    "no query at all": ("[projection]\nentity_to_document = []", ("projection.entity_to_document", "the list is empty")),
    "cypher file missing": ("[projection]\nfiles = ['my.cypher']", ("names 'my.cypher', but there is no such file in its folder",)),
    "unknown relation": ("[qangaroo]\nrelations = ['P17', 'P9999']", ("qangaroo.relations", "'P9999' is not in the relation table")),
    "unknown entity": (
        "[documents]\nexclude_about = ['Q999999']",
        ("documents.exclude_about", "'Q999999' is not in the entity table", "write a TOML file that extends this domain"),
    ),
    "nothing is left": ("[qangaroo]\nmax_documents = 1", ("no sample is left", "Change qangaroo.max_documents first")),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_fault_in_the_settings(name: str, wikidata_copy: Path, tmp_path: Path, cli: Cli) -> None:
    text, says = SETTINGS[name]
    (tmp_path / "own.toml").write_text(OWN + text, "utf-8")
    before = contents.files(wikidata_copy / "datasets")
    cli("generate", "--domain", tmp_path / "own.toml", "--workspace", wikidata_copy).sentence(*says)
    assert contents.files(wikidata_copy / "datasets") == before
    assert contents.leftovers(wikidata_copy) == []


TOML = {
    "broken": (b"[qangaroo\n", "this is not TOML"),
    "no UTF-8": (b"title = '\xff'", "this is not UTF-8"),
    "a huge number": (b"x = " + b"9" * 5000, "a number in it has thousands of digits"),
    "deeply nested": (b"x = " + b"[" * 20_000 + b"]" * 20_000, "nested too deeply"),
    "extends a number": (b"extends = 3", "'extends' must be the name of a built-in domain"),
    "extends nothing": (b"extends = 'wikidat.toml'", "extends 'wikidat.toml', which is neither a built-in domain"),
    "extends itself": (b"extends = 'own.toml'", "leads back to this file"),
    "extends in a circle": (b"extends = 'other.toml'", "leads back to this file"),
    "incomplete": (b"name = 'x'", "the setting 'dataset' is missing; add it"),
    "empty": (b"", "the setting 'name' is missing; add it"),
}


@pytest.mark.parametrize("name", TOML)
def test_a_fault_in_the_domain_file(name: str, tmp_path: Path, cli: Cli) -> None:
    content, part = TOML[name]
    (tmp_path / "own.toml").write_bytes(content)
    (tmp_path / "other.toml").write_text("extends = 'own.toml'")
    cli("generate", "--domain", tmp_path / "own.toml", "--source", SEEDS / "wikidata", "--workspace", tmp_path / "w").sentence(
        ".toml", part
    )
    assert not (tmp_path / "w").exists()


def test_an_unknown_domain(tmp_path: Path, cli: Cli) -> None:
    workspace = ("--workspace", tmp_path / "w")
    cli("generate", "--domain", "wikidat", *workspace).sentence("'wikidat' is not known: did you mean wikidata?")
    cli("generate", "--domain", "", *workspace).sentence("'' is not known")
    cli("generate", "--domain", tmp_path / "none.toml", *workspace).sentence("none.toml: there is no such domain file", "medline, wikidata")
    cli("generate", "--domain", tmp_path, *workspace).sentence("is not known")
    cli("generate", "--domain", "x" * 300 + ".toml", *workspace).sentence("too long")
    assert not (tmp_path / "w").exists()


HEADER = "// name: mine\n// purpose: p\n// params: none\n// returns: entity: string, document: string\n// stores: embedded\n"
BODY = "MATCH (e:Entity)-[a:ABOUT]->(d:Document) RETURN e.id AS entity, d.id AS document\n"
CYPHER = {
    "no header": (BODY, ("mine.cypher, line 1", "before the first '// name:' header")),
    "no purpose": (HEADER.replace("// purpose: p\n", "") + BODY, ("mine.cypher, line 1", "no '// purpose:' line")),
    "no text": (HEADER, ("mine.cypher, line 1", "'mine' has no text")),
    "undeclared parameter": (HEADER + BODY.replace("RETURN", "WHERE e.id = $e RETURN"), ("mine.cypher", "declared and used differ in: e")),
    "unused parameter": (HEADER.replace("none", "e: string") + BODY, ("mine.cypher", "declared and used differ in: e")),
    "unknown kind": (HEADER.replace("none", "e: text") + BODY, ("mine.cypher", "'e: text'", "string, integer")),
    "wrong default": (HEADER.replace("none", "n: integer = x") + BODY + "LIMIT $n", ("mine.cypher", "'x' is not integer")),
    "unknown store": (HEADER.replace("embedded", "embeded") + BODY, ("mine.cypher", "'embeded' is not known; did you mean embedded?")),
    "a name that is taken": (HEADER.replace("mine", "hubs") + BODY, ("'hubs' is also in", "rename")),
    "other columns than declared": (
        HEADER + BODY.replace("AS document", "AS doc"),
        ("query mine (mine.cypher)", "its header says", "doc: string"),
    ),
    "other types than declared": (HEADER + BODY.replace("d.id", "1"), ("query mine (mine.cypher)", "document: integer")),
    "not Cypher": (HEADER + "MATCH", ("query mine (mine.cypher)", "exception")),
    "unknown ids": (HEADER + BODY.replace("d.id", "'nobody'"), ("document id 'nobody'", "not in the tables")),
    "null ids": (
        HEADER + "MATCH (e:Entity) OPTIONAL MATCH (e)-[:ABOUT]->(d:Document) RETURN e.id AS entity, d.id AS document",
        ("query mine", "no document or no entity"),
    ),
    "writing": (
        HEADER + "CREATE (d:Document {id: 'x'}) RETURN d.id AS entity, d.id AS document",
        ("query mine (mine.cypher)", "this one with CREATE", "only reading"),
    ),
    "writing a file": (HEADER + "COPY (MATCH (e:Entity) RETURN e.id) TO 'mine.csv'", ("query mine (mine.cypher)", "this one with COPY")),
    "writing the graph out": (HEADER + "EXPORT DATABASE 'mine'", ("query mine (mine.cypher)", "this one with EXPORT")),
    "reading a file": (HEADER + "LOAD FROM 'mine.cypher' RETURN *", ("query mine (mine.cypher)", "this one with LOAD")),
    "two statements": (HEADER + f"{BODY}; {BODY}", ("query mine (mine.cypher)", "one statement at a time")),
    "nodes": (HEADER + BODY.replace("d.id AS", "d AS"), ("query mine (mine.cypher)", "the column 'document' holds whole nodes")),
    "relationships": (
        HEADER + "MATCH (e:Entity)-[a:ABOUT]->(d:Document) RETURN a AS entity, d.id AS document",
        ("query mine (mine.cypher)", "the column 'entity' holds whole nodes, relationships"),
    ),
    "without an end": (
        HEADER
        + "UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y WITH x * y AS z WHERE z < 0 RETURN 'a' AS entity, 'b' AS document",
        ("query mine (mine.cypher) took more than 1 seconds; narrow it.",),
    ),
    "more than memory": (
        HEADER + "UNWIND range(1, 30000000) AS x RETURN 'a' AS entity, 'b' AS document",
        ("query mine (mine.cypher) took more than 200 MiB of memory; narrow it.",),
    ),
    "no edge": (HEADER + BODY.replace("RETURN", "WHERE false RETURN"), ("no entity to document edge", "mine")),
    "with a parameter": (HEADER.replace("none", "n: integer = 3") + BODY + "LIMIT $n", ("'mine' has parameters",)),
}


@pytest.mark.parametrize("name", CYPHER)
def test_a_fault_in_a_query_of_the_users_own(
    name: str, wikidata_copy: Path, tmp_path: Path, cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    text, says = CYPHER[name]
    monkeypatch.chdir(tmp_path)
    seconds = 1 if "end" in name else 20
    monkeypatch.setattr("kgqa.store.embedded.OWN_LIMITS", dataclasses.replace(OWN_LIMITS, seconds=seconds, memory=200 * MIB))
    (tmp_path / "mine.cypher").write_text(text)
    named = "hubs" if "hubs" in text else "mine"
    (tmp_path / "own.toml").write_text(f"{OWN}[projection]\nfiles = ['mine.cypher']\nentity_to_document = ['{named}']")
    before = contents.files(wikidata_copy / "datasets")
    cli("generate", "--domain", tmp_path / "own.toml", "--workspace", wikidata_copy).sentence(*says)
    assert contents.files(wikidata_copy / "datasets") == before
    assert {path.name for path in tmp_path.iterdir()} == {"mine.cypher", "own.toml", "workspace"}


def test_a_sound_query_of_the_users_own_gives_the_same_dataset(seed_wikidata: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.cypher").write_text(HEADER + BODY.replace("RETURN", "WHERE d.usable RETURN"))
    (tmp_path / "own.toml").write_text(f"{OWN}[projection]\nfiles = ['mine.cypher']\nentity_to_document = ['mine']")
    report = kgqa.generate(tmp_path / "own.toml", workspace=tmp_path / "w")
    made, known = contents.files(report.dataset), contents.files(seed_wikidata / "datasets" / "wikihop")
    assert {name for name in known if made[name] != known[name]} == {"README.md", "manifest.json"}


def test_everything_rejected_names_rule_and_setting(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(
        'extends = "medline"\nseed_domain = "medline"\n[qangaroo]\nmin_candidates = 50\n[qangaroo.balance]\ncandidates = 0\n'
    )
    with pytest.raises(EmptyResult, match=r"no sample is left: \d+ because .*Change qangaroo\.min_candidates first") as error:
        kgqa.generate(tmp_path / "own.toml", workspace=tmp_path / "w")
    assert "\n" not in str(error.value)
    assert not (tmp_path / "w" / "datasets").exists()


def test_a_workspace_of_another_domain(wikidata_copy: Path, cli: Cli) -> None:
    before = contents.files(wikidata_copy)
    for dry in ([], ["--dry-run"]):
        cli("generate", "--domain", "medline", "--workspace", wikidata_copy, *dry).sentence("belongs to the domain wikidata, not medline")
    assert contents.files(wikidata_copy) == before


CHANGED = "Changed since the last run in this workspace: {}; the stages that depend on them run again."


def test_a_corrected_file_makes_anew_what_depends_on_it(wikidata_copy: Path, tmp_path: Path, cli: Cli) -> None:
    source = copy_of_seeds(tmp_path)
    command = ("generate", "--domain", "wikidata", "--source", source, "--workspace", wikidata_copy)
    kgqa.generate("wikidata", source=source, workspace=wikidata_copy)
    before = contents.files(wikidata_copy)
    # A label that was corrected.
    labels = (source / "relations.tsv").read_text("utf-8")
    (source / "relations.tsv").write_text(labels.replace("\tcapital", "\tcapital town", 1), "utf-8")
    planned = cli(*command, "--dry-run")
    assert CHANGED.format("relations.tsv") in planned.out.replace("\n", " ")
    assert contents.files(wikidata_copy) == before
    assert CHANGED.format("relations.tsv") in cli(*command).out.replace("\n", " ")
    again = kgqa.generate("wikidata", source=source, workspace=wikidata_copy)
    assert again.changed == []
    assert set(again.reused) == set(again.seconds)
    fresh = kgqa.generate("wikidata", source=source, workspace=tmp_path / "fresh")
    one, other = contents.files(again.dataset), contents.files(fresh.dataset)
    assert {**one, "manifest.json": b""} == {**other, "manifest.json": b""}


def test_a_file_of_the_same_content_makes_nothing_anew(wikidata_copy: Path, tmp_path: Path) -> None:
    source = copy_of_seeds(tmp_path)
    kgqa.generate("wikidata", source=source, workspace=tmp_path / "w")
    (source / "triples.tsv.gz").write_bytes(gzip.compress((source / "triples.tsv").read_bytes()))
    (source / "triples.tsv").unlink()
    done = kgqa.generate("wikidata", source=source, workspace=tmp_path / "w")
    assert done.changed == ["triples.tsv", "triples.tsv.gz"]
    assert set(done.seconds) - set(done.reused) == {"read_sources", "write_dataset"}  # whose manifest names the files
    assert kgqa.generate("wikidata", source=source, workspace=tmp_path / "w").changed == []


def test_a_folder_that_is_no_workspace(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "thesis.txt").write_text("x")
    cli("generate", "--domain", "wikidata", "--workspace", tmp_path).sentence(
        "not empty and is not a kgqa workspace", "choose another --workspace"
    )
    cli("generate", "--domain", "wikidata", "--workspace", tmp_path / "thesis.txt").sentence("this is not a folder")
    assert list(contents.files(tmp_path)) == ["thesis.txt"]


@pytest.mark.slow
def test_two_runs_at_once(tmp_path: Path, seed_wikidata: Path) -> None:
    held = (
        "import sys, kgqa\n"
        "class Held:\n"
        "    def start(self, stage, total=None, unit=''): self.stage = stage\n"
        "    def advance(self, amount): pass\n"
        "    def finish(self, note=''):\n"
        "        if self.stage == 'Reading sources':\n"
        "            print('held', flush=True); sys.stdin.readline()\n"
        "kgqa.generate('wikidata', workspace=sys.argv[1], progress=Held())\n"
    )
    command = [sys.executable, "-c", held, str(tmp_path / "w")]
    with subprocess.Popen(command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first_run:
        assert first_run.stdin
        assert first_run.stdout
        try:
            assert first_run.stdout.readline() == "held\n"
            before = contents.files(tmp_path / "w")
            run_command("generate", "--domain", "wikidata", "--workspace", tmp_path / "w").sentence("another run uses this workspace; wait")
            assert contents.files(tmp_path / "w") == before
            first_run.stdin.write("\n")
            first_run.stdin.close()
            assert first_run.wait(60) == 0
        finally:
            first_run.kill()
    assert same_dataset(tmp_path / "w", seed_wikidata)


def same_dataset(one: Path, other: Path) -> bool:
    """Whether two workspaces hold the same WikiHop; workers are passed, and change nothing."""
    found = [contents.dataset(workspace / "datasets" / "wikihop", but=("workers",)) for workspace in (one, other)]
    return found[0] == found[1]


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["--seed", "-1"], "seed -1 is not between 0"),
        (["--seed", str(2**31)], "seed 2147483648 is not between 0"),
        (["--workers", "0"], "workers 0 is not between 1 and 256"),
        (["--workers", "257"], "workers 257 is not between"),
        (["--limit", "0"], "limit 0 is not at least 1"),
        (["--limit", "-3"], "limit -3 is not at least 1"),
    ],
)
def test_numbers_out_of_range(arguments: list[str], part: str, tmp_path: Path, cli: Cli) -> None:
    cli("generate", "--domain", "wikidata", "--workspace", tmp_path / "w", *arguments).sentence(part)
    assert not (tmp_path / "w").exists()


def test_a_read_only_folder(small_disk: SmallDisk, cli: Cli) -> None:
    small_disk.mount("ro,size=1m")
    cli("generate", "--domain", "wikidata", "--workspace", small_disk.path / "w").sentence(
        str(small_disk.path / "w"), "read-only; choose a writable one"
    )


def test_a_finished_workspace_can_be_read_where_nothing_can_be_written(
    small_disk: SmallDisk, seed_wikidata: Path, tmp_path: Path, cli: Cli
) -> None:
    small_disk.mount("size=20m")
    workspace = Path(shutil.copytree(seed_wikidata, small_disk.path / "w"))
    small_disk.mount("ro,size=20m")
    dataset = workspace / "datasets" / "wikihop"
    assert cli("query", "hubs", "--workspace", workspace).status == 0
    assert cli("show", dataset).status == 0
    assert cli("export", dataset, "--to", "qangaroo", "--out", tmp_path / "out").status == 0
    assert cli("generate", "--domain", "wikidata", "--workspace", workspace, "--dry-run").status == 0
    cli("generate", "--domain", "wikidata", "--workspace", workspace).sentence("read-only")
    cli("export", dataset, "--to", "qangaroo", "--out", small_disk.path / "out").sentence("read-only")


@pytest.mark.slow
def test_a_full_disk_at_every_stage(small_disk: SmallDisk, seed_wikidata: Path, cli: Cli) -> None:
    sizes = {name: len(data) + 4096 for name, data in contents.files(seed_wikidata).items()}
    graph = sizes["store/graph.lbug"]
    tables = sum(size for name, size in sizes.items() if name.startswith("tables"))
    workspace, failed_at = small_disk.path / "w", []
    for size in (4096, 16_384, tables // 3, tables // 2, tables + graph // 10, tables + graph // 2, tables + graph - 65_536, 10 * graph):
        small_disk.mount(f"size={size}")
        outcome = cli("generate", "--domain", "wikidata", "--workspace", workspace)
        if outcome.status == 0:
            break
        outcome.sentence("disk is full", "free some space and run the same command again")
        failed_at.append([path.name for path in (workspace / "tables").glob("*.json")])
        assert not (workspace / "datasets" / "wikihop").exists()
    assert len(failed_at) >= 6
    assert len(set(map(len, failed_at))) >= 3, failed_at
    assert same_dataset(workspace, seed_wikidata)


@pytest.mark.parametrize(
    "room", [40, pytest.param(200, marks=pytest.mark.slow), *(pytest.param(room, marks=pytest.mark.thorough) for room in (8, 120))]
)
def test_a_full_disk_while_the_dataset_is_written(room: int, small_disk: SmallDisk, seed_wikidata: Path, cli: Cli) -> None:
    small_disk.mount("size=20m")
    workspace = Path(shutil.copytree(seed_wikidata, small_disk.path / "w"))
    before = contents.files(workspace / "datasets")
    (workspace / "tables" / "filter_samples.json").unlink()
    used = shutil.disk_usage(small_disk.path).used
    small_disk.mount(f"size={used + room * 1024}")
    command = ("generate", "--domain", "wikidata", "--workspace", workspace, "--seed", "5")
    cli(*command).sentence("the disk is full")
    assert contents.files(workspace / "datasets") == before
    assert contents.leftovers(workspace) == []
    small_disk.mount("size=20m")
    assert cli(*command).status == 0
    assert contents.files(workspace / "datasets") != before


def test_a_limit_on_the_size_of_files(tmp_path: Path, seed_wikidata: Path, cli: Cli) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    for number, kilobytes in enumerate((1, 8, 20, 100, 3000)):
        resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes << 10, hard))
        try:
            with pytest.raises(StorageError, match=r"(raise the limit|free some space)[^.]*\.$"):
                kgqa.generate("wikidata", workspace=tmp_path / str(number))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert not (tmp_path / str(number) / "datasets").exists()
    kgqa.generate("wikidata", workspace=tmp_path / "4")
    assert same_dataset(tmp_path / "4", seed_wikidata)


def test_an_export_onto_a_full_disk_leaves_nothing(small_disk: SmallDisk, seed_wikidata: Path, cli: Cli) -> None:
    small_disk.mount("size=200k")
    command = ("export", seed_wikidata / "datasets" / "wikihop", "--to", "qangaroo", "--out", small_disk.path / "out")
    cli(*command).sentence("the disk is full")
    assert contents.files(small_disk.path) == {}
    small_disk.mount("size=20m")
    assert cli(*command).status == 0


@pytest.mark.slow
def test_an_interrupted_run_says_how_to_go_on(tmp_path: Path, seed_wikidata: Path) -> None:
    workspace, stopped = tmp_path / "w", 0
    for delay in (0.0, 0.2, 0.4, 0.6):
        command = [*COMMAND, "generate", "--domain", "wikidata", "--workspace", str(workspace)]
        with subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            assert run.stdout
            run.stdout.readline()
            time.sleep(delay)
            run.send_signal(signal.SIGINT)
            _, err = run.communicate(timeout=60)
        # A signal that comes when all is done and Python itself ends has its own status, and there is nothing to say.
        done = not err and (workspace / "datasets" / "wikihop" / "manifest.json").is_file()
        if run.returncode == 0 or done:
            break
        stopped += 1
        assert run.returncode == 130, err
        assert err.splitlines()[-1].startswith("kgqa: ")
        assert "stopped; run the same command again" in err
        assert err.count("\n") == 1
    assert stopped >= 2
    kgqa.generate("wikidata", workspace=workspace)
    assert same_dataset(workspace, seed_wikidata)


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["hub"], "there is no query 'hub'; did you mean hubs?"),
        (["load_entity"], "there is no query 'load_entity'"),
        ([], "give the name of a query, --list"),
        (["hubs", "--rows", "3"], "--rows requires --cypher"),
        (["page_hub"], "there is no query 'page_hub'; choose one of "),
        (["hubs", "--memory", "1GiB"], "--memory requires --cypher"),
        (["hubs", "--bytes", "1MiB"], "--bytes requires --cypher"),
        (["--cypher", "RETURN 1", "--memory", "much"], "'much' is not a size; give a number with a unit, such as 300MiB or 2GiB."),
        (["--cypher", "RETURN 1", "--memory", "1MiB"], "1 MiB of memory is less than the 32 MiB that every query needs"),
        (["--cypher", "RETURN 1", "--memory", "9000GiB"], "9000 GiB is more than the 4096 GiB that can be allowed"),
        (["--cypher", "RETURN 1", "--bytes", "0"], "0 bytes are too few for any row"),
        (["--cypher", "RETURN 1", "--rows", "0"], "rows 0 is not between 1 and 10,000,000"),
        (["--cypher", "RETURN 1", "--seconds", "0"], "0 seconds is not more than 0"),
        (["--cypher", "RETURN 1; RETURN 2"], "one statement at a time"),
        (["--cypher", "EXPORT DATABASE 'x'"], "a query begins with"),
        (
            ["--cypher", "UNWIND range(1, 30000000) AS x RETURN count(x)", "--memory", "200MiB"],
            "more than 200 MiB of memory; narrow it, or",
        ),
        (["--cypher", "UNWIND range(1, 30000000) AS x RETURN count(x)", "--seconds", "0.2"], "0.2 seconds; narrow it, or allow more (kgqa"),
        (["hubs", "--list"], "--list cannot be combined with other options"),
        (["--list", "--cypher", "RETURN 1"], "--list cannot be combined with other options"),
        (["hubs", "--foo", "1"], "query hubs: there is no parameter 'foo'; choose one of limit."),
        (["facts_about"], "the parameter 'entity' is missing; add --entity VALUE"),
        (["hubs", "--limit", "1", "--limit=2"], "--limit is given twice"),
        (["hubs", "--limit", "many"], "query hubs: limit 'many' is not an integer of at most 64 bits; choose another value."),
        (["hubs", "--limit", "1.5"], "limit '1.5' is not an integer"),
        (["hubs", "--limit", str(2**63)], "is not an integer of at most 64 bits"),
        (["hubs", "--limit", "-1"], "query hubs: limit -1 is a number of rows; give 0 or more."),
        (["paths_over_facts", "--entity", "Q45", "--other", "Q29", "--limit", "-1"], "limit -1 is not between 1 and"),
        (
            ["--cypher", "MATCH (e:Entity) WHERE e.id = $id RETURN $id AS id", "--param", "id=5"],
            """to INT8. Text that looks like a number needs quotation marks of its own: id="5", in a shell 'id="5"'.""",
        ),
        (["rejected_at_threshold", "--setting", "x", "--threshold", "nan"], "threshold 'nan' is not a number; choose another value."),
        (["--cypher", "CALL `db.info`('x')"], "the query calls `db.info`; only these can be called here: "),
        (["--cypher", "MATCH (n"], "the query cannot be run: Parser exception: Invalid input <MATCH (n> (line: 1, offset: 8)."),
        (["hubs", "--limit"], "--limit has no value"),
        (["hubs", "5"], "'5' is not an option; give parameters as --PARAMETER VALUE."),
        (["hubs", "--format", "xml"], "format 'xml' is not known; choose one of table, json, csv."),
        (["facts_about", "--entity", "\udcff"], "is not name or id of an entity"),
    ],
)
def test_a_wrong_question_to_the_graph(arguments: list[str], part: str, seed_wikidata: Path, cli: Cli) -> None:
    cli("query", *arguments, "--workspace", seed_wikidata).sentence(part)


@pytest.mark.parametrize("beside", ["--seconds=5", "--format=json", "--workspace=w", "--store=embedded", "--neo4j-uri=bolt://x"])
def test_nothing_beside_a_list_is_ignored(beside: str, cli: Cli) -> None:
    cli("query", "--list", beside).sentence("--list cannot be combined with other options")


def test_a_graph_that_is_missing_or_damaged(wikidata_copy: Path, tmp_path: Path, cli: Cli) -> None:
    cli("query", "hubs", "--workspace", tmp_path / "none").sentence(
        "there is no graph in this workspace; run kgqa generate --domain DOMAIN --workspace"
    )
    cli("query", "hubs", "--workspace", tmp_path / ("x" * 300)).sentence("too long")
    graph = wikidata_copy / "store" / "graph.lbug"
    good = graph.read_bytes()
    answer = cli("query", "hubs", "--workspace", wikidata_copy).out
    for bad in (b"", good[:1000], good[:-4096], good[:99_999] + bytes(50_000) + good[149_999:], os.urandom(10_000)):
        graph.write_bytes(bad)
        cli("query", "hubs", "--workspace", wikidata_copy).sentence("graph.lbug: the graph is damaged", "rebuilds it")
    kgqa.generate("wikidata", workspace=wikidata_copy)
    assert cli("query", "hubs", "--workspace", wikidata_copy).out == answer


def test_an_export_that_cannot_be(seed_wikidata: Path, tmp_path: Path, cli: Cli) -> None:
    dataset, out = seed_wikidata / "datasets" / "wikihop", tmp_path / "out"
    cli("export", dataset, "--to", "qangaro", "--out", out).sentence("format 'qangaro' is not known; did you mean qangaroo?")
    cli("export", tmp_path / "none", "--to", "qangaroo", "--out", out).sentence("none: there is no such folder of a dataset")
    cli("export", tmp_path / ("x" * 300), "--to", "qangaroo", "--out", out).sentence("too long")
    (tmp_path / "file").write_text("x")
    cli("export", dataset, "--to", "qangaroo", "--out", tmp_path / "file").sentence("a file")
    assert not out.exists()
    out.mkdir()
    (out / "dev.masked.json").write_text("mine")
    cli("export", dataset, "--to", "qangaroo", "--out", out).sentence("dev.masked.json: this is already there; choose another --out")
    assert contents.files(out) == {"dev.masked.json": b"mine"}
    (out / "dev.masked.json").unlink()
    assert cli("export", dataset, "--to", "qangaroo", "--out", out).status == 0
    whole = contents.files(out)
    # A run that was killed at its very end, or between two renames, has left what the next one finds.
    (out / "test.json").unlink()
    for _ in range(2):
        assert cli("export", dataset, "--to", "qangaroo", "--out", out).status == 0
        assert contents.files(out) == whole


def test_an_export_does_not_go_into_the_dataset(wikidata_copy: Path, tmp_path: Path, cli: Cli) -> None:
    dataset = wikidata_copy / "datasets" / "wikihop"
    (tmp_path / "link").symlink_to(dataset)
    before = contents.files(dataset)
    for out in (dataset, dataset / "official", tmp_path / "link"):
        cli("export", dataset, "--to", "qangaroo", "--out", out).sentence("this is in the folder of the dataset", "choose another --out")
    assert contents.files(dataset) == before


def test_a_sample_that_cannot_be_shown(wikidata_copy: Path, tmp_path: Path, cli: Cli) -> None:
    dataset = wikidata_copy / "datasets" / "wikihop"
    example = kgqa.show(dataset).id
    cli("show", dataset, "nobody").sentence("there is no sample 'nobody'", f"an id looks like {example}")
    cli("show", dataset, "\udcff").sentence("there is no sample")
    cli("show", tmp_path / "none").sentence("none: there is no such folder of a dataset")
    cli("show", tmp_path / ("x" * 300)).sentence("too long")
    (tmp_path / "set.json").write_text("[]")
    cli("show", tmp_path / "set.json").sentence("set.json: this is a file, and no dataset's folder", "kgqa convert --to native")
    cli("show", tmp_path / "none", "--masked").sentence("none: there is no such folder of a dataset")
    train = dataset / "train.parquet"
    good = train.read_bytes()
    for bad in (b"", good[:-10], good[:2000] + bytes(len(good) // 2) + good[2000 + len(good) // 2 :], b"PAR1" * 9):
        train.write_bytes(bad)
        for command in (["show", dataset], ["show", dataset, example], ["export", dataset, "--to", "qangaroo", "--out", tmp_path / "out"]):
            cli(*command).sentence("train.parquet: the file differs from its hash in manifest.json, so it was damaged or changed")
            (dataset / "manifest.json").rename(tmp_path / "manifest.json")
            cli(*command).sentence("train.parquet: this is not a complete Parquet file; generate the dataset again")
            (tmp_path / "manifest.json").rename(dataset / "manifest.json")
            assert contents.files(tmp_path / "out") == {}
    train.write_bytes(good)
    shutil.rmtree(dataset / "masked")
    cli("show", dataset, "--masked").sentence("wikihop: this dataset has no masked twin; leave out --masked.")


def test_the_sentence_and_the_status_reach_the_shell(tmp_path: Path) -> None:
    run_command("generate", "--domain", "wikidat", "--workspace", tmp_path).sentence("did you mean wikidata?")
    run_command("show", tmp_path).sentence("holds no dataset")


def test_functions_raise_what_commands_say(tmp_path: Path) -> None:
    with pytest.raises(KgqaError):
        kgqa.generate("wikidat", workspace=tmp_path)
    with pytest.raises(KgqaError):
        kgqa.plan("wikidata", workspace=tmp_path, limit=0)


def test_a_stranger_in_the_datasets_folder_is_not_deleted(wikidata_copy: Path, cli: Cli) -> None:
    (wikidata_copy / "datasets" / "wikihop" / "notes.txt").write_text("mine", "utf-8")
    outcome = cli("generate", "--domain", "wikidata", "--seed", "3", "--workspace", wikidata_copy)
    outcome.sentence("notes.txt", "kgqa did not write this", "move it elsewhere")
    assert (wikidata_copy / "datasets" / "wikihop" / "notes.txt").read_text("utf-8") == "mine"


def test_a_dataset_with_a_part_missing_is_not_exported(wikidata_copy: Path, tmp_path: Path, cli: Cli) -> None:
    (wikidata_copy / "datasets" / "wikihop" / "dev.parquet").unlink()
    outcome = cli("export", wikidata_copy / "datasets" / "wikihop", "--to", "qangaroo", "--out", tmp_path / "out")
    outcome.sentence("dev.parquet", "this part of the dataset is missing")
    assert not (tmp_path / "out").exists()


def test_what_replaces_a_dataset_says_so(wikidata_copy: Path, cli: Cli) -> None:
    assert (
        "would replace a dataset" in cli("generate", "--domain", "wikidata", "--seed", "3", "--workspace", wikidata_copy, "--dry-run").out
    )
    assert "This replaced a dataset" in cli("generate", "--domain", "wikidata", "--seed", "3", "--workspace", wikidata_copy).out
    assert "replaced" not in cli("generate", "--domain", "wikidata", "--seed", "3", "--workspace", wikidata_copy).out


@pytest.mark.parametrize("call", [["show"], ["show", "--masked"]])
def test_the_masked_twin_is_shown_without_its_chain(call: list[str], seed_wikidata: Path, cli: Cli) -> None:
    out = cli(call[0], seed_wikidata / "datasets" / "wikihop", *call[1:]).out
    assert ("Chain:" in out) == (len(call) == 1)
