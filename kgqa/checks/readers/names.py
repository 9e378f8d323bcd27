"""Measures with trained readers; this module does not import them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """A figure that trained readers measure: its name, level and meaning."""

    name: str
    """As in ``--fail-on name>0.5``."""
    title: str
    meaning: str
    remedy: str
    full_only: bool = False
    """Whether it needs ``--readers full``."""

    @property
    def level(self) -> str:
        """Lowest level of ``--readers`` that measures it."""
        return "full" if self.full_only else "minimal"


MEASURES = (
    Measure(
        name="question-only",
        title="A reader that sees the question only",
        meaning="The answer score of a reader that is shown no paragraph: it knows common answers, and what questions let one expect.",
        remedy="Hold back frequent answers, or give candidates of the same type.",
    ),
    Measure(
        name="context-only",
        title="A reader that sees the paragraphs only",
        meaning="The answer score of a reader that is not told what is asked: it knows what answers look like, and what stands out.",
        remedy="Add distractors like the supporting paragraphs: of the same kind, length and number of names.",
    ),
    Measure(
        name="one-paragraph",
        title="A reader that reads one paragraph",
        meaning="The answer score of a reader that answers from one paragraph of its choice, so that it cannot connect two (1-Para).",
        remedy="Add distractors that fit the last hop without those before it, or leave out questions that one paragraph answers.",
    ),
    Measure(
        name="dire",
        title="Disconnected reasoning (DiRe)",
        meaning=(
            "The answer F1 that can be put together from contexts none of which holds all supporting paragraphs, by readers trained on "
            "such contexts: how cheatable the set is (Trivedi et al. 2020, equation 8)."
        ),
        remedy="Transform the set with kgqa contrast sufficiency, or leave out questions that are answered this way.",
        full_only=True,
    ),
    Measure(
        name="dire-conditional",
        title="Disconnected reasoning of the full reader",
        meaning=(
            "The part of the full reader's answer F1 that it also reaches from such contexts, without being trained on them: the smaller "
            "of its two scores, question by question (equation 7)."
        ),
        remedy="Train readers to tell sufficient contexts from others.",
        full_only=True,
    ),
    Measure(
        name="dire-sufficiency",
        title="Disconnected reasoning after the sufficiency transform",
        meaning=(
            "The same as the DiRe score for the transformed set T(D), where a question counts only if every context's sufficiency is told "
            "right (Ans + Suff, equation 10): what is left to be cheated."
        ),
        remedy="If this is not clearly lower than the DiRe score, the distractors tell the supporting paragraphs apart by themselves.",
        full_only=True,
    ),
)
"""In the order of the report."""
FULL_READER = "the full reader"
TRANSFORMED_WHOLE = "the full reader after the sufficiency transform"
REASON, REASON_FULL = "needs a trained reader: --readers minimal", "needs trained readers: --readers full"


def reason_for(measure: Measure) -> str:
    """Why it was not measured."""
    return REASON_FULL if measure.full_only else REASON
