"""``kgqa estimate``: the size, yield, seconds, memory and disk of ``kgqa generate``, from a run on a part of the domain."""

from __future__ import annotations

import math
import resource
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.parallel import Threads
from kgqa.commands.generate import by_relations, performed, prepared
from kgqa.commands.validate import BUILDING, LINKING, check_recipe
from kgqa.errors import EmptyResult, SettingsError
from kgqa.linking.link import link_mentions
from kgqa.progress import Progress
from kgqa.recipes.preparation import READING
from kgqa.recipes.qangaroo.corpus import possible_candidates
from kgqa.records import SPLITS
from kgqa.runs.files import files_below
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.part import drawn, part_run, with_documents
from kgqa.runs.runner import WRITING, Runner
from kgqa.runs.stage import Run
from kgqa.runs.workspace import StageRecord
from kgqa.settings.defaults import SEED, SHARE, WORKSPACE
from kgqa.settings.qangaroo import QangarooSettings
from kgqa.settings.source import DocumentSettings
from kgqa.sources.tables import frame

LEAST = 2_000
"""Documents up to which the whole domain is run; a smaller part would say nothing."""
FACTS_ONLY = frozenset({"ask_questions", "mine_rules"})
"""Stages that take as long on the part, which has all facts."""
MODEL_ERROR = 0.5
"""Relative error of a yield beside that of the draw: limits on repeated answers and documents bite less in a part. It holds for the domains
in docs/domains.md."""
OF_TIME = 1.6
"""Factor to both sides of the seconds; other work on the machine alone may double them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A predicted number with its bounds."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """What :func:`estimate` predicts for a run of ``kgqa generate`` on the whole domain."""

    domain: str
    documents: int
    """Documents of the domain; known, not predicted."""
    drawn: int
    """Documents of the part that was run."""
    mentions: Figure
    samples: dict[str, Figure]
    """Split → samples."""
    seconds: Figure
    """Of ``generate`` on this machine with the same workers, compiling apart."""
    by_stage: dict[str, float]
    """Stage → its predicted seconds."""
    memory: Figure
    """Bytes at the peak."""
    disk: Figure
    """Bytes of the workspace with the dataset."""
    funnel: list[FunnelRow]
    """What was rejected in the part, and why."""
    spent: float
    """Seconds that the part took, reading included."""
    is_seed: bool


def estimate(
    domain: str | Path,
    *,
    source: str | Path | None = None,
    workspace: str | Path = WORKSPACE,
    share: float = SHARE,
    seed: int = SEED,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Estimate:
    """Predict what :func:`kgqa.generate` would make of a domain, and what it would cost.

    The tables are read whole into ``workspace``, where ``generate`` finds them. A random ``share`` of the articles is drawn by ``seed``;
    with the articles of all entities that they mention they make a part in which the chains of the drawn subjects are whole up to two
    documents. It has all entities and facts. All stages run on it in a temporary folder. Without articles the square root of ``share`` of
    the documents is drawn, so that ``share`` of the pairs of documents are; the bounds of the yield are wide then. Of domains with
    2,000 documents or fewer all are run. Raises KgqaError.
    """
    if not 0 < share <= 1:
        raise SettingsError(f"share {share:g} is not above 0 and at most 1; choose another, such as {SHARE:g}.")
    base = _peak()
    runner = prepared(domain, source=source, workspace=workspace, seed=seed, engine=Threads(workers), progress=progress)
    check_recipe(runner.run.domain, "estimates")
    with runner.claimed(), ExitStack() as stack:
        runner.perform(last=READING)
        tables = runner.run.tables("entities", "names", "relations", "facts", "documents", "annotations")
        total = tables["documents"].num_rows
        share = 1.0 if total <= LEAST else max(share, min(1.0, LEAST / 4 / total))
        runner.run.progress.start("Running a part")
        part = _draw(runner.run, tables, share)
        run = stack.enter_context(part_run(runner.run, part.tables))
        on_part = replace(runner, run=run, changed=[], records=[], reused=[], seconds={})
        _, key = next(on_part.stage_keys())
        run.workspace.record(StageRecord(stage=READING, key=key, outputs={}, report={"funnel": [], "note": ""}, seconds=0.0))
        fallback = by_relations(domain, runner.run.domain)
        try:
            on_part = performed(on_part, fallback)
        except EmptyResult as error:
            if part.documents == total:
                raise
            raise EmptyResult(
                f"a part of {part.documents:,} of {total:,} documents has no sample: {str(error).rstrip('.')}; raise --share."
            ) from None
        on_part.write({})
        result = _predict(runner, on_part, part, tables, base)
        runner.run.progress.finish(f"{part.documents:,} of {total:,} documents")
    return result


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A part of a domain's tables."""

    tables: dict[str, pa.Table]
    share: float
    """Share of the documents that were drawn."""
    subjects: pa.Array
    """Ids of the entities whose questions count; all without articles."""
    links: tuple[float, float]
    """Seconds of linking the drawn documents alone, and bytes of their text; 0 if that was not done."""
    mentions: Figure
    """Of the whole domain."""

    @property
    def documents(self) -> int:
        """Number of documents in the part that was run."""
        return int(self.tables["documents"].num_rows)


def _draw(run: Run, tables: dict[str, pa.Table], share: float) -> _Part:
    """The drawn articles with those of what they mention, or without articles drawn documents."""
    documents, entities = tables["documents"], tables["entities"]["id"].combine_chunks()
    section = run.section(QangarooSettings)
    has_articles = section.answer_stated == "subject_document"
    number = drawn(documents["id"], purpose="estimate", seed=run.seed)
    mask = number < (share if has_articles else math.sqrt(share))
    if not has_articles or share == 1:
        part_tables = with_documents(tables, mask)
        return _Part(tables=part_tables, share=float(mask.mean()), subjects=entities, links=(0.0, 0.0), mentions=NONE)
    first = with_documents(tables, mask)
    begin = time.perf_counter()
    candidates = np.asarray(possible_candidates(tables, section))
    link_table = link_mentions(first, run.domain.settings.linking, DocumentSettings(), candidates=candidates, engine=run.engine)
    seconds = time.perf_counter() - begin
    mentioned = pc.is_in(documents["about"], value_set=link_table.links["entity"].unique()).to_numpy(zero_copy_only=False)
    counts = frame(link_table.mentions).group_by("document").len()["len"].to_numpy()
    counts = np.concatenate([counts, np.zeros(int(mask.sum()) - len(counts), counts.dtype)])
    error = 1.96 * float(counts.std()) / math.sqrt(max(len(counts), 1)) * len(mask)
    mean = float(counts.mean()) * len(mask)
    return _Part(
        tables=with_documents(tables, mask | mentioned), share=float(mask.mean()),
        subjects=first["documents"]["about"].drop_null().unique(),
        links=(seconds, first["documents"]["text"].nbytes), mentions=Figure(value=mean, low=mean - error, high=mean + error),
    )  # fmt: skip


def _predict(runner: Runner, on_part: Runner, part: _Part, tables: dict[str, pa.Table], base: int) -> Estimate:
    """The figures of the whole domain from those of the part."""
    place, total = on_part.run.workspace, tables["documents"].num_rows
    queries = frame(on_part.run.table("kept", columns=["head", "split"]))
    entities = tables["entities"]["id"].combine_chunks()
    mine = pc.is_in(entities.take(queries["head"].to_arrow()), value_set=part.subjects).to_numpy(zero_copy_only=False)
    counts = np.bincount(queries["split"].to_numpy()[mine], minlength=len(SPLITS))
    is_whole = part.documents == total
    by_articles = part.links[1] > 0
    samples = {
        split: _yield(int(count), part.share, exact=is_whole, by_articles=by_articles)
        for split, count in zip(SPLITS, counts.tolist(), strict=True)
    }
    times = total / part.documents
    mentions = place.rows("mentions")
    mention_figure = part.mentions if part.mentions.value else _around(mentions * times, 1.0 if is_whole else 1.1)
    more = max(1.0, mention_figure.value / max(mentions, 1))
    by_stage = dict(on_part.seconds)
    by_stage[READING] = runner.seconds[READING]
    by_stage[LINKING] = _linking(by_stage[LINKING], part, tables, times)
    fixed = tables["entities"].num_rows + tables["facts"].num_rows
    by_stage[BUILDING] *= (fixed + times * (part.documents + place.rows("links"))) / (fixed + part.documents + place.rows("links"))
    in_part = max(1, len(queries))
    for name in by_stage.keys() - FACTS_ONLY - {READING, LINKING, BUILDING, WRITING}:
        by_stage[name] *= more
    by_stage[WRITING] *= max(1.0, sum(figure.value for figure in samples.values()) / in_part)
    table_bytes = sum(path.stat().st_size for path in files_below(runner.run.workspace.tables) if path.stem in tables)
    other_bytes = sum(path.stat().st_size for path in files_below(place.path)) - sum(
        (place.tables / f"{name}.parquet").stat().st_size for name in tables
    )
    peak = _peak()
    return Estimate(
        domain=runner.run.domain.settings.name, documents=total, drawn=part.documents, mentions=mention_figure, samples=samples,
        seconds=_around(sum(by_stage.values()), OF_TIME), by_stage=by_stage,
        memory=Figure(value=math.sqrt(peak * (base + (peak - base) * more)), low=peak, high=base + (peak - base) * more),
        disk=_around(table_bytes + other_bytes * math.sqrt(more) if more > 1 else table_bytes + other_bytes, OF_TIME if more > 1 else 1.05),
        funnel=[row for row in on_part.funnel if row.removed], spent=sum(on_part.seconds.values()) + by_stage[READING] + part.links[0],
        is_seed=runner.run.domain.is_seed,
    )  # fmt: skip


NONE = Figure(value=0.0, low=0.0, high=0.0)


def _around(value: float, factor: float) -> Figure:
    return Figure(value=value, low=value / factor, high=value * factor)


def _yield(count: int, share: float, *, exact: bool, by_articles: bool) -> Figure:
    """Samples of the whole from ``count`` in a ``share``: the 95% interval of a Poisson count, widened by ``MODEL_ERROR``.

    Without articles, limits on repeated documents and answers let the yield grow more slowly than the documents: it lies between not at all
    and in proportion.
    """
    if exact:
        return Figure(value=count, low=count, high=count)
    low, high = max(0.0, math.sqrt(count) - 0.98) ** 2, (math.sqrt(count + 1) + 0.98) ** 2
    if not by_articles:
        return Figure(value=count / math.sqrt(share), low=low, high=high / share)
    return Figure(value=count / share, low=low / share * (1 - MODEL_ERROR), high=high / share * (1 + MODEL_ERROR))


def _linking(seconds: float, part: _Part, tables: dict[str, pa.Table], times: float) -> float:
    """Seconds of linking all texts: what the names take, and what each byte takes, from two runs of different size."""
    first, size = part.links
    whole, read = tables["documents"]["text"].nbytes, part.tables["documents"]["text"].nbytes
    if not first or read <= size:
        return seconds * times
    return float(seconds + max(0.0, seconds - first) / (read - size) * (whole - read))


def _peak() -> int:
    """The most bytes of memory that this process has had so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
