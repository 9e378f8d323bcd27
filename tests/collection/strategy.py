"""A project that collects strategy questions over the seed companies, and answers for each of its steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kgqa.collection.project import Project, ProjectSettings
from kgqa.collection.task import AuthoredAnswer, DecidedItem, Item, find_task, majority
from kgqa.collection.tasks.strategyqa import (
    MatchedEvidence,
    StepEvidence,
    StrategyTask,
    VerifiedEvidence,
    WrittenDecomposition,
    WrittenQuestion,
    WrittenStep,
)
from tests.command import ROOT

COMPANIES = ROOT / "seeds" / "companies"
PEOPLE = ("ann", "bob", "cat", "dan", "eve")
QUESTION = WrittenQuestion(
    question="Could the capital of Orlind trade clocks by sea?",
    facts=("Halden is the capital of Orlind.", "Orlind exports clocks by ship."),
)
STEPS = WrittenDecomposition(
    steps=(
        WrittenStep(question="What is the capital of Orlind?", page="Orlind"),
        WrittenStep(question="Which harbours does Orlind export through?", page="Orlind"),
        WrittenStep(question="Is #1 among #2?", operation=True),
    )
)
FOUND = MatchedEvidence(
    steps=(StepEvidence(paragraphs=("text 1",)), StepEvidence(paragraphs=("text 1", "text 3")), StepEvidence(operation=True))
)


def project(folder: Path, *, people: tuple[str, ...] = PEOPLE, sample: int = 6, **options: Any) -> Project:
    """The project's file in ``folder``; its corpus and terms are the seed domain's."""
    settings = {
        "name": "strategy", "task": "strategyqa", "data": str(COMPANIES / "documents.jsonl"), "people": people, "sample": sample,
        "options": {"terms": str(COMPANIES / "entities.tsv"), **options},
    }  # fmt: skip
    return Project(path=folder / "project.toml", settings=ProjectSettings.model_validate(settings))


def task(folder: Path, **settings: Any) -> StrategyTask:
    """Its task."""
    made = find_task("strategyqa")(project(folder, **settings))
    assert isinstance(made, StrategyTask)
    return made


def decided(made: StrategyTask, item: Item, *answers: Any, people: tuple[str, ...] = PEOPLE) -> DecidedItem:
    """An item with the answers of the first people."""
    given = tuple(AuthoredAnswer(person=name, answer=answer) for name, answer in zip(people, answers, strict=False))
    labels = majority(made.steps[item.step], given, share=0.5)
    assert labels is not None
    return DecidedItem(item=item, answers=given, labels=labels)


def verified(answer: Any, *, steps: tuple[str, ...] = ("Halden", "Halden")) -> VerifiedEvidence:
    """Somebody's verification."""
    return VerifiedEvidence(steps=(*steps, ""), answer=answer)
