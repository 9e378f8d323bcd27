"""Finds the surface forms of entities in texts: for the mask, which replaces them, and for the check of masked texts.

The search uses hashes of token sequences and is independent of the linker: its matcher, its rules and its spans. Hyphens and quotation
marks are ignored: "sci-fi" matches "sci fi", and 'Kate "Katie" Holmes' contains Katie Holmes.
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
from kgqa.arrays.tokens import TOKEN_STEP, character_tables, spellings, token_arrays, token_hashes, tokenize
from kgqa.linking.dictionary import FREE, INITIAL
from kgqa.recipes.qangaroo.corpus import Places
from kgqa.recipes.qangaroo.samples import BoolArray
from kgqa.recipes.qangaroo.surface import surface_forms
from kgqa.sources.tables import arrow

PASSED_OVER = r"[-‐‑‒–—−\"“”]"
"""Hyphens, dashes and double quotation marks; the tokeniser folds them into ``-`` and ``\"``."""
HYPHEN, QUOTE = 45, 34
NOT_THERE, PREFIX = -2, -1
FIRST = np.uint64(21)
"""Number of hash bits in a filter that tells whether a form may begin with a token; it saves most look-ups in the large table."""
SLOT = np.dtype([("key", np.uint64), ("group", np.int32)], align=True)
"""A slot of the hash table: the hash of a token sequence, and the number of the group of forms with these tokens. The group is ``PREFIX``
for sequences that only begin longer forms, and ``NOT_THERE`` in a free slot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Forms:
    """An index of surface forms. Those with the same tokens form group g, which has the entries ``offsets[g]:offsets[g + 1]``."""

    slots: npt.NDArray[np.void]
    """Hash table of ``SLOT`` records."""
    firsts: npt.NDArray[np.uint64]
    """A bit array, indexed by the last ``FIRST`` bits of the hash of a token: whether some form may begin with it."""
    offsets: npt.NDArray[np.int64]
    entity: IntArray
    """Row of the entity table; within a group, forms with priority come first."""
    case: npt.NDArray[np.uint8]
    """``FREE``, ``INITIAL`` or ``EXACT`` (:mod:`kgqa.linking.dictionary`)."""
    spelling: npt.NDArray[np.uint64]
    """Hash of the required spelling (:func:`kgqa.arrays.tokens.spellings`); unused if case is free."""

    @classmethod
    def of(cls, tables: Mapping[str, pa.Table], mask: BoolArray, *, language: str) -> Forms:
        """The forms of the entities with a true entry in ``mask``; ``tables`` and ``language`` as in :func:`surface_forms`."""
        return build_forms(surface_forms(tables, mask, language=language))


def build_forms(surface: pl.DataFrame) -> Forms:
    """Index the forms of :func:`surface_forms`. O(tokens of all forms)."""
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
    """All places of all ``forms`` in ``texts``, ordered by text and start; places may overlap.

    With ``rows``, only these texts are searched, and the others have no places.
    """
    numbers = np.arange(len(texts)) if rows is None else np.unique(rows)
    subset = texts if rows is None else texts.take(pa.array(numbers))
    nobody = np.full(len(numbers), -1, np.int64)
    text, place_rows = _scan(subset, forms, nobody, np.zeros(1, np.int64), np.empty(0, np.int32))
    offsets = row_bounds(numbers[text], len(texts))
    return Places(offsets=offsets, entity=place_rows[:, 2].copy(), start=place_rows[:, 0].copy(), end=place_rows[:, 1].copy())


def named_in_rows(texts: pa.ChunkedArray, rows: npt.NDArray[np.integer], forms: Forms) -> Adjacency:
    """Row of ``texts`` → the entities whose names can be read there; only the given ``rows`` are searched, others are empty."""
    places = find_forms(texts, forms, rows=rows)
    return Adjacency.from_pairs(np.repeat(np.arange(len(texts)), np.diff(places.offsets)), places.entity, len(texts))


def left_readable(
    texts: pa.Array | pa.ChunkedArray, sample: npt.NDArray[np.integer], candidates: Rows, forms: Forms
) -> npt.NDArray[np.int64]:
    """The number of places in each of ``texts`` where a candidate of its ``sample`` can be read; texts are grouped by sample."""
    text, _ = _scan(texts, forms, sample.astype(np.int64), candidates.offsets, candidates.targets)
    return np.bincount(text, minlength=len(texts)).astype(np.int64)


def _scan(
    texts: pa.Array | pa.ChunkedArray, forms: Forms, sample: npt.NDArray[np.int64], offsets: npt.NDArray[np.int64], candidates: IntArray
) -> tuple[IntArray, IntArray]:
    """The places of ``forms`` as text and (start, end, entity); only of the sample's candidates if ``sample`` is not -1."""
    entities = int(max(forms.entity.max(initial=0), candidates.max(initial=0))) + 1
    return _find(
        *text_buffers(texts), *character_tables(), *particle_tables(), forms.slots, forms.firsts, forms.offsets,
        forms.entity, forms.case, forms.spelling, sample, offsets, candidates, entities,
    )  # fmt: skip


@kernel(inline=True)
def _slot(key, slots):  # type: ignore[no-untyped-def]
    """The slot of ``key``, or the free slot where it belongs (linear probing)."""
    mask = np.uint64(len(slots) - 1)
    at = key & mask
    while slots[at].group != NOT_THERE and slots[at].key != key:
        at = (at + np.uint64(1)) & mask
    return at


@kernel
def _index(bounds, hashes, slots, firsts, group):  # type: ignore[no-untyped-def]
    """Enter the token sequences of all forms, and their prefixes, into ``slots`` and ``firsts``; return the number of groups.

    The tokens of form i are ``hashes[bounds[i]:bounds[i + 1]]``. ``group`` (int32, forms) receives its group, -1 if it has no tokens.
    """
    groups = 0
    for form in range(len(bounds) - 1):
        group[form] = -1
        code = HASH_START
        if bounds[form] < bounds[form + 1]:
            bit = hashes[bounds[form]] & ((np.uint64(1) << FIRST) - np.uint64(1))
            firsts[bit >> np.uint64(6)] |= np.uint64(1) << (bit & np.uint64(63))
        # The hash of a sequence extends that of its prefix by one token, so a text is matched token by token.
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
def _passing_over(data, begin, tokens, plain, starts, ends, hashes, spelt, initials):  # type: ignore[no-untyped-def]
    """Remove hyphens and quotation marks from the tokens, in place; return the number of tokens left."""
    size = 0
    for i in range(tokens):
        character, _ = decode(data, begin + starts[i])
        if character < len(plain) and (plain[character] == HYPHEN or plain[character] == QUOTE):
            continue
        starts[size], ends[size], hashes[size] = starts[i], ends[i], hashes[i]
        spelt[size], initials[size] = spelt[i], initials[i]
        size += 1
    return size


@kernel
def _find(  # type: ignore[no-untyped-def]
    data, offsets, classes, folded, plain, codes, roles, slots, firsts, entry_offsets, entity, case, spelling,
    samples, candidate_offsets, candidates, entities,
):  # fmt: skip
    """The kernel of :func:`_scan`: the text of each place (int32), and its start, end and entity (int32, places × 3), in characters.

    At each token, extend the sequence as long as it is a prefix of some form, and record the forms that it equals. O(tokens × length of
    the longest form).
    """
    starts, ends, hashes, spelling_hashes, initials = token_arrays(offsets)
    edges, stamp = np.empty(len(starts), np.uint8), np.full(entities, -1, np.int64)
    texts, rows, count, current = np.empty(1 << 12, np.int32), np.empty((1 << 12, 3), np.int32), 0, np.int64(-1)
    for text in range(len(offsets) - 1):
        sample = samples[text]
        # ``stamp`` marks the candidates of the current sample; texts of one sample follow each other.
        if sample != current:
            current = sample
            for i in range(candidate_offsets[sample], candidate_offsets[sample + 1]):
                stamp[candidates[i]] = sample
        begin = offsets[text]
        tokens = tokenize(data, begin, offsets[text + 1], classes, folded, plain, starts, ends, hashes, spelling_hashes, initials)
        tokens = _passing_over(data, begin, tokens, plain, starts, ends, hashes, spelling_hashes, initials)
        limited = mark_edges(data, begin, tokens, starts, ends, hashes, codes, roles, edges)
        first_here = count
        for i in range(tokens):
            if limited and edges[i] & BEGINS == 0:
                continue
            bit = hashes[i] & ((np.uint64(1) << FIRST) - np.uint64(1))
            if (firsts[bit >> np.uint64(6)] >> (bit & np.uint64(63))) & np.uint64(1) == 0:
                continue
            # ``spelt`` is a hash of the spelling so far, from which the initial can be taken out again.
            code, step, spelt, first = HASH_START, np.uint64(1), np.uint64(0), count
            for last in range(i, tokens):
                code = mixed((code ^ hashes[last]) * HASH_PRIME)
                group = slots[_slot(code, slots)].group
                if group == NOT_THERE:
                    break
                spelt += step * spelling_hashes[last]
                step *= TOKEN_STEP
                if group == PREFIX or (limited and edges[last] & ENDS == 0):
                    continue
                # Skip entities that are no candidates, wrong spellings, and an entity that the same tokens have already given.
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
    """Convert the byte offsets in ``rows[first:last]``, which are ordered by start, into characters, in place."""
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
