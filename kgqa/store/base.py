"""What every graph store must do; a dataset does not depend on which one is underneath."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import pyarrow as pa

from kgqa.store.queries import Query, Value


class GraphStore(Protocol):
    """An index over the tables that answers named queries; may be thrown away and rebuilt."""

    def run(self, query: Query, arguments: Mapping[str, Value] | None = None) -> pa.Table:
        """The rows of ``query`` with the columns that its header declares, in the order that its text defines.

        Raises StoreError where the engine refuses.
        """

    def close(self) -> None:
        """Let go of files and connections."""
