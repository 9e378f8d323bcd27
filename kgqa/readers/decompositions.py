"""Decompositions: as one line of text that a network can learn to write, and as single-hop questions.

The line is ``first question ; second one with #1``. A single-hop question keeps the context of the whole question.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from kgqa.formats.decomposition import dependencies, wrong_references
from kgqa.records import REFERENCE, Instance, Paragraph, Step
from kgqa.runs.files import key_of
from kgqa.training.questions import Questions

VERSION = 1
"""Version of how single-hop questions are made."""
BETWEEN = " ; "
MOST = 16
"""Maximum number of steps; a line with more is broken."""
_SEPARATOR = re.compile(r"\s*;\s*")


def steps_to_line(steps: Sequence[Step]) -> str:
    """The questions of ``steps`` in one line; a semicolon within a question becomes a comma."""
    return BETWEEN.join(_SEPARATOR.sub(", ", step.question.strip()) for step in steps)


def steps_from_line(text: str, question: str) -> tuple[Step, ...]:
    """The steps of a line, numbered from 1.

    A line is broken if a step is empty, or refers to itself or to a later step. Then the only step is the ``question`` itself.

    >>> [step.question for step in steps_from_line("Green >> performer ; #1 >> spouse", "Who is the spouse of the Green performer?")]
    ['Green >> performer', '#1 >> spouse']
    """
    questions = [part.strip() for part in text.strip().split(BETWEEN.strip())]
    if not all(questions) or len(questions) > MOST or wrong_references(questions):
        questions = [question]
    ids = [str(number) for number in range(1, len(questions) + 1)]
    return tuple(
        Step(id=name, question=instance, answer=None, paragraph_id=None, depends_on=earlier)
        for name, instance, earlier in zip(ids, questions, dependencies(questions, ids), strict=True)
    )


def filled_question(number: int, steps: tuple[Step, ...], answers: Mapping[str, str]) -> str:
    """The question of step ``number`` (from 0), with ``#k`` replaced by the answer of step k, if the step depends on k.

    A reference to a step without an answer stays. Any other ``#k`` is text, and stays too.
    """
    step = steps[number]

    def answer(reference: str, place: int) -> str:
        step_id = steps[place - 1].id if 1 <= place <= len(steps) else None
        return answers.get(step_id) or reference if step_id is not None and step_id in step.depends_on else reference

    return REFERENCE.sub(lambda match: answer(match[0], int(match[1])), step.question)


def single_hop_instance(instance: Instance, number: int, steps: tuple[Step, ...], answers: Mapping[str, str]) -> Instance:
    """Step ``number`` as a question of its own, without gold support; the last step has the candidates, if there are any."""
    return replace(
        instance,
        id=f"{instance.id}/step-{number + 1}",
        question=filled_question(number, steps, answers),
        candidates=instance.candidates if number == len(steps) - 1 else None,
        decomposition=None,
        chains=None,
        grades=None,
    )


def single_hop_instances(instance: Instance) -> Iterator[Instance]:
    """The steps with their gold answers and paragraphs; the Instance itself if it has no decomposition.

    A step whose paragraph is not shown is not answerable (MuSiQue-Full's twins).
    """
    steps = instance.decomposition
    if not steps:
        yield instance
        return
    answers = {step.id: step.answer for step in steps if step.answer is not None}
    paragraph_ids = {paragraph.id for paragraph in instance.paragraphs}
    for number, step in enumerate(steps):
        question = single_hop_instance(instance, number, steps, answers)
        names = _names(instance, step) if step.paragraph_id in paragraph_ids else ()
        yield replace(
            question,
            answers=names,
            answer_id=question.answer_id if question.candidates else None,
            answer_type="none" if step.paragraph_id not in paragraph_ids else "candidate" if question.candidates else "span",
            answerable=step.paragraph_id in paragraph_ids,
            paragraphs=tuple(
                _as_supporting(paragraph, is_supporting=paragraph.id == step.paragraph_id) for paragraph in instance.paragraphs
            ),
        )


def _names(instance: Instance, step: Step) -> tuple[str, ...]:
    """The step's answer; if it is the answer to the whole question, with its aliases."""
    if step.answer is None:
        return ()
    return instance.answers if step.answer in instance.answers[:1] else (step.answer,)


def _as_supporting(paragraph: Paragraph, *, is_supporting: bool) -> Paragraph:
    sentences = paragraph.supporting_sentences if is_supporting or paragraph.supporting_sentences is None else ()
    return replace(paragraph, supporting=is_supporting, supporting_sentences=sentences)


def single_hop(questions: Questions) -> Questions:
    """The steps of all questions, as questions; reads them once, to count the steps."""

    def read() -> Iterator[Instance]:
        for instance in questions:
            yield from single_hop_instances(instance)

    row_numbers = None if questions.keep is None else questions.rows().tolist()
    count = sum(len(instance.decomposition or (None,)) for instance in questions)
    return Questions(read=read, key=key_of("single-hop", VERSION, questions.key, row_numbers), count=count)
