"""The case of single letters of texts, in any script: small, capital, figure or other."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import kernel
from kgqa.arrays.texts import decode
from kgqa.arrays.tokens import TABLE_SIZE

OTHER, SMALL, CAPITAL, FIGURE = 0, 1, 2, 3
"""The cases; signs and letters of scripts without capitals are ``OTHER``."""


@lru_cache(maxsize=1)
def case_table() -> npt.NDArray[np.uint8]:
    """The case of each character of the Basic Multilingual Plane (uint8, 65,536); all other characters are ``OTHER``."""
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
def cases_at(data, places, table):  # type: ignore[no-untyped-def]
    """The case (uint8) of the character at each byte of ``places``, by ``case_table``; ``OTHER`` if no character begins there."""
    out = np.zeros(len(places), np.uint8)
    for i in range(len(places)):
        if places[i] < len(data) and data[places[i]] & 0xC0 != 0x80:
            character, _ = decode(data, places[i])
            if character < len(table):
                out[i] = table[character]
    return out
