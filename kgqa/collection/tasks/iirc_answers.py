"""IIRC's answers: people open the linked articles, answer questions about a passage, and mark what is needed (section 2.3).

Questions come from a dataset of the task iirc-questions, or of IIRC's official form. One person answers a question of train, three answer
one of dev or test. Questions on which people do not agree, or which they call bad, are left out of the dataset of answers. Each of its
Instances is what IIRC's parser makes of the official record, so that both forms agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgqa.arrays.draws import Reservoir
from kgqa.collection.iirc import ARTICLE, PASSAGE, QUESTION, REASONS, TYPES, IircAnswer, Mark
from kgqa.collection.iirc_checks import check_answer, number_of
from kgqa.collection.passages import read_articles
from kgqa.collection.task import DecidedItem, Fault, Figure, Item, Step, Task
from kgqa.collection.tasks.samples import MOST_ID, share_figures, task_options
from kgqa.errors import BrokenInput, DuplicateId, EmptyResult, SettingsError, UnknownId, suggestion
from kgqa.formats.iirc import articles
from kgqa.formats.iirc.articles import MAIN
from kgqa.formats.iirc.format import from_question
from kgqa.formats.iirc.questions import NAME, notes_of
from kgqa.formats.iirc.records import links_of, to_links
from kgqa.formats.question_set import open_dataset
from kgqa.metrics.drop import normalize_span
from kgqa.records import Instance, Mention, Paragraph
from kgqa.settings.base import Positive, Settings

if TYPE_CHECKING:
    from kgqa.collection.project import Project


class AnswerOptions(Settings):
    """Options of the task ``iirc-answers``."""

    train: Positive = 1
    """People who answer a question of train."""
    others: Positive = 3
    """People who answer a question of dev or test."""
    articles: str = ""
    """Texts of linked articles that the dataset lacks: an import's folder, a workspace or a file of articles, relative to the project."""


def answer_label(answer: IircAnswer) -> str:
    """The type and the answer as IIRC's scorer compares answers: the set of normalised spans; a number without its unit.

    >>> answer_label(IircAnswer(type="number", value="1,200", unit="m")) == answer_label(IircAnswer(type="number", value="1200.0"))
    True
    """
    if answer.type == "span":
        spans = {normalize_span(mark.text) or mark.text.strip().lower() for mark in answer.spans}
        return f"span: {' | '.join(sorted(spans))}"
    if answer.type == "number":
        # Not normalize_span, which takes a minus sign for a hyphen.
        return f"number: {float(number_of(answer.value))}"
    return answer.type


class AnswersStep(Step):
    """A person answers a question from its passage and the linked articles."""

    name = "iirc-answer"
    title = "Answer with the articles"
    answer = IircAnswer
    template = "iirc-answers.html"
    types, reasons = TYPES, REASONS
    """The choices of the page."""

    def __init__(self, task: IircAnswers) -> None:
        """``task`` has the texts of the articles."""
        self._task = task

    def labels(self, answer: IircAnswer) -> dict[str, str]:
        """The type of the answer, and the type with the answer; two people agree if both are the same."""
        return {"type": answer.type, "answer": answer_label(answer)}

    def faults(self, item: Item, answer: IircAnswer) -> list[Fault]:
        """Faults of the answer's type, value and evidence (:mod:`kgqa.collection.iirc_checks`)."""
        return list(check_answer(answer, lambda document: self._task.text_of(item, document)))


class IircAnswers(Task):
    """Answers to questions about a passage with links."""

    name = "iirc-answers"
    title = "IIRC: answer questions"

    def __init__(self, project: Project) -> None:
        """Draw the questions and read their articles. Raises the errors of reading, SettingsError and EmptyResult."""
        super().__init__(project)
        self.options = task_options(project, AnswerOptions)
        self.steps = {AnswersStep.name: AnswersStep(self)}
        self._drawn = self._draw()
        self._texts = self._read_texts()

    def _draw(self) -> list[tuple[str, Instance]]:
        """Split and Instance of each drawn question, in random order. Memory: them, and the ids of the others."""
        settings, questions = self.project.settings, open_dataset(self.project.data)
        if settings.split != "all" and settings.split not in questions.files:
            raise SettingsError(f"{self.project.path}: split: {self.project.data} has none; {suggestion(settings.split, questions.files)}")
        reservoir: Reservoir[tuple[str, Instance]] = Reservoir(settings.sample, purpose="iirc answers", seed=settings.seed)
        split_of: dict[str, str] = {}
        for split in questions.files:
            for instance in questions.read(split) if settings.split in {split, "all"} else ():
                if split_of.setdefault(instance.id, split) != split:
                    raise DuplicateId(
                        f"{self.project.data}: question {instance.id} is in {split_of[instance.id]} and in {split}; drop one."
                    )
                if _links(instance) and instance.question.strip():
                    reservoir.add(instance.id, (split, instance))
        entries = reservoir.values()
        if not entries:
            raise EmptyResult(f"{self.project.data}: no question is about a passage with links; give a dataset in IIRC's format.")
        for split, instance in entries:
            self._check(split, instance)
        return entries

    def _check(self, split: str, instance: Instance) -> None:
        """Raise if the question cannot become an item."""
        if len(instance.id) > MOST_ID:
            raise BrokenInput(f"{self.project.data}: the id {instance.id[:60]!r}… has more than {MOST_ID} characters; shorten it.")
        authors, people = _authors(instance), self.project.settings.people
        free = sum(person not in authors for person in people)
        if free < self._seats(split):
            sentence = f"a question of {split} needs {self._seats(split)} people, and {free} of those listed did not write {instance.id}"
            raise SettingsError(f"{self.project.path}: {sentence}; list more people, or set {_option(split)} under [options].")

    def _seats(self, split: str) -> int:
        return self.options.train if split == "train" else self.options.others

    def _read_texts(self) -> dict[str, str]:
        """Title in lower case → text of each article that a drawn question links to, if it is known. Memory: these texts."""
        titles = {link.entity for _, instance in self._drawn for link in _links(instance)}
        texts: dict[str, str] = {}
        if self.options.articles:
            texts = read_articles(self.project.folder / self.options.articles, titles)
        questions = open_dataset(self.project.data)
        for path in questions.files.values() if questions.format == NAME else ():
            file = articles.file(path) if isinstance(path, Path) else None
            texts |= {} if file is None else articles.read(file, {title.lower() for title in titles})
        for _, instance in self._drawn:
            texts |= {(p.title or p.id).lower(): p.text for p in instance.paragraphs if p.id != MAIN}
        return texts

    def items(self) -> Iterator[Item]:
        """One item for each question. Of the dataset's own answers nothing is shown."""
        for split, instance in self._drawn:
            notes, main = notes_of(instance), _passage(instance)
            yield Item(
                id=instance.id,
                step=AnswersStep.name,
                shown={
                    "question": instance.question,
                    "title": main.title or "",
                    "text": main.text,
                    "links": [
                        {"start": link.start, "end": link.end, "title": link.entity, "opens": link.entity.lower() in self._texts}
                        for link in _links(instance)
                    ],
                    "named": list(notes.get("question_links", ())),
                    # The answerer's marks of an answered dataset would show where the answer is.
                    "context": _marked(notes, len(main.text)) if instance.hidden else [],
                },
                hidden={
                    "split": split,
                    "answer": None if instance.hidden else notes.get("answer"),
                    "record": {**notes.get("record", {}), "links": to_links(main.mentions or (), notes)},
                    "question": notes.get("question", {}),
                },
                seats=self._seats(split),
                authors=_authors(instance),
            )

    def document(self, item: Item, id: str) -> dict[str, Any]:  # noqa: A002 - what it is
        """A linked article: ``id, title, text``. Raises UnknownId, also for an article whose text is not there."""
        title = id.removeprefix(ARTICLE)
        text = self.text_of(item, id) if id.startswith(ARTICLE) else None
        if text is None:
            raise UnknownId(f"there is no text of {title[:80]!r} for question {item.id}; open another article that its page names.")
        return {"id": id, "title": title, "text": text}

    def text_of(self, item: Item, document: str) -> str | None:
        """The text of the question, the passage or a linked article; None if there is none."""
        if document in {QUESTION, PASSAGE}:
            return str(item.shown["question"] if document == QUESTION else item.shown["text"])
        title = document.removeprefix(ARTICLE)
        if not document.startswith(ARTICLE) or title not in {link["title"] for link in item.shown["links"]}:
            return None
        return self._texts.get(title.lower())

    def instances(self, decided: Sequence[DecidedItem]) -> Iterator[tuple[str, Instance]]:
        """The questions with an agreed answer: the first one with the agreed label, or the lead's."""
        for item in decided:
            answer = _agreed(item, self.steps[AnswersStep.name])
            if answer is not None and answer.type not in {"", "bad"}:
                yield item.item.hidden["split"], self._instance(item.item, answer)

    def figures(self, decided: Sequence[DecidedItem]) -> list[Figure]:
        """The shares of bad questions, and of good ones without an answer (30% in the paper)."""
        types = [item.labels["type"] for item in decided if "type" in item.labels]
        cases = {"bad": [kind == "bad" for kind in types], "no answer": [kind == "none" for kind in types if kind != "bad"]}
        return share_figures(cases)

    def _instance(self, item: Item, answer: IircAnswer) -> Instance:
        titles = dict.fromkeys(item.shown["named"])
        context = [
            {"text": mark.text, "passage": _passage_name(mark), "indices": [mark.start, mark.end]}
            for mark in (answer.context if answer.is_answered else ())
        ]
        question = {
            **item.hidden["question"],
            "qid": item.id,
            "question": item.shown["question"],
            "answer": official_answer(answer),
            "context": context,
            "question_links": list(titles),
        }
        record = {**item.hidden["record"], "title": item.shown["title"], "text": item.shown["text"]}
        titles |= dict.fromkeys(entry["passage"] for entry in context if entry["passage"] != MAIN)
        texts = {title.lower(): self._texts[title.lower()] for title in titles if title.lower() in self._texts}
        return from_question(question, record, links_of(record), texts, f"question {item.id}")


def official_answer(answer: IircAnswer) -> dict[str, Any]:
    """An answer in IIRC's official form, with the places of its spans."""
    if answer.type == "span":
        spans = [
            {"text": mark.text, "passage": (name := _passage_name(mark)), "type": name, "start_char": mark.start, "end_char": mark.end}
            for mark in answer.spans
        ]
        return {"type": "span", "answer_spans": spans}
    if answer.type == "number":
        unit = {"answer_unit": answer.unit} if answer.unit else {}
        return {"type": "value", "answer_value": number_of(answer.value), **unit}
    if answer.type in {"yes", "no"}:
        return {"type": "binary", "answer_value": answer.type}
    return {"type": "none"}


def _passage_name(mark: Mark) -> str:
    """The official name of a mark's text."""
    return MAIN if mark.document == PASSAGE else mark.document.removeprefix(ARTICLE)


def _agreed(decided: DecidedItem, step: Step) -> IircAnswer | None:
    if decided.lead is not None:
        assert isinstance(decided.lead, IircAnswer)
        return decided.lead
    majority_answer = decided.labels.get("answer")
    return next((answer.answer for answer in decided.answers if step.labels(answer.answer).get("answer") == majority_answer), None)  # type: ignore[return-value]


def _passage(instance: Instance) -> Paragraph:
    return next(paragraph for paragraph in instance.paragraphs if paragraph.id == MAIN)


def _links(instance: Instance) -> list[Mention]:
    """The links of a question's passage, without overlaps and those outside the text."""
    links: list[Mention] = []
    for paragraph in instance.paragraphs:
        for link in sorted(paragraph.mentions or (), key=lambda link: (link.start, -link.end)) if paragraph.id == MAIN else ():
            if (links[-1].end if links else 0) <= link.start < link.end <= len(paragraph.text):
                links.append(link)
    return links


def _marked(notes: Mapping[str, Any], size: int) -> list[tuple[int, int]]:
    """What the question's writer marked in the passage."""
    places = [entry.get("indices") for entry in notes.get("context", ()) if entry["passage"] == MAIN]
    pairs = [tuple(place) for place in places if isinstance(place, list) and len(place) == 2 and all(isinstance(at, int) for at in place)]
    return [(start, end) for start, end in pairs if 0 <= start < end <= size]


def _authors(instance: Instance) -> tuple[str, ...]:
    author = notes_of(instance).get("question", {}).get("author")
    return (author,) if isinstance(author, str) and author else ()


def _option(split: str) -> str:
    return "train" if split == "train" else "others"


TASK = IircAnswers
