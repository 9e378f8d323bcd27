"""The samples that ask about an entity, answer with it or lead over it, and the rejected questions about it; read from the datasets."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from kgqa.errors import KgqaError
from kgqa.formats.native import answer_chains
from kgqa.runs.card import REJECTED
from kgqa.web.explore.datasets import Dataset, datasets, split_file

SHOWN = 12
"""Maximum number of samples, and of rejected questions, of one dataset on a page."""
ROLES = {"subject": "asks about it", "answer": "its answer", "bridge": "leads over it"}
"""Role of the entity in a sample → its name on the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A sample with the entity."""

    split: str
    id: str
    question: str
    answer: str
    role: str
    """A key of ``ROLES``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """A question about the entity that became no sample."""

    question: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Uses:
    """What one dataset has about an entity."""

    dataset: str
    samples: tuple[Use, ...]
    total: int
    """Number of samples, those included that are not shown."""
    rejected: tuple[Refusal, ...]
    total_rejected: int


def uses(workspace: Path, entity: str) -> list[Uses]:
    """What each dataset of the workspace has about the entity; datasets that have nothing, or cannot be read, are left out.

    Scans the columns with questions and chains, not the texts. Composed questions name the answers of their steps, so their entities are
    found; rejected questions are found where the dataset notes their subject and answer.
    """
    try:
        uses_by_dataset = [_uses(dataset, entity) for dataset in datasets(workspace)]
    except (KgqaError, OSError, pl.exceptions.PolarsError):
        return []
    return [of for of in uses_by_dataset if of.total or of.total_rejected]


def _uses(dataset: Dataset, entity: str) -> Uses:
    samples: list[Use] = []
    total = 0
    for split in dataset.counts:
        rows = _samples(split_file(dataset, split), entity)
        total += rows.height
        samples += [
            Use(split=split, role=_role(row, entity), **_cells(row)) for row in rows.head(SHOWN - len(samples)).iter_rows(named=True)
        ]
    refusals = _rejected(dataset.path / f"{REJECTED}.parquet", entity)
    refused_queries = tuple(Refusal(**row) for row in refusals.head(SHOWN).iter_rows(named=True))
    return Uses(dataset=dataset.name, samples=tuple(samples), total=total, rejected=refused_queries, total_rejected=refusals.height)


def _samples(path: Path, entity: str) -> pl.DataFrame:
    on_chain = answer_chains(path).filter(pl.col("chains").list.eval(pl.element().list.contains(entity)).list.any()).select("id").collect()
    # Ids are quoted in the note of a recipe, as in its list of entities.
    quoted = json.dumps(entity, ensure_ascii=False)
    is_named = pl.col("provenance").str.contains(quoted, literal=True)
    return (
        pl.scan_parquet(path, glob=False)
        .select("id", "question", "answer_id", "provenance", pl.col("answers").list.first().alias("answer"))
        .filter(pl.col("id").is_in(on_chain["id"].implode()) | (pl.col("answer_id") == entity) | is_named)
        .collect()
    )


def _role(row: dict[str, Any], entity: str) -> str:
    if row["answer_id"] == entity:
        return "answer"
    return "subject" if json.loads(row["provenance"] or "{}").get("head") == entity else "bridge"


def _cells(row: dict[str, Any]) -> dict[str, str]:
    return {"id": row["id"], "question": row["question"], "answer": row["answer"] or ""}


def _rejected(path: Path, entity: str) -> pl.DataFrame:
    empty = pl.DataFrame(schema={"question": pl.String, "reason": pl.String})
    if not path.is_file():
        return empty
    frame = pl.scan_parquet(path, glob=False)
    if not {"question", "reason", "subject", "answer"} <= set(frame.collect_schema().names()):
        return empty
    about = (pl.col("subject") == entity) | (pl.col("answer") == entity)
    return frame.filter(about).select("question", "reason").collect()
