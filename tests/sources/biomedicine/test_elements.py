"""XML records, whatever is between and in them."""

from __future__ import annotations

import pytest

from kgqa.errors import BrokenInput
from kgqa.sources.biomedicine.elements import NOT_WELL_FORMED, elements, flat, where
from kgqa.sources.rows import Rows
from tests.sources.biomedicine.files import piece

HEAD = '<?xml version="1.0"?>\n<set xmlns="http://example.org/a" xmlns:x="http://example.org/b">'


def texts(data: str, *tags: str, head: str = HEAD) -> tuple[list[str], Rows]:
    rows = Rows()
    return [flat(element) for element in elements(piece(data, head), *tags, rows=rows)], rows


def test_records_use_the_namespaces_of_the_root() -> None:
    found, rows = texts('<one x:nil="true">a<x:b>c</x:b></one>\n<other/><one>d</one>', "one")
    assert found == ["ac", "d"]
    assert not rows.skipped


def test_a_broken_record_does_not_cost_the_others() -> None:
    data = "<one>a</one>\n<one>b<i></one>\n<one><one>c</one> d</one><one/>\n<one>\x01</one><one>&alpha;</one>"
    found, rows = texts(data, "one")
    assert found == ["a", "c d", ""]
    assert rows.skipped == {NOT_WELL_FORMED: 3}
    assert rows.examples[NOT_WELL_FORMED] == "data, line 2"


def test_bytes_that_are_no_utf8_cost_one_record() -> None:
    rows = Rows()
    found = [flat(element) for element in elements(piece(b"<one>a</one><one>\xff</one><one>\xc3\xa4</one>"), "one", rows=rows)]
    assert found == ["a", "ä"]
    assert rows.skipped == {NOT_WELL_FORMED: 1}


def test_deep_nesting_costs_one_record() -> None:
    deep = "<b>" * 100_000 + "</b>" * 100_000
    found, rows = texts(f"<one>a</one><one>{deep}</one><one>z</one>", "one")
    assert found == ["a", "z"]
    assert rows.skipped == {NOT_WELL_FORMED: 1}


@pytest.mark.parametrize("declared", ['<!DOCTYPE one [<!ENTITY a "b">]>', '<!ENTITY a SYSTEM "file:///etc/passwd">'])
def test_declarations_within_are_refused(declared: str) -> None:
    with pytest.raises(BrokenInput, match=r"data, line 2: a document type is declared within the records"):
        texts(f"<one>a</one>\n{declared}<one>b</one>", "one")


def test_comments_and_instructions_are_no_text() -> None:
    assert texts("<one>a<!-- b --><?c d?>e  \n f</one>", "one")[0] == ["ae f"]


def test_text_is_in_nfc() -> None:
    assert texts("<one>e\u0301 <i>x</i></one>", "one")[0] == ["\u00e9 x"]


def test_lines_count_from_the_start_of_the_file() -> None:
    one = piece("<one/>\n<one/>", HEAD, line=40)
    assert [where(one, element) for element in elements(one, "one", rows=Rows())] == ["data, line 40", "data, line 41"]
