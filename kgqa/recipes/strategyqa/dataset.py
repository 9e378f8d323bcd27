"""Writes the questions of the last stage as a dataset, with its card."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl

from kgqa.recipes.card import write_splits
from kgqa.recipes.strategyqa.card import write_dataset_card
from kgqa.recipes.strategyqa.instances import instances
from kgqa.recipes.strategyqa.patterns import patterns_of
from kgqa.recipes.strategyqa.pipeline import settings_of
from kgqa.records import SPLITS, Instance
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run
from kgqa.sources.tables import frame

FILES = frozenset({*(f"{split}.parquet" for split in SPLITS), "README.md"})
CERTIFIED = ("questions", "supporting-paragraphs")
"""Items that the certificate compares."""


def write_dataset(folder: Path, run: Run, *, funnel: list[FunnelRow], baselines: dict[str, Any]) -> dict[str, Any]:
    """Write the dataset into ``folder``, all but the manifest; return the counts, the content hash and the hash of each file."""
    questions = frame(run.table("questions"))
    places = [questions.select(document=f"{side}_document", paragraph=f"{side}_paragraph") for side in ("a", "b")]
    evidence = frame(run.table("evidence")).join(pl.concat(places), on=["document", "paragraph"], how="semi")
    texts = {(document, number): (title, text) for document, number, title, text in evidence.iter_rows()}
    patterns = patterns_of(settings_of(run), run.domain.settings.linking.language)
    run.progress.start("Writing the dataset", questions.height, "questions")

    def instances_of(split: str) -> Iterator[Instance]:
        return instances(questions.filter(pl.col("split") == SPLITS.index(split)), texts, patterns)

    splits, proof = write_splits(folder, run, instances_of, certified=CERTIFIED)
    described = write_dataset_card(folder, run, funnel=funnel, splits=splits, questions=questions, patterns=patterns, proof=proof)
    counts = {split: len(split_instances) for split, split_instances in splits.items()}
    shares = dict(sorted(questions.group_by("pattern").len().iter_rows()))
    return {"counts": counts, "from": "strategyqa", "patterns": shares, **described}
