"""The choice that the paragraphs mention most often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from kgqa.arrays.kernel import kernel
from kgqa.arrays.search import lower_bound
from kgqa.arrays.tokens import token_hashes
from kgqa.readers.lexical.choices import Choices, Scores
from kgqa.readers.lexical.reader import LexicalReader
from kgqa.records import Instance
from kgqa.training.reader import Prediction


class MaxMention(LexicalReader):
    """Counts the mentions of a candidate where the set marks any, else how often its tokens stand in the paragraphs, in any case."""

    name = "max-mention"
    learns = False

    def answers(self, instances: Sequence[Instance]) -> Sequence[Prediction]:
        """The choice with most mentions."""
        choices = Choices.of(instances)
        return choices.predictions(mention_counts(choices), seed=self.seed)


def mention_counts(choices: Choices) -> Scores:
    """How often each choice is mentioned in its question's paragraphs; a name inside a longer one counts unless mentions are marked."""
    marked = np.array([_is_marked(instance) for instance in choices.instances], np.bool_)
    scores = np.zeros(len(choices.texts))
    for number in np.flatnonzero(marked).tolist():
        paragraphs = choices.instances[number].paragraphs
        counts = Counter(mention.entity for paragraph in paragraphs for mention in paragraph.mentions or ())
        first, last = choices.offsets[number : number + 2].tolist()
        scores[first:last] = [counts[id] if id is not None else 0 for id in choices.ids[first:last]]  # noqa: A001 - what it is called
    if not marked.all():
        scores += _in_texts(choices, marked)
    return scores


def _is_marked(instance: Instance) -> bool:
    return bool(instance.candidates) and any(paragraph.mentions is not None for paragraph in instance.paragraphs)


def _in_texts(choices: Choices, marked: npt.NDArray[np.bool_]) -> Scores:
    """The counts by tokens of all choices but those of questions that are ``marked``."""
    paragraphs = [() if done else instance.paragraphs for instance, done in zip(choices.instances, marked.tolist(), strict=True)]
    texts = token_hashes(pa.array([paragraph.text for row in paragraphs for paragraph in row], pa.string()))
    of_question = np.zeros(len(paragraphs) + 1, np.int64)
    np.cumsum([len(row) for row in paragraphs], out=of_question[1:])
    labels = token_hashes(pa.array(choices.texts, pa.string()))
    # A choice without a token is never found; its first one is then that of another, or 0.
    padded = np.concatenate([labels[1], np.zeros(1, np.uint64)])
    order = np.lexsort((padded[labels[0][:-1]], choices.questions()))
    return _occurrences(choices.offsets, order, padded[labels[0][:-1]][order], *labels, of_question, *texts)  # type: ignore[no-any-return]


@kernel
def _occurrences(  # type: ignore[no-untyped-def]
    choice_offsets, order, firsts, label_offsets, label, question_offsets, text_offsets, text
):
    """For each choice at how many places of its question's texts its tokens stand; O(tokens × log choices).

    ``order`` are the choices by their first tokens, ``firsts``, which ascend within a question.
    """
    out = np.zeros(len(order), np.float64)
    for question in range(len(choice_offsets) - 1):
        low, high = choice_offsets[question], choice_offsets[question + 1]
        for row in range(question_offsets[question], question_offsets[question + 1]):
            end = text_offsets[row + 1]
            for at in range(text_offsets[row], end):
                place = lower_bound(firsts, low, high, text[at])
                while place < high and firsts[place] == text[at]:
                    choice = order[place]
                    length = label_offsets[choice + 1] - label_offsets[choice]
                    same = 0 < length <= end - at
                    for k in range(1, length):
                        same = same and label[label_offsets[choice] + k] == text[at + k]
                    out[choice] += same
                    place += 1
    return out
