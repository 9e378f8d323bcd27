"""What can go wrong, as a tree of exceptions whose message is one sentence: what, where, and what to do.

::

    KgqaError
    ├── InputError            a file, row or record that cannot be used
    │   ├── MissingInput          a folder, file, column or field is not there
    │   ├── BrokenInput           the bytes are not what the format promises
    │   ├── DuplicateId           two rows carry the same id
    │   ├── UnknownId             an id that nothing defines
    │   ├── GoldLost              a conversion would lose what scorers compare with
    │   ├── TableChanged          somebody else changed what was to be changed
    │   └── InputChanged          a file changed while it was read
    ├── SettingsError         a setting, domain or parameter that does not exist or cannot have that value
    ├── EmptyResult           everything was rejected; says by which rule and which setting to change
    ├── WorkspaceError        the workspace cannot be used for this run
    │   ├── WorkspaceBusy         another run holds it
    │   └── WorkspaceMismatch     it belongs to another version, domain or input
    ├── StorageError          the disk is full, read-only or otherwise refuses
    ├── StoreError            the graph engine is missing, wrong or refuses
    │   ├── StoreUnreachable      no server answers, or it does not let us in
    │   ├── StoreConflict         the database holds something else, or somebody else loads it
    │   ├── QueryError            a query is unknown, is called with the wrong parameters, or cannot be run
    │   │   └── UnresolvedName        a name in place of an id does not say which one is meant
    │   │       ├── AmbiguousName         several bear it
    │   │       └── UnknownName           none bears it
    │   ├── HeaderMismatch        a query returns other columns or types than its header declares
    │   ├── EngineFileError       the embedded engine cannot read or write its file
    │   ├── QueryStopped          whoever asked a query does not wait for its answer any more
    │   └── QueryLimit            a query took more than it may
    │       ├── QueryTimeout          of time
    │       └── QueryMemory           of memory
    ├── EndpointError         a model behind an address cannot be asked, or may not be asked any more
    ├── ClusterError          a cluster does not answer, has other versions, or failed
    ├── HubError              the hub refuses, or cannot be reached
    ├── TrainingError         a reader cannot be trained any further, as its loss is not finite
    │   ├── RunMismatch           the folder holds a run, or a reader, of something else
    │   └── OutOfMemory           the GPU's memory does not suffice
    └── InterruptedRun        the user stopped the run; says how to go on

The command line turns each of them into one line on standard error and exit status 2, an InterruptedRun into 128 + the signal's number: 130
after Ctrl-C, 143 after SIGTERM. Any other exception is a bug.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path


class KgqaError(Exception):
    """The base of everything that kgqa raises on purpose."""

    def __str__(self) -> str:
        """The sentence, on one line whatever an id or path in it holds."""
        return "".join(character if character.isprintable() else repr(character)[1:-1] for character in super().__str__())


class InputError(KgqaError):
    """A file, row or record that cannot be used."""


class MissingInput(InputError):
    """A folder, file, column or field that must be there is not."""


class BrokenInput(InputError):
    """The bytes are not what the format promises."""


class DuplicateId(InputError):
    """Two rows of a table carry the same id."""


class UnknownId(InputError):
    """An id that nothing defines."""


class GoldLost(InputError):
    """A set cannot be written in a format without losing gold, and nobody said that it may."""


class TableChanged(InputError):
    """What was to be changed is not any more what it was when it was read."""


class InputChanged(InputError):
    """A file changed between the moment that it was hashed and the one that it was read."""


class SettingsError(KgqaError):
    """A setting, domain or parameter that does not exist or cannot have that value."""


class EmptyResult(KgqaError):
    """Every item was rejected, so there is nothing to write."""


class WorkspaceError(KgqaError):
    """The workspace cannot be used for this run."""


class WorkspaceBusy(WorkspaceError):
    """Another run holds the workspace."""


class WorkspaceMismatch(WorkspaceError):
    """The workspace belongs to another version, domain or input."""


class StorageError(KgqaError):
    """The disk is full, read-only or otherwise refuses."""


class StoreError(KgqaError):
    """The graph engine is missing, wrong or refuses."""


class StoreUnreachable(StoreError):
    """No server answers, or it does not let us in."""


class StoreConflict(StoreError):
    """The database holds something else, or somebody else loads it."""


class QueryError(StoreError):
    """A query is unknown, is called with the wrong parameters, or cannot be run."""


class UnresolvedName(QueryError):
    """A name was given in place of an id, and does not say which one is meant."""

    def __init__(self, sentence: str, *, names: object = None, parameter: str = "") -> None:
        """``names`` is what was found instead (:class:`kgqa.store.names.Names`), ``parameter`` the one of a query that it was given for."""
        super().__init__(sentence)
        self.names = names
        self.parameter = parameter


class AmbiguousName(UnresolvedName):
    """Several bear the name."""


class UnknownName(UnresolvedName):
    """Neither an id nor a name of anything."""


class HeaderMismatch(StoreError):
    """A query returns other columns or types than its header declares."""


class EngineFileError(StoreError):
    """The embedded engine cannot read or write its file."""


class QueryLimit(StoreError):
    """A query took more than it may."""


class QueryTimeout(QueryLimit):
    """A query took longer than it may."""


class QueryStopped(StoreError):
    """Whoever asked a query does not wait for its answer any more."""


class QueryMemory(QueryLimit):
    """A query took more memory than it may."""


class EndpointError(KgqaError):
    """A model behind an address could not be asked, or may not be asked any more."""


class ClusterError(KgqaError):
    """A cluster does not answer, has other versions, or failed."""


class HubError(KgqaError):
    """The hub of datasets refuses what was asked, or cannot be reached."""


class TrainingError(KgqaError):
    """A reader cannot be trained any further."""


class RunMismatch(TrainingError):
    """The folder holds a run, or a reader, of something else."""


class OutOfMemory(TrainingError):
    """The GPU's memory does not suffice."""


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
    errno.EEXIST: "a file stands where a folder must go; remove it or choose another path",
    errno.ELOOP: "the links in this path lead in a circle; choose another path",
    errno.ENOENT: "there is no such file or folder, and none can be made; choose another path",
    errno.ENOLCK: "this file system has no locks; choose another --workspace",
    errno.ENOTDIR: "a part of the path is a file, not a folder; choose another path",
    errno.EISDIR: "a folder stands where a file must go; remove it or choose another path",
    errno.ENAMETOOLONG: "the name is too long for this file system; choose a shorter one",
    errno.EBUSY: "something uses this place, or it is a mount point; choose a folder inside it, or another one",
    errno.EXDEV: "this place is on another file system than its folder; choose a folder inside it, or another one",
    errno.EIO: "the disk reports an input/output error; check it before you run again",
}


@contextmanager
def storage_errors(path: Path) -> Iterator[None]:
    """Turn the operating system's refusals under ``path`` into a :class:`StorageError` that says what to do."""
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
        if error.errno in {errno.EACCES, errno.EPERM} and os.path.isfile(place):
            reason = "permission denied; choose a file that you may use, or change its permissions"
        raise StorageError(f"{place}: {reason}.") from error


def _reason_in_text(message: str) -> str | None:
    """Arrow reports a full disk as an OSError without errno, its number in the text."""
    for number, reason in STORAGE_REASONS.items():
        if f"errno {number}]" in message or f"errno: {number}" in message:
            return reason
    return None


def suggestion(name: str, known: Collection[str]) -> str:
    """``did you mean x?`` where something known is close, else the list of what is known."""
    from difflib import get_close_matches

    close = get_close_matches(name, known, n=1, cutoff=0.6)
    return f"did you mean {close[0]}?" if close else "known are: " + shortened(", ".join(sorted(known)), 2_000) + "."


def shortened(text: str, most: int = 200) -> str:
    """The text, of which no more than so many characters are shown in a message.

    >>> shortened("abcdef", 3)
    'abc… (6 characters)'
    """
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters)"


def check_seed(seed: int) -> None:
    """SettingsError for a seed that is not between 0 and ``MOST_SEED``, as all commands take."""
    if not 0 <= seed <= MOST_SEED:
        raise SettingsError(f"seed {seed} is not between 0 and {MOST_SEED}; give another.")
