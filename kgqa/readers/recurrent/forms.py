"""Tokenisation into forms: words, single signs and placeholders as written, with their positions.

A run of letters and digits is a form, and so is every other visible character. A placeholder such as ``___MASK12___`` is one form, as is
every ideograph and kana.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.arrays.words import unspaced_letters

_ALONE = unspaced_letters()
_PLACEHOLDER = re.compile(r"___MASK\d+___")
_FORM = re.compile(rf"{_PLACEHOLDER.pattern}|[{_ALONE}]|[^\W_{_ALONE}]+|[^\w\s]|_")
_RELATION = re.compile(r"(?<![\w])[^\W\d_]+(?:_[^\W_]+)+(?![\w])")


@dataclass(frozen=True, slots=True)
class Forms:
    """The forms of one text."""

    forms: list[str]
    starts: npt.NDArray[np.int32]
    """Characters of the text; so are ``ends``, which are exclusive."""
    ends: npt.NDArray[np.int32]


def split(text: str) -> Forms:
    """The forms of a paragraph.

    >>> split("Mumbai is in ___MASK7___.").forms
    ['Mumbai', 'is', 'in', '___MASK7___', '.']
    """
    matches = list(_FORM.finditer(text))
    places = np.array([match.span() for match in matches], np.int32).reshape(-1, 2)
    return Forms([match.group() for match in matches], places[:, 0], places[:, 1])


def is_placeholder(form: str) -> bool:
    """Whether a form is a placeholder of a masked set.

    >>> is_placeholder("___MASK7___"), is_placeholder("Mumbai")
    (True, False)
    """
    return _PLACEHOLDER.fullmatch(form) is not None


def question_forms(text: str) -> list[str]:
    """The forms of a question; the name of a relation, as in WikiHop's queries, comes as a whole before its words.

    >>> question_forms("country_of_origin Niger")
    ['country_of_origin', 'country', 'of', 'origin', 'Niger']
    """
    whole = [match.group() for match in _RELATION.finditer(text)]
    spaced = _RELATION.sub(lambda match: match.group().replace("_", " "), text)
    return whole + split(spaced).forms
