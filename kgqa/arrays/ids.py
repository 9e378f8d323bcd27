"""Ids as numbers of rows: four bytes each, where texts take several times as much."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


def numbers(values: pa.ChunkedArray | pa.Array, ids: pa.ChunkedArray | pa.Array) -> npt.NDArray[np.int32]:
    """The row of each value in ``ids`` (int32), or -1. Of dictionaries, only their values are looked up.

    >>> numbers(pa.chunked_array([["b", "c", "b"]]), pa.chunked_array([["a", "b"]])).tolist()
    [1, -1, 1]
    """
    if pa.types.is_dictionary(values.type):
        column = values if isinstance(values, pa.ChunkedArray) else pa.chunked_array([values])
        parts = column.unify_dictionaries().chunks
        if not parts:
            return np.zeros(0, np.int32)
        of_value = numbers(parts[0].dictionary, ids)
        return np.concatenate([of_value[part.indices.to_numpy()] for part in parts])
    rows = pc.index_in(values.cast(ids.type), ids, skip_nulls=True)
    return rows.fill_null(-1).to_numpy().astype(np.int32, copy=False)
