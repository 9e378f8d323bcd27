"""What is lost when questions are written and read again, counted part by part: gold, fields of an Instance, notes in its provenance."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import chain
from operator import attrgetter
from sys import intern
from typing import Any, NamedTuple

from kgqa.errors import BrokenInput, GoldLost
from kgqa.formats.gold import GOLD, gold_of
from kgqa.formats.provenance import everything
from kgqa.progress import Progress
from kgqa.records import Instance

LOST = "not there at all"
MORE = "more than there were"
FIELDS = (
    "question",
    "answers",
    "alternatives",
    "answer_id",
    "answer_type",
    "candidates",
    "chains",
    "grades",
    "decomposition",
    "answerable",
    "group",
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
WHOLE = frozenset({"faults", "strategyqa_paragraphs"})
"""Notes that are counted as one: their fields are places and ids."""
RECORD = frozenset({"absent_fields", "empty_fields", "null_fields", "given_facts"})
"""What several formats note of how a record is put down."""
_OF_QUESTION, _OF_PARAGRAPH = attrgetter(*FIELDS), attrgetter(*OF_PARAGRAPHS.values())


@dataclass(slots=True)
class Changes:
    """In how many questions each part is not what it was."""

    gold: Counter[str] = field(default_factory=Counter)
    """Part of ``gold.GOLD`` → questions that have lost it."""
    parts: Counter[str] = field(default_factory=Counter)
    """One of ``PARTS``, ``LOST``, ``MORE``, ``"id"``, or ``note NAME.FIELD`` of a note that is not there any more → questions."""

    def __iadd__(self, other: Changes) -> Changes:
        """Those of other questions too."""
        self.gold += other.gold
        self.parts += other.parts
        return self

    def check_gold(self, where: str, to: str, total: int) -> None:
        """GoldLost where gold was lost."""
        if self.gold:
            listed = ", ".join(f"{part} ({self.gold[part]:,} of {total:,})" for part in GOLD if part in self.gold)
            raise GoldLost(
                f"{where}: written as {to}, questions lose gold: {listed}; write native, which holds everything, or give --lossy to do "
                "without it."
            )


class _Question(NamedTuple):
    """What is known of a question that was written."""

    number: int
    parts: tuple[int, ...]
    """A hash of each of ``PARTS``."""
    gold: tuple[int | None, ...]
    notes: tuple[tuple[str, int], ...]
    """What each note is called, and its hash."""


class Written:
    """The questions of one split as they were written. Memory: some thirty numbers (about 1.5 kB) each."""

    def __init__(self) -> None:
        """None was written yet."""
        self._digests: dict[str, _Question] = {}
        """By the ids of the questions."""

    def __len__(self) -> int:
        """How many they are."""
        return len(self._digests)

    def watch(self, instances: Iterable[Instance], progress: Progress) -> Iterator[Instance]:
        """The same Instances, which are written next; BrokenInput where an id is there twice."""
        for instance in instances:
            if instance.id in self._digests:
                raise BrokenInput(f"instance {instance.id}: this id is there twice; make the dataset again.")
            self._digests[instance.id] = _question(len(self._digests), instance)
            progress.advance(1)
            yield instance

    def changed_in(self, again: Iterable[Instance], progress: Progress) -> Changes:
        """What is not what it was, now that they are read ``again``; what is known of them is used up."""
        waiting, keys, back, place = self._digests, list(self._digests), set[str](), 0
        found = Changes()
        changed = found.parts
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
            old = waiting.pop(key)
            place = old.number + 1
            new = _question(place, instance)
            changed.update(part for part, before, after in zip(PARTS, old.parts, new.parts, strict=True) if before != after)
            found.gold.update(part for part, before, after in zip(GOLD, old.gold, new.gold, strict=True) if before not in (None, after))
            # Formats of one family note the same under names of their own.
            kept = {digest for _, digest in new.notes}
            changed.update({f"note {name}": 1 for name, digest in old.notes if digest not in kept})
        changed[LOST] += len(waiting)
        found.parts = +changed
        return found


def _question(number: int, instance: Instance) -> _Question:
    notes = everything(instance) if instance.provenance else {}
    return _Question(number, tuple(_digests(instance)), tuple(gold_of(instance, notes)), tuple(_notes(notes)))


def _notes(notes: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """What is noted, each field of a note for itself."""
    for name, note in notes.items():
        if not isinstance(note, dict) or name in WHOLE:
            yield name, hash(_text(note))
            continue
        for inner, value in note.items():
            # A name is there once in memory, however many questions have it.
            yield intern(f"{name}.{inner}" if inner not in RECORD else f"{name}, form of the record"), hash(_text(value))


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _digests(instance: Instance) -> Iterator[int]:
    """A hash of each of ``PARTS``; they are compared within one run only, so Python's own will do."""
    # Column by column, as the paragraphs' fields are compared.
    columns = zip(*map(_OF_PARAGRAPH, instance.paragraphs), strict=True) if instance.paragraphs else [()] * len(OF_PARAGRAPHS)
    return map(hash, chain(_OF_QUESTION(instance), columns))
