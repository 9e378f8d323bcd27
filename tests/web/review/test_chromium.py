"""The reading page in a real browser, with keys alone: what is pressed is in the table, and is there again after a reload."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, Route, expect

from kgqa.collection.tables.table import Judgement, read_table
from kgqa.web.review.session import Session
from tests.web.explore.conftest import Window
from tests.web.review.conftest import Look, opened

pytestmark = pytest.mark.slow
expect.set_options(timeout=60_000)
TOLD = "In the table."


def press(page: Page, *keys: str) -> None:
    """Keys one after the other, each as fast as a person is at best."""
    for key in keys:
        page.keyboard.press(key)


def table(session: Session) -> dict[str, Judgement]:
    """What is on the disk."""
    return {each.sample: each for each in read_table(session.book.path).judgements}


def at(window: Window, place: int) -> None:
    """Wait until the sample at ``place``, from 1, is shown."""
    expect(window.page.locator(".eyebrow")).to_contain_text(f"{place} of ")


def test_a_reader_needs_no_mouse(session: Session, wikihop: Path, look: Look) -> None:
    ids = list(session.places)
    window = look(session)
    page = window.open("/")
    press(page, "2")
    expect(page.locator("#state")).to_have_text(TOLD)
    assert table(session)[ids[0]].verdict == "likely"
    press(page, "1", "5", "n")
    expect(page.locator("#note")).to_be_focused()
    page.keyboard.type("j 1 2 3: in a note keys are letters")
    press(page, "Escape", "j")
    at(window, 2)
    press(page, "3", "ArrowRight")
    at(window, 3)
    press(page, "6", "ArrowLeft")
    at(window, 2)
    expect(page.get_by_role("radio", name="does not follow")).to_be_checked()
    press(page, "k")
    at(window, 1)
    page.reload()
    expect(page.get_by_role("radio", name="1 follows")).to_be_checked()
    expect(page.get_by_role("checkbox", name="wrong link")).to_be_checked()
    expect(page.locator("#note")).to_have_value("j 1 2 3: in a note keys are letters")
    expect(page.locator("#done")).to_have_text("3")
    result = table(session)
    assert [result[sample].verdict for sample in ids[:3]] == ["follows", "does-not-follow", "unreadable"]
    assert (result[ids[0]].marks, result[ids[0]].note) == (("wrong-link",), "j 1 2 3: in a note keys are letters")
    assert set(result) == set(ids[:3])
    press(page, "u")
    at(window, 4)
    again = look(opened(wikihop, session.book.path))  # the command was stopped and started
    again.open("/")
    at(again, 4)


def test_which_candidate_is_as_true_is_chosen_by_its_letters(session: Session, look: Look) -> None:
    reading = next(each for each in session.readings if len(each.others) > 1)
    window = look(session)
    page = window.open(f"/sample?id={reading.instance.id}")
    press(page, "4")
    expect(page.locator("#candidate")).to_be_focused()
    page.keyboard.type(reading.others[1].text)
    press(page, "Enter", "1")
    expect(page.locator("#state")).to_have_text(TOLD)
    found = table(session)[reading.instance.id]
    assert (found.verdict, found.marks, found.candidate) == ("follows", ("another",), reading.others[1].id)
    press(page, "4")  # whoever takes the mark back has named none
    expect(page.locator("#candidate")).to_have_value("")
    expect(page.locator("#state")).to_have_text(TOLD)
    found = table(session)[reading.instance.id]
    assert (found.verdict, found.marks, found.candidate) == ("follows", (), "")
    page.locator("#candidate").select_option(reading.others[0].id)
    expect(page.get_by_role("checkbox", name="another is as true")).to_be_checked()
    press(page, "Escape", "4", "1", "l")
    page.wait_for_url("**/list")  # the page goes when the table has it
    assert table(session) == {}


def test_two_pages_of_one_sample_do_not_take_back_each_others_words(session: Session, look: Look) -> None:
    window = look(session)
    page = window.open("/")
    press(page, "2")
    expect(page.locator("#state")).to_have_text(TOLD)
    (sample,) = table(session)
    session.book.store(Judgement(sample=sample, reader="ann", verdict="follows", note="by hand"))
    press(page, "3")
    expect(page.locator("#trouble")).to_contain_text("was changed by another page or by hand; load the page again")
    assert (table(session)[sample].verdict, table(session)[sample].note) == ("follows", "by hand")
    window.complaints[:] = [text for text in window.complaints if "409" not in text]


def test_chains_and_documents_open_by_keys(session: Session, look: Look) -> None:
    reading = next(each for each in session.readings if each.others)
    window = look(session)
    page = window.open(f"/sample?id={reading.instance.id}")
    folded = page.locator("details.candidate")
    assert folded.count() == len(reading.others)
    expect(folded.first.locator(".text").first).to_be_hidden()
    press(page, "c")
    expect(folded.first.locator(".text").first).to_be_visible()
    press(page, "c")
    expect(folded.first.locator(".text").first).to_be_hidden()
    press(page, "?")
    expect(page.locator("#keys")).to_be_visible()
    press(page, "1", "Escape")
    expect(page.locator("#keys")).to_be_hidden()
    press(page, "Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    press(page, "t")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    press(page, "l")
    page.wait_for_url("**/list")
    press(page, "j", "Enter")
    at(window, 1)
    assert table(session) == {}


def test_what_cannot_be_stored_is_said_and_keeps_the_page(session: Session, look: Look) -> None:
    window = look(session)
    page = window.open("/")

    def refuse(route: Route) -> None:
        route.fulfill(status=200, body="no answer of ours")

    page.route("**/api/judgement", refuse)
    press(page, "1")
    expect(page.locator("#trouble")).to_contain_text("Not in the table: The page's server does not answer")
    press(page, "j")
    page.wait_for_timeout(200)
    at(window, 1)
    page.unroute("**/api/judgement")
    press(page, "j")
    at(window, 2)
    assert [each.verdict for each in table(session).values()] == ["follows"]


@pytest.mark.parametrize("width", [1280, 390])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_in_the_data_runs_and_all_of_it_fits(width: int, scheme: str, awkward: Path, tmp_path: Path, look: Look) -> None:
    session = opened(awkward, tmp_path / "table.tsv", sample=1000)
    strange = [each for each in session.readings if "onerror" in str(each) or "<script>" in str(each)]
    assert strange
    window = look(session, color_scheme=scheme)
    window.page.set_viewport_size({"width": width, "height": 800})
    for reading in strange[:3]:
        page = window.open("/sample?" + urlencode({"id": reading.instance.id}))
        press(page, "c", "d")
        assert page.evaluate("window.owned") is None
        assert window.overflow() <= 0
