"""Question sets on the Hugging Face hub, by address: ``hf://owner/name[@revision][#config]``. Rows are streamed and not stored."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kgqa.errors import BrokenInput, MissingInput, SettingsError
from kgqa.formats.split_names import in_order
from kgqa.records import SPLIT_NAMES

_ADDRESS = re.compile(r"hf://(?P<repository>[\w.-]+(?:/[\w.-]+)?)(?:@(?P<revision>[^#]+?))?(?:#(?P<config>.+?))?/?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class HubAddress:
    """A set on the hub, or one split of it."""

    name: str
    """The address as the user wrote it, for messages."""
    repository: str
    """``owner/name``, or a ``name`` without an owner."""
    revision: str | None
    config: str | None
    split: str | None = None
    """The hub's own name of the split; None: all splits."""

    def __str__(self) -> str:
        """The address as the user wrote it."""
        return self.name


Place = Path | HubAddress
"""The place of questions: a local file or folder, or a set on the hub."""


def address(name: str | Path) -> HubAddress | None:
    """The address in ``name``, None for a local path. Raises SettingsError for a malformed address.

    >>> address("hf://owner/name#small").config, address("questions.json")
    ('small', None)
    """
    if isinstance(name, Path) or not name.startswith("hf:/"):
        return None
    parts = _ADDRESS.fullmatch(name)
    if parts is None:
        raise SettingsError(f"{name}: a set on the hub is named hf://owner/name, hf://owner/name@revision or hf://owner/name#config.")
    return HubAddress(name=name, **parts.groupdict())


def splits(path: HubAddress) -> dict[str, HubAddress]:
    """Split → its address. Raises MissingInput if the hub or the set is out of reach, BrokenInput if the set cannot be read."""
    names = _load(path)
    addresses = {SPLIT_NAMES[name]: replace(path, split=name) for name in names if name in SPLIT_NAMES}
    if not addresses:
        raise MissingInput(f"{path}: it has no split called train, validation or test but {', '.join(names)}; choose another set.")
    return in_order(addresses)


def rows(path: HubAddress) -> Iterator[tuple[str, dict[str, Any]]]:
    """Place and values of each row of a split."""
    split = _load(path)
    with _errors(path):
        for number, row in enumerate(split, start=1):
            yield f"{path}, row {number}", row


def _load(path: HubAddress) -> Any:
    """All splits by name, or one split, streamed by the ``datasets`` package."""
    try:
        import datasets
    except ImportError:
        raise SettingsError(f"{path} needs datasets, which is not installed; run: pip install 'kgqa[huggingface]'") from None
    with _errors(path):
        return datasets.load_dataset(path.repository, path.config, revision=path.revision, split=path.split, streaming=True)


@contextmanager
def _errors(path: HubAddress) -> Iterator[None]:
    """Turn the package's exceptions into one sentence; a missing set and an unreachable hub get different ones."""
    from datasets.exceptions import DatasetNotFoundError, DatasetsError

    try:
        yield
    except DatasetNotFoundError:
        raise MissingInput(f"{path}: the hub has no such set, or it is not public; check the name, or log in to the hub.") from None
    except ConnectionError:  # whose text is the name of another exception
        raise MissingInput(f"{path}: the hub cannot be reached; check the connection, or fetch the set and give its folder.") from None
    except (DatasetsError, OSError, ValueError, RuntimeError) as error:
        raise BrokenInput(f"{path}: the set cannot be read from the hub ({_reason(error)}); choose another, or a config of it.") from None


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:300].rstrip(".")
