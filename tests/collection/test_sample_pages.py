"""The pages of ``validate`` and ``answer``, rendered: all of a sample is there as text, and nothing in the data is markup."""

from __future__ import annotations

import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from jinja2 import Environment, FileSystemLoader, StrictUndefined

import kgqa.web
from kgqa.collection.task import DecidedItem, Item, Task
from kgqa.collection.verdicts import MARKS, VERDICTS
from kgqa.records import Instance, Mention, Paragraph
from tests.collection import test_answer, test_validate
from tests.small_questions import question, write_set

FORM = Path(kgqa.web.__file__).parent / "annotate" / "templates"
HARMFUL = '</script><script>window.owned=1</script><img src=x onerror="window.owned=1">\r\n&amp; {{ 7 * 7 }}'


def page(task: Task, item: Item, draft: dict[str, Any], *, action: str = "submit") -> str:
    """What the server includes in its page."""
    environment = Environment(
        loader=FileSystemLoader(FORM), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    step = task.steps[item.step]
    return environment.get_template(f"steps/{step.template}").render(
        item=item,
        draft=draft,
        step=step,
        project=task.project,
        person="ann",
        number="{:,}".format,
        assets="0",
        action=action,
    )


def plain(text: str) -> str:
    """The text of a page without tags."""
    return " ".join(unescape(re.sub(r"<[^>]+>", "", text)).split())


def undecided(task: Task) -> list[DecidedItem]:
    """The items of a task without answers."""
    return [DecidedItem(item=item, answers=(), labels={}) for item in task.items()]


@pytest.fixture
def chained(tmp_path: Path) -> Path:
    """Questions with chains, candidates and steps."""
    return write_set(tmp_path / "set", dev=[test_validate.chained(number) for number in range(4)])


def test_a_sample_is_laid_open(chained: Path) -> None:
    task = test_validate.task(chained)
    for item, instance in ((each.item, instance) for each, instance in task.samples(undecided(task))):
        text = plain(page(task, item, {}))
        for part in (instance.question, instance.answers[0], "Chain to the answer", f"{len(instance.candidates or ()) - 1} c"):
            assert part in text
        for paragraph in instance.paragraphs:
            assert " ".join(paragraph.text.split()) in text
        assert all(candidate.text in text for candidate in instance.candidates or ())
        assert all(step.question in text for step in instance.decomposition or ())
        assert all(category.sentence in text for category in (*VERDICTS.values(), *MARKS.values()))


def test_a_draft_is_there_again(chained: Path, tmp_path: Path) -> None:
    task = test_validate.task(chained)
    item = next(iter(task.items()))
    other = item.shown["others"][0]["id"]
    text = page(task, item, {"verdict": "likely", "marks": ["another", "trivial"], "candidate": other, "note": "a\n</textarea>"})
    assert re.findall(r'value="([\w-]+)"[^>]*checked', text) == ["likely", "another", "trivial"]
    assert re.findall(r'value="(\w+)" selected', text) == [other]
    assert "a\n&lt;/textarea&gt;</textarea>" in text
    dataset = write_set(tmp_path / "spans", dev=[question(0)])
    answer = test_answer.task(dataset, options={"metric": "hotpotqa"})
    (item,) = answer.items()
    draft = {
        "kind": "number",
        "number": "12",
        "unit": 'm"',
        "support": ["p0"],
        "sentences": [{"document": "p0", "sentence": 1}],
        "knew": True,
    }
    text = page(answer, item, draft)
    assert re.findall(r'value="(\w+)"[^>]*checked', text) == ["p0", "number"]
    assert re.findall(r'data-sentence="(\d+)"[^>]*checked', text) == ["1"]
    assert 'value="m&#34;"' in text
    assert re.search(r'name="knew"[^>]*checked', text)


def test_a_hidden_answer_is_not_in_the_page(chained: Path) -> None:
    task = test_validate.task(chained, options={"hide_answer": True})
    for item in task.items():
        covered, uncovered = page(task, item, {}), page(task, item, {"own": "c1", "uncovered": True})
        assert "Chain to the answer" not in covered
        assert 'name="verdict"' not in covered
        assert item.hidden["whole"]["steps"][0]["question"] not in covered
        assert "Chain to the answer" in uncovered
        assert "Your own answer" in uncovered
        assert "Chain to the answer" in page(task, item, {}, action="adjudicate")


def test_data_stays_data_and_keeps_its_places(tmp_path: Path) -> None:
    text = f"one {HARMFUL} two"
    mention = Mention(entity=f'c0"{HARMFUL}', start=4, end=len(text) - 4)
    paragraph = Paragraph(id=HARMFUL, title=HARMFUL, text=text, supporting=True, mentions=(mention, replace(mention, start=5)))
    asked: Instance = replace(question(0, candidates=True), question=HARMFUL, paragraphs=(paragraph,), answer_id=mention.entity)
    candidates = tuple(replace(candidate, id=mention.entity, text=HARMFUL) for candidate in (asked.candidates or ())[:1])
    dataset = write_set(tmp_path / "set", dev=[replace(asked, candidates=candidates, answers=(HARMFUL,))])
    tasks: list[Task] = [test_validate.task(dataset), test_answer.task(dataset, options={"metric": "qangaroo"})]
    for task in tasks:
        for item in task.items():
            made = page(task, item, {})
            assert not re.search(r'<script(?![^>]*\bsrc=)|<img|<style|\sstyle=|\son\w+="|49', made)
            found = re.findall(r'<div class="text">(.*?)</div>', made, re.DOTALL)
            assert unescape(re.sub(r"<[^>]+>", "", found[0]).replace("&#13;", "\x00")).replace("\x00", "\r") == text


def test_a_set_without_chains_and_candidates_is_read_as_well(tmp_path: Path) -> None:
    dataset = write_set(tmp_path / "set", dev=[question(0)])
    task = test_validate.task(dataset)
    made = page(task, next(iter(task.items())), {})
    assert "The record holds no chain to it." in made
    assert re.findall(r"<details[^>]*open[^>]*><summary>(\w+)", made) == ["arl"]
    assert 'id="candidate"' not in made
