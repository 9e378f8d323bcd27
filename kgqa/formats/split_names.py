"""The split that a file name stands for, and the order of splits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeVar

from kgqa.records import SPLIT_NAMES, SPLITS

_WORDS = re.compile(r"(?<![a-z])(" + "|".join(SPLIT_NAMES) + r")(?![a-z])")
Value = TypeVar("Value")


def split_in(name: str) -> str | None:
    """The split of the last word in ``name`` that names one, None without such a word.

    >>> split_in("hotpot_train_v1.1"), split_in("validation-00000-of-00001"), split_in("training")
    ('train', 'dev', None)
    """
    words = _WORDS.findall(name.lower())
    return SPLIT_NAMES[words[-1]] if words else None


def in_order(values: Mapping[str, Value]) -> dict[str, Value]:
    """The splits in the order train, dev, test."""
    return {split: values[split] for split in SPLITS if split in values}
