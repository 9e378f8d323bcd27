"""What an audit cannot measure without a trained reader; the report says so instead of being silent."""

from __future__ import annotations

REASON = "needs a trained reader"
READER_CHECKS = {
    "question-only": "What a reader scores that sees the question and no paragraph.",
    "context-only": "What a reader scores, on answers and on support, that sees the paragraphs and no question.",
    "single-paragraph": "What a reader scores that may read one paragraph of its choice.",
    "disconnected-reasoning": "What a reader scores that sees the supporting paragraphs apart (DiRe).",
}
"""Check by a reader that is kept from reasoning (Trivedi et al. 2022, section 7.2.2) → what it measures."""
