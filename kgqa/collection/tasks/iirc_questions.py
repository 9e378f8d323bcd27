"""IIRC's questions: people see a passage and the titles of its links, never the linked texts (Ferguson et al. 2020, section 2.2).

All questions of a passage are one answer, since the rule on questions with two links is about all of them, and so that one draft holds
them. A dataset of these questions has hidden answers; its paragraphs are the passage and the articles that each question names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, TypeVar

import pyarrow as pa
from pydantic import Field, ValidationError, model_validator

from kgqa.collection.iirc import QuestionsAnswer, WrittenQuestion
from kgqa.collection.iirc_checks import check_questions
from kgqa.collection.passages import draw_passages, read_texts
from kgqa.collection.task import Decided, Fault, Item, Step, Task
from kgqa.errors import SettingsError
from kgqa.formats.iirc.articles import MAIN
from kgqa.formats.iirc.questions import NAME
from kgqa.formats.provenance import note
from kgqa.records import SPLITS, Instance, Mention, Paragraph
from kgqa.runs.files import key_of
from kgqa.settings.base import Positive, Settings, plain_fault
from kgqa.splits.groups import assign_splits

if TYPE_CHECKING:
    from kgqa.collection.project import Project

Split = Annotated[float, Field(ge=0, lt=1)]
Options = TypeVar("Options", bound=Settings)


class QuestionOptions(Settings):
    """Settings of the task."""

    links: Positive = 10
    """Least number of articles that a passage links to."""
    questions: Annotated[int, Field(ge=1, le=20)] = 10
    """Questions for each passage."""
    several: Annotated[int, Field(ge=0, le=20)] = 2
    """Questions of these that need two links or more."""
    dev: Split = 0.1
    """Share of the passages whose questions are in dev; likewise ``test``."""
    test: Split = 0.1

    @model_validator(mode="after")
    def _possible(self) -> QuestionOptions:
        if self.several > self.questions:
            raise ValueError(f"several is {self.several}, and there are {self.questions} questions; lower it")
        if self.dev + self.test >= 1:
            raise ValueError("dev and test leave nothing for train; lower them")
        return self


class QuestionsStep(Step):
    """Write questions; those of different people are not compared."""

    name = "questions"
    title = "Write questions that need the links"
    answer = QuestionsAnswer
    template = "iirc-questions.html"

    def faults(self, item: Item, answer: QuestionsAnswer) -> list[Fault]:
        """See :mod:`kgqa.collection.iirc_checks`."""
        return list(check_questions(item, answer.questions))


class IircQuestions(Task):
    """Questions for which a passage is not enough."""

    name = "iirc-questions"
    title = "IIRC: write questions"

    def __init__(self, project: Project) -> None:
        """Draw the passages. Raises SettingsError, EmptyResult, MissingInput and BrokenInput."""
        super().__init__(project)
        self.options = read_options(project, QuestionOptions)
        self.steps: Mapping[str, Step] = {QuestionsStep.name: QuestionsStep()}
        settings = project.settings
        self._passages = draw_passages(project.data, links=self.options.links, sample=settings.sample, seed=settings.seed)

    def items(self) -> Iterator[Item]:
        """One item for each passage. The linked articles' ids are hidden, and their texts stay in the corpus."""
        for passage in self._passages:
            yield Item(
                id=passage.id,
                step=QuestionsStep.name,
                shown={
                    "title": passage.title,
                    "text": passage.text,
                    "links": [{"start": link.start, "end": link.end, "title": link.title} for link in passage.links],
                    "questions": self.options.questions,
                    "several": self.options.several,
                },
                hidden={"document": passage.document, "articles": passage.documents},
            )

    def instances(self, decided: Sequence[Decided]) -> Iterator[tuple[str, Instance]]:
        """Each question, without an answer. The passages of one document are in one split."""
        options = self.options
        groups = pa.array([each.item.hidden["document"] for each in decided], pa.string())
        shares = (1 - options.dev - options.test, options.dev, options.test)
        splits = assign_splits(groups, shares, seed=self.project.settings.seed)
        named = {each.item.hidden["articles"][title] for each in decided for title in _named_titles(each)}
        texts = read_texts(self.project.data, named)
        for each, split in zip(decided, splits.tolist(), strict=True):
            for given in each.answers:
                assert isinstance(given.answer, QuestionsAnswer)
                for number, question in enumerate(filter(lambda entry: entry.is_begun, given.answer.questions), start=1):
                    id = f"{each.item.id}/{key_of(given.person)[:6]}/{number}"  # noqa: A001 - what it is
                    yield SPLITS[split], _instance(id, each.item, given.person, question, texts)


def _named_titles(decided: Decided) -> set[str]:
    return {title for given in decided.answers for question in given.answer.questions for title in question.links}  # type: ignore[attr-defined]


def _instance(id: str, item: Item, author: str, question: WrittenQuestion, texts: Mapping[str, str]) -> Instance:  # noqa: A002 - as above
    shown, ids = item.shown, item.hidden["articles"]
    titles = [title for title in question.links if ids[title] in texts]
    articles = [Paragraph(id=title, title=title, text=texts[ids[title]], supporting=None) for title in titles]
    passage = Paragraph(
        id=MAIN,
        title=shown["title"],
        text=shown["text"],
        supporting=True,
        mentions=tuple(Mention(entity=link["title"], start=link["start"], end=link["end"]) for link in shown["links"]),
    )
    values = {
        "context": [{"text": mark.text, "passage": MAIN, "indices": [mark.start, mark.end]} for mark in question.context],
        "question_links": list(question.links),
        "articles": titles,
        "record": {"pid": item.id},
        "question": {"author": author},
    }
    return Instance(
        id=id,
        question=question.question,
        paragraphs=(passage, *articles),
        answers=(),
        answer_type="none",
        answerable=True,
        group=item.id,
        provenance=note(NAME, {name: value for name, value in values.items() if value}),
    )


def read_options(project: Project, kind: type[Options]) -> Options:
    """The settings of a project's task. Raises SettingsError with the file and the key."""
    try:
        return kind.model_validate(project.settings.options)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in ("options", *first["loc"]))
        raise SettingsError(f"{project.path}: {key}: {plain_fault(first)}.") from None


TASK = IircQuestions
