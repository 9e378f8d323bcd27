"""Cross-fitting: every question is predicted by readers that saw no question of its group. MuSiQue's filter and the audit use it.

The questions are divided into folds by group. For each fold a reader is fitted to the other folds, one of which decides when to stop, and
then predicts the fold (Trivedi et al. 2022, step S3: five folds, two seeds, train on three folds, validate and test on one each). Each
fold of each seed has a folder, which is marked as done at the end; a killed fold resumes from its last checkpoint.

Memory: one reader while it is fitted; about ten bytes and the group's name per question; while predictions are merged, those of one seed,
about 1 KB each.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from kgqa.chat.connection import Connection
from kgqa.errors import RunMismatch, SettingsError, storage_errors
from kgqa.progress import Progress, Silent, Within
from kgqa.runs.files import key_of, write_whole
from kgqa.settings.training import OF_TIME_AND_MEMORY, TrainingSettings
from kgqa.training.folds import Fold, folds_of
from kgqa.training.judgements import JUDGED, CrossFitted, merge_folds
from kgqa.training.predictions import write_table
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting, Reader
from kgqa.training.sent_folds import Nodes, Points, fit_on_nodes

VERSION = 1
"""Version of how folds are drawn and predicted; a folder of another version is not resumed."""
FOLDS, SEEDS = 5, (0, 1)
KEY, FIT, TOKENS = "key.txt", "fit", "tokens"
MakeReader = Callable[[int], Reader]
"""Makes a new reader for a seed."""
Record = Callable[[dict[str, object]], None]


def cross_fit(
    questions: Questions,
    make_reader: MakeReader,
    *,
    train: Questions | None = None,
    place: Path,
    folds: int = FOLDS,
    seeds: Sequence[int] = SEEDS,
    settings: TrainingSettings,
    key: str = "",
    validate: bool = True,
    beside: Mapping[str, Questions] = MappingProxyType({}),
    progress: Progress | None = None,
    record: Record | None = None,
    connection: Connection | None = None,
    nodes: Nodes | None = None,
) -> CrossFitted:
    """Predict ``questions`` by readers of ``make_reader``, in the folder ``place``; a folder of the same cross-fit is resumed or reused.

    ``key`` identifies everything that the readers depend on, besides the ``settings``. With ``validate`` the fold after the predicted one
    is the dev set; else the reader trains on all other folds. Questions ``beside``, by name, belong to the same groups (a probe's, for
    example); each is predicted by the readers of its group's fold. With ``train`` there is one reader per seed, fitted to these questions,
    one of whose ``folds`` is the dev set; whether they share groups with ``questions`` is not checked. ``record`` receives every point of
    every curve, with seed and fold. ``connection`` is for readers that ask an endpoint. With ``nodes`` each fold of each seed is a part,
    which the reader there is fitted to, and ``make_reader`` is not called.

    Raises SettingsError if there are fewer groups than folds, RunMismatch if the folder holds something else, and the errors of readers.
    """
    plan = cross_fit_plan(questions, train=train, folds=folds, validate=validate, beside=beside)
    run = _Run(place, tuple(seeds), settings, key, progress or Silent(), record, connection, nodes)
    return _run_plan(plan, {JUDGED: questions, **beside}, make_reader, run)


def cross_fit_plan(
    questions: Questions,
    *,
    train: Questions | None = None,
    folds: int = FOLDS,
    validate: bool = True,
    beside: Mapping[str, Questions] = MappingProxyType({}),
) -> list[Fold]:
    """The folds of :func:`cross_fit`. Raises SettingsError if there are fewer groups than folds."""
    questions_by_name = {JUDGED: questions, **beside}
    if train is not None and not validate:
        return [Fold(train=train, dev=None, read=questions_by_name)]
    if train is not None:
        folds_of_train = _fold_of_rows(train, _fold_of_group(train, folds))
        return [Fold(train=train.only(folds_of_train != 0), dev=train.only(folds_of_train == 0), read=questions_by_name)]
    if folds < (3 if validate else 2):
        raise SettingsError(f"{folds} folds leave nothing to learn from; give at least {3 if validate else 2}.")
    fold_of_group = _fold_of_group(questions, folds)
    folds_by_name = {name: _fold_of_rows(part, fold_of_group) for name, part in questions_by_name.items()}
    return [
        Fold(
            train=questions.only(_other_folds(folds_by_name[JUDGED], (number, (number + 1) % folds) if validate else (number,))),
            dev=questions.only(folds_by_name[JUDGED] == (number + 1) % folds) if validate else None,
            read={name: part.only(folds_by_name[name] == number) for name, part in questions_by_name.items()},
        )
        for number in range(folds)
    ]


def _fold_of_group(questions: Questions, folds: int) -> dict[str, int]:
    groups = [instance.group for instance in questions]
    return dict(zip(groups, folds_of(groups, folds, seed=0).tolist(), strict=True))


def _fold_of_rows(questions: Questions, fold: Mapping[str, int]) -> npt.NDArray[np.int16]:
    """For each row of the split its fold; -1 for rows that do not belong. Raises SettingsError for a group without a fold."""
    fold_of_row = np.full(questions.count, -1, np.int16)
    for row, instance in zip(questions.rows().tolist(), questions, strict=True):
        if instance.group not in fold:
            raise SettingsError(
                f"question {instance.id}: no question of its group {instance.group} is judged; read it with another reader."
            )
        fold_of_row[row] = fold[instance.group]
    return fold_of_row


def _other_folds(fold_of_row: npt.NDArray[np.int16], held_out_folds: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    return ~np.isin(fold_of_row, (-1, *held_out_folds))


@dataclass(frozen=True, slots=True)
class _Run:
    """The settings that all readers of a plan share."""

    place: Path
    seeds: tuple[int, ...]
    settings: TrainingSettings
    key: str
    progress: Progress
    record: Record | None
    connection: Connection | None
    nodes: Nodes | None

    def whole_key(self, plan: Sequence[Fold]) -> str:
        """Hash of everything that the predictions depend on."""
        plan_keys = [
            {"train": _key(fold.train), "dev": None if fold.dev is None else _key(fold.dev), **{n: _key(q) for n, q in fold.read.items()}}
            for fold in plan
        ]
        return key_of(VERSION, self.key, plan_keys, self.seeds, self.settings.model_dump(mode="json", exclude=set(OF_TIME_AND_MEMORY)))

    def note(self, seed: int, where: str, point: Mapping[str, object]) -> None:
        """Record a point of the curve of a fold."""
        if self.record:
            self.record({"seed": seed, "fold": where, **point})


def _key(questions: Questions) -> str:
    return key_of(questions.key, None if questions.keep is None else questions.rows().tolist())


def _run_plan(plan: Sequence[Fold], questions_by_name: Mapping[str, Questions], make_reader: MakeReader, run: _Run) -> CrossFitted:
    key = run.whole_key(plan)
    result = CrossFitted(folder=run.place, seeds=run.seeds, questions=questions_by_name)
    with storage_errors(run.place):
        run.place.mkdir(parents=True, exist_ok=True)
        if _is_finished(run.place, key):
            return result
        folders = {(seed, number): run.place / f"seed-{seed}" / f"fold-{number}" for seed in run.seeds for number in range(len(plan))}
        missing = {place: folder for place, folder in folders.items() if not _is_finished(folder, key)}
        (_fit_here if run.nodes is None else _fit_there)(plan, missing, make_reader, run, key)
        for name in questions_by_name:
            parts = {number: fold.read[name] for number, fold in enumerate(plan) if len(fold.read[name])}
            merge_folds(run.place, run.seeds, parts, name)
        write_whole(run.place / KEY, f"{key}\n")
        for seed in run.seeds:
            shutil.rmtree(run.place / f"seed-{seed}")
        shutil.rmtree(run.place / TOKENS, ignore_errors=True)
    return result


Missing = Mapping[tuple[int, int], Path]
"""Seed and number of a fold → its folder."""


def _fit_here(plan: Sequence[Fold], missing: Missing, make_reader: MakeReader, run: _Run, key: str) -> None:
    for (seed, number), folder in missing.items():
        where = _where(seed, number, plan)
        fitting = Fitting(
            place=folder / FIT, settings=run.settings, seed=seed, progress=Within(run.progress, where),
            record=partial(run.note, seed, where), connection=run.connection,
        )  # fmt: skip
        _fit_and_predict(plan[number], make_reader(seed), folder, fitting, run.place / TOKENS)
        write_whole(folder / KEY, f"{key}\n")
        shutil.rmtree(folder / FIT, ignore_errors=True)


def _fit_there(plan: Sequence[Fold], missing: Missing, make_reader: MakeReader, run: _Run, key: str) -> None:
    """Like :func:`_fit_here`, on the nodes. A fold whose node fails begins again; what is finished stays, as here."""
    assert run.nodes is not None
    run.progress.start("Fitting readers", len(missing), "folds")
    folds = [(seed, plan[number]) for seed, number in missing]
    for (place, folder), (tables, points) in zip(missing.items(), fit_on_nodes(folds, run.nodes, run.settings, _fit_on_node), strict=True):
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in tables.items():
            (folder / f"{name}.parquet").write_bytes(content)
        for point in points:
            run.note(place[0], _where(*place, plan), point)
        write_whole(folder / KEY, f"{key}\n")
        run.progress.advance(1)
    run.progress.finish(f"{len(missing):,} folds")


def _fit_on_node(fold: Fold, seed: int, reader: Reader, folder: Path, settings: TrainingSettings) -> Points:
    points: Points = []
    fitting = Fitting(place=folder / FIT, settings=settings, seed=seed, progress=Silent(), record=points.append)
    _fit_and_predict(fold, reader, folder, fitting, folder / TOKENS)
    return points


def _where(seed: int, number: int, plan: Sequence[Fold]) -> str:
    return f"seed {seed}, fold {number + 1} of {len(plan)}"


def _is_finished(folder: Path, key: str) -> bool:
    """Whether the folder is marked as done. Raises RunMismatch if it holds something else."""
    path = folder / KEY
    if not path.exists():
        return False
    if path.read_text("utf-8").strip() != key:
        raise RunMismatch(
            f"{folder}: these predictions are of other questions, readers, settings or seeds, or of another version; remove the folder to "
            "start again, or choose another."
        )
    return True


def _fit_and_predict(fold: Fold, reader: Reader, folder: Path, fitting: Fitting, tokens: Path) -> None:
    """Fit one reader and write its predictions. ``tokens``: the folder of encoded questions."""
    fitting.place.mkdir(parents=True, exist_ok=True)
    reader.fit(_with_shared_tokens(fold.train, tokens), None if fold.dev is None else _with_shared_tokens(fold.dev, tokens), fitting)
    for name, questions in fold.read.items():
        if len(questions):
            write_table(reader.predict(_with_shared_tokens(questions, tokens), fitting.progress), folder / f"{name}.parquet")


def _with_shared_tokens(questions: Questions, folder: Path) -> Questions:
    """The questions with a shared folder for their tokens, so that all folds encode them once."""
    return questions if questions.tokens else replace(questions, tokens=folder)
