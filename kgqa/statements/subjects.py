"""Whether a subject is of a kind that has a relation, by how the article about it begins: a vegetable has no place of birth.

Naive Bayes over the words of openings (:mod:`kgqa.arrays.tokens`), which are learned from the subjects that have facts. It needs
neither types nor a list of words.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import scipy.sparse as sp

from kgqa.arrays.rows import IntArray, Rows, distinct, find, paired
from kgqa.arrays.tokens import word_hashes
from kgqa.rules.roles import RoleGraph

OPENING = 160
"""Characters of an article that say what it is about."""
SEEN = 5
"""Minimum number of articles that begin with a word, for it to count."""
PRIOR = 5.0
"""Weight of all articles' openings in the word frequencies of a relation, in subjects."""
KNOWN = 20
"""Minimum number of subjects of a relation to learn their kind."""
PART = 1 << 16
"""Number of openings that are split into words at a time."""
UNUSUAL = 0.03
"""The share of a relation's known subjects whose openings fit no better than one that is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    words: Rows
    common: npt.NDArray[np.float32]
    """The share of known subjects whose articles begin with each word."""
    counts: npt.NDArray[np.float32]
    """For each role, the number of subjects whose article begins with the word."""
    subjects: npt.NDArray[np.float32]
    """Number of subjects of each role."""

    def scores(self, rows: npt.NDArray[np.integer], roles: npt.NDArray[np.integer], *, but_one: int = 0) -> npt.NDArray[np.float32]:
        """The mean log-ratio of the words of each row for its role, less ``but_one`` subject with all these words; 0 without words."""
        out = np.zeros(len(rows), np.float32)
        step = 1 << 16  # pairs at a time: each has some twenty words
        for first in range(0, len(rows), step):
            part, role = self.words.take(rows[first : first + step]), roles[first : first + step]
            of, common = part.sources(), self.common[part.targets]
            share = (self.counts[role[of], part.targets] - but_one + PRIOR * common) / (self.subjects[role[of]] - but_one + PRIOR)
            total = np.bincount(of, np.log(share / common), minlength=len(role))
            out[first : first + step] = total / np.maximum(np.diff(part.offsets), 1)
        return out


def unfit(texts: pa.ChunkedArray, articles: IntArray, facts: RoleGraph, subjects: IntArray, roles: IntArray) -> npt.NDArray[np.bool_]:
    """For each pair of a subject (a row of entities) and a role whether its article begins unlike those about subjects of the role.

    ``articles`` is the document about each entity, or -1; a subject without one fits. Memory: 4 bytes for each role and word, which are at
    most a few hundred times some ten thousand.
    """
    entities_with_facts = np.flatnonzero((np.diff(facts.offsets) > 0) & (articles >= 0))
    asked_subjects = np.unique(subjects[articles[subjects] >= 0])
    checked_entities = np.union1d(entities_with_facts, asked_subjects)
    words, vocabulary = openings(texts, articles[checked_entities])
    row = np.full(facts.entities, -1, np.int64)
    row[checked_entities] = np.arange(len(checked_entities))
    is_learned = np.zeros(len(checked_entities), np.bool_)
    is_learned[row[entities_with_facts]] = True
    source = row[facts.sources()]
    learned = source >= 0
    keys = distinct(paired(source[learned], facts.roles[learned]))
    pairs = np.stack([keys >> 32, keys & 0xFFFFFFFF])
    # Subject × role and subject × word: their product counts, for all roles at once, the subjects that begin with each word.
    has = sp.csr_matrix((np.ones(pairs.shape[1], np.float32), pairs), shape=(len(checked_entities), facts.role_count))
    begins = sp.csr_matrix(
        (np.ones(len(words.targets), np.float32), words.targets, words.offsets), shape=(len(checked_entities), vocabulary)
    )
    # Add-one smoothing, so that no word has the frequency 0 and no log-ratio is infinite.
    common = np.bincount(words.targets[np.repeat(is_learned, words.counts())], minlength=vocabulary).astype(np.float32) + np.float32(1)
    common /= is_learned.sum() + np.float32(1)
    model = _Model(
        words=words, common=common, counts=(has.T @ begins).toarray(), subjects=np.asarray(has.sum(axis=0)).ravel().astype(np.float32)
    )
    # A known subject is scored by the others alone, as one that is asked about is.
    scores, of_role = model.scores(pairs[0], pairs[1], but_one=1), model.subjects
    least = np.full(facts.role_count, -np.inf, np.float32)
    # The threshold of a role is a low quantile of the scores of its own known subjects.
    order = np.lexsort((scores, pairs[1]))
    first = np.searchsorted(pairs[1][order], np.arange(facts.role_count))
    enough = of_role >= KNOWN
    least[enough] = scores[order][(first + (of_role * UNUSUAL).astype(np.int64))[enough]]
    out = np.zeros(len(subjects), np.bool_)
    there = row[subjects] >= 0
    out[there] = model.scores(row[subjects[there]], roles[there]) < least[roles[there]]
    return out


def openings(texts: pa.ChunkedArray, documents: IntArray) -> tuple[Rows, int]:
    """The numbers of the words with which each document begins, ascending, and how many words there are.

    The openings are split into words twice: most words are too rare to count, so keeping all of them would take many times the memory.
    """
    words, counts = np.zeros(0, np.uint64), np.zeros(0, np.int64)
    for _, hashes in _word_parts(texts, documents):
        words, number = np.unique(np.concatenate([words, hashes]), return_inverse=True)
        counts = np.bincount(number, np.concatenate([counts, np.ones(len(hashes), np.int64)]), minlength=len(words)).astype(np.int64)
    words = words[counts >= SEEN]
    sizes, parts = [np.zeros(0, np.int64)], [np.zeros(0, np.int32)]
    for size, hashes in _word_parts(texts, documents):
        number = find(words, hashes)
        row = np.repeat(np.arange(len(size)), size)
        sizes.append(np.bincount(row[number >= 0], minlength=len(size)))
        parts.append(number[number >= 0].astype(np.int32))
    return Rows.from_counts(np.concatenate(sizes), np.concatenate(parts)), len(words)


def _word_parts(texts: pa.ChunkedArray, documents: IntArray) -> Iterator[tuple[npt.NDArray[np.int64], npt.NDArray[np.uint64]]]:
    """For some documents at a time: how many different words each begins with, and their hashes, ascending within a document."""
    for first in range(0, len(documents), PART):
        part = documents[first : first + PART]
        begins = pc.utf8_slice_codeunits(texts.take(pa.array(part)), 0, OPENING)
        bounds, hashes = word_hashes(begins)
        row = np.repeat(np.arange(len(part)), np.diff(bounds))
        order = np.lexsort((hashes, row))
        row, hashes = row[order], hashes[order]
        new = np.ones(len(row), np.bool_)
        new[1:] = (row[1:] != row[:-1]) | (hashes[1:] != hashes[:-1])
        yield np.bincount(row[new], minlength=len(part)), hashes[new]
