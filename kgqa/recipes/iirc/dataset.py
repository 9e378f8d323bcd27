"""Writes the dataset: the splits, the questions that no split has, and the card."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from kgqa.formats.columns import OF_RECIPES
from kgqa.formats.native import write_split
from kgqa.recipes.iirc.card import dataset_card
from kgqa.recipes.iirc.instances import InstanceMaker
from kgqa.recipes.iirc.passages import Texts
from kgqa.records import SPLITS, Instance
from kgqa.runs.card import example, rejected_count
from kgqa.runs.files import write_parquet
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.manifest import write_card
from kgqa.runs.stage import Run
from kgqa.settings.iirc import IircSettings
from kgqa.sources.tables import arrow, frame
from kgqa.splits.certificate import certificate
from kgqa.splits.leakage import SharedItems, add_split

FILES = frozenset({*(f"{split}.parquet" for split in SPLITS), "rejected.parquet", "README.md"})
CERTIFIED = ("questions", "supporting-paragraphs")
"""Items of ``kgqa.splits.items.KINDS`` that the certificate compares. Supporting paragraphs state all facts;
a last step, which is arithmetic, recurs."""


def write_dataset(folder: Path, run: Run, *, funnel: list[FunnelRow], baselines: dict[str, Any]) -> dict[str, Any]:
    """Write the dataset into ``folder``, all but the manifest; return the counts, the content hash and the hash of each file.

    Memory: the questions with their paragraphs; equal paragraphs are one object.
    """
    settings = run.domain.settings.section(IircSettings)
    questions = frame(run.table("chosen"))
    texts = Texts.of(run.table("passage_links"), run.table("passage_texts"))
    maker = InstanceMaker(texts, articles=settings.articles, seed=run.seed)
    run.progress.start("Writing the dataset", questions.height, "questions")
    shared = {kind: SharedItems() for kind in CERTIFIED}
    splits: dict[str, list[Instance]] = {}
    for number, split in enumerate(SPLITS):
        # Questions on one passage follow each other, as in IIRC's files.
        rows = questions.filter(pl.col("split") == number).sort("passage", "id")
        splits[split] = [maker.make(row) for row in rows.iter_rows(named=True)]
        write_split(splits[split], folder / f"{split}.parquet", OF_RECIPES)
        add_split(shared, split, splits[split])
        run.progress.advance(rows.height)
    rejections = frame(run.table("asked")).join(questions.select("id"), on="id", how="anti", maintain_order="left")
    _write_rejected(folder / "rejected.parquet", rejections)
    counts = {split: len(instances) for split, instances in splits.items()}
    card = partial(
        dataset_card, run.domain.settings, seed=run.seed, counts=counts, funnel=funnel, splits=splits, is_seed=run.domain.is_seed,
        proof=certificate(counts, shared, {}, words={}, threshold=0.0, seed=run.seed), example=example(folder, counts),
        rejected=rejected_count(folder),
    )  # fmt: skip
    return {"counts": counts, "from": "iirc", **write_card(folder, lambda digest: card(digest=digest))}


def _write_rejected(path: Path, questions: pl.DataFrame) -> None:
    """Write ``id, split, stage, reason, detail`` of each good question that the dataset does not have."""
    table = questions.select(
        "id", split=pl.lit(""), stage=pl.lit("choose"), reason=pl.lit("the limits leave it out, or some of it is in another split"),
        detail="question",
    )  # fmt: skip
    write_parquet(arrow(table), path)
