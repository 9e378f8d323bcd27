"""The question sets of an audit, side by side: shown to the checks batch by batch, and read again for the examples."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise

import numpy as np
import numpy.typing as npt

from kgqa.arrays.parallel import Engine, Threads
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


def read_sources(
    sources: Sequence[Source], checks: Sequence[Check], progress: Progress, engine: Engine | None = None
) -> tuple[dict[str, int], list[Check]]:
    """Show every batch to every check; the number of questions of each side, and the checks after that.

    An ``engine`` other than threads divides the checks among its workers, and holds all questions in memory.
    """
    if engine is None or isinstance(engine, Threads):
        return _read(sources, progress, lambda batch: _show(batch, checks)), list(checks)
    batches: list[bytes] = []
    counts = _read(sources, progress, lambda batch: batches.append(pickle.dumps(batch.shown)))
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum([len(data) for data in batches], dtype=np.int64)])
    shared = np.frombuffer(b"".join(batches), np.uint8), offsets
    batches.clear()
    # Each group reads all questions anew, so there are not many; two per worker, as some checks take longer than others.
    count = min(2 * engine.workers, len(checks))
    groups = [range(first, len(checks), count) for first in range(count)]
    result = list(checks)
    progress.start("Looking at the questions", len(checks), "checks")
    parts = [[(type(checks[at]), checks[at].seed) for at in group] for group in groups]
    for group, pickled in zip(groups, engine.map(_shown, parts, shared), strict=True):
        for at, check in zip(group, pickle.loads(pickled), strict=True):  # noqa: S301 - from a node of the user's own cluster
            result[at] = check
        progress.advance(len(group))
    progress.finish()
    return counts, result


def _show(batch: Batch, checks: Sequence[Check]) -> None:
    for check in checks:
        if check.compares or not batch.side.against:
            check.update(batch)


def _shown(kinds: list[tuple[type[Check], int]], batches: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64]) -> bytes:
    """Checks of these kinds and seeds after all batches, pickled: they change their arrays, and those of an object store are read-only."""
    checks = [kind(seed=seed) for kind, seed in kinds]
    for begin, end in pairwise(offsets.tolist()):
        _show(Batch(*pickle.loads(batches[begin:end].data)), checks)  # noqa: S301 - written by this run
    return pickle.dumps(checks)


def _read(sources: Sequence[Source], progress: Progress, show: Callable[[Batch], object]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for source in sources:
        side = source.side
        earlier = () if side.against else tuple(counts)
        progress.start(f"Reading {side.name}", None, "questions")
        counts[side.name] = 0
        for instances in batched(source.questions.read(source.split), BATCH):
            batch = Batch(side, counts[side.name], instances, earlier)
            show(batch)
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
