"""Step S8 (Trivedi et al. 2022) and output: the answerable questions, the twins (full set), the rejected chains, and the card."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from kgqa.formats.columns import OF_RECIPES
from kgqa.formats.native import write_split
from kgqa.recipes.card import write_splits
from kgqa.recipes.contrasts import pool
from kgqa.recipes.contrasts.unanswerable import unanswerable
from kgqa.recipes.musique.card import write_dataset_card
from kgqa.recipes.musique.chains import Chains
from kgqa.recipes.musique.instances import InstanceMaker
from kgqa.recipes.musique.measures import relations_of
from kgqa.recipes.musique.rivals import NO_RIVAL
from kgqa.recipes.musique.shortcut_baselines import set_figures
from kgqa.recipes.musique.split_contexts import FEW_PARAGRAPHS
from kgqa.recipes.musique.unasked_relations import SilentRelation
from kgqa.records import SPLITS, Instance
from kgqa.runs.files import write_parquet
from kgqa.runs.funnel import FunnelRow, Rejection
from kgqa.runs.stage import Run
from kgqa.settings.musique import MusiqueSettings

FULL = "full"
"""The folder of the questions with their twins, as MuSiQue-Full."""
FILES = frozenset({f"{folder}{split}.parquet" for folder in ("", f"{FULL}/") for split in SPLITS} | {"rejected.parquet", "README.md"})
CERTIFIED = ("questions", "facts", "hop-answers", "hop-entities", "supporting-paragraphs")
"""Items that the certificate compares: all that step S5 keeps apart; answers as texts and as entities."""


def write_dataset(folder: Path, run: Run, *, funnel: list[FunnelRow], baselines: dict[str, Any]) -> dict[str, Any]:
    """Write the dataset into ``folder``, all but the manifest; return the counts, the content hash and the hash of each file.

    Memory: the questions with their paragraphs; equal paragraphs are one object.
    """
    settings = run.section(MusiqueSettings)
    tables = run.tables(
        "single_hop", "refused_single_hop", "paragraphs", "connected", "chains", "parted", "capped", "contexts", "unshown", "composed",
        "refused",
    )  # fmt: skip
    chains = Chains(tables["chains"], tables["connected"], tables["single_hop"], tables["paragraphs"])
    maker = InstanceMaker(chains)
    further_names = chains.pool.further_names()
    (folder / FULL).mkdir(parents=True)
    run.progress.start("Writing the dataset", len(tables["composed"]), "questions")
    splits, proof = write_splits(folder, run, lambda split: _instances(split, tables, maker, settings), certified=CERTIFIED)
    unpaired_count = sum(
        _write_full(folder / FULL / f"{split}.parquet", instances, further_names, seed=run.seed) for split, instances in splits.items()
    )
    _write_rejected(folder / "rejected.parquet", tables, chains, settings_of={row.reason: row.setting for row in funnel})
    guess_figures = set_figures(splits, seed=run.seed)
    shapes = {split: dict(Counter(instance.id.partition("__")[0] for instance in instances)) for split, instances in splits.items()}
    described = write_dataset_card(
        folder,
        run,
        splits=splits,
        shapes=shapes,
        funnel=funnel,
        proof=proof,
        unpaired_count=unpaired_count,
        filter_figures=_filtered(run),
        guess_figures=guess_figures,
        silent=_silent(run),
        idle=_idle(tables["single_hop"], splits),
    )
    counts = {split: len(instances) for split, instances in splits.items()}
    return {"counts": counts, "shortcuts": guess_figures, "from": "musique", "shapes": shapes, **described}


def _silent(run: Run) -> list[SilentRelation]:
    """The relations without a question."""
    record = run.workspace.finished("single_hop")
    assert record is not None, "the dataset is written from what the last stage left"
    return [SilentRelation(**relation) for relation in record.report.get("silent", [])]


def _idle(single_hop: pa.Table, splits: Mapping[str, Sequence[Instance]]) -> list[str]:
    """The templates with single-hop questions but without a composed question."""
    used_relations = {name for instances in splits.values() for instance in instances for name in relations_of(instance)}
    templates = pc.unique(single_hop["relations"].combine_chunks().flatten()).to_pylist()
    return sorted(set(templates) - used_relations)


def _filtered(run: Run) -> dict[str, Any]:
    """The readers' scores before and after the filter; empty where no filter was used."""
    record = run.workspace.finished("filter_pairs")
    assert record is not None, "the dataset is written from what the last stage left"
    return dict(record.report.get("guessed", {}))


def _instances(split: str, tables: dict[str, pa.Table], maker: InstanceMaker, settings: MusiqueSettings) -> Iterator[Instance]:
    """The instances of one split, in the order of the chains."""
    place = dict(zip(tables["parted"]["chain"].to_pylist(), tables["parted"]["split"].to_pylist(), strict=True))
    contexts = dict(zip(tables["contexts"]["chain"].to_pylist(), tables["contexts"]["paragraphs"].to_pylist(), strict=True))
    composed = zip(tables["composed"]["chain"].to_pylist(), tables["composed"]["question"].to_pylist(), strict=True)
    members = [(row, question) for row, question in composed if SPLITS[place[row]] == split]
    rows, questions = [row for row, _ in members], [question for _, question in members]
    return maker.make(rows, questions, [contexts[row] for row in rows], settings.composition.composer)


def _write_full(path: Path, instances: list[Instance], further_names: Mapping[str, Sequence[str]], *, seed: int) -> int:
    """Every question and its twin (step S8); how many have none, which are left out. ``further_names``: as ``unanswerable`` has it."""
    collector = pool.Collector(seed=seed)
    for instance in instances:
        collector.see(instance)
    make = partial(unanswerable, pool=collector.pool(), seed=seed, further_names=further_names)
    unpaired_count = 0

    def pairs() -> Iterator[Instance]:
        nonlocal unpaired_count
        for instance in instances:
            twins = make(instance)
            if isinstance(twins, Rejection):
                unpaired_count += 1
            else:
                yield from twins

    write_split(pairs(), path, OF_RECIPES)
    return unpaired_count


def _write_rejected(path: Path, tables: dict[str, pa.Table], chains: Chains, *, settings_of: Mapping[str, str]) -> None:
    """Write ``id, split, stage, reason, detail`` of each refused single-hop question and each chosen chain without a question.

    A chain also has its ``question`` (those of its hops), the ``relation`` and ``answer`` (an entity) of its last hop, as samples have, and
    the ``setting`` of the rule, by ``settings_of`` its reason.
    """
    place = dict(zip(tables["parted"]["chain"].to_pylist(), tables["parted"]["split"].to_pylist(), strict=True))
    with_context = set(tables["contexts"]["chain"].to_pylist())
    cap_reasons = dict(zip(tables["capped"]["chain"].to_pylist(), tables["capped"]["reason"].to_pylist(), strict=True))
    unsplit = [row for row in range(len(chains)) if row not in place]
    rows = [(row, "", "split", cap_reasons.get(row, "some of it is shared with another split")) for row in unsplit]
    lone_chains = set(tables["unshown"]["chain"].to_pylist())
    rows += [
        (row, SPLITS[place[row]], "contexts", NO_RIVAL if row in lone_chains else FEW_PARAGRAPHS)
        for row in sorted(place.keys() - with_context)
    ]
    refusals = zip(tables["refused"]["chain"].to_pylist(), tables["refused"]["reason"].to_pylist(), strict=True)
    rows += [(row, SPLITS[place[row]], "compose", reason) for row, reason in refusals]
    names, values = chains.rows["question"], chains.rows
    details = [" | ".join(str(names[hop]) for hop in chains.hops[row] if hop >= 0) for row, *_ in rows]
    last_hops = [next(int(hop) for hop in reversed(chains.hops[row]) if hop >= 0) for row, *_ in rows]
    columns = {
        "id": [chains.ids[row] for row, *_ in rows],
        **{field: [entry[place] for entry in rows] for field, place in (("split", 1), ("stage", 2), ("reason", 3))},
        "detail": details,
        "question": details,
        "relation": [next(iter(values["relations"][hop]), None) for hop in last_hops],
        "answer": [values["answer_entity"][hop] for hop in last_hops],
        "setting": [settings_of.get(entry[3], "") for entry in rows],
    }
    table = pa.table({name: pa.array(column, pa.string()) for name, column in columns.items()})
    write_parquet(pa.concat_tables([tables["refused_single_hop"], table], promote_options="default"), path)
