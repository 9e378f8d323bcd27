"""The page of an item in a real browser: keys, drafts, two tabs, a server that is away."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from tests.collection.conftest import MakeJournal
from tests.web.annotate.conftest import Look
from tests.web.explore.conftest import Window
from tests.web.explore.test_accessibility import SERIOUS, found

pytestmark = pytest.mark.slow


def forget_failed_requests(window: Window) -> None:
    """The browser's console names each request that was refused or failed; nothing else may be there."""
    window.allowed.append("Failed to load resource")


def test_an_item_is_answered_by_keys_alone(make_journal: MakeJournal, look: Look) -> None:
    journal = make_journal()
    page = look(journal, "ana").page
    page.get_by_role("textbox", name="colour").focus()
    page.keyboard.type("r?zsft")
    page.locator("#state", has_text="Draft kept.").wait_for()
    page.keyboard.press("Control+a")
    page.keyboard.type("RED")
    page.get_by_text("Do not shout.").wait_for()
    page.keyboard.press("Control+Enter")
    page.get_by_text("Thing 2").wait_for()
    page.keyboard.press("z")
    page.get_by_text("Thing 1").wait_for()
    assert page.get_by_role("textbox", name="colour").input_value() == "RED"
    page.keyboard.press("s")
    page.get_by_label("Reason").fill("too dark")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_text("Thing 2").wait_for()
    kinds = [event.kind for event in journal.events()]
    assert (kinds.count("submit"), kinds.count("undo"), kinds.count("skip")) == (1, 1, 1)


def test_a_draft_comes_back_after_leaving_and_html_stays_text(make_journal: MakeJournal, look: Look) -> None:
    journal = make_journal()
    window = look(journal, "ana")
    page = window.page
    page.get_by_role("textbox", name="note").fill('<img src=x onerror="window.hit=1"></script><b>"é🙂')
    page.locator("#state", has_text="Draft kept.").wait_for()
    page.goto("about:blank")
    page.go_back()
    page.get_by_role("textbox", name="note").wait_for()
    assert page.get_by_role("textbox", name="note").input_value() == '<img src=x onerror="window.hit=1"></script><b>"é🙂'
    assert page.evaluate("window.hit") is None
    page.get_by_role("textbox", name="colour").fill("")
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("Name a colour.").wait_for()
    forget_failed_requests(window)
    assert page.get_by_role("textbox", name="colour").get_attribute("aria-invalid") == "true"


def test_fast_keys_submit_once(make_journal: MakeJournal, look: Look) -> None:
    journal = make_journal()
    page = look(journal, "ana").page
    page.get_by_role("textbox", name="colour").fill("red")
    page.evaluate("for (let i = 0; i < 5; i++) document.getElementById('answer').requestSubmit()")
    page.get_by_text("Thing 2").wait_for()
    assert [event.item for event in journal.events() if event.kind == "submit"] == ["thing-1"]


def test_a_second_tab_is_told_of_the_first(make_journal: MakeJournal, look: Look) -> None:
    journal = make_journal()
    window = look(journal, "ana")
    first = window.page
    second = first.context.new_page()
    second.goto(first.url)
    first.get_by_role("textbox", name="colour").fill("red")
    first.locator("#state", has_text="Draft kept.").wait_for()
    second.get_by_role("textbox", name="colour").fill("blue")
    second.get_by_text("open in another tab").wait_for()
    forget_failed_requests(window)
    assert first.get_by_role("textbox", name="colour").input_value() == "red"


def test_what_is_written_while_the_server_is_away_is_kept_in_the_browser(make_journal: MakeJournal, look: Look) -> None:
    journal = make_journal()
    window = look(journal, "ana")
    page = window.page
    page.context.set_offline(True)
    page.get_by_role("textbox", name="colour").fill("red")
    page.get_by_text("The server does not answer").wait_for()
    forget_failed_requests(window)
    page.context.set_offline(False)
    page.reload()
    expect(page.get_by_role("textbox", name="colour")).to_have_value("red")
    page.keyboard.press("Control+Enter")
    page.get_by_text("Thing 2").wait_for()


@pytest.mark.parametrize(
    ("width", "scheme"),
    [(390, "light"), (1600, "dark"), *(pytest.param(*both, marks=pytest.mark.thorough) for both in ((390, "dark"), (1024, "light")))],
)
def test_pages_are_accessible_at_every_width(make_journal: MakeJournal, look: Look, width: int, scheme: str) -> None:
    window = look(make_journal(), "ana", color_scheme=scheme)
    window.page.set_viewport_size({"width": width, "height": 900})
    assert [finding for finding in found(window, "") if finding[0] in SERIOUS] == []
    assert window.overflow() <= 0
