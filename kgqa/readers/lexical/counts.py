"""How often each of many keys was seen, while they stream by."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

ROOM = 1 << 20
"""Keys are added up when as many wait as are counted already, and at least so many."""


class Counts:
    """Counts of keys of one or more 64-bit columns. Memory: twice 8 bytes a column and 8 for the count, for each different key."""

    def __init__(self, *columns: str) -> None:
        """Nothing was seen; ``columns`` are what the parts of a key are called."""
        self._columns = columns
        self._counted = pl.DataFrame(schema={**dict.fromkeys(columns, pl.UInt64), "count": pl.Int64})
        self._waiting: list[pl.DataFrame] = []
        self._waits = 0

    def add(self, *keys: npt.NDArray[np.uint64]) -> None:
        """See these keys once each; a key that is there several times, so often."""
        parts: dict[str, Any] = dict(zip(self._columns, keys, strict=True))
        self._waiting.append(pl.DataFrame(parts, schema=dict.fromkeys(self._columns, pl.UInt64)).with_columns(count=pl.lit(1, pl.Int64)))
        self._waits += len(keys[0])
        if self._waits > max(ROOM, len(self._counted)):
            self._add_up()

    def _add_up(self) -> None:
        frames = [self._counted, *self._waiting]
        self._counted = pl.concat(frames).group_by(*self._columns).agg(pl.col("count").sum())
        self._waiting, self._waits = [], 0

    def table(self) -> pa.Table:
        """The columns and ``count``, int64, in the order of the keys."""
        self._add_up()
        return self._counted.sort(*self._columns).to_arrow()
