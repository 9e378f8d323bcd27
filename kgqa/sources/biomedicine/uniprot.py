"""UniProtKB in XML and as flat text: proteins with the names of their genes and their own.

A protein is an entity by its primary accession; its label is the primary gene name, as in the layout ``medline``, or else the recommended
name. Names of fragments and domains (``component``, ``domain``, "Contains", "Includes") are none of the whole protein.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lxml import etree

from kgqa.errors import BrokenInput
from kgqa.settings.base import Settings
from kgqa.sources.biomedicine.blocks import block_pieces
from kgqa.sources.biomedicine.elements import clean, elements, flat, where
from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.rows import Rows
from kgqa.sources.streams import element_pieces

GENE_NAMES = ("primary", "synonym", "ordered locus", "ORF")
NAMES = ("recommendedName", "submittedName", "alternativeName")
OTHER_NAMES = ("allergenName", "biotechName", "cdAntigenName", "innName")
EVIDENCE = re.compile(r"\s*\{[^{}]*\}")
END = re.compile(rb"\n//[^\S\n]*(?:\n|\Z)")
DETAILS = (b"</organism>", b"</entry>", b"")
"""The end of an entry, most of it: references, comments, features and the sequence."""
FLAT_GENE_NAMES = {"Name": "primary", "Synonyms": "synonym", "OrderedLocusNames": "ordered locus", "ORFNames": "ORF"}


@dataclass(slots=True)
class _Protein:
    """What both formats say of an entry."""

    accession: str = ""
    reviewed: bool = False
    taxon: str = ""
    organism: str = ""
    genes: list[tuple[str, str]] = field(default_factory=list)
    """Kind of gene name, name."""
    names: list[str] = field(default_factory=list)
    """Recommended or submitted, then alternative names, each with its short ones."""


class UniProtSettings(Settings):
    """Which proteins and names of UniProt."""

    organisms: tuple[int, ...] = ()
    """Keep only proteins of these organisms, by NCBI taxonomy number, such as 9606 for humans; empty: all."""
    reviewed: bool = False
    """Keep only reviewed entries (Swiss-Prot)."""
    loci: bool = False
    """Also use the names of ordered loci and open reading frames as names."""

    def _keep(self, protein: _Protein, where: str, rows: Rows) -> None:
        if not protein.accession:
            rows.skip("entry without an accession", where)
        elif self.organisms and protein.taxon not in map(str, self.organisms):
            rows.skip("entry of another organism", protein.accession)
        elif self.reviewed and not protein.reviewed:
            rows.skip("entry that is not reviewed", protein.accession)
        else:
            kinds = GENE_NAMES if self.loci else GENE_NAMES[:2]
            genes = [name for kind in kinds for gene_kind, name in protein.genes if gene_kind == kind]
            names = list(filter(None, (*genes, *protein.names)))
            full = protein.names[0] if protein.names else ""
            description = f"{full} ({protein.organism})" if full and protein.organism else full or protein.organism
            rows.entity(protein.accession, names[0] if names else "", kind="protein", description=description)
            for position, name in enumerate(dict.fromkeys(names)):
                rows.name(protein.accession, name, "synonym" if position else "gene")


class UniProtXml(UniProtSettings):
    """Parser of UniProtKB entries in XML."""

    def pieces(self, text: Bytes, start: int = 0) -> Iterator[Piece]:
        """The entries from byte ``start`` on."""
        return element_pieces(text, "entry", start)

    def parse(self, piece: Piece) -> Rows:
        """Proteins and their names."""
        if b"<UniRef" in piece.head or b"<uniparc" in piece.head:
            raise BrokenInput(f"{piece.file}: clusters or sequences, not proteins; give a file of UniProtKB, such as uniprot_sprot.xml.gz.")
        rows = Rows()
        for entry in elements(piece, "entry", rows=rows, unread=DETAILS):
            self._keep(_xml_protein(entry), where(piece, entry), rows)
        return rows


class UniProtText(UniProtSettings):
    """Parser of UniProtKB entries in the flat text format."""

    def pieces(self, text: Bytes, start: int = 0) -> Iterator[Piece]:
        """The entries from byte ``start`` on; the last is cut if its // is missing."""
        for piece in block_pieces(text, END, start):
            if END.search(piece.data):
                yield piece
            elif piece.position == 0:
                raise BrokenInput(
                    f"{text.name}: there is no line // that ends an entry, so this is not UniProt's flat text, or its first "
                    "entry is truncated."
                )
            elif piece.data.strip():
                text.broken(f"the file ends within the entry of line {piece.line}, so it is cut; download it again")

    def parse(self, piece: Piece) -> Rows:
        """Proteins and their names."""
        rows, line = Rows(), piece.line
        for entry in END.split(piece.data):
            if entry.strip():
                where = f"{piece.file}, line {line}"
                if not entry.lstrip(b"\r\n\xef\xbb\xbf").startswith(b"ID   "):
                    raise BrokenInput(
                        f"{where}: this is not an entry of UniProt's flat text, whose first line begins with ID; check the file."
                    )
                self._keep(_text_protein(entry.decode(errors="replace")), where, rows)
            line += entry.count(b"\n") + 2
        return rows


def _xml_protein(entry: etree._Element) -> _Protein:
    protein = _Protein(accession=flat(entry.find("{*}accession")), reviewed=entry.get("dataset") == "Swiss-Prot")
    organism = entry.find("{*}organism")
    if organism is not None:
        protein.organism = next((flat(name) for name in organism.iterchildren("{*}name") if name.get("type") == "scientific"), "")
        taxa = (reference for reference in organism.iterchildren("{*}dbReference") if reference.get("type") == "NCBI Taxonomy")
        protein.taxon = next((reference.get("id", "") for reference in taxa), "")
    protein.genes = [(name.get("type", ""), flat(name)) for name in entry.iterfind("{*}gene/{*}name")]
    if (names := entry.find("{*}protein")) is not None:
        for kind in NAMES:
            for group in names.iterchildren(f"{{*}}{kind}"):
                protein.names += [flat(name) for part in ("fullName", "shortName") for name in group.iterchildren(f"{{*}}{part}")]
        protein.names += [flat(name) for kind in OTHER_NAMES for name in names.iterchildren(f"{{*}}{kind}")]
    return protein


def _text_protein(entry: str) -> _Protein:
    """UniProt's user manual, sections on the ID, AC, DE, GN, OS and OX lines (https://web.expasy.org/docs/userman.html)."""
    lines: dict[str, list[str]] = {}
    for line in entry.partition("\nRN   ")[0].split("\n"):
        if line[2:5] == "   " and line[:2] in {"ID", "AC", "DE", "GN", "OS", "OX"}:
            lines.setdefault(line[:2], []).append(line[5:].rstrip())
    accession = "".join(lines.get("AC", [""])[:1]).partition(";")[0].strip()
    protein = _Protein(accession=accession, reviewed=" Reviewed;" in lines.get("ID", [""])[0])
    if taxon := re.search(r"NCBI_TaxID=(\d+)", " ".join(lines.get("OX", []))):
        protein.taxon = taxon[1]
    organism = clean(" ".join(lines.get("OS", []))).removesuffix(".")
    protein.organism = re.sub(r"( \((?!strain|isolate)[^()]*\))+$", "", organism)
    for part in re.split(r";\s*(?:and\s+|$)?", EVIDENCE.sub("", " ".join(lines.get("GN", [])))):
        kind, _, names = part.strip().partition("=")
        protein.genes += [(FLAT_GENE_NAMES[kind], clean(name)) for name in names.split(", ") if kind in FLAT_GENE_NAMES]
    protein.names = _described(lines.get("DE", []))
    return protein


def _described(lines: list[str]) -> list[str]:
    """Names in the DE lines: a group's first line says its kind, further lines are indented."""
    groups: dict[str, list[str]] = {}
    kind = ""
    for line in lines:
        if line.startswith(("Contains:", "Includes:")):
            break
        first, colon, rest = line.partition(": ")
        if colon and line[:1].strip():
            kind = first
        else:
            rest = line
        name, _, value = EVIDENCE.sub("", rest).strip().removesuffix(";").partition("=")
        if kind in {"RecName", "SubName", "AltName"} and name in {"Full", "Short"}:
            groups.setdefault(kind, []).append(clean(value))
        elif kind == "AltName" and name in {"Allergen", "Biotech", "CD_antigen", "INN"}:
            groups.setdefault("other", []).append(clean(value))
    return [name for kind in ("RecName", "SubName", "AltName", "other") for name in groups.get(kind, [])]
