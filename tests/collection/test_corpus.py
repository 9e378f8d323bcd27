"""Corpora to search, from all that can be one, and the terms that prime question writers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kgqa.collection.corpus import Corpus, draw_terms, read_corpus
from kgqa.errors import BrokenInput, DuplicateId, EmptyResult, MissingInput, UnknownId
from tests.command import ROOT
from tests.small_questions import question, write_set

COMPANIES = ROOT / "seeds" / "companies"


@pytest.fixture(scope="module")
def companies() -> Corpus:
    return read_corpus(COMPANIES / "documents.jsonl")


def test_a_file_of_documents_is_searched_by_title_and_text(companies: Corpus) -> None:
    assert len(companies) == 176
    first = companies.search("Orlind capital tidal rivers", 3)[0]
    assert (first.id, first.title) == ("text 1", "Orlind")
    assert companies.find("text 1").text.startswith("Orlind is a country")
    assert not companies.search("xyzzy", 3)
    with pytest.raises(UnknownId, match="not a paragraph of the corpus"):
        companies.find("text 0")


def test_a_paragraph_is_found_while_the_index_is_being_built(tmp_path: Path) -> None:
    corpus = read_corpus(COMPANIES / "documents.jsonl")
    with corpus._searching:  # as the thread that builds it holds it
        assert corpus.find("text 1").title == "Orlind"
    assert not corpus.search("", 1)


def lines(path: Path, *records: object) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def test_other_files_of_paragraphs(tmp_path: Path) -> None:
    beir = read_corpus(
        lines(tmp_path / "corpus.jsonl", {"_id": "a", "title": "A", "text": "one"}, {"_id": "b", "title": "", "text": "two"})
    )
    assert [paragraph.id for paragraph in beir.search("two", 5)] == ["b"]
    evidence = read_corpus(lines(tmp_path / "x.jsonl", {"evidence_id": "a", "contents": "one"}))
    assert evidence.find("a").title is None
    with pytest.raises(DuplicateId, match="the id a belongs to two"):
        read_corpus(lines(tmp_path / "twice.jsonl", {"id": "a", "text": "one"}, {"id": "a", "text": "two"}))
    with pytest.raises(EmptyResult, match="no paragraphs"):
        read_corpus(lines(tmp_path / "empty.jsonl", {"id": "a", "text": " "}))
    with pytest.raises(MissingInput, match="line 2"):
        read_corpus(lines(tmp_path / "broken.jsonl", {"id": "a", "text": "one"}, {"id": "b"}))
    with pytest.raises(MissingInput, match="no such file"):
        read_corpus(tmp_path / "nothing")
    (tmp_path / "text.txt").write_text("words", "utf-8")
    with pytest.raises(BrokenInput):
        read_corpus(tmp_path / "text.txt")


def test_the_paragraphs_of_a_question_set_are_kept_once_with_ids_of_their_own(tmp_path: Path) -> None:
    some = [question(0), question(1)]
    corpus = read_corpus(write_set(tmp_path / "set", train=some))
    texts = {paragraph.text for each in some for paragraph in each.paragraphs}
    assert len(corpus) == len(texts)
    assert corpus.find("p0").title == "arl"
    numbered = [
        question(number, paragraphs=(type(paragraph)(id="0", title="T", text=paragraph.text, supporting=None),))
        for number in (0, 1)
        for paragraph in question(number).paragraphs[:1]
    ]
    corpus = read_corpus(write_set(tmp_path / "numbered", train=numbered))
    assert [corpus.find(name).title for name in ("T-1", "T-2")] == ["T", "T"]


def test_terms_come_from_a_table_or_from_the_titles(companies: Corpus, tmp_path: Path) -> None:
    terms = draw_terms(COMPANIES / "entities.tsv", companies, count=10, seed=0)
    assert len(set(terms)) == 10
    assert all(description for _, description in terms)
    assert draw_terms(COMPANIES / "entities.tsv", companies, count=10, seed=1) != terms
    assert draw_terms(COMPANIES / "entities.tsv", companies, count=5, seed=0) == [pair for pair in terms if pair in terms[:5]]
    titles = dict(draw_terms(None, companies, count=1000, seed=0))
    assert titles["Orlind"] == "Orlind is a country of low hills and tidal rivers on the western shore of the Grey Sea."
    plain = lines(tmp_path / "terms.jsonl", {"term": "silk"}, {"term": " wool  yarn "})
    assert sorted(draw_terms(plain, companies, count=9, seed=0)) == [("silk", ""), ("wool yarn", "")]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [("name\tabout\nx\ty\n", "none of the columns"), ("term\tdescription\n", "no terms"), ("", "none of the columns")],
)
def test_tables_without_terms(companies: Corpus, tmp_path: Path, content: str, sentence: str) -> None:
    table = tmp_path / "terms.tsv"
    table.write_text(content, "utf-8")
    with pytest.raises((MissingInput, EmptyResult), match=sentence):
        draw_terms(table, companies, count=3, seed=0)
    with pytest.raises(MissingInput, match="no such file"):
        draw_terms(tmp_path / "none.tsv", companies, count=3, seed=0)
    with pytest.raises(MissingInput, match="not a workspace"):
        draw_terms(tmp_path, companies, count=3, seed=0)
