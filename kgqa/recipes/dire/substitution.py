"""Copies of a paragraph in which names are other names: text, title, mentions and sentence offsets stay consistent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from kgqa.recipes.dire.entities import Entity
from kgqa.records import Mention, Paragraph

_SMALL = bytes(range(256)).decode("latin-1").lower().encode("latin-1")
SURNAME = 4
"""A last word shorter than this is no name by itself."""


@dataclass(frozen=True, slots=True)
class Name:
    """What is to be replaced."""

    spellings: tuple[str, ...]
    """Upper and lower case are the same."""
    surname: str = ""
    """The last word, which may stand alone, as "Lovelace" for "Ada Lovelace"; empty where it may not."""
    entity: str | None = None
    """Mentions of this entity are replaced too, whatever their spelling."""


def name_of(spellings: tuple[str, ...], entity: str | None = None) -> Name:
    """A name with the surname that the first spelling has if it looks like a person's."""
    words = spellings[0].split()
    is_person = 2 <= len(words) <= 3 and len(words[-1]) >= SURNAME and all(word[0].isupper() and word.isalpha() for word in words)
    return Name(spellings, words[-1] if is_person else "", entity)


class Place(NamedTuple):
    """Where a name stands."""

    start: int
    end: int
    name: int
    """Which of the names it is."""
    is_surname: bool


class Template:
    """A paragraph that can be had with other names; where the old ones stand is looked for once."""

    def __init__(self, paragraph: Paragraph, names: Sequence[Name]) -> None:
        """Every place of a name on token boundaries is found, longer names first; mentions come before spellings."""
        self._paragraph = paragraph
        self._is_marked = paragraph.mentions is not None or paragraph.sentences is not None
        numbers = {name.entity: number for number, name in enumerate(names) if name.entity is not None}
        mentioned = [Place(m.start, m.end, numbers[m.entity], False) for m in paragraph.mentions or () if m.entity in numbers]
        spellings = sorted(_spellings(names), key=lambda entry: -len(entry[0]))
        self._places = _apart([*mentioned, *_found(paragraph.text, spellings)])
        self._rest = _between(paragraph.text, self._places)
        title = paragraph.title or ""
        self._title_places = _apart(_found(title, spellings))
        self._title_rest = _between(title, self._title_places)

    def has(self, name: int) -> bool:
        """Whether the name stands anywhere in the paragraph or its title."""
        return any(place.name == name for place in (*self._places, *self._title_places))

    def filled(self, new: Sequence[Entity], *, id: str) -> Paragraph:  # noqa: A002 - what it is called
        """A copy that does not support the answer, with one of ``new`` for each name."""
        spelled = [(entity.name, _surname(entity.name)) for entity in new]
        paragraph, places = self._paragraph, self._places
        marks = _Marks(places, [spelled[place.name][place.is_surname] for place in places], new) if self._is_marked else None
        return Paragraph(
            id=id,
            title=None if paragraph.title is None else _joined(self._title_rest, self._title_places, spelled),
            text=_joined(self._rest, places, spelled),
            supporting=False,
            mentions=marks.mentions(paragraph.mentions) if marks and paragraph.mentions is not None else None,
            sentences=tuple([marks.moved(start) for start in paragraph.sentences]) if marks and paragraph.sentences is not None else None,
            supporting_sentences=None if paragraph.supporting_sentences is None else (),
        )


class _Marks:
    """Where places of the old text are in the new one; what lies inside a replaced name moves to its beginning."""

    def __init__(self, places: Sequence[Place], spelled: Sequence[str], new: Sequence[Entity]) -> None:
        self._places, self._spelled, self._new = places, spelled, new

    def moved(self, old: int) -> int:
        shift = 0
        for place, name in zip(self._places, self._spelled, strict=True):
            if old < place.end:
                return min(old, place.start) + shift
            shift += len(name) - (place.end - place.start)
        return old + shift

    def mentions(self, mentions: Iterable[Mention]) -> tuple[Mention, ...]:
        """Those of other entities, and those of replaced ones that nobody need guess: a whole name whose new id is known."""
        found = []
        for mention in mentions:
            touched = [n for n, place in enumerate(self._places) if place.start < mention.end and mention.start < place.end]
            start = self.moved(mention.start)
            if not touched:
                found.append(Mention(entity=mention.entity, start=start, end=start + mention.end - mention.start))
                continue
            place, entity = self._places[touched[0]], self._new[self._places[touched[0]].name].id
            if entity is not None and not place.is_surname and (mention.start, mention.end) == (place.start, place.end):
                found.append(Mention(entity=entity, start=start, end=start + len(self._spelled[touched[0]])))
        return tuple(found)


def _spellings(names: Sequence[Name]) -> list[tuple[str, int, bool]]:
    found = [(spelling.lower(), number, False) for number, name in enumerate(names) for spelling in name.spellings if spelling]
    return found + [(name.surname.lower(), number, True) for number, name in enumerate(names) if name.surname]


def _found(text: str, spellings: Iterable[tuple[str, int, bool]]) -> list[Place]:
    lowered, found = _small(text), []
    for spelling, name, is_surname in spellings:
        start = lowered.find(spelling)
        while start >= 0:
            end = start + len(spelling)
            if not (lowered[start - 1 : start].isalnum() or lowered[end : end + 1].isalnum()):
                found.append(Place(start, end, name, is_surname))
            start = lowered.find(spelling, end)
    return found


def _small(text: str) -> str:
    """In small letters, each in its place."""
    try:
        return text.encode("latin-1").translate(_SMALL).decode("latin-1")  # thirty times as fast as str.lower where letters have accents
    except UnicodeEncodeError:
        small = text.lower()
        return small if len(small) == len(text) else text  # a letter whose small form is longer would move every place after it


def _apart(places: Sequence[Place]) -> list[Place]:
    """Those that touch no earlier one, from left to right."""
    kept: list[Place] = []
    for place in places:
        if all(place.end <= other.start or other.end <= place.start for other in kept):
            kept.append(place)
    return sorted(kept, key=lambda place: place.start)


def _between(text: str, places: Sequence[Place]) -> list[str]:
    ends = [0, *[place.end for place in places]]
    return [text[end:start] for end, start in zip(ends, [*[place.start for place in places], len(text)], strict=True)]


def _surname(name: str) -> str:
    """What stands for a name alone: its last word, or all of it where that is no name."""
    last = name.rsplit(maxsplit=1)[-1]
    return last if last[:1].isupper() else name


def _joined(rest: Sequence[str], places: Sequence[Place], spelled: Sequence[tuple[str, str]]) -> str:
    parts = [rest[0]]
    for place, after in zip(places, rest[1:], strict=True):
        parts += (spelled[place.name][place.is_surname], after)
    return "".join(parts)
