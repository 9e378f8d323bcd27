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
from kgqa.linking.trie import find_child, find_token

ENTRY = np.dtype(
    [
        ("spelling", np.uint64), ("entity", np.int32), ("priority", np.int32),
        ("case", np.uint8), ("candidate", np.bool_), ("skip", np.uint8), ("cut", np.uint8),
    ],
    align=True,
)  # fmt: skip
"""The columns of a :class:`Dictionary` as records, so that one name touches one cache line."""
NODE = np.dtype([("following", np.uint64), ("first_entry", np.int32), ("last_entry", np.int32)], align=True)
"""A trie node and the range of its entries (the names that end there), which may be empty."""
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
    place: npt.NDArray[np.int32]
    """Number of the place, from 0."""
    defined: npt.NDArray[np.int64]
    """Rows with a name in brackets behind words that it may abbreviate."""
    words: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]
    """For each of ``defined``, the start and end of those words, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matches:
    """The result of :func:`match`."""

    mentions: Spans
    """Without overlap: the longest name of each place, with one entity."""
    occurrences: Spans
    """All names of possible candidates, also inside longer names and shared by several entities: what a reader would see stated. At one
    start the longest comes first; among entities with one name, the one with the best claim."""
    shared: int
    """Number of longest matches left out because several entities have the name."""
    pairs: Pairs
    """The same places with every entity of the name, for disambiguation by context."""


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
    nodes = np.zeros(len(trie.nodes), NODE)
    nodes["following"] = trie.nodes["following"]
    is_end = trie.nodes["group"] >= 0
    nodes["first_entry"][is_end] = dictionary.offsets[trie.nodes["group"][is_end]]
    nodes["last_entry"][is_end] = dictionary.offsets[trie.nodes["group"][is_end] + 1]
    # Without word flags every word counts as unmarked, so the kernel needs no second code path.
    flags = words if words is not None else np.zeros(len(trie.nodes), np.uint8)
    tables = (*character_tables(), *particle_tables(), trie.vocabulary, nodes, trie.transitions, entries, flags)

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
    mentions, shared = _preferred(pairs, dictionary)
    return Matches(mentions=mentions, occurrences=_spans(occurrence_parts), shared=shared, pairs=pairs)


def _match_part(
    bounds: tuple[int, int], data: npt.NDArray[np.uint8], offsets: npt.NDArray[np.int64], *tables: Any
) -> tuple[npt.NDArray[np.int32], ...]:
    return _match_batch(data, offsets, *bounds, *tables)


def _pairs(parts: list[npt.NDArray[np.int32]], definitions: list[npt.NDArray[np.int32]]) -> Pairs:
    definition_rows = np.concatenate(definitions) if definitions else np.empty((0, 4), np.int32)
    # A batch numbers its own rows from 0; shift the definitions' row numbers to those of the joined table.
    row_offsets = np.cumsum([0, *map(len, parts)])[:-1].repeat([len(part) for part in definitions])
    document, start, end, entity, entry, context = joined_columns(parts, 6)
    # Only some names include an article ("the Netherlands"), so entities of one place may begin at different characters; all end at one.
    begins_place = np.ones(len(document), np.bool_)
    begins_place[1:] = (document[1:] != document[:-1]) | (end[1:] != end[:-1])
    place = (np.cumsum(begins_place) - 1).astype(np.int32)
    return Pairs(
        document=document, start=start, end=end, entity=entity, entry=entry, context=context, place=place,
        defined=definition_rows[:, 3] + row_offsets, words=(definition_rows[:, 1].copy(), definition_rows[:, 2].copy()),
    )  # fmt: skip


def _preferred(pairs: Pairs, dictionary: Dictionary) -> tuple[Spans, int]:
    """The places where priority alone picks one entity, and the number of ties.

    Rows of a place come best claim first, so another entity with the first row's priority is a tie.
    """
    place_starts = np.flatnonzero(np.diff(pairs.place, prepend=-1))
    priority = dictionary.priority[pairs.entry]
    draws = np.zeros(len(place_starts), np.bool_)
    best = priority[place_starts][pairs.place] == priority if len(place_starts) else np.zeros(0, np.bool_)
    draws[pairs.place[best & (pairs.entity != pairs.entity[place_starts][pairs.place])] if len(place_starts) else []] = True
    # A tie is no mention here; :mod:`kgqa.linking.resolve` may still decide it by context.
    winners = place_starts[~draws]
    columns = (pairs.document, pairs.start, pairs.end, pairs.entity)
    document, start, end, entity = (column[winners] for column in columns)
    return Spans(document=document, start=start, end=end, entity=entity), int(draws.sum())


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
def _match_batch(  # type: ignore[no-untyped-def]  # noqa: PLR0912, PLR0915 - one pass over the bytes; splitting it would hide the order
    data, offsets, first_document, last_document,
    classes, folded, plain, codes, roles, vocabulary, nodes, transitions, entries, flags,
    occurrences, before_number,
):  # fmt: skip
    longest = 1
    for document in range(first_document, last_document):
        longest = max(longest, offsets[document + 1] - offsets[document])
    starts, ends, hashes = np.empty(longest, np.int32), np.empty(longest, np.int32), np.empty(longest, np.uint64)
    spellings, initials = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    tokens, edges = np.empty(longest, np.int32), np.empty(longest, np.uint8)
    continuation = np.zeros(longest + 1, np.int32)
    mentions, mention_count = np.empty((4096, 6), np.int32), 0
    hits, hit_count = np.empty((4096, 4), np.int32), 0
    definitions, definition_count = np.empty((256, 4), np.int32), 0
    stack_node, stack_last = np.empty(NESTED, np.int32), np.empty(NESTED, np.int32)
    stack_spelling = np.empty(NESTED, np.uint64)
    zero = np.uint64(0)
    for document in range(first_document, last_document):
        begin = offsets[document]
        length = offsets[document + 1] - begin
        count = tokenize(data, begin, begin + length, classes, folded, plain, starts, ends, hashes, spellings, initials)
        for i in range(count):
            tokens[i] = find_token(hashes[i], vocabulary)
        has_edges = mark_edges(data, begin, count, starts, ends, hashes, codes, roles, edges)
        first_mention, first_hit, first_definition = mention_count, hit_count, definition_count
        free_from = 0
        for i in range(count):
            node = tokens[i]
            if node < 0 or (i < free_from and not occurrences):
                continue
            # Walk the trie from token i and stack every name on the way, so that the longest one can be tried first.
            depth = 0
            last_token = i
            spelling, step = spellings[i], TOKEN_STEP
            while True:
                if nodes[node].first_entry < nodes[node].last_entry and depth < NESTED:
                    stack_node[depth], stack_last[depth], stack_spelling[depth] = node, last_token, spelling
                    depth += 1
                if last_token + 1 >= count or tokens[last_token + 1] < 0:
                    break
                # One bit per token (mod 64) rules out most failing look-ups without a cache miss.
                if (nodes[node].following >> np.uint64(tokens[last_token + 1] & 63)) & np.uint64(1) == 0:
                    break
                node = find_child(node, tokens[last_token + 1], transitions)
                if node < 0:
                    break
                last_token += 1
                spelling += step * spellings[last_token]
                step *= TOKEN_STEP
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
                for entry in range(nodes[stack_node[level]].first_entry, nodes[stack_node[level]].last_entry):
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
                                data, begin, length, i, last_token, count, starts, ends, tokens, initials, flags, i == free_from and i > 0
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
                        for place in range(first_here, hit_count):
                            is_repeat = is_repeat or hits[place, 3] == entity
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
