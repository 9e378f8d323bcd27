"""The tensors of questions with numbers."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from kgqa.readers.transformer.batch import ReadingBatch


@dataclass(frozen=True, slots=True, kw_only=True)
class NumericBatch(ReadingBatch):
    """A :class:`ReadingBatch` with K numbers, and D sums of T terms in all that give the answers. All tensors are int64."""

    number: torch.Tensor
    """(K): the number's first token."""
    number_rank: torch.Tensor
    """(K): how many numbers of the question are smaller."""
    number_is_year: torch.Tensor
    number_is_asked: torch.Tensor
    """(K): 1 in the question, 0 in a paragraph."""
    number_example: torch.Tensor

    sum_example: torch.Tensor
    """(D): the question whose answer the sum is."""
    term_sum: torch.Tensor
    """(T): the sum that the term belongs to."""
    term_number: torch.Tensor
    """(T): the number in it."""
    term_sign: torch.Tensor
    """(T): 1 added, 2 subtracted."""

    is_one_span: torch.Tensor
    """(B): 1 if each span that names the answer is a whole answer."""
    is_several_spans: torch.Tensor
    """(B): 1 if the spans that name the answer's parts are one answer, and each part has one."""
    count_label: torch.Tensor
    """(B): the answer as a small whole number, -1 if it is none."""
    choice_label: torch.Tensor
    """(B): 0 yes, 1 no, -1 another answer."""
    is_none: torch.Tensor
    """(B): 1 if the paragraphs do not answer the question."""
