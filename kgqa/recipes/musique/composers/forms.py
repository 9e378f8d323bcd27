"""Step S7 (Trivedi et al. 2022): turn a question into a noun phrase: "Who wrote Ulysses?" → "the person who wrote Ulysses".

Only forms that need no deeper parsing are turned; for others there is no phrase. Each function handles one form: it looks at the words of a
question and returns the phrase, or None.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgqa.recipes.musique.composers.verbs import AUXILIARIES, COPULAS, is_finite, is_participle, is_past, past, present
from kgqa.recipes.names.kinds import NOUNS, PERSON

PREPOSITIONS = frozenset(
    {
        "in",
        "on",
        "at",
        "of",
        "by",
        "for",
        "from",
        "to",
        "with",
        "into",
        "under",
        "through",
        "during",
        "against",
        "near",
        "besides",
        "as",
        "after",
    }
)
DETERMINERS = frozenset({"a", "an", "the", "this", "that", "these", "those", "his", "her", "its", "their", "every", "each", "no", "any"})
VAGUE = frozenset(
    {"kind", "type", "sort", "other", "else", "percentage", "number", "day", "year", "month", "date", "time", "two", "three", "all"}
)
"""Words after "what" that ask for several names, or none."""
UNKNOWN = frozenset({"he", "she", "they", "it", "this", "these", "those", "him", "them"})
"""Pronouns whose meaning only the paragraph gives."""
ASKING = frozenset({"who", "whom", "whose", "which", "what", "where", "when", "why", "how"})
NO_RELATION = re.compile(
    r"\b(?:in|of|by|at|from|to|with|after|for|on|and|or)$|^(?:located|followed|named|shares?|has|have|part|is|applies|occupant|instance)\b"
)
"""A relation of a ``head >> relation`` question that is not a noun."""
_RELATION = re.compile(r"(?P<head>.+?) >> (?P<relation>.+)")
NAME_OF = re.compile(r"^the (?:full |official |last |first )?name of (?=(?:the|a|an|his|her|its) )")
Words = Sequence[str]


def noun_phrase(question: str, *, person: bool) -> str | None:
    """The answer of ``question`` as a noun phrase, or None where no form is safe; ``person``: whether the answer is a person."""
    text = " ".join(question.replace(" ,", ",").split()).rstrip("?. ").strip()
    if relation := _RELATION.fullmatch(text):
        return None if NO_RELATION.search(relation["relation"]) else f"the {relation['relation']} of {relation['head']}"
    words = text.split()
    if len(words) < 3 or any(mark in text for mark in ';:?"“”()') or not is_self_contained(text):
        return None
    first_word, second_word = words[0].lower(), words[1].lower()
    if first_word in {"who", "whom"}:
        return _who_phrase(words, person=person)
    if first_word == "where":
        return _where_phrase(words)
    of_which = first_word in PREPOSITIONS and second_word in {"what", "which"}
    return _which_phrase(words[1 + of_which :], first_word if of_which else "") if of_which or first_word in {"what", "which"} else None


def is_self_contained(text: str) -> bool:
    """Whether a question is clear by itself: one question word, and no pronoun without a referent."""
    words = [word.strip(",.?'’").lower() for word in text.split()]
    question_words = [word for word in words if word in ASKING]
    return len(question_words) == 1 and not UNKNOWN & set(words)


def pronoun(noun: str) -> str:
    """The relative pronoun that goes with a noun: who for a person."""
    head = re.split(r" (?:of|in|on|at|from|for|with) ", noun)[0].rpartition(" ")[2]
    return "who" if PERSON in {NOUNS.get(head, head), NOUNS.get(head.removesuffix("s"), "")} else "that"


def _who_phrase(words: Words, *, person: bool) -> str | None:
    verb, next_words = words[1].lower(), words[2:]
    if verb in COPULAS:
        return _identity(verb, next_words) or (
            f"{_somebody(person)} {verb} {' '.join(next_words)}" if is_participle(next_words[0]) else None
        )
    if verb in {"did", "does"}:
        clause = _active_clause(verb, next_words)
        return f"the person whom {clause}" if clause and person else None
    if verb in AUXILIARIES and not is_participle(next_words[0]):
        return None
    is_verb = is_finite(verb) and verb not in PREPOSITIONS
    return f"{_somebody(person)} {verb} {' '.join(next_words)}" if is_verb else None


def _somebody(person: bool) -> str:
    return "the person who" if person else "whoever"


def _where_phrase(words: Words) -> str | None:
    verb, next_words = words[1].lower(), words[2:]
    if verb in {"did", "does"}:
        clause = _active_clause(verb, next_words)
        return f"the place where {clause}" if clause else None
    if verb not in COPULAS:
        return None
    subject, remainder = _subject(next_words)
    if not subject or (remainder and not is_participle(remainder[0])):
        return None
    return f"the place where {subject} {verb}{_spaced(remainder)}"


def _which_phrase(words: Words, preposition: str) -> str | None:
    """The phrase for ``words`` after "which"; ``preposition``: the one before it, or empty."""
    if not words or words[0].lower() in VAGUE:
        return None
    if words[0].lower() in COPULAS:
        return None if preposition else _identity(words[0].lower(), words[1:])
    noun, next_words = _asked_noun(words)
    if not noun:
        return None
    verb = next_words[0].lower()
    if verb in {"did", "does"}:
        clause = _active_clause(verb, next_words[1:])
        return _about(noun, preposition, clause) if clause else None
    if preposition:
        clause = _passive(verb, next_words[1:])
        return _about(noun, preposition, clause) if clause else None
    return f"the {noun} {pronoun(noun)} {' '.join(next_words)}" if _has_no_subject(noun, next_words) else None


def _passive(verb: str, next_words: Words) -> str | None:
    """``Mozart was born`` of "was Mozart born"."""
    subject, remainder = _subject(next_words)
    return f"{subject} {verb}{_spaced(remainder)}" if verb in COPULAS and subject and remainder and is_participle(remainder[0]) else None


def _about(noun: str, preposition: str, clause: str) -> str | None:
    if preposition:
        return None if clause.rpartition(" ")[2] in PREPOSITIONS else f"the {noun} {preposition} which {clause}"
    return f"the {noun} {'whom' if pronoun(noun) == 'who' else 'that'} {clause}"


def _asked_noun(words: Words) -> tuple[str, Words]:
    """The noun phrase after "which" (up to seven words, the last a noun), such as ``famous artist``, and the words after it."""
    for end in range(1, min(len(words), 8)):
        if is_finite(words[end]) or words[end].lower() in AUXILIARIES:
            noun = words[:end]
            lower_words = [word for word in noun if word.islower()]
            is_no_noun = not lower_words or noun[-1].endswith("ly") or any(word.lower() in AUXILIARIES | DETERMINERS for word in noun[:1])
            return ("", ()) if is_no_noun or noun[-1] in PREPOSITIONS else (" ".join(noun), words[end:])
    return "", ()


def _has_no_subject(noun: str, next_words: Words) -> bool:
    """Whether the noun is the subject of the verb: "which team won", but not "which team was X beaten by"."""
    if next_words[-1].lower() in PREPOSITIONS:
        return False
    if next_words[0] not in AUXILIARIES:
        return len(next_words) > 1
    if len(next_words) < 2 or (next_words[0] in {"were", "are"} and not noun.endswith("s")):
        return False
    subject, remainder = _subject(next_words[1:])
    return not (subject and remainder and is_participle(remainder[0]))


def _identity(verb: str, next_words: Words) -> str | None:
    """ "the capital of X" of "what is the capital of X"."""
    text = NAME_OF.sub("", " ".join(next_words))
    words = text.split()
    if not words or words[0].lower() != "the" or len(words) < 3 or words[-1].lower() in PREPOSITIONS or is_past(words[-1]):
        return None
    return f"the {' '.join(words[1:])}"


def _active_clause(verb: str, next_words: Words) -> str | None:
    """``Napoleon invaded Russia`` of "did Napoleon invade Russia"; the word after the subject must be the verb."""
    subject, remainder = _subject(next_words)
    if not subject or not remainder or not remainder[0].islower() or not remainder[0].isalpha():
        return None
    main_verb, object_words = remainder[0], remainder[1:]
    if main_verb in PREPOSITIONS | AUXILIARIES or main_verb.endswith(("ed", "ing", "ly")):
        return None
    if object_words and object_words[0].lower() not in PREPOSITIONS:  # the verb seems to have an object already
        return None
    return f"{subject} {past(main_verb) if verb == 'did' else present(main_verb)}{_spaced(object_words)}"


def _subject(words: Words) -> tuple[str, Words]:
    """A name, or a noun with its article, at the start of ``words``, and the words after it; both empty where there is no such start."""
    end = 1 if words and words[0].lower() in {"the", "a", "an"} else 0
    if end >= len(words):
        return "", ()
    is_name = words[end][0].isupper() or words[end][0].isdigit()
    if not is_name and not end:
        return "", ()
    end += 1
    while end < len(words):
        word = words[end]
        joins = word in {"of", "and", "the", "de", "von", "van", "&"} and end + 1 < len(words) and words[end + 1][0].isupper()
        if not (word[0].isupper() or word[0].isdigit() or joins):
            break
        end += 1
    return " ".join(words[:end]), words[end:]


def _spaced(words: Words) -> str:
    return f" {' '.join(words)}" if words else ""
