"""Disambiguation: (place, entity) pairs → mentions; each place gets its most probable entity, if that is probable enough."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.hashes import HASH_PRIME, HASH_START, mixed
from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import spread
from kgqa.arrays.texts import decode, is_space, text_buffers
from kgqa.linking.annotations import verdicts_of
from kgqa.linking.belief import (
    ADJECTIVE,
    COMMON_NOUN,
    ONE,
    SEVERAL,
    buckets_of,
    distinct_evidence,
    estimated,
    ratios_of_levels,
    start_beside,
)
from kgqa.linking.decision import NameTraits, decided
from kgqa.linking.definitions import CONTRADICTED, shares, verdicts
from kgqa.linking.dictionary import Dictionary
from kgqa.linking.matcher import Pairs, Spans
from kgqa.linking.measures import START, Measures, measures
from kgqa.linking.support import SUBJECT, levels, surroundings_of
from kgqa.linking.surroundings import ALONE, CAPITAL, CONTEXTS, NAME, NOUN, PROPER_CAPITAL, SIDES, SMALL, parts
from kgqa.linking.usage import Usage
from kgqa.settings.linking import LinkingSettings
from kgqa.sources.tables import frame

SEEN, ATTRIBUTIVE = 5, 0.45
"""A name is an adjective if it precedes a noun in at least this number of places, and in more than this share of them."""

WORDS = 4.0
"""Log odds of a definition of the abbreviation in the text: more than any fact."""


def resolve(
    pairs: Pairs, dictionary: Dictionary, usage: Usage, tables: Mapping[str, pa.Table], settings: LinkingSettings, *,
    marked: Spans | None = None,
) -> tuple[Spans, dict[str, int]]:  # fmt: skip
    """The mentions, ordered by place, and the number of places that each rule removed.

    ``marked``: mentions of the source, without overlap, ordered by document and start. They teach how often a name means an entity.
    """
    heads, tails, subject = _rows(tables)
    # The degree stands for how well known an entity is.
    count = tables["entities"].num_rows
    degree = np.bincount(heads, minlength=count) + np.bincount(tails, minlength=count)
    name_measures = measures(dictionary, usage, degree, settings)
    entity = dictionary.names["entity"].cast(pl.Int32).to_numpy()
    texts = tables["documents"]["text"]
    name, beside, nouns = _beside_names(
        pairs.document, pairs.start, pairs.end, pairs.entry, pairs.context, pairs.bounds, dictionary.name, dictionary.cut, len(entity)
    )
    is_adjective = _adjectives(pairs, name, beside, nouns, dictionary, name_measures, texts)
    verdict = _verdicts(pairs, name, dictionary, frame(tables["documents"].select(["text"]))["text"])
    certain = _certain(pairs.bounds, name, beside, verdict, *_certain_contexts(name_measures, is_adjective))
    context = surroundings_of(
        pairs.document[certain], pairs.entity[certain], name[certain], subject=subject, heads=heads, tails=tails, count=count
    )
    level = levels(pairs.document, pairs.entity, name, context)
    # Support is weighed on names of several words: one word may mean something else even where it looks certain.
    examples = certain[~name_measures.single[name[certain]]]
    bucket = buckets_of(entity, name_measures.common, context)
    worth = ratios_of_levels(pairs.document[examples], pairs.entity[examples], name[examples], level[examples], bucket, context)
    features = name_measures.features.copy()
    features[:, list(START).index("adjective")] = is_adjective
    source_marks = np.zeros(len(name), np.int8) if marked is None else verdicts_of(marked, pairs)
    evidence, number = distinct_evidence(pairs.bounds, beside, name, level, verdict, source_marks)
    estimates = estimated(
        evidence,
        features,
        name_measures.start,
        start_beside(),
        odds=np.exp(_worth(worth)),
        row=bucket + len(worth) * is_adjective,
        sort=np.select([is_adjective, name_measures.noun, name_measures.single], [ADJECTIVE, COMMON_NOUN, ONE], SEVERAL),
        most=shares(verdict, pairs.document, name, len(features)),
    )
    has_weaker_claim = features[:, list(START).index("another has more claim")] > 0
    has_weaker_claim[evidence.name[evidence.marked != 0]] = False  # the source says which entity the name means
    traits = NameTraits(
        entity=entity,
        has_weaker_claim=has_weaker_claim,
        is_everyday=name_measures.everyday,
        has_case=has_case(dictionary.names["name"]).to_numpy(),
    )
    return decided(pairs, evidence, number, estimates, traits, subject, settings)


def has_case(names: pl.Series) -> pl.Series:
    """Whether each name has letters of a script with capitals; only then does a small letter mean anything."""
    return names.str.to_lowercase() != names.str.to_uppercase()


def _worth(ratios: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The log ratio for each verdict of the document, row of a name and level; the second half of the rows is for adjectives."""
    # A text about Sweden would support the Swedish language at every "Swedish".
    of_adjectives = ratios.copy()
    of_adjectives[:, :SUBJECT] = np.minimum(ratios[:, :SUBJECT], 0.0)
    silent = np.concatenate([ratios, of_adjectives])
    # A text that spells the abbreviation out decides, whatever the facts say.
    return np.stack([np.full_like(silent, -WORDS), silent, np.maximum(silent, WORDS)])


def _verdicts(pairs: Pairs, name: npt.NDArray[np.int32], dictionary: Dictionary, texts: pl.Series) -> npt.NDArray[np.int8]:
    """The documents' verdicts on abbreviations; int8, one per pair."""
    out = np.zeros(len(name), np.int8)
    # Only documents with a definition have verdicts.
    documents = np.unique(pairs.document[pairs.defined])
    begins, ends = (np.searchsorted(pairs.document, documents, side) for side in ("left", "right"))
    rows = spread(begins, ends - begins)
    place = np.searchsorted(pairs.bounds, rows, "right")
    table = pl.DataFrame({"document": pairs.document[rows], "place": place, "entity": pairs.entity[rows], "name": name[rows]})
    defined = np.searchsorted(rows, pairs.defined)
    out[rows] = verdicts(defined, pairs.words, table, dictionary.names.select(pl.col("entity").cast(pl.Int32), "name"), texts)
    return out


@kernel
def _beside_names(document, start, end, entry, context, bounds, name_of, cut, names):  # type: ignore[no-untyped-def]
    """The name of each pair; the context of each place; for each of ``names`` its places with a capital, and those of them before a noun.

    A capitalised word after a place counts as a name if another place begins there, unless it is a common noun: a common noun with a
    capital extends the name even if it is a name itself ("Colchester County"). O(pairs).
    """
    name, beside = np.empty(len(entry), np.int32), np.empty(len(bounds) - 1, np.uint8)
    nouns = np.zeros((names, 2), np.int32)
    for place in range(len(bounds) - 1):
        first, last = bounds[place], bounds[place + 1]
        code = context[first]
        class_after, letter = code // SIDES % SIDES, code // (SIDES * SIDES)
        is_followed = last < len(entry) and document[last] == document[first] and end[first] + cut[entry[first]] + 1 == start[last]
        if class_after == PROPER_CAPITAL and is_followed:
            code += SIDES * (NAME - PROPER_CAPITAL)
        beside[place] = code
        for i in range(first, last):
            name[i] = name_of[entry[i]]
            if letter != SMALL:
                nouns[name[i], 0] += 1
                nouns[name[i], 1] += class_after == NOUN
    return name, beside, nouns


def _adjectives(
    pairs: Pairs,
    name: npt.NDArray[np.int32],
    beside: npt.NDArray[np.uint8],
    nouns: npt.NDArray[np.int32],
    dictionary: Dictionary,
    name_measures: Measures,
    texts: pa.ChunkedArray,
) -> npt.NDArray[np.bool_]:
    """Names of one word that are an adjective of a place, or precede different nouns as often as adjectives do; mask over names."""
    counts, noun_counts = nouns.T
    is_frequent = (noun_counts >= SEEN) & (noun_counts > ATTRIBUTIVE * counts)
    _, class_after, letter = parts(np.arange(CONTEXTS, dtype=np.int32))
    before_noun = (letter != SMALL) & (class_after == NOUN)
    places = np.flatnonzero(before_noun[beside])
    rows = spread(pairs.bounds[places], pairs.bounds[places + 1] - pairs.bounds[places])
    rows = rows[is_frequent[name[rows]]]
    words = _words_at(*text_buffers(texts), pairs.document[rows], pairs.end[rows] + dictionary.cut[pairs.entry[rows]] + 1)
    next_words = pl.DataFrame({"name": name[rows], "word": words})
    # "the Aisne department" always has the same noun, so "Aisne" is no adjective.
    top_words = next_words.group_by("name", "word").len().group_by("name").agg(pl.col("len").max())
    is_frequent[top_words["name"].to_numpy()] &= 2 * top_words["len"].to_numpy() < noun_counts[top_words["name"].to_numpy()]
    return name_measures.single & ~name_measures.common & (is_frequent | (name_measures.features[:, list(START).index("adjective")] > 0))  # type: ignore[no-any-return]


@kernel
def _words_at(data, offsets, documents, starts):  # type: ignore[no-untyped-def]
    """A hash of the characters from each of ``starts`` (in characters, ascending in a document) to the next space, twelve at most.

    >>> data, offsets = np.frombuffer("é red or red".encode(), np.uint8), np.array([0, 13])
    >>> hashes = _words_at(data, offsets, np.zeros(3, np.int32), np.array([2, 6, 9], np.int32))
    >>> len(set(hashes.tolist())), int(np.sum(hashes == hashes[0]))
    (2, 2)
    """
    out = np.empty(len(documents), np.uint64)
    at, character = np.int64(0), np.int64(0)
    for i in range(len(documents)):
        if i == 0 or documents[i] != documents[i - 1] or starts[i] < character:
            at, character = offsets[documents[i]], np.int64(0)
        end = offsets[documents[i] + 1]
        while character < starts[i] and at < end:
            _, at = decode(data, at)
            character += 1
        code, next_at = HASH_START, at
        for _ in range(12):
            if next_at >= end:
                break
            letter, next_at = decode(data, next_at)
            if is_space(letter):
                break
            code = (code ^ np.uint64(letter)) * HASH_PRIME
        out[i] = mixed(code)
    return out


def _rows(tables: Mapping[str, pa.Table]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Entity rows of the facts' heads and tails, and of each document's subject (-1: none)."""
    ids = tables["entities"]["id"]
    no_ids = pa.chunked_array([], pa.string())
    columns = [*(tables["facts"][name] if "facts" in tables else no_ids for name in ("head", "tail")), tables["documents"]["about"]]
    # All at once, because each search would build its own hash table of the ids.
    values = pa.chunked_array([chunk for column in columns for chunk in column.cast(ids.type).chunks], ids.type)
    rows: npt.NDArray[np.int32] = pc.index_in(values, ids, skip_nulls=True).fill_null(-1).to_numpy()
    heads, tails, subject = np.split(rows, np.cumsum([len(column) for column in columns[:-1]]))
    has_both = (heads >= 0) & (tails >= 0)
    return heads[has_both], tails[has_both], subject


def _certain_contexts(name_measures: Measures, is_adjective: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.int8]]:
    """The contexts in which the place of a name needs no disambiguation (sorts × contexts), and the sort of each name; -1: never.

    The name is no ordinary word and belongs to one entity, and no neighbour extends it.
    """
    class_before, class_after, letter = parts(np.arange(CONTEXTS, dtype=np.int32))
    # A common noun in lower case does not extend a name: "the Berlin office".
    class_after = np.where(class_after == NOUN, ALONE, class_after)
    has_no_neighbour = (class_before == ALONE) & (class_after == ALONE)
    between_names = ((class_before == ALONE) | (class_before == NAME)) & ((class_after == ALONE) | (class_after == NAME))
    several, one = has_no_neighbour | between_names, has_no_neighbour & ((letter == CAPITAL) | (letter == SMALL))
    contexts = np.stack([several, one, one & (letter == CAPITAL)])
    is_likely = name_measures.features @ name_measures.start > 1.5
    may_be = name_measures.proper & name_measures.unique & is_likely & ~is_adjective
    sort = np.where(may_be, name_measures.single * (1 + name_measures.everyday.astype(np.int8)), -1)
    return contexts, sort.astype(np.int8)


@kernel
def _certain(bounds, name, beside, verdict, contexts, sort):  # type: ignore[no-untyped-def]
    """The rows, ascending, of places with a single entity that need no disambiguation. O(places)."""
    out, count = np.empty(len(beside), np.int32), 0
    for place in range(len(beside)):
        row = bounds[place]
        own_sort = sort[name[row]]
        if bounds[place + 1] - row == 1 and own_sort >= 0 and contexts[own_sort, beside[place]] and verdict[row] != CONTRADICTED:
            out[count] = row
            count += 1
    return out[:count].copy()
