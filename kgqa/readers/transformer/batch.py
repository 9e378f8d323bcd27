"""The tensors that the reading network takes, by name and shape."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingBatch:
    """B questions with W windows of N tokens in all; M paragraphs and S sentences in windows, A spans that name an answer; O owners.

    There is no padding: windows, tokens and so on of all questions follow each other, and ``*_example`` (int64) holds the question that
    each belongs to. An owner is what a span may name: each candidate of a question, or the answer of a question without candidates. All
    tensors are int64.
    """

    question_tokens: torch.Tensor
    """(B): tokens of the question at the beginning of each of its windows, with special tokens."""
    choices: torch.Tensor
    """(B): number of candidates."""
    gold: torch.Tensor
    """(B): the gold owner, among the question's own; -1 if unknown."""
    sufficiency: torch.Tensor
    """(B): DiRe's label, -1, 0 or 1."""
    owners: torch.Tensor
    """(B): number of owners, at least 1."""
    owner_base: torch.Tensor
    """(B): owners of all earlier questions."""
    owner_example: torch.Tensor
    """(O): the question of each owner."""

    lengths: torch.Tensor
    """(W): tokens of the window."""
    offsets: torch.Tensor
    """(W): the window's first token."""
    window_example: torch.Tensor
    order: torch.Tensor
    """(W): numbers of the windows, in the order in which groups of similar length are encoded."""
    places: torch.Tensor
    """(N): where each token is in the padded groups, one after the other."""
    cpu_groups: torch.Tensor
    """(groups, 3), on the CPU: windows of the group, tokens of its longest and of its shortest window."""

    ids: torch.Tensor
    """(N): numbers in the tokenizer's vocabulary."""
    paragraph: torch.Tensor
    """(N): the paragraph whose text the token belongs to, as in ``Windows.paragraphs``."""
    begin: torch.Tensor
    """(N): first character of the token in its paragraph; ``end`` is exclusive."""
    end: torch.Tensor
    token_example: torch.Tensor

    mark: torch.Tensor
    """(M): the ``[SEP]`` token that represents the paragraph in a window."""
    mark_paragraph: torch.Tensor
    """(M): its number in the question."""
    mark_label: torch.Tensor
    """(M): 1 supporting, 0 not, ``UNKNOWN`` if the set does not say."""
    mark_example: torch.Tensor

    sentence: torch.Tensor
    """(S): the sentence's first token."""
    sentence_paragraph: torch.Tensor
    sentence_number: torch.Tensor
    sentence_label: torch.Tensor
    """(S): 1 supporting, 0 not, ``UNKNOWN`` if the set does not say."""
    sentence_example: torch.Tensor

    span_first: torch.Tensor
    """(A): first token of the span; ``span_last`` is inclusive."""
    span_last: torch.Tensor
    span_owner: torch.Tensor
    """(A): the owner that the span names, among the question's own."""
    span_example: torch.Tensor

    @property
    def count(self) -> int:
        """The number of questions, B."""
        return len(self.gold)
