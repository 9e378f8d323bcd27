"""``kgqa import`` from the command line and Python, and datasets from what it wrote."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

import kgqa
from kgqa.arrays.parallel import Threads
from kgqa.progress import Silent
from kgqa.records import SPLITS
from kgqa.runs.importing import run_import
from tests.command import ROOT
from tests.conftest import Cli
from tests.runs.test_importing import ORIGIN, Calls

SEED = ROOT / "seeds" / "wikidata"
WIKI = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" xml:lang="en">
<siteinfo><sitename>Rivers</sitename><dbname>rivwiki</dbname><case>first-letter</case>
<namespaces><namespace key="0" case="first-letter" /><namespace key="14" case="first-letter">Category</namespace></namespaces></siteinfo>
<page><title>Tagus</title><ns>0</ns><id>1</id><revision><id>11</id><model>wikitext</model><text>The '''Tagus''' flows through [[Spain]]
and reaches the sea near [[Lisboa|Lisbon]].</text></revision></page>
<page><title>Lisbon</title><ns>0</ns><id>2</id><revision><id>12</id><model>wikitext</model><text>'''Lisbon''' is the capital of
[[Portugal]].</text></revision></page>
<page><title>Lisboa</title><ns>0</ns><id>3</id>
<redirect title="Lisbon" /><revision><id>13</id><text>#REDIRECT [[Lisbon]]</text></revision></page>
</mediawiki>
"""
GRAPH: list[dict[str, Any]] = [
    {"type": "property", "id": "P403", "labels": {"en": {"language": "en", "value": "mouth"}}},
    {
        "type": "item",
        "id": "Q14294",
        "labels": {"en": {"language": "en", "value": "Tagus"}},
        "sitelinks": {"rivwiki": {"site": "rivwiki", "title": "Tagus"}},
        "claims": {
            "P403": [
                {
                    "rank": "normal",
                    "mainsnak": {
                        "snaktype": "value",
                        "property": "P403",
                        "datatype": "wikibase-item",
                        "datavalue": {"type": "wikibase-entityid", "value": {"entity-type": "item", "id": "Q597"}},
                    },
                }
            ]
        },
    },
    {
        "type": "item",
        "id": "Q597",
        "labels": {"en": {"language": "en", "value": "Lisbon"}},
        "sitelinks": {"rivwiki": {"site": "rivwiki", "title": "Lisbon"}},
    },
]


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "pages.xml.gz").write_bytes(gzip.compress(WIKI.encode()))
    (tmp_path / "items.json").write_text("[\n" + ",\n".join(map(json.dumps, GRAPH)) + "\n]\n")
    return tmp_path


def test_an_empty_licence_is_refused(files: Path, cli: Cli) -> None:
    cli("import", "wikipedia", files / "pages.xml.gz", "--out", files / "out", "--licence", "").sentence(
        "the licence", "is empty; give one"
    )
    assert not (files / "out").exists()


def test_two_dumps_become_one_folder_of_tables(files: Path, cli: Cli) -> None:
    first = cli("import", "wikidata", files / "items.json", "--out", files / "out", "--option", "site=rivwiki")
    assert first.status == 0, first.err
    second = cli("import", "wikipedia", files / "pages.xml.gz", "--out", files / "out", "--licence", "cc0-1.0")
    assert second.status == 0, second.err
    assert "documents 2" in second.out
    assert "Left out:" in second.out
    assert "link elsewhere" in second.out
    manifest = json.loads((files / "out" / "import.json").read_text())
    assert [source["licence"] for source in manifest["sources"]] == ["cc0-1.0", "cc0-1.0"]
    assert manifest["rows"]["facts"] == 1
    assert manifest["rows"]["mentions"] == 1
    again = kgqa.import_files("wikipedia", [files / "pages.xml.gz"], out=files / "out", licence="cc0-1.0")
    assert again.reused == ["pages.xml.gz"]
    domain = kgqa.load_domain("wikidata", source=files / "out")
    assert domain.settings.source.layout == "import"
    assert domain.settings.licence == "cc0-1.0"
    assert len(domain.settings.attribution) == 2


def test_the_list_names_every_option_with_its_meaning(cli: Cli) -> None:
    listed = cli("import", "--list")
    assert listed.status == 0
    for name in kgqa.list_formats():
        assert f"{name}:" in listed.out
        for option, (default, meaning) in kgqa.format_options(name).items():
            assert default, (name, option)
            assert len(meaning.split()) > 3, (name, option)
            assert f"{option} = " in listed.out


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (("wikipedai", "pages.xml.gz"), "there is no format 'wikipedai' to import; did you mean wikipedia?"),
        (("wikipedia", "absent.xml"), "there is no such file"),
        (("wikipedia", "pages.xml.gz", "--option", "charakters=3"), "no option 'charakters'; did you mean characters?"),
        (
            ("wikipedia", "pages.xml.gz", "--option", "characters=many"),
            "the option 'characters' of the format wikipedia cannot be \"many\"",
        ),
        (("wikipedia", "pages.xml.gz", "--option", "characters"), "the option 'characters' has no value"),
        (("wikipedia", "pages.xml.gz", "-o", "characters=1", "-o", "characters=2"), "'characters' is given twice"),
        (("wikipedia", "items.json"), "no <page> element; this is not a file of that kind"),
        (("wikipedia", "cut.xml"), "so it is cut; download it again, or read what is whole with --partial"),
        (("wikipedia", "page.html"), "this is a web page"),
        (("wikipedia", "pages.xml.gz", "--workers", "0"), "workers 0 is not between"),
    ],
)
def test_what_cannot_be_imported_ends_with_one_sentence(files: Path, cli: Cli, arguments: tuple[str, ...], part: str) -> None:
    (files / "cut.xml").write_text(WIKI[:-80])
    (files / "page.html").write_text("<!doctype html><html><body>503</body></html>")
    places = [files / word if "." in word else word for word in arguments]
    outcome = cli("import", *places, "--out", files / "out")
    assert outcome.status == 2
    assert part in outcome.err
    assert outcome.err.count("\n") == 1
    assert not (files / "out" / "import.json").exists()


def test_an_import_that_was_not_finished_is_no_source(files: Path, cli: Cli) -> None:
    (files / "out" / ".parts").mkdir(parents=True)
    outcome = cli("generate", "--domain", "wikidata", "--source", files / "out", "--workspace", files / "workspace")
    assert outcome.status == 2
    assert "the import was not finished" in outcome.err


def rows(name: str) -> list[dict[str, str]]:
    with (SEED / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_an_import_of_the_same_tables_gives_the_same_dataset(tmp_path: Path) -> None:
    calls: list[list[Any]] = []
    for entity in rows("entities.tsv"):
        calls.append(["entity", entity["id"], entity["label"], {"description": entity["description"]}])
        calls += [["name", entity["id"], alias] for alias in entity["aliases"].split("|") if alias]
        calls += [["name", entity["id"], entity["wikipedia_title"], "title"]] if entity["wikipedia_title"] else []
    calls += [["relation", relation["id"], relation["label"]] for relation in rows("relations.tsv")]
    calls += [["fact", *line.split("\t")] for line in (SEED / "triples.tsv").read_text("utf-8").splitlines()]
    for document in map(json.loads, (SEED / "documents.jsonl").read_text("utf-8").splitlines()):
        calls.append(["document", document["id"], document["title"], document["text"], {"about": document["entity"] or None}])
        calls += [["name", document["entity"], document["title"], "title"]] if document["entity"] else []
    path = tmp_path / "calls.jsonl"
    path.write_text("".join(json.dumps(call) + "\n" for call in calls))
    run_import(Calls(), [path], tmp_path / "imported", ORIGIN, engine=Threads(1), partial=False, progress=Silent())
    own = tmp_path / "own.toml"
    head = 'extends = "wikidata"\nname = "own"\ndataset = "own"\nattribution = []\n'
    own.write_text(head + (SEED / "domain.toml").read_text("utf-8"))
    splits = []
    for source in (SEED, tmp_path / "imported"):
        report = kgqa.generate(own, source=source, workspace=tmp_path / f"workspace-{source.name}")
        assert sum(report.counts.values()) > 5
        splits.append({name: (report.dataset / f"{name}.parquet").read_bytes() for name in SPLITS})
    assert splits[0] == splits[1]
