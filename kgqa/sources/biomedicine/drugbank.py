"""DrugBank: the full database in XML (``drugbank.xsd``, version 5.1) and the open vocabulary (CSV).

Drugs are entities by their primary id, proteins by their UniProt accession, as in the layout ``medline``.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from typing import NamedTuple

from lxml import etree

from kgqa.errors import BrokenInput
from kgqa.settings.base import Settings
from kgqa.sources.biomedicine.elements import clean, elements, flat, where
from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.rows import Rows
from kgqa.sources.streams import element_pieces, line_pieces

ROLES = ("target", "enzyme", "carrier", "transporter")
"""Relations of a drug to a protein; the element around them has the plural."""
INTERACTS = "interacts_with"
ENZYME_NUMBER = re.compile(r"(EC )?\d+(\.(\d+|n\d+|-)){1,3}")
"""An EC number is a class of reactions, not a protein's name, though DrugBank has it among the synonyms."""
PROTEIN_ACCESSION = re.compile(r"[OPQ][0-9][A-Z0-9]{3}[0-9]|[A-NR-Z][0-9]([A-Z][A-Z0-9]{2}[0-9]){1,2}")
"""https://www.uniprot.org/help/accession_numbers"""


class _Protein(NamedTuple):
    """What the file says of a protein, once for each drug."""

    accession: str
    label: str
    name: str
    names: tuple[str, ...]
    """All names, the label first."""


class DrugBank(Settings):
    """DrugBank's full database in XML."""

    languages: tuple[str, ...] = ("english",)
    """Languages of the synonyms that become names, as DrugBank spells them; empty: all. Synonyms without a language always become names."""
    brands: bool = True
    """Use international brands as names."""
    products: bool = False
    """Use the names of marketed products as names; many are ordinary English words."""
    groups: tuple[str, ...] = ()
    """Keep only drugs in these groups, such as ``approved``; empty: all."""
    known_action: bool = False
    """Keep only targets, enzymes, carriers and transporters with a known part in the drug's action."""
    organisms: tuple[int, ...] = ()
    """Keep only proteins of these organisms, by NCBI taxonomy number, such as 9606 for humans; empty: all."""

    def pieces(self, text: Bytes, start: int = 0) -> Iterator[Piece]:
        """The drugs from byte ``start`` on. The element ``drug`` occurs within a drug's pathways too; the outer ones count."""
        return element_pieces(text, "drug", start)

    def parse(self, piece: Piece) -> Rows:
        """Drugs, proteins and the facts between them."""
        rows = Rows()
        rows.relation(INTERACTS, "interacts with", symmetric=True)
        for role in ROLES:
            rows.relation(role, role)
        proteins: dict[_Protein, None] = {}
        for drug in elements(piece, "drug", rows=rows):
            self._drug(drug, where(piece, drug), rows, proteins)
        for protein in proteins:
            rows.entity(protein.accession, protein.label, kind="protein", description=protein.name)
            for position, name in enumerate(protein.names):
                rows.name(protein.accession, name, "synonym" if position or name != protein.label else "gene")
        return rows

    def _drug(self, drug: etree._Element, where: str, rows: Rows, proteins: dict[_Protein, None]) -> None:
        ids = list(drug.iterchildren("{*}drugbank-id"))
        id_ = next((flat(element_id) for element_id in ids if element_id.get("primary") == "true"), flat(ids[0]) if ids else "")
        name = flat(drug.find("{*}name"))
        if not id_ or not name:
            rows.skip("drug without id or name", where)
            return
        if self.groups and not set(self.groups) & {flat(group) for group in drug.iterfind("{*}groups/{*}group")}:
            rows.skip("drug of another group", id_)
            return
        rows.entity(id_, name, kind="drug", description=drug.get("type", ""))
        rows.name(id_, name, "name")
        for alias in dict.fromkeys(self._aliases(drug)):
            if alias not in {"", name}:
                rows.name(id_, alias, "synonym")
        interactions = drug.find("{*}drug-interactions")
        for partner in interactions.iter("{*}drugbank-id") if interactions is not None else ():
            if (other_id := flat(partner)) and other_id != id_:
                # Each of the two drugs lists the other.
                rows.fact(min(id_, other_id), INTERACTS, max(id_, other_id))
        for role in ROLES:
            for interactant in drug.iterfind(f"{{*}}{role}s/{{*}}{role}"):
                self._interactant(interactant, id_, role, rows, proteins)

    def _aliases(self, drug: etree._Element) -> Iterator[str]:
        for synonym in drug.iterfind("{*}synonyms/{*}synonym"):
            # One synonym may have several: "german/spanish".
            spoken = synonym.get("language", "").strip().lower()
            if not self.languages or not spoken or set(re.split(r"[/,;]\s*", spoken)) & set(self.languages):
                yield flat(synonym)
        if self.brands:
            yield from map(flat, drug.iterfind("{*}international-brands/{*}international-brand/{*}name"))
        if self.products:
            yield from map(flat, drug.iterfind("{*}products/{*}product/{*}name"))

    def _interactant(self, element: etree._Element, drug: str, role: str, rows: Rows, proteins: dict[_Protein, None]) -> None:
        if self.known_action and flat(element.find("{*}known-action")) != "yes":
            rows.skip(f"{role} whose action is not known", drug)
            return
        polypeptides = [
            element_of_protein
            for element_of_protein in element.iterchildren("{*}polypeptide")
            if PROTEIN_ACCESSION.fullmatch(element_of_protein.get("id", ""))
        ]
        if not polypeptides:
            rows.skip(f"{role} that is no protein with a UniProt accession", f"{drug}, {flat(element.find('{*}name'))}")
        for polypeptide in polypeptides:
            organism = polypeptide.find("{*}organism")
            taxon = organism.get("ncbi-taxonomy-id", "") if organism is not None else ""
            accession = polypeptide.get("id", "")
            if self.organisms and taxon not in map(str, self.organisms):
                rows.skip(f"{role} of another organism", f"{drug}, {accession}")
                continue
            rows.fact(drug, role, accession)
            # Each drug repeats what is known of its proteins.
            proteins[_protein(polypeptide, accession)] = None


def _protein(element: etree._Element, accession: str) -> _Protein:
    name, gene = flat(element.find("{*}name")), flat(element.find("{*}gene-name"))
    synonyms = [
        name_or_synonym
        for name_or_synonym in map(flat, element.iterfind("{*}synonyms/{*}synonym"))
        if not ENZYME_NUMBER.fullmatch(name_or_synonym)
    ]
    return _Protein(
        accession,
        gene or name,
        name,
        tuple(name_or_synonym for name_or_synonym in dict.fromkeys((gene, name, *synonyms)) if name_or_synonym),
    )


class DrugBankVocabulary(Settings):
    """DrugBank's open vocabulary: ids, names and synonyms of drugs (CSV)."""

    pieces = staticmethod(line_pieces)

    def parse(self, piece: Piece) -> Rows:
        """Drugs and their names. The columns are known by their order; a header is a row without a DrugBank id."""
        rows = Rows()
        text = piece.data.decode(errors="replace").removeprefix("\ufeff")
        if piece.position == 0 and not text.startswith(("DrugBank ID,Accession Numbers,Common name,", "DB")):
            raise BrokenInput(
                f"{piece.file}, line 1: the header of DrugBank's vocabulary begins with DrugBank ID,Accession Numbers,Common name."
            )
        reader = csv.reader(io.StringIO(text, newline=""))
        while True:
            try:
                row = next(reader, None)
            except csv.Error:
                rows.skip("row that is no CSV", f"{piece.file}, line {piece.line - 1 + reader.line_num}")
                continue
            if row is None:
                return rows
            if row and row[0] != "DrugBank ID":
                _drug_row(row, f"{piece.file}, line {piece.line - 1 + reader.line_num}", rows)


def _drug_row(row: list[str], where: str, rows: Rows) -> None:
    if len(row) < 6 or not row[0].startswith("DB") or not (name := clean(row[2])):
        rows.skip("row without id or name", where)
        return
    rows.entity(row[0], name, kind="drug")
    rows.name(row[0], name, "name")
    for alias in dict.fromkeys(clean(part) for part in row[5].split(" | ")):
        if alias not in {"", name}:
            rows.name(row[0], alias, "synonym")
