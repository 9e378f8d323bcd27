"""What is wrong with a domain is said in its own words."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import kgqa
from tests.command import ROOT
from tests.conftest import Cli
from tests.domains.small_files import write_raw_files

SEEDS = ROOT / "seeds" / "wikidata"
OWN = 'extends = "wikidata"\nname = "own"\ndataset = "own"\n'


def problems(folder: Path, settings: str, change: Callable[[Path], object] = lambda _: None) -> dict[str, kgqa.Problem]:
    """Check → the first problem of a domain with these settings, whose source is the small domain after ``change``."""
    shutil.copytree(SEEDS, folder / "source")
    change(folder / "source")
    (folder / "own.toml").write_text(OWN + settings, "utf-8")
    result = kgqa.validate(folder / "own.toml", source=folder / "source", workspace=folder / "w")
    found: dict[str, kgqa.Problem] = {}
    for problem in result.problems:
        found.setdefault(problem.check, problem)
    return found


def append(name: str, text: str) -> Callable[[Path], object]:
    """Add text to a file of the source."""
    return lambda folder: (folder / name).write_text((folder / name).read_text("utf-8") + text, "utf-8")


def nonsense(folder: Path) -> None:
    """Texts in which nothing is named."""
    import json

    path = folder / "documents.jsonl"
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    path.write_text("".join(json.dumps({**line, "text": "zzz qqq xxx."}) + "\n" for line in lines), "utf-8")


BROKEN = "// name: mine\n// purpose: p\n// params: none\n// returns: entity: string, document: string\n// stores: embedded\n"
MINE = '[projection]\nfiles = ["mine.cypher"]\nentity_to_document = ["mine"]\n'
CASES: dict[str, tuple[str, Callable[[Path], object], str, str]] = {
    "a relation by its label": (
        '[qangaroo]\nrelations = ["capital"]\n',
        lambda _: None,
        "unknown-relation",
        "did you mean 'capital' (P36)?",
    ),
    "a misspelled relation": ('[qangaroo]\nrelations = ["capitol"]\n', lambda _: None, "unknown-relation", "(P36)"),
    "an entity by its name": (
        '[documents]\nexclude_about = ["Lisbon"]\n',
        lambda _: None,
        "unknown-entity",
        "did you mean 'Lisbon' (Q597)?",
    ),
    "a name that nobody has": ('[linking]\nexclude_names = ["Zzyzx"]\n', lambda _: None, "unknown-name", "write it as the tables do"),
    "a template's relation": (
        '[musique.templates.x]\nrelations = ["P0"]\nclause = "is {tail}"\nnoun = "x"\n',
        lambda _: None,
        "unknown-relation",
        "",
    ),
    "nothing is linked": ("", nonsense, "nothing-linked", "see whether the names"),
    "too long": ("[documents]\nmax_tokens = 1\n", lambda _: None, "unused-documents", "raise documents.max_tokens"),
}


@pytest.mark.parametrize("case", CASES)
def test_each_fault_is_found_with_advice(case: str, tmp_path: Path) -> None:
    settings, change, check, advice = CASES[case]
    found = problems(tmp_path, settings, change)
    assert check in found, found
    assert advice in found[check].advice


def test_facts_of_nobody_are_counted_with_their_line(tmp_path: Path) -> None:
    shutil.copytree(SEEDS, tmp_path / "source")
    append("triples.tsv", "Q597\tP36\tnobody\n")(tmp_path / "source")
    found = kgqa.validate("wikidata", source=tmp_path / "source", workspace=tmp_path / "w").problems
    (problem,) = [problem for problem in found if "second entity" in problem.what]
    assert (problem.count, problem.advice) == (3, "add the entity to the entity table, or remove the fact")


def test_an_empty_projection_names_its_query(tmp_path: Path) -> None:
    text = (
        BROKEN + "MATCH (e:Entity)-[:ABOUT]->(d:Document) WHERE e.kind = 'nothing' RETURN e.id AS entity, d.id AS document ORDER BY d.row"
    )
    (tmp_path / "mine.cypher").write_text(text, "utf-8")
    problem = problems(tmp_path, MINE)["empty-projection"]
    assert (problem.severity, problem.where) == ("error", "query mine (mine.cypher)")


def test_relations_in_two_directions_and_twice(tmp_path: Path) -> None:
    write_raw_files(tmp_path)
    rows = "".join(f"t{number},near,t{(number + 1) % 6}\nt{(number + 1) % 6},near,t{number}\n" for number in range(6))
    rows += "".join(f"l{number % 6},has_river,r{number}\nr{number},in_land,l{number % 6}\n" for number in range(12))
    (tmp_path / "facts.csv").write_text((tmp_path / "facts.csv").read_text("utf-8") + rows, "utf-8")
    new = kgqa.init(
        "towns",
        directory=tmp_path,
        from_=[
            f"{kind}:{tmp_path / name}" for kind, name in (("edges", "facts.csv"), ("nodes", "places.tsv"), ("texts", "articles.jsonl"))
        ],
    )
    found = {problem.check: problem for problem in kgqa.validate(new.settings, workspace=tmp_path / "w").problems}
    assert "near" in found["two-directions"].where
    assert "in_land" in found["same-relations"].where
    assert "has_river" in found["inverse-relations"].where


def test_the_status_tells_errors_from_warnings_and_the_output_is_the_same(tmp_path: Path, cli: Cli) -> None:
    good = cli("validate", "wikidata", "--workspace", tmp_path / "w")
    assert (good.status, good.err) == (0, "")
    assert good.out.splitlines()[-1].startswith("0 errors")
    again = cli("validate", "wikidata", "--workspace", tmp_path / "w2")
    assert [line for line in again.out.splitlines() if "(" not in line] == [line for line in good.out.splitlines() if "(" not in line]
    assert cli("validate", "medline", "--workspace", tmp_path / "m").status == 0
    (tmp_path / "own.toml").write_text(OWN + '[qangaroo]\nrelations = ["nothing"]\n', "utf-8")
    assert cli("validate", tmp_path / "own.toml", "--source", SEEDS, "--workspace", tmp_path / "o").status == 1
    cli("validate", "wikidatta").sentence("did you mean wikidata?")
    cli("validate", "wikidata", "--documents", "0", "--workspace", tmp_path / "x").sentence("documents 0 is not at least 1")


def test_a_part_is_linked_apart_and_leaves_nothing(tmp_path: Path) -> None:
    result = kgqa.validate("wikidata", workspace=tmp_path / "w", documents=100)
    assert result.documents == 100
    assert {path.name for path in (tmp_path / "w").iterdir()} == {".kgqa.lock", "workspace.json", "tables"}


def test_generate_reuses_what_validate_did(tmp_path: Path) -> None:
    kgqa.validate("wikidata", workspace=tmp_path / "w")
    assert set(kgqa.generate("wikidata", workspace=tmp_path / "w").reused) == {"read_sources", "link_mentions", "build_store"}


@pytest.mark.parametrize("seed", [0, 1])
def test_as_many_documents_are_linked_as_asked_for(seed: int, tmp_path: Path) -> None:
    result = kgqa.validate("wikidata", workspace=tmp_path / "w", documents=2, seed=seed)
    assert result.documents == 2


def test_tables_without_rows_have_no_reasons_to_see(tmp_path: Path, cli: Cli) -> None:
    write_raw_files(tmp_path)
    (tmp_path / "facts.csv").write_text("head,relation,tail\n", "utf-8")
    new = kgqa.init("towns", directory=tmp_path, from_=[f"edges:{tmp_path / 'facts.csv'}", f"nodes:{tmp_path / 'places.tsv'}"])
    outcome = cli("validate", new.settings, "--workspace", tmp_path / "w")
    assert outcome.status == 1
    assert "have no relations.\n  Add a file that has them.\n" in outcome.out
    assert "\n1 error, 0 warnings.\n" in outcome.out


def test_an_estimate_of_all_documents_does_not_ask_for_more(tmp_path: Path, cli: Cli) -> None:
    shutil.copytree(SEEDS, tmp_path / "source")
    nonsense(tmp_path / "source")
    outcome = cli("estimate", "wikidata", "--source", tmp_path / "source", "--workspace", tmp_path / "w")
    outcome.sentence("kgqa: no name of any entity occurs in any document; check the names")
    assert "--share" not in outcome.err
    assert outcome.err.count("no name") == 1


def test_a_small_domain_is_estimated_exactly(tmp_path: Path, seed_wikidata: Path, cli: Cli) -> None:
    result = kgqa.estimate("wikidata", workspace=tmp_path / "w")
    import json

    counts = json.loads((seed_wikidata / "datasets" / "wikihop" / "manifest.json").read_text("utf-8"))["counts"]
    assert {split: figure.value for split, figure in result.samples.items()} == counts
    assert not (tmp_path / "w" / "datasets").exists()
    cli("estimate", "wikidata", "--share", "0").sentence("share 0 is not above 0")
    cli("estimate", "wikidata", "--share", "nan").sentence("share nan is not above 0")
