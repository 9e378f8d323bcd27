"""Scripted people for all tasks: they disagree, leave and come back, paste HTML, have two tabs, and press keys too fast.

Most of their work goes through the routes, as the page's script sends it; a few items of each task are answered in a browser.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgqa.collection.journal import Journal
from kgqa.collection.project import Project, ProjectSettings
from kgqa.collection.task import Item
from tests.collection.composed import composed
from tests.collection.iirc_corpus import write_lines, write_project
from tests.collection.strategy import FOUND, QUESTION, STEPS, project as strategy_project
from tests.collection.test_iirc_answers import question_set
from tests.collection.test_validate import chained
from tests.small_questions import question, write_set
from tests.web.annotate.conftest import Person

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.web.explore.conftest import Window

PEOPLE = ("ann", "bob", "cem", "dua", "eve")
LEAD = "lea"
PASTED = "a <b>bold</b> word</script><img src=x onerror='window.hit=1'>"
Fetch = Callable[[str], Mapping[str, Any]]
"""Opens a document of an item."""


def _on_set(folder: Path, task: str, instances: list[Any], **settings: Any) -> Project:
    dataset = write_set(folder / "set", dev=instances)
    values = {"name": task, "task": task, "data": str(dataset), "people": PEOPLE, "leads": [LEAD], "sample": len(instances), **settings}
    return Project(path=folder / "project.toml", settings=ProjectSettings.model_validate(values))


def _validate(folder: Path, size: int) -> Project:
    samples = [replace(chained(number % 16), id=f"q{number}", group=f"g{number}") for number in range(size)]
    return _on_set(folder, "validate", samples, per_item=3)


def _answer(folder: Path, size: int) -> Project:
    samples = [replace(question(number % 16), id=f"q{number}", group=f"g{number}") for number in range(size)]
    return _on_set(folder, "answer", samples, per_item=2, options={"metric": "musique"})


def _compose(folder: Path, size: int) -> Project:
    samples = [replace(composed(number % 16), id=f"c{number}", group=f"c{number}") for number in range(size)]
    return _on_set(folder, "compose", samples, per_item=2)


def _iirc_questions(folder: Path, size: int) -> Project:
    write_lines(folder / "passages.jsonl", passages=size)
    options = {"links": 4, "questions": 3, "several": 1}
    return write_project(folder, "iirc-questions", "passages.jsonl", people=PEOPLE, leads=[LEAD], sample=size, options=options)


def _iirc_answers(folder: Path, size: int) -> Project:
    question_set(folder, passages=(size + 1) // 2)
    return write_project(
        folder, "iirc-answers", "questions", people=PEOPLE, leads=[LEAD], sample=size, options={"articles": "corpus"}
    )  # fmt: skip


def _strategyqa(folder: Path, size: int) -> Project:
    # Each question has four steps, which are items.
    return strategy_project(folder, people=PEOPLE, sample=max(1, size // 4), per_term=5, matchers=1, verifiers=2)


PROJECTS: dict[str, Callable[[Path, int], Project]] = {
    "validate": _validate,
    "answer": _answer,
    "compose": _compose,
    "iirc-questions": _iirc_questions,
    "iirc-answers": _iirc_answers,
    "strategyqa": _strategyqa,
}
"""Task → a project with about so many items."""


def respond(item: Item, rng: random.Random, fetch: Fetch) -> dict[str, Any]:
    """What somebody answers to an item: nothing that the checks refuse, and not always what others answer."""
    return _RESPONSES[item.step](item.shown, rng, fetch)


def _to_validate(shown: Mapping[str, Any], rng: random.Random, _: Fetch) -> dict[str, Any]:
    marks = ["trivial"] if rng.random() < 0.2 else []
    return {"verdict": rng.choice(["follows", "follows", "likely", "does-not-follow"]), "marks": marks, "note": rng.choice(["", PASTED])}


def _to_answer(shown: Mapping[str, Any], rng: random.Random, _: Fetch) -> dict[str, Any]:
    document = rng.choice(shown["documents"])
    if rng.random() < 0.2:
        return {"kind": "none", "note": PASTED}
    word = document["text"].split()[-1].rstrip(".")
    span = {"text": word, "document": document["id"], "start": document["text"].rindex(word)}
    return {"kind": "spans", "spans": [span], "support": [document["id"]], "knew": rng.random() < 0.1}


def _to_compose(shown: Mapping[str, Any], rng: random.Random, _: Fetch) -> dict[str, Any]:
    same = ["yes"] * len(shown["pairs"])
    if rng.random() < 0.2:
        return {"same": ["no", *same[1:]]}
    ruler = shown["steps"][0]["paragraph"]["title"]
    own = f"Which country's capital is the birthplace of {ruler}?"
    return {"same": same, "question": rng.choice([shown["draft"], own])}


def _to_iirc_questions(shown: Mapping[str, Any], rng: random.Random, _: Fetch) -> dict[str, Any]:
    text, titles = shown["text"], [link["title"] for link in shown["links"]]
    start = text.index("cafe")
    context = [{"document": "passage", "start": start, "end": start + 11, "text": text[start : start + 11]}]
    questions = [
        {"question": f"{rng.choice(['Where', 'When'])} was it, {number} {PASTED}?", "links": titles[: number + 1], "context": context}
        for number in range(shown["questions"])
    ]
    return {"questions": questions}


def _to_iirc_answer(shown: Mapping[str, Any], rng: random.Random, fetch: Fetch) -> dict[str, Any]:
    name = f"article:{shown['named'][0]}"
    text = fetch(name)["text"]
    start, river = text.index(". ") + 2, text.index("Rill")
    context = [{"document": name, "start": start, "end": len(text), "text": text[start:]}]
    kind = rng.choice(["span", "span", "span", "number", "yes", "none", "bad"])
    span = {"document": name, "start": river, "end": river + 6, "text": text[river : river + 6]}
    more: dict[str, dict[str, Any]] = {
        "span": {"spans": [span], "context": context},
        "number": {"value": rng.choice(["1,200", "1200.0"]), "unit": "bridges", "context": context},
        "yes": {"context": context},
        "bad": {"reason": "other", "note": PASTED},
    }
    return {"type": kind, **more.get(kind, {})}


def _to_question(shown: Mapping[str, Any], rng: random.Random, _: Fetch) -> dict[str, Any]:
    return QUESTION.model_dump(mode="json")


def _to_decomposition(shown: Mapping[str, Any], rng: random.Random, _: Fetch) -> dict[str, Any]:
    return {"judgement": "wrong"} if rng.random() < 0.1 else STEPS.model_dump(mode="json")


def _to_evidence(shown: Mapping[str, Any], rng: random.Random, _: Fetch) -> dict[str, Any]:
    return FOUND.model_dump(mode="json")


def _to_verification(shown: Mapping[str, Any], rng: random.Random, _: Fetch) -> dict[str, Any]:
    return {"steps": ["Halden", PASTED, ""], "answer": "yes" if rng.random() < 0.85 else "no"}


_RESPONSES: dict[str, Callable[[Mapping[str, Any], random.Random, Fetch], dict[str, Any]]] = {
    "validate": _to_validate,
    "answer": _to_answer,
    "compose": _to_compose,
    "questions": _to_iirc_questions,
    "iirc-answer": _to_iirc_answer,
    "question": _to_question,
    "decomposition": _to_decomposition,
    "evidence": _to_evidence,
    "verification": _to_verification,
}
"""Step → how it is answered."""


class Worker(Person):
    """Somebody who works through the routes, and remembers what the server accepted."""

    def __init__(self, journal: Journal, name: str, app: Any, *, seed: int) -> None:
        super().__init__(journal, name, app)
        self.name, self.journal = name, journal
        self.rng = random.Random(f"{name} {seed}")
        self.accepted: dict[int, tuple[str, dict[str, Any]]] = {}
        """Number of the event → item and answer, without what was taken back."""
        self.did: Counter[str] = Counter()

    def work(self) -> bool:
        """One visit; False if there is nothing to do."""
        page = self.page()
        if "data-item=" not in page:
            return False
        item, token = (page.split(f'data-{name}="')[1].split('"')[0] for name in ("item", "token"))
        answer = respond(self.journal.item(item), self.rng, lambda document: self._document(item, document))
        version = int(page.split('data-version="')[1].split('"')[0])
        kept = self.post("draft", item=item, answer=answer, version=version)
        assert kept.status_code == 200, kept.text
        chance = self.rng.random()
        if chance < 0.1:
            self._come_back(item, answer)
        elif chance < 0.15:
            self._two_tabs(item, answer, version)
        elif chance < 0.2:
            assert self.post("flag", item=item, reason=f"odd {PASTED}").status_code == 200
            self.did["flag"] += 1
        elif chance < 0.23:
            assert self.post("skip", item=item, reason="too hard").status_code == 200
            self.did["skip"] += 1
            return True
        self._submit(item, answer, token)
        if chance > 0.95:
            self._undo(item, answer)
        return True

    def _document(self, item: str, document: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.client.get("/api/document", params={"item": item, "id": document}).json()
        return found

    def _come_back(self, item: str, answer: dict[str, Any]) -> None:
        """Leave with a draft; the same item is there again with it."""
        again = self.page()
        assert f'data-item="{item}"' in again
        draft = json.loads(again.split('id="draft">')[1].split("</script>")[0])
        assert draft == answer
        self.did["leave"] += 1

    def _two_tabs(self, item: str, answer: dict[str, Any], version: int) -> None:
        """Another tab, which has not seen the newest draft, may not replace it."""
        assert self.post("draft", item=item, answer={**answer, "other": 1}, version=version).status_code == 409
        self.did["tabs"] += 1

    def _submit(self, item: str, answer: dict[str, Any], token: str) -> None:
        """Submit; sometimes three times, as fast fingers do, and once more from another tab."""
        fast = self.rng.random() < 0.1
        body = {"item": item, "answer": answer, "token": token, "seconds": self.rng.uniform(1, 60)}
        sent = [self.post("submit", **body) for _ in range(3 if fast else 1)]
        assert {response.status_code for response in sent} == {200}, sent[0].text
        (number,) = {response.json()["event"] for response in sent}
        self.accepted[number] = (item, answer)
        if fast:
            assert self.post("submit", item=item, answer=answer, token=token[::-1], seconds=1.0).status_code == 409
            self.did["fast"] += 1

    def _undo(self, item: str, answer: dict[str, Any]) -> None:
        """Take the last answer back, unless somebody has gone on from it."""
        response = self.post("undo")
        if response.status_code == 200:
            assert response.json()["item"] == item
            self.accepted.pop(max(self.accepted))
            self._come_back(item, answer)
            self.did["undo"] += 1


def settle_disputes(journal: Journal, lead: Person, rng: random.Random) -> int:
    """The lead answers every disputed item; their number."""
    lead.page()
    disputes = journal.disputes()
    for each in disputes:
        answer = respond(each.item, rng, lambda document, item=each.item: journal.task.document(item, document))  # type: ignore[misc]
        response = lead.post("adjudicate", item=each.item.id, answer=answer, token=f"lead {rng.random()}", seconds=1.0)
        assert response.status_code == 200, response.text
    return len(disputes)


def submit_in_browser(window: Window, journal: Journal, person: str, rng: random.Random) -> None:
    """Answer the next item in a browser: paste HTML, leave, come back, have two tabs, press the keys too fast."""
    from playwright.sync_api import expect

    page = window.page
    page.goto(f"{window.address}/")
    item = _item(page)
    fields = page.locator("#answer textarea:visible, #answer input[type=text]:visible")
    if fields.count() and fields.first.is_enabled():
        fields.first.focus()
        _paste(page)
        expect(page.locator("#state")).to_have_text("Draft kept.")
        page.goto("about:blank")
        page.go_back()
        expect(fields.first).to_have_value("a bold word")
        assert page.evaluate("window.hit") is None
    answer = respond(journal.item(item), rng, lambda document: journal.task.document(journal.item(item), document))
    version = int(page.locator("#answer").get_attribute("data-version") or 0)
    journal.save_draft(person, item, answer, version=version)
    page.reload()
    other = window.context.new_page()
    other.goto(f"{window.address}/")
    assert _item(other) == item
    page.bring_to_front()
    page.locator("#answer").wait_for()
    page.evaluate("for (let i = 0; i < 3; i++) document.getElementById('answer').requestSubmit()")
    window.until("item => { const form = document.getElementById('answer'); return !form || form.dataset.item !== item; }", item)
    other.bring_to_front()
    other.keyboard.press("Control+Enter")
    expect(other.locator("#trouble")).to_contain_text("was already answered by")
    other.close()
    sent = [event for event in journal.events() if event.kind == "submit" and (event.person, event.item) == (person, item)]
    shape = journal.task.steps[journal.item(item).step].answer
    assert [shape.model_validate(event.body["answer"]) for event in sent] == [shape.model_validate(answer)]
    window.allowed.append("status of 409")


def _item(page: Page) -> str:
    return page.locator("#answer").get_attribute("data-item") or ""


def _paste(page: Page) -> None:
    """Paste what a word processor copies, in place of what is there."""
    page.evaluate(
        """() => navigator.clipboard.write([new ClipboardItem({
            "text/html": new Blob(["a <b>bold</b> word"], {type: "text/html"}),
            "text/plain": new Blob(["a bold word"], {type: "text/plain"})})])"""
    )
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+v")
