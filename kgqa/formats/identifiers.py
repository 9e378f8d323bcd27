"""Ids of official files: numbers in some and text in others, of which the normal form has text, and names that several things have."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,4299}")
"""Python turns no more than 4,300 digits into a number, and JSON with more is refused."""


def _checked(value: object) -> object:
    if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise PydanticCustomError("identifier_type", "expected text or a whole number")


Identifier = Annotated[int | str, BeforeValidator(_checked)]
"""The type of such a field."""


def looks_like_number(text: str) -> bool:
    """Whether ``text`` is how a whole number is written in JSON, so that it may have been one."""
    return _NUMBER.fullmatch(text) is not None


def number_or_text(text: str) -> int | str:
    """The number, where ``text`` looks like one, as the official files have it; else the text."""
    return int(text) if looks_like_number(text) else text


def unused(name: str, used: set[str]) -> str:
    """``name``, or ``name#2`` and so on where others have it; it is ``used`` from now on."""
    found, number = name, 1
    while found in used:
        number += 1
        found = f"{name}#{number}"
    used.add(found)
    return found
