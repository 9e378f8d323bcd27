"""The small domain's tables, written in the publishers' formats and imported: the same graph, texts and questions."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from xml.sax.saxutils import escape

import polars as pl
import pytest

import kgqa
from kgqa.records import SPLITS
from kgqa.sources import imported, medline
from kgqa.sources.tables import SourceTables
from tests.command import ROOT
from tests.sources.biomedicine import test_drugbank, test_pubmed, test_reactome, test_uniprot

SEED = ROOT / "seeds" / "medline"


def rows(name: str) -> list[dict[str, str]]:
    with (SEED / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def facts(name: str, *columns: str) -> list[dict[str, str]]:
    """Rows between proteins or drugs that the domain knows: its deliberate faults are entities in the publishers' formats."""
    known = {row["uniprot_id"] for row in rows("proteins.tsv")} | {row["drugbank_id"] for row in rows("drugs.tsv")}
    return [row for row in rows(name) if all(row[column] in known for column in columns)]


def drugbank() -> str:
    interactions = facts("drug_interactions.tsv", "drugbank_id_1", "drugbank_id_2")
    targets = facts("drug_targets.tsv", "drugbank_id", "uniprot_id")
    result = test_drugbank.HEAD
    for drug in rows("drugs.tsv"):
        id_ = drug["drugbank_id"]
        synonyms = "".join(f'<synonym language="english">{escape(name)}</synonym>' for name in drug["synonyms"].split("|") if name)
        others = [row["drugbank_id_2"] for row in interactions if row["drugbank_id_1"] == id_]
        others += [row["drugbank_id_1"] for row in interactions if row["drugbank_id_2"] == id_]
        lists = "".join(f"<drug-interaction><drugbank-id>{other}</drugbank-id></drug-interaction>" for other in others)
        proteins = "".join(
            f'<target><polypeptide id="{row["uniprot_id"]}"><name/></polypeptide></target>' for row in targets if row["drugbank_id"] == id_
        )
        result += (
            f'<drug type="small molecule"><drugbank-id primary="true">{id_}</drugbank-id><name>{escape(drug["name"])}</name>'
            f"<synonyms>{synonyms}</synonyms><drug-interactions>{lists}</drug-interactions><targets>{proteins}</targets></drug>\n"
        )
    return result + "</drugbank>"


def uniprot() -> str:
    result = test_uniprot.HEAD
    for protein in rows("proteins.tsv"):
        genes = "".join(f'<name type="synonym">{escape(name)}</name>' for name in protein["synonyms"].split("|") if name)
        names = "".join(
            f"<alternativeName><fullName>{escape(name)}</fullName></alternativeName>" for name in protein["names"].split("|") if name
        )
        result += (
            f'<entry dataset="Swiss-Prot"><accession>{protein["uniprot_id"]}</accession><protein>{names}</protein>'
            f'<gene><name type="primary">{escape(protein["gene"])}</name>{genes}</gene>'
            f'<organism><dbReference type="NCBI Taxonomy" id="9606"/></organism></entry>\n'
        )
    return result + "</uniprot>"


def pubmed() -> str:
    result = test_pubmed.HEAD
    for abstract in map(json.loads, (SEED / "abstracts.jsonl").read_text("utf-8").splitlines()):
        title, text = re.fullmatch(r"(.*?[.?!]|)(?:\s+(.*)|$)", abstract["text"], re.DOTALL).groups("")  # type: ignore[union-attr]
        result += test_pubmed.article(
            escape(title), f"<Abstract><AbstractText>{escape(text)}</AbstractText></Abstract>", number=abstract["id"].removeprefix("SEED:")
        )
    return result + "</PubmedArticleSet>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What importing the four files gives."""
    place = tmp_path_factory.mktemp("files")
    mitab = test_reactome.HEADER + "".join(
        test_reactome.mitab(f"uniprotkb:{row['uniprot_id_1']}", f"uniprotkb:{row['uniprot_id_2']}").replace("(gene name)", "(other)")
        for row in facts("protein_interactions.tsv", "uniprot_id_1", "uniprot_id_2")
    )
    for format_, text in (("uniprot", uniprot()), ("drugbank", drugbank()), ("reactome", mitab), ("pubmed", pubmed())):
        path = place / format_
        path.write_text(text, encoding="utf-8")
        kgqa.import_files(format_, [path], out=place / "imported", options={"titles": True} if format_ == "pubmed" else {})
    return place / "imported"


def test_tables_are_those_of_the_layout(folder: Path) -> None:
    ours, theirs = frames(imported.read(folder)), frames(medline.read(SEED))
    assert ours.keys() == theirs.keys()
    for name, table in theirs.items():
        assert ours[name] == table, name


def frames(tables: SourceTables) -> dict[str, set[tuple[str, ...]]]:
    """The columns that both have, of some tables."""
    columns = {
        "entities": ("id", "kind", "label"),
        "names": ("entity", "name", "source"),
        "facts": ("head", "relation", "tail"),
        "documents": ("title", "text"),
    }
    return {name: set(pl.DataFrame(getattr(tables, name)).select(*chosen).iter_rows()) for name, chosen in columns.items()}


@pytest.mark.slow
def test_questions_are_those_of_the_layout(folder: Path, tmp_path: Path) -> None:
    splits = []
    own = tmp_path / "own.toml"
    text = 'extends = "medline"\nname = "own"\ndataset = "own"\nattribution = []\n'
    own.write_text(text + (SEED / "domain.toml").read_text("utf-8"), encoding="utf-8")
    for source in (SEED, folder):
        report = kgqa.generate(own, source=source, workspace=tmp_path / source.name)
        assert sum(report.counts.values()) > 3
        splits.append({name: pl.read_parquet(report.dataset / f"{name}.parquet").write_json().replace("PMID:", "SEED:") for name in SPLITS})
    assert splits[0] == splits[1]
