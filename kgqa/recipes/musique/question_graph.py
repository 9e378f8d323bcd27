"""Steps S2 and S4 (Trivedi et al. 2022): the pool of single-hop questions as a graph, in rows of :mod:`kgqa.store.questions`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.recipes.musique.heads_and_tails import Sides, answer_names
from kgqa.sources.tables import arrow, frame


def question_rows(sides: Sides) -> dict[str, pa.Table]:
    """The rows of all tables, with ``composes`` empty; no nulls, 64-bit numbers. O(questions and names in them)."""
    pool = frame(sides.work.single_hop).with_row_index("row")
    questions = pool.select(
        "row",
        "id",
        "question",
        "answer",
        tokens=pl.Series(sides.tokens),
        paragraph="paragraph",
        entity=pl.col("answer_entity").fill_null(""),
        own=pl.Series(sides.work.group_of_question),
        named=pl.Series(sides.is_entity, dtype=pl.Boolean),
    )
    subjects, about = _subjects(pool)
    tables = {
        "question": questions,
        "answer": _answers(sides),
        "subject": subjects,
        "answered_by": sides.heads.select(question="head", answer="group", turn="turn").sort("question", "answer"),
        "names": sides.tails.select(question="tail", answer="group", start="start", stop="end", whole="alone", turn="turn").sort(
            "question", "answer"
        ),
        "asks_about": about,
        "composes": pl.DataFrame(schema=["question", "other", "row", "start", "bridge"]).cast(pl.Int64),
    }
    return {name: arrow(table.with_columns(pl.selectors.numeric().cast(pl.Int64))) for name, table in tables.items()}


def _answers(sides: Sides) -> pl.DataFrame:
    """One row per answer group, with the first of its names."""
    names, _ = answer_names(sides.work.single_hop)
    table = pl.DataFrame({"row": sides.work.groups, "name": pl.Series(names)}).filter(pl.col("row") >= 0)
    return table.unique("row", keep="first", maintain_order=True).sort("row")


def _subjects(pool: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The subjects of questions, and (question, subject, slot) rows; a subject that a question names twice has the first slot."""
    about = pool.select(question="row", entity="entities").explode("entity").drop_nulls()
    about = about.with_columns(slot=pl.int_range(pl.len()).over("question"))
    about = about.unique(["question", "entity"], keep="first", maintain_order=True)
    subjects = about.select("entity").unique().sort("entity").with_row_index("row").select("row", "entity")
    rows = about.join(subjects.rename({"row": "subject"}), on="entity", maintain_order="left")
    return subjects, rows.select("question", "subject", "slot")


def composed_rows(pairs: pa.Table, edges: npt.NDArray[np.int32]) -> pa.Table:
    """The rows of ``composes`` for these rows of ``pairs``."""
    table = frame(pairs).with_row_index("row")[np.sort(edges)]
    questions = table.select(question="head", other="tail", row="row", start="start", bridge="bridge")
    return arrow(questions.with_columns(pl.selectors.numeric().cast(pl.Int64)))
