"""A domain whose TOML names the files to import: one command from raw files to a dataset, and the sentences where that cannot be."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest

import kgqa
from kgqa.errors import InterruptedRun, KgqaError, SettingsError
from kgqa.progress import Silent
from tests import contents
from tests.conftest import Cli
from tests.object_server import BUCKET, ObjectServer

CITIES = {
    "Paris": ("France", "Paris is the capital of France. Fast trains lead from there to Belgium and Spain."),
    "Madrid": ("Spain", "Madrid lies in the middle of Spain. Its kings often fought with those of France."),
    "Brussels": ("Belgium", "Brussels is the capital of Belgium. It was once ruled together with the Netherlands by Austria."),
}
MUSEUMS = {
    "Louvre": ("Paris", "The Louvre is a museum in Paris. One enters it under a pyramid of glass."),
    "Orsay Museum": ("Paris", "The Orsay Museum was once a railway station. It lies on the river in Paris."),
    "Prado": ("Madrid", "The Prado is a museum in Madrid, opened in 1819."),
    "Sofia Centre": ("Madrid", "The Sofia Centre is a museum of modern art in Madrid, in what was a hospital."),
    "Magritte Museum": ("Brussels", "The Magritte Museum in Brussels shows the works of one painter."),
}
RELATIONS = """[[imports]]
format = "relations"
files = ["relations.tsv"]
"""
EDGES = """[[imports]]
format = "edges"
files = ["facts.csv"]
options = { head = "subject", relation = 2, tail = "object" }
licence = "cc0-1.0"
"""
TEXTS = """[[imports]]
format = "texts"
files = ["texts/*.jsonl"]
options = { name_of_about = true }
licence = "cc-by-4.0"
attribution = "Texts: a traveller."
"""
SETTINGS = """extends = "wikidata"
name = "museums"
dataset = "museumhop"
title = "MuseumHop"
[qangaroo]
queries = "relations"
splits = { train = 0.7, dev = 0.15, test = 0.15, by = "head" }
[qangaroo.evidence]
beside_answer = true
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with raw files and a TOML that names them, the relations first."""
    folder = tmp_path / "place"
    (folder / "texts").mkdir(parents=True)
    facts = [(museum, "located in", city) for museum, (city, _) in MUSEUMS.items()]
    facts += [(museum, "country", CITIES[city][0]) for museum, (city, _) in MUSEUMS.items()]
    facts += [(city, "country", country) for city, (country, _) in CITIES.items()]
    (folder / "facts.csv").write_text("subject,predicate,object\n" + "".join(",".join(fact) + "\n" for fact in facts))
    (folder / "relations.tsv").write_text("id\tlabel\ncountry\tcountry\nlocated in\tis in\n")
    for name, articles in (("a", MUSEUMS), ("b", CITIES)):
        lines = [{"id": f"article {title}", "title": title, "about": title, "text": text} for title, (_, text) in articles.items()]
        (folder / "texts" / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "own.toml").write_text(SETTINGS + RELATIONS + EDGES + TEXTS)
    return folder


def made(dataset: Path) -> dict[str, bytes]:
    """What a dataset holds: its files but for the manifest, which has the times."""
    return {
        path.relative_to(dataset).as_posix(): path.read_bytes() for path in sorted(dataset.rglob("*")) if path.suffix in {".parquet", ".md"}
    }


def tables(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


class Said(Silent):
    """What was said, and a stop where it is wanted."""

    def __init__(self, stop: str = "") -> None:
        self.stages: list[str] = []
        self.stop = stop

    def start(self, stage: str, total: int | None = None, unit: str = "") -> None:
        self.stages.append(stage)
        if self.stop and stage.startswith(self.stop):
            raise KeyboardInterrupt


def by_hand(place: Path, out: Path) -> Path:
    """The import of EDGES, RELATIONS and TEXTS."""
    options = {"head": "subject", "relation": 2, "tail": "object"}
    kgqa.import_files("edges", [place / "facts.csv"], out=out, options=options, licence="cc0-1.0")
    kgqa.import_files("relations", [place / "relations.tsv"], out=out)
    texts = [place / "texts" / "a.jsonl", place / "texts" / "b.jsonl"]
    kgqa.import_files(
        "texts", texts, out=out, options={"name_of_about": True}, licence="cc-by-4.0", attribution="Texts: a traveller.", workers=1
    )
    return out


def test_one_command_gives_what_an_import_by_hand_gives(place: Path, tmp_path: Path) -> None:
    (place / "own.toml").write_text(SETTINGS + EDGES + RELATIONS + TEXTS)
    reports = [kgqa.generate(place / "own.toml", workspace=tmp_path / f"w{workers}", workers=workers) for workers in (1, 2)]
    assert sum(reports[0].counts.values()) > 0
    by_hand(place, tmp_path / "out")
    hand = kgqa.generate(place / "own.toml", source=tmp_path / "out", workspace=tmp_path / "hand")
    assert tables(tmp_path / "w1" / "import") == tables(tmp_path / "w2" / "import") == tables(tmp_path / "out")
    assert made(reports[0].dataset) == made(reports[1].dataset) == made(hand.dataset)
    card = (reports[0].dataset / "README.md").read_text("utf-8")
    assert 'license: "other"' in card
    assert "Texts: a traveller." in card
    assert "Licences: cc0-1.0, unknown, cc-by-4.0." in card
    manifests = [json.loads((report.dataset / "manifest.json").read_text("utf-8")) for report in (reports[0], hand)]
    assert [len(manifest["settings"].get("imports", [])) for manifest in manifests] == [3, 0]
    assert manifests[0]["inputs"] == manifests[1]["inputs"]
    assert not reports[0].is_seed


def test_an_unchanged_import_is_reused(place: Path, tmp_path: Path, cli: Cli) -> None:
    kgqa.generate(place / "own.toml", workspace=tmp_path / "w")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "w" / "import").rglob("*")}
    said = Said()
    again = kgqa.generate(place / "own.toml", workspace=tmp_path / "w", progress=said)
    assert said.stages == ["Hashing files"]
    assert "traverse" in again.reused
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "w" / "import").rglob("*")} == before
    planned = cli("generate", "--domain", place / "own.toml", "--workspace", tmp_path / "w", "--dry-run")
    assert "to do" not in planned.out
    assert "facts.csv" in planned.out


def test_a_dry_run_imports_nothing(place: Path, tmp_path: Path, cli: Cli) -> None:
    planned = cli("generate", "--domain", place / "own.toml", "--workspace", tmp_path / "w", "--dry-run")
    assert planned.status == 0, planned.err
    assert "finished before" not in planned.out
    assert not (tmp_path / "w").exists()


def _texts_change(place: Path) -> None:
    path = place / "texts" / "b.jsonl"
    path.write_text(path.read_text().replace("to Belgium and Spain", "to Belgium"))


def _a_text_file_is_new(place: Path) -> None:
    (place / "texts" / "aa.jsonl").write_text(
        '{"id": "article Spain", "title": "Spain", "about": "Spain", "text": "Spain is a country."}\n'
    )


def _a_text_file_is_gone(place: Path) -> None:
    (place / "texts" / "b.jsonl").unlink()


def _an_entry_is_gone(place: Path) -> None:
    (place / "own.toml").write_text(SETTINGS + EDGES + TEXTS)


def _the_order_is_another(place: Path) -> None:
    (place / "own.toml").write_text(SETTINGS + TEXTS + EDGES + RELATIONS)


def _an_option_is_another(place: Path) -> None:
    (place / "own.toml").write_text(SETTINGS + RELATIONS + EDGES + TEXTS.replace("options", "partial = true\noptions"))


CHANGES = [_texts_change, _a_text_file_is_new, _a_text_file_is_gone, _an_entry_is_gone, _the_order_is_another, _an_option_is_another]
QUICK = (_texts_change, _an_entry_is_gone)


@pytest.mark.parametrize(
    "change", [pytest.param(change, id=change.__name__.strip("_"), marks=() if change in QUICK else pytest.mark.slow) for change in CHANGES]
)
def test_what_changed_is_imported_as_if_anew(change: Callable[[Path], None], place: Path, tmp_path: Path) -> None:
    _imported(place, tmp_path / "w")
    journals = {path.read_bytes() for path in (tmp_path / "w" / "import" / ".parts").glob("*/journal.json")}
    files = {_file(path) for path in (tmp_path / "w" / "import" / ".parts").glob("*/journal.json")}
    change(place)
    _imported(place, tmp_path / "w")
    _imported(place, tmp_path / "fresh")
    assert tables(tmp_path / "w" / "import") == tables(tmp_path / "fresh" / "import")
    folders = [sorted(path.name for path in (tmp_path / name / "import" / ".parts").iterdir()) for name in ("w", "fresh")]
    assert folders[0] == folders[1]
    kept = [path for path in (tmp_path / "w" / "import" / ".parts").glob("*/journal.json") if _file(path) in files]
    assert len(kept) >= 2  # what did not change is not parsed again
    assert all(path.read_bytes() in journals for path in kept)


def _file(path: Path) -> tuple[int, int]:
    """What tells a file from a later one, which may get the same inode."""
    return path.stat().st_ino, path.stat().st_mtime_ns


def _imported(place: Path, workspace: Path, **more: Any) -> None:
    """The import alone: no question can be asked, so that the run ends after the first stages."""
    with pytest.raises((KgqaError, _Enough)):
        kgqa.generate(place / "own.toml", workspace=workspace, workers=1, progress=more.get("progress") or _Only())


class _Enough(Exception):
    pass


class _Only(Silent):
    """Ends a run where the tables are read."""

    def start(self, stage: str, total: int | None = None, unit: str = "") -> None:
        if stage.startswith("Reading"):
            raise _Enough


@pytest.mark.parametrize(
    "stop",
    [
        "Parsing, entry 3",
        *(pytest.param(stop, marks=pytest.mark.slow) for stop in ("Hashing", "Merging, entry 3")),
        *(pytest.param(stop, marks=pytest.mark.thorough) for stop in ("Parsing, entry 1", "Merging, entry 2")),
    ],
)
def test_a_stopped_import_goes_on(stop: str, place: Path, tmp_path: Path) -> None:
    _imported(place, tmp_path / "fresh")
    with pytest.raises(InterruptedRun, match="run the same command again"):
        kgqa.generate(place / "own.toml", workspace=tmp_path / "w", workers=1, progress=Said(stop))
    done = {
        path.stat().st_ino for path in (tmp_path / "w" / "import").glob(".parts/*/journal.json") if json.loads(path.read_text())["done"]
    }
    _imported(place, tmp_path / "w")
    assert tables(tmp_path / "w" / "import") == tables(tmp_path / "fresh" / "import")
    assert done <= {path.stat().st_ino for path in (tmp_path / "w" / "import").glob(".parts/*/journal.json")}


@pytest.mark.parametrize(
    ("spoil", "how"),
    [
        ("facts.parquet", "cut"),
        (".parts/00001/journal.json", "gone"),
        *(
            pytest.param(name, "cut", marks=pytest.mark.slow)
            for name in ("import.json", ".parts/sources.json", ".parts/00001/journal.json")
        ),
        *(pytest.param(name, "gone", marks=pytest.mark.thorough) for name in ("facts.parquet", "import.json", ".parts/sources.json")),
    ],
)
def test_a_damaged_import_is_made_again(spoil: str, how: str, place: Path, tmp_path: Path) -> None:
    _imported(place, tmp_path / "w")
    before = tables(tmp_path / "w" / "import")
    path = tmp_path / "w" / "import" / spoil
    path.write_bytes(path.read_bytes()[:20]) if how == "cut" else path.unlink()
    _imported(place, tmp_path / "w")
    assert tables(tmp_path / "w" / "import") == before


def test_nothing_is_said_of_a_broken_file_that_was_mended(place: Path, tmp_path: Path, cli: Cli) -> None:
    command = ("generate", "--domain", place / "own.toml", "--workspace", tmp_path / "w")
    texts = (place / "texts" / "b.jsonl").read_text()
    for broken in ('{"id": 1', "", "\n\0"):
        (place / "texts" / "b.jsonl").write_text(texts + broken if broken.startswith("{") else broken)
        cli(*command).sentence("own.toml: entry 3 of imports (texts): b.jsonl")
    (place / "texts" / "b.jsonl").write_text(texts)
    outcome = cli(*command)
    assert (outcome.status, "b.jsonl" in outcome.out) == (0, False)
    manifest = json.loads((tmp_path / "w" / "import" / "import.json").read_text())
    assert (manifest["notes"], [source["file"] for source in manifest["sources"]]) == (
        [], ["relations.tsv", "facts.csv", "a.jsonl", "b.jsonl"],
    )  # fmt: skip


def test_a_source_comes_before_imports(place: Path, tmp_path: Path) -> None:
    by_hand(place, tmp_path / "out")
    (place / "own.toml").write_text(SETTINGS + EDGES.replace("facts.csv", "absent.csv"))
    report = kgqa.generate(place / "own.toml", source=tmp_path / "out", workspace=tmp_path / "w")
    assert not (tmp_path / "w" / "import").exists()
    manifest = json.loads((report.dataset / "manifest.json").read_text("utf-8"))
    assert "imports" not in manifest["settings"]


def test_files_are_beside_the_file_that_names_them(place: Path, tmp_path: Path) -> None:
    top = tmp_path / "top.toml"
    top.write_text('extends = "place/own.toml"\ntitle = "Another"\n')
    domain = kgqa.load_domain(top, imported=tmp_path / "w" / "import")
    assert domain.imports_in == place / "own.toml"
    _imported(place, tmp_path / "w")
    said = Said("Reading")
    with pytest.raises(InterruptedRun):
        kgqa.generate(top, workspace=tmp_path / "w", progress=said)
    assert said.stages[-2:] == ["Hashing files", "Reading sources"]


def test_imports_of_an_extending_file_take_the_place_of_others(place: Path) -> None:
    (place / "less.toml").write_text('extends = "own.toml"\n' + EDGES)
    domain = kgqa.load_domain(place / "less.toml")
    assert [entry.format for entry in domain.settings.imports] == ["edges"]
    assert (domain.imports_in, domain.settings.licence) == (place / "less.toml", "cc0-1.0")


def test_what_the_file_says_of_its_data_goes_before_what_the_entries_say(place: Path) -> None:
    (place / "own.toml").write_text('licence = "mit"\nattribution = ["All: me."]\n' + SETTINGS + EDGES + TEXTS)
    settings = kgqa.load_domain(place / "own.toml").settings
    assert (settings.licence, settings.attribution, settings.title) == ("mit", ("All: me.",), "MuseumHop")


def test_a_workspace_of_another_domain_is_left_alone(place: Path, wikidata_copy: Path, cli: Cli) -> None:
    before = contents.files(wikidata_copy)
    cli("generate", "--domain", place / "own.toml", "--workspace", wikidata_copy).sentence("belongs to the domain wikidata, not museums")
    assert contents.files(wikidata_copy) == before


def test_a_folder_of_ones_own_in_the_workspace_is_left_alone(place: Path, tmp_path: Path, cli: Cli) -> None:
    (tmp_path / "w" / "import").mkdir(parents=True)
    (tmp_path / "w" / ".kgqa.lock").touch()
    (tmp_path / "w" / "import" / "mine.txt").write_text("mine")
    cli("generate", "--domain", place / "own.toml", "--workspace", tmp_path / "w").sentence("holds something that is not an import")
    assert (tmp_path / "w" / "import" / "mine.txt").read_text() == "mine"


@pytest.mark.slow
def test_compose_and_relations_import_too(place: Path, tmp_path: Path, cli: Cli) -> None:
    composed = cli("compose", "--domain", place / "own.toml", "--workspace", tmp_path / "w", "--filter", "none")
    assert (tmp_path / "w" / "import" / "import.json").is_file()
    assert composed.status in {0, 2}  # so few facts compose nothing, and that is what is said
    assert "import" not in composed.err
    measured = cli("relations", place / "own.toml", "--workspace", tmp_path / "v")
    assert measured.status == 0, measured.err
    assert "is in" in measured.out


def test_a_cut_file_is_read_as_far_as_it_is_whole(place: Path, tmp_path: Path, cli: Cli) -> None:
    packed = gzip.compress((place / "facts.csv").read_bytes())
    (place / "facts.csv.gz").write_bytes(packed[:-30])
    edges = EDGES.replace("facts.csv", "facts.csv.gz")
    (place / "own.toml").write_text(SETTINGS + edges + TEXTS)
    outcome = cli("generate", "--domain", place / "own.toml", "--workspace", tmp_path / "w")
    outcome.sentence("own.toml: entry 1 of imports (edges): facts.csv.gz", "read what is whole with partial = true")


def _outside(place: Path) -> str:
    (place.parent / "facts.csv").write_text("a,b,c\n")
    return EDGES.replace("facts.csv", "../facts.csv")


def _outside_by_a_pattern(place: Path) -> str:
    (place.parent / "facts.csv").write_text("a,b,c\n")
    return EDGES.replace("facts.csv", "../*.csv")


def _outside_over_a_link(place: Path) -> str:
    (place.parent / "secret.csv").write_text("a,b,c\n")
    (place / "link.csv").symlink_to("../secret.csv")
    return EDGES.replace("facts.csv", "l*.csv")


def _outside_over_a_linked_folder(place: Path) -> str:
    (place / "out").symlink_to("..")
    (place.parent / "secret.csv").write_text("a,b,c\n")
    return EDGES.replace("facts.csv", "out/*.csv")


def _a_pipe(place: Path) -> str:
    os.mkfifo(place / "pipe.csv")
    return EDGES.replace("facts.csv", "pipe.csv")


def _an_option_with_a_file_outside(place: Path) -> str:
    (place.parent / "entities.tsv").write_text("x\n")
    return '[[imports]]\nformat = "drugprot"\nfiles = ["facts.csv"]\noptions = { entities = "../entities.tsv" }\n'


BAD: dict[str, tuple[str | Callable[[Path], str], tuple[str, ...]]] = {
    "an unknown format": (EDGES.replace("edges", "egdes"), ("entry 1 of imports", "no format 'egdes'", "did you mean edges?")),
    "the second entry": (EDGES + TEXTS.replace('"texts"', '"text"'), ("entry 2 of imports", "no format 'text'", "did you mean texts")),
    "an unknown option": (EDGES.replace("head =", "haed ="), ("entry 1 of imports (edges)", "no option 'haed'; did you mean head?")),
    "a wrong value of an option": (
        TEXTS.replace("true", '"yes"'), ("entry 1 of imports (texts)", "the option 'name_of_about' of the format texts cannot be \"yes\""),
    ),
    "an option of another kind": (
        EDGES.replace('"subject"', "[1]"),
        ("the option 'head' of the format edges cannot be [1]: it must be a text, in quotation marks",),
    ),
    "an option that is missing": (
        '[[imports]]\nformat = "sparql"\nfiles = ["facts.csv"]\n', ("entry 1 of imports (sparql)", "needs the option endpoint"),
    ),
    "a column that is not there": (EDGES.replace("subject", "subjekt"), ("entry 1 of imports (edges)", "facts.csv", "subjekt", "subject")),
    "a missing file": (EDGES.replace("facts.csv", "fakts.csv"), ("entry 1 of imports (edges)", "there is no file 'fakts.csv'")),
    "a pattern without a match": (TEXTS.replace("*.jsonl", "*.json"), ("entry 1 of imports (texts)", "no file matches 'texts/*.json'")),
    "a pattern that matches a folder": (TEXTS.replace("texts/*.jsonl", "tex*"), ("entry 1 of imports (texts)", "no file matches 'tex*'")),
    "a folder": (TEXTS.replace("texts/*.jsonl", "texts"), ("entry 1 of imports (texts)", "there is no file 'texts'")),
    "no files": (EDGES.replace('["facts.csv"]', "[]"), ("entry 1 of imports: the setting 'files' cannot be []: the list is empty.",)),
    "an empty name": (EDGES.replace('"facts.csv"', '""'), ('entry 1 of imports: the setting \'files.1\' cannot be "": it is empty.',)),
    "no format": (EDGES.replace('format = "edges"\n', ""), ("entry 1 of imports: the setting 'format' is missing; add it.",)),
    "a misspelt key": (EDGES.replace("licence", "license"), ("entry 1 of imports: unknown setting 'license'; did you mean licence?",)),
    "a key of another kind": (EDGES.replace('"cc0-1.0"', "3"), ("entry 1 of imports: the setting 'licence' cannot be 3: it must be",)),
    "partial in quotation marks": (EDGES + 'partial = "yes"\n', ("the setting 'partial' cannot be \"yes\": it must be true or false",)),
    "single brackets": (EDGES.replace("[[imports]]", "[imports]"), ("imports", "each entry is a table; begin it with [[imports]]")),
    "options that are a list": (
        EDGES.replace('{ head = "subject", relation = 2, tail = "object" }', '["head"]'),
        ("entry 1 of imports: the setting 'options' cannot be [\"head\"]: it must be a table, as { name = value }.",),
    ),
    "a text": ('imports = "facts.csv"\n', ("imports: each entry is a table; begin it with [[imports]]",)),
    "a text among entries": ('imports = ["facts.csv"]\n', ("imports: each entry is a table; begin it with [[imports]]",)),
    "an absolute path": (EDGES.replace("facts.csv", "/etc/passwd"), ("imports (edges) names '/etc/passwd', which is outside",)),
    "an absolute pattern": (EDGES.replace("facts.csv", "/etc/pass*"), ("imports (edges) names '/etc/pass*', which is outside",)),
    "no file name": (EDGES.replace("facts.csv", "a\\u0000b"), ("there is no file 'a\\x00b'",)),
    "no pattern": (EDGES.replace("facts.csv", "a\\u0000*"), ("a\\x00*",)),
    "a long name": (EDGES.replace("facts.csv", "x" * 300), ("too long",)),
    "a file outside": (_outside, ("entry 1 of imports (edges) names '../facts.csv', which is outside",)),
    "files outside": (_outside_by_a_pattern, ("entry 1 of imports (edges) names '../*.csv', which is outside",)),
    "a link that leads out": (_outside_over_a_link, ("entry 1 of imports (edges) names 'link.csv', which is outside",)),
    "a folder that leads out": (_outside_over_a_linked_folder, ("which is outside",)),
    "a pipe": (_a_pipe, ("there is no file 'pipe.csv'",)),
    "an option that leads out": (_an_option_with_a_file_outside, ("the option 'entities' of entry 1 of imports", "'../entities.tsv'")),
    "a server that gets the password": (
        '[[imports]]\nformat = "neo4j"\nfiles = ["facts.csv"]\noptions = { uri = "bolt://elsewhere:7687" }\n',
        ("entry 1 of imports (neo4j)", "leave out 'uri' and set NEO4J_URI"),
    ),
    "imports of a variant": (EDGES + '[variants.less]\nimports = []\n', ("the variant less has imports", "move them out of the variant")),
    "a dump that is none": (
        '[[imports]]\nformat = "wikipedia"\nfiles = ["facts.csv"]\n', ("own.toml: entry 1 of imports (wikipedia): facts.csv",),
    ),
    "nothing in the files": (RELATIONS, ("entry 1 of imports (relations)", "neither entities nor documents")),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_imported_is_said_with_file_and_entry(name: str, place: Path, tmp_path: Path, cli: Cli) -> None:
    text, parts = BAD[name]
    written = text if isinstance(text, str) else text(place)
    (place / "own.toml").write_text(written + SETTINGS if name.startswith("a text") else SETTINGS + written)
    for dry in (["--dry-run"], []):
        outcome = cli("generate", "--domain", place / "own.toml", "--workspace", tmp_path / "w", *dry)
        if outcome.status == 0:  # what only reading the files can tell
            assert dry
            continue
        outcome.sentence("own.toml: ", *parts)
        assert outcome.out == "" or not dry
    assert not (tmp_path / "w" / "datasets").exists()
    assert not (tmp_path / "w" / "import" / "import.json").exists()


def test_without_the_extra_the_sentence_says_what_to_install(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgqa.commands.import_files.NEEDED", ("duckdb", "no_such_package"))
    with pytest.raises(
        SettingsError, match=r"own.toml: entry 1 of imports \(relations\): an import needs no_such_package.*kgqa\[sources\]"
    ):
        kgqa.generate(place / "own.toml", workspace=tmp_path / "w")
    assert not (tmp_path / "w").exists()


def test_a_folder_of_another_name_gives_the_same_dataset(place: Path, tmp_path: Path) -> None:
    """No path gets into the tables or the dataset."""
    other = copytree(place, tmp_path / "another place [1]")
    _imported(place, tmp_path / "w")
    _imported(other, tmp_path / "x")
    assert tables(tmp_path / "w" / "import") == tables(tmp_path / "x" / "import")


def test_in_a_workspace_in_a_store_another_machine_has_the_import(
    place: Path, objects: ObjectServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"s3://{BUCKET}/museums"
    first, progress = Said(), Said()
    imported = tables(kgqa.generate(place / "own.toml", workspace=url, progress=first).dataset.parents[1] / "import")
    assert any("Parsing" in stage for stage in first.stages)
    assert objects.keys("museums/import") == []
    monkeypatch.setenv("KGQA_OBJECTS", str(tmp_path / "second"))
    report = kgqa.generate(place / "own.toml", workspace=url, progress=progress)
    second = report.dataset.parents[1] / "import"
    assert (second.is_relative_to(tmp_path / "second"), tables(second)) == (True, imported)
    assert not any("Parsing" in stage or "Merging" in stage for stage in progress.stages), progress.stages
    monkeypatch.setenv("KGQA_OBJECTS", str(tmp_path / "third"))
    kgqa.generate(place / "own.toml", workspace=url)
    (place / "texts" / "c.jsonl").write_text('{"id": "c", "title": "Seine", "about": "Seine", "text": "A river in Paris."}\n')
    changed = kgqa.generate(place / "own.toml", workspace=url)
    local = kgqa.generate(place / "own.toml", workspace=tmp_path / "local")
    assert made(changed.dataset) == made(local.dataset)
    assert tables(changed.dataset.parents[1] / "import") == tables(tmp_path / "local" / "import")
