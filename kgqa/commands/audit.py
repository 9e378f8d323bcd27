"""``kgqa audit``: one pass over a question set, all checks beside each other, a report and a machine-readable twin of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from kgqa.checks import CHECKS
from kgqa.checks.batch import Batch, Side
from kgqa.checks.check import Check
from kgqa.checks.conditions import decide, parse
from kgqa.checks.findings import STATES, Finding
from kgqa.checks.near_shared import NearSharedCheck
from kgqa.checks.report.write import Report, require_plots, write_report
from kgqa.checks.result import Audit
from kgqa.checks.shared import SharedCheck
from kgqa.errors import MOST_SEED, BrokenInput, EmptyResult, SettingsError, check_seed
from kgqa.formats.question_set import QuestionSet, open_dataset
from kgqa.progress import Progress, Silent
from kgqa.records import Instance
from kgqa.settings.defaults import DRAWS_SEED
from kgqa.splits.certificate import Certificate, certificate, differences, read_certificate
from kgqa.splits.items import keys_of
from kgqa.splits.near_duplicates import THRESHOLD
from kgqa.splits.near_shared import MAX_SIDES

BATCH = 256
"""Questions in memory at a time."""
_NAMING = "kgqa convert --from"
"""How the format of a set to compare with is named: by converting it first."""


@dataclass(frozen=True, slots=True)
class _Source:
    """One side and how it is read."""

    side: Side
    questions: QuestionSet
    split: str


def audit(
    dataset: str | Path,
    *,
    against: Sequence[str | Path] = (),
    fail_on: Sequence[str] = (),
    out: str | Path | None = None,
    format: str | None = None,  # noqa: A002 - what it is called everywhere
    paragraphs: str | Path | None = None,
    strict: bool = False,
    seed: int = DRAWS_SEED,
    progress: Progress | None = None,
) -> Audit:
    """Audit the question set ``dataset``, of any format that kgqa reads, alone and ``against`` other sets.

    Writes ``audit.html`` and ``audit.json`` into ``out``, a folder called ``NAME-audit`` where the program runs by default, in place of an
    earlier report. ``paragraphs`` and ``strict``: as :func:`kgqa.open_dataset` has them, for ``dataset``. ``fail_on`` are conditions as
    ``leakage>0``. Questions are read in batches; what grows with their number is said by each check. Raises KgqaError; nothing is written
    where it does.
    """
    check_seed(seed)
    conditions = [parse(text, CHECKS) for text in fail_on]
    require_plots()
    found = open_dataset(dataset, format, paragraphs=paragraphs, strict=strict)
    others = [open_dataset(other, naming=_NAMING) for other in against]
    report = Report.at(out, found.name, [each.path for each in (found, *others) if isinstance(each.path, Path)])
    sources = _sources(found, others)
    checks = [check(seed=seed) for check in CHECKS]
    progress = progress or Silent()
    questions = _read(sources, checks, progress)
    progress.start("Looking at all of them together", len(checks), "checks")
    findings = []
    for check in checks:
        findings.append(check.result(_rng(seed, check.name)))
        progress.advance(1)
    progress.finish()
    outcomes = tuple(decide(condition, findings) for condition in conditions)
    findings = _explained(findings, checks, sources)
    findings.sort(key=lambda finding: (list(STATES).index(finding.state), -finding.excess))
    certified = _certificate(checks, questions, seed) if len(sources) > 1 else None
    done = Audit(
        dataset=found.name, format=found.format, questions=questions, findings=tuple(findings), outcomes=outcomes,
        certificate=certified, remarks=tuple(remark for each in (found, *others) for remark in each.remarks),
        html=report.html, json=report.json, replaced=report.exists,
    )  # fmt: skip
    write_report(report, done, seed=seed)
    return done


def verify_certificate(
    certificate: str | Path,
    dataset: str | Path,
    *,
    against: Sequence[str | Path] = (),
    format: str | None = None,  # noqa: A002 - what it is called everywhere
    paragraphs: str | Path | None = None,
    progress: Progress | None = None,
) -> list[str]:
    """In what the certificate in a file differs from that of the data, in sentences; empty where it holds. Raises KgqaError."""
    claimed = read_certificate(certificate)
    seed = claimed.near_duplicates[0].seed if claimed.near_duplicates else 0
    if not 0 <= seed <= MOST_SEED:
        raise BrokenInput(f"{certificate}: its seed {seed} is not between 0 and {MOST_SEED}; take the certificate from the report again.")
    sources = _sources(open_dataset(dataset, format, paragraphs=paragraphs), [open_dataset(other, naming=_NAMING) for other in against])
    checks = [check(seed=seed) for check in CHECKS if check.compares]
    questions = _read(sources, checks, progress or Silent())
    for check in checks:
        check.result(_rng(seed, check.name))
    return list(differences(claimed, _certificate(checks, questions, seed)))


def _sources(found: QuestionSet, others: Sequence[QuestionSet]) -> list[_Source]:
    """All sides in the order in which they are read: what is compared with comes first; SettingsError where there are too many."""
    sources: list[_Source] = []
    for number, other in enumerate(others, start=1):
        name = other.name if [each.name for each in others].count(other.name) == 1 else f"{other.name} ({number})"
        sources += [_Source(Side(name=f"{name}/{split}", against=True), other, split) for split in other.files]
    sources += [_Source(Side(name=split, against=False), found, split) for split in found.files]
    if len(sources) > MAX_SIDES:
        raise SettingsError(f"these sets have {len(sources)} splits, and an audit compares {MAX_SIDES} at most; leave out some --against.")
    return sources


def _read(sources: Sequence[_Source], checks: Sequence[Check], progress: Progress) -> dict[str, int]:
    """Show every batch to every check; the number of questions of each side."""
    counts: dict[str, int] = {}
    for source in sources:
        side = source.side
        asked = [check for check in checks if check.compares or not side.against]
        earlier = () if side.against else tuple(counts)
        progress.start(f"Reading {side.name}", None, "questions")
        counts[side.name] = 0
        for instances in _batches(source.questions.read(source.split)):
            batch = Batch(side, counts[side.name], instances, earlier)
            for check in asked:
                check.update(batch)
            counts[side.name] += len(instances)
            progress.advance(len(instances))
        progress.finish(f"{counts[side.name]:,} questions")
    for each in dict.fromkeys(source.questions.path for source in sources):
        if not any(counts[source.side.name] for source in sources if source.questions.path == each):
            raise EmptyResult(f"{each}: the set holds no question; give one that does.")
    return counts


def _batches(instances: Iterator[Instance]) -> Iterator[list[Instance]]:
    while batch := list(islice(instances, BATCH)):
        yield batch


def _rng(seed: int, purpose: str) -> np.random.Generator:
    """One for each check, so that an interval does not depend on which checks there are."""
    return np.random.default_rng([seed, int(keys_of([purpose])[0, 0])])


def _explained(findings: Iterable[Finding], checks: Sequence[Check], sources: Sequence[_Source]) -> list[Finding]:
    """Examples of checks that keep no text get it, from the questions read again as far as the last of them."""
    findings = list(findings)
    rereading = {check.name: check for check in checks if check.rereads}
    wanted: dict[str, set[int]] = {}
    for finding in findings:
        if finding.check in rereading:
            for example in finding.examples:
                for side, number in ((example.split, example.number), *([example.counterpart] if example.counterpart else [])):
                    wanted.setdefault(side, set()).add(number)
    read = {
        (source.side.name, number): instance
        for source in sources
        for number, instance in enumerate(islice(source.questions.read(source.split), max(wanted.get(source.side.name, {-1})) + 1))
        if number in wanted[source.side.name]
    }
    told = []
    for finding in findings:
        if check := rereading.get(finding.check):
            examples = []
            for example in finding.examples:
                instance = read[example.split, example.number]
                what = check.explain(example.what, instance, read[example.counterpart] if example.counterpart else None)
                examples.append(replace(example, id=instance.id, what=what))
            finding = replace(finding, examples=tuple(examples))  # noqa: PLW2901 - the same finding, told
        told.append(finding)
    return told


def _certificate(checks: Sequence[Check], questions: dict[str, int], seed: int) -> Certificate:
    near = {check.kind: check for check in checks if isinstance(check, NearSharedCheck)}
    return certificate(
        questions,
        {check.kind: check.items for check in checks if isinstance(check, SharedCheck)},
        {kind: check.found for kind, check in near.items()},
        words={kind: check.width for kind, check in near.items()},
        threshold=THRESHOLD,
        seed=seed,
    )
