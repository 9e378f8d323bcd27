"""Readers in the folder of a finished run."""

from __future__ import annotations

from pathlib import Path

from kgqa.errors import InputError, MissingInput, SettingsError
from kgqa.readers import saved
from kgqa.readers.specification import Specification, specification
from kgqa.runs.files import file_hashes
from kgqa.training.extra import NETWORKS, require_readers
from kgqa.training.reader import Reader

READER = "reader"
"""Subfolder of a finished run with its reader."""


def load_reader(
    run: str | Path, *, reader: str | None = None, device: str | None = None, precision: str | None = None, what: str = "a trained reader"
) -> Reader:
    """Load the reader of a finished run; ``what`` needs it, for messages.

    ``reader``: its name, if the user gave it; without it no ``module:Class`` that the run names is imported. Raises InputError,
    SettingsError.
    """
    folder = reader_folder(run)
    name, training = reader_name(run), {"device": device, "precision": precision}
    if reader is not None and name != reader:
        raise SettingsError(f"--reader {reader}: the run {run} trained {name}; give its reader, or leave the option out.")
    reader_settings: Specification = specification(name, settings={}, training=training, named=name == reader)
    require_readers(what, needed=NETWORKS if reader_settings.steps else ())
    reader_of_run = reader_settings.make()
    reader_of_run.load(folder)
    return reader_of_run


def reader_folder(run: str | Path) -> Path:
    """The reader's folder in a finished run. Raises InputError."""
    folder = Path(run) / READER
    if not folder.is_dir():
        if (Path(run) / "run.json").is_file():
            raise InputError(f"{run}: this run is not finished; run the same kgqa train again, and it goes on.")
        raise MissingInput(f"{run}: there is no run of kgqa train here; give the folder that was its --out.")
    return folder


def reader_name(run: str | Path) -> str:
    """The name of the reader that a run trained. Raises InputError."""
    return str(saved.read(reader_folder(run))["reader"])


def reader_hashes(run: str | Path) -> dict[str, str]:
    """File → SHA-256, for all files of the reader. Raises InputError."""
    return file_hashes(reader_folder(run))
