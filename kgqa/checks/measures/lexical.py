"""Kernels on word hashes: does a text hold an answer, how many of the question's words does it have. Each is linear in the words read."""

from __future__ import annotations

import numpy as np

from kgqa.arrays.kernel import kernel
from kgqa.arrays.particles import BEGINS, ENDS


@kernel
def holds_any(text_offsets, text_bounds, text_words, edges, answer_offsets, answer_bounds, answer_words):  # type: ignore[no-untyped-def]
    """Whether each text contains one of its question's answers as a run of words (bool, texts).

    Texts of question q are ``text_offsets[q]`` to ``text_offsets[q + 1]``, answers ``answer_offsets[q]`` to ``answer_offsets[q + 1]``;
    words of text or answer i are ``words[bounds[i]:bounds[i + 1]]``. No text contains an answer without words. ``edges`` (uint8, words of
    the texts) are those of :func:`kgqa.arrays.particles.word_edges`.
    """
    out = np.zeros(len(text_bounds) - 1, np.bool_)
    for question in range(len(text_offsets) - 1):
        for text in range(text_offsets[question], text_offsets[question + 1]):
            for answer in range(answer_offsets[question], answer_offsets[question + 1]):
                begin, size = answer_bounds[answer], answer_bounds[answer + 1] - answer_bounds[answer]
                if size == 0 or out[text]:
                    continue
                for start in range(text_bounds[text], text_bounds[text + 1] - size + 1):
                    if text_words[start] == answer_words[begin] and edges[start] & BEGINS and edges[start + size - 1] & ENDS:
                        k = 1
                        while k < size and text_words[start + k] == answer_words[begin + k]:
                            k += 1
                        if k == size:
                            out[text] = True
                            break
    return out


@kernel
def overlap(text_offsets, text_bounds, text_words, question_bounds, question_words):  # type: ignore[no-untyped-def]
    """The overlap of each text with its question (float64, texts): the sum of log((1 + n) / (1 + m)) over their distinct common words.

    n is the number of the question's texts and m the number with the word. A word in all of them counts nothing.
    """
    out = np.zeros(len(text_bounds) - 1, np.float64)
    for question in range(len(text_offsets) - 1):
        begin, end = text_offsets[question], text_offsets[question + 1]
        words = np.unique(question_words[question_bounds[question] : question_bounds[question + 1]])
        has = np.zeros((end - begin, len(words)), np.bool_)
        for text in range(begin, end):
            for k in range(text_bounds[text], text_bounds[text + 1]):
                at = np.searchsorted(words, text_words[k])
                if at < len(words) and words[at] == text_words[k]:
                    has[text - begin, at] = True
        for at in range(len(words)):
            text_count = 0
            for text in range(end - begin):
                text_count += has[text, at]
            weight = np.log((1.0 + (end - begin)) / (1.0 + text_count))
            for text in range(end - begin):
                if has[text, at]:
                    out[begin + text] += weight
    return out


@kernel
def best_holds(text_offsets, scores, holds, among):  # type: ignore[no-untyped-def]
    """The share of each question's best-scored texts ``among`` the selected ones (one bool each) that hold the answer; NaN without any.

    Scores that differ by less than a billionth count as equal, so that the order of additions does not matter.
    """
    out = np.full(len(text_offsets) - 1, np.nan)
    for question in range(len(out)):
        best = -1.0
        for text in range(text_offsets[question], text_offsets[question + 1]):
            if among[text]:
                best = max(best, scores[text])
        count, holder_count = 0, 0
        for text in range(text_offsets[question], text_offsets[question + 1]):
            if among[text] and scores[text] > best - 1e-9:
                count += 1
                holder_count += holds[text]
        if count:
            out[question] = holder_count / count
    return out
