"""One class per rule that keeps a question or sample, or rejects it with a reason that is a sentence.

Gates work on columns and count nothing; ``rejected.py`` does that for all of them alike.
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
from kgqa.recipes.qangaroo.baselines import FITTED, NAMES, Baselines, chosen_right
from kgqa.recipes.qangaroo.samples import HOP_ROLES, BoolArray, Grades, Questions, Samples, by_length, facts_on_path
from kgqa.records import SPLITS
from kgqa.traversal.base import Graph

ROUNDING = 1e-9
"""A share of 0.29 of 100 samples is 29, though their product as floats is a little less."""


class Gate(ABC):
    """A rule; ``reason`` is the sentence for people, ``setting`` what to change if it rejects too much."""

    reason: ClassVar[str]
    setting: ClassVar[str]


Measure = tuple[npt.NDArray[np.float64], float | npt.NDArray[np.float64]]
"""For each item what a gate compares, nan where that is not all it looks at, and with what."""


class QuestionGate(Gate):
    """A rule that needs no traversal."""

    @abstractmethod
    def rejected(self, questions: Questions) -> BoolArray:
        """For each question whether it must go."""


class SampleGate(Gate):
    """A rule about a question with its candidates and documents."""

    @abstractmethod
    def rejected(self, samples: Samples) -> BoolArray:
        """For each sample whether it must go."""

    def measured(self, samples: Samples) -> Measure | None:
        """What a sample has, and what it would need to pass; None for a rule that compares no number."""
        return None

    def raised(self, samples: Samples) -> Iterator[str]:
        """A sentence for each split of ``samples`` that is too small for the setting, so that more than it says was let through."""
        yield from ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NoDocumentFromSubject(QuestionGate):
    """The traversal cannot begin."""

    reason: ClassVar[str] = "no document leads on from the subject"
    setting: ClassVar[str] = "projection, documents"
    graph: Graph

    def rejected(self, questions: Questions) -> BoolArray:
        """The subject's row of the adjacency is empty."""
        stuck: BoolArray = self.graph.documents_of.counts()[questions.head] == 0
        return stuck


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStatedInSubjectDocument(QuestionGate):
    """WikiHop asks for what the subject's own article does not say (Welbl et al. 2018, section 3)."""

    reason: ClassVar[str] = "the subject's own article states the answer"
    setting: ClassVar[str] = "qangaroo.answer_stated"
    articles: IntArray
    """Entity → row of the article about it, or -1."""
    stated: Adjacency
    """Document → entities that its text states, under any name."""

    def rejected(self, questions: Questions) -> BoolArray:
        """The article has an occurrence of the answer, be it inside a longer name."""
        return _in_subject_document(questions, self.articles, self.stated)


def _in_subject_document(questions: Questions, articles: IntArray, stated: Adjacency) -> BoolArray:
    """For each question whether ``stated`` has its answer in the article about its subject, which ``articles`` tells."""
    article = articles[questions.head]
    has = article >= 0
    result = np.zeros(len(questions), np.bool_)
    result[has] = stated.contains(article[has], questions.answer[has])
    return result


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerStatedBesideSubject(QuestionGate):
    """MedHop asks for pairs that no single document mentions together (Welbl et al. 2018, section 6.3)."""

    reason: ClassVar[str] = "a document states subject and answer together"
    setting: ClassVar[str] = "qangaroo.answer_stated"
    stating: Adjacency
    """Entity → documents that state it."""

    def rejected(self, questions: Questions) -> BoolArray:
        """Some document is in the rows of both."""
        return count_shared(self.stating.offsets, self.stating.targets, questions.head, questions.answer, 0) > 0  # type: ignore[no-any-return]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNotReached(SampleGate):
    """The pair is discarded if the answer is not among the visited end points (section 2.1)."""

    reason: ClassVar[str] = "no chain of documents leads from the subject to the answer"
    setting: ClassVar[str] = "qangaroo.traversal.max_documents"

    def rejected(self, samples: Samples) -> BoolArray:
        """No candidates at all: the search records them only where it reached the answer."""
        return samples.candidates.counts() < 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TooFewCandidates(SampleGate):
    """A choice needs an alternative."""

    reason: ClassVar[str] = "too few candidates are reached"
    setting: ClassVar[str] = "qangaroo.min_candidates"
    minimum: int

    def rejected(self, samples: Samples) -> BoolArray:
        """Fewer than ``minimum``."""
        return samples.candidates.counts() < self.minimum

    def measured(self, samples: Samples) -> Measure:
        """How many."""
        return samples.candidates.counts().astype(np.float64), self.minimum


@dataclass(frozen=True, slots=True, kw_only=True)
class TooManyCandidates(SampleGate):
    """Not more than a reader can weigh, nor than there are placeholders (section 3)."""

    reason: ClassVar[str] = "too many candidates are reached"
    setting: ClassVar[str] = "qangaroo.max_candidates"
    maximum: int

    def rejected(self, samples: Samples) -> BoolArray:
        """More than ``maximum``."""
        return samples.candidates.counts() > self.maximum

    def measured(self, samples: Samples) -> Measure:
        """How many."""
        return samples.candidates.counts().astype(np.float64), self.maximum


@dataclass(frozen=True, slots=True, kw_only=True)
class TooManyDocuments(SampleGate):
    """Not more than a reader can hold (section 3)."""

    reason: ClassVar[str] = "too many support documents"
    setting: ClassVar[str] = "qangaroo.max_documents"
    maximum: int

    def rejected(self, samples: Samples) -> BoolArray:
        """More than ``maximum``."""
        return samples.documents.counts() > self.maximum

    def measured(self, samples: Samples) -> Measure:
        """How many."""
        return samples.documents.counts().astype(np.float64), self.maximum


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationSaysLittle(SampleGate):
    """Relations are chosen by measure, not by name (docs/wikihop.md)."""

    reason: ClassVar[str] = "the relation says little about its subject: it has too many objects, or texts hardly state it"
    setting: ClassVar[str] = "qangaroo.evidence.max_objects, qangaroo.evidence.text_lift"
    left_out: BoolArray
    """For each relation whether it is not asked about."""

    def rejected(self, samples: Samples) -> BoolArray:
        """Those of a relation that is left out."""
        excluded: BoolArray = self.left_out[samples.questions.relation]
        return excluded


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNotImplied(SampleGate):
    """The answer's best chain must imply it, and its weakest hop must be stated well enough."""

    reason: ClassVar[str] = "no chain implies the answer surely enough"
    setting: ClassVar[str] = "qangaroo.evidence.grade, qangaroo.evidence.grade_long, qangaroo.evidence.text, qangaroo.evidence.facts"
    least: float
    long: float
    """``least`` for chains of three documents."""
    text: int
    facts: int
    roles: int
    """How many roles facts have; those of texts come after them."""

    def rejected(self, samples: Samples) -> BoolArray:
        """The grade of the answer is too low."""
        return self.weak(_of_answers(samples))

    def measured(self, samples: Samples) -> Measure:
        """The confidence, where it is all that is too low."""
        grades = _of_answers(samples)
        alone = (grades["text"] >= self.text) & (facts_on_path(grades, self.roles) >= self.facts)
        return np.where(alone, _decimal(grades["confidence"]), np.nan), np.asarray(by_length(grades, self.least, self.long), np.float64)

    def weak(self, grades: Grades) -> BoolArray:
        """Which of ``grades`` are too low for an answer."""
        weak: BoolArray = (grades["confidence"] < by_length(grades, self.least, self.long)) | (grades["text"] < self.text)
        weak |= facts_on_path(grades, self.roles) < self.facts
        return weak


@dataclass(frozen=True, slots=True, kw_only=True)
class PathLeadsAnywhere(SampleGate):
    """What is so of a neighbour's neighbour, or of somebody in the same film, is so by likeness; no chain of documents shows it."""

    reason: ClassVar[str] = "the path leads from such subjects to many ends and back to many subjects, or over what is only alike"
    setting: ClassVar[str] = "qangaroo.evidence.functional"
    least: float
    forwards: npt.NDArray[np.float64]
    """For each role its functionality; ``backwards`` that of the role read from the other end."""
    backwards: npt.NDArray[np.float64]
    symmetric: BoolArray
    """For each relation whether it joins likes."""

    def rejected(self, samples: Samples) -> BoolArray:
        """The product of its roles' functionality is less than ``least`` in both directions, or a symmetric relation leads to one that is
        not."""
        functional, by_likeness = self._looked_at(samples)
        anywhere: BoolArray = (functional < self.least) | by_likeness
        return anywhere

    def measured(self, samples: Samples) -> Measure:
        """The product in the better direction, where no likeness is at fault."""
        functional, by_likeness = self._looked_at(samples)
        return np.where(by_likeness, np.nan, functional), self.least

    def _looked_at(self, samples: Samples) -> tuple[npt.NDArray[np.float64], BoolArray]:
        grades = _of_answers(samples)
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
    """Who knows how often each answer is one must learn something from the chain."""

    reason: ClassVar[str] = "the chain makes the answer hardly likelier than its frequency does"
    setting: ClassVar[str] = "qangaroo.evidence.odds, qangaroo.evidence.odds_long"
    least: float
    long: float
    """``least`` for chains of three documents."""
    share: npt.NDArray[np.float64]
    """For each question of the run, by place in ``of``, the share of the relation's subjects that have its answer as an object."""
    of: npt.NDArray[np.int64]
    """The questions' relation and answer in one number, ascending."""

    def rejected(self, samples: Samples) -> BoolArray:
        """The odds by the chain are less than ``least`` times those by frequency."""
        by_chain, by_frequency, least = self._odds(samples)
        little: BoolArray = by_chain < least * by_frequency
        return little

    def measured(self, samples: Samples) -> Measure:
        """How many times the odds."""
        by_chain, by_frequency, least = self._odds(samples)
        return np.divide(by_chain, by_frequency, out=np.full(len(by_chain), np.nan), where=by_frequency > 0), least

    def _odds(self, samples: Samples) -> tuple[npt.NDArray[np.float64], ...]:
        """The odds by the chain and by frequency, both times the same, and how many times the one must be the other."""
        at = find(self.of, paired(samples.questions.relation, samples.questions.answer))
        share = np.where(at >= 0, self.share[at] if len(self.share) else 0.0, 0.0)
        grades = _of_answers(samples)
        sure, least = grades["confidence"].astype(np.float64), np.where(grades["third"] >= 0, self.long, self.least)
        return sure * (1 - share), share * (1 - sure), least


@dataclass(frozen=True, slots=True, kw_only=True)
class AnotherImpliedMore(SampleGate):
    """Where the chain to another candidate implies more, a reader who reasons well is led astray."""

    reason: ClassVar[str] = "the chain to another candidate implies more than that to the answer"
    setting: ClassVar[str] = "qangaroo.evidence"

    def rejected(self, samples: Samples) -> BoolArray:
        """Some other candidate has a higher confidence."""
        assert samples.grades is not None
        best = np.zeros(len(samples), np.float32)
        np.maximum.at(best, samples.question_of_candidate(), samples.grades["confidence"])
        outranked: BoolArray = best > _of_answers(samples)["confidence"]
        return outranked


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationSeldomImplied(SampleGate):
    """Where hardly any sample of a relation is implied, the few that are may be so by accident."""

    reason: ClassVar[str] = "hardly any sample of the relation is implied by its chain, so these are by accident"
    setting: ClassVar[str] = "qangaroo.evidence.graded_share"
    least: float
    samples: npt.NDArray[np.int64]
    """For each relation how many samples there were before any was left out for what its chains imply."""

    def rejected(self, samples: Samples) -> BoolArray:
        """Fewer than ``least`` of the relation's samples are still here."""
        counts = np.bincount(samples.questions.relation, minlength=len(self.samples))
        seldom: BoolArray = (counts < self.least * self.samples)[samples.questions.relation]
        return seldom

    def measured(self, samples: Samples) -> Measure:
        """The share of the relation's samples that are still here."""
        counts = np.bincount(samples.questions.relation, minlength=len(self.samples))
        return (counts / np.maximum(self.samples, 1))[samples.questions.relation], self.least


def _of_answers(samples: Samples) -> npt.NDArray[np.void]:
    assert samples.grades is not None, "samples are graded before what they imply is asked"
    return samples.grades[samples.is_answer()]


def _decimal(confidence: npt.NDArray[np.floating]) -> npt.NDArray[np.float64]:
    """The shortest decimal numbers that name the same: 0.9 and not 0.8999999761581421."""
    written: npt.NDArray[np.float64] = confidence.astype(np.float32).astype(str).astype(np.float64)
    return written


def _doubt(samples: Samples) -> npt.NDArray[np.float32]:
    """By which samples are ordered, the best-graded ones first; the same for all where there are no grades."""
    doubt: npt.NDArray[np.float32] = np.zeros(len(samples), np.float32) if samples.grades is None else -_of_answers(samples)["confidence"]
    return doubt


def _entering(entering: Mapping[int, int], split: int, arriving: int) -> int:
    """How many samples of a split count as those that enter: what the gate was told, or those that arrive where they are more."""
    return max(entering.get(int(split), 0), arriving)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerTooFrequent(SampleGate):
    """No answer makes up more than a share of its split (section 3.2); which samples go is drawn by their ids' hashes, the best-graded
    ones last.

    ``of`` "entering": the share is of the samples that arrive here; "kept": of those that stay, found as the largest cap that keeps the
    promise. A cap is never below one sample per answer; where a share of those that enter is less than one sample, each answer keeps as
    many as answers have on average (docs/decisions/0013-small-sets.md).
    """

    reason: ClassVar[str] = "the answer is the answer of too many other samples"
    setting: ClassVar[str] = "qangaroo.bias.answer_cap"
    share: float
    of: str
    entering: Mapping[int, int] = field(default_factory=dict)
    """For a split how many samples count as those that enter, where it is more than do: what the paper's recipe would let in."""

    def rejected(self, samples: Samples) -> BoolArray:
        """All but the first ``cap`` samples of each answer and split."""
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
            result[order] = rank >= self.cap(counts, entering=_entering(self.entering, split, len(rows)))
        return result

    def cap(self, counts: npt.NDArray[np.integer], *, entering: int = 0) -> int:
        """How many samples an answer may keep, given how many each has."""
        if self.of == "entering":
            return int(self.share * max(entering, counts.sum()) + ROUNDING) or int(counts.mean())
        caps = np.arange(1, counts.max() + 1)
        ordered = np.sort(counts)
        below = np.searchsorted(ordered, caps)
        total = np.concatenate([[0], np.cumsum(ordered)])[below] + caps * (len(counts) - below)
        fitting = np.flatnonzero(caps <= self.share * total + ROUNDING)
        return int(caps[fitting[-1]]) if len(fitting) else 1

    def raised(self, samples: Samples) -> Iterator[str]:
        """The splits of which the share is less than one sample, where answers keep several all the same."""
        for split in np.unique(samples.questions.split):
            counts = np.unique(samples.questions.answer[samples.questions.split == split], return_counts=True)[1]
            entering = _entering(self.entering, split, int(counts.sum()))
            cap = self.cap(counts, entering=entering)
            if self.of == "entering" and cap > max(1, self.share * entering + ROUNDING):
                yield (
                    f"{self.share:.6g} of the {entering:,} samples of {SPLITS[split]} is less than one; an answer keeps at most {cap:,} of "
                    "them, as many as answers have on average"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentCue(SampleGate):
    """A document seen too often with one correct answer gives the answer away (section 3.2); counted within each split.

    Where a share of a split is less than ``LEAST`` samples, ``LEAST`` may share a pair: what is seen once gives nothing away. Where all
    that share a pair go, and so every sample of a split would, the limit is raised for it to the smallest at which one stays
    (docs/decisions/0013-small-sets.md).
    """

    reason: ClassVar[str] = "a support document gives the answer away: the two were seen together too often"
    setting: ClassVar[str] = "qangaroo.bias.document_cue"
    LEAST: ClassVar[int] = 2
    limit: float
    """From 1 a number of samples, below 1 a share of those of the split that enter the filters."""
    drops: str = "all"
    """``surplus``: of the samples with such a pair the limit's number stays, the best-graded ones, then by their ids' hashes."""
    entering: Mapping[int, int] = field(default_factory=dict)
    """As for :class:`AnswerTooFrequent`."""

    def rejected(self, samples: Samples) -> BoolArray:
        """Some (document, answer) of the sample is in more than the limit's number of samples of the split with that answer."""
        most = self._most(samples)
        result = np.zeros(len(samples), np.bool_)
        for split in np.unique(samples.questions.split):
            rows = samples.questions.split == split
            limit = self.number(_entering(self.entering, split, int(rows.sum())))
            if self.drops == "all":
                limit = max(limit, int(most[rows].min()))
            result[rows] = most[rows] > limit
            if self.drops == "surplus" and result[rows].any():
                result[self._stay(samples, np.flatnonzero(rows), limit)] = False
        return result

    def _stay(self, samples: Samples, rows: npt.NDArray[np.integer], limit: int) -> npt.NDArray[np.integer]:
        """Those of ``rows`` that stay when they are taken one by one, as long as none of their pairs is there ``limit`` times."""
        doubt = _doubt(samples)
        order = rows[np.lexsort((samples.questions.id[rows], doubt[rows]))]
        documents = samples.documents.take(order)
        pairs = paired(samples.questions.answer[order][documents.sources()], documents.targets)
        _, number = np.unique(pairs, return_inverse=True)
        stay: npt.NDArray[np.integer] = order[_within(documents.offsets, number.astype(np.int64), limit)]
        return stay

    def number(self, samples: int) -> int:
        """The samples of a split of so many that may share a document and an answer."""
        return int(self.limit) if self.limit >= 1 else max(self.LEAST, int(self.limit * samples + ROUNDING))

    def raised(self, samples: Samples) -> Iterator[str]:
        """The splits of which nothing would be left, and those of which the share is too small."""
        most = self._most(samples)
        for split in np.unique(samples.questions.split):
            counts = most[samples.questions.split == split]
            entering = _entering(self.entering, split, len(counts))
            number, least, name = self.number(entering), int(counts.min()), SPLITS[split]
            if least > number and self.drops == "all":
                yield f"with {number:,}, nothing would be left of {name}; there a document may be seen with an answer {least:,} times"
            elif self.limit < 1 and number > self.limit * entering + ROUNDING and counts.max() >= number:
                yield (
                    f"{self.limit:.6g} of the {entering:,} samples of {name} is less than {number:,}; there a document may be seen with an "
                    f"answer {number:,} times"
                )

    def _most(self, samples: Samples) -> npt.NDArray[np.int64]:
        """For each sample how often the most frequent of its (document, answer) is seen in its split."""
        most = np.zeros(len(samples), np.int64)
        sample = samples.documents.sources()
        pair = paired(samples.questions.answer[sample], samples.documents.targets)
        for split in np.unique(samples.questions.split):
            rows = samples.questions.split[sample] == split
            _, inverse, counts = np.unique(pair[rows], return_inverse=True, return_counts=True)
            np.maximum.at(most, sample[rows], counts[inverse])
        return most


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerMostMentioned(SampleGate):
    """Where the answer is the candidate that the documents mention most, and oftener so than by chance, counting does for reading.

    The published WikiHop does not have this cue (Welbl et al. 2018, section 6: max-mention 10.6, random 11.5). Where most candidates leave,
    it comes up, and masking does not hide it.
    """

    reason: ClassVar[str] = "the documents mention the answer most, in more samples than chance would have it"
    setting: ClassVar[str] = "qangaroo.bias.mention_cue"
    mentions: Callable[[Samples], npt.NDArray[np.float64]]
    """For each candidate how often the sample's documents mention it."""

    def rejected(self, samples: Samples) -> BoolArray:
        """In each split as few as it takes to bring who counts mentions down to chance and its standard error, as less cannot be told from
        chance; the worst-graded first, then by their ids' hashes. One sample of a split stays whatever it is like."""
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
        """How likely who takes the candidate that is mentioned most takes the answer; of several, any one may be taken."""
        mentions, question = self.mentions(samples), samples.question_of_candidate()
        most = np.zeros(len(samples))
        np.maximum.at(most, question, mentions)
        best = mentions == most[question]
        right: npt.NDArray[np.float64] = best[samples.is_answer()] / np.bincount(question[best], minlength=len(samples))
        return right


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortcutSuffices(SampleGate):
    """Where baselines that read nothing are right too often, as many of the samples leave that they get right.

    All are brought down together, to ``share`` of a split or to chance where that is more: again and again the sample leaves that most of
    those get right which are still above, the worst-graded first, then by their ids' hashes. Baselines that learn from train are brought
    down on dev and test, after train is settled.
    """

    reason: ClassVar[str] = "baselines that read nothing get it right, and do so for too many samples of the split"
    setting: ClassVar[str] = "qangaroo.bias.shortcut_share"
    share: float
    baselines: Baselines
    untrained: float = 1.0
    """``share`` of the baselines that learn nothing from train, which masking does not stop."""
    least: int = 100
    """A split of fewer samples is left as it is: what is above chance there cannot be told from it."""

    def raised(self, samples: Samples) -> Iterator[str]:
        """The splits that are left as they are."""
        for split, name in enumerate(SPLITS):
            if 0 < (count := int((samples.questions.split == split).sum())) < self.least:
                yield f"{name} has {count:,} samples, too few to tell a shortcut from chance; none was dropped"

    def rejected(self, samples: Samples) -> BoolArray:
        """In each split as few as it takes; one sample of a split stays whatever it is like."""
        result = np.zeros(len(samples), np.bool_)
        for split in (0, 1, 2):
            rows = np.flatnonzero(samples.questions.split == split)
            if len(rows) < self.least:
                continue
            names = [name for name in NAMES if name not in {"random", "rule"} and (split or name not in FITTED)]
            train = samples.select((samples.questions.split == 0) & ~result)
            split_samples = samples.select(samples.questions.split == split)
            right = np.stack([chosen_right(split_samples, self.baselines.candidate_scores(name, train, split_samples)) for name in names])
            shares = np.array([self.share if name in FITTED else min(self.share, self.untrained) for name in names])
            share = np.maximum(shares, (1 / split_samples.candidates.counts()).mean())
            result[rows] = _brought_down(right, share, _doubt(split_samples), split_samples.questions.id)
        return result


def _brought_down(
    right: BoolArray, share: npt.NDArray[np.float64], doubt: npt.NDArray[np.float32], ids: npt.NDArray[np.uint64]
) -> BoolArray:
    """Which columns of ``right`` (baselines × samples) leave, so that no row is true for more than its ``share`` of those that stay."""
    dropped = np.zeros(right.shape[1], np.bool_)
    while (~dropped).sum() > 1:
        staying = ~dropped
        excess = right[:, staying].sum(axis=1) - share * staying.sum()
        over = excess > ROUNDING
        if not over.any():
            break
        weight = np.where(staying, (right & over[:, None]).sum(axis=0), -1)
        worst = np.flatnonzero(weight == weight.max())
        # Each that leaves lowers the excess of a row that it is in by less than one.
        order = worst[np.lexsort((ids[worst], -doubt[worst]))]
        dropped[order[: min(max(1, int(excess[over].min())), int(staying.sum()) - 1)]] = True
    return dropped


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNamedInQuery(SampleGate):
    """The query is shown as it is, in the masked twin too; no mask can hide there what the question asks for."""

    reason: ClassVar[str] = "the query itself names the answer"
    setting: ClassVar[str] = "qangaroo.bias.named_answer"
    named: Adjacency
    """Entity → entities that can be read in its label."""

    def rejected(self, samples: Samples) -> BoolArray:
        """The subject's label has a form of the answer's names."""
        return self.named.contains(samples.questions.head, samples.questions.answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNamedInSubjectDocument(SampleGate):
    """As :class:`AnswerStatedInSubjectDocument`, of all forms of all names, those too that are no occurrence."""

    reason: ClassVar[str] = "the subject's own article has a plural, a derived form, or a name of the answer that does not link"
    setting: ClassVar[str] = "qangaroo.bias.named_answer"
    articles: IntArray
    """Entity → row of the article about it, or -1."""
    named: Adjacency
    """Document → entities that can be read in its text; only articles about subjects are asked for."""

    def rejected(self, samples: Samples) -> BoolArray:
        """The answer can be read in the article."""
        return _in_subject_document(samples.questions, self.articles, self.named)


@kernel
def _within(offsets, pairs, limit):  # type: ignore[no-untyped-def]
    """For each row whether all its pairs are in fewer than ``limit`` rows that were taken before it."""
    accepted, counts = np.zeros(len(offsets) - 1, np.bool_), np.zeros(pairs.max() + 1 if len(pairs) else 1, np.int64)
    for row in range(len(accepted)):
        room = True
        for i in range(offsets[row], offsets[row + 1]):
            room = room and counts[pairs[i]] < limit
        accepted[row] = room
        if room:
            for i in range(offsets[row], offsets[row + 1]):
                counts[pairs[i]] += 1
    return accepted


GATES: dict[str, type[Gate]] = {
    gate.__name__: gate
    for gate in (
        NoDocumentFromSubject, AnswerStatedInSubjectDocument, AnswerStatedBesideSubject, AnswerNotReached, TooFewCandidates,
        TooManyCandidates, TooManyDocuments, RelationSaysLittle, AnswerNotImplied, PathLeadsAnywhere, ChainAddsLittle, AnotherImpliedMore,
        RelationSeldomImplied, AnswerTooFrequent, DocumentCue, AnswerMostMentioned,
        ShortcutSuffices, AnswerNamedInQuery, AnswerNamedInSubjectDocument,
    )
}  # fmt: skip
