"""Cross-fitting: every question is judged by readers that saw no question of its group, as MuSiQue's filter and the audit need it.

The questions are divided into folds by group; for each fold a reader is fitted to the others, of which one decides when to stop, and reads
the fold (Trivedi et al. 2022, step S3: five folds, two seeds, train on three, validate and test on one). Each fold of each seed has a
folder, which says at its end that it is done; a fold that was killed goes on from its last checkpoint. In memory are one reader while it
is fitted, some ten bytes and the group's name a question, and where predictions are put together those of one seed, about 1 KB each.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from kgqa.errors import RunMismatch, SettingsError, storage_errors
from kgqa.progress import Progress, Silent, Within
from kgqa.runs.files import key_of, write_whole
from kgqa.settings.training import OF_TIME_AND_MEMORY, TrainingSettings
from kgqa.training.folds import folds_of
from kgqa.training.judgements import JUDGED, CrossFitted, put_together
from kgqa.training.predictions import write_table
from kgqa.training.questions import Questions
from kgqa.training.reader import Fitting, Reader

VERSION = 1
"""Of how folds are drawn and judged; what was begun with another one does not go on."""
FOLDS, SEEDS = 5, (0, 1)
KEY, FIT, TOKENS = "key.txt", "fit", "tokens"
MakeReader = Callable[[int], Reader]
"""A new reader for a seed."""
Record = Callable[[dict[str, object]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fold:
    """What one reader learns from, stops by, and reads."""

    train: Questions
    dev: Questions | None
    read: Mapping[str, Questions]


def cross_fit(
    questions: Questions,
    make_reader: MakeReader,
    *,
    place: Path,
    folds: int = FOLDS,
    seeds: Sequence[int] = SEEDS,
    settings: TrainingSettings,
    key: str = "",
    validate: bool = True,
    beside: Mapping[str, Questions] = MappingProxyType({}),
    progress: Progress | None = None,
    record: Record | None = None,
) -> CrossFitted:
    """Judge ``questions`` by readers of ``make_reader`` in the folder ``place``; where it holds the same, begun or done, that goes on.

    ``key`` names all that the readers depend on beside the ``settings``. With ``validate`` the fold after the one that is judged decides
    when to stop and is not learned from; else all others are. Questions ``beside``, by name, are of the same groups, as those of a probe
    are; each is read by the readers that judge its group. ``record`` is told every point of every curve, with seed and fold.
    Raises SettingsError where there are fewer groups than folds, RunMismatch where the folder holds something else, and what readers raise.
    """
    if folds < (3 if validate else 2):
        raise SettingsError(f"{folds} folds leave nothing to learn from; give at least {3 if validate else 2}.")
    groups = [instance.group for instance in questions]
    fold = dict(zip(groups, folds_of(groups, folds, seed=0).tolist(), strict=True))
    read = {JUDGED: questions, **beside}
    of = {name: _fold_of_rows(each, fold) for name, each in read.items()}
    plan = [
        Fold(
            train=questions.only(_other_folds(of[JUDGED], (number, (number + 1) % folds) if validate else (number,))),
            dev=questions.only(of[JUDGED] == (number + 1) % folds) if validate else None,
            read={name: each.only(of[name] == number) for name, each in read.items()},
        )
        for number in range(folds)
    ]
    return _judged(plan, read, make_reader, _Run(place, tuple(seeds), settings, key, progress or Silent(), record))


def held_out(
    train: Questions,
    questions: Questions,
    make_reader: MakeReader,
    *,
    place: Path,
    folds: int = FOLDS,
    seeds: Sequence[int] = SEEDS,
    settings: TrainingSettings,
    key: str = "",
    validate: bool = True,
    beside: Mapping[str, Questions] = MappingProxyType({}),
    progress: Progress | None = None,
    record: Record | None = None,
) -> CrossFitted:
    """The same with one reader a seed, fitted to ``train``, of which one fold of ``folds`` decides when to stop.

    Whether the two have groups in common is not looked at.
    """
    read = {JUDGED: questions, **beside}
    learned, dev = train, None
    if validate:
        groups = [instance.group for instance in train]
        of = _fold_of_rows(train, dict(zip(groups, folds_of(groups, folds, seed=0).tolist(), strict=True)))
        learned, dev = train.only(of != 0), train.only(of == 0)
    plan = [Fold(train=learned, dev=dev, read=read)]
    return _judged(plan, read, make_reader, _Run(place, tuple(seeds), settings, key, progress or Silent(), record))


def _fold_of_rows(questions: Questions, fold: Mapping[str, int]) -> npt.NDArray[np.int16]:
    """For each row of the split its fold; -1 for those that do not belong. Raises SettingsError for a group that has none."""
    found = np.full(questions.count, -1, np.int16)
    for row, instance in zip(questions.rows().tolist(), questions, strict=True):
        if instance.group not in fold:
            raise SettingsError(
                f"question {instance.id}: no question of its group {instance.group} is judged; read it with another reader."
            )
        found[row] = fold[instance.group]
    return found


def _other_folds(of: npt.NDArray[np.int16], left_out: tuple[int, ...]) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = ~np.isin(of, (-1, *left_out))
    return found


@dataclass(frozen=True, slots=True)
class _Run:
    """How the readers of a plan are fitted."""

    place: Path
    seeds: tuple[int, ...]
    settings: TrainingSettings
    key: str
    progress: Progress
    record: Record | None

    def whole_key(self, plan: Sequence[Fold]) -> str:
        """Of all that the predictions depend on."""
        asked = [
            {"train": _key(fold.train), "dev": None if fold.dev is None else _key(fold.dev), **{n: _key(q) for n, q in fold.read.items()}}
            for fold in plan
        ]
        return key_of(VERSION, self.key, asked, self.seeds, self.settings.model_dump(mode="json", exclude=set(OF_TIME_AND_MEMORY)))


def _key(questions: Questions) -> str:
    return key_of(questions.key, None if questions.keep is None else questions.rows().tolist())


def _judged(plan: Sequence[Fold], read: Mapping[str, Questions], make_reader: MakeReader, run: _Run) -> CrossFitted:
    key = run.whole_key(plan)
    done = CrossFitted(folder=run.place, seeds=run.seeds, questions=read)
    with storage_errors(run.place):
        run.place.mkdir(parents=True, exist_ok=True)
        if _is_done(run.place, key):
            return done
        for seed in run.seeds:
            for number, fold in enumerate(plan):
                folder = run.place / f"seed-{seed}" / f"fold-{number}"
                if not _is_done(folder, key):
                    _judge(fold, seed, make_reader(seed), folder, run, f"seed {seed}, fold {number + 1} of {len(plan)}")
                    write_whole(folder / KEY, f"{key}\n")
                    shutil.rmtree(folder / FIT, ignore_errors=True)
        for name in read:
            parts = {number: fold.read[name] for number, fold in enumerate(plan) if len(fold.read[name])}
            put_together(run.place, run.seeds, parts, name)
        write_whole(run.place / KEY, f"{key}\n")
        for seed in run.seeds:
            shutil.rmtree(run.place / f"seed-{seed}")
        shutil.rmtree(run.place / TOKENS, ignore_errors=True)
    return done


def _is_done(folder: Path, key: str) -> bool:
    """Whether it is; RunMismatch where something else is."""
    path = folder / KEY
    if not path.exists():
        return False
    if path.read_text("utf-8").strip() != key:
        raise RunMismatch(
            f"{folder}: these predictions are of other questions, readers, settings or seeds, or of another version; remove the folder to "
            "start again, or choose another."
        )
    return True


def _judge(fold: Fold, seed: int, reader: Reader, folder: Path, run: _Run, where: str) -> None:
    """Fit one reader and let it read."""
    progress = Within(run.progress, where)
    place = run.place / TOKENS
    fitting = Fitting(
        place=folder / FIT, settings=run.settings, seed=seed, progress=progress,
        record=lambda point: run.record({"seed": seed, "fold": where, **point}) if run.record else None,
    )  # fmt: skip
    (folder / FIT).mkdir(parents=True, exist_ok=True)
    reader.fit(_kept(fold.train, place), None if fold.dev is None else _kept(fold.dev, place), fitting)
    for name, questions in fold.read.items():
        if len(questions):
            write_table(reader.predict(_kept(questions, place), progress), folder / f"{name}.parquet")


def _kept(questions: Questions, folder: Path) -> Questions:
    """Encoded once for all folds."""
    return questions if questions.tokens else replace(questions, tokens=folder)
