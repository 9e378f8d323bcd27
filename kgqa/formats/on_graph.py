"""A dataset in the native format → the rows of :mod:`kgqa.store.samples`, which put its samples and rejected questions on a graph."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.errors import BrokenInput, MissingInput, storage_errors
from kgqa.formats import native
from kgqa.sources.tables import arrow, frame

FIELDS = (
    "id",
    "question",
    "answers",
    "answer_id",
    "candidates.list.element.id",
    "chains",
    "grades",
    "provenance",
    "paragraphs.list.element.id",
)
REJECTED = "rejected.parquet"
REJECTED_FIELDS = {
    "id": "",
    "split": "",
    "stage": "",
    "reason": "",
    "detail": "",
    "question": "",
    "relation": "",
    "subject": "",
    "answer": "",
    "setting": "",
}
"""Columns of text of rejected questions → what stands where a set has none of them."""
FILTER = ("stage", "reason", "setting")
"""By what filters are told apart."""
MEASURES = ("value", "threshold")
TEXTS = ("id", "question", "answer_id", "relation", "subject")
GRADE = pl.Struct({"confidence": pl.Float32, "path": pl.String, "text": pl.String})


def sample_rows(folder: Path, dataset: str) -> dict[str, pa.Table]:
    """The tables of ``SAMPLE_PART`` for the dataset in ``folder``, which is called ``dataset`` on the graph.

    Raises BrokenInput for a sample without subject, candidates and a chain to its answer. Memory: all but the texts, as columns.
    """
    parts = []
    for split, path in native.split_files(folder).items():
        part = _read(path).with_columns(split=pl.lit(split))
        _check_whole(part, path)
        parts.append(part)
    samples = pl.concat(parts).with_row_index("row").with_columns(pl.col("row").cast(pl.Int64), key=_key(dataset, pl.col("id")))
    graded = _candidates(samples)
    chains = _chains(graded, dataset)
    places = _numbered(chains.select("key", place="places"), "place")
    right = chains.filter("correct").group_by("row_of_sample").agg(hops=pl.col("length").min(), grade=pl.col("grade").first())
    samples = samples.join(right, left_on="row", right_on="row_of_sample", how="left", maintain_order="left")
    named = pl.lit(dataset).alias("dataset")
    return {
        "sample": arrow(
            samples.select(
                "key",
                "id",
                named,
                "split",
                "row",
                "question",
                "relation",
                answer=pl.col("answers").list.first(),
                hops="hops",
                grade="grade",
            )
        ),
        "chain": arrow(chains.select("key", "row", named, "sample", "candidate", "number", "correct", "grade", "length")),
        "sample_about": arrow(samples.select(sample="key", entity="subject")),
        "sample_answer": arrow(samples.select(sample="key", entity="answer_id")),
        "candidate": arrow(
            graded.select(
                sample="key", entity="candidate", position="position", correct="correct", grade="grade", path="path", text=pl.col("text")
            )
        ),
        "support": arrow(
            _numbered(samples.select("key", document="documents"), "document").select(
                sample="key", document="document", position="position"
            )
        ),
        "has_chain": arrow(chains.select(sample="sample_key", chain="key")),
        "step_entity": arrow(places.filter(pl.col("position") % 2 == 0).select(chain="key", entity="place", position="position")),
        "step_document": arrow(places.filter(pl.col("position") % 2 == 1).select(chain="key", document="place", position="position")),
    }


def rejected_rows(folder: Path, dataset: str) -> dict[str, pa.Table]:
    """The tables of ``REJECTED_PART``: the questions of ``rejected.parquet`` that became no sample; MissingInput where it is not there."""
    path = folder / REJECTED
    if not path.is_file():
        raise MissingInput(
            f"{path}: the dataset has no list of rejected questions; rebuild it with kgqa generate, or leave out --rejected."
        )
    with storage_errors(path):
        try:
            table = frame(pq.read_table(path))
        except (pa.ArrowException, OSError) as error:
            raise BrokenInput(f"{path}: this is no Parquet file ({error}); make the dataset again.") from None
    missing = [pl.lit(usual).alias(name) for name, usual in REJECTED_FIELDS.items() if name not in table.columns]
    missing += [pl.lit(None, pl.Float64).alias(name) for name in MEASURES if name not in table.columns]
    rows = (
        table.with_columns(missing)
        .with_columns(pl.col(*REJECTED_FIELDS).fill_null(""), pl.col(*MEASURES).cast(pl.Float64))
        .with_row_index("row")
    )
    rows = rows.with_columns(pl.col("row").cast(pl.Int64), key=_key(dataset, pl.col("id")))
    if (twice := rows.filter(pl.col("key").is_duplicated())).height:
        raise BrokenInput(f"{path}: two rejected questions have the id {twice['id'][0]!r}; make the dataset again.")
    filters = _filters(rows, dataset)
    rows = rows.join(filters.select(*FILTER, filter="key"), on=FILTER, maintain_order="left")
    rows = rows.with_columns(place=pl.int_range(pl.len()).over("filter"))
    columns = (
        "key", "id", "row", "split", "stage", "reason", "detail", "question", "relation", "subject", "answer", "setting", *MEASURES,
        "filter", "place",
    )  # fmt: skip
    return {
        "blocked": arrow(rows.with_columns(dataset=pl.lit(dataset)).select(*columns[:2], "dataset", *columns[2:])),
        "filter": arrow(filters),
        "blocked_about": arrow(rows.filter(pl.col("subject") != "").select(blocked="key", entity="subject")),
        "blocked_answer": arrow(rows.filter(pl.col("answer") != "").select(blocked="key", entity="answer")),
    }


def _filters(rows: pl.DataFrame, dataset: str) -> pl.DataFrame:
    """``key, row, dataset, stage, reason, setting, questions`` of whatever blocked a question, in the order of the first ones."""
    counts = rows.group_by(FILTER, maintain_order=True).agg(questions=pl.len().cast(pl.Int64)).with_columns(row=pl.int_range(pl.len()))
    named = counts.with_columns(dataset=pl.lit(dataset), key=_key(dataset, pl.col("row").cast(pl.String)))
    return named.select("key", "row", "dataset", *FILTER, "questions")


def _key(dataset: str, *parts: pl.Expr) -> pl.Expr:
    return pl.concat_str([pl.lit(dataset), *parts], separator="/")


def _read(path: Path) -> pl.DataFrame:
    """``id, question, answers, answer_id, candidates, chains, grades, relation, subject, documents`` of a split."""
    table = frame(native.read_columns(path, *FIELDS))
    if "grades" not in table.columns:
        table = table.with_columns(grades=pl.lit(None, pl.List(GRADE)))
    told = pl.col("provenance")
    return table.select(
        "id", "question", "answers", "answer_id", "chains", "grades",
        candidates=pl.col("candidates").list.eval(pl.element().struct.field("id")),
        documents=pl.col("paragraphs").list.eval(pl.element().struct.field("id")),
        relation=told.str.json_path_match("$.relation"),
        subject=told.str.json_path_match("$.head"),
    )  # fmt: skip


def _check_whole(samples: pl.DataFrame, path: Path) -> None:
    """Raise BrokenInput for the first sample that cannot lie on a graph."""
    chains = pl.col("chains")
    count = pl.col("candidates").list.len()
    # A chain has the subject, one document and the candidate at least; a place that is null makes its minimum's length null.
    fewest = chains.list.eval(pl.element().list.eval(pl.element().list.len()).list.min()).list.min()
    nulls = chains.list.eval(pl.element().list.eval(pl.element().list.eval(pl.element().is_null()).list.any()).list.any()).list.any()
    whole = (
        pl.all_horizontal(pl.col(*TEXTS).is_not_null())
        & (pl.col("answers").list.len() > 0)
        & (pl.col("documents").list.len() > 0)
        & (count == chains.list.len())
        & pl.col("candidates").list.contains(pl.col("answer_id"))
        & (fewest >= 3)
        & ~nulls.fill_null(value=False)
        & (pl.col("grades").is_null() | (pl.col("grades").list.len() == count))
    )
    broken = samples.filter(~whole.fill_null(value=False))
    if broken.height:
        raise BrokenInput(f"{path}: sample {broken['id'][0]} has no subject, candidates and chains; load what kgqa generate made.")


def _candidates(samples: pl.DataFrame) -> pl.DataFrame:
    """``row_of_sample, sample, key, position, candidate, correct, grade, path, text, chains`` of every candidate, in order."""
    without = samples.filter(pl.col("grades").is_null()).with_columns(grades=pl.col("candidates").list.eval(pl.lit(None, GRADE)))
    graded = pl.concat([samples.filter(pl.col("grades").is_not_null()), without]).sort("row")
    entries = _numbered(
        graded.select("key", "candidates", "chains", "grades", "answer_id", row_of_sample="row", sample="id"),
        "candidates",
        "chains",
        "grades",
    )
    grade = pl.col("grades").struct
    return entries.select(
        "row_of_sample", "sample", "key", "position", "chains",
        candidate="candidates",
        correct=pl.col("candidates") == pl.col("answer_id"),
        # With the fewest digits that name the same number, so that a grade of 0.9 is found among those from 0.9.
        grade=grade.field("confidence").cast(pl.String).cast(pl.Float64),
        path=grade.field("path"),
        text=grade.field("text"),
    )  # fmt: skip


def _chains(candidates: pl.DataFrame, dataset: str) -> pl.DataFrame:
    """Every chain of every candidate, in order, with its ``places``."""
    chains = _numbered(candidates.rename({"key": "sample_key", "position": "place"}), "chains").with_row_index("row")
    number = pl.col("position")
    return chains.select(
        "row_of_sample", "sample_key", "sample", "candidate", "correct", "grade",
        row=pl.col("row").cast(pl.Int64),
        key=_key(dataset, pl.col("sample"), pl.col("candidate"), number.cast(pl.String)),
        number=number,
        places="chains",
        length=pl.col("chains").list.len().cast(pl.Int64) // 2,
    )  # fmt: skip


def _numbered(rows: pl.DataFrame, *lists: str) -> pl.DataFrame:
    """A row for each entry of the ``lists`` of a row, with its ``position``; a row whose lists are empty has none."""
    numbers = pl.int_ranges(0, pl.col(lists[0]).list.len(), dtype=pl.Int64)
    return rows.with_columns(position=numbers).filter(pl.col(lists[0]).list.len() > 0).explode(*lists, "position")
