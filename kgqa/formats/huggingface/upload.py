"""Publishes files as a dataset of the Hugging Face hub, in one commit: the dataset there is the old or the new one, never half of each.

The hub keeps the content of large files by their hash as soon as it is uploaded, before any commit. So an upload that broke goes on with
what is missing when the same command runs again.
"""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from kgqa.errors import HubError, SettingsError, shortened
from kgqa.formats.huggingface.publication import PublishedFile
from kgqa.progress import Progress
from kgqa.version import __version__

if TYPE_CHECKING:
    from huggingface_hub import HfApi

PREFIX = "hub:"
TOKEN = "HF_TOKEN"  # noqa: S105 - the variable's name
_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
_KIND = "dataset"


@dataclass(frozen=True, slots=True, kw_only=True)
class OnHub:
    """A dataset on the hub, as it is now."""

    repository: str
    exists: bool
    is_private: bool
    """Also for one that does not exist yet and would be made."""
    head: str | None = None
    """Its last commit."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Name → SHA-256 of a large file's content, or git's SHA-1 of a small one."""

    def has(self, name: str, file: PublishedFile) -> bool:
        """Whether the hub has this file with this content."""
        return self.files.get(name) in {file.sha256, _git_hash(file)}


def repository_of(to: str) -> str:
    """The ``OWNER/NAME`` in ``hub:OWNER/NAME``. Raises SettingsError.

    >>> repository_of("hub:someone/capitals")
    'someone/capitals'
    """
    repository = to.removeprefix(PREFIX)
    if not _REPOSITORY.fullmatch(repository):
        raise SettingsError(f"{to}: a dataset on the hub is named {PREFIX}OWNER/NAME, of letters, digits, '-', '_' and '.'.")
    return repository


def page_of(repository: str) -> str:
    """Address of the dataset's page."""
    from huggingface_hub import constants

    return f"{constants.ENDPOINT}/datasets/{repository}"


def client() -> HfApi:
    """The hub's client with the token of the environment, and no other. Raises SettingsError without one."""
    from huggingface_hub import HfApi
    from huggingface_hub.utils.tqdm import disable_progress_bars

    token = os.environ.get(TOKEN, "").strip()
    if not token:
        raise SettingsError(f"publishing on the hub needs a token with the right to write; set it as {TOKEN} in the environment.")
    disable_progress_bars()
    return HfApi(token=token, library_name="kgqa", library_version=__version__)


def look(hub: HfApi, repository: str, *, public: bool) -> OnHub:
    """What the hub has under this name. Raises HubError."""
    from huggingface_hub.errors import RepositoryNotFoundError
    from huggingface_hub.hf_api import RepoFile

    with _errors(repository):
        # The hub answers for a wrong token as for a dataset that is not there; this tells them apart.
        hub.whoami()
        try:
            info = hub.dataset_info(repository)
        except RepositoryNotFoundError:
            return OnHub(repository=repository, exists=False, is_private=not public)
        entries = hub.list_repo_tree(repository, repo_type=_KIND, recursive=True)
        files = {entry.path: entry.lfs.sha256 if entry.lfs else entry.blob_id for entry in entries if isinstance(entry, RepoFile)}
    return OnHub(repository=repository, exists=True, is_private=bool(info.private), head=info.sha, files=files)


def upload(hub: HfApi, place: OnHub, files: Mapping[str, PublishedFile], *, public: bool, progress: Progress) -> None:
    """Make the dataset if need be, and bring it to ``files`` in one commit. Files there that are not among them stay. Raises HubError."""
    from huggingface_hub import CommitOperationAdd

    different = {name: file for name, file in files.items() if not place.has(name, file)}
    with _errors(place.repository):
        if not place.exists:
            hub.create_repo(place.repository, repo_type=_KIND, private=not public, exist_ok=True)
        if different:
            size = sum(file.size for file in different.values())
            progress.start(f"Uploading {len(different)} files", size, "bytes")
            content = {name: file.content if isinstance(file.content, bytes) else str(file.content) for name, file in different.items()}
            hub.create_commit(
                place.repository,
                [CommitOperationAdd(path_in_repo=name, path_or_fileobj=file) for name, file in content.items()],
                commit_message=f"Publish with kgqa {__version__}",
                repo_type=_KIND,
                # Somebody else's commit since the comparison is not overwritten.
                parent_commit=place.head,
            )
            progress.advance(size)
            progress.finish(place.repository)
        if public and place.exists and place.is_private:
            hub.update_repo_settings(place.repository, private=False, repo_type=_KIND)


def _git_hash(file: PublishedFile) -> str:
    """The hash by which git names a file of this content."""
    content = file.content if isinstance(file.content, bytes) else file.content.read_bytes()
    return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


AGAIN = "run the same command again: it goes on with what is missing"
STATUSES = {
    401: f"does not accept the token in {TOKEN}; make a new one with the right to write",
    403: f"gives the token in {TOKEN} no right to write there; give it that right, or choose another owner",
    404: f"has no such owner or dataset, or does not show it to the token in {TOKEN}; check the name and the token's rights",
    409: f"has changed meanwhile; {AGAIN}",
    412: f"has changed meanwhile; {AGAIN}",
    413: "takes no files of that size; make the dataset smaller",
    429: f"was asked too often; wait a while, then {AGAIN}",
}
"""Status of an answer → what the hub does, and what to do."""


@contextmanager
def _errors(repository: str) -> Iterator[None]:
    """Turn what the hub's package raises into one sentence, without anything that could hold the token."""
    from huggingface_hub.errors import HfHubHTTPError

    of_transport: type[Exception] = HfHubHTTPError.__mro__[1]  # HTTPError of httpx or httpx2, whichever the package uses
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # remarks of the hub on a card
            yield
    except (of_transport, OSError, RuntimeError, ValueError, KeyError, TypeError) as error:
        raise HubError(f"{PREFIX}{repository}: the hub {_reason(error, of_transport)}.") from None


def _reason(error: BaseException, of_transport: type[Exception]) -> str:
    from huggingface_hub.errors import HfHubHTTPError

    causes: list[Any] = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None:
        causes.append(cause)
    http_error = next((cause for cause in causes if isinstance(cause, HfHubHTTPError)), None)
    if http_error is not None:
        status = http_error.response.status_code
        if status == 400:
            return f"refuses what it was sent ({shortened(_plain(error)).rstrip('.')}); fix it in the dataset's card or its settings"
        return STATUSES.get(status) or f"fails with status {status}; wait a while, then {AGAIN}"
    if any(isinstance(cause, (of_transport, ConnectionError, TimeoutError)) for cause in causes):
        return f"cannot be reached, or the connection broke; check it, then {AGAIN}"
    return f"gave an answer that is not understood ({type(error).__name__}); {AGAIN}"


def _plain(error: BaseException) -> str:
    """The message on one line, without the token, whoever put it there."""
    text = " ".join(str(error).split())
    token = os.environ.get(TOKEN, "").strip()
    return text.replace(token, "...") if token else text
