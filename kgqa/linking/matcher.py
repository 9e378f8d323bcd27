"""Documents → mentions: longest match from left to right, and all occurrences of possible candidates.

Names begin and end at token boundaries; in Hangul at a word's, or before its particles (:mod:`kgqa.arrays.particles`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.int32 import check_fits
from kgqa.arrays.joined import joined_columns
from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.parallel import Engine, Threads
from kgqa.arrays.particles import BEGINS, ENDS, mark_edges, particle_tables
from kgqa.arrays.texts import text_buffers
from kgqa.arrays.tokens import TOKEN_STEP, character_tables, tokenize
from kgqa.linking.definitions import defined_from
from kgqa.linking.dictionary import FREE, INITIAL, Dictionary
from kgqa.linking.surroundings import surroundings
from kgqa.linking.trie import EMPTY, child_slot, find_slot

ENTRY = np.dtype(
    [
        ("spelling", np.uint64), ("entity", np.int32), ("priority", np.int32),
        ("case", np.uint8), ("candidate", np.bool_), ("skip", np.uint8), ("cut", np.uint8),
    ],
    align=True,
)  # fmt: skip
"""The columns of a :class:`Dictionary` as records, so that one name touches one cache line."""
STEP = np.dtype(
    [
        ("key", np.uint64), ("following", np.uint64), ("node", np.int32), ("first_entry", np.int32), ("last_entry", np.int32),
        ("flags", np.uint8), ("plain", np.bool_),
    ],
    align=True,
)  # fmt: skip
"""A slot of the trie's hash tables with its node and the range of the entries of the name that ends there, which may be empty: a step of
the search reads one cache line. ``plain``: whether the name matches tokens that folding leaves as they are, as words in lower case."""
BATCH = 1 << 20
"""Bytes of text per batch of a thread; a batch ends at the end of a text."""
NESTED = 64
"""Maximum number of names from one token, each a prefix of the next. Real dictionaries stay below; longer names would be left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spans:
    """Places in documents, ordered by document and start; ``start`` and ``end`` count characters."""

    document: npt.NDArray[np.int32]
    start: npt.NDArray[np.int32]
    end: npt.NDArray[np.int32]
    entity: npt.NDArray[np.int32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs(Spans):
    """All entities with the longest name of a place; the rows of one place are adjacent, the best claim first."""

    entry: npt.NDArray[np.int32]
    """The dictionary's entry that gives the entity this name."""
    context: npt.NDArray[np.int32]
    """Letter case and neighbours of the place, as one number (:mod:`kgqa.linking.surroundings`)."""
    bounds: npt.NDArray[np.int32]
    """The rows of place i are ``bounds[i]:bounds[i + 1]``."""
    defined: npt.NDArray[np.int64]
    """Rows with a name in brackets behind words that it may abbreviate."""
    words: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]
    """For each of ``defined``, the start and end of those words, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """The result of :func:`match`."""

    occurrences: Spans
    """All names of possible candidates, also inside longer names and shared by several entities: what a reader would see stated. At one
    start the longest comes first; among entities with one name, the one with the best claim."""
    pairs: Pairs
    """The longest name of each place, without overlap, with every entity of the name, for disambiguation by context."""
    priority: npt.NDArray[np.int32]
    """The claim of each entry of the dictionary to its name."""

    @property
    def mentions(self) -> Spans:
        """The places where priority alone picks one entity. O(pairs), not stored."""
        pairs = self.pairs
        winners = _winners(pairs.bounds, pairs.entity, pairs.entry, self.priority)
        # A tie is no mention here; :mod:`kgqa.linking.resolve` may still decide it by context.
        document, start, end, entity = (column[winners] for column in (pairs.document, pairs.start, pairs.end, pairs.entity))
        return Spans(document=document, start=start, end=end, entity=entity)

    @property
    def shared(self) -> int:
        """Number of longest matches that are no mention because several entities have the best claim to the name."""
        return len(self.pairs.bounds) - 1 - len(_winners(self.pairs.bounds, self.pairs.entity, self.pairs.entry, self.priority))


def match(
    texts: pa.ChunkedArray,
    dictionary: Dictionary,
    *,
    engine: Engine | None = None,
    occurrences: bool = True,
    before_number: bool = True,
    words: npt.NDArray[np.uint8] | None = None,
    advance: Callable[[int], None] | None = None,
) -> Matches:
    """Match ``dictionary`` in ``texts`` in batches of about 1 MiB; ``advance`` gets the bytes of each batch.

    Memory: the texts, the result (16 bytes a span) and 20 bytes per byte of one batch and worker. The result does not depend on
    ``engine`` (by default threads): batches are cut by size alone and joined in order. Without ``before_number`` a name directly followed
    by a hyphen and a digit, as "IL" in "IL-2", is an occurrence but no mention. ``words``: flags of the trie's tokens
    (:func:`kgqa.linking.measures.word_flags`); without them the contexts know capitals only.
    """
    check_fits(max(len(texts), len(dictionary.entity)), "documents or names", "make the dataset from fewer")
    data, offsets = text_buffers(texts)
    trie = dictionary.trie
    # Records instead of columns: the kernel reads all fields of an entry together.
    entries = np.empty(len(dictionary.entity), ENTRY)
    for name in ENTRY.names or ():
        entries[name] = getattr(dictionary, name)
    # Without word flags every word counts as unmarked, so the kernel needs no second code path.
    flags = words if words is not None else np.zeros(len(trie.nodes), np.uint8)
    steps = (_steps(table, trie.nodes, dictionary.offsets, entries, flags) for table in (trie.vocabulary, trie.transitions))
    tables = (*character_tables(), *particle_tables(), *steps, entries)

    batches = list(_batches(offsets, BATCH))
    pair_parts, occurrence_parts, definition_parts = [], [], []
    matched_batches = (engine or Threads()).map(_match_part, batches, (data, offsets, *tables, occurrences, before_number))
    # Parts come in the order of the batches whatever the engine, so the rows stay ordered by document.
    for (begin, end), part in zip(batches, matched_batches, strict=True):
        pair_parts.append(part[0])
        occurrence_parts.append(part[1])
        definition_parts.append(part[2])
        del part
        if advance:
            advance(int(offsets[end] - offsets[begin]))
    pairs = _pairs(pair_parts, definition_parts)
    return Matches(occurrences=_spans(occurrence_parts), pairs=pairs, priority=dictionary.priority)


def _match_part(
    bounds: tuple[int, int], data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], *tables: Any
) -> tuple[npt.NDArray[np.int32], ...]:
    return _match_batch(data, offsets, *bounds, *tables)  # type: ignore[no-any-return]


def _pairs(parts: list[npt.NDArray[np.int32]], definitions: list[npt.NDArray[np.int32]]) -> Pairs:
    definition_rows = np.concatenate(definitions) if definitions else np.empty((0, 4), np.int32)
    # A batch numbers its own rows from 0; shift the definitions' row numbers to those of the joined table.
    row_offsets = np.cumsum([0, *map(len, parts)])[:-1].repeat([len(part) for part in definitions])
    document, start, end, entity, entry, context = joined_columns(parts, 6)
    # Only some names include an article ("the Netherlands"), so entities of one place may begin at different characters; all end at one.
    begins_place = np.ones(len(document), np.bool_)
    begins_place[1:] = (document[1:] != document[:-1]) | (end[1:] != end[:-1])
    bounds = np.append(np.flatnonzero(begins_place), len(document)).astype(np.int32)
    return Pairs(
        document=document, start=start, end=end, entity=entity, entry=entry, context=context, bounds=bounds,
        defined=definition_rows[:, 3] + row_offsets, words=(definition_rows[:, 1].copy(), definition_rows[:, 2].copy()),
    )  # fmt: skip


@kernel
def _winners(bounds, entity, entry, priority):  # type: ignore[no-untyped-def]
    """The first row of each place where no other entity has the priority of the first, which is the best. O(pairs).

    >>> bounds, entry = np.array([0, 2, 4], np.int32), np.array([0, 1, 0, 0], np.int32)
    >>> _winners(bounds, np.array([7, 8, 7, 9], np.int32), entry, np.array([0, 1], np.int32)).tolist()
    [0]
    """
    out, count = np.empty(len(bounds) - 1, np.int32), 0
    for place in range(len(bounds) - 1):
        first = bounds[place]
        is_tie = False
        for row in range(first + 1, bounds[place + 1]):
            is_tie = is_tie or (priority[entry[row]] == priority[entry[first]] and entity[row] != entity[first])
        if not is_tie:
            out[count] = first
            count += 1
    return out[:count]


def _batches(offsets: npt.NDArray[np.int64], size: int) -> Iterator[tuple[int, int]]:
    """Ranges of documents with at most ``size`` bytes each; a longer document is a range of its own.

    >>> list(_batches(np.array([0, 4, 8, 30]), 10))
    [(0, 2), (2, 3)]
    """
    begin, documents = 0, len(offsets) - 1
    while begin < documents:
        end = max(begin + 1, int(np.searchsorted(offsets, offsets[begin] + size, side="right")) - 1)
        yield begin, min(end, documents)
        begin = end


def _spans(parts: list[npt.NDArray[np.int32]]) -> Spans:
    document, start, end, entity = joined_columns(parts, 4)
    return Spans(document=document, start=start, end=end, entity=entity)


@kernel
def _steps(table, nodes, offsets, entries, flags):  # type: ignore[no-untyped-def]
    """The ``STEP`` records of a hash table of the trie."""
    steps = np.empty(len(table), STEP)
    for slot in range(len(table)):
        steps[slot].key = table[slot].key
        if table[slot].key == EMPTY:
            continue
        node = table[slot].value
        group = nodes[node].group
        first_entry, last_entry = (offsets[group], offsets[group + 1]) if group >= 0 else (0, 0)
        is_plain = False
        for entry in range(first_entry, last_entry):
            is_plain = is_plain or entries[entry].case == FREE or entries[entry].spelling == np.uint64(0)
        steps[slot].node, steps[slot].following = node, nodes[node].following
        steps[slot].first_entry, steps[slot].last_entry = first_entry, last_entry
        steps[slot].flags, steps[slot].plain = flags[node], is_plain
    return steps


@kernel
def _match_batch(  # type: ignore[no-untyped-def]  # noqa: PLR0912, PLR0915 - one pass over the bytes; splitting it would hide the order
    data, offsets, first_document, last_document,
    classes, folded, plain, codes, roles, vocabulary, transitions, entries,
    occurrences, before_number,
):  # fmt: skip
    longest = 1
    for document in range(first_document, last_document):
        longest = max(longest, offsets[document + 1] - offsets[document])
    starts, ends, hashes = np.empty(longest, np.int32), np.empty(longest, np.int32), np.empty(longest, np.uint64)
    spellings, initials = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    slots, tokens = np.empty(longest, np.int64), np.empty(longest, np.int32)
    flags, edges = np.empty(longest, np.uint8), np.empty(longest, np.uint8)
    continuation = np.zeros(longest + 1, np.int32)
    # Room for the rows of most batches; pages that no row needs cost nothing.
    room = max(4096, (offsets[last_document] - offsets[first_document]) // 8)
    mentions, mention_count = np.empty((room, 6), np.int32), 0
    hits, hit_count = np.empty((room, 4), np.int32), 0
    definitions, definition_count = np.empty((256, 4), np.int32), 0
    stack_first, stack_end, stack_last = np.empty(NESTED, np.int32), np.empty(NESTED, np.int32), np.empty(NESTED, np.int32)
    stack_spelling = np.empty(NESTED, np.uint64)
    zero = np.uint64(0)
    for document in range(first_document, last_document):
        begin = offsets[document]
        length = offsets[document + 1] - begin
        count = tokenize(data, begin, begin + length, classes, folded, plain, starts, ends, hashes, spellings, initials)
        for i in range(count):
            # All look-ups of a document first: the processor overlaps them, because none depends on another.
            slots[i] = find_slot(hashes[i], hashes[i], vocabulary)
            tokens[i] = vocabulary[slots[i]].node if slots[i] >= 0 else np.int32(-1)
            flags[i] = vocabulary[slots[i]].flags if slots[i] >= 0 else np.uint8(0)
        has_edges = mark_edges(data, begin, count, starts, ends, hashes, codes, roles, edges)
        first_mention, first_hit, first_definition = mention_count, hit_count, definition_count
        free_from = 0
        for i in range(count):
            if tokens[i] < 0 or (i < free_from and not occurrences):
                continue
            # Walk the trie from token i and stack every name on the way, so that the longest one can be tried first.
            depth = 0
            last_token = i
            spelling, place = spellings[i], TOKEN_STEP
            step = vocabulary[slots[i]]
            while True:
                # Most names have a capital and most words do not, so one bit saves reading the entries of the name.
                may_match = step.plain or spelling != zero or initials[i] != zero
                if step.first_entry < step.last_entry and may_match and depth < NESTED:
                    stack_first[depth], stack_end[depth] = step.first_entry, step.last_entry
                    stack_last[depth], stack_spelling[depth] = last_token, spelling
                    depth += 1
                if last_token + 1 >= count or tokens[last_token + 1] < 0:
                    break
                # One bit per token (mod 64) rules out most failing look-ups without a cache miss.
                if (step.following >> np.uint64(tokens[last_token + 1] & 63)) & np.uint64(1) == 0:
                    break
                slot = child_slot(step.node, tokens[last_token + 1], transitions)
                if slot < 0:
                    break
                step = transitions[slot]
                last_token += 1
                spelling += place * spellings[last_token]
                place *= TOKEN_STEP
            # Scripts without spaces: a name may begin only where a word can.
            if has_edges and depth and edges[i] & BEGINS == 0:
                continue
            # Longest name first: it takes the mention, and tokens before free_from are used up; shorter ones are occurrences only.
            has_mention = i < free_from
            for level in range(depth - 1, -1, -1):
                if has_mention and not occurrences:
                    break
                last_token = stack_last[level]
                if has_edges and edges[last_token] & ENDS == 0:
                    continue
                stop = ends[last_token]
                has_number = stop + 1 < length and data[begin + stop] == 45 and 48 <= data[begin + stop + 1] <= 57  # as "-2"
                is_mention = not has_mention and (before_number or not has_number)
                context, first_here, first_pair = -1, hit_count, mention_count
                for entry in range(stack_first[level], stack_end[level]):
                    # Spellings are sums over characters, so without its first character a spelling is the sum less the initial.
                    case = entries[entry].case
                    if case != FREE and stack_spelling[level] - (initials[i] if case == INITIAL else zero) != entries[entry].spelling:
                        continue
                    entity = entries[entry].entity
                    # The ending of an inflected name is cut off, one UTF-8 character at a time.
                    end = stop
                    for _ in range(entries[entry].cut):
                        end -= 1
                        while data[begin + end] & 0xC0 == 0x80:
                            end -= 1
                    # Entries are sorted by priority, then entity, so the best claim is written first.
                    if is_mention and entries[entry].priority >= 0:  # else NO_LINK
                        if context < 0:
                            context = surroundings(
                                data, begin, length, i, last_token, count, starts, ends, initials, flags, i == free_from and i > 0
                            )
                        is_listed = False
                        for row in range(first_pair, mention_count):
                            is_listed = is_listed or mentions[row, 3] == entity
                        if not is_listed:
                            if mention_count == len(mentions):
                                mentions = grown(mentions, mention_count + 1)
                            mentions[mention_count, 0] = document
                            mentions[mention_count, 1] = starts[i + min(entries[entry].skip, last_token - i)]
                            mentions[mention_count, 2], mentions[mention_count, 3] = end, entity
                            mentions[mention_count, 4], mentions[mention_count, 5] = entry, context
                            mention_count += 1
                    if occurrences and entries[entry].candidate:
                        # An entity may have the name from two sources with different priorities.
                        is_repeat = False
                        for row in range(first_here, hit_count):
                            is_repeat = is_repeat or hits[row, 3] == entity
                        if is_repeat:
                            continue
                        if hit_count == len(hits):
                            hits = grown(hits, hit_count + 1)
                        hits[hit_count, 0], hits[hit_count, 1] = document, starts[i]
                        hits[hit_count, 2], hits[hit_count, 3] = end, entity
                        hit_count += 1
                if mention_count > first_pair:
                    has_mention = True
                    free_from = last_token + 1
                    # A definition has an opening bracket, a name with a capital inside ("NATO", "mRNA"), and ")", "," or ";".
                    if i > 1 and data[begin + starts[i - 1]] == 40 and last_token + 1 < count and stack_spelling[level] != initials[i]:
                        next_byte = data[begin + starts[last_token + 1]]
                        if next_byte in (41, 44, 59):
                            words = defined_from(data, begin, starts[i], stop, starts[i - 1])
                            if words >= 0:
                                if definition_count == len(definitions):
                                    definitions = grown(definitions, definition_count + 1)
                                definitions[definition_count, 0], definitions[definition_count, 1] = document, words
                                definitions[definition_count, 2], definitions[definition_count, 3] = ends[i - 2], first_pair
                                definition_count += 1
        if mention_count > first_mention or hit_count > first_hit:
            # The scan counts bytes; the result counts characters.
            _to_characters(data, begin, length, continuation, mentions, first_mention, mention_count)
            _to_characters(data, begin, length, continuation, hits, first_hit, hit_count)
            _to_characters(data, begin, length, continuation, definitions, first_definition, definition_count)
    return mentions[:mention_count], hits[:hit_count], definitions[:definition_count]


@kernel
def _to_characters(data, begin, length, continuation, rows, first_row, last_row):  # type: ignore[no-untyped-def]
    """Turn byte offsets into character offsets: subtract the continuation bytes before them.

    >>> data, rows = np.frombuffer("é b".encode(), np.uint8), np.array([[0, 3, 4]])
    >>> _to_characters(data, 0, 4, np.zeros(5, np.int32), rows, 0, 1)
    >>> rows.tolist()
    [[0, 2, 3]]
    """
    if first_row == last_row:
        return
    union = np.uint8(0)
    for at in range(begin, begin + length):
        union |= data[at]
    if union < 0x80:  # ASCII: bytes are characters
        return
    count = 0
    for at in range(length):
        continuation[at] = count
        if data[begin + at] & 0xC0 == 0x80:
            count += 1
    continuation[length] = count
    for i in range(first_row, last_row):
        rows[i, 1] -= continuation[rows[i, 1]]
        rows[i, 2] -= continuation[rows[i, 2]]
