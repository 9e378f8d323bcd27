"""The task of composing questions (Trivedi et al. 2022, step S7): chains of single-hop questions become multi-hop questions.

Annotators see the steps of a composed question with their paragraphs and the question that the dataset has, as a draft. They say whether
each answer and its name in a later step are one thing, and then edit the draft or write a question of their own, or say why there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from kgqa.collection.checks import composed_question, edited_steps
from kgqa.collection.project import Project
from kgqa.collection.task import Answer, AuthoredAnswer, DecidedItem, Fault, Figure, Item, Step
from kgqa.collection.tasks.samples import SampleTask, item_id, one_line, share_figures, task_options
from kgqa.errors import EmptyResult
from kgqa.formats.provenance import note, noted
from kgqa.recipes.musique.composers.chain import Chain, Hop, Need
from kgqa.recipes.musique.instances import NAME
from kgqa.recipes.musique.wording import ASKED
from kgqa.records import REFERENCE, Instance, Step as Hops
from kgqa.settings.base import Positive, Settings

COMPOSER = "people"
"""The composer in the note of an instance."""
Text = Annotated[str, Field(max_length=2_000)]


class ComposeOptions(Settings):
    """The options of the task."""

    max_words: Positive = 60
    """Words of a question beyond which the page warns, and of which a question may have no more than twice as many."""


class Composed(Answer):
    """A composed question, or the reason why there is none."""

    same: tuple[Literal["yes", "no", ""], ...] = ()
    """For each pair of an answer and its name in a later step, in the order shown, whether they are one thing; empty: not said."""
    question: Text = ""
    steps: tuple[Text, ...] = ()
    """The single-hop questions if some were edited; empty: as they were."""
    refusal: Text = ""
    """Why the steps make no question; empty if there is one."""


class ComposeStep(Step):
    """A person composes one multi-hop question from single-hop questions, or says why that is impossible."""

    name = "compose"
    title = "Compose a question"
    answer = Composed
    template = "compose.html"

    def __init__(self, options: ComposeOptions) -> None:
        """``options``: those of the task."""
        self.options = options

    def labels(self, answer: Composed) -> dict[str, str]:
        """Whether the steps can be composed; the wordings of different people are not compared."""
        return {"composable": "no" if "no" in answer.same or answer.refusal.strip() else "yes"}

    def faults(self, item: Item, answer: Composed) -> list[Fault]:
        """All pairs are judged, and there is a question that passes the checks or a reason, never both."""
        pairs = item.shown["pairs"]
        faults = []
        if len(answer.same) != len(pairs) or "" in answer.same:
            faults.append(Fault(field="same", sentence="Say for each pair whether the two names mean the same thing."))
        question, refusal = answer.question.strip(), answer.refusal.strip()
        if "no" in answer.same:
            return faults
        if question and refusal:
            return [*faults, Fault(field="refusal", sentence="There is a question and a reason against one; empty one of the two.")]
        if refusal:
            return faults
        if not question:
            return [*faults, Fault(field="question", sentence="Write the question, or say why the steps make none.")]
        steps = [step["question"] for step in item.shown["steps"]]
        if answer.steps:
            faults += edited_steps(steps, answer.steps)
            if any(fault.field.startswith("steps") for fault in faults):
                return faults
        chain = chain_of(item.id, answer.steps or steps, [step["answer"] for step in item.shown["steps"]])
        return faults + composed_question(question, chain, max_words=self.options.max_words)


class ComposeTask(SampleTask):
    """Compose the questions of a dataset that ``kgqa compose`` made."""

    name = "compose"
    title = "Compose multi-hop questions"

    def __init__(self, project: Project) -> None:
        """Draw the questions. Raises SettingsError for unknown options, and the errors of the draw."""
        self.options = task_options(project, ComposeOptions)
        super().__init__(project)
        self.steps = {"compose": ComposeStep(self.options)}

    def items(self) -> Iterator[Item]:
        """One item for each drawn question that is answerable and has two steps or more. Raises EmptyResult if there is none."""
        count = 0
        for instance in filter(is_composed, self.instances_drawn()):
            count += 1
            yield Item(id=item_id(instance.id), step="compose", shown=shown(instance), hidden=self.origin(instance.id))
        if not count:
            raise EmptyResult(f"{self.project.data}: no question has two steps or more; give a dataset that kgqa compose made.")

    def instances(self, decided: Sequence[DecidedItem]) -> Iterator[tuple[str, Instance]]:
        """The questions of the source with what people wrote; those that cannot be composed are left out."""
        for item, instance in self.samples(decided):
            answer = chosen(item)
            if answer is not None:
                yield str(item.item.hidden["split"]), composed(instance, answer)

    def figures(self, decided: Sequence[DecidedItem]) -> list[Figure]:
        """Shares of chains whose names agree (92% in the paper), and of those that were composed, and of drafts that were kept."""
        same_flags, completions, draft_kept = [], [], []
        for item in decided:
            submitted = [item.lead] if item.lead is not None else [entry.answer for entry in item.answers]
            answers = [answer for answer in submitted if isinstance(answer, Composed)]
            same_flags += ["no" not in answer.same for answer in answers]
            completions.append(item.labels.get("composable") == "yes")
            draft_kept += [one_line(answer.question) == one_line(item.item.shown["draft"]) for answer in answers if is_question(answer)]
        cases = {"names mean the same": same_flags, "composed": completions, "draft kept": draft_kept}
        return share_figures(cases)


TASK = ComposeTask


def is_composed(instance: Instance) -> bool:
    """Whether a question is answerable and has at least two steps, each with its answer and a paragraph of its own."""
    steps, paragraphs = instance.decomposition or (), {paragraph.id for paragraph in instance.paragraphs}
    return instance.answerable and len(steps) > 1 and all(step.answer and step.paragraph_id in paragraphs for step in steps)


def shown(instance: Instance) -> dict[str, Any]:
    """What annotators see: the steps with answers and paragraphs, the pairs of an answer and a later step, and the draft."""
    paragraphs = {paragraph.id: paragraph for paragraph in instance.paragraphs}
    hops = instance.decomposition or ()
    numbers = {hop.id: number for number, hop in enumerate(hops, start=1)}
    steps = [
        {
            "question": hop.question,
            "filled": filled(hops, place)[0],
            "answer": hop.answer,
            "paragraph": {
                "id": hop.paragraph_id,
                "title": paragraphs[hop.paragraph_id or ""].title or "",
                "text": paragraphs[hop.paragraph_id or ""].text,
            },
        }
        for place, hop in enumerate(hops)
    ]
    pairs = [
        {"answer_to": numbers[earlier], "answer": hops[numbers[earlier] - 1].answer, "step": numbers[hop.id]}
        for hop in hops
        for earlier in hop.depends_on
        if earlier in numbers
    ]
    return {"steps": steps, "pairs": pairs, "draft": instance.question, "shape": noted(instance, NAME).get("shape", "")}


def filled(hops: Sequence[Hops], place: int) -> tuple[str, tuple[Need, ...]]:
    """The question of a step with the answers of earlier steps in place of ``#k``, and where they stand."""
    return _filled(hops[place].question, [hop.answer or "" for hop in hops[:place]])


def _filled(question: str, answers: Sequence[str]) -> tuple[str, tuple[Need, ...]]:
    text, end, needs = "", 0, []
    for match in REFERENCE.finditer(question):
        number = int(match[1])
        if not 1 <= number <= len(answers):
            continue
        text += question[end : match.start()]
        needs.append(Need(hop=number - 1, start=len(text), end=len(text) + len(answers[number - 1]), slot=-1))
        text, end = text + answers[number - 1], match.end()
    return text + question[end:], tuple(needs)


def chain_of(id: str, questions: Sequence[str], answers: Sequence[str]) -> Chain:  # noqa: A002 - what it is
    """The chain of steps that refer to earlier ones as ``#k``, for the checks that all composers share."""
    hops = []
    for place, answer in enumerate(answers):
        question, needs = _filled(questions[place], answers[:place])
        hops.append(
            Hop(
                id=str(place), question=question, answer=answer, aliases=(), kind=ASKED, relations=(), names=(), noun="", is_person=False,
                needs=needs,
            )
        )  # fmt: skip
    return Chain(id=id, shape="", hops=tuple(hops))


def chosen(decided: DecidedItem) -> AuthoredAnswer | None:
    """The answer that becomes the question: the lead's, else the first one with a question; None if the steps cannot be composed."""
    if decided.labels.get("composable") != "yes":
        return None
    answers = [AuthoredAnswer(person="", answer=decided.lead)] if decided.lead is not None else list(decided.answers)
    return next((entry for entry in answers if isinstance(entry.answer, Composed) and is_question(entry.answer)), None)


def is_question(answer: Composed) -> bool:
    """Whether an answer composes a question."""
    return bool(answer.question.strip()) and not answer.refusal.strip() and "no" not in answer.same


def composed(instance: Instance, entry: AuthoredAnswer) -> Instance:
    """The instance with a person's question and steps; its note names the composer ``people`` and the person."""
    answer = entry.answer
    assert isinstance(answer, Composed)
    values = {**noted(instance, NAME), "composer": COMPOSER}
    hops = instance.decomposition or ()
    if answer.steps:
        hops = tuple(replace(hop, question=one_line(text)) for hop, text in zip(hops, answer.steps, strict=True))
    return replace(
        instance,
        question=one_line(answer.question),
        decomposition=hops,
        provenance=note(COMPOSER, {"composed_by": entry.person or "lead"}, beside=note(NAME, values, beside=instance.provenance)),
    )
