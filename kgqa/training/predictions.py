"""Predictions of a reader as a Parquet table: every field of a Prediction, unrounded.

The official files (:mod:`kgqa.scoring.prediction_files`) hold less: no probabilities of paragraphs, and no executed decompositions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kgqa.errors import BrokenInput, MissingInput, storage_errors
from kgqa.records import Step
from kgqa.runs.scratch import scratch
from kgqa.training.reader import Prediction

FILE = "predictions.parquet"
ROWS = 1 << 14
"""Predictions in memory at a time."""
TEXT = pa.string()
STEP = pa.struct(
    [("id", TEXT), ("question", TEXT), ("answer", TEXT), ("paragraph_id", TEXT), ("depends_on", pa.list_(TEXT))]
)  # fmt: skip
SCHEMA = pa.schema(
    [
        pa.field("id", TEXT, nullable=False),
        pa.field("answer", TEXT, nullable=False),
        ("parts", pa.list_(TEXT)),
        pa.field("type", TEXT, nullable=False),
        ("value", pa.float64()),
        pa.field("unit", TEXT, nullable=False),
        ("candidate", TEXT),
        pa.field("confidence", pa.float64(), nullable=False),
        ("supporting", pa.list_(TEXT)),
        ("supporting_sentences", pa.list_(pa.struct([("paragraph", TEXT), ("sentence", pa.int32())]))),
        pa.field("answerable", pa.bool_(), nullable=False),
        pa.field("sufficiency", pa.int8(), nullable=False),
        ("paragraph_scores", pa.list_(pa.struct([("paragraph", TEXT), ("score", pa.float64())]))),
        ("steps", pa.list_(STEP)),
    ]
)
"""The fields of a Prediction, in its order."""


def write_table(predictions: Iterable[Prediction], path: Path) -> int:
    """Write Parquet, whole or not at all, replacing an existing file; return the number of rows. The same predictions give the same bytes.

    Memory: ``ROWS`` predictions. Raises StorageError.
    """
    remaining, count = iter(predictions), 0
    with storage_errors(path), scratch(path) as folder:
        partial = folder / path.name
        with pq.ParquetWriter(partial, SCHEMA, compression="zstd", compression_level=1) as writer:
            while chunk := list(islice(remaining, ROWS)):
                writer.write_table(pa.Table.from_pylist([_row(prediction) for prediction in chunk], schema=SCHEMA))
                count += len(chunk)
        partial.replace(path)
    return count


def read_table(path: Path) -> Iterator[Prediction]:
    """The predictions of such a file, in order. Raises MissingInput, and BrokenInput if the file is something else."""
    with storage_errors(path):
        if not path.is_file():
            raise MissingInput(f"{path}: there is no such file of predictions.")
        try:
            with pq.ParquetFile(path) as file:
                if not file.schema_arrow.equals(SCHEMA):
                    raise BrokenInput(f"{path}: its columns are not those of predictions; predict again with this version of kgqa.")
                for batch in file.iter_batches(batch_size=ROWS):
                    yield from map(prediction_of, batch.to_pylist())
        except pa.ArrowInvalid as error:
            raise BrokenInput(f"{path}: this is not a complete Parquet file; remove it and predict again.") from error


def _row(prediction: Prediction) -> dict[str, Any]:
    row = {field.name: getattr(prediction, field.name) for field in fields(prediction)}
    row["supporting_sentences"] = [{"paragraph": key, "sentence": number} for key, number in prediction.supporting_sentences]
    row["paragraph_scores"] = [{"paragraph": key, "score": score} for key, score in prediction.paragraph_scores]
    row["steps"] = [{field.name: getattr(step, field.name) for field in fields(step)} for step in prediction.steps]
    return row


def prediction_of(row: dict[str, Any]) -> Prediction:
    """The prediction in a row of such a table."""
    steps = [Step(**{**step, "depends_on": tuple(step["depends_on"])}) for step in row["steps"]]
    return Prediction(
        **{
            **row,
            "parts": tuple(row["parts"]),
            "supporting": tuple(row["supporting"]),
            "supporting_sentences": tuple((entry["paragraph"], entry["sentence"]) for entry in row["supporting_sentences"]),
            "paragraph_scores": tuple((entry["paragraph"], entry["score"]) for entry in row["paragraph_scores"]),
            "steps": tuple(steps),
        }
    )
