"""Writes a dataset folder: splits, masked twins, rejected questions, and the card."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kgqa.arrays.rows import distinct, paired
from kgqa.formats.columns import OF_RECIPES
from kgqa.recipes.qangaroo.card import write_dataset_card
from kgqa.recipes.qangaroo.gates import GATES
from kgqa.recipes.qangaroo.instances import Hidden, InstanceMaker, instance_ids, question_texts
from kgqa.recipes.qangaroo.relation_figures import relation_figures
from kgqa.recipes.qangaroo.samples import Samples
from kgqa.records import SPLITS
from kgqa.runs.files import write_parquet
from kgqa.runs.funnel import FunnelRow
from kgqa.runs.stage import Run
from kgqa.settings.qangaroo import QangarooSettings

FILES = frozenset({f"{folder}{split}.parquet" for folder in ("", "masked/") for split in SPLITS} | {"rejected.parquet", "README.md"})
CHUNK = 2048
"""Number of samples that are turned into Instances at a time."""


def write_splits(folder: Path, samples: Samples, maker: InstanceMaker, *, run: Run) -> Hidden:
    """Write ``train``, ``dev``, ``test`` and their masked twins; return the counts of the mask. Memory: a chunk of samples with texts."""
    hidden_counts = Hidden()
    for is_masked, target in ((False, folder), (True, folder / "masked")):
        target.mkdir(parents=True, exist_ok=True)
        for number, split in enumerate(SPLITS):
            part = samples.select(samples.questions.split == number)
            with pq.ParquetWriter(target / f"{split}.parquet", OF_RECIPES, compression="zstd", compression_level=1) as writer:
                for begin in range(0, len(part), CHUNK):
                    chunk = part.slice(begin, min(begin + CHUNK, len(part)))
                    table, chunk_hidden = maker.masked(chunk) if is_masked else (maker.plain(chunk), Hidden())
                    writer.write_table(table)
                    hidden_counts += chunk_hidden
                    run.progress.advance(len(chunk))
    return hidden_counts


def write_rejected(path: Path, run: Run) -> None:
    """Write every question that did not become a sample.

    Columns: ``id, split, stage, reason, detail`` (the fact), ``question``, ``relation``, ``subject`` and ``answer`` (ids), ``setting``. If
    the rule compared a number, ``value`` and ``threshold`` hold it and the limit; they are null otherwise.
    """
    tables = run.tables("entities", "asked_relations", "rejected_traverse", "rejected_filter")
    entities, relations = (tables[name]["id"].combine_chunks() for name in ("entities", "asked_relations"))
    labels = tables["entities"]["label"].combine_chunks()
    parts = []
    for stage in ("traverse", "filter"):
        table = tables[f"rejected_{stage}"]
        gate = table["gate"].combine_chunks().dictionary_encode()
        sentences = {
            name: pa.array([getattr(GATES[gate_name], name) for gate_name in gate.dictionary.to_pylist()], pa.string())
            for name in ("reason", "setting")
        }
        head, row = table["head"].combine_chunks(), table["relation"].combine_chunks()
        fact = [entities.take(head), relations.take(row), entities.take(table["answer"].combine_chunks())]
        parts.append(
            pa.table(
                {
                    "id": instance_ids(table["id"].combine_chunks().to_numpy(), run.domain.settings.dataset),
                    "split": pa.array(SPLITS).take(table["split"].combine_chunks()),
                    "stage": pa.repeat(stage, table.num_rows),
                    "reason": sentences["reason"].take(gate.indices),
                    "detail": pc.binary_join_element_wise(*fact, " "),
                    "question": question_texts(run.domain.settings, tables["asked_relations"]["label"], row, labels.take(head)),
                    "relation": fact[1],
                    "subject": fact[0],
                    "answer": fact[2],
                    "setting": sentences["setting"].take(gate.indices),
                    "value": table["value"].combine_chunks(),
                    "threshold": table["threshold"].combine_chunks(),
                }
            )
        )
    write_parquet(pa.concat_tables(parts), path)


def write_dataset(folder: Path, run: Run, *, funnel: list[FunnelRow], baselines: dict[str, Any]) -> dict[str, Any]:
    """Write the dataset into ``folder``, except the manifest; return counts, the hash of the content, and the hash of each file."""
    samples = Samples.from_table(run.table("kept"))
    run.progress.start("Writing the dataset", 2 * len(samples), "samples")
    counts = samples.questions.by_split()
    names = ("entities", "names", "documents", "mentions", "occurrences", "title_occurrences")
    tables = {**run.tables(*names, coded=True), "relations": run.table("asked_relations")}
    maker = InstanceMaker(tables, run.domain.settings, samples=samples, seed=run.seed)
    hidden_counts = write_splits(folder, samples, maker, run=run)
    write_rejected(folder / "rejected.parquet", run)
    described = write_dataset_card(
        folder, run, counts=counts, funnel=funnel, baselines=baselines, hidden_counts=hidden_counts, paths=_paths(run, samples),
        **_evidence(run),
    )  # fmt: skip
    return {"counts": counts, "masked": asdict(hidden_counts), **described}


def _paths(run: Run, samples: Samples) -> list[tuple[str, int, int]]:
    """Label, number of samples and number of distinct answers of each path that questions use; most samples first."""
    if run.section(QangarooSettings).queries != "paths":
        return []
    labels, relation = run.table("asked_relations")["label"].to_pylist(), samples.questions.relation
    answers = np.bincount(distinct(paired(relation, samples.questions.answer)) >> 32, minlength=len(labels))
    counts = np.bincount(relation, minlength=len(labels))
    return [(labels[row], int(counts[row]), int(answers[row])) for row in np.lexsort((np.arange(len(labels)), -counts)) if counts[row]]


def _evidence(run: Run) -> dict[str, Any]:
    """The arguments of the card that only graded sets have: relations, and the samples of the paper's recipe."""
    settings = run.section(QangarooSettings)
    if not settings.evidence.use or settings.queries != "relations":
        return {}
    record = run.workspace.finished("filter_samples")
    assert record is not None, "the dataset is written from the output of the last stage"
    return {"relations": relation_figures(run, ("traverse", "filter_samples")), "recipe_counts": record.report["plain"]}
