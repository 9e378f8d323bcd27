"""What a project gives: its answers as tables, the dataset that its decided items make, and Label Studio's tasks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from kgqa.collection.card import sections
from kgqa.collection.figures import Figures, figures
from kgqa.collection.label_studio import write_tasks
from kgqa.collection.project import Project
from kgqa.collection.state import State
from kgqa.collection.task import AuthoredAnswer, DecidedItem, Figure, Item, Step, Task, find_task
from kgqa.errors import DuplicateId, EmptyResult, SettingsError, check_known
from kgqa.formats import native
from kgqa.formats.card import question_card
from kgqa.records import SPLITS, Instance
from kgqa.runs.card import escaped
from kgqa.runs.files import check_new_folder, new_folder, write_parquet
from kgqa.runs.manifest import versions, write_card, write_manifest
from kgqa.version import __version__

FORMATS = {
    "native": "the dataset that the decided items give, in kgqa's own format; of the task validate, the samples that are held valid",
    "parquet": "all answers, decisions and items as tables",
    "label-studio": "all items with their answers as tasks of Label Studio, and the configurations that show them",
}
"""Format → what it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """What :func:`export` wrote: the format, the place and the number of rows."""

    to: str
    out: Path
    counts: Mapping[str, int]
    """Split, table or step → rows."""


def export(project: Project, state: State, *, to: str, out: Path | None = None) -> Export:
    """Write what ``project`` gave, from the tables of its journal, as the new folder ``out``.

    ``to`` is a key of ``FORMATS``. For ``native`` of the task *validate* the default ``out`` is beside the dataset, NAME-validated. Raises
    SettingsError, EmptyResult without a decided item, DuplicateId, StorageError and the errors of the task; then nothing is left behind.
    """
    check_known("--to", to, FORMATS)
    if out is None:
        if to != "native" or project.settings.task != "validate":
            raise SettingsError(f"--to {to} of the task {project.settings.task} needs a new folder; give one as --out.")
        out = project.data.with_name(f"{project.data.name}-validated")
    check_new_folder(out)
    if to == "native":
        return _dataset(find_task(project.settings.task)(project), state, out)
    with new_folder(out) as folder:
        folder.mkdir()
        counts = _tables(state, folder) if to == "parquet" else write_tasks(state, find_task(project.settings.task)(project).steps, folder)
    return Export(to=to, out=out, counts=counts)


def decided(state: State, steps: Mapping[str, Step]) -> Iterator[DecidedItem]:
    """The decided items, in order, with the current answers of people; models' answers are left out."""
    answers: dict[str, list[AuthoredAnswer]] = {}
    people = state.answers.filter(~pl.col("model")).sort("number").select("item", "step", "person", "answer")
    for item, step, person, answer in people.iter_rows():
        answers.setdefault(item, []).append(AuthoredAnswer(person=person, answer=steps[step].answer.model_validate_json(answer)))
    rows = state.items.filter(pl.col("state") == "decided").join(
        state.decisions.select("item", "labels", lead="answer"), on="item", how="inner", maintain_order="left"
    )
    for row in rows.iter_rows(named=True):
        lead = None if row["lead"] is None else steps[row["step"]].answer.model_validate_json(row["lead"])
        yield DecidedItem(item=_item(row), answers=tuple(answers.get(row["item"], ())), labels=json.loads(row["labels"]), lead=lead)


def _item(row: Mapping[str, Any]) -> Item:
    shown_fields, hidden_fields, gold = (json.loads(row[name] or "null") for name in ("shown", "hidden", "gold"))
    authors = tuple(row["authors"])
    return Item(
        id=row["item"],
        step=row["step"],
        shown=shown_fields or {},
        hidden=hidden_fields or {},
        seats=row["seats"],
        gold=gold,
        authors=authors,
    )


def _dataset(task: Task, state: State, out: Path) -> Export:
    settled = list(decided(state, task.steps))
    if not settled:
        raise EmptyResult(f"{task.project.settings.name}: no item is decided yet, so there is no dataset to write; come back later.")
    splits: dict[str, list[Instance]] = {}
    places: dict[str, str] = {}
    for split, instance in task.instances(settled):
        if instance.id in places:
            raise DuplicateId(f"{task.project.settings.name}: two items give a question with the id {instance.id}; fix the task.")
        places[instance.id] = split
        splits.setdefault(split, []).append(instance)
    assert splits.keys() <= set(SPLITS)
    counts = {split: len(splits[split]) for split in SPLITS if split in splits}
    if not counts:
        raise EmptyResult(f"{task.project.settings.name}: none of the {len(settled):,} decided items gives a question; nothing is written.")
    with new_folder(out) as folder:
        folder.mkdir()
        for split in counts:
            native.write_split(splits[split], folder / f"{split}.parquet")
        _describe(task, state, settled, counts, folder, title=out.name)
    return Export(to="native", out=out, counts=counts)


def _describe(task: Task, state: State, settled: list[DecidedItem], counts: Mapping[str, int], folder: Path, *, title: str) -> None:
    """Write the card and, last, the manifest."""
    figures_of_state, extra = figures(state), task.figures(settled)
    source = native.manifest_of(task.project.data).get("content")
    manifest = {
        "recipe": "annotate", "task": task.name, "project": task.project.fixed | {"data": task.project.data.name}, "counts": counts,
        "source": {"dataset": task.project.data.name, "content": source}, "figures": figures_of_state.record(), "versions": versions(),
    }  # fmt: skip
    manifest |= write_card(
        folder, lambda digest: _card(task, figures_of_state, extra, len(settled), counts, folder, title=title, digest=digest)
    )
    write_manifest(manifest, folder)


def _card(
    task: Task, figures: Figures, extra: list[Figure], settled: int, counts: Mapping[str, int], folder: Path, *, title: str, digest: str
) -> str:
    total = sum(counts.values())
    source = escaped(task.project.data.name)
    about = (
        f"The {total:,} samples of {source} that a majority of the people who read them holds valid, of {settled:,} that are decided. Each "
        "is as it was there, in the split and group that it had; nothing else of that dataset is here."
        if task.name == "validate"
        else f"{total:,} questions from {settled:,} items that people answered (task *{escaped(task.title)}*, data {source})."
    )
    return question_card(
        folder,
        title=title,
        about=about,
        counts=counts,
        digest=digest,
        sections=tuple(sections(figures, extra)),
        made=f"`kgqa annotate` {__version__}; settings and figures are in [manifest.json](manifest.json); content hash `{digest}`.",
        licence=_licence(task.project.data),
    )


def _licence(dataset: Path) -> str:
    """The licence on the card of the dataset that the items came from."""
    card = dataset / "README.md"
    if not card.is_file():
        return "unknown"
    match = re.search(r'^license: ("(?:[^"\\]|\\.)*")$', card.read_text("utf-8", "replace")[:10_000], re.MULTILINE)
    return str(json.loads(match[1])) if match else "unknown"


def _tables(state: State, folder: Path) -> dict[str, int]:
    """``answers``, ``decisions`` and ``items``; times are UTC."""
    time = (pl.col("time") * 1000).round().cast(pl.Int64).cast(pl.Datetime("ms", "UTC"))
    steps = state.items.select("item", "step", "purpose")
    tables = {
        "answers": state.answers.drop("status").with_columns(time),
        "decisions": state.decisions.join(steps, on="item", how="inner", maintain_order="left").with_columns(time),
        "items": state.items.drop("number", "gold_labels"),
    }
    for name, rows in tables.items():
        write_parquet(rows.to_arrow(compat_level=pl.CompatLevel.oldest()), folder / f"{name}.parquet")
    return {name: rows.height for name, rows in tables.items()}
