"""Where a report goes and how it gets there: both files whole, or neither; nothing of anybody else's is replaced."""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgqa.checks.findings import Finding
from kgqa.checks.report.page import page
from kgqa.checks.report.readers import not_measured
from kgqa.errors import SettingsError, StorageError, storage_errors
from kgqa.runs.files import check_is_local, parents_of, real_path
from kgqa.runs.scratch import scratch
from kgqa.version import __version__

if TYPE_CHECKING:
    from kgqa.checks.readers.judging import ReaderResults
    from kgqa.checks.result import Audit

HTML, JSON = "audit.html", "audit.json"
MADE_BY = "kgqa audit"
NAME_LIMIT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The two files of a report."""

    html: Path
    json: Path
    exists: bool
    """Whether an earlier report is there, which this one replaces."""

    @classmethod
    def at(cls, out: str | Path | None, name: str, sets: Sequence[Path] = ()) -> Report:
        """In ``out``, or in ``NAME-audit`` where the program runs; ``sets`` are the files and folders that are read.

        SettingsError or StorageError where it must not or cannot go there.
        """
        folder = Path(f"{name[:NAME_LIMIT]}-audit") if out is None else Path(out)
        check_is_local(folder)
        with storage_errors(folder):
            for dataset in sets:
                if _inside(real_path(folder), dataset):
                    raise SettingsError(f"{folder}: the report would be inside the dataset's folder, {dataset}; choose another --out.")
            if (folder.exists() or folder.is_symlink()) and not folder.is_dir():
                raise StorageError(f"{folder}: this is a file, and the report needs a folder; choose another --out.")
            _check_way(folder)
            files = [folder / HTML, folder / JSON]
            for file in files:
                if os.path.lexists(file) and not (file.is_file() and _is_ours(file)):
                    raise StorageError(
                        f"{file}: this file is not an audit of kgqa, so it is not replaced; choose another --out, or remove it."
                    )
            return cls(html=files[0], json=files[1], exists=any(file.exists() for file in files))


def _inside(folder: Path, dataset: Path) -> bool:
    """Whether ``folder`` is in the dataset's folder, or is the folder of the dataset's file."""
    return folder.is_relative_to(real_path(dataset)) if dataset.is_dir() else dataset.is_file() and folder == real_path(dataset).parent


def _check_way(folder: Path) -> None:
    """Raise OSError where ``folder`` could not be made or written to."""
    nearest = next(parent for parent in (folder.absolute(), *folder.absolute().parents) if os.path.lexists(parent))
    if not nearest.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, "not a folder", str(nearest))
    if not os.access(nearest, os.W_OK | os.X_OK):
        number = errno.EROFS if os.statvfs(nearest).f_flag & os.ST_RDONLY else errno.EACCES
        raise OSError(number, "not writable", str(nearest))


def _is_ours(file: Path) -> bool:
    with file.open("rb") as stream:
        return MADE_BY.encode() in stream.read(200)


def write_report(report: Report, audit: Audit, *, seed: int) -> None:
    """Write both files under temporary names, then rename them; bytes of a file name that are no letters are written as ``\\udc80``."""
    texts = {report.html: page(audit, seed=seed), report.json: to_json(audit, seed=seed)}
    with storage_errors(report.html.parent), parents_of(report.html), scratch(report.html) as folder:
        for path, text in texts.items():
            (folder / path.name).write_text(text, "utf-8", "backslashreplace", newline="\n")
        for path in texts:
            (folder / path.name).replace(path)


def to_json(audit: Audit, *, seed: int) -> str:
    """The report for programs; it names no place on the machine, and is the same for the same input and settings."""
    value = {
        "made_by": MADE_BY,
        "kgqa": __version__,
        "dataset": audit.dataset,
        "format": audit.format,
        "seed": seed,
        "questions": audit.questions,
        "failed": audit.failed,
        "conditions": [asdict(outcome) for outcome in audit.outcomes],
        "findings": [_finding(finding) for finding in audit.findings],
        "readers": None if audit.readers is None else _readers(audit.readers),
        "not_measured": [
            {"name": measure.name, "meaning": measure.meaning, "reason": reason} for measure, reason in not_measured(audit.readers)
        ],
        "certificate": None if audit.certificate is None else asdict(audit.certificate),
    }
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _finding(finding: Finding) -> dict[str, Any]:
    examples = [{"split": example.split, "id": example.id, "what": example.what} for example in finding.examples]
    return {**asdict(finding), "state": finding.state, "excess": finding.excess, "examples": examples}


def _readers(results: ReaderResults) -> dict[str, Any]:
    figures = [{**asdict(figure), "measure": None if figure.measure is None else figure.measure.name} for figure in results.figures]
    return {**{key: value for key, value in asdict(results).items() if key != "missing"}, "figures": figures}
