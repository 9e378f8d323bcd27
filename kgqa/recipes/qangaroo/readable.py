"""Where a text lets an entity be read, in any of its surface forms: for the mask, which hides it, and for the check of what is masked.

A search of its own, over hashes of token sequences; the linker's matcher, its rules and its spans take no part. Hyphens and quotation
marks are passed over: "sci-fi" is "sci fi", and 'Kate "Katie" Holmes' lets Katie Holmes be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from kgqa.arrays.hashes import HASH_PRIME, HASH_START, mixed, table_size
from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.particles import BEGINS, ENDS, mark_edges, particle_tables
from kgqa.arrays.rows import Adjacency, IntArray, Rows, row_bounds
from kgqa.arrays.texts import decode, text_buffers
from kgqa.arrays.tokens import TOKEN_STEP, character_tables, spellings, token_hashes, tokenize
from kgqa.linking.dictionary import FREE, INITIAL
from kgqa.recipes.qangaroo.corpus import Places
from kgqa.recipes.qangaroo.samples import BoolArray
from kgqa.recipes.qangaroo.surface import surface_forms
from kgqa.sources.tables import arrow

PASSED_OVER = r"[-‐‑‒–—−\"“”]"
"""Hyphens, dashes and double quotation marks; tokens fold them into ``-`` and ``\"``."""
HYPHEN, QUOTE = 45, 34
NOT_THERE, PREFIX = -2, -1
FIRST = np.uint64(21)
"""Bits of a hash that tell whether a form may begin with a token: most tokens need no look-up in the large table."""
SLOT = np.dtype([("key", np.uint64), ("group", np.int32)], align=True)
"""A place of the hash table: a sequence of tokens, and the number of the forms that are it, ``PREFIX`` if longer ones only begin with it,
``NOT_THERE`` in a free place."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forms:
    """Surface forms, ready to be found: those with the same tokens are the entries ``offsets[g]:offsets[g + 1]``."""

    slots: npt.NDArray[np.void]
    """Hash table of ``SLOT`` records."""
    firsts: npt.NDArray[np.uint64]
    """One bit for the last ``FIRST`` bits of each first token's hash."""
    offsets: npt.NDArray[np.int64]
    entity: IntArray
    """Row of the entity table; within a group those with the better claim come first."""
    case: npt.NDArray[np.uint8]
    spelling: npt.NDArray[np.uint64]
    """How a text must be spelt (:func:`kgqa.arrays.tokens.spellings`); unused where case is free."""

    @classmethod
    def of(cls, tables: Mapping[str, pa.Table], wanted: BoolArray, *, language: str) -> Forms:
        """The forms of the entities for which ``wanted`` holds; ``tables`` and ``language`` as for :func:`surface_forms`."""
        return build_forms(surface_forms(tables, wanted, language=language))


def build_forms(surface: pl.DataFrame) -> Forms:
    """The index of ``surface`` (:func:`surface_forms`). O(tokens of all forms)."""
    forms = arrow(surface.select(pl.col("form").str.replace_all(PASSED_OVER, " ")))["form"]
    bounds, hashes = token_hashes(forms)
    slots = np.zeros(table_size(len(hashes)), SLOT)
    slots["group"] = NOT_THERE
    group = np.empty(len(bounds) - 1, np.int32)
    firsts = np.zeros(1 << (int(FIRST) - 6), np.uint64)
    groups = _index(bounds, hashes, slots, firsts, group)
    whole, but_first = spellings(forms).T
    case = surface["case"].to_numpy()
    order = np.argsort(group, kind="stable")
    order = order[group[order] >= 0]
    return Forms(
        slots=slots,
        firsts=firsts,
        offsets=row_bounds(group[order], groups),
        entity=surface["entity"].cast(pl.Int32).to_numpy()[order],
        case=case[order],
        spelling=np.where(case == INITIAL, but_first, whole)[order],
    )


def find_forms(texts: pa.Array | pa.ChunkedArray, forms: Forms, *, rows: npt.NDArray[np.integer] | None = None) -> Places:
    """All places of all ``forms`` in ``texts``, inside one another too; one text after the other, by start.

    With ``rows`` only these texts are looked at, and the others have no places.
    """
    asked = np.arange(len(texts)) if rows is None else np.unique(rows)
    read = texts if rows is None else texts.take(pa.array(asked))
    nobody = np.full(len(asked), -1, np.int64)
    text, found = _scan(read, forms, nobody, np.zeros(1, np.int64), np.empty(0, np.int32))
    offsets = row_bounds(asked[text], len(texts))
    return Places(offsets=offsets, entity=found[:, 2].copy(), start=found[:, 0].copy(), end=found[:, 1].copy())


def named_in_rows(texts: pa.ChunkedArray, rows: npt.NDArray[np.integer], forms: Forms) -> Adjacency:
    """Row of ``texts`` → the entities that can be read there; only the given ``rows`` are looked at, the others are empty."""
    found = find_forms(texts, forms, rows=rows)
    return Adjacency.from_pairs(np.repeat(np.arange(len(texts)), np.diff(found.offsets)), found.entity, len(texts))


def left_readable(
    texts: pa.Array | pa.ChunkedArray, sample: npt.NDArray[np.integer], candidates: Rows, forms: Forms
) -> npt.NDArray[np.int64]:
    """For each of ``texts`` at how many places a candidate of its ``sample`` can be read; texts of one sample follow each other."""
    text, _ = _scan(texts, forms, sample.astype(np.int64), candidates.offsets, candidates.targets)
    return np.bincount(text, minlength=len(texts)).astype(np.int64)


def _scan(
    texts: pa.Array | pa.ChunkedArray, forms: Forms, sample: npt.NDArray[np.int64], offsets: npt.NDArray[np.int64], candidates: IntArray
) -> tuple[IntArray, IntArray]:
    entities = int(max(forms.entity.max(initial=0), candidates.max(initial=0))) + 1
    return _find(  # type: ignore[no-any-return]
        *text_buffers(texts), *character_tables(), *particle_tables(), forms.slots, forms.firsts, forms.offsets,
        forms.entity, forms.case, forms.spelling, sample, offsets, candidates, entities,
    )  # fmt: skip


@kernel(inline=True)
def _slot(key, slots):  # type: ignore[no-untyped-def]
    """The place of ``key``, or the free one where it belongs."""
    mask = np.uint64(len(slots) - 1)
    at = key & mask
    while slots[at].group != NOT_THERE and slots[at].key != key:
        at = (at + np.uint64(1)) & mask
    return at


@kernel
def _index(bounds, hashes, slots, firsts, group):  # type: ignore[no-untyped-def]
    """Enter all sequences and their beginnings; ``group`` gets the number of each, -1 without tokens. Return how many groups there are."""
    groups = 0
    for form in range(len(bounds) - 1):
        group[form] = -1
        code = HASH_START
        if bounds[form] < bounds[form + 1]:
            bit = hashes[bounds[form]] & ((np.uint64(1) << FIRST) - np.uint64(1))
            firsts[bit >> np.uint64(6)] |= np.uint64(1) << (bit & np.uint64(63))
        for at in range(bounds[form], bounds[form + 1]):
            code = mixed((code ^ hashes[at]) * HASH_PRIME)
            place = _slot(code, slots)
            if slots[place].group == NOT_THERE:
                slots[place].key = code
                slots[place].group = PREFIX
            if at + 1 == bounds[form + 1]:
                if slots[place].group == PREFIX:
                    slots[place].group = groups
                    groups += 1
                group[form] = slots[place].group
    return groups


@kernel
def _passing_over(data, begin, tokens, plain, starts, ends, hashes, written, initials):  # type: ignore[no-untyped-def]
    """Take hyphens and quotation marks out of the tokens; return how many are left."""
    kept = 0
    for i in range(tokens):
        character, _ = decode(data, begin + starts[i])
        if character < len(plain) and (plain[character] == HYPHEN or plain[character] == QUOTE):
            continue
        starts[kept], ends[kept], hashes[kept] = starts[i], ends[i], hashes[i]
        written[kept], initials[kept] = written[i], initials[i]
        kept += 1
    return kept


@kernel
def _find(  # type: ignore[no-untyped-def]
    data, offsets, classes, folded, plain, codes, roles, slots, firsts, entry_offsets, entity, case, spelling,
    samples, candidate_offsets, candidates, entities,
):  # fmt: skip
    longest = 1
    for text in range(len(offsets) - 1):
        longest = max(longest, offsets[text + 1] - offsets[text])
    starts, ends, hashes = np.empty(longest, np.int32), np.empty(longest, np.int32), np.empty(longest, np.uint64)
    written, initials = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    edges, stamp = np.empty(longest, np.uint8), np.full(entities, -1, np.int64)
    texts, rows, count, current = np.empty(1 << 12, np.int32), np.empty((1 << 12, 3), np.int32), 0, np.int64(-1)
    for text in range(len(offsets) - 1):
        sample = samples[text]
        if sample != current:
            current = sample
            for i in range(candidate_offsets[sample], candidate_offsets[sample + 1]):
                stamp[candidates[i]] = sample
        begin = offsets[text]
        tokens = tokenize(data, begin, offsets[text + 1], classes, folded, plain, starts, ends, hashes, written, initials)
        tokens = _passing_over(data, begin, tokens, plain, starts, ends, hashes, written, initials)
        limited = mark_edges(data, begin, tokens, starts, ends, hashes, codes, roles, edges)
        first_here = count
        for i in range(tokens):
            if limited and edges[i] & BEGINS == 0:
                continue
            bit = hashes[i] & ((np.uint64(1) << FIRST) - np.uint64(1))
            if (firsts[bit >> np.uint64(6)] >> (bit & np.uint64(63))) & np.uint64(1) == 0:
                continue
            code, step, spelt, first = HASH_START, np.uint64(1), np.uint64(0), count
            for last in range(i, tokens):
                code = mixed((code ^ hashes[last]) * HASH_PRIME)
                group = slots[_slot(code, slots)].group
                if group == NOT_THERE:
                    break
                spelt += step * written[last]
                step *= TOKEN_STEP
                if group == PREFIX or (limited and edges[last] & ENDS == 0):
                    continue
                for entry in range(entry_offsets[group], entry_offsets[group + 1]):
                    if sample >= 0 and stamp[entity[entry]] != sample:
                        continue
                    if case[entry] != FREE and spelt - (initials[i] if case[entry] == INITIAL else np.uint64(0)) != spelling[entry]:
                        continue
                    if count > first and rows[count - 1, 2] == entity[entry] and rows[count - 1, 1] == ends[last]:
                        continue
                    if count == len(texts):
                        texts, rows = grown(texts, count + 1), grown(rows, count + 1)
                    texts[count] = text
                    rows[count, 0], rows[count, 1], rows[count, 2] = starts[i], ends[last], entity[entry]
                    count += 1
        _to_characters(data, begin, rows, first_here, count)
    return texts[:count].copy(), rows[:count].copy()


@kernel
def _to_characters(data, begin, rows, first, last):  # type: ignore[no-untyped-def]
    """Turn offsets in bytes into offsets in characters; rows are ordered by start."""
    at, characters = 0, 0
    for i in range(first, last):
        while at < rows[i, 0]:
            characters += data[begin + at] & 0xC0 != 0x80
            at += 1
        inside, length = at, 0
        while inside < rows[i, 1]:
            length += data[begin + inside] & 0xC0 != 0x80
            inside += 1
        rows[i, 0], rows[i, 1] = characters, characters + length
