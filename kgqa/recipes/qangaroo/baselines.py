"""Shortcut baselines, which do not read: a reader could reach their scores without reading either (Welbl et al. 2018, section 6.1)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.column_draws import shuffling
from kgqa.arrays.int32 import narrow
from kgqa.arrays.kernel import grown, kernel
from kgqa.arrays.rows import IntArray, Rows, find, paired
from kgqa.arrays.texts import text_buffers
from kgqa.arrays.tokens import character_tables, token_hashes, tokenize
from kgqa.linking.trie import find_token, slots_of
from kgqa.readers.lexical.paragraph_scores import best_paragraphs, inverse_frequency
from kgqa.recipes.qangaroo.samples import Samples
from kgqa.recipes.qangaroo.shortcuts import first_bridge, nearest, shared_entities
from kgqa.records import SPLITS

RESAMPLES = 1000
NAMES = (
    "random", "max-mention", "majority per query type", "TF-IDF", "document-cue", "first bridge", "nearest candidate", "shared entities",
    "rule",
)  # fmt: skip
FITTED = frozenset({"majority per query type", "document-cue"})
"""Baselines that are fitted on the training split."""
COUNTING = frozenset({"max-mention", "TF-IDF"})
"""Baselines that count words."""
Scores = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """One baseline on one split: accuracy with a 95% bootstrap interval over samples, and the expected accuracy of a random choice.

    All four are None if the split is empty.
    """

    baseline: str
    split: str
    samples: int
    accuracy: float | None
    low: float | None
    high: float | None
    chance: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineData:
    """The corpus data that the baselines use in addition to the samples."""

    links: Rows
    """Document → entities that it mentions."""
    link_counts: npt.NDArray[np.int64]
    """Number of mentions, for each entry of ``links.targets``."""
    texts: pa.ChunkedArray
    """The text of each document."""
    labels: pa.ChunkedArray
    """The label of each entity."""
    relation_labels: pa.ChunkedArray
    """The label of each relation."""
    first_places: IntArray
    """Place of the entity's first mention in the document, in characters, for each entry of ``links.targets``."""
    articles: IntArray
    """Entity → row of the document about it, or -1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Tokens:
    """Token numbers of documents and labels. The vocabulary is the words of labels, the only words that a question can contain."""

    documents: Rows
    labels: Rows
    """The tokens of entity labels, then, from row ``first_relation``, those of relation labels."""
    first_relation: int
    idf: Scores


class Baselines:
    """The baselines for one corpus; :meth:`scores` fits them on the training split and scores dev and test."""

    def __init__(self, data: BaselineData, *, graded: bool = True) -> None:
        """Tokenise the corpus once. ``graded``: whether all candidates have grades. Memory: 4 bytes per token."""
        self._data, self._graded = data, graded
        self._tokens = _tokens(data)

    def scores(self, samples: Samples, *, rng: np.random.Generator) -> list[Score]:
        """All baselines on dev and test. Ties are broken by a hash of the sample; ``rng`` draws the bootstrap resamples."""
        train = samples.select(samples.questions.split == 0)
        result = []
        for number in (1, 2):
            held_out = samples.select(samples.questions.split == number)
            chance = float((1 / held_out.candidates.counts()).mean()) if len(held_out) else None
            for name in NAMES if self._graded and samples.grades is not None else NAMES[:-1]:
                scores = self.candidate_scores(name, train, held_out)
                result.append(_score(name, SPLITS[number], held_out, scores, chance, rng))
        return result

    def candidate_scores(self, name: str, train: Samples, samples: Samples) -> Scores:
        """The score of each candidate of ``samples`` by the baseline ``name``, one of ``NAMES``."""
        data = self._data
        baselines: dict[str, Callable[[], Scores]] = {
            "random": lambda: np.zeros(len(samples.candidates.targets)),
            "max-mention": lambda: max_mention(samples, data),
            "majority per query type": lambda: majority(train, samples),
            "TF-IDF": lambda: tf_idf(samples, self._tokens),
            "document-cue": lambda: document_cue(train, samples),
            "first bridge": lambda: first_bridge(samples, data.links, data.first_places, data.articles),
            "nearest candidate": lambda: nearest(samples, data.links),
            "shared entities": lambda: shared_entities(samples, data.links),
            "rule": lambda: rule(samples),
        }
        return baselines[name]()


def chosen_right(samples: Samples, scores: Scores) -> npt.NDArray[np.bool_]:
    """For each sample whether its answer has the best score; ties are broken by a hash of the sample."""
    sample = samples.question_of_candidate()
    ties = shuffling(samples.questions.id[sample], samples.candidates.targets, purpose="ties")
    order = np.lexsort((ties, scores, sample))
    is_right: npt.NDArray[np.bool_] = samples.is_answer()[order[samples.candidates.offsets[1:] - 1]]
    return is_right


def _score(name: str, split: str, samples: Samples, scores: Scores, chance: float | None, rng: np.random.Generator) -> Score:
    count = len(samples)
    if not count:
        return Score(baseline=name, split=split, samples=0, accuracy=None, low=None, high=None, chance=chance)
    hits = int(chosen_right(samples, scores).sum())
    # Drawing n outcomes of 0 or 1 with replacement and counting the ones is exactly a binomial draw.
    low, high = np.percentile(rng.binomial(count, hits / count, RESAMPLES) / count, [2.5, 97.5])
    return Score(baseline=name, split=split, samples=count, accuracy=hits / count, low=float(low), high=float(high), chance=chance)


def max_mention(samples: Samples, data: BaselineData) -> Scores:
    """The number of mentions of each candidate in the support documents."""
    return _max_mention(  # type: ignore[no-any-return]
        samples.candidates.offsets, samples.candidates.targets, samples.documents.offsets, samples.documents.targets,
        data.links.offsets, data.links.targets, data.link_counts, int(max(data.links.targets.max(initial=0),
        samples.candidates.targets.max(initial=0))) + 1,
    )  # fmt: skip


@kernel
def _max_mention(candidate_offsets, candidates, document_offsets, documents, link_offsets, link_entities, counts, entities):  # type: ignore[no-untyped-def]
    """The kernel of :func:`max_mention`. ``place`` maps an entity to its entry in ``candidates``, if it is one of the present sample.

    >>> rows = np.array([0, 2])  # one sample with the candidates 5 and 7, and two documents; document 1 mentions 7 twice
    >>> _max_mention(rows, np.array([5, 7]), rows, np.array([0, 1]), np.array([0, 1, 2]), np.array([5, 7]), np.array([1, 2]), 8).tolist()
    [1.0, 2.0]
    """
    out = np.zeros(len(candidates), np.float64)
    place = np.full(entities, -1, np.int64)
    for sample in range(len(candidate_offsets) - 1):
        begin, end = candidate_offsets[sample], candidate_offsets[sample + 1]
        for i in range(begin, end):
            place[candidates[i]] = i
        for j in range(document_offsets[sample], document_offsets[sample + 1]):
            for k in range(link_offsets[documents[j]], link_offsets[documents[j] + 1]):
                at = place[link_entities[k]]
                if at >= begin and at < end and candidates[at] == link_entities[k]:
                    out[at] += counts[k]
    return out


def majority(train: Samples, samples: Samples) -> Scores:
    """For each candidate, the number of training samples with the same relation that have it as their answer."""
    questions = train.questions
    pairs, counts = np.unique(paired(questions.relation, questions.answer), return_counts=True)
    sample = samples.question_of_candidate()
    keys = paired(samples.questions.relation[sample], samples.candidates.targets)
    return _look_up(pairs, counts, keys)


def document_cue(train: Samples, samples: Samples) -> Scores:
    """For each candidate c, the largest cooccurrence(d, c) over the support documents d (section 3.2).

    That is the number of training samples that have d as a support document and c as the answer.
    """
    answers = train.questions.answer[train.documents.sources()]
    pairs, counts = np.unique(paired(answers, train.documents.targets), return_counts=True)
    scores = np.zeros(len(samples.candidates.targets))
    step = 512  # samples at a time, to bound the memory for candidates × documents pairs
    for first in range(0, len(samples), step):
        last = min(first + step, len(samples))
        begin, end = samples.candidates.offsets[first], samples.candidates.offsets[last]
        sample = samples.question_of_candidate()[begin:end]
        documents = samples.documents.take(sample)
        keys = paired(samples.candidates.targets[begin:end][documents.sources()], documents.targets)
        np.maximum.at(scores, begin + documents.sources(), _look_up(pairs, counts, keys))
    return scores


def rule(samples: Samples) -> Scores:
    """The grade of each candidate: reasoning over the graph without reading."""
    assert samples.grades is not None
    return samples.grades["confidence"].astype(np.float64)


def _look_up(pairs: npt.NDArray[np.int64], counts: npt.NDArray[np.integer], keys: npt.NDArray[np.int64]) -> Scores:
    """The count of each of ``keys``, 0 for those that are not in ``pairs`` (ascending).

    >>> _look_up(np.array([3, 8]), np.array([2, 5]), np.array([8, 4])).tolist()
    [5.0, 0.0]
    """
    return np.append(counts, 0.0)[find(pairs, keys)]


def tf_idf(samples: Samples, tokens: _Tokens) -> Scores:
    """For each candidate, the best TF-IDF score of a support document for the words of question and candidate (section 6.1)."""
    questions = samples.questions
    pairs = tokens.labels.take(np.column_stack([questions.head, tokens.first_relation + questions.relation]).ravel())
    queries = Rows(offsets=pairs.offsets[::2].copy(), targets=pairs.targets)
    return best_paragraphs(
        samples.candidates, samples.documents, question_tokens=queries, texts=tokens.documents, labels=tokens.labels, idf=tokens.idf
    )[0]  # fmt: skip


def _tokens(data: BaselineData) -> _Tokens:
    """Tokens of labels and documents as numbers; words of documents that occur in no label are dropped."""
    entities, relations = token_hashes(data.labels), token_hashes(data.relation_labels)
    bounds = np.concatenate([entities[0], entities[0][-1] + relations[0][1:]])
    vocabulary, number = np.unique(np.concatenate([entities[1], relations[1]]), return_inverse=True)
    labels = Rows(offsets=bounds, targets=narrow(number, "words of labels", "make the dataset in parts"))
    offsets, targets, frequency = _numbered(*text_buffers(data.texts), *character_tables(), slots_of(vocabulary), len(vocabulary))
    documents = Rows(offsets=offsets, targets=targets)
    return _Tokens(documents=documents, labels=labels, first_relation=len(data.labels), idf=inverse_frequency(frequency, len(data.texts)))


@kernel
def _numbered(data, text_offsets, classes, folded, plain, slots, words):  # type: ignore[no-untyped-def]
    """The numbers of the tokens of each text that are in the hash table ``slots``, and the document frequency of each. O(bytes).

    Returns offsets (int64, texts + 1), token numbers (int32) and frequencies (int64, ``words``).
    """
    longest = 1
    for text in range(len(text_offsets) - 1):
        longest = max(longest, text_offsets[text + 1] - text_offsets[text])
    starts, ends, hashes = np.empty(longest, np.int32), np.empty(longest, np.int32), np.empty(longest, np.uint64)
    spellings, initials = np.empty(longest, np.uint64), np.empty(longest, np.uint64)
    offsets, out = np.zeros(len(text_offsets), np.int64), np.empty(max(16, (text_offsets[-1] - text_offsets[0]) // 8), np.int32)
    frequency, last_text = np.zeros(words, np.int64), np.full(words, -1, np.int64)
    for text in range(len(text_offsets) - 1):
        begin, at = text_offsets[text], offsets[text]
        count = tokenize(data, begin, text_offsets[text + 1], classes, folded, plain, starts, ends, hashes, spellings, initials)
        out = grown(out, at + count)
        for k in range(count):
            number = find_token(hashes[k], slots)
            if number < 0:
                continue
            out[at] = number
            at += 1
            if last_text[number] != text:
                last_text[number] = text
                frequency[number] += 1
        offsets[text + 1] = at
    return offsets, out[: offsets[-1]], frequency
