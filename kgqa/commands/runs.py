"""``kgqa runs``: recorded training runs, one run with its curve, or the differences of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from kgqa.database import is_address
from kgqa.errors import MissingInput, SettingsError, storage_errors
from kgqa.runs.files import check_new_file
from kgqa.training import run_log
from kgqa.training.curve import write_curve
from kgqa.training.recorded import RecordedRun, read_named, read_runs
from kgqa.training.run_database import run_database


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Differences between two training runs, and both learning curves."""

    settings: Mapping[str, tuple[Any, Any]]
    """Dotted name of a setting → its two values if they differ; None for a run without it."""
    versions: Mapping[str, tuple[str | None, str | None]]
    """Package → its two versions if they differ."""
    other: Mapping[str, tuple[Any, Any]]
    """Differences in reader, dataset, seed and device."""
    same_data: bool
    """Whether their datasets are the same, byte for byte. False if the bytes of one are unknown."""
    curve: tuple[tuple[str, int, Mapping[str, Any], Mapping[str, Any]], ...]
    """Part, step, and the figures of both runs there; empty for a run without any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRuns:
    """Result of :func:`training_runs`: the runs found, and their comparison."""

    place: str
    """The database, without user and password."""
    runs: tuple[RecordedRun, ...]
    """All runs without curves, or the named ones with curves."""
    comparison: Comparison | None = None
    remarks: tuple[str, ...] = ()

    def record(self) -> dict[str, Any]:
        """All runs and the comparison as JSON-able data."""
        compared = None if self.comparison is None else asdict(self.comparison)
        return {"place": self.place, "runs": [_run_record(run) for run in self.runs], "comparison": compared}


def training_runs(
    where: str | Path | None = None,
    *,
    show: str | None = None,
    compare: tuple[str, str] | None = None,
    plot: str | Path | None = None,
) -> TrainingRuns:
    """All runs recorded in ``where``, the one to ``show``, or the two to ``compare``.

    ``where`` is a folder with a ``runs.sqlite``, such a file, or a database address; by default ``KGQA_RUNS``, else the current folder.
    ``plot`` is a new SVG file for the curves of the named runs. Raises SettingsError, MissingInput if no runs are recorded, UnknownId,
    BrokenInput, StorageError, StoreUnreachable.
    """
    if show is not None and compare is not None:
        raise SettingsError("--show is for one run and --compare for two; leave out one of them.")
    names = compare if compare is not None else (show,) if show is not None else ()
    if plot is not None:
        if not names:
            raise SettingsError("--plot draws the curves of runs that are named; name one with --show, or two with --compare.")
        check_new_file(Path(plot))
    database = run_database(where, beside=Path())
    _check_place(where)
    runs = read_named(database, names) if names else read_runs(database)
    remark = None if plot is None else write_curve({run.name: run.curve for run in runs}, Path(plot))
    return TrainingRuns(
        place=database.name,
        runs=runs,
        comparison=compared(runs[0], runs[1]) if compare is not None else None,
        remarks=(remark,) if remark else (),
    )


def _check_place(where: str | Path | None) -> None:
    """Raise MissingInput for a missing folder, or for the folder of a single run."""
    if where is None or is_address(where):
        return
    path = Path(where)
    with storage_errors(path):
        if not path.exists():
            raise MissingInput(f"{path}: there is no such folder or file; give the folder of runs that kgqa train recorded.")
        if path.is_dir() and (path / run_log.FILE).exists():
            up = path.absolute().parent
            raise MissingInput(f"{path}: this is the folder of one run; give that above it: kgqa runs {up} --show {path.absolute().name}.")


def compared(first: RecordedRun, second: RecordedRun) -> Comparison:
    """Differences of two runs with curves."""
    return Comparison(
        settings=_differences(flat(first.settings), flat(second.settings)),
        versions=_differences(first.versions, second.versions),
        other=_differences(*({name: getattr(run, name) for name in ("reader", "dataset", "seed", "device")} for run in (first, second))),
        same_data=bool(first.hashes) and sorted(first.hashes.values()) == sorted(second.hashes.values()),
        curve=_side_by_side(first, second),
    )


def flat(settings: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Nested settings with dotted names."""
    items: dict[str, Any] = {}
    for name, value in settings.items():
        items |= flat(value, f"{before}{name}.") if isinstance(value, Mapping) else {f"{before}{name}": value}
    return items


def _differences(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    names = dict.fromkeys([*first, *second])
    return {name: (first.get(name), second.get(name)) for name in names if first.get(name) != second.get(name)}


def _side_by_side(*runs: RecordedRun) -> tuple[tuple[str, int, Mapping[str, Any], Mapping[str, Any]], ...]:
    first, second = ({(point["part"], point["step"]): point for point in run.curve} for run in runs)
    parts = list(dict.fromkeys(part for part, _ in (*first, *second)))
    keys = sorted({*first, *second}, key=lambda key: (parts.index(key[0]), key[1]))
    return tuple((part, step, _measures(first.get((part, step))), _measures(second.get((part, step)))) for part, step in keys)


def _measures(point: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (point or {}).items() if name not in {"part", "step"}}


def _run_record(run: RecordedRun) -> dict[str, Any]:
    times = {name: None if (at := getattr(run, name)) is None else moment(at) for name in ("started", "heartbeat", "ended")}
    return {**asdict(run), "folder": str(run.folder), **times}


def moment(seconds: float) -> str:
    """Seconds since 1970 as date and time in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
