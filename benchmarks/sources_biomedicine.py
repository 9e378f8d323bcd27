"""How fast the parsers of biomedicine read real records, multiplied in memory, on one core, beside short programs with ElementTree.

``python -m benchmarks.sources_biomedicine``. A parser is timed from a piece's bytes to its Arrow tables; a plain program from the same
bytes to a list of tuples with the same texts and names, without names in other languages, checks or reasons.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

from benchmarks.measure import Section, Table, absent, data_folder, in_turn, ratios, spread
from kgqa.sources.biomedicine.bioc import BioCXml
from kgqa.sources.biomedicine.drugbank import DrugBank
from kgqa.sources.biomedicine.pubmed import PubMed
from kgqa.sources.biomedicine.pubtator import PubTator
from kgqa.sources.biomedicine.uniprot import UniProtText, UniProtXml
from kgqa.sources.formats import Parser, Piece
from kgqa.sources.streams import TextFile

TITLE = "Parsing sources of biomedicine"
PIECE_BYTES = 4 << 20
PIECES = 2
ROUNDS = 5
Found = list[tuple[str, ...]]
Plain = Callable[[ElementTree.Element], Found]


def main() -> Section:
    """Time all formats in turn."""
    folder = data_folder("sources")
    if folder is None:
        return Section(title=TITLE, skipped=absent("sources"))
    rows = [row(name, parser, [folder / file for file in files], plain) for name, parser, files, plain in FORMATS]
    columns = ["format", "MB", "kgqa, MB/s", "plain program, MB/s", "kgqa is faster by"]
    notes = (f"Pieces of about {PIECE_BYTES >> 20} MiB made of the real records again and again; one core; {ROUNDS} rounds in turn.",)
    return Section(title=TITLE, tables=[Table(title="Bytes to tables", columns=columns, rows=rows, notes=notes)])


def row(name: str, parser: Parser, files: list[Path], plain: Plain | None) -> list[str]:
    """Throughput of a parser, and of a plain program where there is one."""
    pieces = [multiplied(parser, file) for file in files]
    pieces = (pieces * PIECES)[:PIECES]
    size = sum(len(piece.data) for piece in pieces) / 1e6
    assert all(parser.parse(piece).tables() for piece in pieces[: len(files)])
    competitors: dict[str, Callable[[], object]] = {"kgqa": lambda: [parser.parse(piece).tables() for piece in pieces]}
    if plain:
        competitors["plain"] = lambda: [plain(ElementTree.fromstring(b"<records>" + piece.data + b"</records>")) for piece in pieces]
    seconds = in_turn(competitors, rounds=ROUNDS)
    result = [name, f"{size:.0f}", spread([size / taken for taken in seconds["kgqa"]], 0)]
    if plain:
        return [*result, spread([size / taken for taken in seconds["plain"]], 0), spread(ratios(seconds["plain"], seconds["kgqa"]))]
    return [*result, "", ""]


def multiplied(parser: Parser, file: Path) -> Piece:
    """The records of a file, again and again."""
    piece = next(iter(parser.pieces(TextFile(file))))
    data = piece.data.rstrip() + b"\n"
    if isinstance(parser, PubTator):
        data += b"\n"
    return Piece(piece.file, piece.position, piece.line, data * max(1, PIECE_BYTES // len(data)), piece.head)


def text(element: ElementTree.Element | None) -> str:
    return " ".join("".join(element.itertext()).split()) if element is not None else ""


def pubmed(root: ElementTree.Element) -> Found:
    found: Found = []
    for article in root.iter("PubmedArticle"):
        parts = [text(article.find("MedlineCitation/Article/ArticleTitle"))]
        for section in article.iterfind("MedlineCitation/Article/Abstract/AbstractText"):
            label = section.get("Label")
            parts.append(f"{label}: {text(section)}" if label else text(section))
        found.append((article.findtext("MedlineCitation/PMID") or "", parts[0], " ".join(parts)))
    return found


def drugbank(root: ElementTree.Element) -> Found:
    found: Found = []
    for drug in root.iterfind("{*}drug"):
        id_ = drug.findtext("{*}drugbank-id") or ""
        found += [(id_, text(name)) for name in (drug.find("{*}name"), *drug.iterfind("{*}synonyms/{*}synonym"))]
        found += [(id_, text(other)) for other in drug.iterfind("{*}drug-interactions/{*}drug-interaction/{*}drugbank-id")]
        for role in ("target", "enzyme", "carrier", "transporter"):
            for protein in drug.iterfind(f"{{*}}{role}s/{{*}}{role}/{{*}}polypeptide"):
                names = (protein.find("{*}name"), protein.find("{*}gene-name"), *protein.iterfind("{*}synonyms/{*}synonym"))
                found += [(id_, role, protein.get("id", ""), text(name)) for name in names]
    return found


def uniprot(root: ElementTree.Element) -> Found:
    found: Found = []
    for entry in root.iterfind("{*}entry"):
        id_ = entry.findtext("{*}accession") or ""
        found += [(id_, text(name)) for name in entry.iterfind("{*}gene/{*}name")]
        for kind in ("recommendedName", "submittedName", "alternativeName"):
            found += [(id_, text(name)) for group in entry.iterfind(f"{{*}}protein/{{*}}{kind}") for name in group]
    return found


FORMATS: list[tuple[str, Parser, list[str], Plain | None]] = [
    ("PubMed XML", PubMed(), ["pubmed/pubmed26n1334.xml.gz", "pubmed/pubmed26n1335.xml.gz"], pubmed),
    ("PubMed XML with MeSH", PubMed(mesh=True), ["pubmed/pubmed26n1334.xml.gz", "pubmed/pubmed26n1335.xml.gz"], pubmed),
    ("DrugBank XML", DrugBank(), ["drugbank/drugbank-first-drugs-5.1.xml.gz", "drugbank/drugbank_record_small_molecule.xml"], drugbank),
    ("UniProt XML", UniProtXml(), ["uniprot/P62330.xml", "uniprot/Q13639.xml"], uniprot),
    ("UniProt text", UniProtText(), ["uniprot/P62258.txt"], None),
    ("PubTator", PubTator(), ["bio/biored/Train.PubTator.gz"], None),
    ("BioC XML", BioCXml(), ["bio/biored/Test.BioC.XML.gz"], None),
]


if __name__ == "__main__":
    print(main().plain())
