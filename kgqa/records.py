"""The one normal form of a question: every format reads into it and writes from it; nothing else travels between tools."""

from __future__ import annotations

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Mention:
    """A place in a paragraph's text that names an entity."""

    entity: str
    start: int
    """In characters; so is ``end``, which is exclusive."""
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """One text that is shown with a question."""

    id: str
    title: str | None
    text: str
    supporting: bool | None
    """Whether it stands on a chain to the answer; None where the source does not say."""
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
    """How surely the best chain to a candidate implies that it answers the question."""

    confidence: float
    """From 0 to 1: the share of cases, seen in the training facts, in which such a path leads to a true object (lower end of its 95%
    interval); 0: no known path."""
    path: str
    """The roles of its hops as people read them, with an arrow between; "" where none is known."""
    text: str
    """How its documents put the two entities of its weakest hop together."""

    def __str__(self) -> str:
        """As people read it, ``0.93 by place of birth → country; in one sentence``."""
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
    """A question with everything that belongs to it; a field that a source lacks is None, never invented."""

    id: str
    question: str
    paragraphs: tuple[Paragraph, ...]
    """In the order shown."""
    answers: tuple[str, ...]
    """Alternatives, any of which is right: the canonical one first, then its other names and what other annotators say. Of the type
    ``spans`` they are the parts of one answer, which is right only with all of them. Empty: there is no answer, or it is hidden."""
    alternatives: tuple[tuple[str, ...], ...] | None = None
    """Further right answers, each with all of its parts, which ``answers`` cannot list: those of several parts, and any at all beside an
    answer of several parts. None: there are none."""
    answer_id: str | None = None
    """The answer's entity, or candidate."""
    answer_type: str
    """A key of ``ANSWER_TYPES``."""
    candidates: tuple[Candidate, ...] | None = None
    chains: tuple[tuple[tuple[str, ...], ...], ...] | None = None
    """For each candidate its chains: alternating entity and document ids, from the subject to the candidate."""
    grades: tuple[Grade | None, ...] | None = None
    """One for each candidate; None where a set has none."""
    decomposition: tuple[Step, ...] | None = None
    answerable: bool
    """False where the paragraphs do not answer the question. True without ``answers``: they are ``hidden``."""
    group: str
    """Twins share it, and splits keep it together."""
    provenance: str | None
    """JSON: where the question comes from."""

    @property
    def hidden(self) -> bool:
        """Whether the answer is held back, as in official test files; then nothing is known of it, not even whether there is one."""
        return self.answerable and not self.answers

    @property
    def whole_answers(self) -> tuple[tuple[str, ...], ...]:
        """Every right answer with all of its parts, the canonical one first; empty where there is none or it is hidden."""
        parts = (self.answers,) if self.answers and self.answer_type == "spans" else tuple((answer,) for answer in self.answers)
        return parts + (self.alternatives or ())

    @property
    def answer_grade(self) -> Grade | None:
        """The grade of the answer's best chain; None where nothing is known of it."""
        return next((grade for candidate, grade in self.graded if candidate.id == self.answer_id), None)

    @property
    def best_other(self) -> tuple[Candidate, Grade] | None:
        """The candidate with the best grade of those that are not the answer, the first of several; None where none has a grade."""
        others = (entry for entry in self.graded if entry[0].id != self.answer_id)
        return max(others, key=lambda entry: entry[1].confidence, default=None)

    @property
    def graded(self) -> tuple[tuple[Candidate, Grade], ...]:
        """The candidates that have a grade, with it."""
        pairs = zip(self.candidates or (), self.grades or (), strict=False)
        return tuple((candidate, grade) for candidate, grade in pairs if grade is not None)
