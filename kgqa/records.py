"""The one normal form of a question: every format reads into it and writes from it; nothing else travels between tools."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType

SPLITS = ("train", "dev", "test")
SPLIT_NAMES = MappingProxyType({"train": "train", "dev": "dev", "validation": "dev", "valid": "dev", "val": "dev", "test": "test"})
"""A word in the name of a file, or of a split elsewhere → the split that it stands for."""
HUB_SPLITS = MappingProxyType({"train": "train", "dev": "validation", "test": "test"})
"""Split → what the Hugging Face hub calls it."""
ANSWER_TYPES = {
    "candidate": "one of the listed candidates",
    "span": "a span of a paragraph",
    "spans": "several spans",
    "number": "a number, with or without a unit",
    "boolean": "yes or no",
    "none": "the paragraphs do not answer the question, or the answer is hidden",
}
"""Answer type → the sentence that reports show."""
REFERENCE = re.compile(r"(?<!&)#([0-9]{1,4})(?![0-9])")
"""The answer of an earlier step in a step's question. Not ``&#39;``, which is an apostrophe that was left in HTML."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A span of a paragraph's text that names an entity."""

    entity: str
    start: int
    """In characters; so is ``end``, which is exclusive."""
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """A text of a question's context."""

    id: str
    title: str | None
    text: str
    supporting: bool | None
    """Whether it is on a chain to the answer; None if the source does not say."""
    mentions: tuple[Mention, ...] | None = None
    sentences: tuple[int, ...] | None = None
    """Where each sentence begins, in characters."""
    supporting_sentences: tuple[int, ...] | None = None
    """Indices into ``sentences`` of the sentences that support the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One possible answer of a multiple-choice question."""

    id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """Confidence that the best chain to a candidate entails the candidate as the answer."""

    confidence: float
    """From 0 to 1: the share of training cases in which the path leads to a true object, as the lower bound of its 95% interval; 0: no
    known path."""
    path: str
    """Roles of its hops in words, joined by arrows; empty without a known path."""
    text: str
    """Proximity of the two entities of its weakest hop in the documents."""

    def __str__(self) -> str:
        """In words, ``0.93 by place of birth → country; in one sentence``."""
        known = f"{self.confidence:.2f} by {self.path}" if self.path else "no known path"
        return f"{known}; {self.text}" if self.text else known


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One single-hop question of a decomposition."""

    id: str
    question: str
    answer: str | None
    paragraph_id: str | None
    depends_on: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Instance:
    """A question with its context, answers and provenance; a field that a source does not have is None."""

    id: str
    question: str
    paragraphs: tuple[Paragraph, ...]
    """In the order shown."""
    answers: tuple[str, ...]
    """Alternatives: the canonical answer, its other names, and other annotators' answers. With the type ``spans`` they are the parts of one
    answer. Empty: there is no answer, or it is hidden."""
    alternatives: tuple[tuple[str, ...], ...] | None = None
    """Further correct answers that ``answers`` cannot list, each as a tuple of parts: answers of several parts, and all alternatives to an
    answer of several parts."""
    answer_id: str | None = None
    """Id of the answer's entity or candidate."""
    answer_type: str
    """A key of ``ANSWER_TYPES``."""
    candidates: tuple[Candidate, ...] | None = None
    chains: tuple[tuple[tuple[str, ...], ...], ...] | None = None
    """For each candidate its chains: alternating entity and document ids, from the subject to the candidate."""
    grades: tuple[Grade | None, ...] | None = None
    """One for each candidate; None in sets without grades."""
    decomposition: tuple[Step, ...] | None = None
    answerable: bool
    """False if the paragraphs do not answer the question. True without ``answers`` means that they are ``hidden``."""
    group: str
    """Shared by twins; splits keep a group together."""
    provenance: str | None
    """JSON: where the question comes from."""

    @property
    def hidden(self) -> bool:
        """Whether the answer is hidden, as in official test files; then answerability is unknown too."""
        return self.answerable and not self.answers

    @property
    def whole_answers(self) -> tuple[tuple[str, ...], ...]:
        """Every correct answer as a tuple of parts, the canonical one first; empty if there is none or it is hidden."""
        parts = (self.answers,) if self.answers and self.answer_type == "spans" else tuple((answer,) for answer in self.answers)
        return parts + (self.alternatives or ())

    @property
    def answer_grade(self) -> Grade | None:
        """Grade of the answer's best chain, or None."""
        return next((grade for candidate, grade in self.graded if candidate.id == self.answer_id), None)

    @property
    def best_other(self) -> tuple[Candidate, Grade] | None:
        """The best-graded candidate other than the answer, the first in a tie; None without grades."""
        other_candidates = (entry for entry in self.graded if entry[0].id != self.answer_id)
        return max(other_candidates, key=lambda entry: entry[1].confidence, default=None)

    @property
    def graded(self) -> tuple[tuple[Candidate, Grade], ...]:
        """Candidates with their grades; those without a grade are left out."""
        pairs = zip(self.candidates or (), self.grades or (), strict=False)
        return tuple((candidate, grade) for candidate, grade in pairs if grade is not None)
