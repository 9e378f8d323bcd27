"""Gold for the instances of DiRe's transforms, and sentence numbers in their predictions.

A transform may cut sentences out of a paragraph. A system then numbers the sentences that it was shown. Gold and predictions are compared
by the numbers in the whole paragraph, which are the same in all instances of a question.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, NotRequired

from pydantic import Strict, TypeAdapter

from kgqa.errors import MissingInput
from kgqa.formats.json.validate import Open, validated
from kgqa.formats.provenance import noted
from kgqa.metrics import dire
from kgqa.metrics.hotpotqa import Fact
from kgqa.records import Instance
from kgqa.scoring.gold import all_sentences, facts, single_answer, title_or_id


class DireNotes(Open):
    """Note of a transform, or of the parser of DiRe's files, under ``dire``; kgqa's transforms note the whole ``supporting``."""

    question: str
    transform: str
    bipartition: int | None
    sub_idx: int
    sufficiency: int | None
    removed: list[str | Annotated[tuple[str, int], Strict(False)]] | None
    answers: NotRequired[list[str]]
    supporting: NotRequired[list[Annotated[tuple[str, int | None], Strict(False)]]]


NOTES = TypeAdapter(DireNotes)
NAME = "dire"


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """The gold data of one instance of a DiRe probe."""

    instance: dire.DiReGold
    cut: Mapping[str, Sequence[int]]
    """Paragraph → numbers of its sentences that are not shown. Paragraphs with a shared title are left out: a prediction may mean either.
    """


def dire_label(instance: Instance) -> Label:
    """The question's answer and the supporting facts that remain. Raises MissingInput if no transform made the instance."""
    note = notes_of(instance)
    names = {paragraph.id: title_or_id(paragraph) for paragraph in instance.paragraphs}
    title_counts = Counter(names.values())
    cut: dict[str, list[int]] = {}
    for piece in note["removed"] or ():
        if not isinstance(piece, str) and piece[0] in names and title_counts[names[piece[0]]] == 1:
            cut.setdefault(names[piece[0]], []).append(piece[1])
    if instance.answers:
        single_answer(instance)
    answers = note.get("answers") or instance.answers
    if not answers:
        raise MissingInput(f"instance {instance.id}: the answer of its question is not noted; generate the set again with kgqa contrast.")
    label = dire.DiReGold(
        question_id=note["question"],
        answer=answers[0],
        support=frozenset(_support(instance, note)),
        bipartition=note["bipartition"] or 0,
        sufficiency=note["sufficiency"],
        sub_idx=note["sub_idx"],
    )
    return Label(instance=label, cut={name: sorted(sentences) for name, sentences in cut.items()})


def notes_of(instance: Instance) -> DireNotes:
    """The note; MissingInput without one, BrokenInput if it is malformed."""
    note = noted(instance, NAME)
    if not note:
        raise MissingInput(
            f"instance {instance.id}: it was not made by one of DiRe's transforms; make the set with kgqa contrast, or "
            "read it with --from dire."
        )
    return validated(note, NOTES, f"instance {instance.id}, provenance, {NAME!r}")


def _support(instance: Instance, note: DireNotes) -> list[Fact]:
    """Noted facts of the remaining paragraphs and sentences; without a note, marks and additional facts of published files."""
    paragraphs = {paragraph.id: paragraph for paragraph in instance.paragraphs}
    if "supporting" in note:
        removed_pieces = set(note["removed"] or ())
        return [
            (title_or_id(paragraphs[key]), number)
            for key, sentence in note["supporting"]
            if key in paragraphs and (key, sentence) not in removed_pieces
            for number in (all_sentences(paragraphs[key]) if sentence is None else (sentence,))
        ]
    return facts(instance)


def whole_numbers(predictions: Sequence[dire.DiRePrediction], labels: Sequence[Label]) -> list[dire.DiRePrediction]:
    """The predictions, with sentence numbers of whole paragraphs. Predictions are matched to instances as in the scorer."""
    if not any(label.cut for label in labels):
        return list(predictions)
    has_indices = all(prediction.sub_idx is not None for prediction in predictions)
    cuts = {}
    counts: Counter[str] = Counter()
    for label in labels:
        key = label.instance.question_id
        cuts[key, label.instance.sub_idx if has_indices else counts[key]] = label.cut
        counts[key] += 1
    renumbered = []
    counts.clear()
    for prediction in predictions:
        key = prediction.question_id
        cut = cuts.get((key, prediction.sub_idx if has_indices else counts[key]), {})
        counts[key] += 1
        sentences = frozenset((name, number_in_whole(number, cut.get(name, ()))) for name, number in prediction.sentences)
        renumbered.append(replace(prediction, sentences=sentences))
    return renumbered


def number_in_whole(number: int, cut: Sequence[int]) -> int:
    """The number in the whole paragraph of the sentence ``number`` among those shown; ``cut``: ascending numbers of cut sentences."""
    for position in cut:
        number += position <= number
    return number
