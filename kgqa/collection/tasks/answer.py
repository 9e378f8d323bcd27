"""The task ``answer``: people answer a dataset's questions, which gives the human figure of its metric."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from kgqa.collection.human import Answered, HumanAnswer, HumanFigures, human_figures, right
from kgqa.collection.task import Answer, DecidedItem, Fault, Figure, Item, Step
from kgqa.collection.tasks.samples import SampleTask, item_id, task_options
from kgqa.collection.view import question_view
from kgqa.errors import SettingsError, suggestion
from kgqa.formats.question_set import open_dataset
from kgqa.metrics.bootstrap import Interval
from kgqa.records import Instance
from kgqa.scoring.default_metric import default_metric
from kgqa.scoring.metrics import METRICS
from kgqa.settings.base import Settings

MOST_NOTE = 2000
"""Characters of a note."""
SUPPORT = ("musique", "hotpotqa", "twowiki")
"""Metrics that score the supporting paragraphs."""
SENTENCES = ("hotpotqa", "twowiki")
"""Metrics that score the supporting sentences."""
Kind = Literal["", "candidate", "spans", "number", "yes", "no", "none"]
KINDS: Mapping[str, str] = {
    "spans": "a span, or several",
    "number": "a number",
    "yes": "yes",
    "no": "no",
    "none": "the documents do not answer it",
}
"""Kind of answer without candidates → its label."""
Text = Annotated[str, Field(max_length=1000)]


class AnswerOptions(Settings):
    """Options of the task in a project file."""

    metric: str | None = None
    """Metric of ``kgqa evaluate``; by default the dataset's own."""

    @field_validator("metric")
    @classmethod
    def _known_metric(cls, metric: str | None) -> str | None:
        if metric is not None and (metric not in METRICS or metric.startswith("dire")):
            raise ValueError(f"metric {metric!r} is not known; {suggestion(metric, [name for name in METRICS if name[:4] != 'dire'])}")
        return metric


class MarkedSpan(BaseModel):
    """A part of an answer, typed or marked in a document."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    text: Text
    document: str = ""
    """The document in which it was marked; empty if it was typed."""
    start: Annotated[int, Field(ge=0)] | None = None
    """Where it begins there, in characters."""


class MarkedSentence(BaseModel):
    """A sentence that supports the answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    document: str
    sentence: Annotated[int, Field(ge=0)]


class QuestionAnswer(Answer):
    """A person's answer to a question."""

    kind: Kind = ""
    spans: Annotated[tuple[MarkedSpan, ...], Field(max_length=100)] = ()
    number: Text = ""
    unit: Text = ""
    candidate: str = ""
    support: tuple[str, ...] = ()
    """Documents that support the answer."""
    sentences: tuple[MarkedSentence, ...] = ()
    knew: bool = False
    """Whether the person knew the answer before reading."""
    note: Annotated[str, Field(max_length=MOST_NOTE)] = ""


class AnswerStep(Step):
    """The one step. Answers that differ are what is measured, so no item is disputed."""

    name = "answer"
    title = "Answer the question"
    answer = QuestionAnswer
    template = "answer.html"
    decisive = ()
    kinds = tuple(KINDS.items())
    most_note = MOST_NOTE

    def labels(self, answer: QuestionAnswer) -> dict[str, str]:
        """The answer in its normal form, and whether there is one."""
        if not answer.kind:
            return {}
        parsed = human_answer("", answer, {})
        return {"answer": parsed.key or "none", "answerable": "yes" if parsed.parts else "no"}

    def faults(self, item: Item, answer: QuestionAnswer) -> list[Fault]:
        """A missing or impossible answer, and marks outside the documents. A missing support only warns."""
        candidates = {candidate["id"] for candidate in item.shown["candidates"]}
        documents = {document["id"]: document for document in item.shown["documents"]}
        faults = [*_answer_faults(answer, candidates), *_place_faults(answer, documents)]
        if item.shown["support"] and answer.kind not in {"", "none"} and not answer.support and not answer.sentences:
            faults.append(Fault(field="support", sentence="Mark the documents that support the answer.", blocking=False))
        return faults


class AnswerTask(SampleTask):
    """Answer a dataset's questions from their documents."""

    name = "answer"
    title = "Answer questions"
    steps: Mapping[str, Step] = {"answer": AnswerStep()}

    def __init__(self, project: Any) -> None:
        """Draw the samples. Raises SettingsError for options that are not known or a set without a metric, and the errors of the draw."""
        options = task_options(project, AnswerOptions)
        super().__init__(project)
        self.metric = options.metric or self._metric()

    def _metric(self) -> str:
        name, _ = default_metric(open_dataset(self.project.data))
        if name.startswith("dire"):
            raise SettingsError(
                f"{self.project.data}: people do not answer a set that DiRe transformed; give the set that it was made from."
            )
        return name

    def items(self) -> Iterator[Item]:
        """The drawn samples, in their order, without their answers."""
        return map(self._item, self.instances_drawn())

    def _item(self, instance: Instance) -> Item:
        shown_fields = question_view(instance, self.drawn.splits[instance.id]) | {"support": self.metric in SUPPORT}
        for document, paragraph in zip(shown_fields["documents"], instance.paragraphs, strict=True):
            document["sentences"] = list(paragraph.sentences or ()) if self.metric in SENTENCES else []
        return Item(id=item_id(instance.id), step="answer", shown=shown_fields, hidden=self.origin(instance.id))

    def instances(self, decided: Sequence[DecidedItem]) -> Iterator[tuple[str, Instance]]:
        """The samples to which people's most frequent answer is the dataset's."""
        for item, instance in self.samples(decided):
            if item.answers and right(_with_answers(item, instance), metric=self.metric, seed=self.project.settings.seed):
                yield str(item.item.hidden["split"]), instance

    def human_figures(self, decided: Sequence[DecidedItem]) -> HumanFigures:
        """People's scores by the dataset's metric, and their agreement."""
        answers = [_with_answers(item, instance) for item, instance in self.samples(decided) if item.answers]
        return human_figures(answers, metric=self.metric, seed=self.project.settings.seed)

    def figures(self, decided: Sequence[DecidedItem]) -> list[Figure]:
        """:meth:`human_figures` as a list."""
        human = self.human_figures(decided)
        figures = [
            *_figures_of(human.score, "most frequent answer", human.questions),
            *_figures_of(human.best, "best answer", human.questions),
            *_figures_of(human.agreement, "one person against the others", human.compared),
        ]
        if human.answerability is not None:
            share, items = human.answerability
            figures.append(Figure(name="answerability, most people", value=share, items=items))
        for person, scores in human.people.items():
            items = sum(answer.person == person for item in decided for answer in item.answers)
            figures += _figures_of(scores, person, items)
        return figures


def human_answer(person: str, answer: QuestionAnswer, texts: Mapping[str, str]) -> HumanAnswer:
    """An answer in the form that is scored. ``texts``: candidate → its text."""
    parts: dict[str, tuple[str, ...]] = {
        "candidate": (texts.get(answer.candidate, answer.candidate),),
        "spans": tuple(span.text for span in answer.spans),
        "number": (answer.number.strip(),),
        "yes": ("yes",),
        "no": ("no",),
    }
    sentences = frozenset((mark.document, mark.sentence) for mark in answer.sentences)
    return HumanAnswer(
        person=person,
        parts=parts.get(answer.kind, ()),
        unit=answer.unit.strip() if answer.kind == "number" else "",
        candidate=answer.candidate if answer.kind == "candidate" else None,
        support=frozenset(answer.support) | {document for document, _ in sentences},
        sentences=sentences,
    )


def _with_answers(decided: DecidedItem, instance: Instance) -> Answered:
    texts = {candidate.id: candidate.text for candidate in instance.candidates or ()}
    answers = (human_answer(entry.person, entry.answer, texts) for entry in decided.answers if isinstance(entry.answer, QuestionAnswer))
    return Answered(instance=instance, answers=tuple(answers))


def _figures_of(scores: Mapping[str, Interval], of: str, items: int) -> list[Figure]:
    return [Figure(name=f"{name}, {of}", value=value, items=items) for name, value in scores.items()]


def _answer_faults(answer: QuestionAnswer, candidates: set[str]) -> Iterator[Fault]:
    if not answer.kind:
        yield Fault(field="kind", sentence="Give an answer, or say that the documents do not answer the question.")
    elif answer.kind == "candidate" and answer.candidate not in candidates:
        yield Fault(field="kind", sentence="Choose one of the candidates.")
    elif candidates and answer.kind not in {"candidate", "none"}:
        yield Fault(field="kind", sentence="This question has candidates; choose one of them.")
    elif answer.kind == "spans" and not [span for span in answer.spans if span.text.strip()]:
        yield Fault(field="spans", sentence="Mark a span in a document, or type one.")
    elif answer.kind == "number" and not _is_number(answer.number):
        yield Fault(field="number", sentence="Write the number in digits, as 1200 or 0.5, and its unit in the field beside it.")


def _is_number(text: str) -> bool:
    try:
        return abs(float(text.strip().replace(",", ""))) < float("inf")
    except ValueError:
        return False


def _place_faults(answer: QuestionAnswer, documents: Mapping[str, Mapping[str, Any]]) -> Iterator[Fault]:
    """Marks in documents that are not shown, or at places that they do not have."""
    for span in answer.spans:
        if not span.document and span.start is None:
            continue
        text = documents.get(span.document, {}).get("text", "")
        if span.start is None or text[span.start : span.start + len(span.text)] != span.text:
            yield Fault(field="spans", sentence="A marked span is not at its place in the document; remove it and mark it again.")
    for document in (*answer.support, *(mark.document for mark in answer.sentences)):
        if document not in documents:
            yield Fault(field="support", sentence=f"{document[:60]!r} is no document of this question; mark those that are shown.")
            return
    if any(mark.sentence >= len(documents[mark.document]["sentences"]) for mark in answer.sentences):
        yield Fault(field="support", sentence="A marked sentence is not in its document; mark it again.")


TASK = AnswerTask
