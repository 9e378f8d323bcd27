"""Writes the questions of the last stage as a dataset, with its card."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from kgqa.formats.columns import OF_RECIPES
from kgqa.formats.native import write_split
from kgqa.recipes.strategyqa.card import dataset_card
from kgqa.recipes.strategyqa.instances import instances
from kgqa.recipes.strategyqa.patterns import patterns_of
from kgqa.recipes.strategyqa.pipeline import settings_of
from kgqa.records import SPLITS
from kgqa.runs.card import example
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.manifest import write_card
from kgqa.runs.stage import Run
from kgqa.sources.tables import frame
from kgqa.splits.certificate import certificate
from kgqa.splits.leakage import SharedItems, add_split

FILES = frozenset({*(f"{split}.parquet" for split in SPLITS), "README.md"})
CERTIFIED = ("questions", "supporting-paragraphs")
"""Items of ``kgqa.splits.items.KINDS`` that the certificate compares."""
SAMPLES = 12
"""Sample questions on the card."""


def write_dataset(folder: Path, run: Run, *, funnel: list[FunnelRow], baselines: dict[str, Any]) -> dict[str, Any]:
    """Write the dataset into ``folder``, all but the manifest; return the counts, the content hash and the hash of each file."""
    questions = frame(run.table("questions"))
    places = [questions.select(document=f"{side}_document", paragraph=f"{side}_paragraph") for side in ("a", "b")]
    evidence = frame(run.table("evidence")).join(pl.concat(places), on=["document", "paragraph"], how="semi")
    texts = {(document, number): (title, text) for document, number, title, text in evidence.iter_rows()}
    patterns = patterns_of(settings_of(run), run.domain.settings.linking.language)
    run.progress.start("Writing the dataset", questions.height, "questions")
    counts: dict[str, int] = {}
    shared = {kind: SharedItems() for kind in CERTIFIED}
    samples = []
    for number, split in enumerate(SPLITS):
        split_instances = list(instances(questions.filter(pl.col("split") == number), texts, patterns))
        counts[split] = len(split_instances)
        samples += split_instances[:SAMPLES]
        write_split(split_instances, folder / f"{split}.parquet", OF_RECIPES)
        add_split(shared, split, split_instances)
        run.progress.advance(len(split_instances))
    card = partial(
        dataset_card, run.domain, seed=run.seed, counts=counts, funnel=funnel, samples=samples[:SAMPLES], example=example(folder, counts),
        questions=questions, patterns=patterns, proof=certificate(counts, shared, {}, words={}, threshold=0.0, seed=run.seed),
    )  # fmt: skip
    described = write_card(folder, lambda digest: card(digest=digest))
    shares = dict(sorted(questions.group_by("pattern").len().iter_rows()))
    return {"counts": counts, "from": "strategyqa", "patterns": shares, **described}
