"""A domain that somebody wrote wrongly, or that somebody else wrote with intent: one sentence, and nothing is read, run or left behind."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import contents
from tests.command import ROOT
from tests.conftest import Cli

SEEDS = ROOT / "seeds" / "wikidata"
OWN = 'extends = "wikidata"\n'
QUERY = """// name: mine
// purpose: p
// params: none
// returns: entity: string, document: string
// stores: embedded, neo4j
MATCH (e:Entity)-[:ABOUT]->(d:Document) RETURN e.id AS entity, d.id AS document
"""
USING = OWN + '[projection]\nfiles = ["mine.cypher"]\nentity_to_document = ["mine"]\n'
RUNS = pytest.mark.parametrize("dry", [[], ["--dry-run"]], ids=["run", "dry run"])


def refused(folder: Path, cli: Cli, *parts: str, more: tuple[str, ...] = ()) -> None:
    """The domain in ``folder`` ends in a sentence with ``parts``, and neither its folder nor the workspace's changes."""
    before = contents.files(folder)
    cli("generate", "--domain", folder / "own.toml", "--source", SEEDS, "--workspace", folder / "w", *more).sentence(*parts)
    assert contents.files(folder) == before
    assert not (folder / "w").exists()


@RUNS
def test_a_domain_of_ones_own_without_a_source_is_told_so(dry: list[str], tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "own.toml").write_text(OWN)
    outcome = cli("generate", "--domain", tmp_path / "own.toml", "--workspace", tmp_path / "w", *dry)
    outcome.sentence("own.toml: nothing says which files to read; pass the folder", "as --source", 'seed_domain = "wikidata"')
    assert outcome.out == ""
    assert not (tmp_path / "w").exists()


@RUNS
@pytest.mark.parametrize("domain", ["wikidatta", "nowhere.toml"])
def test_a_domain_that_is_not_there_is_the_only_thing_said(dry: list[str], domain: str, tmp_path: Path, cli: Cli) -> None:
    outcome = cli("generate", "--domain", domain, "--workspace", tmp_path / "w", *dry)
    outcome.sentence(domain)
    assert outcome.out == ""


def test_what_names_the_small_domain_reads_it(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "own.toml").write_text(f'{OWN}seed_domain = "wikidata"\n')
    outcome = cli("generate", "--domain", tmp_path / "own.toml", "--workspace", tmp_path / "w", "--dry-run")
    assert (outcome.status, "the small domain that kgqa ships" in outcome.out) == (0, True)


EXTENDS = {
    "nothing": ('extends = ""', "extends '', which is neither a built-in domain"),
    "what is not there": (
        'extends = "wikidatta"',
        "extends 'wikidatta', which is neither a built-in domain (companies, medline, wikidata) nor a file",
    ),
    "a folder": ('extends = "folder"', "extends 'folder', which is neither"),
    "no file name": (r'extends = "a\u0000b"', "extends 'a\\x00b', which is neither"),
    "a list": ("extends = ['wikidata']", "'extends' must be the name of a built-in domain"),
    "a long name": (f'extends = "{"x" * 300}.toml"', "too long"),
    "itself": ('extends = "own.toml"', "own.toml: 'extends' leads back to this file"),
    "itself, otherwise written": ('extends = "folder/../own.toml"', "own.toml: 'extends' leads back to this file"),
    "itself over a link": ('extends = "link.toml"', "link.toml: 'extends' leads back to this file"),
    "a circle of two": ('extends = "two.toml"', "own.toml: 'extends' leads back to this file"),
    "a circle further on": ('extends = "three.toml"', "three.toml: 'extends' leads back to this file"),
    "a file outside": ('extends = "../outside.toml"', "extends names '../outside.toml', which is outside of this file's folder"),
    "a file outside over a link": ('extends = "leads-out.toml"', "extends names 'leads-out.toml', which is outside"),
    "a file outside over a linked folder": ('extends = "out/outside.toml"', "extends names 'out/outside.toml', which is outside"),
    "an absolute path": ('extends = "/etc/passwd"', "extends names '/etc/passwd', which is outside"),
    "a circle of links": ('extends = "round.toml"', "extends 'round.toml', which is neither"),
}


@pytest.mark.parametrize("name", EXTENDS)
def test_what_a_domain_cannot_extend(name: str, tmp_path: Path, cli: Cli) -> None:
    text, part = EXTENDS[name]
    (tmp_path / "outside.toml").write_text(OWN)
    place = tmp_path / "place"
    (place / "folder").mkdir(parents=True)
    (place / "own.toml").write_text(text)
    (place / "two.toml").write_text('extends = "own.toml"')
    (place / "three.toml").write_text('extends = "four.toml"')
    (place / "four.toml").write_text('extends = "three.toml"')
    (place / "link.toml").symlink_to("own.toml")
    (place / "leads-out.toml").symlink_to("../outside.toml")
    (place / "out").symlink_to("..")
    (place / "round.toml").symlink_to("round.toml")
    cli("generate", "--domain", place / "own.toml", "--source", SEEDS, "--workspace", tmp_path / "w").sentence(".toml", part)
    assert not (tmp_path / "w").exists()


def test_tables_that_nest_too_deeply_to_be_merged_are_said(tmp_path: Path, cli: Cli) -> None:
    key = ".".join(["a"] * 190)
    deep = f"{' = { '.join([key] * 16)} = 1{' }' * 15}\n"
    (tmp_path / "own.toml").write_text('extends = "base.toml"\n' + deep)
    (tmp_path / "base.toml").write_text(deep)
    refused(tmp_path, cli, "own.toml: this is not a domain, its lists or tables are nested too deeply")


def _missing(folder: Path) -> str:
    return "mine.cypher"


def _elsewhere(folder: Path) -> str:
    return "../mine.cypher"


def _absolute(folder: Path) -> str:
    return str(folder.parent / "mine.cypher")


def _linked(folder: Path) -> str:
    (folder / "mine.cypher").symlink_to("../mine.cypher")
    return "mine.cypher"


def _in_a_linked_folder(folder: Path) -> str:
    (folder / "queries").symlink_to("..")
    return "queries/mine.cypher"


def _a_folder(folder: Path) -> str:
    (folder / "queries").mkdir()
    return "queries"


def _a_pipe(folder: Path) -> str:
    os.mkfifo(folder / "pipe.cypher")
    return "pipe.cypher"


@pytest.mark.parametrize(
    ("name", "part"),
    [
        (_missing, "but there is no such file in its folder"),
        (_elsewhere, "is outside of this file's folder"),
        (_absolute, "is outside of this file's folder"),
        (_linked, "is outside of this file's folder"),
        (_in_a_linked_folder, "is outside of this file's folder"),
        (_a_folder, "but there is no such file in its folder"),
        (_a_pipe, "but there is no such file in its folder"),
    ],
)
def test_a_query_file_lies_beside_the_domain(name: Callable[[Path], str], part: str, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "mine.cypher").write_text(QUERY)
    place = tmp_path / "place"
    place.mkdir()
    (place / "own.toml").write_text(USING.replace("mine.cypher", name(place)))
    cli("generate", "--domain", place / "own.toml", "--source", SEEDS, "--workspace", tmp_path / "w").sentence(
        "own.toml: projection.files names", part
    )
    assert not (tmp_path / "w").exists()


def test_a_query_file_in_a_folder_below_is_found(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "queries").mkdir()
    (tmp_path / "queries" / "mine.cypher").write_text(QUERY)
    (tmp_path / "own.toml").write_text(USING.replace("mine.cypher", "queries/mine.cypher"))
    assert cli("generate", "--domain", tmp_path / "own.toml", "--source", SEEDS, "--workspace", tmp_path / "w", "--dry-run").status == 0


QUERIES = {
    "creates": ("CREATE (e:Entity {id: 'x'}) RETURN e.id AS entity, e.id AS document", "only reading is allowed"),
    "changes": ("MATCH (e:Entity) SET e.label = 'x' RETURN e.id AS entity, e.id AS document", "contains SET"),
    "deletes": ("MATCH (e:Entity) DETACH DELETE e RETURN 'x' AS entity, 'y' AS document", "contains DETACH"),
    "writes a file": ("COPY (MATCH (e:Entity) RETURN e.id) TO 'stolen.csv'", "only reading is allowed"),
    "reads a file": ("LOAD FROM '/etc/passwd' RETURN '' AS entity, '' AS document", "only reading is allowed"),
    "calls a procedure": ("CALL show_tables() RETURN name AS entity, name AS document", "only reading is allowed"),
    "is a comment alone": ("/* nothing */", "the query is empty"),
}


@RUNS
@pytest.mark.parametrize("name", QUERIES)
def test_a_query_that_does_more_than_to_read_is_refused_before_anything_runs(name: str, dry: list[str], tmp_path: Path, cli: Cli) -> None:
    text, part = QUERIES[name]
    (tmp_path / "own.toml").write_text(USING)
    (tmp_path / "mine.cypher").write_text(QUERY[: QUERY.index("MATCH")] + text + "\n")
    refused(tmp_path, cli, "query mine (mine.cypher): ", part, more=tuple(dry))


@pytest.mark.parametrize("second", ["MATCH (n) RETURN n.id", "MATCH (n) DETACH DELETE n", "RETURN 1 AS x"])
def test_a_query_with_two_statements_is_refused_before_anything_runs(second: str, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "own.toml").write_text(USING)
    (tmp_path / "mine.cypher").write_text(f"{QUERY.rstrip()};\n{second}\n")
    refused(tmp_path, cli, "query mine (mine.cypher): ")


def test_a_query_that_is_not_used_is_checked_too(tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "own.toml").write_text(USING)
    (tmp_path / "mine.cypher").write_text(QUERY + QUERY[: QUERY.index("MATCH")].replace("mine", "other") + "MATCH (e) DELETE e\n")
    refused(tmp_path, cli, "query other (mine.cypher): ", "contains DELETE")


COLUMNS = {
    "numbers": ("entity: integer, document: string", "returns entity: integer"),
    "tables": ("entity: string, document: table", "returns document: table"),
    "texts that should be lists": ("entities: string, documents: strings", "does not return entity"),
    "more": ("entity: string, document: string, note: string", "returns note: string"),
    "one": ("document: string", "does not return entity"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_projection_that_cannot_be_edges(name: str, tmp_path: Path, cli: Cli) -> None:
    columns, part = COLUMNS[name]
    (tmp_path / "own.toml").write_text(USING)
    (tmp_path / "mine.cypher").write_text(QUERY.replace("entity: string, document: string", columns))
    refused(tmp_path, cli, "own.toml: projection.entity_to_document: the query 'mine'", part)


@pytest.mark.parametrize(
    "returned", ["e AS entity, d.id AS document", "e.id AS entity, [d] AS document", "{a: e.id} AS entity, d.id AS document"]
)
def test_a_query_that_returns_nodes_leaves_no_dataset(returned: str, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "own.toml").write_text(USING)
    (tmp_path / "mine.cypher").write_text(QUERY.replace("e.id AS entity, d.id AS document", returned))
    cli("generate", "--domain", tmp_path / "own.toml", "--source", SEEDS, "--workspace", tmp_path / "w").sentence(
        "query mine (mine.cypher): ", "its header says"
    )
    assert not (tmp_path / "w" / "datasets").exists()
    assert not (tmp_path / "w" / "tables" / "project_edges.json").exists()
    assert contents.leftovers(tmp_path / "w") == []


def test_a_search_with_other_columns_is_refused(tmp_path: Path, cli: Cli) -> None:
    header = QUERY[: QUERY.index("MATCH")].replace("params: none", "params: entity: string")
    (tmp_path / "mine.cypher").write_text(
        header.replace("entity: string, document: string", "candidate: table") + "MATCH (e:Entity {id: $entity}) RETURN e.id AS candidate\n"
    )
    (tmp_path / "own.toml").write_text(f'{OWN}[projection]\nfiles = ["mine.cypher"]\ncandidates = ["mine"]\n')
    refused(tmp_path, cli, "projection.candidates: the query 'mine' must take entity (string) and return candidate, all strings")


def test_the_article_that_kgqa_leaves_out_need_not_be_there_but_ones_own_must(tmp_path: Path, cli: Cli) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "documents.jsonl").write_bytes((SEEDS / "documents.jsonl").read_bytes())
    for name in ("triples.tsv", "relations.tsv", "entities.tsv"):
        lines = (SEEDS / name).read_text("utf-8").split("\n")
        (source / name).write_text("\n".join(line for line in lines if "Q30" not in line.split("\t")), "utf-8")
    (tmp_path / "own.toml").write_text(OWN)
    for number, domain in enumerate(("wikidata", tmp_path / "own.toml")):
        outcome = cli("generate", "--domain", domain, "--source", source, "--workspace", tmp_path / f"w{number}", "--limit", "100")
        assert outcome.status == 0, outcome.err
    (tmp_path / "own.toml").write_text(OWN + '[documents]\nexclude_about = ["Q30"]\n')
    cli("generate", "--domain", tmp_path / "own.toml", "--source", source, "--workspace", tmp_path / "w").sentence(
        "documents.exclude_about", "'Q30' is not in the entity table"
    )
