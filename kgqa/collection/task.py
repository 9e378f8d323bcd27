"""What a task is: steps that people do on items, the answers they give, and what follows from the answers.

A project has one task. A task has one or more steps; an item belongs to one step. When the seats of an item are filled, its answers are
compared: they agree, or a lead decides. A decided item may lead to items of the next step (StrategyQA: question, decomposition, evidence).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict

from kgqa.collection.project import TASKS, Project
from kgqa.errors import UnknownId

if TYPE_CHECKING:
    from kgqa.metrics.bootstrap import Interval
    from kgqa.records import Instance


class Answer(BaseModel):
    """What a person submits for an item: JSON of this shape and no other."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_max_length=20_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One unit of work for one person: a sample to validate, a passage to ask about."""

    id: str
    """Unique in the project, at most 200 characters."""
    step: str
    """The name of a step of the task."""
    shown: Mapping[str, Any]
    """JSON that the page shows. Annotators can read all of it."""
    hidden: Mapping[str, Any] = field(default_factory=dict)
    """JSON that annotators never get: the dataset's answer where they must find it, and what an export needs."""
    seats: int | None = None
    """People who answer it; None: as many as the project says."""
    gold: Mapping[str, Any] | None = None
    """The known answer of a gold item; its labels are compared with a person's."""
    authors: tuple[str, ...] = ()
    """People whose work the item is about, who do not get it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What a live check finds in an answer."""

    field: str
    """The field of the answer, for the page; empty: the whole answer."""
    sentence: str
    blocking: bool = True
    """Whether the answer is refused. Otherwise the page warns."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthoredAnswer:
    """An answer with its author."""

    person: str
    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class DecidedItem:
    """An item with its answers and the labels that the majority or a lead gave it."""

    item: Item
    answers: tuple[AuthoredAnswer, ...]
    """Those of people, not of models, in the order of submission; without people who withdrew."""
    labels: Mapping[str, str]
    """Question → label; empty where nothing is compared."""
    lead: Answer | None = None
    """The answer of the lead who settled a disagreement."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure that a task computes from its decided items, for the status and the card."""

    name: str
    value: Interval
    """In percent, with its 95% interval."""
    items: int
    """Items that it is computed from."""


class Step:
    """A step of a task: its page, the shape of its answers, and the checks on them."""

    name: ClassVar[str]
    title: ClassVar[str]
    """What is done, as the page's heading: ``Validate a sample``."""
    answer: ClassVar[type[Answer]]
    template: ClassVar[str] = "plain.html"
    """File below ``kgqa/web/annotate/templates/steps``; by default a field for each part of the answer."""
    decisive: ClassVar[tuple[str, ...] | None] = None
    """Questions of ``labels`` on which people must agree for an item to be decided; None: all of them. Any other question has a label where
    most people give one."""

    def shown(self, item: Item, draft: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the page shows of ``item`` beside the answer so far, ``draft``: ``item.shown``, and what the answer so far uncovers."""
        return item.shown

    def labels(self, answer: Any) -> dict[str, str]:
        """Question → label, on which agreement is measured and reached; empty: answers of different people are not compared."""
        return {}

    def faults(self, item: Item, answer: Any) -> list[Fault]:
        """The live checks: run while a person writes, and again at submission."""
        return []

    @property
    def asks(self) -> bool:
        """Whether answers of this step ask questions."""
        return type(self).asked is not Step.asked

    def asked(self, item: Item, answer: Any) -> Instance | None:
        """The question that an answer asks, for the solvers, with its right answer first and the item's id; None if it asks none."""
        return None

    def follow(self, decided: DecidedItem) -> list[Item]:
        """Items of the next step. Their ids are made from ``decided`` alone, so that a repetition makes the same ones."""
        return []


class Task:
    """A task of a project. Subclasses read the project's data when they are made, and raise KgqaError for what is wrong with it."""

    name: ClassVar[str]
    title: ClassVar[str]
    steps: Mapping[str, Step]

    def __init__(self, project: Project) -> None:
        """Open the data of ``project``."""
        self.project = project

    def prepare(self) -> None:
        """Build what pages will need, such as an index to search; runs in a thread of its own when pages begin to be served."""

    def items(self) -> Iterator[Item]:
        """The first items, in the order in which they are given out."""
        raise NotImplementedError

    def instances(self, decided: Sequence[DecidedItem]) -> Iterator[tuple[str, Instance]]:
        """The dataset that the decided items give: split and instance."""
        raise NotImplementedError

    def figures(self, decided: Sequence[DecidedItem]) -> list[Figure]:
        """Figures beside agreement and time, which every task has."""
        return []

    def document(self, item: Item, id: str) -> dict[str, Any]:  # noqa: A002 - what it is
        """A document that the item's page may open: ``id, title, text`` and more. Raises UnknownId."""
        raise UnknownId(f"{id!r} is not a document of item {item.id}; open one that its page names.")

    def search(self, item: Item, query: str, limit: int) -> list[dict[str, Any]]:
        """Documents of the corpus for the evidence of an item, best first."""
        raise UnknownId(f"item {item.id} has no corpus to search; use what its page shows.")


def majority(step: Step, answers: Sequence[AuthoredAnswer], *, share: float) -> dict[str, str] | None:
    """Question → the label given by at least ``share`` of the people and by more than any other; None where a decisive one has none.

    A question that nobody labels is left out; a person without a label for a question counts as one who gives none.
    """
    labels = [step.labels(answer.answer) for answer in answers]
    decision: dict[str, str] = {}
    for question in dict.fromkeys(question for label in labels for question in label):
        counts = Counter(label.get(question, "") for label in labels).most_common(2)
        agreed = counts[0][1] >= share * len(labels) - 1e-9 and (len(counts) == 1 or counts[1][1] < counts[0][1])
        if not agreed and (step.decisive is None or question in step.decisive):
            return None
        if agreed and counts[0][0]:
            decision[question] = counts[0][0]
    return decision


def find_task(name: str) -> type[Task]:
    """The class of the task ``name``, a key of ``TASKS``. Its module is imported when a project first needs it."""
    return import_module(TASKS[name]).TASK
