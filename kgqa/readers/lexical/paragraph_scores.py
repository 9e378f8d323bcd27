"""TF-IDF similarity of a question plus one of its choices to a single paragraph.

Welbl et al. (2018, section 6.1) search for query and candidate with Whoosh. Here the score is the sum over the distinct tokens of both of
the token's count in the paragraph times its inverse document frequency.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import Rows
from kgqa.readers.lexical.choices import Scores


def inverse_frequency(frequency: npt.NDArray[np.integer], documents: int) -> Scores:
    """log(N / (n + 1)) + 1 for tokens that occur in n = ``frequency`` of N = ``documents``."""
    return np.log(documents / (frequency + 1.0)) + 1.0


def best_paragraphs(
    choices: Rows, paragraphs: Rows, *, question_tokens: Rows, texts: Rows, labels: Rows, idf: Scores
) -> tuple[Scores, npt.NDArray[np.int64]]:
    """For each choice its score in the best paragraph of its question, and that paragraph's index in ``paragraphs.targets``; 0 and -1 if
    none.

    Question → its ``choices``, rows of ``labels``; its ``paragraphs``, rows of ``texts``; and its ``question_tokens``. Tokens are indices
    into ``idf``. Memory: 16 bytes per choice, 32 per token of ``idf``.
    """
    return _best_paragraphs(
        choices.offsets, choices.targets, paragraphs.offsets, paragraphs.targets, question_tokens.offsets, question_tokens.targets,
        texts.offsets, texts.targets, labels.offsets, labels.targets, idf,
    )  # fmt: skip


@kernel
def _best_paragraphs(  # type: ignore[no-untyped-def]
    choice_offsets, choices, paragraph_offsets, paragraphs, question_offsets, question_tokens, text_offsets, text, label_offsets, label, idf
):
    """O(paragraphs × tokens of their question's choices), plus the tokens of each question's paragraphs once."""
    scores, best = np.zeros(len(choices), np.float64), np.full(len(choices), -1, np.int64)
    stamp, count = np.full(len(idf), -1, np.int64), np.zeros(len(idf), np.int64)
    in_question, in_label = np.full(len(idf), -1, np.int64), np.full(len(idf), -1, np.int64)
    choice_stamp = 0
    for question in range(len(choice_offsets) - 1):
        for entry in range(paragraph_offsets[question], paragraph_offsets[question + 1]):
            for i in range(text_offsets[paragraphs[entry]], text_offsets[paragraphs[entry] + 1]):
                if stamp[text[i]] != entry:
                    stamp[text[i]] = entry
                    count[text[i]] = 0
                count[text[i]] += 1
            base = 0.0
            for i in range(question_offsets[question], question_offsets[question + 1]):
                word = question_tokens[i]
                if in_question[word] != entry:
                    in_question[word] = entry
                    if stamp[word] == entry:
                        base += count[word] * idf[word]
            for choice_entry in range(choice_offsets[question], choice_offsets[question + 1]):
                score = base
                choice_stamp += 1
                for i in range(label_offsets[choices[choice_entry]], label_offsets[choices[choice_entry] + 1]):
                    word = label[i]
                    if stamp[word] == entry and in_question[word] != entry and in_label[word] != choice_stamp:
                        in_label[word] = choice_stamp
                        score += count[word] * idf[word]
                if best[choice_entry] < 0 or score > scores[choice_entry]:
                    scores[choice_entry] = score
                    best[choice_entry] = entry
    return scores, best
