"""UniProt: the same entries in both formats, written by us, and the real ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from kgqa.errors import BrokenInput
from kgqa.sources.biomedicine.uniprot import UniProtText, UniProtXml
from kgqa.sources.streams import TextFile
from tests.sources.biomedicine.files import Tables, parsed, read, skipped

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<uniprot xmlns="http://uniprot.org/uniprot" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
"""
XML = """<entry dataset="Swiss-Prot" created="2001-01-01" modified="2026-01-01" version="3" xmlns="http://uniprot.org/uniprot">
  <accession>P90001</accession><accession>Q90001</accession><name>LOCK_HUMAN</name>
  <protein>
    <recommendedName>
      <fullName evidence="1">Lock factor 1</fullName><shortName>LF-1</shortName><ecNumber>3.4.21.5</ecNumber>
    </recommendedName>
    <alternativeName><fullName>Bolt, small</fullName><shortName>BS</shortName></alternativeName>
    <alternativeName><fullName>Bar</fullName></alternativeName>
    <cdAntigenName>CD999</cdAntigenName>
    <domain><recommendedName><fullName>Hinge domain</fullName></recommendedName></domain>
    <component><recommendedName><fullName>Lock chain A</fullName></recommendedName></component>
  </protein>
  <gene><name type="primary" evidence="1">LOCK1</name><name type="synonym">BOLT</name><name type="synonym">LK</name>
    <name type="ORF">orf7</name></gene>
  <gene><name type="primary">LOCK1B</name><name type="ordered locus">b0007</name></gene>
  <organism>
    <name type="scientific">Homo sapiens</name><name type="common">Human</name><dbReference type="NCBI Taxonomy" id="9606"/>
  </organism>
  <organismHost><dbReference type="NCBI Taxonomy" id="10090"/></organismHost>
  <dbReference type="PDB" id="1ABC"><property type="method" value="X-ray"/></dbReference>
  <sequence length="3">MAG</sequence>
</entry>
<entry dataset="TrEMBL" created="2001-01-01" modified="2026-01-01" version="3">
  <accession>A0A090ZZ90</accession><name>A0A090ZZ90_ECOLI</name>
  <protein><submittedName><fullName evidence="1">Predicted gate</fullName></submittedName></protein>
  <organism><name type="scientific">Escherichia coli (strain K12)</name><dbReference type="NCBI Taxonomy" id="83333"/></organism>
</entry>
"""
TEXT = """ID   LOCK_HUMAN              Reviewed;           3 AA.
AC   P90001; Q90001;
DT   01-JAN-2001, integrated into UniProtKB/Swiss-Prot.
DE   RecName: Full=Lock factor 1 {ECO:0000303|PubMed:1};
DE            Short=LF-1;
DE            EC=3.4.21.5;
DE   AltName: Full=Bolt, small;
DE            Short=BS;
DE   AltName: Full=Bar;
DE   AltName: CD_antigen=CD999;
DE   Includes:
DE     RecName: Full=Hinge domain;
DE   Contains:
DE     RecName: Full=Lock chain A;
DE   Flags: Precursor;
GN   Name=LOCK1 {ECO:0000303|PubMed:1, ECO:0000312|HGNC:2}; Synonyms=BOLT,
GN   LK {ECO:0000303|PubMed:2}; ORFNames=orf7;
GN   and
GN   Name=LOCK1B; OrderedLocusNames=b0007;
OS   Homo sapiens (Human).
OC   Eukaryota; Metazoa.
OX   NCBI_TaxID=9606 {ECO:0000312|X:1};
OH   NCBI_TaxID=10090; Mus musculus (Mouse).
CC   -!- FUNCTION: Locks.
DR   PDB; 1ABC; X-ray.
SQ   SEQUENCE   3 AA;  300 MW;  0 CRC64;
     MAG
//
ID   A0A090ZZ90_ECOLI        Unreviewed;         3 AA.
AC   A0A090ZZ90;
DE   SubName: Full=Predicted gate {ECO:0000313|EMBL:ABC};
OS   Escherichia coli (strain K12).
OX   NCBI_TaxID=83333;
SQ   SEQUENCE   3 AA;  300 MW;  0 CRC64;
     MAG
//
"""


def both(**options: object) -> Tables:
    """Rows that both formats give."""
    tables = parsed(UniProtXml.model_validate(options), XML, HEAD)
    assert parsed(UniProtText.model_validate(options), TEXT) == tables
    assert parsed(UniProtText.model_validate(options), TEXT.replace("\n", "\r\n")) == tables
    return tables


def test_both_formats_say_the_same() -> None:
    tables = both()
    assert tables["entities"] == [
        ("P90001", "protein", "LOCK1", "Lock factor 1 (Homo sapiens)"),
        ("A0A090ZZ90", "protein", "Predicted gate", "Predicted gate (Escherichia coli (strain K12))"),
    ]
    assert [name for entity, name, _ in tables["names"] if entity == "P90001"] == [
        "LOCK1",
        "LOCK1B",
        "BOLT",
        "LK",
        "Lock factor 1",
        "LF-1",
        "Bolt, small",
        "BS",
        "Bar",
        "CD999",
    ]
    assert [source for *_, source in tables["names"]] == ["gene", *["synonym"] * 9, "gene"]


def test_what_is_not_read_of_an_entry_may_be_broken() -> None:
    data = XML.replace("<sequence", "<feature>\n<sequence")
    assert [id_ for id_, *_ in parsed(UniProtXml(), data, HEAD)["entities"]] == ["P90001", "A0A090ZZ90"]
    assert skipped(UniProtXml(), data + "<entry/>", HEAD)["entry without an accession"] == (1, f"data, line {data.count(chr(10)) + 1}")


def test_options() -> None:
    assert [id_ for id_, *_ in both(organisms=[9606])["entities"]] == ["P90001"]
    assert [id_ for id_, *_ in both(reviewed=True)["entities"]] == ["P90001"]
    assert {"orf7", "b0007"} <= {name for _, name, _ in both(loci=True)["names"]}
    assert skipped(UniProtXml(organisms=(9606,)), XML, HEAD) == {"entry of another organism": (1, "A0A090ZZ90")}
    assert skipped(UniProtText(reviewed=True), TEXT) == {"entry that is not reviewed": (1, "A0A090ZZ90")}


def test_entries_without_an_accession_are_left_out() -> None:
    assert skipped(UniProtXml(), "<entry/>\n" + XML, HEAD, line=3) == {"entry without an accession": (1, "data, line 3")}
    assert skipped(UniProtText(), TEXT + "ID   NONE\n//\n") == {"entry without an accession": (1, f"data, line {TEXT.count(chr(10)) + 1}")}


def test_other_files_of_uniprot_are_refused() -> None:
    with pytest.raises(BrokenInput, match="clusters or sequences, not proteins"):
        parsed(UniProtXml(), '<entry id="UniRef90_P1"/>', '<UniRef xmlns="http://uniprot.org/uniref">')
    with pytest.raises(BrokenInput, match="data, line 1: this is not an entry of UniProt's flat text"):
        parsed(UniProtText(), ">sp|P90001\nMAG\n//\n")


@pytest.mark.parametrize("size", [1, 200, 400, 100_000])
def test_text_is_cut_between_entries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    monkeypatch.setattr("kgqa.sources.biomedicine.blocks.PIECE_BYTES", size)
    monkeypatch.setattr("kgqa.sources.streams.CHUNK_BYTES", 64)
    path = tmp_path / "uniprot.txt"
    path.write_text(TEXT * 3, encoding="utf-8")
    pieces = list(UniProtText().pieces(TextFile(path)))
    assert len(pieces) == {1: 6, 200: 6, 400: 5, 100_000: 1}[size]
    again = list(UniProtText().pieces(TextFile(path), pieces[0].position + len(pieces[0].data)))
    assert b"".join(piece.data for piece in pieces[:1] + again) == (TEXT * 3).encode()
    assert [piece.line for piece in pieces] == [1 + (TEXT * 3)[: piece.position].count("\n") for piece in pieces]
    tables, left_out = read(UniProtText(), path)
    assert tables["entities"] == both()["entities"] * 3
    assert not left_out


def test_cut_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "uniprot.txt"
    path.write_text(TEXT + TEXT[:300], encoding="utf-8")
    with pytest.raises(BrokenInput, match=rf"ends within the entry of line {TEXT.count(chr(10)) + 1}"):
        read(UniProtText(), path)
    text = TextFile(path, partial=True)
    assert sum(len(UniProtText().parse(piece).tables()["entities"]) for piece in UniProtText().pieces(text)) == 2
    assert len(text.notes) == 1
    path.write_text(XML, encoding="utf-8")
    with pytest.raises(BrokenInput, match="this is not UniProt's flat text, or its first entry is truncated"):
        read(UniProtText(), path)


@pytest.mark.real_data
def test_real_entries(real_data: Path) -> None:
    folder = real_data / "sources" / "uniprot"
    labels = {}
    for name in ("F2CXE6", "H2CNN8", "P62330", "Q13639"):
        tables, left_out = read(UniProtXml(), folder / f"{name}.xml")
        assert not left_out
        ((id_, _, label, _),) = tables["entities"]
        labels[id_] = (label, *(alias for _, alias, source in tables["names"] if source == "synonym"))
    assert labels == {
        "F2CXE6": ("HvPIP2;8", "Plasma membrane intrinsic protein", "Predicted protein"),
        "H2CNN8": ("amoA", "Ammonia monooxygenase subunit A"),
        "P62330": ("ARF6", "ADP-ribosylation factor 6"),
        "Q13639": ("HTR4", "5-hydroxytryptamine receptor 4", "5-HT-4", "5-HT4", "Serotonin receptor 4"),
    }
    tables, _ = read(UniProtText(organisms=(9606,), reviewed=True), folder / "P62258.txt")
    assert tables["entities"] == [("P62258", "protein", "YWHAE", "14-3-3 protein epsilon (Homo sapiens)")]
    assert [name for _, name, _ in tables["names"]] == ["YWHAE", "14-3-3 protein epsilon", "14-3-3E"]
    with pytest.raises(BrokenInput, match="clusters"):
        read(UniProtXml(), folder / "UniRef90_P99999.xml")


@pytest.mark.real_data
def test_real_genes_agree_with_the_prepared_tables(real_data: Path) -> None:
    import gzip

    with gzip.open(real_data / "medline" / "proteins.tsv.gz", "rt", encoding="utf-8") as file:
        genes = {line.split("\t")[0]: line.split("\t")[1] for line in file.read().splitlines()[1:]}
    folder = real_data / "sources" / "uniprot"
    for tables, _ in (read(UniProtXml(), folder / "Q13639.xml"), read(UniProtText(), folder / "P62258.txt")):
        ((id_, _, label, _),) = tables["entities"]
        assert genes[id_] == label
