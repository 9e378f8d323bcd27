"""Copies of a paragraph with names replaced, with consistent text, title, mentions and sentence offsets."""

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
"""The minimum length of a last word that counts as a surname."""


@dataclass(frozen=True, slots=True)
class Name:
    """A name in the paragraphs that is replaced by another one."""

    spellings: tuple[str, ...]
    """Its spellings. Case is ignored, but a spelling with a capital initial only matches one; a spelling must be whole words."""
    surname: str = ""
    """The last word if it may occur alone, as "Lovelace" for "Ada Lovelace", else empty. Its case matters."""
    entity: str | None = None
    """An entity whose mentions are replaced too, whatever their spelling."""


def person(spellings: tuple[str, ...], entity: str | None = None) -> Name:
    """A name whose surname is the last word of the first spelling if that looks like a person's name."""
    words = spellings[0].split()
    has_surname = 2 <= len(words) <= 3 and len(words[-1]) >= SURNAME and all(word[0].isupper() and word.isalpha() for word in words)
    return Name(spellings, words[-1] if has_surname else "", entity)


class Place(NamedTuple):
    """The place of a name in a text."""

    start: int
    end: int
    name: int
    """The number of the name."""
    is_surname: bool


class Template:
    """A paragraph whose names can be replaced repeatedly; their places are searched once."""

    def __init__(self, paragraph: Paragraph, names: Sequence[Name]) -> None:
        """Find every place of a name on token boundaries: mentions first, then longer spellings before shorter ones."""
        self._paragraph = paragraph
        self._is_marked = paragraph.mentions is not None or paragraph.sentences is not None
        numbers = {name.entity: number for number, name in enumerate(names) if name.entity is not None}
        mention_places = [Place(m.start, m.end, numbers[m.entity], False) for m in placed(paragraph) if m.entity in numbers]
        spellings = sorted(_spellings(names), key=lambda entry: -len(entry[0]))
        self._places = _disjoint([*mention_places, *_places_of(paragraph.text, spellings)])
        self._rest = _gaps(paragraph.text, self._places)
        title = paragraph.title or ""
        self._title_places = _disjoint(_places_of(title, spellings))
        self._title_rest = _gaps(title, self._title_places)

    def has(self, name: int) -> bool:
        """Whether the name occurs in the text; a title alone states nothing."""
        return any(place.name == name for place in self._places)

    def filled(self, entities: Sequence[Entity], *, id: str) -> Paragraph:  # noqa: A002 - what it is called
        """A copy that does not support the answer, with ``entities`` in place of the names."""
        replacements = [(entity.name, _surname(entity.name)) for entity in entities]
        paragraph, places = self._paragraph, self._places
        marks = _Marks(places, [replacements[place.name][place.is_surname] for place in places], entities) if self._is_marked else None
        return Paragraph(
            id=id,
            title=None if paragraph.title is None else _join(self._title_rest, self._title_places, replacements),
            text=_join(self._rest, places, replacements),
            supporting=False,
            mentions=marks.mentions(paragraph.mentions) if marks and paragraph.mentions is not None else None,
            sentences=tuple([marks.moved(start) for start in paragraph.sentences]) if marks and paragraph.sentences is not None else None,
            supporting_sentences=None if paragraph.supporting_sentences is None else (),
        )


class _Marks:
    """Maps offsets of the old text to the new one; an offset inside a replaced name moves to its start."""

    def __init__(self, places: Sequence[Place], replacements: Sequence[str], new: Sequence[Entity]) -> None:
        self._places, self._spelled, self._new = places, replacements, new
        self._ends = [place.end for place in places]
        growth = (len(name) - (place.end - place.start) for place, name in zip(places, replacements, strict=True))
        self._shifts = [0, *accumulate(growth)]

    def moved(self, old_place: int) -> int:
        place_number = bisect_right(self._ends, old_place)
        start = self._places[place_number].start if place_number < len(self._places) else old_place
        return min(old_place, start) + self._shifts[place_number]

    def mentions(self, mentions: Iterable[Mention]) -> tuple[Mention, ...]:
        """Mentions of other entities, moved; and mentions that are exactly a replaced name with a known new id."""
        result = []
        for mention in mentions:
            first, start = bisect_right(self._ends, mention.start), self.moved(mention.start)
            if first == len(self._places) or mention.end <= self._places[first].start:
                result.append(Mention(entity=mention.entity, start=start, end=start + mention.end - mention.start))
                continue
            place = self._places[first]
            entity = self._new[place.name].id
            if entity is not None and not place.is_surname and (mention.start, mention.end) == (place.start, place.end):
                result.append(Mention(entity=entity, start=start, end=start + len(self._spelled[first])))
        return tuple(result)


def _spellings(names: Sequence[Name]) -> list[tuple[str, int, bool]]:
    spellings = [(spelling, number, False) for number, name in enumerate(names) for spelling in name.spellings if stated(spelling)]
    return spellings + [(name.surname, number, True) for number, name in enumerate(names) if name.surname]


def _places_of(text: str, spellings: Iterable[tuple[str, int, bool]]) -> list[Place]:
    lower_text, places = _small(text), []
    for spelling, name, is_surname in spellings:
        haystack, needle = (text, spelling) if is_surname else (lower_text, _small(spelling))
        start = haystack.find(needle)
        while start >= 0:
            end = start + len(needle)
            is_word = begins(text, start) and ends(text, end)
            if is_word and (text[start].isupper() or not spelling[0].isupper()):
                places.append(Place(start, end, name, is_surname))
            start = haystack.find(needle, end)
    return places


def _small(text: str) -> str:
    """``text`` in lower case with every character in its place; only the dotted capital I would become longer."""
    try:
        return text.encode("latin-1").translate(_SMALL).decode("latin-1")  # thirty times as fast as str.lower where letters have accents
    except UnicodeEncodeError:
        return text.replace("\u0130", "i").lower().replace("\u0131", "i")


def _disjoint(places: Iterable[Place]) -> list[Place]:
    """The places that overlap no earlier one, from left to right."""
    disjoint: list[Place] = []
    for place in places:
        at = bisect_left(disjoint, place)
        if (at == 0 or disjoint[at - 1].end <= place.start) and (at == len(disjoint) or place.end <= disjoint[at].start):
            disjoint.insert(at, place)
    return disjoint


def _gaps(text: str, places: Sequence[Place]) -> list[str]:
    ends = [0, *[place.end for place in places]]
    return [text[end:start] for end, start in zip(ends, [*[place.start for place in places], len(text)], strict=True)]


def _surname(name: str) -> str:
    """The last word of a name, or all of it if the last word has no capital."""
    last_word = name.rpartition(" ")[2]
    return last_word if last_word[:1].isupper() else name


def _join(gaps: Sequence[str], places: Sequence[Place], replacements: Sequence[tuple[str, str]]) -> str:
    parts = [gaps[0]]
    for place, gap in zip(places, gaps[1:], strict=True):
        parts += (replacements[place.name][place.is_surname], gap)
    return "".join(parts)
