"""``kgqa validate``: what is wrong with a domain, before a dataset is made of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from kgqa.arrays.parallel import Threads
from kgqa.checks.domain.graph import language, projection, unlinked
from kgqa.checks.domain.problem import ERROR, WARNING, Problem
from kgqa.checks.domain.relations import doubtful_relations
from kgqa.checks.domain.settings import unknown_names
from kgqa.checks.domain.tables import lacking, left_out
from kgqa.commands.generate import prepared
from kgqa.errors import EmptyResult, SettingsError, UnknownId
from kgqa.progress import Progress
from kgqa.recipes.preparation import READING, open_graph
from kgqa.recipes.qangaroo.corpus import possible_candidates
from kgqa.recipes.qangaroo.questions import ask
from kgqa.records import SPLITS
from kgqa.runs.domain import Domain
from kgqa.runs.part import drawn, part_run, perform, with_documents
from kgqa.runs.runner import Runner
from kgqa.runs.stage import Run
from kgqa.settings.defaults import RECIPE, SEED, WORKSPACE
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.sources.imported import read_manifest
from kgqa.sources.tables import frame

LINKED = 50_000
"""Documents that are linked by default; of more, a random part."""
LINKING, BUILDING = "link_mentions", "build_store"
UNUSED = 0.5
"""Share of documents that the settings may leave out without a word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Validation:
    """The problems that :func:`validate` found in a domain."""

    domain: str
    problems: tuple[Problem, ...]
    """What is wrong: errors first, then by check and place."""
    rows: dict[str, int]
    """Table → rows that were read."""
    documents: int
    """Documents that were linked."""
    mentions: int
    """Mentions in them."""
    is_seed: bool
    """Whether kgqa's seed domain was used."""

    @property
    def passed(self) -> bool:
        """Whether there is no error; there may be warnings."""
        return not any(problem.severity == ERROR for problem in self.problems)


def validate(
    domain: str | Path,
    *,
    source: str | Path | None = None,
    workspace: str | Path = WORKSPACE,
    documents: int = LINKED,
    seed: int = SEED,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Validation:
    """Compare a domain's settings with its tables, link its documents, run its projection, and say what is wrong.

    Runs the first stages of :func:`kgqa.generate` in ``workspace``, which then need not run again. Of more than ``documents`` documents a
    random part by ``seed`` is linked apart. The same input gives the same problems. Raises KgqaError for what cannot be read at all, as a
    setting that does not exist.
    """
    if documents < 1:
        raise SettingsError(f"documents {documents} is not at least 1; give another number, or leave it out.")
    runner = prepared(domain, source=source, workspace=workspace, seed=seed, engine=Threads(workers), progress=progress)
    check_recipe(runner.run.domain, "checks")
    domain_files = runner.run.domain
    with runner.claimed(), ExitStack() as stack:
        manifest = read_manifest(domain_files.source)
        try:
            runner.perform(last=READING)
        except EmptyResult as error:
            return _result(runner, [_nothing("nothing-read", str(domain_files.source), error), *left_out(None, manifest)])
        tables = runner.run.tables("entities", "names", "relations", "facts", "documents", "annotations")
        problems = list(_of_tables(runner.run, tables, manifest))
        if any(problem.severity == ERROR and problem.check in ("unknown-relation", "unknown-entity") for problem in problems):
            return _result(runner, problems, tables)  # linking needs what these settings name
        part = _part(tables, documents, seed)
        mention_table, reason, run = None, "", runner.run
        try:
            if part is tables:
                runner.records, runner.reused = [], []
                runner.perform(last=BUILDING)
            else:
                run = stack.enter_context(part_run(run, part))
                list(perform(run, [stage for stage in runner.recipe.stages if stage.name in (LINKING, BUILDING)]))
            mention_table = run.table("mentions")
        except EmptyResult as error:
            reason = str(error)
        candidates = possible_candidates(tables, domain_files.settings.section(QangarooSettings))
        problems += unlinked(part, mention_table, domain_files, np.asarray(candidates), reason=reason, engine=run.engine)
        if mention_table is not None:
            problems += _unused(run, part["documents"].num_rows)
            with open_graph(run) as store:
                problems += projection(store, domain_files)
    return _result(runner, problems, tables, part["documents"].num_rows, 0 if mention_table is None else mention_table.num_rows)


def check_recipe(domain: Domain, verb: str) -> None:
    """Raise SettingsError for a domain of another recipe."""
    name, recipe = domain.settings.name, domain.settings.recipe
    if recipe != RECIPE:
        raise SettingsError(f"domain {name}: its recipe is {recipe}, but this {verb} domains of the recipe {RECIPE}; give one of those.")


def _of_tables(run: Run, tables: Mapping[str, pa.Table], manifest: Mapping[str, Any] | None) -> Iterator[Problem]:
    """What can be said before anything is linked."""
    section = run.section(QangarooSettings)
    yield from unknown_names(run.domain, tables)
    yield from left_out(run.table("dropped"), manifest)
    yield from lacking(tables, about_articles=section.answer_stated == "subject_document")
    yield from doubtful_relations(tables, section)
    yield from language(tables["documents"], run.domain.settings.linking)
    try:
        counts = ask(tables, section, seed=run.seed).by_split()
    except UnknownId:
        return  # reported above
    except (EmptyResult, SettingsError) as error:
        yield _nothing("no-question", "qangaroo", error)
        return
    subjects = frame(tables["facts"])["head"].n_unique()
    for split in SPLITS:
        if getattr(section.splits, split) and not counts.get(split):
            yield Problem(
                check="empty-split", severity=ERROR if split == "train" else WARNING, where=f"qangaroo.splits.{split}",
                what=f"no fact falls into {split}, which is drawn by a hash of its subject ({subjects:,} in all)",
                advice="raise its share, give another --seed, or add facts",
            )  # fmt: skip


def _nothing(check: str, where: str, error: Exception) -> Problem:
    reason, semicolon, advice = str(error).rstrip(".").rpartition("; ")
    return Problem(
        check=check, severity=ERROR, where=where, what=reason if semicolon else advice, advice=advice if semicolon else "see above"
    )


def _part(tables: dict[str, pa.Table], documents: int, seed: int) -> dict[str, pa.Table]:
    """``tables`` with this many documents at most."""
    if tables["documents"].num_rows <= documents:
        return tables
    numbers = drawn(tables["documents"]["id"], purpose="validate", seed=seed)
    return with_documents(tables, numbers <= np.partition(numbers, documents - 1)[documents - 1])


def _unused(run: Run, documents: int) -> Iterator[Problem]:
    unused = run.table("unused").num_rows
    if unused > UNUSED * documents:
        yield Problem(
            check="unused-documents", severity=ERROR if unused == documents else WARNING, where="documents", count=unused,
            what=f"the settings leave out {unused:,} of {documents:,} documents", advice="raise documents.max_tokens, or set it to 0",
        )  # fmt: skip


def _result(
    runner: Runner, problems: list[Problem], tables: Mapping[str, pa.Table] = MappingProxyType({}), documents: int = 0, mentions: int = 0
) -> Validation:
    in_order = sorted(problems, key=lambda problem: (problem.severity != ERROR, problem.check, problem.where, problem.what))
    return Validation(
        domain=runner.run.domain.settings.name, problems=tuple(in_order), rows={name: table.num_rows for name, table in tables.items()},
        documents=documents, mentions=mentions, is_seed=runner.run.domain.is_seed,
    )  # fmt: skip
