"""The task of collecting strategy questions (Geva et al. 2021, section 3): questions, decompositions, evidence, and its verification.

A term, its short description and an answer, yes or no, prime a person to write a question with the facts that it needs (section 3.1).
Somebody else writes the steps that answer it, and the page that should have the answer to each (3.2). Several people search the corpus for
paragraphs that answer the steps (3.3). Several others answer the steps from these paragraphs alone (3.4). The author of a question gets
none of its later steps. A question is dropped if people say that its answer is wrong or not definite, or if its evidence does not give the
answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from kgqa.arrays.draws import draw
from kgqa.collection.checks import strategy_decomposition, strategy_evidence, strategy_question
from kgqa.collection.corpus import Corpus, draw_terms, read_corpus
from kgqa.collection.project import Project
from kgqa.collection.task import Answer, DecidedItem, Fault, Figure, Item, Step, Task
from kgqa.collection.tasks.samples import one_line, share_figures, task_options
from kgqa.errors import SettingsError, UnknownId
from kgqa.formats.provenance import note
from kgqa.formats.strategyqa.evidence_texts import Passage
from kgqa.formats.strategyqa.format import Record, from_record
from kgqa.records import Instance, Paragraph
from kgqa.runs.files import key_of
from kgqa.settings.base import Settings

QUESTION, DECOMPOSITION, EVIDENCE, VERIFICATION = "question", "decomposition", "evidence", "verification"
"""The steps, in their order."""
ANSWERS = ("yes", "no")
OPERATION, NO_EVIDENCE = "operation", "no_evidence"
"""Entries of the official evidence beside lists of paragraphs."""
PER_TERM = 5
"""Questions about one term at most (section 4)."""
MATCHERS = VERIFIERS = 3
"""People who match the evidence of a question, and who verify it (sections 3.3 and 4.2)."""
MOST_STEPS, MOST_PARAGRAPHS, MOST_FACTS = 12, 20, 20
"""Limits of an answer's lists."""
VERDICTS = {
    "yes": "the paragraphs give the answer yes",
    "no": "the paragraphs give the answer no",
    "cannot say": "the paragraphs do not give the answer",
}
"""Label of a question by those who verify its evidence → its meaning."""
Line = Annotated[str, Field(max_length=1_000)]
Judgement = Literal["right", "wrong", "indefinite"]


class StrategyOptions(Settings):
    """The options of the task."""

    terms: str | None = None
    """Table of terms or workspace, relative to the project file; by default the titles of the corpus."""
    per_term: int = Field(default=1, ge=1, le=PER_TERM)
    """Questions about each term."""
    matchers: int = Field(default=MATCHERS, ge=1, le=10)
    """People who match the evidence of a question; fewer if the project has fewer people."""
    verifiers: int = Field(default=VERIFIERS, ge=0, le=10)
    """People who verify the evidence of a question; 0: nobody, and all questions with evidence are exported."""
    language: str = Field(default="en", min_length=2, max_length=10)
    """The language of the questions; in another one than English, only the question mark is checked, not the wording."""
    dev: tuple[str, ...] = ()
    test: tuple[str, ...] = ()
    """People whose questions make the dev and the test split; those of all others are for training (section 4)."""


class Part(BaseModel):
    """A part of an answer."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class WrittenQuestion(Answer):
    """A question with the facts that it needs."""

    question: Annotated[str, Field(max_length=500)] = ""
    facts: Annotated[tuple[Line, ...], Field(max_length=MOST_FACTS)] = ()


class WrittenStep(Part):
    """A step of a decomposition."""

    question: Annotated[str, Field(max_length=500)] = ""
    """It may refer to the answers of earlier steps as ``#1``."""
    page: Annotated[str, Field(max_length=200)] = ""
    """The page that should answer it; empty for an operation."""
    operation: bool = False
    """Whether it is answered from earlier answers alone."""


class WrittenDecomposition(Answer):
    """The steps of a question, or what is wrong with it."""

    judgement: Judgement = "right"
    steps: Annotated[tuple[WrittenStep, ...], Field(max_length=MOST_STEPS)] = ()


class StepEvidence(Part):
    """The evidence of a step."""

    paragraphs: Annotated[tuple[Annotated[str, Field(max_length=500)], ...], Field(max_length=MOST_PARAGRAPHS)] = ()
    """Ids in the corpus."""
    operation: bool = False
    no_evidence: bool = False
    """Whether only a part of it was found, or nothing."""


class MatchedEvidence(Answer):
    """The evidence of all steps."""

    judgement: Literal["right", "wrong"] = "right"
    steps: Annotated[tuple[StepEvidence, ...], Field(max_length=MOST_STEPS)] = ()


class VerifiedEvidence(Answer):
    """The answers that the matched paragraphs give."""

    steps: Annotated[tuple[Line, ...], Field(max_length=MOST_STEPS)] = ()
    """The answer of each step; empty where the paragraphs do not give it."""
    answer: Literal["yes", "no", "cannot say", ""] = ""


class StrategyStep(Step):
    """A step of the collection; all of them look things up in the task."""

    def __init__(self, task: StrategyTask) -> None:
        """``task``: with the settings and the corpus."""
        self.task = task


class QuestionStep(StrategyStep):
    """Creative question writing (section 3.1)."""

    name = QUESTION
    title = "Write a strategy question"
    answer = WrittenQuestion
    template = "strategy-question.html"

    def faults(self, item: Item, answer: WrittenQuestion) -> list[Fault]:
        """The automatic checks of the question, and its facts."""
        return strategy_question(answer.question, answer.facts, language=self.task.options.language)

    def follow(self, decided: DecidedItem) -> list[Item]:
        """The decomposition of the question, by somebody else."""
        if not decided.answers:
            return []
        answer = decided.answers[0]
        assert isinstance(answer.answer, WrittenQuestion)
        values = {
            "question": one_line(answer.answer.question),
            "answer": decided.item.shown["answer"],
            "facts": [one_line(fact) for fact in answer.answer.facts if fact.strip()],
            "term": decided.item.shown["term"],
        }
        id = f"{decided.item.id}-{DECOMPOSITION}"  # noqa: A001 - what it is
        hidden = {"of": decided.item.id}
        return [Item(id=id, step=DECOMPOSITION, shown=values, hidden=hidden, seats=1, authors=(answer.person,))]

    def asked(self, item: Item, answer: WrittenQuestion) -> Instance:
        """The question alone, for the solvers."""
        return Instance(
            id=item.id, question=one_line(answer.question), paragraphs=(), answers=(item.shown["answer"],), answer_type="boolean",
            answerable=True, group=item.id, provenance=None,
        )  # fmt: skip


class DecompositionStep(StrategyStep):
    """Strategy question decomposition (section 3.2)."""

    name = DECOMPOSITION
    title = "Write the steps to the answer"
    answer = WrittenDecomposition
    template = "strategy-decomposition.html"

    def labels(self, answer: WrittenDecomposition) -> dict[str, str]:
        """What the person says of the question and its answer."""
        return {"answer": answer.judgement}

    def faults(self, item: Item, answer: WrittenDecomposition) -> list[Fault]:
        """The steps form a directed acyclic graph, and each names a page or is an operation."""
        if answer.judgement != "right":
            return []
        steps = answer.steps
        return strategy_decomposition(
            item.shown["question"], [step.question for step in steps], [step.page for step in steps], [step.operation for step in steps]
        )

    def follow(self, decided: DecidedItem) -> list[Item]:
        """The evidence of the steps, unless the question is bad."""
        answer = decomposed(decided)
        if answer is None:
            return []
        steps = [
            {"question": one_line(step.question), "page": "" if step.operation else one_line(step.page), "operation": step.operation}
            for step in answer.steps
        ]
        item = decided.item
        return [
            Item(
                id=f"{item.hidden['of']}-{EVIDENCE}", step=EVIDENCE, shown={**item.shown, "steps": steps}, hidden=item.hidden,
                seats=self.task.seats(self.task.options.matchers, item.authors), authors=item.authors,
            )
        ]  # fmt: skip


class EvidenceStep(StrategyStep):
    """Evidence matching (section 3.3)."""

    name = EVIDENCE
    title = "Find the evidence of each step"
    answer = MatchedEvidence
    template = "strategy-evidence.html"

    def labels(self, answer: MatchedEvidence) -> dict[str, str]:
        """Whether the person thinks that the answer is right; the paragraphs of different people are not compared."""
        return {"answer": answer.judgement}

    def faults(self, item: Item, answer: MatchedEvidence) -> list[Fault]:
        """Each step has paragraphs of the corpus, or a mark."""
        if answer.judgement == "wrong":
            return []
        steps = answer.steps
        if len(steps) != len(item.shown["steps"]):
            return [Fault(field="steps", sentence=f"There are {len(item.shown['steps'])} steps; give the evidence of each.")]
        for place, step in enumerate(steps):
            for name in step.paragraphs:
                try:
                    self.task.corpus.find(name)
                except UnknownId as error:
                    return [Fault(field=f"steps.{place}", sentence=str(error))]
        return strategy_evidence(
            [step.paragraphs for step in steps], [step.operation for step in steps], [step.no_evidence for step in steps]
        )

    def follow(self, decided: DecidedItem) -> list[Item]:
        """The verification of the paragraphs that all people chose; none if a step has no evidence of anybody."""
        item, seats = decided.item, self.task.options.verifiers
        if not seats or decided.labels.get("answer") != "right" or not is_covered(decided):
            return []
        answers = [answer for _, answer in matched(decided)]
        steps = []
        for place, step in enumerate(item.shown["steps"]):
            names = dict.fromkeys(name for answer in answers for name in answer.steps[place].paragraphs)
            operation = any(answer.steps[place].operation for answer in answers)
            paragraphs = [_document(self.task.corpus.find(name)) for name in names]
            steps.append({"question": step["question"], "operation": operation, "paragraphs": paragraphs})
        hidden = {**item.hidden, "answer": item.shown["answer"]}
        # Nobody verifies their own evidence where enough others are there.
        matchers = tuple(dict.fromkeys((*item.authors, *(entry.person for entry in decided.answers))))
        authors = matchers if self.task.seats(seats, matchers) == seats else item.authors
        return [
            Item(
                id=f"{item.hidden['of']}-{VERIFICATION}", step=VERIFICATION, shown={"question": item.shown["question"], "steps": steps},
                hidden=hidden, seats=self.task.seats(seats, authors), authors=authors,
            )
        ]  # fmt: skip


class VerificationStep(StrategyStep):
    """Evidence verification (section 3.4)."""

    name = VERIFICATION
    title = "Answer from the paragraphs alone"
    answer = VerifiedEvidence
    template = "strategy-verification.html"

    def labels(self, answer: VerifiedEvidence) -> dict[str, str]:
        """The answer that the paragraphs give."""
        return {"answer": answer.answer}

    def faults(self, item: Item, answer: VerifiedEvidence) -> list[Fault]:
        """Every step is answered where the paragraphs give the answer of the question."""
        if not answer.answer:
            return [Fault(field="answer", sentence='Answer yes or no, or say that the paragraphs do not tell ("cannot say").')]
        if answer.answer == "cannot say":
            return []
        count = len(item.shown["steps"])
        step_answers = [*answer.steps, *[""] * count][: count - 1]
        return [
            Fault(field=f"steps.{place}", sentence=f'Answer step {place + 1} from its paragraphs, or choose "cannot say".')
            for place, text in enumerate(step_answers)
            if not text.strip()
        ]


class StrategyTask(Task):
    """Collect strategy questions over a corpus."""

    name = "strategyqa"
    title = "Collect strategy questions"

    def __init__(self, project: Project) -> None:
        """Read the corpus. Raises SettingsError for options or people with which no question can be finished, and errors of the data."""
        super().__init__(project)
        self.options = task_options(project, StrategyOptions)
        people = project.settings.people
        if len(people) < 2:
            raise SettingsError(f"{project.path}: people: there is one person, but nobody decomposes their own question; list two or more.")
        for name in (*self.options.dev, *self.options.test):
            if name not in people:
                raise SettingsError(f"{project.path}: options: {name!r} is not among the people; list names of people under dev and test.")
        if names_in_both := set(self.options.dev) & set(self.options.test):
            raise SettingsError(
                f"{project.path}: options: {min(names_in_both)!r} is under dev and test; a person's questions go to one split."
            )
        self.corpus: Corpus = read_corpus(project.data)
        self.steps = {step.name: step(self) for step in (QuestionStep, DecompositionStep, EvidenceStep, VerificationStep)}

    def prepare(self) -> None:
        """Index the corpus and compile its search, so that the first one does not wait for them."""
        self.corpus.search("", 1)

    def items(self) -> Iterator[Item]:
        """The questions to write: each term in turn, with as many yes as no questions."""
        project, options = self.project.settings, self.options
        path = None if options.terms is None else self.project.folder / options.terms
        count = -(-project.sample // options.per_term)
        terms = draw_terms(path, self.corpus, count=count, seed=project.seed)
        for number in range(min(project.sample, len(terms) * options.per_term)):
            term, description = terms[number % len(terms)]
            # Of each pair of items one gets yes and one no, so that neither leads by more than one at any time.
            first = draw(purpose="wanted answer", seed=project.seed, id=str(number // 2)) % 2
            id = key_of("strategy question", self.project.identity, number)[:20]  # noqa: A001 - what it is
            values = {"term": term, "description": description, "answer": ANSWERS[(first + number) % 2]}
            yield Item(id=id, step=QUESTION, shown=values, seats=1)

    def seats(self, count: int, authors: Sequence[str]) -> int:
        """The number of people who can fill ``count`` seats of an item by ``authors``: at least one."""
        return max(1, min(count, len(set(self.project.settings.people) - set(authors))))

    def document(self, item: Item, id: str) -> dict[str, Any]:  # noqa: A002 - what it is
        """A paragraph of the corpus, for evidence. Raises UnknownId."""
        if item.step != EVIDENCE:
            return super().document(item, id)
        return _document(self.corpus.find(id))

    def search(self, item: Item, query: str, limit: int) -> list[dict[str, Any]]:
        """Paragraphs of the corpus by BM25, best first, for evidence. Raises UnknownId."""
        if item.step != EVIDENCE:
            return super().search(item, query, limit)
        return [_document(paragraph) for paragraph in self.corpus.search(query, limit)]

    def instances(self, decided: Sequence[DecidedItem]) -> Iterator[tuple[str, Instance]]:
        """The finished questions, by the order of ``decided``, each as the official file gives it when it is read.

        A question is finished if its answer is right, evidence was matched, and, with verifiers, most of them come to its answer.
        """
        by_step = {(item.item.hidden.get("of", item.item.id), item.item.step): item for item in decided}
        for (id, step), question in by_step.items():  # noqa: A001 - what it is
            parts = [by_step.get((id, name)) for name in (DECOMPOSITION, EVIDENCE, VERIFICATION)]
            if step == QUESTION and (instance := self._instance(question, *parts)) is not None:
                writer = question.answers[0].person
                yield "dev" if writer in self.options.dev else "test" if writer in self.options.test else "train", instance

    def figures(self, decided: Sequence[DecidedItem]) -> list[Figure]:
        """Shares of questions with a right answer, with evidence for each step, and with evidence that gives the answer."""
        by_step: dict[str, list[bool]] = {}
        for item in decided:
            if item.item.step == DECOMPOSITION:
                by_step.setdefault("answer is right and definite", []).append(item.labels.get("answer") == "right")
            elif item.item.step == EVIDENCE and item.labels.get("answer") == "right":
                by_step.setdefault("evidence for each step", []).append(is_covered(item))
            elif item.item.step == VERIFICATION:
                by_step.setdefault("evidence gives the answer", []).append(item.labels.get("answer") == item.item.hidden["answer"])
        return share_figures(by_step)

    def _instance(
        self, question: DecidedItem, decomposition: DecidedItem | None, evidence: DecidedItem | None, verification: DecidedItem | None
    ) -> Instance | None:
        if decomposition is None or evidence is None or not question.answers:
            return None
        if any(item.labels.get("answer") != "right" for item in (decomposition, evidence)):
            return None
        target_answer = question.item.shown["answer"]
        if self.options.verifiers and (verification is None or verification.labels.get("answer") != target_answer):
            return None
        question_answer, evidence_answers = question.answers[0].answer, matched(evidence)
        assert isinstance(question_answer, WrittenQuestion)
        record = {
            "qid": question.item.id,
            "term": question.item.shown["term"],
            "description": question.item.shown["description"],
            "question": one_line(question_answer.question),
            "answer": target_answer == "yes",
            "facts": [one_line(fact) for fact in question_answer.facts if fact.strip()],
            "decomposition": [step["question"] for step in evidence.item.shown["steps"]],
            "evidence": [[_entries(step) for step in answer.steps] for _, answer in evidence_answers],
        }
        names = dict.fromkeys(name for _, answer in evidence_answers for step in answer.steps for name in step.paragraphs)
        texts = {name: _passage(self.corpus.find(name)) for name in names}
        instance = from_record(cast("Record", record), texts)
        people: dict[str, Any] = {
            "writer": question.answers[0].person,
            "decomposer": decomposition.answers[0].person if decomposition.answers else "lead",
            "matchers": [person for person, _ in evidence_answers],
            "pages": [step["page"] for step in evidence.item.shown["steps"]],
        }
        if verification is not None:
            people["verdicts"] = dict(sorted(Counter(verified(verification)).items()))
        return replace(instance, provenance=note("people", people, beside=instance.provenance))


TASK = StrategyTask


def decomposed(decided: DecidedItem) -> WrittenDecomposition | None:
    """The steps of a question, by the lead or by the one who wrote them; None for a bad question."""
    answers = [decided.lead, *(entry.answer for entry in decided.answers)]
    steps = (answer for answer in answers if isinstance(answer, WrittenDecomposition) and answer.judgement == "right")
    return next(steps, None) if decided.labels.get("answer") == "right" else None


def matched(decided: DecidedItem) -> list[tuple[str, MatchedEvidence]]:
    """Person and evidence, of all who think that the answer is right; a lead who settled a disagreement comes last."""
    entries = [(entry.person, entry.answer) for entry in decided.answers] + ([("lead", decided.lead)] if decided.lead is not None else [])
    return [(name, answer) for name, answer in entries if isinstance(answer, MatchedEvidence) and answer.judgement == "right"]


def is_covered(decided: DecidedItem) -> bool:
    """Whether somebody found a paragraph, or saw an operation, for each step (section 4.2)."""
    answers = [answer for _, answer in matched(decided)]
    places = range(len(decided.item.shown["steps"]))
    return all(any(answer.steps[place].paragraphs or answer.steps[place].operation for answer in answers) for place in places)


def verified(decided: DecidedItem) -> list[str]:
    """What each person answered from the paragraphs."""
    return [entry.answer.answer for entry in decided.answers if isinstance(entry.answer, VerifiedEvidence)]


def _entries(step: StepEvidence) -> list[str | list[str]]:
    """The evidence of a step as the official file has it."""
    marks = [name for name, is_set in ((OPERATION, step.operation), (NO_EVIDENCE, step.no_evidence)) if is_set]
    return [*([list(step.paragraphs)] if step.paragraphs else []), *marks]


def _passage(paragraph: Paragraph) -> Passage:
    return Passage(id=paragraph.id, title=paragraph.title, text=paragraph.text, extra={})


def _document(paragraph: Paragraph) -> dict[str, Any]:
    return {"id": paragraph.id, "title": paragraph.title or "", "text": paragraph.text}
