"""``kgqa audit``: check a question set in one pass; write a report for people and one for programs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kgqa.chat.connection import Connection
from kgqa.checks import CHECKS
from kgqa.checks.check import Check
from kgqa.checks.conditions import Condition, decide, parse, unmeasured
from kgqa.checks.findings import STATES
from kgqa.checks.near_shared import NearSharedCheck
from kgqa.checks.readers.options import check_level, judging_settings
from kgqa.checks.report.write import Report, write_report
from kgqa.checks.result import Audit
from kgqa.checks.shared import SharedCheck
from kgqa.checks.sources import read_sources, sources_of, with_examples
from kgqa.cluster.opening import opened_engine
from kgqa.errors import MOST_SEED, BrokenInput, SettingsError, check_seed, require_packages
from kgqa.formats.question_set import QuestionSet, open_dataset
from kgqa.progress import Progress, Silent
from kgqa.readers.registry import LLM
from kgqa.runs.files import check_is_local
from kgqa.settings.cluster import is_cluster
from kgqa.settings.defaults import DRAWS_SEED
from kgqa.settings.judging import JudgingSettings
from kgqa.splits.certificate import Certificate, certificate, differences, read_certificate
from kgqa.splits.items import keys_of
from kgqa.splits.near_duplicates import THRESHOLD

if TYPE_CHECKING:
    from kgqa.checks.readers.judging import Judging

RECORDING = "llm.recording.jsonl"
"""File inside the report's folder with the answers of an endpoint."""
FOLDS = "readers"
"""Folder inside the report's, while readers are running."""
_NAMING = "kgqa convert --from"
"""Advice for a set to compare with whose format is not recognised: convert it first."""


def audit(
    dataset: str | Path,
    *,
    against: Sequence[str | Path] = (),
    fail_on: Sequence[str] = (),
    out: str | Path | None = None,
    format: str | None = None,  # noqa: A002 - what it is called everywhere
    paragraphs: str | Path | None = None,
    strict: bool = False,
    readers: str | None = None,
    reader_settings: str | Path | None = None,
    encoder: str | None = None,
    device: str | None = None,
    endpoint: str | None = None,
    recording: str | Path | None = None,
    seed: int = DRAWS_SEED,
    cluster: str | None = None,
    progress: Progress | None = None,
) -> Audit:
    """Audit the question set ``dataset``, alone and ``against`` other sets, for leaks, shortcuts and faults.

    Writes ``audit.html`` and ``audit.json`` into ``out``, by default a folder ``NAME-audit`` in the current folder, replacing an earlier
    report. ``fail_on`` are conditions such as ``leakage>0``. ``paragraphs`` and ``strict`` apply to ``dataset``, as in
    :func:`kgqa.open_dataset`. Questions are read in batches; each check states its memory. On a ``cluster``
    (:func:`kgqa.cluster.opening.opened_engine`) the nodes run checks, with the same report, and the object store holds all questions; they
    also fit the readers, on GPUs if there are any. Raises KgqaError; then no report is written.

    ``readers``: ``minimal`` or ``full`` (``kgqa.settings.judging``) also judges the set with trained readers, with the settings of the TOML
    file ``reader_settings``; ``encoder`` and ``device`` override it. Intermediate results are kept in ``readers`` in the report's folder
    until the report is written, so an interrupted audit resumes. A reader ``llm`` asks ``endpoint`` (by default ``OPENAI_BASE_URL``; the
    key is ``OPENAI_API_KEY``); all answers are kept in ``recording``, by default ``llm.recording.jsonl`` in the report's folder.
    """
    check_seed(seed)
    conditions = [parse(text, CHECKS, readers=readers) for text in fail_on]
    require_packages("kgqa audit", "audit", "matplotlib")
    judging = _judging_settings(readers, reader_settings, encoder, device, endpoint, recording)
    if out is not None:
        check_is_local(Path(out))
    question_set = open_dataset(dataset, format, paragraphs=paragraphs, strict=strict, progress=progress)
    other_sets = [open_dataset(path, naming=_NAMING, progress=progress) for path in against]
    report = Report.at(out, question_set.name, [opened.path for opened in (question_set, *other_sets) if isinstance(opened.path, Path)])
    sources = sources_of(question_set, other_sets)
    connection = Connection(path=report.html.parent / RECORDING if recording is None else Path(recording), address=endpoint)
    for source in (question_set, *other_sets):
        source.check_outside(connection.path, "--recording")
    if connection.path.resolve() in {report.html.resolve(), report.json.resolve()}:
        raise SettingsError(f"--recording {connection.path}: the report would overwrite this file; give another one.")
    judge = None
    if readers is not None:
        judge = _prepared(
            question_set, readers, judging, encoder, device, connection, seed, file=reader_settings, on_cluster=is_cluster(cluster)
        )
    if judge is not None:
        _check_measured(judge, conditions)
    checks = [check(seed=seed) for check in CHECKS]
    progress = progress or Silent()
    folds = report.html.parent / FOLDS
    with opened_engine(cluster=cluster, progress=progress) as engine:
        if judge is not None:
            judge.check_nodes(engine)
        questions, checks = read_sources(sources, checks, progress, engine)
        progress.start("Looking at all of them together", len(checks), "checks")
        findings = []
        for check in checks:
            if isinstance(check, NearSharedCheck):
                check.engine = engine
            findings.append(check.result(_rng(seed, check.name)))
            progress.advance(1)
        progress.finish()
        judgement = None if judge is None else judge.judge(folds, progress, engine)
    findings += [figure.finding(judgement.how) for figure in judgement.figures if figure.measure] if judgement else []
    missing = judgement.missing if judgement else {}
    outcomes = tuple(decide(condition, findings, missing=missing) for condition in conditions)
    findings = with_examples(findings, checks, sources)
    findings.sort(key=lambda finding: (list(STATES).index(finding.state), -finding.excess))
    certified = _certificate(checks, questions, seed) if len(sources) > 1 else None
    result = Audit(
        dataset=question_set.name, format=question_set.format, questions=questions, findings=tuple(findings), outcomes=outcomes,
        certificate=certified, remarks=tuple(remark for opened in (question_set, *other_sets) for remark in opened.remarks),
        readers=judgement, html=report.html, json=report.json, replaced=report.exists,
    )  # fmt: skip
    write_report(report, result, seed=seed)
    if judge:
        judge.forget(folds)
    return result


def _judging_settings(
    level: str | None,
    path: str | Path | None,
    encoder: str | None,
    device: str | None,
    endpoint: str | None,
    recording: str | Path | None,
) -> JudgingSettings:
    """Raise SettingsError for reader options without readers that have them, or if their packages are missing."""
    options = {
        "--reader-settings": path, "--encoder": encoder, "--device": device, "--endpoint": endpoint, "--recording": recording,
    }  # fmt: skip
    if level is None:
        for option, value in options.items():
            if value is not None:
                raise SettingsError(f"{option}: this setting is for readers; add --readers minimal, or drop it.")
        return JudgingSettings()
    check_level(level)
    settings = judging_settings(path)
    unused = ("--encoder", "--device") if settings.reader == LLM else () if LLM in settings.beside else ("--endpoint", "--recording")
    for option in unused:
        if options[option] is not None:
            who = "trained readers" if settings.reader == LLM else "the reader llm"
            raise SettingsError(f"{option} is for {who}, and none is set in --reader-settings; leave it out.")
    if settings.llm.get("shows", "all") != "all":
        raise SettingsError(f"{path}: [llm] shows cannot be set in an audit, which shows each reader what it must see; leave it out.")
    return settings


def _prepared(
    question_set: QuestionSet, level: str, settings: JudgingSettings, encoder: str | None, device: str | None, connection: Connection,
    seed: int, *, file: str | Path | None, on_cluster: bool,
) -> Judging:  # fmt: skip
    from kgqa.checks.readers.judging import prepared
    from kgqa.checks.readers.material import material

    return prepared(
        level, material(question_set, settings, seed=seed), settings, encoder=encoder, device=device, connection=connection,
        seed=seed, file="" if file is None else str(file), on_cluster=on_cluster,
    )  # fmt: skip


def _check_measured(judge: Judging, conditions: Sequence[Condition]) -> None:
    """Raise SettingsError, before the readers start, for a condition that they cannot decide on this set."""
    missing = judge.without_dire()
    for condition in conditions:
        lacking = unmeasured(condition, missing)
        if lacking is not None:
            raise SettingsError(
                f"--fail-on {condition}: {lacking} cannot be measured on this set ({missing[lacking].rstrip('.')}); drop the condition, "
                "name other measures, or give more questions."
            )


def verify_certificate(
    certificate: str | Path,
    dataset: str | Path,
    *,
    against: Sequence[str | Path] = (),
    format: str | None = None,  # noqa: A002 - what it is called everywhere
    paragraphs: str | Path | None = None,
    progress: Progress | None = None,
) -> list[str]:
    """Differences between the certificate in a file and that of the data, one sentence each; empty if it holds. Raises KgqaError."""
    claimed = read_certificate(certificate)
    seed = claimed.near_duplicates[0].seed if claimed.near_duplicates else 0
    if not 0 <= seed <= MOST_SEED:
        raise BrokenInput(f"{certificate}: its seed {seed} is not between 0 and {MOST_SEED}; take the certificate from the report again.")
    sources = sources_of(open_dataset(dataset, format, paragraphs=paragraphs), [open_dataset(path, naming=_NAMING) for path in against])
    checks = [check(seed=seed) for check in CHECKS if check.compares]
    questions, _ = read_sources(sources, checks, progress or Silent())
    for check in checks:
        check.result(_rng(seed, check.name))
    return list(differences(claimed, _certificate(checks, questions, seed)))


def _rng(seed: int, purpose: str) -> np.random.Generator:
    """One random generator per check, so that an interval does not depend on the other checks."""
    return np.random.default_rng([seed, int(keys_of([purpose])[0, 0])])


def _certificate(checks: Sequence[Check], questions: dict[str, int], seed: int) -> Certificate:
    near = {check.kind: check for check in checks if isinstance(check, NearSharedCheck)}
    return certificate(
        questions,
        {check.kind: check.items for check in checks if isinstance(check, SharedCheck)},
        {kind: check.shared for kind, check in near.items()},
        words={kind: check.width for kind, check in near.items()},
        threshold=THRESHOLD,
        seed=seed,
    )
