"""DrugBank: our own drugs in the schema's form, and the real ones."""

from __future__ import annotations

import csv
import gzip
import io
from pathlib import Path

import pytest
from pydantic import ValidationError

from kgqa.errors import BrokenInput
from kgqa.sources.biomedicine.drugbank import ENZYME_NUMBER, PROTEIN_ACCESSION, DrugBank, DrugBankVocabulary
from tests.sources.biomedicine.files import parsed, read, skipped

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<drugbank xmlns="http://www.drugbank.ca" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" version="5.1" exported-on="2026-01-02">
"""
PROTEIN = """
<polypeptide id="{id}" source="Swiss-Prot"><name>Fibrin lock</name><gene-name>{gene}</gene-name>
  <organism ncbi-taxonomy-id="{taxon}">Some</organism>
  <synonyms><synonym>3.4.21.5</synonym><synonym>EC 1.1.-.-</synonym><synonym>Lock factor</synonym><synonym>{gene}</synonym></synonyms>
</polypeptide>"""
DRUG = f"""<drug type="small molecule" created="2005-06-13" updated="1999-13-45">
  <drugbank-id>APRD00001</drugbank-id><drugbank-id primary="true">DB90001</drugbank-id>
  <name>Alphadrug</name><description>It &lt;b&gt; acts.</description>
  <groups><group>approved</group><group>withdrawn</group></groups>
  <salts><salt><drugbank-id primary="true">DBSALT000001</drugbank-id><name>Alphadrug chloride</name></salt></salts>
  <synonyms>
    <synonym language="english" coder="inn">Alphadrug</synonym><synonym language="english" coder="">Alpha-drug</synonym>
    <synonym language="german/english">Alphamittel</synonym><synonym language="german">Alphastoff</synonym><synonym>AD 17</synonym>
  </synonyms>
  <products><product><name>Care</name><dpd-id xsi:nil="true"/></product></products>
  <international-brands><international-brand><name>Alphanox</name><company/></international-brand></international-brands>
  <drug-interactions>
    <drug-interaction><drugbank-id>DB90000</drugbank-id><name>Other</name><description>More.</description></drug-interaction>
    <drug-interaction><drugbank-id>DB90002</drugbank-id><name>Another</name><description>Less.</description></drug-interaction>
    <drug-interaction><drugbank-id>DB90001</drugbank-id><name>Itself</name><description>Odd.</description></drug-interaction>
  </drug-interactions>
  <pathways><pathway><smpdb-id>SMP1</smpdb-id><name>Way</name><category>drug_action</category>
    <drugs><drug><drugbank-id>DB90001</drugbank-id><name>Alphadrug</name></drug><drug><drugbank-id>DB90007</drugbank-id></drug></drugs>
    <enzymes><uniprot-id>P00734</uniprot-id></enzymes></pathway></pathways>
  <targets>
    <target><id>BE1</id><name>Lock</name><known-action>yes</known-action>{PROTEIN.format(id="P00734", gene="LOCK1", taxon=9606)}
      {PROTEIN.format(id="P00735", gene="LOCK2", taxon=10090)}</target>
    <target><id>BE2</id><name>DNA</name><known-action>yes</known-action></target>
  </targets>
  <enzymes><enzyme position="1"><id>BE3</id><name>Cutter</name><known-action>unknown</known-action>
    {PROTEIN.format(id="A0A0A6YYK7", gene="CUT", taxon=9606)}</enzyme></enzymes>
  <carriers/>
  <transporters><transporter><id>BE4</id><name>Lock</name><known-action>no</known-action>
    {PROTEIN.format(id="P00734", gene="LOCK1", taxon=9606)}</transporter></transporters>
</drug>
"""
NAMELESS = '<drug type="biotech"><drugbank-id primary="true">DB90003</drugbank-id><name/></drug>\n'
BETA = """<drug type="biotech"><drugbank-id primary="true">DB90002</drugbank-id><name>Betadrug</name>
<groups><group>experimental</group></groups><drug-interactions><drug-interaction><drugbank-id>DB90001</drugbank-id></drug-interaction>
</drug-interactions></drug>
"""


def names(tables: dict[str, list[tuple[str, ...]]], entity: str) -> list[str]:
    return [name for owner, name, _ in tables["names"] if owner == entity]


def test_drugs_proteins_and_facts() -> None:
    tables = parsed(DrugBank(), DRUG + BETA, HEAD)
    assert tables["entities"] == [
        ("DB90001", "drug", "Alphadrug", "small molecule"),
        ("DB90002", "drug", "Betadrug", "biotech"),
        ("P00734", "protein", "LOCK1", "Fibrin lock"),
        ("P00735", "protein", "LOCK2", "Fibrin lock"),
        ("A0A0A6YYK7", "protein", "CUT", "Fibrin lock"),
    ]
    assert tables["facts"] == [
        ("DB90000", "interacts_with", "DB90001"),
        ("DB90001", "interacts_with", "DB90002"),
        ("DB90001", "target", "P00734"),
        ("DB90001", "target", "P00735"),
        ("DB90001", "enzyme", "A0A0A6YYK7"),
        ("DB90001", "transporter", "P00734"),
        ("DB90001", "interacts_with", "DB90002"),
    ]
    assert ("interacts_with", "interacts with", True) in tables["relations"]
    assert names(tables, "DB90001") == ["Alphadrug", "Alpha-drug", "Alphamittel", "AD 17", "Alphanox"]
    assert names(tables, "P00734") == ["LOCK1", "Fibrin lock", "Lock factor"]


def test_what_is_left_out_is_counted() -> None:
    assert skipped(DrugBank(), DRUG + NAMELESS + "<drug><drugbank-id>DB1</name></drug>", HEAD, line=3) == {
        "target that is no protein with a UniProt accession": (1, "DB90001, DNA"),
        "drug without id or name": (1, f"data, line {3 + DRUG.count(chr(10))}"),
        "record that is not well-formed XML": (1, f"data, line {4 + DRUG.count(chr(10))}"),
    }


def test_names_by_option() -> None:
    tables = parsed(DrugBank(languages=(), brands=False, products=True), DRUG, HEAD)
    assert names(tables, "DB90001") == ["Alphadrug", "Alpha-drug", "Alphamittel", "Alphastoff", "AD 17", "Care"]


def test_groups_organisms_and_known_action() -> None:
    assert [id_ for id_, kind, *_ in parsed(DrugBank(groups=("experimental",)), DRUG + BETA, HEAD)["entities"]] == ["DB90002"]
    assert skipped(DrugBank(groups=("experimental",)), DRUG, HEAD) == {"drug of another group": (1, "DB90001")}
    facts = parsed(DrugBank(organisms=(10090,)), DRUG, HEAD)["facts"]
    assert [tail for _, relation, tail in facts if relation != "interacts_with"] == ["P00735"]
    facts = parsed(DrugBank(known_action=True), DRUG, HEAD)["facts"]
    assert [tail for _, relation, tail in facts if relation != "interacts_with"] == ["P00734", "P00735"]


def test_unknown_options_are_errors() -> None:
    with pytest.raises(ValidationError, match="brand"):
        DrugBank.model_validate({"brand": True})


def test_drugs_within_drugs_are_no_records(tmp_path: Path) -> None:
    path = tmp_path / "drugs.xml"
    path.write_text(HEAD + (DRUG + BETA) * 2 + "</drugbank>", encoding="utf-8")
    tables, left_out = read(DrugBank(), path)
    assert [id_ for id_, kind, *_ in tables["entities"] if kind == "drug"] == ["DB90001", "DB90002"] * 2
    assert left_out == {"target that is no protein with a UniProt accession": 2}


@pytest.mark.parametrize("number", ["3.4.21.5", "EC 1.14.14.1", "2.7.-.-", "1.1.1.n4"])
def test_enzyme_numbers_are_no_names(number: str) -> None:
    assert ENZYME_NUMBER.fullmatch(number)


@pytest.mark.parametrize(
    ("accession", "right"), [("P00734", True), ("A0A0A6YYK7", True), ("Q6FGZ2", True), ("", False), ("BE0004796", False)]
)
def test_accessions(accession: str, right: bool) -> None:
    assert bool(PROTEIN_ACCESSION.fullmatch(accession)) == right


VOCABULARY = """DrugBank ID,Accession Numbers,Common name,CAS,UNII,Synonyms,Standard InChI Key
DB90001,APRD1 | BTD2,Alphadrug,1-2-3,ABC,"Alpha, the drug | Alphadrug | Alphastoff",
DB90002,,Betadrug,,,,
,,Nothing,,,,
DB90003,,,,,,
"""


def test_vocabulary() -> None:
    tables = parsed(DrugBankVocabulary(), VOCABULARY)
    assert tables["entities"] == [("DB90001", "drug", "Alphadrug", ""), ("DB90002", "drug", "Betadrug", "")]
    assert names(tables, "DB90001") == ["Alphadrug", "Alpha, the drug", "Alphastoff"]
    assert skipped(DrugBankVocabulary(), VOCABULARY) == {"row without id or name": (2, "data, line 4")}


def test_another_table_is_no_vocabulary() -> None:
    with pytest.raises(BrokenInput, match=r"data, line 1: the header of DrugBank's vocabulary begins with"):
        parsed(DrugBankVocabulary(), "a,b,c\n1,2,3\n")


@pytest.mark.real_data
def test_real_drugs(real_data: Path) -> None:
    folder = real_data / "sources" / "drugbank"
    tables, left_out = read(DrugBank(), folder / "drugbank_record_small_molecule.xml")
    assert [entity[:3] for entity in tables["entities"]] == [
        ("DB00006", "drug", "Bivalirudin"),
        ("P00734", "protein", "F2"),
        ("P05164", "protein", "MPO"),
    ]
    # The file has each interaction once, and drugs within its pathways besides.
    text = (folder / "drugbank_record_small_molecule.xml").read_text(encoding="utf-8")
    assert len(tables["facts"]) == text.count("<drug-interaction>") + 2
    assert not left_out
    assert "Angiox" in names(tables, "DB00006")
    assert "Bivalirudina" not in names(tables, "DB00006")
    assert {id_ for id_, kind, *_ in read(DrugBank(), folder / "drugbank-first-drugs-5.1.xml.gz")[0]["entities"] if kind == "drug"} == {
        "DB00001",
        "DB00014",
    }
    assert read(DrugBank(), folder / "drugbank_sample.xml")[0]["facts"] == [("DB00001", "target", "P00734")]


@pytest.mark.real_data
def test_real_targets_agree_with_the_prepared_tables(real_data: Path) -> None:
    with gzip.open(real_data / "medline" / "drug_targets.tsv.gz", "rt", encoding="utf-8") as file:
        prepared = {tuple(line.split("\t")[:2]) for line in file.read().splitlines()[1:]}
    tables, _ = read(DrugBank(), real_data / "sources" / "drugbank" / "drugbank-first-drugs-5.1.xml.gz")
    ours = {(head, tail) for head, relation, tail in tables["facts"] if relation == "target"}
    assert ours == {pair for pair in prepared if pair[0] in {"DB00001", "DB00014"}}


@pytest.mark.real_data
def test_real_vocabulary_is_read_whole(real_data: Path) -> None:
    path = real_data / "sources" / "drugbank" / "drugbank_vocabulary.csv.gz"
    tables, left_out = read(DrugBankVocabulary(), path)
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(io.StringIO(file.read(), newline="")))
    assert not left_out
    assert [id_ for id_, *_ in tables["entities"]] == [row["DrugBank ID"] for row in rows]
    expected = {(row["DrugBank ID"], name) for row in rows for name in row["Synonyms"].split(" | ") if name}
    assert len({(entity, name) for entity, name, _ in tables["names"]} - expected) <= len(rows)
    assert len(tables["names"]) > len(rows)
