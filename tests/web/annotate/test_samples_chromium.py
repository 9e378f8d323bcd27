"""The pages of ``validate`` and ``answer`` in a real browser: keys alone, the hidden answer, spans at their places, and axe."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from kgqa.collection.journal import Journal
from kgqa.collection.project import Project, ProjectSettings
from kgqa.database import database_at
from kgqa.records import Instance, Paragraph
from tests.collection.test_validate import chained
from tests.small_questions import question, write_set
from tests.web.annotate.conftest import Look
from tests.web.explore.test_accessibility import RUN, SERIOUS, axe

pytestmark = pytest.mark.slow
Collect = Callable[..., Journal]
EMOJI = "\U0001f600 é"


@pytest.fixture
def collect(tmp_path: Path) -> Iterator[Collect]:
    """``collect(task, instances)``: the journal of a project on a dataset of these instances."""
    journals: list[Journal] = []

    def make(task: str, instances: list[Instance], **settings: Any) -> Journal:
        dataset = write_set(tmp_path / "set", dev=instances)
        content = {"name": "samples", "task": task, "data": dataset.name, "people": ["ann"], "leads": ["lee"], "seed": 7, **settings}
        project = Project(path=tmp_path / "project.toml", settings=ProjectSettings.model_validate(content))
        journals.append(Journal(database_at(tmp_path / "journal.sqlite", option="--journal", file="journal.sqlite"), project))
        return journals[-1]

    yield make
    for journal in journals:
        journal.close()


def submitted(journal: Journal) -> list[dict[str, Any]]:
    """The answers in the journal."""
    return [dict(event.body["answer"]) for event in journal.events() if event.kind == "submit"]


def kept(page: Page) -> None:
    """Wait until the draft is on the server."""
    expect(page.locator("#state")).to_have_text("Draft kept.")


def submit(page: Page) -> None:
    """Submit by keys, and wait for the next page."""
    with page.expect_navigation():
        page.keyboard.press("Control+Enter")


def test_samples_are_judged_by_keys_alone(collect: Collect, look: Look) -> None:
    journal = collect("validate", [chained(number) for number in range(3)])
    window = look(journal, "ann")
    page = window.page
    folded = page.locator("details.candidate .text").first
    expect(folded).to_be_hidden()
    page.keyboard.press("c")
    expect(folded).to_be_visible()
    page.keyboard.press("Control+Enter")
    expect(page.locator("#faults")).to_contain_text("Choose a verdict")
    window.allowed.append("status of 422")
    for key in ("2", "7", "4"):
        page.keyboard.press(key)
    expect(page.locator("#candidate")).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#candidate")).not_to_be_focused()
    chosen = page.locator("#candidate").input_value()
    page.keyboard.press("n")
    page.keyboard.type("1 3 z s f: keys are letters here")
    page.keyboard.press("Escape")
    kept(page)
    page.reload()
    expect(page.get_by_role("radio", name="likely")).to_be_checked()
    expect(page.locator("#candidate")).to_have_value(chosen)
    submit(page)
    assert submitted(journal)[0] == {
        "verdict": "likely", "marks": ["another", "trivial"], "candidate": chosen, "note": "1 3 z s f: keys are letters here", "own": "",
        "uncovered": False,
    }  # fmt: skip
    page.keyboard.press("3")
    page.keyboard.press("4")
    page.locator("#candidate").select_option(index=1)
    page.keyboard.press("Escape")
    page.keyboard.press("4")  # who takes the mark back has named none
    expect(page.locator("#candidate")).to_have_value("")
    submit(page)
    assert [answer["candidate"] for answer in submitted(journal)] == [chosen, ""]
    page.keyboard.press("z")
    expect(page.get_by_role("radio", name="does not follow")).to_be_checked()


def test_a_hidden_answer_comes_after_ones_own(collect: Collect, look: Look) -> None:
    journal = collect("validate", [question(0)], options={"hide_answer": True})
    page = look(journal, "ann").page
    expect(page.get_by_role("radio")).to_have_count(0)
    assert "Chain to the answer" not in page.content()
    page.locator("#own").fill("wim")
    page.locator("#uncover").click()
    expect(page.get_by_text("Your own answer: wim")).to_be_visible()
    expect(page.locator(".answered")).to_contain_text("vax")
    page.keyboard.press("3")
    kept(page)
    submit(page)
    (answer,) = submitted(journal)
    assert (answer["own"], answer["uncovered"], answer["verdict"]) == ("wim", True, "does-not-follow")


def test_spans_are_marked_at_their_places(collect: Collect, look: Look) -> None:
    text = f"{EMOJI} & <b>the</b>\r\ncapital of arl is vax."
    asked = replace(question(0), paragraphs=(Paragraph(id="p0", title="arl", text=text, supporting=True), *question(1).paragraphs))
    journal = collect("answer", [asked], options={"metric": "musique"})
    page = look(journal, "ann").page
    page.keyboard.press("/")
    page.keyboard.type("CAPITAL arl")
    expect(page.locator(".document:visible")).to_have_count(1)
    page.keyboard.press("Escape")
    page.evaluate(
        """() => {
            const node = document.querySelector(".document .text").firstChild, at = node.data.indexOf("arl is");
            window.getSelection().setBaseAndExtent(node, at - 1, node, at + 6);
        }"""
    )
    page.keyboard.press("a")
    expect(page.locator("#spans li")).to_have_text(["arl is×"])
    page.locator("#typed").fill(f"{EMOJI} typed")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    page.keyboard.press("k")
    page.locator("[data-document=p0] input[name=support]").check()
    kept(page)
    page.reload()
    expect(page.locator("#spans li")).to_have_text(["arl is×", f"{EMOJI} typed×"])
    page.get_by_role("button", name=f"Remove {EMOJI} typed").click()
    kept(page)
    submit(page)
    (answer,) = submitted(journal)
    assert answer["spans"] == [{"text": "arl is", "document": "p0", "start": text.index("arl is")}]
    assert (answer["kind"], answer["support"], answer["knew"]) == ("spans", ["p0"], True)
    (decided,) = journal.decided()
    assert journal.task.figures([decided])[0].value.mean == 0.0


def test_numbers_and_candidates_by_keys(collect: Collect, look: Look) -> None:
    page = look(collect("answer", [question(0)], options={"metric": "iirc"}), "ann").page
    page.keyboard.press("2")
    page.locator("#number").fill("twelve")
    page.locator("#unit").fill("miles")
    page.keyboard.press("Escape")
    expect(page.locator("#faults")).to_contain_text("Write the number in digits")
    page.locator("#number").fill("12")
    expect(page.locator("#faults li.blocking")).to_have_count(0)
    page.keyboard.press("Escape")
    page.keyboard.press("5")
    expect(page.locator("#of-number")).to_be_hidden()


@pytest.mark.parametrize(("width", "scheme"), [(390, "light"), (1024, "dark"), pytest.param(1600, "light", marks=pytest.mark.thorough)])
def test_nothing_serious_is_found_by_axe(width: int, scheme: str, collect: Collect, look: Look, tmp_path: Path) -> None:
    strange = "x" * 90 + "<img src=x onerror='window.owned=1'>"
    long = [replace(each, question=f"{each.question} {strange}", answers=(strange,)) for each in (chained(0), question(1))]
    for task, options in (("validate", {}), ("answer", {"metric": "hotpotqa"})):
        journal = collect(task, long, options=options, name=f"of {task}", sample=1 if task == "validate" else 2)
        window = look(journal, "ann", color_scheme=scheme)
        page = window.page
        page.set_viewport_size({"width": width, "height": 900})
        for key in ("c", "d"):
            page.keyboard.press(key)
        page.evaluate(axe())
        found = [entry for entry in page.evaluate(RUN) if entry[0] in SERIOUS]
        assert found == [], json.dumps(found, indent=1)
        assert window.overflow() <= 0
        assert page.evaluate("window.owned") is None
        (tmp_path / "journal.sqlite").unlink()
