"""The losses when questions are written and read again, counted part by part: gold, fields of an Instance, notes in its provenance."""

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
INDIVISIBLE_NOTES = frozenset({"faults", "strategyqa_paragraphs"})
"""Notes that are counted as one part each, because their fields are places and ids."""
FORM_FIELDS = frozenset({"absent_fields", "empty_fields", "null_fields", "given_facts"})
"""Fields of several formats' notes about the form of a record."""
_OF_QUESTION, _OF_PARAGRAPH = attrgetter(*FIELDS), attrgetter(*OF_PARAGRAPHS.values())


@dataclass(slots=True)
class Changes:
    """The number of changed questions, by part."""

    gold: Counter[str] = field(default_factory=Counter)
    """Part of ``gold.GOLD`` → questions that lost it."""
    parts: Counter[str] = field(default_factory=Counter)
    """One of ``PARTS``, ``LOST``, ``MORE``, ``"id"``, or ``note NAME.FIELD`` for a lost note → questions."""

    def __iadd__(self, other: Changes) -> Changes:
        """Add the counts of other questions."""
        self.gold += other.gold
        self.parts += other.parts
        return self

    def check_gold(self, location: str, to: str, total: int) -> None:
        """Raise GoldLost if any gold was lost."""
        if self.gold:
            losses = ", ".join(f"{part} ({self.gold[part]:,} of {total:,})" for part in GOLD if part in self.gold)
            raise GoldLost(
                f"{location}: written as {to}, questions lose gold: {losses}; write native, which holds everything, or give --lossy to do "
                "without it."
            )


class _Digest(NamedTuple):
    """The hashes of a question's parts."""

    number: int
    parts: tuple[int, ...]
    """A hash of each of ``PARTS``."""
    gold: tuple[int | None, ...]
    """A hash of each part of ``GOLD``."""
    notes: tuple[tuple[str, int], ...]
    """Name and hash of each note."""


class WrittenQuestions:
    """The digests of one split's questions. Memory: some thirty numbers (about 1.5 kB) each."""

    def __init__(self) -> None:
        """Questions are added as they are written."""
        self._digests: dict[str, _Digest] = {}
        """Question id → digest."""

    def __len__(self) -> int:
        """The number of questions."""
        return len(self._digests)

    def watch(self, instances: Iterable[Instance], progress: Progress) -> Iterator[Instance]:
        """Pass the Instances through to their writer, and record them. Raises BrokenInput for a repeated id."""
        for instance in instances:
            if instance.id in self._digests:
                raise BrokenInput(f"instance {instance.id}: this id occurs twice; generate the dataset again.")
            self._digests[instance.id] = _digest(len(self._digests), instance)
            progress.advance(1)
            yield instance

    def compare(self, instances: Iterable[Instance], progress: Progress) -> Changes:
        """The changes in ``instances``, the same questions read again. Can be called once, since it uses up the digests."""
        digests, keys, ids, place = self._digests, list(self._digests), set[str](), 0
        changes = Changes()
        parts = changes.parts
        for instance in instances:
            progress.advance(1)
            key = instance.id
            if key in digests:
                ids.add(key)
            elif key not in ids and place < len(keys) and keys[place] in digests:
                # Formats keep the order, so the place identifies a question whose id has changed.
                key = keys[place]
                parts["id"] += 1
            else:
                parts[MORE] += 1
                continue
            old_digest = digests.pop(key)
            place = old_digest.number + 1
            new_digest = _digest(place, instance)
            parts.update(part for part, before, after in zip(PARTS, old_digest.parts, new_digest.parts, strict=True) if before != after)
            changes.gold.update(
                part for part, before, after in zip(GOLD, old_digest.gold, new_digest.gold, strict=True) if before not in (None, after)
            )
            # Formats of one family keep the same note under different names, so only hashes are compared.
            note_hashes = {note_hash for _, note_hash in new_digest.notes}
            parts.update({f"note {name}": 1 for name, note_hash in old_digest.notes if note_hash not in note_hashes})
        parts[LOST] += len(digests)
        changes.parts = +parts
        return changes


def _digest(number: int, instance: Instance) -> _Digest:
    notes = everything(instance) if instance.provenance else {}
    return _Digest(number, tuple(_part_hashes(instance)), tuple(gold_of(instance, notes)), tuple(_note_hashes(notes)))


def _note_hashes(notes: Mapping[str, Any]) -> Iterator[tuple[str, int]]:
    """Name and hash of each field of each note."""
    for name, note in notes.items():
        if not isinstance(note, dict) or name in INDIVISIBLE_NOTES:
            yield name, hash(_text(note))
            continue
        for inner, value in note.items():
            # Interned, so that all questions share one string.
            yield intern(f"{name}.{inner}" if inner not in FORM_FIELDS else f"{name}, form of the record"), hash(_text(value))


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _part_hashes(instance: Instance) -> Iterator[int]:
    """A hash of each of ``PARTS``. Python's own hash suffices, since hashes are compared in one process only."""
    # The paragraphs' fields are compared one by one, so transpose them into columns.
    columns = zip(*map(_OF_PARAGRAPH, instance.paragraphs), strict=True) if instance.paragraphs else [()] * len(OF_PARAGRAPHS)
    return map(hash, chain(_OF_QUESTION(instance), columns))
