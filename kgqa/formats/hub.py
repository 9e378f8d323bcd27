"""Question sets on the Hugging Face hub, by name: ``hf://owner/name[@revision][#config]``.

Such a name travels as a path, which writes it with one slash: ``hf:/owner/name``; a split of it ends in ``/split=<the hub's name of it>``.
Rows are streamed, so that nothing is stored.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kgqa.errors import BrokenInput, MissingInput, SettingsError
from kgqa.records import SPLIT_NAMES, SPLITS

_NAME = re.compile(
    r"hf:/+(?P<name>[\w.-]+(?:/[\w.-]+)?)(?:@(?P<revision>[^#]+?))?(?:#(?P<config>.+?))?(?:/split=(?P<split>[\w.-]+))?", re.ASCII
)


def is_name(path: Path) -> bool:
    """Whether ``path`` is a name on the hub and no place on this machine."""
    return path.parts[:1] == ("hf:",)


def splits(path: Path) -> dict[str, Path]:
    """Split → its name; raises SettingsError for what is no name, MissingInput where the hub or the set cannot be reached."""
    found = _load(path)
    of_split = {SPLIT_NAMES[name]: Path(f"{path}/split={name}") for name in found if name in SPLIT_NAMES}
    if not of_split:
        raise MissingInput(f"{_shown(path)}: it has no split called train, validation or test but {', '.join(found)}; choose another set.")
    return {split: of_split[split] for split in SPLITS if split in of_split}


def rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Where each row of a split stands, and the row."""
    found = _load(path)
    with _errors(path):
        for number, row in enumerate(found, start=1):
            yield f"{_shown(path)}, row {number}", row


def _load(path: Path) -> Any:
    """The splits by name, or one split, as the ``datasets`` package streams it."""
    parts = _NAME.fullmatch(str(path))
    if parts is None:
        raise SettingsError(
            f"{_shown(path)}: a set on the hub is named hf://owner/name, hf://owner/name@revision or hf://owner/name#config."
        )
    try:
        import datasets
    except ImportError:
        raise SettingsError(f"{_shown(path)} needs datasets, which is not installed; run: pip install 'kgqa[huggingface]'") from None
    with _errors(path):
        return datasets.load_dataset(parts["name"], parts["config"], revision=parts["revision"], split=parts["split"], streaming=True)


@contextmanager
def _errors(path: Path) -> Iterator[None]:
    """What the package raises, in one sentence; a set that is not there is told apart from a hub that does not answer."""
    from datasets.exceptions import DatasetNotFoundError, DatasetsError

    try:
        yield
    except DatasetNotFoundError:
        raise MissingInput(f"{_shown(path)}: the hub has no such set, or it is not public; check the name, or log in to the hub.") from None
    except ConnectionError as error:
        raise MissingInput(
            f"{_shown(path)}: the hub cannot be reached ({_reason(error)}); check the connection, or fetch the set and give its folder."
        ) from None
    except (DatasetsError, OSError, ValueError, RuntimeError) as error:
        raise BrokenInput(
            f"{_shown(path)}: the set cannot be read from the hub ({_reason(error)}); choose another, or a config of it."
        ) from None


def _shown(path: Path) -> str:
    return str(path).replace("hf:/", "hf://", 1).partition("/split=")[0]


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:300].rstrip(".")
