"""Ids of official files: numbers in some, text in others, always text in the normal form; and unique names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,4299}")
"""Python converts at most 4,300 digits to a number; JSON with longer numbers is refused."""


def _check_identifier(value: object) -> object:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise PydanticCustomError("identifier_type", "expected text or a whole number")


Identifier = Annotated[int | str, BeforeValidator(_check_identifier)]
"""The type of a field that holds an id."""


def looks_like_number(text: str) -> bool:
    """Whether ``text`` is a whole number as JSON writes it, so that the id may have been a number."""
    return _NUMBER.fullmatch(text) is not None


def number_or_text(text: str) -> int | str:
    """The number if ``text`` looks like one, as in official files, else the text."""
    return int(text) if looks_like_number(text) else text


def numbers_of(ids: Sequence[str]) -> dict[str, int]:
    """Id → number: the ids themselves if all look like numbers, else their positions.

    >>> numbers_of(["7", "3"]), numbers_of(["7", "a"])
    ({'7': 7, '3': 3}, {'7': 0, 'a': 1})
    """
    are_numbers = all(map(looks_like_number, ids))
    return {name: int(name) if are_numbers else place for place, name in enumerate(ids)}


def free_name(name: str, names: set[str]) -> str:
    """``name``, or ``name#2``, ``name#3`` and so on if it is among ``names``, to which the result is added.

    >>> names = {"a"}
    >>> free_name("a", names), free_name("a", names), free_name("b", names)
    ('a#2', 'a#3', 'b')
    """
    result, number = name, 1
    while result in names:
        number += 1
        result = f"{name}#{number}"
    names.add(result)
    return result
