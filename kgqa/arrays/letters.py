"""How single letters of texts are written, in any script: small, as a capital, or as a figure."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import kernel
from kgqa.arrays.texts import decode
from kgqa.arrays.tokens import TABLE_SIZE

OTHER, SMALL, CAPITAL, FIGURE = 0, 1, 2, 3
"""How a character is written; letters of scripts without capitals are ``OTHER``, as are signs."""


@lru_cache(maxsize=1)
def written_table() -> npt.NDArray[np.uint8]:
    """For each character of the Basic Multilingual Plane how it is written; what lies beyond is ``OTHER``."""
    table = np.full(TABLE_SIZE, OTHER, np.uint8)
    for code in range(TABLE_SIZE):
        letter = chr(code)
        if letter.isdigit():
            table[code] = FIGURE
        elif letter.isupper() or letter.istitle():
            table[code] = CAPITAL
        elif letter.islower():
            table[code] = SMALL
    return table


@kernel
def written_at(data, places, table):  # type: ignore[no-untyped-def]
    """How the characters that begin at these bytes are written, by ``written_table``; ``OTHER`` where none begins."""
    out = np.zeros(len(places), np.uint8)
    for i in range(len(places)):
        if places[i] < len(data) and data[places[i]] & 0xC0 != 0x80:
            character, _ = decode(data, places[i])
            if character < len(table):
                out[i] = table[character]
    return out
