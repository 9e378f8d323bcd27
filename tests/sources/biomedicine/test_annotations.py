"""Annotated texts: one small corpus of our own in all its formats, and the real corpora."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from kgqa.errors import BrokenInput
from kgqa.sources.biomedicine.annotations import AnnotationSettings, several
from kgqa.sources.biomedicine.bioc import BioCJson, BioCXml
from kgqa.sources.biomedicine.docred import DocRed
from kgqa.sources.biomedicine.drugprot import DrugProt
from kgqa.sources.biomedicine.pubtator import PubTator
from kgqa.sources.streams import TextFile
from tests.sources.biomedicine.files import Tables, check_mentions, parsed, read, skipped

TITLE, ABSTRACT = "Alphamine blocks LOCK1.", "α-Mine (alphamine) eases lock fever; LOCK1 and LOCK2 differ."
TEXT = f"{TITLE} {ABSTRACT}"


def place(part: str, after: int = 0) -> tuple[int, int]:
    start = TEXT.index(part, after)
    return start, start + len(part)


ANNOTATIONS = [
    (*place("Alphamine"), "Alphamine", "Chemical", "D000001"),
    (*place("LOCK1"), "LOCK1", "Gene", "9606"),
    (*place("α-Mine"), "α-Mine", "Chemical", "D000001"),
    (*place("alphamine"), "alphamine", "Chemical", "D000001"),
    (*place("lock fever"), "lock fever", "Disease", "OMIM:100"),
    (*place("LOCK1 and LOCK2"), "LOCK1 and LOCK2", "Gene", "9606,9607"),
    (*place("differ"), "differ", "Disease", "-"),
    (*place("eases"), "wrong!", "Disease", "D000009"),
]
RELATIONS = [("Negative_Correlation", "D000001", "OMIM:100"), ("Bind", "D000001", "9607"), ("Bind", "D000001", "D777777")]
PUBTATOR = (
    f"901|t|{TITLE}\n901|a|{ABSTRACT}\n"
    + "".join("901\t" + "\t".join(map(str, one)) + "\n" for one in ANNOTATIONS)
    + "".join("901\t" + "\t".join(one) + "\tNovel\n" for one in RELATIONS)
    + "\n902|t|Nothing is marked here.\n902|a|\n"
)
BREAK = len(TITLE) + 1


def bioc() -> list[dict[str, Any]]:
    """The same as BioC's documents, with passage offsets that leave a gap."""
    passages = []
    for begin, text, gap in ((0, TITLE, 0), (BREAK, ABSTRACT, 17)):
        inside = [(number, one) for number, one in enumerate(ANNOTATIONS) if begin <= one[0] < begin + len(text)]
        passages.append(
            {
                "offset": begin + gap,
                "text": text,
                "annotations": [
                    {
                        "id": f"T{number}",
                        "infons": {"type": kind, "identifier": identifier},
                        "text": marked,
                        "locations": [{"offset": start + gap, "length": end - start}],
                    }
                    for number, (start, end, marked, kind, identifier) in inside
                ],
            }
        )
    relations = [
        {"id": f"R{number}", "infons": {"type": kind, "entity1": first, "entity2": second}}
        for number, (kind, first, second) in enumerate(RELATIONS)
    ]
    other = {"id": "902", "passages": [{"offset": 0, "text": "Nothing is marked here."}]}
    return [{"id": "901", "passages": passages, "relations": relations}, other]


def bioc_xml(documents: list[dict[str, Any]]) -> str:
    def infons(one: dict[str, Any]) -> str:
        return "".join(f'<infon key="{key}">{value}</infon>' for key, value in one.get("infons", {}).items())

    result = ""
    for document in documents:
        result += f"<document><id>{document['id']}</id>"
        for passage in document["passages"]:
            result += f"<passage><offset>{passage['offset']}</offset><text>{passage['text']}</text>"
            for mark in passage.get("annotations", []):
                places = "".join(f'<location offset="{one["offset"]}" length="{one["length"]}"/>' for one in mark["locations"])
                result += f'<annotation id="{mark["id"]}">{infons(mark)}{places}<text>{mark["text"]}</text></annotation>'
            result += "</passage>"
        for relation in document.get("relations", []):
            nodes = "".join(f'<node refid="{node["refid"]}" role="{node.get("role", "")}"/>' for node in relation.get("nodes", []))
            result += f'<relation id="{relation["id"]}">{infons(relation)}{nodes}</relation>'
        result += "</document>\n"
    return result


def records(documents: list[dict[str, Any]]) -> str:
    """As a piece of a JSON file."""
    return ",\n".join(json.dumps(document) for document in documents)


EXPECTED: Tables = {
    "documents": [("PMID:901", TITLE, None, TEXT, 0), ("PMID:902", "Nothing is marked here.", None, "Nothing is marked here.", 0)],
    "mentions": [
        ("PMID:901", *ANNOTATIONS[0][:2], "MESH:D000001"),
        ("PMID:901", *ANNOTATIONS[1][:2], "NCBIGene:9606"),
        ("PMID:901", *ANNOTATIONS[2][:2], "MESH:D000001"),
        ("PMID:901", *ANNOTATIONS[3][:2], "MESH:D000001"),
        ("PMID:901", *ANNOTATIONS[4][:2], "OMIM:100"),
    ],
    "entities": [
        ("MESH:D000001", "Chemical", "Alphamine", ""),
        ("NCBIGene:9606", "Gene", "LOCK1", ""),
        ("OMIM:100", "Disease", "lock fever", ""),
        ("NCBIGene:9607", "Gene", "", ""),
    ],
    "names": [
        ("MESH:D000001", "Alphamine", "alias"),
        ("MESH:D000001", "α-Mine", "alias"),
        ("MESH:D000001", "alphamine", "alias"),
        ("NCBIGene:9606", "LOCK1", "alias"),
        ("OMIM:100", "lock fever", "alias"),
    ],
    "relations": [("Negative_Correlation", "negative correlation", False), ("Bind", "bind", True)],
    "facts": [("MESH:D000001", "Negative_Correlation", "OMIM:100"), ("MESH:D000001", "Bind", "NCBIGene:9607")],
}
LEFT_OUT = {
    "mention of several entities at once",
    "annotation without an identifier",
    "annotation whose offsets do not have its text",
    "relation of what is not annotated",
}


@pytest.mark.parametrize(
    ("parser", "text"),
    [
        (PubTator(symmetric=("Bind",)), PUBTATOR),
        (PubTator(symmetric=("Bind",)), PUBTATOR.replace("\n", "\r\n")),
        (BioCXml(symmetric=("Bind",)), bioc_xml(bioc())),
        (BioCJson(symmetric=("Bind",)), records(bioc())),
    ],
    ids=["pubtator", "pubtator-crlf", "bioc-xml", "bioc-json"],
)
def test_all_formats_say_the_same(parser: PubTator | BioCXml | BioCJson, text: str) -> None:
    tables = parsed(parser, text)
    assert tables == EXPECTED
    assert check_mentions(tables) == 5
    left_out = skipped(parser, text)
    assert left_out.keys() == LEFT_OUT
    assert {count for count, _ in left_out.values()} == {1}


def test_kinds_and_annotations_without_identifier() -> None:
    tables = parsed(PubTator(kinds=("Disease",), without_id="text"), PUBTATOR)
    assert [entity for *_, entity in tables["mentions"]] == ["OMIM:100", "Disease:differ"]
    assert skipped(PubTator(kinds=("Disease",)), PUBTATOR)["annotation of another kind"] == (5, "PMID:901, 0-9")


def test_prefixes() -> None:
    tables = parsed(PubTator(prefixes={"Gene": "ENTREZ"}), PUBTATOR)
    assert {id_ for id_, *_ in tables["entities"]} == {"Chemical:D000001", "ENTREZ:9606", "ENTREZ:9607", "OMIM:100"}


@pytest.mark.parametrize(
    ("identifiers", "parts"),
    [
        ("7040,7042", ("7040", "7042")),
        ("D003866;D001008", ("D003866", "D001008")),
        ("D003866|D001008", ("D003866", "D001008")),
        ("MESH:D003866|MESH:D001008", ("MESH:D003866", "MESH:D001008")),
        ("c|SUB|G|1763|A", ("c|SUB|G|1763|A",)),
        ("p|DEL|439_443|", ("p|DEL|439_443|",)),
        ("CVCL_0224", ("CVCL_0224",)),
        ("7040,7040", ("7040",)),
        ("", ("",)),
    ],
)
def test_identifiers_of_several_entities(identifiers: str, parts: tuple[str, ...]) -> None:
    assert several(identifiers) == parts


def test_pubtator_takes_older_rows() -> None:
    text = "77|t|Drug D hurts.\n77\t0\t6\tDrug D\tChemical\tD1\n77\t0\t4\tDrug\tChemical\n77\tCID\tD1\tD2\nnonsense\n"
    tables = parsed(PubTator(), text)
    assert tables["mentions"] == [("PMID:77", 0, 6, "MESH:D1")]
    assert skipped(PubTator(), text) == {
        "line that is neither text, annotation nor relation": (1, "PMID:77, in data, line 1"),
        "annotation without an identifier": (1, "PMID:77, 0-4"),
        "relation of what is not annotated": (1, "PMID:77"),
    }


def test_other_text_is_no_pubtator() -> None:
    with pytest.raises(BrokenInput, match=r"data, line 1: no PubTator text"):
        parsed(PubTator(), "Some words.\n\nMore words.\n")
    assert skipped(PubTator(), PUBTATOR + "\nSome words.\n")["document without a title line"] == (
        1,
        f"data, line {PUBTATOR.count(chr(10)) + 2}",
    )


def test_bioc_relations_may_name_annotations() -> None:
    documents = bioc()
    documents[0]["relations"] = [
        {"id": "R0", "infons": {"type": "Treats"}, "nodes": [{"refid": "T3", "role": "a"}, {"refid": "T4", "role": "b"}]},
        {"id": "R1", "infons": {"type": "Treats"}, "nodes": [{"refid": "T3"}, {"refid": "T4"}, {"refid": "T1"}]},
    ]
    for parser, text in ((BioCXml(), bioc_xml(documents)), (BioCJson(), records(documents))):
        assert parsed(parser, text)["facts"] == [("MESH:D000001", "Treats", "OMIM:100")]
        assert skipped(parser, text)["relation without two ends"] == (1, "PMID:901")


def test_json_of_pubtators_interface(tmp_path: Path) -> None:
    documents = bioc()
    documents[0]["relations"] = [
        {
            "id": "R1",
            "infons": {"type": "treat", "role1": {"identifier": "D000001", "type": "Chemical"}, "role2": {"identifier": "OMIM:100"}},
            "nodes": [{"refid": "0", "role": "0,4"}],
        }
    ]
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"PubTator3": documents}), encoding="utf-8")
    assert read(BioCJson(), path)[0]["facts"] == [("MESH:D000001", "treat", "OMIM:100")]


def test_bioc_has_sentences_and_marks_in_parts() -> None:
    document = {
        "id": "PMC9",
        "passages": [
            {
                "offset": 100,
                "sentences": [
                    {"offset": 100, "text": "A gene."},
                    {
                        "offset": 110,
                        "text": "LOCK1 acts.",
                        "annotations": [
                            {
                                "id": 1,
                                "infons": {"kind": "Gene", "NCBI Gene": 17},
                                "text": "LOCK1",
                                "locations": [{"offset": 110, "length": 5}],
                            },
                            {"id": 2, "text": "LOCK acts", "locations": [{"offset": 110, "length": 4}, {"offset": 116, "length": 4}]},
                        ],
                    },
                ],
            }
        ],
    }
    parser = BioCJson(kind_key="kind", identifier_key="NCBI Gene")
    tables = parsed(parser, records([document]))
    assert tables["documents"] == [("PMC9", "A gene.", None, "A gene. LOCK1 acts.", 0)]
    assert tables["mentions"] == [("PMC9", 8, 13, "NCBIGene:17")]
    assert skipped(parser, records([document])) == {"annotation in several parts or without a place": (1, "PMC9, 2")}


def test_bioc_documents_that_are_none_are_left_out() -> None:
    odd = records([{"id": 1, "passages": [{"offset": "zero"}]}, *bioc()])
    assert skipped(BioCJson(), odd)["document that is no BioC"][0] == 1
    odd = "<document><id>1</id><passage><offset>zero</offset></passage></document>" + bioc_xml(bioc())
    assert skipped(BioCXml(), odd)["document with an offset that is no number"] == (1, "data, line 1")


@pytest.mark.parametrize("wrapped", [True, False])
@pytest.mark.parametrize("indent", [None, 1])
def test_json_is_cut_between_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrapped: bool, indent: int | None) -> None:
    documents = bioc() * 4
    path = tmp_path / "corpus.json"
    path.write_text(json.dumps({"source": "ours", "documents": documents} if wrapped else documents, indent=indent), encoding="utf-8")
    whole = path.read_bytes()
    monkeypatch.setattr("kgqa.sources.biomedicine.json_records.json_pieces.__kwdefaults__", {"size": 1})
    pieces = list(BioCJson().pieces(TextFile(path)))
    assert len(pieces) == 8
    for piece in pieces:
        assert whole[piece.position :].startswith(piece.data)
        assert piece.line == 1 + whole[: piece.position].count(b"\n")
    assert [one.position for one in BioCJson().pieces(TextFile(path), pieces[2].position + len(pieces[2].data))] == [
        piece.position for piece in pieces[3:]
    ]
    tables, _ = read(BioCJson(), path)
    assert tables["documents"] == EXPECTED["documents"] * 4


@pytest.mark.parametrize("text", ["{}", "[]", '{"documents": []}'])
def test_json_without_documents_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "corpus.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BrokenInput, match=r"corpus.json: no documents; this is a different kind of JSON"):
        list(BioCJson().pieces(TextFile(path)))


@pytest.mark.parametrize("text", ["{", '{"documents": 3}', "[1, 2", '{"documents": [' + "[" * 100_000, "no JSON"])
def test_json_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "corpus.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BrokenInput, match=r"corpus.json: no JSON array, nor an object with one in documents"):
        list(BioCJson().pieces(TextFile(path)))


ENTITIES = [(key, *one[3:4], *one[:3]) for key, one in zip(("T1", "T2", "T3", "T4", "T5"), ANNOTATIONS, strict=False)]


def drugprot(folder: Path) -> DrugProt:
    (folder / "entities.tsv").write_text("".join("901\t" + "\t".join(map(str, one)) + "\n" for one in ENTITIES), encoding="utf-8")
    (folder / "relations.tsv").write_text("901\tINHIBITOR\tArg1:T4\tArg2:T2\n901\tPART-OF\tArg1:T1\tArg2:T9\n", encoding="utf-8")
    return DrugProt(entities=folder / "entities.tsv", relations=folder / "relations.tsv")


@pytest.mark.parametrize("text", [f"901\t{TITLE}\t{ABSTRACT}\n", f"901\t{TEXT}\r\n"])
def test_drugprot(tmp_path: Path, text: str) -> None:
    parser = drugprot(tmp_path)
    tables = parsed(parser, text)
    assert tables["documents"] == EXPECTED["documents"][:1]
    assert check_mentions(tables) == 5
    assert tables["facts"] == [("Chemical:alphamine", "INHIBITOR", "Gene:lock1")]
    assert tables["relations"] == [("INHIBITOR", "inhibitor", False)]
    assert skipped(parser, text) == {"relation of what is not annotated": (1, "PMID:901")}
    assert "mentions" not in parsed(parser.model_copy(update={"without_id": "skip"}), text)


def test_drugprot_refuses_another_file(tmp_path: Path) -> None:
    parser = drugprot(tmp_path)
    with pytest.raises(BrokenInput, match="data, line 1: 1 columns, but abstracts have 3"):
        parsed(parser, "one\n")
    wrong = DrugProt(entities=tmp_path / "relations.tsv")
    with pytest.raises(BrokenInput, match=r"relations.tsv, line 1: 4 columns instead of 6"):
        parsed(wrong, f"901\t{TITLE}\t{ABSTRACT}\n")


def test_docred() -> None:
    document = {
        "title": "Ada Lock",
        "sents": [["Ada", "Lock", "lives", "in", "Bolt", "."], ["Lock", "is", "old", "."]],
        "vertexSet": [
            [
                {"name": "Ada Lock", "pos": [0, 2], "sent_id": 0, "type": "PER"},
                {"name": "Lock", "pos": [0, 1], "sent_id": 1, "type": "PER"},
            ],
            [{"name": "Bolt", "pos": [4, 5], "sent_id": 0, "type": "LOC"}, {"name": "None", "pos": [4, 9], "sent_id": 1, "type": "LOC"}],
        ],
        "labels": [{"h": 0, "t": 1, "r": "P551", "evidence": [0]}, {"h": 0, "t": 5, "r": "P551"}],
    }
    tables = parsed(DocRed(), records([document]))
    text = "Ada Lock lives in Bolt . Lock is old ."
    assert tables["documents"] == [("Ada Lock", "Ada Lock", None, text, 0)]
    assert [(text[start:end], entity) for _, start, end, entity in tables["mentions"]] == [
        ("Ada Lock", "PER:ada lock"),
        ("Lock", "PER:ada lock"),
        ("Bolt", "LOC:bolt"),
    ]
    assert tables["facts"] == [("PER:ada lock", "P551", "LOC:bolt")]
    assert skipped(DocRed(), records([document, {"title": "No sentences"}])).keys() == {
        "mention beyond its sentence",
        "relation of what is not annotated",
        "document that is no DocRED",
    }


def test_every_format_has_the_same_options() -> None:
    for parser in (PubTator, BioCXml, BioCJson, DrugProt, DocRed):
        assert AnnotationSettings.model_fields.keys() <= parser.model_fields.keys()


@pytest.mark.real_data
def test_real_corpus_says_the_same_in_all_formats(real_data: Path) -> None:
    folder = real_data / "sources" / "bio" / "biored"
    for parser, other, part in ((BioCJson(), "Dev.BioC.JSON.gz", "Dev"), (BioCXml(), "Test.BioC.XML.gz", "Test")):
        tables, left_out = read(PubTator(), folder / f"{part}.PubTator.gz")
        assert read(parser, folder / other) == (tables, left_out)
        assert check_mentions(tables) > 3_000
        assert left_out["annotation whose offsets do not have its text"] == 0


@pytest.mark.real_data
def test_real_annotations_are_kept_or_counted(real_data: Path) -> None:
    path = real_data / "sources" / "bio" / "biored" / "Train.PubTator.gz"
    tables, left_out = read(PubTator(), path)
    with gzip.open(path, "rt", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file if "\t" in line]
    marks = sum(len(row) == 6 for row in rows)
    unmentioned = left_out["mention of several entities at once"] + left_out["annotation without an identifier"]
    assert check_mentions(tables) == marks - unmentioned
    between_two = sum(len(row) == 5 and row[2] != row[3] for row in rows)
    assert len(tables["facts"]) + left_out["relation of what is not annotated"] == between_two


@pytest.mark.real_data
def test_real_entities_of_drugprot_have_their_text(real_data: Path) -> None:
    folder = real_data / "sources" / "bio" / "drugprot"
    parser = DrugProt(entities=folder / "drugprot_development_entities.tsv.gz", relations=folder / "drugprot_development_relations.tsv")
    tables, left_out = read(parser, folder / "drugprot_development_abstracs.tsv.gz")
    assert not left_out
    assert check_mentions(tables) == 18_858
    assert len({relation for _, relation, _ in tables["facts"]}) == 13
