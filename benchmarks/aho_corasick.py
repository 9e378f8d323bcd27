"""The competitor of the matcher: ``ahocorasick_rs`` made to give the same mentions, with the work around it vectorised.

Names and texts are brought to the same token form: white space goes, a run of letters and digits stands between two markers, any
other visible character stands alone. A name then matches only on token boundaries, and it matches wherever its tokens do. Case is in
the patterns: a name whose first letter is free is one pattern for each way to write that letter. So the automaton's leftmost-longest
matches are the matcher's mentions, and what is left to do is to look up which entity a pattern belongs to.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, pairwise
from unittest.mock import patch

import ahocorasick_rs as ac
import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.arrays.texts import text_buffers
from kgqa.arrays.tokens import SPACE, TABLE_SIZE, WORD, character_tables, spellings
from kgqa.linking import dictionary as dictionary_module
from kgqa.linking.dictionary import FREE, INITIAL, Dictionary
from kgqa.linking.matcher import Spans
from kgqa.linking.trie import Trie, build_trie

OPEN, CLOSE = 1, 2
"""Markers around a word; as control characters they are in no token."""
BATCH_BYTES = 1 << 20
IMPLEMENTATIONS = {
    "noncontiguous NFA": ac.Implementation.NoncontiguousNFA,
    "contiguous NFA": ac.Implementation.ContiguousNFA,
    "DFA": ac.Implementation.DFA,
}

Ints = npt.NDArray[np.int64]
Patterns = tuple[list[bytes], npt.NDArray[np.int32]]
"""Patterns in token form, and for each the row of the entity that it links to, or -1 where it is shared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenForm:
    """Some texts in token form, one after the other."""

    text: bytes
    token_begin: Ints
    """Byte of ``text`` at which each token begins, its marker included; ``token_end`` likewise."""
    token_end: Ints
    document: Ints
    """Token → number of its text, from 0."""
    start: Ints
    """Token → its first character in its text; ``end`` likewise."""
    end: Ints


def token_form(data: npt.NDArray[np.uint8], offsets: Ints) -> TokenForm:
    """The token form of the UTF-8 texts ``data[offsets[i]:offsets[i + 1]]``."""
    classes, folded, plain = character_tables()
    first, last = int(offsets[0]), int(offsets[-1])
    raw = data[first:last]
    codes = np.frombuffer(raw.tobytes().decode().encode("utf-32-le"), np.uint32)
    before = np.concatenate([[0], np.cumsum(raw & 0xC0 != 0x80)])
    begins = before[offsets - first]  # the character at which each text begins
    small = np.minimum(codes, TABLE_SIZE - 1)
    kind = classes[small]
    word, visible = kind == WORD, kind != SPACE
    form = np.where(word, plain[small], folded[small]).astype(np.uint32)
    form[codes >= TABLE_SIZE] = codes[codes >= TABLE_SIZE]
    joined = np.zeros(len(codes) + 1, np.bool_)  # whether a character goes on with the word of the one before it
    joined[1:-1] = word[1:] & word[:-1]
    joined[begins] = False
    opens, closes = visible & ~joined[:-1], visible & ~joined[1:]
    shown = np.flatnonzero(visible)
    document = np.repeat(np.arange(len(offsets) - 1), np.diff(begins))[shown]
    form, marked, opening, closing = form[shown], word[shown], opens[shown], closes[shown]
    before_it = (opening & marked).astype(np.int64)
    before_it[np.flatnonzero(np.diff(document, prepend=-1))] += 1  # no name may match across the end of a text
    after_it = closing & marked
    size = before_it + 1 + after_it
    place = np.cumsum(size) - 1 - after_it
    out = np.full(int(size.sum()), OPEN, np.uint32)
    out[place] = form
    out[place[after_it] + 1] = CLOSE
    width = 1 + (out >= 0x80) + (out >= 0x800) + (out >= 0x10000)
    ends = np.concatenate([[0], np.cumsum(width)])
    document = document[opening]
    return TokenForm(
        text=out.tobytes().decode("utf-32-le").encode(),
        token_begin=ends[place[opening] - marked[opening]],
        token_end=ends[place[closing] + 1 + marked[closing]],
        document=document,
        start=shown[opening] - begins[document],
        end=shown[closing] + 1 - begins[document],
    )


@contextmanager
def watched_names() -> Iterator[list[tuple[pa.ChunkedArray, npt.NDArray[np.int32]]]]:
    """The names in each dictionary built meanwhile, with their groups: what the rules left, which a dictionary keeps as hashes only."""
    seen = []

    def watched(names: pa.ChunkedArray) -> tuple[Trie, npt.NDArray[np.int32]]:
        trie, group = build_trie(names)
        seen.append((names, group))
        return trie, group

    with patch.object(dictionary_module, "build_trie", watched):
        yield seen


def patterns(names: pa.ChunkedArray, group: npt.NDArray[np.int32], dictionary: Dictionary) -> Patterns:
    """What a dictionary's ``names``, each in its ``group``, come to; entity and priority are the dictionary's own.

    Names that match in any case have no short list of patterns and are refused.
    """
    if (dictionary.case == FREE).any():
        raise ValueError("names that match in any case cannot be listed as patterns; choose a domain whose names are initial or exact.")
    written = spellings(names)
    forms = pl.DataFrame({"form": list(_forms(names)), "group": group, "whole": written[:, 0], "but_first": written[:, 1]}).unique()
    entries = pl.DataFrame(
        {
            "group": np.repeat(np.arange(len(dictionary.offsets) - 1, dtype=np.int32), np.diff(dictionary.offsets)),
            "initial": dictionary.case == INITIAL,
            "spelling": dictionary.spelling,
            "priority": dictionary.priority,
            "row": dictionary.entity,
        }
    )
    owners: dict[str, list[tuple[int, int]]] = {}
    for initial, spelling in ((False, "whole"), (True, "but_first")):
        fitting = entries.filter(initial=initial).join(forms, left_on=["group", "spelling"], right_on=["group", spelling])
        for form, priority, row in fitting.filter(pl.col("priority") >= 0).select("form", "priority", "row").iter_rows():
            for pattern in _first_letters(form) if initial else [form]:
                owners.setdefault(pattern, []).append((priority, row))
    winners = [_winner(found) for found in owners.values()]
    return [pattern.encode() for pattern in owners], np.array(winners, np.int32)


def _forms(names: pa.ChunkedArray) -> Iterator[str]:
    form = token_form(*text_buffers(names))
    first = np.searchsorted(form.document, np.arange(len(names) + 1))
    for begin, end in pairwise(first.tolist()):
        yield form.text[form.token_begin[begin] : form.token_end[end - 1]].decode() if begin < end else ""


def _first_letters(form: str) -> list[str]:
    """The form with its first letter in every way of writing that folds to the same."""
    if not form.startswith(chr(OPEN)):
        return [form]
    return [form[0] + letter + form[2:] for letter in _writings().get(form[1], form[1])]


_WRITINGS: dict[str, str] = {}


def _writings() -> Mapping[str, str]:
    """Letter → all letters that fold to what it folds to."""
    if not _WRITINGS:
        classes, folded, plain = character_tables()
        of_fold: dict[int, set[str]] = {}
        for code in np.flatnonzero(classes == WORD).tolist():
            of_fold.setdefault(int(folded[code]), set()).add(chr(plain[code]))
        _WRITINGS.update({letter: "".join(sorted(letters)) for letters in of_fold.values() for letter in letters})
    return _WRITINGS


def _winner(entries: list[tuple[int, int]]) -> int:
    best = min(entries)
    return -1 if any(rank == best[0] and row != best[1] for rank, row in entries) else best[1]


@dataclass(slots=True)
class Seconds:
    """Where the time of a run went."""

    form: float = 0.0
    """Bringing texts to token form."""
    automaton: float = 0.0
    lookup: float = 0.0
    """Matches → mentions."""

    @property
    def total(self) -> float:
        """All of it."""
        return self.form + self.automaton + self.lookup


@dataclass(frozen=True, slots=True, kw_only=True)
class AhoCorasick:
    """Patterns, ready to be matched."""

    automaton: ac.BytesAhoCorasick
    winner: npt.NDArray[np.int32]
    seconds: Seconds = field(default_factory=Seconds)
    """Of the latest :meth:`match`."""

    @classmethod
    def build(cls, found: Patterns, implementation: str = "contiguous NFA") -> AhoCorasick:
        """The automaton of :func:`patterns`."""
        kind = IMPLEMENTATIONS[implementation]
        return cls(automaton=ac.BytesAhoCorasick(found[0], matchkind=ac.MatchKind.LeftmostLongest, implementation=kind), winner=found[1])

    def match(self, texts: pa.ChunkedArray) -> tuple[Spans, int]:
        """Mentions as :func:`kgqa.linking.matcher.match` finds them, and how many places were left out because the name is shared."""
        data, offsets = text_buffers(texts)
        self.seconds.form = self.seconds.automaton = self.seconds.lookup = 0.0
        parts = [self._match(data, offsets, first, last) for first, last in batches(offsets)]
        rows = np.concatenate(parts, axis=1) if parts else np.empty((4, 0), np.int32)
        linked = rows[:, rows[3] >= 0]
        spans = Spans(document=linked[0], start=linked[1], end=linked[2], entity=linked[3])
        return spans, rows.shape[1] - linked.shape[1]

    def _match(self, data: npt.NDArray[np.uint8], offsets: Ints, first: int, last: int) -> npt.NDArray[np.int32]:
        begin = time.perf_counter()
        form = token_form(data, offsets[first : last + 1])
        formed = time.perf_counter()
        matches = self.automaton.find_matches_as_indexes(form.text)
        matched = time.perf_counter()
        flat = np.fromiter(chain.from_iterable(matches), np.int64, 3 * len(matches)).reshape(-1, 3)
        head = np.searchsorted(form.token_begin, flat[:, 1])
        tail = np.searchsorted(form.token_end, flat[:, 2])
        found = np.stack([form.document[head] + first, form.start[head], form.end[tail], self.winner[flat[:, 0]]]).astype(np.int32)
        self.seconds.form += formed - begin
        self.seconds.automaton += matched - formed
        self.seconds.lookup += time.perf_counter() - matched
        return found


def batches(offsets: Ints) -> Iterator[tuple[int, int]]:
    """Ranges of texts of about 1 MiB."""
    first, count = 0, len(offsets) - 1
    while first < count:
        last = max(first + 1, int(np.searchsorted(offsets, offsets[first] + BATCH_BYTES, side="right")) - 1)
        yield first, min(last, count)
        first = last
