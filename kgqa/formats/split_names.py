"""Which split a name stands for, and the order of splits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from kgqa.records import SPLIT_NAMES, SPLITS

_WORDS = re.compile(r"(?<![a-z])(" + "|".join(SPLIT_NAMES) + r")(?![a-z])")
Of = TypeVar("Of")


def split_in(name: str) -> str | None:
    """What the last such word in the ``name`` of a file or folder stands for; None where there is none.

    >>> split_in("hotpot_train_v1.1"), split_in("validation-00000-of-00001"), split_in("training")
    ('train', 'dev', None)
    """
    words = _WORDS.findall(name.lower())
    return SPLIT_NAMES[words[-1]] if words else None


def in_order(found: Mapping[str, Of]) -> dict[str, Of]:
    """Train first, then dev and test, as far as they are there."""
    return {split: found[split] for split in SPLITS if split in found}
