"""The task ``validate``: does a sample's answer follow from its documents (Welbl et al. 2018, section 5)?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from kgqa.collection.reading import Reading, readings
from kgqa.collection.task import Answer, DecidedItem, Fault, Figure, Item, Step
from kgqa.collection.tasks.samples import PORTION, SampleTask, chunks, item_id, share_figures, task_options
from kgqa.collection.verdicts import ANOTHER, MARKS, VALID, VERDICTS
from kgqa.collection.view import question_view, sample_view
from kgqa.metrics.normalize import normalize
from kgqa.records import Instance
from kgqa.settings.base import Settings

MOST_NOTE = 2000
"""Characters of a note."""
VALIDITY = "valid"
"""The question on which people must agree."""
YES, NO = "yes", "no"
Verdict = Literal["", "follows", "likely", "does-not-follow", "unreadable"]
Mark = Literal["another", "wrong-link", "trivial"]


class ValidateOptions(Settings):
    """Options of the task in a project file."""

    hide_answer: bool = False
    """Whether people give an answer of their own before they see the dataset's."""
    without: tuple[Mark, ...] = ()
    """Marks that keep a valid sample out of the validated set if the majority sets them; ``["trivial"]`` as in the paper."""


class Validation(Answer):
    """A person's judgement of a sample."""

    verdict: Verdict = ""
    marks: tuple[Mark, ...] = ()
    candidate: str = ""
    """The candidate that is as true as the answer, if the person names one."""
    note: Annotated[str, Field(max_length=MOST_NOTE)] = ""
    own: str = ""
    """The person's own answer, given before they saw the dataset's: a candidate's id, or a text; empty if they found none."""
    uncovered: bool = False
    """Whether the dataset's answer was shown after it had been hidden."""


class ValidateStep(Step):
    """A person reads one sample and judges whether its documents support the answer."""

    name = "validate"
    title = "Validate a sample"
    answer = Validation
    template = "validate.html"
    decisive = (VALIDITY,)
    verdicts = tuple(VERDICTS.values())
    marks = tuple(MARKS.values())
    most_note = MOST_NOTE

    def shown(self, item: Item, draft: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the page shows with the answer so far, ``draft``: the whole sample once its answer need not be hidden."""
        return item.hidden["whole"] if "whole" in item.hidden and draft.get("uncovered") is True else item.shown

    def labels(self, answer: Validation) -> dict[str, str]:
        """The verdict, whether the answer is ``valid``, and whether each mark is set."""
        if not answer.verdict:
            return {}
        marks = {mark: YES if mark in answer.marks else NO for mark in MARKS}
        return {VALIDITY: YES if answer.verdict in VALID else NO, "verdict": answer.verdict, **marks}

    def faults(self, item: Item, answer: Validation) -> list[Fault]:
        """A missing verdict, and a candidate that is none or has no mark."""
        shown_fields = self.shown(item, {"uncovered": answer.uncovered})
        if "answer" not in shown_fields:
            return [Fault(field="own", sentence="Give your own answer first, or leave it empty if there is none; then see the dataset's.")]
        faults = []
        if not answer.verdict:
            faults.append(Fault(field="verdict", sentence="Choose a verdict: does the answer follow from the documents?"))
        if answer.candidate and answer.candidate not in {candidate["id"] for candidate in shown_fields["others"]}:
            faults.append(Fault(field="candidate", sentence="This is not another candidate of the sample; choose one of the list."))
        elif answer.candidate and ANOTHER not in answer.marks:
            faults.append(Fault(field="candidate", sentence="A candidate is named without the mark that it is as true; give both or none."))
        return faults


class Validate(SampleTask):
    """Judge whether the answers of samples follow."""

    name = "validate"
    title = "Validate samples"
    steps: Mapping[str, Step] = {"validate": ValidateStep()}

    def __init__(self, project: Any) -> None:
        """Draw the samples. Raises SettingsError for options that are not known, and the errors of the draw."""
        self.options = task_options(project, ValidateOptions)
        super().__init__(project)

    def items(self) -> Iterator[Item]:
        """The drawn samples, in their order. Memory: ``PORTION`` samples."""
        for portion in chunks(list(self.drawn.splits), PORTION):
            part_of_draw = replace(self.drawn, splits={sample: self.drawn.splits[sample] for sample in portion})
            yield from (self._item(reading) for reading in readings(self.project.data, part_of_draw))

    def _item(self, reading: Reading) -> Item:
        instance, whole = reading.instance, sample_view(reading)
        hidden = self.origin(instance.id)
        if self.options.hide_answer:
            return Item(
                id=item_id(instance.id),
                step="validate",
                shown=question_view(instance, reading.split),
                hidden=hidden | {"whole": whole},
            )
        return Item(id=item_id(instance.id), step="validate", shown=whole, hidden=hidden)

    def instances(self, decided: Sequence[DecidedItem]) -> Iterator[tuple[str, Instance]]:
        """The samples that a majority, or a lead, holds valid, without those that ``options.without`` keeps out."""
        valid = [
            item
            for item in decided
            if item.labels.get(VALIDITY) == YES and not any(item.labels.get(mark) == YES for mark in self.options.without)
        ]
        for item, instance in self.samples(valid):
            yield str(item.item.hidden["split"]), instance

    def figures(self, decided: Sequence[DecidedItem]) -> list[Figure]:
        """The shares of valid answers and of each mark, by the majority; where answers were hidden, of people's answers that are right."""
        cases = {question: [item.labels[question] == YES for item in decided if question in item.labels] for question in (VALIDITY, *MARKS)}
        if self.options.hide_answer:
            cases["own answer is the dataset's"] = [
                _is_same_answer(answer.answer.own, instance)
                for item, instance in self.samples(decided)
                for answer in item.answers
                if isinstance(answer.answer, Validation)
            ]
        return share_figures(cases)


def _is_same_answer(own: str, instance: Instance) -> bool:
    """Whether a person's own answer is the dataset's, a candidate by its id, a text after normalisation."""
    if instance.candidates:
        return own == instance.answer_id
    return normalize(own) in {normalize(text) for text in instance.answers or ("",)}


TASK = Validate
