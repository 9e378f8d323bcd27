"""Reactome's three tables: our own rows in their columns, and the exporter's real ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from kgqa.errors import BrokenInput
from kgqa.sources.biomedicine.reactome import Reactome
from tests.sources.biomedicine.files import parsed, read, skipped

PHYSICAL, ENZYMATIC = 'psi-mi:"MI:0915"(physical association)', 'psi-mi:"MI:0414"(enzymatic reaction)'


def mitab(first: str, second: str, *, kind: str = PHYSICAL, taxa: tuple[str, str] = ("9606", "9606"), negative: str = "false") -> str:
    """A row of PSI-MITAB 2.7 with 42 columns."""
    fields = ["-"] * 42
    fields[0], fields[1], fields[11], fields[35] = first, second, kind, negative
    fields[4] = f"reactome:p-S1-LOCK(name)|uniprotkb:{first[-6:]}G(gene name)|uniprotkb:Other(gene name synonym)"
    fields[9], fields[10] = (f"taxid:{taxon}(Some)|taxid:{taxon}(Latin)" for taxon in taxa)
    return "\t".join(fields) + "\n"


HEADER = "#ID(s) interactor A\tID(s) interactor B\n"
MITAB = HEADER + mitab("uniprotkb:P90002", "uniprotkb:P90001-2") + mitab("uniprotkb:P90001", "uniprotkb:P90002", kind=ENZYMATIC)


def test_mitab() -> None:
    tables = parsed(Reactome(), MITAB)
    assert tables["facts"] == [("P90001", "protein_interaction", "P90002")] * 2
    assert tables["relations"] == [("protein_interaction", "protein interaction", True)]
    # An isoform's gene is not read; its protein's is, in a later row.
    assert tables["entities"] == [
        ("P90002", "protein", "P90002G", ""),
        ("P90001", "protein", "", ""),
        ("P90001", "protein", "P90001G", ""),
        ("P90002", "protein", "", ""),
    ]
    assert tables["names"] == [("P90002", "P90002G", "gene"), ("P90001", "P90001G", "gene")]


def test_mitab_by_kind() -> None:
    tables = parsed(Reactome(by_kind=True), MITAB)
    assert [relation for _, relation, _ in tables["facts"]] == ["physical_association", "enzymatic_reaction"]
    assert ("enzymatic_reaction", "enzymatic reaction", True) in tables["relations"]


def test_the_accession_may_be_among_the_alternative_ids() -> None:
    row = mitab("reactome:R-HSA-1", "uniprotkb:P90002").split("\t")
    row[2] = "intact:EBI-1|uniprotkb:Q90001-PRO_7|refseq:NP_1"
    assert parsed(Reactome(), "\t".join(row))["facts"] == [("P90002", "protein_interaction", "Q90001")]


def test_what_is_left_out_is_counted() -> None:
    data = (
        HEADER
        + mitab("uniprotkb:P90001", "reactome:R-HSA-1")
        + mitab("uniprotkb:P90001", "uniprotkb:P90001-1")
        + mitab("uniprotkb:P90001", "uniprotkb:P90002", negative="true")
        + mitab("uniprotkb:P90001", "uniprotkb:P90002", taxa=("9606", "10090"))
        + "one\ttwo\n"
    )
    assert skipped(Reactome(organisms=(9606,)), data) == {
        "interaction with what is no UniProt protein or gene": (1, "data, line 2"),
        "interaction of a protein with itself": (1, "data, line 3"),
        "interaction that was found not to happen": (1, "data, line 4"),
        "interaction of another organism": (1, "data, line 5"),
        "row with too few or too many columns": (1, "data, line 6"),
    }


FUNCTIONAL = (
    "Gene1\tGene2\tAnnotation\tDirection\tScore\nLOCKB\tLOCKA\tcatalyze; input\t->\t1.00\nLOCKA\tLOCKC\tpredicted\t-\t0.62\n"
    "LOCKA\tLOCKD\tpredicted\t-\thigh\n"
)


def test_functional_interactions() -> None:
    tables = parsed(Reactome(), FUNCTIONAL)
    assert tables["facts"] == [
        ("gene:LOCKA", "protein_interaction", "gene:LOCKB"),
        ("gene:LOCKA", "protein_interaction", "gene:LOCKC"),
    ]
    assert tables["entities"][0] == ("gene:LOCKB", "gene", "LOCKB", "")
    assert skipped(Reactome(min_score=1), FUNCTIONAL) == {
        "interaction with a low score": (1, "data, line 3"),
        "row whose score is no number": (1, "data, line 4"),
    }


def test_genes_become_proteins(tmp_path: Path) -> None:
    path = tmp_path / "genes.tsv"
    path.write_text("Entry\tReviewed\tGene Names (primary)\nP90001\treviewed\tLOCKA; LOCKX\nP90009\tno\tLOCKA\nP90002\tno\tLOCKB\nP3\n")
    assert parsed(Reactome(genes=path), FUNCTIONAL)["facts"] == [("P90001", "protein_interaction", "P90002")]
    assert skipped(Reactome(genes=path), FUNCTIONAL)["interaction with what is no UniProt protein or gene"] == (1, "data, line 3")
    path.with_name("other.tsv").write_text("a\tb\n")
    with pytest.raises(BrokenInput, match=r"other.tsv, line 1: the columns Entry and Gene Names \(primary\) are missing"):
        parsed(Reactome(genes=path.with_name("other.tsv")), FUNCTIONAL)


def test_another_table_is_refused() -> None:
    with pytest.raises(BrokenInput, match=r"data, line 1: 2 columns, but Reactome's tables have 5, 9 or at least 15"):
        parsed(Reactome(), "a\tb\nc\td\n")
    with pytest.raises(ValidationError):
        Reactome(min_score=2)


@pytest.mark.real_data
def test_real_exports(real_data: Path) -> None:
    folder = real_data / "sources" / "reactome"
    tables, left_out = read(Reactome(by_kind=True), folder / "tsv-testReaction.txt")
    assert set(tables["facts"]) == {("Q13546", "enzymatic_reaction", "Q9Y572"), ("Q13546", "physical_association", "Q9Y572")}
    assert left_out == {"interaction of a protein with itself": 1, "interaction with what is no UniProt protein or gene": 2}
    # The only row connects a protein with a complex.
    assert read(Reactome(), folder / "psi-testEnzymaticReaction.txt")[1] == {"interaction with what is no UniProt protein or gene": 1}
