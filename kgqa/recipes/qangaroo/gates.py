"""Gates: one class per rule that keeps or rejects questions or samples, with its reason as a sentence.

Gates work on columns and do not count; :mod:`kgqa.recipes.qangaroo.rejected` counts for all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import Adjacency, IntArray, find, paired
from kgqa.arrays.search import count_shared
from kgqa.recipes.qangaroo.baselines import COUNTING, FITTED, NAMES, Baselines, chosen_right
from kgqa.recipes.qangaroo.samples import HOP_ROLES, BoolArray, Grades, Questions, Samples, by_length, facts_on_path
from kgqa.records import SPLITS
from kgqa.traversal.base import Graph

ROUNDING = 1e-9
"""Added to a product before it is rounded down: 0.29 of 100 samples are 29, but the product of the floats is a little less."""


class Gate(ABC):
    """A rule. ``reason`` is the sentence that people read, ``setting`` names the settings to change if the rule rejects too much."""

    reason: ClassVar[str]
    setting: ClassVar[str]


Measure = tuple[npt.NDArray[np.float64], float | npt.NDArray[np.float64]]
"""The number that a gate compares for each item, and the threshold. The number is nan if the gate also looks at something else."""


class QuestionGate(Gate):
    """A rule that needs no traversal."""

    @abstractmethod
    def rejected(self, questions: Questions) -> BoolArray:
        """Whether each question is rejected."""


class SampleGate(Gate):
    """A rule about a question with its candidates and documents."""

    @abstractmethod
    def rejected(self, samples: Samples) -> BoolArray:
        """Whether each sample is rejected."""

    def measured(self, samples: Samples) -> Measure | None:
        """The number that the rule compares for each sample, and the threshold; None for a rule that compares no number."""
        return None

    def raised(self, samples: Samples) -> Iterator[str]:
        """A sentence for each split of ``samples`` that is too small for the setting, where the rule therefore uses a looser limit."""
        yield from ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoDocumentFromSubject(QuestionGate):
    """Rejects questions whose traversal cannot begin."""

    reason: ClassVar[str] = "no document leads on from the subject"
    setting: ClassVar[str] = "projection, documents"
    graph: Graph

    def rejected(self, questions: Questions) -> BoolArray:
        """The subject leads to no document."""
        return self.graph.documents_of.counts()[questions.head] == 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStatedInSubjectDocument(QuestionGate):
    """Rejects questions that the subject's own article answers (Welbl et al. 2018, section 3)."""

    reason: ClassVar[str] = "the subject's own article states the answer"
    setting: ClassVar[str] = "qangaroo.answer_stated"
    articles: IntArray
    """Entity → row of the article about it, or -1."""
    stated: Adjacency
    """Document → entities in its text, under any name."""

    def rejected(self, questions: Questions) -> BoolArray:
        """The article has an occurrence of the answer, perhaps inside a longer name."""
        return _in_subject_document(questions, self.articles, self.stated)


def _in_subject_document(questions: Questions, articles: IntArray, statements: Adjacency) -> BoolArray:
    """For each question whether the article about its subject states its answer; False if there is no article.

    ``articles``: entity → document or -1; ``statements``: document → entities.
    """
    article = articles[questions.head]
    has = article >= 0
    result = np.zeros(len(questions), np.bool_)
    result[has] = statements.contains(article[has], questions.answer[has])
    return result


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStatedBesideSubject(QuestionGate):
    """Rejects questions whose subject and answer some document mentions together, as MedHop does (Welbl et al. 2018, section 6.3)."""

    reason: ClassVar[str] = "a document states subject and answer together"
    setting: ClassVar[str] = "qangaroo.answer_stated"
    stating: Adjacency
    """Entity → documents that state it."""

    def rejected(self, questions: Questions) -> BoolArray:
        """Some document states both subject and answer."""
        return count_shared(self.stating.offsets, self.stating.targets, questions.head, questions.answer, 0) > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNotReached(SampleGate):
    """Rejects questions whose answer is not among the visited end points (section 2.1)."""

    reason: ClassVar[str] = "no chain of documents leads from the subject to the answer"
    setting: ClassVar[str] = "qangaroo.traversal.max_documents"

    def rejected(self, samples: Samples) -> BoolArray:
        """There are no candidates: the search returns them only if it reaches the answer."""
        return samples.candidates.counts() < 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TooFewCandidates(SampleGate):
    """Rejects samples without enough candidates for a choice."""

    reason: ClassVar[str] = "too few candidates are reached"
    setting: ClassVar[str] = "qangaroo.min_candidates"
    minimum: int

    def rejected(self, samples: Samples) -> BoolArray:
        """There are fewer than ``minimum`` candidates."""
        return samples.candidates.counts() < self.minimum

    def measured(self, samples: Samples) -> Measure:
        """The number of candidates."""
        return samples.candidates.counts().astype(np.float64), self.minimum


@dataclass(frozen=True, slots=True, kw_only=True)
class TooManyCandidates(SampleGate):
    """Rejects samples with more candidates than a reader can handle, or than there are placeholders (section 3)."""

    reason: ClassVar[str] = "too many candidates are reached"
    setting: ClassVar[str] = "qangaroo.max_candidates"
    maximum: int

    def rejected(self, samples: Samples) -> BoolArray:
        """There are more than ``maximum`` candidates."""
        return samples.candidates.counts() > self.maximum

    def measured(self, samples: Samples) -> Measure:
        """The number of candidates."""
        return samples.candidates.counts().astype(np.float64), self.maximum


@dataclass(frozen=True, slots=True, kw_only=True)
class TooManyDocuments(SampleGate):
    """Rejects samples with more documents than a reader can handle (section 3)."""

    reason: ClassVar[str] = "too many support documents"
    setting: ClassVar[str] = "qangaroo.max_documents"
    maximum: int

    def rejected(self, samples: Samples) -> BoolArray:
        """There are more than ``maximum`` support documents."""
        return samples.documents.counts() > self.maximum

    def measured(self, samples: Samples) -> Measure:
        """The number of support documents."""
        return samples.documents.counts().astype(np.float64), self.maximum


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationSaysLittle(SampleGate):
    """Rejects samples of uninformative relations, which are chosen by measures and not by name (docs/wikihop.md)."""

    reason: ClassVar[str] = "the relation says little about its subject: it has too many objects, or texts hardly state it"
    setting: ClassVar[str] = "qangaroo.evidence.max_objects, qangaroo.evidence.text_lift"
    left_out: BoolArray
    """Whether each relation is excluded."""

    def rejected(self, samples: Samples) -> BoolArray:
        """The relation is excluded."""
        return self.left_out[samples.questions.relation]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNotImplied(SampleGate):
    """Rejects samples unless the answer's best chain implies it with enough confidence and its weakest hop has a good text grade."""

    reason: ClassVar[str] = "no chain implies the answer with enough confidence"
    setting: ClassVar[str] = "qangaroo.evidence.grade, qangaroo.evidence.grade_long, qangaroo.evidence.text, qangaroo.evidence.facts"
    least: float
    """Minimum confidence of the answer's best chain."""
    long: float
    """``least`` for chains of three documents."""
    text: int
    """Minimum text grade of the weakest hop."""
    facts: int
    """Minimum number of facts on the path."""
    roles: int
    """Number of roles of facts; text roles come after them."""

    def rejected(self, samples: Samples) -> BoolArray:
        """The grade of the answer is too low."""
        return self.weak(_of_answers(samples))

    def measured(self, samples: Samples) -> Measure:
        """The confidence, if nothing else is too low."""
        grades = _of_answers(samples)
        passes_rest = (grades["text"] >= self.text) & (facts_on_path(grades, self.roles) >= self.facts)
        return np.where(passes_rest, _decimal(grades["confidence"]), np.nan), np.asarray(
            by_length(grades, self.least, self.long), np.float64
        )

    def weak(self, grades: Grades) -> BoolArray:
        """Whether each of ``grades`` is too low for an answer."""
        mask: BoolArray = (grades["confidence"] < by_length(grades, self.least, self.long)) | (grades["text"] < self.text)
        mask |= facts_on_path(grades, self.roles) < self.facts
        return mask


@dataclass(frozen=True, slots=True, kw_only=True)
class PathLeadsAnywhere(SampleGate):
    """Rejects answers that follow only by likeness, such as facts about a neighbour's neighbour or about an actor in the same film."""

    reason: ClassVar[str] = "the path is not functional in either direction, or follows a symmetric relation"
    setting: ClassVar[str] = "qangaroo.evidence.functional"
    least: float
    """Minimum product of functionalities along the path."""
    forwards: npt.NDArray[np.float64]
    """Functionality of each role; ``backwards`` is its inverse functionality."""
    backwards: npt.NDArray[np.float64]
    symmetric: BoolArray
    """Whether each relation is symmetric, so that it joins similar entities."""

    def rejected(self, samples: Samples) -> BoolArray:
        """The product of the roles' functionalities is below ``least`` in both directions, or the path of an asymmetric relation has a
        symmetric one."""
        functional, by_likeness = self._looked_at(samples)
        return (functional < self.least) | by_likeness

    def measured(self, samples: Samples) -> Measure:
        """The product in the better direction; nan if the path is rejected for a symmetric relation."""
        functional, by_likeness = self._looked_at(samples)
        return np.where(by_likeness, np.nan, functional), self.least

    def _looked_at(self, samples: Samples) -> tuple[npt.NDArray[np.float64], BoolArray]:
        """The product of functionalities in the better direction, and whether a symmetric relation is on the path of another relation."""
        grades = _of_answers(samples)
        # Role 2r and its inverse 2r + 1 belong to relation r; text roles come last and are not symmetric.
        of_role = np.append(np.repeat(self.symmetric, 2), np.zeros(len(self.forwards) - 2 * len(self.symmetric), np.bool_))
        symmetric_hop = np.zeros(len(grades), np.bool_)
        forwards, backwards = np.ones(len(grades)), np.ones(len(grades))
        for name in HOP_ROLES:
            rows = grades[name] >= 0
            forwards[rows] *= self.forwards[grades[name][rows]]
            backwards[rows] *= self.backwards[grades[name][rows]]
            symmetric_hop[rows] |= of_role[grades[name][rows]]
        return np.maximum(forwards, backwards), symmetric_hop & ~self.symmetric[samples.questions.relation] & (self.least > 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainAddsLittle(SampleGate):
    """Rejects answers that are almost as likely by their frequency alone as by their chain."""

    reason: ClassVar[str] = "the answer is hardly more likely given the chain than given its frequency"
    setting: ClassVar[str] = "qangaroo.evidence.odds, qangaroo.evidence.odds_long"
    least: float
    """Minimum ratio of the odds given the chain to the odds given the frequency."""
    long: float
    """``least`` for chains of three documents."""
    share: npt.NDArray[np.float64]
    """For each entry of ``of``, the share of the relation's subjects that have the answer as an object."""
    of: npt.NDArray[np.int64]
    """Pairs of relation and answer, each as one number (:func:`~kgqa.arrays.rows.paired`), ascending."""

    def rejected(self, samples: Samples) -> BoolArray:
        """The odds given the chain are less than ``least`` times the odds given the frequency."""
        by_chain, by_frequency, min_ratio = self._odds(samples)
        return by_chain < min_ratio * by_frequency

    def measured(self, samples: Samples) -> Measure:
        """The ratio of the two odds; nan if the frequency is 0."""
        by_chain, by_frequency, min_ratio = self._odds(samples)
        return np.divide(by_chain, by_frequency, out=np.full(len(by_chain), np.nan), where=by_frequency > 0), min_ratio

    def _odds(self, samples: Samples) -> tuple[npt.NDArray[np.float64], ...]:
        """The odds given the chain, the odds given the frequency, and the minimum ratio.

        Both odds are multiplied by (1 - share) × (1 - confidence), so that no odds are infinite.
        """
        rows = find(self.of, paired(samples.questions.relation, samples.questions.answer))
        share = np.where(rows >= 0, self.share[rows] if len(self.share) else 0.0, 0.0)
        grades = _of_answers(samples)
        confidence, min_ratio = grades["confidence"].astype(np.float64), np.where(grades["third"] >= 0, self.long, self.least)
        return confidence * (1 - share), share * (1 - confidence), min_ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class AnotherImpliedMore(SampleGate):
    """Rejects samples where the chain to a distractor implies more, because it would mislead a reader that reasons well."""

    reason: ClassVar[str] = "the chain to another candidate has a higher confidence than the chain to the answer"
    setting: ClassVar[str] = "qangaroo.evidence"

    def rejected(self, samples: Samples) -> BoolArray:
        """Another candidate has a higher confidence than the answer."""
        assert samples.grades is not None
        best_confidence = np.zeros(len(samples), np.float32)
        np.maximum.at(best_confidence, samples.question_of_candidate(), samples.grades["confidence"])
        return best_confidence > _of_answers(samples)["confidence"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationSeldomImplied(SampleGate):
    """Rejects relations that have hardly any implied samples, because these may be implied by accident."""

    reason: ClassVar[str] = "hardly any sample of the relation is implied by its chain, so those that are may be accidental"
    setting: ClassVar[str] = "qangaroo.evidence.graded_share"
    least: float
    """Minimum share of the relation's samples that are implied."""
    samples: npt.NDArray[np.int64]
    """Number of samples of each relation before the gates that look at grades."""

    def rejected(self, samples: Samples) -> BoolArray:
        """The share of the relation's samples that are left is below ``least``."""
        counts = np.bincount(samples.questions.relation, minlength=len(self.samples))
        return (counts < self.least * self.samples)[samples.questions.relation]

    def measured(self, samples: Samples) -> Measure:
        """The share of the relation's samples that are left."""
        counts = np.bincount(samples.questions.relation, minlength=len(self.samples))
        return (counts / np.maximum(self.samples, 1))[samples.questions.relation], self.least


def _of_answers(samples: Samples) -> npt.NDArray[np.void]:
    """The grade of each sample's answer."""
    assert samples.grades is not None, "samples must be graded before gates look at grades"
    return samples.grades[samples.is_answer()]


def _decimal(confidence: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """The confidences (float32) as float64 with the same shortest decimal form.

    >>> float(np.float32(0.9)), _decimal(np.array([0.9], np.float32)).tolist()
    (0.8999999761581421, [0.9])
    """
    return confidence.astype(np.float32).astype(str).astype(np.float64)


def _doubt(samples: Samples) -> npt.NDArray[np.float32]:
    """A sort key that puts the most useful samples first, or else the best-graded ones; constant if there are no grades."""
    if samples.grades is None:
        return np.zeros(len(samples), np.float32)
    grades = _of_answers(samples)
    return -(grades["useful"] if grades["useful"].any() else grades["confidence"])


def _entering(recipe_sizes: Mapping[int, int], split: int, actual_size: int) -> int:
    """The number of samples that a share refers to: the number of ``split`` in ``recipe_sizes``, or ``actual_size`` if that is larger.

    >>> _entering({0: 100}, 0, 40), _entering({0: 100}, 1, 40)
    (100, 40)
    """
    return max(recipe_sizes.get(int(split), 0), actual_size)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTooFrequent(SampleGate):
    """Caps the share of each answer in a split (section 3.2); drops the worst-graded samples first, then by the hash of their ids.

    With ``of="entering"`` the share refers to the samples that enter the filter; with ``of="kept"`` to those that it keeps, and the cap is
    the largest that satisfies the limit. The cap is at least one sample per answer. If the share of the entering samples is less than one
    sample, the cap is the mean number of samples per answer (docs/decisions/0013-small-sets.md).

    >>> AnswerTooFrequent(share=0.5, of="kept").cap(np.array([6, 2, 1]))
    3
    """

    reason: ClassVar[str] = "too many other samples have the same answer"
    setting: ClassVar[str] = "qangaroo.bias.answer_cap"
    share: float
    of: str
    entering: Mapping[int, int] = field(default_factory=dict)
    """Split → number of samples that the paper's recipe would let in; the share refers to it if it is larger than the actual number."""

    def rejected(self, samples: Samples) -> BoolArray:
        """The sample is not among the first ``cap`` of its answer and split."""
        questions = samples.questions
        result = np.zeros(len(samples), np.bool_)
        doubt = _doubt(samples)
        for split in np.unique(questions.split):
            rows = np.flatnonzero(questions.split == split)
            order = rows[np.lexsort((questions.id[rows], doubt[rows], questions.answer[rows]))]
            answers = questions.answer[order]
            starts = np.flatnonzero(np.concatenate([[True], answers[1:] != answers[:-1]]))
            counts = np.diff(np.append(starts, len(order)))
            rank = np.arange(len(order)) - np.repeat(starts, counts)
            result[order] = rank >= self.cap(counts, split_size=_entering(self.entering, split, len(rows)))
        return result

    def cap(self, counts: npt.NDArray[np.integer], *, split_size: int = 0) -> int:
        """The maximum number of samples per answer, given the ``counts`` of all answers in a split."""
        if self.of == "entering":
            return int(self.share * max(split_size, counts.sum()) + ROUNDING) or int(counts.mean())
        # With cap c, each answer keeps min(count, c) samples: all of those with fewer than c, and c of the others.
        caps = np.arange(1, counts.max() + 1)
        sizes = np.sort(counts)
        smaller_count = np.searchsorted(sizes, caps)
        total = np.concatenate([[0], np.cumsum(sizes)])[smaller_count] + caps * (len(counts) - smaller_count)
        rows = np.flatnonzero(caps <= self.share * total + ROUNDING)
        return int(caps[rows[-1]]) if len(rows) else 1

    def raised(self, samples: Samples) -> Iterator[str]:
        """The splits whose share is less than one sample, so that the mean is used instead."""
        for split in np.unique(samples.questions.split):
            counts = np.unique(samples.questions.answer[samples.questions.split == split], return_counts=True)[1]
            split_size = _entering(self.entering, split, int(counts.sum()))
            cap = self.cap(counts, split_size=split_size)
            if self.of == "entering" and cap > max(1, self.share * split_size + ROUNDING):
                yield (
                    f"{self.share:.6g} of the {split_size:,} samples of {SPLITS[split]} is less than one; an answer keeps at most {cap:,} "
                    "of them, as many as answers have on average"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentCue(SampleGate):
    """Rejects samples with a document that co-occurs too often with their answer in the same split (section 3.2).

    If a share of a split is less than ``LEAST`` samples, the limit is ``LEAST``: a pair that is seen once reveals nothing. If all samples
    of a split would be rejected, its limit becomes the smallest that keeps one sample (docs/decisions/0013-small-sets.md).
    """

    reason: ClassVar[str] = "a support document and the answer occur together in too many samples"
    setting: ClassVar[str] = "qangaroo.bias.document_cue"
    LEAST: ClassVar[int] = 2
    limit: float
    """From 1: a number of samples. Below 1: a share of the samples of the split that enter the filters."""
    drops: str = "all"
    """``all``: reject all samples with such a pair. ``surplus``: keep as many as the limit allows, best-graded first, then by hash."""
    entering: Mapping[int, int] = field(default_factory=dict)
    """Split → number of samples that the paper's recipe would let in, as in :class:`AnswerTooFrequent`."""

    def rejected(self, samples: Samples) -> BoolArray:
        """Some document of the sample occurs with its answer in more samples of the split than the limit."""
        pair_counts = self._most(samples)
        result = np.zeros(len(samples), np.bool_)
        for split in np.unique(samples.questions.split):
            rows = samples.questions.split == split
            limit = self.number(_entering(self.entering, split, int(rows.sum())))
            if self.drops == "all":
                limit = max(limit, int(pair_counts[rows].min()))
            result[rows] = pair_counts[rows] > limit
            if self.drops == "surplus" and result[rows].any():
                result[self._stay(samples, np.flatnonzero(rows), limit)] = False
        return result

    def _stay(self, samples: Samples, rows: npt.NDArray[np.integer], limit: int) -> npt.NDArray[np.integer]:
        """Those of ``rows`` that are kept: one by one, best-graded first, unless one of their pairs already occurs ``limit`` times."""
        doubt = _doubt(samples)
        order = rows[np.lexsort((samples.questions.id[rows], doubt[rows]))]
        documents = samples.documents.take(order)
        pairs = paired(samples.questions.answer[order][documents.sources()], documents.targets)
        _, number = np.unique(pairs, return_inverse=True)
        return order[_within(documents.offsets, number.astype(np.int64), limit)]

    def number(self, samples: int) -> int:
        """The limit for a split with this many ``samples``.

        >>> DocumentCue(limit=0.01).number(1000), DocumentCue(limit=0.01).number(50), DocumentCue(limit=20).number(50)
        (10, 2, 20)
        """
        return int(self.limit) if self.limit >= 1 else max(self.LEAST, int(self.limit * samples + ROUNDING))

    def raised(self, samples: Samples) -> Iterator[str]:
        """The splits that would become empty, and those whose share is less than ``LEAST`` samples."""
        pair_counts = self._most(samples)
        for split in np.unique(samples.questions.split):
            counts = pair_counts[samples.questions.split == split]
            split_size = _entering(self.entering, split, len(counts))
            number, minimum, name = self.number(split_size), int(counts.min()), SPLITS[split]
            if minimum > number and self.drops == "all":
                yield f"with {number:,}, nothing would be left of {name}; there a document may be seen with an answer {minimum:,} times"
            elif self.limit < 1 and number > self.limit * split_size + ROUNDING and counts.max() >= number:
                yield (
                    f"{self.limit:.6g} of the {split_size:,} samples of {name} is less than {number:,}; there a document may be seen with "
                    f"an answer {number:,} times"
                )

    def _most(self, samples: Samples) -> npt.NDArray[np.int64]:
        """For each sample, the count of its most frequent pair of document and answer in its split."""
        pair_counts = np.zeros(len(samples), np.int64)
        sample = samples.documents.sources()
        pair = paired(samples.questions.answer[sample], samples.documents.targets)
        for split in np.unique(samples.questions.split):
            rows = samples.questions.split[sample] == split
            _, inverse, counts = np.unique(pair[rows], return_inverse=True, return_counts=True)
            np.maximum.at(pair_counts, sample[rows], counts[inverse])
        return pair_counts


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerMostMentioned(SampleGate):
    """Rejects samples whose answer is the most mentioned candidate, until counting mentions is right no more often than chance.

    The published WikiHop does not have this cue (Welbl et al. 2018, section 6: max-mention 10.6, random 11.5). It appears when most
    candidates are removed, and masking does not hide it.
    """

    reason: ClassVar[str] = "the answer is the most mentioned candidate, in more samples than expected by chance"
    setting: ClassVar[str] = "qangaroo.bias.mention_cue"
    mentions: Callable[[Samples], npt.NDArray[np.float64]]
    """Counts for each candidate its mentions in the sample's documents."""

    def rejected(self, samples: Samples) -> BoolArray:
        """In each split the fewest samples whose removal brings counting down to chance plus one standard error.

        The worst-graded samples are rejected first, then by the hash of their ids. At least one sample of a split is kept.
        """
        chance, doubt = 1 / samples.candidates.counts(), _doubt(samples)
        excess = self._share_right(samples) - chance
        result = np.zeros(len(samples), np.bool_)
        for split in np.unique(samples.questions.split):
            rows = np.flatnonzero(samples.questions.split == split)
            easy = rows[excess[rows] > 0]
            order = easy[np.lexsort((samples.questions.id[easy], -doubt[easy]))]
            remaining_excess = excess[rows].sum() - np.cumsum(np.append(0.0, excess[order]))
            room = np.sqrt((chance[rows] * (1 - chance[rows])).sum())
            result[order[: min(int((remaining_excess > room + ROUNDING).sum()), len(rows) - 1)]] = True
        return result

    def _share_right(self, samples: Samples) -> npt.NDArray[np.float64]:
        """The probability that the most mentioned candidate, or a random one of several such, is the answer."""
        mentions, question = self.mentions(samples), samples.question_of_candidate()
        top_counts = np.zeros(len(samples))
        np.maximum.at(top_counts, question, mentions)
        is_top = mentions == top_counts[question]
        return is_top[samples.is_answer()] / np.bincount(question[is_top], minlength=len(samples))


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortcutSuffices(SampleGate):
    """Rejects samples that shortcut baselines get right, until no baseline exceeds the bound of its family, or chance if that is higher.

    In each step the gate rejects the samples that most of the baselines above their bound get right; ties are broken by grade, worst first,
    then by the hash of the ids. Train is filtered first, because some baselines are fitted on it; these count only on dev and test.
    """

    reason: ClassVar[str] = "shortcut baselines get it right, as they do for too many samples of the split"
    setting: ClassVar[str] = "qangaroo.bias.position_share, qangaroo.bias.count_share, qangaroo.bias.train_share"
    position: float
    """Maximum accuracy of first bridge, nearest candidate and shared entities."""
    count: float
    """Maximum accuracy of max-mention and TF-IDF."""
    train: float
    """Maximum accuracy of majority and document-cue, which are fitted on train."""
    baselines: Baselines
    least: int
    """Smaller splits are not filtered, because an accuracy above chance is hardly significant there."""

    def raised(self, samples: Samples) -> Iterator[str]:
        """The splits that are too small to be filtered, in one sentence."""
        counts = np.bincount(samples.questions.split, minlength=len(SPLITS)).tolist()
        small = [f"{name} ({count})" for name, count in zip(SPLITS, counts, strict=True) if 0 < count < self.least]
        if small:
            yield (
                f"no sample was dropped from {', '.join(small)}, because with fewer than {self.least} samples an accuracy above chance is "
                "hardly significant (qangaroo.bias.min_filtered)"
            )

    def rejected(self, samples: Samples) -> BoolArray:
        """In each split, samples chosen greedily by :func:`_brought_down`; at least one sample of a split is kept."""
        result = np.zeros(len(samples), np.bool_)
        for split in (0, 1, 2):
            rows = np.flatnonzero(samples.questions.split == split)
            if len(rows) < self.least:
                continue
            names = [name for name in NAMES if name not in {"random", "rule"} and (split or name not in FITTED)]
            train = samples.select((samples.questions.split == 0) & ~result)
            split_samples = samples.select(samples.questions.split == split)
            hits = np.stack([chosen_right(split_samples, self.baselines.candidate_scores(name, train, split_samples)) for name in names])
            families = [self.train if name in FITTED else self.count if name in COUNTING else self.position for name in names]
            share = np.maximum(families, (1 / split_samples.candidates.counts()).mean())
            result[rows] = _brought_down(hits, share, _doubt(split_samples), split_samples.questions.id)
        return result


def _brought_down(
    hits: BoolArray, share: npt.NDArray[np.float64], doubt: npt.NDArray[np.float32], ids: npt.NDArray[np.uint64]
) -> BoolArray:
    """Choose samples to drop (bool), greedily, until each baseline is right for at most its ``share`` of the remaining samples.

    ``hits`` (baselines × samples): whether a baseline gets a sample right; ``share`` has one entry per baseline.

    >>> right = np.array([[True, True, False, False]])
    >>> _brought_down(right, np.array([0.4]), np.zeros(4, np.float32), np.arange(4, dtype=np.uint64)).tolist()
    [True, False, False, False]
    """
    is_dropped = np.zeros(hits.shape[1], np.bool_)
    while (~is_dropped).sum() > 1:
        is_left = ~is_dropped
        excess = hits[:, is_left].sum(axis=1) - share * is_left.sum()
        exceeds = excess > ROUNDING
        if not exceeds.any():
            break
        weight = np.where(is_left, (hits & exceeds[:, None]).sum(axis=0), -1)
        worst = np.flatnonzero(weight == weight.max())
        # A dropped sample lowers the excess of a baseline that gets it right by less than one, so this many are needed in any case.
        order = worst[np.lexsort((ids[worst], -doubt[worst]))]
        is_dropped[order[: min(max(1, int(excess[exceeds].min())), int(is_left.sum()) - 1)]] = True
    return is_dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNamedInQuery(SampleGate):
    """Rejects samples whose query names the answer, because the query is not masked in the masked twin."""

    reason: ClassVar[str] = "the query itself names the answer"
    setting: ClassVar[str] = "qangaroo.bias.named_answer"
    named: Adjacency
    """Entity → entities whose names can be read in its label."""

    def rejected(self, samples: Samples) -> BoolArray:
        """The subject's label contains a form of a name of the answer."""
        return self.named.contains(samples.questions.head, samples.questions.answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNamedInSubjectDocument(SampleGate):
    """Like :class:`AnswerStatedInSubjectDocument`, for all forms of all names, including those that are not linked."""

    reason: ClassVar[str] = "the subject's own article contains a plural, a derived form or an unlinked name of the answer"
    setting: ClassVar[str] = "qangaroo.bias.named_answer"
    articles: IntArray
    """Entity → row of the article about it, or -1."""
    named: Adjacency
    """Document → entities whose names can be read in its text; only articles about subjects have entries."""

    def rejected(self, samples: Samples) -> BoolArray:
        """A name of the answer can be read in the subject's article."""
        return _in_subject_document(samples.questions, self.articles, self.named)


@kernel
def _within(offsets, pairs, limit):  # type: ignore[no-untyped-def]
    """Accept rows in order, unless one of their pairs already occurs in ``limit`` accepted rows (bool, rows).

    >>> _within(np.array([0, 1, 2, 3]), np.array([0, 0, 1]), 1).tolist()
    [True, False, True]
    """
    is_accepted, counts = np.zeros(len(offsets) - 1, np.bool_), np.zeros(pairs.max() + 1 if len(pairs) else 1, np.int64)
    for row in range(len(is_accepted)):
        has_room = True
        for i in range(offsets[row], offsets[row + 1]):
            has_room = has_room and counts[pairs[i]] < limit
        is_accepted[row] = has_room
        if has_room:
            for i in range(offsets[row], offsets[row + 1]):
                counts[pairs[i]] += 1
    return is_accepted


GATES: dict[str, type[Gate]] = {
    gate.__name__: gate
    for gate in (
        NoDocumentFromSubject, AnswerStatedInSubjectDocument, AnswerStatedBesideSubject, AnswerNotReached, TooFewCandidates,
        TooManyCandidates, TooManyDocuments, RelationSaysLittle, AnswerNotImplied, PathLeadsAnywhere, ChainAddsLittle, AnotherImpliedMore,
        RelationSeldomImplied, AnswerTooFrequent, DocumentCue, AnswerMostMentioned,
        ShortcutSuffices, AnswerNamedInQuery, AnswerNamedInSubjectDocument,
    )
}  # fmt: skip
