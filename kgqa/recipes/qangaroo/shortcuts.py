"""Shortcut baselines that use only links: which documents mention which entities, and in what order.

They count over the documents of a sample. These are the documents of its chains, so every candidate is connected to the subject.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import IntArray, Rows, distinct
from kgqa.recipes.qangaroo.samples import Samples

Scores = npt.NDArray[np.float64]
FAR = 1 << 20
"""Distance of candidates that are not reached."""
MOST_STEPS = 6
"""Maximum number of documents between subject and candidate; candidates further away count as not reached."""


def first_bridge(samples: Samples, links: Rows, first_places: IntArray, articles: IntArray) -> Scores:
    """1 for the candidates in the article of the first bridge, 0 for others.

    The first bridge is the first entity in the subject's documents whose article belongs to the sample and mentions a candidate. ``links``:
    document → entities that it mentions; ``first_places``: the place of the first mention, for each entry; ``articles``: entity → document
    about it, or -1.
    """
    return _first_bridge(
        samples.questions.head, samples.candidates.offsets, samples.candidates.targets, samples.documents.offsets,
        samples.documents.targets, *_first_documents(samples), links.offsets, links.targets, first_places, articles, len(links.offsets) - 1,
    )  # fmt: skip


def nearest(samples: Samples, links: Rows) -> Scores:
    """Minus the number of documents between the subject and each candidate; documents are adjacent if they mention the same entity."""
    return _nearest(*_arrays(samples, links))


def shared_entities(samples: Samples, links: Rows) -> Scores:
    """The number of entities that the documents with a candidate share with the subject's documents."""
    return _shared(*_arrays(samples, links))


def _arrays(samples: Samples, links: Rows) -> tuple[object, ...]:
    """The arguments of both kernels, :func:`_nearest` and :func:`_shared`."""
    entities = int(max(links.targets.max(initial=0), samples.candidates.targets.max(initial=0))) + 1
    return (
        samples.candidates.offsets, samples.candidates.targets, samples.documents.offsets, samples.documents.targets,
        *_first_documents(samples), links.offsets, links.targets, entities,
    )  # fmt: skip


def _first_documents(samples: Samples) -> tuple[npt.NDArray[np.int64], IntArray]:
    """The first documents of the chains of each sample, as offsets and documents."""
    sample = samples.question_of_candidate()[samples.chains.sources()]
    keys = distinct((sample.astype(np.int64) << 32) | samples.nodes.targets[samples.nodes.offsets[:-1] + 1])
    offsets = np.searchsorted(keys >> 32, np.arange(len(samples) + 1)).astype(np.int64)
    return offsets, (keys & 0xFFFFFFFF).astype(np.int32)


@kernel
def _first_bridge(  # type: ignore[no-untyped-def]
    heads, candidate_offsets, candidates, document_offsets, documents, first_offsets, firsts, link_offsets, linked, places, articles, count
):
    """The kernel of :func:`first_bridge` (float64, candidates); ``count`` is the number of documents, ``firsts`` the first documents."""
    out = np.zeros(len(candidates), np.float64)
    sample_of = np.full(count, -1, np.int64)
    for sample in range(len(heads)):
        for j in range(document_offsets[sample], document_offsets[sample + 1]):
            sample_of[documents[j]] = sample
        best_place, best = np.int64(1 << 60), np.int32(-1)
        for j in range(first_offsets[sample], first_offsets[sample + 1]):
            subject_article = firsts[j]
            for k in range(link_offsets[subject_article], link_offsets[subject_article + 1]):
                article = articles[linked[k]]
                if (
                    article < 0
                    or article == subject_article
                    or sample_of[article] != sample
                    or linked[k] == heads[sample]
                    or places[k] >= best_place
                ):
                    continue
                # An earlier bridge than the best one so far: its article must mention a candidate.
                names_candidate = False
                for i in range(candidate_offsets[sample], candidate_offsets[sample + 1]):
                    for m in range(link_offsets[article], link_offsets[article + 1]):
                        names_candidate = names_candidate or linked[m] == candidates[i]
                if names_candidate:
                    best_place, best = np.int64(places[k]), article
        if best < 0:
            continue
        for i in range(candidate_offsets[sample], candidate_offsets[sample + 1]):
            for m in range(link_offsets[best], link_offsets[best + 1]):
                if linked[m] == candidates[i]:
                    out[i] = 1.0
    return out


@kernel
def _nearest(  # type: ignore[no-untyped-def]
    candidate_offsets, candidates, document_offsets, documents, first_offsets, firsts, link_offsets, linked, entities
):
    """The kernel of :func:`nearest`: a breadth-first search over the documents of each sample (float64, candidates)."""
    near = np.full(len(candidates), -float(FAR))
    depth, stamp = np.zeros(entities, np.int64), np.full(entities, -1, np.int64)
    for sample in range(len(candidate_offsets) - 1):
        first, last = document_offsets[sample], document_offsets[sample + 1]
        reached = np.zeros(last - first, np.bool_)
        for j in range(first_offsets[sample], first_offsets[sample + 1]):
            for d in range(first, last):
                reached[d - first] = reached[d - first] or documents[d] == firsts[j]
            for k in range(link_offsets[firsts[j]], link_offsets[firsts[j] + 1]):
                stamp[linked[k]], depth[linked[k]] = sample, 1
        # In each step, add the documents that mention an entity of the step before, and then their entities. The two passes are separate,
        # so that a new document does not lead to others in the same step.
        for step in range(2, MOST_STEPS + 1):
            new = np.zeros(last - first, np.bool_)
            for d in range(first, last):
                for k in range(link_offsets[documents[d]], link_offsets[documents[d] + 1]):
                    new[d - first] |= not reached[d - first] and stamp[linked[k]] == sample and depth[linked[k]] == step - 1
            if not new.any():
                break
            for d in range(first, last):
                if new[d - first]:
                    reached[d - first] = True
                    for k in range(link_offsets[documents[d]], link_offsets[documents[d] + 1]):
                        if stamp[linked[k]] != sample:
                            stamp[linked[k]], depth[linked[k]] = sample, step
        for i in range(candidate_offsets[sample], candidate_offsets[sample + 1]):
            if stamp[candidates[i]] == sample:
                near[i] = -float(depth[candidates[i]])
    return near


@kernel
def _shared(  # type: ignore[no-untyped-def]
    candidate_offsets, candidates, document_offsets, documents, first_offsets, firsts, link_offsets, linked, entities
):
    """The kernel of :func:`shared_entities` (float64, candidates).

    An entity counts once per candidate. The subject's own first documents are skipped: they share all their entities with themselves.
    """
    shared = np.zeros(len(candidates), np.float64)
    begins, counted_for, opening = (
        np.full(entities, -1, np.int64),
        np.full(entities, -1, np.int64),
        np.full(len(link_offsets), -1, np.int64),
    )
    for sample in range(len(candidate_offsets) - 1):
        for j in range(first_offsets[sample], first_offsets[sample + 1]):
            opening[firsts[j]] = sample
            for k in range(link_offsets[firsts[j]], link_offsets[firsts[j] + 1]):
                begins[linked[k]] = sample
        for i in range(candidate_offsets[sample], candidate_offsets[sample + 1]):
            for d in range(document_offsets[sample], document_offsets[sample + 1]):
                begin, end = link_offsets[documents[d]], link_offsets[documents[d] + 1]
                mentions = False
                for k in range(begin, end):
                    mentions = mentions or linked[k] == candidates[i]
                if not mentions or opening[documents[d]] == sample:
                    continue
                for k in range(begin, end):
                    if begins[linked[k]] == sample and counted_for[linked[k]] != i and linked[k] != candidates[i]:
                        counted_for[linked[k]] = i
                        shared[i] += 1
    return shared
