"""Writes the dataset: the splits, the questions that no split has, and the card."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from kgqa.recipes.card import write_splits
from kgqa.recipes.iirc.card import write_dataset_card
from kgqa.recipes.iirc.instances import InstanceMaker
from kgqa.recipes.iirc.passages import Texts
from kgqa.records import SPLITS, Instance
from kgqa.runs.files import write_parquet
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run
from kgqa.settings.iirc import IircSettings
from kgqa.sources.tables import arrow, frame

FILES = frozenset({*(f"{split}.parquet" for split in SPLITS), "rejected.parquet", "README.md"})
CERTIFIED = ("questions", "supporting-paragraphs")
"""Items that the certificate compares. Supporting paragraphs state all facts; a last step, which is arithmetic, recurs."""


def write_dataset(folder: Path, run: Run, *, funnel: list[FunnelRow], baselines: dict[str, Any]) -> dict[str, Any]:
    """Write the dataset into ``folder``, all but the manifest; return the counts, the content hash and the hash of each file.

    Memory: the questions with their paragraphs; equal paragraphs are one object.
    """
    settings = run.section(IircSettings)
    questions = frame(run.table("chosen"))
    texts = Texts.of(run.table("passage_links"), run.table("passage_texts"))
    maker = InstanceMaker(texts, articles=settings.articles, seed=run.seed)
    run.progress.start("Writing the dataset", questions.height, "questions")

    def instances_of(split: str) -> Iterator[Instance]:
        # Questions on one passage follow each other, as in IIRC's files.
        rows = questions.filter(pl.col("split") == SPLITS.index(split)).sort("passage", "id")
        return map(maker.make, rows.iter_rows(named=True))

    splits, proof = write_splits(folder, run, instances_of, certified=CERTIFIED)
    rejections = frame(run.table("asked")).join(questions.select("id"), on="id", how="anti", maintain_order="left")
    _write_rejected(folder / "rejected.parquet", rejections)
    described = write_dataset_card(folder, run, funnel=funnel, splits=splits, proof=proof)
    return {"counts": {split: len(instances) for split, instances in splits.items()}, "from": "iirc", **described}


def _write_rejected(path: Path, questions: pl.DataFrame) -> None:
    """Write ``id, split, stage, reason, detail`` of each good question that the dataset does not have."""
    table = questions.select(
        "id", split=pl.lit(""), stage=pl.lit("choose"), reason=pl.lit("the limits leave it out, or some of it is in another split"),
        detail="question",
    )  # fmt: skip
    write_parquet(arrow(table), path)
