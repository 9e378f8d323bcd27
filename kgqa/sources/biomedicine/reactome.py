"""Reactome: interactions between proteins, in three tables that differ in their columns.

- PSI-MITAB 2.5 to 2.8, at least 15 columns: UniProt accessions, organisms, kinds of interaction
  (https://psicquic.github.io/MITAB27Format.html); files of other databases in PSI-MITAB, such as IntAct's, can be read too;
- the interaction exporter's own, 9 columns: UniProt accessions and the kind of interaction;
- functional interactions, 5 columns (``Gene1 Gene2 Annotation Direction Score``): gene names alone, which a table of UniProt's can turn
  into accessions.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from pydantic import Field

from kgqa.errors import BrokenInput
from kgqa.settings.base import Settings
from kgqa.sources.biomedicine.elements import clean
from kgqa.sources.formats import Piece
from kgqa.sources.rows import Rows
from kgqa.sources.streams import TextFile, line_pieces

RELATION = "protein_interaction"
MITAB, EXPORTED, FUNCTIONAL = 15, 9, 5
ACCESSION = re.compile(r"""uniprotkb:"?([A-Z][A-Z0-9]{5,9})(?:-[A-Z0-9_]+)?"?(?:\(|$)""", re.IGNORECASE)
"""An isoform (P12345-2) or chain (P12345-PRO_1) counts as its protein."""
GENE = re.compile(r"""uniprotkb:"?([^|"()]+)"?\(gene name\)""")
TAXON = re.compile(r"taxid:(-?\d+)")
TERM = re.compile(r'psi-mi:"?MI:\d+"?\(([^()]+)\)')


class _Interaction(NamedTuple):
    """One row of an interaction file."""

    ids: tuple[str, str]
    kind: str
    labels: tuple[str, str] = ("", "")
    taxa: tuple[str, str] = ("", "")
    negative: bool = False


class Reactome(Settings):
    """Parser of Reactome's files of interactions between proteins."""

    by_kind: bool = False
    """Create a relation for each kind of interaction, such as ``physical_association``; false: one relation for all."""
    organisms: tuple[int, ...] = ()
    """Keep only interactions within these organisms, by NCBI taxonomy number (only PSI-MITAB has it); empty: all."""
    min_score: float = Field(default=0.0, ge=0, le=1)
    """Minimum score of functional interactions, from 0 to 1; 1 excludes those that Reactome predicts."""
    genes: Path | None = None
    """Tab-separated file from the UniProt website with the columns Entry and Gene Names (primary), which maps the genes of functional
    interactions to proteins; other genes are skipped. The file is held in memory."""

    pieces = staticmethod(line_pieces)

    def parse(self, piece: Piece) -> Rows:
        """Proteins or genes, and the interactions between them, which hold in both directions."""
        rows, known_pairs = Rows(), set[tuple[str, str]]()
        rows.relation(RELATION, "protein interaction", symmetric=True)
        for number, line in enumerate(piece.data.decode(errors="replace").split("\n"), piece.line):
            fields = line.rstrip("\r").lstrip("\ufeff").split("\t")
            if line.startswith("#") or not line.strip() or fields[:2] == ["Gene1", "Gene2"]:
                continue
            where = f"{piece.file}, line {number}"
            if len(fields) >= MITAB:
                interaction = _mitab(fields)
            elif len(fields) == EXPORTED:
                interaction = _Interaction((_accession(fields[0]), _accession(fields[3])), clean(fields[6]))
            elif len(fields) == FUNCTIONAL:
                if (score := _score(fields[4])) is None:
                    rows.skip("row whose score is no number", where)
                    continue
                if score < self.min_score:
                    rows.skip("interaction with a low score", where)
                    continue
                genes = clean(fields[0]), clean(fields[1])
                interaction = _Interaction((self._gene_id(genes[0]), self._gene_id(genes[1])), "", genes)
            elif number == 1:
                raise BrokenInput(
                    f"{where}: {len(fields)} columns, but Reactome's tables have {FUNCTIONAL}, {EXPORTED} or at least {MITAB}, "
                    "separated by tabs."
                )
            else:
                rows.skip("row with too few or too many columns", where)
                continue
            self._keep(interaction, where, rows, known_pairs)
        return rows

    def _gene_id(self, gene: str) -> str:
        if self.genes:
            return _accessions(self.genes).get(gene, "")
        return f"gene:{gene}" if gene else ""

    def _keep(self, interaction: _Interaction, where: str, rows: Rows, known_pairs: set[tuple[str, str]]) -> None:
        first, second = interaction.ids
        if not first or not second:
            rows.skip("interaction with what is no UniProt protein or gene", where)
        elif first == second:
            rows.skip("interaction of a protein with itself", where)
        elif interaction.negative:
            rows.skip("interaction that was found not to happen", where)
        elif self.organisms and not {*interaction.taxa} <= {*map(str, self.organisms)}:
            rows.skip("interaction of another organism", where)
        else:
            relation = RELATION
            if self.by_kind and interaction.kind:
                relation = interaction.kind.replace(" ", "_")
                if (relation, "") not in known_pairs:
                    known_pairs.add((relation, ""))
                    rows.relation(relation, interaction.kind, symmetric=True)
            rows.fact(min(first, second), relation, max(first, second))
            for id_, label in zip(interaction.ids, interaction.labels, strict=True):
                if (id_, label) not in known_pairs:
                    known_pairs.add((id_, label))
                    rows.entity(id_, label, kind="gene" if id_.startswith("gene:") else "protein")
                    if label:
                        rows.name(id_, label, "gene")


def _mitab(fields: list[str]) -> _Interaction:
    kind = TERM.search(fields[11])
    taxa = tuple(match[1] if (match := TAXON.match(field)) else "" for field in fields[9:11])
    labels = tuple(clean(match[1]) if (match := GENE.search(field)) else "" for field in fields[4:6])
    return _Interaction(
        # The accession may stand among the alternative ids where the main one is Reactome's own.
        (_accession(f"{fields[0]}|{fields[2]}"), _accession(f"{fields[1]}|{fields[3]}")),
        clean(kind[1]) if kind else "",
        (labels[0], labels[1]),
        (taxa[0], taxa[1]),
        len(fields) > 35 and fields[35].strip().lower() == "true",
    )


def _accession(identifiers: str) -> str:
    for identifier in identifiers.split("|"):
        if match := ACCESSION.match(identifier):
            return match[1].upper()
    return ""


@lru_cache(maxsize=2)
def _accessions(path: Path) -> dict[str, str]:
    """Primary gene name → the first accession with it."""
    lines = b"".join(TextFile(path).chunks()).decode(errors="replace").splitlines()
    header = lines[0].split("\t")
    if not {"Entry", "Gene Names (primary)"} <= set(header):
        raise BrokenInput(
            f"{path.name}, line 1: the columns Entry and Gene Names (primary) are missing; download them from UniProt as TSV."
        )
    entry, name = header.index("Entry"), header.index("Gene Names (primary)")
    accessions: dict[str, str] = {}
    for line in lines[1:]:
        fields = line.split("\t")
        if len(fields) > max(entry, name):
            for gene in fields[name].split("; "):
                accessions.setdefault(gene.strip(), fields[entry])
    accessions.pop("", None)
    return accessions


def _score(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
