"""IIRC's two pages on the server: what a passage hides, work by keys alone, people who do not agree, and a long passage."""

from __future__ import annotations

import json
import re
import statistics
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from kgqa.collection.journal import Journal
from kgqa.collection.project import Project
from kgqa.database import database_at
from kgqa.web.annotate.app import create_app
from tests.collection.iirc_corpus import TOWNS, secret, write_project, write_tables
from tests.collection.test_iirc_answers import question_set
from tests.web.annotate.conftest import Look, Person
from tests.web.explore.test_accessibility import RUN, SERIOUS, axe

Open = Callable[[Project], Journal]
QUESTIONS = {"links": 4, "questions": 2, "several": 1}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Open]:
    """Opens the journal of a project beside it."""
    journals: list[Journal] = []

    def make(project: Project) -> Journal:
        database = database_at(tmp_path / f"{project.settings.task}.sqlite", option="--journal", file="journal.sqlite")
        journals.append(Journal(database, project))
        return journals[-1]

    yield make
    for journal in journals:
        journal.close()


@pytest.fixture
def questions(tmp_path: Path, opened: Open) -> Journal:
    """People write questions about six passages."""
    write_tables(tmp_path / "corpus")
    return opened(write_project(tmp_path, "iirc-questions", "corpus", options=QUESTIONS))


@pytest.fixture
def answers(tmp_path: Path, opened: Open) -> Journal:
    """Three of ben, cem and dua answer each of twelve questions of ann."""
    folder = tmp_path / "answers"
    question_set(folder)
    return opened(write_project(folder, "iirc-answers", "questions", leads=["lea"], options={"articles": "corpus"}))


def test_no_route_shows_what_a_linked_article_says(questions: Journal) -> None:
    person = Person(questions, "ann", create_app(questions))
    item, token = person.item()
    hidden = questions.item(item).hidden
    responses = [person.client.get("/")]
    for name in (*hidden["articles"], *hidden["articles"].values(), hidden["document"], "passage", f"article:{TOWNS[0]}"):
        for document in (name, f"article:{name}"):
            responses.append(person.client.get("/api/document", params={"item": item, "id": document}))
            assert responses[-1].status_code == 404
        responses.append(person.client.get("/api/search", params={"item": item, "q": name}))
        assert responses[-1].status_code == 404
    question = {"question": "Where is it?", "links": list(hidden["articles"]), "context": []}
    for path in ("check", "submit", "draft"):
        bodies: dict[str, dict[str, Any]] = {"submit": {"token": token, "seconds": 1.0}, "draft": {"version": 0}}
        body = bodies.get(path, {})
        responses.append(person.post(path, item=item, answer={"questions": [question]}, **body))
    for response in responses:
        assert not re.search(r"Rill\d|bridges and a river|is a town", response.text)
        assert "d-Town" not in response.text.replace(str(response.request.url), "") or response.status_code == 404
    texts = " ".join(json.dumps(dict(each.shown)) for each in questions.task.items())
    assert not any(secret(town) in texts for town in TOWNS)


@pytest.mark.parametrize("name", ["iirc-questions", "iirc-answers"])
def test_pages_hold_no_script_of_the_data(name: str, questions: Journal, answers: Journal) -> None:
    journal = questions if name == "iirc-questions" else answers
    page = Person(journal, "ben", create_app(journal)).page()
    scripts = re.findall(r"<script(?![^>]*\bsrc=)[^>]*>", page)
    assert set(scripts) == {'<script type="application/json" id="shown">', '<script type="application/json" id="draft">'}
    assert f"/static/steps/{name}.js" in page
    assert not re.search(r"<style|\sstyle=|\son\w+=", page)


def kept(page: Page) -> None:
    """Wait for the server to have the draft."""
    expect(page.locator("#state")).to_have_text("Draft kept.")


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


@pytest.mark.slow
def test_questions_are_written_by_keys_alone(questions: Journal, look: Look) -> None:
    window = look(questions, "ann", permissions=["clipboard-read", "clipboard-write"])
    page = window.page
    press(page, "q")
    page.evaluate(
        """() => navigator.clipboard.write([new ClipboardItem({
            "text/html": new Blob(["<b>Which</b> <i>town</i> is larger?"], {type: "text/html"}),
            "text/plain": new Blob(["Which town is larger?"], {type: "text/plain"})})])"""
    )
    press(page, "Control+v", "Enter", "Space", "ArrowDown", "Space", "Enter")
    # In the passage: the first word and the next one are needed; then the second question.
    press(page, "ArrowRight", "Shift+ArrowRight", "c", "j")
    page.keyboard.type("How old is j k l p q <b>it</b>?")
    press(page, "Enter", "T", "Space", "Enter", "End", "c")
    kept(page)
    page.reload()  # leaves and comes back
    assert page.locator("#question").input_value() == "Which town is larger?"
    assert page.locator("#questions .words").all_inner_texts() == ["Which town is larger?", "How old is j k l p q <b>it</b>?"]
    assert page.locator("#marks .go-to").all_inner_texts() == ["The cafe\u0301"]
    press(page, "k", "j")
    assert page.locator("#which").inner_text() == "1"
    assert page.locator("#question").input_value() == "Which town is larger?j"  # in a text field keys are letters
    press(page, "Backspace", "Escape", "j")
    assert page.locator("#marks .go-to").all_inner_texts() == ["home"]
    press(page, "Control+Enter")
    page.get_by_text("1 answered").wait_for()
    (event,) = [event for event in questions.events() if event.kind == "submit"]
    first, second = event.body["answer"]["questions"]
    text, titles = questions.item(event.item).shown["text"], [link["title"] for link in questions.item(event.item).shown["links"]]
    assert (first["question"], first["links"]) == ("Which town is larger?", titles[:2])
    assert (second["question"], second["links"]) == ("How old is j k l p q <b>it</b>?", titles[2:3])
    for mark in (*first["context"], *second["context"]):
        assert text[mark["start"] : mark["end"]] == mark["text"]


@pytest.mark.slow
def test_links_are_chosen_by_the_mouse_too_and_faults_are_told(questions: Journal, look: Look) -> None:
    window = look(questions, "ann")
    page = window.page
    page.locator("#passage .mention").nth(2).click()
    page.locator("#passage .mention").nth(0).click()
    assert [box.is_checked() for box in page.get_by_role("checkbox").all()] == [True, False, True, False]
    page.locator("#passage .mention").nth(0).click()
    kept(page)
    page.get_by_text("The question is empty.").wait_for()
    page.get_by_role("button", name="Submit").click()
    page.get_by_text("0 of 2 questions are complete; write 2 more.").wait_for()
    assert page.locator('[data-field="questions.0"]').get_attribute("data-fault") is not None
    window.allowed.append("status of 422")
    assert not [event for event in questions.events() if event.kind == "submit"]


def answer_by_keys(page: Page, kind: str) -> None:
    """Open the article that the question names, mark it and the passage, and choose the kind of answer."""
    press(page, "l", "Enter")
    page.locator("#article:focus").wait_for()
    press(page, "PageDown", "Shift+PageDown", "c", "End", "a", "p", "ArrowRight", "c")
    press(page, {"span": "1", "number": "2", "yes": "3"}[kind])
    if kind == "number":
        page.locator("#value").fill("1,200")
        page.locator("#unit").fill("bridges")
        press(page, "Escape")


@pytest.mark.slow
def test_three_people_answer_by_keys_alone_and_two_agree(answers: Journal, look: Look) -> None:
    for person, kind in (("ben", "span"), ("cem", "number"), ("dua", "span")):
        page = look(answers, person).page
        assert page.locator("#question-text").inner_text().startswith(("Which", "How many"))
        answer_by_keys(page, kind)
        kept(page)
        if person == "dua":
            page.reload()
            page.get_by_role("radio", name="1").wait_for()
            assert page.get_by_role("radio", name="1").is_checked()
            assert page.locator("#marks li").count() == 3
            page.get_by_role("button", name=re.compile("^Rill")).press("Enter")
            page.locator("#article:focus").wait_for()  # a mark leads to its article, which is opened again
        press(page, "Control+Enter")
        page.get_by_text("1 answered").wait_for()
    (decided,) = answers.decided()
    assert decided.labels["type"] == "span"
    assert decided.labels["answer"].startswith("span: rill")
    ((split, instance),) = answers.task.instances([decided])
    assert (split, instance.answer_type) == ("dev", "span")
    assert instance.answers[0].startswith("Rill")
    number = next(event for event in answers.events() if event.kind == "submit" and event.person == "cem").body
    assert (number["labels"]["answer"], number["answer"]["unit"]) == ("number: 1200.0", "bridges")


@pytest.mark.slow
def test_a_lead_settles_three_different_answers(answers: Journal, look: Look) -> None:
    context = [{"document": "passage", "start": 0, "end": 1, "text": "\U0001f30d"}]
    given: dict[str, dict[str, Any]] = {
        "ben": {"type": "none"}, "cem": {"type": "bad", "reason": "misread"}, "dua": {"type": "yes", "context": context},
    }  # fmt: skip
    for person, answer in given.items():
        somebody = Person(answers, person)
        item, token = somebody.item()
        assert somebody.post("submit", item=item, answer=answer, token=token, seconds=1.0).status_code == 200
    window = look(answers, "lea")
    page = window.page
    page.goto(f"{window.address}/disputes")
    page.get_by_role("listitem").get_by_role("link").click()
    page.get_by_text("answer: bad").wait_for()
    answer_by_keys(page, "span")
    page.get_by_role("button", name="Settle").click()
    page.wait_for_url("**/disputes")
    (decided,) = answers.decided()
    assert decided.labels["type"] == "span"
    assert len(list(answers.task.instances([decided]))) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("width", "scheme"),
    [(390, "light"), (1600, "dark"), *(pytest.param(*both, marks=pytest.mark.thorough) for both in ((390, "dark"), (1024, "light")))],
)
def test_both_pages_are_accessible_at_every_width(questions: Journal, answers: Journal, look: Look, width: int, scheme: str) -> None:
    for journal in (questions, answers):
        page = look(journal, "ben", color_scheme=scheme).page
        page.set_viewport_size({"width": width, "height": 900})
        page.locator("#passage .mention").first.click()
        press(page, "6", "p", "Shift+ArrowRight", "c")
        page.locator("summary").click()
        kept(page)
        page.evaluate(axe())
        assert [entry for entry in page.evaluate(RUN) if entry[0] in SERIOUS] == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.slow
def test_a_long_passage_with_many_links_is_quick_on_the_whole_page(tmp_path: Path, opened: Open, look: Look) -> None:
    text = ""
    links: list[dict[str, Any]] = []
    for number in range(4_000):
        if number % 50 == 0 and len(links) < 40:
            links.append({"target": TOWNS[len(links)], "indices": [len(text), len(text) + 6]})
            text += f"{TOWNS[len(links) - 1]} "
        text += f"word{number}" + (". " if number % 12 == 0 else " ")
    (tmp_path / "long.jsonl").write_text(json.dumps({"title": "Long", "text": text[:20_000], "links": links}))
    journal = opened(write_project(tmp_path, "iirc-questions", "long.jsonl", options={"links": 40}))
    page = look(journal, "ann").page
    page.evaluate(
        """() => {
            window.times = [];
            document.addEventListener("keydown", (event) => {
                const begin = performance.now();
                requestAnimationFrame(() => setTimeout(() => times.push(performance.now() - begin)));
            }, true);
        }"""
    )
    medians = {}
    for name, first, key in (("move", "p", "ArrowRight"), ("mark", "p", "c"), ("write", "q", "x"), ("choose", "l", " ")):
        press(page, "Escape", first, "Home")
        page.evaluate("times.length = 0")
        for _ in range(10):
            press(page, key)
            page.wait_for_timeout(30)
        medians[name] = statistics.median(page.evaluate("times"))
    print({name: round(value, 1) for name, value in medians.items()})
    assert max(medians.values()) <= 100
