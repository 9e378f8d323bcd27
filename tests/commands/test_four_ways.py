"""Both stores, searched by the kernel and by Cypher, give the same dataset, byte for byte."""

from __future__ import annotations

import random
import shutil
from itertools import product
from pathlib import Path

import pytest

import kgqa
from kgqa.errors import SettingsError, StoreConflict, StoreError
from kgqa.recipes.qangaroo.pipeline import STAGES
from kgqa.settings.neo4j import Neo4jSettings
from tests.conftest import Cli
from tests.contents import files

WAYS = [("embedded", "cypher"), ("neo4j", "kernel"), ("neo4j", "cypher")]
USUAL = ("medline", "tree", 2)
"""Of the kinds of chains, what is looked at each time."""
KINDS = list(product(("wikidata", "medline"), ("tree", "all_shortest", "all_simple"), (2, 3)))
DRAWN = 2
"""How many others are looked at in a day."""
DATASETS = {"wikidata": "wikihop", "medline": "medhop"}


def made(folder: Path) -> dict[str, bytes]:
    """What a dataset holds, less what says how it was made."""
    return {name: content for name, content in files(folder).items() if Path(name).name != "manifest.json"}


@pytest.mark.parametrize(
    ("domain", "store", "traversal"),
    [
        ("wikidata", "neo4j", "kernel"),
        *(pytest.param("wikidata", *way, marks=pytest.mark.slow) for way in (WAYS[0], WAYS[2])),
        *(pytest.param("medline", *way, marks=pytest.mark.thorough) for way in WAYS),  # as the slice of the real domain
    ],
)
def test_a_seed_domain_gives_the_same_bytes(
    request: pytest.FixtureRequest, domain: str, store: str, traversal: str, tmp_path: Path, neo4j_database: Neo4jSettings
) -> None:
    whole = request.getfixturevalue(f"seed_{domain}") / "datasets" / DATASETS[domain]
    report = kgqa.generate(domain, workspace=tmp_path / "w", store=store, traversal=traversal, workers=2)
    assert made(report.dataset) == made(whole)
    assert report.reused == []


@pytest.mark.parametrize(
    ("domain", "chains", "most"), [pytest.param(*kind, marks=pytest.mark.slow if kind == USUAL else pytest.mark.thorough) for kind in KINDS]
)
def test_every_kind_of_chain_and_length_is_the_same(domain: str, chains: str, most: int, tmp_path: Path) -> None:
    # Two candidates a sample at most, so that something is left also where chains are short.
    (tmp_path / "own.toml").write_text(
        f'extends = "{domain}"\nseed_domain = "{domain}"\n[qangaroo]\nmin_candidates = 2\n'
        f'[qangaroo.traversal]\nchains = "{chains}"\nmax_documents = {most}\n'
        "max_chains = 5\n[qangaroo.balance]\ncandidates = 0\n[qangaroo.bias]\nanswer_cap = 1.0\ndocument_cue = 0\n"
    )
    recipe = "paper" if (domain, most) == ("medline", 2) else None  # the default edges reach too little in two documents of so few
    whole = kgqa.generate(tmp_path / "own.toml", recipe=recipe, workspace=tmp_path / "kernel")
    other = kgqa.generate(tmp_path / "own.toml", recipe=recipe, workspace=tmp_path / "cypher", traversal="cypher")
    assert made(other.dataset) == made(whole.dataset)
    assert sum(whole.counts.values()) > 0


@pytest.mark.slow
def test_kinds_of_chains_drawn_each_day_are_the_same(random_seed: int, tmp_path: Path) -> None:
    for number, kind in enumerate(random.Random(random_seed).sample([kind for kind in KINDS if kind != USUAL], DRAWN)):
        (tmp_path / str(number)).mkdir()
        test_every_kind_of_chain_and_length_is_the_same(*kind, tmp_path / str(number))


@pytest.mark.real_data
@pytest.mark.parametrize("domain", [pytest.param("wikidata", marks=pytest.mark.thorough), "medline"])
def test_a_slice_of_a_real_domain_gives_the_same_bytes(
    real_data: Path, domain: str, tmp_path: Path, neo4j_database: Neo4jSettings, request: pytest.FixtureRequest, pytestconfig: pytest.Config
) -> None:
    shutil.copytree(request.getfixturevalue(f"real_{domain}"), tmp_path / domain)

    # The slice keeps the whole graph, and asks some questions of it.
    def slice_of(store: str, traversal: str) -> dict[str, bytes]:
        # Of so few questions of WikiHop no chain implies any answer.
        report = kgqa.generate(
            domain, recipe="paper" if domain == "wikidata" else None, source=real_data / domain, workspace=tmp_path / domain, workers=2,
            limit=60, store=store, traversal=traversal,
        )  # fmt: skip
        return made(report.dataset)

    whole = slice_of("embedded", "kernel")
    # The way in which nothing is as in the usual one; the seed domains go the others too.
    for store, traversal in WAYS if pytestconfig.getoption("--thorough") else WAYS[2:]:
        assert slice_of(store, traversal) == whole, (store, traversal)


@pytest.mark.slow
def test_what_was_asked_for_is_done_also_where_the_other_way_was_finished(wikidata_copy: Path, neo4j_database: Neo4jSettings) -> None:
    whole = made(wikidata_copy / "datasets" / "wikihop")
    again = kgqa.generate("wikidata", workspace=wikidata_copy)
    assert set(again.reused) == {*(stage.name for stage in STAGES), "write_dataset"}
    other = kgqa.generate("wikidata", workspace=wikidata_copy, traversal="cypher")
    assert "traverse" not in other.reused
    assert "project_edges" in other.reused
    server = kgqa.generate("wikidata", workspace=wikidata_copy, store="neo4j")
    assert set(server.reused) == {"read_sources", "link_mentions"}
    assert made(server.dataset) == whole
    once_more = kgqa.generate("wikidata", workspace=wikidata_copy, store="neo4j")
    assert set(once_more.reused) == {*(stage.name for stage in STAGES if stage.name != "build_store"), "write_dataset"}


def test_after_a_run_with_neo4j_the_embedded_graph_is_not_asked_by_mistake(wikidata_copy: Path, neo4j_database: Neo4jSettings) -> None:
    kgqa.generate("wikidata", workspace=wikidata_copy, store="neo4j")
    with pytest.raises(StoreError, match=r"the last run put its graph into Neo4j; add --store neo4j"):
        kgqa.query("hubs", workspace=wikidata_copy)
    there = kgqa.query("hubs", workspace=wikidata_copy, store="neo4j")
    kgqa.generate("wikidata", workspace=wikidata_copy)
    assert kgqa.query("hubs", workspace=wikidata_copy).equals(there)


@pytest.mark.slow
def test_a_graph_that_went_away_is_loaded_again(tmp_path: Path, neo4j_server: object, neo4j_database: Neo4jSettings) -> None:
    kgqa.generate("wikidata", workspace=tmp_path / "w", store="neo4j")
    neo4j_server.empty()  # type: ignore[attr-defined]
    kgqa.generate("wikidata", workspace=tmp_path / "w", store="neo4j")
    assert kgqa.query("hubs", store="neo4j", workspace=tmp_path / "w").num_rows == 20


def test_a_database_with_another_graph_is_refused(tmp_path: Path, neo4j_database: Neo4jSettings) -> None:
    kgqa.generate("wikidata", workspace=tmp_path / "w", store="neo4j")
    with pytest.raises(StoreConflict, match="kgqa's graph of other tables"):
        kgqa.generate("medline", workspace=tmp_path / "m", store="neo4j")
    assert kgqa.query("hubs", store="neo4j").num_rows == 20


def test_settings_without_queries_for_so_many_documents_are_refused(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text('extends = "wikidata"\nseed_domain = "wikidata"\n[qangaroo.traversal]\nmax_documents = 4\n')
    with pytest.raises(SettingsError, match=r"queries for 3 documents, qangaroo\.traversal\.max_documents is 4; add queries"):
        kgqa.generate(tmp_path / "own.toml", workspace=tmp_path / "w", traversal="cypher")
    assert not (tmp_path / "w").exists()


def test_a_projection_for_one_store_only_is_refused_before_anything_is_read(tmp_path: Path) -> None:
    query = (
        "// name: mine\n// purpose: p\n// params: none\n// returns: document: string, entities: strings\n// stores: embedded\n"
        "MATCH (d:Document)-[m:MENTIONS]->(e:Entity) WITH d, collect(e.id) AS entities RETURN d.id AS document, entities ORDER BY d.row\n"
    )
    (tmp_path / "mine.cypher").write_text(query)
    (tmp_path / "own.toml").write_text(
        'extends = "wikidata"\nseed_domain = "wikidata"\n[projection]\nfiles = ["mine.cypher"]\ndocument_to_entity = ["mine"]\n'
    )
    with pytest.raises(StoreError, match="query mine does not run on the neo4j store, only on: embedded"):
        kgqa.generate(tmp_path / "own.toml", workspace=tmp_path / "w", store="neo4j")
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("--store", "neo4jj"), "store 'neo4jj' is not known; did you mean neo4j?"),
        (("--traversal", "cipher"), "traversal 'cipher' is not known; did you mean cypher?"),
        (("--store", "neo4j", "--neo4j-uri", "localhost"), "NEO4J_URI is not the address of a Neo4j server"),
        (("--store", "neo4j", "--neo4j-uri", "bolt://127.0.0.1:9"), "bolt://127.0.0.1:9: no Neo4j server answers here"),
    ],
)
def test_mistakes_end_in_one_sentence(cli: Cli, tmp_path: Path, arguments: tuple[str, ...], part: str) -> None:
    cli("generate", "--domain", "wikidata", "--workspace", tmp_path / "w", *arguments).sentence(part)
    assert not (tmp_path / "w").exists()


def test_the_password_stands_in_no_file(tmp_path: Path, neo4j_database: Neo4jSettings) -> None:
    kgqa.generate("wikidata", workspace=tmp_path / "w", store="neo4j")
    secret = neo4j_database.password.encode()
    files = [path for path in (tmp_path / "w").rglob("*") if path.is_file()]
    assert len(files) > 20
    assert not [path for path in files if secret in path.read_bytes()]
    shutil.rmtree(tmp_path / "w")
