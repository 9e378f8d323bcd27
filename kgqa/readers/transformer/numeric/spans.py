"""Several spans, by tags: each token begins a span, goes on with one, or is outside (Segal et al. 2020; Efrat et al. 2020)."""

from __future__ import annotations

from typing import Any

import torch

from kgqa.metrics.normalize import normalize
from kgqa.readers.transformer.numeric.batch import NumericBatch
from kgqa.readers.transformer.numeric.head import Answer, Features, Head, perceptron
from kgqa.readers.transformer.segments import LEAST, segment_mean
from kgqa.records import Instance

OUTSIDE, BEGIN, INSIDE = range(3)
MOST_PARTS = 20


class SpansHead(Head):
    """A tag for each token; all spans that name a part of the answer are tagged."""

    name = "spans"

    def __init__(self, width: int) -> None:
        """The weights are random."""
        super().__init__()
        self.tag = perceptron(width, 3)

    def log_likelihood(self, batch: NumericBatch, features: Features) -> torch.Tensor:
        """The mean over the tagged tokens plus the mean over the others.

        It is no probability of a whole tagging, which is a product of hundreds, nearly all of them outside; no other head competes for
        these answers.
        """
        tags, is_text = gold_tags(batch), batch.paragraph >= 0
        tag_probabilities = self._log_probabilities(features).gather(1, tags[:, None]).squeeze(1)
        means = [
            segment_mean(tag_probabilities, batch.token_example, batch.count, among=group)
            for group in (is_text & (tags != OUTSIDE), is_text & (tags == OUTSIDE))
        ]
        total = means[0] + means[1]
        return torch.where(batch.is_several_spans > 0, total, torch.full_like(total, LEAST))

    def _log_probabilities(self, features: Features) -> torch.Tensor:
        return self.tag(features.hidden).log_softmax(1)

    def outputs(self, batch: NumericBatch, features: Features) -> list[Any]:
        """Paragraph, begin, end and probability of each tagged span, in the order of the windows."""
        best, tags = self._log_probabilities(features).max(1)
        tags = torch.where(batch.paragraph >= 0, tags, torch.zeros_like(tags))
        runs: list[list[tuple[int, int, int, float]]] = [[] for _ in range(batch.count)]
        tagged = torch.nonzero(tags).squeeze(1)
        columns = (tagged, tags[tagged], batch.token_example[tagged], batch.paragraph[tagged], batch.begin[tagged], batch.end[tagged])
        earlier = (-2, -1)
        for token, tag, example, paragraph, begin, end, probability in zip(
            *(column.tolist() for column in columns), best[tagged].exp().tolist(), strict=True
        ):
            own = runs[example]
            if tag == INSIDE and earlier == (token - 1, paragraph) and own:
                own[-1] = (paragraph, own[-1][1], end, min(own[-1][3], probability))
            else:
                own.append((paragraph, begin, end, probability))
            earlier = (token, paragraph)
        return runs

    def answer(self, instance: Instance, output: Any) -> Answer | None:
        """The distinct spans; the least probable one decides the probability."""
        parts: dict[str, tuple[str, float]] = {}
        for paragraph, begin, end, probability in output:
            text = instance.paragraphs[paragraph].text[begin:end]
            parts.setdefault(normalize(text), (text, probability))
        parts.pop("", None)
        answer_parts = list(parts.values())[:MOST_PARTS]
        if not answer_parts:
            return None
        texts, probability = tuple(text for text, _ in answer_parts), min(share for _, share in answer_parts)
        if len(texts) == 1:
            return Answer(text=texts[0], probability=probability, type="span")
        return Answer(text=", ".join(texts), probability=probability, type="spans", parts=texts)


def gold_tags(batch: NumericBatch) -> torch.Tensor:
    """The tags of all tokens (N) by the spans that name parts of answers."""
    tags = torch.zeros(len(batch.ids) + 1, dtype=torch.int64, device=batch.ids.device)
    edges = tags.index_add(0, batch.span_first, torch.ones_like(batch.span_first))
    edges = edges.index_add(0, batch.span_last + 1, -torch.ones_like(batch.span_last))
    tags = torch.where(edges.cumsum(0) > 0, INSIDE, OUTSIDE)
    tags[batch.span_first] = BEGIN
    return tags[:-1]
