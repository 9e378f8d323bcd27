"""Occurrences of answers and candidates in texts, and the paragraphs that a reader may learn an answer from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from kgqa.arrays.draws import draw
from kgqa.arrays.words import begins, ends
from kgqa.records import Candidate, Instance, Paragraph

OPTIONS = ("yes", "no")
"""Answers that no paragraph states; readers see them in front of the text (Trivedi et al. 2020, appendix B)."""
BETWEEN = " ;; "
"""Separates the spans of an answer that a network writes; no answer has it by accident."""
_BETWEEN = re.compile(r"; ?;")
"""As some tokenizers write it."""


def spans_of(line: str) -> tuple[str, ...]:
    """The spans of a line that a network wrote; several have :data:`BETWEEN` between them.

    >>> spans_of("Simon; Garfunkel ;; Nico")
    ('Simon; Garfunkel', 'Nico')
    """
    return tuple(part.strip() for part in _BETWEEN.split(line) if part.strip())


def occurrences(answer: str, text: str) -> list[tuple[int, int]]:
    """Character spans in ``text`` of ``answer`` as whole words: with the same spelling, or if there is none, ignoring case."""
    if not answer.strip():
        return []
    exact, loose = _patterns(answer)
    return _whole_word_spans(exact, text) or _whole_word_spans(loose, text)


def _whole_word_spans(pattern: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    """Non-overlapping matches at word boundaries, from left to right; an underscore next to a letter is no boundary."""
    spans: list[tuple[int, int]] = []
    match = pattern.search(text)
    while match is not None:
        start, end = match.span()
        is_begun = start > 0 and text[start - 1] == "_" and text[start].isalnum()
        goes_on = text[end : end + 1] == "_" and text[end - 1].isalnum()
        is_whole = not is_begun and not goes_on and begins(text, start) and ends(text, end)
        if is_whole:
            spans.append((start, end))
        match = pattern.search(text, end if is_whole else start + 1)
    return spans


@lru_cache(maxsize=4096)
def _patterns(answer: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    body = r"\s+".join(map(re.escape, answer.split()))
    return re.compile(body), re.compile(body, re.IGNORECASE)


def is_option(instance: Instance) -> bool:
    """Whether the answer is yes or no."""
    return bool(instance.answers) and instance.answers[0].strip().lower() in OPTIONS and not instance.candidates


def random_candidate(instance: Instance) -> Candidate:
    """A candidate drawn by its text, for questions whose paragraphs mention none: the order of candidates must not give the answer."""
    purpose = "no candidate is mentioned"
    return min(instance.candidates or (), key=lambda candidate: draw(purpose=purpose, seed=0, id=f"{instance.id}\n{candidate.text}"))


def answer_spans(instance: Instance) -> Iterator[tuple[int, int, int]]:
    """Paragraph number, start and end of the answer and its aliases: in supporting paragraphs, or if none states it, in all."""
    spans = list(_spans(instance.answers, instance.paragraphs))
    in_support = [span for span in spans if instance.paragraphs[span[0]].supporting]
    yield from in_support or spans


def _spans(names: Iterable[str], paragraphs: Sequence[Paragraph]) -> Iterator[tuple[int, int, int]]:
    names = tuple(dict.fromkeys(names))
    for number, paragraph in enumerate(paragraphs):
        spans = {span for name in names for span in occurrences(name, paragraph.text)}
        yield from ((number, start, end) for start, end in sorted(spans))


def right_candidate(instance: Instance) -> int:
    """The number of the candidate that is the answer, by id or else by text; -1 if none is."""
    candidates = instance.candidates or ()
    by_id = (place for place, candidate in enumerate(candidates) if candidate.id == instance.answer_id)
    by_text = (place for place, candidate in enumerate(candidates) if instance.answers and candidate.text == instance.answers[0])
    return next(by_id, next(by_text, -1))


def candidate_spans(instance: Instance, *, marked: bool = True) -> Iterator[tuple[int, int, int, int]]:
    """Candidate number, paragraph number, start and end of each mention of a candidate.

    In each paragraph a candidate is mentioned where the set marks it, or else where its text occurs; without ``marked``, marks are ignored.
    A mention inside a longer one of another candidate does not count: South Africa does not mention Africa.
    """
    candidates = instance.candidates or ()
    by_id = {candidate.id: number for number, candidate in enumerate(candidates)} if marked else {}
    for number, paragraph in enumerate(instance.paragraphs):
        spans = {(by_id[mention.entity], mention.start, mention.end) for mention in paragraph.mentions or () if mention.entity in by_id}
        marked_candidates = {index for index, _, _ in spans}
        for index, candidate in enumerate(candidates):
            if index not in marked_candidates:
                spans.update((index, *span) for span in occurrences(candidate.text, paragraph.text))
        yield from ((index, number, start, end) for index, start, end in outermost_spans(spans))


def outermost_spans(spans: Iterable[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """The spans (owner, start, exclusive end) without those inside a longer one, sorted.

    >>> outermost_spans([(0, 0, 12), (1, 6, 12), (2, 0, 12)])
    [(0, 0, 12), (2, 0, 12)]
    """
    outer_spans: list[tuple[int, int, int]] = []
    outer = (-1, -1)
    for owner, start, end in sorted(set(spans), key=lambda span: (span[1], -span[2])):
        if end <= outer[1] and (start, end) != outer:
            continue
        outer = max(outer, (start, end), key=lambda bounds: bounds[1])
        outer_spans.append((owner, start, end))
    return sorted(outer_spans)
