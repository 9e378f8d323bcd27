"""Normalisation of answers as SQuAD does it; HotpotQA, DiRe, 2WikiMultihopQA, MuSiQue and QAngaroo use it too.

DROP has its own, in ``drop.py``.
"""

from __future__ import annotations

import re
import string

ARTICLES = re.compile(r"\b(a|an|the)\b")
_PUNCTUATION = string.punctuation.encode()
_ENCODING = ("utf-8", "surrogatepass")


def without_punctuation(text: str) -> str:
    """The text without ASCII punctuation. Nothing replaces it: ``U.S.`` becomes ``US``."""
    return text.encode(*_ENCODING).translate(None, _PUNCTUATION).decode(*_ENCODING)  # sooner done than str.translate


def normalize(text: str) -> str:
    """The answer in lower case, without ASCII punctuation and the words a, an and the, with single spaces (Rajpurkar et al. 2016).

    In this order: punctuation first, so that ``the-end`` is one word and keeps its article. No Unicode folding.

    >>> normalize("The  U.S. (A Land)")
    'us land'
    """
    return " ".join(ARTICLES.sub(" ", without_punctuation(text.lower())).split())
