"""The table of all relations of a domain: their measures, what became of their questions, and what keeps them out."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq

from kgqa.recipes.qangaroo.mining import MINED, read_mined, training_facts
from kgqa.recipes.qangaroo.relations import relation_measures
from kgqa.recipes.qangaroo.samples import Questions
from kgqa.runs.stage import Run
from kgqa.settings.qangaroo import QangarooSettings

ASKED = "asked"
NO_QUESTION = "qangaroo.relations does not name it, or it has no facts"
UNREACHED = "no chain of documents leads to any of its answers"
NOT_IMPLIED = "no chain implies any of its answers surely enough"
SELDOM = "hardly any of its samples is implied by its chain, so these are by accident"
NONE_LEFT = "other rules leave none of its samples"
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationFigures:
    """One relation; what comes after the measures is None where the stage that counts it found nothing to go on with."""

    id: str
    label: str
    facts: int
    """Training facts; so are those of the other measures."""
    subjects: int
    objects: int
    objects_per_subject: float
    subjects_per_object: float
    text_lift: float | None
    """How many times oftener a pair that a text names together is a fact than a pair of any subject and any object; None where no text
    names a pair together."""
    questions: int
    """In all splits."""
    reached: int | None
    """Samples without any evidence asked for: those of the paper's recipe before its filters."""
    implied: int | None
    """Samples whose answer its chain implies."""
    share_implied: float | None
    """``implied`` of the samples of which chains were graded; None where none were."""
    kept: int | None
    """Samples of the finished set, all splits."""
    verdict: str
    """``asked``, or the sentence that keeps it out."""


def figure_text(figure: float | None) -> str:
    """A number as people read it; a dash where there is none."""
    if figure is None:
        return "–"
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:,.2f}" if figure < 100 else f"{figure:,.0f}"


def relation_figures(run: Run, finished: Collection[str]) -> tuple[RelationFigures, ...]:
    """All relations, ordered by id, from the tables of the stages that are ``finished``, ``mine_rules`` at least."""
    tables = run.tables("entities", "relations", "facts", "documents", *MINED)
    questions = Questions.from_table(run.table("questions"))
    count = tables["relations"].num_rows
    measures = relation_measures(training_facts(tables, questions), read_mined(tables), count, tables)
    settings = run.domain.settings.section(QangarooSettings).evidence
    lifts = measures.text_lift.tolist()
    columns: dict[str, Sequence[float | None]] = {
        "facts": measures.facts.tolist(), "subjects": measures.subjects.tolist(), "objects": measures.objects.tolist(),
        "objects_per_subject": measures.objects_per_subject.tolist(),
        "subjects_per_object": measures.subjects_per_object.tolist(),
        "text_lift": [lift if seen else None for lift, seen in zip(lifts, measures.named_together.tolist(), strict=True)],
        "questions": _by_relation(run, "questions", count).tolist(),
        **_of_samples(run, finished, count),
    }  # fmt: skip
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    verdicts = _verdicts(rows, measures.verdicts(settings), settings.graded_share, ruled=tables["path_rules"].num_rows > 0)
    names = zip(tables["relations"]["id"].to_pylist(), tables["relations"]["label"].to_pylist(), strict=True)
    return tuple(
        RelationFigures(id=id_, label=label, verdict=verdict, **row)
        for (id_, label), row, verdict in zip(names, rows, verdicts, strict=True)
    )


def _of_samples(run: Run, finished: Collection[str], count: int) -> dict[str, list[float | None]]:
    missing: list[float | None] = [None] * count
    columns = dict.fromkeys(("reached", "implied", "share_implied", "kept"), missing)
    if "traverse" in finished:
        columns["reached"] = _by_relation(run, "plain", count).tolist()
        graded = run.table("implied_samples")
        before, implied = graded["before"].to_pylist(), graded["implied"].to_pylist()
        columns["implied"] = implied
        columns["share_implied"] = [of / count_before if count_before else None for of, count_before in zip(implied, before, strict=True)]
    if "filter_samples" in finished:
        columns["kept"] = _by_relation(run, "kept", count).tolist()
    return columns


def _verdicts(rows: Sequence[Mapping[str, float | None]], measured_verdicts: Sequence[str], least: float, *, ruled: bool) -> Iterator[str]:
    """For each row what keeps the relation out; where nothing is ``ruled``, grades and measures keep nothing out."""
    for row, measured in zip(rows, measured_verdicts, strict=True):
        share = row["share_implied"]
        if not row["questions"]:
            yield NO_QUESTION
        elif ruled and measured:
            yield measured
        elif row["kept"] or row["reached"] is None:
            yield ASKED
        elif not row["reached"] and share is None:
            yield UNREACHED
        elif ruled and not row["implied"]:
            yield NOT_IMPLIED
        elif ruled and share is not None and share < least:
            yield SELDOM
        else:
            yield ASKED if row["kept"] is None else NONE_LEFT


def _by_relation(run: Run, table: str, relations: int) -> Counts:
    column = pq.read_table(run.workspace.tables / f"{table}.parquet", columns=["relation"])["relation"]
    return np.bincount(column.to_numpy(), minlength=relations)
