"""Disambiguation: (place, entity) pairs → mentions; each place gets its most probable entity, if that is probable enough."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from kgqa.arrays.kernel import kernel
from kgqa.linking.annotations import verdicts_of
from kgqa.linking.belief import ADJECTIVE, COMMON_NOUN, ONE, SEVERAL, Places, beliefs, kinds_of, start_beside, worth_of_levels
from kgqa.linking.definitions import CONTRADICTED, DEFINED, shares, verdicts
from kgqa.linking.dictionary import Dictionary
from kgqa.linking.matcher import Pairs, Spans
from kgqa.linking.measures import START, Measures, measures
from kgqa.linking.support import SUBJECT, levels, surroundings_of
from kgqa.linking.surroundings import ALONE, CAPITAL, COMPOUND, HEAD_NOUN, NAME, NOUN, PROPER_CAPITAL, SMALL, joined, parts
from kgqa.linking.usage import Usage
from kgqa.settings.linking import LinkingSettings
from kgqa.sources.tables import frame

SEEN, ATTRIBUTIVE = 5, 0.45
"""A name is an adjective if it precedes a noun in at least this number of places, and in more than this share of them."""

MARGIN = 1.25
"""Minimum ratio of an entity's probability to that of the next entity with the same name."""
CLAIMED = 20.0
"""The same ratio where another entity has a better claim to the name, such as a modern state over its predecessors."""
WORDS = 4.0
"""Log odds of a definition of the abbreviation in the text: more than any fact."""
FEW = 20
"""Number of documents that any word may link before it counts as a hub."""

WIDER = 10
"""Factor on the number of documents for words other than everyday ones."""
SELDOM = 0.01
"""Maximum share of a hub's documents where a fact joins it to the subject: 0.2% for months, but 1.3% for France."""

PLACE_RULES = {
    "shared name": "the name there belongs to several entities, and none of them is probable enough (linking.belief)",
    "doubtful": "the words there probably mean something else than the entity (linking.belief)",
    "longer name": "the name stands before the last word of other entities' names, or is the part of a compound (linking.head_nouns)",
    "everyday bridge": "the word is common and in many documents, or it is in very many whose subjects it has nothing to do with, and no "
    "fact joins its entity to this one's (linking.hubs)",
}
"""Rule → the sentence that the funnel shows."""


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
    name = dictionary.name[pairs.entry].astype(np.int64)
    stop = pairs.end + dictionary.cut[pairs.entry]
    class_before, class_after, letter = _beside_names(pairs, stop)
    is_adjective = _adjectives(pairs, stop, name, class_after, letter, name_measures, frame(tables["documents"])["text"])
    texts = frame(tables["documents"])["text"]
    verdict = _verdicts(pairs, name, dictionary, texts)
    is_certain = _certain(pairs, name, name_measures, class_before, class_after, letter) & ~is_adjective[name] & (verdict != CONTRADICTED)
    context = surroundings_of(
        pairs.document[is_certain],
        pairs.entity[is_certain],
        name[is_certain].astype(np.int32),
        subject=subject,
        heads=heads,
        tails=tails,
        count=count,
    )
    entry = name.astype(np.int32)
    level = levels(pairs.document, pairs.entity, entry, context)
    # Support is weighed on names of several words: one word may mean something else even where it looks certain.
    is_example = is_certain & ~name_measures.single[name]
    worth = worth_of_levels(pairs.document, pairs.entity, entry, level, is_example, name_measures.common[name], context)
    # A text about Sweden would support the Swedish language at every "Swedish".
    worth = np.where(is_adjective[name] & (level < SUBJECT), np.minimum(worth, 0.0), worth)
    # A text that spells the abbreviation out decides, whatever the facts say.
    worth = np.select([verdict == CONTRADICTED, verdict == DEFINED], [-WORDS, np.maximum(worth, WORDS)], worth)
    sort = np.select([is_adjective, name_measures.noun, name_measures.single], [ADJECTIVE, COMMON_NOUN, ONE], SEVERAL)
    kind = kinds_of(joined(class_before, class_after, letter), sort[name])
    features = name_measures.features.copy()
    features[:, list(START).index("adjective")] = is_adjective
    verdict_of_source = np.zeros(len(entry), np.int8) if marked is None else verdicts_of(marked, pairs)
    places = Places(
        place=pairs.place, entry=entry, odds=np.exp(worth), kind=kind, most=shares(verdict, pairs.document, name, len(features)),
        marked=verdict_of_source,
    )  # fmt: skip
    belief = beliefs(places, features, name_measures.start, start_beside())
    has_weaker_claim = features[:, list(START).index("another has more claim")] > 0
    has_weaker_claim[entry[verdict_of_source != 0]] = False  # the source says which entity the name means
    # In a script without case a small letter says nothing, so it must not count as an everyday word.
    is_lower = (letter == SMALL) & has_case(dictionary.names["name"]).to_numpy()[name]
    return _decided(
        pairs, belief, level, (class_before, class_after, is_lower), name_measures.everyday[name], has_weaker_claim[name], subject, settings
    )


def has_case(names: pl.Series) -> pl.Series:
    """Whether each name has letters of a script with capitals; only then does a small letter mean anything."""
    return names.str.to_lowercase() != names.str.to_uppercase()


def _verdicts(pairs: Pairs, name: npt.NDArray[np.int64], dictionary: Dictionary, texts: pl.Series) -> npt.NDArray[np.int8]:
    """The documents' verdicts on abbreviations; int8, one per pair."""
    table = pl.DataFrame({"document": pairs.document, "place": pairs.place, "entity": pairs.entity, "name": name.astype(np.int32)})
    return verdicts(pairs.defined, pairs.words, table, dictionary.names.select(pl.col("entity").cast(pl.Int32), "name"), texts)


def _adjectives(
    pairs: Pairs,
    stop: npt.NDArray[np.int32],
    name: npt.NDArray[np.int64],
    class_after: npt.NDArray[np.int32],
    letter: npt.NDArray[np.int32],
    name_measures: Measures,
    texts: pl.Series,
) -> npt.NDArray[np.bool_]:
    """Names of one word that are an adjective of a place, or precede different nouns as often as adjectives do; mask over names."""
    names = len(name_measures.single)
    is_capital = letter != SMALL
    before_noun = is_capital & (class_after == NOUN)
    counts = np.bincount(name[is_capital], minlength=names)
    noun_counts = np.bincount(name[before_noun], minlength=names)
    is_frequent = (noun_counts >= SEEN) & (noun_counts > ATTRIBUTIVE * counts)
    rows = np.flatnonzero(before_noun & is_frequent[name])
    next_words = pl.DataFrame({"name": name[rows], "end": stop[rows], "text": texts.gather(pairs.document[rows])})
    next_words = next_words.select("name", word=pl.col("text").str.slice(pl.col("end") + 1, 12).str.extract(r"^(\S+)"))
    # "the Aisne department" always has the same noun, so "Aisne" is no adjective.
    top_words = next_words.group_by("name", "word").len().group_by("name").agg(pl.col("len").max())
    is_frequent[top_words["name"].to_numpy()] &= 2 * top_words["len"].to_numpy() < noun_counts[top_words["name"].to_numpy()]
    return name_measures.single & ~name_measures.common & (is_frequent | (name_measures.features[:, list(START).index("adjective")] > 0))


def _rows(tables: Mapping[str, pa.Table]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Entity rows of the facts' heads and tails, and of each document's subject (-1: none)."""
    ids = tables["entities"]["id"]
    no_ids = pa.chunked_array([], pa.string())
    heads, tails = (_numbers(tables["facts"][name] if "facts" in tables else no_ids, ids) for name in ("head", "tail"))
    has_both = (heads >= 0) & (tails >= 0)
    return heads[has_both], tails[has_both], _numbers(tables["documents"]["about"], ids)


def _numbers(values: pa.ChunkedArray, ids: pa.ChunkedArray) -> npt.NDArray[np.int32]:
    """The row of each value in ``ids``, or -1."""
    rows: npt.NDArray[np.int32] = pc.index_in(values.cast(ids.type), ids, skip_nulls=True).fill_null(-1).to_numpy()
    return rows


def _beside_names(pairs: Pairs, stop: npt.NDArray[np.int32]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The three parts of the contexts; ``stop``: end of the last word of each place.

    A capitalised word after a place counts as a name if another place begins there, unless it is a common noun.
    """
    class_before, class_after, letter = parts(pairs.context)
    place_starts = np.flatnonzero(np.diff(pairs.place, prepend=-1))
    has_next = np.zeros(len(place_starts), np.bool_)
    has_next[:-1] = (pairs.document[place_starts[:-1]] == pairs.document[place_starts[1:]]) & (
        stop[place_starts[:-1]] + 1 == pairs.start[place_starts[1:]]
    )
    # A common noun with a capital extends the name even if it is a name itself: "Colchester County".
    return class_before, np.where((class_after == PROPER_CAPITAL) & has_next[pairs.place], NAME, class_after).astype(np.int32), letter


def _certain(
    pairs: Pairs,
    name: npt.NDArray[np.int64],
    name_measures: Measures,
    class_before: npt.NDArray[np.int32],
    class_after: npt.NDArray[np.int32],
    letter: npt.NDArray[np.int32],
) -> npt.NDArray[np.bool_]:
    """Places that need no disambiguation: one entity, a name that is no ordinary word, and no neighbour that extends it."""
    # A common noun in lower case does not extend a name: "the Berlin office".
    class_after = np.where(class_after == NOUN, ALONE, class_after)
    has_no_neighbour = (class_before == ALONE) & (class_after == ALONE)
    has_no_extension = has_no_neighbour | (
        ~name_measures.single[name] & ((class_before == ALONE) | (class_before == NAME)) & ((class_after == ALONE) | (class_after == NAME))
    )
    is_likely = name_measures.features @ name_measures.start > 1.5
    has_name_case = ~name_measures.single[name] | (letter == CAPITAL) | ((letter == SMALL) & ~name_measures.everyday[name])
    is_only_entity = np.bincount(pairs.place, minlength=1)[pairs.place] == 1
    return has_no_extension & has_name_case & is_only_entity & name_measures.proper[name] & name_measures.unique[name] & is_likely[name]


def _decided(
    pairs: Pairs,
    belief: npt.NDArray[np.float64],
    level: npt.NDArray[np.uint8],
    neighbours: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.bool_]],
    is_everyday: npt.NDArray[np.bool_],
    has_weaker_claim: npt.NDArray[np.bool_],
    subject: npt.NDArray[np.int32],
    settings: LinkingSettings,
) -> tuple[Spans, dict[str, int]]:
    """The most probable entity of each place, unless a rule removes it; ``neighbours``: before, after, and whether in lower case."""
    place_starts = np.flatnonzero(np.diff(pairs.place, prepend=-1))
    top_belief = np.maximum.reduceat(belief, place_starts)
    top = np.flatnonzero(belief == top_belief[pairs.place])  # the better claim comes first and so wins a tie
    best = top[np.diff(pairs.place[top], prepend=-1) > 0]
    has_rivals = np.bincount(pairs.place, minlength=len(best))[pairs.place[best]] > 1
    class_before, class_after, is_lower = neighbours[0][best], neighbours[1][best], neighbours[2][best]
    entity = pairs.entity[best]
    # The second-best belief of each place: take the best one out, then take the maximum again.
    runners_up = belief.copy()
    runners_up[best] = 0.0
    is_close = np.where(has_weaker_claim[best], CLAIMED, MARGIN) * np.maximum.reduceat(runners_up, place_starts) > belief[best]
    is_weak = (belief[best] < settings.belief) | is_close
    is_part = settings.head_nouns & ((class_after == HEAD_NOUN) | (class_before == COMPOUND))
    hub_size = max(settings.hubs * len(subject), FEW)
    bridges = _bridges_anything(
        entity, pairs.document[best], level[best] >= SUBJECT, is_lower, is_everyday[best], ~is_weak & ~is_part, subject, hub_size
    )
    # A place counts for one reason only, so that the funnel adds up: parts of longer names first, then weak beliefs.
    reasons = {
        "longer name": is_part,
        "shared name": is_weak & has_rivals & ~is_part,
        "doubtful": is_weak & ~has_rivals & ~is_part,
        "everyday bridge": bridges & (settings.hubs < 1),
    }
    winners = best[~np.logical_or.reduce(list(reasons.values()))]
    spans = Spans(document=pairs.document[winners], start=pairs.start[winners], end=pairs.end[winners], entity=pairs.entity[winners])
    return spans, {rule: int(reasons[rule].sum()) for rule in PLACE_RULES}


@kernel
def _documents(entity, document, mask, count):  # type: ignore[no-untyped-def]
    """For each of ``count`` entities the number of documents with one of its mentions that are ``mask``; ``document`` ascending.

    >>> mask = np.array([True, True, True, False])
    >>> _documents(np.array([0, 0, 1, 1], np.int32), np.array([0, 0, 0, 1], np.int32), mask, 2).tolist()
    [1, 1]
    """
    number = np.zeros(count, np.int64)
    last_document = np.full(count, -1, np.int32)
    for i in range(len(entity)):
        if mask[i] and last_document[entity[i]] != document[i]:
            last_document[entity[i]] = document[i]
            number[entity[i]] += 1
    return number


def _bridges_anything(
    entity: npt.NDArray[np.int32],
    document: npt.NDArray[np.int32],
    to_subject: npt.NDArray[np.bool_],
    is_lower: npt.NDArray[np.bool_],
    is_everyday: npt.NDArray[np.bool_],
    is_mention: npt.NDArray[np.bool_],
    subject: npt.NDArray[np.int32],
    hub_size: float,
) -> npt.NDArray[np.bool_]:
    """Mask over mentions of hubs, which join unrelated documents; ``hub_size``: number of documents that is still harmless.

    A hub is an everyday word in lower case in more than ``hub_size`` documents. If subjects are known, it is also any entity in ten times
    as many documents that facts rarely join to their subjects, such as a month. In the second case, a fact that joins it to this document's
    subject makes an exception, unless it is in lower case. No fact makes one for a common word: "the world's oldest" never means the Earth.
    """
    count = int(entity.max(initial=-1)) + 1
    # Documents are counted, not mentions: a hub matters because it joins many documents.
    counts = _documents(entity, document, is_mention, count)
    # An entity's own article does not show that the entity is related to subjects.
    subject_counts = _documents(entity, document, is_mention & to_subject & (subject[document] != entity), count)
    everywhere = (counts > WIDER * hub_size) & (subject_counts < SELDOM * counts) & (subject_counts.sum() > SELDOM * counts.sum())
    is_word = is_lower & is_everyday & (counts > hub_size)[entity]
    return is_mention & (is_word | (everywhere[entity] & (is_lower | ~to_subject)))
