"""The kind of the thing behind a name, from its figures, the first sentence about it, its own words, or the question.

A kind is a class of things and a noun within it: ``("water", "river")``; ``("water",)`` is the whole class. Where no evidence gives a kind
there is none, and callers must do without: a name of a wrong kind would make a false answer easy to spot.
"""

from __future__ import annotations

import re
from calendar import month_name
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from kgqa.records import Paragraph
from kgqa.resources import word_lists

Kind = tuple[str, ...]
PERSON = "person"
WHO = ("who",)
"""The kind of an answer to "who": a person if its first word is a first name; else perhaps a team, a country or a company."""
LEAD = 300
"""Letters at the beginning of a paragraph that introduce its subject."""
CLAUSE = 200
"""Number of letters after a question word that are searched for its noun."""
NOUNS = {noun: name for name, nouns in word_lists(Path(__file__).with_name("nouns.txt")).items() for noun in nouns}
"""Noun → its class, from ``nouns.txt``."""
CLASSES = frozenset({*NOUNS.values(), PERSON})
ROLES = frozenset(
    {"developer", "distributor", "employer", "maker", "manufacturer", "operator", "owner", "performer", "publisher", "winner"}
)
"""Nouns that cover several classes: a publisher is a person or a company."""
WORDS = word_lists(Path(__file__).with_name("words.txt"))
MONTHS = frozenset(name.lower() for name in month_name[1:])
NUMBERS = frozenset(WORDS["numbers"])
ASKING = frozenset({"who", "whom", "where", "which", "what"})
LINKING = frozenset({"is", "was", "are", "were"})
VERBS = LINKING | frozenset({"did", "does", "do", "has", "have", "had", "will", "would", "can", "could", "should", "may"})
DETERMINERS = frozenset({"a", "an", "the", "this", "these", "his", "her", "its", "their"})
END = VERBS.union(WORDS["end"])
ONE_OF = frozenset(WORDS["one of"])
VAGUE = frozenset(WORDS["vague"])
PLACES = frozenset({"place", "location", "entity"})
AGENTS = frozenset({"person", "country", "school", "company", "party", "organisation", "force", "team", "league", "band"})
"""Classes that "who" may ask for."""
BEFORE = frozenset({"lake", "mount", "river", "fort"})
"""Nouns that precede the name."""
NAMED = frozenset(WORDS["named"])
BY_WORD_BEFORE = {
    "company": (frozenset({"ballet", "dance", "opera", "theatre", "theater"}), ("ensemble", "company")),
    "group": (frozenset({"rock", "pop", "musical", "music", "boy", "girl", "vocal", "hop", "metal", "folk", "idol"}), ("band", "band")),
    "pilot": (frozenset({"television", "tv", "sitcom", "comedy", "drama"}), ("television", "pilot")),
    "series": (frozenset({"television", "tv", "drama", "comedy", "animated", "anime", "sitcom"}), ("television", "show")),
    "state": (frozenset({"sovereign", "independent"}), ("country", "state")),
    "station": (frozenset({"television", "tv", "radio", "fm", "am", "broadcast"}), ("broadcaster", "broadcast station")),
    "team": (frozenset({"development"}), ("company", "developer")),
}
"""Nouns whose kind depends on the word before them."""
_WORD = re.compile(r"\w+(?:['’-]\w+)*")
_YEAR = re.compile(r"[12]\d{3}")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_CLAUSE = re.compile(r"[,;:?()]|\. ")
_DEFINITION = re.compile(r"\b(?:is|was|are|were) (?:an?|the|one of the|any of the) ([^.;()]{2,80})")
_LIFE = re.compile(rf"\([^)]*(?:\bborn\b|(?:{'|'.join(month_name[1:])})[^)]* [–-] )")
_OTHERS = re.compile(
    r"(?:List|Outline|History|Geography|Economy|Politics|Culture|Demographics|Index) of |"
    r"(?:[A-Z]\w+ )*(?:Governor|President|Minister|Secretary|King|Queen|Emperor|Duke|Bishop|Mayor|Director) of "
)
"""Titles of lists, of pages about one aspect of a subject, and of offices, which are not persons."""
ADJECTIVE = re.compile(r"[A-Z][a-z]+(?:ese|ish|ian|can)")
_LIFE_AND_DEATH = re.compile(r"\b(?:born|birth|died?|death|buried|burial|residence|formation|headquarters)\b")
"""Events that mostly take place in a town."""
_PRONOUN = re.compile(r"\b(?:[Hh]e|[Ss]he|[Hh]is|[Hh]er)\b")
_AND = re.compile(r",(?: and| or)? | and | or ")
_FULL_STOP = re.compile(r"[a-z0-9)]{3}\. [A-Z]")


class Sense(NamedTuple):
    """The sense of a noun: its class and its words."""

    group: str
    """The noun's class; empty where it has none."""
    noun: str
    before: str = ""
    """The word before the noun, as in football club."""

    def kinds(self) -> list[Kind]:
        """The kinds of a name, narrowest first."""
        kinds: list[Kind] = [(self.group, self.noun, self.before)] if self.before else []
        return [*kinds, (self.group, self.noun), (self.group,)] if self.group else kinds or [("", self.noun)]


def split_title(title: str) -> tuple[str, str]:
    """``Kaos (2019 film)`` → ``Kaos``, ``2019 film``."""
    base, bracket, note = title.partition(" (")
    return (base, note.removesuffix(")")) if bracket and base and note.endswith(")") else (title, "")


def first_name(name: str) -> str:
    """The first word of a name."""
    return name.partition(" ")[0]


def title_kinds(title: str, text: str) -> list[Kind]:
    """The kinds of a paragraph's subject, the narrowest first.

    From its first sentence, the note in the title's brackets, the title's own words, or signs of a biography.
    """
    base, note = split_title(title)
    if _OTHERS.match(base):
        return []
    sense = _defined(base, text) or _sense(_WORD.findall(note)) or _own_sense(base) or _lived(base, text)
    return sense.kinds() if sense else []


def subject_kinds(kind: str, title: str, text: str) -> list[Kind]:
    """The kinds of the thing that an article is about, the narrowest first: by ``kind``, its kind in the graph, if that is a known noun.

    Other words of a graph ("gadget") are nouns of no class, beside what :func:`title_kinds` finds.
    """
    if kind in NOUNS or kind in CLASSES:
        return Sense(NOUNS.get(kind, kind), kind).kinds()
    return [*title_kinds(title, text), ("", kind)]


def answer_kinds(question: str, answer: str, paragraphs: Iterable[Paragraph] = ()) -> list[Kind]:
    """The kinds of an answer, the narrowest first; none where the evidence contradicts itself.

    From its figures, the noun of the question, the one of ``paragraphs`` with this title, its own words, or the question word.
    """
    words = _WORD.findall(answer)
    if figures := _figures(answer, words):
        return figures
    # Figures decide alone; then the noun of the question, checked against what the paragraph and the name say.
    asking, expected_kind = _expected_sense(question)
    if 2 * sum(word[0].islower() for word in words) >= len(words) or ADJECTIVE.fullmatch(answer):
        return [("phrase", expected_kind.noun)] if expected_kind and expected_kind.noun not in PLACES else []
    descriptions = _described_as(answer, paragraphs)
    sense = descriptions or _own_sense(answer)
    if expected_kind and expected_kind.noun not in ROLES | PLACES:
        return _agreed(expected_kind, descriptions, sense)
    if sense and (asking != "who" or sense.group in AGENTS):
        return sense.kinds()
    if asking == "where" or (expected_kind and expected_kind.noun in PLACES):
        return Sense("settlement", "place").kinds() if _LIFE_AND_DEATH.search(question) else []
    return [WHO] if asking == "who" or expected_kind else []


def _agreed(expected_kind: Sense, descriptions: Sense | None, sense: Sense | None) -> list[Kind]:
    """The expected kinds, if the evidence about the answer agrees.

    Of the answer's own words only agents count: a team is no league, and a man is no firm.
    """
    if not expected_kind.group:
        return [*expected_kind.kinds(), *(descriptions.kinds() if descriptions else [])]
    evidence = descriptions or (sense if sense and expected_kind.group in AGENTS and sense.group in AGENTS else None)
    return expected_kind.kinds() if evidence is None or evidence.group in {expected_kind.group, ""} else []


def _figures(name: str, words: Sequence[str]) -> list[Kind]:
    """The kind of a number, a year or a date: its words without the figures, so that 12 km and 7 km agree, and 4 May and 1 June."""
    if any(word[0].isupper() and word.lower() not in MONTHS for word in words):
        return []
    if not any(word[0].isdigit() or word.lower() in NUMBERS for word in words):
        return []
    lower_name = " ".join("month" if word in MONTHS else "00" if word in NUMBERS else word for word in name.lower().split())
    return [("figures", _NUMBER.sub(_size, lower_name))]


def _size(match: re.Match[str]) -> str:
    """Replacement of a number: numbers with as many digits agree, as do those of one and two; years are a kind of their own."""
    return "year" if _YEAR.fullmatch(match[0]) else "0" * max(2, sum(map(str.isdigit, match[0])))


def _described_as(name: str, paragraphs: Iterable[Paragraph]) -> Sense | None:
    """The sense that the first paragraph with this title gives, if it gives one."""
    end = len(name)
    for paragraph in paragraphs:
        title = paragraph.title or ""
        if (len(title) == end or title[end : end + 2] == " (") and split_title(title)[0].lower() == name.lower():
            sense = _defined(name, paragraph.text)
            if sense:
                return sense
    return None


def _defined(title: str, text: str) -> Sense | None:
    """The sense that the first sentence gives the title: "is a Danish ecologist"; a person where dates of life follow the name."""
    lead = text[:LEAD]
    match = _DEFINITION.search(lead)
    subject = lead[: match.start()] if match else lead
    last = _WORD.findall(title.partition(",")[0].lower())[-1:]
    if _FULL_STOP.search(subject) or not set(last) & set(_WORD.findall(subject.lower())):
        return None
    if subject.startswith(("A ", "An ")) and not subject.startswith(title):
        return None  # "a business is an organization" defines a noun, not a name
    if not match:
        return Sense(PERSON, PERSON) if _LIFE.search(subject) else None
    # A person wins over other senses ("a movie and stage actor"), then the first sense with a class.
    senses = [sense for sense in map(_sense, _items(match[1])) if sense]
    person = next((sense for sense in senses if sense.group == PERSON), None)
    if person or _LIFE.search(subject):
        return person or Sense(PERSON, PERSON)
    return next((sense for sense in senses if sense.group), senses[0] if senses else None)


def _items(definition: str) -> Iterator[list[str]]:
    """The items of a definition: all three of "movie, television and stage actor", because the last one explains the first two."""
    for part in _AND.split(definition):
        words = _WORD.findall(part)
        yield words
        if any(word in END or word == "of" or (place and _is_participle(word)) for place, word in enumerate(words)):
            return


def _sense(words: Sequence[str], *, in_question: bool = False) -> Sense | None:
    """The sense of a noun phrase: a band for "American rock band formed in", a river for "name of the river that".

    ``in_question``: a verb that looks like a noun may follow ("river flows"), so the last noun with a class wins.
    """
    # Read up to the end of the noun phrase; the last noun before it is the head ("American rock band formed in").
    noun = before = kinds_of_name = ""
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        is_name = word[0].isupper() and noun.islower() and (in_question or bool(kinds_of_name))
        if word in END or (noun and (word in DETERMINERS or is_name)):
            break
        if noun and _is_participle(word):
            if following in END or not following.islower():  # film directed by, river named Avon
                break
            continue  # "a state owned television station"
        if word == "of":  # "the name of the river": the noun comes later; "the king of France" ends here
            if noun not in ONE_OF or before:
                break
            noun = before = ""
        elif word not in DETERMINERS:
            noun, before = word, noun
            kinds_of_name = word if _class_of(word) else kinds_of_name
    noun = noun.removesuffix("'s").removesuffix("’s")
    if in_question and kinds_of_name and not _class_of(noun):
        noun, before = kinds_of_name, ""
    if not noun or not noun.islower() or _is_participle(noun) or noun.endswith("ly") or noun in VAGUE - PLACES:
        return None
    # Some nouns need their neighbour ("television series"); plurals are looked up in the singular.
    if noun in BY_WORD_BEFORE and before.lower() in BY_WORD_BEFORE[noun][0]:
        return Sense(*BY_WORD_BEFORE[noun][1])
    noun = noun.removesuffix("s") if noun not in NOUNS and noun.removesuffix("s") in NOUNS else noun
    return Sense(_class_of(noun), noun, before if before.islower() else "")


def _class_of(noun: str) -> str:
    group = NOUNS.get(noun, "")
    return PERSON if not group and noun.endswith(("ist", "ician", "woman", "sman")) else group


def _is_participle(word: str) -> bool:
    """Whether the word is a participle, as in "film directed by"; "seed" and "breed" are not."""
    return word.endswith("ed") and not word.endswith("eed")


def _lived(title: str, text: str) -> Sense | None:
    """A person, if a text that begins in the middle of a life uses the last name alone, and he or she."""
    words, lead = _WORD.findall(title), text[:LEAD]
    if not 2 <= len(words) <= 3 or not all(word[0].isupper() for word in words) or len(_PRONOUN.findall(lead)) < 2:
        return None
    alone = any(lead[: match.start()].rstrip()[-len(words[-2]) :] != words[-2] for match in re.finditer(rf"\b{words[-1]}\b", lead))
    return Sense(PERSON, PERSON) if alone else None


def _own_sense(name: str) -> Sense | None:
    """The sense in the name's own words: Odense University, University of Odense, Lake Huron."""
    lower_name = name.partition(",")[0]
    words = _WORD.findall(lower_name.lower())
    if len(words) < 2 or words[0] in DETERMINERS:
        return None
    nouns = [words[0]] if words[0] in BEFORE and lower_name == name else []
    nouns += [words[-1], *([words[words.index("of") - 1]] if "of" in words[1:] else [])]
    noun = next((noun for noun in nouns if NOUNS.get(noun) in NAMED), None)
    return Sense(NOUNS[noun], noun) if noun else None


def _expected_sense(question: str) -> tuple[str, Sense | None]:
    """The question word and the sense of its noun: "which river", "who is the father of"; MuSiQue's ">> mouth of" has a noun only."""
    _, arrow, relation = question.rpartition(">>")
    if arrow:
        sense = _sense(_WORD.findall(relation))
        return "", sense if sense and (sense.group or sense.noun in ROLES | PLACES) else None
    first = ""
    for match in _WORD.finditer(question):
        word = match[0].lower()
        if word in ASKING:
            first = first or word
            words = _WORD.findall(_CLAUSE.split(question[match.end() : match.end() + CLAUSE], maxsplit=1)[0])
            is_linked = bool(words) and words[0] in LINKING
            if word in {"what", "which"} or (is_linked and word == "who"):
                sense = _sense(words[is_linked:], in_question=True)
                if sense:
                    return first, sense
    return first, None
