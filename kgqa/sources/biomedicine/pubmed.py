"""PubMed's XML, baseline and update files: titles with abstracts as documents, and MeSH concepts as entities.

Elements as in NLM's document type of 2019 (``pubmed_190101.dtd``). A document's id is ``PMID:`` and the number; its text is the title as
one sentence and then the abstract, as in the layout ``medline``.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from lxml import etree
from pydantic import Field

from kgqa.settings.base import Settings
from kgqa.sources.biomedicine.elements import clean, elements, flat, where
from kgqa.sources.formats import Bytes, Piece
from kgqa.sources.rows import Rows
from kgqa.sources.streams import element_pieces

HISTORY = (b"<PubmedData>", b"</PubmedArticle>", b"</PubmedData>")
"""The end of an article: dates, identifiers and references."""
TAGS = ("PubmedArticle", "PubmedBookArticle", "DeleteCitation")


class PubMed(Settings):
    """Parser of PubMed's XML files of abstracts."""

    language: str = Field(default="eng", pattern=r"^[a-z]{3}$")
    """Language of the abstracts as a three-letter code; if it is not ``eng``, the translated abstract in that language is used."""
    section_labels: bool = True
    """Keep the section labels of structured abstracts, such as "METHODS: We measured"."""
    titles: bool = False
    """Also keep articles without an abstract; their text is the title."""
    mesh: bool = False
    """Create entities for the MeSH descriptors and substances with which the articles are indexed."""

    def pieces(self, text: Bytes, start: int = 0) -> Iterator[Piece]:
        """The articles from byte ``start`` on."""
        return element_pieces(text, TAGS, start)

    def parse(self, piece: Piece) -> Rows:
        """Documents, withdrawn documents and entities of the articles."""
        rows = Rows()
        concepts: dict[tuple[str, str], None] = {}
        for element in elements(piece, *TAGS, rows=rows, unread=HISTORY):
            if element.tag == "PubmedArticle":
                self._article(element, where(piece, element), rows, concepts)
            elif element.tag == "DeleteCitation":
                for number in element.iterchildren("PMID"):
                    rows.delete(f"PMID:{flat(number)}")
            else:
                rows.skip("book", flat(element.find("BookDocument/PMID")))
        for id_, name in concepts:
            _concept(id_, name, rows)
        return rows

    def _article(self, element: etree._Element, where: str, rows: Rows, concepts: dict[tuple[str, str], None]) -> None:
        citation = element.find("MedlineCitation")
        number = citation.find("PMID") if citation is not None else None
        article = citation.find("Article") if citation is not None else None
        if citation is None or article is None or number is None or not flat(number).isdecimal():
            rows.skip("article without a number or content", where)
            return
        id_ = f"PMID:{flat(number)}"
        if self.mesh:
            for tag, names in (("MeshHeadingList", "DescriptorName"), ("ChemicalList", "NameOfSubstance")):
                for name in (name for index in citation.iterchildren(tag) for name in index.iter(names)):
                    if code := name.get("UI"):
                        concepts[f"MESH:{code}", flat(name)] = None
        title, abstract = self._title(article), self._abstract(citation, article)
        if not abstract and not self.titles:
            rows.skip("article without an abstract in the language", id_)
        elif not title and not abstract:
            rows.skip("article without title and abstract", id_)
        else:
            rows.document(id_, title, " ".join(filter(None, (_sentence(title), abstract))), version=_version(number, citation))

    def _title(self, article: etree._Element) -> str:
        if self.language != "eng" and self.language in [language.text for language in article.iterchildren("Language")]:
            original = flat(article.find("VernacularTitle"))
            if original:
                return original
        title = flat(article.find("ArticleTitle"))
        return _translated(title)

    def _abstract(self, citation: etree._Element, article: etree._Element) -> str:
        english = self.language == "eng"
        abstract = article.find("Abstract") if english else citation.find(f"OtherAbstract[@Language='{self.language}']")
        if abstract is None:
            return ""
        sections = []
        for section in abstract.iterchildren("AbstractText"):
            _separate_headings(section)
            text, label = flat(section), clean(section.get("Label")).rstrip(": ")
            if text:
                sections.append(f"{label}: {text}" if label and self.section_labels and label != "UNLABELLED" else text)
        return " ".join(sections)


def _separate_headings(section: etree._Element) -> None:
    """Part a heading that is only set in bold from its text: ``<b>Methods</b>We measured`` → "Methods: We measured"."""
    before = section.text or ""
    for child in section.iterchildren():
        tail, heading = child.tail or "", child.text or ""
        if child.tag == "b" and not len(child) and tail[:1].isupper() and heading[-1:].isalpha() and before.rstrip()[-1:] in {"", ".", ":"}:
            child.tail = f": {tail}"
        before = tail or heading


def _sentence(title: str) -> str:
    return title if not title or title[-1] in ".?!" else title + "."


def _translated(title: str) -> str:
    """The title without the brackets that NLM puts around a translated one: ``[Title].`` → ``Title.``."""
    inner = title.removesuffix(".")
    if not (inner.startswith("[") and inner.endswith("]")):
        return title
    inner, depth = inner[1:-1], 0
    for character in inner:
        depth += (character == "[") - (character == "]")
        if depth < 0:  # "[18F]FDG and [11C]PIB": the first bracket is not the last one's.
            return title
    return inner + title[len(inner) + 2 :] if inner and inner[-1] not in ".?!" else inner


def _version(number: etree._Element, citation: etree._Element) -> int:
    """The version's number, then the date of the revision: update files repeat an article under its old number."""
    version = number.get("Version", "1")
    revision = citation.find("DateRevised")
    try:
        revised = date(*(int(flat(part)) for part in (revision if revision is not None else ())))
        day = revised.year * 10_000 + revised.month * 100 + revised.day
    except (ValueError, TypeError, OverflowError):  # No date, or one that no calendar has.
        day = 0
    return (int(version) if version.isdecimal() and len(version) < 5 else 1) * 100_000_000 + day


def _concept(id_: str, name: str, rows: Rows) -> None:
    rows.entity(id_, name, kind="mesh")
    rows.name(id_, name, "name")
    # MeSH puts the head noun first ("Receptors, Dopamine D2"); running text does not.
    noun, comma, before = name.partition(", ")
    if comma and ", " not in before:
        rows.name(id_, f"{before} {noun}", "synonym")
