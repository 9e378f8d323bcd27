"""How like one paragraph a question is together with each of its choices, in TF-IDF.

Welbl et al. (2018, section 6.1) ask the search engine Whoosh for query and candidate; here the score is the sum over their different
tokens of the token's count in the paragraph times its inverse document frequency.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import Rows
from kgqa.readers.lexical.choices import Scores


def inverse_frequency(frequency: npt.NDArray[np.integer], documents: int) -> Scores:
    """log(N / (n + 1)) + 1 for tokens that stand in n = ``frequency`` of N = ``documents``."""
    inverse: Scores = np.log(documents / (frequency + 1.0)) + 1.0
    return inverse


def best_paragraphs(
    choices: Rows, paragraphs: Rows, *, asked: Rows, texts: Rows, labels: Rows, idf: Scores
) -> tuple[Scores, npt.NDArray[np.int64]]:
    """For each choice its score in the best paragraph of its question, and where in ``paragraphs.targets`` that is; 0 and -1: none.

    Question → its ``choices``, rows of ``labels``; its ``paragraphs``, rows of ``texts``; and the tokens that are ``asked``. Tokens are
    places in ``idf``. Memory: 16 bytes a choice, 32 for each token of ``idf``.
    """
    return _best(  # type: ignore[no-any-return]
        choices.offsets, choices.targets, paragraphs.offsets, paragraphs.targets, asked.offsets, asked.targets,
        texts.offsets, texts.targets, labels.offsets, labels.targets, idf,
    )  # fmt: skip


@kernel
def _best(  # type: ignore[no-untyped-def]
    choice_offsets, choices, shown_offsets, shown, asked_offsets, asked, text_offsets, text, label_offsets, label, idf
):
    """O(paragraphs × tokens of their question's choices), and the tokens of each question's paragraphs once."""
    scores, best = np.zeros(len(choices), np.float64), np.full(len(choices), -1, np.int64)
    stamp, count = np.full(len(idf), -1, np.int64), np.zeros(len(idf), np.int64)
    in_question, in_label = np.full(len(idf), -1, np.int64), np.full(len(idf), -1, np.int64)
    name = 0
    for question in range(len(choice_offsets) - 1):
        for place in range(shown_offsets[question], shown_offsets[question + 1]):
            for i in range(text_offsets[shown[place]], text_offsets[shown[place] + 1]):
                if stamp[text[i]] != place:
                    stamp[text[i]] = place
                    count[text[i]] = 0
                count[text[i]] += 1
            base = 0.0
            for i in range(asked_offsets[question], asked_offsets[question + 1]):
                word = asked[i]
                if in_question[word] != place:
                    in_question[word] = place
                    if stamp[word] == place:
                        base += count[word] * idf[word]
            for at in range(choice_offsets[question], choice_offsets[question + 1]):
                score = base
                name += 1
                for i in range(label_offsets[choices[at]], label_offsets[choices[at] + 1]):
                    word = label[i]
                    if stamp[word] == place and in_question[word] != place and in_label[word] != name:
                        in_label[word] = name
                        score += count[word] * idf[word]
                if best[at] < 0 or score > scores[at]:
                    scores[at] = score
                    best[at] = place
    return scores, best
