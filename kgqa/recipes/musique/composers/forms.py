"""A question that asks for a name becomes a noun phrase for its answer: "Who wrote Ulysses?", "the person who wrote Ulysses".

Only forms that can be turned without understanding more of the sentence are; of any other there is none. Verbs are put into the tense that
"did" and "does" took from them.
"""

from __future__ import annotations

import re
from pathlib import Path

from kgqa.recipes.names.kinds import NOUNS, PERSON
from kgqa.resources import word_lists

_LISTED = word_lists(Path(__file__).with_name("verbs.txt"))["irregular"]
PAST = dict(zip(_LISTED[::2], _LISTED[1::2], strict=True))
"""Verb → its past, where that is not made by -ed."""
PAST_FORMS = frozenset(PAST.values())
COPULA = r"(?:is|was|are|were)"
AUXILIARY = frozenset({"is", "was", "are", "were", "has", "had", "have", "can", "could", "will", "would"})
VAGUE = frozenset({"kind", "type", "sort", "other", "else", "percentage", "number"})
"""Words after "what" that ask for no name."""
PREPOSITIONS = frozenset(
    {"in", "on", "at", "of", "by", "for", "from", "to", "with", "into", "under", "through", "during", "against", "near"}
)
ASKING = re.compile(r"\b(?:who|whom|whose|which|what|where|when|why|how)\b", re.IGNORECASE)
NO_RELATION = re.compile(
    r"\b(?:in|of|by|at|from|to|with|after|for|on|and|or)$|^(?:located|followed|named|shares?|has|have|part|is|applies|occupant|instance)\b"
)
"""Of a ``head >> relation`` question: a relation that is no noun."""
_RELATION = re.compile(r"(?P<head>.+?) >> (?P<relation>.+)")
_PARTICIPLE = r"(?P<verb>[a-z]+(?:ed|orn|own|ilt|ept|eld|ought|ritten|poken|ade|ound))(?P<rest>(?: .+)?)"
_SUBJECT = r"(?P<subject>(?:[Tt]he |[Aa]n? )?[\w.'’&-]+(?: (?:of|and|the|de|von|van) [\w.'’&-]+| [A-Z0-9][\w.'’&-]*)*)"
"""A name, or a noun with its article, and what belongs to it."""
_IDENTITY = re.compile(rf"(?:who|what|which) (?P<be>{COPULA}) (?P<rest>.+)", re.IGNORECASE)
_WHERE = re.compile(rf"[Ww]here (?P<be>{COPULA}) {_SUBJECT} {_PARTICIPLE}")
_WHERE_IS = re.compile(rf"[Ww]here (?P<be>{COPULA}) (?P<subject>(?:the )?[A-Z].*)")
_DO = re.compile(
    r"(?P<asking>where|who|whom|(?P<preposition>[a-z]+ )?(?:what|which) (?P<noun>[^,;?]+?)) (?P<do>did|does) (?P<rest>.+)", re.IGNORECASE
)
_NOUN = re.compile(
    r"(?:what|which) (?P<noun>[A-Za-z][\w.&' -]*?) "
    rf"(?P<rest>(?P<verb>is|was|are|were|has|had|[a-z]+(?:ed|s)|{'|'.join(sorted(PAST_FORMS))})(?P<more>(?: .+)?))"
)
_PASSIVE = re.compile(rf"(?P<preposition>[A-Za-z]+) (?:what|which) (?P<noun>[a-z][a-z' -]*?) (?P<be>{COPULA}) {_SUBJECT} {_PARTICIPLE}")
_WHO = re.compile(r"who (?P<verb>[a-z]+)(?P<rest> .+)", re.IGNORECASE)
_DONE = re.compile(
    r"(?P<subject>(?:(?:the|a|an) )?[A-Z][\w.'’-]*(?: (?:of|the|and|de|von|van|[A-Z0-9][\w.'’-]*))*|he|she|it|they|(?:the|a|an) [a-z]+) "
    r"(?P<verb>[a-z]{2,})(?P<rest>(?: .+)?)"
)
_TURNED = re.compile(r" (?:the |a |an )?[A-Z][\w.'’-]*(?: [A-Z][\w.'’-]*)* [a-z]+(?:ed|orn|own|ilt|ept|eld|ought|ritten|poken|ade|ound)\b")
NAME_OF = re.compile(r"^the (?:full |official |last |first )?name of (?=(?:the|a|an|his|her|its) )")


def noun_phrase(question: str, *, person: bool) -> str | None:
    """The answer of ``question`` as a noun phrase, None where none is safe; ``person``: whether it is one, which "who" does not say."""
    text = " ".join(question.replace(" ,", ",").split()).rstrip("?. ").strip()
    if relation := _RELATION.fullmatch(text):
        return None if NO_RELATION.search(relation["relation"]) else f"the {relation['relation']} of {relation['head']}"
    first = ASKING.search(text)
    if first is None or any(mark in text for mark in ';:?"“”()') or _asks_again(text, first):
        return None
    for form in (_where, _asked_by_do, _passive, _identity, _by_noun, _who):
        found = form(text, person)
        if found is not None:
            return found or None
    return None


def past(verb: str) -> str:
    """``wrote`` for write, ``moved`` for move, ``carried`` for carry, ``stopped`` for stop."""
    if verb in PAST:
        return PAST[verb]
    if verb.endswith("e"):
        return f"{verb}d"
    if len(verb) > 2 and verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ied"
    if re.fullmatch(r"[^aeiou]*[aeiou][bdgklmnprt]", verb):
        return f"{verb}{verb[-1]}ed"
    return f"{verb}ed"


def present(verb: str) -> str:
    """``writes`` for write, ``goes`` for go."""
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    return f"{verb[:-1]}ies" if len(verb) > 2 and verb.endswith("y") and verb[-2] not in "aeiou" else f"{verb}s"


def pronoun(noun: str) -> str:
    """The relative pronoun that goes with a noun: who for a person."""
    head = re.split(r" (?:of|in|on|at|from|for|with) ", noun)[0].rpartition(" ")[2]
    return "who" if NOUNS.get(head, head) == PERSON or NOUNS.get(head.removesuffix("s"), "") == PERSON else "that"


def _asks_again(text: str, first: re.Match[str]) -> bool:
    """Whether a second asking word comes that could be the one which asks; "who" and "which" after a comma or a noun only tell more."""
    later = [found[0].lower() for found in ASKING.finditer(text, first.end())]
    return bool({"what", "why", "how", "when"} & set(later)) or len(later) > 1


def _where(text: str, person: bool) -> str | None:
    if found := _WHERE.fullmatch(text):
        return f"the place where {found['subject']} {found['be']} {found['verb']}{found['rest']}"
    if found := _WHERE_IS.fullmatch(text):
        return f"the place where {found['subject']} {found['be']}" if " " not in found["subject"].removeprefix("the ") else ""
    return None


def _asked_by_do(text: str, person: bool) -> str | None:
    """ "What country did X invade?", "the country that X invaded"; the verb is found as the first word that can be one after a name."""
    found = _DO.fullmatch(text)
    if found is None:
        return None
    split = _subject_and_verb(found["rest"])
    if split is None:
        return ""
    subject, verb, rest = split
    told = f"{subject} {past(verb) if found['do'].lower() == 'did' else present(verb)}{rest}"
    if not found["noun"]:
        return f"the place where {told}" if found["asking"].lower() == "where" else f"the person whom {told}" if person else ""
    noun, before = found["noun"], (found["preposition"] or "").strip().lower()
    if before and (before not in PREPOSITIONS or rest.rpartition(" ")[2] in PREPOSITIONS):
        return ""
    return f"the {noun} {before} which {told}" if before else f"the {noun} {'whom' if pronoun(noun) == 'who' else 'that'} {told}"


def _subject_and_verb(rest: str) -> tuple[str, str, str] | None:
    """``Napoleon``, ``occupy``, `` Vienna``: a subject of capitalised words, or a noun with its article, and the word after it."""
    found = _DONE.fullmatch(rest)
    if found is None or found["verb"] in PREPOSITIONS or found["verb"] in AUXILIARY or found["verb"].endswith(("ed", "ing", "ly")):
        return None
    return found["subject"], found["verb"], found["rest"]


def _passive(text: str, person: bool) -> str | None:
    """ "In which city was X born?", "the city in which X was born"."""
    found = _PASSIVE.fullmatch(text)
    if found is None or found["preposition"].lower() not in PREPOSITIONS or not found["subject"]:
        return None
    return f"the {found['noun']} {found['preposition'].lower()} which {found['subject']} {found['be']} {found['verb']}{found['rest']}"


def _identity(text: str, person: bool) -> str | None:
    """ "What is the capital of X?", "the capital of X"."""
    found = _IDENTITY.fullmatch(text)
    if found is None:
        return None
    rest = NAME_OF.sub("", found["rest"])
    if rest.split()[0].lower() == "the" and rest.rpartition(" ")[2] not in PREPOSITIONS:
        return f"the{rest[3:]}"
    if rest.split()[0].endswith("ed") and text.lower().startswith("who "):
        return f"the {'person' if person else 'one'} who {found['be']} {rest}" if person else ""
    return ""


def _by_noun(text: str, person: bool) -> str | None:
    """ "Which network was known for X?", "the network that was known for X"."""
    found = _NOUN.fullmatch(text[0].lower() + text[1:])
    if found is None:
        return None
    if found["noun"].split()[0] in VAGUE:
        return ""
    # "the entity that was X turned into": what comes after the verb is its subject, and the question's word its object.
    if found["verb"] in AUXILIARY and _TURNED.match(found["more"]):
        return ""
    return f"the {found['noun']} {pronoun(found['noun'])} {found['rest']}"


def _who(text: str, person: bool) -> str | None:
    """ "Who wrote X?", "the person who wrote X", where the answer is one."""
    found = _WHO.fullmatch(text)
    if found is None:
        return None
    verb = found["verb"].lower()
    plain = verb in PAST_FORMS or verb.endswith(("ed", "s")) or verb in AUXILIARY
    return f"the person who {verb}{found['rest']}" if person and plain and verb not in {"is", "was", "are", "were"} else ""
