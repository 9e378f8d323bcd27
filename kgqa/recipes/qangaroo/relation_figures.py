"""The table of all relations of a domain: their measures, the numbers of their questions and samples, and the reason for excluding them."""

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
NOT_IMPLIED = "no chain implies any of its answers with enough confidence"
SELDOM = "hardly any of its samples is implied by its chain, so those that are may be accidental"
NONE_LEFT = "other rules reject all of its samples"
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationFigures:
    """The figures of one relation; a count of samples is None if its stage has not finished."""

    id: str
    label: str
    facts: int
    """Number of training facts; the other measures are over training facts too."""
    subjects: int
    objects: int
    objects_per_subject: float
    subjects_per_object: float
    text_lift: float | None
    """Lift: the probability that a co-mentioned pair is a fact, over that of a random pair of a subject and an object. None if no text
    mentions a pair together."""
    questions: int
    """Number of questions in all splits."""
    reached: int | None
    """Number of samples of the paper's recipe before its filters."""
    implied: int | None
    """Number of samples whose answer is implied by its chain."""
    share_implied: float | None
    """``implied`` as a share of the graded samples; None without graded samples."""
    kept: int | None
    """Number of samples in the finished dataset, in all splits."""
    verdict: str
    """``asked``, or the reason for excluding the relation."""


def figure_text(figure: float | None) -> str:
    """A number for tables; a dash for None.

    >>> [figure_text(figure) for figure in (None, 1234, 1.5, 1234.5)]
    ['–', '1,234', '1.50', '1,234']
    """
    if figure is None:
        return "–"
    return f"{figure:,}" if isinstance(figure, int) else f"{figure:,.2f}" if figure < 100 else f"{figure:,.0f}"


def relation_figures(run: Run, finished: Collection[str]) -> tuple[RelationFigures, ...]:
    """The figures of all relations, ordered by id, from the tables of the ``finished`` stages; these include ``mine_rules``."""
    tables = run.tables("entities", "relations", "facts", "documents", *MINED)
    questions = Questions.from_table(run.table("questions"))
    count = tables["relations"].num_rows
    measures = relation_measures(training_facts(tables, questions), read_mined(tables), count, tables)
    settings = run.section(QangarooSettings).evidence
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
    """The verdict on each row. If there are no rules (``ruled``), no relation is excluded by grades and measures.

    >>> row = {"questions": 9, "reached": 4, "implied": 0, "share_implied": 0.0, "kept": 0}
    >>> list(_verdicts([row, {**row, "kept": 2}], ["", ""], 0.1, ruled=True)) == [NOT_IMPLIED, ASKED]
    True
    """
    for row, measured_verdict in zip(rows, measured_verdicts, strict=True):
        share = row["share_implied"]
        if not row["questions"]:
            yield NO_QUESTION
        elif ruled and measured_verdict:
            yield measured_verdict
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
