"""Step S7 (Trivedi et al. 2022): composition by rules: a noun phrase made from each hop's question replaces its answer in later hops."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from kgqa.arrays.draws import draw
from kgqa.progress import Progress
from kgqa.recipes.musique import wording
from kgqa.recipes.musique.composers.chain import Chain, Hop
from kgqa.recipes.musique.composers.forms import DETERMINERS, PREPOSITIONS, is_self_contained, noun_phrase
from kgqa.recipes.musique.composers.verbs import AUXILIARIES, COPULAS, is_participle, is_past
from kgqa.recipes.musique.composers.written import Written
from kgqa.recipes.musique.wording import ASKED, BOTH, INVERSE
from kgqa.recipes.names.kinds import NOUNS, PERSON
from kgqa.settings.musique import TemplateSettings

REFUSED = {
    "form": "one of the questions has a form that the rules cannot turn into a noun phrase",
    "place": "the place of a name cannot take a noun phrase",
    "nested": "the question would have too many clauses within each other, and no sentence of its own can take one",
}
"""Reason why the rules refuse a chain → the sentence in reports."""
_RELATION = " >> "
ASKING_NOUNS = frozenset({"what", "which", "whose", "many", "much"})
FUNCTION = PREPOSITIONS | {
    "and",
    "or",
    "who",
    "that",
    "which",
    "when",
    "where",
    "while",
    "before",
    "between",
    "than",
    "but",
    "the",
    "a",
    "an",
    "today",
    "now",
    "first",
    "again",
    "called",
    "known",
    "over",
    "about",
    "until",
    "since",
    "around",
}
"""Words that can follow a name in a sentence."""


class Refused(Exception):
    """The rules cannot compose a chain; the message is a key of ``REFUSED``."""


CLAUSES = frozenset({"that", "who", "whom", "whose", "which", "where", "whoever", "when"})
"""Words that begin a subordinate clause."""
_WORDS = re.compile(r"[\w'’-]+")


class RuleComposer:
    """Composes by rules, without annotators or models."""

    def __init__(self, templates: Mapping[str, TemplateSettings], *, max_clauses: int = 2, forms: bool = True, seed: int = 0) -> None:
        """``templates``: those behind questions from facts; ``forms``: whether ``seed`` draws the form of each template."""
        self._templates, self._max_clauses, self._forms, self._seed = templates, max_clauses, forms, seed

    def write(self, chains: Sequence[Chain], progress: Progress) -> Iterator[Written]:
        """Compose the chains one by one."""
        progress.start("Composing", len(chains), "questions")
        for chain in chains:
            progress.advance(1)
            bits = draw(purpose="forms of a question", seed=self._seed, id=chain.id, draws=len(chain.hops)) if self._forms else 0
            try:
                yield Written(question=compose(chain, self._templates, max_clauses=self._max_clauses, bits=bits))
            except Refused as why:
                yield Written(reason=REFUSED[str(why)])


def compose(chain: Chain, templates: Mapping[str, TemplateSettings], *, max_clauses: int = 2, bits: int = 0) -> str:
    """The composed question, in one sentence or, with too many clauses, in two. Raises Refused."""
    sentence = _composed(chain, templates, bits, None)
    if _WORDS.findall(sentence).count("whoever") > 1:
        raise Refused("nested")
    if nested_clauses(sentence) <= max_clauses:
        return sentence
    for split_hop in range(len(chain.hops) - 1):
        if chain.hops[split_hop].kind in {INVERSE, BOTH}:
            two = _composed(chain, templates, bits, split_hop)
            # "That movie" does not begin a clause.
            if nested_clauses(two.replace(f"that {chain.hops[split_hop].noun}", chain.hops[split_hop].noun)) <= max_clauses:
                return two
    raise Refused("nested")


def nested_clauses(sentence: str) -> int:
    """Number of subordinate clauses: words of ``CLAUSES`` after the first word."""
    words = _WORDS.findall(sentence)
    return sum(word in CLAUSES for word in words[1:])


def _composed(chain: Chain, templates: Mapping[str, TemplateSettings], bits: int, split_hop: int | None) -> str:
    """``split_hop``: the hop that has a sentence of its own, if any."""
    phrases: list[str] = []
    first_sentence = ""
    for number, hop in enumerate(chain.hops[:-1]):
        hop_bits = bits >> 8 * number
        if number == split_hop:
            names, nested_numbers = _names(hop, phrases)
            first_sentence = (
                wording.statement(hop.kind, [templates[name] for name in hop.relations], names, hop.noun, nested_numbers, draw=hop_bits)
                or ""
            )
            first_sentence += " "
            phrases.append(f"that {hop.noun}")
        else:
            phrases.append(_phrase(hop, phrases, templates, hop_bits))
    return first_sentence + _sentence(_question(chain.hops[-1], phrases, templates, bits >> 8 * len(phrases)))


def can_say(question: str, kind: str, *, is_person: bool) -> bool:
    """Whether the rules can turn the question into a noun phrase, as far as the question alone tells."""
    return kind != ASKED or noun_phrase(question, person=is_person) is not None


def can_take(question: str, start: int, end: int) -> bool:
    """Whether a noun phrase fits into this place of a question; a name that modifies a noun cannot be replaced."""
    if _RELATION in question:
        return True
    words_before, words_after = question[:start].split(), question[end:].split()
    if (
        question[end : end + 1] in {"'", "’", "-", "/"}
        or question[start - 1 : start] in {"-", "(", '"', "/"}
        or not is_self_contained(question)
    ):
        return False
    # A quotation must stay as it is, and a comma after a phrase would begin a list or extend the phrase.
    if question[:start].count('"') % 2 or question[:start].count("“") > question[:start].count("”") or question[end:].lstrip()[:1] == ",":
        return False
    last_word = words_before[-1].strip(",").lower() if words_before else ""
    if (
        last_word == "of"
        and len(words_before) > 1
        and words_before[-2][:1].isupper()
        and NOUNS.get(words_before[-2].lower(), PERSON) != PERSON
    ):
        return False  # "the University of Chicago" is one name
    if last_word in DETERMINERS | ASKING_NOUNS or NOUNS.get(last_word) or last_word.endswith("ing") or last_word in {"called", "named"}:
        return False
    return not words_after or not words_after[0][0].isalnum() or _goes_on(last_word, words_after[0])


def _goes_on(text_before: str, text_after: str) -> bool:
    """Whether ``text_after`` can continue a sentence where a name followed ``text_before``."""
    word = text_after.strip("?.,")
    if text_before in {"did", "does", "do", "can", "could", "will", "would"}:
        return word.islower() and not word.endswith("s")
    if text_before in COPULAS | {"has", "had", "have"}:
        return is_participle(word) or word in FUNCTION or word.endswith("ing")
    return word in FUNCTION or is_past(word) or word in AUXILIARIES or word[0].isdigit()


def _names(hop: Hop, phrases: list[str]) -> tuple[list[str], frozenset[int]]:
    """The names of a question from templates, with phrases in place of earlier answers, and the indices of these."""
    phrase_of = {need.slot: phrases[need.hop] for need in hop.needs}
    return [phrase_of.get(slot, name) for slot, name in enumerate(hop.names)], frozenset(phrase_of)


def _phrase(hop: Hop, phrases: list[str], templates: Mapping[str, TemplateSettings], bits: int) -> str:
    if hop.kind != ASKED:
        names, nested_numbers = _names(hop, phrases)
        return wording.phrase(hop.kind, [templates[name] for name in hop.relations], names, hop.noun, nested_numbers, draw=bits)
    phrase = noun_phrase(_filled(hop, phrases), person=hop.is_person)
    if phrase is None:
        raise Refused("form")
    return phrase


def _question(hop: Hop, phrases: list[str], templates: Mapping[str, TemplateSettings], bits: int) -> str:
    if hop.kind != ASKED:
        names, nested_numbers = _names(hop, phrases)
        return wording.question(hop.kind, [templates[name] for name in hop.relations], names, hop.noun, nested_numbers, draw=bits)
    text = _filled(hop, phrases)
    if _RELATION not in text:
        return text
    phrase = noun_phrase(text, person=False)
    if phrase is None:
        raise Refused("form")
    return f"{'Who' if hop.is_person else 'What'} is {phrase}"


def _filled(hop: Hop, phrases: list[str]) -> str:
    """The question with the phrases in place of the names. Raises Refused."""
    text = hop.question
    for need in sorted(hop.needs, key=lambda need: -need.start):
        if not can_take(text, need.start, need.end):
            raise Refused("place")
        is_somebody = phrases[need.hop].startswith(("the person ", "whoever "))
        if is_somebody and text[: need.start].rstrip().lower().endswith(" in"):
            raise Refused("place")  # "in the person who" makes no sense
        text = f"{text[: need.start]}{phrases[need.hop]}{text[need.end :]}"
    return text


def _sentence(text: str) -> str:
    text = " ".join(text.split()).rstrip("?., ")
    return f"{text[:1].upper()}{text[1:]}?"
