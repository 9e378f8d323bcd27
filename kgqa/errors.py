"""The exceptions that kgqa raises on purpose. The message of each is one sentence: what is wrong, where, and what to do.

::

    KgqaError
    ├── InputError            a file, row or record that cannot be used
    │   ├── MissingInput          a folder, file, column or field is missing
    │   ├── BrokenInput           the content does not follow the format
    │   ├── DuplicateId           two rows have the same id
    │   ├── UnknownId             an id that is not defined anywhere
    │   ├── GoldLost              a conversion would lose gold annotations
    │   ├── TableChanged          another process changed the table in the meantime
    │   └── InputChanged          a file changed while it was read
    ├── SettingsError         a setting, domain or parameter does not exist or has an invalid value
    ├── EmptyResult           everything was rejected; names the rule and the setting to change
    ├── WorkspaceError        the workspace cannot be used for this run
    │   ├── WorkspaceBusy         another run uses it
    │   └── WorkspaceMismatch     it belongs to another version, domain or input
    ├── StorageError          the disk is full, read-only or fails
    ├── StoreError            the graph engine is missing, has the wrong version or fails
    │   ├── StoreUnreachable      the server does not respond, or refuses the login
    │   ├── StoreConflict         the database has other content, or another process loads it
    │   ├── QueryError            a query is unknown, has wrong parameters, or fails
    │   │   └── UnresolvedName        a name, given instead of an id, does not identify anything
    │   │       ├── AmbiguousName         several entities or documents have it
    │   │       └── UnknownName           nothing has it
    │   ├── HeaderMismatch        a query does not return the columns that its header declares
    │   ├── EngineFileError       the embedded engine cannot read or write its file
    │   ├── QueryStopped          the caller no longer waits for the result of a query
    │   └── QueryLimit            a query exceeded a limit
    │       ├── QueryTimeout          the time limit
    │       └── QueryMemory           the memory limit
    ├── EndpointError         a model endpoint fails, or the budget is spent
    ├── ClusterError          a cluster does not respond, has other versions, or failed
    ├── HubError              the Hugging Face hub refuses a request, or cannot be reached
    ├── ObjectStoreError      an object store refuses a request, or cannot be reached
    ├── TrainingError         a reader cannot be trained further, such as with an infinite loss
    │   ├── RunMismatch           the folder has another run or reader
    │   └── OutOfMemory           there is not enough GPU memory
    └── InterruptedRun        the user stopped the run; says how to resume it

The command line turns each of them into one line on standard error and exit status 2, an InterruptedRun into 128 + the signal's number: 130
after Ctrl-C, 143 after SIGTERM. Any other exception is a bug.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path


class KgqaError(Exception):
    """Base class of all exceptions that kgqa raises on purpose."""

    def __str__(self) -> str:
        """The sentence, on one line whatever an id or path in it holds."""
        return "".join(character if character.isprintable() else repr(character)[1:-1] for character in super().__str__())


class InputError(KgqaError):
    """A file, row or record that cannot be used."""


class MissingInput(InputError):
    """A required folder, file, column or field is missing."""


class BrokenInput(InputError):
    """The content of a file does not follow its format."""


class DuplicateId(InputError):
    """Two rows of a table have the same id."""


class UnknownId(InputError):
    """A record refers to an id that is not defined anywhere."""


class GoldLost(InputError):
    """A question set cannot be written in a format without losing gold annotations, and ``lossy`` is not set."""


class TableChanged(InputError):
    """A table was changed by another process after it was read."""


class InputChanged(InputError):
    """A file changed between hashing and reading it."""


class SettingsError(KgqaError):
    """A setting, domain or parameter does not exist, or has an invalid value."""


class EmptyResult(KgqaError):
    """Every item was rejected, so there is nothing to write."""


class WorkspaceError(KgqaError):
    """The workspace cannot be used for this run."""


class WorkspaceBusy(WorkspaceError):
    """Another run uses the workspace."""


class WorkspaceMismatch(WorkspaceError):
    """The workspace belongs to another version, domain or input."""


class StorageError(KgqaError):
    """The disk is full or read-only, or reading or writing fails."""


class StoreError(KgqaError):
    """The graph engine is missing, has the wrong version, or fails."""


class StoreUnreachable(StoreError):
    """The server does not respond, or refuses the login."""


class StoreConflict(StoreError):
    """The database has other content, or another process is loading it."""


class QueryError(StoreError):
    """A query is unknown, has wrong parameters, or fails."""


class UnresolvedName(QueryError):
    """A name that was given instead of an id does not identify one entity or document."""

    def __init__(self, sentence: str, *, names: object = None, parameter: str = "") -> None:
        """``names``: similar names (:class:`kgqa.store.names.Names`); ``parameter``: the query parameter that has the name."""
        super().__init__(sentence)
        self.names = names
        self.parameter = parameter


class AmbiguousName(UnresolvedName):
    """Several entities or documents have the name."""


class UnknownName(UnresolvedName):
    """The text is neither an id nor a name in the graph."""


class HeaderMismatch(StoreError):
    """A query does not return the columns and types that its header declares."""


class EngineFileError(StoreError):
    """The embedded engine cannot read or write its file."""


class QueryLimit(StoreError):
    """A query exceeded a limit."""


class QueryTimeout(QueryLimit):
    """A query exceeded its time limit."""


class QueryStopped(StoreError):
    """The caller of a query no longer waits for its result."""


class QueryMemory(QueryLimit):
    """A query exceeded its memory limit."""


class EndpointError(KgqaError):
    """A request to a model endpoint failed, or the budget is spent."""


class ClusterError(KgqaError):
    """A cluster does not respond, has other versions of packages, or failed."""


class HubError(KgqaError):
    """The Hugging Face hub refuses a request, or cannot be reached."""


class ObjectStoreError(KgqaError):
    """An object store refuses a request, cannot be reached, or does not have what it should."""


class TrainingError(KgqaError):
    """A reader cannot be trained any further."""


class RunMismatch(TrainingError):
    """The folder has another run or reader than the one asked for."""


class OutOfMemory(TrainingError):
    """There is not enough GPU memory."""


class InterruptedRun(KgqaError):
    """The user stopped the run."""


MOST_SEED = 2**31 - 1
STORAGE_REASONS = {
    errno.ENOSPC: "the disk is full; free some space and run the same command again",
    errno.EDQUOT: "the disk quota is used up; free some space and run the same command again",
    errno.EFBIG: "the file would be larger than the system allows; raise the limit or choose another place",
    errno.EROFS: "the folder is read-only; choose a writable one",
    errno.EACCES: "permission denied; choose a folder that you may use",
    errno.EPERM: "permission denied; choose a folder that you may use",
    errno.EEXIST: "a file is in the place of the folder; remove it or choose another path",
    errno.ELOOP: "the links in this path lead in a circle; choose another path",
    errno.ENOENT: "there is no such file or folder, and none can be made; choose another path",
    errno.ENOLCK: "this file system has no locks; choose another --workspace",
    errno.ENOTDIR: "a part of the path is a file, not a folder; choose another path",
    errno.EISDIR: "a folder is in the place of the file; remove it or choose another path",
    errno.ENAMETOOLONG: "the name is too long for this file system; choose a shorter one",
    errno.EBUSY: "something uses this place, or it is a mount point; choose a folder inside it, or another one",
    errno.EXDEV: "this place is on another file system than its folder; choose a folder inside it, or another one",
    errno.EIO: "the disk reports an input/output error; check it before you run again",
}


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turn errors of the operating system under ``path`` into a :class:`StorageError` that says what to do."""
    try:
        yield
    except OSError as error:
        reason = STORAGE_REASONS.get(error.errno or 0) or _reason_in_text(str(error))
        if reason is None and error.errno is not None and error.errno != errno.EPIPE:
            reason = f"the system refuses ({os.strerror(error.errno)}); choose another path"
        if reason is None:
            raise
        # Of the two files of a copy, the second is written.
        place = (error.filename2 if error.errno in {errno.ENOSPC, errno.EDQUOT} else None) or error.filename or path
        if str(place).endswith(".partial"):
            place = path  # the temporary folder of an output has a name that nobody gave
        if error.errno in {errno.EACCES, errno.EPERM} and os.path.isfile(place):
            reason = "permission denied; choose a file that you may use, or change its permissions"
        raise StorageError(f"{place}: {reason}.") from error


def _reason_in_text(message: str) -> str | None:
    """Arrow reports a full disk as an OSError without errno, its number in the text."""
    for number, reason in STORAGE_REASONS.items():
        if f"errno {number}]" in message or f"errno: {number}" in message:
            return reason
    return None


def suggestion(name: str, known: Collection[str], *, unlisted: Collection[str] = ()) -> str:
    """``did you mean x?`` if a known or ``unlisted`` name is similar, else the list of known names."""
    from difflib import get_close_matches

    close = get_close_matches(name, [*known, *unlisted], n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else "choose one of " + shortened(", ".join(sorted(known)), 2_000) + "."


def check_known(what: str, name: str, known: Collection[str]) -> None:
    """Raise SettingsError with a suggestion unless ``name`` is one of the ``known``; ``what`` it is, such as ``format`` or ``--to``."""
    if name not in known:
        raise SettingsError(f"{what} {name!r} is not known; {suggestion(name, known)}")


def shortened(text: str, most: int = 200) -> str:
    """The text for a message, truncated to ``most`` characters.

    >>> shortened("abcdef", 3)
    'abc… (6 characters)'
    """
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def check_seed(seed: int) -> None:
    """Raise SettingsError unless the seed is between 0 and ``MOST_SEED``."""
    if not 0 <= seed <= MOST_SEED:
        raise SettingsError(f"seed {seed} is not between 0 and {MOST_SEED}; choose another one.")


def require_packages(what: str, extra: str, *packages: str) -> None:
    """Raise SettingsError with the install line if a package of an ``extra`` that ``what`` needs is missing, before any work is done."""
    if missing := [name for name in packages if find_spec(name) is None]:
        raise SettingsError(f"{what} needs {' and '.join(missing)}, which is not installed; run: pip install 'kgqa[{extra}]'")
