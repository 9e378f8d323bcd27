"""Copies of a paragraph in which names are other names: text, title, mentions and sentence offsets stay consistent."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import NamedTuple

from kgqa.arrays.words import begins, ends
from kgqa.recipes.names.entities import Entity
from kgqa.recipes.names.statements import placed, stated
from kgqa.records import Mention, Paragraph

_SMALL = bytes(range(256)).decode("latin-1").lower().encode("latin-1")
SURNAME = 4
"""A last word shorter than this is no name by itself."""


@dataclass(frozen=True, slots=True)
class Name:
    """What is to be replaced."""

    spellings: tuple[str, ...]
    """Upper and lower case are the same, but what begins with a capital does so everywhere; what is no word is no name."""
    surname: str = ""
    """The last word, which may stand alone, as "Lovelace" for "Ada Lovelace"; empty where it may not. Its case matters."""
    entity: str | None = None
    """Mentions of this entity are replaced too, whatever their spelling."""


def person(spellings: tuple[str, ...], entity: str | None = None) -> Name:
    """A name with the surname that the first spelling has if it looks like a person's."""
    words = spellings[0].split()
    has_surname = 2 <= len(words) <= 3 and len(words[-1]) >= SURNAME and all(word[0].isupper() and word.isalpha() for word in words)
    return Name(spellings, words[-1] if has_surname else "", entity)


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
        mentioned = [Place(m.start, m.end, numbers[m.entity], False) for m in placed(paragraph) if m.entity in numbers]
        spellings = sorted(_spellings(names), key=lambda entry: -len(entry[0]))
        self._places = _apart([*mentioned, *_found(paragraph.text, spellings)])
        self._rest = _between(paragraph.text, self._places)
        title = paragraph.title or ""
        self._title_places = _apart(_found(title, spellings))
        self._title_rest = _between(title, self._title_places)

    def has(self, name: int) -> bool:
        """Whether the name stands anywhere in the text: a title alone states nothing."""
        return any(place.name == name for place in self._places)

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
        self._ends = [place.end for place in places]
        grown = (len(name) - (place.end - place.start) for place, name in zip(places, spelled, strict=True))
        self._shifts = [0, *accumulate(grown)]

    def moved(self, old: int) -> int:
        after = bisect_right(self._ends, old)
        start = self._places[after].start if after < len(self._places) else old
        return min(old, start) + self._shifts[after]

    def mentions(self, mentions: Iterable[Mention]) -> tuple[Mention, ...]:
        """Those of other entities, and those of replaced ones that nobody need guess: a whole name whose new id is known."""
        found = []
        for mention in mentions:
            first, start = bisect_right(self._ends, mention.start), self.moved(mention.start)
            if first == len(self._places) or mention.end <= self._places[first].start:
                found.append(Mention(entity=mention.entity, start=start, end=start + mention.end - mention.start))
                continue
            place = self._places[first]
            entity = self._new[place.name].id
            if entity is not None and not place.is_surname and (mention.start, mention.end) == (place.start, place.end):
                found.append(Mention(entity=entity, start=start, end=start + len(self._spelled[first])))
        return tuple(found)


def _spellings(names: Sequence[Name]) -> list[tuple[str, int, bool]]:
    found = [(spelling, number, False) for number, name in enumerate(names) for spelling in name.spellings if stated(spelling)]
    return found + [(name.surname, number, True) for number, name in enumerate(names) if name.surname]


def _found(text: str, spellings: Iterable[tuple[str, int, bool]]) -> list[Place]:
    small, found = _small(text), []
    for spelling, name, is_surname in spellings:
        where, looked_for = (text, spelling) if is_surname else (small, _small(spelling))
        start = where.find(looked_for)
        while start >= 0:
            end = start + len(looked_for)
            is_word = begins(text, start) and ends(text, end)
            if is_word and (text[start].isupper() or not spelling[0].isupper()):
                found.append(Place(start, end, name, is_surname))
            start = where.find(looked_for, end)
    return found


def _small(text: str) -> str:
    """In small letters, each in its place: the dotted I is the only one whose small form is longer."""
    try:
        return text.encode("latin-1").translate(_SMALL).decode("latin-1")  # thirty times as fast as str.lower where letters have accents
    except UnicodeEncodeError:
        return text.replace("\u0130", "i").lower().replace("\u0131", "i")


def _apart(places: Iterable[Place]) -> list[Place]:
    """Those that touch no earlier one, from left to right."""
    kept: list[Place] = []
    for place in places:
        at = bisect_left(kept, place)
        if (at == 0 or kept[at - 1].end <= place.start) and (at == len(kept) or place.end <= kept[at].start):
            kept.insert(at, place)
    return kept


def _between(text: str, places: Sequence[Place]) -> list[str]:
    ends = [0, *[place.end for place in places]]
    return [text[end:start] for end, start in zip(ends, [*[place.start for place in places], len(text)], strict=True)]


def _surname(name: str) -> str:
    """What stands for a name alone: its last word, or all of it where that is no name."""
    last = name.rpartition(" ")[2]
    return last if last[:1].isupper() else name


def _joined(rest: Sequence[str], places: Sequence[Place], spelled: Sequence[tuple[str, str]]) -> str:
    parts = [rest[0]]
    for place, after in zip(places, rest[1:], strict=True):
        parts += (spelled[place.name][place.is_surname], after)
    return "".join(parts)
