"""Addresses of Ray clusters, as the option ``--cluster`` gives them, and the one value that a domain's file can have."""

from __future__ import annotations

import re
from dataclasses import dataclass

FORMS = "auto, HOST:PORT or ray://HOST:PORT"
AUTO = "auto"
IN_FILES = f"it must be {AUTO} in a file; give an address with --cluster or in RAY_ADDRESS"
"""Why an address in a file is refused: results of a cluster are unpickled, so it can run code, and the file may be somebody else's."""
NONE = "none"
"""The option's value for threads, where a domain's file names a cluster."""
SHARE = "KGQA_CLUSTER_GPU"
"""Environment variable: the share of a GPU that each part with a network gets, from 0.01 to 1."""
VARIABLE = "RAY_ADDRESS"
"""Environment variable that Ray reads for ``auto``."""
_ADDRESS = re.compile(r"(ray://)?(\[[0-9A-Fa-f:]+\]|[^\s:/@\[\]]+):(\d{1,5})")


def is_cluster(cluster: str | None) -> bool:
    """Whether the option's value asks for a cluster, and not for threads.

    >>> is_cluster("auto"), is_cluster("none"), is_cluster(None)
    (True, False, False)
    """
    return cluster not in (None, NONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChosenCluster:
    """A cluster, or none, and what chose it."""

    address: str | None
    """As the option ``--cluster`` has it; None: threads."""
    where: str
    """The option or the file's setting, for messages."""

    @classmethod
    def by_option(cls, address: str | None) -> ChosenCluster:
        """The one that the option names."""
        return cls(address=address, where=f"--cluster {address}")


def is_address(text: str) -> bool:
    """Whether the text has one of :data:`FORMS`.

    >>> is_address("ray://head:10001"), is_address("head")
    (True, False)
    """
    match = _ADDRESS.fullmatch(text)
    return text == AUTO or (match is not None and 0 < int(match[3]) < 1 << 16)


def shown(address: str) -> str:
    """A wrong address for a message; what may be a password is left out.

    >>> shown("head"), shown("ray://user:secret@head:1")
    ("'head'", "'…@head:1'")
    """
    _, at, rest = address.rpartition("@")
    return repr(f"…@{rest}" if at else address)
