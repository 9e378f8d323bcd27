"""One span of the question or of a paragraph."""

from __future__ import annotations

from typing import Any

import torch

from kgqa.readers.numbers.mentions import parsed_number
from kgqa.readers.transformer.numeric.batch import NumericBatch
from kgqa.readers.transformer.numeric.head import Answer, Features, Head
from kgqa.readers.transformer.segments import LEAST, best_ends, segment_best, segment_logsumexp
from kgqa.records import Instance


class SpanHead(Head):
    """The start and the end token; every span that names the answer is right."""

    name = "span"

    def __init__(self, width: int, *, longest: int) -> None:
        """The weights are the reading network's own; ``longest``: tokens of an answer."""
        super().__init__()
        self._longest = longest

    def log_likelihood(self, batch: NumericBatch, features: Features) -> torch.Tensor:
        """Of all spans that name the answer."""
        spans = features.starts[batch.span_first] + features.ends[batch.span_last]
        likelihood = segment_logsumexp(spans, batch.span_example, batch.count)
        return torch.where(batch.is_one_span > 0, likelihood, torch.full_like(likelihood, LEAST))

    def outputs(self, batch: NumericBatch, features: Features) -> list[Any]:
        """Paragraph, begin and end in characters, and probability; paragraph -1 if no text is shown."""
        best, last = best_ends(features.starts, features.ends, batch.paragraph, self._longest)
        at = segment_best(best, batch.token_example, batch.count).clamp_max(len(best) - 1)
        columns = (batch.paragraph[at], batch.begin[at], batch.end[last[at]], best[at].exp())
        return list(zip(*(column.tolist() for column in columns), strict=True))

    def answer(self, instance: Instance, output: Any) -> Answer | None:
        """The span in the paragraph's spelling; a number with its value and unit if it is nothing else."""
        paragraph, start, end, probability = output
        text = instance.paragraphs[paragraph].text[start:end] if paragraph >= 0 else ""
        if not text.strip():
            return None
        number = parsed_number(text)
        if number is None:
            return Answer(text=text, probability=probability, type="span")
        return Answer(
            text=text, probability=probability, type="number", value=number.value, unit="" if number.is_year else number.unit
        )  # fmt: skip
