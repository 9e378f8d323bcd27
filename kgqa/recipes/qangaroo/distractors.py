"""Selects the distractors of queries about paths: plausible wrong answers that cannot be true as well.

A good distractor has the answer's type, is related to the topic of the subject's article, and is reached over other entities of that
article. It is removed if facts or texts may make it true.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kgqa.arrays.column_draws import shuffling
from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import Adjacency, IntArray, Offsets, Rows, distinct, find, paired, row_bounds
from kgqa.arrays.search import count_shared, row_holds
from kgqa.recipes.qangaroo.corpus import Places, first_mentions
from kgqa.recipes.qangaroo.rejected import traverse_row
from kgqa.recipes.qangaroo.samples import CHAINS, Samples
from kgqa.recipes.qangaroo.topics import Topics
from kgqa.recipes.qangaroo.types import Types
from kgqa.runs.funnel import FunnelRow
from kgqa.settings.qangaroo import PathSettings

TOPICAL = 6
"""Weight of the topical similarity between a candidate and the subject's article; a mention in the answer's document has weight 1."""
HEARSAY = 7
"""Maximum number of documents counted that mention both a candidate and the bridge."""
HOPS = np.dtype([(name, np.int32) for name in ("subject", "document", "first", "bridge", "answer_document", "second", "answer")])
"""The chain to an answer (rows of entities and documents in turn), and the roles of its two hops, ``first`` and ``second``."""
Hops = npt.NDArray[np.void]
AT_ONCE = 1 << 16
"""Samples whose rivals are looked for at once."""
TRUE_TOO = (
    "facts or texts join the candidate to a possible bridge, or it is a part or whole of the answer or listed with it: it may be true"
)
UNLIKE = "the candidate's type differs from the answer's"
MANY = "the sample has enough candidates that are nearer to the answer's chain or more like the answer"


@dataclass(frozen=True, slots=True, kw_only=True)
class OneObject:
    """Whether the two relations of each query usually have one object per subject."""

    first: npt.NDArray[np.bool_]
    second: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Distractors:
    """Selects distractors by mentions, types and topics."""

    possible: Adjacency
    """Entity → the entities that a fact, or a statement that may be true, joins to it."""
    linked: Adjacency
    """Document → entities that it mentions; ``mentioning`` is the reverse."""
    mentioning: Adjacency
    articles: IntArray
    """Entity → row of the document about it, or -1."""
    ranks: Ranks
    types: Types
    topics: Topics
    settings: PathSettings

    def dropped(
        self, samples: Samples, hops: Hops, bridges: Rows, objects: Adjacency, usually_one: OneObject, may_be_true: npt.NDArray[np.bool_]
    ) -> tuple[npt.NDArray[np.bool_], list[FunnelRow]]:
        """For each entry of ``candidates.targets`` whether it is dropped, and the funnel rows.

        - ``bridges``: the possible bridges of each sample.
        - ``objects``: sample → the entities that may be objects of the bridge and the second relation.
        - ``usually_one``: whether each relation of each sample usually has one object.
        - ``may_be_true``: whether each candidate may be true for another reason (:mod:`kgqa.recipes.qangaroo.false_negatives`).

        A candidate is dropped if it may be true, if its type differs from the answer's, or if ``settings.candidates`` others are better
        (:meth:`_lure`). It may be true if

        - it is in ``may_be_true``;
        - a fact or statement joins it to a possible bridge. If the second relation usually has one object, this does not concern the
          query's own bridge: there, the candidate must be among ``objects``;
        - the first relation usually has several objects, and the article about another possible bridge mentions it.
        """
        sample, answer = samples.question_of_candidate(), samples.is_answer()
        target, bounds = samples.candidates.targets, samples.candidates.offsets
        query = bridges.sources()
        any_relation = bridges.keep((bridges.targets != hops["bridge"][query]) | ~usually_one.second[query])
        true_too = _joined_to(bounds, target, any_relation.offsets, any_relation.targets, self.possible.offsets, self.possible.targets)
        true_too |= objects.contains(sample, target) | may_be_true
        offsets, other_articles = _articles_of_others(bridges, hops["bridge"], self.articles)
        in_other_article = _joined_to(bounds, target, offsets, other_articles, self.linked.offsets, self.linked.targets)
        true_too |= in_other_article & ~usually_one.first[sample]
        true_too &= ~answer
        likeness = self.types.alike(target, samples.questions.answer[sample])
        unlike = ~answer & ~true_too & (likeness < self.settings.alike)
        # Rank the remaining candidates of each sample: the answer first, then by lure, similarity of type in tenths, and hash.
        is_left = answer | ~(true_too | unlike)
        draws = shuffling(samples.questions.id[sample], target, purpose="distractors")
        order = np.lexsort((draws, -np.round(likeness, 1), -self._lure(samples, hops), ~answer, ~is_left, sample))
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order)) - bounds[sample[order]]
        is_surplus = is_left & (rank >= self.settings.candidates)
        rows = [
            traverse_row("candidates", TRUE_TOO, "qangaroo.paths", removed=int(true_too.sum())),
            traverse_row("candidates", UNLIKE, "qangaroo.paths.alike", removed=int(unlike.sum())),
            traverse_row("candidates", MANY, "qangaroo.paths.candidates", removed=int(is_surplus.sum())),
        ]
        return true_too | unlike | is_surplus, rows

    def _lure(self, samples: Samples, hops: Hops) -> npt.NDArray[np.float64]:
        """For each candidate a score for how well it misleads a reader that takes shortcuts, as a sum of these terms:

        - 3 if the article about an earlier entity of the subject's document mentions it (:func:`over_earlier`);
        - 3 if the answer's document mentions it, and 1 if the subject's document does;
        - ``TOPICAL`` times its topical similarity to the subject's document;
        - up to 3 for documents that mention it together with the bridge;
        - 1 if it answers another query over the same last document, and 1 if it answers another query about the same path.
        """
        sample, target = samples.question_of_candidate(), samples.candidates.targets
        document, last_document, bridge = (hops[name][sample] for name in ("document", "answer_document", "bridge"))
        topical = self.topics.alike(target, document)
        near = 3 * self.linked.contains(last_document, target) + self.linked.contains(document, target)
        co_mention_scores = np.log2(1 + np.minimum(named_together(self.mentioning, bridge, target, HEARSAY), HEARSAY))
        # Answers to other queries over the same last document or about the same path: frequency points at them as well.
        documents = samples.nodes.targets[samples.nodes.offsets[1:] - 2]
        of_document = distinct(paired(hops["answer_document"], samples.questions.answer))
        of_path = distinct(paired(samples.questions.relation, samples.questions.answer))
        rival = (find(of_document, paired(documents, target)) >= 0).astype(np.int64)
        rival += find(of_path, paired(samples.questions.relation[sample], target)) >= 0
        earlier = over_earlier(samples, hops, self.linked, self.ranks, self.articles) >= 0
        return np.round(3 * earlier + TOPICAL * topical + near + co_mention_scores + rival, 6)


def _articles_of_others(bridges: Rows, bridge: IntArray, articles: IntArray) -> tuple[Offsets, IntArray]:
    """The articles about the other possible bridges of each query, as offsets and documents; bridges without an article are left out."""
    query, article = bridges.sources(), articles[bridges.targets]
    mask = (bridges.targets != bridge[query]) & (article >= 0)
    return row_bounds(query[mask], len(bridge)), article[mask]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rivals:
    """Distractors that mislead a reader who looks for a candidate of the answer's type instead of reading, one entry each, by sample.

    They are in the answer's document, or in the articles of entities that the subject's article mentions before the bridge. They need not
    be objects of the query's last relation, but have the answer's type.
    """

    sample: IntArray
    via: IntArray
    """The bridge, or an earlier entity of the subject's document."""
    document: IntArray
    """The document about ``via`` that mentions the rival."""
    entity: IntArray

    @classmethod
    def of(
        cls, samples: Samples, hops: Hops, usually_one: OneObject, links: Adjacency, ranks: Ranks, articles: IntArray, types: Types,
        expressions: IntArray, settings: PathSettings,
    ) -> Rivals:  # fmt: skip
        """At most ``settings.rivals`` for each sample from earlier entities, and as many from the answer's document.

        The first ones are those over the earliest entities, then those most like the answer. Only samples whose second relation usually has
        one object have rivals in the answer's document: elsewhere they may be right, too. ``expressions`` numbers the names of entities: a
        namesake of the bridge is no rival.

        O(entities that the articles of earlier entities mention). Memory: 40 bytes for each of them, of ``AT_ONCE`` samples.
        """
        columns = [np.zeros((4, 0), np.int32)]
        for first in range(0, len(samples), AT_ONCE):
            rows = slice(first, first + AT_ONCE)
            ids, part = samples.questions.id[rows], hops[rows]
            earlier = _earlier_places(part, links, ranks, articles)
            sample = np.flatnonzero(usually_one.second[rows]).astype(np.int32)
            beside = np.stack([sample, part["bridge"][sample], part["answer_document"][sample], np.zeros_like(sample)])
            for places in (earlier, beside):
                rivals = _rivals(ids, part, places, links, types, expressions, settings)
                rivals[0] += first
                columns.append(rivals)
        merged = np.concatenate(columns, axis=1)
        merged = merged[:, np.sort(np.unique(paired(merged[0], merged[3]), return_index=True)[1])]  # each rival once
        sample, via, document, entity = merged[:, np.argsort(merged[0], kind="stable")]
        return cls(sample=sample, via=via, document=document, entity=entity)


def _earlier_places(hops: Hops, links: Adjacency, ranks: Ranks, articles: IntArray) -> npt.NDArray[np.int32]:
    """``sample, via, document, rank`` of earlier entities whose articles do not mention the answer (4 × places)."""
    sample, earlier = _earlier_entities(hops, links, ranks, articles)
    is_other = ~links.contains(articles[earlier], hops["answer"][sample])
    sample, earlier = sample[is_other], earlier[is_other]
    rank = ranks.of(hops["document"][sample], earlier)
    return np.stack([sample, earlier, articles[earlier], rank]).astype(np.int32)


def _rivals(
    ids: npt.NDArray[np.uint64], hops: Hops, places: npt.NDArray[np.int32], links: Adjacency, types: Types, expressions: IntArray,
    settings: PathSettings,
) -> npt.NDArray[np.int32]:  # fmt: skip
    """The columns of :class:`Rivals` (4 × rivals) for some samples with these ``ids``.

    ``places`` has ``sample, via, document, rank``: the documents that may mention rivals.
    """
    mentioned = links.take(places[2])
    (sample, via, document, rank), entity = places[:, mentioned.sources()], mentioned.targets
    likeness = types.alike(entity, hops["answer"][sample])
    is_rival = (likeness >= settings.alike) & (entity != via)
    for name in ("answer", "subject"):
        is_rival &= entity != hops[name][sample]
    is_rival &= expressions[entity] != expressions[hops["bridge"][sample]]
    sample, via, document, rank, entity, likeness = (x[is_rival] for x in (sample, via, document, rank, entity, likeness))
    draws = shuffling(ids[sample], entity, purpose="rivals")
    order = np.lexsort((draws, -np.round(likeness, 1), rank, sample))
    order = order[np.sort(np.unique(paired(sample, entity)[order], return_index=True)[1])]  # each entity once, over the earliest
    place = np.arange(len(order)) - row_bounds(sample[order], len(ids))[sample[order]]
    order = order[place < settings.rivals]
    return np.stack([sample[order], via[order], document[order], entity[order]]).astype(np.int32)


def with_rivals(samples: Samples, rivals: Rivals, hops: Hops) -> Samples:
    """The same samples with the ``rivals`` as candidates, each with a chain over its ``via`` instead of any other."""
    is_replaced = (
        find(np.sort(paired(rivals.sample, rivals.entity)), paired(samples.question_of_candidate(), samples.candidates.targets)) >= 0
    )
    remaining = samples.without_candidates(is_replaced)
    sample = np.concatenate([remaining.question_of_candidate(), rivals.sample])
    entity = np.concatenate([remaining.candidates.targets, rivals.entity])
    subject, document = hops["subject"][rivals.sample], hops["document"][rivals.sample]
    chains = np.stack([subject, document, rivals.via, rivals.document, rivals.entity], axis=1).astype(np.int32)
    assert (remaining.chains.counts() == 1).all(), "each candidate has the chain of the breadth-first tree"
    lengths = np.concatenate([remaining.nodes.counts(), np.full(len(chains), chains.shape[1])])
    nodes = Rows.from_counts(lengths, np.concatenate([remaining.nodes.targets, chains.ravel()]))
    order = np.lexsort((entity, sample))
    counts = np.bincount(sample, minlength=len(samples))
    return Samples(
        questions=samples.questions, candidates=Rows.from_counts(counts, entity[order]),
        chains=Rows.numbering(np.ones(len(order), np.int64), *CHAINS), nodes=nodes.take(order), documents=samples.documents,
    ).with_documents()  # fmt: skip


def _earlier_entities(hops: Hops, links: Adjacency, ranks: Ranks, articles: IntArray) -> tuple[IntArray, IntArray]:
    """Sample and entity, for each entity with an article that the subject's document mentions before the bridge, in this order."""
    document = hops["document"]
    rows = links.take(document)
    sample, entity = rows.sources(), rows.targets
    rank = ranks.of(document[sample], entity)
    is_earlier = (rank >= 0) & (rank < ranks.of(document, hops["bridge"])[sample]) & (entity != hops["subject"][sample])
    is_earlier &= articles[entity] != document[sample]
    order = np.lexsort((rank, sample))
    order = order[is_earlier[order]]
    return sample[order], entity[order]


def over_earlier(samples: Samples, hops: Hops, links: Adjacency, ranks: Ranks, articles: IntArray) -> IntArray:
    """For each candidate the first entity in the subject's document, before the bridge, whose article mentions the candidate; or -1."""
    sample, entity = _earlier_entities(hops, links, ranks, articles)
    return _over_earlier(
        samples.candidates.offsets,
        samples.candidates.targets,
        row_bounds(sample, len(samples)),
        entity,
        hops["document"],
        articles,
        links.offsets,
        links.targets,
    )


class Ranks:
    """The order in which each document first mentions the entities that have articles."""

    def __init__(self, mentions: Places, articles: IntArray) -> None:
        """Memory: 12 bytes per pair of a document and an entity that it mentions."""
        pairs, ranks = first_mentions(mentions)
        has_article = articles[pairs & 0xFFFFFFFF] >= 0
        pairs, ranks = pairs[has_article], ranks[has_article]
        order = np.lexsort((ranks, pairs >> 32))
        begins = np.searchsorted((pairs >> 32)[order], pairs[order] >> 32)
        rank = np.empty(len(pairs), np.int32)
        rank[order] = np.arange(len(pairs)) - begins
        self._pairs, self._ranks = pairs, np.append(rank, np.int32(-1))

    def of(self, document: IntArray, entity: IntArray) -> IntArray:
        """The rank of each entity in its document, from 0; -1 if it has no article or is not mentioned."""
        return self._ranks[find(self._pairs, paired(document, entity))]


def named_together(mentioning: Adjacency, first: IntArray, second: IntArray, max_count: int) -> npt.NDArray[np.int64]:
    """The number of documents that mention both entities of each pair; counting stops above ``max_count``.

    >>> mentioning = Adjacency.from_pairs(np.array([0, 0, 1]), np.array([4, 5, 5]), 2)  # entity 0 is in documents 4 and 5, entity 1 in 5
    >>> named_together(mentioning, np.array([0]), np.array([1]), 9).tolist()
    [1]
    """
    return count_shared(mentioning.offsets, mentioning.targets, first, second, max_count)


@kernel
def _joined_to(candidate_offsets, candidates, bridge_offsets, bridges, offsets, targets):  # type: ignore[no-untyped-def]
    """For each candidate whether the row of one of its sample's ``bridges`` contains it (bool). O(candidates × bridges × log row).

    >>> rows = np.array([0, 2])  # one sample with the candidates 5 and 7, whose only bridge 0 leads to 7
    >>> _joined_to(rows, np.array([5, 7]), np.array([0, 1]), np.array([0]), np.array([0, 1]), np.array([7])).tolist()
    [False, True]
    """
    out = np.zeros(len(candidates), np.bool_)
    for sample in range(len(candidate_offsets) - 1):
        for i in range(candidate_offsets[sample], candidate_offsets[sample + 1]):
            for j in range(bridge_offsets[sample], bridge_offsets[sample + 1]):
                if row_holds(offsets, targets, bridges[j], candidates[i]):
                    out[i] = True
                    break
    return out


@kernel
def _over_earlier(candidate_offsets, candidates, offsets, entities, documents, articles, link_offsets, links):  # type: ignore[no-untyped-def]
    """The kernel of :func:`over_earlier` (int32, candidates); ``entities`` are those before the bridge, by sample, in order of mention."""
    out = np.full(len(candidates), -1, np.int32)
    for sample in range(len(candidate_offsets) - 1):
        for j in range(offsets[sample], offsets[sample + 1]):
            article = articles[entities[j]]
            if article < 0 or article == documents[sample]:
                continue
            for i in range(candidate_offsets[sample], candidate_offsets[sample + 1]):
                if out[i] < 0 and entities[j] != candidates[i] and row_holds(link_offsets, links, article, candidates[i]):
                    out[i] = entities[j]
    return out
