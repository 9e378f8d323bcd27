"""What an audit cannot measure without a trained reader; the report says so instead of being silent."""

from __future__ import annotations

from dataclasses import dataclass

REASON = "needs a trained reader"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReaderCheck:
    """A check by a reader that is kept from reasoning (Trivedi et al. 2022, section 7.2.2)."""

    name: str
    meaning: str


READER_CHECKS = (
    ReaderCheck(name="question-only", meaning="What a reader scores that sees the question and no paragraph."),
    ReaderCheck(name="context-only", meaning="What a reader scores, on answers and on support, that sees the paragraphs and no question."),
    ReaderCheck(name="single-paragraph", meaning="What a reader scores that may read one paragraph of its choice."),
    ReaderCheck(name="disconnected-reasoning", meaning="What a reader scores that sees the supporting paragraphs apart (DiRe)."),
)
