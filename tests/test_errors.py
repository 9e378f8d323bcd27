"""The tree of errors: one root, a sentence each, and the operating system's refusals turned into it."""

from __future__ import annotations

import errno
import inspect
import os
from pathlib import Path

import pytest

from kgqa import errors
from kgqa.errors import KgqaError, StorageError, storage_errors, suggestion

TREE = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, Exception)]


def test_every_error_has_one_root_and_stands_in_the_picture() -> None:
    assert errors.__doc__
    for kind in TREE:
        assert issubclass(kind, KgqaError)
        assert kind.__doc__
        assert kind.__name__ in errors.__doc__.split()


@pytest.mark.parametrize("number", sorted(errors.STORAGE_REASONS))
def test_a_refusal_of_the_system_names_the_path_and_what_to_do(number: int, tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=f"^{tmp_path}/x: .*; .*[.]$"), storage_errors(tmp_path):
        raise OSError(number, "refused", str(tmp_path / "x"))
    with pytest.raises(StorageError, match=f"^{tmp_path}: "), storage_errors(tmp_path):
        raise OSError(number, "refused")


def test_arrow_says_a_full_disk_in_its_text_only(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="the disk is full"), storage_errors(tmp_path):
        raise OSError(f"Error writing bytes to file. Detail: [errno {errno.ENOSPC}] No space left on device")


def test_a_refusal_without_a_reason_of_ours_has_the_system_s(tmp_path: Path) -> None:
    reason = os.strerror(errno.ETXTBSY)
    with pytest.raises(StorageError, match=rf"the system refuses \({reason}\); choose another path\."), storage_errors(tmp_path):
        raise OSError(errno.ETXTBSY, "busy")


def test_other_faults_stay_what_they_are(tmp_path: Path) -> None:
    with pytest.raises(BrokenPipeError), storage_errors(tmp_path):
        raise BrokenPipeError(errno.EPIPE, "gone")
    with pytest.raises(OSError, match="errno 2 and 8"), storage_errors(tmp_path):
        raise OSError("errno 2 and 8, but no number in brackets")


def test_a_suggestion_is_close_or_lists_everything() -> None:
    assert suggestion("wikidat", ["wikidata", "medline"]) == "did you mean wikidata?"
    assert suggestion("zzz", ["wikidata", "medline"]) == "choose one of medline, wikidata."


def test_a_file_that_may_not_be_read_is_called_a_file(tmp_path: Path) -> None:
    (tmp_path / "x.json").touch()
    for path, what in ((tmp_path / "x.json", "choose a file that you may use"), (tmp_path, "choose a folder that you may use")):
        with pytest.raises(StorageError, match=what), storage_errors(path):
            raise PermissionError(errno.EACCES, "refused")


def test_a_full_disk_is_that_of_the_copy() -> None:
    with pytest.raises(StorageError, match=r"^copy\.csv: the disk is full"), storage_errors(Path("folder")):
        raise OSError(errno.ENOSPC, "", "original.csv", None, "copy.csv")
