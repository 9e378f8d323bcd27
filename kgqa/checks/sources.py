"""The question sets of an audit, side by side: shown to the checks batch by batch, and read again for the examples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from kgqa.checks.batch import Batch, Side
from kgqa.checks.check import Check
from kgqa.checks.findings import Finding
from kgqa.errors import EmptyResult, SettingsError
from kgqa.formats.native import batched
from kgqa.formats.question_set import QuestionSet
from kgqa.progress import Progress
from kgqa.splits.near_shared import MAX_SIDES

BATCH = 256
"""Questions in memory at a time."""


@dataclass(frozen=True, slots=True)
class Source:
    """One side and how it is read."""

    side: Side
    questions: QuestionSet
    split: str


def sources_of(questions: QuestionSet, references: Sequence[QuestionSet]) -> list[Source]:
    """All sides in the order of reading: compared sets first; SettingsError for too many."""
    sources: list[Source] = []
    for number, reference in enumerate(references, start=1):
        name = reference.name if [other_set.name for other_set in references].count(reference.name) == 1 else f"{reference.name} ({number})"
        sources += [Source(Side(name=f"{name}/{split}", against=True), reference, split) for split in reference.files]
    sources += [Source(Side(name=split, against=False), questions, split) for split in questions.files]
    if len(sources) > MAX_SIDES:
        raise SettingsError(f"these sets have {len(sources)} splits, and an audit compares {MAX_SIDES} at most; leave out some --against.")
    return sources


def read_sources(sources: Sequence[Source], checks: Sequence[Check], progress: Progress) -> dict[str, int]:
    """Show every batch to every check; the number of questions of each side."""
    counts: dict[str, int] = {}
    for source in sources:
        side = source.side
        side_checks = [check for check in checks if check.compares or not side.against]
        earlier = () if side.against else tuple(counts)
        progress.start(f"Reading {side.name}", None, "questions")
        counts[side.name] = 0
        for instances in batched(source.questions.read(source.split), BATCH):
            batch = Batch(side, counts[side.name], instances, earlier)
            for check in side_checks:
                check.update(batch)
            counts[side.name] += len(instances)
            progress.advance(len(instances))
        progress.finish(f"{counts[side.name]:,} questions")
    for path in dict.fromkeys(source.questions.path for source in sources):
        if not any(counts[source.side.name] for source in sources if source.questions.path == path):
            raise EmptyResult(f"{path}: the set has no questions; choose one that has.")
    return counts


def with_examples(findings: Iterable[Finding], checks: Sequence[Check], sources: Sequence[Source]) -> list[Finding]:
    """Examples of checks that keep no text get it, from the questions read again as far as the last of them."""
    findings = list(findings)
    rereading_checks = {check.name: check for check in checks if check.rereads}
    numbers: dict[str, set[int]] = {}
    for finding in findings:
        if finding.check in rereading_checks:
            for example in finding.examples:
                for side, number in ((example.split, example.number), *([example.counterpart] if example.counterpart else [])):
                    numbers.setdefault(side, set()).add(number)
    instances = {
        (source.side.name, number): instance
        for source in sources
        for number, instance in enumerate(islice(source.questions.read(source.split), max(numbers.get(source.side.name, {-1})) + 1))
        if number in numbers[source.side.name]
    }
    result = []
    for finding in findings:
        if check := rereading_checks.get(finding.check):
            examples = []
            for example in finding.examples:
                instance = instances[example.split, example.number]
                description = check.explain(example.what, instance, instances[example.counterpart] if example.counterpart else None)
                examples.append(replace(example, id=instance.id, what=description))
            finding = replace(finding, examples=tuple(examples))  # noqa: PLW2901 - the same finding, told
        result.append(finding)
    return result
