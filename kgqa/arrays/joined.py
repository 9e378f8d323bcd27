"""The results of parts, one after the other, without a second copy of all: each part is freed as soon as it is copied."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def joined(parts: list[Array]) -> Array:
    """The parts, at least one, one after the other. The list is emptied; what else holds a part keeps its memory.

    >>> joined([np.array([1, 2]), np.array([3])]).tolist()
    [1, 2, 3]
    """
    whole = np.empty(sum(map(len, parts)), parts[0].dtype)
    for rows, part in _taken(parts):
        whole[rows] = part
    return whole


def joined_columns(parts: list[Array], width: int) -> tuple[npt.NDArray[np.int32], ...]:
    """The columns of the parts, which have the shape (rows, ``width``); the list is emptied.

    >>> [column.tolist() for column in joined_columns([np.array([[1, 2]]), np.array([[3, 4]])], 2)]
    [[1, 3], [2, 4]]
    """
    count = sum(map(len, parts))
    columns = tuple(np.empty(count, np.int32) for _ in range(width))
    for rows, part in _taken(parts):
        for number, column in enumerate(columns):
            column[rows] = part[:, number]
    return columns


def _taken(parts: list[Array]) -> Iterator[tuple[slice, Array]]:
    """Each part with its rows; the list no longer holds it."""
    parts.reverse()
    end = 0
    while parts:
        part = parts.pop()
        yield slice(end, end + len(part)), part
        end += len(part)
        del part
