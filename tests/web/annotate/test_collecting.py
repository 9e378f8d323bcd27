"""The pages of composing and of strategy questions in a real browser, by keys, until the questions are a dataset."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kgqa.collection.journal import Journal
from kgqa.collection.project import Project, ProjectSettings
from kgqa.database import database_at
from kgqa.formats.provenance import noted
from tests.collection.composed import composed_set
from tests.collection.strategy import QUESTION, project as strategy_project
from tests.web.annotate.conftest import Look
from tests.web.explore.conftest import Window
from tests.web.explore.test_accessibility import axe

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = pytest.mark.slow
Open = Callable[[Project], Journal]
EXAMINE = """async () => (await axe.run(document, {resultTypes: ["violations"]})).violations
    .filter(({impact}) => ["serious", "critical"].includes(impact)).map(({id, nodes}) => `${id}: ${nodes[0].html}`)"""


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Open]:
    journals = []

    def opened(project: Project) -> Journal:
        database = database_at(tmp_path / "journal.sqlite", option="--journal", file="journal.sqlite")
        journals.append(Journal(database, project))
        return journals[-1]

    yield opened
    for each in journals:
        each.close()


def examined(window: Window, theme: str) -> None:
    """No serious finding of axe-core, and nothing wider than a telephone, a tablet or a wide screen."""
    page = window.page
    page.locator("#answer").wait_for()
    page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
    for width in (1600, 1024, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), width
    page.evaluate(axe())
    assert page.evaluate(EXAMINE) == []
    page.set_viewport_size({"width": 1280, "height": 800})
    window.allowed.append("Content Security Policy")  # axe-core's own styles are refused


def drafted(page: Page) -> None:
    """Wait until the server has the draft."""
    page.locator("#state", has_text="Draft kept.").wait_for()


def submit(page: Page) -> None:
    page.wait_for_timeout(20)  # the key that wrote the last letter has been handled
    page.keyboard.press("Control+Enter")


def event_bodies(journal: Journal, kind: str) -> list[dict[str, Any]]:
    return [dict(event.body) for event in journal.events() if event.kind == kind]


def test_questions_are_composed_by_keys(tmp_path: Path, journal: Open, look: Look) -> None:
    settings = {"name": "c", "task": "compose", "data": str(composed_set(tmp_path / "set", range(3))), "people": ["ann"]}
    opened = journal(Project(path=tmp_path / "project.toml", settings=ProjectSettings.model_validate(settings)))
    first, second, third = [item.shown for item in opened.task.items()]
    window = look(opened, "ann")
    page = window.page
    examined(window, "dark")
    own = "Which country's capital is the birthplace of {}?"
    page.keyboard.press("1")
    page.keyboard.press("q")
    page.keyboard.press("Control+a")
    page.keyboard.type(f"Is it {first['steps'][0]['answer']}?")
    page.get_by_text("The question gives away the answer of a step").wait_for()
    submit(page)
    page.locator("#question[aria-invalid]").wait_for()
    ruler = first["steps"][0]["paragraph"]["title"]
    page.keyboard.press("Control+a")
    page.keyboard.type(own.format(ruler))
    submit(page)
    page.get_by_role("heading", name=f"1. {second['steps'][0]['question']}").wait_for()
    page.keyboard.press("2")  # the names differ, so there is nothing to compose
    page.locator("#composing").wait_for(state="hidden")
    drafted(page)
    page.reload()
    assert not page.locator("#composing").is_visible()
    submit(page)
    page.get_by_role("heading", name=f"1. {third['steps'][0]['question']}").wait_for()
    page.keyboard.press("z")
    page.get_by_role("heading", name=f"1. {second['steps'][0]['question']}").wait_for()
    page.keyboard.press("1")
    page.get_by_text("Correct the steps").click()
    page.locator("#step-0").fill("<b>Where</b> was the ruler born?")
    page.get_by_role("button", name="Back to the draft").press("Enter")
    submit(page)
    page.get_by_role("heading", name=f"1. {third['steps'][0]['question']}").wait_for()
    page.keyboard.press("1")
    page.locator("#refusal").fill("Nobody would ask this.")
    submit(page)
    page.locator("#answer").wait_for(state="detached")
    found = {instance.question: instance for _, instance in opened.task.instances(list(opened.decided()))}
    assert set(found) == {own.format(ruler), second["draft"]}
    assert found[second["draft"]].decomposition[0].question == "<b>Where</b> was the ruler born?"  # type: ignore[index]
    assert noted(found[own.format(ruler)], "people") == {"composed_by": "ann"}
    window.allowed.append("status of 422")  # the refused submission


def test_a_strategy_question_goes_from_hand_to_hand(tmp_path: Path, journal: Open, look: Look) -> None:
    opened = journal(strategy_project(tmp_path, people=("ann", "bob", "cat"), sample=1, verifiers=2, matchers=1))
    opened.task.prepare()  # as the server does in a thread
    windows = {name: look(opened, name) for name in ("ann", "bob", "cat")}
    ann, bob, cat = (windows[name].page for name in ("ann", "bob", "cat"))
    examined(windows["ann"], "dark")
    wanted = next(iter(opened.task.items())).shown["answer"]
    ann.keyboard.press("q")
    ann.keyboard.type("Is the town where clocks are made old?")
    ann.get_by_text('"where" begins a clause').wait_for()
    ann.keyboard.press("Control+a")
    ann.keyboard.type(QUESTION.question)
    for place, fact in enumerate((*QUESTION.facts, "It has ships.", "A fourth.")):
        ann.get_by_label(f"Fact {place + 1}").fill(fact)
        ann.keyboard.press("Enter")
    submit(ann)
    ann.locator("#answer").wait_for(state="detached")  # nobody gets the follow-up of their own question

    bob.reload()
    bob.get_by_role("heading", name=QUESTION.question).wait_for()
    examined(windows["bob"], "light")
    bob.get_by_label("Question of step 1").fill("What is the capital of Orlind?")
    bob.keyboard.press("Enter")
    bob.keyboard.type("Orlind")
    bob.keyboard.press("Enter")
    bob.keyboard.type("Is #2 a harbour?")
    bob.get_by_text("Step 2 refers to #2, but only #1 comes before it.").wait_for()
    bob.get_by_label("Question of step 2").fill("Is #1 a harbour?")
    bob.get_by_label("operation").nth(1).check()
    bob.get_by_role("button", name="One more step").press("Enter")
    bob.get_by_role("button", name="Remove step 3").press("Enter")
    drafted(bob)
    bob.reload()
    assert bob.get_by_label("Question of step 2").input_value() == "Is #1 a harbour?"
    submit(bob)
    bob.locator("#search").wait_for()

    examined(windows["bob"], "dark")
    bob.keyboard.press("1")
    bob.get_by_role("button", name="Orlind", exact=True).press("Enter")
    bob.get_by_role("button", name="Take Orlind").first.press("Enter")
    drafted(bob)
    bob.reload()
    bob.locator(".taken li", has_text="Orlind").wait_for()
    assert bob.get_by_label("operation").nth(1).is_checked()  # as the decomposition says
    submit(bob)
    bob.get_by_text("Answer each step from its paragraphs alone").wait_for()

    examined(windows["bob"], "light")
    for page, verdict in ((bob, wanted), (cat, wanted)):
        page.reload()
        page.get_by_text("Answer each step from its paragraphs alone").wait_for()
        assert "Answer: " not in page.locator("main").inner_text()
        page.locator("#step-0").fill("Halden")
        page.keyboard.press("Enter")
        page.locator("#step-1").fill("yes")
        page.keyboard.press("Escape")
        page.keyboard.press("1" if verdict == "yes" else "2")
        submit(page)
        page.locator("#answer").wait_for(state="detached")
    [(split, instance)] = opened.task.instances(list(opened.decided()))
    assert (split, instance.question, instance.answers) == ("train", QUESTION.question, (wanted,))
    assert [paragraph.id for paragraph in instance.paragraphs] == ["text 1"]
    assert noted(instance, "people")["verdicts"] == {wanted: 2}
    assert len(event_bodies(opened, "submit")) == 5
