"""PubMed: our own articles with the form's odd cases, and the real files."""

from __future__ import annotations

import gzip
import re
import unicodedata
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from pydantic import ValidationError

from kgqa.errors import BrokenInput
from kgqa.sources.biomedicine.pubmed import PubMed
from kgqa.sources.streams import TextFile
from tests.sources.biomedicine.files import Tables, parsed, read, skipped

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2019//EN" "http://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_190101.dtd">
<PubmedArticleSet>
"""


def article(
    title: str = "A title.",
    abstract: str = "<Abstract><AbstractText>One finding.</AbstractText></Abstract>",
    *,
    number: str = "101",
    version: str = "1",
    revised: tuple[str, str, str] = ("2026", "01", "31"),
    language: str = "eng",
    more: str = "",
    vernacular: str = "",
) -> str:
    """An article in the order of the document type."""
    date = "<DateRevised><Year>{}</Year><Month>{}</Month><Day>{}</Day></DateRevised>".format(*revised)
    return (
        f'<PubmedArticle><MedlineCitation Status="MEDLINE" Owner="NLM"><PMID Version="{version}">{number}</PMID>{date}'
        f'<Article PubModel="Print"><ArticleTitle>{title}</ArticleTitle>{abstract}<Language>{language}</Language>'
        f"<VernacularTitle>{vernacular}</VernacularTitle></Article>"
        f'<CommentsCorrectionsList><CommentsCorrections RefType="Cites"><PMID Version="1">999</PMID></CommentsCorrections>'
        f"</CommentsCorrectionsList>"
        f"{more}</MedlineCitation><PubmedData/></PubmedArticle>\n"
    )


def text(parser: PubMed | None = None, **fields: Any) -> str:
    """Text of one article."""
    tables = parsed(parser or PubMed(), article(**fields), HEAD)
    assert [id_ for id_, *_ in tables["documents"]] == ["PMID:101"]
    return str(tables["documents"][0][3])


def versions(tables: Tables) -> dict[str, int]:
    return {text: version for _, _, _, text, version in tables["documents"]}


def test_text_is_the_title_and_the_abstract() -> None:
    assert parsed(PubMed(), article(), HEAD)["documents"] == [("PMID:101", "A title.", None, "A title. One finding.", 120260131)]
    assert text(title="Is it so?") == "Is it so? One finding."
    assert text(title="No full stop") == "No full stop. One finding."
    assert text(title="") == "One finding."


def test_sections_keep_their_labels() -> None:
    abstract = (
        '<Abstract><AbstractText Label="AIM:" NlmCategory="OBJECTIVE">To see.</AbstractText><AbstractText Label="UNLABELLED">We saw.'
        '</AbstractText><AbstractText Label="EMPTY"/><CopyrightInformation>Copyright.</CopyrightInformation></Abstract>'
    )
    assert text(abstract=abstract) == "A title. AIM: To see. We saw."
    assert text(PubMed(section_labels=False), abstract=abstract) == "A title. To see. We saw."


def test_markup_is_flattened() -> None:
    abstract = (
        "<Abstract><AbstractText><b>Methods</b>We took Ca<sup>2+</sup> in <i>E. <u>coli</u></i>. <b>Results</b>More.\n  "
        "Vitamin <b>D</b>Complex "
        '<mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML"><mml:mi>x</mml:mi></mml:math> &lt; 5.</AbstractText></Abstract>'
    )
    assert text(abstract=abstract) == "A title. Methods: We took Ca2+ in E. coli. Results: More. Vitamin DComplex x < 5."
    assert text(title="Of <i>Homo</i>\n sapiens.") == "Of Homo sapiens. One finding."


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("[On the liver].", "On the liver."),
        ("[On the liver]", "On the liver"),
        ("[What is the liver?].", "What is the liver?"),
        ("[18F]FDG and [11C].", "[18F]FDG and [11C]."),
        ("[Of [18F]FDG].", "Of [18F]FDG."),
        ("[Not closed.", "[Not closed."),
    ],
)
def test_brackets_of_translated_titles_go(title: str, shown: str) -> None:
    end = "" if shown[-1] in ".?" else "."
    assert text(title=title) == f"{shown}{end} One finding."


def test_other_languages() -> None:
    other = (
        '<OtherAbstract Type="Publisher" Language="ger"><AbstractText Label="ZIEL">Zu sehen.</AbstractText></OtherAbstract>'
        '<OtherAbstract Type="plain-language-summary" Language="eng"><AbstractText>Simply.</AbstractText></OtherAbstract>'
    )
    german = PubMed(language="ger")
    assert text(german, more=other, language="ger", vernacular="Über die Leber.") == "Über die Leber. ZIEL: Zu sehen."
    assert text(german, more=other, language="fre", vernacular="Du foie.") == "A title. ZIEL: Zu sehen."
    assert text(more=other, language="ger", vernacular="Über die Leber.") == "A title. One finding."
    assert skipped(PubMed(language="fre"), article(more=other), HEAD) == {"article without an abstract in the language": (1, "PMID:101")}
    with pytest.raises(ValidationError):
        PubMed(language="de")


def test_articles_without_an_abstract() -> None:
    bare = article(abstract="<Abstract><AbstractText> </AbstractText></Abstract>") + article(abstract="", number="102")
    assert skipped(PubMed(), bare, HEAD) == {"article without an abstract in the language": (2, "PMID:101")}
    assert [text for *_, text, _ in parsed(PubMed(titles=True), bare, HEAD)["documents"]] == ["A title."] * 2
    assert skipped(PubMed(titles=True), article(title="", abstract=""), HEAD) == {"article without title and abstract": (1, "PMID:101")}


def test_a_newer_version_has_a_greater_number() -> None:
    data = (
        article("Old.", revised=("2025", "12", "31"))
        + article("Revised.", revised=("2026", "1", "2"))
        + article("Second.", version="2", revised=("2024", "01", "01"))
        + article("No such date.", revised=("2026", "13", "45"))
        + article("No year.", revised=("", "", ""))
        + article("Far year.", revised=("9" * 30, "01", "01"))
        + article("Odd version.", version="99999999999999999999")
    )
    ordered = sorted(versions(parsed(PubMed(), data, HEAD)).items(), key=lambda item: item[1])
    assert [text.split(".")[0] for text, _ in ordered] == ["No such date", "No year", "Far year", "Old", "Revised", "Odd version", "Second"]


def test_withdrawn_articles() -> None:
    data = article() + '<DeleteCitation><PMID Version="1">7</PMID>\n<PMID Version="1">8</PMID></DeleteCitation>'
    assert parsed(PubMed(), data, HEAD)["deleted"] == [("PMID:7",), ("PMID:8",)]


def test_books_and_articles_without_a_number_are_left_out() -> None:
    book = '<PubmedBookArticle><BookDocument><PMID Version="1">55</PMID></BookDocument></PubmedBookArticle>\n'
    assert skipped(PubMed(), book + article(number="") + "<PubmedArticle/>" + article(), HEAD, line=4) == {
        "book": (1, "55"),
        "article without a number or content": (2, "data, line 5"),
    }


def test_what_is_not_read_of_an_article_may_be_broken() -> None:
    data = (
        article().replace("<PubmedData/>", "<PubmedData><History><PubMedPubDate>\n</History>\n</PubmedData>")
        + article(number="102").replace("<PubmedData/>", "<PubmedData><ReferenceList>")
        + article(number="")
    )
    assert [id_ for id_, *_ in parsed(PubMed(), data, HEAD)["documents"]] == ["PMID:101", "PMID:102"]
    assert skipped(PubMed(), data, HEAD)["article without a number or content"] == (1, "data, line 5")


def test_mesh_concepts() -> None:
    more = (
        '<ChemicalList><Chemical><RegistryNumber>0</RegistryNumber><NameOfSubstance UI="D002118">Calcium</NameOfSubstance></Chemical>'
        "</ChemicalList>"
        '<MeshHeadingList><MeshHeading><DescriptorName UI="D017447" MajorTopicYN="N">Receptors, Dopamine D1</DescriptorName>'
        '<QualifierName UI="Q000378">metabolism</QualifierName></MeshHeading>'
        '<MeshHeading><DescriptorName UI="D002118">Calcium</DescriptorName>'
        '</MeshHeading><MeshHeading><DescriptorName UI="D9">Acids, Carbocyclic, Odd</DescriptorName></MeshHeading></MeshHeadingList>'
    )
    assert "entities" not in parsed(PubMed(), article(more=more), HEAD)
    tables = parsed(PubMed(mesh=True), article(more=more), HEAD)
    assert tables["entities"] == [
        ("MESH:D017447", "mesh", "Receptors, Dopamine D1", ""),
        ("MESH:D002118", "mesh", "Calcium", ""),
        ("MESH:D9", "mesh", "Acids, Carbocyclic, Odd", ""),
    ]
    assert [name for _, name, _ in tables["names"]] == [
        "Receptors, Dopamine D1",
        "Dopamine D1 Receptors",
        "Calcium",
        "Acids, Carbocyclic, Odd",
    ]


def test_pieces_have_articles_and_withdrawals(tmp_path: Path) -> None:
    path = tmp_path / "pubmed.xml.gz"
    data = HEAD + article() + article(number="102") + '<DeleteCitation><PMID Version="1">7</PMID></DeleteCitation></PubmedArticleSet>'
    path.write_bytes(gzip.compress(data.encode()))
    tables, left_out = read(PubMed(), path)
    assert [id_ for id_, *_ in tables["documents"]] == ["PMID:101", "PMID:102"]
    assert tables["deleted"] == [("PMID:7",)]
    assert not left_out


def test_a_cut_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pubmed.xml"
    path.write_text(HEAD + article() + article()[:200], encoding="utf-8")
    with pytest.raises(BrokenInput, match="ends within the <PubmedArticle>"):
        read(PubMed(), path)


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["pubmed26n1334.xml.gz", "pubmed26n1335.xml.gz"])
def test_real_files_agree_with_another_parser(real_data: Path, name: str) -> None:
    path = real_data / "sources" / "pubmed" / name
    tables, left_out = read(PubMed(mesh=True), path)
    with gzip.open(path) as file:
        root = ElementTree.parse(file).getroot()
    articles = root.findall("PubmedArticle")
    assert len(tables["documents"]) + left_out.total() == len(articles)
    ours = {id_.removeprefix("PMID:"): text for id_, _, _, text, _ in tables["documents"]}
    with_abstract = {found.findtext("MedlineCitation/PMID"): found for found in articles if found.find("MedlineCitation/Article/Abstract")}
    assert ours.keys() == with_abstract.keys()
    for number, found in with_abstract.items():
        parts = [found.find("MedlineCitation/Article/ArticleTitle"), *found.findall("MedlineCitation/Article/Abstract/AbstractText")]
        plain = "".join("".join(part.itertext()) for part in parts if part is not None)
        labels = "".join(part.get("Label", "") for part in parts if part is not None)
        # The same letters: only spaces, brackets, labels and colons differ.
        assert letters(ours[str(number)]) == letters(plain + labels)
    assert [id_ for (id_,) in tables.get("deleted", [])] == [f"PMID:{one.text}" for one in root.findall("DeleteCitation/PMID")]
    used = {f"MESH:{one.get('UI')}" for tag in ("DescriptorName", "NameOfSubstance") for one in root.iter(tag)}
    assert {id_ for id_, *_ in tables["entities"]} == used


@pytest.mark.real_data
def test_real_articles_before_the_cut_are_read(real_data: Path, tmp_path: Path) -> None:
    data = gzip.decompress((real_data / "sources" / "pubmed" / "pubmed26n1335.xml.gz").read_bytes())
    path = tmp_path / "cut.xml"
    path.write_bytes(data[: len(data) // 2])
    whole = path.read_bytes().count(b"</PubmedArticle>")
    assert whole > 10
    text = TextFile(path, partial=True)
    rows = [PubMed(titles=True).parse(piece) for piece in PubMed().pieces(text)]
    assert sum(len(one.tables()["documents"]) for one in rows) == whole
    assert len(text.notes) == 1


@pytest.mark.real_data
def test_real_abstract_in_portuguese(real_data: Path) -> None:
    tables, _ = read(PubMed(language="por"), real_data / "sources" / "pubmed" / "pubmed26n1334.xml.gz")
    assert len(tables["documents"]) == 1
    assert "Introdução: A perfuração" in tables["documents"][0][3]


def letters(text: str) -> Counter[str]:
    return Counter(re.sub(r"[\s.:\[\]]", "", unicodedata.normalize("NFC", text)))
