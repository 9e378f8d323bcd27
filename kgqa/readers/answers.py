"""Where a text names an answer or a candidate, and which of a question's paragraphs may teach its answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from kgqa.arrays.draws import draw
from kgqa.arrays.words import begins, ends
from kgqa.records import Candidate, Instance, Paragraph

OPTIONS = ("yes", "no")
"""Answers that no paragraph states; readers find them in front of the text (Trivedi et al. 2020, appendix B)."""


def occurrences(answer: str, text: str) -> list[tuple[int, int]]:
    """Where ``text`` has ``answer`` as whole words, in characters; as it is spelt, or if it never is so, in any case."""
    if not answer.strip():
        return []
    exact, loose = _patterns(answer)
    return _whole(exact, text) or _whole(loose, text)


def _whole(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Where the pattern stands on the boundaries of words, from left to right and apart; an underscore goes on with a letter."""
    found: list[tuple[int, int]] = []
    match = pattern.search(text)
    while match is not None:
        start, end = match.span()
        is_begun = start > 0 and text[start - 1] == "_" and text[start].isalnum()
        goes_on = text[end : end + 1] == "_" and text[end - 1].isalnum()
        is_whole = not is_begun and not goes_on and begins(text, start) and ends(text, end)
        if is_whole:
            found.append((start, end))
        match = pattern.search(text, end if is_whole else start + 1)
    return found


@lru_cache(maxsize=4096)
def _patterns(answer: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    body = r"\s+".join(map(re.escape, answer.split()))
    return re.compile(body), re.compile(body, re.IGNORECASE)


def is_option(instance: Instance) -> bool:
    """Whether the answer is yes or no."""
    return bool(instance.answers) and instance.answers[0].strip().lower() in OPTIONS and not instance.candidates


def drawn_candidate(instance: Instance) -> Candidate:
    """A candidate by its text, whatever order they stand in: where no paragraph mentions any, a set's order shall not answer."""
    purpose = "no candidate is mentioned"
    return min(instance.candidates or (), key=lambda each: draw(purpose=purpose, seed=0, id=f"{instance.id}\n{each.text}"))


def answer_spans(instance: Instance) -> Iterator[tuple[int, int, int]]:
    """Paragraph number, start and end of the answer and its aliases: in supporting paragraphs, or if none of these has it, in any."""
    found = list(_spans(instance.answers, instance.paragraphs))
    supported = [span for span in found if instance.paragraphs[span[0]].supporting]
    yield from supported or found


def _spans(names: Iterable[str], paragraphs: Sequence[Paragraph]) -> Iterator[tuple[int, int, int]]:
    names = tuple(dict.fromkeys(names))
    for number, paragraph in enumerate(paragraphs):
        spans = {span for name in names for span in occurrences(name, paragraph.text)}
        yield from ((number, start, end) for start, end in sorted(spans))


def candidate_spans(instance: Instance) -> Iterator[tuple[int, int, int, int]]:
    """Candidate number, paragraph number, start and end of every mention of a candidate: as the set marks them, else by its text."""
    candidates = instance.candidates or ()
    by_id = {candidate.id: number for number, candidate in enumerate(candidates)}
    for number, paragraph in enumerate(instance.paragraphs):
        marked = {(by_id[each.entity], each.start, each.end) for each in paragraph.mentions or () if each.entity in by_id}
        named = {place for place, _, _ in marked}
        for place, candidate in enumerate(candidates):
            if place not in named:
                marked.update((place, *span) for span in occurrences(candidate.text, paragraph.text))
        yield from ((place, number, start, end) for place, start, end in sorted(marked))
