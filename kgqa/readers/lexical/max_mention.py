"""The choice that the paragraphs mention most often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.kernel import kernel
from kgqa.arrays.rows import offsets_of
from kgqa.arrays.search import lower_bound
from kgqa.arrays.tokens import token_hashes
from kgqa.readers.lexical.choices import Choices, Scores
from kgqa.readers.lexical.reader import LexicalReader
from kgqa.records import Instance
from kgqa.training.reader import Prediction


class MaxMention(LexicalReader):
    """Counts marked mentions if the set marks any, else occurrences of the choice's tokens in the paragraphs, ignoring case."""

    name = "max-mention"
    learns = False

    def answers(self, instances: Sequence[Instance]) -> Sequence[Prediction]:
        """The choice with most mentions."""
        choices = Choices.of(instances)
        return choices.predictions(mention_counts(choices), seed=self.seed)


def mention_counts(choices: Choices) -> Scores:
    """Mentions of each choice in its question's paragraphs; a name inside a longer one counts, unless mentions are marked."""
    has_mentions = np.array([_has_mentions(instance) for instance in choices.instances], np.bool_)
    scores = np.zeros(len(choices.texts))
    for number in np.flatnonzero(has_mentions).tolist():
        paragraphs = choices.instances[number].paragraphs
        counts = Counter(mention.entity for paragraph in paragraphs for mention in paragraph.mentions or ())
        first, last = choices.offsets[number : number + 2].tolist()
        scores[first:last] = [counts[candidate_id] if candidate_id is not None else 0 for candidate_id in choices.ids[first:last]]
    if not has_mentions.all():
        scores += _counts_in_texts(choices, has_mentions)
    return scores


def _has_mentions(instance: Instance) -> bool:
    return bool(instance.candidates) and any(paragraph.mentions is not None for paragraph in instance.paragraphs)


def _counts_in_texts(choices: Choices, has_mentions: npt.NDArray[np.bool_]) -> Scores:
    """Counts by tokens for all choices, except those of questions with marked mentions."""
    paragraphs = [
        () if is_counted else instance.paragraphs for instance, is_counted in zip(choices.instances, has_mentions.tolist(), strict=True)
    ]
    texts = token_hashes(pa.array([paragraph.text for row in paragraphs for paragraph in row], pa.string()))
    text_offsets = offsets_of(list(map(len, paragraphs)))
    labels = token_hashes(pa.array(choices.texts, pa.string()))
    # A choice without a token is never found; its first one is then that of another, or 0.
    padded_labels = np.concatenate([labels[1], np.zeros(1, np.uint64)])
    order = np.lexsort((padded_labels[labels[0][:-1]], choices.questions()))
    return _occurrences(choices.offsets, order, padded_labels[labels[0][:-1]][order], *labels, text_offsets, *texts)


@kernel
def _occurrences(  # type: ignore[no-untyped-def]
    choice_offsets, order, firsts, label_offsets, label, question_offsets, text_offsets, text
):
    """For each choice the number of occurrences of its tokens in its question's texts; O(tokens × log choices).

    ``order`` are the choices sorted by their first tokens, ``firsts``, which ascend within a question.
    """
    out = np.zeros(len(order), np.float64)
    for question in range(len(choice_offsets) - 1):
        low, high = choice_offsets[question], choice_offsets[question + 1]
        for row in range(question_offsets[question], question_offsets[question + 1]):
            end = text_offsets[row + 1]
            for start in range(text_offsets[row], end):
                entry = lower_bound(firsts, low, high, text[start])
                while entry < high and firsts[entry] == text[start]:
                    choice = order[entry]
                    length = label_offsets[choice + 1] - label_offsets[choice]
                    is_mention = 0 < length <= end - start
                    for k in range(1, length):
                        is_mention = is_mention and label[label_offsets[choice] + k] == text[start + k]
                    out[choice] += is_mention
                    entry += 1
    return out
