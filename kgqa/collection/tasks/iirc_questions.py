"""IIRC's questions: people see a passage and the titles of its links, never the linked texts (Ferguson et al. 2020, section 2.2).

All questions of a passage are one answer, since the rule on questions with two links is about all of them, and so that one draft holds
them. A dataset of these questions has hidden answers; its paragraphs are the passage and the articles that each question names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import pyarrow as pa
from pydantic import Field, model_validator

from kgqa.collection.iirc import QuestionsAnswer, WrittenQuestion
from kgqa.collection.iirc_checks import check_questions
from kgqa.collection.passages import draw_passages, read_texts
from kgqa.collection.task import Answer, DecidedItem, Fault, Figure, Item, Step, Task
from kgqa.collection.tasks.samples import share_figures, task_options
from kgqa.formats.iirc.articles import MAIN
from kgqa.formats.iirc.questions import NAME
from kgqa.formats.provenance import note
from kgqa.records import SPLITS, Instance, Mention, Paragraph
from kgqa.runs.files import key_of
from kgqa.settings.base import Positive, Settings
from kgqa.splits.groups import assign_splits

if TYPE_CHECKING:
    from kgqa.collection.project import Project

Split = Annotated[float, Field(ge=0, lt=1)]


class QuestionOptions(Settings):
    """Options of the task ``iirc-questions``."""

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
        """Faults of the questions and of their number (:mod:`kgqa.collection.iirc_checks`)."""
        return list(check_questions(item, answer.questions))


class IircQuestions(Task):
    """Questions for which a passage is not enough."""

    name = "iirc-questions"
    title = "IIRC: write questions"
    steps = {QuestionsStep.name: QuestionsStep()}  # noqa: RUF012 - never changed

    def __init__(self, project: Project) -> None:
        """Draw the passages. Raises SettingsError, EmptyResult, MissingInput and BrokenInput."""
        super().__init__(project)
        self.options = task_options(project, QuestionOptions)
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

    def instances(self, decided: Sequence[DecidedItem]) -> Iterator[tuple[str, Instance]]:
        """Each question, without an answer. The passages of one document are in one split."""
        options = self.options
        groups = pa.array([item.item.hidden["document"] for item in decided], pa.string())
        shares = (1 - options.dev - options.test, options.dev, options.test)
        splits = assign_splits(groups, shares, seed=self.project.settings.seed)
        article_ids = {item.item.hidden["articles"][title] for item in decided for title in _named_titles(item)}
        texts = read_texts(self.project.data, article_ids)
        for item, split in zip(decided, splits.tolist(), strict=True):
            for answer in item.answers:
                for number, question in enumerate(_questions(answer.answer), start=1):
                    id = f"{item.item.id}/{key_of(answer.person)[:6]}/{number}"  # noqa: A001 - what it is
                    yield SPLITS[split], _instance(id, item.item, answer.person, question, texts)

    def figures(self, decided: Sequence[DecidedItem]) -> list[Figure]:
        """The share of questions that need several links."""
        several = [len(question.links) > 1 for item in decided for answer in item.answers for question in _questions(answer.answer)]
        return share_figures({"needs several links": several})


def _named_titles(decided: DecidedItem) -> set[str]:
    return {title for answer in decided.answers for question in _questions(answer.answer) for title in question.links}


def _questions(answer: Answer) -> list[WrittenQuestion]:
    assert isinstance(answer, QuestionsAnswer)
    return [question for question in answer.questions if question.is_begun]


def _instance(id: str, item: Item, author: str, question: WrittenQuestion, texts: Mapping[str, str]) -> Instance:  # noqa: A002 - as above
    shown_fields, ids = item.shown, item.hidden["articles"]
    titles = [title for title in question.links if ids[title] in texts]
    articles = [Paragraph(id=title, title=title, text=texts[ids[title]], supporting=None) for title in titles]
    passage = Paragraph(
        id=MAIN,
        title=shown_fields["title"],
        text=shown_fields["text"],
        supporting=True,
        mentions=tuple(Mention(entity=link["title"], start=link["start"], end=link["end"]) for link in shown_fields["links"]),
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


TASK = IircQuestions
