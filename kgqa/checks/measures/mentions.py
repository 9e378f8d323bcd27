"""Mentions with wrong offsets.

A mention must lie in its text, begin and end with a token (``kgqa.arrays.tokens``), and have no white space at an edge. Scripts without
spaces, and Hangul, have a boundary at every character. Then its text is compared with the entity's names.

Nobody knows all names of an entity ("Deutschland", "the capital"). So an unknown text is a fault only if something else in the question
speaks against it. Votes establish the known names: a candidate or answer with the entity's id counts as two votes, each mention as one. A
text is doubtful if it has one vote and its entity has another text with two or more, unless it is a variant of that text
(:func:`_is_variant`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from kgqa.arrays.tokens import SPACE, SYMBOL
from kgqa.arrays.words import KINDS, places, tokens, within_word
from kgqa.checks.measures.shapes import shape_of
from kgqa.records import Instance, Mention, Paragraph

ESTABLISHED = 2
"""Votes that make a text a known name."""
Votes = dict[str, dict[str, int]]
"""Entity → text → votes."""


def mention_faults(instance: Instance) -> Iterator[tuple[str, str]]:
    """The id of a paragraph, and what is wrong with one of its mentions, in words; edges first. Memory: the mentions' texts."""
    votes: Votes = {}
    for paragraph in instance.paragraphs:
        if paragraph.mentions:
            for mention in _count(paragraph, votes):
                yield paragraph.id, f"mention {mention.start} to {mention.end}{_edge_fault(paragraph.text, mention)}"
    if votes:
        yield from _name_faults(instance, votes)


def without_other_forms(outcomes: npt.NDArray[np.float64], instances: Sequence[Instance], *, supporting: bool) -> npt.NDArray[np.float64]:
    """The outcomes, with 0 instead of 1 for each question that marks another form of its answer; ``supporting``: only in the support."""
    result = outcomes.copy()
    for number in np.flatnonzero(outcomes == 1).tolist():
        result[number] = not _names_answer(instances[number], supporting=supporting)
    return result


def _names_answer(instance: Instance, *, supporting: bool) -> bool:
    """Whether a mention of the answer's entity has another form of an answer ("operas" of "opera"); ``supporting``: only in the support."""
    return any(
        mention.entity == instance.answer_id
        and any(_is_variant(paragraph.text[mention.start : mention.end], answer) for answer in instance.answers)
        for paragraph in instance.paragraphs
        if paragraph.supporting or not supporting
        for mention in paragraph.mentions or ()
    )


def _count(paragraph: Paragraph, votes: Votes) -> Iterator[Mention]:
    """The mentions whose edges are wrong; of the others the texts are counted. This runs for every mention of a set, so it is one loop."""
    text, length, kinds = paragraph.text, len(paragraph.text), KINDS
    for mention in paragraph.mentions or ():
        start, end = mention.start, mention.end
        if not 0 <= start < end <= length:
            yield mention
            continue
        if (
            kinds[text[start]] == SPACE
            or kinds[text[end - 1]] == SPACE
            or (start and kinds[text[start - 1]] and within_word(text, start))
            or (end < length and kinds[text[end]] and within_word(text, end))
        ):
            yield mention
            continue
        texts, name = votes.get(mention.entity), text[start:end]
        if texts is None:
            votes[mention.entity] = {name: 1}
        else:
            texts[name] = texts.get(name, 0) + 1


def _edge_fault(text: str, mention: Mention) -> str:
    start, end = mention.start, mention.end
    if not 0 <= start < end <= len(text):
        return f" in a text of {len(text)} characters"
    place = "begins" if within_word(text, start) else "ends"
    has_space = SPACE in (KINDS[text[start]], KINDS[text[end - 1]])
    return f", “{text[start:end]}”: {'white space is at an edge' if has_space else f'it {place} within a word'}"


def _name_faults(instance: Instance, votes: Votes) -> Iterator[tuple[str, str]]:
    for candidate in instance.candidates or ():
        _give(votes, candidate.id, candidate.text)
    for answer in instance.answers if instance.answer_id is not None else ():
        _give(votes, instance.answer_id, answer)
    doubtful = {entity: names_by_text for entity, texts in votes.items() if len(texts) > 1 and (names_by_text := _doubted(texts))}
    if not doubtful:
        return
    owners = {text: entity for entity, texts in votes.items() for text, count in texts.items() if count >= ESTABLISHED}
    for paragraph in instance.paragraphs:
        for mention in paragraph.mentions or ():
            if mention.entity in doubtful:
                text = paragraph.text[mention.start : mention.end]
                names = doubtful[mention.entity].get(text)
                if names and (fault := _name_fault(paragraph, mention, names, owners.get(text))):
                    yield paragraph.id, f"mention {mention.start} to {mention.end} of {mention.entity}, “{text}”: {fault}"


def _give(votes: Votes, entity: str | None, text: str) -> None:
    if entity in votes:
        texts = votes[entity]
        texts[text] = texts.get(text, 0) + ESTABLISHED
    elif entity is not None:
        votes[entity] = {text: ESTABLISHED}


def _doubted(texts: Mapping[str, int]) -> dict[str, list[str]]:
    """Each text with one vote that is no variant of a known name, and the known names."""
    names = [text for text, count in texts.items() if count >= ESTABLISHED]
    rare_texts = [text for text, count in texts.items() if count == 1] if names else ()
    return {text: names for text in rare_texts if not any(tokens_of(text) == tokens_of(name) for name in names)}


def _name_fault(paragraph: Paragraph, mention: Mention, names: Sequence[str], owner: str | None) -> str:
    """Reasons against a doubtful mention: its text is another entity's name, or it displaces a name of its own entity."""
    text = paragraph.text[mention.start : mention.end]
    if owner is not None and not any(_is_variant(text, name) for name in names):
        return f"a name of {owner}; this entity is called “{names[0]}”"
    for name in names:
        for start, _ in places(name, paragraph.text):
            if _is_displaced(paragraph, mention, name, start):
                return f"this entity is called “{name}”, which stands at {start} to {start + len(name)}"
    return ""


def _is_variant(text: str, name: str) -> bool:
    """Whether one is the other with more words ("City of Lisbon") or another ending ("countries" of "country")."""
    words, name_words = set(tokens_of(text)), set(tokens_of(name))
    begin = max(len(text), len(name)) // 2 + 1
    return words <= name_words or name_words <= words or text[:begin] == name[:begin]


def _is_displaced(paragraph: Paragraph, mention: Mention, name: str, start: int) -> bool:
    """Whether a mention is the ``name`` at ``start`` with a wrong offset, and not another name of the entity."""
    end, text = start + len(name), paragraph.text[mention.start : mention.end]
    if (mention.start <= start and end <= mention.end) or (start <= mention.start and mention.end <= end):
        # "Lisbon's" is a form of the name; "Lisbon," and "(Lisbon" are a mention that is too long, "Washington, D.C" one too short.
        return words_of(text) == words_of(name)
    if len(text) != len(name):
        # What is displaced keeps its length; "the Nobel" in "the Nobel Prize" is another name.
        return False
    if mention.start < end and start < mention.end:
        return True
    # Elsewhere it may be one of two names ("Basle", "Basel"), unless it looks like none and the name is not marked where it stands.
    is_mentioned = any(other.start <= start and end <= other.end for other in paragraph.mentions or () if other is not mention)
    return not is_mentioned and shape_of(text) != shape_of(name)


@lru_cache(maxsize=1 << 14)
def tokens_of(text: str) -> tuple[str, ...]:
    """The folded tokens of a name."""
    return tuple(tokens(text))


def words_of(text: str) -> list[str]:
    """The tokens that are no signs."""
    return [token for token in tokens_of(text) if KINDS[token[0]] != SYMBOL]
