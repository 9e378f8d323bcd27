"""What is lost when questions are written and read again, counted part by part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from operator import attrgetter

from kgqa.errors import BrokenInput
from kgqa.progress import Progress
from kgqa.records import Instance

LOST = "not there at all"
MORE = "more than there were"
FIELDS = (
    "question",
    "answers",
    "answer_id",
    "answer_type",
    "candidates",
    "chains",
    "grades",
    "decomposition",
    "answerable",
    "group",
    "provenance",
)
OF_PARAGRAPHS = {
    "paragraph ids": "id",
    "titles": "title",
    "texts": "text",
    "supporting paragraphs": "supporting",
    "mentions": "mentions",
    "sentences": "sentences",
    "supporting sentences": "supporting_sentences",
}
"""Part of a question → the field of its paragraphs."""
PARTS = (*FIELDS, *OF_PARAGRAPHS)
_OF_QUESTION, _OF_PARAGRAPH = attrgetter(*FIELDS), attrgetter(*OF_PARAGRAPHS.values())


class Written:
    """The questions of one split as they were written. Memory: some eighteen numbers (about 1 kB) each."""

    def __init__(self) -> None:
        """None was written yet."""
        self._digests: dict[str, tuple[int, ...]] = {}
        """Id of a question → its number, and a hash of each of ``PARTS``."""

    def __len__(self) -> int:
        """How many they are."""
        return len(self._digests)

    def watch(self, instances: Iterable[Instance], progress: Progress) -> Iterator[Instance]:
        """The same Instances, which are written next; BrokenInput where an id is there twice."""
        for instance in instances:
            if instance.id in self._digests:
                raise BrokenInput(f"instance {instance.id}: this id is there twice; make the dataset again.")
            self._digests[instance.id] = (len(self._digests), *_digests(instance))
            progress.advance(1)
            yield instance

    def changed_in(self, again: Iterable[Instance], progress: Progress) -> Counter[str]:
        """In how many questions each part is not what it was, now that they are read ``again``; what is known of them is used up."""
        waiting, keys, back, place = self._digests, list(self._digests), set[str](), 0
        changed = Counter[str]()
        for instance in again:
            progress.advance(1)
            key = instance.id
            if key in waiting:
                back.add(key)
            elif key not in back and place < len(keys) and keys[place] in waiting:
                # The order is kept; where an id is not, its place tells which question it was.
                key = keys[place]
                changed["id"] += 1
            else:
                changed[MORE] += 1
                continue
            number, *old = waiting.pop(key)
            place = number + 1
            changed.update(part for part, digest, new in zip(PARTS, old, _digests(instance), strict=True) if digest != new)
        changed[LOST] += len(waiting)
        return +changed


def _digests(instance: Instance) -> Iterator[int]:
    """A hash of each of ``PARTS``; they are compared within one run only, so Python's own will do."""
    # Column by column, as the paragraphs' fields are compared.
    columns = zip(*map(_OF_PARAGRAPH, instance.paragraphs), strict=True) if instance.paragraphs else [()] * len(OF_PARAGRAPHS)
    return map(hash, chain(_OF_QUESTION(instance), columns))
