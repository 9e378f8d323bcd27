"""A sum or difference of numbers of the question and the paragraphs: each is added, subtracted, or left out (Dua et al. 2019).

NumNet lets the numbers exchange messages along their order (Ran et al. 2019). Here each number is told its rank among all, whether it is a
calendar year, and whether it is in the question.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import torch

from kgqa.readers.numbers.mentions import number_text
from kgqa.readers.numbers.sums import OPERANDS, is_sound, result
from kgqa.readers.transformer.numeric.batch import NumericBatch
from kgqa.readers.transformer.numeric.examples import numbers_of
from kgqa.readers.transformer.numeric.head import Answer, Features, Head, perceptron
from kgqa.readers.transformer.segments import segment_logsumexp, segment_size
from kgqa.records import Instance

LEFT_OUT, ADDED, SUBTRACTED = range(3)
MOST = 8
"""The likeliest numbers of a question, among which the answer's are chosen."""


class SumHead(Head):
    """A sign for each number."""

    name = "sum"

    def __init__(self, width: int) -> None:
        """The weights are random."""
        super().__init__()
        self.sign = perceptron(2 * width + 3, 3)

    def log_likelihood(self, batch: NumericBatch, features: Features) -> torch.Tensor:
        """Of all sums that give the answer; the probability of a sum is the product of the signs of all numbers."""
        signs = self._log_probabilities(batch, features)
        total = features.pooled.new_zeros(batch.count).index_add(0, batch.number_example, signs[:, LEFT_OUT])
        gains = signs[batch.term_number, batch.term_sign] - signs[batch.term_number, LEFT_OUT]
        sums = total[batch.sum_example].index_add(0, batch.term_sum, gains)
        return segment_logsumexp(sums, batch.sum_example, batch.count)

    def _log_probabilities(self, batch: NumericBatch, features: Features) -> torch.Tensor:
        """Of the three signs (K × 3)."""
        counts = segment_size(batch.number_example, batch.count)[batch.number_example]
        features_of_numbers = (batch.number_rank / (counts - 1).clamp_min(1), batch.number_is_year, batch.number_is_asked)
        columns = [
            features.hidden[batch.number].float(),
            features.pooled[batch.number_example],
            torch.stack(features_of_numbers, 1).float(),
        ]
        return self.sign(torch.cat(columns, 1)).log_softmax(1)

    def outputs(self, batch: NumericBatch, features: Features) -> list[Any]:
        """The log-probability that all numbers are left out; and of the likeliest numbers place, sign, and gain of that log-probability."""
        signs = self._log_probabilities(batch, features)
        total = features.pooled.new_zeros(batch.count).index_add(0, batch.number_example, signs[:, LEFT_OUT]).tolist()
        best, sign = signs[:, ADDED:].max(1)
        gains = (best - signs[:, LEFT_OUT]).tolist()
        numbers: list[list[tuple[int, int, float]]] = [[] for _ in total]
        for example, is_subtracted, gain in zip(batch.number_example.tolist(), sign.tolist(), gains, strict=True):
            numbers[example].append((len(numbers[example]), -1 if is_subtracted else 1, gain))
        return [(left_out, sorted(own, key=lambda entry: -entry[2])[:MOST]) for left_out, own in zip(total, numbers, strict=True)]

    def answer(self, instance: Instance, output: Any) -> Answer | None:
        """The likeliest sum of numbers that may be added, with the unit of the result; None without numbers."""
        left_out, numbers_by_gain = output
        mentions = [mention for _, mention in numbers_of(instance)]
        best: tuple[float, Any, Any] | None = None
        for size in range(1, OPERANDS + 1):
            for terms in combinations(numbers_by_gain, size):
                gain = sum(term[2] for term in terms)
                numbers, signs = [mentions[place] for place, _, _ in terms], [sign for _, sign, _ in terms]
                if (best is None or gain > best[0]) and is_sound(numbers, signs):
                    best = gain, numbers, signs
        if best is None:
            return None
        value, unit = result(best[1], best[2])
        probability = float(torch.tensor(left_out + best[0]).exp().clamp_max(1.0))
        return Answer(text=number_text(value), probability=probability, type="number", value=value, unit=unit)
